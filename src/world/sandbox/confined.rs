//! The hidden way into the program: the child that confines itself and runs a command.
//!
//! Started by a launcher alone, with a socket for standard input. Where there are pid namespaces
//! it starts itself once more, as the first process of one: when that process ends, the kernel
//! kills all that is left in it.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, close, setsid};
use serde::{Deserialize, Serialize};

use super::order::{Confinement, Namespace};
use super::platform;
use super::wire::{Entered, Instructions, Setting};
use crate::base::process::{Reach, Report, become_supervisor, receive, send, wait_for};

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

/// What is limited as far as the system does, and how much of it there has to be.
const LIMITS: [(Resource, rlim_t); 5] = [
    (Resource::RLIMIT_AS, 512 << 20),
    (Resource::RLIMIT_DATA, 256 << 20),
    (Resource::RLIMIT_NOFILE, 64),
    (Resource::RLIMIT_NPROC, 16),
    (Resource::RLIMIT_CPU, 60),
];

/// How large a stack is, as systems commonly have it.
const STACK_BYTES: rlim_t = 8 << 20;

/// Starts the command that the socket brings, and tells how it ended.
pub(super) fn supervise(mut socket: UnixStream, entered: Entered) -> io::Result<()> {
    let mut instructions: Instructions = receive(&mut socket)?;
    if let Some(moved) = &entered.moved {
        instructions.dir = moved.seen(&instructions.dir);
    }
    let stdin = std::mem::take(&mut instructions.stdin);
    let alone = entered.namespaces.contains(&Namespace::Pid);
    let teller = socket.try_clone()?;
    let mut child = match start(instructions, !stdin.is_empty(), entered, teller) {
        Ok(child) => child,
        Err(why) => {
            return send(
                &mut socket,
                &Report::<Confinement>::NotStarted(why.to_string()),
            );
        }
    };
    let program = Pid::from_raw(child.id().cast_signed());
    if let Some(mut pipe) = child.stdin.take() {
        // It may well end without having read all.
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

/// Starts the program from a thread that is restricted, which this process is not: so the program
/// can neither signal nor look into whoever tells what became of it.
///
/// What is in force is told first: a program that ends us where nothing keeps it from that is not
/// to be taken for one that never ran.
fn start(
    instructions: Instructions,
    reads: bool,
    entered: Entered,
    mut teller: UnixStream,
) -> Result<Child, Box<dyn Error + Send + Sync>> {
    allow_what_may_be()?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(
        Resource::RLIMIT_FSIZE,
        instructions.file_bytes,
        instructions.file_bytes,
    )?;
    let (program, args) = instructions.argv.split_first().ok_or("no program")?;
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(&instructions.env)
        .current_dir(&instructions.dir)
        .process_group(0)
        .stdin(if reads { Stdio::piped() } else { Stdio::null() });
    let restricted = thread::Builder::new().spawn(move || {
        let landlock = platform::restrict(&instructions, &entered.namespaces)?;
        let confinement = Confinement {
            landlock,
            namespaces: entered.namespaces,
            read_only: entered.read_only,
        };
        send(&mut teller, &Report::Started(confinement))?;
        Ok(command.spawn()?)
    })?;
    restricted
        .join()
        .unwrap_or_else(|_| Err("the thread that starts it ended".into()))
}

/// Takes back the limits that whoever started us has set for itself, so that none of them decides
/// what a command says.
fn allow_what_may_be() -> Result<(), Box<dyn Error + Send + Sync>> {
    for (resource, fewest) in LIMITS {
        let (_, hard) = getrlimit(resource)?;
        if hard < fewest {
            return Err(
                format!("{resource:?} is at most {hard} here, and {fewest} is needed").into(),
            );
        }
        setrlimit(resource, hard, hard)?;
    }
    // Threads take as much of it each: no limit at all is the wrong one for them.
    let (_, hard) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, hard.min(STACK_BYTES), hard)?;
    Ok(())
}
