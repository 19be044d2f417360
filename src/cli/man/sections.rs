//! The sections of a page that the parser does not know: commands in their groups, and what
//! stands below the options in --help.

use clap::Command;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use super::synopsis;
use crate::cli::help_groups;

/// How the command is called.
pub(super) fn synopsis(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    roff.control("SH", ["SYNOPSIS"]);
    // No flag is hyphenated where a line ends.
    roff.control("nh", []);
    let words = synopsis::words(command).into_iter();
    let words = words.flat_map(|word| [roman(" "), roman(word)]);
    let line: Vec<Inline> = std::iter::once(bold(name)).chain(words).collect();
    roff.text(line);
    roff.control("hy", []);
    roff
}

/// The command's own commands, in the order and the groups of --help.
pub(super) fn commands(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    if super::is_root(command) {
        for (title, names) in help_groups::GROUPS {
            roff.control("SS", [*title]);
            let known = names
                .iter()
                .filter_map(|name| command.find_subcommand(name));
            known.for_each(|inner| entry(&mut roff, inner));
        }
    } else {
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        shown.for_each(|inner| entry(&mut roff, inner));
    }
    roff
}

fn entry(roff: &mut Roff, command: &Command) {
    let name = command.get_display_name().unwrap_or(command.get_name());
    roff.control("TP", []);
    roff.text([bold(name), roman("(1)")]);
    if let Some(about) = command.get_about() {
        roff.text([roman(about.to_string())]);
    }
}

/// The headings that a page has a section of its own for.
const HEADINGS: [(&str, &str); 2] = [("Examples:", "EXAMPLES"), ("Exit codes:", "EXIT STATUS")];

/// The section of all else.
const NOTES: &str = "NOTES";

/// What stands below the options in --help, line by line as it stands there.
pub(super) fn below(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let text = command.get_after_long_help().or(command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    for (heading, lines) in parted(&text) {
        roff.control("SH", [heading]);
        roff.control("nf", []);
        for line in lines {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff
}

/// The text in sections, each of what stands under one heading or is a note.
fn parted(text: &str) -> Vec<(&'static str, Vec<&str>)> {
    let mut sections: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for block in text.split("\n\n") {
        let first = block.lines().next().unwrap_or_default();
        let known = HEADINGS.iter().find(|(begins, _)| first == *begins);
        let (heading, skipped) = known.map_or((NOTES, 0), |(_, heading)| (*heading, 1));
        // What is indented goes on with what stands above it.
        let heading = match sections.last() {
            Some((above, _)) if first.starts_with(' ') => *above,
            _ => heading,
        };
        let place = sections.iter().position(|(known, _)| *known == heading);
        let place = place.unwrap_or_else(|| {
            sections.push((heading, Vec::new()));
            sections.len() - 1
        });
        let lines = &mut sections[place].1;
        if !lines.is_empty() {
            lines.push("");
        }
        lines.extend(block.lines().skip(skipped));
    }
    sections.retain(|(_, lines)| !lines.is_empty());
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_is_parted_by_its_headings() {
        let text = "It is so.\n\nExamples:\n  a\n\n  b\n\nExit codes:\n  0  done\n\nAlso:\n  c";
        let expected = [
            ("NOTES", vec!["It is so.", "", "Also:", "  c"]),
            ("EXAMPLES", vec!["  a", "", "  b"]),
            ("EXIT STATUS", vec!["  0  done"]),
        ];
        assert_eq!(parted(text), expected);
        assert_eq!(parted(""), []);
    }
}
