//! One line of the ledger, examined.

use super::doubted::untold;
use super::fields::misfits;
use super::finding::{Finding, Kind, Place};
use super::held::{HeldBefore, wrong_answers};
use super::judged::Judged;
use super::replayed::replayed;
use super::rested::{Rested, rested};
use super::walk::Proven;
use crate::base::Digest;
use crate::judge::{ReplayError, Replayer};
use crate::quest::Quest;
use crate::session::{Attempt, Board, Event, Grounds, LineReader, SessionError, Standing};
use crate::world::EarlierDoubt;
use crate::world::evidence::Evidence;

#[derive(Debug)]
pub(super) struct Job {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) doubted: Vec<EarlierDoubt>,
    pub(super) event: Event,
}

#[derive(Debug, Default)]
pub(super) struct Examined {
    pub(super) findings: Vec<Finding>,
    /// What could not be looked into, and is no finding.
    pub(super) forgotten: Vec<Place>,
    pub(super) judgements: u64,
    pub(super) proven: Vec<Proven>,
    pub(super) rested: Vec<Rested>,
}

pub(super) struct Examiner<'a> {
    pub(super) board: &'a Board,
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
    pub(super) fn examine(&mut self, job: &Job) -> Result<Examined, SessionError> {
        match &job.event {
            Event::Attempt(attempt) => {
                let by = By::Session(self.repeats(attempt));
                self.judged(job, &Judged::from(attempt.as_ref()), by)
            }
            Event::Carried(carried) => {
                self.judged(job, &Judged::from(&carried.attempt), By::Earlier)
            }
            Event::Resolution(resolution) => {
                let Some(standing) = self.board.get(resolution.quest) else {
                    return Ok(Examined::default());
                };
                // A REVIEW is locked: its last attempt is the one that was looked at again.
                let Some(attempt) = self.reader.last_attempt(standing)? else {
                    return Ok(Examined::default());
                };
                let judged = Judged::again(resolution, &attempt.value.submission);
                self.judged(job, &judged, By::Session(None))
            }
            _ => Ok(Examined::default()),
        }
    }

    fn judged(&mut self, job: &Job, judged: &Judged<'_>, by: By) -> Result<Examined, SessionError> {
        let Some(standing) = self.board.get(judged.quest) else {
            return Ok(Examined::default());
        };
        if self.is_blotted(job, standing)? {
            return Ok(Examined {
                forgotten: vec![Place::of_quest(job.line, standing)],
                judgements: 1,
                ..Examined::default()
            });
        }
        let quest = self.reader.quest(standing)?;
        let evidence = serde_json::from_str::<Evidence>(judged.evidence.get());
        let mut findings = match &evidence {
            Ok(evidence) => self.findings(job, standing, &quest, judged, (evidence, by)),
            Err(error) => {
                let what = format!("its evidence does not read: {error}");
                let place = Place::of_quest(job.line, standing);
                vec![Finding::new(Kind::Evidence, place, what)]
            }
        };
        let mut examined = Examined {
            judgements: 1,
            ..Examined::default()
        };
        if judged.proves() {
            examined.rested = evidence
                .map(|evidence| rested(job.line, standing.id, &evidence))
                .unwrap_or_default();
            let place = Place::of_quest(job.line, standing);
            match self.replayer.judge(&quest, judged.recorded()) {
                Err(ReplayError::BodyMissing { digest }) if self.is_forgotten(digest) => {
                    examined.forgotten.push(place);
                }
                again => {
                    findings.extend(replayed(place, judged.judgement, again, self.same_judge));
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

    fn is_blotted(&mut self, job: &Job, standing: &Standing) -> Result<bool, SessionError> {
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
        standing: &Standing,
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
            findings.push(Finding::new(Kind::Field, place(), misfit.to_string()));
        }
        if let By::Session(_) = by {
            let ledger = HeldBefore {
                board: self.board,
                except: standing.id,
                offset: job.offset,
            };
            let wrong = wrong_answers(evidence, &ledger);
            let mut wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            wrong.extend(untold(evidence, &job.doubted));
            if !wrong.is_empty() {
                findings.push(Finding::new(Kind::Answer, place(), wrong.join("; ")));
            }
        }
        findings
    }

    fn repeats(&self, attempt: &Attempt) -> Option<u32> {
        if self.replayer.gate().judges_anew() {
            return None;
        }
        let digest = attempt.submission.digest();
        let before = self.board.submissions(attempt.quest).iter();
        let mut before = before.zip(1..attempt.number);
        before.find_map(|((submitted, grounds), number)| {
            (*submitted == digest && *grounds != Grounds::Silence).then_some(number)
        })
    }
}
