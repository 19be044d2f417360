//! What a file is, by what it holds rather than by its name.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use zip::ZipArchive;

use super::encoding::{Delimiter, Detected, TextEncoding, detect, read_start, sniff_delimiter};
use super::read_error::ReadError;

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
                "this is a web page or XML with the name of a workbook"
            } else {
                "this is another kind of file with the name of a workbook"
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

/// The format of a list, as `scan` found it and the session keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceFormat {
    Xlsx,
    Xlsm,
    Xls,
    Ods,
    Csv {
        delimiter: Delimiter,
        encoding: TextEncoding,
    },
    Jsonl {
        encoding: TextEncoding,
    },
    Lines {
        encoding: TextEncoding,
    },
}

/// The format that somebody says a list has, whatever its name ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatWish {
    Xlsx,
    Csv,
    Jsonl,
    Lines,
}

impl FormatWish {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Lines => "lines",
        }
    }

    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Lines => "txt",
            other => other.name(),
        }
    }
}

impl SourceFormat {
    #[must_use]
    pub const fn is_workbook(self) -> bool {
        matches!(self, Self::Xlsx | Self::Xlsm | Self::Xls | Self::Ods)
    }

    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Xlsm => "xlsm",
            Self::Xls => "xls",
            Self::Ods => "ods",
            Self::Csv {
                delimiter: Delimiter::Tab,
                ..
            } => "tsv",
            Self::Csv { .. } => "csv",
            Self::Jsonl { .. } => "jsonl",
            Self::Lines { .. } => "txt",
        }
    }

    #[must_use]
    pub const fn encoding(self) -> Option<TextEncoding> {
        match self {
            Self::Csv { encoding, .. } | Self::Jsonl { encoding } | Self::Lines { encoding } => {
                Some(encoding)
            }
            Self::Xlsx | Self::Xlsm | Self::Xls | Self::Ods => None,
        }
    }
}

impl fmt::Display for SourceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xlsx => f.write_str("xlsx workbook"),
            Self::Xlsm => f.write_str("xlsm workbook"),
            Self::Xls => f.write_str("xls workbook"),
            Self::Ods => f.write_str("ods workbook"),
            Self::Csv {
                delimiter,
                encoding,
            } => {
                let parted = match delimiter {
                    Delimiter::Comma => "comma",
                    Delimiter::Semicolon => "semicolon",
                    Delimiter::Tab => "tab",
                };
                write!(f, "{parted}-separated text in {encoding}")
            }
            Self::Jsonl { encoding } => write!(f, "JSON Lines in {encoding}"),
            Self::Lines { encoding } => write!(f, "lines of text in {encoding}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_spelled_as_it_is_named() {
        for wish in [
            FormatWish::Xlsx,
            FormatWish::Csv,
            FormatWish::Jsonl,
            FormatWish::Lines,
        ] {
            let json = serde_json::to_value(wish).unwrap();
            assert_eq!(json, wish.name());
        }
    }

    #[test]
    fn is_frozen_in_kebab_case() {
        let format = SourceFormat::Csv {
            delimiter: Delimiter::Semicolon,
            encoding: TextEncoding::named("cp949").unwrap(),
        };
        let json = serde_json::to_string(&format).unwrap();
        assert_eq!(
            json,
            r#"{"kind":"csv","delimiter":"semicolon","encoding":"EUC-KR"}"#
        );
        assert_eq!(serde_json::from_str::<SourceFormat>(&json).unwrap(), format);
        assert_eq!(
            serde_json::to_string(&SourceFormat::Xlsx).unwrap(),
            r#"{"kind":"xlsx"}"#
        );
    }
}
