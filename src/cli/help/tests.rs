//! What the topics and the words for agents name is there, and reads well.

use clap::Command;

use super::checks;
use super::marks::mark;
use super::page;
use super::part::Part;
use super::subject::Subject;
use super::topic::{TOPICS, Topic};
use crate::cli::output::Paper;
use crate::cli::{agent_words, command};
use crate::gate::checks::kind::KINDS;
use crate::quest::{FieldName, email};

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

fn shown(topic: &Topic) -> String {
    let mut paper = Paper::plain();
    page::write(&mut paper, &topic.text());
    paper.into_text()
}

#[test]
fn a_topic_is_called_like_no_command_and_fits_a_terminal() {
    assert!(TOPICS.is_sorted_by(|one, other| one.name < other.name));
    for topic in TOPICS {
        assert!(
            parser().find_subcommand(topic.name).is_none(),
            "{}",
            topic.name
        );
        for line in shown(topic).lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", topic.name);
        }
    }
}

#[test]
fn what_the_code_fills_in_is_asked_for_rightly_and_all_of_it() {
    let sources = TOPICS.iter().flat_map(|topic| topic.source().lines());
    let marks: Vec<&str> = sources.filter_map(mark).collect();
    for mark in &marks {
        assert!(
            Part::named(mark).is_some_and(|part| !part.lines().is_empty()),
            "<{mark}>"
        );
    }
    let steps = KINDS.iter().filter(|kind| !kind.rules().is_empty());
    let steps: Vec<String> = steps.map(|kind| format!("rules {}", kind.name)).collect();
    assert_eq!(steps.len(), 7);
    let others = [
        "exit-codes",
        "house-rules",
        "checks",
        "events",
        "reasons",
        "agents",
    ];
    for part in others.into_iter().chain(steps.iter().map(String::as_str)) {
        assert!(marks.contains(&part), "no topic shows <{part}>");
    }
    assert_eq!(
        Part::named("rules contains"),
        Some(Part::StepRules("contains"))
    );
    assert_eq!(Part::named("rulez"), None);
}

#[test]
fn every_kind_of_check_has_a_page() {
    for kind in KINDS {
        let page = checks::page(kind.name).expect(kind.name);
        let lines: Vec<String> = page.page().lines().map(str::to_owned).collect();
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80),
            "{lines:#?}"
        );
        assert!(page.about.ends_with('.'), "{}", page.about);
    }
    let blocks = checks::EXAMPLES.split("\n\n").count();
    assert_eq!(blocks, KINDS.len());
}

#[test]
fn what_see_also_names_is_there() {
    let parser = parser();
    for topic in TOPICS {
        let last = topic.source().lines().last().unwrap_or_default();
        let names = last
            .strip_prefix("See also: comail help ")
            .expect(topic.name);
        for name in names.split(", ") {
            assert!(
                Subject::of(&[name.to_owned()], &parser, &[]).is_ok(),
                "{name}"
            );
            assert_ne!(name, topic.name);
        }
    }
}

/// What stands between backticks or behind `$ `, and could be a command line.
fn typed(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = None;
    let mut prose = String::new();
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            fenced = fenced.is_none().then_some(fence);
        } else if fenced == Some("console") {
            let line = line.strip_prefix("$ ").or_else(|| line.strip_prefix("> "));
            found.extend(line.map(|line| line.trim_end_matches('\\').to_owned()));
        } else if fenced.is_none() {
            prose.push_str(line);
            prose.push(' ');
        }
    }
    found.extend(prose.split('`').skip(1).step_by(2).map(str::to_owned));
    found
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
fn every_command_and_flag_that_is_named_is_there() {
    let parser = parser();
    for topic in TOPICS {
        let parser = match topic.name {
            "quest-files" => &letters(),
            _ => &parser,
        };
        assert_eq!(wrong(parser, topic.source()), [""; 0], "{}", topic.name);
    }
    let words = [agent_words::STEPS.join(" "), agent_words::RULES.join(" ")];
    let others = [agent_words::IDEA, agent_words::WHEN, agent_words::WORKER];
    for text in words.iter().map(String::as_str).chain(others) {
        assert_eq!(wrong(&parser, text), [""; 0]);
    }
}

#[test]
fn what_is_named_and_is_not_there_is_found() {
    let parser = parser();
    for text in [
        "`comail scann x`",
        "`comail next --wrker`",
        "`scan --updat`",
        "see `--no-such`",
        "```console\n$ comail status --watchh\n```",
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
