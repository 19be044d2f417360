//! The files that a mutation tries.

use std::ops::RangeInclusive;

use regex::Regex;

use crate::gate::checks::context::Context;
use crate::gate::checks::own_lines::Place;
use crate::gate::checks::probe::{Detail, Found};
use crate::gate::tools::{Language, NoBody, replace_body};
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

/// The most mutants of one function: each is a run of the tests.
const MOST_MUTANTS: usize = 50;

/// What a mutation puts in the place of what is there.
#[derive(Debug)]
pub enum Change {
    /// Other code in the function.
    Function(FunctionChange),
    /// This text in the place of the file's.
    Whole(String),
}

/// What takes the place of a function's code, one after another.
#[derive(Debug)]
pub struct FunctionChange {
    /// These bodies, each in the place of the function's own.
    pub bodies: Option<(Language, Vec<String>)>,
    /// These changes, each of every line alone that it fits.
    pub lines: Vec<LineChange>,
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
    pub fn mutants(&self, place: &Place, context: &Context<'_>) -> Result<Vec<Mutant>, Found> {
        let unclear = |actual: String| {
            let detail = Detail::new("code that can be replaced", actual);
            detail.at(place.shown()).unconfirmed()
        };
        let bytes = match self {
            Self::Function(_) => place.as_pinned(context)?,
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
            (Self::Function(change), Some(lines)) => {
                let whole = change.whole_bodies(&source, lines);
                let whole = whole.map_err(|bad| unclear(bad.to_string()))?;
                let whole = whole.into_iter();
                mutants.extend(whole.map(|(text, what)| mutant(text, what, place.shown())));
                let single = change.single_lines(&source, lines).into_iter();
                mutants.extend(single.map(|(line, text, what)| {
                    let at = format!("{}:{line}", place.file);
                    mutant(text, what, at)
                }));
            }
            (Self::Function(_), None) => {}
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

impl FunctionChange {
    /// The file with each of the other bodies, and what was done to it.
    fn whole_bodies(
        &self,
        source: &str,
        lines: &RangeInclusive<u32>,
    ) -> Result<Vec<(String, String)>, NoBody> {
        let Some((language, with)) = &self.bodies else {
            return Ok(Vec::new());
        };
        let replaced = with.iter().map(|with| {
            let text = replace_body(source, lines, *language, with)?;
            let what = format!("the body of what is tested is replaced by `{with}`");
            Ok((text, what))
        });
        replaced.collect()
    }

    /// The file with each change of each line that it fits: the line, the file, what was done.
    fn single_lines(
        &self,
        source: &str,
        lines: &RangeInclusive<u32>,
    ) -> Vec<(u32, String, String)> {
        let mut changed = Vec::new();
        let mut start = 0;
        for (number, line) in (1..).zip(source.split_inclusive('\n')) {
            let end = start + line.len();
            let text = line.trim_end_matches(['\r', '\n']);
            let fitting = self.lines.iter().filter(|one| one.find.is_match(text));
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
}
