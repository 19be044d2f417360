//! `comail demo`.
use super::context::Context;
use super::exit::Exit;
use anyhow::Result;
use clap::Args;
/// Demo
#[derive(Debug, Args)]
pub struct DemoArgs {}
pub(super) fn run(_context: &mut Context, _args: &DemoArgs) -> Result<Exit> {
    Ok(Exit::Done)
}
