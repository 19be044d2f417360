//! A session directory that follows a session in a database.
//!
//! The database is the truth. The directory has the same files as any session, so everything that
//! reads one works, and a process that appends holds the row in the database meanwhile. A mirror can
//! be removed at any time: the next command makes it again.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::chain::{Line, LineError, Tip};
use super::database::{
    Database, DatabaseError, DatabaseUrl, Head, HeldHead, NewRow, Patience, Redacted,
};
use super::error::SessionError;
use super::event::{Event, EventType};
use super::lock::LockGuard;
use crate::base::{Digest, files};

/// The file that makes a directory a mirror.
const LINK: &str = "database.json";

const MAX_LINK: u64 = 64 * 1024;

const LOCK: &str = "lock";

const LEDGER: &str = "ledger.jsonl";

/// How the files of the index begin.
const INDEX: &str = "index.sqlite";

const MANIFEST: &str = "session.json";

/// The directory whose files are in the database one by one.
const TOKENS: &str = "tokens/";

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Link {
    url: DatabaseUrl,
    /// The row of the session; `None` before the mirror has been filled.
    id: Option<i64>,
    /// How often lines were redacted when the mirror was filled.
    redactions: i64,
}

/// The session in a database that a directory follows.
#[derive(Debug, Clone)]
pub struct Mirror {
    dir: PathBuf,
    link: Link,
    database: Arc<Database>,
}

/// The right to append to the session in the database, held together with the lock of its mirror.
#[derive(Debug)]
pub(super) struct Appending {
    mirror: Mirror,
    held: HeldHead,
}

/// The directory in which to work on the session that `named` names: itself or, for the address of a
/// session in a database, its mirror, which follows the session from now on.
pub fn locate(named: &Path) -> Result<PathBuf, SessionError> {
    let Some(mirror) = Mirror::named(named)? else {
        return Ok(named.to_owned());
    };
    // What is there is looked for before a directory is made.
    mirror.head()?;
    mirror.link_up()?;
    Ok(mirror.dir)
}

/// The same for a session that does not exist yet.
pub fn locate_new(named: &Path) -> Result<PathBuf, SessionError> {
    let Some(mirror) = Mirror::named(named)? else {
        return Ok(named.to_owned());
    };
    mirror.database.set_up()?;
    match mirror.database.head() {
        Err(DatabaseError::Missing(_)) => {}
        Err(why) => return Err(why.into()),
        Ok(_) => return Err(SessionError::Exists(named.to_owned())),
    }
    // It may be the last copy of a session that is gone.
    if mirror.follows(&mirror.dir)? && !mirror.is_vacant()? {
        return Err(mirror.differs("the database does not have the session any more"));
    }
    mirror.link_up()?;
    Ok(mirror.dir)
}

impl Mirror {
    fn named(named: &Path) -> Result<Option<Self>, SessionError> {
        let Some(url) = DatabaseUrl::of(named) else {
            return Ok(None);
        };
        let url = url?;
        Ok(Some(Self {
            dir: url.mirror()?,
            database: Database::at(&url),
            link: Link {
                url,
                id: None,
                redactions: 0,
            },
        }))
    }

    /// What the directory follows, if it is a mirror.
    pub fn at(dir: &Path) -> Result<Option<Self>, SessionError> {
        let path = dir.join(LINK);
        let bytes = match files::read(&path, MAX_LINK) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(SessionError::io(&path, "read")(error)),
        };
        let link: Link =
            serde_json::from_slice(&bytes).map_err(|error| SessionError::MirrorDiffers {
                dir: dir.to_owned(),
                why: format!("{LINK} cannot be read: {error}"),
            })?;
        Ok(Some(Self {
            dir: dir.to_owned(),
            database: Database::at(&link.url),
            link,
        }))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn head(&self) -> Result<Head, SessionError> {
        match self.database.head() {
            Err(DatabaseError::Missing(_)) => {
                Err(SessionError::Missing(self.link.url.to_string().into()))
            }
            other => Ok(other?),
        }
    }

    /// Makes the directory a mirror. It is filled when it is opened.
    fn link_up(&self) -> Result<(), SessionError> {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir);
        made.map_err(SessionError::io(&self.dir, "make the mirror"))?;
        if self.follows(&self.dir)? {
            return Ok(());
        }
        // What is in a mirror may be removed, so a directory of the user's never becomes one.
        let mut entries = fs::read_dir(&self.dir).map_err(SessionError::io(&self.dir, "list"))?;
        if entries.next().is_some() {
            return Err(SessionError::NoMirror(self.dir.clone()));
        }
        self.link.write(&self.dir)
    }

    /// Whether the directory is the mirror of this session. That of another one is refused.
    fn follows(&self, dir: &Path) -> Result<bool, SessionError> {
        match Self::at(dir)? {
            None => Ok(false),
            Some(known) if known.link.url == self.link.url => Ok(true),
            Some(known) => Err(SessionError::MirrorOfAnother {
                dir: dir.to_owned(),
                url: known.link.url,
            }),
        }
    }

    /// Brings the directory to what the database has now.
    pub(super) fn catch_up(&self) -> Result<(), SessionError> {
        let lock = LockGuard::acquire(&self.dir)?;
        // Read under the lock, because another process may append here and there meanwhile.
        self.follow(self.head()?, &lock)
    }

    /// Locks the session in the database, and brings the directory to what it has.
    pub(super) fn hold(
        &self,
        lock: &LockGuard,
        patience: Patience,
    ) -> Result<Appending, SessionError> {
        let held = self.database.hold(patience)?;
        self.follow(held.head(), lock)?;
        Ok(Appending {
            mirror: self.clone(),
            held,
        })
    }

    fn follow(&self, head: Head, _lock: &LockGuard) -> Result<(), SessionError> {
        // Another process may have filled it since it was opened.
        let Some(current) = Self::at(&self.dir)? else {
            return Err(SessionError::Illegal(
                "the directory is no longer a mirror of the session",
            ));
        };
        if current.link.id == Some(head.id) && current.link.redactions > head.redactions {
            return Err(self.differs("it was redacted more often than the database"));
        }
        if current.link.id != Some(head.id) || current.link.redactions != head.redactions {
            return current.fill(head);
        }
        let path = self.path(LEDGER);
        let known = tip_of(&path).map_err(SessionError::io(&path, "read the ledger"))?;
        // Whatever is there is no ledger any more.
        let Some(known) = known else {
            return current.fill(head);
        };
        if known == head.tip {
            return Ok(());
        }
        if known.length >= head.tip.length {
            return Err(self.differs("it has lines that the database does not have"));
        }
        self.add_lines(&path, head, known)
    }

    /// A database that was set back to an earlier state, or a mirror that was changed.
    fn differs(&self, why: impl Into<String>) -> SessionError {
        SessionError::MirrorDiffers {
            dir: self.dir.clone(),
            why: why.into(),
        }
    }

    /// Adds the lines that the database has in addition, and the lists that they name.
    fn add_lines(&self, path: &Path, head: Head, known: Tip) -> Result<(), SessionError> {
        let writing = || SessionError::io(path, "write the ledger");
        let file = files::open_with(OpenOptions::new().append(true), path).map_err(writing())?;
        let mut file = io::BufWriter::new(file);
        let mut tip = known;
        self.database.lines(head, known.length, &mut |text| {
            let broken = |why: LineError| self.differs(format!("after line {}: {why}", tip.length));
            let line = Line::parse(tip, text).map_err(broken)?;
            tip = line.tip();
            if line.kind() == EventType::Extended
                && let Ok(Event::Extended(extended)) = line.event()
            {
                self.fetch_file(head.id, &extended.source.copy)?;
            }
            writeln!(file, "{text}").map_err(writing())
        })?;
        file.flush().map_err(writing())
    }

    /// Writes all files again: nothing is there yet, or an address was removed from what is there.
    fn fill(mut self, head: Head) -> Result<(), SessionError> {
        let path = self.path(LEDGER);
        let writing = || SessionError::io(&path, "write the ledger");
        self.clear()?;
        let evidence = self.path("evidence");
        let cleared = match fs::remove_dir_all(&evidence) {
            Err(error) if !is_absent(&error) => Err(error),
            _ => fs::create_dir(&evidence),
        };
        cleared.map_err(SessionError::io(&evidence, "clear"))?;
        for name in self.database.file_names(head.id)? {
            self.fetch_file(head.id, &name)?;
        }
        let mut new = tempfile::NamedTempFile::new_in(&self.dir).map_err(writing())?;
        let mut buffered = io::BufWriter::new(new.as_file_mut());
        let mut tip = Tip::start();
        self.database.lines(head, 0, &mut |text| {
            let line = Line::parse(tip, text).map_err(|why| DatabaseError::Damaged {
                line: tip.length + 1,
                why,
            })?;
            tip = line.tip();
            writeln!(buffered, "{text}").map_err(writing())
        })?;
        buffered.flush().map_err(writing())?;
        drop(buffered);
        new.persist(&path).map_err(|error| writing()(error.error))?;
        (self.link.id, self.link.redactions) = (Some(head.id), head.redactions);
        self.link.write(&self.dir)
    }

    /// Removes what may have an address that was removed from the session: the index, lists, and what a
    /// process left that was killed here.
    fn clear(&self) -> Result<(), SessionError> {
        let listing = || SessionError::io(&self.dir, "list");
        for entry in fs::read_dir(&self.dir).map_err(listing())? {
            let entry = entry.map_err(listing())?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_file = entry.file_type().map_err(listing())?.is_file();
            let is_left = [INDEX, ".tmp"].iter().any(|start| name.starts_with(start));
            if is_file && (is_copied(&name) || is_left) {
                let path = entry.path();
                fs::remove_file(&path).map_err(SessionError::io(&path, "remove"))?;
            }
        }
        Ok(())
    }

    /// Brings a file of the session, but for tokens, which are asked for one by one.
    fn fetch_file(&self, id: i64, name: &str) -> Result<(), SessionError> {
        if is_copied(name)
            && let Some(body) = self.database.file(id, name)?
        {
            put(&self.path(name), &body)?;
        }
        Ok(())
    }

    /// Whether the directory still follows the same state of the same session as when this was read.
    pub(super) fn is_current(&self) -> Result<bool, SessionError> {
        let now = Self::at(&self.dir)?.map(|it| (it.link.id, it.link.redactions));
        Ok(now == Some((self.link.id, self.link.redactions)))
    }

    /// Whether the directory has nothing of a session yet.
    pub(super) fn is_vacant(&self) -> Result<bool, SessionError> {
        let entries = fs::read_dir(&self.dir).map_err(SessionError::io(&self.dir, "list"))?;
        let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let is_known = |name: io::Result<OsString>| name.map(|name| name == LINK || name == LOCK);
        let known = names.try_fold(true, |known, name| Ok(known && is_known(name)?));
        known.map_err(SessionError::io(&self.dir, "list"))
    }

    fn id(&self) -> Result<i64, SessionError> {
        match self.link.id {
            Some(id) => Ok(id),
            None => Ok(self.head()?.id),
        }
    }

    pub(super) fn body(&self, digest: Digest) -> Result<Option<Vec<u8>>, SessionError> {
        Ok(self.database.body(self.id()?, digest)?)
    }

    pub(super) fn has_body(&self, digest: Digest) -> Result<bool, SessionError> {
        Ok(self.database.has_body(self.id()?, digest)?)
    }

    pub(super) fn keep_body(&self, digest: Digest, packed: &[u8]) -> Result<(), SessionError> {
        Ok(self.database.keep_body(self.id()?, digest, packed)?)
    }

    pub(super) fn bodies(&self) -> Result<Vec<Digest>, SessionError> {
        Ok(self.database.bodies(self.id()?)?)
    }

    /// A token's record, by the name of its file in the directory.
    pub fn token(&self, name: &str) -> Result<Option<Vec<u8>>, SessionError> {
        Ok(self.database.file(self.id()?, &format!("{TOKENS}{name}"))?)
    }

    pub fn tokens(&self) -> Result<Vec<String>, SessionError> {
        let names = self.database.file_names(self.id()?)?;
        let tokens = names.iter().filter_map(|name| name.strip_prefix(TOKENS));
        Ok(tokens.map(str::to_owned).collect())
    }

    pub fn add_token(&self, name: &str, body: &[u8]) -> Result<(), SessionError> {
        let name = format!("{TOKENS}{name}");
        Ok(self.database.add_file(self.id()?, &name, body)?)
    }

    /// Whether there was such a token.
    pub fn remove_token(&self, name: &str) -> Result<bool, SessionError> {
        Ok(self
            .database
            .remove_file(self.id()?, &format!("{TOKENS}{name}"))?)
    }

    /// Asks for the right to ask a host, which ends after `keep`: how long to wait before the next try,
    /// zero if it was given, and when the host was asked last.
    pub fn turn(
        &self,
        host: &str,
        gap: Duration,
        keep: Duration,
    ) -> Result<(Duration, f64), SessionError> {
        Ok(self.database.turn(self.id()?, host, (gap, keep))?)
    }

    pub fn end_turn(&self, host: &str) -> Result<(), SessionError> {
        Ok(self.database.end_turn(self.id()?, host)?)
    }

    /// Adds the copy of a newer list, before the line that names it.
    pub(super) fn add_list(&self, name: &str) -> Result<(), SessionError> {
        // An earlier try may have sent it, and failed before its line was recorded.
        self.database.remove_file(self.id()?, name)?;
        let path = self.path(name);
        let body = files::read(&path, u64::MAX).map_err(SessionError::io(&path, "read"))?;
        Ok(self.database.add_file(self.id()?, name, &body)?)
    }

    /// Copies the session in `draft` to the database, and makes `draft` its mirror.
    pub(super) fn publish(&self, draft: &Path) -> Result<(), SessionError> {
        let new = self.database.create().map_err(|why| match why {
            DatabaseError::Exists(_) => SessionError::Exists(self.link.url.to_string().into()),
            other => other.into(),
        })?;
        let id = send(draft, new)?;
        let link = Link {
            id: Some(id),
            ..self.link.clone()
        };
        link.write(draft)
    }

    /// Clears the way for the directory that was published.
    pub(super) fn give_way(&self) -> Result<(), SessionError> {
        [LINK, LOCK].into_iter().try_for_each(|name| {
            let path = self.path(name);
            match fs::remove_file(&path) {
                Err(error) if !is_absent(&error) => Err(SessionError::io(&path, "remove")(error)),
                _ => Ok(()),
            }
        })
    }
}

impl Link {
    fn write(&self, dir: &Path) -> Result<(), SessionError> {
        put(&dir.join(LINK), &serde_json::to_vec_pretty(self)?)
    }
}

impl Appending {
    pub(super) fn at(&self) -> jiff::Timestamp {
        self.held.head().at
    }

    /// Appends lines to the ledger in the database.
    pub(super) fn append(self, lines: &[&Line<'_>]) -> Result<(), SessionError> {
        let Some(last) = lines.last() else {
            return Ok(());
        };
        let texts: Vec<&str> = lines.iter().map(|line| line.text()).collect();
        Ok(self.held.append(&texts, last.tip())?)
    }

    /// Replaces the ledger in the database with the redacted one in `new`, which has one more line, and
    /// the lists with their redacted copies.
    ///
    /// Returns the mirror, which must be told once it has the same.
    pub(super) fn redact(
        self,
        new: &Path,
        gone: Vec<Digest>,
        lists: &[(String, PathBuf)],
    ) -> Result<RedactedMirror, SessionError> {
        let path = self.mirror.path(LEDGER);
        let reading = |error| SessionError::io(&path, "read the ledger")(error);
        let mut old = lines(&path).map_err(reading)?;
        let (mut redacted, mut event) = (Vec::new(), None);
        for (seq, line) in (0..).zip(lines(new).map_err(reading)?) {
            let line = line.map_err(reading)?;
            match old.next().transpose().map_err(reading)? {
                Some(before) if before == line => {}
                Some(_) => redacted.push((seq, line)),
                None => event = Some(line),
            }
        }
        let no_event = SessionError::Illegal("no line says what was redacted");
        let event = event.ok_or(no_event)?;
        let tip =
            Line::parse_unchained(&event).map_err(|why| self.mirror.differs(why.to_string()))?;
        let tip = tip.tip();
        let mut files = Vec::new();
        for (name, path) in lists {
            let body = files::read(path, u64::MAX).map_err(SessionError::io(path, "read"))?;
            files.push((name.clone(), body));
        }
        let head = self.held.head();
        self.held.redact(&Redacted {
            lines: redacted,
            gone,
            files,
            event: (event, tip),
        })?;
        let link = Link {
            id: Some(head.id),
            redactions: head.redactions + 1,
            ..self.mirror.link.clone()
        };
        Ok(RedactedMirror(Mirror {
            link,
            ..self.mirror
        }))
    }
}

/// A mirror of a session that was redacted. Until it has the new lines and lists, it must not say so.
pub(super) struct RedactedMirror(Mirror);

impl RedactedMirror {
    pub(super) fn settle(self) -> Result<(), SessionError> {
        self.0.link.write(&self.0.dir)
    }
}

/// Whether a file of the database is in every mirror. Tokens are asked for one by one.
fn is_copied(name: &str) -> bool {
    name == MANIFEST || (name.starts_with("source") && !name.contains('/'))
}

fn lines(path: &Path) -> io::Result<io::Lines<io::BufReader<File>>> {
    use io::BufRead as _;
    Ok(io::BufReader::new(files::open(path)?).lines())
}

fn put(path: &Path, body: &[u8]) -> Result<(), SessionError> {
    let writing = || SessionError::io(path, "write");
    let dir = files::directory_of(path);
    let mut new = tempfile::NamedTempFile::new_in(dir).map_err(writing())?;
    new.write_all(body).map_err(writing())?;
    new.persist(path).map_err(|error| writing()(error.error))?;
    Ok(())
}

fn is_absent(error: &io::Error) -> bool {
    [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind())
}

/// Sends the files of a session directory.
fn send(dir: &Path, mut new: NewRow) -> Result<i64, SessionError> {
    let path = dir.join(LEDGER);
    let reading = |error| SessionError::io(&path, "read the ledger")(error);
    let mut tip = Tip::start();
    for text in lines(&path).map_err(reading)? {
        let text = text.map_err(reading)?;
        tip = Line::parse(tip, &text)
            .map_err(|why| SessionError::Damaged {
                path: path.clone(),
                line: tip.length + 1,
                why: why.into(),
            })?
            .tip();
        new.line(text, tip)?;
    }
    for (digest, path) in bodies_in(&dir.join("evidence"))? {
        let body = files::read(&path, u64::MAX).map_err(SessionError::io(&path, "read"))?;
        new.body(digest, &body)?;
    }
    let entries = fs::read_dir(dir).map_err(SessionError::io(dir, "list"))?;
    for entry in entries {
        let entry = entry.map_err(SessionError::io(dir, "list"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_copied(&name) {
            let path = entry.path();
            let body = files::read(&path, u64::MAX).map_err(SessionError::io(&path, "read"))?;
            new.file(&name, &body)?;
        }
    }
    Ok(new.commit()?)
}

/// The bodies in a directory of evidence, with their digests.
fn bodies_in(dir: &Path) -> Result<Vec<(Digest, PathBuf)>, SessionError> {
    let mut found = Vec::new();
    for entry in WalkDir::new(dir) {
        let entry = entry.map_err(|error| SessionError::io(dir, "list")(error.into()))?;
        let path = entry.path();
        let name = || {
            let folder = path.parent()?.file_name()?.to_str()?;
            let rest = path.file_name()?.to_str()?.strip_suffix(".gz")?;
            format!("{folder}{rest}").parse().ok()
        };
        if let Some(digest) = name() {
            found.push((digest, entry.into_path()));
        }
    }
    Ok(found)
}

/// How much is read at once to find where the last line of a ledger begins.
const STEP: u64 = 64 * 1024;

/// The end of the chain of a ledger, by its last line; none if that is damaged. An incomplete last line is
/// cut off: the database has it, or it was never recorded.
fn tip_of(path: &Path) -> io::Result<Option<Tip>> {
    let mut file = files::open_with(OpenOptions::new().read(true).write(true), path)?;
    let end = file.metadata()?.len();
    let mut tail = Vec::new();
    let mut start = end;
    loop {
        // Where the last whole line ends and begins, in what was read so far.
        let ends = tail.iter().rposition(|byte| *byte == b'\n');
        let begins = ends.and_then(|at| tail[..at].iter().rposition(|byte| *byte == b'\n'));
        let line = match (ends, begins) {
            (Some(last), Some(first)) => Some(&tail[first + 1..last]),
            (Some(last), None) if start == 0 => Some(&tail[..last]),
            _ => None,
        };
        if let Some(last) = ends.filter(|_| line.is_some()) {
            let whole = start + last as u64 + 1;
            if whole < end {
                file.set_len(whole)?;
            }
        }
        if let Some(line) = line {
            let line = std::str::from_utf8(line).ok();
            let line = line.and_then(|text| Line::parse_unchained(text).ok());
            return Ok(line.map(|line| line.tip()));
        }
        if start == 0 {
            file.set_len(0)?;
            return Ok(Some(Tip::start()));
        }
        let length = STEP.min(start);
        start -= length;
        file.seek(SeekFrom::Start(start))?;
        let mut chunk = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact(&mut chunk)?;
        chunk.append(&mut tail);
        tail = chunk;
    }
}
