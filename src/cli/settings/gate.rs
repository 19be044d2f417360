//! The table `[gate]`: how strict the gate is, frozen by `scan`.

use super::{Table, Values, no_key};
use crate::cli::exit::{Hinted, UsageError};
use crate::cli::rules::unknown;
use crate::gate::{Level, Levels, Rule, common_rules};

#[derive(Debug, Default)]
pub(in crate::cli) struct GateTable {
    pub(in crate::cli) role_only: bool,
    levels: Vec<(String, Level)>,
}

impl Table for GateTable {
    const NAME: &'static str = "gate";

    fn set(&mut self, key: &str, values: Values<'_>) -> Result<(), String> {
        match key {
            "role-only" => self.role_only = values.is_true()?,
            "level" => self.levels = values.all_by(level)?,
            _ => return no_key(key),
        }
        Ok(())
    }
}

fn level(text: &str) -> Result<(String, Level), &'static str> {
    let (rule, level) = text
        .split_once('=')
        .ok_or("expected RULE=review or RULE=fail")?;
    let level = match level.to_ascii_lowercase().as_str() {
        "review" => Level::Review,
        "fail" => Level::Fail,
        _ => return Err("the level must be review or fail; no rule can be switched off"),
    };
    Ok((rule.to_owned(), level))
}

impl GateTable {
    pub(in crate::cli) fn known_levels(&self, rules: &[Rule]) -> Result<Levels, Hinted> {
        let mut levels = Levels::new();
        for (name, level) in &self.levels {
            let is_named = |rule: &&Rule| rule.id.as_str() == name;
            if let Some(rule) = rules.iter().find(is_named) {
                levels.insert(rule.id.clone(), *level);
            } else if common_rules::rules().iter().any(|rule| is_named(&rule)) {
                let message = format!("gate.level: the level of {name} cannot be changed");
                return Err(UsageError(message).hint("`comail rules` lists the other rules"));
            } else {
                let Hinted { message, hint } = unknown(rules, name);
                return Err(UsageError(format!("gate.level: {message}")).hint(hint));
            }
        }
        Ok(levels)
    }
}
