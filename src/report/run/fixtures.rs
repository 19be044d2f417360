//! Reports for tests.

use super::{
    DrivenIn, FORMAT, QuestReport, Report, Reviews, RunReport, Shares, Took, WithoutResult,
};
use crate::base::Digest;
use crate::judge::FinalWord;
use crate::judge::completeness::{JudgedAgain, Shortfall, ShortfallKind};
use crate::quest::{Key, QuestId};
use crate::session::{Effective, Reason, RunId, State, WorldKind};

pub(super) fn id(number: usize) -> QuestId {
    QuestId::from_index(number - 1).unwrap()
}

/// The usage of two starts; the second did not report its own.
fn took() -> Took {
    Took {
        starts: 2,
        lost: 0,
        milliseconds: 61_000,
        tokens: 1_500,
        cost: Some(12_000_000),
        estimated: 1,
        unpriced: 1,
    }
}

pub(super) fn quest(number: usize, key: &str, effective: Effective) -> QuestReport {
    let state = match effective {
        Effective::Pass => State::Pass,
        Effective::Done => State::Done,
        Effective::Todo => State::Todo,
        _ => State::Review,
    };
    QuestReport {
        quest: id(number),
        key: Key::new(key).unwrap(),
        state,
        effective,
        without_result: effective == Effective::Done,
        tries: 1,
        submissions: 2,
        rules: [
            ("email-not-on-page".to_owned(), 2),
            ("no-result".to_owned(), 1),
        ]
        .into(),
        driven: Vec::new(),
    }
}

fn run(number: u32, reason: Option<Reason>) -> RunReport {
    RunReport {
        run: RunId::new(number),
        agent: "claude".to_owned(),
        model: Some("opus".to_owned()),
        then: Vec::new(),
        workers: 4,
        began: "2026-01-02T03:00:00Z".parse().unwrap(),
        ended: reason.map(|_| "2026-01-02T04:00:00Z".parse().unwrap()),
        reason,
        quests: 2,
        settled: 1,
        took: Took {
            starts: 3,
            lost: 1,
            ..took()
        },
    }
}

/// A report on a session of four quests that is not complete.
pub(super) fn report() -> Report {
    let mut driven = quest(2, "Bolt Toys", Effective::Todo);
    driven.driven = vec![DrivenIn {
        run: RunId::new(8),
        took: took(),
        reason: Some(Reason::QuestTimeout),
    }];
    Report {
        format: FORMAT,
        complete: false,
        shortfalls: vec![
            Shortfall {
                quests: vec![id(2)],
                ..Shortfall::new(ShortfallKind::Todo, "1 quest is TODO")
            },
            Shortfall {
                details: vec!["own/data: changed".to_owned()],
                ..Shortfall::new(ShortfallKind::TreeChanged, "the working tree is not clean")
            },
        ],
        at: "2026-01-02T05:00:00Z".parse().unwrap(),
        comail: "0.1.0".to_owned(),
        kind: Some("email".to_owned()),
        world: Some(WorldKind::Live),
        head: Some(Digest::of(b"head")),
        shares: Some(Shares {
            quests: 4,
            pass: 1,
            review: 1,
            done: 1,
            todo: 1,
            reviews: Reviews {
                open: 1,
                ..Reviews::default()
            },
            without_result: WithoutResult {
                quests: 1,
                given_up: 1,
                unanswered: 0,
            },
        }),
        sample: None,
        forgotten: Vec::new(),
        unproven_changes: Vec::new(),
        judged_again: Some(JudgedAgain::default()),
        final_gate: Some(FinalWord::Unjudged),
        run: Some(run(8, Some(Reason::WallClock))),
        others: vec![run(7, Some(Reason::Interrupted))],
        quests: vec![
            quest(1, "Acme Foods", Effective::Pass),
            driven,
            quest(3, "Cargo Ring", Effective::Open),
            quest(4, "Delta Works", Effective::Done),
        ],
    }
}
