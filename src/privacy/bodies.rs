//! The bodies in `evidence/` that hold an address.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use url::Url;
use walkdir::WalkDir;

use super::mention::{Wanted, mentions};
use crate::base::Digest;
use crate::world::evidence::unpack;
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};

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
