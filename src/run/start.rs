//! One start of the agent for a quest, from the prompt to what is recorded of it.

use super::calls::Calls;
use super::course::Course;
use super::desk::Situation;
use super::error::RunError;
use super::hold::Hold;
use super::news::News;
use super::plan::Answers;
use super::watch::Watched;
use super::worker::{RunWorker, Way, where_it_stands};
use crate::run::agent::{Agent, AgentEnd, AgentError, Given, command_line};
use crate::session::{
    Appended, DrivenAttempt, DrivenQuest, Event, Reason, RunLine, RunStep, SessionError, Spent,
    State, Store as _,
};

struct Ended {
    state: State,
    reason: Reason,
    paused: bool,
}

impl RunWorker<'_> {
    pub(super) fn start(
        &mut self,
        course: &mut Course,
        last: Option<Reason>,
    ) -> Result<Way, RunError> {
        let (way, _) = self.start_once(course, last)?;
        Ok(way)
    }

    pub(super) fn start_once(
        &mut self,
        course: &mut Course,
        last: Option<Reason>,
    ) -> Result<(Way, String), RunError> {
        let seen = course.seen;
        let prompt = self.prompt(course, last)?;
        course.begin();
        let (plan, start) = (&self.floor.plan, number_of(&course.hold));
        let calls = Calls::of(self.session.dir(), plan.run, start)?;
        course
            .deeds
            .begin(calls, plan.command.stream(), &self.chamber);
        self.floor.has_started();
        let watched = self.run_agent(&prompt, course, last)?;
        // What an agent answered that ended by itself is paid for, whichever budget that was.
        let by_itself = watched.halt.is_none() || watched.end.exit == Some(0);
        let judged = if by_itself || last.is_some() {
            self.judge_printed(&watched.end, course)?
        } else {
            None
        };
        // What was submitted while it ended is seen as well.
        let late = self.tidings(course)?;
        let halt = watched.halt.or(judged).or(late);
        let idle = course.seen == seen && watched.end.answer.is_none();
        let died = halt.is_none() && idle && self.died(&watched);
        let reason = halt.unwrap_or_else(|| of_end(&watched.end, died));
        let ended = self.record(course, reason, &watched, last.is_some())?;
        let tail = watched.end.tail;
        if ended.reason == Reason::Settled {
            self.floor.lived();
            return Ok((Way::Ended(Reason::Settled), tail));
        }
        if died {
            self.floor.died(match reason {
                Reason::PermissionDenied => reason,
                _ => Reason::Breaker,
            });
        } else {
            self.floor.lived();
        }
        Ok((way(&ended, halt), tail))
    }

    fn prompt(&self, course: &Course, last: Option<Reason>) -> Result<String, RunError> {
        let hold = &course.hold;
        let standing = self.session.standing(hold.quest)?;
        let claim = self.session.claim_on(hold.quest)?;
        let (Some(standing), Some(claim)) = (standing, claim) else {
            return Err(SessionError::Illegal("the quest is not held").into());
        };
        let remembers = self.floor.plan.resume && course.conversation.is_some();
        let situation = Situation {
            standing: &standing,
            claim: &claim,
            answers: self.floor.plan.answers,
            history: if remembers { &[] } else { &course.history },
            facts: &course.facts,
            last_call: last,
        };
        let prompt = self.desk.prompt(&self.session, &situation);
        prompt.map_err(RunError::Prompt)
    }

    fn run_agent(
        &mut self,
        prompt: &str,
        course: &mut Course,
        last: Option<Reason>,
    ) -> Result<Watched, RunError> {
        let plan = &self.floor.plan;
        let number = number_of(&course.hold);
        let file = if plan.command.needs_file() {
            Some(self.place.write_prompt(number, prompt)?)
        } else {
            None
        };
        let resumed = plan.resume && plan.command.can_resume();
        let given = Given {
            prompt,
            prompt_file: file.as_deref(),
            model: plan.model.as_deref(),
            conversation: course.conversation.as_deref().filter(|_| resumed),
        };
        let line = command_line(&plan.command, &given)?;
        let order = self
            .place
            .order(plan, line, (&course.hold.worker, number), last);
        let read = prompt.len() as u64;
        let most = last.map(|_| plan.pace.last_call);
        match Agent::start(&order, self.launcher) {
            Ok(agent) => self.watch(agent, read, most, course),
            Err(error @ AgentError::NotStarted { .. }) => {
                self.told(News::Note {
                    text: error.to_string(),
                });
                Ok(Watched::never())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn died(&self, watched: &Watched) -> bool {
        let end = &watched.end;
        let failed = end.exit != Some(0);
        let soon = watched.time < self.floor.plan.dying.within;
        failed && (soon || end.rate_limited || end.no_login)
    }

    // One append records the end of the attempt, the end of the quest and the next claim.
    fn record(
        &mut self,
        course: &mut Course,
        reason: Reason,
        watched: &Watched,
        last_call: bool,
    ) -> Result<Ended, RunError> {
        let limits = &self.floor.plan.limits;
        let spent = watched.end.spent;
        self.floor.has_used(self.index, &spent);
        if watched.end.conversation.is_some() {
            course.conversation.clone_from(&watched.end.conversation);
        }
        let (hold, run, starts) = (&course.hold, self.floor.plan.run, course.used.starts);
        let line = |step| Event::Run(Box::new(RunLine { run, step }));
        let mut recorded = None;
        let mut ahead = self.ahead(reason)?;
        let (clock, salts) = (&mut self.now, &mut self.salts);
        let appended = self.session.append_at(clock, salts, |session, now| {
            let (state, reason) = where_it_stands(session, course, reason)?;
            let attempt = DrivenAttempt {
                quest: hold.quest,
                start: starts,
                worker: hold.worker.clone(),
                reason,
                milliseconds: u64::try_from(watched.time.as_millis()).unwrap_or(u64::MAX),
                spent,
                exit: watched.end.exit,
            };
            let quest = (reason == Reason::Settled).then_some(DrivenQuest {
                quest: hold.quest,
                reason,
                starts,
                handover: None,
            });
            let steps = [
                Some(RunStep::Attempt(attempt.clone())),
                quest.clone().map(RunStep::Quest),
            ];
            recorded = Some((state, attempt, quest, session.paused()));
            let mut events: Vec<_> = steps.into_iter().flatten().map(line).collect();
            // An agent that has settled its quest may ask for another before it is stopped.
            events.extend(hold.besides(session)?);
            if let Some(ahead) = &mut ahead {
                events.extend(ahead.choose(session, now)?);
            }
            Ok::<_, SessionError>(events)
        })?;
        let (state, attempt, quest, paused) = match (appended, recorded) {
            (Appended::Refused(error), _) => return Err(error.into()),
            (Appended::Done, None) => {
                return Err(SessionError::Illegal("nothing was decided").into());
            }
            (Appended::Done, Some(recorded)) => recorded,
        };
        if let Some(ahead) = ahead {
            self.go_on_with(ahead);
        }
        let reason = attempt.reason;
        let key = course.key.clone();
        course.end(reason, watched.time, &spent, limits);
        self.told(News::Attempt {
            key,
            last_call,
            attempt,
        });
        if let Some(quest) = quest {
            let key = course.key.clone();
            self.told(News::Quest { key, state, quest });
        }
        Ok(Ended {
            state,
            reason,
            paused,
        })
    }

    fn judge_printed(
        &mut self,
        end: &AgentEnd,
        course: &mut Course,
    ) -> Result<Option<Reason>, RunError> {
        match self.floor.plan.answers {
            Answers::Stdout => self.judge_answer(end, course),
            // One that failed does not say that it is done.
            Answers::World if end.exit == Some(0) => self.judge_world_left(course),
            Answers::Submit | Answers::World => Ok(None),
        }
    }
}

fn number_of(hold: &Hold) -> u32 {
    super::name::start_of(&hold.worker).map_or(0, |(_, number)| number)
}

fn of_end(end: &AgentEnd, died: bool) -> Reason {
    if end.denied || (died && end.no_login) {
        Reason::PermissionDenied
    } else {
        Reason::AgentFailed
    }
}

fn way(ended: &Ended, halt: Option<Reason>) -> Way {
    if ended.state != State::Todo {
        Way::Ended(Reason::Settled)
    } else if ended.paused {
        Way::Ended(Reason::Paused)
    } else {
        match halt {
            // It fell silent: another one may do better.
            None | Some(Reason::AgentFailed) => Way::On,
            Some(reason) => Way::Ended(reason),
        }
    }
}

impl Watched {
    fn never() -> Self {
        Self {
            end: AgentEnd {
                exit: None,
                signal: None,
                answer: None,
                bad_answer: None,
                spent: Spent::default(),
                tail: String::new(),
                conversation: None,
                denied: false,
                rate_limited: false,
                no_login: false,
            },
            halt: None,
            time: std::time::Duration::ZERO,
        }
    }
}
