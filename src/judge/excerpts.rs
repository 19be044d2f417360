//! Shows people what the gate saw: lines of pages, files and command output.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use url::Url;

use crate::base::Digest;
use crate::gate::doubts::REVIEWERS_DOUBT;
use crate::gate::{Fact, Judgement};
use crate::judge::forgotten::{is_evidence_redacted, redacted};
use crate::judge::{JudgeError, ReplayError, Replayer, kind_of};
use crate::quest::{FieldName, Quest, Submission};
use crate::session::{Forgetting, LineReader, QuestRecord, Session, Worker};
use crate::world::evidence::{
    BodyRef, Evidence, Exchange, PageAnswer, Question, Recording, SandboxAnswer,
};
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};
use crate::world::sandbox::FileSeen;
use crate::world::{Fetched, Rendered, Response};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenPage {
    pub url: Url,
    /// What came: `status 200`, `no such host`, why nothing did.
    pub answer: String,
}

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) place: String,
    /// Its lines. For a page: visible text, then link targets, then the rest.
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
            Fetched::Response(response) => of_page(url, &response),
            _ => None,
        },
        Exchange::Rendered { url, answer } => of_rendered(url, answer, bodies),
        Exchange::Sandbox { asked, answer } => {
            let (place, bytes) = match (asked, answer) {
                (Question::File(path), SandboxAnswer::File(FileSeen::File(body))) => {
                    (path.to_string(), bodies.get(&body.sha256)?)
                }
                (Question::Run(order), SandboxAnswer::Run(ran)) => {
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
    page.ok().map(|page| of_pages(url, vec![page]))
}

/// A page and its frames as a browser rendered them.
fn of_rendered(
    url: &Url,
    answer: &Rendered<BodyRef>,
    bodies: &BTreeMap<Digest, Vec<u8>>,
) -> Option<Source> {
    let Rendered::Page(rendered) = answer else {
        return None;
    };
    let frames = rendered.frames.iter().map(|it| (&it.url, &it.body));
    let all = std::iter::once((url, &rendered.body)).chain(frames);
    let pages = all.filter_map(|(url, body)| {
        let body = bodies.get(&body.sha256)?;
        Page::rendered(url, None, body, rendered.incomplete).ok()
    });
    let pages: Vec<_> = pages.collect();
    (!pages.is_empty()).then(|| of_pages(url, pages))
}

fn of_pages(url: &Url, pages: Vec<Page>) -> Source {
    let mut empty = pages[0].of_visitors();
    empty.visible.clear();
    let lines = pages.into_iter().flat_map(|page| {
        let all = [
            page.visible,
            page.linked,
            page.unclear,
            page.visitors,
            page.hidden,
        ];
        all.concat()
    });
    Source {
        place: url.to_string(),
        lines: lines.collect(),
        page: Some(empty),
    }
}

/// Why evidence from which an address was removed is not shown.
pub(crate) const REMOVED: &str = "it was removed when its address was forgotten";

/// Lines of something that the gate saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpt {
    /// What it is of: a page's address, a path in the tree, a command.
    pub of: String,
    /// The number of its first line; of a page, among the lines that a reader sees.
    pub first: usize,
    pub lines: Vec<ExcerptLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcerptLine {
    /// Its text, or the part of it around what was found.
    pub text: String,
    /// Whether this line contains what was searched for.
    pub found: bool,
}

const AROUND: usize = 2;

/// The longest part of a line that is shown, and how much of it precedes the match.
const MAX_LINE: usize = 240;
const BEFORE: usize = 100;

/// The shortest text that is searched for. Shorter texts occur everywhere.
const MIN_SOUGHT: usize = 3;

#[derive(Debug)]
enum Needle {
    Mailbox(Mailbox),
    Text(String),
    Line(usize),
}

/// The subject of `fact` in its context; `None` if no source shows it.
///
/// Searched in this order, and in the fact's location first: a reviewer's quotation, the line in the
/// location, quoted text, the value of its field, the other submitted values, `key`.
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
    let line = line_of(location);
    // A doubt's quotation was checked against the inputs, but its line number was not.
    let is_doubt = fact.rule == REVIEWERS_DOUBT.id;
    let quotation = fact.actual.lines().find_map(text).filter(|_| is_doubt);
    let quoted = |sources: &[&Source]| look(quotation.as_ref()?, sources, line);
    let of_line = || look(&Needle::Line(line?), &named, None);
    let found = quoted(&named).or_else(of_line).or_else(|| quoted(&others));
    found.or_else(|| {
        let mut places = [&named, &others].into_iter();
        places.find_map(|sources| {
            let mut needles = needles.iter();
            needles.find_map(|needle| look(needle, sources, None))
        })
    })
}

/// A submitted `value` in its context; `None` if no source shows it.
pub(crate) fn excerpt_of(value: &str, sources: &[Source]) -> Option<Excerpt> {
    let needle = self::value(value)?;
    look(&needle, &sources.iter().collect::<Vec<_>>(), None)
}

/// The first match of `needle`, or the match nearest to the line `near` in the first source with one.
fn look(needle: &Needle, sources: &[&Source], near: Option<usize>) -> Option<Excerpt> {
    let (source, at) = sources.iter().find_map(|source| {
        let mut found = (0..source.lines.len()).filter(|at| is_found(source, *at, needle));
        let at = plainly(source, needle).or_else(|| match near {
            None => found.next(),
            Some(line) => found.min_by_key(|at| line.abs_diff(at + 1)),
        });
        Some((source, at?))
    })?;
    let first = at.saturating_sub(AROUND);
    let last = source.lines.len().min(at + AROUND + 1);
    let lines = (first..last).map(|here| ExcerptLine {
        text: clipped(&source.lines[here], needle),
        found: is_found(source, here, needle),
    });
    Some(Excerpt {
        of: source.place.clone(),
        first: first + 1,
        lines: lines.collect(),
    })
}

/// The line that spells an address literally, which is the clearest and the fastest to find.
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
    let length = line.chars().count();
    if length <= MAX_LINE {
        return line.to_owned();
    }
    let text = match needle {
        Needle::Text(text) => text.as_str(),
        Needle::Mailbox(mailbox) => mailbox.local(),
        Needle::Line(_) => "",
    };
    let at = line.to_lowercase().find(text).unwrap_or(0);
    // Lower-casing may change the length, so the offset is approximate, which is good enough.
    let before = line.char_indices().take_while(|(byte, _)| *byte < at);
    let first = before.count().saturating_sub(BEFORE);
    let inner: String = line.chars().skip(first).take(MAX_LINE).collect();
    let before = if first > 0 { "…" } else { "" };
    let after = if first + MAX_LINE < length { "…" } else { "" };
    format!("{before}{inner}{after}")
}

#[derive(Debug)]
pub struct QuestSummary {
    pub quest: Quest,
    pub submission: Option<Submission>,
    pub sent_back: bool,
    pub worker: Option<Worker>,
    /// Whether the gate has judged it again. Then the facts are from that judgement.
    pub again: bool,
    pub facts: Vec<Fact>,
    pub excerpts: Vec<Excerpt>,
    pub damage: Option<String>,
}

/// Summarises many quests of one session within limits, because a page cannot show everything that
/// the gate saw.
pub struct SummaryReader {
    reader: LineReader,
    replayer: Replayer,
    forgetting: Forgetting,
    fields: Vec<FieldName>,
    /// How many bytes may still be unpacked.
    left_to_read: u64,
    /// How many bytes may still be shown.
    left_to_show: usize,
}

/// The most bytes that are unpacked for one quest.
const MAX_READ_OF_ONE: u64 = 8 << 20;

const MAX_EXCERPTS: usize = 4;

impl SummaryReader {
    pub fn new(session: &Session) -> Result<Self, JudgeError> {
        Ok(Self {
            reader: session.reader()?,
            replayer: Replayer::new(session.manifest(), session.evidence())?,
            forgetting: session.forgetting(),
            fields: kind_of(session.manifest())?.result_fields(),
            left_to_read: 1 << 30,
            left_to_show: 12 << 20,
        })
    }

    pub fn summary(&mut self, record: &QuestRecord) -> Result<QuestSummary, JudgeError> {
        let mut summary = QuestSummary {
            quest: self.reader.quest(record)?,
            submission: None,
            sent_back: false,
            worker: None,
            again: false,
            facts: Vec::new(),
            excerpts: Vec::new(),
            damage: None,
        };
        let Some(last) = self.reader.last_attempt(record)? else {
            return Ok(summary);
        };
        let again = self.reader.resolution(record)?;
        let repeated = self.reader.repeated_attempt(record)?;
        let (judgement, evidence) = match (&again, &repeated) {
            (Some(again), _) => (&again.value.judgement, &again.value.evidence),
            (None, Some(first)) => (&first.value.judgement, &first.value.evidence),
            (None, None) => (&last.value.judgement, &last.value.evidence),
        };
        summary.facts = Judgement::facts_of(judgement.get());
        match self.recording(record, evidence)? {
            Ok(recording) => {
                let submission = &last.value.submission;
                let key = summary.quest.key.as_str();
                summary.excerpts = self.excerpts(&summary.facts, submission, key, &recording);
            }
            Err(why) => summary.damage = Some(why),
        }
        summary.again = again.is_some();
        summary.sent_back = last.value.revision;
        summary.submission = Some(last.value.submission);
        summary.worker = last.value.worker;
        Ok(summary)
    }

    /// The evidence with its bodies, or why it is not shown.
    fn recording(
        &mut self,
        record: &QuestRecord,
        evidence: &RawValue,
    ) -> Result<Result<Recording, String>, JudgeError> {
        let named = serde_json::from_str::<Evidence>(evidence.get());
        let bytes = named.map(|named| named.bodies().map(|body| body.bytes).sum::<u64>());
        if matches!(bytes, Ok(0)) {
            return Ok(Ok(Recording::default()));
        }
        // Evidence that was redacted may no longer be readable.
        let (forgetting, reader) = (&self.forgetting, &mut self.reader);
        if !forgetting.is_empty() && is_evidence_redacted(forgetting, reader, record, evidence)? {
            return Ok(Err(REMOVED.to_owned()));
        }
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(ReplayError::Evidence(error).to_string())),
        };
        if bytes > MAX_READ_OF_ONE {
            return Ok(Err(format!(
                "it is not shown, because it has {bytes} bytes"
            )));
        }
        if bytes > self.left_to_read || self.left_to_show == 0 {
            let text = "it is not shown, because the page already shows much of other quests";
            return Ok(Err(text.to_owned()));
        }
        self.left_to_read -= bytes;
        let recording = self.replayer.recording(evidence);
        Ok(recording.map_err(|error| error.to_string()))
    }

    fn excerpts(
        &mut self,
        facts: &[Fact],
        submission: &Submission,
        key: &str,
        recording: &Recording,
    ) -> Vec<Excerpt> {
        let mut sources = sources(recording);
        sources.retain(|source| !source.place.ends_with("/robots.txt"));
        let fields = self.fields.iter();
        let values = fields.filter_map(|name| submission.field(name.as_str()));
        let values = values.filter(|value| !is_web(value));
        let mut excerpts = found(facts, submission, key, values, &sources);
        let redact = |text: &mut String| {
            if let Some(other) = redacted(&self.forgetting, text) {
                *text = other;
            }
        };
        let mut bytes = 0;
        for excerpt in &mut excerpts {
            redact(&mut excerpt.of);
            for line in &mut excerpt.lines {
                redact(&mut line.text);
                bytes += line.text.len();
            }
        }
        self.left_to_show = self.left_to_show.saturating_sub(bytes);
        excerpts
    }
}

fn found<'a>(
    facts: &[Fact],
    submission: &Submission,
    key: &str,
    values: impl Iterator<Item = &'a str>,
    sources: &[Source],
) -> Vec<Excerpt> {
    let around_facts = facts
        .iter()
        .filter_map(|fact| excerpt(fact, submission, key, sources));
    let around_values = values.filter_map(|value| excerpt_of(value, sources));
    let mut found: Vec<Excerpt> = Vec::new();
    for excerpt in around_facts.chain(around_values) {
        let same = |it: &Excerpt| (&it.of, it.first) == (&excerpt.of, excerpt.first);
        if !found.iter().any(same) {
            found.push(excerpt);
        }
        if found.len() == MAX_EXCERPTS {
            break;
        }
    }
    found
}

/// Whether it is a URL. Pages contain many links, so a link proves nothing.
fn is_web(value: &str) -> bool {
    Url::parse(value.trim()).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::gate::RuleId;
    use crate::quest::Fields;

    impl Source {
        fn text(place: &str, text: &str) -> Self {
            Self {
                place: place.to_owned(),
                lines: text.lines().map(str::to_owned).collect(),
                page: None,
            }
        }

        fn html(url: &str, html: &str) -> Self {
            let response = Response {
                status: 200,
                content_type: Some("text/html; charset=utf-8".to_owned()),
                location: None,
                refresh: None,
                disposition: None,
                body: html.as_bytes().to_vec(),
            };
            of_page(&Url::parse(url).unwrap(), &response).unwrap()
        }
    }

    fn acme() -> Submission {
        let field = |name, text: &str| (FieldName::known(name), text.to_owned());
        Submission::Fields(Fields::from([
            field("email", "info@acme.co.kr"),
            field("site", "https://acme.co.kr/"),
        ]))
    }

    /// The place, the first line and the lines around what a fact is about, with `>` before those
    /// that hold it.
    fn shown(actual: &str, location: &str, sources: &[Source]) -> Option<(String, usize, String)> {
        let fact = Fact {
            rule: RuleId::known("some-rule"),
            field: Some(FieldName::known("email")),
            location: (!location.is_empty()).then(|| location.into()),
            ..Fact::wrong("this", actual)
        };
        excerpt(&fact, &acme(), "Acme Foods", sources).map(marked)
    }

    fn marked(excerpt: Excerpt) -> (String, usize, String) {
        let mark = |found| if found { ">" } else { "" };
        let lines = excerpt.lines.iter();
        let lines: Vec<_> = lines
            .map(|line| format!("{}{}", mark(line.found), line.text))
            .collect();
        (excerpt.of, excerpt.first, lines.join("\n"))
    }

    #[test]
    fn shows_a_fact_in_its_context() {
        const HOME: &str = "https://acme.co.kr/";
        const OTHER: &str = "https://acme.co.kr/other";
        let page = "<p>one<p>two<p>three<p>Write to info [at] acme [dot] co [dot] kr<p>five\
                    <p>Acme Foods<p>seven";
        let sources = [
            Source::html(HOME, page),
            Source::html(OTHER, "<p>Acme Foods"),
            Source::text("tests/test_a.py", "a\nb\nc\nd\ne\nf"),
        ];
        let address = "two\nthree\n>Write to info [at] acme [dot] co [dot] kr\nfive\nAcme Foods";
        for (actual, location, of, first, lines) in rows! {
            // An address is found however the page spells it.
            "spelled out", "", HOME, 2 => address;
            // What the fact quotes goes before what was submitted, if it is there.
            r#"names "SEVEN""#, "", HOME, 5 => "five\nAcme Foods\n>seven";
            r#"names "nobody""#, "", HOME, 2 => address;
            // The place that the fact names goes before all others.
            "x", "https://acme.co.kr/other#end", OTHER, 1 => ">Acme Foods";
            // A line of a file is shown by its number.
            "assert", "tests/test_a.py:5", "tests/test_a.py", 3 => "c\nd\n>e\nf";
        } {
            let expected = (of.to_owned(), first, lines.to_owned());
            let found = shown(actual, location, &sources);
            assert_eq!(found, Some(expected), "{actual} {location}");
        }
        // Empty quotes stand everywhere, and are no finding.
        let bolt = [Source::html("https://bolt.kr/", "<p>Bolt Toys")];
        for actual in ["nothing", r#"found "" there"#] {
            assert_eq!(shown(actual, "", &bolt), None);
            assert_eq!(shown(actual, "", &[]), None);
        }
    }

    #[test]
    fn shows_the_quotation_nearest_to_the_named_line() {
        let file = "a\nb\nc\nfee = 1  # Acme Foods\ne\nf\ng\nh\ni\nfee = 1\nk\nl";
        let sources = [Source::text("b.py", "fee = 2"), Source::text("a.py", file)];
        let near_end = "h\ni\n>fee = 1\nk\nl";
        for (quotation, location, of, first, lines) in rows! {
            "fee = 1", "a.py:10", "a.py", 8 => near_end;
            // The line is the reviewer's word, and may be wrong.
            "fee = 1", "a.py:8", "a.py", 8 => near_end;
            "  FEE = 1\nand more", "a.py:12", "a.py", 8 => near_end;
            "fee = 2", "", "b.py", 1 => ">fee = 2";
            // A diff shows words that no file has.
            "+ fee = 1", "a.py:7", "a.py", 5 => "e\nf\n>g\nh\ni";
            "+ fee = 1", "", "a.py", 2 => "b\nc\n>fee = 1  # Acme Foods\ne\nf";
        } {
            let fact = Fact::of(&REVIEWERS_DOUBT, "reader answers no: Is it?", quotation);
            let fact = if location.is_empty() {
                fact
            } else {
                fact.at(location)
            };
            let excerpt = excerpt(&fact, &acme(), "Acme Foods", &sources);
            let expected = (of.to_owned(), first, lines.to_owned());
            assert_eq!(
                excerpt.map(marked),
                Some(expected),
                "{quotation} {location}"
            );
        }
    }

    #[test]
    fn clips_a_long_line_around_the_match() {
        let long = format!("{}Acme Foods{}", "가".repeat(500), "나".repeat(500));
        let (_, _, line) = shown("x", "", &[Source::text("a", &long)]).unwrap();
        assert!(line.starts_with(">…가") && line.ends_with('…'), "{line}");
        assert!(line.contains("Acme Foods나"), "{line}");
        assert_eq!(line.chars().count(), MAX_LINE + 3);
    }

    #[test]
    fn shows_passed_values_in_their_context() {
        const PAGE: &str = "<h1>Acme Foods</h1><p>one<p>two<p>three<p>Write to info@acme.co.kr<p>5";
        let sources = [
            Source::html("https://acme.co.kr/", "<p>Acme Foods"),
            Source::html("https://acme.co.kr/contact", PAGE),
        ];
        let values = ["info@acme.co.kr", "nowhere to be seen"].into_iter();
        let found = found(&[], &acme(), "Acme Foods", values, &sources);
        let [only] = found.as_slice() else {
            panic!("{found:?}");
        };
        let place = (only.of.as_str(), only.first);
        assert_eq!(place, ("https://acme.co.kr/contact", 3));
        let lines: Vec<_> = only.lines.iter().filter(|line| line.found).collect();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].text, "Write to info@acme.co.kr");
    }

    #[test]
    fn limits_excerpts_and_shows_each_place_once() {
        let source = Source::text("a.txt", &"one\ntwo\nthree\nfour\nfive\nsix\n".repeat(9));
        let values = ["one", "two", "three", "ONE"].into_iter();
        let places = found(&[], &acme(), "key", values, &[source]);
        let first: Vec<usize> = places.iter().map(|it| it.first).collect();
        assert_eq!(first, [1], "the first three lines have the same place");
        let values: Vec<String> = (0..9).map(|number| format!("text-{number}")).collect();
        let many: Vec<Source> = values.iter().map(|text| Source::text(text, text)).collect();
        let values = values.iter().map(String::as_str);
        let found = found(&[], &acme(), "key", values, &many);
        assert_eq!(found.len(), MAX_EXCERPTS);
    }

    #[test]
    fn does_not_search_for_urls() {
        assert!(is_web("https://acme.co.kr/contact") && is_web(" http://a "));
        assert!(!is_web("info@acme.co.kr") && !is_web("mailto:a@b.c") && !is_web("Acme"));
    }
}
