//! Confines a coding agent: it keeps its user, network and environment, but may use only the
//! directories that it was granted.
//!
//! The agent is started through this program with a hidden first argument. That process restricts
//! itself, and then becomes the agent. Where the kernel allows it, this happens in a pid namespace
//! ([`Alone`]): the agent cannot name any process outside it, and the kernel ends the rest.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use super::api::{Grants, Namespace};
use super::confined::{SELF, close_others};
use super::platform;

// The hidden first argument.
const GRANTED: &str = "__granted";

impl Grants {
    /// The command line that starts an agent with these grants.
    pub fn command_line(&self, argv: &[OsString]) -> Result<Vec<OsString>, serde_json::Error> {
        let grants = serde_json::to_string(self)?;
        let first = [SELF.into(), GRANTED.into(), grants.into()];
        Ok(first.into_iter().chain(argv.iter().cloned()).collect())
    }

    /// The version of Landlock that would confine an agent, or 0 if it is not used. The error says why
    /// the agent cannot be confined.
    pub fn probe(&self) -> Result<u32, String> {
        let line = self.command_line(&[]).map_err(|error| error.to_string())?;
        let done = Command::new(&line[0]).args(&line[1..]).output();
        let done = done.map_err(|error| error.to_string())?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match said(&done.stdout).parse() {
            Ok(version) if done.status.success() => Ok(version),
            _ => Err(said(&done.stderr)),
        }
    }
}

/// The namespaces of one start of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alone {
    namespaces: BTreeSet<Namespace>,
    /// The user and the group of the agent.
    ids: (u32, u32),
}

impl Alone {
    /// Makes the next child the first process of a pid namespace; none if the kernel refuses such a
    /// namespace to this user. The calling process must have one thread.
    pub fn enter() -> io::Result<Option<Self>> {
        let ids = platform::ids();
        let namespaces = platform::enter_alone()?;
        let is_alone = namespaces.contains(&Namespace::Pid);
        Ok(is_alone.then_some(Self { namespaces, ids }))
    }

    /// Prepares that child for an agent with these grants.
    pub fn settle(&self, grants: &mut Grants) -> io::Result<()> {
        let mounts = self.namespaces.contains(&Namespace::Mount) && !grants.own_sandbox;
        grants.alone = mounts && platform::furnish(grants);
        platform::settle_first(&self.namespaces, self.ids)
    }
}

/// Runs as the process that becomes an agent if `args` are those of one.
pub fn granted(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    if args.next()? != GRANTED {
        return None;
    }
    let grants = args.next().unwrap_or_default();
    Some(match become_agent(&grants, args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            // The exit code of a shell that cannot start a program.
            ExitCode::from(126)
        }
    })
}

fn become_agent(
    grants: &OsString,
    mut argv: impl Iterator<Item = OsString>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let grants: Grants = serde_json::from_slice(grants.as_encoded_bytes())?;
    // Landlock does not apply to open files.
    close_others()?;
    let version = platform::confine(&grants)?;
    let Some(program) = argv.next() else {
        writeln!(std::io::stdout(), "{version}")?;
        return Ok(());
    };
    let failed = Command::new(&program).args(argv).exec();
    Err(format!("cannot start {}: {failed}", program.display()).into())
}
