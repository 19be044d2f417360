//! `comail help`: the help of commands, topics, checks of quest files, and rules.

use anyhow::Result;
use clap::builder::StyledStr;
use clap::{Args, Command};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::output::{Paper, Tone};
use super::{command, context, rules};
use crate::base::text::wrap;
use crate::gate::checks::CheckHead;
use crate::gate::checks::schema::schema;
use crate::quest::email;
use crate::quest::file::nearest;

/// Print help for a command or a topic
///
/// Without an argument, `comail help` lists all commands and topics. It also explains each kind of
/// check in quest files, such as `contains`, and each rule, such as `freemail`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct HelpArgs {
    /// A command such as `review accept`, a topic such as email-gate, a kind of check, or a rule
    #[arg(value_name = "COMMAND OR TOPIC")]
    words: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  comail help
  comail help review accept
  comail help email-gate";

const WIDTH: usize = 80;

struct Topic {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const TOPICS: &[Topic] = &[
    Topic {
        name: "agents",
        about: "Work with an agent: instruct it, drive it, and hold it to the work",
        text: include_str!("help/agents.md"),
    },
    Topic {
        name: "email-gate",
        about: "The e-mail gate: its seven steps and their rules",
        text: include_str!("help/email-gate.md"),
    },
    Topic {
        name: "exit-codes",
        about: "Exit codes, and how to use them in scripts",
        text: include_str!("help/exit-codes.md"),
    },
    Topic {
        name: "json",
        about: "The output of --json, and which parts of it are stable",
        text: include_str!("help/json.md"),
    },
    Topic {
        name: "quest-files",
        about: "Quest files: how to write one, and every kind of check",
        text: include_str!("help/quest-files.md"),
    },
    Topic {
        name: "reviews",
        about: "The REVIEW verdict: what it means, and who settles it",
        text: include_str!("help/reviews.md"),
    },
    Topic {
        name: "sessions",
        about: "Sessions: their files, and how to recover from damage or a pause",
        text: include_str!("help/sessions.md"),
    },
    Topic {
        name: "threat-model",
        about: "The threat model: who is not trusted, and what comail cannot prevent",
        text: include_str!("help/threat-model.md"),
    },
    Topic {
        name: "workers",
        about: "Several agents in one session: workers, claims and leases",
        text: include_str!("help/workers.md"),
    },
];

/// For each kind of check, a line that says what it does and a short example.
const CHECKS: &str = include_str!("help/checks.toml");

/// The JSON form of `help`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Help {
    Index(Index),
    Command(CommandHelp),
    Topic(Page),
    Check(Page),
    Rule(Page),
}

/// Everything that there is help for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Index {
    commands: Vec<Named>,
    topics: Vec<Named>,
}

/// A name, and what it is about in one line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Named {
    name: String,
    about: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CommandHelp {
    #[serde(flatten)]
    named: Named,
    text: String,
    #[serde(skip)]
    styled: StyledStr,
}

/// A text in Markdown.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Page {
    #[serde(flatten)]
    named: Named,
    text: String,
}

pub(super) fn run(context: &mut Context, args: &HelpArgs) -> Result<Exit> {
    let kind = context::kind_in(context.session_dir()).unwrap_or_else(email::kind);
    let mut parser = command::parser(&kind);
    parser.build();
    let rules = rules::known(context.session_dir());
    let help = find(&args.words, &parser, &rules)?;
    context.output.show(&help, |paper, help| match help {
        Help::Index(index) => index.write(paper),
        Help::Command(help) => paper.styled(&help.styled),
        Help::Topic(page) | Help::Check(page) | Help::Rule(page) => {
            paper.line(page.text.trim_end());
        }
    })?;
    Ok(Exit::Done)
}

/// The help that `words` name; a command comes before a topic, a check or a rule of its name.
fn find(words: &[String], parser: &Command, rules: &[crate::gate::Rule]) -> Result<Help> {
    if words.is_empty() {
        return Ok(Help::Index(Index::new(parser)));
    }
    let found = words.iter().try_fold(parser, |command, word| {
        command.find_subcommand(word).ok_or(command)
    });
    let parent = match found {
        Ok(command) => return Ok(Help::Command(CommandHelp::new(command, parser, words))),
        Err(parent) => parent,
    };
    let name = words.join("-").to_lowercase();
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        return Ok(Help::Topic(Page::new(topic.name, topic.about, topic.text)));
    }
    if let Some((about, example)) = check(&name) {
        let text = check_page(&name, about, example);
        return Ok(Help::Check(Page::new(&name, about, &text)));
    }
    if let Some(rule) = rules.iter().find(|rule| rule.id.as_str() == name) {
        let text = rules::page(rule);
        return Ok(Help::Rule(Page::new(&name, &rule.meaning, &text)));
    }
    let near = nearest(
        words.last().map_or("", String::as_str),
        parent.get_subcommands().map(Command::get_name),
    );
    let near = if let Some(near) = near {
        let parents = &words[..words.len() - 1];
        let whole = parents.iter().map(String::as_str).chain([near]);
        Some(whole.collect::<Vec<_>>().join(" "))
    } else {
        let mut all: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
        for other in TOPICS.iter().map(|topic| topic.name).chain(check_names()) {
            all.push(other);
        }
        nearest(&name, all).map(str::to_owned)
    };
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`comail help` lists all commands and topics".to_owned(),
    };
    let message = format!("no help for `{}`", words.join(" "));
    Err(UsageError(message).hint(hint).into())
}

/// The names that can follow `comail help` and then `words`, for completion.
pub(super) fn names(parser: &Command, words: &[&str]) -> Vec<(String, String)> {
    let command = words
        .iter()
        .try_fold(parser, |command, word| command.find_subcommand(word));
    let Some(command) = command else {
        return Vec::new();
    };
    let about = |command: &Command| command.get_about().map(ToString::to_string);
    let shown = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set());
    let mut names: Vec<(String, String)> = shown
        .map(|inner| {
            (
                inner.get_name().to_owned(),
                about(inner).unwrap_or_default(),
            )
        })
        .collect();
    if std::ptr::eq(command, parser) {
        let topics = TOPICS.iter().map(|topic| (topic.name, topic.about));
        let checks = check_names().filter_map(|name| Some((name, check(name)?.0)));
        let others = topics.chain(checks);
        names.extend(others.map(|(name, about)| (name.to_owned(), about.to_owned())));
    }
    names
}

impl Named {
    fn new(name: &str, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
        }
    }

    /// A command by its whole name, such as `review accept`.
    fn of_command(command: &Command) -> Self {
        let whole = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let about = command.get_about().map(ToString::to_string);
        let name = whole.strip_prefix("comail ").unwrap_or(whole);
        Self::new(name, &about.unwrap_or_default())
    }
}

impl Page {
    fn new(name: &str, about: &str, text: &str) -> Self {
        Self {
            named: Named::new(name, about),
            text: text.to_owned(),
        }
    }
}

impl CommandHelp {
    fn new(command: &Command, parser: &Command, words: &[String]) -> Self {
        let words = words.iter().map(String::as_str);
        let line = ["comail"].into_iter().chain(words).chain(["--help"]);
        // clap returns the text of --help as an error.
        let printed = parser.clone().try_get_matches_from(line).err();
        let styled = printed.map(|printed| printed.render()).unwrap_or_default();
        Self {
            named: Named::of_command(command),
            text: styled.to_string(),
            styled,
        }
    }
}

impl Index {
    fn new(parser: &Command) -> Self {
        let commands = parser.get_subcommands().filter(|it| !it.is_hide_set());
        let mut commands: Vec<Named> = commands.map(Named::of_command).collect();
        commands.sort_by(|one, other| one.name.cmp(&other.name));
        let topics = TOPICS.iter();
        let topics = topics.map(|topic| Named::new(topic.name, topic.about));
        Self {
            commands,
            topics: topics.collect(),
        }
    }

    fn write(&self, paper: &mut Paper) {
        let names = self.commands.iter().chain(&self.topics);
        let width = names.map(|it| it.name.len()).max().unwrap_or(0);
        for (heading, all) in [("Commands:", &self.commands), ("Topics:", &self.topics)] {
            let heading = paper.tint(Tone::Strong, heading);
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
        paper.line("Run `comail help NAME` to read about one of them.");
    }
}

/// The kinds of checks, in the order of their examples.
fn check_names() -> impl Iterator<Item = &'static str> {
    let lines = CHECKS.lines();
    lines.filter_map(|line| line.strip_prefix("kind = \"")?.strip_suffix('"'))
}

/// What the kind of check does, and an example of it.
fn check(name: &str) -> Option<(&'static str, &'static str)> {
    let kind = format!("kind = \"{name}\"");
    let mut blocks = CHECKS.split("\n\n");
    let block = blocks.find(|block| block.lines().any(|line| line == kind))?;
    let (about, example) = block.trim_end().split_once('\n')?;
    Some((about.trim_start_matches("# "), example))
}

fn check_page(name: &str, about: &str, example: &str) -> String {
    let keys = check_keys(&schema(), name).join("\n");
    format!(
        "# The check {name}\n\n{about}\n\n```toml\n{example}\n```\n\n## Keys\n\n{keys}\n\nSee \
         also: comail help quest-files, comail quest schema\n"
    )
}

/// The keys of a kind with their descriptions, as the schema of quest files has them.
fn check_keys(schema: &Value, kind: &str) -> Vec<String> {
    let kinds = schema["$defs"]["Check"]["oneOf"].as_array();
    let table = kinds.into_iter().flatten().find(|it| it["title"] == kind);
    let table = table.unwrap_or(&Value::Null);
    let required = |name: &str| {
        let names = table["required"].as_array();
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let parts = [table, referenced(schema, table)];
    let mut keys: Vec<(&String, &Value)> = Vec::new();
    for (name, key) in parts
        .iter()
        .filter_map(|it| it["properties"].as_object())
        .flatten()
    {
        let is_known = keys.iter().any(|(known, _)| *known == name);
        if !is_known && !CheckHead::KEYS.contains(&name.as_str()) {
            keys.push((name, key));
        }
    }
    if keys.is_empty() {
        return vec!["It has no keys of its own.".to_owned()];
    }
    keys.sort_by_key(|(name, _)| !required(name));
    let described = keys.iter().flat_map(|(name, key)| {
        let mut text = key["description"].as_str().unwrap_or("").to_owned();
        let choices = referenced(schema, key)["oneOf"].as_array();
        let choices = choices.into_iter().flatten();
        let choices: Vec<&str> = choices.filter_map(|it| it["const"].as_str()).collect();
        if !choices.is_empty() {
            text = format!("{text} One of {}.", choices.join(", "));
        }
        let default = &key["default"];
        if required(name) {
            text.push_str(" [required]");
        } else if !default.is_null() && *default != Value::Array(Vec::new()) {
            text = format!("{text} [default: {default}]");
        }
        let lines = wrap(&text, WIDTH - 6).into_iter();
        std::iter::once(format!("  {name}")).chain(lines.map(|line| format!("      {line}")))
    });
    described.collect()
}

/// The definition that a part of the schema refers to, or the part itself.
fn referenced<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    let any = part["anyOf"].as_array().and_then(|any| any.first());
    let found = any.or_else(|| part.get("items")).unwrap_or(part);
    let name = found["$ref"].as_str();
    let name = name.and_then(|it| it.strip_prefix("#/$defs/"));
    name.map_or(part, |name| &schema["$defs"][name])
}

#[cfg(test)]
mod tests;
