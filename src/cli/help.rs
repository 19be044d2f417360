//! `comail help`: the help of commands, topics, checks of quest files, and rules.

use anyhow::Result;
use clap::builder::StyledStr;
use clap::{Args, Command};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::context::Context;
use super::exit::{Exit, Hinted, hanging, unknown_name};
use super::fit::reflow;
use super::output::{TextOutput, Tone};
use crate::gate::checks::CheckHead;
use crate::gate::checks::schema::schema;

/// Print help for a command or a topic
///
/// Without an argument, `comail help` lists all commands and topics; `comail help topics` lists the
/// topics. It also explains each kind of
/// check in quest files, such as `contains`. `comail rules RULE` explains a rule.
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// A command such as `review accept`, a topic such as email-gate, or a kind of check
    #[arg(value_name = "COMMAND OR TOPIC")]
    words: Vec<String>,
}

const WIDTH: usize = 80;

/// Every command that is shown, each in one group, in the order of the work.
const GROUPS: &str = "\
Set up: scan quest session demo
Work (for agents): next submit run until hook claims serve token mcp
Watch: status list show log insights
Decide (for people): review recheck dispute reopen release resume forget
Deliver: report export tree audit rules
Tools: doctor config notify prompt schema completions man help";

/// The title of each group, and its commands.
pub(super) fn groups() -> impl Iterator<Item = (&'static str, &'static str)> {
    GROUPS.lines().filter_map(|group| group.split_once(':'))
}

/// The topics. The first line of each file says what the topic is about.
const TOPICS: [(&str, &str); 12] = [
    ("agents", include_str!("help/agents.md")),
    ("checks", include_str!("help/checks.md")),
    ("email-gate", include_str!("help/email-gate.md")),
    ("exit-codes", include_str!("help/exit-codes.md")),
    ("fleet", include_str!("help/fleet.md")),
    ("json", include_str!("help/json.md")),
    ("quest-files", include_str!("help/quest-files.md")),
    ("reviews", include_str!("help/reviews.md")),
    ("server", include_str!("help/server.md")),
    ("sessions", include_str!("help/sessions.md")),
    ("threat-model", include_str!("help/threat-model.md")),
    ("workers", include_str!("help/workers.md")),
];

fn topics() -> impl Iterator<Item = Page> {
    TOPICS.into_iter().filter_map(|(name, file)| {
        let (about, text) = file.split_once("\n\n")?;
        Some(Page::new(name, about, &text.replace("{kinds}\n", &kinds())))
    })
}

/// A line or two about each kind of check.
fn kinds() -> String {
    let all = || checks().map(|(name, about, _)| (name, about));
    let width = all().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = all().flat_map(|(name, about)| hanging(&format!("  {name:width$} "), about, WIDTH));
    lines.map(|line| line + "\n").collect()
}

/// For each kind of check, a comment that says what it does and a short example.
const CHECKS: &str = include_str!("help/checks.toml");

fn checks() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    CHECKS.trim_end().split("\n\n").filter_map(|block| {
        let (about, example) = block.split_once('\n')?;
        let (_, name) = example.split_once("kind = \"")?;
        let (name, _) = name.split_once('"')?;
        Some((name, about.trim_start_matches("# "), example))
    })
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Help {
    Index {
        commands: Vec<Named>,
        topics: Vec<Named>,
    },
    Command(Page),
    Topic(Page),
    Check(Page),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) about: String,
}

/// A text in Markdown, or the help of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Page {
    #[serde(flatten)]
    named: Named,
    text: String,
    #[serde(skip)]
    styled: StyledStr,
}

impl Page {
    fn new(name: &str, about: &str, text: &str) -> Self {
        Self {
            named: Named {
                name: name.to_owned(),
                about: about.to_owned(),
            },
            text: text.to_owned(),
            styled: StyledStr::from(text.trim_end().to_owned() + "\n"),
        }
    }
}

pub(super) fn run(context: &mut Context, args: &HelpArgs) -> Result<Exit> {
    let mut parser = context.parser.clone();
    parser.build();
    let help = find(&args.words, &parser)?;
    context.output.page();
    context.output.show(&help, |out, help| match help {
        Help::Index { commands, topics } => write_index(out, commands, topics),
        Help::Command(page) => out.styled(&page.styled),
        Help::Topic(page) | Help::Check(page) => {
            let columns = out.columns(WIDTH);
            let text = if columns < WIDTH {
                reflow(&page.text, columns)
            } else {
                page.text.clone()
            };
            out.line(text.trim_end());
        }
    })?;
    Ok(Exit::Done)
}

/// The help that `words` name; a command comes before a topic, a check or a rule of its name.
fn find(words: &[String], parser: &Command) -> Result<Help, Hinted> {
    let only_topics = words == ["topics"];
    if words.is_empty() || only_topics {
        let commands = shown(parser).filter(|_| !only_topics);
        return Ok(Help::Index {
            commands: commands.map(named).collect(),
            topics: topics().map(|page| page.named).collect(),
        });
    }
    let mut command = parser;
    for (at, word) in words.iter().enumerate() {
        let Some(inner) = command.find_subcommand(word) else {
            return other(words, &words[..at], command);
        };
        command = inner;
    }
    let line = words.iter().map(String::as_str);
    let line = ["comail"].into_iter().chain(line).chain(["--help"]);
    // clap returns the text of --help as an error.
    let printed = parser.clone().try_get_matches_from(line).err();
    let styled = printed.map(|printed| printed.render()).unwrap_or_default();
    Ok(Help::Command(Page {
        named: named(command),
        text: styled.to_string(),
        styled,
    }))
}

/// The help of something that is no command, where `parents` are the first words that are one.
fn other(words: &[String], parents: &[String], parent: &Command) -> Result<Help, Hinted> {
    let name = words.join("-").to_lowercase();
    if let Some(page) = topics().find(|page| page.named.name == name) {
        return Ok(Help::Topic(page));
    }
    if let Some((name, about, example)) = checks().find(|check| check.0 == name) {
        let text = check_page(name, about, example);
        return Ok(Help::Check(Page::new(name, about, &text)));
    }
    let prefix = parents
        .iter()
        .fold(String::new(), |all, word| all + word + " ");
    let mut known: Vec<String> = shown(parent)
        .map(|inner| format!("{prefix}{}", inner.get_name()))
        .collect();
    if parents.is_empty() {
        known.extend(topics().map(|page| page.named.name));
        known.extend(checks().map(|check| check.0.to_owned()));
    }
    let words = words.join(" ");
    let otherwise = "`comail help` lists all commands and topics";
    let message = format!("no help for `{words}`");
    Err(unknown_name(message, &words, &known, otherwise))
}

/// Changes the command at `path`, the names of the commands on the way to it.
pub(super) fn at(
    mut command: Command,
    path: &str,
    change: impl FnOnce(Command) -> Command,
) -> Command {
    let (name, rest) = path.split_once(' ').unwrap_or((path, ""));
    match name {
        "" => change(command),
        name => {
            // `mut_subcommand` would move it to the end of the list.
            if let Some(inner) = command.find_subcommand_mut(name) {
                *inner = at(std::mem::take(inner), rest, change);
            }
            command
        }
    }
}

/// The names that can follow `comail help` and then `words`, for completion.
pub(super) fn names(parser: &Command, words: &[&str]) -> Vec<Named> {
    let command = words
        .iter()
        .try_fold(parser, |command, word| command.find_subcommand(word));
    let Some(command) = command else {
        return Vec::new();
    };
    let mut names: Vec<Named> = shown(command)
        .map(|inner| Named {
            name: inner.get_name().to_owned(),
            ..named(inner)
        })
        .collect();
    if words.is_empty() {
        names.extend(topics().map(|page| page.named));
        names.extend(checks().map(|(name, about, _)| Page::new(name, about, "").named));
    }
    names
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
}

/// A command by its whole name, such as `review accept`.
fn named(command: &Command) -> Named {
    let whole = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_about().map(ToString::to_string);
    Named {
        name: whole.strip_prefix("comail ").unwrap_or(whole).to_owned(),
        about: about.unwrap_or_default(),
    }
}

fn write_index(out: &mut TextOutput, commands: &[Named], topics: &[Named]) {
    let names = commands.iter().chain(topics);
    let width = names.map(|it| it.name.len()).max().unwrap_or(0);
    let sections = groups().map(|(title, names)| {
        let names = names.split_whitespace();
        let group = names.filter_map(|name| commands.iter().find(|it| it.name == name));
        (title, group.collect())
    });
    let sections = sections.chain([("Topics", topics.iter().collect::<Vec<_>>())]);
    for (title, all) in sections.filter(|(_, all)| !all.is_empty()) {
        out.line(out.tint(Tone::Strong, &format!("{title}:")));
        for Named { name, about } in all {
            let columns = out.columns(WIDTH);
            for line in hanging(&format!("  {name:width$}  "), about, columns) {
                out.line(line);
            }
        }
        out.gap();
    }
    out.line("Run `comail help NAME` to read about one of them.");
}

fn check_page(name: &str, about: &str, example: &str) -> String {
    let schema = schema();
    let table = check_table(&schema, name);
    let (more, keys) = (more_of(table), check_keys(&schema, table));
    format!(
        "# The check {name}\n\n{about}\n\n```toml\n{example}\n```\n\n{more}## Keys\n\n{keys}\nSee also: \
         comail help quest-files, comail quest schema\n"
    )
}

fn check_table<'a>(schema: &'a Value, kind: &str) -> &'a Value {
    let kinds = schema["$defs"]["Check"]["oneOf"].as_array();
    let table = kinds.into_iter().flatten().find(|it| it["title"] == kind);
    table.unwrap_or(&Value::Null)
}

/// What there is to say of a kind besides its first line, which names it.
fn more_of(table: &Value) -> String {
    let text = table["description"].as_str().unwrap_or("");
    let paragraphs = text.split("\n\n").skip(1);
    let lines =
        paragraphs.flat_map(|text| [hanging("", text, WIDTH), vec![String::new()]].concat());
    lines.map(|line| line + "\n").collect()
}

fn check_keys(schema: &Value, table: &Value) -> String {
    let is_required = |name: &str| {
        let mut names = table["required"].as_array().into_iter().flatten();
        names.any(|it| it == name)
    };
    // The keys of a type of its own are in a definition.
    let parts = [table, referenced(schema, table)];
    let keys = parts.iter().filter_map(|it| it["properties"].as_object());
    let mut keys: Vec<(&String, &Value)> = keys.flatten().collect();
    keys.retain(|(name, _)| !CheckHead::KEYS.contains(&name.as_str()));
    keys.sort_by_key(|(name, _)| (!is_required(name), *name));
    keys.dedup_by_key(|(name, _)| *name);
    if keys.is_empty() {
        return "It has no keys of its own.\n".to_owned();
    }
    let mut text = String::new();
    for (name, key) in keys {
        let mut about = key["description"].as_str().unwrap_or("").to_owned();
        let choices = referenced(schema, key)["oneOf"].as_array();
        let choices = choices.into_iter().flatten();
        let choices: Vec<&str> = choices.filter_map(|it| it["const"].as_str()).collect();
        if !choices.is_empty() {
            about = format!("{about} One of {}.", choices.join(", "));
        }
        let default = &key["default"];
        if is_required(name) {
            about.push_str(" [required]");
        } else if !default.is_null() && *default != Value::Array(Vec::new()) {
            about = format!("{about} [default: {default}]");
        }
        text.extend(["  ", name, "\n"]);
        for line in hanging("      ", &about, WIDTH) {
            text.extend([&line, "\n"]);
        }
    }
    text
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
