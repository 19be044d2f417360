//! What the operator chose for the gate of a quest file at scan.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::gate::Levels;
use crate::world::fetch::settings::RobotsPolicy;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSettings {
    pub robots: RobotsPolicy,
    /// Networks that count as reachable although they are not public.
    pub allow_net: Vec<IpNet>,
    pub levels: Levels,
    /// Whether an address that reads as a person's is for a person to judge: the built-in kind's
    /// operator says so at scan, a quest file in its own check.
    #[serde(default)]
    pub role_only: bool,
}
