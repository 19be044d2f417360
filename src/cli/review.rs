//! `comail review`: the REVIEWs that a person settles.

mod screen;
pub(super) mod settle;
mod state;
pub(super) mod workbook;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::settle::SettleArgs;
use super::context::{self, Context};
use super::exit::{Exit, refuse};
use super::output::TextOutput;
use super::person::PersonArgs;
use super::screen::is_possible;
use crate::gate::PanelReport;
use crate::judge;
use crate::quest::QuestId;
use crate::review::{Item, Queue, Viewer};
use crate::session::{Decision, State};

/// Show and settle the quests in REVIEW
///
/// On a terminal, it shows one quest at a time and acts on single keys; press `?` for help.
///
/// Only a person can settle a REVIEW: with the key file of `scan --operator-key` or, in a session
/// without a key, on a terminal. An accepted REVIEW counts as right, but is never called a PASS. A
/// quest can be settled again; every decision stays in the ledger.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ReviewArgs {
    #[command(subcommand)]
    what: Option<What>,

    /// Write the open items to a workbook with columns for a decision and a note
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    /// With --export: replace an existing file, but never the list
    #[arg(long, requires = "export")]
    force: bool,

    /// Read the decisions from such a workbook; rows that no longer match are rejected
    #[arg(long, value_name = "FILE", conflicts_with = "export")]
    import: Option<PathBuf>,

    /// With --import: do not ask for confirmation; requires --operator-key
    #[arg(long, requires = "import")]
    yes: bool,

    #[command(flatten)]
    person: PersonArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show an item with its facts, pages and checks
    Show(ShowArgs),
    /// Accept answers as right
    Accept(SettleArgs),
    /// Reject answers as wrong, so that exports omit them
    Reject(SettleArgs),
    /// Withdraw a decision, so that the items are open again
    Reopen(SettleArgs),
}

pub(super) fn run(context: &mut Context, args: &ReviewArgs) -> Result<Exit> {
    let alone = args.what.is_none() && args.export.is_none() && args.import.is_none();
    let at_terminal = alone && is_possible(&context.output);
    if !at_terminal && args.import.is_none() && args.person.is_named() {
        // A user who passes a key must not believe that the list needed it.
        return refuse(
            "--by and --operator-key need --import or a terminal; for accept, reject and reopen, \
                    pass them after the command",
        );
    }
    match &args.what {
        None if at_terminal => screen::run(context, &args.person),
        None => match (&args.export, &args.import) {
            (Some(path), _) => workbook::export(context, path, args.force),
            (None, Some(path)) => workbook::import(context, path, &args.person, args.yes),
            (None, None) => list(context),
        },
        Some(What::Show(args)) => show(context, args),
        Some(What::Accept(args)) => settle::run(context, args, Decision::Accepted),
        Some(What::Reject(args)) => settle::run(context, args, Decision::Rejected),
        Some(What::Reopen(args)) => settle::run(context, args, Decision::Reopened),
    }
}

/// Which one.
#[derive(Debug, Args)]
struct ShowArgs {
    /// The number of the quest
    #[arg(required_unless_present = "key")]
    id: Option<QuestId>,

    /// The key of the quest
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
}

fn show(context: &mut Context, args: &ShowArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    let unit = judge::kind_of(session.manifest())?.unit;
    let id = context::choose(&session, args.id, args.key.as_deref(), &unit)?;
    let record = session.quest_record(id)?;
    let item = match record.filter(|record| record.progress.state == State::Review) {
        Some(record) => Viewer::new(&session, &BTreeSet::from([id]))?.item(&record)?,
        None => None,
    };
    let Some(item) = item else {
        return refuse(format!("quest {id} is not a REVIEW"));
    };
    context.output.show(&item, text)?;
    Ok(Exit::Done)
}

fn text(out: &mut TextOutput, item: &Item) {
    let panel = item.panel.clone().map(serde_json::from_value);
    let panel: Result<Option<PanelReport>, serde_json::Error> = panel.transpose();
    let panel_error = panel.as_ref().err().map(ToString::to_string);
    let panel = panel.ok().flatten();
    let listed = item.listed();
    let values = minijinja::context! { item, listed, panel, panel_error };
    out.template(include_str!("text/review.txt"), values);
}

fn list(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let queue = Queue::read(&session)?;
    context.output.show(&queue, |out, queue| {
        out.template(include_str!("text/queue.txt"), queue);
    })?;
    Ok(Exit::Done)
}
