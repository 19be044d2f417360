//! The lines that a quest is about, by what the list says of them.

use crate::gate::Fact;
use std::ops::RangeInclusive;

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Source};
use crate::quest::template::{Names, Template};
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

/// The templates of a file and of its first and last line.
///
/// They name nothing that is submitted: an agent must not choose which lines count.
#[derive(Debug)]
pub struct OwnLines {
    file: Template,
    first: Template,
    last: Template,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: TreePath,
    pub lines: RangeInclusive<u32>,
}

impl OwnLines {
    pub fn build(file: &str, first: &str, last: &str, source: &Source<'_>) -> Result<Self, Flaw> {
        let none = || std::iter::empty();
        let names = Names::of_check(source.file.input.columns(), none(), none());
        let parse = |key, text: &str| {
            Template::parse(text, &names).map_err(|bad| Flaw::new(key, bad.to_string()))
        };
        Ok(Self {
            file: parse("file", file)?,
            first: parse("first", first)?,
            last: parse("last", last)?,
        })
    }

    pub fn of(&self, context: &Context<'_>) -> Result<Place, Fact> {
        let file = TreePath::parse(&rendered(&self.file, context)?);
        let file = file.map_err(|bad| unsaid("a file of the tree", &bad.to_string()))?;
        let [first, last] = [&self.first, &self.last].map(|template| number(template, context));
        let (first, last) = (first?, last?);
        if first == 0 || first > last {
            let actual = format!("{first} to {last}");
            return Err(unsaid("a first line, from 1, and a last one", &actual));
        }
        let lines = first..=last;
        Ok(Place { file, lines })
    }
}

impl Place {
    /// The place, as `src/a.py:3-9`.
    pub fn shown(&self) -> String {
        format!("{}:{}-{}", self.file, self.lines.start(), self.lines.end())
    }

    /// The file's bytes, where they are those to which the lines' numbers belong.
    ///
    /// In a file that has changed the same numbers are other lines.
    pub fn as_pinned(&self, context: &Context<'_>) -> Result<Vec<u8>, Fact> {
        let sandbox = context.world.sandbox;
        let pinned = match sandbox.pinned(&self.file) {
            FileSeen::File(bytes) => bytes,
            FileSeen::Absent => return Err(self.no_file("nothing is there")),
            FileSeen::Other(what) => return Err(self.no_file(&what)),
        };
        let expected = "the file as it was when the session was made";
        let actual = match sandbox.file(&self.file) {
            FileSeen::File(bytes) if bytes == pinned => return Ok(pinned),
            FileSeen::File(_) => String::from("it has changed, so the list's lines are not in it"),
            FileSeen::Absent => String::from("it is gone"),
            FileSeen::Other(what) => what,
        };
        Err(Fact::wrong(expected, actual).at(self.file.as_str()))
    }

    /// The code of the place, as the list's lines count it.
    pub fn source(&self, context: &Context<'_>) -> Result<String, Fact> {
        let unclear = |actual| {
            let fact = Fact::wrong("code that can be changed", actual);
            fact.at(self.shown()).unconfirmed()
        };
        let source = String::from_utf8(self.as_pinned(context)?);
        let source = source.map_err(|_| unclear("it is not UTF-8"))?;
        let count = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
        if *self.lines.end() > count {
            return Err(unclear("there are no such lines"));
        }
        Ok(source)
    }

    fn no_file(&self, actual: &str) -> Fact {
        unsaid("a file of the tree", actual).at(self.file.as_str())
    }
}

/// What the list names is the operator's, so nothing of it is the agent's fault.
fn unsaid(expected: &str, actual: &str) -> Fact {
    Fact::wrong(format!("the list names {expected}"), shown(actual)).unconfirmed()
}

fn rendered(template: &Template, context: &Context<'_>) -> Result<String, Fact> {
    let text = context.render(template);
    text.map_err(|bad| unsaid("a file and its lines", &bad.to_string()))
}

fn number(template: &Template, context: &Context<'_>) -> Result<u32, Fact> {
    let text = rendered(template, context)?;
    let number = text.trim().parse();
    number.map_err(|_| unsaid("a line's number", &text))
}
