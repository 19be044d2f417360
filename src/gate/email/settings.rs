//! What the operator chose for the e-mail gate at scan.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::gate::Levels;
use crate::world::fetch::settings::RobotsPolicy;

/// The e-mail gate's frozen settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailSettings {
    /// Whether an address that reads as a person's is for a person to judge.
    pub role_only: bool,
    /// Whether robots.txt is obeyed.
    pub robots: RobotsPolicy,
    /// Networks that count as reachable although they are not public.
    pub allow_net: Vec<IpNet>,
    /// The levels that the operator set, by rule.
    pub levels: Levels,
}

impl Default for EmailSettings {
    fn default() -> Self {
        Self {
            role_only: false,
            robots: RobotsPolicy::Obey,
            allow_net: Vec::new(),
            levels: Levels::new(),
        }
    }
}
