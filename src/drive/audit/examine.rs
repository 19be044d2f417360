//! One line of the ledger, examined.

use super::fields::misfits;
use super::finding::{Finding, Kind, Place};
use super::held::{HeldBefore, wrong_answers};
use super::judged::Judged;
use super::replayed::replayed;
use super::walk::Proven;
use crate::drive::Replayer;
use crate::session::{Attempt, Board, Event, Grounds, LineReader, SessionError, Standing};
use crate::world::evidence::Evidence;

/// A line on its way to being examined.
#[derive(Debug)]
pub(super) struct Job {
    /// Its number, from 1.
    pub(super) line: u64,
    /// Where it begins, in bytes.
    pub(super) offset: u64,
    /// What it records.
    pub(super) event: Event,
}

/// What came of one line.
#[derive(Debug, Default)]
pub(super) struct Examined {
    pub(super) findings: Vec<Finding>,
    /// How many judgements it holds.
    pub(super) judgements: u64,
    /// Those that prove their quest, and were judged again.
    pub(super) proven: Vec<Proven>,
}

/// Examines lines of one session.
pub(super) struct Examiner<'a> {
    pub(super) board: &'a Board,
    pub(super) reader: LineReader,
    pub(super) replayer: Replayer,
    /// Whether this program is the one that the session was made with.
    pub(super) same_judge: bool,
}

/// Who judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// This session, on a submission that may have repeated this attempt.
    Session(Option<u32>),
    /// An earlier session, which answered by what it knew itself.
    Earlier,
}

impl Examiner<'_> {
    /// Holds what the line says against what it rests on.
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
        let findings = self.findings(job, standing, judged, by)?;
        let proven = judged.proves().then(|| Proven {
            line: job.line,
            quest: standing.id,
            by_others: findings.iter().any(|it| it.kind == Kind::OtherLists),
        });
        Ok(Examined {
            findings,
            judgements: 1,
            proven: proven.into_iter().collect(),
        })
    }

    fn findings(
        &mut self,
        job: &Job,
        standing: &Standing,
        judged: &Judged<'_>,
        by: By,
    ) -> Result<Vec<Finding>, SessionError> {
        let place = || Place::of_quest(job.line, standing);
        let quest = self.reader.quest(standing)?;
        let evidence: Evidence = match serde_json::from_str(judged.evidence.get()) {
            Ok(evidence) => evidence,
            Err(error) => {
                let what = format!("its evidence does not read: {error}");
                return Ok(vec![Finding::new(Kind::Evidence, place(), what)]);
            }
        };
        let mut findings = Vec::new();
        let repeats = match by {
            By::Session(repeats) => repeats,
            By::Earlier => None,
        };
        for misfit in misfits(self.replayer.gate(), &quest, judged, &evidence, repeats) {
            findings.push(Finding::new(Kind::Field, place(), misfit.to_string()));
        }
        if let By::Session(_) = by {
            let ledger = HeldBefore {
                board: self.board,
                except: standing.id,
                offset: job.offset,
            };
            let wrong = wrong_answers(&evidence, &ledger);
            let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            if !wrong.is_empty() {
                findings.push(Finding::new(Kind::Answer, place(), wrong.join("; ")));
            }
        }
        if judged.proves() {
            let again = self.replayer.judge(&quest, judged.recorded());
            findings.extend(replayed(place(), judged.judgement, again, self.same_judge));
        }
        Ok(findings)
    }

    /// The number of the earlier attempt that sent the same, if the world was heard on it.
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
