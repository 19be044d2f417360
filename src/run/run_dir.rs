//! The files of a run in the session: `runs/RUN.lock`, and in `runs/RUN` prompts, logs and calls.
//!
//! `N.calls` has a line for each call of comail by the agent of start N: `next`, `status`, `judged`
//! for an answer that the gate judged, `no-network` for one that comail had no network to judge, or
//! `submit DIGEST` for any other that was not judged. The run creates the file before the agent starts and keeps it open, so renaming or replacing it changes nothing.

use std::ffi::OsString;
use std::fs;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::plan::{Plan, RunError};
use crate::judge::live_runs::start_of;
use crate::run::agent::{AgentOrder, CommandLine, Totals};
use crate::run::detect::SelfCall;
use crate::session::{BadWorker, Reason, RunId, Worker};

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
        // Only once it is held may others find it.
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
        // Agents can do the same, or put something else there; the ledger says what counts.
        let _ = fs::remove_file(&self.path);
    }
}

/// The worker name of one start. Each start has its own, so a start that was replaced cannot
/// submit any more.
pub fn worker_of(run: RunId, start: u32) -> Result<Worker, BadWorker> {
    format!("run-{run}.{start}").parse()
}

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

// The hooks of the agent let it stop when this is set.
const LAST_CALL: &str = "COMAIL_LAST_CALL";

#[derive(Debug)]
pub struct RunDir {
    session: PathBuf,
    dir: PathBuf,
    path: OsString,
}

impl RunDir {
    // The agent finds this very program as `comail` in its `PATH`, whatever is installed.
    pub fn set_up(session: &Path, plan: &Plan) -> Result<Self, RunError> {
        let session = std::path::absolute(session).map_err(RunError::io("name", session))?;
        let dir = runs_dir(&session).join(plan.run.to_string());
        let bin = dir.join("bin");
        fs::create_dir_all(&bin).map_err(RunError::io("make", &bin))?;
        let program =
            std::env::current_exe().map_err(RunError::io("find this program for", &bin))?;
        let link = bin.join("comail");
        std::os::unix::fs::symlink(&program, &link).map_err(RunError::io("make", &link))?;
        let inherited = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
        let mut path = bin.into_os_string();
        path.push(":");
        path.push(inherited);
        Ok(Self { session, dir, path })
    }

    pub fn write_prompt(&self, start: u32, prompt: &str) -> Result<PathBuf, RunError> {
        let file = self.dir.join(format!("{start}.prompt"));
        fs::write(&file, prompt).map_err(RunError::io("write", &file))?;
        Ok(file)
    }

    pub fn order(
        &self,
        plan: &Plan,
        line: CommandLine,
        (worker, start): (&Worker, u32),
        last: Option<Reason>,
        resumed: Option<(String, Totals)>,
    ) -> AgentOrder {
        let env = [
            ("COMAIL_SESSION", self.session.clone().into_os_string()),
            ("COMAIL_WORKER", worker.as_str().into()),
            ("COMAIL_RUN", plan.run.to_string().into()),
            ("PATH", self.path.clone()),
        ];
        let mut env: Vec<(OsString, OsString)> =
            env.map(|(name, value)| (name.into(), value)).into();
        let mut unset = Vec::new();
        match last {
            Some(_) => env.push((LAST_CALL.into(), "1".into())),
            // This run may have been started by an agent at its own last call.
            None => unset.push(LAST_CALL.into()),
        }
        AgentOrder {
            argv: line.argv,
            stdin: line.stdin,
            dir: plan.dir.clone(),
            env,
            unset,
            log: self.dir.join(format!("{start}.log")),
            max_log_bytes: plan.max_log_bytes,
            stream: plan.command.stream(),
            resumed,
        }
    }
}

const MAX_BYTES: u64 = 256 * 1024;

/// Records a call of this program for the run that started the agent. Nothing depends on the
/// record, so failures are ignored.
pub fn note(session: &Path, run: RunId, worker: &Worker, call: SelfCall) {
    let Some((_, start)) = start_of(worker).filter(|(of, _)| *of == run) else {
        return;
    };
    let mut options = OpenOptions::new();
    let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
    // Only where the run has made it, and without waiting on a pipe that somebody put in its place.
    let file = options
        .append(true)
        .custom_flags(flags.bits())
        .open(place(session, run, start));
    if let Ok(mut file) = file
        && let Ok(about) = file.metadata()
        && about.is_file()
        && about.len() < MAX_BYTES
    {
        let _ = file.write_all(line(call).as_bytes());
    }
}

fn place(session: &Path, run: RunId, start: u32) -> PathBuf {
    let dir = runs_dir(session).join(run.to_string());
    dir.join(format!("{start}.calls"))
}

fn line(call: SelfCall) -> String {
    match call {
        SelfCall::Next => "next\n".to_owned(),
        SelfCall::Status => "status\n".to_owned(),
        SelfCall::Submit(digest) => format!("submit {digest}\n"),
        SelfCall::Judged => "judged\n".to_owned(),
        SelfCall::NoNetwork => "no-network\n".to_owned(),
    }
}

fn read(line: &str) -> Option<SelfCall> {
    match line {
        "next" => Some(SelfCall::Next),
        "status" => Some(SelfCall::Status),
        "judged" => Some(SelfCall::Judged),
        "no-network" => Some(SelfCall::NoNetwork),
        submit => {
            let digest = submit.strip_prefix("submit ")?;
            Some(SelfCall::Submit(digest.parse().ok()?))
        }
    }
}

#[derive(Debug)]
pub struct Calls {
    file: File,
    read: u64,
}

impl Calls {
    pub fn of(session: &Path, run: RunId, start: u32) -> Result<Self, RunError> {
        let path = place(session, run, start);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(RunError::io("make", &path))?;
        Ok(Self { file, read: 0 })
    }

    // The agent can write into the file; lines that `note` would not write are ignored.
    pub fn since(&mut self) -> Vec<SelfCall> {
        let length = self.file.metadata().map_or(0, |about| about.len());
        // A line that was begun below the bound may end beyond it.
        let Ok(more) = usize::try_from(length.min(MAX_BYTES + 100).saturating_sub(self.read))
        else {
            return Vec::new();
        };
        let mut bytes = vec![0; more];
        if more == 0 || self.file.read_exact_at(&mut bytes, self.read).is_err() {
            return Vec::new();
        }
        let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        self.read += last as u64 + 1;
        let text = String::from_utf8_lossy(&bytes[..last]);
        text.lines().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests;
