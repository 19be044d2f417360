//! A session on disk: made whole, read on, and appended to.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::*;
use crate::base::Digest;
use crate::base::clock::Salt;
use crate::quest::{Key, Quest, QuestId, Submission, Verdict};
use crate::session::{
    Attempt, Claimed, FORMAT, Frozen, KindRecord, Lease, NewSession, OperatorKey, QuestRecord,
    SigningKey, Tally, VerdictBasis, create,
};

impl Manifest {
    /// What a scan of this list froze.
    pub(crate) fn sample(path: &Path, list: &[u8], operator_key: Option<OperatorKey>) -> Self {
        Self {
            format: FORMAT,
            comail: "0.1.0".to_owned(),
            created: "2026-01-02T03:04:05.678Z".parse().unwrap(),
            kind: KindRecord {
                name: "email".to_owned(),
                lists: BTreeMap::new(),
                definition: None,
                reviewers: None,
            },
            source: SourceRecord {
                path: path.display().to_string(),
                sha256: Digest::of(list),
                copy: "source.csv".to_owned(),
                list: Value::Null,
            },
            frozen: Frozen {
                max_tries: NonZeroU32::new(3).unwrap(),
                pause_after: 0,
                lease: Lease::DEFAULT,
                operator_key,
                gate: Value::Null,
                network: Value::Null,
                world: None,
            },
            forgotten: Vec::new(),
        }
    }
}

impl Attempt {
    /// A first submission, that nothing was found.
    pub(crate) fn sample(quest: QuestId, verdict: Verdict, state: crate::session::State) -> Self {
        let submission = Submission::None("nothing".to_owned());
        let null = || RawValue::from_string("null".to_owned()).unwrap();
        Self {
            quest,
            number: 1,
            submitted: submission.digest(),
            submission,
            verdict,
            grounds: VerdictBasis::World,
            state,
            tries: 0,
            rules: Vec::new(),
            anchored: false,
            seen: None,
            holds: Vec::new(),
            revision: false,
            accepted: None,
            worker: None,
            idempotency_key: None,
            judgement: null(),
            evidence: null(),
        }
    }
}

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
            ..Quest::new(id(index), Key::new(&format!("company {index}")).unwrap())
        })
        .collect()
}

fn manifest(source: &Path, operator_key: Option<OperatorKey>) -> Manifest {
    Manifest::sample(source, &fs::read(source).unwrap(), operator_key)
}

/// A session in which some quests come after others: by place, those before each.
pub(in crate::session) fn made_in_order(after: &[Vec<usize>]) -> Made {
    made_keyed(after, None)
}

pub(in crate::session) fn made_under_key(after: &[Vec<usize>]) -> Made {
    made_keyed(after, Some(operator_key().public()))
}

pub(in crate::session) fn made(count: usize) -> Made {
    made_keyed(&vec![Vec::new(); count], None)
}

pub(in crate::session) fn operator_key() -> SigningKey {
    SigningKey::read(&[7; 32]).unwrap()
}

fn made_keyed(after: &[Vec<usize>], key: Option<OperatorKey>) -> Made {
    let mut quests = quests(after.len());
    for (quest, before) in quests.iter_mut().zip(after) {
        quest.after = before.iter().copied().map(id).collect();
    }
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("list.csv");
    fs::write(&source, "company\n").unwrap();
    let dir = home.path().join("session");
    create_from(&dir, &source, &manifest(&source, key), &quests).unwrap();
    Made { _home: home, dir }
}

fn create_from(
    dir: &Path,
    source: &Path,
    manifest: &Manifest,
    quests: &[Quest],
) -> Result<(), SessionError> {
    let new = NewSession {
        stock: &crate::session::nothing_to_stock,
        watch: &crate::session::Unwatched,
        manifest,
        source,
        quests,
        now: at(),
    };
    create(dir, &new, &mut (at, salt))
}

fn id(index: usize) -> QuestId {
    QuestId::from_index(index).unwrap()
}

fn record(session: &Session, index: usize) -> QuestRecord {
    session.quest_record(id(index)).unwrap().unwrap()
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
    let record = record(session, index);
    let next = record
        .progress
        .judged(verdict, NonZeroU32::new(3).unwrap())
        .unwrap();
    let number = record.attempts + 1;
    let submission = Submission::None(format!("nothing {number}"));
    let raw = || serde_json::value::to_raw_value("").unwrap();
    Event::Attempt(Box::new(Attempt {
        quest: record.id,
        number,
        submitted: submission.digest(),
        submission,
        verdict,
        grounds,
        state: next.state,
        tries: next.tries,
        rules: vec!["no-result".into()],
        anchored: false,
        seen: None,
        revision: false,
        accepted: None,
        holds: Vec::new(),
        worker: None,
        idempotency_key: None,
        judgement: raw(),
        evidence: raw(),
    }))
}

fn append(session: &mut Session, event: Event) -> Result<(), SessionError> {
    session.append(&mut (at, salt), |_, _| Ok((vec![event], ())))
}

fn judge(session: &mut Session, index: usize, verdict: Verdict) -> Result<(), SessionError> {
    let event = attempt(session, index, verdict, VerdictBasis::NoResult);
    append(session, event)
}

pub(in crate::session) fn ledger(made: &Made) -> PathBuf {
    made.dir.join("ledger.jsonl")
}

#[test]
fn creates_a_session_atomically_and_never_replaces_one() {
    let made = made(1);
    let source = made.dir.join("source.csv");
    let mut settings = manifest(&source, None);
    let error = create_from(&made.dir, &source, &settings, &quests(2)).unwrap_err();
    assert!(matches!(error, SessionError::Exists(_)), "{error}");
    assert_eq!(tally(&Session::open(&made.dir).unwrap()).total(), 1);
    // A list that changes while it is read leaves nothing behind.
    settings.source.sha256 = Digest::of(b"other");
    let beside = made.dir.with_file_name("other");
    let error = create_from(&beside, &source, &settings, &quests(2)).unwrap_err();
    let changed = matches!(error, SessionError::SourceChanged(_));
    assert!(changed, "{error}");
    let entries = fs::read_dir(made.dir.parent().unwrap()).unwrap();
    let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["list.csv", "session"]);
}

#[test]
fn only_the_owner_can_read_a_session() {
    use std::os::unix::fs::PermissionsExt as _;
    let made = made(1);
    let permissions = fs::metadata(&made.dir).unwrap().permissions();
    assert_eq!(permissions.mode() & 0o777, 0o700);
}

/// The time of a line is that at which the lock is held, however long it was waited for.
#[test]
fn reads_the_clock_under_the_lock() {
    let made = made(1);
    let mut session = Session::open(&made.dir).unwrap();
    let lock = fs::File::open(made.dir.join("lock")).unwrap();
    let mut held = Vec::new();
    let mut clock = || {
        held.push(lock.try_lock().is_err());
        lock.unlock().unwrap();
        at()
    };
    let appended = session.append(&mut (&mut clock, salt), |_, now| {
        assert_eq!(now, at());
        Ok::<_, SessionError>((Vec::new(), ()))
    });
    assert!(appended.is_ok() && held == [true]);
}

#[test]
fn an_idempotency_key_finds_its_last_attempt_and_belongs_to_one_quest() {
    let made = made(2);
    let mut session = Session::open(&made.dir).unwrap();
    let keyed = |session: &Session, index: usize, key: &str| {
        let mut event = attempt(session, index, Verdict::Fail, VerdictBasis::NoResult);
        if let Event::Attempt(attempt) = &mut event {
            attempt.idempotency_key = Some(key.parse().unwrap());
        }
        event
    };
    for key in ["a", "a", "b"] {
        let event = keyed(&session, 0, key);
        append(&mut session, event).unwrap();
    }
    let found = |session: &Session, key: &str| {
        let key = key.parse().unwrap();
        let record = session.keyed(key).unwrap()?;
        let mut reader = session.reader().unwrap();
        let attempt = reader.keyed_attempt(&record, key).unwrap().unwrap();
        Some((attempt.quest, attempt.number))
    };
    assert_eq!(found(&session, "a"), Some((id(0), 2)));
    assert_eq!(found(&session, "b"), Some((id(0), 3)));
    assert_eq!(found(&session, "c"), None);
    let event = keyed(&session, 1, "a");
    refused(&mut session, event);
}

fn refused(session: &mut Session, event: Event) {
    let tip = session.head();
    let appended = append(session, event);
    let refused = matches!(appended, Err(SessionError::Illegal(_)));
    assert!(refused, "{appended:?}");
    assert_eq!(session.head(), tip);
}

#[test]
fn rejects_events_of_a_waiting_quest() {
    let made = made_in_order(&[vec![], vec![0]]);
    let mut session = Session::open(&made.dir).unwrap();
    let early = attempt(&session, 1, Verdict::Pass, VerdictBasis::World);
    let claim = Event::Claim(Claimed {
        quest: id(1),
        worker: "w1".parse().unwrap(),
        lease: Lease::DEFAULT,
    });
    refused(&mut session, early.clone());
    refused(&mut session, claim);
    judge(&mut session, 0, Verdict::Pass).unwrap();
    append(&mut session, early).unwrap();
}

#[test]
fn rejects_impossible_dependencies() {
    let made = made_in_order(&[vec![]]);
    let mut session = Session::open(&made.dir).unwrap();
    for after in [&[2][..], &[1, 1], &[4, 3]] {
        let after = after.iter().map(|number| id(number - 1));
        let quest = session
            .reader()
            .unwrap()
            .quest(&record(&session, 0))
            .unwrap();
        let event = Event::Quest(Quest {
            id: id(1),
            after: after.collect(),
            ..quest
        });
        refused(&mut session, event);
    }
}

#[test]
fn an_open_session_detects_a_cut_ledger() {
    let made = made(2);
    let mut session = Session::open(&made.dir).unwrap();
    let before = fs::read(ledger(&made)).unwrap();
    judge(&mut session, 0, Verdict::Pass).unwrap();
    fs::write(ledger(&made), before).unwrap();
    assert!(matches!(
        judge(&mut session, 1, Verdict::Pass),
        Err(SessionError::Damaged { .. })
    ));
}

#[test]
fn refuses_to_append_if_another_writes_without_the_lock() {
    let made = made(1);
    let whole = fs::read(ledger(&made)).unwrap();
    let longer = [&whole[..], b"a line of another"].concat();
    let others: [&dyn Fn(); 2] = [&|| drop(fs::remove_file(made.dir.join("lock"))), &|| {
        fs::write(ledger(&made), &longer).unwrap();
    }];
    for (other, left) in others.into_iter().zip([&whole, &longer]) {
        let mut session = Session::open(&made.dir).unwrap();
        let appended = session.append(&mut (at, salt), |session, _| {
            other();
            let grounds = VerdictBasis::NoResult;
            let event = attempt(session, 0, Verdict::Fail, grounds);
            Ok((vec![event], ()))
        });
        assert!(matches!(appended, Err(SessionError::Illegal(_))));
        assert_eq!(fs::read(ledger(&made)).unwrap(), *left);
    }
}

#[test]
fn reports_an_edited_index_even_without_a_lock() {
    let made = made(2);
    let index = rusqlite::Connection::open(made.dir.join("index.sqlite")).unwrap();
    let edit = "UPDATE quest SET key = 'another' WHERE id = 2";
    index.execute_batch(edit).unwrap();
    let lock = made.dir.join("lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    let mut session = Session::open(&made.dir).unwrap();
    assert_eq!(session.fold().unwrap().count(), 2);
    let mended = session.repairs();
    assert!(
        matches!(mended.as_slice(), [Repair::Left { .. }]),
        "{mended:?}"
    );
}
