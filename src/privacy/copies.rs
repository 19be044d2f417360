//! The copy of a list, without an address.
//!
//! Text is masked where it stands, whatever its encoding; of a workbook the XML parts are.

use std::fs;
use std::io::{BufRead as _, BufReader, Cursor, Read as _, Write as _};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::base::regular;
use crate::privacy::MASK;
use crate::privacy::mention::{Wanted, mentions, without};
use crate::privacy::remove::{self, NotForgotten, masked_json, sources};
use crate::session::{Session, Store as _};
use crate::world::mailbox::Mailbox;

/// Why a copy cannot be masked.
#[derive(Debug, thiserror::Error)]
pub enum Unmaskable {
    #[error(
        "it is a binary workbook, which cannot be written anew: scan the list again, saved as \
         .xlsx without the address, and remove this session"
    )]
    Binary,
    #[error(
        "the address is parted by formatting in a cell of {0}: scan the list again without the \
         address, and remove this session"
    )]
    Parted(String),
    /// The workbook cannot be read or written.
    #[error("the workbook cannot be written anew")]
    Zip(#[from] zip::result::ZipError),
    /// A part of it cannot be read.
    #[error("a part of the workbook cannot be read")]
    Io(#[from] std::io::Error),
}

const MOST_BYTES: u64 = 1 << 30;

const COMPOUND: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0];

/// The bytes of a list without the address; none where it does not hold it.
pub(super) fn masked(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Option<Vec<u8>>, Unmaskable> {
    if bytes.starts_with(b"PK\x03\x04") {
        return workbook(bytes, wanted);
    }
    if bytes.starts_with(COMPOUND) {
        let shifted = bytes.get(1..).unwrap_or_default();
        let held = |bytes| wide(bytes, u16::from_le_bytes, wanted).is_some();
        let holds = narrow(bytes, wanted).is_some() || held(bytes) || held(shifted);
        return if holds {
            Err(Unmaskable::Binary)
        } else {
            Ok(None)
        };
    }
    Ok(text(bytes, wanted))
}

pub(super) fn holds(bytes: &[u8], wanted: &Wanted<'_>) -> bool {
    match masked(bytes, wanted) {
        Ok(other) => other.is_some(),
        Err(Unmaskable::Binary | Unmaskable::Parted(_)) => true,
        Err(Unmaskable::Zip(_) | Unmaskable::Io(_)) => narrow(bytes, wanted).is_some(),
    }
}

fn text(bytes: &[u8], wanted: &Wanted<'_>) -> Option<Vec<u8>> {
    if let Ok(text) = str::from_utf8(bytes) {
        return without(text, wanted, MASK).map(String::into_bytes);
    }
    narrow(bytes, wanted)
        .or_else(|| {
            wide(bytes, u16::from_le_bytes, wanted).map(|text| widened(&text, u16::to_le_bytes))
        })
        .or_else(|| {
            wide(bytes, u16::from_be_bytes, wanted).map(|text| widened(&text, u16::to_be_bytes))
        })
}

fn narrow(bytes: &[u8], wanted: &Wanted<'_>) -> Option<Vec<u8>> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let masked = without(&text, wanted, MASK)?;
    masked.chars().map(|c| u8::try_from(c).ok()).collect()
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16, wanted: &Wanted<'_>) -> Option<String> {
    let (pairs, _) = bytes.as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    without(&text, wanted, MASK)
}

fn widened(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn workbook(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Option<Vec<u8>>, Unmaskable> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let mut made = ZipWriter::new(Cursor::new(Vec::new()));
    let mut changed = false;
    for index in 0..archive.len() {
        let mut part = archive.by_index(index)?;
        let (name, at) = (part.name()?.into_owned(), part.last_modified());
        let mut text = String::new();
        let read = part.by_ref().take(MOST_BYTES).read_to_string(&mut text);
        drop(part);
        let other = read.ok().and_then(|_| without(&text, wanted, MASK));
        if parted(other.as_deref().unwrap_or(&text), wanted) {
            return Err(Unmaskable::Parted(name));
        }
        match other {
            None => made.raw_copy_file(archive.by_index_raw(index)?)?,
            Some(other) => {
                let options =
                    SimpleFileOptions::default().last_modified_time(at.unwrap_or_default());
                made.start_file(name, options)?;
                made.write_all(other.as_bytes())?;
                changed = true;
            }
        }
    }
    let made = made.finish()?.into_inner();
    Ok(changed.then_some(made))
}

fn parted(xml: &str, wanted: &Wanted<'_>) -> bool {
    const ENDS: [&str; 5] = ["</si>", "</is>", "</c>", "</text:p>", "</table:table-cell>"];
    let mut cells = xml;
    while !cells.is_empty() {
        let end = ENDS
            .iter()
            .filter_map(|end| Some(cells.find(end)? + end.len()))
            .min();
        let (cell, rest) = cells.split_at(end.unwrap_or(cells.len()));
        if cell.contains('@') && !mentions(&bare(cell), wanted).is_empty() {
            return true;
        }
        cells = rest;
    }
    false
}

/// A text without its tags.
fn bare(xml: &str) -> String {
    let mut parts = xml.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |bare, part| {
        bare + part.split_once('>').map_or("", |(_, text)| text)
    })
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
    let ledger = regular::open(&path).map_err(NotForgotten::io(&path))?;
    for line in BufReader::new(ledger).lines() {
        let line = line.map_err(NotForgotten::io(&path))?;
        if masked_json(&line, &wanted, "").is_some() {
            return Ok(true);
        }
    }
    for source in sources(session) {
        let path = dir.join(&source.copy);
        let bytes = regular::read(&path, u64::MAX).map_err(NotForgotten::io(&path))?;
        let masked = copies::masked(&bytes, &wanted);
        if masked
            .map_err(|source| NotForgotten::Copy { path, source })?
            .is_some()
        {
            return Ok(true);
        }
    }
    let evidence = dir.join("evidence");
    let held = remove::holding(&evidence, mailbox, &wanted);
    Ok(!held.map_err(NotForgotten::io(evidence))?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(address: &str) -> bool {
        address == "jo@acme.com"
    }

    fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn part(zip: &[u8], name: &str) -> String {
        let mut archive = ZipArchive::new(Cursor::new(zip)).unwrap();
        let mut text = String::new();
        archive
            .by_name(name)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[test]
    fn text_keeps_its_encoding() {
        let masked = |bytes: &[u8]| masked(bytes, &wanted).unwrap();
        assert_eq!(
            masked(b"a,b\nAcme,Jo@acme.com\n").as_deref(),
            Some(&b"a,b\nAcme,[forgotten]\n"[..])
        );
        assert_eq!(
            masked(b"\xbe\xc6,jo@acme.com\n").as_deref(),
            Some(&b"\xbe\xc6,[forgotten]\n"[..])
        );
        let utf16 = |text: &str| [&[0xFF, 0xFE][..], &widened(text, u16::to_le_bytes)].concat();
        assert_eq!(
            masked(&utf16("é,jo@acme.com")),
            Some(utf16("é,[forgotten]"))
        );
        assert_eq!(masked(b"a,b\nAcme,ann.jo@acme.com\n"), None);
    }

    #[test]
    fn a_file_of_any_kind_holds_it_or_not() {
        assert!(holds(b"exit 0 # jo@acme.com\n", &wanted));
        assert!(holds(b"PK\x03\x04 no zip, jo@acme.com\n", &wanted));
        assert!(!holds(b"PK\x03\x04 no zip\n", &wanted));
        assert!(!holds(b"\xff\xfe\0", &wanted));
    }

    #[test]
    fn a_workbook_is_masked_part_by_part() {
        let strings = "<sst><si><t>Acme</t></si><si><t>jo&#64;acme.com</t></si></sst>";
        let zip = zipped(&[
            ("xl/sharedStrings.xml", strings),
            ("xl/media/x.png", "not XML"),
        ]);
        let masked = masked(&zip, &wanted).unwrap().unwrap();
        let expected = "<sst><si><t>Acme</t></si><si><t>[forgotten]</t></si></sst>";
        assert_eq!(part(&masked, "xl/sharedStrings.xml"), expected);
        assert_eq!(part(&masked, "xl/media/x.png"), "not XML");
        assert_eq!(super::masked(&masked, &wanted).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_masked_is_refused() {
        let parted = "<sst><si><r><t>jo</t></r><r><t>@acme.com</t></r></si></sst>";
        let zip = zipped(&[("xl/sharedStrings.xml", parted)]);
        assert!(matches!(masked(&zip, &wanted), Err(Unmaskable::Parted(_))));
        let apart = "<sst><si><t>jo</t></si><si><t>@acme.com</t></si></sst>";
        let zip = zipped(&[("xl/sharedStrings.xml", apart)]);
        assert_eq!(masked(&zip, &wanted).unwrap(), None);
        let xls = [COMPOUND, b"\0\0jo@acme.com\0"].concat();
        assert!(matches!(masked(&xls, &wanted), Err(Unmaskable::Binary)));
        let wide = [COMPOUND, &[0], &widened(" jo@acme.com ", u16::to_le_bytes)].concat();
        assert!(matches!(masked(&wide, &wanted), Err(Unmaskable::Binary)));
        assert_eq!(masked(COMPOUND, &wanted).unwrap(), None);
    }
}
