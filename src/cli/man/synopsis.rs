//! How a command is called, in one line: as `--help` says it, with every option spelled out.

use clap::{Arg, ArgAction, Command};

/// The words that follow the name of a command, each whole: a line may break between them.
pub(super) fn words(command: &Command) -> Vec<String> {
    let groups: Vec<Vec<&Arg>> = command
        .get_groups()
        .filter(|group| group.is_required_set())
        .map(|group| {
            let members = group.get_args();
            let known = |id| command.get_arguments().find(|arg| arg.get_id() == id);
            members.filter_map(known).collect()
        })
        .filter(|members: &Vec<&Arg>| !members.is_empty())
        .collect();
    let is_grouped = |arg: &&Arg| {
        let mut members = groups.iter().flatten();
        members.any(|member| member.get_id() == arg.get_id())
    };
    let alone = |arg: &&Arg| is_told(arg, command) && !is_grouped(arg);
    let options = command.get_arguments().filter(|arg| !arg.is_positional());
    let options = options.filter(alone);
    let (required, optional): (Vec<&Arg>, Vec<&Arg>) =
        options.partition(|arg| arg.is_required_set());
    let mut words: Vec<String> = required.into_iter().chain(optional).map(option).collect();
    words.extend(groups.iter().map(|members| choice(members)));
    words.extend(command.get_positionals().filter(alone).map(positional));
    if command.has_subcommands() {
        words.push(if command.is_subcommand_required_set() {
            "<COMMAND>".to_owned()
        } else {
            "[COMMAND]".to_owned()
        });
    }
    words
}

/// Whether a synopsis tells of `arg`: what holds everywhere is told where it is at home.
fn is_told(arg: &Arg, command: &Command) -> bool {
    let is_root = super::is_root(command);
    let of_parser = ["help", "version"].contains(&arg.get_id().as_str());
    !arg.is_hide_set() && !of_parser && (is_root || !arg.is_global_set())
}

fn option(arg: &Arg) -> String {
    // What is counted says so by itself.
    let again = match arg.get_action() {
        ArgAction::Append if takes_one(arg) => "...",
        _ => "",
    };
    if arg.is_required_set() {
        format!("{arg}{again}")
    } else {
        format!("[{arg}]{again}")
    }
}

/// Whether it has to be given again to take another value; what takes several says so by itself.
fn takes_one(arg: &Arg) -> bool {
    arg.get_num_args()
        .is_none_or(|count| count.max_values() <= 1)
}

/// Of which one is to be given.
fn choice(members: &[&Arg]) -> String {
    let members: Vec<String> = members.iter().map(ToString::to_string).collect();
    format!("<{}>", members.join("|"))
}

fn positional(arg: &Arg) -> String {
    if !arg.is_last_set() {
        return arg.to_string();
    }
    let bare = arg.to_string();
    let (bare, again) = bare
        .strip_suffix("...")
        .map_or((&*bare, ""), |it| (it, "..."));
    let name = bare.trim_matches(['[', ']', '<', '>']);
    if arg.is_required_set() {
        format!("-- <{name}>{again}")
    } else {
        format!("[-- <{name}>{again}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;
    use crate::quest::email;

    fn line(path: &[&str]) -> String {
        let mut parser = command::parser(&email::kind());
        parser.build();
        let found = path
            .iter()
            .try_fold(&parser, |command, name| command.find_subcommand(name));
        words(found.unwrap()).join(" ")
    }

    #[test]
    fn options_have_their_values_and_what_is_required_no_brackets() {
        assert_eq!(
            line(&[]),
            "[--session <DIR>] [--json] [--color <WHEN>] [-v...] [-q] <COMMAND>"
        );
        assert_eq!(line(&["man"]), "[DIR]");
        assert_eq!(
            line(&["release"]),
            "[--operator-key <FILE>] <--id <N>|--worker <NAME>>"
        );
        let dispute = line(&["dispute"]);
        assert!(dispute.starts_with("--note <"), "{dispute}");
        let submit = line(&["submit"]);
        for wanted in ["[--id <N>]", "[--email <", "[--worker <NAME>]"] {
            assert!(submit.contains(wanted), "{wanted}: {submit}");
        }
        assert!(!submit.contains("--json"), "{submit}");
        #[cfg(unix)]
        assert!(
            line(&["run"]).ends_with("[-- <AGENT ARGS>...]"),
            "{}",
            line(&["run"])
        );
    }
}
