//! The table `[run]`: budgets and times of `run`.

use std::path::PathBuf;

use super::{Table, Values, no_key};
use crate::run::lessons::Bound;
use crate::run::limits::{
    Limits, parse_cost, parse_count, parse_percent, parse_time, parse_tokens,
};
use crate::run::{FruitlessRules, Pace, detect};
use crate::session::Lease;

#[derive(Debug, Default)]
pub(in crate::cli) struct RunTable {
    pub(in crate::cli) resume: bool,
    pub(in crate::cli) limits: Limits,
    pub(in crate::cli) pace: Pace,
    pub(in crate::cli) fruitless: FruitlessRules,
    pub(in crate::cli) detectors: detect::Settings,
    pub(in crate::cli) lease: Option<Lease>,
    /// The maximum size of the lessons in a prompt.
    pub(in crate::cli) lessons: Bound,
    /// The sessions whose lessons it also contains.
    pub(in crate::cli) lessons_from: Vec<PathBuf>,
    /// Paths that confined agents may also read, and those that they may also change.
    pub(in crate::cli) readable: Vec<PathBuf>,
    pub(in crate::cli) writable: Vec<PathBuf>,
}

impl Table for RunTable {
    const NAME: &'static str = "run";

    fn set(&mut self, key: &str, values: Values<'_>) -> Result<(), String> {
        let limits = &mut self.limits;
        let soft = &mut limits.diminishing;
        match key {
            "resume" => self.resume = values.is_true()?,
            "max-attempts" => limits.quest.starts = Some(values.by(parse_count)?),
            "quest-timeout" => limits.quest.time = Some(values.by(parse_time)?),
            "max-quest-cost" => limits.quest.cost = Some(values.by(parse_cost)?),
            "max-quests" => limits.run.quests = Some(values.by(parse_count)?),
            "max-attempts-total" => limits.run.starts = Some(values.by(parse_count)?),
            "max-tokens-total" => limits.run.tokens = Some(values.by(parse_tokens)?),
            "token-price" => limits.price = values.by(parse_cost)?,
            "diminishing-share" => soft.share = values.by(parse_percent)?,
            "diminishing-turns" => soft.turns = values.by(parse_count)?,
            "diminishing-tokens" => soft.new_tokens = values.by(parse_tokens)?,
            "lease" => self.lease = Some(values.by(str::parse)?),
            "lessons" => self.lessons.lessons = values.within(0, 50)?,
            "lessons-from" => self.lessons_from = values.all_by(str::parse)?,
            "readable" => self.readable = values.all_by(str::parse)?,
            "writable" => self.writable = values.all_by(str::parse)?,
            "poll" => self.pace.poll = values.by(parse_time)?,
            "grace" => self.pace.grace = values.by(parse_time)?,
            "last-call" => self.pace.last_call = values.by(parse_time)?,
            "no-detect" => {
                for detector in values.all_by(str::parse)? {
                    self.detectors = self.detectors.without(detector);
                }
            }
            "detect-warn" => self.detectors.warn = values.within(1, 30)?,
            "detect-stop" => self.detectors.stop = values.within(1, 30)?,
            "fruitless-starts" => self.fruitless.in_a_row = values.within(1, 1000)?,
            "backoff" => self.fruitless.first = values.by(parse_time)?,
            "backoff-most" => self.fruitless.longest = values.by(parse_time)?,
            _ => return no_key(key),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::settings::tests::settings;

    #[test]
    fn a_value_outside_its_bounds_is_refused() {
        for good in [
            "grace=10s",
            "lessons=0",
            "no-detect=poll",
            "token-price=2.50",
        ] {
            let set = settings("run", &[good]).unwrap();
            assert!(set.table::<RunTable>().is_ok(), "{good}");
        }
        for (bad, why) in [
            ("grace=soon", "length of time"),
            ("lessons=51", "from 0 to 50"),
            ("detect-stop=0", "from 1 to 30"),
            ("no-detect=all", "repeat"),
            ("resume=yes", "true or false"),
        ] {
            let set = settings("run", &[bad]).unwrap();
            let error = set.table::<RunTable>().unwrap_err().to_string();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }
}
