//! `mutation`: the tests turn red when the quest's own code is replaced.

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::from_command;
use super::context::{Context, Run};
use super::kind::{Flaw, Probe, Shows, Source, Spec};
use super::orders::tail;
use super::own_lines::{OwnLines, Place};
use super::tool_facts::{ToolFacts, capped};
use crate::gate::{Cost, Fact};
use crate::world::sandbox::{Edit, End, FileSeen, Order, Ran};
use crate::world::tree::TreePath;

/// `kind = "mutation"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationSpec {
    /// The command that must fail.
    from: String,
    /// The file that is changed, as a template of what the list says.
    file: String,
    /// The first line of the function, as such a template.
    first: Option<String>,
    /// Its last line.
    last: Option<String>,
    /// Changes of single lines of the function, each made in every line alone that it fits.
    #[serde(default)]
    lines: Vec<LineTable>,
    /// A text that takes the place of the whole file.
    replace: Option<String>,
    /// The codes with which the command fails because tests do; all that do not pass where it is
    /// not said.
    #[serde(default)]
    red_exit: Vec<i32>,
}

/// A change of single lines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineTable {
    /// A pattern, such as `return .+`.
    find: String,
    /// What takes the place of what it matches, such as `return None`; `$1` is its first group.
    put: String,
}

#[derive(Debug)]
struct Mutation {
    name: String,
    from: [String; 1],
    lines: OwnLines,
    change: Change,
    red: Red,
}

#[derive(Debug)]
struct Red {
    exit: Vec<i32>,
    unconfirmed_exit: Vec<i32>,
    /// The codes that alone are red, where there are any.
    alone: Vec<i32>,
    facts: Option<ToolFacts>,
}

#[derive(Debug, PartialEq, Eq)]
enum Colour {
    Red,
    Green,
    Unclear(String),
}

impl Spec for MutationSpec {
    const KIND: &'static str = "mutation";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let command = from_command(source, &self.from)?;
        if let Some(code) = self
            .red_exit
            .iter()
            .find(|code| command.exit.contains(code))
        {
            let what = format!("the code {code} passes, by `exit` of `{}`", self.from);
            return Err(Flaw::new("red_exit", what));
        }
        let change = self.change(source)?;
        let (first, last) = (self.first.as_deref(), self.last.as_deref());
        Ok(Box::new(Mutation {
            name: source.name.to_owned(),
            lines: OwnLines::build(&self.file, first, last, source)?,
            change,
            red: Red {
                facts: command.tool_facts()?,
                exit: command.exit,
                unconfirmed_exit: command.unconfirmed_exit,
                alone: self.red_exit,
            },
            from: [self.from],
        }))
    }
}

impl MutationSpec {
    fn change(&self, source: &Source<'_>) -> Result<Change, Flaw> {
        let Some(text) = &self.replace else {
            return self.line_changes(source).map(Change::Lines);
        };
        let others = [
            ("first", self.first.is_some()),
            ("last", self.last.is_some()),
            ("lines", !self.lines.is_empty()),
        ];
        match others.iter().find(|(_, said)| *said) {
            Some((key, _)) => Err(Flaw::new(key, "`replace` changes the whole file")),
            None => Ok(Change::Whole(text.clone())),
        }
    }

    fn line_changes(&self, source: &Source<'_>) -> Result<Vec<LineChange>, Flaw> {
        if self.first.is_none() || self.last.is_none() {
            let what = "name the function by `first` and `last`, or say `replace`";
            return Err(Flaw::new("first", what));
        }
        if self.lines.is_empty() {
            return Err(Flaw::new("lines", "expected at least one change"));
        }
        let lines = self.lines.iter().map(|table| {
            let find = source.pattern("lines", &table.find)?;
            let put = table.put.clone();
            Ok(LineChange { find, put })
        });
        lines.collect()
    }
}

impl Probe for Mutation {
    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn needs(&self) -> &[String] {
        &self.from
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let [from] = &self.from;
        let Some(run) = context.run_of(from) else {
            let expected = format!("a run of `{from}`");
            return vec![Fact::wrong(expected, "it was not run").unconfirmed()];
        };
        let mutants = self.lines.of(context);
        let mutants = mutants.and_then(|place| self.change.mutants(&place, context));
        let found: Vec<_> = match mutants {
            Ok(mutants) => mutants
                .iter()
                .filter_map(|mutant| self.found(mutant, &run, context))
                .collect(),
            Err(found) => vec![found],
        };
        let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
        capped(found, total)
    }
}

impl Mutation {
    /// What stands in the way of one mutant; nothing where the tests turn red.
    fn found(&self, mutant: &Mutant, run: &Run, context: &Context<'_>) -> Option<Fact> {
        let mut edits = run.order.edits.clone();
        edits.push(Edit {
            path: mutant.file.to_string(),
            text: mutant.text.clone(),
        });
        let order = Order {
            name: self.name.clone(),
            edits,
            round: 0,
            ..run.order.clone()
        };
        let ran = context.world.workshop.run(&order);
        let expected = format!("tests that fail when {}", mutant.what);
        let detail = |actual: String| Fact::wrong(expected, actual).at(&*mutant.place);
        match self.red.colour(&ran) {
            Colour::Red => None,
            Colour::Green => Some(detail(String::from("they pass"))),
            Colour::Unclear(why) => Some(detail(why).unconfirmed()),
        }
    }
}

impl Red {
    fn colour(&self, ran: &Ran) -> Colour {
        let unclear = |why: String| Colour::Unclear(format!("{why}: {}", tail(ran)));
        let code = match &ran.end {
            End::Exited(code) => *code,
            // A test that hangs and one that was stopped look alike.
            End::TimedOut => return unclear(String::from("they did not end in their time")),
            End::Signalled(signal) => {
                return unclear(format!("they were ended by signal {signal}"));
            }
            End::TooMuchOutput => return unclear(String::from("they printed too much")),
            End::NotStarted(why) | End::Withheld(why) => return Colour::Unclear(why.clone()),
        };
        if self.exit.contains(&code) {
            return Colour::Green;
        }
        let other = !self.alone.is_empty() && !self.alone.contains(&code);
        if other || self.unconfirmed_exit.contains(&code) {
            return unclear(format!("they ended with the code {code}"));
        }
        let Some(facts) = self.facts.as_ref().filter(|facts| facts.counts_tests()) else {
            return Colour::Red;
        };
        match facts.read(ran) {
            Ok(told) if told.seen.is_some_and(|seen| seen.failed > 0) => Colour::Red,
            Ok(_) => unclear(format!("they ended with the code {code}, and none failed")),
            Err(why) => unclear(format!(
                "they ended with the code {code}, and tell of none ({why})"
            )),
        }
    }
}

/// The most mutants of one function: each is a run of the tests.
const MOST_MUTANTS: usize = 50;

#[derive(Debug)]
pub enum Change {
    /// These changes, each of every line alone that it fits.
    Lines(Vec<LineChange>),
    Whole(String),
}

#[derive(Debug)]
pub struct LineChange {
    pub find: Regex,
    pub put: String,
}

/// A file that is not what it was.
#[derive(Debug)]
pub struct Mutant {
    pub file: TreePath,
    pub text: String,
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
    let mut mutants = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(source.split_inclusive('\n')) {
        let end = start + line.len();
        let text = line.trim_end_matches(['\r', '\n']);
        let fitting = changes.iter().filter(|one| one.find.is_match(text));
        for change in fitting.filter(|_| lines.contains(&number)) {
            let new = change.find.replace(text, change.put.as_str());
            let rest = &source[start + text.len()..];
            let what = format!("its line {number} is `{}`", new.trim());
            mutants.push((number, format!("{}{new}{rest}", &source[..start]), what));
        }
        start = end;
    }
    mutants
}
