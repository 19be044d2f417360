//! Indexes against the ledgers that they were made from.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use rusqlite::types::Value;

use super::*;
use crate::quest::{QuestId, Verdict};
use crate::session::claim::{Claim, Claimed, Lease, Released, Worker};
use crate::session::decision::{Decided, Decision, Dispute, SettledQuest, Settlement};
use crate::session::event::{Carried, Origin, Outcome, Resolution};
use crate::session::event::{Event, Resumed};
use crate::session::fold::ProjectionStore as _;
use crate::session::manifest::FoldConfig;
use crate::session::open::tests::{
    Made, at, attempt, ledger, made, made_in_order, made_under_key, operator_key, salt,
};
use crate::session::open::{Appended, Session};
use crate::session::sync::Unwatched;
use crate::session::{
    Asked, DrivenQuest, Effective, Mark, Projection, QuestRecord, Reason, RunId, RunLine, RunStep,
    VerdictBasis,
};

mod place;
mod settled;
mod steps;

const TABLES: [&str; 6] = [
    "checkpoint",
    "quest",
    "submission",
    "mark",
    "bucket",
    "claim",
];

fn id(index: usize) -> QuestId {
    QuestId::from_index(index).unwrap()
}

fn worker(name: &str) -> Worker {
    name.parse().unwrap()
}

fn append(session: &mut Session, event: Event) -> bool {
    append_after(session, SignedDuration::ZERO, event)
}

fn append_after(session: &mut Session, later: SignedDuration, event: Event) -> bool {
    let appended = session.append(&mut (|| at() + later, salt), |_| Ok::<_, ()>(vec![event]));
    matches!(appended, Ok(Appended::Done))
}

fn claim(quest: usize, name: &str) -> Event {
    Event::Claim(Claimed {
        quest: id(quest),
        worker: worker(name),
        lease: Lease::DEFAULT,
    })
}

fn resolution(session: &Session, quest: usize) -> Event {
    let standing = session.standing(id(quest)).unwrap().unwrap();
    let raw = || serde_json::value::to_raw_value("").unwrap();
    Event::Resolution(Box::new(Resolution {
        quest: standing.id,
        attempt: standing.attempts,
        outcome: Outcome::Confirmed,
        verdict: Verdict::Pass,
        grounds: VerdictBasis::Confirmed,
        rules: Vec::new(),
        holds: vec![Mark(format!("resolved {quest}"))],
        judgement: raw(),
        evidence: raw(),
    }))
}

fn pass(session: &Session, quest: usize, mark: &str) -> Event {
    let Event::Attempt(mut passed) = attempt(session, quest, Verdict::Pass, VerdictBasis::World)
    else {
        panic!("an attempt");
    };
    passed.holds = vec![Mark(mark.to_owned())];
    Event::Attempt(passed)
}

fn carried(session: &Session, quest: usize) -> Event {
    let Event::Attempt(attempt) = pass(session, quest, "carried") else {
        panic!("an attempt");
    };
    Event::Carried(Box::new(Carried {
        origin: Origin {
            session: "/elsewhere".into(),
            manifest: session.head(),
            head: session.head(),
            quest: id(quest),
            at: at(),
        },
        attempt: *attempt,
    }))
}

fn settlement(session: &Session, quests: &[usize], decision: Decision) -> Settlement {
    let quests = quests.iter().map(|quest| SettledQuest {
        quest: id(*quest),
        attempt: session.standing(id(*quest)).unwrap().unwrap().attempts,
    });
    Settlement {
        quests: quests.collect(),
        decision,
        by: "kim".into(),
        note: "called them".into(),
        seal: None,
    }
}

fn settled(session: &Session, quest: usize, decision: Decision) -> Event {
    Event::Settled(Box::new(settlement(session, &[quest], decision)))
}

fn contradiction(quest: usize) -> Dispute {
    Dispute {
        quest: id(quest),
        by: "kim".into(),
        note: "bounced".into(),
        seal: None,
    }
}

fn sealed<T: Decided>(session: &Session, decided: T) -> T {
    let court = session.config().policy;
    court
        .seal(decided, session.head(), &operator_key())
        .unwrap()
}

fn full() -> Made {
    let mut after = vec![Vec::new(); 6];
    after[5] = vec![1, 3];
    let made = made_in_order(&after);
    let mut session = Session::open(&made.dir).unwrap();
    let failed = attempt(&session, 0, Verdict::Fail, VerdictBasis::World);
    assert!(append(&mut session, failed));
    assert!(append(&mut session, claim(0, "w1")));
    let passed = pass(&session, 1, "mailbox a@b.kr");
    assert!(append(&mut session, passed));
    let silent = attempt(&session, 2, Verdict::Review, VerdictBasis::Unanswered);
    assert!(append(&mut session, silent));
    let resolved = resolution(&session, 2);
    assert!(append(&mut session, resolved));
    let carried = carried(&session, 3);
    assert!(append(&mut session, carried));
    let silent = attempt(&session, 4, Verdict::Review, VerdictBasis::Unanswered);
    assert!(append(&mut session, silent));
    let accepted = settled(&session, 4, Decision::Accepted);
    assert!(append(&mut session, accepted));
    let disputed = Event::Disputed(Box::new(contradiction(1)));
    assert!(append(&mut session, disputed));
    assert!(append(&mut session, handed_over(5)));
    let asked = asked(&session, 5, false);
    assert!(append(&mut session, asked));
    made
}

fn asked(session: &Session, quest: usize, withdrawn: bool) -> Event {
    let standing = session.standing(id(quest)).unwrap().unwrap();
    Event::Asked(Asked {
        quest: standing.id,
        number: standing.attempts + 1,
        submitted: session.head(),
        withdrawn,
    })
}

/// A run's line of a quest whose agent said where it stands.
fn handed_over(quest: usize) -> Event {
    Event::Run(Box::new(RunLine {
        run: RunId::new(1),
        step: RunStep::Quest(DrivenQuest {
            quest: id(quest),
            reason: Reason::Attempts,
            starts: 3,
            handover: Some("half of it is there".into()),
        }),
    }))
}

fn plan(session: &Session, dir: &Path) -> Plan {
    Plan {
        dir: dir.to_owned(),
        terms: FoldConfig::of(session.manifest(), session.checkpoint().session),
    }
}

fn dump(index: &Index) -> Vec<(String, Vec<Value>)> {
    let mut dumped = Vec::new();
    for table in TABLES {
        let sql = format!("SELECT * FROM {table} ORDER BY 1, 2");
        let mut select = index.connection().prepare(&sql).unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|at| row.get(at).unwrap());
            dumped.push((table.to_owned(), values.collect()));
        }
    }
    dumped
}

fn held_against(made: &Made, sql: &str) -> Result<(), IndexError> {
    let session = Session::open(&made.dir).unwrap();
    let board = session.projection().unwrap();
    let tip = session.checkpoint().tip();
    let plan = plan(&session, &made.dir);
    drop(session);
    let index = Index::open(&plan).unwrap();
    index.connection().execute_batch("BEGIN").unwrap();
    let changed = index.connection().execute_batch(sql);
    changed.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let checkpoint = Checkpoint::read(index.connection(), plan.terms.court.session);
    let fits = checkpoint.and_then(|_| index.fits(&board, tip));
    index.connection().execute_batch("ROLLBACK").unwrap();
    fits
}

#[test]
fn every_column_of_every_row_is_held_against_the_ledger() {
    let made = full();
    held_against(&made, "SELECT 1").unwrap();
    let session = Session::open(&made.dir).unwrap();
    let index = Index::open(&plan(&session, &made.dir)).unwrap();
    let rows = dump(&index);
    for table in TABLES {
        let columns = index
            .connection()
            .prepare(&format!("SELECT * FROM {table}"));
        let columns: Vec<String> = columns.unwrap().column_names().map(str::to_owned).collect();
        for (place, column) in columns.iter().enumerate() {
            let of_it = rows.iter().filter(|(name, _)| name == table);
            let filled = of_it
                .filter(|(_, values)| values[place] != Value::Null)
                .count();
            assert!(filled > 0, "nothing is tried of {table}.{column}");
            if (table, column.as_str()) == ("checkpoint", "id") {
                continue;
            }
            let other = match rows.iter().find(|(name, _)| name == table).unwrap().1[place] {
                Value::Text(_) => format!("{column} || 'x'"),
                Value::Blob(_) => "randomblob(32)".to_owned(),
                _ => format!("{column} + 100000"),
            };
            let sql = format!("UPDATE {table} SET {column} = {other} WHERE {column} IS NOT NULL");
            let found = held_against(&made, &sql);
            assert!(found.is_err(), "{sql}");
        }
        let found = held_against(&made, &format!("DELETE FROM {table}"));
        let named = matches!(found, Err(IndexError::Changed { .. }));
        assert!(named, "{table}: {found:?}");
    }
}

#[test]
fn a_confirmed_review_and_a_carried_pass_free_what_comes_after() {
    let made = made_in_order(&[vec![], vec![0], vec![], vec![2]]);
    let mut session = Session::open(&made.dir).unwrap();
    let waiting = |session: &Session| session.waiting().unwrap();
    let silent = attempt(&session, 0, Verdict::Review, VerdictBasis::Unanswered);
    assert!(append(&mut session, silent));
    assert_eq!(waiting(&session).quests, [id(1), id(3)]);
    assert!(waiting(&session).blocks(id(1)) && !waiting(&session).blocks(id(3)));
    let resolved = resolution(&session, 0);
    assert!(append(&mut session, resolved));
    assert_eq!(waiting(&session).quests, [id(3)]);
    let carried = carried(&session, 2);
    assert!(append(&mut session, carried));
    assert_eq!(waiting(&session), crate::session::Waiting::default());
    assert_eq!(session.projection().unwrap().waiting(), waiting(&session));
    session.fold().unwrap();
    assert_eq!(session.mended(), []);
}

#[test]
fn rows_that_the_ledger_does_not_know_are_found() {
    let made = full();
    for (table, sql) in [
        (
            "quest",
            "INSERT INTO quest SELECT 7, key, fold, state, tries, attempts, quest_offset, \
          quest_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
          NULL, revisions, asked, after_ids, NULL, seal FROM quest WHERE id = 6",
        ),
        (
            "submission",
            "INSERT INTO submission SELECT quest, 2, digest, grounds, seal FROM submission WHERE quest = 1",
        ),
        (
            "mark",
            "INSERT INTO mark VALUES (0, 'mailbox x@y.kr', 5, 0)",
        ),
        ("claim", "INSERT INTO claim VALUES (6, 'w9', 0, 900, 0)"),
    ] {
        match held_against(&made, sql) {
            Err(IndexError::Changed { table: found }) => assert_eq!(found, table, "{sql}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[test]
fn a_row_of_another_session_is_none_of_this_one() {
    let (one, two) = (full(), full());
    let session = Session::open(&two.dir).unwrap();
    let other = plan(&session, &two.dir);
    for table in ["quest", "submission", "mark", "claim"] {
        let sealed = |plan: &Plan| {
            let index = Index::open(plan).unwrap();
            let rows = dump(&index).into_iter().filter(|(name, _)| name == table);
            rows.map(|(_, values)| values.last().cloned().unwrap())
                .collect::<Vec<_>>()
        };
        let session = Session::open(&one.dir).unwrap();
        let (mine, theirs) = (sealed(&plan(&session, &one.dir)), sealed(&other));
        assert_eq!(mine.len(), theirs.len());
        // The lists lie elsewhere, so the sessions differ.
        assert!(
            mine.iter()
                .zip(&theirs)
                .all(|(mine, theirs)| mine != theirs),
            "{table}"
        );
    }
    std::fs::copy(two.dir.join("index.sqlite"), one.dir.join("index.sqlite")).unwrap();
    let session = Session::open(&one.dir).unwrap();
    let found = session.mended();
    assert!(
        found[0].to_string().contains("belongs to another session"),
        "{found:?}"
    );
}

#[test]
fn leases_end_to_the_millisecond_however_far_the_clock_is() {
    let made = made(1);
    let session = Session::open(&made.dir).unwrap();
    let (index, _) = Index::in_memory(&plan(&session, &made.dir), &Unwatched).unwrap();
    let claim = Claim {
        quest: id(0),
        worker: worker("w"),
        at: at(),
        lease: 1.try_into().unwrap(),
    };
    index.rows().put_claim(claim.clone()).unwrap();
    let clocks =
        [-1_000, -999, 0, 999, 1_000].map(|after| at() + SignedDuration::from_millis(after));
    for now in clocks.into_iter().chain([Timestamp::MIN, Timestamp::MAX]) {
        let free = index
            .first_free_but(now, &std::collections::BTreeSet::new())
            .unwrap()
            .is_some();
        assert_eq!(free, !claim.is_live(now), "{now}");
    }
}
