//! `comail review accept`, `reject` and `reopen`.

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::plural;
use crate::cli::context::{self, Context};
use crate::cli::dispute::usage_error;
use crate::cli::exit::{Exit, refuse};
use crate::cli::person::{PersonArgs, nonempty_note, refuse_bare_yes};
use crate::judge;
use crate::quest::file::nearest;
use crate::quest::{Key, QuestId};
use crate::review::{self, Person, Queue, Waiting};
use crate::session::{Decision, Session, SettledQuest, State};

/// Which ones, why, and who says so.
#[derive(Debug, Args)]
pub(super) struct SettleArgs {
    /// The numbers of the quests
    #[arg(value_name = "ID", required_unless_present_any = ["keys", "rule"])]
    ids: Vec<QuestId>,

    /// The key of a quest (repeatable)
    #[arg(long = "key", value_name = "KEY", allow_hyphen_values = true)]
    keys: Vec<String>,

    /// All open items for which this rule fired
    #[arg(long, conflicts_with_all = ["ids", "keys"])]
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
    attempt: u32,
    #[serde(skip)]
    state: State,
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
    let what = question(&chosen, &scope, word);
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
    let quests = chosen.iter().map(|named| SettledQuest {
        quest: named.id,
        attempt: named.attempt,
    });
    let clock = &mut context::clock();
    let settled = review::settle(&mut session, quests.collect(), decision, person, clock);
    settled.map_err(usage_error)?;
    let answer = Answer {
        status: decision,
        quests: chosen,
        by: &by,
        note,
    };
    context.output.show(&answer, |out, answer| {
        out.template(include_str!("../text/settle.txt"), answer);
    })?;
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
    let quests = found.into_iter().map(|one| Named {
        id: one.id,
        key: one.key.clone(),
        attempt: one.attempt,
        state: State::Review,
    });
    Ok((quests.collect(), scope))
}

fn named(session: &Session, args: &SettleArgs) -> Result<Vec<Named>> {
    let unit = judge::kind_of(session.manifest())?.unit;
    let ids = args.ids.iter().map(|id| (Some(*id), None));
    let keys = args.keys.iter().map(|key| (None, Some(key.as_str())));
    let mut quests: Vec<Named> = Vec::new();
    for (id, key) in ids.chain(keys) {
        let id = context::choose(session, id, key, &unit)?;
        let record = session.quest_record(id)?;
        quests.extend(record.map(|record| Named {
            id,
            key: record.key,
            attempt: record.attempts,
            state: record.progress.state,
        }));
    }
    quests.sort_by_key(|named| named.id);
    quests.dedup_by_key(|named| named.id);
    Ok(quests)
}

fn question(chosen: &[Named], scope: &str, verb: &str) -> String {
    let all_reviews = chosen.iter().all(|named| named.state == State::Review);
    let noun = if all_reviews { "REVIEW" } else { "quest" };
    let count = plural(chosen.len() as u64, noun);
    let named = chosen.iter().take(MAX_NAMED);
    let named: Vec<String> = named
        .map(|named| format!("quest {}, {}", named.id, named.key.as_str()))
        .collect();
    let more = match chosen.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{verb} {count}{scope}: {}{more}", named.join("; "))
}
