//! Runs child processes under a supervisor, so that no descendant outlives them.
//!
//! The supervisor is this program, started again with a socket as its standard input. It starts the
//! program, adopts its orphans and reports how it ended. It kills every process of the program on
//! request, or when the socket closes because the parent died. [`Supervised`] is the parent's end
//! of the socket.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek as _, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

// How often a process is asked whether it has ended. One that is being killed may fork once more, so
// the search for its descendants is repeated as often.
const RETRY: Duration = Duration::from_millis(2);

// How long a supervisor and the processes that it kills may take to end.
const END_WITHIN: Duration = Duration::from_secs(5);

// A process that escaped its supervisor may keep the output streams open forever.
const OPEN_AFTER_END: Duration = Duration::from_secs(2);

const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

const MAX_FRAME_BYTES: u32 = 256 << 20;

// nix has no name for real-time signals; the first represents all of them.
const REAL_TIME: i32 = 34;

/// Starts a program in a process group of its own, which Ctrl-C does not reach, with `input` as its
/// standard input. A pipe would block this process if the program did not read it.
pub fn start_with_input(command: &mut Command, input: &[u8]) -> io::Result<Child> {
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(input)?;
    stdin.rewind()?;
    command.process_group(0).stdin(stdin).spawn()
}

/// Waits for a program that was started in a process group of its own. After `limit`, the group is
/// killed and the error is [`io::ErrorKind::TimedOut`].
pub fn wait_within(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let began = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(status),
            None if began.elapsed() < limit => thread::sleep(RETRY),
            None => {
                let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
                child.wait()?;
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// A process as `/proc/PID/stat` describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    pub state: char,
    pub parent: i32,
    /// The processor time of the process and its reaped children, in ticks.
    pub ticks: u64,
    /// Its start, in ticks since boot.
    pub started: u64,
}

impl ProcessStat {
    pub fn of(pid: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(stat: &[u8]) -> Option<Self> {
        // The second field is a name that may contain spaces and parentheses. proc(5) numbers the
        // first field after it 3.
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = str::from_utf8(&stat[name_end + 1..]).ok()?;
        let fields: Vec<_> = rest.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            ticks: (14..=17).map(number).sum::<Option<u64>>()?,
            started: number(22)?,
        })
    }
}

/// The descendants of `first`, without `first` itself.
pub fn descendants(first: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(stat) = ProcessStat::of(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![first.as_raw()];
    while let Some(parent) = open.pop() {
        let next = children.remove(&parent).unwrap_or_default();
        found.extend(next.iter().copied().map(Pid::from_raw));
        open.extend(next);
    }
    found
}

/// The processor time that a process and its descendants have used.
pub fn cpu_time(first: Pid) -> Duration {
    // The kernel reports ticks of 10 ms on every architecture, whatever its internal unit.
    const TICK: Duration = Duration::from_millis(10);
    let all = descendants(first).into_iter().chain([first]);
    let ticks = all.filter_map(|pid| Some(ProcessStat::of(pid.as_raw())?.ticks));
    let ticks = ticks.fold(0u64, u64::saturating_add);
    TICK.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX))
}

/// Makes this process the parent of orphaned descendants.
#[cfg_attr(
    not(target_os = "linux"),
    expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")
)]
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    Ok(())
}

/// Adopts orphans, and keeps other processes of the same user from inspecting this one.
#[cfg_attr(
    not(target_os = "linux"),
    expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")
)]
pub fn become_supervisor() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    adopt_orphans()
}

/// Kills processes that this process adopted because their supervisor was killed.
#[derive(Debug)]
pub struct OrphanReaper {
    // The children that existed before.
    spared: Vec<Pid>,
}

impl OrphanReaper {
    pub fn start() -> io::Result<Self> {
        adopt_orphans()?;
        Ok(Self {
            spared: Self::adopted(),
        })
    }

    pub fn reap(&self) {
        let began = Instant::now();
        loop {
            let mut orphans = Self::adopted();
            orphans.retain(|pid| !self.spared.contains(pid));
            // A process that keeps restarting itself must not block this program forever.
            if orphans.is_empty() || began.elapsed() >= END_WITHIN {
                return;
            }
            for orphan in orphans {
                for pid in descendants(orphan).into_iter().chain([orphan]) {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                let _ = waitpid(orphan, Some(WaitPidFlag::WNOHANG));
            }
            thread::sleep(RETRY);
        }
    }

    // The kernel gives orphans to the first thread. Other threads start supervisors, so this list
    // does not contain them.
    fn adopted() -> Vec<Pid> {
        let first = Pid::this();
        let list = fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
        let list = list.unwrap_or_default();
        let pids = list.split_ascii_whitespace();
        pids.filter_map(|pid| pid.parse().ok().map(Pid::from_raw))
            .collect()
    }
}

pub fn send(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(value)?;
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(&text)?;
    to.flush()
}

/// Receives one value, and reads no byte beyond its frame.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = Vec::new();
    let read = from.take(u64::from(length)).read_to_end(&mut text)?;
    if read as u64 != u64::from(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&text)?)
}

/// The socket of a supervisor, which is its standard input, under a descriptor that no program
/// inherits.
pub fn socket() -> io::Result<UnixStream> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// What a supervisor reports; `S` says how the program was started.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report<S> {
    Started(S),
    NotStarted(String),
    Ended(Exit),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    Exited(i32),
    Signalled(i32),
}

/// The processes that a supervisor signals.
#[derive(Debug, Clone, Copy)]
pub enum Reach {
    /// The process group of this program, and every descendant of the supervisor.
    Tree(Pid),
    /// The pid namespace in which the supervisor is process 1. When it ends, the kernel kills the
    /// others.
    Namespace,
}

impl Reach {
    /// Obeys requests from the socket, on a new thread.
    pub fn obey(self, mut requests: UnixStream) {
        thread::spawn(move || {
            let mut request = [0; 8];
            while requests.read_exact(&mut request).is_ok() {
                self.terminate();
                // A timeout of zero would mean none.
                let grace = Duration::from_millis(u64::from_be_bytes(request)).max(RETRY);
                if requests.set_read_timeout(Some(grace)).is_err() {
                    break;
                }
            }
            // The grace period is over, or the parent died.
            self.kill_until_exit();
        });
    }

    fn terminate(self) {
        // A stopped process does not handle SIGTERM until it continues.
        for signal in [Signal::SIGTERM, Signal::SIGCONT] {
            let _ = match self {
                Self::Tree(program) => killpg(program, signal),
                Self::Namespace => kill(ALL, signal),
            };
        }
    }

    /// Keeps killing all processes until this process exits.
    pub fn kill_until_exit(self) -> ! {
        let Self::Tree(program) = self else {
            std::process::exit(0);
        };
        loop {
            signal_tree(program, Signal::SIGKILL);
            thread::sleep(RETRY);
        }
    }

    /// Ends the processes that the program left behind: with SIGTERM, and after `grace` with SIGKILL.
    /// In a namespace, the end of this process kills the rest.
    pub fn end_leftovers(self, grace: Duration) {
        let began = Instant::now();
        let mut terminated = false;
        loop {
            let mut last = waitpid(None, Some(WaitPidFlag::WNOHANG));
            while matches!(last, Ok(status) if status != WaitStatus::StillAlive) {
                last = waitpid(None, Some(WaitPidFlag::WNOHANG));
            }
            let childless = last == Err(Errno::ECHILD);
            let late = began.elapsed() >= grace;
            let over = match self {
                Self::Namespace => childless || late,
                // If orphans are not adopted, only the process group shows whether any are left.
                Self::Tree(program) => {
                    childless && (killpg(program, None).is_err() || began.elapsed() >= END_WITHIN)
                }
            };
            if over {
                return;
            }
            if late || !terminated {
                self.signal(if late {
                    Signal::SIGKILL
                } else {
                    Signal::SIGTERM
                });
                terminated = true;
            }
            thread::sleep(RETRY);
        }
    }

    fn signal(self, signal: Signal) {
        match self {
            Self::Tree(program) => signal_tree(program, signal),
            Self::Namespace => drop(kill(ALL, signal)),
        }
    }
}

/// Every process of the namespace except the sender.
const ALL: Pid = Pid::from_raw(-1);

fn signal_tree(program: Pid, signal: Signal) {
    let _ = killpg(program, signal);
    for pid in descendants(Pid::this()) {
        let _ = kill(pid, signal);
    }
}

/// Waits for the program, and reaps other children that end in the meantime.
pub fn wait_for(program: Pid) -> Exit {
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == program => return Exit::Exited(code),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => {
                return Exit::Signalled(signal as i32);
            }
            // nix returns an error for a real-time signal, although the program is gone.
            Err(_) if kill(program, None).is_err() => return Exit::Signalled(REAL_TIME),
            Ok(_) | Err(_) => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipe {
    Out,
    Err,
}

/// Receives a program's output. It must limit how much it keeps.
pub trait Sink: Send + 'static {
    fn take(&mut self, pipe: Pipe, bytes: &[u8]);
}

/// The state of a supervised program.
#[derive(Debug)]
pub struct ProcessState<S, O> {
    pub started: Option<S>,
    pub not_started: Option<String>,
    pub ended: Option<Exit>,
    /// When the supervisor, and with it every process of the program, was gone.
    pub gone: Option<Instant>,
    pub output: O,
    open: u8,
}

impl<S, O> ProcessState<S, O> {
    /// Whether all processes are gone and no more output will come.
    pub fn is_over(&self) -> bool {
        self.gone
            .is_some_and(|gone| self.open == 0 || gone.elapsed() >= OPEN_AFTER_END)
    }
}

#[derive(Debug)]
struct Shared<S, O> {
    state: Mutex<ProcessState<S, O>>,
    changed: Condvar,
}

impl<S, O> Shared<S, O> {
    fn state(&self) -> MutexGuard<'_, ProcessState<S, O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut ProcessState<S, O>)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

/// A program under its supervisor.
#[derive(Debug)]
pub struct Supervised<S, O> {
    shared: Arc<Shared<S, O>>,
    supervisor: Child,
    socket: UnixStream,
}

impl<S: DeserializeOwned + Send + 'static, O: Sink> Supervised<S, O> {
    /// Starts `supervisor`, and threads that read its reports and the program's output.
    pub fn spawn(supervisor: &mut Command, output: O) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let mut reports = socket.try_clone()?;
        let mut supervisor = supervisor
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(ProcessState {
                started: None,
                not_started: None,
                ended: None,
                gone: None,
                output,
                open: 2,
            }),
            changed: Condvar::new(),
        });
        let listener = Arc::clone(&shared);
        thread::spawn(move || {
            while let Ok(report) = receive::<Report<S>>(&mut reports) {
                listener.change(|state| match report {
                    Report::Started(started) => state.started = Some(started),
                    Report::NotStarted(why) => state.not_started = Some(why),
                    Report::Ended(exit) => state.ended = Some(exit),
                });
            }
            listener.change(|state| state.gone = Some(Instant::now()));
        });
        if let Some(stdout) = supervisor.stdout.take() {
            drain(&shared, Pipe::Out, stdout);
        }
        if let Some(stderr) = supervisor.stderr.take() {
            drain(&shared, Pipe::Err, stderr);
        }
        Ok(Self {
            shared,
            supervisor,
            socket,
        })
    }
}

impl<S, O> Supervised<S, O> {
    pub fn send(&self, value: &impl Serialize) -> io::Result<()> {
        send(&mut &self.socket, value)
    }

    pub fn state(&self) -> MutexGuard<'_, ProcessState<S, O>> {
        self.shared.state()
    }

    /// The supervisor, from which every process of the program descends.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.supervisor.id().cast_signed())
    }

    /// Waits until `seen` returns something, for at most `within`.
    pub fn wait<T>(
        &self,
        within: Duration,
        seen: impl Fn(&ProcessState<S, O>) -> Option<T>,
    ) -> Option<T> {
        let state = self.state();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, within, |state| seen(state).is_none());
        seen(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Continues the supervisor, because the program may have stopped it.
    pub fn wake(&self) {
        let gone = self.state().gone.is_some();
        if !gone {
            let _ = kill(self.pid(), Signal::SIGCONT);
        }
    }

    /// Asks the program to end, and waits for `done` or until `grace` is over.
    pub fn terminate(&self, grace: Duration, done: impl Fn(&ProcessState<S, O>) -> bool) {
        self.wake();
        let millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        if (&self.socket).write_all(&millis.to_be_bytes()).is_ok() {
            self.wait(grace, |state| done(state).then_some(()));
        }
    }

    /// Kills every process of the program, and waits for its output.
    pub fn end(&mut self) {
        self.kill();
        self.wait_for_output();
    }

    pub fn kill(&mut self) {
        self.wake();
        let _ = self.socket.shutdown(Shutdown::Write);
        let gone = self.wait(END_WITHIN, |state| state.gone.is_some().then_some(()));
        if gone.is_none() {
            // Listed before the supervisor dies: afterwards nothing links them to it.
            let left = descendants(self.pid());
            let _ = self.supervisor.kill();
            for pid in left {
                let _ = kill(pid, Signal::SIGKILL);
            }
        }
        let _ = self.supervisor.wait();
    }

    /// Waits until all output is read, or until an escaped process has kept the streams open too long.
    pub fn wait_for_output(&self) {
        self.wait(OPEN_AFTER_END, |state| state.is_over().then_some(()));
    }
}

fn drain<S, O>(shared: &Arc<Shared<S, O>>, pipe: Pipe, mut from: impl Read + Send + 'static)
where
    S: Send + 'static,
    O: Sink,
{
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let mut chunk = vec![0; 64 << 10];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => shared.change(|state| state.output.take(pipe, &chunk[..read])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        shared.change(|state| state.open -= 1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_no_byte_beyond_a_frame() {
        let mut bytes = Vec::new();
        send(&mut bytes, &"one").unwrap();
        send(&mut bytes, &2).unwrap();
        let mut rest = bytes.as_slice();
        assert_eq!(receive::<String>(&mut rest).unwrap(), "one");
        assert_eq!(receive::<u8>(&mut rest).unwrap(), 2);
        assert!(rest.is_empty());
    }

    #[test]
    fn refuses_what_is_no_frame() {
        assert!(receive::<u8>(&mut b"\xff\xff\xff\xff1".as_slice()).is_err());
        assert!(receive::<u8>(&mut b"\0\0\0\x021".as_slice()).is_err());
        assert!(receive::<u8>(&mut b"\0\0\0\x01x".as_slice()).is_err());
        assert!(receive::<u8>(&mut b"\0".as_slice()).is_err());
    }

    #[test]
    fn a_name_may_contain_anything() {
        let line = b"7 (a) 1 2 (b) S 3 7 7 0 -1 4194304 99 98 97 96 5 6 70 800 20 0 1 0 4321 1 2";
        let stat = ProcessStat {
            state: 'S',
            parent: 3,
            ticks: 5 + 6 + 70 + 800,
            started: 4321,
        };
        assert_eq!(ProcessStat::parse(line), Some(stat));
        for short in [&b"7 (a) S 3"[..], b""] {
            assert_eq!(ProcessStat::parse(short), None);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_is_a_descendant() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        let found = descendants(Pid::this()).contains(&pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found);
    }
}
