//! `comail demo`: the e-mail quest on invented companies, offline.
//!
//! Every step is a command line that comail parses and runs itself, and that a reader can repeat. Only
//! web pages and DNS are recorded.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{AlreadyExists, Exit, refuse};
use super::output::Output;
use super::output_file::refuse_in_session;
use super::shell_line::words;
use super::world_file::WORLD_FILE;

/// Run the e-mail quest offline, on a bundled workbook and recorded pages
///
/// The workbook lists five invented companies. Some addresses pass, a made-up one fails and is
/// corrected, one is left to a person, and one is not found. Only web pages and DNS are recorded;
/// everything else runs as in any session.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// The directory to create
    #[arg(long, value_name = "DIR", default_value = "comail-demo",
          value_hint = clap::ValueHint::DirPath)]
    out: PathBuf,

    /// Create this directory with the invented world, a list and answers, without running the demo
    ///
    /// `comail scan --world DIR` then judges by that world, so that you can try every command
    /// offline.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "out")]
    world: Option<PathBuf>,
}

/// The web pages and DNS records of the invented companies.
const WORLD: &str = include_str!("demo/world.json");

/// The steps: what each one shows, and its command line.
const SCRIPT: &str = include_str!("demo/script.txt");

const WORKBOOK: &[u8] = include_bytes!("../../fixtures/workbooks/companies.xlsx");

/// A list of three of the companies.
const LIST: &str = include_str!("demo/companies.csv");

/// A small agent that submits those answers.
const AGENT: &str = include_str!("demo/agent.sh");

/// What an agent might answer about them, a line for each submission.
const ANSWERS: &str = include_str!("demo/answers.txt");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Demonstrated {
    Played(Played),
    Written(Written),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Written {
    directory: String,
    /// The files in it.
    files: [&'static str; 4],
    /// The command lines to begin with.
    commands: [String; 3],
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Played {
    directory: String,
    workbook: String,
    session: String,
    results: String,
    /// The command lines to look around with.
    commands: [String; 2],
    steps: Vec<PlayedStep>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlayedStep {
    about: &'static str,
    command: String,
    exit: u8,
    /// What the command printed.
    output: String,
}

type Rehearse = fn(&[String], Output) -> Result<Exit>;

pub(super) fn run(context: &mut Context, args: &DemoArgs, rehearse: Rehearse) -> Result<Exit> {
    let (flag, place) = match &args.world {
        Some(place) => ("--world", place),
        None => ("--out", &args.out),
    };
    refuse_in_session(place, &context.dir)?;
    let dir = create(flag, place)?;
    let demonstrated = match args.world {
        Some(_) => Demonstrated::Written(write_world(&dir)?),
        None => Demonstrated::Played(play(context, &dir, rehearse)?),
    };
    context.output.show(&demonstrated, |out, it| match it {
        Demonstrated::Played(played) => out.template(include_str!("text/demo.txt"), played),
        Demonstrated::Written(written) => {
            out.template(include_str!("text/demo_world.txt"), written);
        }
    })?;
    Ok(Exit::Done)
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn write_world(dir: &Path) -> Result<Written> {
    let files = ["companies.csv", "answers.txt", "agent.sh", WORLD_FILE];
    for (name, text) in files.into_iter().zip([LIST, ANSWERS, AGENT, WORLD]) {
        write(&dir.join(name), text)?;
    }
    let scan = "comail scan companies.csv --col Company --site-col Website --world .";
    Ok(Written {
        directory: dir.display().to_string(),
        files,
        commands: [
            enter(dir),
            scan.to_owned(),
            "comail run -- sh agent.sh".to_owned(),
        ],
    })
}

fn enter(dir: &Path) -> String {
    words(&["cd".to_owned(), dir.display().to_string()])
}

fn play(context: &mut Context, dir: &Path, rehearse: Rehearse) -> Result<Played> {
    let at = |name: &str| dir.join(name).display().to_string();
    let mut played = Played {
        directory: dir.display().to_string(),
        workbook: at("companies.xlsx"),
        session: at(".comail"),
        results: at("results.xlsx"),
        commands: [enter(dir), "comail status".to_owned()],
        steps: Vec::new(),
    };
    write(Path::new(&played.workbook), WORKBOOK)?;
    write(&dir.join(WORLD_FILE), WORLD)?;
    for step in SCRIPT.split("\n\n") {
        let (about, command) = step.split_once('\n').context("a step has two lines")?;
        let quoted = |path: &String| words(std::slice::from_ref(path));
        let command = command
            .trim_end()
            .replace("{session}", &quoted(&played.session))
            .replace("{workbook}", &quoted(&played.workbook))
            .replace("{world}", &quoted(&played.directory))
            .replace("{results}", &quoted(&played.results));
        let failed = || format!("the demo stopped at `{command}`");
        let words = shlex::split(&command).with_context(failed)?;
        let (output, kept) = context.output.kept();
        let exit = rehearse(&words, output).with_context(failed)?;
        played.steps.push(PlayedStep {
            about: about.trim_start_matches("# "),
            exit: exit.code(),
            output: kept.text(),
            command,
        });
    }
    Ok(played)
}

fn create(flag: &str, dir: &Path) -> Result<PathBuf> {
    let place = dir.display();
    if dir.to_str().is_none() {
        return refuse(format!(
            "{flag} {place}: the name must be UTF-8, because the demo prints command lines with it"
        ));
    }
    match fs::create_dir(dir) {
        // The commands would read a leading dash as a flag.
        Ok(()) if dir.to_string_lossy().starts_with('-') => Ok(Path::new(".").join(dir)),
        Ok(()) => Ok(dir.to_owned()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let what = format!("{place} already exists; choose another directory with {flag}");
            Err(AlreadyExists(what).into())
        }
        Err(error) => Err(error).with_context(|| {
            format!("cannot create the directory {place}; choose another one with {flag}")
        }),
    }
}
