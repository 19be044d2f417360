//! An agent's settings with our hooks in them, and all else as it was.

use std::ops::Range;

use serde_json::{Value, json};

use super::agent::{HookAgent, HookEvent};
use super::entries::{appended, items, member, members, string};
use super::own;
use super::rules::program;

/// Settings that are not understood, and so not changed.
#[derive(Debug, thiserror::Error)]
pub enum BadSettings {
    /// They are no JSON.
    #[error("they are no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A part of them is not of the form that hooks have.
    #[error("{0} in them is not of the form that hooks have, or stands there twice")]
    Form(String),
}

/// How this program is called by a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// This program, absolute.
    pub program: String,
    /// The session directory, absolute.
    pub session: String,
    /// The further words of each subcommand, by its name.
    pub further: Vec<(&'static str, Vec<String>)>,
}

impl Caller {
    /// The command of a hook.
    fn command(&self, agent: HookAgent, answers: &str) -> String {
        let further = self.further.iter().filter(|(name, _)| *name == answers);
        let mut words = vec![
            self.program.as_str(),
            "hook",
            answers,
            "--agent",
            agent.name(),
            "--session",
            &self.session,
        ];
        words.extend(further.flat_map(|(_, words)| words).map(String::as_str));
        let quoted = words
            .iter()
            .map(|word| shlex::try_quote(word).unwrap_or_default());
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// Whether a command is one of ours for this session.
    fn wrote(&self, command: &str, answers: &str) -> bool {
        let Some(words) = shlex::split(command) else {
            return false;
        };
        let ours = words
            .first()
            .is_some_and(|first| program(first) == own::NAME || *first == self.program);
        let names = words
            .windows(2)
            .any(|pair| pair[0] == "--session" && pair[1] == self.session);
        ours && names
            && words.get(1).is_some_and(|it| it == "hook")
            && words.get(2).is_some_and(|it| it == answers)
    }
}

/// The settings with our hooks in them; an empty text stands for none.
pub fn with_hooks(text: &str, agent: HookAgent, caller: &Caller) -> Result<String, BadSettings> {
    let mut text = match text.trim() {
        "" => String::from("{}\n"),
        _ => text.to_owned(),
    };
    serde_json::from_str::<Value>(&text)?;
    text = with_member(&text, &[], "hooks", &json!({}))?;
    for event in agent.events() {
        text = with_member(&text, &["hooks"], event.name, &json!([]))?;
        text = with_hook(&text, agent, event, caller)?;
    }
    // What is written must be what an agent can read.
    serde_json::from_str::<Value>(&text)?;
    Ok(text)
}

/// The text with a member of this name, of this value where there was none.
fn with_member(text: &str, way: &[&str], name: &str, value: &Value) -> Result<String, BadSettings> {
    let span = at(text, way)?;
    let found = members(text, &span).ok_or_else(|| form(way))?;
    if found.iter().any(|entry| entry.name == name) {
        return Ok(text.to_owned());
    }
    let last = found.last().map(|entry| entry.span.end);
    let new = format!("{}: {value}", Value::from(name));
    Ok(appended(text, &span, last, &new))
}

/// The text with our hook for this event: ours as it should be now, or behind all others.
fn with_hook(
    text: &str,
    agent: HookAgent,
    event: HookEvent,
    caller: &Caller,
) -> Result<String, BadSettings> {
    let way = ["hooks", event.name];
    let span = at(text, &way)?;
    let groups = items(text, &span).ok_or_else(|| form(&way))?;
    let command = caller.command(agent, event.answers);
    for group in &groups {
        if let Some(old) = ours(text, &group.span, caller, event) {
            let new = Value::from(command).to_string();
            return Ok(format!("{}{new}{}", &text[..old.start], &text[old.end..]));
        }
    }
    let hook = json!({ "type": "command", "command": command, "timeout": agent.timeout() });
    let group = match event.matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    };
    let last = groups.last().map(|group| group.span.end);
    Ok(appended(
        text,
        &span,
        last,
        &serde_json::to_string_pretty(&group)?,
    ))
}

/// Where our command stands in a group of hooks.
fn ours(
    text: &str,
    group: &Range<usize>,
    caller: &Caller,
    event: HookEvent,
) -> Option<Range<usize>> {
    let hooks = items(text, &member(text, group, "hooks")?)?;
    let commands = hooks
        .iter()
        .filter_map(|hook| member(text, &hook.span, "command"));
    let mut commands = commands.filter(|command| {
        string(text, command).is_some_and(|command| caller.wrote(&command, event.answers))
    });
    commands.next()
}

/// Where the value stands to which these names lead.
fn at(text: &str, way: &[&str]) -> Result<Range<usize>, BadSettings> {
    let begin = text.len() - text.trim_start().len();
    let whole = begin..text.trim_end().len();
    way.iter()
        .enumerate()
        .try_fold(whole, |span, (depth, name)| {
            member(text, &span, name).ok_or_else(|| form(&way[..=depth]))
        })
}

fn form(way: &[&str]) -> BadSettings {
    BadSettings::Form(match way {
        [] => String::from("the outermost value"),
        way => way.join("."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller {
            program: "/opt/comail".into(),
            session: "/home/kim/a b/.comail".into(),
            further: vec![("tool", vec!["--unattended".into()])],
        }
    }

    fn with(text: &str) -> Result<String, BadSettings> {
        with_hooks(text, HookAgent::Claude, &caller())
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn hooks_are_written_where_there_were_none() {
        for text in [
            "",
            "{}",
            " {} \n",
            "{\"hooks\":{}}",
            "{\"hooks\":{\"Stop\":[]}}",
        ] {
            let value = read(&with(text).unwrap());
            let stop = &value["hooks"]["Stop"][0]["hooks"][0]["command"];
            assert_eq!(
                *stop,
                "/opt/comail hook stop --agent claude --session '/home/kim/a b/.comail'"
            );
            let tool = &value["hooks"]["PreToolUse"][0];
            assert_eq!(tool["matcher"], "Bash|Edit|MultiEdit|NotebookEdit|Write");
            let command = tool["hooks"][0]["command"].as_str().unwrap();
            assert!(command.ends_with(" --unattended"), "{command}");
        }
    }

    #[test]
    fn what_was_there_stays_as_it_was() {
        let text = "{\n  \"z\": 1.50e3,\n  \"hooks\": {\n    \"Stop\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]} ],\n    \"Other\": 7\n  },\n  \"a\": [1,\n 2]\n}\n";
        let new = with(text).unwrap();
        let lines = text
            .lines()
            .map(|line| line.trim_end_matches([',', ' ', ']']));
        for line in lines {
            assert!(new.contains(line), "{line}\n{new}");
        }
        let value = read(&new);
        assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
        assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert!(new.find("\"z\"").unwrap() < new.find("\"a\"").unwrap());
    }

    #[test]
    fn once_more_changes_nothing_and_a_moved_program_is_called_where_it_is() {
        for agent in [HookAgent::Claude, HookAgent::Codex, HookAgent::Gemini] {
            let once = with_hooks("", agent, &caller()).unwrap();
            assert_eq!(with_hooks(&once, agent, &caller()).unwrap(), once);
            let moved = Caller {
                program: "/new/comail".into(),
                ..caller()
            };
            let again = with_hooks(&once, agent, &moved).unwrap();
            assert_eq!(again, once.replace("/opt/", "/new/"));
            let other = Caller {
                session: "/other".into(),
                ..caller()
            };
            let both = read(&with_hooks(&once, agent, &other).unwrap());
            let events = both["hooks"].as_object().unwrap();
            assert!(
                events
                    .values()
                    .all(|event| event.as_array().unwrap().len() == 2)
            );
        }
    }

    #[test]
    fn what_is_not_understood_is_not_changed() {
        for text in [
            "{",
            "[]",
            "7",
            "// a\n{}",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"Stop\":{}}}",
            "{\"hooks\":{},\"hooks\":{}}",
            "{\"hooks\":null}",
            "\u{feff}{}",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
    }
}
