//! How `comail run` watches its agents.

use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::run::detect::{Detector, Settings};
use crate::run::limits::Period;
use crate::run::{DyingRules, Pace};

/// How agents are watched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct WatchArgs {
    /// How often is looked where a quest stands [default: 100ms]
    #[arg(long, value_name = "TIME")]
    poll: Option<Period>,

    /// How long an agent that is stopped may take to end before it is killed [default: 5s]
    #[arg(long, value_name = "TIME")]
    grace: Option<Period>,

    /// How long the last call for a quest may take [default: 1m]
    #[arg(long, value_name = "TIME")]
    last_call: Option<Period>,

    /// Do not look for this: repeat, ping-pong, poll or breaker (repeatable)
    #[arg(long, value_name = "KIND", value_parser = detector(), hide_possible_values = true)]
    no_detect: Vec<Detector>,

    /// How many of an agent's last 30 calls that go round in circles are worth a warning
    /// [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=30))]
    detect_warn: Option<u32>,

    /// How many of them end the drive of the quest [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=30))]
    detect_stop: Option<u32>,

    /// How many agents in a row that die at their start end the run [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    breaker: Option<u32>,

    /// The pause after one that died; it doubles with each further one in a row [default: 1s]
    #[arg(long, value_name = "TIME")]
    backoff: Option<Period>,

    /// The longest such pause [default: 1m]
    #[arg(long, value_name = "TIME")]
    backoff_most: Option<Period>,
}

fn detector() -> impl TypedValueParser<Value = Detector> {
    let names = Detector::ALL.map(Detector::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Detector>())
}

impl WatchArgs {
    /// What the detectors go by.
    pub(super) fn detectors(&self) -> Settings {
        let usual = Settings::default();
        let mut settings = usual;
        settings.warn = self.detect_warn.unwrap_or(usual.warn);
        settings.stop = self.detect_stop.unwrap_or(usual.stop);
        let off = self.no_detect.iter();
        off.fold(settings, |settings, detector| settings.without(*detector))
    }

    /// How often is looked, and how long is waited.
    pub(super) fn pace(&self) -> Pace {
        let usual = Pace::default();
        Pace {
            poll: or(self.poll, usual.poll),
            grace: or(self.grace, usual.grace),
            last_call: or(self.last_call, usual.last_call),
        }
    }

    /// What is done about agents that die at their start.
    pub(super) fn dying(&self) -> DyingRules {
        let usual = DyingRules::default();
        DyingRules {
            first: or(self.backoff, usual.first),
            longest: or(self.backoff_most, usual.longest),
            in_a_row: self.breaker.unwrap_or(usual.in_a_row),
            ..usual
        }
    }
}

fn or(given: Option<Period>, usual: Duration) -> Duration {
    given.map_or(usual, Period::duration)
}
