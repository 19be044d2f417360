//! The queue, written as a workbook.

use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::files::directory_of;
use crate::base::text::{Escaped, plural};
use crate::cli::beside::write_beside;
use crate::cli::context::Context;
use crate::cli::destination::refuse_in_session;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::output::Paper;
use crate::review::office::{form, rows};
use crate::session::Store as _;
use crate::table::new_workbook::write_form;

/// The JSON form: `{"path":"review.xlsx","reviews":2}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Exported {
    path: String,
    reviews: usize,
}

pub(super) fn export(context: &mut Context, path: &Path, force: bool) -> Result<Exit> {
    if !is_workbook(path) {
        let text = format!("{}: the queue is a workbook; name it .xlsx", path.display());
        return Err(UsageError(text).into());
    }
    let session = context.open_folded()?;
    refuse_in_session(path, session.dir())?;
    let rows = rows(&session)?;
    let form = form(&rows, session.terms().court.session);
    let totals = session.totals();
    write_beside(path, force, &session, &totals, |out| {
        Ok(write_form(out, directory_of(path), &form)?)
    })?;
    let exported = Exported {
        path: path.display().to_string(),
        reviews: rows.len(),
    };
    // What is written is written; a reader who has gone does not change how it ended.
    let _ = context.output.show(&exported, show_exported);
    Ok(Exit::Done)
}

fn is_workbook(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ending.eq_ignore_ascii_case("xlsx")
}

fn show_exported(paper: &mut Paper, exported: &Exported) {
    let count = plural(exported.reviews as u64, "REVIEW");
    paper.line(format!("{count}, written to {}", Escaped(&exported.path)));
    paper.line("fill in decision (accept, reject) and note, then take it back with --import");
}
