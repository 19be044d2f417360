//! What confines a command: what may be used, and what was in force.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::order::Network;

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
