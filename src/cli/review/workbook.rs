//! The review queue as a workbook: export and import.

use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::files::directory_of;
use crate::base::text::plural;
use crate::cli::context;
use crate::cli::context::Context;
use crate::cli::dispute::usage_error;
use crate::cli::exit::{Exit, UsageError, refuse};
use crate::cli::output_file::{refuse_in_session, write_atomically};
use crate::cli::person::{PersonArgs, refuse_bare_yes};
use crate::review::office::{
    Decided, Filled, Filling, NotFilled, Refused, SHEET, Sorted, check, form, rows, settle_rows,
};
use crate::session::{Decision, State};
use crate::table::new_workbook::write_form;
use crate::table::{HeaderChoice, List, ReadOptions};

/// The JSON form: `{"path":"review.xlsx","reviews":2,"sampled":0}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Exported {
    path: String,
    reviews: usize,
    sampled: usize,
}

pub(super) fn export(context: &mut Context, path: &Path, force: bool) -> Result<Exit> {
    let ending = path.extension().unwrap_or_default();
    if !ending.eq_ignore_ascii_case("xlsx") {
        return refuse(format!(
            "{}: the queue is exported as a workbook; name it .xlsx",
            path.display()
        ));
    }
    let session = context.open_folded()?;
    refuse_in_session(path, session.dir())?;
    let rows = rows(&session)?;
    let form = form(&rows);
    let sampled = rows.iter().filter(|row| row.is_sampled()).count();
    let totals = session.totals();
    write_atomically(path, force, &session, &totals, |out| {
        Ok(write_form(out, directory_of(path), &form)?)
    })?;
    let exported = Exported {
        path: path.display().to_string(),
        reviews: rows.len() - sampled,
        sampled,
    };
    // The workbook is written, even if nobody reads the message.
    let _ = context
        .output
        .show_as(&exported, include_str!("../text/review-export.txt"));
    Ok(Exit::Done)
}

/// The JSON form: `{"accepted":3,"rejected":1,"undecided":5,"refused":[…],"by":"kim"}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Answer<'a> {
    accepted: usize,
    rejected: usize,
    /// How many rows decide nothing.
    undecided: usize,
    refused: Vec<Refused>,
    by: &'a str,
}

pub(super) fn import(
    context: &mut Context,
    path: &Path,
    person: &PersonArgs,
    yes: bool,
) -> Result<Exit> {
    refuse_bare_yes(yes, person)?;
    let mut session = context.open_folded()?;
    let fitting = check(&session, read(path)?)?;
    let key = if fitting.rows.is_empty() {
        None
    } else {
        let yes = yes || fitting.rows.len() == 1;
        person.authorise_many(&session, &question(&fitting), "settle", yes)?
    };
    let by = person.name();
    let clock = &mut context::clock();
    let settled = settle_rows(&mut session, fitting, (&by, key.as_ref()), clock);
    let settled = settled.map_err(usage_error)?;
    let answer = Answer {
        accepted: count(&settled.rows, Decision::Accepted),
        rejected: count(&settled.rows, Decision::Rejected),
        undecided: settled.undecided,
        refused: settled.refused,
        by: &by,
    };
    context
        .output
        .show_as(&answer, include_str!("../text/review-import.txt"))?;
    context.hint_at_closing(&session);
    Ok(match answer.refused.as_slice() {
        [] => Exit::Done,
        _ => Exit::Finding,
    })
}

fn count(rows: &[Decided], decision: Decision) -> usize {
    rows.iter().filter(|row| row.decision == decision).count()
}

/// The rows of the sheet of this name, or else of the first visible sheet.
fn read(path: &Path) -> Result<Vec<Filled>> {
    let options = |sheet: Option<&str>| ReadOptions {
        sheet: sheet.map(str::to_owned),
        header: HeaderChoice::No,
        ..ReadOptions::default()
    };
    let list = match List::open(path, &options(Some(SHEET))) {
        Err(error) if error.is_missing_sheet() => List::open(path, &options(None)),
        opened => opened,
    };
    let refused = |why: NotFilled| UsageError(format!("{}: {why}", path.display()));
    let mut list = match list {
        Err(error) if error.is_empty_list() => {
            return Err(refused(NotFilled::all_missing()).into());
        }
        opened => opened?,
    };
    let mut filling = Filling::default();
    list.every_row(|row, cells| -> Result<()> { Ok(filling.take(row, cells).map_err(refused)?) })?;
    Ok(filling.finish().map_err(refused)?)
}

fn question(fitting: &Sorted) -> String {
    let of = |decision| count(&fitting.rows, decision);
    let refused = match fitting.refused.len() {
        0 => String::new(),
        1 => "; 1 row is rejected".to_owned(),
        refused => format!("; {refused} rows are rejected"),
    };
    let mut records = fitting.rows.iter().map(|row| &row.record);
    let all_reviews = records.all(|record| record.progress.state == State::Review);
    let noun = if all_reviews { "REVIEW" } else { "quest" };
    format!(
        "settle {}: accept {}, reject {}{refused}",
        plural(fitting.rows.len() as u64, noun),
        of(Decision::Accepted),
        of(Decision::Rejected)
    )
}
