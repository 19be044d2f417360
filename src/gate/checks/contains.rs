//! `contains`: a page or a file contains a text.

#[cfg(test)]
mod tests;

use itertools::Itertools as _;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::context::Context;
use super::fields::shown;
use super::kind::{Check, CheckConfig, Flaw, Source, default_number};
use super::page::{PageTemplate, one_site, pages};
use super::subject::{Place, State, file_text, rendered, whole_words};
use crate::base::text::{fold, visible};
use crate::base::word_list::word_lists;
use crate::gate::email::site::{anchor_sites, registrable};
use crate::gate::email::source::echo::{carries_text, unescaped};
use crate::gate::{Cost, Fact};
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::domain::RegistrableDomain;
use crate::world::fetch::visit::Visit;
use crate::world::mailbox::Mailbox;
use crate::world::page::Page;

/// `kind = "contains"`.
///
/// Texts are compared in compatibility forms (NFKC), without invisible characters, white space
/// folded; one that begins or ends inside a word or a number is not there.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainsConfig {
    /// The text to look for, as a template.
    text: Option<String>,
    /// Instead of `text`: the field that contains it. If the field is left out, the check passes.
    field: Option<String>,
    /// The page that shows it, as a template. Its URL may not carry the text.
    url: Option<String>,
    /// Instead of `url`: the path of the file that contains it, as a template. The file is read as
    /// it was at the scan, since the agent may have written it.
    path: Option<String>,
    /// How the text is read: literally, or as a date such as `2026-11-22`, which may be written in
    /// any unambiguous way.
    #[serde(default, rename = "as")]
    reading: Reading,
    /// Whether case is ignored; for a date it always is.
    #[serde(default)]
    ignore_case: bool,
    /// The fewest characters that the text must have.
    #[serde(default = "default_number::<3>")]
    min_chars: usize,
    /// The site that the page must belong to, as a template: a URL, an e-mail address or a host.
    same_site_as: Option<String>,
    /// Whether words of the text may appear in the page's path, as in `/acme-buys-bolt`. Otherwise
    /// such a page is left to a person.
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

/// A check of this kind, with its templates parsed.
struct Contains {
    config: ContainsConfig,
    said: Said,
    place: Where,
}

enum Where {
    Page {
        url: PageTemplate,
        site: Option<Template>,
    },
    File(Place),
}

/// A text, and the ways of writing it that count.
struct Sought {
    text: String,
    wordings: Vec<String>,
}

enum Said {
    Field(FieldName),
    Text(Template),
}

impl CheckConfig for ContainsConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let said = match (&self.text, &self.field) {
            (Some(text), None) => Said::Text(source.template("text", text)?),
            (None, Some(field)) => Said::Field(source.field("field", field)?.name),
            _ => return Err(Flaw::new("text", "say either `text` or `field`")),
        };
        let (place, cost) = match (&self.url, &self.path) {
            (Some(url), None) => {
                let url = PageTemplate::new(source, "url", url)?;
                let site = source.maybe_template("same_site_as", self.same_site_as.as_ref())?;
                (Where::Page { url, site }, Cost::Page)
            }
            (None, Some(path)) => (Where::File(Place::path(source, path)?), Cost::Tree),
            _ => return Err(Flaw::new("url", "say either `url` or `path`")),
        };
        let config = self;
        let check = Contains {
            config,
            said,
            place,
        };
        Ok(source.check(cost, move |context| {
            if let Some(sought) = check.sought(context)? {
                match &check.place {
                    Where::Page { url, site } => {
                        check.look_on_page(context, url, site.as_ref(), &sought)?;
                    }
                    Where::File(place) => check.look_in_file(context, place, &sought)?,
                }
            }
            Ok(Vec::new())
        }))
    }
}

impl Contains {
    fn sought(&self, context: &Context<'_>) -> Result<Option<Sought>, Fact> {
        let text = match &self.said {
            Said::Text(template) => rendered(context, template)?,
            Said::Field(field) => match context.field(field) {
                Some(text) => text.to_owned(),
                None => return Ok(None),
            },
        };
        if self.config.reading == Reading::Date {
            let text = text.trim();
            let date = text.parse::<Date>().ok().filter(|_| text.len() == 10);
            let date = date.ok_or_else(|| self.fact("a date such as 2026-11-22", shown(text)))?;
            let wordings = wordings(date);
            return Ok(Some(Sought {
                text: text.to_owned(),
                wordings: wordings.iter().map(|way| self.comparable(way)).collect(),
            }));
        }
        let text = self.comparable(&text);
        if text.chars().count() < self.config.min_chars || text.is_empty() {
            let expected = format!(
                "a text of at least {} characters",
                self.config.min_chars.max(1)
            );
            return Err(self.fact(&expected, shown(&text)));
        }
        Ok(Some(Sought {
            wordings: vec![text.clone()],
            text,
        }))
    }

    fn comparable(&self, text: &str) -> String {
        if self.config.ignore_case || self.config.reading == Reading::Date {
            fold(text)
        } else {
            visible(text)
        }
    }

    /// What was expected in these passages; none where one of them says the text. It does not go on
    /// from one passage to the next.
    fn misfit(&self, passages: &[String], sought: &Sought) -> Option<Fact> {
        let is_said = passages.iter().any(|passage| {
            let passage = self.comparable(passage);
            let mut ways = sought.wordings.iter();
            ways.any(|way| whole_words(&passage, way).next().is_some())
        });
        let actual = "not found as whole words";
        (!is_said).then(|| self.fact(&self.named(sought), actual.to_owned()))
    }

    fn named(&self, sought: &Sought) -> String {
        match self.config.reading {
            Reading::Text => format!("{:?}", shown(&sought.text)),
            Reading::Date => format!("the date {} in full", sought.text),
        }
    }

    fn fact(&self, expected: &str, actual: String) -> Fact {
        let fact = Fact::wrong(expected, actual);
        match &self.said {
            Said::Field(field) => fact.on(field),
            Said::Text(_) => fact,
        }
    }

    fn look_in_file(
        &self,
        context: &Context<'_>,
        place: &Place,
        sought: &Sought,
    ) -> Result<(), Fact> {
        let path = place.resolve(context)?;
        let text = file_text(context, &path, State::Pinned)?;
        let misfit = self.misfit(&[text.said], sought);
        misfit.map_or(Ok(()), |fact| Err(fact.at(path.as_str())))
    }

    fn look_on_page(
        &self,
        context: &Context<'_>,
        url: &PageTemplate,
        site: Option<&Template>,
        sought: &Sought,
    ) -> Result<(), Fact> {
        let url = url.url(context)?;
        let mut slug = self.echo(&url, sought)?;
        let visit = context.visit(&url);
        for hop in visit.way() {
            slug = self.echo(&hop.url, sought)?.or(slug);
        }
        let (main, frames) = pages(&visit)?;
        if let Some(site) = site {
            is_on_site(context, site, &main.url)?;
        }
        let frames = frames.iter().filter(|frame| {
            one_site(&main.url, &frame.url) && carried_any(&frame.url, sought).is_none()
        });
        // A frame is a text of its own: what it says does not go on from the page's.
        let fits = |page: &Page| self.misfit(&page.visible, sought).is_none();
        if !std::iter::once(main).chain(frames).any(fits) {
            return Err(self.absent(&visit, main, sought).at_url(&main.url));
        }
        let Some(url) = slug else {
            return Ok(());
        };
        let fact = Fact::wrong("a page whose path does not say it", shown(&sought.text));
        Err(fact.at_url(&url).unconfirmed())
    }

    /// Whether the URL carries the text: an error where it may be told what to show, the URL where
    /// its path has the words.
    fn echo(&self, url: &Url, sought: &Sought) -> Result<Option<Url>, Fact> {
        let actual = match carried_any(url, sought) {
            Some(Carried::InUrl) => "its URL contains the text",
            Some(Carried::Part) => "its URL contains a part of it",
            Some(Carried::Slug) if !self.config.slug => return Ok(Some(url.clone())),
            Some(Carried::Slug) | None => return Ok(None),
        };
        let expected = "a page whose URL does not carry the text";
        Err(Fact::wrong(expected, actual).at_url(url))
    }

    fn absent(&self, visit: &Visit, main: &Page, sought: &Sought) -> Fact {
        let unsure = |why: &str| {
            let expected = format!("{} on the page", self.named(sought));
            self.fact(&expected, why.to_owned()).unconfirmed()
        };
        let mut unread = visit.unread.iter();
        if unread.any(|(url, _)| one_site(&main.url, url)) {
            return unsure("not in what could be read: a frame could not");
        }
        if main.needs_script {
            return unsure("the page shows little without its scripts, and not that");
        }
        let misfit = self.misfit(&main.visible, sought);
        misfit.unwrap_or_else(|| Fact::wrong(shown(&sought.text), "not there"))
    }
}

fn is_on_site(context: &Context<'_>, site: &Template, page: &Url) -> Result<(), Fact> {
    let text = rendered(context, site)?;
    let Some(wanted) = site_domain(&text) else {
        let expected = "a site under a public suffix";
        return Err(Fact::wrong(expected, shown(&text)));
    };
    if registrable(page).as_ref() == Some(&wanted) {
        return Ok(());
    }
    let expected = format!("a page on {}", wanted.as_str());
    Err(Fact::wrong(expected, "a page elsewhere").at_url(page))
}

/// The domain of the one site that the text names: a URL, an e-mail address or a host.
fn site_domain(text: &str) -> Option<RegistrableDomain> {
    if let Ok(mailbox) = Mailbox::parse(text.trim()) {
        return mailbox.domain().registrable();
    }
    match anchor_sites(text).as_slice() {
        [only] => registrable(only),
        _ => None,
    }
}

/// The fewest characters of a part of a text that are no chance.
const MIN_PART: usize = 3;

/// How a URL carries a text, from what proves least to what proves most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Carried {
    Slug,
    /// A part of it, in a part of the URL that can tell a server what to show.
    Part,
    /// All of it, in a part of the URL that can tell a server what to show.
    InUrl,
}

/// How `url` carries what is sought, in the plainest of the ways in which it may be written.
fn carried_any(url: &Url, sought: &Sought) -> Option<Carried> {
    let ways = sought.wordings.iter();
    ways.filter_map(|way| carried(url, way)).max()
}

/// How `url` carries `text`, or a part of it: what a page puts together need not be all in its URL.
///
/// The registered name is not made up for a submission, so it is not looked at; whatever comes
/// before it is.
fn carried(url: &Url, text: &str) -> Option<Carried> {
    let host = url.host_str().unwrap_or_default();
    let below = registrable(url).and_then(|domain| host.strip_suffix(domain.as_str()));
    let below = below.unwrap_or(host).trim_end_matches('.');
    let (path, query) = (url.path(), url.query().unwrap_or_default());
    let needle = squeezed(text);
    let says = |part: &str| !needle.is_empty() && squeezed(part).contains(&needle);
    let is_whole_name = |segment: &str| {
        let segment = unescaped(segment);
        let stem = segment.rsplit_once('.').map_or(&*segment, |(stem, _)| stem);
        !needle.is_empty() && squeezed(stem) == needle
    };
    let mut told = [below, query].into_iter();
    if told.any(|it| says(it) || carries_text(it, text))
        || path.split('/').any(is_whole_name)
        // Among other words of the path the text may be the page's title; encoded it is an echo.
        || (!says(path) && carries_text(path, text))
    {
        return Some(Carried::InUrl);
    }
    let whole = worded(text);
    let is_part = |part: &str| {
        let part = worded(part);
        part.chars().count() >= MIN_PART && whole.contains(&part)
    };
    let values: Vec<String> = url
        .query_pairs()
        // A query without a name is a value by itself.
        .map(|(name, value)| if value.is_empty() { name } else { value })
        .map(|value| unescaped(&value))
        .collect();
    if values.iter().any(|value| is_part(value)) || is_part(&values.join(" ")) {
        return Some(Carried::Part);
    }
    let words = worded(&unescaped(path));
    (says(path) || words.split(' ').any(is_part)).then_some(Carried::Slug)
}

fn worded(text: &str) -> String {
    let plain = fold(text);
    let words = plain.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).join(" ")
}

fn squeezed(text: &str) -> String {
    let plain = fold(&unescaped(text));
    plain.chars().filter(|c| c.is_alphanumeric()).collect()
}

word_lists! {
    DATES_IN_NUMBERS = "lists/dates_in_numbers.txt";
    DATES_IN_WORDS = "lists/dates_in_words.txt";
}

/// The ways of writing `date` that can mean no other one.
///
/// Numbers alone are taken with the year first, or with full stops and the day first; with strokes
/// and the year last one country's day is another's month, and such a text tells no date.
fn wordings(date: Date) -> Vec<String> {
    let ordinal = format!("%-d{}", ending(date.day()));
    let days = ["%-d", "%d", &ordinal];
    let mut months = vec!["%B", "%b", "%b."];
    if date.month() == 9 {
        months.extend(["Sept", "Sept."]);
    }
    let numbers = DATES_IN_NUMBERS.iter().flat_map(|form| {
        let pads = [("%-m", "%-d"), ("%m", "%d")];
        pads.map(|(month, day)| form.replace('M', month).replace('D', day))
    });
    let mut forms: Vec<String> = numbers.collect();
    for form in DATES_IN_WORDS.iter() {
        for month in &months {
            let named = form.replace('M', month);
            forms.extend(days.map(|day| named.replace('D', day)));
        }
    }
    let mut all: Vec<_> = forms
        .iter()
        .map(|form| date.strftime(form).to_string())
        .collect();
    all.sort();
    all.dedup();
    all
}

fn ending(day: i8) -> &'static str {
    match day {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod date {
    use super::*;

    #[test]
    fn a_date_is_written_in_many_ways_that_mean_it_alone() {
        let of = |text: &str| wordings(text.parse().unwrap());
        let written = of("2026-11-02");
        for way in [
            "2026-11-02",
            "2026/11/2",
            "2026. 11. 2",
            "2026년 11월 2일",
            "2026年11月2日",
            "2 November 2026",
            "2nd Nov 2026",
            "November 2, 2026",
            "Nov. 02, 2026",
            "02.11.2026",
        ] {
            assert!(written.iter().any(|it| it == way), "{way}");
        }
        assert!(!written.iter().any(|it| it == "02/11/2026"));
        assert!(of("2026-09-21").contains(&"Sept. 21st, 2026".to_owned()));
        assert!(of("2026-05-13").contains(&"13th May 2026".to_owned()));
    }

    #[test]
    fn no_two_dates_are_written_alike() {
        let mut known = std::collections::BTreeMap::new();
        let first: Date = "2024-01-01".parse().unwrap();
        for date in first.series(jiff::ToSpan::days(1)).take(800) {
            for way in wordings(date) {
                assert_eq!(known.insert(way.clone(), date), None, "{way}");
            }
        }
    }
}
