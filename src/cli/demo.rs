//! `comail demo`: the e-mail quest on a bundled workbook, offline.
//!
//! Every step is a command line that the program's own parser and commands run, so the demo shows
//! what it does. Only web pages and DNS are recorded.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, refuse};
use super::output::Output;
use super::output_file::refuse_in_session;
use super::shell_line::{ShellLine, words};
use crate::world::evidence::recorded::RecordedWorld;

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
    dir: PathBuf,
}

const WORLD: &str = include_str!("demo/world.json");

/// The steps: what each one shows, and its command line.
const SCRIPT: &str = include_str!("demo/script.txt");

const WORKBOOK: &[u8] = include_bytes!("../../fixtures/workbooks/companies.xlsx");

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Played {
    directory: String,
    workbook: String,
    session: String,
    results: String,
    status_command: String,
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

type Rehearse = fn(&[String], Output, Rc<RecordedWorld>) -> Result<Exit>;

pub(super) fn run(context: &mut Context, args: &DemoArgs, rehearse: Rehearse) -> Result<Exit> {
    let world = RecordedWorld::from_json(WORLD).context("the demo's world cannot be read")?;
    let world = Rc::new(world);
    refuse_in_session(&args.dir, &context.dir)?;
    let dir = create(&args.dir)?;
    let at = |name: &str| dir.join(name).display().to_string();
    let mut played = Played {
        directory: dir.display().to_string(),
        workbook: at("companies.xlsx"),
        session: at("session"),
        results: at("results.xlsx"),
        status_command: ShellLine::comail("status", Some(&dir.join("session"))).into_text(),
        steps: Vec::new(),
    };
    fs::write(&played.workbook, WORKBOOK)
        .with_context(|| format!("cannot write {}", played.workbook))?;
    for step in SCRIPT.split("\n\n") {
        let (about, command) = step.split_once('\n').context("a step has two lines")?;
        let quoted = |path: &String| words(std::slice::from_ref(path));
        let command = command
            .trim_end()
            .replace("{session}", &quoted(&played.session))
            .replace("{workbook}", &quoted(&played.workbook))
            .replace("{results}", &quoted(&played.results));
        let failed = || format!("the demo stopped at `{command}`");
        let words = shlex::split(&command).with_context(failed)?;
        let (output, kept) = context.output.kept();
        let exit = rehearse(&words, output, Rc::clone(&world)).with_context(failed)?;
        played.steps.push(PlayedStep {
            about: about.trim_start_matches("# "),
            exit: exit.code(),
            output: kept.text(),
            command,
        });
    }
    context.output.show(&played, |out, played| {
        out.template(include_str!("text/demo.txt"), played);
    })?;
    Ok(Exit::Done)
}

fn create(dir: &Path) -> Result<PathBuf> {
    let place = dir.display();
    if dir.to_str().is_none() {
        return refuse(format!(
            "--dir {place}: the name must be UTF-8, because the demo prints command lines with it"
        ));
    }
    match fs::create_dir(dir) {
        // The commands would take a leading dash for a flag.
        Ok(()) if dir.to_string_lossy().starts_with('-') => Ok(Path::new(".").join(dir)),
        Ok(()) => Ok(dir.to_owned()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            anyhow::bail!("{place} already exists; choose another directory with --dir")
        }
        Err(error) => Err(error).with_context(|| {
            format!("cannot create the directory {place}; choose another one with --dir")
        }),
    }
}
