//! `comail review`: the REVIEWs and sampled PASSes that a person settles.

pub(super) mod sample;
mod screen;
pub(super) mod settle;
mod state;
pub(super) mod workbook;

use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::settle::SettleArgs;
use super::context::Context;
use super::exit::{Exit, refuse};
use super::person::PersonArgs;
use super::screen::is_possible;
use crate::review::Queue;
use crate::session::Decision;

/// Show and settle the quests in REVIEW
///
/// On a terminal, it shows one quest at a time and acts on single keys; press `?` for help. `comail
/// show` shows one quest.
///
/// Only a person can settle a REVIEW: with the key file of `scan --operator-key` or, in a session
/// without a key, on a terminal. An accepted REVIEW counts as right, but is never called a PASS. A
/// quest can be settled again; every decision stays in the ledger.
///
/// With --sample, it draws PASSes at random, so that a person checks them in the same way: accept
/// says that the answer is right, reject that it is wrong. `report` says what the sample shows.
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

    /// Draw N PASSes at random for a person to check; later draws add to the sample
    #[arg(long, value_name = "N", conflicts_with_all = ["export", "import"])]
    sample: Option<NonZeroU32>,

    /// With --import or --sample: do not ask for confirmation; requires --operator-key
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    person: PersonArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Accept answers as right
    Accept(SettleArgs),
    /// Reject answers as wrong, so that exports omit them
    Reject(SettleArgs),
    /// Withdraw a decision, so that the items are open again
    Reopen(SettleArgs),
}

pub(super) fn run(context: &mut Context, args: &ReviewArgs) -> Result<Exit> {
    let decides = args.import.is_some() || args.sample.is_some();
    if args.yes && !decides {
        return refuse("--yes needs --import or --sample");
    }
    let alone = args.what.is_none() && args.export.is_none() && !decides;
    let at_terminal = alone && is_possible(&context.output);
    if !at_terminal && !decides && args.person.is_named() {
        // A user who passes a key must not believe that the list needed it.
        return refuse(
            "--by and --operator-key need --import, --sample or a terminal; for accept, reject and \
                    reopen, pass them after the command",
        );
    }
    match &args.what {
        None if at_terminal => screen::run(context, &args.person),
        None => match (&args.export, &args.import, args.sample) {
            (Some(path), ..) => workbook::export(context, path, args.force),
            (_, Some(path), _) => workbook::import(context, path, &args.person, args.yes),
            (.., Some(most)) => sample::run(context, most, &args.person, args.yes),
            (None, None, None) => list(context),
        },
        Some(What::Accept(args)) => settle::run(context, args, Decision::Accepted),
        Some(What::Reject(args)) => settle::run(context, args, Decision::Rejected),
        Some(What::Reopen(args)) => settle::run(context, args, Decision::Reopened),
    }
}

fn list(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let queue = Queue::read(&session)?;
    context
        .output
        .show_as(&queue, include_str!("text/queue.txt"))?;
    if queue.open == 0 {
        context.hint_at_closing(&session);
    }
    Ok(Exit::Done)
}
