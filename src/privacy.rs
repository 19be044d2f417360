//! Forgetting an address: `comail forget` removes it from the ledger, from evidence and from the
//! session's copy of the list. What a later submission is compared with is in `judge::forgotten`.

use crate::base::clock::Clock;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use url::Url;
use walkdir::WalkDir;

use crate::base::{Digest, files};
use crate::judge::masking::{self, MASK, Unmaskable, masked_json};
use crate::session::{
    Decided, DecisionPolicy, Event, EvidenceStore, Forgetting, Forgotten, Line, RedactedCopy,
    RedactedLine, Redactor, Session, SessionError, SigningKey, SourceRecord, Suppressed,
};
use crate::world::email_text::{Wanted, mentions, without};
use crate::world::evidence::unpack;
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};

/// What is to be forgotten, and who decides so.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub address: &'a Mailbox,
    pub by: &'a str,
    pub note: &'a str,
    pub key: Option<&'a SigningKey>,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    pub lines: usize,
    pub bodies: usize,
    pub copies: usize,
    /// Whether it was forgotten before, so that nothing was recorded.
    pub before: bool,
}

/// Why an address was not forgotten; nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum NotForgotten {
    /// The session froze a key, and this is not signed with it.
    #[error("only the operator's key, which was given to `scan`, may decide this")]
    Unsealed,
    #[error(
        "{0} contains the address and cannot be changed after `scan`: create a new session without \
         the address, and remove this one"
    )]
    Frozen(String),
    /// The copy of a list cannot be written anew.
    #[error("{}", path.display())]
    Copy {
        path: PathBuf,
        #[source]
        source: Unmaskable,
    },
    /// A file cannot be read or written.
    #[error("{}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A value cannot be written as JSON.
    #[error("cannot write the decision as JSON")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl NotForgotten {
    fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

/// Forgets an address: blots it out of ledger, evidence and copies of lists, and keeps it from
/// coming back.
pub fn forget(
    session: &mut Session,
    request: Request<'_>,
    clock: &mut dyn Clock,
) -> Result<Done, NotForgotten> {
    // The index is anybody's to write.
    let known = session.fold()?.totals().clone();
    let salt = Digest::of(&clock.salt().0);
    let wanted = request.address.to_string();
    let path = session.dir().join("session.json");
    let frozen = fs::read_to_string(&path).map_err(NotForgotten::io(&path))?;
    if !mentions(&frozen, &|address| address == wanted).is_empty() {
        return Err(NotForgotten::Frozen("session.json".to_owned()));
    }
    let mut eraser = Eraser {
        request,
        dir: session.dir().to_owned(),
        court: session.config().policy,
        suppressed: Suppressed::new(salt, &wanted),
        worker: format!("forgotten-{:.8}", salt.to_string()),
        wanted,
        frozen,
        known: known.forgetting.beside(&session.manifest().forgotten),
        sources: sources(session),
        held: Vec::new(),
        copies: Vec::new(),
        done: Done::default(),
    };
    session.redact(clock, &mut eraser)?;
    Ok(eraser.done)
}

fn sources(session: &Session) -> Vec<SourceRecord> {
    let mut sources = vec![session.manifest().source.clone()];
    sources.extend(session.totals().extensions);
    let mut seen = BTreeSet::new();
    sources.retain(|source| seen.insert(source.copy.clone()));
    sources
}

struct Eraser<'a> {
    request: Request<'a>,
    dir: PathBuf,
    court: DecisionPolicy,
    suppressed: Suppressed,
    worker: String,
    wanted: String,
    frozen: String,
    known: Forgetting,
    sources: Vec<SourceRecord>,
    held: Vec<Held>,
    copies: Vec<(PathBuf, NamedTempFile)>,
    done: Done,
}

impl Redactor for Eraser<'_> {
    type Error = NotForgotten;

    fn blot(&mut self, line: &Line<'_>) -> Result<Option<String>, NotForgotten> {
        let wanted = |address: &str| address == self.wanted;
        let Some(body) = masked_json(line.body(), &wanted, &self.worker) else {
            return Ok(None);
        };
        self.done.lines += 1;
        Ok(Some(match Event::parse(line.kind(), &body)? {
            Event::Settled(decided) => self.sealed_anew(line, &body, *decided)?,
            Event::Disputed(decided) => self.sealed_anew(line, &body, *decided)?,
            Event::Forgotten(decided) => self.sealed_anew(line, &body, *decided)?,
            _ => body,
        }))
    }

    fn decide(
        &mut self,
        lines: Vec<RedactedLine>,
        after: Digest,
    ) -> Result<Option<Forgotten>, NotForgotten> {
        let evidence = self.bodies()?;
        let copies = self.drafts()?;
        let known = |copy: &RedactedCopy| self.known.copy_of(copy.was) == copy.is;
        let mut suppressed = self.known.suppressed().iter();
        if suppressed.any(|one| one.is(&self.wanted))
            && lines.is_empty()
            && evidence.iter().all(|digest| self.known.has_body(*digest))
            && copies.iter().all(known)
        {
            self.done.before = true;
            return Ok(None);
        }
        let wanted = |address: &str| address == self.wanted;
        let mask = |text: &str| without(text, &wanted, MASK).unwrap_or_else(|| text.to_owned());
        let mut forgotten = Forgotten {
            address: self.suppressed,
            lines,
            evidence,
            copies,
            by: mask(self.request.by),
            note: mask(self.request.note),
            seal: None,
        };
        if let Some(key) = self.request.key {
            forgotten = self.court.seal(forgotten, after, key)?;
        }
        if self.court.admits(&forgotten, after) {
            Ok(Some(forgotten))
        } else {
            Err(NotForgotten::Unsealed)
        }
    }

    fn carry_out(&mut self) -> Result<(), NotForgotten> {
        for held in self.held.drain(..) {
            fs::remove_file(&held.path).map_err(NotForgotten::io(&held.path))?;
            self.done.bodies += 1;
        }
        for (path, draft) in self.copies.drain(..) {
            let put = draft.persist(&path).map_err(|error| error.error);
            put.map_err(NotForgotten::io(path))?;
            self.done.copies += 1;
        }
        Ok(())
    }
}

impl Eraser<'_> {
    /// A decision that counted, sealed for its body as it is now; what never counted still does
    /// not.
    fn sealed_anew<T: Decided + serde::de::DeserializeOwned>(
        &self,
        line: &Line<'_>,
        body: &str,
        masked: T,
    ) -> Result<String, NotForgotten> {
        let (Some(key), before) = (self.request.key, serde_json::from_str::<T>(line.body())?)
        else {
            return Ok(body.to_owned());
        };
        if !self.court.admits(&before, line.prev()) {
            return Ok(body.to_owned());
        }
        let sealed = self.court.seal(masked, line.prev(), key)?;
        Ok(serde_json::to_string(&sealed)?)
    }

    fn bodies(&mut self) -> Result<Vec<Digest>, NotForgotten> {
        let dir = self.dir.join("evidence");
        let wanted = |address: &str| address == self.wanted;
        let found = holding(&dir, self.request.address, &wanted);
        self.held = found.map_err(NotForgotten::io(dir))?;
        let named: Vec<Digest> = self.held.iter().filter_map(|held| held.digest).collect();
        if !named.is_empty() {
            self.none_frozen(&named)?;
        }
        Ok(named)
    }

    /// Refuses to remove what `session.json` names, or what a listing that it names does.
    fn none_frozen(&self, named: &[Digest]) -> Result<(), NotForgotten> {
        let store = EvidenceStore::new(&self.dir);
        let mut texts = vec![self.frozen.clone()];
        for digest in digests_in(&self.frozen) {
            if let Some(packed) = store.load(digest)? {
                let listing = unpack(&packed, MAX_LISTING_BYTES).unwrap_or_default();
                texts.push(String::from_utf8_lossy(&listing).into_owned());
            }
        }
        let is_frozen = |digest: &&Digest| {
            let name = digest.to_string();
            texts.iter().any(|text| text.contains(&name))
        };
        match named.iter().find(is_frozen) {
            None => Ok(()),
            Some(digest) => Err(NotForgotten::Frozen(format!(
                "a file of the tree that scan copied ({digest} in evidence/)"
            ))),
        }
    }

    fn drafts(&mut self) -> Result<Vec<RedactedCopy>, NotForgotten> {
        let wanted = |address: &str| address == self.wanted;
        let mut made = Vec::new();
        for source in &self.sources {
            let path = self.dir.join(&source.copy);
            let bytes = files::read(&path, u64::MAX).map_err(NotForgotten::io(&path))?;
            let masked = masking::masked(&bytes, &wanted);
            let masked = masked.map_err(|source| NotForgotten::Copy {
                path: path.clone(),
                source,
            })?;
            let Some(masked) = masked else {
                continue;
            };
            let write = || -> std::io::Result<NamedTempFile> {
                let mut draft = NamedTempFile::new_in(&self.dir)?;
                draft.write_all(&masked)?;
                draft
                    .as_file()
                    .set_permissions(fs::metadata(&path)?.permissions())?;
                draft.as_file().sync_all()?;
                Ok(draft)
            };
            let draft = write().map_err(NotForgotten::io(&path))?;
            made.push(RedactedCopy {
                copy: source.copy.clone(),
                was: Digest::of(&bytes),
                is: Digest::of(&masked),
            });
            self.copies.push((path, draft));
        }
        Ok(made)
    }
}

const MAX_LISTING_BYTES: u64 = 1 << 28;

fn digests_in(text: &str) -> impl Iterator<Item = Digest> {
    let words = text.split(|c: char| !c.is_ascii_hexdigit());
    words.filter_map(|word| word.parse().ok())
}

const MAX_BYTES: u64 = 1 << 30;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    path: PathBuf,
    /// The digest that names it; none of what a process that died left behind.
    digest: Option<Digest>,
}

fn holding(dir: &Path, mailbox: &Mailbox, wanted: &Wanted<'_>) -> io::Result<Vec<Held>> {
    let mut held = Vec::new();
    for entry in WalkDir::new(dir).sort_by_file_name() {
        let entry = entry.map_err(io::Error::from)?;
        if !entry.file_type().is_file() {
            continue;
        }
        let packed = fs::read(entry.path())?;
        let body = unpack(&packed, MAX_BYTES).unwrap_or(packed);
        if holds(&body, mailbox, wanted) {
            held.push(Held {
                digest: digest(entry.path()),
                path: entry.into_path(),
            });
        }
    }
    Ok(held)
}

fn holds(body: &[u8], mailbox: &Mailbox, wanted: &Wanted<'_>) -> bool {
    let text = String::from_utf8_lossy(body);
    if !mentions(&text, wanted).is_empty() {
        return true;
    }
    let Some(nowhere) = text.contains('<').then(nowhere).flatten() else {
        return false;
    };
    let page = Page::parse(&nowhere, Some("text/html"), None, body);
    page.is_ok_and(|page| presence(&page, mailbox) != Presence::Absent)
}

fn nowhere() -> Option<Url> {
    Url::parse("https://localhost/").ok()
}

fn digest(path: &Path) -> Option<Digest> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?.strip_suffix(".gz")?;
    format!("{folder}{rest}").parse().ok()
}

/// Whether forgetting `address` would change anything, or did so before.
///
/// # Errors
///
/// What stands where nothing can be changed, or in a list that cannot be written anew.
pub fn is_known(session: &Session, address: &Mailbox) -> Result<bool, NotForgotten> {
    let mailbox = address;
    let normal = mailbox.to_string();
    let wanted = |address: &str| address == normal;
    let dir = session.dir();
    let path = dir.join("session.json");
    let frozen = fs::read_to_string(&path).map_err(NotForgotten::io(&path))?;
    if !mentions(&frozen, &wanted).is_empty() {
        return Err(NotForgotten::Frozen("session.json".to_owned()));
    }
    let forgetting = session.forgetting();
    if forgetting.suppressed().iter().any(|one| one.is(&normal)) {
        return Ok(true);
    }
    let path = dir.join("ledger.jsonl");
    let ledger = files::open(&path).map_err(NotForgotten::io(&path))?;
    for line in BufReader::new(ledger).lines() {
        let line = line.map_err(NotForgotten::io(&path))?;
        if masked_json(&line, &wanted, "").is_some() {
            return Ok(true);
        }
    }
    for source in sources(session) {
        let path = dir.join(&source.copy);
        let bytes = files::read(&path, u64::MAX).map_err(NotForgotten::io(&path))?;
        let masked = masking::masked(&bytes, &wanted);
        if masked
            .map_err(|source| NotForgotten::Copy { path, source })?
            .is_some()
        {
            return Ok(true);
        }
    }
    let evidence = dir.join("evidence");
    let held = holding(&evidence, mailbox, &wanted);
    Ok(!held.map_err(NotForgotten::io(evidence))?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(body: &[u8]) -> bool {
        let mailbox = Mailbox::parse("jo@acme.com").unwrap();
        holds(body, &mailbox, &|address| address == "jo@acme.com")
    }

    #[test]
    fn text_and_pages_are_looked_into() {
        for body in [
            "to: jo@acme.com",
            "<p>jo&#64;acme.com",
            "<a href='mailto:Jo%40acme.com'>x</a>",
            "<p>jo<b>@</b>acme.com</p>",
            "<p>jo (at) acme (dot) com</p>",
        ] {
            assert!(held(body.as_bytes()), "{body}");
        }
        assert!(!held(b"<p>ann.jo@acme.com</p>"));
        assert!(!held(&[0xFF, 0x00, b'@', 0xFE]));
    }

    #[test]
    fn a_body_is_named_by_its_place() {
        let digest = super::digest(Path::new("evidence/ab/cd.gz"));
        assert_eq!(digest, None, "too short");
        let of = Digest::of(b"x").to_string();
        let path = format!("evidence/{}/{}.gz", &of[..2], &of[2..]);
        assert_eq!(super::digest(Path::new(&path)), Some(Digest::of(b"x")));
    }
}
