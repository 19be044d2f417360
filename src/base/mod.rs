//! What every folder may use: digests, text, files, child processes.

pub mod clock;
mod digest;
pub mod files;
pub mod fold;
pub mod line;
pub mod process;
pub mod text;
pub mod word_list;
pub mod words;
pub mod wrap;

pub use digest::Digest;
pub(crate) use digest::lower_hex;

/// Implements the conversions that `#[serde(try_from = "String", into = "String")]` needs, for a type
/// with `FromStr` and `Display`.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = <$type as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}

pub(crate) use serde_as_text;

/// A table of test cases, one per row: `"input", value => expected;`.
#[cfg(test)]
macro_rules! rows {
    ($($($value:expr),+ => $expected:expr;)+) => {
        [$(($($value),+, $expected)),+]
    };
}
#[cfg(test)]
pub(crate) use rows;
