//! Help is complete, and what it shows works.

use clap::Command;

use super::*;
use crate::cli::command::parser;
use crate::quest::email;
use crate::quest::file::FLAGS;

/// Every command with its path and the help that --help prints on a usual terminal.
fn helps() -> Vec<(Command, String, String)> {
    fn walk(command: &Command, path: &str, helps: &mut Vec<(Command, String, String)>) {
        let help = command.clone().term_width(80).render_long_help();
        helps.push((command.clone(), path.to_owned(), help.to_string()));
        for inner in command.get_subcommands() {
            walk(inner, &format!("{path} {}", inner.get_name()), helps);
        }
    }
    let mut root = parser(&email::kind()).disable_help_subcommand(true);
    root.build();
    let mut helps = Vec::new();
    walk(&root, "comail", &mut helps);
    helps
}

/// The command lines that a help shows, without what the shell does with them.
fn shown(help: &str) -> Vec<Vec<String>> {
    // Above them the usage has lines of the same look.
    let help = help.replace("\\\n", " ");
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Examples"));
    let lines = lines.map(str::trim);
    let lines = lines.filter(|line| line.starts_with("comail "));
    let words = lines.map(|line| shlex::split(line).unwrap_or_else(|| panic!("{line}")));
    let is_shell = |word: &String| matches!(word.as_str(), ">" | "<" | "|" | "||" | "&&" | ";");
    let named = |word: String| {
        if word.starts_with('$') {
            "w1".to_owned()
        } else {
            word
        }
    };
    words
        .map(|words| {
            words
                .into_iter()
                .take_while(|word| !is_shell(word))
                .map(named)
                .collect()
        })
        .collect()
}

fn parses(words: &[String]) -> Result<(), clap::Error> {
    let parsed = parser(&email::kind()).try_get_matches_from(words);
    parsed.map(drop)
}

#[test]
fn every_command_is_in_one_group_in_the_order_of_the_man_page() {
    let parser = parser(&email::kind());
    let names: Vec<&str> = groups()
        .flat_map(|(_, names)| names.split_whitespace())
        .collect();
    let shown = parser.get_subcommands().filter(|it| !it.is_hide_set());
    let shown: Vec<&str> = shown.map(Command::get_name).collect();
    assert_eq!(names, shown);
}

#[test]
fn the_list_fits_a_terminal() {
    let help = parser(&email::kind()).render_help().to_string();
    let list = help.lines().take_while(|line| *line != "Options:");
    for line in list {
        assert!(line.chars().count() <= 100, "{line}");
    }
    insta::assert_snapshot!("help", help);
}

#[test]
fn every_command_has_an_example_and_every_example_parses() {
    for (_, path, help) in helps() {
        let examples = shown(&help);
        for words in &examples {
            if let Err(error) = parses(words) {
                panic!("the help of `{path}` shows {words:?}: {error}");
            }
        }
        if path == "comail" {
            continue;
        }
        let of_it = examples.iter().any(|words| {
            let line = words.join(" ");
            line == path || line.starts_with(&format!("{path} "))
        });
        assert!(of_it, "the help of `{path}` has no example of it");
    }
}

#[test]
fn a_line_that_does_not_parse_is_detected() {
    let lines = shown("Examples:\n  comail submti --id 1 | cat\n  comail status # well\n");
    assert_eq!(lines[1], ["comail", "status"]);
    assert!(parses(&lines[1]).is_ok());
    assert!(
        parses(&lines[0])
            .unwrap_err()
            .to_string()
            .contains("submit")
    );
}

#[test]
fn a_rejected_command_line_is_a_message_and_a_hint() {
    let said = |line: &str, note: Option<&str>| {
        let error = parses(&shlex::split(line).unwrap()).unwrap_err();
        let hinted = rejected(&error.to_string(), note.map(str::to_owned));
        (hinted.message, hinted.hint)
    };
    let said_of = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
    assert_eq!(
        said("comail next --leas 3", None),
        said_of(
            "unexpected argument '--leas' found",
            "a similar argument exists: '--lease'"
        )
    );
    assert_eq!(
        said("comail show", None),
        said_of(
            "the following required arguments were not provided: <N|KEY>",
            "Usage: comail show <N|KEY>"
        )
    );
    assert_eq!(
        said("comail status --color=x", None),
        said_of(
            "invalid value 'x' for '--color <WHEN>' [possible values: auto, always, never]",
            "`--help` says what is allowed"
        )
    );
    let (_, hint) = said("comail submit --leter x", Some("no session"));
    assert_eq!(hint, "no session");
}

#[test]
fn examples_fit_an_80_column_terminal() {
    for (command, path, help) in helps() {
        let below = command.get_after_long_help().map(ToString::to_string);
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        for line in below.unwrap_or_default().lines() {
            // Prose is not indented, and may be broken.
            let is_kept = !line.starts_with(' ') || lines.contains(&line.trim_end());
            assert!(is_kept, "{path}: {line}");
        }
    }
}

#[test]
fn the_example_answer_file_can_be_read() {
    let mut root = parser(&email::kind());
    root.build();
    let submit = root.find_subcommand("submit").unwrap();
    let below = submit.get_after_long_help().unwrap().to_string();
    let (_, object) = below.split_once("Where answer.json holds:\n").unwrap();
    let object: serde_json::Value = serde_json::from_str(object).unwrap();
    assert!(object["email"].is_string(), "{object}");
}

#[test]
fn the_parser_is_valid_if_fields_have_the_names_of_flags() {
    let mut kind = email::kind();
    parser(&kind).debug_assert();
    let names = ["input", "levels", "unit", "why", "command"];
    let field = kind.fields[0].clone();
    let fields = names.map(|name| crate::quest::Field {
        name: crate::quest::FieldName::known(name),
        ..field.clone()
    });
    kind.fields = fields.to_vec();
    parser(&kind).debug_assert();
}

#[test]
fn a_quest_file_refuses_fields_with_the_names_of_flags() {
    let kind = email::kind();
    let mut root = parser(&kind);
    root.build();
    let own: Vec<&str> = kind
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    let submit = root.find_subcommand("submit").unwrap();
    for flag in submit.get_arguments().filter_map(clap::Arg::get_long) {
        let is_known = own.contains(&flag) || kind.unit == flag || FLAGS.contains(&flag);
        assert!(is_known, "a field called {flag} would clash with --{flag}");
    }
}

#[test]
fn every_key_of_the_configuration_is_explained() {
    let parser = parser(&email::kind());
    let missing = config::tests::undocumented_keys(&parser);
    assert!(missing.is_empty(), "{missing:?}");
}

/// Arguments that name a part of the session.
const SESSION_ARGS: [&str; 6] = ["id", "quest", "quests", "worker", "rule", answer_form::UNIT];

#[test]
fn each_argument_that_names_a_part_of_the_session_is_completed() {
    let mut found: Vec<String> = Vec::new();
    for (command, path, _) in helps() {
        let path = path.strip_prefix("comail ").unwrap_or_default();
        let args = command.get_arguments().map(clap::Arg::get_id);
        found.extend(args.map(|id| format!("{path} {id}").trim().to_owned()));
    }
    let offers = completions::OFFERS.iter();
    let offers: Vec<String> = offers
        .map(|(path, arg, _)| format!("{path} {arg}"))
        .collect();
    for offer in &offers {
        assert!(found.contains(offer), "no argument {offer}");
    }
    // `review reopen` shares its arguments with `accept`, and refuses this one. A quest of `scan` is a
    // file.
    found.retain(|name| !["review reopen rule", "scan quest"].contains(&&**name));
    for name in found {
        let arg = name.rsplit(' ').next().unwrap_or_default();
        let is_offered = offers.contains(&name);
        assert!(
            is_offered || !SESSION_ARGS.contains(&arg),
            "nothing is offered for {name}"
        );
    }
}
