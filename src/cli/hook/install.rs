//! `comail hook install`: hooks in an agent's settings, and all else in them as it was.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{agent, tool};
use crate::base::files::{Overwrite, write_whole};
use crate::base::text::{Escaped, EscapedLines};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::output::Paper;
use crate::hook::{Caller, HookAgent, with_hooks};
use crate::session::read_manifest;

/// Add the hooks to the settings of an agent
///
/// comail shows the change and asks for confirmation. Other settings do not change. A settings file
/// that cannot be parsed is left alone.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct InstallArgs {
    /// The agent: claude, codex or gemini
    #[arg(long, value_name = "NAME", value_parser = agent())]
    agent: HookAgent,

    /// The agent's working directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, default_value = ".")]
    dir: PathBuf,

    /// The rules for commands, for `hook tool`
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Deny what would otherwise ask a person
    #[arg(long)]
    unattended: bool,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  comail hook install --agent claude
  comail hook install --agent claude --dir ~/work --rules commands.toml \\
    --unattended --yes";

/// The JSON form: `{"file":"…","change":"…","written":true}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Installed {
    file: PathBuf,
    /// What changes, as a unified diff; empty where nothing does.
    change: String,
    written: bool,
}

pub(super) fn run(context: &mut Context, args: &InstallArgs) -> Result<Exit> {
    let file = args.dir.join(args.agent.settings());
    let old = settings(&file)?;
    let new = with_hooks(&old, args.agent, &caller(context, args)?)
        .with_context(|| format!("{} was left as it is", file.display()))?;
    let mut installed = Installed {
        change: if new == old {
            String::new()
        } else {
            change(&old, &new)
        },
        file,
        written: false,
    };
    if installed.change.is_empty() || args.yes {
        installed.written = !installed.change.is_empty();
        if installed.written {
            write(&installed.file, &old, &new)?;
        }
        context.output.show(&installed, text)?;
        return Ok(Exit::Done);
    }
    context.output.show(&installed, text)?;
    confirm()?;
    write(&installed.file, &old, &new)?;
    context.output.note("written");
    Ok(Exit::Done)
}

/// The settings as they are; empty where there are none.
fn settings(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

fn caller(context: &Context, args: &InstallArgs) -> Result<Caller> {
    let session = absolute(context.session_dir())?;
    read_manifest(&session)?;
    let mut tool = Vec::new();
    if let Some(file) = &args.rules {
        tool::rules(file)?;
        tool.extend(["--rules".to_owned(), written(&absolute(file)?)?]);
    }
    if args.unattended {
        tool.push("--unattended".to_owned());
    }
    let program = std::env::current_exe().context("where this program lies is not known")?;
    Ok(Caller {
        program: written(&program)?,
        session: written(&session)?,
        further: vec![("tool", tool)],
    })
}

/// A path as settings can hold it.
fn written(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => {
            let shown = path.to_string_lossy();
            let shown = Escaped(&shown);
            bail!("{shown} cannot be written into settings; choose another name")
        }
    }
}

fn change(old: &str, new: &str) -> String {
    let patch = diffy::create_patch(old, new).to_string();
    patch.split_inclusive('\n').skip(2).collect()
}

fn write(file: &Path, old: &str, new: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    if settings(file)? != old {
        bail!(
            "{} was changed meanwhile, and left as it is",
            file.display()
        );
    }
    write_whole(file, Overwrite::Replace, &[], |out| -> Result<()> {
        Ok(out.write_all(new.as_bytes())?)
    })
}

fn confirm() -> Result<()> {
    const WORD: &str = "install";
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let text = "nothing was written: run it at a terminal, or with --yes";
        return Err(UsageError(text.to_owned()).into());
    }
    let mut terminal = io::stderr();
    write!(terminal, "Type `{WORD}` to write this: ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim() != WORD {
        bail!("nothing was written");
    }
    Ok(())
}

fn text(paper: &mut Paper, installed: &Installed) {
    let file = installed.file.display().to_string();
    let file = Escaped(&file);
    if installed.change.is_empty() {
        paper.line(format!("{file} has the hooks as they are to be"));
        return;
    }
    paper.line(format!("{file}:"));
    paper.line(EscapedLines(installed.change.trim_end()).to_string());
    if installed.written {
        paper.line("written");
    }
}
