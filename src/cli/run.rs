//! `comail run`: an agent is driven over the quests until the work is done.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::export_page::page;
use super::export_rows::Findings;
use super::interrupt::Interrupt;
use super::output::{Output, Paper, Tone};
use super::report_made::{Made, Wanted, made};
use super::run_prompt::{LessonPlan, RunPrompts};
use super::shell_line::words;
use super::{context, exit};
use crate::base::text::{Escaped, plural};
use crate::judge;
use crate::judge::completeness::MinPass;
use crate::judge::live_runs::run_above;
use crate::judge::{SessionKind, needs_no_fields};
use crate::report::run::{word, write_page, write_report};
use crate::run::agent::{AgentCommand, Given, Preset, command_line};
use crate::run::detect::{Detector, Settings};
use crate::run::lessons::{Bound, Earlier};
use crate::run::limits::{
    Diminishing, Limits, Money, OfQuest, OfRun, Percent, Period, Times, Tokens,
};
use crate::run::{Answers, CrashBackoffRules, Pace, Plan, RunEvent, RunObserver, Sources};
use crate::session::{Lease, Reason, RunId, Session, Spent, Store as _};

/// The JSON form of `run --dry-run`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DryRun {
    argv: Vec<String>,
    /// How the prompt comes to the agent.
    prompt: Way,
}

/// A line of `run --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RunTells<'a> {
    /// What happens.
    RunEvent(&'a RunEvent),
    /// Where the report lies, at the end.
    Report(Told),
}

/// The last line of `run --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    #[schemars(extend("const" = "report"))]
    what: &'static str,
    run: RunId,
    complete: bool,
    /// Where the report lies, as text; `report.json` lies beside it.
    path: String,
}

/// How the prompt comes to the agent.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    Stdin,
    Argument,
    File,
}

pub(super) fn run(context: &mut Context, args: &RunArgs) -> Result<Exit> {
    let run = new_run();
    let plan = args.plan(run)?;
    if args.dry_run {
        return dry_run(context, &plan);
    }
    // What is wrong is told before anything is started.
    let session = context.open_session()?;
    refuse_inside_a_run(&session)?;
    if let Some(note) = check(&session, &plan)? {
        context.output.note(&note);
    }
    drop(session);
    let dir = context.session_dir().to_owned();
    let mut watcher = Watcher {
        output: &mut context.output,
        interrupt: Interrupt::heed(),
        terminated: terminated(),
    };
    let sources = Sources {
        now: context::now,
        salts: context::salt,
    };
    let prompts = RunPrompts::new(&dir, args.lessons()?)?;
    let driven = crate::run::run(&dir, plan, &prompts, &mut watcher, sources);
    // Whatever the run ended for, its report says where the session stands.
    let complete = report(context, args, run);
    let (reason, complete) = (driven?, complete?);
    Ok(match reason {
        Reason::Interrupted => Exit::Interrupted,
        Reason::Complete => exit::of_completeness(complete),
        _ => Exit::Finding,
    })
}

/// Writes the report on a run that has ended; whether the session is complete.
fn report(context: &mut Context, args: &RunArgs, run: RunId) -> Result<bool> {
    let wanted = Wanted {
        run: Some(run),
        min_pass: args.min_pass,
        ended: None,
    };
    let Made { report, seen, .. } = made(context, &wanted)?;
    let place = write_report(context.session_dir(), run, &report)?;
    if let Ok((session, board)) = &seen {
        let findings = Findings { session, board };
        let page = page(findings, Some(word(&report)), &[], context.watch().as_ref());
        let written = page.and_then(|page| Ok(write_page(context.session_dir(), run, &page.html)?));
        if let Err(error) = written {
            // The report stands; the page shows the same and more.
            context
                .output
                .note(&format!("no page was written: {error:#}"));
        }
    }
    let word = if report.complete {
        "COMPLETE"
    } else {
        "NOT COMPLETE"
    };
    let note = format!("{word}: see {}", place.display());
    context.output.note(&note);
    if context.output.is_json() {
        let told = RunTells::Report(Told {
            what: "report",
            run,
            complete: report.complete,
            path: place.display().to_string(),
        });
        // As for what the run told before.
        let _ = context.output.show(&told, |_, _| {});
    }
    Ok(report.complete)
}

/// Refuses to drive a session for an agent that is driven itself.
fn refuse_inside_a_run(session: &Session) -> Result<()> {
    let inside = std::env::var_os("COMAIL_RUN").is_some_and(|run| !run.is_empty());
    if inside || run_above(&session.totals().runs).is_some() {
        let text = "a run inside a run: what a run started must not start another; nothing changed";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(())
}

/// Prints what would be started.
fn dry_run(context: &mut Context, plan: &Plan) -> Result<Exit> {
    let given = Given {
        prompt: "PROMPT",
        prompt_file: Some("PROMPT_FILE".as_ref()),
        model: plan.model.as_deref(),
        conversation: None,
    };
    let line = command_line(&plan.command, &given)?;
    let dry = DryRun {
        argv: line
            .argv
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        prompt: if line.stdin.is_some() {
            Way::Stdin
        } else if line.needs_file {
            Way::File
        } else {
            Way::Argument
        },
    };
    context.output.show(&dry, |paper, dry| {
        paper.line(Escaped(&words(&dry.argv)).to_string());
        paper.line(match dry.prompt {
            Way::Stdin => "the prompt comes by standard input; nothing was started",
            Way::Argument => "PROMPT stands for the prompt; nothing was started",
            Way::File => "PROMPT_FILE stands for the file of the prompt; nothing was started",
        });
    })?;
    Ok(Exit::Done)
}

/// A name for a run that none had before it, as far as randomness goes.
fn new_run() -> RunId {
    let mut bytes = [0; 4];
    // Without randomness the time tells runs apart.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = context::now().subsec_nanosecond().to_le_bytes();
    }
    RunId::new(u32::from_le_bytes(bytes))
}

/// Set once the process is asked to end by a signal other than that of Ctrl-C.
fn terminated() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Where it cannot be caught it ends the process at once; what is on disk stays.
        let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
    }
    asked
}

/// Shows what happens, and listens for who wants it to end.
struct Watcher<'a> {
    output: &'a mut Output,
    interrupt: Interrupt,
    terminated: Arc<AtomicBool>,
}

impl RunObserver for Watcher<'_> {
    fn observe(&mut self, events: &RunEvent) {
        if let RunEvent::Note { text } = events {
            self.output.note(text);
        } else {
            // A reader who has gone does not change what the run does.
            let tells = RunTells::RunEvent(events);
            let _ = self
                .output
                .show(&tells, |paper, _| write_event(paper, events));
        }
    }

    fn wants_to_stop(&self) -> bool {
        self.interrupt.is_asked() || self.terminated.load(Ordering::SeqCst)
    }
}

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
const MAX_LOG_BYTES: u64 = 16 * 1024 * 1024;

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
            crash_backoff: self.watch.crash_backoff(),
            lease: self.lease,
            dir: dir.context("where is the agent to work?")?,
            max_log_bytes: MAX_LOG_BYTES,
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

/// How much a run may use up.
#[derive(Debug, Args)]
#[command(next_help_heading = "Budgets; at the end of one the agent gets a last call on top")]
pub struct BudgetArgs {
    /// The most starts of the agent for one quest [default: 30]
    #[arg(long, value_name = "N")]
    max_attempts: Option<Times>,

    /// The most starts of the agent in all
    #[arg(long, value_name = "N")]
    max_attempts_total: Option<Times>,

    /// The most quests that are taken up
    #[arg(long, value_name = "N")]
    max_quests: Option<Times>,

    /// The longest that the run takes
    #[arg(long, value_name = "TIME")]
    wall_clock: Option<Period>,

    /// The longest that the agent works for one quest, in all its starts [default: 10m]
    #[arg(long, value_name = "TIME")]
    quest_timeout: Option<Period>,

    /// The most tokens for one quest; what the agent does not tell is estimated [default: 100000]
    #[arg(long, value_name = "N")]
    max_tokens: Option<Tokens>,

    /// The most tokens in all
    #[arg(long, value_name = "N")]
    max_tokens_total: Option<Tokens>,

    /// The most US dollars in all; what the agent does not tell is estimated from its tokens
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<Money>,

    /// The most US dollars for one quest
    #[arg(long, value_name = "DOLLARS")]
    max_quest_cost: Option<Money>,

    /// What a million tokens are taken to cost where the agent tells no price [default: 15.00]
    #[arg(long, value_name = "DOLLARS")]
    token_price: Option<Money>,

    /// The share of a quest's tokens after which going on is not worth it [default: 90%]
    #[arg(long, value_name = "SHARE")]
    diminishing_share: Option<Percent>,

    /// How many turns in a row may bring little [default: 3]
    #[arg(long, value_name = "N")]
    diminishing_turns: Option<Times>,

    /// A turn with fewer new tokens brings little [default: 500]
    #[arg(long, value_name = "N")]
    diminishing_tokens: Option<Tokens>,
}

impl BudgetArgs {
    /// The limits that these are.
    pub(super) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let (quest, soft) = (usual.quest, usual.diminishing);
        Limits {
            quest: OfQuest {
                starts: self.max_attempts.unwrap_or(quest.starts),
                tokens: self.max_tokens.unwrap_or(quest.tokens),
                time: self.quest_timeout.unwrap_or(quest.time),
                cost: self.max_quest_cost.or(quest.cost),
            },
            run: OfRun {
                starts: self.max_attempts_total,
                quests: self.max_quests,
                tokens: self.max_tokens_total,
                time: self.wall_clock,
                cost: self.max_cost,
            },
            diminishing: Diminishing {
                share: self.diminishing_share.unwrap_or(soft.share),
                turns: self.diminishing_turns.unwrap_or(soft.turns),
                new_tokens: self.diminishing_tokens.unwrap_or(soft.new_tokens),
            },
            price: self.token_price.unwrap_or(usual.price),
        }
    }
}

/// Refuses a run that cannot come to anything; nothing was started. What people should know of one
/// that may.
pub(super) fn check(session: &Session, plan: &Plan) -> Result<Option<String>> {
    let kind = judge::kind_of(session.manifest())?;
    if plan.answers == Answers::World && !needs_no_fields(&kind) {
        let text = "--answer world is for kinds with no fields to submit, and this one has: leave \
                    it away, or say --answer stdout; nothing was started";
        return Err(UsageError(text.to_owned()).into());
    }
    if plan.answers == Answers::Stdout && kind.fields.is_empty() {
        let text = "--answer stdout: this kind has no fields to print; say --answer world; nothing \
                    was started";
        return Err(UsageError(text.to_owned()).into());
    }
    if !plan.dir.is_dir() {
        let dir = plan.dir.display().to_string();
        bail!(
            "--dir {} is no directory; nothing was started",
            Escaped(&dir)
        );
    }
    let given = Given {
        prompt_file: Some("PROMPT_FILE".as_ref()),
        model: plan.model.as_deref(),
        ..Given::default()
    };
    let line = command_line(&plan.command, &given)?;
    let program = line.argv.first().map(OsString::as_os_str);
    match program.filter(|program| found(program, &plan.dir).is_none()) {
        None => elsewhere(session, &plan.dir),
        Some(program) => {
            let program = program.to_string_lossy();
            let place = if program.contains('/') {
                "there is no such program"
            } else {
                "it is not in PATH"
            };
            bail!("{}: {place}; nothing was started", Escaped(&program));
        }
    }
}

/// Says so where the agent works elsewhere than in the tree that the quests are about.
fn elsewhere(session: &Session, dir: &Path) -> Result<Option<String>> {
    let kind = SessionKind::load(session.manifest())?;
    let bench = kind.bench(session.evidence(), session.dir().to_owned())?;
    let Some(root) = bench.and_then(|bench| bench.root) else {
        return Ok(None);
    };
    let within = dir.canonicalize().is_ok_and(|dir| dir.starts_with(&root));
    let note = format!(
        "the agent works in {}, and the quests are about the tree {}: --dir names another place",
        dir.display(),
        root.display()
    );
    Ok((!within).then_some(note))
}

/// Where a program lies that is started in `dir`.
fn found(program: &OsStr, dir: &Path) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        let path = dir.join(program);
        return path.is_file().then_some(path);
    }
    let path = env::var_os("PATH")?;
    let mut places = env::split_paths(&path).map(|place| dir.join(place).join(program));
    places.find(|path| path.is_file())
}

/// Writes what happened.
fn write_event(paper: &mut Paper, events: &RunEvent) {
    match events {
        RunEvent::Began { run, began } => {
            let model = began.model.as_deref();
            let model = model.map(|model| format!(" with {}", Escaped(model)));
            paper.line(format!(
                "run {run}: {}{}, {} at once",
                Escaped(&began.agent),
                model.unwrap_or_default(),
                plural(began.workers, "agent")
            ));
        }
        RunEvent::Attempt {
            key,
            last_call,
            attempt,
        } => {
            let last_call = if *last_call { " (the last call)" } else { "" };
            let took = took(attempt.milliseconds);
            let exit = attempt
                .exit
                .filter(|_| attempt.reason == Reason::AgentFailed);
            paper.line(format!(
                "quest {}, {}: start {}{last_call} ended after {took}, {}: {}{}",
                attempt.quest,
                Escaped(key.as_str()),
                attempt.start,
                spent(&attempt.spent),
                attempt.reason,
                exit.map(|code| format!(", exit {code}"))
                    .unwrap_or_default()
            ));
        }
        RunEvent::Quest { key, state, quest } => {
            let word = paper.tint(tone(quest.reason), quest.reason.label());
            paper.line(format!(
                "{word} quest {}, {}: {state} after {}",
                quest.quest,
                Escaped(key.as_str()),
                plural(quest.starts, "start")
            ));
        }
        RunEvent::Ended { run, reason } => {
            let word = paper.tint(tone(*reason), reason.label());
            paper.line(format!("run {run} ended: {word} ({})", reason.meaning()));
        }
        RunEvent::Note { text } => paper.line(Escaped(text).to_string()),
    }
}

fn tone(reason: Reason) -> Tone {
    match reason {
        Reason::Settled | Reason::Complete => Tone::Good,
        Reason::Error | Reason::Breaker | Reason::PermissionDenied => Tone::Bad,
        _ => Tone::Doubt,
    }
}

/// How long it took, to the tenth of a second.
fn took(milliseconds: u64) -> String {
    let tenths = Duration::from_millis(milliseconds / 100 * 100);
    let took = SignedDuration::try_from(tenths).unwrap_or(SignedDuration::MAX);
    format!("{took:#}")
}

fn spent(spent: &Spent) -> String {
    let guess = if spent.told { "" } else { "about " };
    format!("{guess}{} tokens", spent.tokens)
}

/// How agents are watched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct WatchArgs {
    /// How often is looked where a quest stands [default: 100ms]
    #[arg(long, value_name = "TIME")]
    poll: Option<Period>,

    /// How long an agent that is stopped may take to end before it is killed [default: 5s]
    #[arg(long, value_name = "TIME")]
    grace: Option<Period>,

    /// How long the last call for a quest may take [default: 1m]
    #[arg(long, value_name = "TIME")]
    last_call: Option<Period>,

    /// Do not look for this: repeat, ping-pong, poll or breaker (repeatable)
    #[arg(long, value_name = "KIND", value_parser = detector(), hide_possible_values = true)]
    no_detect: Vec<Detector>,

    /// How many of an agent's last 30 calls that go round in circles are worth a warning
    /// [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=30))]
    detect_warn: Option<u32>,

    /// How many of them end the drive of the quest [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=30))]
    detect_stop: Option<u32>,

    /// How many agents in a row that die at their start end the run [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    breaker: Option<u32>,

    /// The pause after one that died; it doubles with each further one in a row [default: 1s]
    #[arg(long, value_name = "TIME")]
    backoff: Option<Period>,

    /// The longest such pause [default: 1m]
    #[arg(long, value_name = "TIME")]
    backoff_most: Option<Period>,
}

fn detector() -> impl TypedValueParser<Value = Detector> {
    let names = Detector::ALL.map(Detector::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Detector>())
}

impl WatchArgs {
    /// What the detectors go by.
    pub(super) fn detectors(&self) -> Settings {
        let usual = Settings::default();
        let mut settings = usual;
        settings.warn = self.detect_warn.unwrap_or(usual.warn);
        settings.stop = self.detect_stop.unwrap_or(usual.stop);
        let off = self.no_detect.iter();
        off.fold(settings, |settings, detector| settings.without(*detector))
    }

    /// How often is looked, and how long is waited.
    pub(super) fn pace(&self) -> Pace {
        let usual = Pace::default();
        Pace {
            poll: or(self.poll, usual.poll),
            grace: or(self.grace, usual.grace),
            last_call: or(self.last_call, usual.last_call),
        }
    }

    /// What is done about agents that die at their start.
    pub(super) fn crash_backoff(&self) -> CrashBackoffRules {
        let usual = CrashBackoffRules::default();
        CrashBackoffRules {
            first: or(self.backoff, usual.first),
            longest: or(self.backoff_most, usual.longest),
            in_a_row: self.breaker.unwrap_or(usual.in_a_row),
            ..usual
        }
    }
}

fn or(given: Option<Period>, usual: Duration) -> Duration {
    given.map_or(usual, Period::duration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, QuestId};
    use crate::session::{DrivenAttempt, RunId};

    fn said(event: &RunEvent) -> String {
        let mut paper = Paper::plain();
        write_event(&mut paper, event);
        paper.into_text()
    }

    #[test]
    fn the_end_of_a_run_says_what_its_reason_means() {
        for reason in Reason::ALL {
            let said = said(&RunEvent::Ended {
                run: RunId::new(7),
                reason,
            });
            let expected = format!("run 00000007 ended: {reason} ({})\n", reason.meaning());
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn a_last_call_is_marked_as_one() {
        let said = [false, true].map(|last_call| {
            said(&RunEvent::Attempt {
                key: Key::new("Acme").unwrap(),
                last_call,
                attempt: DrivenAttempt {
                    quest: QuestId::from_index(0).unwrap(),
                    start: 4,
                    worker: "w1".parse().unwrap(),
                    reason: Reason::Attempts,
                    milliseconds: 1200,
                    spent: Spent::default(),
                    exit: None,
                },
            })
        });
        assert!(said[0].contains("start 4 ended after"), "{said:?}");
        assert!(
            said[1].contains("start 4 (the last call) ended after"),
            "{said:?}"
        );
    }
}
