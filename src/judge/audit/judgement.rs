//! Examines one judgement of the ledger: repeats it from its evidence, and derives every field of its
//! line.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

use super::findings::{Audited, Checked, Finding, FindingKind, Place, Proven, SeenFile};
use crate::gate::{Case, Gate, Judgement, is_anchored};
use crate::judge::error::JudgeError;
use crate::judge::recorded::{NewJudgement, is_sent_back};
use crate::judge::recorded::{doubts_of, mark, marks};
use crate::judge::replay::{ReplayError, Replayer, is_recorded, resolved, without_gate};
use crate::quest::{Key, Quest, QuestId, Verdict};
use crate::session::{
    Attempt, Event, LineReader, Projection, QuestRecord, Regressed, SessionError, VerdictBasis,
};
use crate::world::evidence::{Evidence, Exchange, Question, Recording, SandboxAnswer};
use crate::world::sandbox::FileSeen;
use crate::world::{EarlierDoubt, UniqueValue};

#[derive(Debug)]
pub(super) struct JudgementLine {
    pub(super) line: u64,
    pub(super) offset: u64,
    /// The doubts because of which earlier answers of the quest were sent back.
    pub(super) doubted: Vec<EarlierDoubt>,
    pub(super) event: Event,
}

#[derive(Debug, Default)]
pub(super) struct DoubtedBefore(BTreeMap<QuestId, Vec<EarlierDoubt>>);

impl DoubtedBefore {
    pub(super) fn take(&mut self, event: &Event) -> Vec<EarlierDoubt> {
        let (quest, new) = match event {
            Event::Attempt(attempt) if attempt.revision => (attempt.quest, doubts_of(attempt)),
            Event::Attempt(attempt) => (attempt.quest, Vec::new()),
            Event::Resolution(resolution) => (resolution.quest, Vec::new()),
            _ => return Vec::new(),
        };
        let before = self.0.get(&quest).cloned().unwrap_or_default();
        if !new.is_empty() {
            self.0.entry(quest).or_default().extend(new);
        }
        before
    }
}

pub(super) struct Examiner<'a> {
    pub(super) projection: &'a Projection,
    pub(super) reader: LineReader,
    pub(super) replayer: Replayer,
    /// Whether this program and its lists made the session.
    pub(super) same_judge: bool,
}

impl Examiner<'_> {
    pub(super) fn work(
        &mut self,
        waiting: &Mutex<Receiver<JudgementLine>>,
    ) -> Result<Audited, JudgeError> {
        let mut all = Audited::default();
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(line) = next.recv() else {
                return Ok(all);
            };
            drop(next);
            all.add(self.examine(&line)?);
        }
    }

    fn examine(&mut self, line: &JudgementLine) -> Result<Audited, SessionError> {
        match &line.event {
            Event::Attempt(attempt) => {
                let repeats = self.repeats(attempt)?;
                self.examine_attempt(line, attempt, repeats)
            }
            Event::Carried(carried) => self.examine_attempt(line, &carried.attempt, None),
            Event::Resolution(resolution) => {
                let Some(quest_record) = self.projection.get(resolution.quest)? else {
                    return Ok(Audited::default());
                };
                // A REVIEW is locked, so its last attempt was judged again.
                let Some(last) = self.reader.last_attempt(&quest_record)? else {
                    return Ok(Audited::default());
                };
                self.examine_attempt(line, &resolved(*last.value, resolution), None)
            }
            Event::Regressed(regressed) => self.examine_regression(line, regressed),
            _ => Ok(Audited::default()),
        }
    }

    fn examine_attempt(
        &mut self,
        line: &JudgementLine,
        attempt: &Attempt,
        repeats: Option<u32>,
    ) -> Result<Audited, SessionError> {
        let Some(quest_record) = self.projection.get(attempt.quest)? else {
            return Ok(Audited::default());
        };
        let place = || Place::of(line.line, Some(&quest_record));
        let mut audited = Audited {
            checked: Checked {
                judgements: 1,
                ..Checked::default()
            },
            ..Audited::default()
        };
        if self.is_redacted(line, &quest_record)? {
            audited.forgotten.push(place());
            return Ok(audited);
        }
        let quest = self.reader.quest(&quest_record)?;
        let mut find =
            |kind, what: String| audited.findings.push(Finding::new(kind, place(), what));
        let evidence = serde_json::from_str::<Evidence>(attempt.evidence.get());
        match &evidence {
            Ok(evidence) => {
                for misfit in misfits(self.replayer.gate(), &quest, attempt, evidence, repeats) {
                    find(FindingKind::Field, misfit);
                }
                // For a carried PASS, an earlier session answered the gate.
                if !matches!(line.event, Event::Carried(_)) {
                    let mut holder =
                        |value: &UniqueValue| self.holder(value, quest_record.id, line.offset);
                    let mut wrong = wrong_answers(evidence, &mut holder);
                    wrong.extend(wrong_doubts(evidence, &line.doubted));
                    if !wrong.is_empty() {
                        find(FindingKind::Answer, wrong.join("; "));
                    }
                }
            }
            Err(error) => find(
                FindingKind::Evidence,
                format!("its evidence cannot be read: {error}"),
            ),
        }
        // Only a PASS counts as a result, and only its evidence is complete.
        if attempt.verdict != Verdict::Pass {
            return Ok(audited);
        }
        let evidence = evidence.unwrap_or_default();
        audited.files = seen_files(line.line, quest_record.id, &evidence);
        match self.replayer.judge(&quest, attempt) {
            Err(ReplayError::BodyMissing { digest })
                if self.projection.totals().forgetting.has_body(digest) =>
            {
                audited.forgotten.push(place());
            }
            again => {
                let again = again.map(|(judgement, _)| judgement);
                let finding = replayed(place(), attempt, again, self.same_judge);
                let others = FindingKind::OtherLists;
                audited.proven.push(Proven {
                    line: line.line,
                    quest: quest_record.id,
                    by_others: finding.as_ref().is_some_and(|it| it.kind == others),
                    on_machine: evidence.rests_on_machine(self.replayer.gate().accepts_repeats()),
                });
                audited.findings.extend(finding);
                audited.checked.passes += 1;
            }
        }
        Ok(audited)
    }

    /// It rests on the tree as it was then, so only what it says of itself can be checked.
    fn examine_regression(
        &self,
        line: &JudgementLine,
        regressed: &Regressed,
    ) -> Result<Audited, SessionError> {
        let forgetting = &self.projection.totals().forgetting;
        let judgement = serde_json::from_str::<Judgement>(regressed.judgement.get());
        let follows = judgement.is_ok_and(|judgement| {
            let made = NewJudgement::without_gate(judgement, VerdictBasis::World);
            let facts = made.judgement.facts.clone();
            Judgement::from_facts(facts, Vec::new()).verdict == Verdict::Fail
                && made.judgement.verdict == Verdict::Fail
                && made.fired() == regressed.rules
        });
        let mut audited = Audited::default();
        if !follows && !forgetting.has_line(line.line - 1) {
            let record = self.projection.get(regressed.quest)?;
            let what = String::from("its judgement is no FAIL by these rules");
            let place = Place::of(line.line, record.as_ref());
            audited
                .findings
                .push(Finding::new(FindingKind::Field, place, what));
        }
        Ok(audited)
    }

    /// Whether an address was removed from the line or from a line that it depends on.
    fn is_redacted(
        &mut self,
        line: &JudgementLine,
        quest_record: &QuestRecord,
    ) -> Result<bool, SessionError> {
        let forgetting = &self.projection.totals().forgetting;
        if forgetting.is_empty() || forgetting.has_line(line.line - 1) {
            return Ok(!forgetting.is_empty());
        }
        if self.reader.is_redacted(quest_record.quest_line)? {
            return Ok(true);
        }
        match (&line.event, quest_record.last) {
            (Event::Resolution(_), Some(last)) => self.reader.is_redacted(last.line),
            _ => Ok(false),
        }
    }

    /// Which quest but `except` held `value` before the line at `offset`.
    ///
    /// A holder never releases a value, so the holder before the line is also the holder at the end of
    /// the ledger.
    fn holder(&mut self, value: &UniqueValue, except: QuestId, offset: u64) -> Option<Key> {
        let mark = mark(value);
        // An unreadable projection is reported elsewhere, because every line reads it.
        let holder = self.projection.holder(&mark).ok()??;
        if holder.id == except {
            return None;
        }
        let earlier = holder.reopenings.iter().filter_map(|it| it.proof);
        let mut proofs = earlier.chain(holder.proof());
        let before = if holder.reopenings.is_empty() {
            proofs.next()?.offset < offset
        } else {
            // Its PASSes may have held different values.
            proofs.filter(|proof| proof.offset < offset).any(|proof| {
                self.reader
                    .held_by(proof)
                    .is_ok_and(|held| held.contains(&mark))
            })
        };
        before.then(|| holder.key.clone())
    }

    /// The number of the earlier attempt with the same submission, unless it had unanswered lookups.
    fn repeats(&self, attempt: &Attempt) -> Result<Option<u32>, SessionError> {
        if self.replayer.gate().accepts_repeats() {
            return Ok(None);
        }
        let record = self.projection.get(attempt.quest)?;
        let earlier =
            record.and_then(|record| record.repeats(attempt.submission.digest(), attempt.number));
        Ok(earlier)
    }
}

/// The finding about a judgement that was made `again` from its evidence; `None` if it is the recorded
/// one, byte for byte.
fn replayed(
    place: Place,
    attempt: &Attempt,
    again: Result<Judgement, ReplayError>,
    same_judge: bool,
) -> Option<Finding> {
    let other = if same_judge {
        FindingKind::Replay
    } else {
        FindingKind::OtherLists
    };
    Some(match again {
        Ok(judgement) if is_recorded(attempt, &judgement) => return None,
        Ok(judgement) => {
            let what = format!(
                "judged again from its evidence, it is {}, which is not the recorded judgement",
                judgement.verdict
            );
            Finding {
                facts: judgement.facts,
                ..Finding::new(other, place, what)
            }
        }
        Err(error @ ReplayError::Unanswered) => Finding::new(other, place, error.to_string()),
        Err(error) => {
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                let why = error.to_string();
                if !text.contains(&why) {
                    text = format!("{text}: {why}");
                }
                cause = error.source();
            }
            Finding::new(FindingKind::Evidence, place, text)
        }
    })
}

/// The fields of `attempt` that do not follow from its judgement, its evidence and its quest.
fn misfits(
    gate: &dyn Gate,
    quest: &Quest,
    attempt: &Attempt,
    evidence: &Evidence,
    repeats: Option<u32>,
) -> Vec<String> {
    let Ok(judgement) = serde_json::from_str::<Judgement>(attempt.judgement.get()) else {
        return vec![String::from("its judgement cannot be read")];
    };
    let mut wrong = Vec::new();
    let verdict_of_facts = Judgement::from_facts(judgement.facts.clone(), Vec::new()).verdict;
    let made = if let Some((expected, grounds)) = without_gate(attempt, repeats) {
        if expected != judgement {
            wrong.push(String::from(
                "it says nothing or repeats an earlier submission, but was judged as if it did not",
            ));
        }
        NewJudgement::without_gate(judgement, grounds)
    } else {
        // Grounds and rules depend only on the exchanges, so no page is loaded.
        let recording = Recording {
            evidence: evidence.clone(),
            ..Recording::default()
        };
        NewJudgement::by_gate(gate, judgement, recording)
    };
    let verdict = made.judgement.verdict;
    let submission = &attempt.submission;
    let holds = match attempt.verdict {
        Verdict::Pass => marks(gate, Case { quest, submission }),
        Verdict::Review | Verdict::Fail => Vec::new(),
    };
    let may_revise = is_sent_back(gate.revisions(), &made.judgement, 0);
    let fields = [
        (
            "verdict",
            verdict == attempt.verdict && verdict == verdict_of_facts,
        ),
        ("rules", made.fired() == attempt.rules),
        ("grounds", made.grounds == attempt.grounds),
        ("holds", holds == attempt.holds),
        ("revision", !attempt.revision || may_revise),
        ("submitted", submission.digest() == attempt.submitted),
        ("anchored", is_anchored(quest) == attempt.anchored),
        ("seen", made.judgement.seen == attempt.seen),
    ];
    let misfits = fields.into_iter().filter(|(_, fits)| !fits);
    wrong.extend(
        misfits.map(|(name, _)| format!("its {name:?} does not follow from its judgement")),
    );
    wrong
}

/// The answers in `evidence` that the ledger contradicts, one sentence each.
fn wrong_answers(
    evidence: &Evidence,
    holder: &mut dyn FnMut(&UniqueValue) -> Option<Key>,
) -> Vec<String> {
    let who =
        |key: Option<&Key>| key.map_or("nobody".to_owned(), |key| format!("{:?}", key.as_str()));
    let mut wrong = Vec::new();
    for exchange in &evidence.exchanges {
        let Exchange::Session {
            value,
            holder: told,
        } = exchange
        else {
            continue;
        };
        let holder = holder(value);
        if holder == *told {
            continue;
        }
        let what = match value {
            UniqueValue::Mailbox(mailbox) => mailbox.to_string(),
            UniqueValue::Domain(domain) => format!("the addresses of {domain}"),
            UniqueValue::Value { field, text } => format!("{text:?} as {field}"),
        };
        wrong.push(format!(
            "the session told the gate that {} had passed with {what}, but by the ledger {} had",
            who(told.as_ref()),
            who(holder.as_ref())
        ));
    }
    wrong
}

fn wrong_doubts(evidence: &Evidence, doubted: &[EarlierDoubt]) -> Option<String> {
    let told = evidence.doubts()?;
    (told != doubted).then(|| {
        format!(
            "the session told the gate of {} doubts by which earlier answers were sent back, but \
             the ledger has {}, or others",
            told.len(),
            doubted.len()
        )
    })
}

/// The files that the PASS in `line` saw.
///
/// They do not include files that only a command read, because their content is not recorded.
fn seen_files(line: u64, quest: QuestId, evidence: &Evidence) -> Vec<SeenFile> {
    let files = evidence.exchanges.iter().filter_map(|exchange| {
        let Exchange::Sandbox {
            asked: Question::File(path),
            answer,
        } = exchange
        else {
            return None;
        };
        let file = match answer {
            SandboxAnswer::File(FileSeen::File(body)) => Some(body.sha256),
            _ => None,
        };
        Some(SeenFile {
            line,
            quest,
            path: path.clone(),
            file,
        })
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Digest;
    use crate::world::mailbox::Mailbox;

    fn found(again: ReplayError, same: bool) -> Option<FindingKind> {
        let attempt = serde_json::json!({
            "quest": 1, "number": 1, "submission": {"fields": {}}, "verdict": "PASS",
            "submitted": Digest::of(b""), "grounds": "world", "state": "PASS", "tries": 0,
            "rules": [], "anchored": false, "judgement": null, "evidence": null,
        });
        let attempt = serde_json::from_str(&attempt.to_string()).unwrap();
        replayed(Place::default(), &attempt, Err(again), same).map(|finding| finding.kind)
    }

    #[test]
    fn reports_lost_evidence_under_any_lists() {
        for same in [true, false] {
            let digest = Digest::of(b"page");
            let lost = ReplayError::BodyMissing { digest };
            assert_eq!(found(lost, same), Some(FindingKind::Evidence));
        }
        let more = || ReplayError::Unanswered;
        assert_eq!(found(more(), true), Some(FindingKind::Replay));
        assert_eq!(found(more(), false), Some(FindingKind::OtherLists));
    }

    fn doubt(quotation: &str) -> EarlierDoubt {
        EarlierDoubt {
            reviewer: String::from("reader"),
            question: String::from("more"),
            quotation: quotation.to_owned(),
        }
    }

    #[test]
    fn detects_hidden_and_invented_doubts() {
        let told = |doubts: &[EarlierDoubt]| Evidence {
            exchanges: vec![Exchange::Doubts(doubts.to_vec())],
        };
        let (one, two) = ([doubt("curl")], [doubt("wget")]);
        assert_eq!(wrong_doubts(&told(&one), &one), None);
        assert_eq!(
            wrong_doubts(&Evidence::default(), &one),
            None,
            "nobody asked"
        );
        for (told_of, ledger) in [(&[] as &[_], &one as &[_]), (&one, &[]), (&one, &two)] {
            assert!(wrong_doubts(&told(told_of), ledger).is_some());
        }
    }

    fn acme(value: &UniqueValue) -> Option<Key> {
        matches!(value, UniqueValue::Mailbox(_)).then(|| Key::new("Acme").unwrap())
    }

    fn asked(holder: Option<&str>) -> Evidence {
        let mailbox = Mailbox::parse("info@acme.co.kr").unwrap();
        let domain = mailbox.domain().registrable().unwrap();
        let answer = |value, holder: Option<&str>| {
            let holder = holder.map(|key| Key::new(key).unwrap());
            Exchange::Session { value, holder }
        };
        Evidence {
            exchanges: vec![
                answer(UniqueValue::Mailbox(mailbox), holder),
                answer(UniqueValue::Domain(domain), None),
            ],
        }
    }

    #[test]
    fn detects_hidden_and_invented_holders() {
        assert_eq!(wrong_answers(&asked(Some("Acme")), &mut acme), [""; 0]);
        for told in [None, Some("Bolt")] {
            let wrong = wrong_answers(&asked(told), &mut acme);
            let [wrong] = wrong.as_slice() else {
                panic!("{wrong:?}");
            };
            assert!(wrong.contains("info@acme.co.kr"), "{wrong}");
            assert!(wrong.contains("by the ledger \"Acme\" had"), "{wrong}");
        }
    }
}
