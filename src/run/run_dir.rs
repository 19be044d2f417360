//! The files of a run in the session: `runs/RUN.lock`, and in `runs/RUN` the logs of its agents.

use std::ffi::OsString;
use std::fs;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::access::Admission;
use super::agents::PlannedAgent;
use super::plan::{Plan, RunError};
use crate::run::agent::{AgentOrder, CommandLine, Totals};
use crate::session::{BadWorker, PASSWORD_VARIABLES, Reason, RunId, Worker};

#[derive(Debug)]
pub struct RunLock {
    // Closing the file gives the lock up, also when the process dies.
    _file: File,
    path: PathBuf,
}

pub fn runs_dir(session: &Path) -> PathBuf {
    session.join("runs")
}

impl RunLock {
    pub fn take(session: &Path, run: RunId) -> Result<Self, RunError> {
        let dir = runs_dir(session);
        fs::create_dir_all(&dir).map_err(RunError::io("make", &dir))?;
        let (new, path) = (
            dir.join(format!("{run}.new")),
            dir.join(format!("{run}.lock")),
        );
        let file = OpenOptions::new().create_new(true).write(true).open(&new);
        let file = file.map_err(RunError::io("make", &new))?;
        file.lock().map_err(RunError::io("lock", &new))?;
        // Others may find it only once it is locked.
        fs::rename(&new, &path).map_err(RunError::io("rename", &new))?;
        Ok(Self { _file: file, path })
    }

    /// Takes the lock of a run whose process ended.
    pub fn if_free(session: &Path, run: RunId) -> Result<Option<Self>, RunError> {
        let path = runs_dir(session).join(format!("{run}.lock"));
        let Ok(file) = OpenOptions::new().write(true).open(&path) else {
            // The run has ended in the meantime.
            return Ok(None);
        };
        match file.try_lock() {
            Ok(()) if path.exists() => Ok(Some(Self { _file: file, path })),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(RunError::io("lock", &path)(error)),
        }
    }

    pub fn remove(self) {
        // Agents can do the same or put another file there: only the ledger counts.
        let _ = fs::remove_file(&self.path);
    }
}

/// The worker name of one start. Each start has its own, so a start that was replaced cannot
/// submit any more.
pub fn worker_of(run: RunId, start: u32) -> Result<Worker, BadWorker> {
    format!("run-{run}.{start}").parse()
}

// The hooks of the agent let it stop when this is set.
const LAST_CALL: &str = "COMAIL_LAST_CALL";

/// Where a run keeps the logs of its agents.
#[derive(Debug)]
pub struct RunDir(PathBuf);

impl RunDir {
    pub fn set_up(session: &Path, plan: &Plan) -> Result<Self, RunError> {
        let session = std::path::absolute(session).map_err(RunError::io("name", session))?;
        let dir = runs_dir(&session).join(plan.run.to_string());
        fs::create_dir_all(&dir).map_err(RunError::io("make", &dir))?;
        Ok(Self(dir))
    }

    pub fn order(
        &self,
        (plan, agent): (&Plan, &PlannedAgent),
        line: CommandLine,
        (admission, start): (Option<&dyn Admission>, u32),
        last: Option<Reason>,
        resumed: Option<(String, Totals)>,
    ) -> AgentOrder {
        let mut grants = agent.confinement.grants.clone();
        if let (Some(grants), Some(admission)) = (&mut grants, admission) {
            grants.write.push(admission.dir().to_owned());
            let worktree = admission.worktree().into_iter();
            grants
                .write
                .extend(worktree.map(|(worktree, _)| worktree.root.clone()));
        }
        let mut env = admission.map_or(Vec::new(), Admission::env);
        env.push(("COMAIL_RUN".into(), plan.run.to_string().into()));
        let mut unset: Vec<OsString> = Vec::new();
        // The judge reaches the database, and the agent reaches the judge alone.
        if admission.is_some() {
            unset.extend(PASSWORD_VARIABLES.map(OsString::from));
        }
        match last {
            Some(_) => env.push((LAST_CALL.into(), "1".into())),
            // This run may have been started by an agent at its own last call.
            None => unset.push(LAST_CALL.into()),
        }
        AgentOrder {
            argv: line.argv,
            grants,
            stdin: line.stdin,
            dir: match admission.and_then(Admission::worktree) {
                Some((_, dir)) => dir.to_owned(),
                None => plan.dir.clone(),
            },
            env,
            unset,
            log: self.0.join(format!("{start}.log")),
            max_log_bytes: plan.max_log_bytes,
            stream: agent.command.stream(),
            resumed,
        }
    }
}

/// Writes the prompt for an agent that reads it from a file.
pub fn write_prompt(dir: &Path, prompt: &str) -> Result<PathBuf, RunError> {
    let file = dir.join("prompt");
    fs::write(&file, prompt).map_err(RunError::io("write", &file))?;
    Ok(file)
}

#[cfg(test)]
mod tests;
