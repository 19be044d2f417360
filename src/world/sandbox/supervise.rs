//! The process that starts a command, waits for it, and leaves nothing of it behind.

use std::error::Error;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::unistd::Pid;

use super::confinement::{Confinement, Namespace};
use super::platform;
use super::wire::{Entered, Instructions};
use crate::base::process::{Reach, Report, receive, send, wait_for};

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
