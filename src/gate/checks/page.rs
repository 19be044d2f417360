//! The URL of a page as a template, of which a field may say no more than its own part.

use url::Url;

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Source};
use super::subject::rendered;
use crate::base::text::truncate;
use crate::gate::Fact;
use crate::gate::email::web_url::web_url;
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::domain::HostName;
use crate::world::fetch::visit::{End, Hop, Step, Visit};
use crate::world::page::Page;

#[derive(Debug)]
pub(super) struct PageTemplate {
    whole: Template,
    /// What comes before its own query, where it does not begin with a value.
    head: Option<Template>,
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
        let fields = fields.map(|name| source.field(key, name).map(|field| field.name));
        Ok(Self {
            fields: fields.collect::<Result<_, _>>()?,
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

const LONGEST: usize = 300;

/// The URL that a value spells, or the fact that it spells none.
pub(super) fn page_url(text: &str) -> Result<Url, Fact> {
    web_url(text).map_err(|bad| {
        let expected = "an http or https URL of a page";
        Fact::wrong(expected, bad.to_string())
    })
}

pub(super) fn location(url: &Url) -> String {
    truncate(url.as_str(), LONGEST).into_owned()
}

/// The hops from the start to the page that answered; those of its frames come after.
pub(super) fn way(visit: &Visit) -> &[Hop] {
    let end = visit.hops.iter().position(|hop| hop.by == Step::Frame);
    &visit.hops[..end.unwrap_or(visit.hops.len())]
}

/// The page that answered and its frames, or why there is none.
pub(super) fn pages(visit: &Visit) -> Result<(&Page, &[Page]), Fact> {
    let (url, expected, actual, definite) = match &visit.end {
        End::Pages(pages) => {
            if let Some(split) = pages.split_first() {
                return Ok(split);
            }
            return Err(Fact::wrong("a page", "none").unconfirmed());
        }
        End::Missing { url, status } => {
            let actual = status.map_or_else(
                || "no such host".to_owned(),
                |status| format!("status {status}"),
            );
            (url, "a page that exists", actual, true)
        }
        End::Unanswered { url, why } => (url, "a page that answers", why.to_string(), false),
        End::Forbidden { url } => {
            let actual = "robots.txt forbids it".to_owned();
            (url, "a page that robots.txt lets read", actual, false)
        }
        End::Unreadable { url, why } => (url, "a page that can be read", why.clone(), false),
    };
    let detail = Fact::wrong(expected, actual).at(location(url));
    Err(if definite {
        detail
    } else {
        detail.unconfirmed()
    })
}

/// Whether two URLs lie on one site: the same registrable domain.
pub(super) fn one_site(one: &Url, other: &Url) -> bool {
    let domain = |url: &Url| HostName::of_url(url).and_then(|host| host.registrable());
    domain(one).is_some() && domain(one) == domain(other)
}
