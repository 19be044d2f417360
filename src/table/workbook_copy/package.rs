//! The parts of a workbook's package and how they refer to each other (ECMA-376 part 2).

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::io::{BufRead, BufReader, Read, Seek};
use std::ops::Range;

use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesDecl, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

/// How many bytes a part that is read as a whole may have.
const LARGEST_INDEX: u64 = 64 * 1024 * 1024;

pub(super) struct Package<R> {
    pub(super) archive: ZipArchive<R>,
    parts: HashMap<String, usize>,
}

struct Relationship {
    id: String,
    kind: String,
    target: String,
}

impl<R: Read + Seek> Package<R> {
    /// Opens a package; duplicate and encrypted parts are refused.
    pub(super) fn open(source: R) -> Result<Self, WorkbookError> {
        let mut archive = ZipArchive::new(source).map_err(WorkbookError::NotAPackage)?;
        if archive.has_duplicate_names() {
            return Err(WorkbookError::Malformed(DUPLICATE_PARTS.to_owned()));
        }
        let mut parts = HashMap::with_capacity(archive.len());
        for index in 0..archive.len() {
            let part = archive
                .by_index_raw(index)
                .map_err(WorkbookError::NotAPackage)?;
            let name = part
                .name()
                .map_err(WorkbookError::NotAPackage)?
                .into_owned();
            if part.encrypted() {
                return Err(WorkbookError::malformed(&name, "is encrypted"));
            }
            if parts.insert(folded(&name), index).is_some() {
                return Err(WorkbookError::Malformed(DUPLICATE_PARTS.to_owned()));
            }
        }
        Ok(Self { archive, parts })
    }

    /// The index of the part that holds the sheet of this name.
    pub(super) fn sheet(&mut self, name: &str) -> Result<usize, WorkbookError> {
        let workbook = self
            .relationships("")?
            .into_iter()
            .find(|relationship| relationship.kind.ends_with("/officeDocument"))
            .map_or_else(|| "xl/workbook.xml".to_owned(), |found| found.target);
        let relationships = self.relationships(&workbook)?;
        let sheets = sheets(&workbook, &self.text(&workbook)?)?;
        let worksheet = |id: &str| {
            let of_id = |relationship: &&Relationship| relationship.id == id;
            relationships
                .iter()
                .find(of_id)
                .filter(|relationship| relationship.kind.ends_with("/worksheet"))
        };
        let found = sheets
            .iter()
            .find(|(title, _)| title == name)
            .and_then(|(_, id)| worksheet(id));
        let Some(sheet) = found else {
            let titles = sheets.iter().filter(|(_, id)| worksheet(id).is_some());
            let titles: Vec<String> = titles.map(|(title, _)| format!("{title:?}")).collect();
            return Err(WorkbookError::NoSheet {
                name: name.to_owned(),
                found: titles.join(", "),
            });
        };
        self.index(&sheet.target)
    }

    pub(super) fn name(&self, index: usize) -> String {
        match self.archive.name_for_index(index) {
            Some(Ok(name)) => name.into_owned(),
            _ => String::new(),
        }
    }

    pub(super) fn content(
        &mut self,
        index: usize,
    ) -> Result<BufReader<impl Read + use<'_, R>>, WorkbookError> {
        let part = self.name(index);
        let file = self.archive.by_index(index);
        let file = file.map_err(|refused| WorkbookError::unreadable(part, refused))?;
        Ok(BufReader::with_capacity(64 * 1024, file))
    }

    fn index(&self, part: &str) -> Result<usize, WorkbookError> {
        let found = self.parts.get(&folded(part)).copied();
        found.ok_or_else(|| WorkbookError::Malformed(format!("has no part {part:?}")))
    }

    /// A whole part as text, in any Unicode encoding.
    fn text(&mut self, part: &str) -> Result<String, WorkbookError> {
        let index = self.index(part)?;
        let mut bytes = Vec::new();
        self.content(index)?
            .take(LARGEST_INDEX + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| WorkbookError::Unreadable {
                part: part.to_owned(),
                source,
            })?;
        if bytes.len() as u64 > LARGEST_INDEX {
            return Err(WorkbookError::malformed(part, "is too large"));
        }
        Ok(encoding_rs::UTF_8.decode(&bytes).0.into_owned())
    }

    fn relationships(&mut self, part: &str) -> Result<Vec<Relationship>, WorkbookError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let path = resolve(folder, &format!("_rels/{file}.rels"));
        if self.index(&path).is_err() {
            return Ok(Vec::new());
        }
        let text = self.text(&path)?;
        let mut found = Vec::new();
        each_element(&path, &text, |element| {
            if element.local_name().as_ref() != "Relationship" {
                return Ok(());
            }
            let get = |name| attribute(element, |key| key == name);
            let (id, kind, target) = (get("Id")?, get("Type")?, get("Target")?);
            found.push(Relationship {
                id: id.unwrap_or_default(),
                kind: kind.unwrap_or_default(),
                target: resolve(folder, &target.unwrap_or_default()),
            });
            Ok(())
        })?;
        Ok(found)
    }
}

/// The sheets' names and the ids of their relationships, in order.
fn sheets(part: &str, text: &str) -> Result<Vec<(String, String)>, WorkbookError> {
    let mut found = Vec::new();
    each_element(part, text, |element| {
        if element.local_name().as_ref() == "sheet" {
            let title = attribute(element, |key| key == "name")?;
            // `sheetId` has no prefix; the relationship's `id` always has one.
            let id = attribute(element, |key| key.ends_with(":id"))?;
            found.push((title.unwrap_or_default(), id.unwrap_or_default()));
        }
        Ok(())
    })?;
    Ok(found)
}

fn each_element(
    part: &str,
    text: &str,
    mut visit: impl FnMut(&BytesStart<'_>) -> quick_xml::Result<()>,
) -> Result<(), WorkbookError> {
    let mut reader = Reader::from_str(text);
    let mut read = || -> quick_xml::Result<()> {
        loop {
            match reader.read_event()? {
                Event::Start(element) | Event::Empty(element) => visit(&element)?,
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    };
    read().map_err(|source| WorkbookError::Xml {
        part: part.to_owned(),
        source,
    })
}

fn attribute(
    element: &BytesStart<'_>,
    wanted: impl Fn(&str) -> bool,
) -> quick_xml::Result<Option<String>> {
    for attribute in element.attributes() {
        let attribute = attribute?;
        if wanted(attribute.key.into_inner()) {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// The name of the part that `target` refers to from within `folder`.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let start = if target.starts_with('/') { "" } else { folder };
    let mut path: Vec<&str> = Vec::new();
    for step in start.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

fn folded(part: &str) -> String {
    part.replace('\\', "/")
        .trim_start_matches('/')
        .to_lowercase()
}

const DUPLICATE_PARTS: &str = "contains two parts with the same name";
const NOT_UTF_8: &str = "is not in UTF-8";

/// How many bytes one tag, text or comment may have.
const LONGEST_TOKEN: usize = 64 * 1024 * 1024;

pub(super) struct Tokens<R> {
    reader: Reader<Tee<R>>,
    buffer: Vec<u8>,
    part: String,
}

/// An event and its bytes. The bytes of all events together are those of the part.
pub(super) struct Token<'a> {
    pub(super) event: Event<'a>,
    pub(super) raw: &'a [u8],
}

impl<R: BufRead> Tokens<R> {
    pub(super) fn new(part: &str, mut reader: R) -> Result<Self, WorkbookError> {
        let part = part.to_owned();
        match reader.fill_buf() {
            Ok([0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, ..] | [_, 0, ..]) => {
                return Err(WorkbookError::malformed(&part, NOT_UTF_8));
            }
            Ok(_) => {}
            Err(source) => return Err(WorkbookError::Unreadable { part, source }),
        }
        let mut reader = Reader::from_reader(Tee {
            inner: reader,
            taken: Vec::new(),
        });
        reader.config_mut().check_end_names = true;
        reader.config_mut().allow_dangling_amp = false;
        Ok(Self {
            reader,
            buffer: Vec::new(),
            part,
        })
    }

    /// The next event; always [`Event::Eof`] at the end.
    pub(super) fn next(&mut self) -> Result<Token<'_>, WorkbookError> {
        self.buffer.clear();
        self.reader.get_mut().taken.clear();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(source) => {
                let part = self.part.clone();
                return Err(WorkbookError::Xml { part, source });
            }
        };
        if let Event::Decl(declaration) = &event
            && !is_utf8(declaration)
        {
            return Err(WorkbookError::malformed(&self.part, NOT_UTF_8));
        }
        let raw = &self.reader.get_ref().taken;
        Ok(Token { event, raw })
    }

    pub(super) fn part(&self) -> &str {
        &self.part
    }
}

fn is_utf8(declaration: &BytesDecl<'_>) -> bool {
    match declaration.encoding() {
        None => true,
        Some(Ok(name)) => ["utf-8", "utf8", "us-ascii", "ascii"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known)),
        Some(Err(_)) => false,
    }
}

struct Tee<R> {
    inner: R,
    taken: Vec<u8>,
}

impl<R: BufRead> Read for Tee<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Tee<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken.len() > LONGEST_TOKEN {
            let message = format!("a single piece of XML is over {LONGEST_TOKEN} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // `consume` is called after `fill_buf`, whose bytes the inner reader still holds.
        if let Ok(available) = self.inner.fill_buf() {
            let taken = &available[..amount.min(available.len())];
            self.taken.extend_from_slice(taken);
        }
        self.inner.consume(amount);
    }
}

/// The range of the attribute's value in a start or empty tag, without its quotes.
///
/// Names are compared as written, prefix and all.
pub(super) fn value_range(tag: &[u8], name: &str) -> Option<Range<usize>> {
    let text = std::str::from_utf8(tag).ok()?;
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    let end_of_name = inner.find(is_space)?;
    let mut attributes = Attributes::new(inner, end_of_name);
    let mut found = attributes.with_checks(false).map_while(Result::ok);
    let found = found.find(|attribute| attribute.key.into_inner() == name)?;
    let Cow::Borrowed(value) = found.value else {
        return None;
    };
    // The value is a part of the tag.
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    Some(start..start + value.len())
}

pub(super) fn value<'a>(tag: &'a [u8], name: &str) -> Option<&'a str> {
    std::str::from_utf8(&tag[value_range(tag, name)?]).ok()
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    #[error(
        "this is not an .xlsx or .xlsm workbook, or it is damaged or protected by a password; open it in a spreadsheet program and save it as .xlsx without one"
    )]
    NotAPackage(#[source] ZipError),
    #[error("the workbook has no worksheet {name:?}; its worksheets: {found}")]
    NoSheet { name: String, found: String },
    #[error("the workbook's part {part:?} cannot be read; it may be damaged")]
    Unreadable { part: String, source: io::Error },
    #[error(
        "the workbook's part {part:?} is not well-formed XML; open it in a spreadsheet program and save it again"
    )]
    Xml {
        part: String,
        source: quick_xml::Error,
    },
    #[error("the workbook {0}; open it in a spreadsheet program and save it again")]
    Malformed(String),
}

impl WorkbookError {
    pub(super) fn unreadable(part: String, refused: ZipError) -> Self {
        let source = refused.into();
        Self::Unreadable { part, source }
    }

    pub(super) fn malformed(part: &str, what: &str) -> Self {
        Self::Malformed(format!("has a part {part:?} that {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    fn raws(xml: &[u8], window: usize) -> Result<Vec<Vec<u8>>, WorkbookError> {
        let mut tokens = Tokens::new("part", BufReader::with_capacity(window, xml))?;
        let mut raws = Vec::new();
        loop {
            let token = tokens.next()?;
            raws.push(token.raw.to_vec());
            if matches!(token.event, Event::Eof) {
                return Ok(raws);
            }
        }
    }

    #[test]
    fn every_event_has_its_own_bytes() {
        let pieces = [
            "\u{FEFF}<?xml version='1.0' encoding=\"UTF-8\"?>",
            "\r\n",
            "<!DOCTYPE a  >",
            "<a  b = '>' >",
            "t",
            "&lt;",
            "\t",
            "<!-- > -->",
            "<![CDATA[<x>]]>",
            "<c d='1' />",
            "<?pi x?>",
            "</a >",
            "\n",
        ];
        let xml = pieces.concat();
        for window in [3, 7, 4096] {
            let raws = raws(xml.as_bytes(), window).unwrap();
            let expected = pieces
                .iter()
                .copied()
                .chain([""])
                .map(|piece| piece.as_bytes().to_vec());
            assert_eq!(raws, expected.collect::<Vec<_>>(), "{window}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_nothing_is_lost(xml in "[<>/!?a\\-\\[\\]&;='\" CDAT]{0,60}") {
            if let Ok(raws) = raws(xml.as_bytes(), 5) {
                prop_assert_eq!(raws.concat(), xml.into_bytes());
            }
        }
    }

    #[test]
    fn values_are_found_by_whole_names() {
        let tag = b"<x:c x:r=\"Z9\" dr='1'\r\n r = 'A\"1' s=\"\" t=\"a>b\"/>";
        assert_eq!(value(tag, "r"), Some("A\"1"));
        assert_eq!(value(tag, "s"), Some(""));
        assert_eq!(value(tag, "t"), Some("a>b"));
        assert_eq!(value(tag, "x"), None);
    }

    #[test]
    fn damaged_tags_have_no_values() {
        for tag in [
            "",
            "<",
            "<c",
            "<c r",
            "<c r=",
            "<c r=\"1",
            "<c r=1>",
            "<c/>",
            "< >",
            "<c = \"1\">",
        ] {
            assert_eq!(value(tag.as_bytes(), "r"), None, "{tag}");
        }
    }
}
