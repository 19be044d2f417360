//! `comail review accept`, `reject` and `reopen`.

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::plural;
use crate::cli::context::{self, Context};
use crate::cli::dispute::{describe, usage_error};
use crate::cli::exit::{Exit, refuse};
use crate::cli::person::{PersonArgs, nonempty_note, refuse_bare_yes};
use crate::quest::file::nearest;
use crate::quest::{Key, QuestId};
use crate::review::{self, Person, Queue, Waiting};
use crate::session::{Decision, QuestRecord, Session, SettledQuest, State};

/// Which ones, why, and who says so.
#[derive(Debug, Args)]
pub(super) struct SettleArgs {
    /// The numbers of the quests, or their keys; a number is a key only if no quest has that number
    #[arg(value_name = "N|KEY", required_unless_present = "rule")]
    quests: Vec<String>,

    /// All open items for which this rule fired
    #[arg(long, conflicts_with = "quests")]
    rule: Option<String>,

    /// The reason: what you looked at, and what it shows
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: String,

    /// Do not ask for confirmation; requires --operator-key
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    person: PersonArgs,
}

const MAX_NAMED: usize = 10;

/// The JSON form: `{"status":"accepted","quests":[{"id":3,"key":"…"}],"by":"kim","note":"…"}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Answer<'a> {
    status: Decision,
    quests: Vec<Named>,
    by: &'a str,
    note: &'a str,
}

/// A quest that is to be settled.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Named {
    id: QuestId,
    key: Key,
    #[serde(skip)]
    record: QuestRecord,
}

impl From<QuestRecord> for Named {
    fn from(record: QuestRecord) -> Self {
        Self {
            id: record.id,
            key: record.key.clone(),
            record,
        }
    }
}

pub(super) fn run(context: &mut Context, args: &SettleArgs, decision: Decision) -> Result<Exit> {
    let note = nonempty_note(&args.note)?;
    refuse_bare_yes(args.yes, &args.person)?;
    let mut session = context.open_folded()?;
    let (chosen, scope) = match &args.rule {
        Some(_) if decision == Decision::Reopened => {
            return refuse("--rule selects open REVIEWs, which need no reopening: name the quests");
        }
        Some(rule) => of_rule(&session, rule)?,
        None => (named(&session, args)?, String::new()),
    };
    let word = match decision {
        Decision::Accepted => "accept",
        Decision::Rejected => "reject",
        Decision::Reopened => "reopen",
    };
    let quests = chosen.iter().map(|named| SettledQuest {
        quest: named.id,
        attempt: named.record.attempts,
    });
    let quests: Vec<SettledQuest> = quests.collect();
    review::may_settle(&session, &quests, decision).map_err(usage_error)?;
    let what = question(&session, &chosen, word, &scope)?;
    let what = format!("{what}; note: {note}");
    // A person who names a rule did not name its quests, so even a single one is confirmed.
    let many = args.rule.is_some() || chosen.len() > 1;
    let yes = args.yes || !many;
    let key = args.person.authorise_many(&session, &what, word, yes)?;
    let by = args.person.name();
    let person = Person {
        by: &by,
        note,
        key: key.as_ref(),
    };
    let clock = &mut context::clock();
    let settled = review::settle(&mut session, quests, decision, person, clock);
    settled.map_err(usage_error)?;
    let answer = Answer {
        status: decision,
        quests: chosen,
        by: &by,
        note,
    };
    context
        .output
        .show_as(&answer, include_str!("../text/settle.txt"))?;
    context.hint_at_closing(&session);
    Ok(Exit::Done)
}

/// The quests with an open REVIEW by the rule, and what the question says about them.
fn of_rule(session: &Session, rule: &str) -> Result<(Vec<Named>, String)> {
    let queue = Queue::read(session)?;
    let found = queue.with_rule(rule);
    if found.is_empty() {
        let rules: Vec<&str> = queue.rules().into_iter().collect();
        let there = if rules.is_empty() {
            "no REVIEW is open".to_owned()
        } else {
            let near = nearest(rule, rules.iter().copied());
            let near = near.map_or(String::new(), |near| format!("did you mean {near}? "));
            format!("{near}the open ones have {}", rules.join(", "))
        };
        return refuse(format!("no open REVIEW has the rule {rule:?}; {there}"));
    }
    let others = |one: &&&Waiting| one.rules.iter().any(|it| it != rule);
    let others = found.iter().filter(others).count();
    let scope = match others {
        0 => format!(" for which {rule} fired"),
        others => format!(" for which {rule} fired, {others} of them with other rules too"),
    };
    let mut quests = Vec::new();
    for one in found {
        quests.extend(session.quest_record(one.id)?.map(Named::from));
    }
    Ok((quests, scope))
}

fn named(session: &Session, args: &SettleArgs) -> Result<Vec<Named>> {
    let found = args.quests.iter().map(|name| context::find(session, name));
    let mut quests = found
        .map(|record| record.map(Named::from))
        .collect::<Result<Vec<_>>>()?;
    quests.sort_by_key(|named| named.id);
    quests.dedup_by_key(|named| named.id);
    Ok(quests)
}

fn question(session: &Session, chosen: &[Named], verb: &str, scope: &str) -> Result<String> {
    let is_review = |named: &Named| named.record.progress.state == State::Review;
    let noun = if chosen.iter().all(is_review) {
        "REVIEW"
    } else {
        "quest"
    };
    let count = plural(chosen.len() as u64, noun);
    let shown = chosen.iter().take(MAX_NAMED);
    let shown = shown
        .map(|named| describe(session, &named.record))
        .collect::<Result<Vec<String>, _>>()?;
    let more = match chosen.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Ok(format!("{verb} {count}{scope}: {}{more}", shown.join("; ")))
}
