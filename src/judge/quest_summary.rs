//! What the gate saw of a quest: the lines around the submitted values and around the facts that
//! fired.

use serde_json::value::RawValue;
use url::Url;

use super::excerpts::{Excerpt, REMOVED, Source, excerpt, excerpt_of, sources};
use crate::gate::{Fact, Judgement};
use crate::judge::forgotten::{blotted, is_evidence_blotted};
use crate::judge::{JudgeError, ReplayError, Replayer, kind_of};
use crate::quest::{FieldName, Quest, Submission};
use crate::session::{Forgetting, LineReader, QuestRecord, Session, Worker};
use crate::world::evidence::{Evidence, Recording};

#[derive(Debug)]
pub struct QuestSummary {
    pub quest: Quest,
    /// The last submission; none if the quest was never judged.
    pub submission: Option<Submission>,
    pub sent_back: bool,
    pub worker: Option<Worker>,
    /// Whether the gate judged it again since; if so, the facts are from then.
    pub again: bool,
    pub facts: Vec<Fact>,
    pub excerpts: Vec<Excerpt>,
    pub damage: Option<String>,
}

/// Summarises many quests of one session within bounds, because a page that people open cannot hold
/// everything that the gate ever saw.
pub struct SummaryReader {
    reader: LineReader,
    replayer: Replayer,
    forgetting: Forgetting,
    /// The fields, the answer field first.
    fields: Vec<FieldName>,
    bounds: Bounds,
}

#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The most bytes to unpack for one quest.
    pub one: u64,
    /// The bytes that are left to unpack.
    pub read: u64,
    /// The bytes that are left to show.
    pub shown: usize,
}

impl Bounds {
    pub const PAGE: Self = Self {
        one: 8 << 20,
        read: 1 << 30,
        shown: 12 << 20,
    };
}

const MAX_EXCERPTS: usize = 4;

impl SummaryReader {
    pub fn new(session: &Session, bounds: Bounds) -> Result<Self, JudgeError> {
        Ok(Self {
            reader: session.reader()?,
            replayer: Replayer::new(session.manifest(), session.evidence())?,
            forgetting: session.forgetting(),
            fields: kind_of(session.manifest())?.result_fields(),
            bounds,
        })
    }

    pub fn summary(&mut self, standing: &QuestRecord) -> Result<QuestSummary, JudgeError> {
        let quest = self.reader.quest(standing)?;
        let mut summary = QuestSummary {
            quest,
            submission: None,
            sent_back: false,
            worker: None,
            again: false,
            facts: Vec::new(),
            excerpts: Vec::new(),
            damage: None,
        };
        let Some(last) = self.reader.last_attempt(standing)? else {
            return Ok(summary);
        };
        let again = self.reader.resolution(standing)?;
        let (judgement, evidence) = match &again {
            Some(again) => (&again.value.judgement, &again.value.evidence),
            None => (&last.value.judgement, &last.value.evidence),
        };
        // `audit` reports a judgement that cannot be read.
        let read = serde_json::from_str::<Judgement>(judgement.get());
        summary.facts = read.map_or_else(|_| Vec::new(), |it| it.facts);
        match self.recording(standing, evidence)? {
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
        standing: &QuestRecord,
        evidence: &RawValue,
    ) -> Result<Result<Recording, String>, JudgeError> {
        let named = serde_json::from_str::<Evidence>(evidence.get());
        let bytes = named.map(|named| named.bodies().map(|body| body.bytes).sum::<u64>());
        if matches!(bytes, Ok(0)) {
            return Ok(Ok(Recording::default()));
        }
        // Evidence that was redacted may no longer be readable.
        let (forgetting, reader) = (&self.forgetting, &mut self.reader);
        if !forgetting.is_empty() && is_evidence_blotted(forgetting, reader, standing, evidence)? {
            return Ok(Err(REMOVED.to_owned()));
        }
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(ReplayError::Evidence(error).to_string())),
        };
        let Bounds { one, read, shown } = &mut self.bounds;
        if bytes > *one {
            return Ok(Err(format!(
                "it is not shown, because it has {bytes} bytes"
            )));
        }
        if bytes > *read || *shown == 0 {
            let text = "it is not shown, because the page already shows much of other quests";
            return Ok(Err(text.to_owned()));
        }
        *read -= bytes;
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
            if let Some(redacted) = blotted(&self.forgetting, text) {
                *text = redacted;
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
        self.bounds.shown = self.bounds.shown.saturating_sub(bytes);
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

/// Whether it is the address of a page. Pages link to others for many reasons, so an address is no
/// evidence.
fn is_web(value: &str) -> bool {
    Url::parse(value.trim()).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Fields;

    const PAGE: &str = "<h1>Acme Foods</h1><p>one<p>two<p>three<p>Write to info@acme.co.kr<p>five";

    fn acme() -> Submission {
        let field = |name, text: &str| (FieldName::known(name), text.to_owned());
        Submission::Fields(Fields::from([
            field("email", "info@acme.co.kr"),
            field("source", "https://acme.co.kr/contact"),
        ]))
    }

    #[test]
    fn what_passed_is_shown_where_it_stands() {
        let sources = [
            Source::html("https://acme.co.kr/", "<p>Acme Foods"),
            Source::html("https://acme.co.kr/contact", PAGE),
        ];
        let submission = acme();
        let values = ["info@acme.co.kr", "nowhere to be seen"].into_iter();
        let found = found(&[], &submission, "Acme Foods", values, &sources);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].of.as_str(), found[0].first),
            ("https://acme.co.kr/contact", 3)
        );
        let lines: Vec<_> = found[0].lines.iter().filter(|line| line.found).collect();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].text, "Write to info@acme.co.kr");
    }

    #[test]
    fn a_place_is_shown_once_and_not_too_many_are() {
        let source = Source::text("a.txt", &"one\ntwo\nthree\nfour\nfive\nsix\n".repeat(9));
        let values = ["one", "two", "three", "ONE"].into_iter();
        let places = found(&[], &acme(), "key", values, &[source]);
        let first: Vec<usize> = places.iter().map(|it| it.first).collect();
        assert_eq!(first, [1], "the first three lines have the same place");
        let many: Vec<Source> = (0..9)
            .map(|number| Source::text(&number.to_string(), &format!("text-{number}")))
            .collect();
        let values: Vec<String> = (0..9).map(|number| format!("text-{number}")).collect();
        let values = values.iter().map(String::as_str);
        assert_eq!(
            found(&[], &acme(), "key", values, &many).len(),
            MAX_EXCERPTS
        );
    }

    #[test]
    fn addresses_of_pages_are_not_looked_for() {
        assert!(is_web("https://acme.co.kr/contact") && is_web(" http://a "));
        assert!(!is_web("info@acme.co.kr") && !is_web("mailto:a@b.c") && !is_web("Acme"));
    }
}
