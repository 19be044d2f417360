//! The child that confines itself and runs a command.
//!
//! A launcher starts this program again with a hidden argument, and a socket as its standard
//! input. If there are pid namespaces, the child starts itself once more as the first process of
//! one: when that process ends, the kernel kills all others in the namespace.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, close, setsid};
use serde::{Deserialize, Serialize};

use super::api::{Confinement, Namespace};
use super::platform::{self, Entered};
use super::run::{CONFINED, ENVIRONMENT, MAX_FILE_BYTES, Request, remove_report};
use crate::base::process::{Reach, Report, become_supervisor, receive, send, socket, wait_for};

// Works even if the file was replaced or removed since.
pub(super) const SELF: &str = "/proc/self/exe";

/// Runs as a confined child if `args` are those of one.
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

/// Closes inherited files except the standard streams, and enters the namespaces.
fn outer() -> io::Result<()> {
    close_others()?;
    // A new session has no terminal that the command could type into.
    setsid()?;
    umask(Mode::from_bits_truncate(0o022));
    let mut socket = socket()?;
    let request: Request = receive(&mut socket)?;
    let ids = platform::ids();
    let done = platform::enter(&request).and_then(|entered| {
        let mut reports = request.order.reports.iter();
        reports.try_for_each(|report| remove_report(&request.scratch, report))?;
        if entered.namespaces.contains(&Namespace::Pid) {
            first_of_its_own(&socket, &Born { entered, ids })
        } else {
            become_supervisor()?;
            supervise(socket.try_clone()?, entered)
        }
    });
    done.or_else(|error| refuse(&mut socket, &error))
}

/// The argument of the first process of a pid namespace.
#[derive(Debug, Serialize, Deserialize)]
struct Born {
    entered: Entered,
    /// The user and the group of the command.
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

// Files that the caller left open would be inherited by the command.
pub(super) fn close_others() -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/dev/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in open {
        // The descriptor of the directory itself is among them, and already closed.
        let _ = close(number);
    }
    Ok(())
}

/// The limits that are raised as far as the system allows, and the minimum that a command needs.
const LIMITS: [(Resource, rlim_t); 5] = [
    (Resource::RLIMIT_AS, 512 << 20),
    (Resource::RLIMIT_DATA, 256 << 20),
    (Resource::RLIMIT_NOFILE, 64),
    (Resource::RLIMIT_NPROC, 16),
    (Resource::RLIMIT_CPU, 60),
];

const STACK_BYTES: rlim_t = 8 << 20;

/// Starts the command, and reports how it ended.
fn supervise(mut socket: UnixStream, entered: Entered) -> io::Result<()> {
    let mut request: Request = receive(&mut socket)?;
    if let Some(stage) = &entered.stage
        && let Ok(below) = request.dir.strip_prefix(&request.scratch)
    {
        // Collected, because joining an empty path would add a slash.
        request.dir = stage.components().chain(below.components()).collect();
    }
    let stdin = std::mem::take(&mut request.order.stdin);
    let alone = entered.namespaces.contains(&Namespace::Pid);
    let reports = socket.try_clone()?;
    let mut child = match start(request, !stdin.is_empty(), entered, reports) {
        Ok(child) => child,
        Err(why) => {
            let report = Report::<Confinement>::NotStarted(why.to_string());
            return send(&mut socket, &report);
        }
    };
    let program = Pid::from_raw(child.id().cast_signed());
    if let Some(mut pipe) = child.stdin.take() {
        // The command may end without having read all of it.
        thread::spawn(move || pipe.write_all(stdin.as_bytes()));
    }
    let reach = if alone {
        Reach::Namespace
    } else {
        Reach::Tree(program)
    };
    reach.obey(socket.try_clone()?);
    let ended = wait_for(program);
    send(&mut socket, &Report::<Confinement>::Ended(ended))?;
    reach.end_leftovers(Duration::ZERO);
    Ok(())
}

/// Starts the program from a separate thread, and restricts only that thread. This process stays
/// outside the restriction, so the program can neither signal nor inspect it.
fn start(
    request: Request,
    reads: bool,
    entered: Entered,
    mut reports: UnixStream,
) -> Result<Child, Box<dyn Error + Send + Sync>> {
    raise_limits()?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let file_bytes = MAX_FILE_BYTES.max(request.order.output_bytes);
    setrlimit(Resource::RLIMIT_FSIZE, file_bytes, file_bytes)?;
    let (program, args) = request.order.argv.split_first().ok_or("no program")?;
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(&request.order.env)
        .current_dir(&request.dir)
        .process_group(0)
        .stdin(if reads { Stdio::piped() } else { Stdio::null() });
    if let Some((user, group)) = request.user {
        command.uid(user).gid(group);
    }
    let restricted = thread::Builder::new().spawn(move || {
        let landlock = platform::restrict(&request, &entered.namespaces)?;
        let confinement = Confinement {
            landlock,
            namespaces: entered.namespaces,
            read_only: entered.read_only,
            overlay: entered.overlay,
        };
        // Sent before the program runs: without confinement it could kill this process, and would then
        // look like a program that never started.
        send(&mut reports, &Report::Started(confinement))?;
        Ok(command.spawn()?)
    })?;
    restricted
        .join()
        .unwrap_or_else(|_| Err("the thread that starts it ended".into()))
}

/// Removes the soft limits of the caller, so that a command does not fail because of them.
fn raise_limits() -> Result<(), Box<dyn Error + Send + Sync>> {
    for (resource, least) in LIMITS {
        let (_, hard) = getrlimit(resource)?;
        if hard < least {
            return Err(
                format!("{resource:?} is at most {hard} here, and {least} is needed").into(),
            );
        }
        setrlimit(resource, hard, hard)?;
    }
    // Each thread reserves as much as the soft limit, so it must not be raised without bound.
    let (_, hard) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, hard.min(STACK_BYTES), hard)?;
    Ok(())
}
