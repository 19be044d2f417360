//! `comail demo`.
use anyhow::Result;
use clap::Args;
use super::context::Context;
use super::exit::Exit;
/// Demo
#[derive(Debug, Args)]
pub struct DemoArgs {}
pub(super) fn run(_context: &mut Context, _args: &DemoArgs) -> Result<Exit> { Ok(Exit::Done) }
