//! Takes the body out of a function and puts another in, so that the file still parses.
//!
//! It asks whether tests notice: whoever tests a function tests nothing if they pass without it.

mod braces;
mod python;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::{Range, RangeInclusive};

use serde::{Deserialize, Serialize};

/// The language that a function is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Python: what is indented below the signature.
    Python,
    /// Rust.
    Rust,
    /// JavaScript, and TypeScript where the signature is plain.
    Javascript,
    /// Go.
    Go,
    /// Any other: all the lines are replaced.
    Lines,
}

/// Why the lines hold no function whose body can be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBody {
    /// The file has no such lines.
    #[error("the file has no such lines")]
    NoSuchLines,
    /// There is no function.
    #[error("the lines hold no function with a body")]
    NoFunction,
    /// The function goes on after them, or begins before them.
    #[error("the function does not end within the lines")]
    CutOff,
    /// Something else follows the function.
    #[error("the lines hold more than one function")]
    More,
    /// The replacement would not parse where it stands.
    #[error("the replacement is empty, or its brackets do not match")]
    BadReplacement,
}

/// Gives `source` with the body of the function in `lines`, counted from 1, replaced by `with`.
pub fn replace_body(
    source: &str,
    lines: &RangeInclusive<u32>,
    language: Language,
    with: &str,
) -> Result<String, NoBody> {
    let span = bytes_of(source, lines).ok_or(NoBody::NoSuchLines)?;
    let (before, rest) = source.split_at(span.start);
    let (function, after) = rest.split_at(span.len());
    let line_end = if source.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut replaced = match language {
        Language::Python => python::replaced(function, after, with, line_end)?,
        Language::Rust => braces::replaced(function, braces::Kind::Rust, with)?,
        Language::Javascript => braces::replaced(function, braces::Kind::Javascript, with)?,
        Language::Go => braces::replaced(function, braces::Kind::Go, with)?,
        Language::Lines => with.to_owned(),
    };
    if function.ends_with('\n') && !replaced.ends_with('\n') && !replaced.is_empty() {
        replaced.push_str(line_end);
    }
    Ok([before, &replaced, after].concat())
}

/// Where whole lines begin and end.
fn bytes_of(source: &str, lines: &RangeInclusive<u32>) -> Option<Range<usize>> {
    let first = usize::try_from(*lines.start()).ok()?.checked_sub(1)?;
    let last = usize::try_from(*lines.end()).ok()?;
    if last <= first {
        return None;
    }
    let mut ends = source.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let start = match first.checked_sub(1) {
        Some(before) => ends.nth(before)?,
        None => 0,
    };
    let end = ends.nth(last - first - 1)?;
    Some(start..end)
}
