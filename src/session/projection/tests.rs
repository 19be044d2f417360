//! Indexes against the ledgers that they were made from.

use jiff::SignedDuration;
use proptest::prelude::*;
use rusqlite::types::Value;

use super::*;
use crate::quest::{Submission, Verdict};
use crate::session::claim::{Claimed, Lease, Released};
use crate::session::decision::{Decided, Decision, Dispute, SettledQuest, Settlement};
use crate::session::event::{Carried, Origin, Outcome, Resolution, Resumed};
use crate::session::ledger::Unwatched;
use crate::session::open::Session;
use crate::session::open::tests::{
    Made, at, attempt, ledger, made, made_in_order, made_under_key, operator_key, salt,
};
use crate::session::{
    Asked, Check, DrivenQuest, Effective, Fix, Fixed, Mark, Progress, Reason, Regressed, Reopened,
    Reopening, RunId, RunLine, RunStep, Sampled, VerdictBasis,
};

mod steps;

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
    let decide = |_: &Session, _| Ok::<_, SessionError>((vec![event], ()));
    let appended = session.append(&mut (|| at() + later, salt), decide);
    appended.is_ok()
}

fn claim(quest: usize, name: &str) -> Event {
    Event::Claim(Claimed {
        quest: id(quest),
        worker: worker(name),
        lease: Lease::DEFAULT,
    })
}

fn resolution(session: &Session, quest: usize) -> Event {
    let record = session.quest_record(id(quest)).unwrap().unwrap();
    let raw = || serde_json::value::to_raw_value("").unwrap();
    Event::Resolution(Box::new(Resolution {
        quest: record.id,
        attempt: record.attempts,
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
        attempt: session.quest_record(id(*quest)).unwrap().unwrap().attempts,
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

fn regressed(session: &Session, quest: usize) -> Event {
    let record = session.quest_record(id(quest)).unwrap().unwrap();
    Event::Regressed(Box::new(Regressed {
        quest: record.id,
        attempt: record.attempts,
        rules: vec!["tests-pass".into()],
        judgement: serde_json::value::to_raw_value("").unwrap(),
    }))
}

fn reopened(session: &Session, quest: usize) -> Reopened {
    Reopened {
        quests: settlement(session, &[quest], Decision::Reopened).quests,
        by: "kim".into(),
        note: "the list was wrong".into(),
        seal: None,
    }
}

fn contradiction(quest: usize) -> Dispute {
    Dispute {
        quest: id(quest),
        by: "kim".into(),
        note: "bounced".into(),
        seal: None,
    }
}

fn drawn(quests: &[usize]) -> Sampled {
    Sampled {
        quests: quests.iter().map(|quest| id(*quest)).collect(),
        by: "kim".into(),
        seal: None,
    }
}

fn sampled(quests: &[usize]) -> Event {
    Event::Sampled(Box::new(drawn(quests)))
}

fn sealed<T: Decided>(session: &Session, decided: T) -> T {
    let policy = session.config().policy;
    policy
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
    assert!(append(&mut session, sampled(&[1, 3])));
    assert!(append(&mut session, handed_over(5)));
    let asked = asked(&session, 5, false);
    assert!(append(&mut session, asked));
    made
}

fn asked(session: &Session, quest: usize, withdrawn: bool) -> Event {
    let record = session.quest_record(id(quest)).unwrap().unwrap();
    Event::Asked(Asked {
        quest: record.id,
        number: record.attempts + 1,
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

fn open(session: &Session) -> Result<Projection, IndexError> {
    Projection::open(session.dir(), session.config())
}

fn dump(index: &Projection) -> Vec<(String, Vec<Value>)> {
    let mut dumped = Vec::new();
    let connection = lock(&index.connection);
    for table in TABLES {
        let sql = format!("SELECT * FROM {table} ORDER BY 1");
        let mut select = connection.prepare(&sql).unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|at| row.get(at).unwrap());
            dumped.push((table.to_owned(), values.collect()));
        }
    }
    dumped
}

/// What is found of an edit that is held against the ledger, and then taken back.
fn held_against(made: &Made, sql: &str) -> Result<(), IndexError> {
    let session = Session::open(&made.dir).unwrap();
    let folded = session.projection().unwrap();
    let index = open(&session).unwrap();
    lock(&index.connection).execute_batch("BEGIN").unwrap();
    let changed = lock(&index.connection).execute(sql, []);
    let changed = changed.unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(changed > 0, "{sql} changes nothing");
    let fits = index.fits(&folded);
    lock(&index.connection).execute_batch("ROLLBACK").unwrap();
    fits
}

#[test]
fn compares_every_column_with_the_ledger() {
    let made = full();
    let session = Session::open(&made.dir).unwrap();
    open(&session)
        .unwrap()
        .fits(&session.projection().unwrap())
        .unwrap();
    let mut edits =
        vec![
        ("checkpoint", "UPDATE checkpoint SET body = body || 'x'".to_owned()),
        (
            "quest",
            "INSERT INTO quest SELECT 7, key, fold, state, waits, unanswered, NULL, NULL, NULL, \
             body, seal FROM quest WHERE id = 6"
                .to_owned(),
        ),
        ("mark", "INSERT INTO mark VALUES ('mailbox x@y.kr', '5', 0)".to_owned()),
    ];
    edits.extend(TABLES.map(|table| (table, format!("DELETE FROM {table}"))));
    // What else is in the checkpoint is of the file, not of the ledger.
    for table in ["quest", "mark"] {
        let index = open(&session).unwrap();
        let connection = lock(&index.connection);
        let sql = "SELECT name, type FROM pragma_table_info(?)";
        let mut select = connection.prepare(sql).unwrap();
        let mut columns = select.query([table]).unwrap();
        while let Some(column) = columns.next().unwrap() {
            let (name, kind): (String, String) = (column.get(0).unwrap(), column.get(1).unwrap());
            let more = if kind == "TEXT" { "|| 'x'" } else { "+ 100000" };
            let edit =
                format!("UPDATE {table} SET {name} = {name} {more} WHERE {name} IS NOT NULL");
            edits.push((table, edit));
        }
    }
    for (table, sql) in edits {
        let found = held_against(&made, &sql);
        let named = matches!(found, Err(IndexError::Changed(found)) if found == table);
        assert!(named, "{sql}: {found:?}");
    }
}

#[test]
fn silently_rebuilds_an_index_from_before_a_reboot() {
    let made = full();
    let session = Session::open(&made.dir).unwrap();
    let index = open(&session).unwrap();
    // With what SQLite will have counted after this write.
    let restarted = "UPDATE checkpoint SET boot = 'another', changes = changes + 1";
    lock(&index.connection).execute_batch(restarted).unwrap();
    drop(index);
    assert!(matches!(open(&session), Err(IndexError::CutOff)));
    let again = Session::open(&made.dir).unwrap();
    assert_eq!(again.repairs(), []);
    open(&again).unwrap();
}

#[test]
fn a_confirmed_review_and_a_carried_pass_unblock_dependents() {
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
    assert_eq!(
        session.projection().unwrap().waiting().unwrap(),
        waiting(&session)
    );
    session.fold().unwrap();
    assert_eq!(session.repairs(), []);
}

/// Puts a claim on a quest, without the ledger.
fn put_claim(index: &Projection, claim: Claim) {
    let record = index.get(claim.quest).unwrap().unwrap();
    let claim = Some(claim);
    let put = index.tables(|tables| tables.put_quest(&QuestRecord { claim, ..record }));
    put.unwrap();
}

fn first_free(index: &Projection, now: Timestamp) -> Option<QuestRecord> {
    index.first_free_but(now, &BTreeSet::new()).unwrap()
}

#[test]
fn leases_expire_to_the_millisecond() {
    let made = made(1);
    let index = Session::open(&made.dir).unwrap().projection().unwrap();
    let claim = Claim {
        quest: id(0),
        worker: worker("w"),
        at: at(),
        lease: 1.try_into().unwrap(),
    };
    put_claim(&index, claim.clone());
    let clocks =
        [-1_000, -999, 0, 999, 1_000].map(|after| at() + SignedDuration::from_millis(after));
    for now in clocks.into_iter().chain([Timestamp::MIN, Timestamp::MAX]) {
        let free = first_free(&index, now).is_some();
        assert_eq!(free, !claim.is_live(now), "{now}");
    }
}

#[test]
fn detects_a_replaced_or_interrupted_index() {
    let made = made(2);
    let session = Session::open(&made.dir).unwrap();
    let index = open(&session).unwrap();
    assert!(index.is_in_place(&made.dir));
    let journal = made.dir.join("index.sqlite-journal");
    std::fs::write(&journal, "half").unwrap();
    assert!(!index.is_in_place(&made.dir));
    std::fs::write(&journal, "").unwrap();
    assert!(index.is_in_place(&made.dir));
    let (_, rebuilt) = Projection::rebuild(&made.dir, session.config(), &Unwatched).unwrap();
    assert!(rebuilt.is_in_place(&made.dir) && !index.is_in_place(&made.dir));
    std::fs::remove_file(Projection::place(&made.dir)).unwrap();
    assert!(!rebuilt.is_in_place(&made.dir));
    assert!(!session.projection().unwrap().is_in_place(&made.dir));
}

#[test]
fn appends_are_in_the_shared_index() {
    let made = made(3);
    let mut session = Session::open(&made.dir).unwrap();
    assert!(append(&mut session, claim(0, "w1")));
    // Another rebuilds it, and goes on with that.
    std::fs::remove_file(Projection::place(&made.dir)).unwrap();
    let mut other = Session::open(&made.dir).unwrap();
    assert!(append(&mut other, claim(1, "w2")));
    assert!(append(&mut session, claim(2, "w3")));
    assert_eq!(session.claims().unwrap().len(), 3);
    let index = open(&session).unwrap();
    assert_eq!(index.tip(), session.checkpoint().tip());
    assert_eq!(session.repairs(), []);
}

#[test]
fn iterates_all_quests_in_order_across_pages() {
    let count = PAGE as usize * 2 + 1;
    let made = made(count);
    let index = Session::open(&made.dir).unwrap().projection().unwrap();
    let ids = index.quests().map(|quest| quest.unwrap().id.index());
    assert!(ids.eq(0..count));
}

fn with_review(made: &Made) -> Session {
    let mut session = Session::open(&made.dir).unwrap();
    let review = attempt(&session, 0, Verdict::Review, VerdictBasis::World);
    assert!(append(&mut session, review));
    let passed = pass(&session, 1, "mailbox a@b.kr");
    assert!(append(&mut session, passed));
    session
}

fn order() -> Vec<Vec<usize>> {
    vec![vec![], vec![], vec![0], vec![]]
}

fn effective(session: &Session, quest: usize) -> Effective {
    Effective::of(&session.quest_record(id(quest)).unwrap().unwrap())
}

fn counts(session: &Session) -> Vec<u32> {
    let totals = session.totals();
    assert_eq!(session.projection().unwrap().totals(), &totals);
    let count = |effective: &Effective| totals.effective.of(*effective);
    Effective::ALL.iter().map(count).collect()
}

#[test]
fn rejects_impossible_decisions() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    let before = session.head();
    for (quest, decision) in [
        (1, Decision::Accepted),
        (2, Decision::Rejected),
        (0, Decision::Reopened),
    ] {
        let event = settled(&session, quest, decision);
        assert!(!append(&mut session, event), "{quest} {decision:?}");
    }
    let another = Settlement {
        quests: vec![SettledQuest {
            quest: id(0),
            attempt: 2,
        }],
        ..settlement(&session, &[0], Decision::Accepted)
    };
    assert!(!append(&mut session, Event::Settled(Box::new(another))));
    for quests in [&[][..], &[0, 0]] {
        let odd = settlement(&session, quests, Decision::Accepted);
        assert!(!append(&mut session, Event::Settled(Box::new(odd))));
    }
    // All or none.
    let both = settlement(&session, &[0, 1], Decision::Accepted);
    assert!(!append(&mut session, Event::Settled(Box::new(both))));
    for open in [0, 2] {
        let event = Event::Disputed(Box::new(contradiction(open)));
        assert!(!append(&mut session, event));
    }
    assert_eq!(session.head(), before);
    assert_eq!(effective(&session, 0), Effective::Open);
    assert_eq!(counts(&session), [1, 0, 0, 1, 0, 0, 0, 2]);
}

#[test]
fn counts_a_quest_disputed_twice_once() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    for _ in 0..2 {
        let event = Event::Disputed(Box::new(contradiction(1)));
        assert!(append(&mut session, event));
    }
    assert_eq!(session.totals().counts.disputed, 1);
    assert_eq!(effective(&session, 1), Effective::Pass);
}

#[test]
fn draws_each_pass_from_before_the_first_draw_once() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    for quests in [&[][..], &[0], &[2], &[1, 1], &[0, 1]] {
        assert!(!append(&mut session, sampled(quests)), "{quests:?}");
    }
    assert_eq!(session.totals().sample, None);
    let before = settled(&session, 1, Decision::Accepted);
    assert!(!append(&mut session, before), "it is not in the sample");
    assert!(append(&mut session, sampled(&[1])));
    assert!(!append(&mut session, sampled(&[1])), "twice");
    let later = pass(&session, 3, "mailbox b@b.kr");
    assert!(append(&mut session, later));
    assert!(!append(&mut session, sampled(&[3])), "it came later");
    let sample = session.totals().sample.unwrap();
    assert_eq!((sample.passes, sample.draws, sample.drawn()), (1, 1, 1));
}

#[test]
fn a_person_settles_a_sampled_pass_which_stays_a_pass() {
    let made = made_in_order(&order());
    let mut session = with_review(&made);
    assert!(append(&mut session, sampled(&[1])));
    for (decision, check, disputed) in [
        (Decision::Accepted, Check::Right, 0),
        (Decision::Rejected, Check::Wrong, 1),
        (Decision::Reopened, Check::Open, 0),
        (Decision::Accepted, Check::Right, 0),
    ] {
        let event = settled(&session, 1, decision);
        assert!(append(&mut session, event), "{decision:?}");
        let record = session.quest_record(id(1)).unwrap().unwrap();
        assert_eq!(record.check(), Some(check));
        assert_eq!(session.totals().counts.disputed, disputed);
        assert_eq!(effective(&session, 1), Effective::Pass);
        let sample = session.totals().sample.unwrap();
        let counted = match check {
            Check::Open => sample.open,
            Check::Right => sample.right,
            Check::Wrong => sample.wrong,
        };
        assert_eq!((counted, sample.drawn()), (1, 1));
    }
    // The world has the last word.
    assert!(append(
        &mut session,
        Event::Disputed(Box::new(contradiction(1)))
    ));
    let sample = session.totals().sample.unwrap();
    assert_eq!((sample.wrong, sample.drawn()), (1, 1));
}

#[test]
fn a_pass_that_no_longer_holds_is_todo_again_with_all_tries() {
    let made = made_in_order(&[vec![], vec![0]]);
    let mut session = Session::open(&made.dir).unwrap();
    let record = |session: &Session| session.quest_record(id(0)).unwrap().unwrap();
    let failed = attempt(&session, 0, Verdict::Fail, VerdictBasis::World);
    assert!(append(&mut session, failed));
    // Only a PASS can cease to hold, and only a locked quest is reopened.
    let early = regressed(&session, 0);
    assert!(!append(&mut session, early));
    let early = Event::Reopened(Box::new(reopened(&session, 0)));
    assert!(!append(&mut session, early));
    let passed = pass(&session, 0, "mailbox a@b.kr");
    assert!(append(&mut session, passed));
    let proof = record(&session).proof();
    assert!(proof.is_some());
    let lost = regressed(&session, 0);
    assert!(append(&mut session, lost.clone()));
    let now = record(&session);
    assert_eq!(now.progress, Progress::NEW);
    assert_eq!((now.attempts, now.proof()), (2, None));
    assert_eq!(now.reopenings, [Reopening { attempts: 2, proof }]);
    assert!(
        session
            .reader()
            .unwrap()
            .regression(&now)
            .unwrap()
            .is_some()
    );
    assert_eq!(session.totals().tally.todo, 2);
    // What waits for it waits again, and what it holds stays held.
    assert_eq!(session.waiting().unwrap().quests, [id(1)]);
    let holder = session.holder(&Mark("mailbox a@b.kr".into())).unwrap();
    assert_eq!(holder.map(|it| it.id), Some(id(0)));
    assert!(!append(&mut session, lost), "it is no PASS any more");
    let again = pass(&session, 0, "mailbox a@b.kr");
    assert!(append(&mut session, again));
    let now = record(&session);
    assert_eq!((now.attempts, now.regression), (3, None));
    assert_eq!(session.waiting().unwrap().quests, []);
    session.fold().unwrap();
    assert_eq!(session.repairs(), []);
}

#[test]
fn an_answer_from_before_a_reopening_is_no_repeat() {
    let made = made(1);
    let mut session = Session::open(&made.dir).unwrap();
    let first = Submission::None("looked everywhere".into());
    let answer = |session: &Session, verdict| {
        let Event::Attempt(mut attempt) = attempt(session, 0, verdict, VerdictBasis::World) else {
            panic!("an attempt");
        };
        (attempt.submission, attempt.submitted) = (first.clone(), first.digest());
        Event::Attempt(attempt)
    };
    for verdict in [Verdict::Fail, Verdict::Review] {
        let judged = answer(&session, verdict);
        assert!(append(&mut session, judged));
    }
    let reopened = Event::Reopened(Box::new(reopened(&session, 0)));
    assert!(append(&mut session, reopened));
    assert_eq!(session.repeats(id(0), first.digest()).unwrap(), None);
    for _ in 0..2 {
        let judged = answer(&session, Verdict::Fail);
        assert!(append(&mut session, judged));
    }
    let record = session.quest_record(id(0)).unwrap().unwrap();
    let repeats = (1..=4).map(|number| record.repeats(first.digest(), number));
    assert_eq!(repeats.collect::<Vec<_>>(), [None, Some(1), None, Some(3)]);
    assert_eq!(session.repeats(id(0), first.digest()).unwrap(), Some(3));
}
