//! One worker of a run: takes up one quest after the other, and drives each to its end.

use std::sync::mpsc::Sender;

use jiff::Timestamp;

use super::choose::{Choice, choose};
use super::course::Course;
use super::deeds::Deeds;
use super::desk::Desk;
use super::error::RunError;
use super::floor::Floor;
use super::hold::Hold;
use super::last_call::LastCall;
use super::name::worker_of;
use super::news::News;
use super::watch::of_loss;
use super::workplace::Workplace;
use crate::judge::Chamber;
use crate::run::agent::AgentLauncher;
use crate::run::detect::Detectors;
use crate::run::limits::{Trickle, UsedByQuest, foremost};
use crate::session::Tide;
use crate::session::{
    Appended, Claim, DrivenQuest, Event, Reason, RunLine, RunStep, Salt, Session, SessionError,
    Standing, State, Store, Worker,
};

pub struct RunWorker<'a> {
    pub floor: &'a Floor,
    pub index: usize,
    pub session: Session,
    pub chamber: Chamber<'a>,
    pub place: &'a Workplace,
    pub launcher: &'a AgentLauncher,
    pub desk: &'a dyn Desk,
    pub tell: Sender<News>,
    pub tide: Tide,
    pub next: Option<(Choice, Worker)>,
    pub now: fn() -> Timestamp,
    pub salts: fn() -> Salt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    On,
    Ended(Reason),
}

impl RunWorker<'_> {
    pub fn work(&mut self) -> Result<(), RunError> {
        let floor = self.floor;
        // What is claimed is freed as any other quest that there is no time for.
        while self.next.is_some() || floor.stopping().is_none() {
            let (choice, name) = if let Some(next) = self.next.take() {
                next
            } else {
                // One at a time: how many quests were taken up is looked at before each.
                let _turn = floor.turn();
                if let Some(reason) = floor.plan.limits.another_quest(&floor.used()) {
                    floor.ends_for(reason);
                    return Ok(());
                }
                let (name, _) = self.name()?;
                let choice = self.choose(&name)?;
                if matches!(choice, Choice::Quest(..)) {
                    floor.take_up();
                }
                (choice, name)
            };
            match choice {
                Choice::Quest(standing, claim) => self.drive(&standing, &claim, name)?,
                Choice::Complete => return Ok(()),
                Choice::Paused => floor.stop(Reason::Paused),
                Choice::Nothing if !floor.is_driving() => return Ok(()),
                Choice::Nothing | Choice::Held => floor.wait(floor.plan.pace.poll),
            }
            if let Some(reason) = floor.plan.limits.run_under_way(&floor.used()) {
                floor.stop(reason);
            }
        }
        Ok(())
    }

    fn choose(&mut self, name: &Worker) -> Result<Choice, RunError> {
        choose(
            &mut self.session,
            name,
            self.floor.plan.lease,
            &self.floor.given_up(),
            &mut self.now,
            &mut self.salts,
        )
    }

    pub(super) fn name(&self) -> Result<(Worker, u32), RunError> {
        let number = self.floor.next_name();
        Ok((worker_of(self.floor.plan.run, number)?, number))
    }

    fn drive(
        &mut self,
        standing: &Standing,
        claim: &Claim,
        worker: Worker,
    ) -> Result<(), RunError> {
        let mut course = Course {
            key: standing.key.clone(),
            hold: Hold {
                quest: standing.id,
                worker,
                lease: claim.lease,
            },
            used: UsedByQuest::default(),
            seen: standing.attempts,
            conversation: None,
            facts: Vec::new(),
            history: Vec::new(),
            submitted: Vec::new(),
            trickle: Trickle::default(),
            detectors: Detectors::new(self.floor.plan.detectors),
            deeds: Deeds::new(self.session.log_on(), self.floor.plan.pace.poll),
        };
        let driven = self.drive_to_its_end(&mut course);
        let reason = match &driven {
            Ok(reason) => *reason,
            Err(_) => Reason::Error,
        };
        if reason == Reason::Paused {
            self.floor.stop(reason);
        }
        self.floor.put_down(standing.id, reason);
        driven.map(drop)
    }

    fn drive_to_its_end(&mut self, course: &mut Course) -> Result<Reason, RunError> {
        let reason = loop {
            self.floor.wait_for_backend();
            if let Some(reason) = self.before_start(course) {
                break reason;
            }
            if course.used.starts > 0
                && let Some(reason) = self.pass_on(course)?
            {
                break reason;
            }
            match self.start(course, None)? {
                Way::On => {}
                // Its end is recorded with that of the agent.
                Way::Ended(Reason::Settled) => return Ok(Reason::Settled),
                Way::Ended(reason) => break reason,
            }
        };
        // It would cost what there is no more of.
        let floor = self.floor;
        let spent = floor.plan.limits.run_is_spent(&floor.used()).is_some();
        let handover = if deserves_last_call(reason) && course.used.starts > 0 && !spent {
            match self.last_call(course, reason)? {
                LastCall::Settled => return Ok(Reason::Settled),
                LastCall::Left(handover) => handover,
            }
        } else {
            None
        };
        self.close(course, reason, handover)
    }

    pub(super) fn pass_on(&mut self, course: &mut Course) -> Result<Option<Reason>, RunError> {
        let (next, _) = self.name()?;
        let passed =
            course
                .hold
                .pass_on(next, &mut self.session, &mut self.now, &mut self.salts)?;
        Ok(passed.err().map(of_loss))
    }

    fn before_start(&self, course: &Course) -> Option<Reason> {
        let limits = &self.floor.plan.limits;
        let tokens = course.used.bill.tokens;
        let soft = limits.diminishing;
        let reasons = [
            self.floor.stopping(),
            limits.of_quest(&course.used),
            limits.of_run(&self.floor.used()),
            soft.of(tokens, limits.quest.tokens, course.trickle),
        ];
        foremost(reasons.into_iter().flatten())
    }

    fn close(
        &mut self,
        course: &Course,
        reason: Reason,
        handover: Option<Box<str>>,
    ) -> Result<Reason, RunError> {
        let mut closed = None;
        let hold = &course.hold;
        let run = self.floor.plan.run;
        let (clock, salts) = (&mut self.now, &mut self.salts);
        let appended = self.session.append_at(clock, salts, |session, _| {
            let (state, reason) = where_it_stands(session, course, reason)?;
            let quest = DrivenQuest {
                quest: hold.quest,
                reason,
                starts: course.used.starts,
                handover: handover.filter(|_| reason != Reason::Settled),
            };
            let mut events = Vec::new();
            if quest.starts > 0 {
                let step = RunStep::Quest(quest.clone());
                events.push(Event::Run(Box::new(RunLine { run, step })));
            }
            if hold.is_held(session)? {
                events.push(hold.released());
            }
            closed = Some((state, quest));
            Ok::<_, SessionError>(events)
        })?;
        if let Appended::Refused(error) = appended {
            return Err(error.into());
        }
        let Some((state, quest)) = closed else {
            return Ok(reason);
        };
        let reason = quest.reason;
        if quest.starts > 0 {
            self.told(News::Quest {
                key: course.key.clone(),
                state,
                quest,
            });
        }
        Ok(reason)
    }

    pub(super) fn told(&self, news: News) {
        let _ = self.tell.send(news);
    }
}

pub(super) fn where_it_stands(
    store: &dyn Store,
    course: &Course,
    otherwise: Reason,
) -> Result<(State, Reason), SessionError> {
    let standing = store.standing(course.hold.quest)?;
    let state = standing.map_or(State::Todo, |standing| standing.progress.state);
    let settled = state != State::Todo;
    Ok((state, if settled { Reason::Settled } else { otherwise }))
}

fn deserves_last_call(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Attempts
            | Reason::WallClock
            | Reason::QuestTimeout
            | Reason::Tokens
            | Reason::Cost
            | Reason::Diminishing
    )
}
