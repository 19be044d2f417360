//! `mutation`: the tests turn red when the quest's own code is replaced.

#[cfg(test)]
mod tests;

use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{CommandConfig, from_command};
use super::command_plan::tail;
use super::comments::comments;
use super::context::{Context, Run};
use super::kind::{Check, CheckConfig, Flaw, Found, Source};
use super::own_lines::{OwnLines, Place};
use crate::gate::{Cost, Fact};
use crate::world::sandbox::{CommandResult, CommandSpec, Edit, End};

/// `kind = "mutation"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationConfig {
    /// The check of kind `command` that must fail.
    from: String,
    /// The file to change, as a template that uses only the list.
    file: String,
    /// The first line of the function, as such a template.
    first: String,
    /// Its last line.
    last: String,
    /// Changes of single lines of the function. Each is made in every matching line, one at a time,
    /// except in comments and docstrings of Python and in comments of Rust.
    lines: Vec<LineTable>,
    /// The exit codes that mean that tests failed. Default: every code that does not pass.
    #[serde(default)]
    red_exit: Vec<i32>,
}

/// A change of single lines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineTable {
    /// A pattern, such as `return .+`.
    find: String,
    /// The replacement, such as `return None`; `$1` is the first group of the pattern.
    put: String,
}

struct Mutation {
    name: String,
    from: String,
    lines: OwnLines,
    changes: Vec<(Regex, String)>,
    command: CommandConfig,
    /// The exit codes that alone are red, where there are any.
    red_exit: Vec<i32>,
}

impl CheckConfig for MutationConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let command = from_command(source, &self.from)?;
        let mut codes = self.red_exit.iter();
        if let Some(code) = codes.find(|code| command.exit.contains(code)) {
            let what = format!("the code {code} passes, by `exit` of `{}`", self.from);
            return Err(Flaw::new("red_exit", what));
        }
        if self.lines.is_empty() {
            return Err(Flaw::new("lines", "expected at least one change"));
        }
        let changes = self.lines.into_iter().map(|table| {
            let find = source.pattern("lines", &table.find)?;
            Ok((find, table.put))
        });
        let mutation = Mutation {
            name: source.head.name.clone(),
            changes: changes.collect::<Result<_, _>>()?,
            lines: OwnLines::build(&self.file, &self.first, &self.last, source)?,
            command,
            red_exit: self.red_exit,
            from: self.from.clone(),
        };
        let mut check = source.check(Cost::Heavy, move |context| mutation.run(context));
        check.needs.push(self.from);
        Ok(check)
    }
}

impl Mutation {
    fn run(&self, context: &Context<'_>) -> Found {
        let run = context.run_of(&self.from);
        let run = run.ok_or_else(|| {
            let expected = format!("a run of `{}`", self.from);
            Fact::wrong(expected, "it was not run").unconfirmed()
        })?;
        let place = self.lines.of(context)?;
        let mutants = self.mutants(&place, context)?;
        let found = mutants.iter().filter_map(|mutant| {
            let survivor = self.survives(mutant, &place, &run, context)?;
            Some(survivor.at(format!("{}:{}", place.file, mutant.line)))
        });
        Ok(found.collect())
    }

    /// The fact about one mutant; none if the tests fail.
    fn survives(
        &self,
        mutant: &Mutant,
        place: &Place,
        run: &Rc<Run>,
        context: &Context<'_>,
    ) -> Option<Fact> {
        let mut edits = run.order.edits.clone();
        edits.push(Edit {
            path: place.file.to_string(),
            text: mutant.text.clone(),
        });
        let order = CommandSpec {
            name: self.name.clone(),
            edits,
            round: 0,
            ..run.order.clone()
        };
        let ran = context.world.sandbox.run(&order);
        let expected = format!(
            "tests that fail when its line {} is `{}`",
            mutant.line, mutant.put
        );
        match self.is_red(&ran) {
            Ok(true) => None,
            Ok(false) => Some(Fact::wrong(expected, "they pass")),
            Err(why) => Some(Fact::wrong(expected, why).unconfirmed()),
        }
    }

    /// Every mutant that is not the file as it is.
    fn mutants(&self, place: &Place, context: &Context<'_>) -> Result<Vec<Mutant>, Fact> {
        let unclear = |actual: &str| {
            let fact = Fact::wrong("code that can be replaced", actual);
            fact.at(place.shown()).unconfirmed()
        };
        let source = String::from_utf8(place.as_pinned(context)?);
        let source = source.map_err(|_| unclear("it is not UTF-8"))?;
        let count = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
        if *place.lines.end() > count {
            return Err(unclear("there are no such lines"));
        }
        let mutants = single_lines(
            &self.changes,
            &source,
            &place.lines,
            &comments(place.file.as_str(), &source),
        );
        match mutants.len() {
            0 => Err(unclear("every replacement leaves the file as it is")),
            1..=MAX_MUTANTS => Ok(mutants),
            count => {
                let actual = format!("{count} replacements, of at most {MAX_MUTANTS}");
                Err(unclear(&actual))
            }
        }
    }

    /// Whether the tests failed; an error says why that is not clear.
    fn is_red(&self, ran: &CommandResult) -> Result<bool, String> {
        let unclear = |why: String| Err(format!("{why}: {}", tail(ran)));
        let code = match &ran.end {
            End::Exited(code) => *code,
            // A test that hangs and one that was stopped look alike.
            End::TimedOut => return unclear(String::from("they ran into their timeout")),
            End::Signalled(signal) => {
                return unclear(format!("they were killed by signal {signal}"));
            }
            End::TooMuchOutput => return unclear(String::from("they printed too much")),
            End::NotStarted(why) | End::Withheld(why) => return Err(why.clone()),
        };
        if self.command.exit.contains(&code) {
            return Ok(false);
        }
        let ended = format!("they exited with the code {code}");
        let other = !self.red_exit.is_empty() && !self.red_exit.contains(&code);
        if other || self.command.unconfirmed_exit.contains(&code) {
            return unclear(ended);
        }
        match self.command.test_report(ran) {
            None => Ok(true),
            Some(Ok(report)) if report.failed > 0 => Ok(true),
            Some(Ok(_)) => unclear(format!("{ended}, and none failed")),
            Some(Err(why)) => unclear(format!("{ended}, and reported no test ({why})")),
        }
    }
}

/// The most mutants of one function: each is a run of the tests.
const MAX_MUTANTS: usize = 50;

struct Mutant {
    line: u32,
    /// The line, as it is now.
    put: String,
    text: String,
}

/// The file with each change of each line that it fits, except those that change nothing and those
/// of a comment or a docstring, which no test can notice.
fn single_lines(
    changes: &[(Regex, String)],
    source: &str,
    lines: &RangeInclusive<u32>,
    comments: &[Range<usize>],
) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(source.split_inclusive('\n')) {
        let end = start + line.len();
        let text = line.trim_end_matches(['\r', '\n']);
        let is_code = |found: &Captures<'_>| {
            let whole = found.get_match();
            // White space before a comment does not make it code.
            let first = start + whole.end() - whole.as_str().trim_start().len();
            !comments.iter().any(|it| it.contains(&first))
        };
        for (find, put) in changes.iter().filter(|_| lines.contains(&number)) {
            let Some(found) = find.captures_iter(text).find(is_code) else {
                continue;
            };
            let whole = found.get_match();
            let mut new = text[..whole.start()].to_owned();
            found.expand(put, &mut new);
            new.push_str(&text[whole.end()..]);
            if new != text {
                let rest = &source[start + text.len()..];
                mutants.push(Mutant {
                    line: number,
                    put: new.trim().to_owned(),
                    text: format!("{}{new}{rest}", &source[..start]),
                });
            }
        }
        start = end;
    }
    mutants
}
