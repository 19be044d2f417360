//! What the gate saw of a quest: the lines around the submitted values and around the facts that
//! fired.

use serde_json::value::RawValue;
use url::Url;

use super::excerpts::{
    Excerpt, ExcerptRow, Judged, Marker, REMOVED, Source, excerpt, excerpt_of, quoted, sources,
};
use crate::gate::Fact;
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
    pub excerpts: Vec<ExcerptRow>,
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

const MOST_EXCERPTS: usize = 4;

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
        summary.facts = Judged::read(judgement).map_or_else(|_| Vec::new(), |it| it.facts);
        match self.look(standing, evidence)? {
            Looked::Seen(recording) => {
                let submission = &last.value.submission;
                let key = summary.quest.key.as_str();
                summary.excerpts = self.excerpts(&summary.facts, submission, key, &recording);
            }
            Looked::Not(why) => summary.damage = Some(why),
        }
        summary.again = again.is_some();
        summary.sent_back = last.value.revision;
        summary.submission = Some(last.value.submission);
        summary.worker = last.value.worker;
        Ok(summary)
    }

    fn look(&mut self, standing: &QuestRecord, evidence: &RawValue) -> Result<Looked, JudgeError> {
        let named = serde_json::from_str::<Evidence>(evidence.get());
        let bytes = named.map(|named| named.bodies().map(|body| body.bytes).sum::<u64>());
        if matches!(bytes, Ok(0)) {
            return Ok(Looked::Seen(Recording::default()));
        }
        // Evidence that was redacted may no longer be readable.
        if self.is_blotted(standing, evidence)? {
            return Ok(Looked::Not(REMOVED.to_owned()));
        }
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Looked::Not(ReplayError::Evidence(error).to_string())),
        };
        let Bounds { one, read, shown } = &mut self.bounds;
        if bytes > *one {
            let text = format!("it is left out here, for it has {bytes} bytes");
            return Ok(Looked::Not(text));
        }
        if bytes > *read || *shown == 0 {
            let text = "it is left out here, for enough is shown of other quests";
            return Ok(Looked::Not(text.to_owned()));
        }
        *read -= bytes;
        Ok(match self.replayer.recording(evidence) {
            Ok(recording) => Looked::Seen(recording),
            Err(error) => Looked::Not(error.to_string()),
        })
    }

    fn is_blotted(
        &mut self,
        standing: &QuestRecord,
        evidence: &RawValue,
    ) -> Result<bool, JudgeError> {
        if self.forgetting.is_empty() {
            return Ok(false);
        }
        let (forgetting, reader) = (&self.forgetting, &mut self.reader);
        Ok(is_evidence_blotted(forgetting, reader, standing, evidence)?)
    }

    fn excerpts(
        &mut self,
        facts: &[Fact],
        submission: &Submission,
        key: &str,
        recording: &Recording,
    ) -> Vec<ExcerptRow> {
        let mut sources = sources(recording);
        sources.retain(|source| !source.place.ends_with("/robots.txt"));
        let values = || {
            let fields = self.fields.iter();
            let values = fields.filter_map(|name| submission.field(name.as_str()));
            values.filter(|value| !is_web(value))
        };
        let found = found(facts, submission, key, values(), &sources);
        let quotes = facts.iter().flat_map(|fact| quoted(&fact.actual));
        let marker = Marker::new(values().chain(quotes), key);
        let rows = found.into_iter().map(|excerpt| self.row(excerpt, &marker));
        let rows: Vec<ExcerptRow> = rows.collect();
        let pieces = rows.iter().flat_map(|row| row.lines.iter().flatten());
        let bytes = pieces.map(|piece| piece.text.len()).sum();
        self.bounds.shown = self.bounds.shown.saturating_sub(bytes);
        rows
    }

    fn row(&self, excerpt: Excerpt, marker: &Marker) -> ExcerptRow {
        let whole = |text: String| blotted(&self.forgetting, &text).unwrap_or(text);
        let lines = excerpt.lines.into_iter().map(|mut line| {
            line.text = whole(line.text);
            marker.pieces(&line)
        });
        ExcerptRow {
            of: whole(excerpt.of),
            first: excerpt.first,
            lines: lines.collect(),
        }
    }
}

enum Looked {
    Seen(Recording),
    Not(String),
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
        if found.len() == MOST_EXCERPTS {
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
            MOST_EXCERPTS
        );
    }

    #[test]
    fn addresses_of_pages_are_not_looked_for() {
        assert!(is_web("https://acme.co.kr/contact") && is_web(" http://a "));
        assert!(!is_web("info@acme.co.kr") && !is_web("mailto:a@b.c") && !is_web("Acme"));
    }
}
