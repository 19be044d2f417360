//! Topics name what exists, and fit a terminal.

use super::*;
use crate::cli::{command, exit, prompt};
use crate::gate::checks::kinds::KINDS;
use crate::gate::common_rules;
use crate::quest::{FieldName, email};
use crate::run::agent::Preset;
use crate::session::{EventType, Reason};

fn parser() -> Command {
    let mut parser = command::parser(&email::kind());
    parser.build();
    parser
}

/// The parser in a session of the quest file that `quest new` writes.
fn letters() -> Command {
    let mut kind = email::kind();
    kind.unit = "letter".into();
    kind.fields.truncate(2);
    for (field, name) in kind.fields.iter_mut().zip(["total", "quote"]) {
        field.name = FieldName::known(name);
    }
    let mut parser = command::parser(&kind);
    parser.build();
    parser
}

fn topic(name: &str) -> String {
    topics().find(|page| page.named.name == name).unwrap().text
}

#[test]
fn topics_have_unique_names_and_fit_a_terminal() {
    assert!(TOPICS.is_sorted());
    assert_eq!(topics().count(), TOPICS.len());
    for Page { named, text, .. } in topics() {
        let name = named.name;
        assert!(parser().find_subcommand(&name).is_none(), "{name}");
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{name}: {line}");
        }
    }
}

#[test]
fn topics_list_everything_that_the_program_knows() {
    let steps = KINDS.iter().flat_map(|kind| kind.rules().iter());
    let own = common_rules::rules();
    for rule in own.iter().chain(steps) {
        let listed = format!("\n  {:23} {}", rule.id.as_str(), rule.level);
        assert!(topic("email-gate").contains(&listed), "lacks{listed}");
    }
    let lists = |name: &str, word: &str| {
        let topic = topic(name);
        let mut words = topic.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        assert!(words.any(|it| it == word), "{name} lacks {word}");
    };
    for kind in KINDS {
        lists("checks", kind.name());
    }
    for event in EventType::ALL {
        lists("sessions", event.name());
    }
    for reason in Reason::ALL {
        lists("agents", &reason.to_string());
    }
    for preset in Preset::ALL {
        lists("agents", preset.name);
    }
}

#[test]
fn every_kind_of_check_has_a_page() {
    assert_eq!(checks().count(), KINDS.len());
    for kind in KINDS {
        let found = checks().find(|check| check.0 == kind.name());
        let (_, about, example) = found.unwrap_or_else(|| panic!("{}", kind.name()));
        assert!(about.ends_with('.'), "{about}");
        let page = check_page(kind.name(), about, example);
        assert!(
            page.lines().all(|line| line.chars().count() <= WIDTH),
            "{page}"
        );
    }
}

#[test]
fn see_also_names_what_exists() {
    let parser = parser();
    for (topic, text) in TOPICS {
        let last = text.lines().last().unwrap_or_default();
        let names = last.strip_prefix("See also: comail help ").expect(topic);
        for name in names.split(", ") {
            assert!(find(&[name.to_owned()], &parser).is_ok(), "{name}");
            assert_ne!(name, topic);
        }
    }
}

/// What is between backticks and could be a command line. What console blocks show is run by the
/// integration tests.
fn typed(text: &str) -> Vec<String> {
    let mut prose = String::new();
    for (at, block) in text.split("\n```").enumerate() {
        if at % 2 == 0 {
            prose.push_str(&block.replace('\n', " "));
            prose.push(' ');
        }
    }
    prose
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// What is wrong with the commands and flags that a text says.
fn wrong(parser: &Command, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut command = parser;
    for line in typed(text) {
        let words = line.split(" -- ").next().unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        // A line of flags alone goes on with the command before it, or is of any.
        let goes_on = words.first().is_some_and(|word| word.starts_with("--"));
        if !goes_on {
            match meant(parser, &words) {
                Ok(Some(found)) => command = found,
                Ok(None) => {
                    command = parser;
                    continue;
                }
                Err(name) => {
                    wrong.push(format!("no command `{name}`: {line}"));
                    continue;
                }
            }
        }
        for flag in words.iter().filter_map(|word| word.strip_prefix("--")) {
            let flag = flag.split(['=', '.', ',']).next().unwrap_or_default();
            let has = |it: &Command| has_flag(it, flag) || has_flag(parser, flag);
            if !(flag.is_empty() || has(command) || goes_on && anywhere(parser, &has)) {
                wrong.push(format!("no flag `--{flag}`: {line}"));
            }
        }
    }
    wrong
}

/// The command that a line means, if it means one; else the name that there is not.
fn meant<'c, 'w>(parser: &'c Command, words: &[&'w str]) -> Result<Option<&'c Command>, &'w str> {
    let from = words.iter().position(|word| *word == "comail");
    let words = &words[from.map_or(0, |from| from + 1)..];
    let names = words.iter().filter(|word| !word.starts_with('-'));
    let mut command = parser;
    for name in names {
        match command.find_subcommand(name) {
            Some(found) => command = found,
            None => break,
        }
    }
    let first = words.first().filter(|word| is_name(word));
    match (command.get_name() == parser.get_name(), from, first) {
        (false, ..) => Ok(Some(command)),
        (true, Some(_), Some(name)) => Err(name),
        _ => Ok(None),
    }
}

fn has_flag(command: &Command, flag: &str) -> bool {
    let mut flags = command.get_arguments();
    flags.any(|it| it.get_long() == Some(flag))
}

fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

fn anywhere(command: &Command, is_so: &dyn Fn(&Command) -> bool) -> bool {
    is_so(command) || command.get_subcommands().any(|it| anywhere(it, is_so))
}

#[test]
fn every_named_command_and_flag_exists() {
    let parser = parser();
    let prompts = [
        ("prompt", prompt::INSTRUCTIONS),
        ("skill", prompt::FRONT_MATTER),
    ];
    for (name, text) in TOPICS.into_iter().chain(prompts) {
        let parser = match name {
            "quest-files" => &letters(),
            _ => &parser,
        };
        assert_eq!(wrong(parser, text), [""; 0], "{name}");
    }
}

#[test]
fn the_instructions_list_exit_codes_and_commands() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let instructions = words(prompt::INSTRUCTIONS);
    for (code, meaning) in exit::tests::meanings() {
        let line = words(&format!("- {code}: {meaning}"));
        let is_for_people = [8, 130].contains(&code);
        assert_eq!(instructions.contains(&line), !is_for_people, "{line}");
    }
    for name in ["next", "submit", "status", "rules"] {
        let parser = parser();
        let about = parser.find_subcommand(name).and_then(Command::get_about);
        let line = words(&format!("comail {name} {}", about.unwrap()));
        assert!(instructions.contains(&line), "{line}");
    }
}

#[test]
fn names_of_missing_commands_are_detected() {
    let parser = parser();
    for text in [
        "`comail scann x`",
        "`comail next --wrker`",
        "`scan --updat`",
        "see `--no-such`",
        "prose\n```console\n$ x\n```\nand `comail status --watchh`",
    ] {
        assert_eq!(wrong(&parser, text).len(), 1, "{text}");
    }
    for text in [
        "`comail review accept 3 --note 'x'`",
        "`comail run -- agent --any`",
        "`NAME --else`",
        "`--answer stdout`",
    ] {
        assert_eq!(wrong(&parser, text), [""; 0], "{text}");
    }
}
