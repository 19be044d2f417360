//! `comail run`: drives an agent over the quests until no work is left.

mod confinement;
mod dry_run;
mod live;
mod server;

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use minijinja::context;
use nix::unistd::{AccessFlags, access};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer_form::{field_line, json_form};
use super::closing::{Closing, Results, Step};
use super::config::in_a_run;
use super::context;
use super::context::{Context, Folded, Reaching};
use super::exit::{Exit, NotFound, UsageError, refuse};
use super::insights::insights_of;
use super::next::HandedQuest;
use super::notify::{Happened, Notifier, ReportStatus};
use super::output::{Output, TextOutput, Tone};
use super::progress;
use super::report::{Asked, JudgeAgain, Made, made, page};
use super::settings::Settings;
use super::settings::run::RunTable;
use super::shell_line::ShellLine;
use crate::base::text::Escaped;
use crate::judge::completeness::{MinPass, ShortfallKind};
use crate::judge::live_runs::run_above;
use crate::judge::needs_no_fields;
use crate::judge::quest_file::Definition;
use crate::judge::{self, Branch, Commits};
use crate::quest::QuestId;
use crate::report::run::{Report, Shares, word, write_page, write_report};
use crate::report::{HALF_LIFE_DAYS, RuleInsight};
use crate::run::agent::{AgentCommand, AgentShell, Preset};
use crate::run::lessons::{Bound, Earlier, Learned, inherited};
use crate::run::limits::{parse_cost, parse_time, parse_tokens};
use crate::run::{
    Agents, Answers, NONE, Plan, PlannedAgent, PromptBuilder, PromptInput, RunEvent, RunObserver,
    model,
};
use crate::session::{Ledger, Reason, RunId, Session, State, Tally};
use crate::world::sandbox::{Cost, distrust, trusted_path};

pub(super) use dry_run::DryRun;

use confinement::{Confine, confinement};
use dry_run::dry_run;
use live::LiveView;
use server::RunJudge;

/// Run an agent on the quests until the work is complete
///
/// The agent is started for each quest, and again with the facts if the gate says FAIL. It is
/// stopped when its quest is settled. Only the ledger counts: an agent that exits without settling
/// its quest has failed, whatever it prints. At the end, the report judges every PASS again that
/// rests on a tree, on commands or on services. The exit code is 0 if the report says COMPLETE, 8 if
/// not, and 130 after Ctrl-C. With --json, each event is printed as a line. The command that
/// `[notify]` of your configuration file names gets an event when a REVIEW opens, the session pauses
/// or the run ends.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Run a known agent; arguments after -- are added to its command line
    #[arg(long, value_name = "NAME", value_parser = preset(), help_heading = AGENT)]
    pub(super) agent: Option<&'static Preset>,

    /// The model for the agent to use
    #[arg(long, value_name = "NAME", value_parser = model, help_heading = AGENT)]
    model: Option<String>,

    /// How the agent answers [default: submit; stdout for an agent that runs no commands]
    #[arg(long, value_enum, value_name = "HOW", help_heading = AGENT)]
    pub(super) answer: Option<Answers>,

    /// The agent's working directory; a program named by a path is looked up from there
    /// [default: this one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = AGENT)]
    pub(super) dir: Option<PathBuf>,

    /// The agent and its arguments; `{prompt}` and `{prompt_file}` stand for the prompt, which is
    /// otherwise passed on standard input
    #[arg(last = true, value_name = "AGENT ARGS", help_heading = AGENT)]
    pub(super) words: Vec<OsString>,

    /// Whether agents are confined to their working directory and their own folders, where the
    /// system can do that
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Confine::Auto,
          help_heading = AGENT)]
    confine: Confine,

    /// Number of agents that work in parallel
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    parallel: u32,

    /// Minimum share of quests with PASS, such as 80%
    #[arg(long, value_name = "PERCENT")]
    min_pass: Option<MinPass>,

    /// Exit with 0 also if REVIEWs are open or quests are DONE
    #[arg(long)]
    accept_unproven: bool,

    /// Print the agent's command line without running it
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Maximum duration of the run
    #[arg(long, value_name = "TIME", help_heading = BUDGETS, value_parser = parse_time)]
    wall_clock: Option<Duration>,

    /// Maximum number of tokens per quest [default: 2M]
    ///
    /// Everything counts that the model is sent and writes. Each call sends the whole conversation again,
    /// and what a cache serves of it counts as well. The number is estimated as long as the agent does
    /// not report it.
    #[arg(long, value_name = "N", help_heading = BUDGETS, value_parser = parse_tokens)]
    max_tokens: Option<u64>,

    /// Maximum cost in US dollars; estimated from the tokens if the agent does not
    /// report it
    #[arg(long, value_name = "DOLLARS", help_heading = BUDGETS, value_parser = parse_cost)]
    max_cost: Option<Cost>,

    /// Change a rarely used setting, such as max-attempts=5 (repeatable)
    ///
    /// `comail config --example` lists the settings in [run]: further budgets, times, lessons, and
    /// when an agent is stopped. Your configuration file can change them too.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// The quest kind of the sessions that `until` makes.
pub(super) const UNTIL: &str = "until";

const AGENT: &str = "The agent";

const BUDGETS: &str = "Budgets; when one is used up, the agent gets one last call";

// A useful agent prints less than this.
const MAX_LOG_BYTES: u64 = 16 * 1024 * 1024;

/// How many facts of lost PASSes are printed; the report has all of them.
const MAX_LOST: usize = 10;

/// How many rules are named at the end.
const MAX_RULES: usize = 3;

impl RunArgs {
    pub(super) fn confines(&self) -> bool {
        self.confine == Confine::Auto
    }

    fn plan(
        &self,
        run: RunId,
        settings: &Settings,
        mut agents: Agents,
    ) -> Result<(Plan, RunTable)> {
        let dir = match &self.dir {
            Some(dir) => std::path::absolute(dir),
            None => env::current_dir(),
        };
        let table: RunTable = settings.table()?;
        let mut limits = table.limits;
        limits.quest.tokens = self.max_tokens.or(limits.quest.tokens);
        limits.run.time = self.wall_clock;
        limits.run.cost = self.max_cost;
        for agent in agents.all_mut() {
            agent.resume = table.resume && agent.command.can_resume();
            if table.resume && !agent.resume && settings.are_given("run.resume") {
                return refuse(format!(
                    "--set run.resume: {} cannot continue a conversation",
                    agent.command.name()
                ));
            }
            agent.answers = self.answers(&agent.command)?;
        }
        let plan = Plan {
            run,
            agents,
            workers: self.parallel,
            limits,
            detectors: table.detectors,
            pace: table.pace,
            fruitless: table.fruitless,
            lease: table.lease,
            dir: dir.context("cannot find the agent's working directory")?,
            max_log_bytes: MAX_LOG_BYTES,
        };
        Ok((plan, table))
    }

    /// The agent of the command line or of the user's file, or else those of the quest file.
    fn agents(&self, context: &mut Context) -> Result<Agents> {
        if self.agent.is_some() || !self.words.is_empty() {
            return self.own_agent();
        }
        let session = context.open_session()?;
        let definition = Definition::of(session.manifest())?;
        let tries = session.manifest().frozen.max_tries.get();
        let agents = definition.map(|it| agents_of(&it, tries)).transpose()?;
        match (agents.flatten(), &self.model) {
            (None, _) => refuse(
                "no agent is given: name one with --agent, write its command line after --, or name \
                 agents in [run] of the quest file",
            ),
            (Some(agents), None) => Ok(agents),
            (Some(_), Some(model)) => refuse(format!(
                "--model {model}: the quest file names the agents and their models; name one agent \
                 with --agent"
            )),
        }
    }

    fn own_agent(&self) -> Result<Agents> {
        let agent = PlannedAgent::new(self.command()?, self.model.clone());
        Ok(Agents::one(agent))
    }

    pub(super) fn command(&self) -> Result<AgentCommand> {
        Ok(match self.agent {
            Some(preset) => AgentCommand::Preset(preset, self.words.clone()),
            None if self.words.is_empty() => {
                return refuse(
                    "no agent is given: name one with --agent, or write its command line after --",
                );
            }
            None => AgentCommand::Custom(self.words.clone()),
        })
    }

    fn answers(&self, command: &AgentCommand) -> Result<Answers> {
        match (self.answer, command.shell()) {
            (Some(Answers::Submit), AgentShell::Absent) => refuse(format!(
                "--answer submit: {} runs no commands; use --answer stdout",
                command.name()
            )),
            (None, AgentShell::Absent) => Ok(Answers::Stdout),
            (answer, _) => Ok(answer.unwrap_or(Answers::Submit)),
        }
    }
}

fn preset() -> impl TypedValueParser<Value = &'static Preset> {
    let names = Preset::ALL.map(|preset| preset.name);
    PossibleValuesParser::new(names)
        .try_map(|name| Preset::named(&name).ok_or("there is no such agent"))
}

/// The agents of a quest file, whose quests have so many `tries`; `None` if it names none.
pub(super) fn agents_of(definition: &Definition, tries: u32) -> Result<Option<Agents>> {
    let agents = Agents::of_file(&definition.file()?, tries);
    agents.map_err(|mistake| UsageError(definition.faulty(mistake).to_string()).into())
}

/// A line of `run --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RunLine<'a> {
    Event(&'a RunEvent),
    /// The last line.
    Report {
        #[schemars(extend("const" = "report"))]
        what: &'static str,
        run: RunId,
        complete: bool,
        /// How many quests ended how; none where the ledger cannot be believed.
        shares: Option<Shares>,
        /// The rules of the session that cost most tries, the most expensive first.
        rules: Vec<RuleInsight>,
        /// The path of the report as text; `report.json` is in the same folder.
        path: String,
    },
}

/// The working directory of the agents, relative to their tree.
fn within(root: &Path, dir: &Path) -> Result<PathBuf> {
    let dir = std::fs::canonicalize(dir)?;
    match dir.strip_prefix(std::fs::canonicalize(root)?) {
        Ok(within) => Ok(within.to_owned()),
        Err(_) => refuse(format!(
            "agents get a worktree of {}, and {} is outside of it: run `comail run` there",
            root.display(),
            dir.display()
        )),
    }
}

pub(super) fn run(context: &mut Context, args: &RunArgs) -> Result<Exit> {
    let run = new_run();
    let settings = context.settings("run", &args.set)?;
    let agents = args.agents(context)?;
    let (mut plan, table) = args.plan(run, &settings, agents)?;
    if args.dry_run {
        return dry_run(context, &plan);
    }
    // Report every mistake before anything is started.
    let session = context.open_session()?;
    let real = std::fs::canonicalize(&context.dir)?;
    if std::path::absolute(&context.dir)? != real {
        // An agent could replace a link in its working directory with one to another session.
        context.dir = real;
    }
    refuse_inside_a_run(&session)?;
    if args.answer.is_none() && session.manifest().kind.name == UNTIL {
        for agent in plan.agents.all_mut() {
            agent.answers = Answers::World;
        }
    }
    check(&session, &plan)?;
    let definition = Definition::of(session.manifest())?;
    let programs = definition.as_ref().map(Definition::programs);
    let programs = programs.unwrap_or_default();
    let in_worktree = match judge::root_of_worktrees(session.manifest())? {
        Some(root) => Some(within(&root, &plan.dir)?),
        None => None,
    };
    let path = definition.and_then(|it| it.gathered.variables.get("PATH").cloned());
    drop(session);
    let dir = context.dir.clone();
    let by_name = plan.agents.all().any(|it| it.command.calls_by_name());
    let reaching = if by_name {
        Reaching::default()
    } else {
        Reaching::with_path()?
    };
    let earlier = table.lessons_from.iter().map(|dir| Earlier::read(dir));
    let prompts = RunPrompts {
        bound: table.lessons,
        earlier: earlier.collect::<Result<_, _>>()?,
        learned: Mutex::new((Ledger::open(&dir)?.1, Learned::default())),
        reaching: reaching.clone(),
    };
    let judge = RunJudge::start(&dir, reaching, in_worktree)?;
    for agent in plan.agents.all_mut() {
        let means = confinement(args.confine, (agent, &plan.dir), &table, &judge, &dir)?;
        agent.confinement = means;
    }
    let grants = plan
        .agents
        .all()
        .filter_map(|it| it.confinement.grants.as_ref());
    let writable: Vec<_> = grants.flat_map(|it| &it.write).cloned().collect();
    refuse_writable(&programs, &writable)?;
    let (_, dropped) = trusted_path(path.unwrap_or_default().as_ref(), &writable);
    for dropped in dropped {
        context.output.note(&format!(
            "the gate's commands do not find the programs in {}, where the agent could replace them",
            dropped.display()
        ));
    }
    distrust(writable);
    let notifier = Notifier::of_user(&dir)?;
    progress::handle_ctrl_c();
    let terminated = terminated();
    let mut watcher = Watcher {
        live: LiveView::of(&context.output),
        output: &mut context.output,
        terminated: Arc::clone(&terminated),
        notifier: &notifier,
    };
    let driven = crate::run::run(&dir, plan, &prompts, &judge, &mut watcher);
    drop(watcher);
    // Write the report even if the run failed.
    let holds = driven.as_ref().is_ok_and(|end| end.holds);
    let told = report(context, args, (run, holds), &terminated);
    notifier.send(&Happened::RunEnded {
        run,
        reason: driven.as_ref().map_or(Reason::Error, |end| end.reason),
        report: match told {
            Ok(Some(status)) => status,
            Ok(None) | Err(_) => ReportStatus::NotComplete,
        },
    });
    for problem in notifier.end() {
        context.output.note(&problem);
    }
    Ok(match (driven?.reason, told?) {
        (Reason::Interrupted, _) | (_, None) => Exit::Interrupted,
        (Reason::Complete, Some(ReportStatus::Complete)) => Exit::Done,
        _ => Exit::Finding,
    })
}

/// Writes the report, and returns what it says. None if Ctrl-C or SIGTERM stopped it before
/// everything was judged again.
fn report(
    context: &mut Context,
    args: &RunArgs,
    (run, holds): (RunId, bool),
    terminated: &AtomicBool,
) -> Result<Option<ReportStatus>> {
    let asked = Asked {
        run: Some(run),
        min_pass: args.min_pass,
        accept_unproven: args.accept_unproven,
        judge_again: if holds {
            JudgeAgain::Done
        } else {
            JudgeAgain::Now
        },
        stop: &|| is_to_stop(terminated),
    };
    let made = made(context, &asked)?;
    let place = write_files(context, run, &made)?;
    note_lost(&mut context.output, &made.report);
    if let Ok(folded) = &made.seen {
        make_branch(context, &folded.session);
    }
    let dirs = std::slice::from_ref(&context.dir);
    // If the ledger cannot be read, the report says so.
    let rules = insights_of(context, dirs, HALF_LIFE_DAYS).map(|insights| insights.rules);
    let mut rules = rules.unwrap_or_default();
    rules.truncate(MAX_RULES);
    print_end(context, run, &made, rules, place.display().to_string());
    Ok((!made.stopped).then(|| ReportStatus::of(&made.report)))
}

/// Writes the report as text and as a page. Returns the path of the text.
fn write_files(context: &mut Context, run: RunId, made: &Made) -> Result<PathBuf> {
    let place = write_report(&context.dir, run, &made.report)?;
    if let Ok(folded) = &made.seen {
        let page = page(context, folded, word(&made.report), &[]);
        let written = page.and_then(|(_, html)| Ok(write_page(&context.dir, run, &html)?));
        if let Err(error) = written {
            // The page contains nothing that is not in the report.
            let note = format!("cannot write the page: {error:#}");
            context.output.note(&note);
        }
    }
    Ok(place)
}

/// Makes the whole branch, so that it has every commit, wherever it was moved.
fn make_branch(context: &mut Context, session: &Session) {
    let made = Branch::of(session).and_then(|branch| match branch {
        Some(branch) => branch.make(session, Commits::All),
        None => Ok(()),
    });
    if let Err(why) = made {
        context.note_behind(&why);
    }
}

fn note_lost(output: &mut Output, report: &Report) {
    let lost = report.shortfalls.iter();
    let lost = lost.filter(|it| it.kind == ShortfallKind::NoLongerHolds);
    for detail in lost.flat_map(|it| it.details.iter().take(MAX_LOST)) {
        output.note(&format!("no longer holds: {detail}"));
    }
}

fn hints(context: &Context, folded: &Folded) -> Vec<String> {
    let named = context.named_session.as_deref();
    let results = Results::of(&folded.session);
    let totals = folded.projection.totals();
    if let Some(closing) = Closing::of(totals, &results, named) {
        return closing.hints();
    }
    let files = results.take_files(totals, named);
    let command = ShellLine::comail("list --state todo", named);
    let left = format!("list what is left: `{}`", command.text());
    let again = if folded.session.manifest().kind.name == UNTIL {
        "the same command line continues"
    } else {
        "another `comail run` continues"
    };
    let hints = [left, again.to_owned()].into_iter();
    hints.chain(files.iter().map(Step::hint)).collect()
}

/// Prints the end of a run, whose report as text is at `path`.
fn print_end(
    context: &mut Context,
    run: RunId,
    made: &Made,
    rules: Vec<RuleInsight>,
    path: String,
) {
    let hints = match &made.seen {
        Ok(folded) => hints(context, folded),
        Err(_) => Vec::new(),
    };
    let (output, report) = (&mut context.output, &made.report);
    let shares = report.shares;
    // A closed pipe does not change how the run ended.
    if !output.json {
        let values = context! { shares, rules };
        let text = |out: &mut TextOutput, values: &minijinja::Value| {
            out.template(include_str!("text/run-end.txt"), values);
        };
        let _ = output.show(&values, text);
    }
    output.note(&format!("{}; the report is {path}", headline(report)));
    for hint in &hints {
        output.hint(hint);
    }
    if output.json {
        let written = RunLine::Report {
            what: "report",
            run,
            complete: report.complete,
            shares,
            rules,
            path,
        };
        let _ = output.show(&written, |_, _| {});
    }
}

fn headline(report: &Report) -> String {
    match report.settled() {
        Some(settled) => settled,
        None if report.complete => "COMPLETE".to_owned(),
        None => "NOT COMPLETE".to_owned(),
    }
}

/// Refuses programs in directories that the agent may change: the digest of a program is frozen, but
/// not that of the libraries that it loads.
fn refuse_writable(programs: &[PathBuf], writable: &[PathBuf]) -> Result<()> {
    let within = |path: &&PathBuf| writable.iter().any(|dir| path.starts_with(dir));
    match programs.iter().find(within) {
        None => Ok(()),
        Some(program) => refuse(format!(
            "the gate runs {}, and the agent may change what it loads: scan with a PATH that finds \
             the program elsewhere, or run the agent in another directory (--dir); nothing was started",
            program.display()
        )),
    }
}

fn refuse_inside_a_run(session: &Session) -> Result<()> {
    if in_a_run() || run_above(&session.totals().runs).is_some() {
        return refuse("a run cannot start another run; nothing was changed");
    }
    Ok(())
}

fn check(session: &Session, plan: &Plan) -> Result<()> {
    let kind = judge::kind_of(session.manifest())?;
    let answer_by = |way| plan.agents.all().any(|agent| agent.answers == way);
    if answer_by(Answers::World) && !needs_no_fields(&kind) {
        return refuse(
            "--answer world is for kinds without fields to submit, and this kind has some: \
                    use --answer submit or --answer stdout; nothing was started",
        );
    }
    if answer_by(Answers::Stdout) && kind.fields.is_empty() {
        return refuse(
            "--answer stdout: this kind has no fields to print; use --answer world; nothing \
                    was started",
        );
    }
    find_program(plan)
}

/// Refuses an agent whose program is missing.
pub(super) fn check_program(context: &Context, args: &RunArgs) -> Result<()> {
    let settings = context.settings.clone();
    let settings = settings.with(&args.set, "run", &context.parser)?;
    let (plan, _) = args.plan(new_run(), &settings, args.own_agent()?)?;
    find_program(&plan)
}

fn find_program(plan: &Plan) -> Result<()> {
    if !plan.dir.is_dir() {
        let dir = plan.dir.display().to_string();
        bail!(
            "--dir {} is not a directory; nothing was started",
            Escaped(&dir)
        );
    }
    plan.agents
        .all()
        .try_for_each(|agent| find_program_of(agent, &plan.dir))
}

fn find_program_of(agent: &PlannedAgent, dir: &Path) -> Result<()> {
    let line = agent.example_line()?;
    let program = line.argv.first().map(OsString::as_os_str);
    match program.filter(|program| found(program, dir).is_none()) {
        None => Ok(()),
        Some(program) => {
            let (place, hint) = if !is_path(program) {
                (
                    "this program is not in PATH",
                    "install the agent, or write its path after --",
                )
            } else if dir.join(program).is_file() {
                (
                    "this file is not executable",
                    "make it executable with `chmod +x`, or put its interpreter before it",
                )
            } else {
                (
                    "there is no such program",
                    "check the path of the agent's program",
                )
            };
            let program = program.to_string_lossy();
            Err(NotFound {
                message: format!("{}: {place}; nothing was started", Escaped(&program)),
                hint: hint.to_owned(),
            }
            .into())
        }
    }
}

/// Whether a program is named by a path. Only a name is looked up in PATH.
fn is_path(program: &OsStr) -> bool {
    program.as_bytes().contains(&b'/')
}

fn found(program: &OsStr, dir: &Path) -> Option<PathBuf> {
    let can_run = |path: &PathBuf| path.is_file() && access(path, AccessFlags::X_OK).is_ok();
    if is_path(program) {
        return Some(dir.join(program)).filter(can_run);
    }
    let path = env::var_os("PATH")?;
    let mut places = env::split_paths(&path).map(|place| dir.join(place).join(program));
    places.find(can_run)
}

fn new_run() -> RunId {
    let mut bytes = [0; 4];
    // Without randomness, the time distinguishes runs.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = context::now().subsec_nanosecond().to_le_bytes();
    }
    RunId::new(u32::from_le_bytes(bytes))
}

/// Set when a signal other than Ctrl-C asks the process to end.
fn terminated() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // If it cannot be caught, it ends the process, and the next run cleans up.
        let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
    }
    asked
}

struct Watcher<'a> {
    live: Option<LiveView>,
    output: &'a mut Output,
    terminated: Arc<AtomicBool>,
    notifier: &'a Notifier,
}

impl Watcher<'_> {
    fn notify(&self, event: &RunEvent) {
        match event {
            RunEvent::Quest { key, state, quest } if *state == State::Review => {
                let (quest, key) = (quest.quest, key.clone());
                self.notifier.send(&Happened::ReviewOpened { quest, key });
            }
            RunEvent::Ended { run, reason, .. } if *reason == Reason::Paused => {
                self.notifier.send(&Happened::SessionPaused { run: *run });
            }
            _ => {}
        }
    }
}

impl RunObserver for Watcher<'_> {
    fn observe(&mut self, event: &RunEvent) {
        self.notify(event);
        if let Some(live) = &mut self.live {
            live.take(event);
        }
        if event.is_live() {
            return;
        }
        let output = &mut *self.output;
        let mut print = || match event {
            RunEvent::Note { text } => output.note(text),
            RunEvent::Hint { text } => output.hint(text),
            _ => {
                // A closed pipe does not change what the run does.
                let line = RunLine::Event(event);
                let _ = output.show(&line, |out, _| write_event(out, event));
            }
        };
        match &self.live {
            Some(live) => live.above(print),
            None => print(),
        }
    }

    fn tick(&mut self) {
        if let Some(live) = &mut self.live {
            live.draw();
        }
    }

    fn wants_to_stop(&self) -> bool {
        is_to_stop(&self.terminated)
    }
}

fn is_to_stop(terminated: &AtomicBool) -> bool {
    progress::is_asked() || terminated.load(Ordering::SeqCst)
}

fn write_event(out: &mut TextOutput, event: &RunEvent) {
    let reason = match event {
        RunEvent::Attempt { attempt, .. } => Some(attempt.reason),
        RunEvent::Quest { quest, .. } => Some(quest.reason),
        RunEvent::Ended { reason, .. } => Some(*reason),
        _ => None,
    };
    let all_pass = |tally: &Tally| tally.pass == tally.total();
    let tone = match reason {
        Some(Reason::Settled) => Tone::Good,
        Some(Reason::Complete) => match event {
            RunEvent::Ended { tally, .. } if !all_pass(tally) => Tone::Doubt,
            _ => Tone::Good,
        },
        Some(
            Reason::Error
            | Reason::NoNetwork
            | Reason::Breaker
            | Reason::FruitlessStarts
            | Reason::NotLoggedIn
            | Reason::PermissionDenied,
        ) => Tone::Bad,
        _ => Tone::Doubt,
    };
    let values = context! {
        event,
        tone,
        label => reason.map(Reason::label),
        meaning => reason.map(Reason::meaning),
    };
    out.template(include_str!("text/run.txt"), values);
}

/// The prompts: the output of `next`, how to answer, lessons and history.
#[derive(Debug)]
struct RunPrompts {
    /// The maximum size of the lessons in a prompt.
    bound: Bound,
    earlier: Vec<Earlier>,
    learned: Mutex<(Ledger, Learned)>,
    reaching: Reaching,
}

impl RunPrompts {
    fn lessons(&self, session: &Session, quest: QuestId) -> Result<String> {
        if self.bound.lessons == 0 {
            return Ok(String::new());
        }
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, learned) = &mut *learned;
        if learned.read_on(log).is_err() {
            // Lines were redacted, so the lines after them have moved: read all again.
            (*log, *learned) = (session.log(), Learned::default());
            learned.read_on(log)?;
        }
        let own = learned.lessons(quest, self.bound);
        let kind = &session.manifest().kind.name;
        let earlier = inherited(&self.earlier, kind, self.bound, context::now());
        Ok(own + &earlier)
    }
}

impl PromptBuilder for RunPrompts {
    fn prompt(
        &self,
        session: &Session,
        input: &PromptInput<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let lessons = self.lessons(session, input.record.id)?;
        Ok(write(session, input, &self.reaching, &lessons)?)
    }
}

fn write(
    session: &Session,
    input: &PromptInput<'_>,
    reaching: &Reaching,
    lessons: &str,
) -> Result<String> {
    let mut out = TextOutput::plain();
    let claim = Some(input.claim.clone());
    let handed = HandedQuest::new(session, input.record, claim, reaching)?;
    let answers = input.agent.answers;
    if answers == Answers::Submit {
        handed.write(&mut out);
    } else {
        handed.write_task(&mut out);
    }
    let kind = judge::kind_of(session.manifest())?;
    let values = context! {
        stdout => answers == Answers::Stdout,
        world => answers == Answers::World,
        blank => json_form(&kind, |field| field.name.as_str().to_uppercase()),
        example => handed.shows_example().then(|| json_form(&kind, |it| it.example.to_string())),
        fields => kind.fields.iter().map(field_line).collect::<Vec<_>>(),
        unit => kind.unit,
        nothing => NONE,
        lessons,
        history => input.history,
        facts => input.facts,
        last_call => input.last_call.map(|reason| reason.to_string()),
    };
    out.template(include_str!("text/run-prompt.txt"), values);
    Ok(out.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(event: &RunEvent) -> String {
        let mut out = TextOutput::plain();
        write_event(&mut out, event);
        out.into_text()
    }

    #[test]
    fn the_end_of_a_run_says_what_its_reason_means() {
        let tally = Tally {
            review: 1,
            done: 3,
            ..Tally::default()
        };
        for reason in Reason::ALL {
            let run = RunId::new(7);
            let said = said(&RunEvent::Ended { run, reason, tally });
            let expected = match reason {
                Reason::Complete => "all quests are settled: 0 PASS, 1 REVIEW, 3 DONE".to_owned(),
                _ => format!("{reason} ({})", reason.meaning()),
            };
            assert_eq!(said, format!("run 00000007 ended: {expected}\n"));
        }
    }
}
