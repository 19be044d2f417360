//! Judging while everything that is seen is kept as evidence.

use std::collections::BTreeSet;

use super::turn::Judge;
use crate::gate::{Case, Gate, Judgement};
use crate::quest::{Key, email};
use crate::world::evidence::Recording;
use crate::world::evidence::prune::pruned;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::replay::Replay;
use crate::world::mailbox::Mailbox;
use crate::world::{Accepted, EarlierDoubt, Taken, World};

/// Judges `case` by the live world.
///
/// The recording holds no more of the pages than the judgement rests on: judged again from it,
/// the judgement is the same, byte for byte.
pub fn observe(
    judge: &Judge<'_>,
    case: Case<'_>,
    accepted: &dyn Accepted,
) -> Result<(Judgement, Recording), serde_json::Error> {
    let recorder = Recorder::new(World {
        fetcher: judge.fetcher,
        resolver: judge.resolver,
        accepted,
        workshop: judge.workshop,
    });
    let judgement = judge.gate.judge(case, &recorder.world());
    let recording = recorder.finish();
    let less = pruned(&recording, &named_mailboxes(case, &judgement));
    let kept = match judge_from(judge.gate, case, &less) {
        Some(again) if same(&again, &judgement)? => less,
        _ => recording,
    };
    Ok((judgement, kept))
}

/// Judges `case` again by its evidence when what the session knows has changed since.
pub fn observe_again(
    gate: &dyn Gate,
    case: Case<'_>,
    recording: &Recording,
    accepted: &dyn Accepted,
) -> Option<(Judgement, Recording)> {
    let evidence = &recording.evidence;
    if !evidence.session_differs(accepted) && !evidence.doubts_differ(accepted) {
        return None;
    }
    let _told = tracing::info_span!("judged from the evidence").entered();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    let since = Since {
        accepted,
        replay: &replay,
    };
    let recorder = Recorder::new(replay.world_with(&since));
    let judgement = gate.judge(case, &recorder.world());
    Some((judgement, recorder.finish()))
}

struct Since<'a> {
    accepted: &'a dyn Accepted,
    replay: &'a Replay<'a>,
}

impl Accepted for Since<'_> {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        self.accepted.holder(taken)
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.accepted.doubts()
    }

    fn may_ask(&self) -> bool {
        self.replay.may_ask()
    }
}

/// The judgement that evidence alone leads to; none when it does not answer every question.
#[must_use]
pub fn judge_from(gate: &dyn Gate, case: Case<'_>, recording: &Recording) -> Option<Judgement> {
    let _told = tracing::info_span!("judged from the evidence").entered();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    let judgement = gate.judge(case, &replay.world());
    replay.missing().is_empty().then_some(judgement)
}

fn same(one: &Judgement, two: &Judgement) -> Result<bool, serde_json::Error> {
    Ok(serde_json::to_vec(one)? == serde_json::to_vec(two)?)
}

fn named_mailboxes(case: Case<'_>, judgement: &Judgement) -> Vec<Mailbox> {
    let submitted = case.submission.field(email::EMAIL.as_str());
    let facts = judgement.facts.iter();
    let words = facts
        .flat_map(|fact| [fact.expected.as_str(), fact.actual.as_str()])
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || ",;()\"".contains(c)));
    let named: BTreeSet<Mailbox> = submitted
        .into_iter()
        .chain(words)
        .filter_map(|word| Mailbox::parse(word).ok())
        .collect();
    named.into_iter().collect()
}
