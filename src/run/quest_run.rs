//! The state of the work on one quest, and the input of its prompts.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::access::Admission;
use super::agents::PlannedAgent;
use super::plan::{JudgedAnswer, RunError};
use crate::base::Digest;
use crate::base::clock::SystemClock;
use crate::judge::{JudgeContext, Pace, Worktree};
use crate::quest::{Key, QuestId, QuestKind, Submission, fields_of, missing};
use crate::run::agent::{ProviderError, Totals};
use crate::run::detect::{Detectors, Observed, SelfCall};
use crate::run::limits::{Limits, StallBudget, Used};
use crate::session::{
    Attempt, Claim, Claimed, Event, Lease, Ledger, QuestRecord, Reason, Released, Session,
    SessionError, Spent, State, Worker,
};

pub struct QuestRun {
    pub key: Key,
    pub guard: ClaimGuard,
    /// How many FAILs the quest had at the beginning of this start.
    pub fails: u32,
    pub used: Used,
    /// The last attempt that this worker has read from the ledger.
    pub seen: u32,
    pub conversation: Option<String>,
    /// What the agent reported for the whole conversation.
    pub totals: Totals,
    /// Why the provider of the model refused the last start.
    pub provider: Option<ProviderError>,
    /// Notes for the next prompt.
    pub facts: Vec<String>,
    /// Why the output of the last start could not be judged.
    pub unjudged: Option<String>,
    pub history: Vec<Past>,
    pub submitted: Vec<Submitted>,
    pub stall: StallBudget,
    pub detectors: Detectors,
    pub activity: Activity,
}

impl QuestRun {
    pub fn begin(&mut self) {
        self.used.starts = self.used.starts.saturating_add(1);
        self.stall.clear();
        self.facts.clear();
        self.unjudged = None;
        self.submitted.clear();
        let _ = self.detectors.observe(Observed::Began);
    }

    /// Begins the conversation of another agent.
    pub fn change_agent(&mut self, detectors: Detectors) {
        self.conversation = None;
        self.totals = Totals::default();
        self.provider = None;
        self.detectors = detectors;
    }

    pub fn submits(&mut self, (digest, submitted): Judged) -> Option<Reason> {
        self.stall.clear();
        self.submitted.push(submitted);
        self.observe(Observed::Judged(digest))
    }

    /// The reason to end the work on the quest, if there is one; a warning goes into the next prompt.
    pub fn observe(&mut self, observed: Observed) -> Option<Reason> {
        let alarm = self.detectors.observe(observed)?;
        let reason = alarm.reason();
        if reason.is_none() {
            self.facts.push(alarm.text());
        }
        reason
    }

    /// The usage of the quest including a start of this length.
    pub fn with(&self, time: Duration, spent: &Spent, limits: &Limits) -> Used {
        Used {
            bill: self.used.bill.and(limits.bill(spent)),
            time: self.used.time.saturating_add(time),
            ..self.used
        }
    }
}

#[derive(Debug)]
pub struct PromptInput<'a> {
    pub record: &'a QuestRecord,
    pub claim: &'a Claim,
    pub agent: &'a PlannedAgent,
    pub history: &'a [Past],
    pub facts: &'a [String],
    pub last_call: Option<Reason>,
}

/// An earlier start of an agent for the quest.
#[derive(Debug, Clone, Serialize)]
pub struct Past {
    pub start: u32,
    /// The agent and its model, in a run with several agents.
    pub by: Option<String>,
    pub reason: Reason,
    pub submitted: Vec<Submitted>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Submitted {
    pub text: String,
    #[serde(flatten)]
    pub judged: JudgedAnswer,
}

pub const NONE: &str = "none";

impl Submitted {
    pub(super) fn new(submission: &Submission, judged: JudgedAnswer) -> Self {
        let text = match submission {
            Submission::Fields(fields) => json!(fields),
            Submission::None(why) => json!({ NONE: why }),
        };
        Self {
            text: text.to_string(),
            judged,
        }
    }

    pub(super) fn of(attempt: &Attempt) -> Self {
        let judged = JudgedAnswer {
            verdict: attempt.verdict,
            rules: attempt.rules.clone(),
        };
        Self::new(&attempt.submission, judged)
    }
}

/// The submission in an answer, or why the answer is not one.
pub(super) fn submission(kind: &QuestKind, answer: Value) -> Result<Submission, String> {
    if let Value::Object(members) = &answer
        && members.len() == 1
        && let Some(Value::String(why)) = members.get(NONE)
    {
        return if why.trim().is_empty() {
            Err("\"none\" needs a reason: what was tried, and where".to_owned())
        } else {
            Ok(Submission::None(why.clone()))
        };
    }
    let fields = fields_of(kind, answer).map_err(|error| error.to_string())?;
    let absent: Vec<_> = missing(kind, &fields).map(ToString::to_string).collect();
    if absent.is_empty() {
        Ok(Submission::Fields(fields))
    } else {
        Err(format!("missing fields: {}", absent.join(", ")))
    }
}

pub type Judged = (Digest, Submitted);

pub trait PromptBuilder: Sync {
    fn prompt(
        &self,
        session: &Session,
        input: &PromptInput<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>>;
}

/// The sources for the activity of an agent: its calls of comail, the ledger and the tree.
pub struct Activity {
    admission: Option<Box<dyn Admission>>,
    pub log: Ledger,
    tree: Option<Digest>,
    pace: Pace,
    due: Instant,
}

impl Activity {
    pub fn new(log: Ledger, poll: Duration) -> Self {
        Self {
            admission: None,
            log,
            tree: None,
            pace: Pace::new(poll),
            due: Instant::now(),
        }
    }

    pub fn begin(&mut self, admission: Box<dyn Admission>, context: &JudgeContext) {
        self.admission = Some(admission);
        self.tree = context.written(self.worktree_root());
    }

    pub fn worktree(&self) -> Option<&Worktree> {
        let (worktree, _) = self.admission.as_ref()?.worktree()?;
        Some(worktree)
    }

    fn worktree_root(&self) -> Option<&Path> {
        self.worktree().map(|worktree| worktree.root.as_path())
    }

    pub fn admission(&self) -> Option<&dyn Admission> {
        self.admission.as_deref()
    }

    pub fn noted(&self) -> Vec<SelfCall> {
        self.admission().map_or(Vec::new(), Admission::calls)
    }

    /// Whether the tree has changed. A large tree is read less often.
    pub fn tree_has_changed(&mut self, context: &JudgeContext) -> bool {
        let begun = Instant::now();
        if self.tree.is_none() || begun < self.due {
            return false;
        }
        let now = context.written(self.worktree_root());
        self.pace.note(begun.elapsed());
        self.due = Instant::now() + self.pace.pause();
        let changed = now.is_some() && now != self.tree;
        self.tree = now.or(self.tree);
        changed
    }
}

#[derive(Debug, Clone)]
pub struct ClaimGuard {
    pub quest: QuestId,
    pub worker: Worker,
    pub lease: Lease,
}

impl ClaimGuard {
    /// Claims the quest under another name. Returns the reason if the claim is lost.
    ///
    /// The earlier start of the agent may still be alive. It can no longer submit under the old name.
    pub fn hand_over(
        &mut self,
        next: Worker,
        session: &mut Session,
    ) -> Result<Option<Reason>, RunError> {
        let events = vec![self.released(), self.claimed(next.clone())];
        let lost = self.append(events, session)?;
        if lost.is_none() {
            self.worker = next;
        }
        Ok(lost)
    }

    pub fn renew(&self, session: &mut Session) -> Result<Option<Reason>, RunError> {
        let events = vec![self.claimed(self.worker.clone())];
        self.append(events, session)
    }

    fn claimed(&self, worker: Worker) -> Event {
        Event::Claim(Claimed {
            quest: self.quest,
            worker,
            lease: self.lease,
        })
    }

    pub fn released(&self) -> Event {
        Event::Released(Released {
            quest: self.quest,
            worker: self.worker.clone(),
        })
    }

    pub fn is_held(&self, store: &Session) -> Result<bool, SessionError> {
        let claim = store.claim_on(self.quest)?;
        Ok(claim.is_some_and(|claim| claim.worker == self.worker))
    }

    fn append(
        &self,
        events: Vec<Event>,
        session: &mut Session,
    ) -> Result<Option<Reason>, RunError> {
        session.append(&mut SystemClock, |session, _| {
            let lost = self.lost(session)?;
            let events = if lost.is_some() { Vec::new() } else { events };
            Ok((events, lost))
        })
    }

    /// The reason if the claim is lost, which ends the work on the quest.
    fn lost(&self, store: &Session) -> Result<Option<Reason>, SessionError> {
        let record = store.quest_record(self.quest)?;
        let todo = record.is_some_and(|it| it.progress.state == State::Todo);
        Ok(if !todo {
            Some(Reason::Settled)
        } else if store.paused() {
            Some(Reason::Paused)
        } else if !self.is_held(store)? {
            // Another worker has taken it.
            Some(Reason::AgentFailed)
        } else {
            None
        })
    }
}

#[derive(Debug)]
pub enum Choice {
    Quest(Box<QuestRecord>, Claim),
    Complete,
    Paused,
    /// Workers hold all remaining quests; this is the first claim.
    Held(Claim),
    Nothing,
}

pub fn choose(
    session: &mut Session,
    worker: &Worker,
    lease: Option<Lease>,
    given_up: &BTreeSet<QuestId>,
) -> Result<Choice, RunError> {
    let lease = lease.unwrap_or(session.manifest().frozen.lease);
    session.append(&mut SystemClock, |session, now| {
        let choice = if session.totals().tally.todo == 0 {
            Choice::Complete
        } else if session.paused() {
            Choice::Paused
        } else if let Some(record) = session.first_free_but(now, given_up)? {
            let claimed = Claimed {
                quest: record.id,
                worker: worker.clone(),
                lease,
            };
            let choice = Choice::Quest(Box::new(record), Claim::new(&claimed, now));
            return Ok((vec![Event::Claim(claimed)], choice));
        } else {
            let claims = session.claims()?;
            let held = claims.into_iter().find(|claim| claim.is_live(now));
            held.map_or(Choice::Nothing, Choice::Held)
        };
        Ok((Vec::new(), choice))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::email;

    #[test]
    fn an_object_with_every_required_field_or_a_reason_is_a_submission() {
        let read = |answer| submission(&email::kind(), answer);
        let whole = json!({"email": "a@b.test", "site": "b.test", "source": "https://b.test"});
        assert!(matches!(read(whole), Ok(Submission::Fields(_))));
        let none = read(json!({"none": "looked everywhere"}));
        assert_eq!(none, Ok(Submission::None("looked everywhere".to_owned())));
        let part = read(json!({"email": "a@b.test"})).unwrap_err();
        assert_eq!(part, "missing fields: site, source");
        for bad in [
            json!({"email": 3}),
            json!({"done": true}),
            json!({"none": " "}),
        ] {
            assert!(read(bad).is_err());
        }
    }
}
