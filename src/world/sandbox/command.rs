//! One command, with everything about it decided before it runs, and its result.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

const REVIEWER: &str = "reviewer ";

const FIRST_PAUSE: Duration = Duration::from_millis(500);

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// One command. It is part of the evidence, so it has to describe the run completely.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// The check that runs it.
    pub name: String,
    /// The absolute path of the program, and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// The whole environment: nothing is inherited. Only `TMPDIR` is added if it is missing.
    pub env: BTreeMap<String, String>,
    /// Environment variables with secret values, such as keys. They are added when the command
    /// runs, and their values are recorded nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// The working directory, relative to the scratch copy.
    pub dir: String,
    pub stdin: String,
    /// For a service, the time until it must be ready.
    pub timeout_ms: u64,
    /// The most bytes that stdout and stderr may have together.
    pub output_bytes: u64,
    /// Absolute paths that it may write to, in addition to the scratch copy.
    pub writable: Vec<String>,
    pub network: Network,
    /// Files of the scratch copy that are removed before it starts and read after it ends.
    pub reports: Vec<String>,
    /// Changes that are made to the scratch copy before it starts.
    pub edits: Vec<Edit>,
    /// The number of earlier tries. It keeps the evidence of retries apart.
    pub round: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// A network namespace in which no interface is up, and no TCP by Landlock. Even a server and
    /// a client inside the command cannot talk. With Landlock alone, UDP remains open.
    #[default]
    None,
    /// Only these TCP ports, in the machine's own network, because checks call services over it.
    /// Landlock restricts ports, not addresses, and only TCP: the same ports of other machines, and
    /// UDP, remain open. Port 0, with which a server asks for any free port, is refused.
    Loopback {
        ports: Vec<u16>,
    },
    Any,
}

impl CommandSpec {
    pub fn name_of_reviewer(reviewer: &str) -> String {
        format!("{REVIEWER}{reviewer}")
    }

    pub fn is_of_reviewer(&self) -> bool {
        self.name.starts_with(REVIEWER)
    }

    pub fn pause(&self) -> Duration {
        match self.round.checked_sub(1) {
            Some(again) if self.is_of_reviewer() => {
                LONGEST_PAUSE.min(FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(again)))
            }
            _ => Duration::ZERO,
        }
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// What came of a command. `B` is an output: its bytes, or in evidence the digest by which it is
/// kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandResult<B = Vec<u8>> {
    pub end: End,
    pub stdout: B,
    pub stderr: B,
    /// None for a report that is missing, not a regular file, or larger than 16 MiB.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Option<B>>,
    pub confinement: Confinement,
    pub millis: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    TooMuchOutput,
    NotStarted(String),
    /// It ran, but its output contains a secret and cannot be kept.
    Withheld(String),
}

impl CommandResult {
    /// The result of a command that never ran.
    pub fn not_started(order: &CommandSpec, why: impl Into<String>) -> Self {
        let reports = order.reports.iter().map(|name| (name.clone(), None));
        Self {
            reports: reports.collect(),
            ..Self::without_reports(why.into())
        }
    }

    pub fn without_reports(why: String) -> Self {
        Self {
            end: End::NotStarted(why),
            stdout: Vec::new(),
            stderr: Vec::new(),
            reports: BTreeMap::new(),
            confinement: Confinement::default(),
            millis: 0,
        }
    }
}

impl<B> CommandResult<B> {
    pub fn with_body<C, E>(
        self,
        mut convert: impl FnMut(B) -> Result<C, E>,
    ) -> Result<CommandResult<C>, E> {
        let mut reports = BTreeMap::new();
        for (name, body) in self.reports {
            reports.insert(name, body.map(&mut convert).transpose()?);
        }
        Ok(CommandResult {
            end: self.end,
            stdout: convert(self.stdout)?,
            stderr: convert(self.stderr)?,
            reports,
            confinement: self.confinement,
            millis: self.millis,
        })
    }
}

impl End {
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

/// What was in force while a command ran. The default is nothing but a process group of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Confinement {
    /// The version of Landlock's interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landlock: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub namespaces: BTreeSet<Namespace>,
    /// Whether everything else was mounted read-only. That also protects owners, modes and times
    /// of files, which Landlock does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Namespace {
    /// Its processes see no others, and the kernel ends them with the first one.
    Pid,
    Net,
    Ipc,
    Mount,
    /// A user without privileges needs it for the others.
    User,
}

/// The features of the kernel that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Means {
    pub namespaces: bool,
    pub landlock: bool,
}

impl Means {
    pub const ALL: Self = Self {
        namespaces: true,
        landlock: true,
    };
}

impl Confinement {
    /// Whether this is less than `before` for a command with this network. The user namespace
    /// does not count: it confines nothing by itself, and root does without it.
    pub fn is_less(&self, before: &Self, network: &Network) -> bool {
        let asked = |namespace: &&Namespace| match namespace {
            Namespace::User => false,
            Namespace::Net => *network == Network::None,
            Namespace::Pid | Namespace::Ipc | Namespace::Mount => true,
        };
        let mut missing = before.namespaces.difference(&self.namespaces);
        (before.landlock.is_some() && self.landlock.is_none())
            || (before.read_only && !self.read_only)
            || missing.any(|one| asked(&one))
    }

    pub fn bounds_writes(&self) -> bool {
        self.landlock.is_some()
    }

    pub fn bounds_tcp(&self) -> bool {
        const FIRST_WITH_TCP: u32 = 4;
        self.namespaces.contains(&Namespace::Net)
            || self.landlock.is_some_and(|abi| abi >= FIRST_WITH_TCP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str, round: u32) -> CommandSpec {
        CommandSpec {
            name: name.to_owned(),
            round,
            ..CommandSpec::default()
        }
    }

    #[test]
    fn a_reviewer_is_asked_again_after_ever_longer_pauses_and_a_check_at_once() {
        let reviewer = CommandSpec::name_of_reviewer("skeptic");
        let pauses = [0, 1, 2, 3, 9, 99].map(|round| order(&reviewer, round).pause().as_millis());
        assert_eq!(pauses, [0, 500, 1000, 2000, 30_000, 30_000]);
        assert_eq!(order("build", 2).pause(), Duration::ZERO);
    }

    #[test]
    fn less_is_what_was_there_and_was_asked_for() {
        use Namespace::{Ipc, Mount, Net, Pid, User};

        let of = |landlock, namespaces: &[Namespace]| Confinement {
            landlock,
            namespaces: namespaces.iter().copied().collect(),
            read_only: false,
        };
        let sealed = Confinement {
            read_only: true,
            ..of(Some(6), &[Pid])
        };
        assert!(of(Some(6), &[Pid]).is_less(&sealed, &Network::None));
        assert!(!sealed.is_less(&of(Some(6), &[Pid]), &Network::None));
        let open = Network::Loopback { ports: vec![80] };
        let before = of(Some(6), &[Pid, Net, Ipc, Mount, User]);
        for (now, alone, with_ports) in [
            (before.clone(), false, false),
            (of(Some(6), &[Pid, Net, Ipc, Mount]), false, false),
            (of(Some(6), &[Pid, Ipc, Mount, User]), true, false),
            (of(Some(6), &[Net, Ipc, Mount, User]), true, true),
            (of(None, &[Pid, Net, Ipc, Mount, User]), true, true),
            (Confinement::default(), true, true),
        ] {
            assert_eq!(now.is_less(&before, &Network::None), alone, "{now:?}");
            assert_eq!(now.is_less(&before, &open), with_ports, "{now:?}");
            assert!(!now.is_less(&Confinement::default(), &open), "{now:?}");
        }
    }
}
