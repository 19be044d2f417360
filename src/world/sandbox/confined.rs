//! The hidden way into the program: the child that confines itself and runs a command.
//!
//! Started by a launcher alone, with a socket for standard input. Where there are pid namespaces
//! it starts itself once more, as the first process of one: when that process ends, the kernel
//! kills all that is left in it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};

use nix::sys::stat::{Mode, umask};
use nix::unistd::{close, setsid};
use serde::{Deserialize, Serialize};

use super::confinement::{Confinement, Namespace};
use super::platform;
use super::supervise::supervise;
use super::wire::{Entered, Setting};
use crate::base::process::{Report, become_supervisor, receive, send};

/// The first argument of a confined child.
pub(super) const CONFINED: &str = "__confined";

/// The whole environment of a confined child, which is not the command's.
///
/// A build that counts which of its lines are reached would leave its counts wherever it runs.
pub(super) const ENVIRONMENT: [(&str, &str); 1] = [("LLVM_PROFILE_FILE", "/dev/null")];

/// This very program, whatever has become of its file.
const SELF: &str = "/proc/self/exe";

/// Runs as a confined child if these are the arguments of one.
pub fn confined(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    if args.next()? != CONFINED {
        return None;
    }
    let done = match args.next() {
        None => outer(),
        Some(born) => inner(&born),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Leaves everything that came from outside but the standard streams, and enters namespaces.
fn outer() -> io::Result<()> {
    close_others()?;
    // Another session has no terminal to be typed into.
    setsid()?;
    umask(Mode::from_bits_truncate(0o022));
    let mut socket = socket()?;
    let setting: Setting = receive(&mut socket)?;
    let ids = platform::ids();
    let done = platform::enter(&setting).and_then(|entered| {
        if entered.namespaces.contains(&Namespace::Pid) {
            first_of_its_own(&socket, &Born { entered, ids })
        } else {
            become_supervisor()?;
            supervise(socket.try_clone()?, entered)
        }
    });
    done.or_else(|error| refuse(&mut socket, &error))
}

/// What the first process of a pid namespace is born with.
#[derive(Debug, Serialize, Deserialize)]
struct Born {
    entered: Entered,
    /// Who the command is to be.
    ids: (u32, u32),
}

fn first_of_its_own(socket: &UnixStream, born: &Born) -> io::Result<()> {
    let mut child = Command::new(SELF)
        .arg(CONFINED)
        .arg(serde_json::to_string(born)?)
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::from(OwnedFd::from(socket.try_clone()?)))
        .spawn()?;
    child.wait().map(|_| ())
}

/// Runs the command as the first process of a pid namespace.
fn inner(born: &OsString) -> io::Result<()> {
    let born: Born = serde_json::from_str(born.to_str().unwrap_or_default())?;
    let mut socket = socket()?;
    match platform::settle_first(&born.entered.namespaces, born.ids) {
        Ok(()) => supervise(socket, born.entered),
        Err(error) => refuse(&mut socket, &error),
    }
}

fn refuse(socket: &mut UnixStream, error: &io::Error) -> io::Result<()> {
    let why = format!("the command could not be confined: {error}");
    send(socket, &Report::<Confinement>::NotStarted(why))
}

/// The socket that is the standard input, under a number that no program inherits.
fn socket() -> io::Result<UnixStream> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Closes what whoever started the program had left open, which would pass to the command.
fn close_others() -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/dev/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in open {
        // The directory's own number is among them, and closed already.
        let _ = close(number);
    }
    Ok(())
}
