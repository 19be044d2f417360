//! What there is help for.

use schemars::JsonSchema;
use serde::Serialize;

use super::topic::TOPICS;
use crate::base::text::wrap;
use crate::cli::output::{Paper, Tone};

/// The widest line, in characters.
const WIDTH: usize = 80;

/// Everything that there is help for.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Index {
    commands: Vec<Named>,
    topics: Vec<Named>,
}

/// A name, and what it is about in one line.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Named {
    name: String,
    about: String,
}

impl Named {
    pub(super) fn new(name: &str, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
        }
    }

    /// The name, and what it is about.
    pub(super) fn into_parts(self) -> (String, String) {
        (self.name, self.about)
    }

    /// A command by its whole name, such as `review accept`.
    pub(super) fn of_command(command: &clap::Command) -> Self {
        let whole = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let about = command.get_about().map(ToString::to_string);
        Self::new(
            whole.strip_prefix("comail ").unwrap_or(whole),
            &about.unwrap_or_default(),
        )
    }
}

impl Index {
    /// The index of a parser that is built.
    pub(super) fn of(parser: &clap::Command) -> Self {
        let commands = parser.get_subcommands().filter(|it| !it.is_hide_set());
        let mut commands: Vec<Named> = commands.map(Named::of_command).collect();
        commands.sort_by(|one, other| one.name.cmp(&other.name));
        let topics = TOPICS.iter().map(|it| Named::new(it.name, it.about));
        Self {
            commands,
            topics: topics.collect(),
        }
    }

    pub(super) fn write(&self, paper: &mut Paper) {
        let names = self.commands.iter().chain(&self.topics);
        let width = names.map(|it| it.name.len()).max().unwrap_or(0);
        for (heading, all) in [("Commands", &self.commands), ("Topics", &self.topics)] {
            let heading = paper.tint(Tone::Strong, &format!("{heading}:"));
            paper.line(heading);
            for Named { name, about } in all {
                let lines = wrap(about, WIDTH - width - 4);
                let names = std::iter::once(name.as_str()).chain(std::iter::repeat(""));
                for (name, line) in names.zip(lines) {
                    paper.line(format!("  {name:width$}  {line}"));
                }
            }
            paper.gap();
        }
        paper.line("comail help NAME  prints one of them; comail COMMAND --help does the same");
    }
}
