//! `comail next`: the next quest, its prompt and how to answer it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use jiff::SignedDuration;
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer_form::AnswerForm;
use super::closing::{Closing, Results};
use super::context::{self, Context, Reaching};
use super::exit::{Exit, refuse};
use super::output::TextOutput;
use super::remote::Remote;
use super::shell_line::ShellLine;
use crate::base::text::{Escaped, plural};
use crate::gate::{Fact, Judgement, add_remedies};
use crate::judge::{self, Assignment, Claimant, SessionKind, Worktree};
use crate::quest::{self, Key, Quest, QuestId};
use crate::serve::{Call, NextCall};
use crate::session::{Claim, Lease, QuestRecord, Session, State, Waiting, Worker};

/// Print the next quest, and how to answer it
///
/// The same quest is printed until it is settled. With --worker, each worker gets its own quest, which
/// no other worker gets before the lease expires; `submit --worker` renews the lease. The exit code is
/// 3 if no quest is TODO, 4 if no quest is available now, and 9 if the session is paused.
#[derive(Debug, Args)]
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

    /// Copy the accepted tree to DIR, and work on the quest there
    ///
    /// In a session with worktrees, see `comail help quest-files`. DIR is a new or an empty directory. If
    /// it is already the worktree of the quest, it stays as it is.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    worktree: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum NextReply {
    Quest(Box<HandedQuest>),
    /// Other workers hold all quests that are left.
    Claimed {
        remaining: u32,
        /// Until the first claim expires.
        free_in_seconds: i64,
    },
    /// All quests that are left wait for other quests, or are held by other workers.
    Waiting(Waits),
    /// A run gives the quests to its own agents.
    Driven {
        remaining: u32,
    },
    /// No quest is TODO.
    Settled(Closing),
    Paused {
        streak: u32,
    },
}

pub(super) fn run(context: &mut Context, args: &NextArgs) -> Result<Exit> {
    if let Some(remote) = Remote::of_environment()? {
        if args.worktree.is_some() {
            return refuse("a server makes no worktrees here: work in a copy of the frozen tree");
        }
        return remote.run(context, &Call::Next(NextCall { lease: args.lease }));
    }
    let worker = context.worker_of(args.worker.as_ref())?;
    let reaching = context.reaching(args.worker.as_ref());
    let claimant = worker.map(|worker| Claimant {
        worker,
        lease: args.lease,
    });
    match &args.worktree {
        None => give(context, claimant.as_ref(), &reaching),
        Some(dir) => give_with(context, claimant.as_ref(), reaching, Some(dir)),
    }
}

/// Hands out a quest and prints it.
pub(super) fn give(
    context: &mut Context,
    claimant: Option<&Claimant>,
    reaching: &Reaching,
) -> Result<Exit> {
    give_with(context, claimant, reaching.clone(), None)
}

fn give_with(
    context: &mut Context,
    claimant: Option<&Claimant>,
    mut reaching: Reaching,
    worktree: Option<&Path>,
) -> Result<Exit> {
    let mut session = context.open_session()?;
    let assignment = judge::assign(&mut session, claimant, &mut context::clock())?;
    if let (Assignment::Quest(record, _), Some(dir)) = (&assignment, worktree) {
        Worktree::keep_or_make(&session, record.id, dir)?;
        reaching.worktree = Some(dir.to_owned());
    }
    let reaching = &reaching;
    context.report_repairs(&session);
    let reply = NextReply::new(&session, assignment, reaching)?;
    context.output.show(&reply, |out, reply| {
        reply.write(out, reaching.session.as_deref());
    })?;
    Ok(match reply {
        NextReply::Quest(_) => Exit::Done,
        NextReply::Claimed { .. } | NextReply::Waiting(_) | NextReply::Driven { .. } => {
            Exit::NoneFree
        }
        NextReply::Settled(_) => Exit::Complete,
        NextReply::Paused { .. } => Exit::Paused,
    })
}

/// The text that `next` prints for an assignment, without colours.
pub(super) fn rendered(
    session: &Session,
    assignment: Assignment,
    reaching: &Reaching,
) -> Result<String> {
    let mut out = TextOutput::plain();
    let reply = NextReply::new(session, assignment, reaching)?;
    reply.write(&mut out, reaching.session.as_deref());
    Ok(out.into_text())
}

impl NextReply {
    fn new(session: &Session, assignment: Assignment, reaching: &Reaching) -> Result<Self> {
        let remaining = session.totals().tally.todo;
        Ok(match assignment {
            Assignment::Quest(record, claim) => {
                let handed = HandedQuest::new(session, &record, claim, reaching)?;
                Self::Quest(Box::new(handed))
            }
            Assignment::AllClaimed => Self::Claimed {
                remaining,
                free_in_seconds: free_in_seconds(session)?,
            },
            Assignment::Driven => Self::Driven { remaining },
            Assignment::Waiting(waiting) => Self::Waiting(Waits::new(session, &waiting)?),
            Assignment::Complete => Self::Settled(Closing::new(
                &session.totals(),
                &Results::of(session),
                reaching.session.as_deref(),
            )),
            Assignment::Paused { streak } => Self::Paused { streak },
        })
    }

    fn write(&self, out: &mut TextOutput, session: Option<&Path>) {
        let streak = match self {
            Self::Quest(handed) => return handed.write(out),
            Self::Settled(closing) => return closing.write(out),
            Self::Paused { streak } => *streak,
            _ => 0,
        };
        let values = context! {
            reply => self,
            claims => ShellLine::comail("claims", session).text(),
            paused => paused(streak, session),
        };
        out.template(include_str!("text/next.txt"), values);
    }
}

/// The time until the first claim expires; 0 without claims.
fn free_in_seconds(session: &Session) -> Result<i64> {
    let now = context::now();
    let claims = session.claims()?;
    let left = claims.iter().map(|claim| claim.left(now));
    let left = left.filter(SignedDuration::is_positive).min();
    Ok(left.map_or(0, |left| left.as_secs()))
}

pub(super) fn paused(streak: u32, session: Option<&Path>) -> String {
    let resume = ShellLine::comail("resume", session);
    format!(
        "paused: {} in a row ended without a result. The network may be down, or the agent gives up \
         too early. A person has to find the cause and run `{}`",
        plural(streak, "quest"),
        resume.text()
    )
}

/// One quest, handed out to an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HandedQuest {
    quest: Quest,
    unit: String,
    total: u32,
    remaining: u32,
    #[serde(rename = "try")]
    this_try: u32,
    max_tries: u32,
    prompt: String,
    #[serde(flatten)]
    form: AnswerForm,
    /// The claim of the worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
    /// What the last attempt failed on, or why its PASS no longer holds.
    facts: Vec<Fact>,
    /// Whether the quest was PASS, and no longer holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    regressed: bool,
    /// What the last agent of a run wrote about its progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Box<str>>,
}

impl HandedQuest {
    pub(super) fn new(
        session: &Session,
        record: &QuestRecord,
        claim: Option<Claim>,
        reaching: &Reaching,
    ) -> Result<Self> {
        let judging = SessionKind::load(session.manifest())?;
        let kind = &judging.quest;
        let quest = session.reader()?.quest(record)?;
        let mut reader = session.reader()?;
        let judgement = match reader.regression(record)? {
            Some(regressed) => Some(regressed.value.judgement),
            None => reader
                .last_attempt(record)?
                .map(|last| last.value.judgement),
        };
        let mut facts = match &judgement {
            Some(judgement) => serde_json::from_str::<Judgement>(judgement.get())?.facts,
            None => Vec::new(),
        };
        add_remedies(&mut facts, &judging.rules());
        let tally = session.totals().tally;
        let namesakes = session.named(&quest.key.folded())?.len();
        let mut form = AnswerForm::new(kind, Some((&quest, namesakes)), reaching);
        if let Some(example) = kind.example_key()
            && !session.named(&example.folded())?.is_empty()
        {
            // It would give away the answer of a quest.
            form.example = None;
        }
        Ok(Self {
            unit: kind.unit.to_string(),
            total: tally.total(),
            remaining: tally.todo,
            this_try: record.progress.tries + 1,
            max_tries: session.manifest().frozen.max_tries.get(),
            prompt: quest::prompt::render(kind, &quest)?,
            form,
            claim,
            facts,
            regressed: record.regression.is_some(),
            note: session.reader()?.handover(record)?.map(|note| note.value),
            quest,
        })
    }

    pub(super) fn shows_example(&self) -> bool {
        self.form.example.is_some()
    }

    pub(super) fn write(&self, out: &mut TextOutput) {
        self.write_task(out);
        out.gap();
        for (heading, lines) in self.form.parts() {
            out.line(heading);
            for line in lines {
                out.line(format!("  {}", Escaped(line)));
            }
        }
    }

    /// Writes the task with its facts, but not how to answer.
    pub(super) fn write_task(&self, out: &mut TextOutput) {
        let lease = self.claim.as_ref().map(|claim| claim.lease.to_string());
        let values = context! { task => self, lease };
        out.template(include_str!("text/task.txt"), values);
    }
}

const MAX_NAMED: usize = 3;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waits {
    remaining: u32,
    waiting: u32,
    /// How many wait for a quest that ended without a PASS, so that a person has to decide.
    blocked: u32,
    claimed: u32,
    /// Until the first claim expires; 0 without claims.
    free_in_seconds: i64,
    /// The first of the quests that the others wait for.
    #[serde(rename = "for")]
    awaited: Vec<Awaited>,
    /// How many more of these there are.
    more: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Awaited {
    id: QuestId,
    key: Key,
    state: State,
}

impl Waits {
    fn new(session: &Session, waiting: &Waiting) -> Result<Self> {
        let mut awaited = Vec::new();
        for id in waiting.fronts.iter().take(MAX_NAMED) {
            let record = session.quest_record(*id)?;
            awaited.extend(record.map(|record| Awaited {
                id: record.id,
                key: record.key,
                state: record.progress.state,
            }));
        }
        let count = |quests: usize| u32::try_from(quests).unwrap_or(u32::MAX);
        let remaining = session.totals().tally.todo;
        Ok(Self {
            remaining,
            waiting: count(waiting.quests.len()),
            blocked: count(waiting.blocked.len()),
            claimed: remaining.saturating_sub(count(waiting.quests.len())),
            free_in_seconds: free_in_seconds(session)?,
            more: waiting.fronts.len().saturating_sub(awaited.len()),
            awaited,
        })
    }
}
