//! The commands in groups, as `comail --help` lists them.
//!
//! The parser knows but one list of commands; the groups are made from this table and from what
//! each command says of itself, so that a command is described in one place. A new command is
//! added to one group by its name, and a test tells whoever forgets it.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use clap::Command;

/// Every command that is shown, each in one group.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Setting up", &["scan", "quest", "prove", "demo"]),
    ("Working (agents)", &["next", "submit", "run", "hook"]),
    (
        "Watching and settling",
        &[
            "status", "insights", "log", "claims", "review", "recheck", "dispute", "release",
            "resume", "forget",
        ],
    ),
    (
        "Checking and handing over",
        &["export", "report", "audit", "rules"],
    ),
    (
        "Tools",
        &[
            "doctor",
            "config",
            "prompt",
            "schema",
            "completions",
            "man",
            "help",
        ],
    ),
];

/// What is said of the command that the parser adds by itself.
const HELP: &str = "Print this, or the help of a command";

/// The parser, whose help lists its commands in groups.
pub(super) fn grouped(parser: Command) -> Command {
    let header = parser.get_styles().get_header();
    let mut template =
        String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (title, names) in GROUPS {
        let _ = writeln!(template, "{header}{title}:{header:#}");
        for name in *names {
            template.extend(line(&parser, name));
        }
        template.push('\n');
    }
    let _ = write!(
        template,
        "{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    parser.help_template(template)
}

/// The line of a command; none where this system has no such command.
fn line(parser: &Command, name: &str) -> Option<String> {
    let about = match parser.find_subcommand(name) {
        Some(command) => command.get_about().map(ToString::to_string)?,
        None if name == "help" => HELP.to_owned(),
        None => return None,
    };
    let literal = parser.get_styles().get_literal();
    let width = GROUPS
        .iter()
        .flat_map(|(_, names)| *names)
        .map(|name| name.len());
    let width = width.max().unwrap_or(0);
    let gap = width - name.len();
    Some(format!(
        "  {literal}{name}{literal:#}{:gap$}  {about}\n",
        ""
    ))
}
