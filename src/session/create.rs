//! Creates a session atomically, and adds a newer list to one.

use crate::base::clock::Clock;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use jiff::Timestamp;
use tempfile::TempDir;

use super::amendment::Amended;
use super::error::SessionError;
use super::event::{Carried, Event, Extended, SourceRecord, Started};
use super::evidence_store::EvidenceStore;
use super::ledger::{LedgerDraft, Watch};
use super::manifest::{FoldConfig, Manifest};
use super::mirror::Mirror;
use super::open::Session;
use super::projection::Projection;
use crate::base::Digest;
use crate::base::files::{directory_of, flush_directory};
use crate::quest::Quest;

pub struct NewSession<'a> {
    pub manifest: &'a Manifest,
    pub source: &'a Path,
    pub quests: &'a [Quest],
    pub now: Timestamp,
    /// Stores the files that the frozen settings name by digest in `evidence/`.
    pub stock: &'a Stock<'a>,
    pub watch: &'a dyn Watch,
}

/// The prefix of draft directories, next to the final places of their sessions.
pub const DRAFT_PREFIX: &str = ".comail-new-";

pub type Stock<'a> = dyn Fn(&EvidenceStore) -> Result<(), SessionError> + 'a;

pub fn nothing_to_stock(_store: &EvidenceStore) -> Result<(), SessionError> {
    Ok(())
}

#[derive(Debug)]
pub struct CarriedPass {
    pub carried: Carried,
    pub bodies: Vec<(Digest, Vec<u8>)>,
}

/// Creates a session in `dir`, which must not exist or must be empty.
///
/// Everything is written to a directory next to it, which is then renamed.
pub fn create(dir: &Path, new: &NewSession<'_>, clock: &mut dyn Clock) -> Result<(), SessionError> {
    create_carrying(dir, new, std::iter::empty(), clock)
}

pub fn create_carrying<E: From<SessionError>>(
    dir: &Path,
    new: &NewSession<'_>,
    brought: impl Iterator<Item = Result<CarriedPass, E>>,
    clock: &mut dyn Clock,
) -> Result<(), E> {
    refuse_existing(dir)?;
    let draft = draft_next_to(dir)?;
    fill(draft.path(), new, brought, clock)?;
    Ok(put_in_place(draft, dir)?)
}

/// A private directory in which a session is prepared.
pub(super) struct Draft {
    dir: TempDir,
    /// The session in a database that it becomes, as it was when the draft was begun: a mirror may be
    /// removed at any time.
    mirror: Option<Mirror>,
}

impl Draft {
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

pub(super) fn draft_next_to(dir: &Path) -> Result<Draft, SessionError> {
    let mirror = Mirror::at(dir)?;
    let parent = directory_of(dir);
    let dir = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o700))
        .prefix(DRAFT_PREFIX)
        .tempdir_in(parent)
        .map_err(SessionError::io(parent, "make the session"))?;
    Ok(Draft { dir, mirror })
}

/// Makes a complete draft the session of `dir`, in its database first if `dir` follows one.
pub(super) fn put_in_place(draft: Draft, dir: &Path) -> Result<(), SessionError> {
    if let Some(mirror) = &draft.mirror {
        mirror.publish(draft.path())?;
        mirror.give_way()?;
    }
    let parent = directory_of(dir);
    match fs::rename(draft.path(), dir) {
        Ok(()) => {
            // It was renamed, so the guard has nothing to remove.
            let _ = draft.dir.keep();
            flush_directory(parent).map_err(SessionError::io(parent, "write the directory"))
        }
        Err(_) if dir.join("session.json").exists() => Err(SessionError::Exists(dir.to_owned())),
        Err(error) => Err(SessionError::io(dir, "put the session in its place")(error)),
    }
}

/// Refuses a directory that exists and is not empty, or whose parent does not exist. The mirror of a
/// session that is not in its database yet counts as empty.
pub fn refuse_existing(dir: &Path) -> Result<(), SessionError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => match Mirror::at(dir)? {
                Some(mirror) if mirror.is_vacant()? => Ok(()),
                _ => Err(SessionError::Exists(dir.to_owned())),
            },
        },
        Err(error) if error.kind() == ErrorKind::NotFound => match directory_of(dir) {
            parent if parent.is_dir() => Ok(()),
            parent => Err(SessionError::NoParent(parent.to_owned())),
        },
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(SessionError::NotADirectory(dir.to_owned()))
        }
        Err(error) => Err(SessionError::io(dir, "make the session")(error)),
    }
}

fn fill<E: From<SessionError>>(
    dir: &Path,
    new: &NewSession<'_>,
    brought: impl Iterator<Item = Result<CarriedPass, E>>,
    clock: &mut dyn Clock,
) -> Result<(), E> {
    copy_source(dir, new.source, &new.manifest.source)?;
    fs::create_dir(dir.join("evidence")).map_err(SessionError::io(dir, "make evidence/"))?;
    let manifest = serde_json::to_vec_pretty(new.manifest).map_err(SessionError::from)?;
    let digest = Digest::of(&manifest);
    let config = FoldConfig::of(new.manifest, digest);
    let path = dir.join("ledger.jsonl");
    let writing = |error| SessionError::io(&path, "write the ledger")(error);
    let file = File::create(&path).map_err(writing)?;
    Projection::write_along(dir, config, |fold| -> Result<(), E> {
        let mut draft = LedgerDraft::begin(dir, file, fold);
        let mut put = |event| draft.add(new.now, clock, &event);
        write_ledger(dir, &mut put, digest, new, brought)?;
        Ok(draft.end()?.sync_all().map_err(writing)?)
    })?;
    File::create(dir.join("lock")).map_err(SessionError::io(dir, "make the lock"))?;
    Ok(write_manifest(dir, &manifest)?)
}

fn write_ledger<E: From<SessionError>>(
    dir: &Path,
    put: &mut dyn FnMut(Event) -> Result<(), SessionError>,
    manifest: Digest,
    new: &NewSession<'_>,
    brought: impl Iterator<Item = Result<CarriedPass, E>>,
) -> Result<(), E> {
    put(Event::Session(Started { manifest }))?;
    put_quests(put, new)?;
    let evidence = EvidenceStore::new(dir);
    (new.stock)(&evidence)?;
    for brought in brought {
        let CarriedPass { carried, bodies } = brought?;
        for (digest, packed) in &bodies {
            evidence.stock(*digest, packed)?;
        }
        put(Event::Carried(Box::new(carried)))?;
    }
    Ok(evidence.sync()?)
}

/// How many quests are written between two progress reports.
const WATCH_QUESTS: u64 = 1024;

fn put_quests(
    put: &mut dyn FnMut(Event) -> Result<(), SessionError>,
    new: &NewSession<'_>,
) -> Result<(), SessionError> {
    let total = new.quests.len() as u64;
    for (done, quest) in (1..).zip(new.quests) {
        put(Event::Quest(quest.clone()))?;
        if done % WATCH_QUESTS == 0 || done == total {
            new.watch.writing(done, total);
            if new.watch.stops() {
                return Err(SessionError::Stopped);
            }
        }
    }
    new.watch.ended();
    Ok(())
}

fn write_manifest(dir: &Path, manifest: &[u8]) -> Result<(), SessionError> {
    let path = dir.join("session.json");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&path)?;
        file.write_all(manifest)?;
        file.sync_all()?;
        flush_directory(dir)
    };
    write().map_err(SessionError::io(&path, "write the session"))
}

fn copy_source(dir: &Path, from: &Path, record: &SourceRecord) -> Result<(), SessionError> {
    let to = dir.join(&record.copy);
    let copy = || -> std::io::Result<Digest> {
        let mut source = File::open(from)?;
        // Do not write through a link that somebody put there.
        match fs::remove_file(&to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut copy = File::create_new(&to)?;
        std::io::copy(&mut source, &mut copy)?;
        copy.sync_all()?;
        Digest::of_reader(&mut File::open(&to)?)
    };
    let copied = copy().map_err(SessionError::io(&to, "copy the list"))?;
    if copied == record.sha256 {
        return Ok(());
    }
    Err(SessionError::SourceChanged(from.to_owned()))
}

/// What `scan --update` adds to a session.
#[derive(Debug)]
pub struct Extension {
    pub source: SourceRecord,
    pub quests: Vec<Quest>,
    /// The settings that a person adds. They come first, because their seal covers the place in the
    /// ledger.
    pub amended: Option<Amended>,
}

/// Adds the quests of a newer list, which `decide` computes from the current session.
///
/// The list is copied, and `export` uses it from now on, even if it adds no quests.
pub fn extend<T, E: From<SessionError>>(
    session: &mut Session,
    source: &Path,
    clock: &mut dyn Clock,
    decide: impl FnOnce(&Session) -> Result<(Extension, T), E>,
) -> Result<T, E> {
    session.append(clock, |session, _| {
        let (extension, value) = decide(session)?;
        copy_source(session.dir(), source, &extension.source)?;
        if let Some(mirror) = session.mirror() {
            mirror.add_list(&extension.source.copy)?;
        }
        let amended = extension.amended.map(Box::new).map(Event::Amended);
        let extended = Event::Extended(Extended {
            source: extension.source,
            added: u32::try_from(extension.quests.len()).unwrap_or(u32::MAX),
        });
        let quests = extension.quests.into_iter().map(Event::Quest);
        let events = amended.into_iter().chain([extended]).chain(quests);
        let events = events.collect();
        Ok((events, value))
    })
}
