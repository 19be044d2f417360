//! `comail review`: the REVIEWs that a person settles.

mod list;
mod settle;
mod show;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::settle::SettleArgs;
use self::show::ShowArgs;
use super::context::Context;
use super::exit::Exit;
use crate::session::Decision;

/// List the open REVIEWs by rule, the oldest first; show and settle them
///
/// Settling is a person's: with the key file that `scan` was given or, where it was given none,
/// at a terminal. A REVIEW that is accepted counts as right and is never called a PASS. It can be
/// settled anew; every decision stays in the ledger.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print one with all that the gate had before it: facts in their context, pages, checks
    Show(ShowArgs),
    /// Say that the answers are right
    Accept(SettleArgs),
    /// Say that the answers are wrong: no export shows them
    Reject(SettleArgs),
    /// Take a decision back: they wait for a person again
    Reopen(SettleArgs),
}

pub(super) fn run(context: &mut Context, args: &ReviewArgs) -> Result<Exit> {
    match &args.what {
        None => list::run(context),
        Some(What::Show(args)) => show::run(context, args),
        Some(What::Accept(args)) => settle::run(context, args, Decision::Accepted),
        Some(What::Reject(args)) => settle::run(context, args, Decision::Rejected),
        Some(What::Reopen(args)) => settle::run(context, args, Decision::Reopened),
    }
}
