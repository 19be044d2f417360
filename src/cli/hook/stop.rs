//! `comail hook stop`: whether an agent may stop.

use anyhow::Result;
use clap::Args;

use super::{agent, answer, in_a_run, said};
use crate::base::text::plural;
use crate::cli::context::{self, Context};
use crate::cli::exit::Exit;
use crate::cli::next;
use crate::cli::shell_line::ShellLine;
use crate::hook::{HookAgent, MOST_REFUSALS, Memory, Patience, Progress, StopCall, StopReply};
use crate::judge::{self, Assignment, Claimant};
use crate::session::{Session, State, Store as _, Worker};

/// The variable by which a run lets an agent end its last call.
const LAST_CALL_VARIABLE: &str = "COMAIL_LAST_CALL";

/// Keep an agent from stopping while quests are TODO
///
/// The agent gets the next quest instead. It may stop if no quest is TODO, if the session is paused, if
/// the ledger cannot be read, or if it was sent back too often without progress. If other workers hold
/// all quests that are left, it is told to wait. The exit code is always 0.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct StopArgs {
    /// The agent: claude, codex or gemini
    #[arg(long, value_name = "NAME", default_value_t, value_parser = agent())]
    agent: HookAgent,

    /// The worker name of the agent [env: `COMAIL_WORKER`]
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// Maximum number of refusals in a row without progress
    #[arg(long, value_name = "N", default_value_t = MOST_REFUSALS)]
    most: u32,
}

const EXAMPLES: &str = "\
Examples:
  comail hook stop < call.json
  comail hook stop --worker w1 --most 3 < call.json";

pub(super) fn run(context: &mut Context, args: &StopArgs) -> Result<Exit> {
    // The ledger decides, not what the agent says of itself; without its words it is the patience
    // alone that ends.
    let call = said()
        .map_err(Into::into)
        .and_then(|said| Ok(StopCall::read(&said)?));
    let call = call.unwrap_or_else(|error: anyhow::Error| {
        context.output.error(&error);
        StopCall::default()
    });
    let reply = reply(context, args, &call).unwrap_or_else(|error| {
        StopReply::Stop(format!(
            "comail: nothing can be said of the quests: {error:#}"
        ))
    });
    let whole = ShellLine::comail("next", context.named_session());
    let whole = format!("`{}` prints all of it", whole.text());
    answer(&mut context.output, &reply.json(args.agent, &whole))?;
    Ok(Exit::Done)
}

fn reply(context: &mut Context, args: &StopArgs, call: &StopCall) -> Result<StopReply> {
    let stop = |why: &str| Ok(StopReply::Stop(format!("comail: {}", why.trim_end())));
    if !call.is_stop() {
        return stop("it is not the agent that stops");
    }
    if std::env::var_os(LAST_CALL_VARIABLE).is_some_and(|value| !value.is_empty()) {
        return stop("a budget has ended");
    }
    let worker = context.worker_of(args.worker.as_ref())?;
    let mut session = context.open_session()?;
    let conversation = match (&*call.conversation, &worker) {
        ("", Some(worker)) => worker.as_str(),
        (conversation, _) => conversation,
    };
    let memory = Memory::of(session.dir(), conversation);
    let totals = session.totals();
    let todo = totals.tally.todo;
    let patience = memory.refused().again(Progress::of(&totals), args.most);
    let refused = match patience {
        Patience::LetGo(times) if todo > 0 && !session.paused() => {
            memory.forget();
            return stop(&format!(
                "{} left, but nothing new came of sending the agent back {times} times",
                plural(todo, "quest"),
            ));
        }
        Patience::LetGo(_) => None,
        Patience::Hold(refused) => Some(refused),
    };
    let Some(assignment) = assignment(&mut session, worker)? else {
        return stop("the run that started the agent has nothing more for it");
    };
    context.report_mended(&session);
    let reaching = context.reaching(args.worker.as_ref());
    // What others hold may be held by this very agent under other names.
    let none_free = matches!(assignment, Assignment::AllClaimed | Assignment::Waiting(_));
    let held = matches!(assignment, Assignment::Quest(..));
    let text = next::told(&session, assignment, &reaching)?;
    let goes_on = held || (none_free && refused.is_some());
    if !goes_on {
        memory.forget();
        return stop(&text);
    }
    let kept = refused.map_or(Ok(()), |refused| memory.keep(refused));
    if let Err(error) = kept
        && call.goes_on != Some(false)
    {
        // What cannot be plural must not go on for ever.
        return stop(&format!(
            "how often it was sent back cannot be kept: {error}"
        ));
    }
    let todo = plural(session.totals().tally.todo, "quest");
    if none_free {
        return Ok(StopReply::GoOn(format!(
            "comail: {todo} left, and others hold them. Go on with those that you claimed under another name, or wait for a while and stop again.\n\n{text}"
        )));
    }
    Ok(StopReply::GoOn(format!(
        "comail: {todo} left, so this is no time to stop. Go on with this one.\n\n{text}"
    )))
}

/// What the agent is to do next; none where a run decides that, and has nothing for it.
fn assignment(session: &mut Session, worker: Option<Worker>) -> Result<Option<Assignment>> {
    if !in_a_run() {
        let claimant = worker.map(|worker| Claimant {
            worker,
            lease: None,
        });
        let clock = &mut context::clock();
        return Ok(Some(judge::assign(session, claimant.as_ref(), clock)?));
    }
    // A run hands out quests itself: an agent that another has overtaken must not take a new one.
    let claim = worker.map(|worker| session.claim_of(&worker)).transpose()?;
    let Some(claim) = claim
        .flatten()
        .filter(|claim| claim.is_live(context::now()))
    else {
        return Ok(None);
    };
    let standing = session.standing(claim.quest)?;
    let todo = standing.filter(|standing| standing.progress.state == State::Todo);
    let todo = todo.filter(|_| !session.paused());
    Ok(todo.map(|standing| Assignment::Quest(Box::new(standing), Some(claim))))
}
