//! What the code itself knows, as topics show it.

use super::checks;
use crate::base::text::wrap;
use crate::cli::exit_codes;
use crate::gate::checks::kind;
use crate::gate::{Rule, house};
use crate::run::agent::Preset;
use crate::session::{EventType, Reason};

/// The widest line, in characters.
const WIDTH: usize = 80;

/// A part of a topic that is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The table of exit codes.
    ExitCodes,
    /// The rules that hold for every gate.
    HouseRules,
    /// The rules of a step of the e-mail gate, by its kind of check.
    StepRules(&'static str),
    /// Every kind of check with its keys and an example.
    Checks,
    /// The types of the ledger's events.
    Events,
    /// The reasons for which runs and starts end.
    Reasons,
    /// The agents whose command line is known.
    Agents,
}

impl Part {
    /// The part that a mark names.
    pub(super) fn named(mark: &str) -> Option<Self> {
        Some(match mark {
            "exit-codes" => Self::ExitCodes,
            "house-rules" => Self::HouseRules,
            "checks" => Self::Checks,
            "events" => Self::Events,
            "reasons" => Self::Reasons,
            "agents" => Self::Agents,
            _ => {
                let kind = kind::named(mark.strip_prefix("rules ")?)?;
                Self::StepRules(kind.name)
            }
        })
    }

    /// Its lines.
    pub(super) fn lines(self) -> Vec<String> {
        match self {
            Self::ExitCodes => exit_codes::lines(),
            Self::HouseRules => rules(&house::rules()),
            Self::StepRules(kind) => rules(kind::named(kind).map_or(&[], |it| it.rules())),
            Self::Checks => checks::lines(),
            Self::Events => names(EventType::ALL.map(EventType::name)),
            Self::Reasons => names(Reason::ALL.map(|it| it.to_string())),
            Self::Agents => names(Preset::ALL.map(|it| it.name)),
        }
    }
}

fn names<S: AsRef<str>>(all: impl IntoIterator<Item = S>) -> Vec<String> {
    let all: Vec<String> = all.into_iter().map(|it| it.as_ref().to_owned()).collect();
    let lines = wrap(&all.join(", "), WIDTH - 4).into_iter();
    lines.map(|line| format!("    {line}")).collect()
}

fn rules(rules: &[Rule]) -> Vec<String> {
    const COLUMN: usize = 33;
    let lines = rules.iter().flat_map(|rule| {
        let meaning = wrap(&rule.meaning, WIDTH - COLUMN).into_iter();
        let head = format!("  {:22}  {:6}", rule.id, rule.level);
        let heads = std::iter::once(head).chain(std::iter::repeat(String::new()));
        heads
            .zip(meaning)
            .map(|(head, words)| format!("{head:COLUMN$}{words}"))
    });
    lines.collect()
}
