//! `comail forget`: removes an address from the session.

use anyhow::Result;
use clap::Args;
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError, refuse};
use super::person::PersonArgs;
use crate::judge::forgotten::MASK;
use crate::privacy::{NotForgotten, Request, forget, is_known};
use crate::world::mailbox::Mailbox;

/// Remove an address from the session, and reject it from now on
///
/// The address is replaced by `[forgotten]` in the ledger and in the session's copy of the list; the
/// chain stays valid. Pages that contain it are removed from the evidence, so `audit` no longer judges
/// by them. An answer with the address fails from now on. Your own list and your exports are not
/// changed. Only a person may do this: with the operator's key file or, without one, on a terminal.
#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// The address
    address: String,

    /// The reason, without the address
    #[arg(long, value_name = "TEXT")]
    note: String,

    #[command(flatten)]
    person: PersonArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ForgetReply {
    /// `forgotten-before` if it was forgotten earlier, so that nothing more was recorded.
    #[schemars(extend("enum" = ["forgotten", "forgotten-before"]))]
    status: &'static str,
    /// How many lines of the ledger contained it.
    lines: usize,
    /// How many bodies were removed from `evidence/`.
    bodies: usize,
    /// How many copies of lists were rewritten.
    copies: usize,
    /// The operator's own list, which is unchanged.
    list: String,
}

pub(super) fn run(context: &mut Context, args: &ForgetArgs) -> Result<Exit> {
    let address = Mailbox::parse(&args.address)
        .map_err(|why| UsageError(format!("{:?} is not an address: {why}", args.address)))?;
    let mut session = context.open_session()?;
    if !is_known(&session, &address).map_err(usage_error)? {
        return refuse(format!(
            "{address} is not in this session; check its spelling"
        ));
    }
    let what = format!(
        "remove {address} from the session in {}, permanently: {}",
        session.dir().display(),
        args.note
    );
    let key = args.person.authorise(&session, &what, Some("forget"))?;
    let by = args.person.name();
    let request = Request {
        address: &address,
        by: &by,
        note: &args.note,
        key: key.as_ref(),
    };
    let done = forget(&mut session, request, &mut context::clock()).map_err(usage_error)?;
    let reply = ForgetReply {
        status: if done.before {
            "forgotten-before"
        } else {
            "forgotten"
        },
        lines: done.lines,
        bodies: done.bodies,
        copies: done.copies,
        list: session.source().path,
    };
    context.output.show(&reply, |out, reply| {
        let values = context! { reply, mask => MASK };
        out.template(include_str!("text/forget.txt"), values);
    })?;
    Ok(Exit::Done)
}

fn usage_error(why: NotForgotten) -> anyhow::Error {
    match why {
        NotForgotten::Session(error) => error.into(),
        NotForgotten::Frozen(_) | NotForgotten::Unsealed => UsageError(why.to_string()).into(),
        other => other.into(),
    }
}
