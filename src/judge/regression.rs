//! Makes quests TODO again whose PASS does not hold by the tree and the commands as they are now.

use itertools::Itertools as _;
use serde_json::value::to_raw_value;

use crate::base::clock::Clock;
use crate::gate::Gate as _;
use crate::judge::audit::{Live, LostPass};
use crate::judge::context::JudgeContext;
use crate::judge::error::JudgeError;
use crate::judge::passes::{judge_passes, passes};
use crate::quest::QuestId;
use crate::session::{Event, Regressed, Session, State};

/// Judges every PASS again that rests on the tree, on commands or on services. All of them see the tree of
/// one moment.
pub fn judge_all_again(session: &Session, stop: &dyn Fn() -> bool) -> Result<Live, JudgeError> {
    let mut context = JudgeContext::of(session)?;
    context.world.hold_tree()?;
    let repeats = context.kind.gate.accepts_repeats();
    let passes = passes(session, &|evidence| evidence.rests_on_machine(repeats))?;
    judge_passes(session, context.world, &passes, stop)
}

/// Records what no longer holds, unless the quest was answered or settled in the meantime. Returns the
/// quests that are TODO again.
pub fn record_lost(
    session: &mut Session,
    lost: Vec<LostPass>,
    clock: &mut dyn Clock,
) -> Result<Vec<QuestId>, JudgeError> {
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    session.append(clock, |session, _| {
        let mut events = Vec::new();
        let mut quests = Vec::new();
        for pass in lost {
            let record = session.quest_record(pass.quest)?;
            let holds = record.is_some_and(|record| {
                record.progress.state == State::Pass && record.attempts == pass.attempt
            });
            if !holds {
                continue;
            }
            let rules = pass.judgement.facts.iter().map(|fact| &fact.rule);
            quests.push(pass.quest);
            events.push(Event::Regressed(Box::new(Regressed {
                quest: pass.quest,
                attempt: pass.attempt,
                rules: rules.unique().map(ToString::to_string).collect(),
                judgement: to_raw_value(&pass.judgement)?,
            })));
        }
        Ok((events, quests))
    })
}
