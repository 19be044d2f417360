//! The arguments of `comail run`, and the plan that they make.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::exit::UsageError;
use super::run_budget::BudgetArgs;
use super::run_prompt::LessonPlan;
use super::run_watch::WatchArgs;
use crate::judge::completeness::MinPass;
use crate::run::agent::{AgentCommand, Preset};
use crate::run::lessons::{Bound, Earlier};
use crate::run::{Answers, Plan};
use crate::session::{Lease, RunId};

/// Drive an agent over the quests until the work is done, and say why it stopped
///
/// The agent is started once for each quest, and again with the facts while the gate says FAIL.
/// What counts is the ledger: an agent is stopped once its quest is settled, and one that ends
/// without settling it has not succeeded, whatever it says. Exit 0 when nothing is TODO and the
/// run's report says COMPLETE, 8 when not, 130 after Ctrl-C. With --json a line for each event.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct RunArgs {
    /// A common agent, whose command line is known; what stands after -- is added to it
    #[arg(long, value_name = "NAME", value_parser = preset(), help_heading = AGENT)]
    agent: Option<&'static Preset>,

    /// The model that the agent is to use
    #[arg(long, value_name = "NAME", value_parser = model, help_heading = AGENT)]
    model: Option<String>,

    /// How the agent answers
    #[arg(long, value_enum, default_value = "submit", value_name = "HOW", help_heading = AGENT)]
    answer: How,

    /// Go on with the agent's own conversation when it is started for a quest again; a command line
    /// of your own takes it by a word with `{conversation}`, which is left out the first time
    #[arg(long, help_heading = AGENT)]
    resume: bool,

    /// The directory in which the agent works, and from which a program named by its path is
    /// looked for [default: this one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = AGENT)]
    dir: Option<PathBuf>,

    /// The agent and its arguments; `{prompt}` and `{prompt_file}` stand for the prompt, which else
    /// comes by standard input
    #[arg(last = true, value_name = "AGENT ARGS", help_heading = AGENT)]
    words: Vec<OsString>,

    /// How many agents work at once
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    parallel: u32,

    /// How long the claim of an agent lasts, which is renewed while it is alive [default: what
    /// scan froze]
    #[arg(long, value_name = "TIME")]
    lease: Option<Lease>,

    /// How many lessons of this session a prompt carries at most; 0 for none
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(0..=50))]
    lessons: u32,

    /// Carry lessons of these earlier sessions too
    #[arg(long, value_name = "SESSION", num_args = 1..)]
    lessons_from: Vec<PathBuf>,

    /// Call it complete only if so many quests are PASS, such as 80%
    #[arg(long, value_name = "PERCENT")]
    pub(super) min_pass: Option<MinPass>,

    /// Print the command line that would be started, and start nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    watch: WatchArgs,
}

const AGENT: &str = "The agent";

/// The most bytes of an agent's output that its log keeps.
const MOST_LOG_BYTES: u64 = 16 * 1024 * 1024;

const AFTER: &str = "\
The agent finds the session by COMAIL_SESSION, its name by COMAIL_WORKER, and this program as
`comail` in its PATH, so that `comail next` and `comail submit` need no flags.

Examples:
  comail run --agent claude -- --allowedTools 'Bash(comail:*)'
  comail run --agent codex --answer stdout --max-cost 5.00
  comail run --parallel 4 --answer stdout -- ./agent.sh

Reasons, one for each attempt, quest and run:
  settled            the quest is PASS, REVIEW or DONE
  complete           nothing is TODO
  attempts, quests, wall-clock, quest-timeout, tokens, cost
                     the budget of this name has ended
  diminishing        the agent went on and brought little that was new
  repeat, poll, ping-pong
                     it went round in circles
  breaker            nothing got further in 30 calls, or agents died at once
  paused             the unproven streak pauses the session
  permission-denied  the agent is not logged in, or not allowed what it needs
  agent-failed       the agent ended, and its quest was not settled: what it
                     answered failed, or it answered nothing; its log lies in
                     runs/RUN/ of the session
  error              something failed on our side
  interrupted        Ctrl-C, or the run was killed";

/// How the agent answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// It calls `comail submit` itself
    Submit,
    /// The last JSON object that it prints is its submission
    Stdout,
    /// By what it does, for kinds with no fields to submit; a start that ends by itself is judged,
    /// and may cost a try
    World,
}

impl RunArgs {
    /// What is to be done as this run.
    pub(super) fn plan(&self, run: RunId) -> Result<Plan> {
        let dir = match &self.dir {
            Some(dir) => std::path::absolute(dir),
            None => std::env::current_dir(),
        };
        Ok(Plan {
            run,
            command: self.command()?,
            model: self.model.clone(),
            answers: match self.answer {
                How::Submit => Answers::Submit,
                How::Stdout => Answers::Stdout,
                How::World => Answers::World,
            },
            resume: self.resume,
            workers: self.parallel,
            limits: self.budget.limits(),
            detectors: self.watch.detectors(),
            pace: self.watch.pace(),
            dying: self.watch.dying(),
            lease: self.lease,
            dir: dir.context("where is the agent to work?")?,
            most_log_bytes: MOST_LOG_BYTES,
        })
    }

    /// What prompts may carry of what was learned.
    pub(super) fn lessons(&self) -> Result<LessonPlan> {
        let earlier = self.lessons_from.iter().map(|dir| Earlier::read(dir));
        Ok(LessonPlan {
            bound: Bound {
                lessons: self.lessons as usize,
                ..Bound::default()
            },
            earlier: earlier.collect::<Result<_, _>>()?,
        })
    }

    fn command(&self) -> Result<AgentCommand> {
        let command = match self.agent {
            Some(preset) => AgentCommand::Preset(preset, self.words.clone()),
            None if self.words.is_empty() => {
                let text = "which agent? Name one by --agent, or give its command line after --";
                return Err(UsageError(text.to_owned()).into());
            }
            None => AgentCommand::Custom(self.words.clone()),
        };
        if self.resume && !command.can_resume() {
            let text = format!(
                "--resume: it is not known how {} goes on with a conversation",
                command.name()
            );
            return Err(UsageError(text).into());
        }
        Ok(command)
    }
}

fn preset() -> impl TypedValueParser<Value = &'static Preset> {
    let names = Preset::ALL.map(|preset| preset.name);
    PossibleValuesParser::new(names)
        .try_map(|name| Preset::named(&name).ok_or("there is no such agent"))
}

/// A model's name: no option, which an agent would heed as its own.
fn model(name: &str) -> Result<String, &'static str> {
    if name.starts_with('-') || name.trim().is_empty() {
        return Err("a model's name begins with no dash");
    }
    Ok(name.to_owned())
}
