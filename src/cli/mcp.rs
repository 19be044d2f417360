//! `comail mcp`: the tools of a server over standard input and output.

use anyhow::{Context as _, Result};
use clap::Args;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::remote::{Remote, SERVER_VARIABLE};
use crate::serve::McpTools;

/// Offer `next`, `submit` and `status` as MCP tools on standard input and output
///
/// The calls go to the server that `COMAIL_SERVER` and `COMAIL_TOKEN` name; this process opens no
/// session and judges nothing.
#[derive(Debug, Args)]
pub struct McpArgs {}

pub(super) fn run(_: &mut Context, _: &McpArgs) -> Result<Exit> {
    let Some(remote) = Remote::of_environment()? else {
        return Err(UsageError(format!("{SERVER_VARIABLE} is not set"))
            .hint("start `comail serve`, and set COMAIL_SERVER and COMAIL_TOKEN")
            .into());
    };
    // A wrong token or address should fail now, not at the first call of the agent.
    remote.kind()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let service = McpTools::new(remote).serve(stdio()).await;
        let service = service.context("the MCP client did not connect")?;
        service
            .waiting()
            .await
            .context("the MCP connection failed")?;
        Ok(Exit::Done)
    })
}
