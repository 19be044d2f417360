//! A JSON value out of a text, or what is wrong with the text and where.

use crate::gate::Fact;
use serde_json::Value;

use super::fields::shown;
use super::subject::Text;
use crate::quest::json;

/// The value; one that nests deeper than 128 lists and objects, or says a name twice, is refused
/// by its reader.
pub(super) fn json_of(text: &Text) -> Result<Value, Fact> {
    parsed(text, &text.said, 0)
}

/// The value of each line that says something, with the line's number.
pub(super) fn json_lines(text: &Text) -> impl Iterator<Item = (usize, Result<Value, Fact>)> {
    let lines = text.said.lines().enumerate();
    let said = lines.filter(|(_, line)| !line.trim().is_empty());
    said.map(|(before, line)| (before + 1, parsed(text, line, before)))
}

fn parsed(text: &Text, json: &str, lines_before: usize) -> Result<Value, Fact> {
    json::value(json).map_err(|error| {
        let place = format!("{}:{}", error.line() + lines_before, error.column());
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why);
        text.detail(Fact::wrong("a JSON text", shown(why)), &place)
    })
}
