//! What a file is, by what it holds rather than by its name.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use super::decode::read_start;
use super::delimiter::sniff_delimiter;
use super::encoding::TextEncoding;
use super::encoding_detect::{Detected, detect};
use super::read_error::ReadError;
use super::source_format::{Delimiter, FormatWish, SourceFormat};

const ZIP: &[u8] = b"PK";
const OLE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// How much decoded text tells the delimiter.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// Tells the format of the file at `path`.
///
/// Workbooks are known by their content, whatever they are called. Text is delimited if its
/// name ends in `.csv`, `.tsv` or `.tab`, and JSON Lines if in `.jsonl` or `.ndjson`; all other
/// text is one item a line. A `wish` goes before the name, and never against the content.
pub fn identify(
    path: &Path,
    encoding: Option<&str>,
    wish: Option<FormatWish>,
) -> Result<SourceFormat, ReadError> {
    let wants_text = wish.filter(|wish| *wish != FormatWish::Xlsx);
    let found = workbook(path, wants_text.is_some())?;
    let other = |wanted: FormatWish, found| ReadError::OtherFormat {
        path: path.to_path_buf(),
        wanted: wanted.name(),
        found,
    };
    match (found, encoding, wish) {
        (Some(_), _, Some(wish)) if wants_text.is_some() => Err(other(wish, "a workbook")),
        (Some(_), Some(_), _) => Err(ReadError::EncodingOfWorkbook {
            path: path.to_path_buf(),
        }),
        (Some(format), None, _) => Ok(format),
        (None, _, Some(FormatWish::Xlsx)) => Err(other(FormatWish::Xlsx, "no workbook")),
        (None, name, _) => text(path, name, wish),
    }
}

/// Which workbook it is, if any; where text is wanted, a workbook's name promises none.
fn workbook(path: &Path, wants_text: bool) -> Result<Option<SourceFormat>, ReadError> {
    let mut file = open_file(path)?;
    let mut head = Vec::new();
    (&mut file)
        .take(8)
        .read_to_end(&mut head)
        .map_err(|source| ReadError::opening(path, source))?;
    if head == OLE {
        return Ok(Some(SourceFormat::Xls));
    }
    if head.starts_with(ZIP) && head.get(2).is_some_and(|&byte| byte < 0x20) {
        return packed(path, file).map(Some);
    }
    match extension(path).as_str() {
        _ if wants_text => Ok(None),
        "xlsx" | "xlsm" | "xls" | "ods" if head.is_empty() => Err(ReadError::NotAWorkbook {
            path: path.to_path_buf(),
            found: "this is an empty file",
        }),
        "xlsx" | "xlsm" | "xls" | "ods" => Err(ReadError::NotAWorkbook {
            path: path.to_path_buf(),
            found: if head.starts_with(b"<") {
                "this is a web page or XML under a workbook's name"
            } else {
                "this is something else under a workbook's name"
            },
        }),
        _ => Ok(None),
    }
}

fn packed(path: &Path, file: File) -> Result<SourceFormat, ReadError> {
    let archive =
        ZipArchive::new(BufReader::new(file)).map_err(|error| ReadError::damaged(path, error))?;
    let lower = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_lowercase();
    let names: Vec<String> = archive.file_names_raw().map(lower).collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    let ends = |end: &str| names.iter().any(|known| known.ends_with(end));
    if has("encrypted-package") {
        return Err(ReadError::Encrypted {
            path: path.to_path_buf(),
        });
    }
    if has("content.xml") && has("mimetype") {
        return Ok(SourceFormat::Ods);
    }
    if ends("workbook.bin") {
        return Err(ReadError::NotAWorkbook {
            path: path.to_path_buf(),
            found: "this is a binary workbook (.xlsb)",
        });
    }
    if !has("[content_types].xml") || !ends("workbook.xml") {
        return Err(ReadError::NotAWorkbook {
            path: path.to_path_buf(),
            found: "this is an archive of something else",
        });
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
    wish: Option<FormatWish>,
) -> Result<SourceFormat, ReadError> {
    let encoding = match name {
        Some(name) => TextEncoding::named(name).map_err(|source| ReadError::UnknownEncoding {
            path: path.to_path_buf(),
            source,
        })?,
        None => {
            match detect(&mut open_file(path)?)
                .map_err(|source| ReadError::opening(path, source))?
            {
                Detected::Text(encoding) => encoding,
                Detected::Binary => {
                    return Err(ReadError::NotText {
                        path: path.to_path_buf(),
                    });
                }
            }
        }
    };
    let ending = extension(path);
    let by_name = match ending.as_str() {
        "csv" | "tsv" | "tab" => FormatWish::Csv,
        "jsonl" | "ndjson" => FormatWish::Jsonl,
        _ => FormatWish::Lines,
    };
    Ok(match wish.unwrap_or(by_name) {
        FormatWish::Csv => SourceFormat::Csv {
            delimiter: delimiter(path, &ending, encoding)?,
            encoding,
        },
        FormatWish::Jsonl => SourceFormat::Jsonl { encoding },
        FormatWish::Lines | FormatWish::Xlsx => SourceFormat::Lines { encoding },
    })
}

fn delimiter(path: &Path, ending: &str, encoding: TextEncoding) -> Result<Delimiter, ReadError> {
    if matches!(ending, "tsv" | "tab") {
        return Ok(Delimiter::Tab);
    }
    let (sample, whole) = read_start(path, encoding, SAMPLE_BYTES)?;
    Ok(sniff_delimiter(&sample, whole))
}

/// Opens the list at `path`, which must be a regular file.
pub fn open_file(path: &Path) -> Result<File, ReadError> {
    let failed = |source| ReadError::opening(path, source);
    // A directory opens on some systems, and a pipe would be read twice: ask first.
    let kind = std::fs::metadata(path).map_err(failed)?;
    if kind.is_dir() {
        return Err(ReadError::Directory {
            path: path.to_path_buf(),
        });
    }
    if !kind.is_file() {
        return Err(ReadError::NotAFile {
            path: path.to_path_buf(),
        });
    }
    File::open(path).map_err(failed)
}

fn extension(path: &Path) -> String {
    path.extension()
        .map(|end| end.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}
