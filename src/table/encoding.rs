//! The encodings of lists that are text, by name.

use std::fmt;

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

/// An encoding of the WHATWG Encoding standard; shown and stored by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextEncoding(&'static Encoding);

/// A name that no known encoding has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an encoding; known are utf-8, utf-16le, utf-16be, cp949, euc-kr, shift_jis, euc-jp, gbk, big5, windows-1252 and the other labels of the WHATWG Encoding standard"
)]
pub struct UnknownEncoding(String);

impl TextEncoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);
    /// UTF-16, low byte first.
    pub const UTF_16LE: Self = Self(encoding_rs::UTF_16LE);
    /// UTF-16, high byte first.
    pub const UTF_16BE: Self = Self(encoding_rs::UTF_16BE);

    /// The encoding that `name` labels, of either case.
    ///
    /// Besides the standard's labels it knows Windows' and Java's names of the Korean, Japanese
    /// and Chinese code pages (`cp949`, `uhc`, `cp932`, `ms932`, `cp936`, `cp950`).
    pub fn named(name: &str) -> Result<Self, UnknownEncoding> {
        let trimmed = name.trim();
        let label = match trimmed.to_ascii_lowercase().as_str() {
            "cp949" | "ms949" | "uhc" | "949" => "euc-kr",
            "cp932" | "ms932" | "932" => "shift_jis",
            "cp936" | "936" => "gbk",
            "cp950" | "950" => "big5",
            "utf8" => "utf-8",
            "utf16" | "utf16le" => "utf-16le",
            "utf16be" => "utf-16be",
            other => other,
        }
        .to_owned();
        match Encoding::for_label_no_replacement(label.as_bytes()) {
            Some(encoding) => Ok(Self(encoding)),
            None => Err(UnknownEncoding(trimmed.to_owned())),
        }
    }

    /// Its name in the standard.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The encoding itself.
    #[must_use]
    pub fn get(self) -> &'static Encoding {
        self.0
    }

    /// The encoding that the byte order mark at the start of `bytes` tells.
    #[must_use]
    pub fn of_byte_order_mark(bytes: &[u8]) -> Option<Self> {
        Encoding::for_bom(bytes).map(|(encoding, _)| Self(encoding))
    }
}

impl From<&'static Encoding> for TextEncoding {
    fn from(encoding: &'static Encoding) -> Self {
        Self(encoding)
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TryFrom<String> for TextEncoding {
    type Error = UnknownEncoding;

    fn try_from(name: String) -> Result<Self, UnknownEncoding> {
        Self::named(&name)
    }
}

impl From<TextEncoding> for String {
    fn from(encoding: TextEncoding) -> Self {
        encoding.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_names_that_people_type() {
        for (name, known) in [
            ("CP949", "EUC-KR"),
            ("euc-kr", "EUC-KR"),
            ("Shift_JIS", "Shift_JIS"),
            ("sjis", "Shift_JIS"),
            ("cp932", "Shift_JIS"),
            ("UTF8", "UTF-8"),
            ("utf-16", "UTF-16LE"),
            (" utf-16be ", "UTF-16BE"),
        ] {
            assert_eq!(TextEncoding::named(name).unwrap().name(), known, "{name}");
        }
    }

    #[test]
    fn refuses_other_names() {
        for name in ["", "utf-9", "replacement", "hz-gb-2312"] {
            let error = TextEncoding::named(name).unwrap_err().to_string();
            assert!(error.contains("shift_jis"), "{error}");
        }
    }
}
