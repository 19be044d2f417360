//! `comail review show`, and the list of open REVIEWs.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Args;

use crate::cli::context;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::output::TextOutput;
use crate::gate::PanelReport;
use crate::judge;
use crate::quest::QuestId;
use crate::review::{Item, Queue, Viewer};
use crate::session::State;

/// Which one.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The number of the quest
    #[arg(required_unless_present = "key")]
    id: Option<QuestId>,

    /// The key of the quest
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
}

pub(super) fn run(context: &mut Context, args: &ShowArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    let unit = judge::kind_of(session.manifest())?.unit;
    let id = context::choose(&session, args.id, args.key.as_deref(), &unit)?;
    let record = session.quest_record(id)?;
    let record = record.filter(|record| record.progress.state == State::Review);
    let item = match record {
        Some(record) => Viewer::new(&session, &BTreeSet::from([id]))?.item(&record)?,
        None => None,
    };
    let Some(item) = item else {
        return Err(UsageError(format!("quest {id} is not a REVIEW")).into());
    };
    context.output.show(&item, text)?;
    Ok(Exit::Done)
}

pub(in crate::cli) fn text(out: &mut TextOutput, item: &Item) {
    let panel = item
        .panel
        .clone()
        .map(serde_json::from_value::<PanelReport>);
    let (panel, panel_error) = match panel.transpose() {
        Ok(panel) => (panel, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let listed = item.listed();
    let values = minijinja::context! { item, listed, panel, panel_error };
    out.template(include_str!("../text/review.txt"), values);
}

pub(super) fn list(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let queue = Queue::read(&session)?;
    context.output.show(&queue, |out, queue| {
        out.template(include_str!("../text/queue.txt"), queue);
    })?;
    Ok(Exit::Done)
}
