//! What stays the same for every judgement of a session: its tree, its programs, its services.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use super::confinement::Confinement;
use super::ready::Ready;
use super::{Launcher, Pinned};
use crate::base::Digest;
use crate::quest::Span;
use crate::quest::template::Template;
use crate::world::tree::{Ignored, Listing, Zones};

/// What stays the same for every judgement of a session.
pub struct Bench {
    /// The working tree; none for quests that are about no files.
    pub root: Option<PathBuf>,
    /// The tree as the session found it.
    pub baseline: Listing,
    /// Where an agent may write in it.
    pub zones: Zones,
    /// What does not belong to it.
    pub ignored: Ignored,
    /// Finds the contents of the baseline's files.
    pub load: Box<Contents>,
    /// Where scratch copies are made; below nothing that a tool would take for its configuration.
    pub scratch: PathBuf,
    /// The programs that may be run.
    pub programs: Vec<Pinned>,
    /// The services that may be started.
    pub services: BTreeMap<String, ServicePlan>,
    /// What starts commands.
    pub launcher: Launcher,
    /// What confined a command when the session was made.
    pub confinement: Confinement,
}

/// Finds contents by their digest.
pub type Contents = dyn Fn(Digest) -> io::Result<Option<Vec<u8>>> + Send + Sync;

/// A server that runs for the time of a judgement.
#[derive(Debug, Clone)]
pub struct ServicePlan {
    /// The program's absolute path, and its arguments; `{{ port }}` is its port.
    pub argv: Vec<Template>,
    /// Its whole environment.
    pub env: BTreeMap<String, Template>,
    /// How it is known that it is ready.
    pub ready: Readiness,
    /// How long it may take to be ready.
    pub within: Span,
}

/// How it is known that a service is ready, before its port is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// Its port is open.
    Port,
    /// This path answers with a status of 2xx.
    Path(String),
    /// A line of its output matches.
    Line(String),
}

impl Readiness {
    /// The same, at this port.
    #[must_use]
    pub fn at(&self, port: u16) -> Ready {
        match self {
            Self::Port => Ready::Tcp { port },
            Self::Path(path) => Ready::Http {
                port,
                path: path.clone(),
            },
            Self::Line(pattern) => Ready::Line {
                pattern: pattern.clone(),
            },
        }
    }
}

impl Bench {
    /// How a program is no longer what the session found, for people; none when it is.
    #[must_use]
    pub fn changed_program(&self, path: &str) -> Option<String> {
        let known = self.programs.iter().find(|it| it.path.as_os_str() == path);
        let Some(pinned) = known else {
            return Some(format!("{path} is none of the session's programs"));
        };
        let change = pinned.changed()?;
        Some(format!(
            "{path} changed since the session was made: {change}"
        ))
    }
}
