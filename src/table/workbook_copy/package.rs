//! The parts of a workbook's package and how they refer to each other (ECMA-376 part 2).

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::WorkbookError;

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
            return Err(WorkbookError::DuplicateParts);
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
                return Err(WorkbookError::Encrypted(name));
            }
            if parts.insert(folded(&name), index).is_some() {
                return Err(WorkbookError::DuplicateParts);
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
        let file = self.archive.by_index(index).map_err(|refused| {
            let source = match refused {
                ZipError::Io(source) => source,
                other => other.into(),
            };
            WorkbookError::Unreadable { part, source }
        })?;
        Ok(BufReader::with_capacity(64 * 1024, file))
    }

    fn index(&self, part: &str) -> Result<usize, WorkbookError> {
        let found = self.parts.get(&folded(part)).copied();
        found.ok_or_else(|| WorkbookError::NoPart(part.to_owned()))
    }

    /// A whole part as text, in whichever Unicode encoding it is.
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
            return Err(malformed(part, "is too large"));
        }
        Ok(encoding_rs::UTF_8.decode(&bytes).0.into_owned())
    }

    /// What the part refers to, targets resolved; nothing if it has no relationships.
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
            // `sheetId` has no prefix; the relationship's `id` always has one, of any name.
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

/// The name of the part that `target` names from within `folder`.
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

fn malformed(part: &str, what: &str) -> WorkbookError {
    WorkbookError::Malformed {
        part: part.to_owned(),
        what: what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_relative_absolute_or_written_with_backslashes() {
        for (folder, target, expected) in [
            ("xl", "worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            (
                "xl",
                "/xl/worksheets/sheet1.xml",
                "xl/worksheets/sheet1.xml",
            ),
            ("xl", "worksheets\\sheet1.xml", "xl/worksheets/sheet1.xml"),
            ("a/b", "../c/./d.xml", "a/c/d.xml"),
            ("", "../../etc", "etc"),
        ] {
            assert_eq!(resolve(folder, target), expected);
        }
    }

    #[test]
    fn sheets_have_prefixes_and_entities() {
        let text = "<x:workbook><x:sheets><x:sheet name=\"A &amp; &#48;\" sheetId=\"1\" rel:id=\"rId7\"/></x:sheets></x:workbook>";
        assert_eq!(
            sheets("w", text).unwrap(),
            [("A & 0".to_owned(), "rId7".to_owned())]
        );
        assert!(sheets("w", "<a><b></a>").is_err());
    }
}
