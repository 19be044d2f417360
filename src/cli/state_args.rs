//! The argument that selects quests by their states.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::session::State;

#[derive(Debug, Default, Args)]
pub(super) struct StateArgs {
    /// Only quests in these states
    #[arg(
        long = "state",
        value_name = "STATE,STATE…",
        value_delimiter = ',',
        ignore_case = true,
        value_parser = state()
    )]
    pub(super) states: Vec<State>,
}

fn state() -> impl TypedValueParser<Value = State> {
    let value = |name: &'static str, help: &'static str| PossibleValue::new(name).help(help);
    let values = [
        value("pass", "Proven"),
        value("review", "For a person"),
        value("done", "Tries used up"),
        value("todo", "To be worked on"),
    ];
    PossibleValuesParser::new(values).map(|name| match &*name.to_lowercase() {
        "pass" => State::Pass,
        "review" => State::Review,
        "done" => State::Done,
        _ => State::Todo,
    })
}
