//! `comail until`: drives an agent until commands succeed, without a list or a quest file.
//!
//! It makes a session of one quest from a quest file of its own, as `scan` does, and then is `run`.

mod command;
mod zone;

use std::env;
use std::fs;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::config::in_a_run;
use super::context::Context;
use super::exit::{Exit, Hinted, UsageError, refuse};
use super::progress;
use super::prove::{freeze_as, proof_of};
use super::run::{self as driver, RunArgs, UNTIL};
use super::scan::{self, ScanArgs};
use super::shell_line::{quoted, words};
use crate::base::text::{EscapedLines, plural, single_spaced, truncate_start};
use crate::gate::{Fact, Judgement, Level};
use crate::judge::quest_file::{Definition, Freezing};
use crate::quest::{Span, Verdict};
use crate::run::Answers;
use crate::run::agent::Preset;
use command::{SearchPath, argv, is_program};
use zone::Zone;

/// Run an agent until commands succeed
///
/// A command is a gate: the work is done when every command exits with 0 over the tree, which is the
/// agent's working directory. comail runs the commands in a copy of the tree, confined, without network
/// and with an empty home directory; they may write in the copy and in $TMPDIR alone. `until` refuses to start if they succeed already. It makes a
/// session of one quest, and then does what `run` does, with the same budgets, report, exit codes and
/// events (--json). The same command line continues a session that was interrupted.
///
/// The agent may change what --work names or, without it, the files and folders that are at the top of
/// the tree when `until` starts; but not tests, hidden files, settings, lock files and build scripts, by
/// their usual names. Any other change is FAIL.
///
/// --may-edit allows more, --protect less. What a protected file loads under an uncommon name needs
/// --protect, or a --work without it.
///
/// A command that runs the agent's code trusts that code: it can end a test early, and remove the
/// tests that are in its own files.
#[derive(Debug, Args)]
pub struct UntilArgs {
    /// The commands that must succeed, each as one argument, such as 'cargo test'
    ///
    /// A program with plain arguments is started directly, and must not change during the session. A
    /// command with other characters, or one that names a program by its path, is run by `sh -c`.
    #[arg(value_name = "COMMAND", required = true)]
    commands: Vec<String>,

    /// What the agent is to do [default: make the commands succeed]
    #[arg(long, value_name = "TEXT", help_heading = GATE)]
    prompt: Option<String>,

    /// The files that the agent may change, as a glob such as 'src/**' (repeatable) [default: what is at
    /// the top of the tree]
    ///
    /// Tests, hidden files, settings, lock files and build scripts in it stay protected. It is required
    /// if a command needs a shell, or names a file or folder at the top of the tree that has none of
    /// these names.
    #[arg(long, value_name = "GLOB", help_heading = GATE)]
    work: Vec<String>,

    /// Also let the agent change the files that match this glob, such as 'tests/new_*.rs' (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = GATE)]
    may_edit: Vec<String>,

    /// Also keep the agent from changing the files that match this glob, even if --may-edit matches
    /// them, such as 'checks/**' (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = GATE)]
    protect: Vec<String>,

    /// Start even if the commands succeed already
    #[arg(long, help_heading = GATE)]
    even_if_green: bool,

    /// Pass this environment variable on to the commands (repeatable) [default: HOME, if agents are
    /// confined]
    ///
    /// Its value is frozen with the session. The agent must not be able to write the files that it leads
    /// to, because they may change what a command does: this matters for HOME.
    #[arg(long, value_name = "NAME", help_heading = GATE)]
    pass_env: Vec<String>,

    /// Let the commands see the files that `.gitignore` files ignore, such as `node_modules`
    ///
    /// The agent may not change those that exist when `until` starts, and neither may programs that it
    /// starts.
    #[arg(long, help_heading = GATE)]
    with_ignored: bool,

    /// Let the commands use the network
    #[arg(long, help_heading = GATE)]
    network: bool,

    /// Maximum duration of each command
    #[arg(long, value_name = "TIME", default_value = "10m", help_heading = GATE)]
    timeout: Span,

    /// How often the agent may end without success
    #[arg(long, value_name = "N", default_value = "10", help_heading = GATE)]
    max_tries: NonZeroU32,

    #[command(flatten)]
    run: RunArgs,
}

const GATE: &str = "The gate, frozen for the session";

/// What makes two command lines mean the same session; the first line of its quest file.
#[derive(Serialize)]
struct Terms<'a> {
    commands: &'a [String],
    prompt: Option<&'a str>,
    work: &'a [String],
    may_edit: &'a [String],
    protect: &'a [String],
    pass_env: &'a [String],
    with_ignored: bool,
    network: bool,
    timeout: String,
    max_tries: NonZeroU32,
}

/// Without arguments, these never succeed.
const NEVER: [&str; 3] = ["test", "[", "false"];

/// How a shell and others end if a program is not found or cannot be run.
const NOT_RUN: [i32; 2] = [126, 127];

/// What the gate is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Gate,
    /// To find out whether the commands can be run at all.
    Trial,
}

/// How much of a command's output a note shows.
const MAX_NOTE: usize = 300;

/// How much of all outputs the prompt shows.
const MAX_OUTPUT: usize = 20_000;

pub(super) fn run(context: &mut Context, args: &UntilArgs) -> Result<Exit> {
    if in_a_run() {
        return refuse("a run cannot start another run; nothing was changed");
    }
    let run = run_args(&args.run)?;
    // A mistake in how the agent is named must not leave a session behind.
    let command = run.command()?;
    if let Some(flags) = command.missing_edit_flags() {
        let name = command.name();
        context.output.hint(&format!(
            "{name} may not change files by itself; allow it with: -- {name} {flags}"
        ));
    }
    if !run.dry_run {
        driver::check_program(context, &run)?;
        prepare(context, args, &run)?;
    }
    driver::run(context, &run)
}

/// The arguments of `run`: a known agent may be named by its first word alone, and nothing has to be
/// submitted, because the work is in the tree.
fn run_args(given: &RunArgs) -> Result<RunArgs> {
    let mut run = given.clone();
    if run.answer == Some(Answers::Stdout) {
        return refuse(
            "--answer stdout: the commands judge the tree, and nothing that an agent prints; \
             nothing was started",
        );
    }
    run.answer = run.answer.or(Some(Answers::World));
    if run.agent.is_none()
        && let Some(first) = run.words.first().and_then(|word| word.to_str())
        && let Some(preset) = Preset::named(first)
    {
        run.agent = Some(preset);
        run.words.remove(0);
    }
    Ok(run)
}

fn prepare(context: &mut Context, args: &UntilArgs, run: &RunArgs) -> Result<()> {
    let dir = run.dir.as_deref().unwrap_or(Path::new("."));
    let tree = fs::canonicalize(dir).with_context(|| dir.display().to_string())?;
    let terms = args.terms()?;
    if context.dir.join("session.json").exists() {
        return continue_session(context, &terms, &tree);
    }
    let path = SearchPath::outside(&tree);
    args.refuse_unquoted(&tree, &path)?;
    let zone = Zone::of(
        &tree,
        &context.dir,
        &zone::Terms {
            commands: &args.commands,
            work: &args.work,
            may_edit: &args.may_edit,
            protect: &args.protect,
            with_ignored: args.with_ignored,
        },
    )?;
    for open in &zone.named {
        context.output.note(&format!(
            "the agent may change {open}, which a command names; if it judges the work, add --protect \
             {open}"
        ));
    }
    for flag in &zone.unused {
        context
            .output
            .note(&format!("{flag} matches no file of the tree"));
    }
    let text = |purpose| args.quest_file(purpose, &zone, &path);
    let freezing = Freezing {
        // Paths in the definition start from its folder. No such file is read.
        path: &tree.join(UNTIL),
        command: Some(format!("comail until {}", words(&args.commands))),
        text: format!("{terms}\n{}", text(Purpose::Gate)?),
        tree: Some(tree.clone()),
        here: tree.clone(),
        session: context.dir.clone(),
        scratch: env::temp_dir(),
        variables: &|name| path.variable(name),
    };
    let frozen = freeze_as(freezing, Path::new("the gate of `comail until`"))?;
    let trial = Definition {
        text: text(Purpose::Trial)?,
        ..frozen.definition.clone()
    };
    let judgement = args.judge_now(context, &trial)?;
    for dropped in &path.dropped {
        let dropped = dropped.display();
        context.output.note(&format!(
            "the commands do not find the programs in {dropped}: it is in the tree, where the agent \
             could replace them"
        ));
    }
    for fact in &judgement.facts {
        let actual = single_spaced(&fact.actual);
        let actual = truncate_start(&actual, MAX_NOTE);
        context.output.note(&format!("now, {actual}"));
    }
    if !judgement.facts.is_empty() {
        context.output.hint(
            "if a command lacks a variable, the network or ignored files, stop and start again with \
             --pass-env NAME, --network or --with-ignored",
        );
    }
    context.output.note(&zone.to_string());
    let list = args.list(&zone, &judgement)?;
    // A session that is half made is removed.
    progress::handle_ctrl_c();
    let scan = ScanArgs::of_list(list.path(), args.max_tries);
    // The user's settings are those of `run`.
    let settings = std::mem::take(&mut context.settings);
    let made = scan::create(context, &scan, |_| Ok(Some(frozen)));
    context.settings = settings;
    made.map(drop)
}

/// Goes on with the session that the same command line has made, and refuses any other.
fn continue_session(context: &mut Context, terms: &str, tree: &Path) -> Result<()> {
    let session = context.open_session()?;
    let definition = Definition::of(session.manifest())?;
    let is_same = definition.is_some_and(|it| {
        it.text.lines().next() == Some(terms) && it.tree.is_some_and(|it| it.root == tree)
    });
    let dir = context.dir.display().to_string();
    if is_same && session.totals().tally.todo == 0 {
        context.output.note(&format!(
            "the work in {dir} is settled, so no agent is started: to start again, undo what the agent \
             changed outside its work, and remove {dir} or name another session with --session"
        ));
        return Ok(());
    }
    if is_same {
        context
            .output
            .note(&format!("continuing the session {dir}"));
        return Ok(());
    }
    Err(Hinted {
        message: format!("{dir} is the session of other work; nothing was changed"),
        hint: "make another session with --session DIR; the command line that began that work \
               continues it"
            .to_owned(),
    }
    .into())
}

impl UntilArgs {
    /// Many programs do not start without a home directory, but who can write there decides what they
    /// do.
    fn variables(&self) -> Vec<String> {
        if self.pass_env.is_empty() && self.run.confines() && env::var_os("HOME").is_some() {
            return vec!["HOME".to_owned()];
        }
        self.pass_env.clone()
    }

    fn terms(&self) -> Result<String> {
        let variables = self.variables();
        let terms = Terms {
            commands: &self.commands,
            prompt: self.prompt.as_deref(),
            work: &self.work,
            may_edit: &self.may_edit,
            protect: &self.protect,
            pass_env: &variables,
            with_ignored: self.with_ignored,
            network: self.network,
            timeout: self.timeout.to_string(),
            max_tries: self.max_tries,
        };
        Ok(format!("# comail until {}", serde_json::to_string(&terms)?))
    }

    fn key(&self) -> String {
        self.commands.join(" && ")
    }

    /// Refuses commands that look like the words of one command, without quotes.
    fn refuse_unquoted(&self, tree: &Path, path: &SearchPath) -> Result<()> {
        let is_word = |command: &String| command.split_whitespace().count() == 1;
        let all_words = self.commands.len() > 1 && self.commands.iter().all(is_word);
        let mut commands = self.commands.iter();
        let found = commands.find(|command| {
            NEVER.contains(&command.as_str()) || all_words && !is_program(command, tree, path)
        });
        let Some(useless) = found else { return Ok(()) };
        let count = self.commands.len();
        let (many, whole) = if all_words {
            (
                format!("these are {count} commands, and "),
                self.commands.join(" "),
            )
        } else {
            (String::new(), "cargo test".to_owned())
        };
        let agent = self.run.words.first().map(|word| word.to_string_lossy());
        Err(UsageError(format!(
            "{many}`{useless}` by itself cannot succeed; nothing was started"
        ))
        .hint(format!(
            "write a command and its arguments in quotes, such as: comail until {} -- {}",
            quoted(&whole),
            agent.as_deref().unwrap_or("claude"),
        ))
        .into())
    }

    fn quest_file(&self, purpose: Purpose, zone: &Zone, path: &SearchPath) -> Result<String> {
        let single = self.commands.len() == 1;
        let checks = self.commands.iter().zip(1..).map(|(command, number)| {
            let name = if single {
                "command".to_owned()
            } else {
                format!("command-{number}")
            };
            Ok(json!({
                "name": name,
                "kind": "command",
                "argv": argv(command, path)?,
                "unconfirmed_exit": if purpose == Purpose::Trial { &NOT_RUN[..] } else { &[] },
                "pass_env": self.variables(),
                "network": if self.network { "any" } else { "none" },
                "timeout": self.timeout.to_string(),
                "means": format!("`{command}` fails"),
                "remedy": "make the command succeed",
            }))
        });
        let unchanged = json!({
            "name": "only-work-changed",
            "kind": "only-changed",
            "means": "a protected file has changed, or one outside the work",
            "remedy": "undo the change",
        });
        let checks: Result<Vec<_>> = std::iter::once(Ok(unchanged)).chain(checks).collect();
        let key = self.key();
        let file = json!({
            "name": UNTIL,
            "unit": "task",
            "about": "Commands that must succeed over a tree",
            "input": { "format": "jsonl", "key": ["task"], "show": ["text"] },
            "tree": { "write": zone.globs, "gitignore": !self.with_ignored },
            "prompt": { "text": "{{ input.text }}" },
            "check": checks?,
            "control": [{ "name": "the tree as it is", "key": key, "verdict": "FAIL" }],
        });
        let file = toml::Table::try_from(file).context("the quest file cannot be written")?;
        Ok(file.to_string())
    }

    /// What the gate says of the tree as it is. A gate that accepts it already proves nothing about the
    /// work.
    fn judge_now(&self, context: &Context, trial: &Definition) -> Result<Judgement> {
        let proof = proof_of(trial, &context.dir)?;
        let outcome = proof.controls.into_iter().next();
        let judgement = outcome.context("the gate was not tried")?.judgement;
        let facts = judgement.facts.iter();
        let not_run = facts.filter(|fact| fact.level == Level::Review);
        let not_run: Vec<&str> = not_run.map(|fact| &*fact.actual).collect();
        if !not_run.is_empty() {
            return Err(UsageError(format!(
                "a command cannot be run: {}; nothing was started",
                not_run.join("; ")
            ))
            .hint(
                "check its programs; --with-ignored lets it see ignored files, and --pass-env NAME \
                 gives it a variable; a program that the agent is to make is tested for first, as in \
                 '[ -x ./app ] && ./app'",
            )
            .into());
        }
        let all = plural(self.commands.len() as u64, "command");
        match judgement.verdict {
            Verdict::Pass if !self.even_if_green => Err(UsageError(format!(
                "the gate passes already, before any work ({all}); nothing was started"
            ))
            .hint(
                "name a command that fails until the work is done, or insist with --even-if-green",
            )
            .into()),
            _ => Ok(judgement),
        }
    }

    /// The list of one quest, in a file that is removed with the value.
    fn list(&self, zone: &Zone, judgement: &Judgement) -> Result<tempfile::NamedTempFile> {
        let row = json!({ "task": self.key(), "text": self.text(zone, &judgement.facts) });
        let mut file = tempfile::Builder::new()
            .prefix("comail-until-")
            .suffix(".jsonl")
            .tempfile()?;
        writeln!(file, "{row}")?;
        file.flush()?;
        Ok(file)
    }

    /// The prompt.
    fn text(&self, zone: &Zone, facts: &[Fact]) -> String {
        let wanted = self
            .prompt
            .as_deref()
            .unwrap_or("Make the commands succeed.");
        let commands = self.commands.iter().map(|command| format!("  {command}\n"));
        let output: Vec<&str> = facts.iter().map(|fact| &*fact.actual).collect();
        let output = output.join("\n");
        let output = truncate_start(&output, MAX_OUTPUT);
        let now = if output.is_empty() {
            String::new()
        } else {
            let quoted = output.lines().map(|line| format!("\n  > {line}"));
            format!("\n\nBefore any work:{}", quoted.collect::<String>())
        };
        let ignored = if self.with_ignored {
            ""
        } else {
            " The commands see the tree without the files that .gitignore ignores."
        };
        let text = format!(
            "{wanted}\n\nThe work is done when each of these commands exits with 0:\n{}\n{zone}.\n\
             A change of any other file fails; undo it.{ignored}{now}",
            commands.collect::<String>()
        );
        EscapedLines(&text).to_string()
    }
}
