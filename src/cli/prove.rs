//! `comail prove`: the gate's own test.

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::Exit;
use super::prove_report::text;
use crate::drive::prove::{Proof, Tree, prove, prove_email};
use crate::drive::quest_file::Definition;
use crate::session::Session;

/// Run the gate's controls: known submissions, each with the verdict that it must get
///
/// Inside a session these are the controls of its quest file, as it was frozen; elsewhere those
/// of the built-in e-mail gate. A control that gets another verdict, and a rule of level FAIL
/// that no control ever fires, are findings (exit 8).
#[derive(Debug, Args)]
pub struct ProveArgs {}

pub(super) fn run(context: &mut Context, _args: &ProveArgs) -> Result<Exit> {
    let proof = proof(context)?;
    let exit = if proof.holds() {
        Exit::Done
    } else {
        Exit::Finding
    };
    context.output.show(&proof, text)?;
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
