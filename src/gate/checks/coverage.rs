//! `coverage`: the quest's own lines ran.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Deserialize;

use super::command::from_command;
use super::context::Context;
use super::kind::{Check, CheckConfig, Flaw, Source};
use super::own_lines::{OwnLines, Place};
use crate::gate::tools::{Coverage, Lines, line_runs};
use crate::gate::{Cost, Fact};
use crate::world::sandbox::{FileSeen, Sandbox};
use crate::world::tree::TreePath;

/// `kind = "coverage"`.
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
        let lines = OwnLines::build(&self.file, &self.first, &self.last, source)?;
        let from = self.from.clone();
        let mut check = source.check(Cost::Command, move |context| {
            self.cover(context, &lines.of(context)?)?;
            Ok(Vec::new())
        });
        check.needs.push(from);
        Ok(check)
    }
}

impl CoverageConfig {
    /// That the whole place ran.
    fn cover(&self, context: &Context<'_>, place: &Place) -> Result<(), Fact> {
        place.as_pinned(context)?;
        let report = self.read(context)?;
        let lines = lines_of(&report, context, place)?;
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

    fn read(&self, context: &Context<'_>) -> Result<Coverage, Fact> {
        let from = &self.from;
        let expected = format!("a report {} of `{from}`", self.report);
        let wrong = |actual: String| Fact::wrong(&*expected, actual);
        let Some(run) = context.run_of(from) else {
            return Err(wrong(format!("`{from}` was not run")).unconfirmed());
        };
        let report = run.ran.reports.get(&self.report).and_then(Option::as_ref);
        let report = report.ok_or_else(|| wrong(String::from("it wrote none")))?;
        Coverage::read(report).map_err(|unread| wrong(unread.to_string()))
    }
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
