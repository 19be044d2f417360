//! `comail next`: the next quest and its prompt.

use anyhow::Result;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::context::{self, Context};
use super::counted::counted;
use super::escape::{Plain, PlainLines};
use super::exit::Exit;
use super::facts;
use super::output::{Output, Paper, Tone};
use super::shell_line::ShellLine;
use super::waits::Waits;
use crate::drive::{self, Assignment, Claimant};
use crate::gate::{Fact, Judgement, Rule};
use crate::quest::{Quest, QuestKind, prompt};
use crate::session::{Claim, Lease, Standing, Store, Worker};

/// Print the next quest, its prompt and how to answer
///
/// The same quest is printed until it is settled. With --worker each worker gets a quest of its
/// own, which nobody else gets before the lease has run out; `submit --worker` renews it. Exit 3
/// when nothing is TODO, 4 when other workers hold all the rest or it waits for other quests, 9
/// when the session is paused.
#[derive(Debug, Args)]
#[command(after_long_help = WORKERS)]
pub struct NextArgs {
    /// The name of the worker that asks, and gets a quest of its own
    ///
    /// Asking again gives the same quest, to a worker that was started anew as well, and renews a
    /// claim of which less than half is left. The name keeps honest workers apart; it is no
    /// secret.
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// How long the worker's claim lasts [default: what scan froze]
    #[arg(long, value_name = "TIME", requires = "worker")]
    lease: Option<Lease>,
}

const WORKERS: &str = "\
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
    comail submit --worker \"$me\" --id … || [ $? -ge 5 ] || exit 1
  done

An answer is judged once: sent again it is a repeat, which fails and costs a try.";

/// The JSON form of `next`.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
enum Answer {
    /// A quest to work on.
    Quest(Box<Handed>),
    /// Nothing is free: other workers hold the rest.
    Claimed {
        remaining: u32,
        /// When the first lease runs out, at the latest.
        free_in_seconds: i64,
    },
    /// Nothing is free: quests wait for others, and workers hold the rest.
    Waiting(Waits),
    /// Nothing is TODO.
    Complete { total: u32 },
    /// The unproven streak pauses the session.
    Paused { streak: u32 },
}

/// One quest, handed out.
#[derive(Debug, Serialize)]
struct Handed {
    quest: Quest,
    unit: String,
    total: u32,
    remaining: u32,
    #[serde(rename = "try")]
    this_try: u32,
    max_tries: u32,
    prompt: String,
    example: String,
    submit: String,
    /// The fields that may be left out, as flags with what belongs in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    optional: Vec<String>,
    submit_none: String,
    /// The claim under which the worker has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
    /// What the last attempt failed on.
    facts: Vec<Fact>,
    #[serde(skip)]
    rules: Vec<Rule>,
}

pub(super) fn run(context: &mut Context, args: &NextArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let claimant = args.worker.clone().map(|worker| Claimant {
        worker,
        lease: args.lease,
    });
    let assignment = drive::assign(
        &mut session,
        claimant.as_ref(),
        &mut context::now,
        &mut context::salt,
    )?;
    context.report_mended(&session);
    let (answer, exit) = answer(&session, assignment, context)?;
    context.output.show(&answer, text)?;
    Ok(exit)
}

/// What `next` says of what was handed out.
fn answer(
    session: &dyn Store,
    assignment: Assignment,
    context: &Context,
) -> Result<(Answer, Exit)> {
    let tally = session.totals().tally;
    Ok(match assignment {
        Assignment::Quest(standing, claim) => {
            let handed = hand_out(session, &standing, claim, context)?;
            (Answer::Quest(Box::new(handed)), Exit::Done)
        }
        Assignment::AllClaimed => {
            let claimed = Answer::Claimed {
                remaining: tally.todo,
                free_in_seconds: free_in(&session.claims()?, context::now()).as_secs(),
            };
            (claimed, Exit::NoneFree)
        }
        Assignment::Waiting(waiting) => {
            let waits = Waits::new(session, &waiting)?;
            (Answer::Waiting(waits), Exit::NoneFree)
        }
        Assignment::Complete => {
            let total = tally.total();
            (Answer::Complete { total }, Exit::Complete)
        }
        Assignment::Paused { streak } => (Answer::Paused { streak }, Exit::Paused),
    })
}

/// The text that `next` prints of what was handed out, without colours.
pub(super) fn told(
    session: &dyn Store,
    assignment: Assignment,
    context: &Context,
) -> Result<String> {
    let (answer, _) = answer(session, assignment, context)?;
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

fn hand_out(
    session: &dyn Store,
    standing: &Standing,
    claim: Option<Claim>,
    context: &Context,
) -> Result<Handed> {
    let kind = drive::kind_of(session.manifest())?;
    let quest = session.quest(standing)?;
    let facts = match session.last_attempt(standing)? {
        Some(last) => serde_json::from_str::<Judgement>(last.value.judgement.get())?.facts,
        None => Vec::new(),
    };
    let tally = session.totals().tally;
    let worker = claim.as_ref().map(|claim| &claim.worker);
    let lines = Lines::new(session, &kind, &quest, worker, context)?;
    Ok(Handed {
        prompt: prompt::render(&kind, &quest)?,
        unit: kind.unit.to_string(),
        total: tally.total(),
        remaining: tally.todo,
        this_try: standing.progress.tries + 1,
        max_tries: session.manifest().frozen.max_tries.get(),
        example: lines.example(),
        submit: lines.submit(),
        optional: lines.optional(),
        submit_none: lines.none(),
        rules: drive::rules_of(session.manifest())?,
        quest,
        claim,
        facts,
    })
}

/// The command lines that `next` offers.
struct Lines<'a> {
    kind: &'a QuestKind,
    named: ShellLine,
    blank: ShellLine,
}

impl<'a> Lines<'a> {
    fn new(
        session: &dyn Store,
        kind: &'a QuestKind,
        quest: &Quest,
        worker: Option<&Worker>,
        context: &Context,
    ) -> Result<Self> {
        let blank = ShellLine::comail("submit", context.named_session());
        let blank = match worker {
            Some(worker) => blank.flag("worker", worker.as_str()),
            None => blank,
        };
        let namesakes = session.named(&quest.key.folded())?.len();
        // A key that cannot be shown as it is would be another one when it is typed.
        let shown = Plain(quest.key.as_str()).to_string();
        let named = if namesakes > 1 || shown != quest.key.as_str() {
            blank.clone().flag("id", &quest.id.to_string())
        } else {
            blank.clone().flag(&kind.unit, quest.key.as_str())
        };
        Ok(Self { kind, named, blank })
    }

    fn submit(&self) -> String {
        let fields = self.kind.fields.iter();
        let line = fields.fold(self.named.clone(), |line, field| {
            if field.required {
                line.blank(field.name.as_str())
            } else {
                line
            }
        });
        line.text().to_owned()
    }

    fn optional(&self) -> Vec<String> {
        let fields = self.kind.fields.iter().filter(|field| !field.required);
        let flags = fields.map(|field| {
            let flag = format!("--{} {}", field.name, field.shape.placeholder());
            match &*field.help {
                "" => flag,
                help => format!("{flag}  {help}"),
            }
        });
        flags.collect()
    }

    fn none(&self) -> String {
        let line = self.named.clone().flag("none", "what you tried");
        line.text().to_owned()
    }

    fn example(&self) -> String {
        let start = self.blank.clone();
        let start = start.flag(&self.kind.unit, &self.kind.example_key);
        let fields = self.kind.fields.iter();
        let fields = fields.filter(|field| field.required || field.has_example());
        let line = fields.fold(start, |line, field| {
            line.flag(field.name.as_str(), &field.example)
        });
        line.text().to_owned()
    }
}

fn text(paper: &mut Paper, answer: &Answer) {
    match answer {
        Answer::Claimed {
            remaining,
            free_in_seconds,
        } => {
            let free_in = SignedDuration::from_secs(*free_in_seconds);
            paper.line(format!(
                "nothing is free: workers hold all of the {remaining} left, the first for {free_in:#} \
                 at most; ask again then, or see `comail claims`"
            ));
        }
        Answer::Waiting(waits) => waits.write(paper),
        Answer::Complete { total } => {
            paper.line(match total {
                1 => String::from("complete: the 1 quest is settled"),
                total => format!("complete: all {total} quests are settled"),
            });
        }
        Answer::Paused { streak } => paper.line(paused(*streak)),
        Answer::Quest(handed) => quest_text(paper, handed),
    }
}

/// Why the session is paused, and what lifts it.
pub(super) fn paused(streak: u32) -> String {
    format!(
        "paused: {} in a row ended with nothing proven. The network may be down, or the agent is \
         giving up too easily. A person looks into it and runs `comail resume`",
        counted(streak, "quest")
    )
}

fn quest_text(paper: &mut Paper, handed: &Handed) {
    let place = format!(
        "quest {} of {}, {} left, try {} of {}",
        handed.quest.id, handed.total, handed.remaining, handed.this_try, handed.max_tries
    );
    let place = paper.tint(Tone::Strong, &place);
    paper.line(place);
    if let Some(claim) = &handed.claim {
        let (worker, lease) = (&claim.worker, claim.lease);
        paper.line(format!(
            "claimed by {worker} for {lease}, renewed by each submission"
        ));
    }
    paper.gap();
    paper.line(PlainLines(handed.prompt.trim_end()).to_string());
    if !handed.facts.is_empty() {
        paper.gap();
        paper.line(format!(
            "The last attempt ({}) failed:",
            handed.this_try - 1
        ));
        facts::write(paper, &handed.facts, &handed.rules);
    }
    paper.gap();
    paper.line(format!(
        "A submission that would look right, for another {}:",
        handed.unit
    ));
    paper.line(format!("  {}", Plain(&handed.example)));
    paper.line("Submit yours:");
    paper.line(format!("  {}", Plain(&handed.submit)));
    if !handed.optional.is_empty() {
        paper.line("What may be added:");
        for flag in &handed.optional {
            paper.line(format!("  {}", Plain(flag)));
        }
    }
    paper.line("Nothing to be found (costs a try):");
    paper.line(format!("  {}", Plain(&handed.submit_none)));
}

impl Output {
    /// Says that the session is paused.
    pub(super) fn show_paused(&mut self, streak: u32) -> std::io::Result<()> {
        self.show(&Answer::Paused { streak }, text)
    }
}
