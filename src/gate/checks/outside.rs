//! What a quest file needs from outside: files next to it, programs, variables.
//!
//! `scan` gathers all of it and freezes it into the session; afterwards only programs
//! are read from their own place, and their digests must be the frozen ones.

use std::collections::BTreeMap;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::gate::Levels;
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::sandbox::Pinned;

/// Finds what a quest file needs from outside.
pub trait Outside {
    fn asset(&self, name: &str) -> Result<String, Missing>;

    fn program(&self, name: &str) -> Result<Pinned, Missing>;

    /// The variable of this name of the environment in which `scan` ran.
    fn variable(&self, name: &str) -> Result<String, Missing>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);

/// What was gathered at scan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gathered {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assets: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Pinned>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

impl Outside for Gathered {
    fn asset(&self, name: &str) -> Result<String, Missing> {
        found(&self.assets, "file", name)
    }

    fn program(&self, name: &str) -> Result<Pinned, Missing> {
        found(&self.programs, "program", name)
    }

    fn variable(&self, name: &str) -> Result<String, Missing> {
        found(&self.variables, "variable", name)
    }
}

fn found<T: Clone>(all: &BTreeMap<String, T>, what: &str, name: &str) -> Result<T, Missing> {
    let text = || Missing(format!("the session has not frozen the {what} {name:?}"));
    all.get(name).cloned().ok_or_else(text)
}

/// What the operator chose at scan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    pub robots: RobotsPolicy,
    /// Networks that count as reachable although they are not public.
    pub allow_net: Vec<IpNet>,
    pub levels: Levels,
    /// Whether an address that reads as a person's is for a person to judge: the built-in kind's
    /// operator says so at scan, a quest file in its own check.
    #[serde(default)]
    pub role_only: bool,
}
