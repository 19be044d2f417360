//! `coverage`: the quest's own lines ran.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{CommandConfig, from_command};
use super::command_plan::{says, tail};
use super::context::{Context, Run};
use super::grammar::Language;
use super::kind::{Check, CheckConfig, Flaw, Source, default_number};
use super::mutants::{Stop, stops};
use super::own_lines::{OwnLines, Place};
use super::trial::Trial;
use crate::base::Digest;
use crate::gate::tools::{Coverage, Lines, line_runs};
use crate::gate::{Cost, Fact};
use crate::world::sandbox::{FileSeen, Sandbox};
use crate::world::tree::TreePath;

/// `kind = "coverage"`.
///
/// The code that is tested runs with the tool that counts its lines, and can write the report. So in
/// Python, Rust, JavaScript, TypeScript and Go the command runs again, over code that stops the program
/// at the end of a block with a message that is random for each judgement. Where the message does not
/// come out, the block does not run. `comail help mutation` says what is left to a cheat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageConfig {
    /// The check of kind `command` that writes the report.
    from: String,
    /// The report in LCOV's format, one of the command's `reports`.
    report: String,
    /// The file, as a template that uses only the list.
    file: String,
    /// The first line of the quest, as such a template.
    first: String,
    /// Its last line. All lines that can run must have run.
    last: String,
    /// The most blocks of code in which the program is stopped. Where there are more, it is random
    /// which. 0: the report alone decides.
    #[serde(default = "default_number::<10>")]
    max_stops: usize,
}

struct Covered {
    name: String,
    config: CoverageConfig,
    command: CommandConfig,
    lines: OwnLines,
}

impl CheckConfig for CoverageConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let command = from_command(source, &self.from)?;
        if !command.reports.contains(&self.report) {
            let what = format!(
                "`{}` is not one of the `reports` of `{}`",
                self.report, self.from
            );
            return Err(Flaw::new("report", what));
        }
        let from = self.from.clone();
        let covered = Covered {
            name: source.head.name.clone(),
            lines: OwnLines::build(&self.file, &self.first, &self.last, source)?,
            command,
            config: self,
        };
        let mut check = source.check(Cost::Command, move |context| {
            covered.holds(context)?;
            Ok(Vec::new())
        });
        check.needs.push(from);
        Ok(check)
    }
}

impl Covered {
    /// That the whole place ran.
    fn holds(&self, context: &Context<'_>) -> Result<(), Fact> {
        let place = self.lines.of(context)?;
        place.as_pinned(context)?;
        let run = self.run(context)?;
        let report = self.read(&run)?;
        let lines = lines_of(&report, context, &place)?;
        reported(lines, &place)?;
        let most = self.config.max_stops;
        let Some(language) = Language::of(place.file.as_str()).filter(|_| most > 0) else {
            return Ok(());
        };
        let source = place.source(context)?;
        let trial = Trial {
            name: &self.name,
            command: &self.command,
            red_exit: &[],
            context,
            run: &run,
            file: &place.file,
        };
        let letters = context.world.sandbox.nonce();
        let mut stops = stops(language, &source, &place.lines, &letters);
        stops.sort_by_cached_key(|stop| {
            Digest::of_parts([&letters, &stop.text].map(String::as_bytes))
        });
        let mut stops = stops.iter().take(most);
        stops.try_for_each(|stop| stopped(&trial, stop, &letters, lines))
    }

    fn run(&self, context: &Context<'_>) -> Result<Rc<Run>, Fact> {
        let run = context.run_of(&self.config.from);
        run.ok_or_else(|| self.no_report("the command was not run").unconfirmed())
    }

    fn no_report(&self, actual: impl Into<String>) -> Fact {
        let CoverageConfig { from, report, .. } = &self.config;
        Fact::wrong(format!("a report {report} of `{from}`"), actual)
    }

    fn read(&self, run: &Run) -> Result<Coverage, Fact> {
        let report = run.ran.reports.get(&self.config.report);
        let report = report.and_then(Option::as_ref);
        let report = report.ok_or_else(|| self.no_report("it wrote none"))?;
        Coverage::read(report).map_err(|unread| self.no_report(unread.to_string()))
    }
}

/// That the program can be stopped at this place, so that it runs there, as the report says.
fn stopped(trial: &Trial<'_>, stop: &Stop, letters: &str, lines: &Lines) -> Result<(), Fact> {
    let ran = trial.run_over(&stop.text, 0);
    if says(&ran, letters) {
        return Ok(());
    }
    let line = stop.line;
    let expected = format!(
        "tests that fail with the message {letters} when its line {line} stops the program with it"
    );
    let fact = |actual: String| Fact::wrong(&*expected, actual).at(trial.at(line));
    Err(match trial.is_red(&ran) {
        Ok(false) if lines.knows(line) => fact(String::from(
            "they pass: the line never runs, whatever the report says",
        )),
        // Tools may be told to leave a line out.
        Ok(false) => fact(String::from(
            "they pass, and the report leaves the line out",
        ))
        .unconfirmed(),
        Ok(true) => fact(format!("they fail without it: {}", tail(&ran))).unconfirmed(),
        Err(why) => fact(why).unconfirmed(),
    })
}

/// That no line of the place is reported as one that never ran.
fn reported(lines: &Lines, place: &Place) -> Result<(), Fact> {
    let (first, last) = (place.lines.start(), place.lines.end());
    let expected = format!("the lines {first} to {last} of {} run", place.file);
    let Some(uncovered) = lines.uncovered(&place.lines) else {
        let actual = "the report has no executable line there";
        let fact = Fact::wrong(expected, actual).at(place.shown());
        return Err(fact.unconfirmed());
    };
    let Some(first) = uncovered.first() else {
        return Ok(());
    };
    let lines = if uncovered.len() == 1 {
        "line"
    } else {
        "lines"
    };
    let actual = format!("{lines} {} uncovered", line_runs(&uncovered));
    let fact = Fact::wrong(expected, actual).at(format!("{}:{first}", place.file));
    Err(fact.times(u32::try_from(uncovered.len()).unwrap_or(u32::MAX)))
}

/// The lines of the place's file, by whatever path the report calls it.
fn lines_of<'c>(
    report: &'c Coverage,
    context: &Context<'_>,
    place: &Place,
) -> Result<&'c Lines, Fact> {
    let (wanted, sandbox) = (&place.file, context.world.sandbox);
    let file = wanted.as_str();
    if let Some(lines) = report.file(file) {
        return Ok(lines);
    }
    let mut fitting: Vec<&str> = report.paths().filter(|one| fits(one, file)).collect();
    let unsure = |why: String| {
        let expected = format!("a report in which {file} can be told from other files");
        Fact::wrong(expected, why).at(file).unconfirmed()
    };
    if !fitting.is_empty() {
        let changes = sandbox.changes().map_err(unsure)?;
        let is_new = |one: &str| {
            let mut paths = changes.iter().map(|change| change.path.as_str());
            paths.any(|path| path != file && fits(one, path))
        };
        fitting.retain(|one| !is_another(one, wanted, sandbox) && !is_new(one));
    }
    match fitting.as_slice() {
        [] => {
            let actual = "the report does not contain it: none of it ran";
            Err(Fact::wrong("some of the file runs", actual).at(file))
        }
        [one] => {
            let lines = report.file(one);
            lines.ok_or_else(|| unsure(String::from("it is not in the report")))
        }
        several => Err(unsure(format!("it can be {}", several.join(", ")))),
    }
}

fn fits(one: &str, other: &str) -> bool {
    let (one, other) = (names(one), names(other));
    let both = !one.is_empty() && !other.is_empty();
    both && (one.ends_with(&other) || other.ends_with(&one))
}

/// Whether the end of this path is the path of another file of the tree.
fn is_another(spelled: &str, wanted: &TreePath, sandbox: &dyn Sandbox) -> bool {
    let names = names(spelled);
    let (longest, own) = (names.len(), wanted.names().count());
    let mut lengths = match longest.cmp(&own) {
        Ordering::Greater => own + 1..=longest,
        Ordering::Less => longest..=longest,
        Ordering::Equal => return false,
    };
    lengths.any(|length| {
        let path = TreePath::parse(&names[longest - length..].join("/"));
        path.is_ok_and(|path| matches!(sandbox.file(&path), FileSeen::File(_)))
    })
}

fn names(path: &str) -> Vec<&str> {
    let names = path.split(['/', '\\']);
    names.filter(|name| !matches!(*name, "" | ".")).collect()
}
