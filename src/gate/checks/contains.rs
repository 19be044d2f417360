//! `contains`: a text stands literally on a page, or in a file.

mod carried;
mod date;
mod page;

#[cfg(test)]
mod tests;

use crate::gate::Fact;
use icu_casemap::CaseMapper;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::date::wordings;
use self::page::OnPage;
use super::context::Context;
use super::fields::shown;
use super::kind::Probe;
use super::kind::{Flaw, Shows, Source, Spec};
use super::made_up::rendered;
use super::page_template::PageTemplate;
use super::standing::standing;
use super::subject::{Place, State, file_text};
use crate::base::text::visible;
use crate::gate::Cost;
use crate::quest::FieldName;
use crate::quest::template::Template;

/// `kind = "contains"`.
///
/// Texts are compared in compatibility forms (NFKC), without invisible characters, white space
/// folded; one that begins or ends inside a word or a number is not there.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainsSpec {
    /// The text that is looked for, as a template.
    text: Option<String>,
    /// In its place: the field that says it. Where it was left out the check passes.
    field: Option<String>,
    /// The page that shows it, as a template. Its URL may not carry the text.
    url: Option<String>,
    /// In its place: the path of the file that says it, as a template.
    path: Option<String>,
    /// Whether the file is looked at as it was at the scan. Otherwise the agent may have written
    /// it, and the check shows a form alone.
    #[serde(default = "yes")]
    pinned: bool,
    /// What the text is: itself, or a date as `2026-11-22`, which may stand there in any way that
    /// can mean no other one.
    #[serde(default, rename = "as")]
    reading: Reading,
    /// Whether case makes no difference; it never does to a date.
    #[serde(default)]
    ignore_case: bool,
    /// How often it must stand there.
    #[serde(default = "once")]
    count_min: usize,
    /// The fewest characters that are worth looking for.
    #[serde(default = "three")]
    min_chars: usize,
    /// The site that the page must belong to, as a template: a URL, an e-mail address or a host.
    same_site_as: Option<String>,
    /// Whether words of the text may stand in the page's path, as in `/acme-buys-bolt`. Otherwise
    /// that leaves it to a person.
    #[serde(default)]
    slug: bool,
}

/// What a text that is looked for is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Reading {
    /// Itself.
    #[default]
    Text,
    /// A calendar date (ISO 8601).
    Date,
}

/// What is looked for, as facts name it, and how it may stand there.
#[derive(Debug)]
struct Sought {
    text: String,
    wordings: Vec<String>,
}

fn yes() -> bool {
    true
}

fn once() -> usize {
    1
}

fn three() -> usize {
    3
}

#[derive(Debug)]
struct Contains {
    quote: Quote,
    place: Where,
    reading: Reading,
    ignore_case: bool,
    count_min: usize,
    min_chars: usize,
}

/// What is looked for.
#[derive(Debug)]
enum Quote {
    Field(FieldName),
    Text(Template),
}

/// Where it is looked for.
#[derive(Debug)]
enum Where {
    Page(OnPage),
    File(Place, State),
}

impl Spec for ContainsSpec {
    const KIND: &'static str = "contains";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let quote = match (&self.text, &self.field) {
            (Some(text), None) => Quote::Text(source.template("text", text)?),
            (None, Some(field)) => Quote::Field(source.field("field", field)?),
            _ => return Err(Flaw::new("text", "say either `text` or `field`")),
        };
        if self.count_min == 0 {
            return Err(Flaw::new("count_min", "what need not be there is no check"));
        }
        let state = if self.pinned {
            State::Pinned
        } else {
            State::Judged
        };
        let place = match (&self.url, &self.path) {
            (Some(url), None) => {
                let site = self.same_site_as.as_deref();
                Where::Page(OnPage {
                    url: PageTemplate::new(source, "url", url)?,
                    site: site
                        .map(|text| source.template("same_site_as", text))
                        .transpose()?,
                    slug: self.slug,
                })
            }
            (None, Some(path)) => Where::File(Place::path(source, path)?, state),
            _ => return Err(Flaw::new("url", "say either `url` or `path`")),
        };
        Ok(Box::new(Contains {
            quote,
            place,
            reading: self.reading,
            ignore_case: self.ignore_case || self.reading == Reading::Date,
            count_min: self.count_min,
            min_chars: self.min_chars,
        }))
    }
}

impl Contains {
    fn sought(&self, context: &Context<'_>) -> Result<Option<Sought>, Fact> {
        let text = match &self.quote {
            Quote::Text(template) => rendered(context, template)?,
            Quote::Field(field) => match context.field(field) {
                Some(text) => text.to_owned(),
                None => return Ok(None),
            },
        };
        if self.reading == Reading::Date {
            return self.sought_date(text.trim()).map(Some);
        }
        let text = self.comparable(&text);
        if text.chars().count() < self.min_chars || text.is_empty() {
            let expected = format!("a text of at least {} characters", self.min_chars.max(1));
            return Err(self.detail(&expected, shown(&text)));
        }
        Ok(Some(Sought {
            wordings: vec![text.clone()],
            text,
        }))
    }

    fn sought_date(&self, text: &str) -> Result<Sought, Fact> {
        let date = text.parse::<Date>().ok().filter(|_| text.len() == 10);
        let date = date.ok_or_else(|| {
            let detail = self.detail("a date such as 2026-11-22", shown(text));
            detail
        })?;
        let wordings = wordings(date);
        Ok(Sought {
            text: text.to_owned(),
            wordings: wordings.iter().map(|way| self.comparable(way)).collect(),
        })
    }

    fn comparable(&self, text: &str) -> String {
        let text = visible(text);
        if self.ignore_case {
            CaseMapper::new().fold_string(&text).into_owned()
        } else {
            text
        }
    }

    /// How the text misses in the passages that are said there; none where it stands there often
    /// enough. It does not go on from one passage to the next.
    fn misfit(&self, said: &[String], sought: &Sought) -> Option<Fact> {
        let passages = said.iter().map(|passage| self.comparable(passage));
        let ways = &sought.wordings;
        let count: usize = passages
            .flat_map(|said| ways.iter().map(move |way| standing(&said, way).count()))
            .sum();
        if count >= self.count_min {
            return None;
        }
        let (often, actual) = match (self.count_min, count) {
            (1, _) => (String::new(), "not there, as whole words".to_owned()),
            (least, count) => (format!(" {least} times"), format!("{count} times")),
        };
        Some(self.detail(&format!("{}{often}", self.named(sought)), actual))
    }

    fn named(&self, sought: &Sought) -> String {
        match self.reading {
            Reading::Text => format!("{:?}", shown(&sought.text)),
            Reading::Date => format!("the date {} in full", sought.text),
        }
    }

    fn detail(&self, expected: &str, actual: String) -> Fact {
        let detail = Fact::wrong(expected, actual);
        match &self.quote {
            Quote::Field(field) => detail.on(field),
            Quote::Text(_) => detail,
        }
    }
}

impl Probe for Contains {
    fn cost(&self) -> Cost {
        match self.place {
            Where::Page(_) => Cost::Page,
            Where::File(..) => Cost::Tree,
        }
    }

    fn shows(&self) -> Option<Shows> {
        match self.place {
            Where::File(_, State::Judged) => Some(Shows::Form),
            _ => None,
        }
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let sought = match self.sought(context) {
            Ok(Some(sought)) => sought,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let found = match &self.place {
            Where::Page(page) => page.look(self, context, &sought),
            Where::File(place, state) => self.in_file(context, place, *state, &sought),
        };
        found.err().into_iter().collect()
    }
}

impl Contains {
    fn in_file(
        &self,
        context: &Context<'_>,
        place: &Place,
        state: State,
        sought: &Sought,
    ) -> Result<(), Fact> {
        let Some(path) = place.resolve(context)? else {
            return Ok(());
        };
        let text = file_text(context, &path, state)?;
        let misfit = self.misfit(&[text.said], sought);
        misfit.map_or(Ok(()), |detail| Err(detail.at(path.as_str())))
    }
}
