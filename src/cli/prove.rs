//! `comail quest prove`: the gate's own test.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use itertools::Itertools as _;
use minijinja::context;

use super::context::Context;
use super::exit::{self, Exit, UsageError, refuse};
use super::output::TextOutput;
use crate::gate::GateSettings;
use crate::judge::prove::{Proof, ProveError, prove, prove_email, trial};
use crate::judge::quest_file::{Definition, Faulty, FreezeError, Freezing, Frozen};
use crate::session::Session;

/// Test the gate with answers whose verdicts are known
///
/// These are the controls of FILE, or of the session's quest file, or those of the e-mail gate. A
/// control with the wrong verdict is a finding (exit code 8), and so is a FAIL rule that no control
/// fires.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// A quest file [default: the gate of the session, or else the e-mail gate]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The directory tree that the quests of FILE are about
    #[arg(long, value_name = "DIR", requires = "file", value_hint = clap::ValueHint::DirPath)]
    tree: Option<PathBuf>,

    /// Test the reviewing models with planted defects, and report how often each model and the whole
    /// panel are right; a defect that the panel misses is a finding. Nothing is recorded
    #[arg(long, conflicts_with = "file")]
    reviewers: bool,
}

pub(super) fn run(context: &mut Context, args: &ProveArgs) -> Result<Exit> {
    if args.reviewers {
        return calibrate(context);
    }
    let proof = match &args.file {
        Some(file) => proof_of(
            &freeze(file, args.tree.as_deref(), &context.dir)?.definition,
            &context.dir,
        )?,
        None => proof(context)?,
    };
    let exit = exit::of_finding(proof.holds());
    context.output.show(&proof, text)?;
    Ok(exit)
}

fn calibrate(context: &mut Context) -> Result<Exit> {
    let session = Session::open(&context.dir)?;
    let calibration = match trial(session.manifest(), session.dir()) {
        Err(error @ (ProveError::NoReviewers | ProveError::NoCase)) => {
            return refuse(error.to_string());
        }
        tried => tried?,
    };
    let exit = exit::of_finding(calibration.is_clean());
    context
        .output
        .show_as(&calibration, include_str!("text/calibration.txt"))?;
    Ok(exit)
}

fn proof(context: &Context) -> Result<Proof> {
    if !context.dir.join("session.json").exists() {
        return Ok(prove_email()?);
    }
    let session = Session::open(&context.dir)?;
    match Definition::of(session.manifest())? {
        None => Ok(prove_email()?),
        Some(definition) => Ok(prove(&definition, session.dir())?),
    }
}

pub(super) fn text(out: &mut TextOutput, proof: &Proof) {
    let lacking: Vec<String> = proof.lacking.iter().map(ToString::to_string).collect();
    let values = context! {
        controls => proof.controls,
        unfired => proof.unfired,
        holds => proof.holds(),
        lacking,
    };
    out.template(include_str!("text/proof.txt"), values);
}

pub(super) fn reviewers_not_asked(out: &mut TextOutput, has_reviewers: bool) {
    if has_reviewers {
        out.line(
            "the reviewers were not asked; in a session, `comail quest prove --reviewers` asks them \
             about every plant",
        );
    }
}

pub(super) fn refuse_unproven(proof: &Proof, path: &str) -> Result<()> {
    if proof.holds() {
        return Ok(());
    }
    let failed = proof.controls.iter().filter(|outcome| !outcome.fits);
    let failed = failed.map(|outcome| {
        let (name, verdict) = (&outcome.name, outcome.judgement.verdict);
        match &outcome.fires {
            Some(rules) if verdict == outcome.expected => {
                format!(
                    "control `{name}` must fire these rules and no other: {}",
                    rules.join(", ")
                )
            }
            _ => format!(
                "control `{name}` must be {}, but is {verdict}",
                outcome.expected
            ),
        }
    });
    let lacking = proof.lacking.iter().map(ToString::to_string);
    refuse(format!(
        "{path}: the gate is not proven, so no session is made: {}; run `comail quest check` for details",
        failed.chain(lacking).join("; ")
    ))
}

pub(super) fn freeze(path: &Path, tree: Option<&Path>, session: &Path) -> Result<Frozen> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the quest file {}", path.display()))?;
    let here = std::env::current_dir().context("the working directory is unknown")?;
    let freezing = Freezing {
        path: &here.join(path),
        command: None,
        text,
        tree: tree.map(Path::to_owned),
        here,
        session: session.to_owned(),
        scratch: std::env::temp_dir(),
        variables: &|name| std::env::var_os(name),
    };
    freeze_as(freezing, path)
}

/// Freezes a quest file, which errors call `path`.
pub(super) fn freeze_as(freezing: Freezing<'_>, path: &Path) -> Result<Frozen> {
    let frozen = freezing.freeze(&GateSettings::default());
    frozen.map_err(|error| match error {
        FreezeError::Faulty(Faulty { mistake, .. }) => {
            UsageError(format!("{}:{mistake}", path.display())).into()
        }
        FreezeError::Control { .. }
        | FreezeError::Runtime(_)
        | FreezeError::SessionInRuntime { .. } => {
            let error = anyhow::Error::new(error);
            UsageError(format!("{}: {error:#}", path.display())).into()
        }
        FreezeError::Program { .. } => UsageError(format!("{}: {error}", path.display())).into(),
        FreezeError::Tree { .. } => error.into(),
    })
}

pub(super) fn proof_of(definition: &Definition, session: &Path) -> Result<Proof> {
    prove(definition, session).map_err(|error| of_proof(definition, error))
}

/// An error about controls is one of the quest file.
pub(super) fn of_proof(definition: &Definition, error: ProveError) -> anyhow::Error {
    match error {
        ProveError::Control { .. } | ProveError::NothingToAttack => {
            let path = definition.command.as_ref().unwrap_or(&definition.path);
            let error = anyhow::Error::new(error);
            UsageError(format!("{path}: {error:#}")).into()
        }
        other => other.into(),
    }
}
