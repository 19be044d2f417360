//! A session on disk: made whole, read on, and appended to.

mod damage;
mod order;

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::base::Digest;
use crate::base::clock::Salt;
use crate::quest::{Key, Quest, QuestId, Submission, Verdict};
use crate::session::{
    Attempt, Extended, FORMAT, Frozen, KindRecord, Lease, NewSession, QuestRecord, Tally,
    VerdictBasis, create, extend,
};

pub(in crate::session) struct Made {
    _home: TempDir,
    pub(in crate::session) dir: PathBuf,
}

pub(in crate::session) fn at() -> Timestamp {
    "2026-01-02T03:04:05.678Z".parse().unwrap()
}

pub(in crate::session) fn salt() -> Salt {
    Salt([7; 16])
}

fn quests(count: usize) -> Vec<Quest> {
    (0..count)
        .map(|index| Quest {
            rows: vec![u32::try_from(index).unwrap() + 2],
            ..Quest::new(
                QuestId::from_index(index).unwrap(),
                Key::new(&format!("company {index}")).unwrap(),
            )
        })
        .collect()
}

fn manifest(source: &Path, pause_after: u32) -> Manifest {
    keyed_manifest(source, pause_after, None)
}

fn keyed_manifest(
    source: &Path,
    pause_after: u32,
    operator_key: Option<crate::session::OperatorKey>,
) -> Manifest {
    Manifest {
        format: FORMAT,
        comail: "0.1.0".into(),
        created: at(),
        kind: KindRecord {
            definition: None,
            reviewers: None,
            name: "email".into(),
            lists: std::collections::BTreeMap::default(),
        },
        source: source_record(source, "source.csv"),
        forgotten: Vec::new(),
        frozen: Frozen {
            max_tries: NonZeroU32::new(3).unwrap(),
            pause_after,
            lease: Lease::DEFAULT,
            operator_key,
            gate: serde_json::Value::Null,
            network: serde_json::Value::Null,
        },
    }
}

fn source_record(source: &Path, copy: &str) -> SourceRecord {
    SourceRecord {
        path: source.display().to_string(),
        sha256: Digest::of(&fs::read(source).unwrap()),
        copy: copy.into(),
        list: serde_json::Value::Null,
    }
}

/// A session in which some quests come after others: by place, those before each.
pub(in crate::session) fn made_in_order(after: &[Vec<usize>]) -> Made {
    let mut quests = quests(after.len());
    for (quest, before) in quests.iter_mut().zip(after) {
        let before = before
            .iter()
            .map(|index| QuestId::from_index(*index).unwrap());
        quest.after = before.collect();
    }
    made_of(&quests, 0)
}

pub(in crate::session) fn made_under_key(after: &[Vec<usize>]) -> Made {
    let mut quests = quests(after.len());
    for (quest, before) in quests.iter_mut().zip(after) {
        let before = before.iter().map(|at| QuestId::from_index(*at).unwrap());
        quest.after = before.collect();
    }
    made_keyed(&quests, 0, Some(operator_key().public()))
}

pub(in crate::session) fn operator_key() -> crate::session::SigningKey {
    crate::session::SigningKey::read(&[7; 32]).unwrap()
}

fn made_of(quests: &[Quest], pause_after: u32) -> Made {
    made_keyed(quests, pause_after, None)
}

fn made_keyed(
    quests: &[Quest],
    pause_after: u32,
    key: Option<crate::session::OperatorKey>,
) -> Made {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("list.csv");
    fs::write(&source, "company\n").unwrap();
    let dir = home.path().join("session");
    let new = NewSession {
        stock: &crate::session::nothing_to_stock,
        watch: &crate::session::Unwatched,
        manifest: &keyed_manifest(&source, pause_after, key),
        source: &source,
        quests: &quests.to_vec(),
        now: at(),
    };
    create(&dir, &new, &mut (at, salt)).unwrap();
    Made { _home: home, dir }
}

pub(in crate::session) fn made(count: usize) -> Made {
    made_of(&quests(count), 0)
}

fn standing(session: &Session, index: usize) -> QuestRecord {
    let id = QuestId::from_index(index).unwrap();
    session.standing(id).unwrap().unwrap()
}

fn tally(session: &Session) -> Tally {
    session.totals().tally
}

pub(in crate::session) fn attempt(
    session: &Session,
    index: usize,
    verdict: Verdict,
    grounds: VerdictBasis,
) -> Event {
    let standing = standing(session, index);
    let next = standing
        .progress
        .judged(verdict, NonZeroU32::new(3).unwrap())
        .unwrap();
    let number = standing.attempts + 1;
    let submission = Submission::None(format!("nothing {number}"));
    let raw = || serde_json::value::to_raw_value("").unwrap();
    Event::Attempt(Box::new(Attempt {
        quest: standing.id,
        number,
        submitted: submission.digest(),
        submission,
        verdict,
        grounds,
        state: next.state,
        tries: next.tries,
        rules: vec!["no-result".into()],
        anchored: false,
        revision: false,
        holds: Vec::new(),
        worker: None,
        judgement: raw(),
        evidence: raw(),
    }))
}

fn judge(session: &mut Session, index: usize, verdict: Verdict) -> Result<(), SessionError> {
    let appended = session.append(&mut (at, salt), |session| {
        Ok::<_, ()>(vec![attempt(
            session,
            index,
            verdict,
            VerdictBasis::NoResult,
        )])
    })?;
    assert!(matches!(appended, Appended::Done));
    Ok(())
}

pub(in crate::session) fn ledger(made: &Made) -> PathBuf {
    made.dir.join("ledger.jsonl")
}

#[test]
fn what_was_judged_is_there_when_it_is_opened_again() {
    let made = made(3);
    let mut session = Session::open(&made.dir).unwrap();
    judge(&mut session, 0, Verdict::Pass).unwrap();
    judge(&mut session, 1, Verdict::Fail).unwrap();
    let again = Session::open(&made.dir).unwrap();
    assert_eq!(again.head(), session.head());
    assert_eq!((tally(&again).pass, tally(&again).todo), (1, 2));
    let first = &again.first_free(at()).unwrap().unwrap();
    assert_eq!(first.id.to_string(), "2");
    assert_eq!(first.progress.tries, 1);
    assert_eq!(again.reader().unwrap().quest(first).unwrap(), quests(3)[1]);
    let last = again
        .reader()
        .unwrap()
        .last_attempt(first)
        .unwrap()
        .unwrap();
    assert_eq!(last.value.verdict, Verdict::Fail);
    assert_eq!(last.at, at());
}

#[test]
fn a_session_is_never_replaced_and_never_half_made() {
    let made = made(1);
    let source = made.dir.join("source.csv");
    let new = NewSession {
        stock: &crate::session::nothing_to_stock,
        watch: &crate::session::Unwatched,
        manifest: &manifest(&source, 0),
        source: &source,
        quests: &quests(2),
        now: at(),
    };
    let error = create(&made.dir, &new, &mut (at, salt)).unwrap_err();
    assert!(matches!(error, SessionError::Exists { .. }), "{error}");
    assert_eq!(tally(&Session::open(&made.dir).unwrap()).total(), 1);
    // A list that changes while it is read leaves nothing behind.
    let mut changed = manifest(&source, 0);
    changed.source.sha256 = Digest::of(b"other");
    let new = NewSession {
        stock: &crate::session::nothing_to_stock,
        watch: &crate::session::Unwatched,
        manifest: &changed,
        ..new
    };
    let beside = made.dir.with_file_name("other");
    let error = create(&beside, &new, &mut (at, salt)).unwrap_err();
    assert!(
        matches!(error, SessionError::SourceChanged { .. }),
        "{error}"
    );
    let mut left: Vec<_> = fs::read_dir(made.dir.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["list.csv", "session"]);
}

#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let made = made(1);
    let permissions = fs::metadata(&made.dir).unwrap().permissions();
    assert_eq!(permissions.mode() & 0o777, 0o700);
}

#[test]
fn a_newer_list_adds_and_never_removes() {
    let made = made(1);
    let list = made.dir.with_file_name("newer.csv");
    fs::write(&list, "company\nnew\n").unwrap();
    let mut session = Session::open(&made.dir).unwrap();
    judge(&mut session, 0, Verdict::Pass).unwrap();
    let record = source_record(&list, "source-2.csv");
    let added = quests(2).split_off(1);
    let appended = extend(&mut session, &list, &mut (at, salt), |_| {
        Ok::<_, ()>((record.clone(), added))
    });
    assert!(matches!(appended, Ok(Appended::Done)));
    let again = Session::open(&made.dir).unwrap();
    assert_eq!((tally(&again).pass, tally(&again).todo), (1, 1));
    assert_eq!(again.source(), record);
    let copy = fs::read_to_string(made.dir.join("source-2.csv")).unwrap();
    assert_eq!(copy, "company\nnew\n");
    let mut extended = Vec::new();
    again
        .log()
        .read_on(&mut |entry| {
            if let Event::Extended(Extended { added, .. }) = entry.event {
                extended.push(added);
            }
        })
        .unwrap();
    assert_eq!(extended, [1]);
}

#[test]
fn the_first_pass_holds_what_it_took() {
    let made = made(2);
    let mut session = Session::open(&made.dir).unwrap();
    let mark = crate::session::Mark("mailbox info@acme.co.kr".into());
    for index in [1, 0] {
        let appended = session.append(&mut (at, salt), |session| {
            let Event::Attempt(mut attempt) =
                attempt(session, index, Verdict::Pass, VerdictBasis::World)
            else {
                panic!("an attempt");
            };
            attempt.holds = vec![mark.clone()];
            Ok::<_, ()>(vec![Event::Attempt(attempt)])
        });
        assert!(matches!(appended, Ok(Appended::Done)));
    }
    let again = Session::open(&made.dir).unwrap();
    assert_eq!(again.holder(&mark).unwrap().unwrap().id.to_string(), "2");
    assert_eq!(again.totals().counts.unanchored, 2);
    assert_eq!(again.totals().counts.rules["no-result"], 2);
}

/// The time of a line is that at which the lock is held, however long it was waited for.
#[test]
fn the_clock_is_asked_under_the_lock() {
    let made = made(1);
    let mut session = Session::open(&made.dir).unwrap();
    let lock = fs::File::open(made.dir.join("lock")).unwrap();
    let mut held = Vec::new();
    let mut clock = || {
        held.push(lock.try_lock().is_err());
        lock.unlock().unwrap();
        at()
    };
    let appended = session.append_at(&mut (&mut clock, salt), |_, now| {
        assert_eq!(now, at());
        Ok::<_, ()>(Vec::new())
    });
    assert!(matches!(appended, Ok(Appended::Done)) && held == [true]);
}
