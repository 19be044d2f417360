//! The flags of `scan` that freeze how the gate judges.

use std::str::FromStr;

use anyhow::Result;
use clap::Args;

use super::exit::UsageError;
use super::network_args::NetworkArgs;
use crate::gate::email::settings::EmailSettings;
use crate::gate::{Level, Levels, Rule, house};

/// How the gate judges.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gate, frozen for the session")]
pub struct GateArgs {
    /// Leave an address that reads as a person's to a person
    #[arg(long, conflicts_with = "update")]
    role_only: bool,

    /// Set a rule's level to review or fail (repeatable); see `comail rules`
    #[arg(long = "level", value_name = "RULE=LEVEL", conflicts_with = "update")]
    levels: Vec<LevelArg>,
}

/// One `--level`.
#[derive(Debug, Clone)]
struct LevelArg {
    rule: String,
    level: Level,
}

impl FromStr for LevelArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rule, level) = text
            .split_once('=')
            .ok_or("it is written RULE=review or RULE=fail")?;
        let level = match level.to_ascii_lowercase().as_str() {
            "review" => Level::Review,
            "fail" => Level::Fail,
            _ => return Err("a level is review or fail; no rule can be switched off".into()),
        };
        Ok(Self {
            rule: rule.to_owned(),
            level,
        })
    }
}

impl GateArgs {
    /// The settings of the e-mail gate, to freeze.
    #[must_use]
    pub fn email(&self, network: &NetworkArgs, levels: Levels) -> EmailSettings {
        EmailSettings {
            role_only: self.role_only,
            robots: network.robots(),
            allow_net: network.allow_net().to_vec(),
            levels,
        }
    }

    /// The levels that were set, of a gate with these rules.
    ///
    /// # Errors
    ///
    /// A usage error for a rule that the gate has not; it names the nearest.
    pub fn known_levels(&self, rules: &[Rule]) -> Result<Levels> {
        let mut levels = Levels::new();
        for LevelArg { rule, level } in &self.levels {
            let known = rules.iter().find(|known| known.id.as_str() == rule);
            let Some(known) = known else {
                if house::rules().iter().any(|own| own.id.as_str() == rule) {
                    let text = format!("{rule} is FAIL for every gate, and has no other level");
                    return Err(UsageError(text).into());
                }
                let near = rules.iter().max_by(|one, two| {
                    let likeness = |id: &str| strsim::jaro_winkler(id, rule);
                    likeness(one.id.as_str()).total_cmp(&likeness(two.id.as_str()))
                });
                let near = near.map_or("", |rule| rule.id.as_str());
                let text = format!(
                    "there is no rule {rule:?}: did you mean {near}? `comail rules` lists them"
                );
                return Err(UsageError(text).into());
            };
            levels.insert(known.id.clone(), *level);
        }
        Ok(levels)
    }
}
