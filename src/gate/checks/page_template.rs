//! The URL of a page as a template, of which a field may say no more than its own part.

use crate::gate::Fact;
use url::Url;

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Source};
use super::made_up::rendered;
use super::page_seen::page_url;
use crate::quest::FieldName;
use crate::quest::template::Template;

/// The URL of a page, to be rendered.
#[derive(Debug)]
pub(super) struct PageTemplate {
    whole: Template,
    /// What comes before its own query, where it does not begin with a value.
    head: Option<Template>,
    /// The fields that it names.
    fields: Vec<FieldName>,
}

impl PageTemplate {
    /// The template that `key` says.
    pub(super) fn new(source: &Source<'_>, key: &'static str, text: &str) -> Result<Self, Flaw> {
        let whole = source.template(key, text)?;
        let head = text.split_once('?').map_or(text, |(head, _)| head);
        // A question mark inside of an expression parts nothing.
        let head = source.template(key, head).unwrap_or_else(|_| whole.clone());
        let names = whole.names().iter();
        let fields = names.filter_map(|name| name.strip_prefix("field."));
        Ok(Self {
            fields: fields
                .map(|name| source.field(key, name))
                .collect::<Result<_, _>>()?,
            head: (!text.trim_start().starts_with('{')).then_some(head),
            whole,
        })
    }

    /// The URL, or the fact that it is none which can be asked as it stands.
    pub(super) fn url(&self, context: &Context<'_>) -> Result<Url, Fact> {
        let mut fields = self.fields.iter();
        if let Some(field) = fields.find(|name| context.field(name).is_none()) {
            let detail = Fact::wrong("a value for the URL of a page", "nothing");
            return Err(detail.on(field));
        }
        let text = rendered(context, &self.whole)?;
        if self.whole.reads_fields() {
            self.is_as_meant(context, &text)?;
        }
        page_url(&text)
    }

    /// Whether no value turns the rest of the URL into a query, or into what no server is sent.
    fn is_as_meant(&self, context: &Context<'_>, text: &str) -> Result<(), Fact> {
        let wrong = |expected: &str| Err(Fact::wrong(expected, shown(text)));
        let fragment = text.split_once('#').map_or("", |(_, fragment)| fragment);
        if !fragment.trim().is_empty() {
            return wrong("a URL without a fragment");
        }
        match &self.head {
            Some(head) if rendered(context, head)?.contains('?') => {
                wrong("a URL whose path has no `?` of a field's")
            }
            _ => Ok(()),
        }
    }
}
