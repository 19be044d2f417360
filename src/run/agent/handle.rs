//! An agent that runs.

use std::io::Write as _;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::cpu;
use super::heard::{OPEN_AFTER_THE_END, Pipe, ProcessState};
use super::launcher::AgentLauncher;
use super::output::CappedLog;
use super::output::Output;
use super::output::{AgentEnd, AgentError, CpuTime, ProcessVitals};
use super::supervisor::SUPERVISED;
use super::transcript::AgentEvent;
use super::transcript::AgentOrder;
use super::wire::{Work, stop_within};
use crate::world::sandbox::{descendants, send};

const PATIENCE: Duration = Duration::from_secs(30);

const END_WITHIN: Duration = Duration::from_secs(5);

/// A running agent with every process it started. Dropping it kills all of them.
#[derive(Debug)]
pub struct Agent {
    heard: Arc<ProcessState>,
    supervisor: Child,
    socket: UnixStream,
    launcher: AgentLauncher,
    used: Duration,
}

impl Agent {
    pub fn start(order: &AgentOrder, launcher: &AgentLauncher) -> Result<Self, AgentError> {
        let log = CappedLog::create(&order.log, order.most_log_bytes).map_err(|source| {
            let path = order.log.clone();
            AgentError::Log { path, source }
        })?;
        let words = order.argv.iter().map(|word| word.len()).sum::<usize>();
        let read = words + order.stdin.as_ref().map_or(0, String::len);
        let heard = Arc::new(ProcessState::new(Output::new(
            order.stream,
            log,
            read as u64,
        )));
        let agent = Self::launch(launcher, heard).map_err(AgentError::Supervisor)?;
        agent.send(order).map_err(AgentError::Supervisor)?;
        let started = agent.heard.wait(PATIENCE, |known| {
            let gone = known.gone.is_some().then(|| Err("it has ended".to_owned()));
            known.started.clone().or(gone)
        });
        let late = || Err("nothing was heard of it".to_owned());
        // Its arguments and its environment may hold what nobody else is to know.
        tracing::info!(
            program = ?order.argv.first(),
            arguments = order.argv.len().saturating_sub(1),
            log = ?order.log,
            "started an agent"
        );
        match started.unwrap_or_else(late) {
            Ok(_) => Ok(agent),
            Err(why) => {
                let program = order.argv.first().cloned().unwrap_or_default();
                let program = program.to_string_lossy().into_owned();
                Err(AgentError::NotStarted { program, why })
            }
        }
    }

    fn launch(launcher: &AgentLauncher, heard: Arc<ProcessState>) -> std::io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let told = socket.try_clone()?;
        let mut supervisor = Command::new(launcher.program())
            .arg(SUPERVISED)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let teller = Arc::clone(&heard);
        thread::spawn(move || teller.listen(told));
        if let Some(stdout) = supervisor.stdout.take() {
            let heard = Arc::clone(&heard);
            thread::spawn(move || heard.drain(Pipe::Out, stdout));
        }
        if let Some(stderr) = supervisor.stderr.take() {
            let heard = Arc::clone(&heard);
            thread::spawn(move || heard.drain(Pipe::Err, stderr));
        }
        Ok(Self {
            heard,
            supervisor,
            socket,
            launcher: launcher.clone(),
            used: Duration::ZERO,
        })
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.supervisor.id().cast_signed())
    }

    fn wake(&self) {
        let gone = self.heard.known().gone.is_some();
        if !gone {
            let _ = kill(self.pid(), Signal::SIGCONT);
        }
    }

    fn send(&self, order: &AgentOrder) -> std::io::Result<()> {
        let work = Work {
            argv: order.argv.clone(),
            env: order.env.clone(),
            unset: order.unset.clone(),
            dir: order.dir.clone().into_os_string(),
            stdin: order.stdin.clone(),
        };
        send(&mut &self.socket, &work)
    }

    pub fn events(&mut self) -> Vec<AgentEvent> {
        self.heard.known().output.events()
    }

    pub fn vitals(&mut self) -> ProcessVitals {
        self.wake();
        let cpu = match cpu::of_tree(self.pid()) {
            CpuTime::Unknown => CpuTime::Unknown,
            // A process that ends between two looks is missed by one of them.
            CpuTime::Used(now) => {
                self.used = self.used.max(now);
                CpuTime::Used(self.used)
            }
        };
        let written = self.heard.known().output.written();
        ProcessVitals { cpu, written }
    }

    pub fn wait(&self, most: Duration) {
        self.heard.wait(most, |known| known.is_over().then_some(()));
    }

    /// The agent's end, once no process of it is left and all of its output is read.
    pub fn ended(&mut self) -> Option<AgentEnd> {
        let mut known = self.heard.known();
        if known.gone.is_some() && known.ended.is_none() {
            drop(known);
            // Its supervisor was killed, and cannot end what is left.
            self.launcher.reap_orphans();
            known = self.heard.known();
        }
        let (over, ended) = (known.is_over(), known.ended);
        over.then(|| known.output.end(ended))
    }

    /// Sends SIGTERM, kills what is left after `grace`, and waits for the end.
    #[must_use]
    pub fn stop(mut self, grace: Duration) -> AgentEnd {
        self.wake();
        if self.socket.write_all(&stop_within(grace)).is_ok() {
            let within = grace.saturating_add(END_WITHIN);
            self.heard
                .wait(within, |known| known.gone.is_some().then_some(()));
        }
        self.end_all();
        let mut known = self.heard.known();
        let ended = known.ended;
        known.output.end(ended)
    }

    fn end_all(&mut self) {
        self.wake();
        let _ = self.socket.shutdown(Shutdown::Write);
        let gone = self
            .heard
            .wait(END_WITHIN, |known| known.gone.is_some().then_some(()));
        if gone.is_none() {
            // Once it is gone nothing tells any more what was its own.
            let left = descendants(self.pid());
            let _ = self.supervisor.kill();
            for pid in left {
                let _ = kill(pid, Signal::SIGKILL);
            }
        }
        let _ = self.supervisor.wait();
        self.launcher.reap_orphans();
        let (ended, started) = {
            let known = self.heard.known();
            (known.ended, known.started.clone())
        };
        // Of an agent whose supervisor was killed its process group is all that is known.
        if let (None, Some(Ok(group))) = (ended, started) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        self.heard
            .wait(OPEN_AFTER_THE_END, |known| known.is_over().then_some(()));
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.end_all();
    }
}
