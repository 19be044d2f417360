//! Where the agents of a run are started: what they find around them, and what is kept of them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::RunError;
use super::lock_file::runs_dir;
use super::plan::Plan;
use crate::run::agent::{AgentOrder, CommandLine};
use crate::session::{Reason, Worker};

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

// The hooks of the agent let it stop when this is set.
const LAST_CALL: &str = "COMAIL_LAST_CALL";

#[derive(Debug)]
pub struct Workplace {
    session: PathBuf,
    dir: PathBuf,
    path: OsString,
}

impl Workplace {
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

    #[must_use]
    pub fn order(
        &self,
        plan: &Plan,
        line: CommandLine,
        (worker, start): (&Worker, u32),
        last: Option<Reason>,
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
            most_log_bytes: plan.most_log_bytes,
            stream: plan.command.stream(),
        }
    }
}
