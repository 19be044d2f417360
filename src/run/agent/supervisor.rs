//! The process that starts an agent, waits for it, and leaves nothing of it behind.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::wire::{HowEnded, Tell, Work, grace_of};
use crate::world::sandbox::{adopt_orphans, descendants, receive, send};

pub(super) const SUPERVISED: &str = "__supervised";

const AGAIN: Duration = Duration::from_millis(2);

const LEFTOVERS: Duration = Duration::from_millis(200);

const PATIENCE: Duration = Duration::from_secs(5);

const REAL_TIME: i32 = 34;

pub fn supervised(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    if args.into_iter().nth(1)? != SUPERVISED {
        return None;
    }
    Some(match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn supervise() -> io::Result<()> {
    // Another session has no terminal, whose keys would end the agent before the run knows.
    setsid()?;
    adopt_orphans()?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let work: Work = receive(&mut socket)?;
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD])?;
    let mut child = match start(&work) {
        Ok(child) => child,
        Err(error) => return send(&mut socket, &Tell::NotStarted(error.to_string())),
    };
    let agent = Pid::from_raw(child.id().cast_signed());
    if let (Some(mut pipe), Some(prompt)) = (child.stdin.take(), work.stdin) {
        // It may well end without having read all.
        thread::spawn(move || pipe.write_all(prompt.as_bytes()));
    }
    let asked = socket.try_clone()?;
    thread::spawn(move || obey(asked, agent));
    thread::spawn(move || {
        // Children that end are waited for elsewhere; to hear of them keeps them from being lost.
        if signals.forever().any(|signal| signal != SIGCHLD) {
            kill_for_ever(agent);
        }
    });
    // Nobody may be left to hear it.
    let _ = send(&mut socket, &Tell::Started(agent.as_raw()));
    let _ = wait_for(agent).map(|ended| send(&mut socket, &Tell::Ended(ended)));
    leave_nothing(agent);
    Ok(())
}

fn start(work: &Work) -> io::Result<Child> {
    let Some((program, args)) = work.argv.split_first() else {
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

fn obey(mut asked: UnixStream, agent: Pid) {
    let mut request = [0; 8];
    while asked.read_exact(&mut request).is_ok() {
        let _ = killpg(agent, Signal::SIGTERM);
        // One that is stopped hears nothing.
        let _ = killpg(agent, Signal::SIGCONT);
        // No time at all would be for ever.
        let grace = grace_of(request).max(AGAIN);
        if asked.set_read_timeout(Some(grace)).is_err() {
            break;
        }
    }
    kill_for_ever(agent);
}

fn wait_for(agent: Pid) -> Option<HowEnded> {
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => {
                return Some(HowEnded::Exited(code));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => {
                return Some(HowEnded::Signalled(signal as i32));
            }
            // A signal without a name is an error, and the agent is gone.
            Err(Errno::EINVAL) if kill(agent, None).is_err() => {
                return Some(HowEnded::Signalled(REAL_TIME));
            }
            Err(Errno::ECHILD) => return None,
            Ok(_) | Err(_) => {}
        }
    }
}

fn leave_nothing(agent: Pid) {
    let began = Instant::now();
    let mut asked = false;
    loop {
        let mut last = waitpid(None, Some(WaitPidFlag::WNOHANG));
        while matches!(last, Ok(status) if status != WaitStatus::StillAlive) {
            last = waitpid(None, Some(WaitPidFlag::WNOHANG));
        }
        let childless = last == Err(Errno::ECHILD);
        // Where orphans are not ours to wait for, their group tells whether they are there.
        let alone = killpg(agent, None).is_err();
        if childless && (alone || began.elapsed() >= PATIENCE) {
            return;
        }
        if began.elapsed() >= LEFTOVERS {
            signal_each(agent, Signal::SIGKILL);
        } else if !asked {
            signal_each(agent, Signal::SIGTERM);
            asked = true;
        }
        thread::sleep(AGAIN);
    }
}

fn kill_for_ever(agent: Pid) {
    loop {
        signal_each(agent, Signal::SIGKILL);
        thread::sleep(AGAIN);
    }
}

fn signal_each(agent: Pid, signal: Signal) {
    let _ = killpg(agent, signal);
    for pid in descendants(Pid::this()) {
        let _ = kill(pid, signal);
    }
}
