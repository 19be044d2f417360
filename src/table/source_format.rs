//! What kind of file a list is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::encoding::TextEncoding;

/// The format of a list, as `scan` found it and the session keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceFormat {
    /// An Office Open XML workbook.
    Xlsx,
    /// An Office Open XML workbook with macros.
    Xlsm,
    /// A binary Excel workbook (BIFF).
    Xls,
    /// An `OpenDocument` spreadsheet.
    Ods,
    /// Records of delimited cells.
    Csv {
        /// What parts the cells.
        delimiter: Delimiter,
        /// How its bytes are text.
        encoding: TextEncoding,
    },
    /// One JSON object a line.
    Jsonl {
        /// How its bytes are text.
        encoding: TextEncoding,
    },
    /// One item a line.
    Lines {
        /// How its bytes are text.
        encoding: TextEncoding,
    },
}

/// The format that somebody says a list has, whatever its name ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatWish {
    /// A workbook; which kind, its content tells.
    Xlsx,
    /// Records of delimited cells; what parts them, their text tells.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// One item a line.
    Lines,
}

impl FormatWish {
    /// Its name, as plans spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Lines => "lines",
        }
    }

    /// The ending of the names of such files.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Lines => "txt",
            other => other.name(),
        }
    }
}

/// What parts the cells of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tabulator.
    Tab,
}

impl Delimiter {
    /// All of them, the likeliest first.
    pub const ALL: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    /// Its byte.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

impl SourceFormat {
    /// Whether it is a workbook, with sheets.
    #[must_use]
    pub const fn is_workbook(self) -> bool {
        matches!(self, Self::Xlsx | Self::Xlsm | Self::Xls | Self::Ods)
    }

    /// The ending of the names of such files.
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

    /// The encoding of a text.
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
