//! Examines one line of the ledger: its judgement is made again from its evidence.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;

use crate::base::Digest;
use crate::gate::Judgement;
use crate::judge::accepted::doubts_of;
use crate::judge::audit::history::{Audited, Checked, HeldBefore, Proven, misfits, wrong_answers};
use crate::judge::audit::{Finding, Kind, Place};
use crate::judge::{JudgeError, Recorded, ReplayError, Replayer};
use crate::quest::{Quest, QuestId, Submission, Verdict};
use crate::session::{
    Attempt, Event, LineReader, Mark, Projection, QuestRecord, Resolution, SessionError,
    VerdictBasis,
};
use crate::world::EarlierDoubt;
use crate::world::evidence::{Asked, Evidence, Exchange, Told};
use crate::world::tree::TreePath;

/// What is found of a judgement that was made `again` from its evidence; nothing when it is the
/// recorded one, byte for byte.
///
/// `same_judge`: this program and its lists are those that the session was made with.
#[must_use]
pub fn replayed(
    place: Place,
    recorded: &RawValue,
    again: Result<Judgement, ReplayError>,
    same_judge: bool,
) -> Option<Finding> {
    let other = if same_judge {
        Kind::Replay
    } else {
        Kind::OtherLists
    };
    match again {
        Ok(judgement) if is(&judgement, recorded) => None,
        Ok(judgement) => {
            let what = format!(
                "judged again from its evidence it is {}, and that is not the recorded judgement",
                judgement.verdict
            );
            Some(Finding::new(other, place, what).with(judgement.facts))
        }
        Err(error @ ReplayError::Unanswered) => Some(Finding::new(other, place, error.to_string())),
        Err(error) => Some(Finding::new(Kind::Evidence, place, told(&error))),
    }
}

fn is(judgement: &Judgement, recorded: &RawValue) -> bool {
    serde_json::to_string(judgement).is_ok_and(|text| text == recorded.get())
}

fn told(error: &ReplayError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let why = error.to_string();
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        cause = error.source();
    }
    text
}

#[derive(Debug, Default)]
pub(super) struct DoubtedBefore(BTreeMap<QuestId, Vec<EarlierDoubt>>);

impl DoubtedBefore {
    pub(super) fn take(&mut self, event: &Event) -> Vec<EarlierDoubt> {
        match event {
            Event::Attempt(attempt) if attempt.revision => {
                let doubted = self.0.entry(attempt.quest).or_default();
                let before = doubted.clone();
                doubted.extend(doubts_of(attempt));
                before
            }
            Event::Attempt(attempt) => self.of(attempt.quest),
            Event::Resolution(resolution) => self.of(resolution.quest),
            _ => Vec::new(),
        }
    }

    fn of(&self, quest: QuestId) -> Vec<EarlierDoubt> {
        self.0.get(&quest).cloned().unwrap_or_default()
    }
}

pub(super) fn untold(evidence: &Evidence, doubted: &[EarlierDoubt]) -> Option<String> {
    let told = evidence.doubts()?;
    (told != doubted).then(|| {
        format!(
            "of doubts by which earlier answers were sent back the gate was told {}, and by the \
             ledger there are {}, or others",
            told.len(),
            doubted.len()
        )
    })
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) doubted: Vec<EarlierDoubt>,
    pub(super) event: Event,
}

pub(super) struct Examiner<'a> {
    pub(super) board: &'a Projection,
    pub(super) reader: LineReader,
    pub(super) replayer: Replayer,
    pub(super) same_judge: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Session(Option<u32>),
    Earlier,
}

impl Examiner<'_> {
    /// Examines lines until there are no more.
    pub(super) fn work(&mut self, waiting: &Mutex<Receiver<Job>>) -> Result<Audited, JudgeError> {
        let mut all = Audited::default();
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(job) = next.recv() else {
                return Ok(all);
            };
            drop(next);
            all.add(self.examine(&job)?);
        }
    }

    fn examine(&mut self, job: &Job) -> Result<Audited, SessionError> {
        match &job.event {
            Event::Attempt(attempt) => {
                let by = By::Session(self.repeats(attempt)?);
                self.judged(job, &Judged::from(attempt.as_ref()), by)
            }
            Event::Carried(carried) => {
                self.judged(job, &Judged::from(&carried.attempt), By::Earlier)
            }
            Event::Resolution(resolution) => {
                let Some(standing) = self.board.get(resolution.quest)? else {
                    return Ok(Audited::default());
                };
                // A REVIEW is locked: its last attempt is the one that was looked at again.
                let Some(attempt) = self.reader.last_attempt(&standing)? else {
                    return Ok(Audited::default());
                };
                let judged = Judged::again(resolution, &attempt.value.submission);
                self.judged(job, &judged, By::Session(None))
            }
            _ => Ok(Audited::default()),
        }
    }

    fn judged(&mut self, job: &Job, judged: &Judged<'_>, by: By) -> Result<Audited, SessionError> {
        let Some(standing) = self.board.get(judged.quest)? else {
            return Ok(Audited::default());
        };
        let one_judgement = Checked {
            judgements: 1,
            ..Checked::default()
        };
        if self.is_redacted(job, &standing)? {
            return Ok(Audited {
                forgotten: vec![Place::of_quest(job.line, &standing)],
                checked: one_judgement,
                ..Audited::default()
            });
        }
        let quest = self.reader.quest(&standing)?;
        let evidence = serde_json::from_str::<Evidence>(judged.evidence.get());
        let mut findings = match &evidence {
            Ok(evidence) => self.findings(job, &standing, &quest, judged, (evidence, by)),
            Err(error) => {
                let what = format!("its evidence does not read: {error}");
                let place = Place::of_quest(job.line, &standing);
                vec![Finding::new(Kind::Evidence, place, what)]
            }
        };
        let mut examined = Audited {
            checked: one_judgement,
            ..Audited::default()
        };
        if judged.proves() {
            examined.rested = evidence
                .map(|evidence| rested(job.line, standing.id, &evidence))
                .unwrap_or_default();
            let place = Place::of_quest(job.line, &standing);
            match self.replayer.judge(&quest, judged.recorded()) {
                Err(ReplayError::BodyMissing { digest }) if self.is_forgotten(digest) => {
                    examined.forgotten.push(place);
                }
                again => {
                    findings.extend(replayed(place, judged.judgement, again, self.same_judge));
                    examined.checked.passes += 1;
                    examined.proven.push(Proven {
                        line: job.line,
                        quest: standing.id,
                        by_others: findings.iter().any(|it| it.kind == Kind::OtherLists),
                    });
                }
            }
        }
        examined.findings = findings;
        Ok(examined)
    }

    fn is_redacted(&mut self, job: &Job, standing: &QuestRecord) -> Result<bool, SessionError> {
        let forgetting = &self.board.totals().forgetting;
        if forgetting.is_empty() || forgetting.has_line(job.line - 1) {
            return Ok(!forgetting.is_empty());
        }
        if self.reader.is_redacted(standing.quest_line)? {
            return Ok(true);
        }
        match (&job.event, standing.last) {
            (Event::Resolution(_), Some(last)) => self.reader.is_redacted(last.line),
            _ => Ok(false),
        }
    }

    fn is_forgotten(&self, body: Digest) -> bool {
        self.board.totals().forgetting.has_body(body)
    }

    fn findings(
        &self,
        job: &Job,
        standing: &QuestRecord,
        quest: &Quest,
        judged: &Judged<'_>,
        (evidence, by): (&Evidence, By),
    ) -> Vec<Finding> {
        let place = || Place::of_quest(job.line, standing);
        let mut findings = Vec::new();
        let repeats = match by {
            By::Session(repeats) => repeats,
            By::Earlier => None,
        };
        for misfit in misfits(self.replayer.gate(), quest, judged, evidence, repeats) {
            findings.push(Finding::new(Kind::Field, place(), misfit));
        }
        if let By::Session(_) = by {
            let ledger = HeldBefore {
                board: self.board,
                except: standing.id,
                offset: job.offset,
            };
            let mut wrong = wrong_answers(evidence, &ledger);
            wrong.extend(untold(evidence, &job.doubted));
            if !wrong.is_empty() {
                findings.push(Finding::new(Kind::Answer, place(), wrong.join("; ")));
            }
        }
        findings
    }

    fn repeats(&self, attempt: &Attempt) -> Result<Option<u32>, SessionError> {
        if self.replayer.gate().judges_anew() {
            return Ok(None);
        }
        let record = self.board.get(attempt.quest)?;
        let earlier = record.and_then(|record| record.repeats(attempt.submission.digest()));
        Ok(earlier.filter(|number| *number < attempt.number))
    }
}

/// A recorded judgement, and what its line says beside it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    pub quest: QuestId,
    pub submission: &'a Submission,
    pub submitted: Option<Digest>,
    pub verdict: Verdict,
    pub grounds: VerdictBasis,
    pub rules: &'a [String],
    pub anchored: Option<bool>,
    pub holds: &'a [Mark],
    pub revision: bool,
    pub judgement: &'a RawValue,
    pub evidence: &'a RawValue,
}

impl<'a> Judged<'a> {
    #[must_use]
    pub fn again(resolution: &'a Resolution, submission: &'a Submission) -> Self {
        Self {
            quest: resolution.quest,
            submission,
            submitted: None,
            verdict: resolution.verdict,
            grounds: resolution.grounds,
            rules: &resolution.rules,
            anchored: None,
            holds: &resolution.holds,
            revision: false,
            judgement: &resolution.judgement,
            evidence: &resolution.evidence,
        }
    }

    #[must_use]
    pub fn proves(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    #[must_use]
    pub fn recorded(&self) -> Recorded<'a> {
        Recorded {
            submission: self.submission,
            evidence: self.evidence,
        }
    }
}

impl<'a> From<&'a Attempt> for Judged<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        Self {
            quest: attempt.quest,
            submission: &attempt.submission,
            submitted: Some(attempt.submitted),
            verdict: attempt.verdict,
            grounds: attempt.grounds,
            rules: &attempt.rules,
            anchored: Some(attempt.anchored),
            holds: &attempt.holds,
            revision: attempt.revision,
            judgement: &attempt.judgement,
            evidence: &attempt.evidence,
        }
    }
}

/// What a PASS saw at one path of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rested {
    pub line: u64,
    pub quest: QuestId,
    pub path: TreePath,
    /// The digest of the file there; none where there was none that could be read.
    pub file: Option<Digest>,
}

/// What the evidence of the PASS in `line` tells of the files that were looked at.
///
/// Files that only a command read are not among them: of those nothing is recorded.
pub(super) fn rested(line: u64, quest: QuestId, evidence: &Evidence) -> Vec<Rested> {
    let files = evidence.exchanges.iter().filter_map(|exchange| {
        let Exchange::Workshop {
            asked: Asked::File(path),
            answer,
        } = exchange
        else {
            return None;
        };
        let file = match answer {
            Told::File(body) => Some(body.sha256),
            _ => None,
        };
        Some(Rested {
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
    use crate::gate::house;
    use crate::world::evidence::Exchange;
    use serde_json::value::to_raw_value;

    fn found(recorded: &str, again: Result<Judgement, ReplayError>, same: bool) -> Option<Kind> {
        let recorded = RawValue::from_string(recorded.to_owned()).unwrap();
        replayed(Place::default(), &recorded, again, same).map(|finding| finding.kind)
    }

    #[test]
    fn the_same_bytes_are_no_finding_and_every_other_spelling_is() {
        let judgement = || house::no_result("why");
        let recorded = to_raw_value(&judgement()).unwrap();
        let recorded = recorded.get();
        assert_eq!(found(recorded, Ok(judgement()), true), None);
        assert_eq!(found(recorded, Ok(judgement()), false), None);
        let spaced = recorded.replace(':', ": ");
        assert_eq!(found(&spaced, Ok(judgement()), true), Some(Kind::Replay));
        let other = || house::no_result("why not");
        assert_eq!(found(recorded, Ok(other()), true), Some(Kind::Replay));
        assert_eq!(found(recorded, Ok(other()), false), Some(Kind::OtherLists));
    }

    #[test]
    fn lost_evidence_is_so_under_whatever_lists() {
        for same in [true, false] {
            let digest = Digest::of(b"page");
            let lost = Err(ReplayError::BodyMissing { digest });
            assert_eq!(found("{}", lost, same), Some(Kind::Evidence));
        }
        let more = || Err(ReplayError::Unanswered);
        assert_eq!(found("{}", more(), true), Some(Kind::Replay));
        assert_eq!(found("{}", more(), false), Some(Kind::OtherLists));
    }

    fn doubt(quotation: &str) -> EarlierDoubt {
        EarlierDoubt {
            reviewer: String::from("reader"),
            question: String::from("more"),
            quotation: quotation.to_owned(),
        }
    }

    #[test]
    fn doubts_that_were_hidden_or_made_up_are_found() {
        let told = |doubts: &[EarlierDoubt]| Evidence {
            exchanges: vec![Exchange::Doubts(doubts.to_vec())],
        };
        let (one, two) = ([doubt("curl")], [doubt("wget")]);
        assert_eq!(untold(&told(&one), &one), None);
        assert_eq!(untold(&Evidence::default(), &one), None, "nobody asked");
        for (told_of, ledger) in [(&[] as &[_], &one as &[_]), (&one, &[]), (&one, &two)] {
            assert!(untold(&told(told_of), ledger).is_some());
        }
    }
}
