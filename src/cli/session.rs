//! `comail session copy`: moves a session between a directory and a database.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::Exit;
use crate::base::Digest;
use crate::session;

/// Copy a session to a database, or back
#[derive(Debug, Args)]
pub struct SessionArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Copy a session between a directory and a database
    ///
    /// The copy has the same ledger, evidence and lists, and so the same head; `audit` says the same of
    /// both. Tokens and the logs of runs stay where they are. Go on with one of the two: nothing joins
    /// them again.
    Copy {
        /// The session: a directory or an address
        from: PathBuf,
        /// The copy, which must not exist yet
        to: PathBuf,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CopyReply {
    from: PathBuf,
    to: PathBuf,
    /// How many lines the ledger has.
    lines: u64,
    /// The hash of the ledger's last line, the same in both.
    head: Digest,
}

pub(super) fn run(context: &mut Context, args: &SessionArgs) -> Result<Exit> {
    let What::Copy { from, to } = &args.what;
    let reply = copied(from, to)?;
    context.output.show(&reply, |out, reply| {
        let (to, lines) = (reply.to.display(), reply.lines);
        out.line(format!("copied {lines} lines to {to}; head {}", reply.head));
    })?;
    Ok(Exit::Done)
}

fn copied(from: &Path, to: &Path) -> Result<CopyReply> {
    let copied = session::copy(&session::locate(from)?, &session::locate_new(to)?)?;
    Ok(CopyReply {
        from: from.to_owned(),
        to: to.to_owned(),
        lines: copied.lines,
        head: copied.head,
    })
}
