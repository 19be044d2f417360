//! `comail prove`: the gate's own test.

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::Exit;
use super::exit::UsageError;
use super::{calibration_report, prove_report};
use crate::judge::prove::{Proof, Tree, TrialError, prove, prove_email, trial};
use crate::judge::quest_file::Definition;
use crate::session::Session;

/// Run the gate's controls: known submissions, each with the verdict that it must get
///
/// Inside a session these are the controls of its quest file, as it was frozen; elsewhere those
/// of the built-in e-mail gate. A control that gets another verdict, and a rule of level FAIL
/// that no control ever fires, are findings (exit 8).
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ProveArgs {
    /// Ask the session's reviewers about every plant of theirs, and tell how often each of them
    /// and all together are right, doubt for nothing or see nothing wrong; a plant that the panel
    /// gets wrong, and a reviewer without an answer, is a finding. Nothing is recorded
    #[arg(long)]
    reviewers: bool,
}

const EXAMPLES: &str = "\
Examples:
  comail prove                           # exit 0, or 8 with what was found
  comail prove --reviewers";

pub(super) fn run(context: &mut Context, args: &ProveArgs) -> Result<Exit> {
    if args.reviewers {
        return calibrate(context);
    }
    let proof = proof(context)?;
    let exit = if proof.holds() {
        Exit::Done
    } else {
        Exit::Finding
    };
    context.output.show(&proof, prove_report::text)?;
    Ok(exit)
}

fn calibrate(context: &mut Context) -> Result<Exit> {
    let session = Session::open(context.session_dir())?;
    let calibration = match trial(session.manifest()) {
        Err(error @ (TrialError::NoReviewers | TrialError::NoCase)) => {
            return Err(UsageError(error.to_string()).into());
        }
        tried => tried?,
    };
    let exit = if calibration.is_clean() {
        Exit::Done
    } else {
        Exit::Finding
    };
    context
        .output
        .show(&calibration, calibration_report::text)?;
    Ok(exit)
}

fn proof(context: &Context) -> Result<Proof> {
    if !context.session_dir().join("session.json").exists() {
        return Ok(prove_email()?);
    }
    let session = Session::open(context.session_dir())?;
    match Definition::of(session.manifest())? {
        None => Ok(prove_email()?),
        Some(definition) => Ok(prove(&definition, &Tree::of_definition(&definition))?),
    }
}
