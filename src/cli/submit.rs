//! `comail submit`: an answer goes before the gate.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Args};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::output::{Paper, Tone};
use super::rules;
use super::shell_line::ShellLine;
use super::submit_flags::Flags;
use crate::base::text::Escaped;
use crate::gate::{CheckReport, Fact, Rule};
use crate::judge::{self, Fix, Fixed, JudgeContext, Judged, Outcome, Refusal};
use crate::quest::{
    BadFields, Fields, Key, QuestId, QuestKind, Submission, Verdict, fields_of, json, missing,
};
use crate::session::{State, Tally, Worker};

/// Submit an answer to a quest
///
/// The gate verifies the answer. PASS and REVIEW lock the quest. FAIL says what was expected and what
/// was found, and uses a try.
#[derive(Debug, Args)]
pub struct SubmitArgs {
    /// The number of the quest
    #[arg(long, value_name = "N", help_heading = QUEST)]
    id: Option<QuestId>,

    /// The key of the quest
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, help_heading = QUEST)]
    key: Option<String>,

    /// The name of the worker [env: `COMAIL_WORKER`]
    #[arg(long, value_name = "NAME", help_heading = QUEST)]
    worker: Option<Worker>,

    /// Read the fields from a JSON object in a file; - for standard input
    #[arg(long = "in", value_name = "FILE", help_heading = ANSWER)]
    input: Option<PathBuf>,

    /// Report that you found nothing, and why; this is a FAIL and uses a try
    #[arg(
        long,
        value_name = "WHY",
        conflicts_with = "input",
        allow_hyphen_values = true,
        help_heading = ANSWER
    )]
    none: Option<String>,
}

pub(super) const QUEST: &str = "Which quest";
pub(super) const ANSWER: &str = "The answer";

/// The JSON form of `submit`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Answer {
    /// The gate has judged.
    Judged(Box<Shown>),
    /// The quest takes no submission.
    Locked { state: State },
    /// The quest comes after one that has not passed.
    Waits { quest: QuestId, key: Key },
    /// Another worker holds the quest.
    Claimed { worker: Worker },
    /// Another submission of the quest was judged meanwhile.
    Overtaken {},
    /// The unproven streak pauses the session.
    Paused { streak: u32 },
}

/// A judgement as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Shown {
    id: QuestId,
    key: String,
    verdict: Verdict,
    state: State,
    tries: u32,
    max_tries: u32,
    attempt: u32,
    facts: Vec<Fact>,
    checks: Vec<CheckReport>,
    tally: Tally,
    /// What the fixer did about earlier judgements of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
    #[serde(skip)]
    rules: Vec<Rule>,
}

pub(super) fn run(
    context: &mut Context,
    args: &SubmitArgs,
    matches: Option<&ArgMatches>,
) -> Result<Exit> {
    let mut session = context.open_session()?;
    let judging = JudgeContext::of(&session, context.recorded_world())?;
    let kind = &judging.kind.quest;
    let flags = Flags { kind, matches };
    let key = args.key.clone().or_else(|| flags.key());
    let named = args.id.is_some() || key.is_some();
    let submission = submission(args, &flags, named)?;
    let id = context::choose(&session, args.id, key.as_deref(), &kind.unit)?;
    let worker = context.worker_of(args.worker.as_ref())?;
    let given = judge::Answer {
        quest: id,
        worker: worker.as_ref(),
        submission: &submission,
    };
    let clock = &mut context::clock();
    let Fixed { outcome, fixes } = judging.submit(&mut session, given, clock)?;
    let rules = judging.kind.rules();
    context.report_mended(&session);
    let (answer, exit) = answer(outcome, fixes, rules);
    let session = context.named_session().map(Path::to_owned);
    let shown = |paper: &mut _, answer: &_| text(paper, answer, session.as_deref());
    // What was judged is recorded; a reader who has gone does not change how it ended.
    let _ = context.output.show(&answer, shown);
    Ok(exit)
}

/// What is submitted, for a quest that was `named` or not.
fn submission(args: &SubmitArgs, flags: &Flags<'_>, named: bool) -> Result<Submission> {
    if let Some(why) = &args.none {
        if why.trim().is_empty() {
            let text = "--none says why: what was tried, and where; nothing changed";
            return Err(UsageError(text.to_owned()).into());
        }
        return Ok(Submission::None(why.clone()));
    }
    let fields = match &args.input {
        Some(path) => read_fields(path, flags.kind)?,
        None => flags.fields(),
    };
    let missing: Vec<_> = missing(flags.kind, &fields)
        .map(|name| format!("--{name}"))
        .collect();
    if missing.is_empty() {
        Ok(Submission::Fields(fields))
    } else {
        let quest = if named {
            String::new()
        } else {
            format!(", and {}", context::which(&flags.kind.unit))
        };
        let missing = missing.join(", ");
        let text = format!("not submitted, nothing changed: {missing} missing{quest}");
        Err(UsageError(text).into())
    }
}

/// The most bytes of a JSON submission: a field is a line, not a book.
const MOST_INPUT_BYTES: u64 = 1024 * 1024;

fn read_fields(path: &std::path::Path, kind: &QuestKind) -> Result<Fields> {
    let place = path.display();
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin()
            .take(MOST_INPUT_BYTES)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path)
            .and_then(|file| file.take(MOST_INPUT_BYTES).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read the submission {place}"))?;
    json::slice(&bytes)
        .map_err(BadFields::Json)
        .and_then(|value| fields_of(kind, value))
        .map_err(|bad| UsageError(format!("{place}: {bad}")).into())
}

fn answer(outcome: Outcome, fixes: Vec<Fix>, rules: Vec<Rule>) -> (Answer, Exit) {
    match outcome {
        Outcome::Refused(Refusal::Paused { streak }) => (Answer::Paused { streak }, Exit::Paused),
        Outcome::Refused(Refusal::Locked(state)) => (Answer::Locked { state }, Exit::Locked),
        Outcome::Refused(Refusal::Waits { quest, key }) => {
            (Answer::Waits { quest, key }, Exit::Locked)
        }
        Outcome::Refused(Refusal::Claimed(worker)) => (Answer::Claimed { worker }, Exit::Locked),
        Outcome::Refused(Refusal::Overtaken) => (Answer::Overtaken {}, Exit::Locked),
        Outcome::Judged(judged) => {
            let exit = match (judged.judgement.verdict, judged.state) {
                (Verdict::Review, State::Todo) => Exit::Failed,
                (Verdict::Pass | Verdict::Review, _) => Exit::Done,
                (Verdict::Fail, State::Done) => Exit::FailedAndDone,
                (Verdict::Fail, _) => Exit::Failed,
            };
            let shown = Shown {
                fixes,
                ..shown(*judged, rules)
            };
            (Answer::Judged(Box::new(shown)), exit)
        }
    }
}

fn shown(judged: Judged, rules: Vec<Rule>) -> Shown {
    Shown {
        id: judged.id,
        key: judged.key.to_string(),
        verdict: judged.judgement.verdict,
        state: judged.state,
        tries: judged.tries,
        max_tries: judged.max_tries,
        attempt: judged.attempt,
        facts: judged.judgement.facts,
        checks: judged.judgement.checks,
        tally: judged.tally,
        fixes: Vec::new(),
        rules,
    }
}

fn text(paper: &mut Paper, answer: &Answer, session: Option<&Path>) {
    let next = ShellLine::comail("next", session);
    let next = next.text();
    match answer {
        Answer::Locked { state } => {
            paper.line(format!(
                "locked: the quest is {state} and takes no submission"
            ));
        }
        Answer::Waits { quest, key } => {
            let key = Escaped(key.as_str());
            paper.line(format!(
                "waits for quest {quest} ({key}), which has not passed; nothing changed. Run \
                 `{next}` for another quest"
            ));
        }
        Answer::Claimed { worker } => paper.line(format!(
            "claimed: {worker} holds this quest; nothing changed. Run `{next}` for another quest"
        )),
        Answer::Overtaken {} => paper.line(format!(
            "overtaken: another answer to this quest was judged first; nothing changed. Run `{next}`"
        )),
        Answer::Paused { streak } => paper.line(super::next::paused(*streak, session)),
        Answer::Judged(shown) => judged_text(paper, shown),
    }
}

/// What the fixer did, which no agent has to do.
fn told(fix: &Fix) -> String {
    match fix {
        Fix::Changed => "the fixer made changes, and the quest was judged again".to_owned(),
        Fix::ChangedNothing => "the fixer found nothing to change".to_owned(),
        Fix::Failed { why } => format!("the fixer failed: {}", Escaped(why)),
    }
}

fn judged_text(paper: &mut Paper, shown: &Shown) {
    for fix in &shown.fixes {
        paper.line(told(fix));
    }
    let tone = match shown.verdict {
        Verdict::Pass => Tone::Good,
        Verdict::Review => Tone::Doubt,
        Verdict::Fail => Tone::Bad,
    };
    let verdict = paper.tint(tone, &shown.verdict.to_string());
    let key = Escaped(&shown.key);
    let what = match (shown.verdict, shown.state) {
        (Verdict::Pass, _) => String::from("locked"),
        (Verdict::Review, State::Todo) => format!(
            "sent back: reviewers doubt it, {} of {} tries left",
            shown.max_tries - shown.tries,
            shown.max_tries
        ),
        (Verdict::Review, _) => String::from("locked; a person decides"),
        (Verdict::Fail, State::Done) => {
            format!("and DONE: all {} tries are used up", shown.max_tries)
        }
        (Verdict::Fail, _) => format!(
            "{} of {} tries left",
            shown.max_tries - shown.tries,
            shown.max_tries
        ),
    };
    paper.line(format!("{verdict} quest {}, {key}: {what}", shown.id));
    rules::write_facts(paper, &shown.facts, &shown.rules);
    paper.line(format!(
        "{} of {} left",
        shown.tally.todo,
        shown.tally.total()
    ));
}
