//! Recognises forgotten addresses in submissions, and removes them from records.

use std::io::{Cursor, Read as _, Write as _};

use serde_json::value::RawValue;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::judge::recorded::NewJudgement;
use crate::quest::field::FieldKind;
use crate::quest::{QuestKind, Submission, Verdict};
use crate::session::{
    Forgetting, LineReader, QuestRecord, SessionError, State, Suppressed, Worker,
};
use crate::world::email_text::{Wanted, mentions, without};
use crate::world::sandbox::{FileSeen, Sandbox};
use crate::world::tree::TreePath;

fn wanted(suppressed: &[Suppressed]) -> impl Fn(&str) -> bool {
    |address| suppressed.iter().any(|one| one.is(address))
}

/// The masked form of a `submission` that contains a forgotten address, in a field or in a file that
/// a field names; `None` if it contains none.
pub fn masked_submission(
    forgetting: &Forgetting,
    submission: &Submission,
    kind: &QuestKind,
    sandbox: &dyn Sandbox,
) -> Option<Submission> {
    let suppressed = forgetting.suppressed();
    if suppressed.is_empty() {
        return None;
    }
    let wanted = wanted(suppressed);
    let mask = |text: &str| without(text, &wanted, MASK);
    let fields = match submission {
        Submission::None(why) => return mask(why).map(Submission::None),
        Submission::Fields(fields) => fields,
    };
    let mut masked = fields.clone();
    // A flag instead of a comparison, because a file could have the mask as its name.
    let mut found = false;
    for (name, text) in &mut masked {
        let field = kind.fields.iter().find(|field| field.name == *name);
        let names_file = field.is_some_and(|field| field.shape.kind() == FieldKind::File);
        let path = TreePath::parse(text).ok().filter(|_| names_file);
        let file = path.map(|path| sandbox.file(&path));
        let other = match file {
            Some(FileSeen::File(bytes)) if holds(&bytes, &wanted) => Some(MASK.to_owned()),
            _ => mask(text),
        };
        if let Some(other) = other {
            *text = other;
            found = true;
        }
    }
    found.then_some(Submission::Fields(masked))
}

pub fn is_named(forgetting: &Forgetting, worker: &Worker) -> bool {
    mention_one(forgetting.suppressed(), worker.as_str())
}

/// `text` without forgotten addresses; `None` if it contains none.
pub fn redacted(forgetting: &Forgetting, text: &str) -> Option<String> {
    let suppressed = forgetting.suppressed();
    // Most sessions have forgotten nothing, so nothing must be searched.
    let searched = Some(text).filter(|_| !suppressed.is_empty())?;
    without(searched, &wanted(suppressed), MASK)
}

pub fn names(suppressed: &[Suppressed], submission: &Submission) -> bool {
    match submission {
        Submission::None(why) => mention_one(suppressed, why),
        Submission::Fields(fields) => fields.values().any(|text| mention_one(suppressed, text)),
    }
}

fn mention_one(suppressed: &[Suppressed], text: &str) -> bool {
    !suppressed.is_empty() && !mentions(text, &wanted(suppressed)).is_empty()
}

/// The judgement without forgotten addresses from pages, neither in its facts nor in its bodies.
///
/// A PASS stays unchanged, because it is judged again from its pages, which are already stored without
/// the addresses that it does not name.
pub(crate) fn without_forgotten(forgetting: &Forgetting, made: NewJudgement) -> NewJudgement {
    let suppressed = forgetting.suppressed();
    if suppressed.is_empty() || made.judgement.verdict == Verdict::Pass {
        return made;
    }
    let wanted = wanted(suppressed);
    let said = serde_json::to_string(&made.judgement).unwrap_or_default();
    let other = masked_json(&said, &wanted, MASK);
    let other = other.and_then(|other| serde_json::from_str(&other).ok());
    let mut recording = made.recording;
    recording
        .bodies
        .retain(|_, body| mentions(&String::from_utf8_lossy(body), &wanted).is_empty());
    NewJudgement {
        judgement: other.unwrap_or(made.judgement),
        recording,
        ..made
    }
}

/// Whether a list contains a forgotten address, or may contain one that cannot be found.
pub fn brings_back(forgetting: &Forgetting, list: &[u8]) -> bool {
    let suppressed = forgetting.suppressed();
    let wanted = wanted(suppressed);
    !suppressed.is_empty() && !matches!(masked_list(list, &wanted), Ok(None))
}

/// Whether an address was removed from the submission that settled the quest.
pub fn is_forgotten(reader: &mut LineReader, record: &QuestRecord) -> Result<bool, SessionError> {
    let locked = matches!(record.progress.state, State::Pass | State::Review);
    match record.last.filter(|_| locked) {
        Some(last) if reader.is_redacted(last.line)? => {
            let last = reader.last_attempt(record)?;
            Ok(last.is_some_and(|last| is_masked(&last.value.submission)))
        }
        _ => Ok(false),
    }
}

/// Whether an address was removed from the evidence of the quest's last judgement.
pub fn is_evidence_redacted(
    forgetting: &Forgetting,
    reader: &mut LineReader,
    record: &QuestRecord,
    evidence: &RawValue,
) -> Result<bool, SessionError> {
    let lines = [
        record.last.map(|last| last.line),
        record.resolution.map(|it| it.line),
    ];
    let mut redacted = forgetting.empties(evidence.get());
    for line in lines.into_iter().flatten() {
        redacted |= reader.is_redacted(line)?;
    }
    Ok(redacted)
}

pub fn is_masked(submission: &Submission) -> bool {
    match submission {
        Submission::None(why) => why.contains(MASK),
        Submission::Fields(fields) => fields.values().any(|text| text.contains(MASK)),
    }
}

/// Replaces a forgotten address.
pub const MASK: &str = "[forgotten]";

#[derive(Debug, thiserror::Error)]
pub enum Unmaskable {
    #[error(
        "comail cannot change a binary workbook: save the list as .xlsx without the address, scan \
         it again, and remove this session"
    )]
    Binary,
    #[error(
        "formatting splits the address in a cell of {0}: remove the address from the list, scan it \
         again, and remove this session"
    )]
    Parted(String),
    #[error("cannot rewrite the workbook")]
    Zip(#[from] zip::result::ZipError),
    #[error("cannot read a part of the workbook")]
    Io(#[from] std::io::Error),
}

const MAX_BYTES: u64 = 1 << 30;

const COMPOUND: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0];

/// The bytes of a list without the address; `None` if the list does not contain it.
pub fn masked_list(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Option<Vec<u8>>, Unmaskable> {
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

fn holds(bytes: &[u8], wanted: &Wanted<'_>) -> bool {
    match masked_list(bytes, wanted) {
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
        let read = part.by_ref().take(MAX_BYTES).read_to_string(&mut text);
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

fn bare(xml: &str) -> String {
    let mut parts = xml.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |bare, part| {
        bare + part.split_once('>').map_or("", |(_, text)| text)
    })
}

/// `json` without the address; `None` if it does not contain it.
///
/// In names of workers, which cannot contain brackets, `worker` replaces it.
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
    use proptest::prelude::*;
    use serde_json::{Value, json};

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
    fn masking_keeps_the_encoding() {
        let masked = |bytes: &[u8]| masked_list(bytes, &wanted).unwrap();
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
    fn finds_an_address_in_files_of_any_kind() {
        assert!(holds(b"exit 0 # jo@acme.com\n", &wanted));
        assert!(holds(b"PK\x03\x04 no zip, jo@acme.com\n", &wanted));
        assert!(!holds(b"PK\x03\x04 no zip\n", &wanted));
        assert!(!holds(b"\xff\xfe\0", &wanted));
    }

    #[test]
    fn masks_a_workbook_part_by_part() {
        let strings = "<sst><si><t>Acme</t></si><si><t>jo&#64;acme.com</t></si></sst>";
        let zip = zipped(&[
            ("xl/sharedStrings.xml", strings),
            ("xl/media/x.png", "not XML"),
        ]);
        let masked = masked_list(&zip, &wanted).unwrap().unwrap();
        let expected = "<sst><si><t>Acme</t></si><si><t>[forgotten]</t></si></sst>";
        assert_eq!(part(&masked, "xl/sharedStrings.xml"), expected);
        assert_eq!(part(&masked, "xl/media/x.png"), "not XML");
        assert_eq!(masked_list(&masked, &wanted).unwrap(), None);
    }

    #[test]
    fn rejects_lists_that_cannot_be_masked() {
        let parted = "<sst><si><r><t>jo</t></r><r><t>@acme.com</t></r></si></sst>";
        let zip = zipped(&[("xl/sharedStrings.xml", parted)]);
        assert!(matches!(
            masked_list(&zip, &wanted),
            Err(Unmaskable::Parted(_))
        ));
        let apart = "<sst><si><t>jo</t></si><si><t>@acme.com</t></si></sst>";
        let zip = zipped(&[("xl/sharedStrings.xml", apart)]);
        assert_eq!(masked_list(&zip, &wanted).unwrap(), None);
        let xls = [COMPOUND, b"\0\0jo@acme.com\0"].concat();
        assert!(matches!(
            masked_list(&xls, &wanted),
            Err(Unmaskable::Binary)
        ));
        let wide = [COMPOUND, &[0], &widened(" jo@acme.com ", u16::to_le_bytes)].concat();
        assert!(matches!(
            masked_list(&wide, &wanted),
            Err(Unmaskable::Binary)
        ));
        assert_eq!(masked_list(COMPOUND, &wanted).unwrap(), None);
    }

    fn json_masked(json: &str) -> Option<String> {
        masked_json(json, &|address| address == "jo@acme.com", "forgotten-1")
    }

    #[test]
    fn changes_only_strings_with_the_address() {
        let body = r#"{"b": 1.50,"a":["x\"y","Jo\u0040acme.com"],"jo@acme.com":{"holds":["mailbox jo@acme.com"]}}"#;
        let expected = r#"{"b": 1.50,"a":["x\"y","[forgotten]"],"[forgotten]":{"holds":["mailbox [forgotten]"]}}"#;
        assert_eq!(json_masked(body).as_deref(), Some(expected));
        assert_eq!(json_masked(r#"{"a":"b\\"}"#), None);
        assert_eq!(json_masked("\"jo@acme.com"), None, "no JSON");
    }

    #[test]
    fn a_masked_worker_name_stays_valid() {
        let body = r#"{"worker":"jo@acme.com","note":"jo@acme.com"}"#;
        let expected = r#"{"worker":"forgotten-1","note":"[forgotten]"}"#;
        assert_eq!(json_masked(body).as_deref(), Some(expected));
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
        fn masked_json_is_valid_and_lacks_the_address(value in any_json()) {
            let body = value.to_string();
            let other = json_masked(&body).unwrap_or_else(|| body.clone());
            prop_assert!(serde_json::from_str::<Value>(&other).is_ok(), "{other}");
            prop_assert_eq!(json_masked(&other), None);
            let lower = other.to_lowercase();
            for spelling in ["jo@acme.com", "jo%40acme.com", "jo&#64;acme.com", "jo\\u0040acme.com"] {
                prop_assert!(!lower.contains(spelling), "{other}");
            }
        }
    }
}
