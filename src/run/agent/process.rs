//! Starting an agent, watching it and ending it.
//!
//! The agent runs below a supervisor (see [`crate::base::process`]): this program, started again
//! with a hidden first argument. An agent with [`Grants`] may use nothing else. Where the kernel
//! allows it, it is alone in a pid namespace, whose first process is its supervisor.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setsid};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::formats::Stream;
use super::output::{AgentEnd, CappedLog, Output};
use super::transcript::{AgentEvent, Totals};
use crate::base::process::{
    self, OrphanReaper, Pipe, Reach, Report, Sink, Supervised, cpu_time, receive, send, socket,
    wait_for,
};
use crate::run::detect::VitalSigns;
use crate::world::sandbox::{Alone, Grants};

// The hidden first argument of a supervisor.
const SUPERVISED: &str = "__supervised";

const START_WITHIN: Duration = Duration::from_secs(30);

// How long leftover processes of the agent may take to end after SIGTERM.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// One start of an agent. It runs with the rights and the environment of the caller, except for
/// the variables that are set or unset here.
#[derive(Debug, Clone)]
pub struct AgentOrder {
    // A program without a slash is searched in the agent's own `PATH`; a relative path is relative
    // to `dir`.
    pub argv: Vec<OsString>,
    /// The files that it may use; without grants, those of its user.
    pub grants: Option<Grants>,
    pub stdin: Option<String>,
    pub dir: PathBuf,
    pub env: Vec<(OsString, OsString)>,
    pub unset: Vec<OsString>,
    /// A new file for a copy of the output.
    pub log: PathBuf,
    pub max_log_bytes: u64,
    pub stream: Stream,
    /// The conversation that it continues, with what the agent reported for it so far.
    pub resumed: Option<(String, Totals)>,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("cannot write the agent's log {}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("cannot start the agent's supervisor")]
    Supervisor(#[source] io::Error),
    #[error("cannot start {program}: {why}")]
    NotStarted { program: String, why: String },
}

/// Starts supervisors: a program whose `main` calls [`supervised`].
#[derive(Debug, Clone)]
pub struct AgentLauncher {
    program: PathBuf,
    reaper: Option<Arc<OrphanReaper>>,
}

impl AgentLauncher {
    /// Starts this program. Also ends the processes of agents that have killed their supervisor.
    pub fn this() -> io::Result<Self> {
        let program = if cfg!(target_os = "linux") {
            // Works even if the file was replaced or removed since.
            "/proc/self/exe".into()
        } else {
            std::env::current_exe()?
        };
        Ok(Self {
            program,
            reaper: Some(Arc::new(OrphanReaper::start()?)),
        })
    }

    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            reaper: None,
        }
    }

    pub fn reap_orphans(&self) {
        if let Some(reaper) = &self.reaper {
            reaper.reap();
        }
    }
}

// What the supervisor is to start.
#[derive(Debug, Serialize, Deserialize)]
struct Work {
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    unset: Vec<OsString>,
    dir: OsString,
    stdin: Option<String>,
    grants: Option<Grants>,
}

/// A running agent with every process it started. Dropping it kills all of them.
#[derive(Debug)]
pub struct Agent {
    // Its supervisor reports the agent's process group; none in a pid namespace, whose processes the
    // kernel ends.
    process: Supervised<Option<i32>, Output>,
    launcher: AgentLauncher,
    cpu: Duration,
}

impl Sink for Output {
    fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        Self::take(self, pipe, bytes);
    }
}

impl Agent {
    pub fn start(order: &AgentOrder, launcher: &AgentLauncher) -> Result<Self, AgentError> {
        let log = CappedLog::create(&order.log, order.max_log_bytes).map_err(|source| {
            let path = order.log.clone();
            AgentError::Log { path, source }
        })?;
        let words = order.argv.iter().map(|word| word.len()).sum::<usize>();
        let read = words + order.stdin.as_ref().map_or(0, String::len);
        let output = Output::new(order.stream, log, read as u64, order.resumed.clone());
        let mut supervisor = Command::new(&launcher.program);
        let process = Supervised::spawn(supervisor.arg(SUPERVISED), output)
            .map_err(AgentError::Supervisor)?;
        let agent = Self {
            process,
            launcher: launcher.clone(),
            cpu: Duration::ZERO,
        };
        // Read as `Work`, whose fields have this order.
        let dir = order.dir.as_os_str();
        let (argv, env, unset) = (&order.argv, &order.env, &order.unset);
        let work = (argv, env, unset, dir, &order.stdin, &order.grants);
        // Two processes need it: the one that enters the namespaces, and the first inside them.
        for _ in 0..2 {
            agent.process.send(&work).map_err(AgentError::Supervisor)?;
        }
        let started = agent.process.wait(START_WITHIN, |state| {
            if let Some(why) = &state.not_started {
                return Some(Err(why.clone()));
            }
            let gone = state
                .gone
                .map(|_| Err("its supervisor has ended".to_owned()));
            state.started.map(Ok).or(gone)
        });
        // Arguments and environment may hold secrets, so they are not logged.
        tracing::info!(
            program = ?order.argv.first(),
            arguments = order.argv.len().saturating_sub(1),
            log = ?order.log,
            "started an agent"
        );
        match started.unwrap_or_else(|| Err("its supervisor does not answer".to_owned())) {
            Ok(_) => Ok(agent),
            Err(why) => {
                let program = order.argv.first().cloned().unwrap_or_default();
                let program = program.to_string_lossy().into_owned();
                Err(AgentError::NotStarted { program, why })
            }
        }
    }

    pub fn events(&mut self) -> Vec<AgentEvent> {
        self.process.state().output.events()
    }

    /// What it does now, if that has changed since the last call.
    pub fn doing(&mut self) -> Option<String> {
        self.process.state().output.doing()
    }

    pub fn vitals(&mut self) -> VitalSigns {
        self.process.wake();
        // A process that ends between two readings may be missed by one of them.
        self.cpu = self.cpu.max(cpu_time(self.process.pid()));
        VitalSigns {
            cpu: self.cpu,
            printed: self.process.state().output.written(),
        }
    }

    pub fn wait(&self, within: Duration) {
        self.process
            .wait(within, |state| state.is_over().then_some(()));
    }

    /// The agent's end, once all its processes are gone and all output is read.
    pub fn ended(&mut self) -> Option<AgentEnd> {
        let mut state = self.process.state();
        if state.gone.is_some() && state.ended.is_none() {
            drop(state);
            // Its supervisor was killed and cannot end the remaining processes.
            self.launcher.reap_orphans();
            state = self.process.state();
        }
        let (over, ended) = (state.is_over(), state.ended);
        over.then(|| state.output.end(ended))
    }

    /// Sends SIGTERM, kills the remaining processes after `grace`, and waits for the end.
    pub fn stop(mut self, grace: Duration) -> AgentEnd {
        self.process.terminate(grace, |state| state.gone.is_some());
        self.end_all();
        let mut state = self.process.state();
        let ended = state.ended;
        state.output.end(ended)
    }

    fn end_all(&mut self) {
        self.process.kill();
        self.launcher.reap_orphans();
        let (ended, group) = {
            let state = self.process.state();
            (state.ended, state.started)
        };
        // If the supervisor was killed, only the process group of the agent is known.
        if let (None, Some(Some(group))) = (ended, group) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        self.process.wait_for_output();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// Runs as the supervisor of an agent if `args` are those of a supervisor.
pub fn supervised(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    if args.next()? != SUPERVISED {
        return None;
    }
    let done = match args.next() {
        None => outer(),
        Some(alone) => inner(&alone),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn outer() -> io::Result<()> {
    // In its own session the agent has no terminal: Ctrl-C must reach the run first.
    setsid()?;
    let mut socket = socket()?;
    let work: Work = receive(&mut socket)?;
    let alone = work.grants.map(|_| Alone::enter()).transpose();
    let alone = match alone {
        Ok(alone) => alone.flatten(),
        Err(error) => return refuse(&mut socket, &error),
    };
    process::become_supervisor()?;
    let Some(alone) = alone else {
        return supervise(socket, None);
    };
    // The agent cannot name this process. If it ends, so does the first one of the namespace, and
    // with that one all others.
    let mut first = Command::new("/proc/self/exe")
        .arg(SUPERVISED)
        .arg(serde_json::to_string(&alone)?)
        .stdin(Stdio::from(OwnedFd::from(socket.try_clone()?)))
        .spawn()?;
    first.wait().map(drop)
}

fn inner(alone: &OsString) -> io::Result<()> {
    let alone: Alone = serde_json::from_slice(alone.as_encoded_bytes())?;
    supervise(socket()?, Some(&alone))
}

fn refuse(socket: &mut UnixStream, error: &io::Error) -> io::Result<()> {
    send(
        socket,
        &Report::<Option<i32>>::NotStarted(error.to_string()),
    )
}

fn supervise(mut socket: UnixStream, alone: Option<&Alone>) -> io::Result<()> {
    let mut work: Work = receive(&mut socket)?;
    if let (Some(alone), Some(grants)) = (alone, &mut work.grants)
        && let Err(error) = alone.settle(grants)
    {
        return refuse(&mut socket, &error);
    }
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD])?;
    let mut child = match start(&work) {
        Ok(child) => child,
        Err(error) => return refuse(&mut socket, &error),
    };
    let agent = Pid::from_raw(child.id().cast_signed());
    let reach = match alone {
        Some(_) => Reach::Namespace,
        None => Reach::Tree(agent),
    };
    if let (Some(mut pipe), Some(prompt)) = (child.stdin.take(), work.stdin) {
        // The agent may end without having read all of it.
        thread::spawn(move || pipe.write_all(prompt.as_bytes()));
    }
    reach.obey(socket.try_clone()?);
    thread::spawn(move || {
        // Children are reaped elsewhere. SIGCHLD is in the list because a blocked one would be lost.
        if signals.forever().any(|signal| signal != SIGCHLD) {
            reach.kill_until_exit();
        }
    });
    // The run may be gone already.
    let group = alone.is_none().then_some(agent.as_raw());
    let _ = send(&mut socket, &Report::Started(group));
    let _ = send(&mut socket, &Report::<Option<i32>>::Ended(wait_for(agent)));
    reach.end_leftovers(LEFTOVER_GRACE);
    Ok(())
}

fn start(work: &Work) -> io::Result<Child> {
    let line = match &work.grants {
        Some(grants) => grants.command_line(&work.argv)?,
        None => work.argv.clone(),
    };
    let Some((program, args)) = line.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program"));
    };
    let mut command = Command::new(program);
    for name in &work.unset {
        command.env_remove(name);
    }
    let stdin = match work.stdin {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    };
    command
        .args(args)
        .envs(work.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&work.dir)
        .process_group(0)
        .stdin(stdin)
        .spawn()
}
