//! `comail quest`: writing and checking quest files.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{self, AlreadyExists, Exit, UsageError};
use super::output_file::refuse_in_session;
use super::prove;
use super::prove::{freeze, of_proof, proof_of};
use super::run::agents_of;
use super::scan::DEFAULT_MAX_TRIES;
use crate::base::text::Escaped;
use crate::gate::checks::schema::schema;
use crate::judge::attack::{Attack, attack};
use crate::judge::prove::Proof;
use crate::quest::file::{QuestFile, starter};

/// Write and check quest files, which define other kinds of quests
#[derive(Debug, Args)]
pub struct QuestArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Check a quest file, and run its controls
    Check {
        /// The quest file
        file: PathBuf,
        /// The directory tree that the quests are about
        #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        tree: Option<PathBuf>,
    },
    /// Try to pass a quest file's gate without the work
    Attack(AttackArgs),
    /// Test the gate with answers whose verdicts are known
    Prove(prove::ProveArgs),
    /// Write a commented quest file to start from
    New {
        /// The name of the kind, in kebab-case, such as unit-tests
        name: String,
        /// Where to write it [default: NAME.toml]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Print the JSON Schema of quest files, for editors
    Schema,
}

/// Try to pass a quest file's gate without the work
///
/// From each control that must pass, comail makes cheats: blank, huge and swapped fields, missing
/// files, code that exits with 0, forged reports, tests without assertions, and others. It judges
/// them as controls. A cheat that passes is a finding (exit code 8), with what would close the hole. No
/// reviewer is asked, and a gate that survives is not proven: the cheats are the usual ones.
#[derive(Debug, Args)]
struct AttackArgs {
    /// The quest file
    file: PathBuf,
    /// The directory tree that the quests are about
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    tree: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Attacked {
    file: String,
    name: String,
    /// How many reviewers it has. None was asked.
    reviewers: usize,
    #[serde(flatten)]
    attack: Attack,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    file: String,
    name: String,
    /// How many reviewers it has. None was asked.
    reviewers: usize,
    #[serde(flatten)]
    proof: Proof,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileWritten {
    file: String,
}

pub(super) fn run(context: &mut Context, args: &QuestArgs) -> Result<Exit> {
    match &args.what {
        What::Check { file, tree } => check(context, file, tree.as_deref()),
        What::Attack(args) => try_to_pass(context, args),
        What::Prove(args) => prove::run(context, args),
        What::New { name, out } => new(context, name, out.clone()),
        What::Schema => {
            context.output.show(&schema(), |out, schema| {
                out.line(format!("{schema:#}"));
            })?;
            Ok(Exit::Done)
        }
    }
}

fn check(context: &mut Context, path: &Path, tree: Option<&Path>) -> Result<Exit> {
    let frozen = freeze(path, tree, &context.dir)?;
    let file = frozen.definition.file()?;
    let tries = file.max_tries.unwrap_or(DEFAULT_MAX_TRIES);
    agents_of(&frozen.definition, tries.get())?;
    let checked = Checked {
        file: path.display().to_string(),
        reviewers: reviewers_of(&file),
        name: file.name.clone(),
        proof: proof_of(&frozen.definition, &context.dir)?,
    };
    let exit = exit::of_finding(checked.proof.holds());
    context.output.show(&checked, |out, checked| {
        out.line(format!("{}: valid", Escaped(&checked.file)));
        prove::text(out, &checked.proof);
        prove::reviewers_not_asked(out, checked.reviewers > 0);
        if checked.proof.holds() {
            let file = Escaped(&checked.file);
            out.line(format!(
                "next: `comail quest attack {file}` tries to pass without the work"
            ));
        }
    })?;
    Ok(exit)
}

fn try_to_pass(context: &mut Context, args: &AttackArgs) -> Result<Exit> {
    let frozen = freeze(&args.file, args.tree.as_deref(), &context.dir)?;
    let file = frozen.definition.file()?;
    let attack = attack(&frozen.definition, &context.dir);
    let attacked = Attacked {
        file: args.file.display().to_string(),
        reviewers: reviewers_of(&file),
        name: file.name.clone(),
        attack: attack.map_err(|error| of_proof(&frozen.definition, error))?,
    };
    let exit = exit::of_finding(attacked.attack.passed.is_empty());
    context
        .output
        .show_as(&attacked, include_str!("text/attack.txt"))?;
    Ok(exit)
}

fn reviewers_of(file: &QuestFile<'_>) -> usize {
    file.panel.as_ref().map_or(0, |it| it.reviewers.len())
}

fn new(context: &mut Context, name: &str, out: Option<PathBuf>) -> Result<Exit> {
    let text = starter(name).ok_or_else(|| {
        let text = format!("{name:?} is not in kebab-case, such as `unit-tests`");
        UsageError(text)
    })?;
    let path = out.unwrap_or_else(|| format!("{name}.toml").into());
    refuse_in_session(&path, &context.dir)?;
    let written = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    let place = path.display();
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let what =
                format!("{place} already exists; choose another name, or another file with --out");
            return Err(AlreadyExists(what).into());
        }
        written => written.with_context(|| format!("cannot write {place}"))?,
    }
    let written = FileWritten {
        file: path.display().to_string(),
    };
    context.output.show(&written, |out, written| {
        out.line(format!(
            "{0} written; complete it, then run `comail quest check {0}`",
            Escaped(&written.file)
        ));
    })?;
    Ok(Exit::Done)
}
