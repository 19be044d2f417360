//! `coverage`: the quest's own lines ran.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::command::from_command;
use super::context::Context;
use super::kind::{Check, CheckConfig, Flaw, Shows, Source};
use super::own_lines::{OwnLines, Place};
use crate::gate::tools::{Coverage, LineRuns, Lines};
use crate::gate::{Cost, Fact};
use crate::world::sandbox::{FileSeen, Sandbox};
use crate::world::tree::TreePath;

/// `kind = "coverage"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageConfig {
    /// The check of kind `command` that writes the report.
    from: String,
    /// The report, one of the command's `reports`.
    report: String,
    /// The report's format.
    #[serde(rename = "format")]
    _format: FormatName,
    /// The file, as a template that uses only the list.
    file: String,
    /// The first line of the quest, as such a template. Default: all lines of the file.
    first: Option<String>,
    /// The last line of the quest.
    last: Option<String>,
    /// The percentage of these lines that must have run.
    #[serde(default = "all")]
    #[schemars(range(min = 1, max = 100))]
    threshold: u8,
}

/// A format of coverage reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FormatName {
    /// LCOV's trace files.
    Lcov,
}

fn all() -> u8 {
    100
}

impl CheckConfig for CoverageConfig {
    const KIND: &'static str = "coverage";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let command = from_command(source, &self.from)?;
        if !command.reports.contains(&self.report) {
            let what = format!(
                "`{}` is none of the `reports` of `{}`",
                self.report, self.from
            );
            return Err(Flaw::new("report", what));
        }
        if !(1..=100).contains(&self.threshold) {
            return Err(Flaw::new("threshold", "expected a number from 1 to 100"));
        }
        let (first, last) = (self.first.as_deref(), self.last.as_deref());
        let lines = OwnLines::build(&self.file, first, last, source)?;
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
    /// Whether enough of the place ran; an error is what stands in the way.
    fn cover(&self, context: &Context<'_>, place: &Place) -> Result<(), Fact> {
        if place.lines.is_some() {
            place.as_pinned(context)?;
        }
        let report = self.read(context)?;
        let lines = lines_of(&report, context, place)?;
        let whole: RangeInclusive<u32> = 1..=u32::MAX;
        let range = place.lines.as_ref().unwrap_or(&whole);
        let what = match &place.lines {
            Some(lines) => format!("the lines {} to {}", lines.start(), lines.end()),
            None => String::from("all lines"),
        };
        let expected = match self.threshold {
            100 => format!("{what} of {} run", place.file),
            part => format!("of {what} of {} {part} in a hundred run", place.file),
        };
        let Some(cover) = lines.cover(range) else {
            let actual = "the report knows no line there that could run";
            let fact = Fact::wrong(expected, actual).at(place.shown());
            return Err(fact.unconfirmed());
        };
        let needed = u64::from(self.threshold) * u64::from(cover.executable);
        if u64::from(cover.covered) * 100 >= needed {
            return Ok(());
        }
        let count = cover.uncovered.len();
        let first = cover.uncovered.first().copied().unwrap_or_default();
        let lines = if count == 1 { "line" } else { "lines" };
        let actual = format!("{lines} {} uncovered", LineRuns(&cover.uncovered));
        let fact = Fact::wrong(expected, actual).at(format!("{}:{first}", place.file));
        Err(fact.times(u32::try_from(count).unwrap_or(u32::MAX)))
    }

    fn read(&self, context: &Context<'_>) -> Result<Coverage, Fact> {
        let from = &self.from;
        let expected = format!("a report {} of `{from}`", self.report);
        let wrong = |actual: String| Fact::wrong(&*expected, actual);
        let Some(run) = context.run_of(from) else {
            return Err(wrong(format!("`{from}` was not run")).unconfirmed());
        };
        let report = run.ran.reports.get(&self.report).and_then(Option::as_ref);
        let report = report.ok_or_else(|| wrong(String::from("it made none")))?;
        Coverage::read(report).map_err(|unread| wrong(unread.to_string()))
    }
}

fn lines_of<'c>(
    report: &'c Coverage,
    context: &Context<'_>,
    place: &Place,
) -> Result<&'c Lines, Fact> {
    let file = place.file.as_str();
    let unsure = |why: String| {
        let expected = format!("a report in which {file} can be told from other files");
        Fact::wrong(expected, why).at(file).unconfirmed()
    };
    let spelled = meant(report.paths(), &place.file, context.world.sandbox).map_err(unsure)?;
    match spelled.as_slice() {
        [] => {
            let actual = "the report does not name it: nothing of it ran";
            Err(Fact::wrong("some of the file runs", actual).at(file))
        }
        [one] => {
            let lines = report.file(one);
            lines.ok_or_else(|| unsure(String::from("it is not in the report")))
        }
        several => Err(unsure(format!("it can be {}", several.join(", ")))),
    }
}

/// Those of `spelled` that can be the file at `wanted`.
fn meant<'r>(
    spelled: impl Iterator<Item = &'r str>,
    wanted: &TreePath,
    sandbox: &dyn Sandbox,
) -> Result<Vec<&'r str>, String> {
    let mut fitting: Vec<&str> = spelled.filter(|one| fits(one, wanted.as_str())).collect();
    if let Some(same) = fitting.iter().find(|one| **one == wanted.as_str()) {
        return Ok(vec![same]);
    }
    if fitting.is_empty() {
        return Ok(fitting);
    }
    let changes = sandbox.changes()?;
    let is_new = |one: &str| {
        let mut paths = changes.iter().map(|change| change.path.as_str());
        paths.any(|path| path != wanted.as_str() && fits(one, path))
    };
    fitting.retain(|one| !is_another(one, wanted, sandbox) && !is_new(one));
    Ok(fitting)
}

fn fits(one: &str, other: &str) -> bool {
    let (one, other) = (names(one), names(other));
    let both = !one.is_empty() && !other.is_empty();
    both && (one.ends_with(&other) || other.ends_with(&one))
}

/// Whether another file of the tree stands where the end of this path points.
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
