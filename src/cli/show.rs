//! `comail show`: one quest, with all that is known about it.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Args;

use super::context::{self, Context};
use super::exit::Exit;
use super::output::TextOutput;
use crate::gate::PanelReport;
use crate::review::{Item, Viewer};

/// Show one quest: its answer, facts, evidence, attempts and decisions
///
/// The facts are those of the last judgement. If the last answer repeated an earlier one, they are
/// those of the earlier judgement, which says what is wrong with the answer.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The number of the quest, or its key; a number is a key only if no quest has that number
    #[arg(value_name = "N|KEY")]
    quest: String,
}

pub(super) fn run(context: &mut Context, args: &ShowArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    let record = context::find(&session, &args.quest)?;
    let item = Viewer::new(&session, &BTreeSet::from([record.id]))?.item(&record)?;
    context.output.page();
    context.output.show(&item, write)?;
    Ok(Exit::Done)
}

pub(super) fn write(out: &mut TextOutput, item: &Item) {
    let panel = item.panel.clone().map(serde_json::from_value);
    let panel: Result<Option<PanelReport>, serde_json::Error> = panel.transpose();
    let panel_error = panel.as_ref().err().map(ToString::to_string);
    let panel = panel.ok().flatten();
    let listed = item.listed();
    let values = minijinja::context! { item, listed, panel, panel_error };
    out.template(include_str!("text/show.txt"), values);
}
