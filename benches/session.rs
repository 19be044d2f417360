//! How long it takes to append, to catch up, to hand a quest out and to judge an answer, by the
//! size of the session.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use comail::base::Digest;
use comail::judge::{self, Answer};
use comail::quest::{Fields, Key, Quest, QuestId, Submission, Verdict, email};
use comail::session::{
    Attempt, Event, FORMAT, Frozen, Lease, Manifest, NewSession, Salt, Session, SessionError,
    SourceRecord, State, VerdictBasis, create,
};
use comail::world::World;
use comail::world::evidence::recorded::RecordedWorld;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::to_raw_value;

/// The sizes of the sessions, in quests; small when it is only tried whether this runs.
fn sizes() -> &'static [usize] {
    if std::env::args().any(|arg| arg == "--bench") {
        &[1_000, 100_000, 1_000_000]
    } else {
        &[100]
    }
}

fn quests(count: usize) -> Vec<Quest> {
    (0..count)
        .map(|index| Quest {
            rows: vec![u32::try_from(index + 2).expect("few enough")],
            ..Quest::new(
                QuestId::from_index(index).expect("few enough"),
                Key::new(&format!("한빛상사 Trading {index}")).expect("not blank"),
            )
        })
        .collect()
}

fn manifest(list: &Path) -> Manifest {
    Manifest {
        forgotten: Vec::new(),
        format: FORMAT,
        comail: "0.1.0".to_owned(),
        created: Timestamp::UNIX_EPOCH,
        kind: judge::email_record(),
        source: SourceRecord {
            path: list.display().to_string(),
            sha256: Digest::of(b"company\n"),
            copy: "source.csv".to_owned(),
            list: Value::Null,
        },
        frozen: Frozen {
            max_tries: NonZeroU32::MAX,
            pause_after: 0,
            lease: Lease::DEFAULT,
            operator_key: None,
            gate: serde_json::json!({}),
            network: serde_json::json!({}),
            world: None,
        },
    }
}

fn salt() -> Salt {
    Salt([7; 16])
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// Makes a session of `count` quests in `home`.
fn session_dir(home: &Path, count: usize) -> PathBuf {
    let list = home.join("list.csv");
    fs::write(&list, "company\n").expect("a file");
    let dir = home.join(format!("session-{count}"));
    let new = NewSession {
        stock: &comail::session::nothing_to_stock,
        watch: &comail::session::Unwatched,
        manifest: &manifest(&list),
        source: &list,
        quests: &quests(count),
        now: now(),
    };
    create(&dir, &new, &mut (now, salt)).expect("a session");
    dir
}

/// The first quest's attempt of this number, which fails.
fn attempt(number: u32) -> Event {
    let submission = Submission::None(format!("nothing, for the {number}th time"));
    Event::Attempt(Box::new(Attempt {
        quest: QuestId::from_index(0).expect("the first"),
        number,
        submitted: submission.digest(),
        submission,
        verdict: Verdict::Fail,
        grounds: VerdictBasis::NoResult,
        state: State::Todo,
        tries: number,
        rules: vec!["email-format".into()],
        anchored: false,
        seen: None,
        revision: false,
        accepted: None,
        holds: Vec::new(),
        worker: None,
        idempotency_key: None,
        judgement: to_raw_value(&Value::Null).expect("JSON"),
        evidence: to_raw_value(&Value::Null).expect("JSON"),
    }))
}

/// Runs `bench` for a session of each size.
fn by_size(
    criterion: &mut Criterion,
    name: &str,
    bench: impl Fn(&mut BenchmarkGroup<'_, criterion::measurement::WallTime>, &str, &Path),
) {
    let home = tempfile::tempdir().expect("a directory");
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    for &size in sizes() {
        let dir = session_dir(home.path(), size);
        bench(&mut group, &size.to_string(), &dir);
    }
}

fn open(criterion: &mut Criterion) {
    by_size(criterion, "session/open", |group, size, dir| {
        group.bench_function(size, |bencher| {
            bencher.iter(|| Session::open(dir).expect("a session"));
        });
    });
}

fn append(criterion: &mut Criterion) {
    by_size(criterion, "session/append", |group, size, dir| {
        let mut session = Session::open(dir).expect("a session");
        let mut number = 0;
        group.bench_function(size, |bencher| {
            bencher.iter(|| {
                number += 1;
                let decide = |_: &Session, _| Ok::<_, SessionError>((vec![attempt(number)], ()));
                let appended = session.append(&mut (now, salt), decide);
                appended.expect("an append");
            });
        });
    });
}

/// From an index that is 100 lines behind the ledger to one that is true of it.
fn catch_up(criterion: &mut Criterion) {
    by_size(criterion, "session/catch-up", |group, size, dir| {
        let (index, behind) = (dir.join("index.sqlite"), dir.join("behind"));
        fs::copy(&index, &behind).expect("a copy");
        let mut session = Session::open(dir).expect("a session");
        let attempts =
            |_: &Session, _| Ok::<_, SessionError>(((1..=100).map(attempt).collect(), ()));
        let appended = session.append(&mut (now, salt), attempts);
        appended.expect("an append");
        group.bench_function(size, |bencher| {
            bencher.iter_batched(
                || fs::copy(&behind, &index).expect("a copy"),
                |_| Session::open(dir).expect("a session"),
                criterion::BatchSize::PerIteration,
            );
        });
    });
}

fn next(criterion: &mut Criterion) {
    by_size(criterion, "session/next", |group, size, dir| {
        group.bench_function(size, |bencher| {
            bencher.iter(|| {
                let mut session = Session::open(dir).expect("a session");
                judge::assign(&mut session, None, &mut (now, salt)).expect("a quest")
            });
        });
    });
}

/// An answer that fails at the first step, another each time.
fn submit(criterion: &mut Criterion) {
    let world = RecordedWorld::from_json(r#"{"pages":{}}"#).expect("a world");
    by_size(criterion, "session/submit", |group, size, dir| {
        let mut number = 0;
        group.bench_function(size, |bencher| {
            bencher.iter(|| {
                number += 1;
                let fields = [email::SITE, email::EMAIL, email::SOURCE];
                let fields: Fields = fields.map(|name| (name, format!("none {number}"))).into();
                let mut session = Session::open(dir).expect("a session");
                let kind = judge::SessionKind::load(session.manifest()).expect("a kind");
                let world = World {
                    fetcher: &world,
                    resolver: &world,
                    accepted: &judge::NothingAccepted,
                    sandbox: &comail::world::sandbox::NoSandbox,
                };
                let answer = Answer {
                    quest: QuestId::from_index(6).expect("the seventh"),
                    worker: None,
                    key: judge::CallKey::None,
                    submission: &Submission::Fields(fields),
                    files: judge::AnswerFiles::WorkingTree,
                };
                judge::submit(&mut session, answer, &kind, world, &mut (now, salt))
                    .expect("a verdict")
            });
        });
    });
}

criterion_group!(benches, open, append, catch_up, next, submit);
criterion_main!(benches);
