//! `comail token`: who may talk to `comail serve`.

use anyhow::Result;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::serve::url;
use super::shell_line::quoted;
use crate::base::clock::length_of_time;
use crate::serve::{Grant, Token, TokenId, TokenRecord, TokenStore};
use crate::session::Worker;

/// Make, list and revoke the tokens of `comail serve`
#[derive(Debug, Args)]
pub struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token, and print it once
    New(NewArgs),
    /// List the tokens
    List,
    /// Revoke a token
    Revoke {
        /// The id of the token, as `comail token list` prints it
        #[arg(value_name = "ID")]
        token: TokenId,
    },
}

#[derive(Debug, Args)]
struct NewArgs {
    /// The worker that the token is for
    #[arg(long, value_name = "NAME", required_unless_present = "reader")]
    worker: Option<Worker>,

    /// Make a token that may only read the status and the page
    #[arg(long, conflicts_with = "worker")]
    reader: bool,

    /// How long the token is valid
    #[arg(long, value_name = "TIME", default_value = "8h", value_parser = lifetime)]
    expires: SignedDuration,
}

fn lifetime(text: &str) -> Result<SignedDuration, &'static str> {
    let range = SignedDuration::from_secs(1)..=SignedDuration::from_hours(366 * 24);
    let duration = length_of_time(text).filter(|it| range.contains(it));
    duration.ok_or("expected a time from 1 second to 366 days, such as 30m, 8h or 2d")
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewToken {
    id: TokenId,
    token: String,
    expires: Timestamp,
    /// The value for `COMAIL_SERVER`. If no server runs, it is that of one without `--listen`.
    server: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TokenList {
    /// The oldest first.
    tokens: Vec<ListedToken>,
}

/// A token without its digest.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedToken {
    id: TokenId,
    #[serde(flatten)]
    grant: Grant,
    created: Timestamp,
    expires: Timestamp,
    expired: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Revoked {
    id: TokenId,
}

pub(super) fn run(context: &mut Context, args: &TokenArgs) -> Result<Exit> {
    drop(context.open_session()?);
    let store = TokenStore::of(&context.dir);
    match &args.command {
        TokenCommand::New(new) => make(context, &store, new),
        TokenCommand::List => list(context, &store),
        TokenCommand::Revoke { token } => revoke(context, &store, *token),
    }
}

fn make(context: &mut Context, store: &TokenStore, args: &NewArgs) -> Result<Exit> {
    let grant = args
        .worker
        .clone()
        .map_or(Grant::Reader, |worker| Grant::Worker {
            worker,
            quest: None,
        });
    let token = Token::random()?;
    let now = context::now();
    let expires = now + args.expires;
    store.add(&TokenRecord::new(&token, grant, now, expires))?;
    let made = NewToken {
        id: token.id(),
        token: token.reveal().to_owned(),
        expires,
        server: url(context),
    };
    context.output.show(&made, |out, it| {
        out.line(format!("COMAIL_TOKEN={}", it.token));
        out.line(format!("COMAIL_SERVER={}", quoted(&it.server)));
    })?;
    Ok(Exit::Done)
}

fn list(context: &mut Context, store: &TokenStore) -> Result<Exit> {
    let now = context::now();
    let tokens = store.list()?.into_iter().map(|record| ListedToken {
        id: record.id,
        grant: record.grant,
        created: record.created,
        expires: record.expires,
        expired: record.expires <= now,
    });
    let list = TokenList {
        tokens: tokens.collect(),
    };
    context.output.show(&list, |out, list| {
        for token in &list.tokens {
            let who = match &token.grant {
                Grant::Worker { worker, .. } => format!("worker {worker}"),
                Grant::Reader => "reader".to_owned(),
            };
            let until = if token.expired {
                "expired"
            } else {
                "valid until"
            };
            out.line(format!("{}  {who}  {until} {}", token.id, token.expires));
        }
    })?;
    Ok(Exit::Done)
}

fn revoke(context: &mut Context, store: &TokenStore, id: TokenId) -> Result<Exit> {
    if !store.revoke(id)? {
        return Err(UsageError(format!("no token has the id {id}"))
            .hint("`comail token list` shows every token")
            .into());
    }
    context.output.show(&Revoked { id }, |out, it| {
        out.line(format!("token {} is revoked", it.id));
    })?;
    Ok(Exit::Done)
}
