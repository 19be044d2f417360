//! What a file is: its content decides before its name does.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use zip::ZipArchive;

use super::encoding::{TextEncoding, decode, detect, sniff_delimiter};
use super::error::{Fault, ReadError, Result};
use crate::base::Digest;
use crate::quest::file::InputFormat;

const ZIP: &[u8] = b"PK";
const PDF: &[u8] = b"%PDF-";
const OLE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// How much text is enough to detect the delimiter.
const SAMPLE_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    Xlsx,
    Xlsm,
    Xls,
    Ods,
    Csv {
        /// Comma, semicolon or tab.
        delimiter: u8,
        encoding: TextEncoding,
    },
    Jsonl {
        encoding: TextEncoding,
    },
    Lines {
        encoding: TextEncoding,
    },
}

impl SourceFormat {
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Xlsm => "xlsm",
            Self::Xls => "xls",
            Self::Ods => "ods",
            Self::Csv {
                delimiter: b'\t', ..
            } => "tsv",
            Self::Csv { .. } => "csv",
            Self::Jsonl { .. } => "jsonl",
            Self::Lines { .. } => "txt",
        }
    }
}

/// Determines the format of the file at `path`; of text it returns the text too.
///
/// A workbook is recognised by its content, whatever its name. Text is delimited if its name ends
/// in `.csv`, `.tsv` or `.tab`, and JSON Lines if in `.jsonl` or `.ndjson`; all other text is one
/// item per line. A `wish` overrides the name, but never the content.
pub(super) fn identify(
    path: &Path,
    encoding: Option<&str>,
    wish: Option<InputFormat>,
) -> Result<(SourceFormat, String)> {
    let wants_workbook = wish == Some(InputFormat::Xlsx);
    let wants_text = wish.is_some() && !wants_workbook;
    match workbook(path, wants_text)? {
        Some(_) if wants_text => Err(other_format("text", "a workbook")),
        Some(_) if encoding.is_some() => {
            Err("this is a workbook, which has no encoding to choose; remove --encoding".into())
        }
        Some(format) => Ok((format, String::new())),
        None if wants_workbook => Err(other_format("xlsx", "no workbook")),
        None => text(path, encoding, wish),
    }
}

fn other_format(wanted: &str, found: &str) -> Fault {
    format!("the format should be {wanted}, but this is {found}; name another format, or none")
        .into()
}

/// Which kind of workbook the file is, if it is one. A file that only has the name of a workbook
/// is an error, unless text is wanted.
fn workbook(path: &Path, wants_text: bool) -> Result<Option<SourceFormat>> {
    let mut file = open_regular(path)?;
    let mut head = Vec::new();
    (&mut file).take(8).read_to_end(&mut head)?;
    if head == OLE {
        return Ok(Some(SourceFormat::Xls));
    }
    if head.starts_with(ZIP) && head.get(2).is_some_and(|&byte| byte < 0x20) {
        return packed(path, file).map(Some);
    }
    if wants_text || !matches!(extension(path).as_str(), "xlsx" | "xlsm" | "xls" | "ods") {
        return Ok(None);
    }
    Err(not_a_workbook(match head.first() {
        None => "an empty file",
        Some(b'<') => "a web page or XML with the name of a workbook",
        Some(_) => "another kind of file with the name of a workbook",
    }))
}

fn not_a_workbook(found: &str) -> Fault {
    format!("this is {found}, not a workbook that can be read; save it as .xlsx or .csv").into()
}

fn packed(path: &Path, file: File) -> Result<SourceFormat> {
    let archive = ZipArchive::new(BufReader::new(file)).map_err(Fault::damaged)?;
    let lower = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_lowercase();
    let names: Vec<String> = archive.file_names_raw().map(lower).collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    let ends = |end: &str| names.iter().any(|known| known.ends_with(end));
    if has("encrypted-package") {
        return Err(Fault::encrypted());
    }
    if has("content.xml") && has("mimetype") {
        return Ok(SourceFormat::Ods);
    }
    if ends("workbook.bin") {
        return Err(not_a_workbook("a binary workbook (.xlsb)"));
    }
    if !has("[content_types].xml") || !ends("workbook.xml") {
        return Err(not_a_workbook("an archive of something else"));
    }
    if ends("vbaproject.bin") || extension(path) == "xlsm" {
        Ok(SourceFormat::Xlsm)
    } else {
        Ok(SourceFormat::Xlsx)
    }
}

fn text(
    path: &Path,
    name: Option<&str>,
    wish: Option<InputFormat>,
) -> Result<(SourceFormat, String)> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    let encoding = match name {
        Some(name) => TextEncoding::named(name)?,
        // A PDF is not text, although its bytes may all be ASCII.
        None => detect(&bytes).filter(|_| !bytes.starts_with(PDF)).ok_or(
            "this is neither a workbook nor text; a list is .xlsx, .xlsm, .xls, .ods, .csv, .tsv, \
             .jsonl or lines of text",
        )?,
    };
    let text = decode(&bytes, encoding)?;
    let ending = extension(path);
    let by_name = match ending.as_str() {
        "csv" | "tsv" | "tab" => InputFormat::Csv,
        "jsonl" | "ndjson" => InputFormat::Jsonl,
        "json" if wish.is_none() => {
            let why = "a list is not read from .json; save it as JSON Lines (.jsonl), with one \
                       object per line";
            return Err(why.into());
        }
        _ => InputFormat::Lines,
    };
    let format = match wish.unwrap_or(by_name) {
        InputFormat::Csv => SourceFormat::Csv {
            delimiter: match ending.as_str() {
                "tsv" | "tab" => b'\t',
                _ => delimiter(&text),
            },
            encoding,
        },
        InputFormat::Jsonl => SourceFormat::Jsonl { encoding },
        _ => SourceFormat::Lines { encoding },
    };
    Ok((format, text))
}

fn delimiter(text: &str) -> u8 {
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    let is_whole = sample.len() == text.len();
    sniff_delimiter(&String::from_utf8_lossy(sample), is_whole)
}

pub(super) fn open_regular(path: &Path) -> Result<File> {
    // A directory opens on some systems, and a pipe would be read twice: ask first.
    let kind = std::fs::metadata(path)?;
    if kind.is_dir() {
        return Err(Fault::NoFile("this is a directory; name a file in it"));
    }
    if !kind.is_file() {
        return Err(Fault::NoFile(
            "this is not a regular file, but a list is read more than once; save it to a file first",
        ));
    }
    Ok(File::open(path)?)
}

/// The digest of the list at `path`.
///
/// Taken before the list is read, it shows whether a copy that is made afterwards holds what was
/// read.
pub fn digest(path: &Path) -> std::result::Result<Digest, ReadError> {
    let digest = open_regular(path).and_then(|mut file| Ok(Digest::of_reader(&mut file)?));
    digest.map_err(|fault| fault.at(path))
}

fn extension(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default();
    ending.to_string_lossy().to_ascii_lowercase()
}
