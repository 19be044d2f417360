//! How long the session takes to open, by its size, and to record one attempt.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use comail::quest::{Digest, Key, Quest, QuestId, Submission, Verdict};
use comail::session::{
    Attempt, Event, FORMAT, Frozen, Grounds, KindRecord, Lease, Manifest, NewSession, Salt,
    Session, SourceRecord, State, create,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::to_raw_value;

/// The sizes of the sessions, in quests; small when it is only tried whether this runs.
fn sizes() -> &'static [usize] {
    if std::env::args().any(|arg| arg == "--bench") {
        &[1_000, 100_000]
    } else {
        &[100]
    }
}

fn quests(count: usize) -> Vec<Quest> {
    (0..count)
        .map(|index| Quest {
            id: QuestId::from_index(index).expect("few enough"),
            key: Key::new(&format!("한빛상사 Trading {index}")).expect("not blank"),
            anchor: None,
            shown: Vec::new(),
            rows: vec![u32::try_from(index + 2).expect("few enough")],
        })
        .collect()
}

fn manifest(list: &Path) -> Manifest {
    Manifest {
        format: FORMAT,
        comail: "0.1.0".to_owned(),
        created: Timestamp::UNIX_EPOCH,
        kind: KindRecord {
            name: "email".to_owned(),
            lists: std::collections::BTreeMap::new(),
        },
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
            gate: Value::Null,
            network: Value::Null,
        },
    }
}

fn salt() -> Salt {
    Salt([7; 16])
}

/// Makes a session of `count` quests in `home`.
fn session_dir(home: &Path, count: usize) -> PathBuf {
    let list = home.join("list.csv");
    fs::write(&list, "company\n").expect("a file");
    let dir = home.join(format!("session-{count}"));
    let new = NewSession {
        manifest: &manifest(&list),
        source: &list,
        quests: &quests(count),
        now: Timestamp::UNIX_EPOCH,
    };
    create(&dir, &new, &mut salt).expect("a session");
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
        grounds: Grounds::NoResult,
        state: State::Todo,
        tries: number,
        rules: vec!["email-format".into()],
        anchored: false,
        holds: Vec::new(),
        worker: None,
        judgement: to_raw_value(&Value::Null).expect("JSON"),
        evidence: to_raw_value(&Value::Null).expect("JSON"),
    }))
}

fn open(criterion: &mut Criterion) {
    let home = tempfile::tempdir().expect("a directory");
    let mut group = criterion.benchmark_group("session/open");
    group.sample_size(10);
    for &size in sizes() {
        let dir = session_dir(home.path(), size);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(size.to_string(), |bencher| {
            bencher.iter(|| Session::open(&dir).expect("a session"));
        });
    }
}

fn append(criterion: &mut Criterion) {
    let home = tempfile::tempdir().expect("a directory");
    let mut group = criterion.benchmark_group("session/append");
    for &size in sizes() {
        let dir = session_dir(home.path(), size);
        let mut session = Session::open(&dir).expect("a session");
        let mut number = 0;
        group.bench_function(size.to_string(), |bencher| {
            bencher.iter(|| {
                number += 1;
                let decide = |_: &Session| Ok::<_, ()>(vec![attempt(number)]);
                session
                    .append(Timestamp::UNIX_EPOCH, &mut salt, decide)
                    .expect("an append")
            });
        });
    }
}

criterion_group!(benches, open, append);
criterion_main!(benches);
