//! `comail submit`: the gate judges an answer.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Args};
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer_form::{ANSWER, QUEST, field_flags, unit_flag};
use super::closing::{Closing, Results};
use super::config::variable;
use super::context::{self, Context};
use super::exit::{Exit, UsageError, refuse};
use super::next::paused;
use super::remote::{self, Remote, TREE_VARIABLE};
use super::shell_line::ShellLine;
use crate::gate::{CheckReport, Fact, add_remedies};
use crate::judge::{
    self, AnswerFiles, CallKey, JudgeContext, JudgeError, Refusal, SubmitResult, Worktree,
};
use crate::quest::{
    BadFields, Fields, QuestId, QuestKind, Submission, Verdict, fields_of, json, missing,
};
use crate::serve::{Call, SubmitCall};
use crate::session::{Fix, IdempotencyKey, Session, State, Tally, Worker};

/// Submit an answer to a quest
///
/// The gate verifies the answer. PASS and REVIEW lock the quest. FAIL says what was expected and what
/// was found, and uses a try.
#[derive(Debug, Args)]
pub struct SubmitArgs {
    /// The number of the quest
    #[arg(long, value_name = "N", help_heading = QUEST)]
    id: Option<QuestId>,

    /// The name of the worker [env: `COMAIL_WORKER`]
    #[arg(long, value_name = "NAME", help_heading = QUEST)]
    worker: Option<Worker>,

    /// The worktree with the files, as `comail next --worktree` made it
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = ANSWER)]
    worktree: Option<PathBuf>,

    /// Make the call safe to repeat: with the same KEY it returns the first judgement
    ///
    /// After a lost answer, the same call again uses no try. Choose a new KEY, such as a UUID, for each
    /// answer: one that was used for another quest, worker or answer is refused. Each start of an agent
    /// by `comail run` is another worker.
    #[arg(long, value_name = "KEY", help_heading = ANSWER)]
    idempotency_key: Option<IdempotencyKey>,

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

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SubmitReply {
    Judged(Box<JudgedAnswer>),
    Refused(Refusal),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JudgedAnswer {
    #[schemars(extend("const" = "judged"))]
    status: &'static str,
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
    /// The earlier PASSes and REVIEWs that may see the files, and were more than `judge_again` allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_judged_again: Vec<QuestId>,
    /// What the fixer did about earlier judgements of it in this call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
}

pub(super) fn run(
    context: &mut Context,
    args: &SubmitArgs,
    matches: Option<&ArgMatches>,
) -> Result<Exit> {
    let key = unit_flag(matches);
    if let Some(remote) = Remote::of_environment()? {
        if let Some(dir) = &args.worktree {
            refuse_other_worktree(dir)?;
        }
        let kind = remote.kind()?;
        let call = remote_call(args, &kind.clone().into_kind(), matches, key);
        let call = call.inspect_err(|_| {
            let args: Vec<OsString> = std::env::args_os().collect();
            remote::report_refused(&args);
        })?;
        let call = remote::with_files(call, kind.tree.as_ref())?;
        return remote.run(context, &Call::Submit(call));
    }
    let session = context.open_session()?;
    let judging = JudgeContext::of(&session)?;
    let kind = &judging.kind.quest;
    let submission = submission(args, kind, matches, args.id.is_some() || key.is_some())?;
    let quest = context::choose(&session, args.id, key.as_deref(), &kind.unit)?;
    let worker = context.worker_of(args.worker.as_ref())?;
    let worktree = args.worktree.as_deref();
    let worktree = worktree
        .map(|dir| Worktree::find(session.dir(), dir, quest))
        .transpose()?;
    let answer = judge::Answer {
        quest,
        worker: worker.as_ref(),
        key: args.idempotency_key.map_or(CallKey::None, CallKey::New),
        submission: &submission,
        files: match &worktree {
            Some(worktree) => AnswerFiles::Worktree(worktree),
            None => AnswerFiles::WorkingTree,
        },
    };
    judge(context, session, &judging, answer)
}

/// Fails unless the server reads the files of an answer there.
fn refuse_other_worktree(dir: &Path) -> Result<()> {
    let place = |dir: &Path| fs::canonicalize(dir).ok();
    let own = variable(TREE_VARIABLE).and_then(|own| place(Path::new(&own)));
    if own.is_some() && own == place(dir) {
        return Ok(());
    }
    refuse(format!(
        "{} is not your worktree, which {TREE_VARIABLE} names: submit without --worktree; nothing \
         changed",
        dir.display()
    ))
}

/// The call that the arguments make of a server, which checks the answer.
fn remote_call(
    args: &SubmitArgs,
    kind: &QuestKind,
    matches: Option<&ArgMatches>,
    key: Option<String>,
) -> Result<SubmitCall> {
    let submission = submission(args, kind, matches, args.id.is_some() || key.is_some())?;
    let (fields, none) = match submission {
        Submission::Fields(fields) => (Some(fields), None),
        Submission::None(why) => (None, Some(why)),
    };
    let fields = fields.map(|fields| {
        let fields = fields.into_iter();
        fields
            .map(|(name, text)| (name.to_string(), text.into()))
            .collect()
    });
    Ok(SubmitCall {
        id: args.id,
        key,
        fields,
        none,
        idempotency_key: args.idempotency_key,
        tree: None,
    })
}

/// Judges an answer and prints the judgement.
pub(super) fn judge(
    context: &mut Context,
    mut session: Session,
    judging: &JudgeContext,
    answer: judge::Answer<'_>,
) -> Result<Exit> {
    let submitted = judging.submit(&mut session, answer, &mut context::clock());
    let reply = match submitted {
        Ok(SubmitResult {
            mut judged,
            fixes,
            not_on_branch,
            ..
        }) => {
            if let Some(why) = not_on_branch {
                context.note_behind(&why);
            }
            add_remedies(&mut judged.judgement.facts, &judging.kind.rules());
            SubmitReply::Judged(Box::new(JudgedAnswer {
                status: "judged",
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
                not_judged_again: judged.left_out,
                fixes,
            }))
        }
        Err(JudgeError::Refused(refusal)) => SubmitReply::Refused(refusal),
        Err(error) => return Err(error.into()),
    };
    context.report_repairs(&session);
    let named = context.named_session.clone();
    // The judgement is recorded; a closed pipe does not change how it ended.
    let _ = context.output.show(&reply, |out, reply| {
        let values = context! {
            reply,
            total => session.totals().tally.total(),
            report => ShellLine::comail("report", named.as_deref()).text(),
            next => ShellLine::comail("next", named.as_deref()).text(),
            paused => match reply {
                SubmitReply::Refused(Refusal::Paused { streak }) => paused(*streak, named.as_deref()),
                _ => String::new(),
            },
        };
        out.template(include_str!("text/submit.txt"), values);
        let results = Results::of(&session);
        let closing = Closing::of(&session.totals(), &results, named.as_deref());
        if let Some(closing) = closing.filter(|_| matches!(reply, SubmitReply::Judged(_))) {
            closing.write(out);
        }
    });
    Ok(exit(&reply))
}

/// The submission that the arguments make; `is_named` if they name a quest.
fn submission(
    args: &SubmitArgs,
    kind: &QuestKind,
    matches: Option<&ArgMatches>,
    is_named: bool,
) -> Result<Submission> {
    if let Some(why) = &args.none {
        return nothing_found(why);
    }
    let fields = match &args.input {
        Some(path) => read_fields(path, kind)?,
        None => field_flags(kind, matches),
    };
    whole(fields, kind, is_named)
}

const MAX_REASON: usize = 16 << 10;

pub(super) fn nothing_found(why: &str) -> Result<Submission> {
    if why.trim().is_empty() {
        return refuse("--none needs a reason: what was tried, and where; nothing changed");
    }
    if why.len() > MAX_REASON {
        return refuse(format!(
            "the reason of --none is longer than {} KiB: say briefly what was tried, and where; nothing \
             changed",
            MAX_REASON >> 10
        ));
    }
    Ok(Submission::None(why.to_owned()))
}

/// The submission of these fields, if none is missing; `is_named` if the call names a quest.
pub(super) fn whole(fields: Fields, kind: &QuestKind, is_named: bool) -> Result<Submission> {
    let missing: Vec<_> = missing(kind, &fields)
        .map(|name| format!("--{name}"))
        .collect();
    if missing.is_empty() {
        return Ok(Submission::Fields(fields));
    }
    let quest = if is_named {
        String::new()
    } else {
        format!(", and {}", context::which(&kind.unit))
    };
    let missing = missing.join(", ");
    refuse(format!(
        "not submitted, nothing changed: {missing} missing{quest}"
    ))
}

// A field is a line, not a book.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

fn read_fields(path: &Path, kind: &QuestKind) -> Result<Fields> {
    let place = path.display();
    let failed = || format!("cannot read the submission {place}");
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).with_context(failed)?)
    };
    let mut bytes = Vec::new();
    let read = input.take(MAX_INPUT_BYTES).read_to_end(&mut bytes);
    read.with_context(failed)?;
    json::slice(&bytes)
        .map_err(BadFields::Json)
        .and_then(|value| fields_of(kind, value))
        .map_err(|bad| UsageError(format!("{place}: {bad}")).into())
}

fn exit(reply: &SubmitReply) -> Exit {
    match reply {
        SubmitReply::Refused(Refusal::Paused { .. }) => Exit::Paused,
        SubmitReply::Refused(_) => Exit::Locked,
        SubmitReply::Judged(judged) => match (judged.verdict, judged.state) {
            (Verdict::Fail, State::Done) => Exit::FailedAndDone,
            // Reviewers sent the answer back with doubts.
            (Verdict::Review, State::Todo) | (Verdict::Fail, _) => Exit::Failed,
            (Verdict::Pass | Verdict::Review, _) => Exit::Done,
        },
    }
}
