//! A session for tests: partly settled, with claims and runs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::base::Digest;
use crate::quest::{Key, QuestId};
use crate::report::{Overview, Rechecked, RuleCount, Standings, Status};
use crate::session::{Claim, Effective, RunId, Tally, WorldKind};

pub(super) fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn ago(minutes: i64) -> Timestamp {
    now() - SignedDuration::from_mins(minutes)
}

fn claim(index: usize, worker: &str, at: Timestamp) -> (Claim, Key) {
    let claim = Claim {
        quest: QuestId::from_index(index).unwrap(),
        worker: worker.parse().unwrap(),
        at,
        lease: "15m".parse().unwrap(),
    };
    (claim, Key::new("한빛식품 주식회사").unwrap())
}

/// 527 quests, of which 29 are settled.
pub(super) fn records() -> Standings {
    let rule = |rule: &str, attempts| RuleCount {
        rule: rule.to_owned(),
        attempts,
    };
    let overview = Overview {
        world: WorldKind::Live,
        tally: Tally {
            todo: 498,
            pass: 20,
            review: 6,
            done: 3,
        },
        total: 527,
        blocked: 0,
        first_blocked: Vec::new(),
        unanchored: 4,
        rendered: 0,
        from_markup: 0,
        carried: 0,
        rechecked: Rechecked {
            confirmed: 0,
            refuted: 0,
            undecided: 0,
        },
        effective: [
            (Effective::Pass, 20),
            (Effective::Accepted, 2),
            (Effective::Open, 4),
        ]
        .into(),
        disputed: 1,
        sample: None,
        forgotten: 0,
        unsealed: 0,
        behind: None,
        attempts: 61,
        rules: vec![
            rule("email-not-on-source", 17),
            rule("domain-mismatch", 9),
            rule("freemail", 4),
        ],
        streak: 0,
        paused: false,
        head: Digest::of(b"head"),
    };
    Standings {
        overview,
        tries: 32,
        settled: (1..=20).rev().map(ago).collect(),
        claims: vec![
            claim(29, "w1", ago(3)),
            claim(30, "w2", ago(20)),
            claim(31, "w3", ago(0)),
        ],
        runs: BTreeMap::from([(RunId::new(7), None), (RunId::new(0x7f3a_09c2), None)]),
    }
}

pub(super) fn status() -> Status {
    records().at(now(), &BTreeSet::from([RunId::new(0x7f3a_09c2)]))
}
