//! Reading `OpenDocument` spreadsheets, cell by cell.
//!
//! The file holds the text that each cell shows (`text:p`, ODF 1.3 part 3, §9.1.4), so that is
//! read, and never the value behind it; paragraphs of one cell are lines. Notes, drawings and
//! the cells under a merged one are left out. calamine gives values instead, without their
//! formats, and holds all sheets at once.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion, events::BytesStart};
use zip::ZipArchive;

use super::ods_table::TableReader;
use super::read_error::ReadError;
use super::row_sink::RowSink;
use super::sheets::{SheetName, choose_sheet};
use super::source::open_file;

/// How much of the manifest is searched for encryption.
const MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// A spreadsheet, with one sheet chosen.
pub(super) struct OdsSheet {
    archive: ZipArchive<BufReader<File>>,
    path: PathBuf,
    /// The sheet's name.
    pub name: String,
}

impl OdsSheet {
    /// Opens the spreadsheet at `path` and looks for the sheet.
    pub(super) fn open(path: &Path, wanted: Option<&str>) -> Result<Self, ReadError> {
        let mut archive = ZipArchive::new(BufReader::new(open_file(path)?))
            .map_err(|error| ReadError::damaged(path, error))?;
        check_encrypted(path, &mut archive)?;
        let sheets = {
            let mut xml = content(path, &mut archive)?;
            sheets_up_to(wanted, &mut xml).map_err(|error| ReadError::damaged(path, error))?
        };
        let name = choose_sheet(path, wanted, &sheets)?;
        Ok(Self {
            archive,
            path: path.to_path_buf(),
            name,
        })
    }

    /// Reads the sheet's cells in order.
    pub(super) fn read(&mut self, sink: &mut RowSink<'_>) -> Result<(), ReadError> {
        let damaged = |error: quick_xml::Error| ReadError::damaged(&self.path, error);
        let mut xml = content(&self.path, &mut self.archive)?;
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match xml.read_event_into(&mut buffer).map_err(damaged)? {
                Event::Start(start) if start.name().as_ref() == "table:table" => {
                    let name = attribute(&start, "table:name").map_err(damaged)?;
                    if name.as_deref() == Some(&self.name) {
                        return TableReader::new(&self.path, xml, sink).read();
                    }
                }
                Event::Eof => return Err(ReadError::damaged(&self.path, "its sheet is gone")),
                _ => {}
            }
        }
    }
}

fn check_encrypted(
    path: &Path,
    archive: &mut ZipArchive<BufReader<File>>,
) -> Result<(), ReadError> {
    let Ok(manifest) = archive.by_name("META-INF/manifest.xml") else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    manifest
        .take(MANIFEST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| ReadError::damaged(path, error))?;
    if String::from_utf8_lossy(&bytes).contains("encryption-data") {
        return Err(ReadError::Encrypted {
            path: path.to_path_buf(),
        });
    }
    Ok(())
}

fn content<'a>(
    path: &Path,
    archive: &'a mut ZipArchive<BufReader<File>>,
) -> Result<Reader<impl BufRead + use<'a>>, ReadError> {
    let part = archive
        .by_name("content.xml")
        .map_err(|error| ReadError::damaged(path, error))?;
    let mut xml = Reader::from_reader(BufReader::new(part));
    let config = xml.config_mut();
    config.expand_empty_elements = true;
    config.check_end_names = false;
    Ok(xml)
}

/// The sheets up to the one that will be read, or all if it is not among them.
fn sheets_up_to(
    wanted: Option<&str>,
    xml: &mut Reader<impl BufRead>,
) -> Result<Vec<SheetName>, quick_xml::Error> {
    let mut sheets = Vec::new();
    let mut hidden_styles = Vec::new();
    let mut style = None;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match xml.read_event_into(&mut buffer)? {
            Event::Start(start) => match start.name().as_ref() {
                "style:style" => style = attribute(&start, "style:name")?,
                "style:table-properties"
                    if attribute(&start, "table:display")?.as_deref() == Some("false") =>
                {
                    hidden_styles.extend(style.take());
                }
                "table:table" => {
                    let Some(name) = attribute(&start, "table:name")? else {
                        continue;
                    };
                    let styled = attribute(&start, "table:style-name")?;
                    let visible = !styled.is_some_and(|name| hidden_styles.contains(&name));
                    let found = wanted.map_or(visible, |wanted| wanted == name);
                    sheets.push(SheetName { name, visible });
                    if found {
                        return Ok(sheets);
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(sheets),
            _ => {}
        }
    }
}

/// The value of the attribute `name`, entities decoded.
pub(super) fn attribute(
    start: &BytesStart<'_>,
    name: &str,
) -> Result<Option<String>, quick_xml::Error> {
    start
        .try_get_attribute(name)?
        .map(|found| {
            found
                .normalized_value(XmlVersion::Implicit1_0)
                .map(std::borrow::Cow::into_owned)
        })
        .transpose()
}
