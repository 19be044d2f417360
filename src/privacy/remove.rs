//! Blotting an address out of a session: first everything is looked through, and only what can
//! be done whole is begun.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tempfile::NamedTempFile;
use url::Url;
use walkdir::WalkDir;

use crate::base::{Digest, regular};
use crate::privacy::MASK;
use crate::privacy::copies::{self, Unmaskable};
use crate::privacy::mention::{Wanted, mentions, without};
use crate::session::{
    Blotter, Court, Decided, Event, EvidenceStore, Forgetting, Forgotten, Line, RedactedCopy,
    RedactedLine, Salt, Session, SessionError, SigningKey, SourceRecord, Store as _, Suppressed,
};
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
    #[error("the session froze the operator's key, and only that key decides here")]
    Unsealed,
    #[error(
        "{0} holds the address, and nothing changes what scan froze: make the session anew \
         without it, and remove this one"
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
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

/// Forgets an address: blots it out of ledger, evidence and copies of lists, and keeps it from
/// coming back.
pub fn forget(
    session: &mut Session,
    request: Request<'_>,
    now: Timestamp,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Done, NotForgotten> {
    // The index is anybody's to write.
    let known = session.fold()?.totals().clone();
    let salt = Digest::of(&salts().0);
    let wanted = request.address.to_string();
    let path = session.dir().join("session.json");
    let frozen = fs::read_to_string(&path).map_err(NotForgotten::io(&path))?;
    if !mentions(&frozen, &|address| address == wanted).is_empty() {
        return Err(NotForgotten::Frozen("session.json".to_owned()));
    }
    let mut eraser = Eraser {
        request,
        dir: session.dir().to_owned(),
        court: session.terms().court,
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
    session.redact(now, salts, &mut eraser)?;
    Ok(eraser.done)
}

pub(super) fn sources(session: &Session) -> Vec<SourceRecord> {
    let mut sources = vec![session.manifest().source.clone()];
    sources.extend(session.totals().extensions);
    let mut seen = BTreeSet::new();
    sources.retain(|source| seen.insert(source.copy.clone()));
    sources
}

struct Eraser<'a> {
    request: Request<'a>,
    dir: PathBuf,
    court: Court,
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

impl Blotter for Eraser<'_> {
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
        let found = remove::holding(&dir, self.request.address, &wanted);
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
                let listing = unpack(&packed, MOST_LISTING_BYTES).unwrap_or_default();
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
            let bytes = regular::read(&path, u64::MAX).map_err(NotForgotten::io(&path))?;
            let masked = copies::masked(&bytes, &wanted);
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

const MOST_LISTING_BYTES: u64 = 1 << 28;

fn digests_in(text: &str) -> impl Iterator<Item = Digest> {
    let words = text.split(|c: char| !c.is_ascii_hexdigit());
    words.filter_map(|word| word.parse().ok())
}

const MOST_BYTES: u64 = 1 << 30;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) path: PathBuf,
    /// The digest that names it; none of what a process that died left behind.
    pub(super) digest: Option<Digest>,
}

pub(super) fn holding(dir: &Path, mailbox: &Mailbox, wanted: &Wanted<'_>) -> io::Result<Vec<Held>> {
    let mut held = Vec::new();
    for entry in WalkDir::new(dir).sort_by_file_name() {
        let entry = entry.map_err(io::Error::from)?;
        if !entry.file_type().is_file() {
            continue;
        }
        let packed = fs::read(entry.path())?;
        let body = unpack(&packed, MOST_BYTES).unwrap_or(packed);
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

pub(super) fn digest(path: &Path) -> Option<Digest> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?.strip_suffix(".gz")?;
    format!("{folder}{rest}").parse().ok()
}

/// `json` without the address, or none where it does not hold it.
///
/// `worker` stands for it in the names of workers, which hold no brackets.
#[must_use]
pub fn masked_json(json: &str, wanted: &Wanted<'_>, worker: &str) -> Option<String> {
    let mut masked = String::with_capacity(json.len());
    let (mut rest, mut changed, mut of_worker) = (json, false, false);
    while let Some(open) = rest.find('"') {
        let Some(literal) = literal(&rest[open..]) else {
            break;
        };
        masked.push_str(&rest[..open]);
        let after = &rest[open + literal.len()..];
        let text: Option<String> = serde_json::from_str(literal).ok();
        let mask = if of_worker { worker } else { MASK };
        let other = text.as_deref().and_then(|text| without(text, wanted, mask));
        match other.and_then(|other| serde_json::to_string(&other).ok()) {
            Some(other) => {
                masked.push_str(&other);
                changed = true;
            }
            None => masked.push_str(literal),
        }
        of_worker = text.as_deref() == Some("worker") && after.trim_start().starts_with(':');
        rest = after;
    }
    masked.push_str(rest);
    changed.then_some(masked)
}

fn literal(text: &str) -> Option<&str> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map(|(at, _)| &text[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

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

    fn masked(json: &str) -> Option<String> {
        masked_json(json, &|address| address == "jo@acme.com", "forgotten-1")
    }

    #[test]
    fn only_the_strings_that_hold_it_change() {
        let body = r#"{"b": 1.50,"a":["x\"y","Jo\u0040acme.com"],"jo@acme.com":{"holds":["mailbox jo@acme.com"]}}"#;
        let expected = r#"{"b": 1.50,"a":["x\"y","[forgotten]"],"[forgotten]":{"holds":["mailbox [forgotten]"]}}"#;
        assert_eq!(masked(body).as_deref(), Some(expected));
        assert_eq!(masked(r#"{"a":"b\\"}"#), None);
        assert_eq!(masked("\"jo@acme.com"), None, "no JSON");
    }

    #[test]
    fn a_worker_stays_one() {
        let body = r#"{"worker":"jo@acme.com","note":"jo@acme.com"}"#;
        let expected = r#"{"worker":"forgotten-1","note":"[forgotten]"}"#;
        assert_eq!(masked(body).as_deref(), Some(expected));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            Just("jo@acme.com".to_owned()),
            Just("mailto:JO%40acme.com".to_owned()),
            Just("{\"a\":\"jo\\u0040acme.com\"}".to_owned()),
            Just("\"jo&#64;acme.com\\".to_owned()),
            ".{0,12}",
        ];
        let leaf = prop_oneof![
            text.clone().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text.clone(), inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_stays_json_without_the_address(value in any_json()) {
            let body = value.to_string();
            let other = masked(&body).unwrap_or_else(|| body.clone());
            prop_assert!(serde_json::from_str::<Value>(&other).is_ok(), "{other}");
            prop_assert_eq!(masked(&other), None);
            let lower = other.to_lowercase();
            for spelling in ["jo@acme.com", "jo%40acme.com", "jo&#64;acme.com", "jo\\u0040acme.com"] {
                prop_assert!(!lower.contains(spelling), "{other}");
            }
        }
    }
}
