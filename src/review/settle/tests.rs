//! Decisions, recorded or refused.

use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::base::clock::Salt;
use crate::quest::{Quest, Verdict};
use crate::review::draw_sample;
use crate::session::{Attempt, Manifest, NewSession, Seed, create, nothing_to_stock};

const KIM: Person<'_> = Person {
    by: "kim",
    note: "called them",
    key: None,
};

fn at() -> Timestamp {
    "2026-01-02T03:04:05.678Z".parse().unwrap()
}

fn salt() -> Salt {
    Salt([7; 16])
}

fn id(number: usize) -> QuestId {
    QuestId::from_index(number - 1).unwrap()
}

fn key() -> SigningKey {
    SigningKey::read(&[7; 32]).unwrap()
}

struct Made {
    _home: TempDir,
    dir: PathBuf,
}

/// A session of four: two REVIEWs, a PASS, and one in TODO.
fn made(key: Option<&SigningKey>) -> Made {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("list.csv");
    fs::write(&source, "company\n").unwrap();
    let dir = home.path().join("session");
    let quests: Vec<Quest> = (1..=4).map(quest).collect();
    let key = key.map(SigningKey::public);
    let manifest = Manifest::sample(&source, b"company\n", key);
    let new = NewSession {
        stock: &nothing_to_stock,
        watch: &crate::session::Unwatched,
        manifest: &manifest,
        source: &source,
        quests: &quests,
        now: at(),
    };
    create(&dir, &new, &mut (at, salt)).unwrap();
    let mut session = Session::open(&dir).unwrap();
    for (number, verdict, state) in [
        (1, Verdict::Review, State::Review),
        (2, Verdict::Review, State::Review),
        (3, Verdict::Pass, State::Pass),
    ] {
        let event = Event::Attempt(Box::new(Attempt::sample(id(number), verdict, state)));
        let decide = |_: &Session, _| Ok::<_, SessionError>((vec![event], ()));
        session.append(&mut (at, salt), decide).unwrap();
    }
    Made { _home: home, dir }
}

fn quest(number: usize) -> Quest {
    let key = Key::new(&format!("company {number}")).unwrap();
    Quest::new(id(number), key)
}

fn decide(
    session: &mut Session,
    numbers: &[usize],
    decision: Decision,
    person: Person<'_>,
) -> Result<(), NotSettled> {
    let quests = numbers.iter().map(|number| SettledQuest {
        quest: id(*number),
        attempt: 1,
    });
    settle(session, quests.collect(), decision, person, &mut (at, salt))
}

fn effective(session: &Session, number: usize) -> Effective {
    Effective::of(&session.quest_record(id(number)).unwrap().unwrap())
}

#[test]
fn settles_several_quests_in_one_line() {
    let made = made(None);
    let mut session = Session::open(&made.dir).unwrap();
    decide(&mut session, &[2, 1, 2], Decision::Accepted, KIM).unwrap();
    for number in [1, 2] {
        assert_eq!(effective(&session, number), Effective::Accepted);
    }
    let record = session.quest_record(id(2)).unwrap().unwrap();
    let told = session
        .reader()
        .unwrap()
        .settlement(&record)
        .unwrap()
        .unwrap()
        .value;
    let quests: Vec<QuestId> = told.quests.iter().map(|it| it.quest).collect();
    assert_eq!(quests, [id(1), id(2)]);
    assert_eq!(
        (told.by.as_str(), told.note.as_str()),
        ("kim", "called them")
    );
}

#[test]
fn settles_all_quests_or_none() {
    let made = made(None);
    let mut session = Session::open(&made.dir).unwrap();
    let head = session.head();
    let refused = |error: NotSettled| error.to_string();
    let mut why = |numbers: &[usize], decision| {
        refused(decide(&mut session, numbers, decision, KIM).unwrap_err())
    };
    let passed = why(&[1, 3], Decision::Accepted);
    assert!(passed.contains("quest 3, company 3, is PASS"), "{passed}");
    let todo = why(&[1, 4], Decision::Rejected);
    assert!(todo.contains("is TODO"), "{todo}");
    let reopened = why(&[1], Decision::Reopened);
    assert!(reopened.contains("nothing to withdraw"), "{reopened}");
    let unknown = why(&[1, 9], Decision::Accepted);
    assert!(unknown.contains("no quest 9"), "{unknown}");
    decide(&mut session, &[], Decision::Accepted, KIM).unwrap();
    let moved = SettledQuest {
        quest: id(1),
        attempt: 2,
    };
    let moved = settle(
        &mut session,
        vec![moved],
        Decision::Accepted,
        KIM,
        &mut (at, salt),
    );
    assert!(matches!(moved, Err(NotSettled::Moved(_))), "{moved:?}");
    assert_eq!(session.head(), head);
    assert_eq!(effective(&session, 1), Effective::Open);
}

#[test]
fn requires_the_operators_key() {
    let key = key();
    let made = made(Some(&key));
    let mut session = Session::open(&made.dir).unwrap();
    let head = session.head();
    let stranger = SigningKey::read(&[8; 32]).unwrap();
    for person in [
        KIM,
        Person {
            key: Some(&stranger),
            ..KIM
        },
    ] {
        let refused = decide(&mut session, &[1], Decision::Accepted, person);
        assert!(matches!(refused, Err(NotSettled::Unsealed)), "{refused:?}");
        let refused = dispute(&mut session, id(3), person, &mut (at, salt));
        assert!(matches!(refused, Err(NotSettled::Unsealed)), "{refused:?}");
    }
    assert_eq!(session.head(), head);
    let operator = Person {
        key: Some(&key),
        ..KIM
    };
    decide(&mut session, &[1], Decision::Accepted, operator).unwrap();
    dispute(&mut session, id(3), operator, &mut (at, salt)).unwrap();
    decide(&mut session, &[1], Decision::Reopened, operator).unwrap();
    assert_eq!(effective(&session, 1), Effective::Open);
    let again = decide(&mut session, &[1], Decision::Reopened, operator);
    assert!(
        matches!(again, Err(NotSettled::AlreadyOpen(_))),
        "{again:?}"
    );
    let counts = session.totals().counts;
    assert_eq!((counts.unsealed, counts.disputed), (0, 1));
}

#[test]
fn disputes_only_answers_that_count_as_right() {
    let made = made(None);
    let mut session = Session::open(&made.dir).unwrap();
    let refused = dispute(&mut session, id(1), KIM, &mut (at, salt)).unwrap_err();
    assert!(refused.to_string().contains("quest 1 is open"), "{refused}");
    decide(&mut session, &[1], Decision::Accepted, KIM).unwrap();
    dispute(&mut session, id(1), KIM, &mut (at, salt)).unwrap();
    assert_eq!(effective(&session, 1), Effective::Accepted);
}

#[test]
fn draws_only_passes_and_never_accepts_a_disputed_one() {
    let made = made(None);
    let mut session = Session::open(&made.dir).unwrap();
    let seed = || Seed([3; 32]);
    let drawn =
        |session: &mut Session| draw_sample(session, 9, seed(), ("kim", None), &mut (at, salt));
    assert_eq!(drawn(&mut session).unwrap(), [id(3)]);
    let again = drawn(&mut session);
    assert!(matches!(again, Err(NotSettled::NothingToDraw)), "{again:?}");
    decide(&mut session, &[3], Decision::Accepted, KIM).unwrap();
    dispute(&mut session, id(3), KIM, &mut (at, salt)).unwrap();
    let refused = decide(&mut session, &[3], Decision::Accepted, KIM);
    assert!(
        matches!(refused, Err(NotSettled::Disputed(_))),
        "{refused:?}"
    );
}

#[test]
fn refuses_only_rows_whose_quests_changed_in_the_meantime() {
    use crate::review::Queue;
    use crate::review::office::{Filling, check, settle_rows};

    let made = made(None);
    let mut session = Session::open(&made.dir).unwrap();
    let policy = session.config().policy.session;
    let queue = Queue::read(&session).unwrap();
    let mut filling = Filling::default();
    let headings = [
        "id", "key", "judged", "attempt", "decision", "note", "session",
    ];
    filling.take(1, &headings.map(str::to_owned)).unwrap();
    for (row, one) in (2..).zip(queue.all()) {
        let cells = [
            one.id.to_string(),
            one.key.as_str().to_owned(),
            one.since.to_string(),
            one.attempt.to_string(),
            "accept".to_owned(),
            "called them".to_owned(),
            policy.to_string(),
        ];
        filling.take(row, &cells).unwrap();
    }
    let rows = filling.finish().unwrap();
    let fitting = check(&session, rows).unwrap();
    assert_eq!((fitting.rows.len(), fitting.refused.len()), (2, 0));

    let mut other = Session::open(&made.dir).unwrap();
    decide(&mut other, &[1], Decision::Rejected, KIM).unwrap();
    decide(&mut other, &[1], Decision::Reopened, KIM).unwrap();
    let settled = settle_rows(&mut session, fitting, ("kim", None), &mut (at, salt)).unwrap();
    let quests: Vec<QuestId> = settled.rows.iter().map(|row| row.record.id).collect();
    let refused = settled.refused.iter().map(|it| (it.row, it.why));
    assert_eq!(quests, [id(2)]);
    assert_eq!(
        refused.collect::<Vec<_>>(),
        [(2, crate::review::office::Why::Meanwhile)]
    );
    assert_eq!(effective(&session, 1), Effective::Open);
    assert_eq!(effective(&session, 2), Effective::Accepted);
}
