//! A command with everything about it decided, so that nothing is left to where it is run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What begins the names of orders by which reviewers are asked.
const REVIEWER: &str = "reviewer ";

/// How long is waited before a reviewer is asked a second time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest that is waited before a reviewer is asked again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// One command, everything about it decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The check that asks, for messages.
    pub name: String,
    /// The program, by its absolute path, and its arguments; never a shell's line.
    pub argv: Vec<String>,
    /// The whole environment: nothing is inherited. `TMPDIR` alone is added when it is not here.
    pub env: BTreeMap<String, String>,
    /// Variables that are added with the values that they have when it is run, and that are
    /// recorded nowhere: keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Where it runs, relative to the scratch copy; empty for its root.
    pub dir: String,
    /// What it reads from standard input; nothing at all when empty.
    pub stdin: String,
    /// How long it may take, in milliseconds; of a service, until it is ready.
    pub timeout_ms: u64,
    /// How many bytes it may write to stdout and stderr together.
    pub output_bytes: u64,
    /// Absolute paths that may be written beside the scratch copy.
    pub writable: Vec<String>,
    /// What it may reach.
    pub network: Network,
    /// Files of the scratch copy that are removed before the start and read after the end.
    pub reports: Vec<String>,
    /// What is changed in the scratch copy before the start, by whoever makes that copy.
    pub edits: Vec<Edit>,
    /// Which try this is, for retries.
    pub round: u32,
}

/// A file's new text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, relative to the scratch copy.
    pub path: String,
    /// All that it holds from then on.
    pub text: String,
}

/// What a command may reach by network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing: a network namespace in which no interface is up, and no TCP by Landlock.
    ///
    /// That goes for a server and a client within the command too. Where there is Landlock and no
    /// namespace, UDP remains open.
    #[default]
    None,
    /// TCP by these ports alone.
    ///
    /// The network is the machine's own, since services are asked over it. Landlock knows ports
    /// and no addresses, and TCP alone: the same ports of other machines, and UDP, remain open. Any
    /// free port, which a server asks for as port 0, is none of these.
    Loopback {
        /// The ports that may be connected to and bound.
        ports: Vec<u16>,
    },
    /// Everything.
    Any,
}

impl Order {
    /// The name of the order of this reviewer; no check has one with a space.
    #[must_use]
    pub fn name_of_reviewer(reviewer: &str) -> String {
        format!("{REVIEWER}{reviewer}")
    }

    /// Whether a reviewer is asked by it.
    #[must_use]
    pub fn is_of_reviewer(&self) -> bool {
        self.name.starts_with(REVIEWER)
    }

    /// How long is waited before it is run: of a reviewer who is asked again, longer each time.
    #[must_use]
    pub fn pause(&self) -> Duration {
        match self.round.checked_sub(1) {
            Some(again) if self.is_of_reviewer() => {
                LONGEST_PAUSE.min(FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(again)))
            }
            _ => Duration::ZERO,
        }
    }

    /// How long it may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it wrote to stdout; both together hold at most what the order allows.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr.
    pub stderr: Vec<u8>,
    /// What each report held; nothing where no regular file of at most 16 MiB was there.
    pub reports: BTreeMap<String, Option<Vec<u8>>>,
    /// What was in force.
    pub confinement: Confinement,
    /// How long it took, with its start and what had to be cleared away.
    pub millis: u64,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It exited by itself, with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It was killed because its time was over, whatever its exit code was then.
    TimedOut,
    /// It was killed because it wrote more than it may.
    TooMuchOutput,
    /// It never ran, for this reason.
    NotStarted(String),
    /// It ran, and what it said is kept from everybody, for this reason.
    Withheld(String),
}

impl End {
    /// Whether it exited by itself with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

/// What was in force while a command ran.
///
/// The default is nothing beyond a process group of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Confinement {
    /// The version of Landlock's interface that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landlock: Option<u32>,
    /// The namespaces that were its own.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub namespaces: BTreeSet<Namespace>,
    /// Whether all but its own places was mounted read-only: then owners, modes and times of other
    /// files stay too, which Landlock leaves alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

/// A namespace of the kernel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Namespace {
    /// Its processes see no others, and all end with the first.
    Pid,
    /// No network interface is up in it.
    Net,
    /// System V and POSIX message queues and shared memory.
    Ipc,
    /// What is mounted where.
    Mount,
    /// Whose privileges hold nowhere else; what a user without privileges needs for the others.
    User,
}

/// What may be used to confine a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// Namespaces.
    pub namespaces: bool,
    /// Landlock.
    pub landlock: bool,
}

impl Means {
    /// Everything that the kernel offers.
    pub const ALL: Self = Self {
        namespaces: true,
        landlock: true,
    };
}

impl Confinement {
    /// Whether this is less than `before`, as far as it concerns an order with this network.
    ///
    /// The namespace of users confines nothing by itself, and the privileged do without it.
    #[must_use]
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

    /// Whether writes outside its places were refused.
    #[must_use]
    pub fn bounds_writes(&self) -> bool {
        self.landlock.is_some()
    }

    /// Whether TCP was refused where the order did not allow it.
    #[must_use]
    pub fn bounds_tcp(&self) -> bool {
        const FIRST_WITH_TCP: u32 = 4;
        self.namespaces.contains(&Namespace::Net)
            || self.landlock.is_some_and(|abi| abi >= FIRST_WITH_TCP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str, round: u32) -> Order {
        Order {
            name: name.to_owned(),
            argv: Vec::new(),
            env: BTreeMap::new(),
            pass: Vec::new(),
            dir: String::new(),
            stdin: String::new(),
            timeout_ms: 1,
            output_bytes: 1,
            writable: Vec::new(),
            network: Network::None,
            reports: Vec::new(),
            edits: Vec::new(),
            round,
        }
    }

    #[test]
    fn a_reviewer_is_asked_again_after_ever_longer_pauses_and_a_check_at_once() {
        let reviewer = Order::name_of_reviewer("skeptic");
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
