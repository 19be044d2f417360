//! `comail export`.
use anyhow::Result;
use clap::Args;
use super::context::Context;
use super::exit::Exit;
/// Export
#[derive(Debug, Args)]
pub struct ExportArgs {}
pub(super) fn run(_context: &mut Context, _args: &ExportArgs) -> Result<Exit> { Ok(Exit::Done) }
