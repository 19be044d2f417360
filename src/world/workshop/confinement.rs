//! What confines a command: what may be used, and what was in force.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

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
