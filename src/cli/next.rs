//! `comail next`: the next quest and its prompt.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context, Reaching};
use super::exit::Exit;
use super::handed::Handed;
use super::output::Paper;
use super::shell_line::ShellLine;
use super::waits::Waits;
use crate::base::text::plural;
use crate::judge::{self, Assignment, Claimant};
use crate::session::{Claim, Lease, Store, Worker};

/// Print the next quest, and how to answer it
///
/// The same quest is printed until it is settled. With --worker, each worker gets its own quest, which
/// no other worker gets before the lease expires; `submit --worker` renews the lease. The exit code is
/// 3 if no quest is TODO, 4 if no quest is available now, and 9 if the session is paused.
#[derive(Debug, Args)]
#[command(after_long_help = WORKERS)]
pub struct NextArgs {
    /// The name of the worker [env: `COMAIL_WORKER`]
    ///
    /// If the worker asks again, also after a restart, it gets the same quest. Its claim is renewed when
    /// less than half of the lease is left. The name separates honest workers; it is not a secret.
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// Length of the worker's claim [default: set by `scan`]
    #[arg(long, value_name = "TIME", requires = "worker")]
    lease: Option<Lease>,
}

const WORKERS: &str = "\
Examples:
  comail next
  comail next --worker w1 --lease 30m
  comail next --json

One of several workers, until nothing is left to do:
  while :; do
    comail next --worker \"$me\" > quest.txt
    case $? in
      0) ;;                  # a quest: go on below
      3) break ;;            # complete
      4) sleep 30; continue ;;  # others hold the rest, or what it waits for
      *) exit 1 ;;           # paused, or an error
    esac
    # think; then answer. 7 says that another was quicker: ask again
    comail submit --worker \"$me\" --in answer.json --id 17 ||
      [ $? -ge 5 ] || exit 1
  done

An answer is judged once: sent again it is a repeat, which fails and costs a try.";

/// The JSON form of `next`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Answer {
    /// A quest to work on.
    Quest(Box<Handed>),
    /// Nothing is free: other workers hold the rest.
    Claimed {
        remaining: u32,
        /// When the first lease runs out, at the latest.
        free_in_seconds: i64,
        /// The session that `--session` named.
        #[serde(skip)]
        session: Option<PathBuf>,
    },
    /// Nothing is free: quests wait for others, and workers hold the rest.
    Waiting(Waits),
    /// A run drives the session, and hands out its quests itself.
    Driven { remaining: u32 },
    /// Nothing is TODO.
    Complete { total: u32 },
    /// The unproven streak pauses the session.
    Paused {
        streak: u32,
        /// The session that `--session` named.
        #[serde(skip)]
        session: Option<PathBuf>,
    },
}

pub(super) fn run(context: &mut Context, args: &NextArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let claimant = context
        .worker_of(args.worker.as_ref())?
        .map(|worker| Claimant {
            worker,
            lease: args.lease,
        });
    let assignment = judge::assign(&mut session, claimant.as_ref(), &mut context::clock())?;
    context.report_mended(&session);
    let reaching = context.reaching(args.worker.as_ref());
    let (answer, exit) = answer(&session, assignment, &reaching)?;
    context.output.show(&answer, text)?;
    Ok(exit)
}

/// What `next` says of what was handed out.
fn answer(
    session: &dyn Store,
    assignment: Assignment,
    reaching: &Reaching,
) -> Result<(Answer, Exit)> {
    let tally = session.totals().tally;
    Ok(match assignment {
        Assignment::Quest(standing, claim) => {
            let handed = Handed::of(session, &standing, claim, reaching)?;
            (Answer::Quest(Box::new(handed)), Exit::Done)
        }
        Assignment::AllClaimed => {
            let claimed = Answer::Claimed {
                remaining: tally.todo,
                free_in_seconds: free_in(&session.claims()?, context::now()).as_secs(),
                session: reaching.session.clone(),
            };
            (claimed, Exit::NoneFree)
        }
        Assignment::Driven => {
            let remaining = tally.todo;
            (Answer::Driven { remaining }, Exit::NoneFree)
        }
        Assignment::Waiting(waiting) => {
            let waits = Waits::new(session, &waiting)?;
            (Answer::Waiting(waits), Exit::NoneFree)
        }
        Assignment::Complete => {
            let total = tally.total();
            (Answer::Complete { total }, Exit::Complete)
        }
        Assignment::Paused { streak } => {
            let session = reaching.session.clone();
            (Answer::Paused { streak, session }, Exit::Paused)
        }
    })
}

/// The text that `next` prints of what was handed out, without colours.
pub(super) fn told(
    session: &dyn Store,
    assignment: Assignment,
    reaching: &Reaching,
) -> Result<String> {
    let (answer, _) = answer(session, assignment, reaching)?;
    let mut paper = Paper::plain();
    text(&mut paper, &answer);
    Ok(paper.into_text())
}

/// How long until the first of `claims` runs out.
pub(super) fn free_in(claims: &[Claim], now: Timestamp) -> SignedDuration {
    let left = claims.iter().map(|claim| claim.left(now));
    let left = left.filter(SignedDuration::is_positive).min();
    left.unwrap_or(SignedDuration::ZERO)
}

fn text(paper: &mut Paper, answer: &Answer) {
    match answer {
        Answer::Claimed {
            remaining,
            free_in_seconds,
            session,
        } => {
            let claims = ShellLine::comail("claims", session.as_deref());
            let claims = claims.text();
            let free_in = SignedDuration::from_secs(*free_in_seconds);
            paper.line(format!(
                "no quest is available now: other workers hold all {remaining} that are left; the \
                 first claim expires in {free_in:#} at most. Try again then, or run `{claims}`"
            ));
        }
        Answer::Waiting(waits) => waits.write(paper),
        Answer::Driven { remaining } => paper.line(format!(
            "no quest is available now: a run gives the {remaining} that are left to its own \
             agents; wait until it ends"
        )),
        Answer::Complete { total } => {
            paper.line(match total {
                1 => String::from("complete: the 1 quest is settled"),
                total => format!("complete: all {total} quests are settled"),
            });
        }
        Answer::Paused { streak, session } => paper.line(paused(*streak, session.as_deref())),
        Answer::Quest(handed) => handed.write(paper),
    }
}

/// Why the session is paused, and what lifts it.
pub(super) fn paused(streak: u32, session: Option<&Path>) -> String {
    let resume = ShellLine::comail("resume", session);
    format!(
        "paused: {} in a row ended without proof. The network may be down, or the agent gives up \
         too early. A person has to find the cause and run `{}`",
        plural(streak, "quest"),
        resume.text()
    )
}
