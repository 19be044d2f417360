//! Whether and how the agents of a run are confined.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Result;
use clap::ValueEnum;

use super::server::RunJudge;
use crate::cli::config::{user_file, variable};
use crate::cli::settings::run::RunTable;
use crate::run::agent::{AgentCommand, CommandLine, Surroundings, Unconfined, grants};
use crate::run::{Confinement, PlannedAgent};
use crate::world::sandbox::TEMPORARY;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Confine {
    Auto,
    Off,
}

/// The confinement of an agent that works in the directory `dir`.
pub(super) fn confinement(
    confine: Confine,
    (agent, dir): (&PlannedAgent, &Path),
    table: &RunTable,
    judge: &RunJudge,
    session: &Path,
) -> Result<Confinement> {
    let home = variable("HOME").map(PathBuf::from);
    let temporary = TEMPORARY.map(PathBuf::from).into_iter();
    let config = user_file().and_then(|file| Some(file.parent()?.to_owned()));
    // Programs keep their data there, such as logins.
    let data = home.as_ref().map(|home| home.join(".local/share"));
    let private = temporary.chain([env::temp_dir()]).chain(config).chain(data);
    let around = Surroundings {
        dir: dir.to_owned(),
        dir_is_writable: !judge.has_worktrees(),
        session: fs::canonicalize(session)?,
        path: variable("PATH").unwrap_or_default(),
        private: private.map(real).collect(),
        home: home.map(real),
        variable,
        readable: [table.readable.clone(), judge.readable()?].concat(),
        writable: table.writable.clone(),
    };
    Ok(
        match confined(confine, &agent.command, &agent.example_line()?, &around) {
            Ok(confinement) => confinement,
            Err(why) => Confinement {
                means: why.to_string(),
                ..Confinement::default()
            },
        },
    )
}

fn confined(
    confine: Confine,
    command: &AgentCommand,
    line: &CommandLine,
    around: &Surroundings,
) -> Result<Confinement, Unconfined> {
    if confine == Confine::Off {
        return Err(Unconfined::Off);
    }
    let program = line.argv.first().cloned().unwrap_or_default();
    let grants = grants(command, &program, around)?;
    let version = grants.probe().map_err(Unconfined::System)?;
    let means = if grants.own_sandbox {
        let name = command.name();
        format!("{name} confines its commands itself; the session is hidden from it")
    } else {
        let worktree = (!around.dir_is_writable).then(|| "a worktree each".to_owned());
        let write = grants.write.iter().map(|path| path.display().to_string());
        let write = worktree.into_iter().chain(write);
        format!(
            "Landlock {version}: they may change {} and a temporary directory each, and can open \
             neither the session nor most of the home directory",
            write.collect::<Vec<_>>().join(", ")
        )
    };
    Ok(Confinement {
        confined: !grants.own_sandbox,
        grants: Some(grants),
        means,
    })
}

/// The path without links, if it exists.
fn real(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}
