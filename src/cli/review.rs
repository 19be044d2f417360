//! `comail review`: the REVIEWs that a person settles.

mod screen;
pub(super) mod settle;
mod state;
pub(super) mod workbook;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::settle::SettleArgs;
use super::context::Context;
use super::exit::{Exit, refuse};
use super::person::PersonArgs;
use super::screen::is_possible;
use super::show::{ShowArgs, show};
use crate::review::Queue;
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
    /// Show an item, as `comail show` does
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
        Some(What::Show(args)) => show(context, args, Some(State::Review)),
        Some(What::Accept(args)) => settle::run(context, args, Decision::Accepted),
        Some(What::Reject(args)) => settle::run(context, args, Decision::Rejected),
        Some(What::Reopen(args)) => settle::run(context, args, Decision::Reopened),
    }
}

fn list(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let queue = Queue::read(&session)?;
    context.output.show(&queue, |out, queue| {
        out.template(include_str!("text/queue.txt"), queue);
    })?;
    Ok(Exit::Done)
}
