//! What the gate saw, as lines for people: pages, files of the tree, what commands printed.

use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use crate::gate::Fact;
use crate::quest::Submission;
use crate::world::Response;
use crate::world::evidence::{Asked, Evidence, Exchange, PageAnswer, Recording, Told};
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};

/// A page that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenPage {
    /// Its address.
    pub url: Url,
    /// What came: `status 200`, `no such host`, why nothing did.
    pub answer: String,
}

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) place: String,
    /// Its lines: of a page what a reader sees, then what can be clicked, then the rest.
    pub(crate) lines: Vec<String>,
    page: Option<Page>,
}

impl Source {
    pub(crate) fn is_at(&self, location: &str) -> bool {
        let bare = location.split('#').next().unwrap_or(location);
        let behind = bare.strip_prefix(&self.place);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with([':', ' ']))
    }

    pub(crate) fn spells(&self, at: usize, mailbox: &Mailbox) -> bool {
        let line = &self.lines[at];
        match &self.page {
            Some(empty) => {
                let alone = Page {
                    visible: vec![line.clone()],
                    ..empty.clone()
                };
                presence(&alone, mailbox) != Presence::Absent
            }
            None => line
                .to_lowercase()
                .contains(&mailbox.to_string().to_lowercase()),
        }
    }
}

pub fn pages(evidence: &Evidence) -> Vec<SeenPage> {
    let gets = evidence.exchanges.iter().filter_map(|exchange| {
        let Exchange::Get { url, answer } = exchange else {
            return None;
        };
        (url.path() != "/robots.txt").then(|| SeenPage {
            url: url.clone(),
            answer: describe(answer),
        })
    });
    gets.collect()
}

fn describe(answer: &PageAnswer) -> String {
    match answer {
        PageAnswer::Response(stored) => {
            let leads = stored.location.as_ref();
            let leads = leads.map(|location| format!(", leads to {location}"));
            format!("status {}{}", stored.status, leads.unwrap_or_default())
        }
        PageAnswer::NoSuchHost => "no such host".to_owned(),
        PageAnswer::TooLarge { limit_bytes } => format!("larger than {limit_bytes} bytes"),
        PageAnswer::Unanswered(why) => why.to_string(),
    }
}

pub(crate) fn sources(recording: &Recording) -> Vec<Source> {
    let exchanges = recording.evidence.exchanges.iter();
    exchanges
        .filter_map(|exchange| source(exchange, recording))
        .collect()
}

fn source(exchange: &Exchange, recording: &Recording) -> Option<Source> {
    let bodies = &recording.bodies;
    match exchange {
        Exchange::Get { url, answer } => match answer.fetched(bodies)? {
            crate::world::Fetched::Response(response) => of_page(url, &response),
            _ => None,
        },
        Exchange::Sandbox { asked, answer } => {
            let (place, bytes) = match (asked, answer) {
                (Asked::File(path), Told::File(body)) => {
                    (path.to_string(), bodies.get(&body.sha256)?)
                }
                (Asked::Run(order), Told::Ran(ran)) => {
                    (order.name.clone(), bodies.get(&ran.stdout.sha256)?)
                }
                _ => return None,
            };
            let text = String::from_utf8_lossy(bytes);
            Some(Source {
                place,
                lines: text.lines().map(str::to_owned).collect(),
                page: None,
            })
        }
        Exchange::Dns { .. }
        | Exchange::Session { .. }
        | Exchange::Doubts(_)
        | Exchange::MayAsk(_) => None,
    }
}

fn of_page(url: &Url, response: &Response) -> Option<Source> {
    let page = Page::parse(
        url,
        response.content_type.as_deref(),
        response.refresh.as_deref(),
        &response.body,
    );
    let page = page.ok()?;
    let mut empty = page.of_visitors();
    empty.visible.clear();
    let lines = [
        page.visible,
        page.linked,
        page.unclear,
        page.visitors,
        page.hidden,
    ];
    Some(Source {
        place: url.to_string(),
        lines: lines.concat(),
        page: Some(empty),
    })
}

/// Why nothing is shown of evidence from which an address was removed.
pub(crate) const REMOVED: &str = "it was removed when its address was forgotten";

/// Lines of something that the gate saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpt {
    /// What it is of: a page's address, a path in the tree, a command.
    pub of: String,
    /// The number of its first line; of a page, among the lines that a reader sees.
    pub first: usize,
    /// The lines.
    pub lines: Vec<ExcerptLine>,
}

/// A line of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcerptLine {
    /// Its text, or the part of it around what was found.
    pub text: String,
    /// Whether what was looked for stands here.
    pub found: bool,
}

/// How many lines are shown before what was found, and after it.
const AROUND: usize = 2;

/// The most characters of a line that are shown, and how many of them before what was found.
const MAX_LINE: usize = 240;
const BEFORE: usize = 100;

/// The fewest characters of a text that is looked for: shorter ones are found everywhere.
const MIN_SOUGHT: usize = 3;

#[derive(Debug)]
enum Needle {
    Mailbox(Mailbox),
    Text(String),
    Line(usize),
}

/// What `fact` is about, in its context; none when no source shows it.
///
/// Looked for in this order, at the place that the fact names before all others: the line that it
/// names, what it quotes, the value of its field, the other values that were submitted, `key`.
pub(crate) fn excerpt(
    fact: &Fact,
    submission: &Submission,
    key: &str,
    sources: &[Source],
) -> Option<Excerpt> {
    let location = fact.location.as_deref().unwrap_or_default();
    let (named, others): (Vec<&Source>, Vec<&Source>) =
        sources.iter().partition(|source| source.is_at(location));
    let needles = needles(fact, submission, key);
    if let Some(line) = line_of(location)
        && let Some(found) = look(&Needle::Line(line), &named)
    {
        return Some(found);
    }
    [named, others].iter().find_map(|sources| {
        needles
            .iter()
            .find_map(|needle| look(needle, sources.as_slice()))
    })
}

/// Where a submitted `value` stands, in its context; none when no source shows it.
pub(crate) fn excerpt_of(value: &str, sources: &[Source]) -> Option<Excerpt> {
    let needle = self::value(value)?;
    look(&needle, &sources.iter().collect::<Vec<_>>())
}

fn look(needle: &Needle, sources: &[&Source]) -> Option<Excerpt> {
    sources.iter().find_map(|source| source_at(source, needle))
}

fn source_at(source: &Source, needle: &Needle) -> Option<Excerpt> {
    let at = plainly(source, needle)
        .or_else(|| (0..source.lines.len()).find(|at| is_found(source, *at, needle)))?;
    let first = at.saturating_sub(AROUND);
    let last = source.lines.len().min(at + AROUND + 1);
    let lines = (first..last).map(|here| {
        let found = is_found(source, here, needle);
        ExcerptLine {
            text: clipped(&source.lines[here], needle),
            found,
        }
    });
    Some(Excerpt {
        of: source.place.clone(),
        first: first + 1,
        lines: lines.collect(),
    })
}

/// The line that shows an address as it is written: the best to be shown, and quickly found.
fn plainly(source: &Source, needle: &Needle) -> Option<usize> {
    let Needle::Mailbox(mailbox) = needle else {
        return None;
    };
    let address = mailbox.to_string();
    (0..source.lines.len()).find(|at| {
        let line = &source.lines[*at];
        line.contains('@') && line.to_lowercase().contains(&address) && source.spells(*at, mailbox)
    })
}

fn is_found(source: &Source, at: usize, needle: &Needle) -> bool {
    match needle {
        Needle::Line(line) => at + 1 == *line,
        Needle::Mailbox(mailbox) => source.spells(at, mailbox),
        Needle::Text(text) => source.lines[at].to_lowercase().contains(text),
    }
}

fn needles(fact: &Fact, submission: &Submission, key: &str) -> Vec<Needle> {
    let mut needles = Vec::new();
    needles.extend(quoted(&fact.actual).filter_map(text));
    let own = fact.field.as_ref();
    needles.extend(own.and_then(|field| value(submission.field(field.as_str())?)));
    if let Submission::Fields(fields) = submission {
        needles.extend(fields.values().filter_map(|text| value(text)));
    }
    needles.extend(text(key));
    needles
}

fn value(value: &str) -> Option<Needle> {
    match Mailbox::parse(value) {
        Ok(mailbox) => Some(Needle::Mailbox(mailbox)),
        Err(_) => text(value),
    }
}

fn text(value: &str) -> Option<Needle> {
    let value = value.trim().to_lowercase();
    (value.chars().count() >= MIN_SOUGHT).then_some(Needle::Text(value))
}

pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split('"').skip(1).step_by(2);
    inner.filter(|inner| !inner.contains('\\'))
}

fn line_of(location: &str) -> Option<usize> {
    let mut parts = location.split(':').skip(1);
    parts.find_map(|part| part.parse().ok())
}

fn clipped(line: &str, needle: &Needle) -> String {
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= MAX_LINE {
        return line.to_owned();
    }
    let text = match needle {
        Needle::Text(text) => text.as_str(),
        Needle::Mailbox(mailbox) => mailbox.local(),
        Needle::Line(_) => "",
    };
    let at = line.to_lowercase().find(text).unwrap_or(0);
    // Of lower case, whose length may differ: close enough to show what is around.
    let at = line
        .char_indices()
        .take_while(|(byte, _)| *byte < at)
        .count();
    let first = at.saturating_sub(BEFORE);
    let last = characters.len().min(first + MAX_LINE);
    let inner: String = characters[first..last].iter().collect();
    let (before, after) = (
        if first > 0 { "…" } else { "" },
        if last < characters.len() { "…" } else { "" },
    );
    format!("{before}{inner}{after}")
}

#[cfg(test)]
impl Source {
    pub(crate) fn text(place: &str, text: &str) -> Self {
        Self {
            place: place.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            page: None,
        }
    }

    pub(crate) fn html(url: &str, html: &str) -> Self {
        let response = Response {
            status: 200,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            location: None,
            refresh: None,
            body: html.as_bytes().to_vec(),
        };
        of_page(&Url::parse(url).unwrap(), &response).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Level, RuleId};
    use crate::quest::{FieldName, Fields};

    fn fact(actual: &str, location: Option<&str>) -> Fact {
        Fact {
            cause: crate::gate::Cause::Wrong,
            rule: RuleId::known("some-rule"),
            level: Level::Review,
            field: Some(FieldName::known("email")),
            location: location.map(Into::into),
            expected: "this".to_owned(),
            actual: actual.to_owned(),
            count: 1,
        }
    }

    fn acme() -> Submission {
        let field = |name, text: &str| (FieldName::known(name), text.to_owned());
        Submission::Fields(Fields::from([
            field("email", "info@acme.co.kr"),
            field("site", "https://acme.co.kr/"),
        ]))
    }

    /// The excerpt's place, first line and lines, with `>` before those that hold it.
    fn shown(fact: &Fact, sources: &[Source]) -> Option<(String, usize, Vec<String>)> {
        let excerpt = excerpt(fact, &acme(), "Acme Foods", sources)?;
        let line =
            |line: ExcerptLine| format!("{}{}", if line.found { ">" } else { " " }, line.text);
        let lines = excerpt.lines.into_iter().map(line).collect();
        Some((excerpt.of, excerpt.first, lines))
    }

    const PAGE: &str = "<p>one<p>two<p>three<p>Write to info [at] acme [dot] co [dot] kr<p>five\
                    <p>Acme Foods<p>seven";

    #[test]
    fn an_address_is_found_however_the_page_spells_it() {
        let page = Source::html("https://acme.co.kr/contact", PAGE);
        let (of, first, lines) = shown(&fact("spelled out", None), &[page]).unwrap();
        assert_eq!((of.as_str(), first), ("https://acme.co.kr/contact", 2));
        let expected = [
            " two",
            " three",
            ">Write to info [at] acme [dot] co [dot] kr",
            " five",
            " Acme Foods",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_the_fact_quotes_goes_before_what_was_submitted() {
        let page = || Source::html("https://acme.co.kr/", PAGE);
        let (_, _, lines) = shown(&fact(r#"names "SEVEN""#, None), &[page()]).unwrap();
        assert_eq!(lines, [" five", " Acme Foods", ">seven"]);
        // What is not there is looked for in vain, and the next is shown.
        let (_, first, _) = shown(&fact(r#"names "nobody""#, None), &[page()]).unwrap();
        assert_eq!(first, 2);
    }

    #[test]
    fn the_place_that_the_fact_names_goes_before_all_others() {
        let pages = [
            Source::html("https://acme.co.kr/", PAGE),
            Source::html("https://acme.co.kr/other", "<p>Acme Foods"),
        ];
        let fact = fact("something", Some("https://acme.co.kr/other#end"));
        let (of, _, lines) = shown(&fact, &pages).unwrap();
        assert_eq!(of, "https://acme.co.kr/other");
        assert_eq!(lines, [">Acme Foods"]);
    }

    #[test]
    fn a_line_of_a_file_is_shown_by_its_number() {
        let file = Source::text("tests/test_a.py", "a\nb\nc\nd\ne\nf");
        let fact = fact("assert", Some("tests/test_a.py:5"));
        let (of, first, lines) = shown(&fact, &[file]).unwrap();
        assert_eq!((of.as_str(), first), ("tests/test_a.py", 3));
        assert_eq!(lines, [" c", " d", ">e", " f"]);
    }

    #[test]
    fn what_no_source_shows_has_no_excerpt() {
        let page = Source::html("https://bolt.kr/", "<p>Bolt Toys");
        assert_eq!(shown(&fact("nothing", None), &[page]), None);
        assert_eq!(shown(&fact("nothing", None), &[]), None);
        // Empty quotes stand everywhere, and are no finding.
        let page = Source::html("https://bolt.kr/", "<p>Bolt Toys");
        assert_eq!(shown(&fact(r#"found "" there"#, None), &[page]), None);
    }

    #[test]
    fn a_long_line_is_cut_around_what_was_found() {
        let long = format!("{}Acme Foods{}", "가".repeat(500), "나".repeat(500));
        let page = Source::text("a", &long);
        let (_, _, lines) = shown(&fact("x", None), &[page]).unwrap();
        assert!(lines[0].starts_with(">…가"), "{lines:?}");
        assert!(lines[0].contains("Acme Foods나"), "{lines:?}");
        assert!(lines[0].ends_with('…'), "{lines:?}");
        assert_eq!(lines[0].chars().count(), MAX_LINE + 3);
    }
}
