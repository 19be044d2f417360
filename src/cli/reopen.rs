//! `comail reopen`: a person makes locked quests TODO again.

use anyhow::Result;
use clap::Args;
use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::dispute::{describe, usage_error};
use super::exit::{Exit, refuse};
use super::person::{PersonArgs, nonempty_note};
use crate::judge::JudgeContext;
use crate::quest::QuestId;
use crate::review::{self, Person};

/// Make locked quests TODO again, with all their tries
///
/// A quest that is PASS, REVIEW or DONE is handed out again, and what was decided about its last answer
/// no longer counts. Its earlier attempts stay in the ledger. Only a person may do this: with the
/// operator's key file or, without one, on a terminal.
#[derive(Debug, Args)]
pub struct ReopenArgs {
    /// The numbers of the quests, or their keys; a number is a key only if no quest has that number
    #[arg(value_name = "N|KEY", required_unless_present = "suspects")]
    quests: Vec<String>,

    /// The quests that the checks of the whole result suspect: they name a file that the PASS saw
    ///
    /// The checks of `[final]` run first.
    #[arg(long, conflicts_with = "quests")]
    suspects: bool,

    /// Why, such as what the whole result lacks
    #[arg(long, value_name = "TEXT")]
    note: String,

    #[command(flatten)]
    person: PersonArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReopenReply {
    #[schemars(extend("const" = "reopened"))]
    status: &'static str,
    quests: Vec<QuestId>,
}

pub(super) fn run(context: &mut Context, args: &ReopenArgs) -> Result<Exit> {
    nonempty_note(&args.note)?;
    let mut session = context.open_folded()?;
    let mut named = Vec::new();
    for quest in &args.quests {
        named.push(context::find(&session, quest)?.id);
    }
    if args.suspects {
        named = JudgeContext::of(&session)?.final_gate(&session)?.suspects;
        if named.is_empty() {
            return refuse(
                "the checks of the whole result suspect no quest: name the quests; nothing changed",
            );
        }
    }
    let quests = review::may_reopen(&session, named).map_err(usage_error)?;
    let mut described = Vec::new();
    for quest in &quests {
        described.push(describe(&session, quest)?);
    }
    let what = format!("reopen {}; note: {}", described.join("; "), args.note);
    let key = args.person.authorise(&session, &what, Some("reopen"))?;
    let by = args.person.name();
    let person = Person {
        by: &by,
        note: &args.note,
        key: key.as_ref(),
    };
    let done = review::reopen(&mut session, &quests, person, &mut context::clock());
    done.map_err(usage_error)?;
    let answer = ReopenReply {
        status: "reopened",
        quests: quests.iter().map(|quest| quest.id).collect(),
    };
    context.output.show(&answer, |out, answer| {
        let verb = match answer.quests.len() {
            1 => "quest {} is TODO again",
            _ => "quests {} are TODO again",
        };
        out.line(verb.replace("{}", &answer.quests.iter().join(", ")));
    })?;
    Ok(Exit::Done)
}
