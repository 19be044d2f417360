//! A session that the library makes, without a run of the program.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use comail::base::Digest;
use comail::gate::GateSettings;
use comail::judge::email_record;
use comail::quest::{Key, Quest, QuestId};
use comail::session::{
    FORMAT, Frozen, Lease, Manifest, NewSession, Salt, Session, SourceRecord, copy, create,
    locate_new,
};
use jiff::Timestamp;
use tempfile::TempDir;

use super::postgres::{Clock, Cluster};

/// A session in a directory of its own, or in a database with its mirror in such a directory.
pub struct Made {
    home: TempDir,
    database: Option<Clock>,
}

pub fn at() -> Timestamp {
    "2026-01-02T03:04:05.678Z".parse().expect("a time")
}

pub fn salt() -> Salt {
    Salt([7; 16])
}

/// The quest at this place of the list, from 0.
pub fn id(index: usize) -> QuestId {
    QuestId::from_index(index).expect("a short list")
}

impl Made {
    /// A session of these keys that pauses after so many quests.
    pub fn new(keys: &[&str], pause_after: u32) -> Self {
        Self::in_order(keys, &[], pause_after)
    }

    /// The same, where some come after others: by place, those before each.
    pub fn in_order(keys: &[&str], after: &[&[usize]], pause_after: u32) -> Self {
        // In memory where there is a place for it: thousands of writes reach the disk otherwise.
        let memory = Path::new("/dev/shm");
        let home = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let made = Self {
            home: home.expect("a temporary directory"),
            database: None,
        };
        let source = made.home.path().join("list.txt");
        std::fs::write(&source, keys.join("\n")).expect("a list");
        let mut quests: Vec<Quest> = keys.iter().enumerate().map(quest).collect();
        for (quest, before) in quests.iter_mut().zip(after) {
            quest.after = before.iter().map(|index| id(*index)).collect();
        }
        let new = NewSession {
            stock: &comail::session::nothing_to_stock,
            watch: &comail::session::Unwatched,
            manifest: &manifest(&source, pause_after),
            source: &source,
            quests: &quests,
            now: at(),
        };
        create(&made.dir(), &new, &mut (at, salt)).expect("a session");
        made
    }

    /// Copies the session to a database, in which the time stands still.
    pub fn into_database(mut self, cluster: &Arc<Cluster>) -> Self {
        let dir = self.dir();
        let name = self.home.path().file_name().expect("a name");
        let name = name.to_string_lossy();
        self.database = Some(Clock::of(cluster, &name));
        let mirror = self.dir();
        let address = format!("{}&mirror={}", cluster.address(&name), mirror.display());
        let place = locate_new(Path::new(&address)).expect("a database");
        copy(&dir, &place).expect("a copy");
        self.set_time(at());
        self
    }

    /// Tells the database the time; a directory has no clock of its own.
    pub fn set_time(&self, at: Timestamp) {
        if let Some(clock) = &self.database {
            clock.set(at);
        }
    }

    pub fn dir(&self) -> PathBuf {
        let name = match self.database {
            Some(_) => "mirror",
            None => "session",
        };
        self.home.path().join(name)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    #[track_caller]
    pub fn open(&self) -> Session {
        Session::open(&self.dir()).expect("a session that opens")
    }
}

fn quest((index, key): (usize, &&str)) -> Quest {
    Quest {
        rows: vec![u32::try_from(index).expect("a short list") + 1],
        ..Quest::new(id(index), Key::new(key).expect("a key"))
    }
}

fn manifest(source: &Path, pause_after: u32) -> Manifest {
    Manifest {
        format: FORMAT,
        comail: "0.1.0".to_owned(),
        created: at(),
        kind: email_record(),
        source: SourceRecord {
            path: source.display().to_string(),
            sha256: Digest::of(&std::fs::read(source).expect("a list")),
            copy: "source.txt".to_owned(),
            list: serde_json::Value::Null,
        },
        forgotten: Vec::new(),
        frozen: Frozen {
            max_tries: NonZeroU32::new(3).expect("three"),
            pause_after,
            lease: Lease::DEFAULT,
            operator_key: None,
            gate: serde_json::to_value(GateSettings::default()).expect("JSON"),
            network: serde_json::Value::Null,
            world: None,
        },
    }
}
