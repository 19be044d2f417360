//! `comail dispute`: an accepted answer proved wrong.

use anyhow::Result;
use clap::Args;
use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::person::{PersonArgs, nonempty_note};
use crate::quest::email::EMAIL;
use crate::quest::{QuestId, Submission};
use crate::review::{self, NotSettled, Person};
use crate::session::{QuestRecord, Session, SessionError};

/// Record that an accepted answer proved wrong, such as a bounced mail
///
/// The state of the quest does not change; `export` and `status` show the dispute. Only a person may
/// do this: with the operator's key file or, without one, on a terminal.
#[derive(Debug, Args)]
pub struct DisputeArgs {
    /// The number of the quest, or its key; a number is a key only if no quest has that number
    #[arg(value_name = "N|KEY")]
    quest: String,

    /// What happened, such as the text of the bounce
    #[arg(long, value_name = "TEXT")]
    note: String,

    #[command(flatten)]
    person: PersonArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DisputeReply {
    #[schemars(extend("const" = "disputed"))]
    status: &'static str,
    id: QuestId,
}

pub(super) fn run(context: &mut Context, args: &DisputeArgs) -> Result<Exit> {
    nonempty_note(&args.note)?;
    let mut session = context.open_folded()?;
    let id = context::find(&session, &args.quest)?.id;
    let record = review::may_dispute(&session, id).map_err(usage_error)?;
    let what = format!(
        "dispute {}; note: {}",
        describe(&session, &record)?,
        args.note
    );
    let key = args.person.authorise(&session, &what, Some("dispute"))?;
    let by = args.person.name();
    let person = Person {
        by: &by,
        note: &args.note,
        key: key.as_ref(),
    };
    let done = review::dispute(&mut session, id, person, &mut context::clock());
    done.map_err(usage_error)?;
    let answer = DisputeReply {
        status: "disputed",
        id,
    };
    context.output.show(&answer, |out, answer| {
        out.line(format!("quest {} is disputed", answer.id));
    })?;
    Ok(Exit::Done)
}

/// A quest with its key and what was answered: the address, where it is one.
pub(super) fn describe(session: &Session, record: &QuestRecord) -> Result<String, SessionError> {
    let last = session.reader()?.last_attempt(record)?;
    let answer = last.map(|last| match last.value.submission {
        Submission::Fields(fields) => match fields.get(&EMAIL) {
            Some(email) => email.clone(),
            None => fields.into_values().join(", "),
        },
        Submission::None(why) => why,
    });
    let parts = [
        Some(format!("quest {}", record.id)),
        Some(record.key.to_string()),
        answer,
    ];
    Ok(parts.into_iter().flatten().join(", "))
}

/// The caller has to correct what could not be decided.
pub(super) fn usage_error(why: NotSettled) -> anyhow::Error {
    match why {
        NotSettled::Session(error) => error.into(),
        NotSettled::NoReview { id, effective, .. } => {
            let hint = if effective.holds() {
                format!("`comail dispute {id} --note TEXT` records that its answer proved wrong")
            } else {
                format!("`comail show {id}` shows it")
            };
            UsageError(why.to_string()).hint(hint).into()
        }
        other => UsageError(other.to_string()).into(),
    }
}
