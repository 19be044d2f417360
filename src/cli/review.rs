//! `comail review`: the REVIEWs that a person settles.

pub(super) mod export;
pub(super) mod import;
mod list;
mod screen;
pub(super) mod settle;
mod show;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::settle::SettleArgs;
use self::show::ShowArgs;
use super::context::Context;
use super::exit::{Exit, UsageError};
use super::person::PersonArgs;
use super::terminal::is_possible;
use crate::session::Decision;

/// List the open REVIEWs by rule, at a terminal one by one; show and settle them
///
/// At a terminal one of them is on the screen at a time, with one key for each act; `?` tells which.
///
/// Settling is a person's: with the key file that `scan` was given or, where it was given none,
/// at a terminal. A REVIEW that is accepted counts as right and is never called a PASS. It can be
/// settled anew; every decision stays in the ledger.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ReviewArgs {
    #[command(subcommand)]
    what: Option<What>,

    /// Write the open ones as a workbook, with columns for a decision and a note
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    /// With --export: replace a file that is there; never the list itself
    #[arg(long, requires = "export")]
    force: bool,

    /// Take such a workbook back: settle each row that decides and still fits, refuse the others
    #[arg(long, value_name = "FILE", conflicts_with = "export")]
    import: Option<PathBuf>,

    /// With --import: settle several without being asked again; with --operator-key alone
    #[arg(long, requires = "import")]
    yes: bool,

    #[command(flatten)]
    person: PersonArgs,
}

const EXAMPLES: &str = "\
Examples:
  comail review                                # at a terminal, one by one
  comail review show 17
  comail review accept 17 --note \"on the imprint as an image\"
  comail review --export open.xlsx             # for somebody with a spreadsheet
  comail review --import open.xlsx --by kim";

const ACCEPT: &str = "\
Examples:
  comail review accept 17 --note \"on the imprint as an image\"
  comail review accept --rule freemail --note \"small shops\" --yes \\
    --operator-key operator.key";

const REJECT: &str = "\
Examples:
  comail review reject 17 18 --note \"of another company with the same name\"
  comail review reject --key \"Acme\" --note \"the agency's address, not theirs\"";

const REOPEN: &str = "\
Examples:
  comail review reopen 17 --note \"accepted by mistake\"";

#[derive(Debug, Subcommand)]
enum What {
    /// Print one with all that the gate had before it: facts in their context, pages, checks
    Show(ShowArgs),
    /// Say that the answers are right
    #[command(after_long_help = ACCEPT)]
    Accept(SettleArgs),
    /// Say that the answers are wrong: no export shows them
    #[command(after_long_help = REJECT)]
    Reject(SettleArgs),
    /// Take a decision back: they wait for a person again
    #[command(after_long_help = REOPEN)]
    Reopen(SettleArgs),
}

pub(super) fn run(context: &mut Context, args: &ReviewArgs) -> Result<Exit> {
    let alone = args.what.is_none() && args.export.is_none() && args.import.is_none();
    let at_terminal = alone && is_possible(&context.output);
    if !at_terminal && args.import.is_none() && args.person.is_named() {
        // Who shows their authority must not believe that it was needed.
        let text = "--by and --operator-key go with --import, or behind accept, reject or reopen; \
                     or go through the queue at a terminal";
        return Err(UsageError(text.to_owned()).into());
    }
    match &args.what {
        None if at_terminal => screen::run(context, &args.person),
        None => match (&args.export, &args.import) {
            (Some(path), _) => export::run(context, path, args.force),
            (None, Some(path)) => import::run(context, path, &args.person, args.yes),
            (None, None) => list::run(context),
        },
        Some(What::Show(args)) => show::run(context, args),
        Some(What::Accept(args)) => settle::run(context, args, Decision::Accepted),
        Some(What::Reject(args)) => settle::run(context, args, Decision::Rejected),
        Some(What::Reopen(args)) => settle::run(context, args, Decision::Reopened),
    }
}
