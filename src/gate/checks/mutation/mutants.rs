//! The files that a mutation tries.

use crate::gate::Fact;
use std::ops::RangeInclusive;

use regex::Regex;

use crate::gate::checks::context::Context;
use crate::gate::checks::own_lines::Place;
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

/// The most mutants of one function: each is a run of the tests.
const MOST_MUTANTS: usize = 50;

/// What a mutation puts in the place of what is there.
#[derive(Debug)]
pub enum Change {
    /// These changes, each of every line alone that it fits.
    Lines(Vec<LineChange>),
    /// This text in the place of the file's.
    Whole(String),
}

/// A change of a line.
#[derive(Debug)]
pub struct LineChange {
    /// What is looked for.
    pub find: Regex,
    /// What takes its place.
    pub put: String,
}

/// A file that is not what it was.
#[derive(Debug)]
pub struct Mutant {
    /// The file.
    pub file: TreePath,
    /// Its text.
    pub text: String,
    /// What was done to it.
    pub what: String,
    /// Where.
    pub place: String,
}

impl Change {
    /// Every mutant that is not the file as it is.
    pub fn mutants(&self, place: &Place, context: &Context<'_>) -> Result<Vec<Mutant>, Fact> {
        let unclear = |actual: String| {
            let detail = Fact::wrong("code that can be replaced", actual);
            detail.at(place.shown()).unconfirmed()
        };
        let bytes = match self {
            Self::Lines(_) => place.as_pinned(context)?,
            Self::Whole(_) => match context.world.workshop.file(&place.file) {
                FileSeen::File(bytes) => bytes,
                FileSeen::Absent => return Err(unclear(String::from("nothing is there"))),
                FileSeen::Other(what) => return Err(unclear(what)),
            },
        };
        let source = String::from_utf8(bytes);
        let source = source.map_err(|_| unclear(String::from("it is not UTF-8")))?;
        let mutant = |text: String, what: String, at: String| Mutant {
            file: place.file.clone(),
            text,
            what,
            place: at,
        };
        let mut mutants = Vec::new();
        match (self, &place.lines) {
            (Self::Lines(changes), Some(lines)) => {
                let count = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
                if count < *lines.end() {
                    return Err(unclear(String::from("there are no such lines")));
                }
                let single = single_lines(changes, &source, lines).into_iter();
                mutants.extend(single.map(|(line, text, what)| {
                    let at = format!("{}:{line}", place.file);
                    mutant(text, what, at)
                }));
            }
            (Self::Lines(_), None) => {}
            (Self::Whole(text), _) => {
                let what = String::from("the whole file is replaced");
                mutants.push(mutant(text.clone(), what, place.shown()));
            }
        }
        mutants.retain(|mutant| mutant.text != source);
        if mutants.is_empty() {
            let actual = "every replacement leaves the file as it is";
            return Err(unclear(String::from(actual)));
        }
        if mutants.len() > MOST_MUTANTS {
            let actual = format!("{} replacements, of at most {MOST_MUTANTS}", mutants.len());
            return Err(unclear(actual));
        }
        Ok(mutants)
    }
}

/// The file with each change of each line that it fits: the line, the file, what was done.
fn single_lines(
    changes: &[LineChange],
    source: &str,
    lines: &RangeInclusive<u32>,
) -> Vec<(u32, String, String)> {
    let mut changed = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(source.split_inclusive('\n')) {
        let end = start + line.len();
        let text = line.trim_end_matches(['\r', '\n']);
        let fitting = changes.iter().filter(|one| one.find.is_match(text));
        for change in fitting.filter(|_| lines.contains(&number)) {
            let new = change.find.replace(text, change.put.as_str());
            let rest = &source[start + text.len()..];
            let what = format!("its line {number} is `{}`", new.trim());
            changed.push((number, format!("{}{new}{rest}", &source[..start]), what));
        }
        start = end;
    }
    changed
}
