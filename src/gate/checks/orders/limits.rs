//! What can be handed to a program at all.

use crate::gate::Fact;
use crate::quest::FieldName;

/// The bytes that one argument or variable may have: systems take no more than 128 KiB.
const LONGEST: usize = 100_000;

/// The bytes that all arguments and variables together may have.
const LONGEST_IN_ALL: usize = 500_000;

/// What keeps a text from being an argument or a variable.
pub fn misfit(text: &str) -> Option<Fact> {
    if text.contains('\0') {
        let expected = "a text without NUL, which no program can be given";
        return Some(Fact::wrong(expected, "a text with NUL"));
    }
    (text.len() > LONGEST).then(|| {
        let expected = format!("at most {LONGEST} bytes, since a program is given it");
        Fact::wrong(expected, format!("{} bytes", text.len()))
    })
}

/// The same of a field's value.
pub fn misfit_of(field: &FieldName, text: &str) -> Option<Fact> {
    misfit(text).map(|detail| detail.on(field))
}

/// What keeps texts that are handed over together from being so.
pub fn misfit_in_all<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Fact> {
    let sum: usize = texts.map(str::len).sum();
    (sum > LONGEST_IN_ALL).then(|| {
        let expected = format!("arguments and variables of at most {LONGEST_IN_ALL} bytes");
        Fact::wrong(expected, format!("{sum} bytes"))
    })
}
