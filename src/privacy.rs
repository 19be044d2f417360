//! `comail forget`: removes an address from the ledger, from evidence and from the session's copy of
//! the list. `judge::forgotten` recognises the address in later submissions.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use url::Url;
use walkdir::WalkDir;

use crate::base::clock::Clock;
use crate::base::{Digest, files};
use crate::judge::accepted_changes;
use crate::judge::forgotten::{self, MASK, masked_json};
use crate::quest::QuestId;
use crate::session::{
    DecisionPolicy, Event, EvidenceStore, Forgetting, Forgotten, Line, RedactedCopy, RedactedLine,
    Redactor, Session, SessionError, SigningKey, Suppressed,
};
use crate::world::email_text::{Wanted, mentions, without};
use crate::world::evidence::unpack;
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};

#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub address: &'a Mailbox,
    pub by: &'a str,
    pub note: &'a str,
    pub key: Option<&'a SigningKey>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    pub lines: usize,
    pub bodies: usize,
    pub copies: usize,
    /// Whether it had already been forgotten, so that nothing was recorded.
    pub before: bool,
}

/// Why an address was not forgotten; nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum NotForgotten {
    #[error("only the operator can decide this, with the key that was given to `scan`")]
    Unsealed,
    #[error(
        "{0} contains the address and cannot be changed after `scan`: create a new session without \
         the address, and remove this one"
    )]
    Frozen(String),
    #[error(
        "the accepted files of quest {0} contain the address, and the accepted tree needs them: \
         create a new session from `comail tree export` without the address, and remove this one"
    )]
    Accepted(QuestId),
    #[error("{}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot write the decision as JSON")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// An error about the file at `path`.
fn at<E>(path: &Path) -> impl FnOnce(E) -> NotForgotten
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let path = path.to_owned();
    move |source| NotForgotten::File {
        path,
        source: source.into(),
    }
}

/// Removes an address from ledger, evidence and copies of lists, and records that later submissions
/// must not contain it.
pub fn forget(
    session: &mut Session,
    request: Request<'_>,
    clock: &mut dyn Clock,
) -> Result<Done, NotForgotten> {
    session.evidence().complete()?;
    // The index is not trusted here, because an agent can write to it.
    let folded = session.fold()?;
    let known = folded.totals();
    let salt = Digest::of(&clock.salt().0);
    let search = Search::of(session, request.address)?;
    let mut eraser = Eraser {
        request,
        policy: folded.policy(),
        suppressed: Suppressed::new(salt, &search.normal),
        worker: format!("forgotten-{:.8}", salt.to_string()),
        known: known
            .forgetting
            .clone()
            .and_earlier(&session.manifest().forgotten),
        search,
        bodies: Vec::new(),
        drafts: Vec::new(),
        done: Done::default(),
    };
    session.redact(clock, &mut eraser)?;
    Ok(eraser.done)
}

/// Whether the session contains `address`, or has forgotten it.
///
/// # Errors
///
/// If the address is in `session.json`, which cannot change, or in a list that cannot be rewritten.
pub fn is_known(session: &Session, address: &Mailbox) -> Result<bool, NotForgotten> {
    session.evidence().complete()?;
    let search = Search::of(session, address)?;
    let forgetting = session.forgetting();
    let mut suppressed = forgetting.suppressed().iter();
    if suppressed.any(|one| one.is(&search.normal)) {
        return Ok(true);
    }
    let path = search.dir.join("ledger.jsonl");
    let ledger = files::open(&path).map_err(at(&path))?;
    for line in BufReader::new(ledger).lines() {
        let line = line.map_err(at(&path))?;
        if masked_json(&line, &search.wanted(), "").is_some() {
            return Ok(true);
        }
    }
    Ok(!search.copies()?.is_empty() || !search.bodies()?.is_empty())
}

/// Where a session contains an address.
struct Search<'a> {
    dir: PathBuf,
    mailbox: &'a Mailbox,
    /// The address in its normal form.
    normal: String,
    /// The text of `session.json`, which does not contain the address.
    frozen: String,
    /// The copies of lists, with the digests that they were recorded with.
    copies: BTreeMap<String, Digest>,
    forgetting: Forgetting,
    /// The changes of the accepted tree.
    accepted: BTreeMap<Digest, QuestId>,
}

impl<'a> Search<'a> {
    /// Refuses an address that `session.json` contains, because that file cannot change.
    fn of(session: &Session, mailbox: &'a Mailbox) -> Result<Self, NotForgotten> {
        let path = session.dir().join("session.json");
        let first = session.manifest().source.clone();
        let sources = [first].into_iter().chain(session.totals().extensions);
        let copies = sources.map(|source| (source.copy, source.sha256)).collect();
        let search = Self {
            dir: session.dir().to_owned(),
            mailbox,
            normal: mailbox.to_string(),
            frozen: fs::read_to_string(&path).map_err(at(&path))?,
            copies,
            forgetting: session.forgetting(),
            accepted: accepted_changes(session),
        };
        if mentions(&search.frozen, &search.wanted()).is_empty() {
            Ok(search)
        } else {
            Err(NotForgotten::Frozen("session.json".to_owned()))
        }
    }

    fn wanted(&self) -> impl Fn(&str) -> bool {
        |address| address == self.normal
    }

    /// The evidence files that contain the address.
    fn bodies(&self) -> Result<Vec<PathBuf>, NotForgotten> {
        let dir = self.dir.join("evidence");
        let mut found = Vec::new();
        for entry in WalkDir::new(&dir).sort_by_file_name() {
            let entry = entry.map_err(at(&dir))?;
            if !entry.file_type().is_file() {
                continue;
            }
            let path = entry.into_path();
            let packed = fs::read(&path).map_err(at(&path))?;
            let body = unpack(&packed, MAX_BYTES).unwrap_or(packed);
            if holds(&body, self.mailbox, &self.wanted()) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// The copies of lists that contain the address, and their bytes without it.
    fn copies(&self) -> Result<Vec<(RedactedCopy, Vec<u8>)>, NotForgotten> {
        let mut found = Vec::new();
        for (copy, recorded) in &self.copies {
            let path = self.dir.join(copy);
            let bytes = files::read(&path, u64::MAX).map_err(at(&path))?;
            let was = Digest::of(&bytes);
            // Whatever else is there would become the list of the session.
            if self.forgetting.copy_of(was) != self.forgetting.copy_of(*recorded) {
                return Err(SessionError::CopyChanged(path).into());
            }
            let masked = forgotten::masked_list(&bytes, &self.wanted()).map_err(at(&path))?;
            found.extend(masked.map(|masked| {
                let redacted = RedactedCopy {
                    copy: copy.clone(),
                    was,
                    is: Digest::of(&masked),
                };
                (redacted, masked)
            }));
        }
        Ok(found)
    }

    /// Refuses to remove a body that `session.json` or a listing named there refers to, and a change of
    /// the accepted tree.
    fn refuse_frozen(&self, named: &[Digest]) -> Result<(), NotForgotten> {
        if named.is_empty() {
            return Ok(());
        }
        if let Some(quest) = named.iter().find_map(|digest| self.accepted.get(digest)) {
            return Err(NotForgotten::Accepted(*quest));
        }
        let store = EvidenceStore::new(&self.dir);
        let mut texts = vec![self.frozen.clone()];
        let words = self.frozen.split(|c: char| !c.is_ascii_hexdigit());
        for digest in words.filter_map(|word| word.parse().ok()) {
            if let Some(packed) = store.load(digest)? {
                let listing = unpack(&packed, MAX_LISTING_BYTES).unwrap_or_default();
                texts.push(String::from_utf8_lossy(&listing).into_owned());
            }
        }
        let is_frozen = |digest: &&Digest| {
            let name = digest.to_string();
            texts.iter().any(|text| text.contains(&name))
        };
        named.iter().find(is_frozen).map_or(Ok(()), |digest| {
            Err(NotForgotten::Frozen(format!(
                "a file of the tree that scan copied ({digest} in evidence/)"
            )))
        })
    }
}

/// Removes the address under the session's lock. It prepares everything before the ledger is
/// rewritten, and replaces files afterwards.
struct Eraser<'a> {
    request: Request<'a>,
    search: Search<'a>,
    policy: DecisionPolicy,
    suppressed: Suppressed,
    /// The new name of workers whose name contains the address.
    worker: String,
    known: Forgetting,
    bodies: Vec<PathBuf>,
    drafts: Vec<(PathBuf, NamedTempFile)>,
    done: Done,
}

impl Redactor for Eraser<'_> {
    type Error = NotForgotten;

    fn redact(&mut self, line: &Line<'_>) -> Result<Option<String>, NotForgotten> {
        let masked = masked_json(line.body(), &self.search.wanted(), &self.worker);
        let Some(body) = masked else {
            return Ok(None);
        };
        self.done.lines += 1;
        let mut event = Event::parse(line.kind(), &body)?;
        // A decision that had effect is sealed again for its new body. Any other stays without effect.
        if let (Some(key), Some(decided)) = (self.request.key, event.decision_mut())
            && let Some(before) = line.event()?.decision()
            && self.policy.admits(before, line.prev())
        {
            self.policy.put_seal(decided, line.prev(), key)?;
            return Ok(Some(event.body()?));
        }
        Ok(Some(body))
    }

    fn decide(
        &mut self,
        lines: Vec<RedactedLine>,
        after: Digest,
    ) -> Result<Option<Forgotten>, NotForgotten> {
        self.bodies = self.search.bodies()?;
        // A file that a killed process left behind has no digest as its name.
        let evidence: Vec<Digest> = self.bodies.iter().filter_map(|it| digest(it)).collect();
        self.search.refuse_frozen(&evidence)?;
        let copies = self.draft_copies()?;
        let known = |copy: &RedactedCopy| self.known.copy_of(copy.was) == copy.is;
        let mut suppressed = self.known.suppressed().iter();
        if suppressed.any(|one| one.is(&self.search.normal))
            && lines.is_empty()
            && evidence.iter().all(|digest| self.known.has_body(*digest))
            && copies.iter().all(known)
        {
            self.done.before = true;
            return Ok(None);
        }
        let wanted = self.search.wanted();
        let mask = |text: &str| without(text, &wanted, MASK).unwrap_or_else(|| text.to_owned());
        let forgotten = Forgotten {
            address: self.suppressed,
            lines,
            evidence,
            copies,
            by: mask(self.request.by),
            note: mask(self.request.note),
            seal: None,
        };
        let sealed = self.policy.sealed(forgotten, after, self.request.key)?;
        sealed.map(Some).ok_or(NotForgotten::Unsealed)
    }

    fn lists(&self) -> Vec<(String, PathBuf)> {
        let drafts = self.drafts.iter();
        drafts
            .filter_map(|(path, draft)| {
                let name = path.file_name()?.to_str()?;
                Some((name.to_owned(), draft.path().to_owned()))
            })
            .collect()
    }

    fn carry_out(&mut self) -> Result<(), NotForgotten> {
        for path in self.bodies.drain(..) {
            fs::remove_file(&path).map_err(at(&path))?;
            self.done.bodies += 1;
        }
        for (path, draft) in self.drafts.drain(..) {
            let put = draft.persist(&path).map_err(|error| error.error);
            put.map_err(at(&path))?;
            self.done.copies += 1;
        }
        Ok(())
    }
}

impl Eraser<'_> {
    /// Writes the new copies next to the old ones, so that a full disk fails before anything has
    /// changed.
    fn draft_copies(&mut self) -> Result<Vec<RedactedCopy>, NotForgotten> {
        let mut redacted = Vec::new();
        for (copy, masked) in self.search.copies()? {
            let path = self.search.dir.join(&copy.copy);
            let write = || -> io::Result<NamedTempFile> {
                let mut draft = NamedTempFile::new_in(&self.search.dir)?;
                draft.write_all(&masked)?;
                let permissions = fs::metadata(&path)?.permissions();
                draft.as_file().set_permissions(permissions)?;
                draft.as_file().sync_all()?;
                Ok(draft)
            };
            let draft = write().map_err(at(&path))?;
            redacted.push(copy);
            self.drafts.push((path, draft));
        }
        Ok(redacted)
    }
}

const MAX_LISTING_BYTES: u64 = 1 << 28;
const MAX_BYTES: u64 = 1 << 30;

fn holds(body: &[u8], mailbox: &Mailbox, wanted: &Wanted<'_>) -> bool {
    let text = String::from_utf8_lossy(body);
    if !mentions(&text, wanted).is_empty() {
        return true;
    }
    // Only the parsed page shows some spellings of an address.
    let nowhere = Url::parse("https://localhost/").ok();
    let Some(nowhere) = nowhere.filter(|_| text.contains('<')) else {
        return false;
    };
    let page = Page::parse(&nowhere, Some("text/html"), None, body);
    page.is_ok_and(|page| presence(&page, mailbox) != Presence::Absent)
}

fn digest(path: &Path) -> Option<Digest> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?.strip_suffix(".gz")?;
    format!("{folder}{rest}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(body: &[u8]) -> bool {
        let mailbox = Mailbox::parse("jo@acme.com").unwrap();
        holds(body, &mailbox, &|address| address == "jo@acme.com")
    }

    #[test]
    fn finds_an_address_in_text_and_pages() {
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
    fn reads_a_digest_from_a_path() {
        let digest = super::digest(Path::new("evidence/ab/cd.gz"));
        assert_eq!(digest, None, "too short");
        let of = Digest::of(b"x").to_string();
        let path = format!("evidence/{}/{}.gz", &of[..2], &of[2..]);
        assert_eq!(super::digest(Path::new(&path)), Some(Digest::of(b"x")));
    }
}
