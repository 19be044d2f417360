//! What is wrong with a run before anything is started.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::exit::UsageError;
use crate::base::text::Escaped;
use crate::judge::quest_file::bench_of;
use crate::judge::{self, needs_no_fields};
use crate::run::agent::{Given, command_line};
use crate::run::{Answers, Plan};
use crate::session::Session;

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
    let bench = bench_of(
        session.manifest(),
        session.evidence(),
        session.dir().to_owned(),
    )?;
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
