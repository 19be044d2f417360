//! A commented configuration file, made of the flags' own help.

use super::key::{KEYS, Key};
use super::places::Author;

const HEAD: &str = "\
# Defaults of comail, for a person's commands: scan, run, status, export, report, log, insights.
# `comail next`, `submit`, `audit` and all else that judges read the session of your own file, and
# nothing more.
#
# It is comail.toml in the project (here or above, up to the root of the repository), and
# config.toml in ~/.config/comail for all that you do. A flag counts before a variable of the
# environment, that before the project's file, and that before yours. `comail config` tells what
# is in force. What is marked (yours) may not stand in a project's file: agents may write there.
";

/// The file.
pub(in crate::cli) fn example(root: &clap::Command) -> String {
    let mut text = HEAD.to_owned();
    let mut table = None;
    for key in &KEYS {
        let Some(argument) = key.argument(root) else {
            continue;
        };
        text.push('\n');
        if key.command != table {
            table = key.command;
            text.extend(["[", key.command.unwrap_or_default(), "]\n"]);
        }
        let help = argument.get_help().map(ToString::to_string);
        let help = help.unwrap_or_default().replace('\n', " ");
        text.extend(["# ", &help, mark(key), "\n"]);
        text.extend(["# ", key.flag, " = ", key.example, "\n"]);
    }
    text
}

fn mark(key: &Key) -> &'static str {
    match key.author {
        Author::User => " (yours)",
        Author::Project => "",
    }
}
