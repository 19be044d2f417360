//! Adds comail's hooks to the settings of an agent and leaves everything else as it was written.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode, CstStringLit};

use super::command_line::program;
use super::protocol::HookAgent;
use super::tool_rules;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings are not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("in the settings, {0} does not have the form of hooks, or appears twice")]
    Form(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCaller {
    /// The path of the program; absolute.
    pub program: String,
    /// The session directory; absolute.
    pub session: String,
    /// Further arguments of `hook tool`.
    pub tool_arguments: Vec<String>,
}

impl HookCaller {
    fn command(&self, agent: HookAgent, subcommand: &str) -> String {
        let mut words = vec![self.program.as_str(), "hook", subcommand];
        words.extend(["--agent", agent.hooks().name, "--session", &self.session]);
        if subcommand == "tool" {
            words.extend(self.tool_arguments.iter().map(String::as_str));
        }
        let quoted = words
            .iter()
            .map(|word| shlex::try_quote(word).unwrap_or_default());
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// Whether a command is comail's hook for this session, perhaps of another version.
    fn owns(&self, command: &str, subcommand: &str) -> bool {
        let words = shlex::split(command).unwrap_or_default();
        let [first, hook, answered, ..] = &words[..] else {
            return false;
        };
        let mut pairs = words.windows(2);
        (program(first) == tool_rules::NAME || *first == self.program)
            && hook == "hook"
            && answered == subcommand
            && pairs.any(|pair| pair[0] == "--session" && pair[1] == self.session)
    }
}

/// The settings with comail's hooks in them; an empty text means no settings.
pub fn with_hooks(
    text: &str,
    agent: HookAgent,
    caller: &HookCaller,
) -> Result<String, SettingsError> {
    let text = match text.trim() {
        "" => "{}\n",
        _ => text,
    };
    // The agents read strict JSON, and the parser below takes more than that.
    serde_json::from_str::<serde_json::Value>(text)?;
    let root = CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|_| SettingsError::Form("something"))?;
    let settings = root
        .object_value()
        .ok_or(SettingsError::Form("the outermost value"))?;
    if !once(&settings, "hooks")? {
        settings.append("hooks", CstInputValue::Object(Vec::new()));
    }
    let hooks = settings.object_value("hooks");
    let hooks = hooks.ok_or(SettingsError::Form("hooks"))?;
    let own = agent.hooks();
    for (event, matcher, subcommand) in [
        (own.stop_event, None, "stop"),
        (own.tool_event, Some(own.tools), "tool"),
    ] {
        if !once(&hooks, event)? {
            hooks.append(event, CstInputValue::Array(Vec::new()));
        }
        let groups = hooks.array_value(event);
        let groups = groups.ok_or(SettingsError::Form(event))?;
        let command = caller.command(agent, subcommand);
        match existing(&groups, caller, subcommand) {
            Some(old) => old.set_raw_value(serde_json::to_string(&command)?),
            None => {
                groups.append(group(matcher, own.timeout, command));
            }
        }
    }
    let new = root.to_string();
    serde_json::from_str::<serde_json::Value>(&new)?;
    Ok(new)
}

/// Whether an object has a property of this name; an error if it has two, because the agent may
/// read either.
fn once(object: &CstObject, name: &'static str) -> Result<bool, SettingsError> {
    let named = |property: &jsonc_parser::cst::CstObjectProp| {
        property.decoded_name().is_some_and(|it| it == name)
    };
    match object.properties().iter().filter(|it| named(it)).count() {
        count @ 0..=1 => Ok(count == 1),
        _ => Err(SettingsError::Form(name)),
    }
}

fn existing(groups: &CstArray, caller: &HookCaller, subcommand: &str) -> Option<CstStringLit> {
    let hooks = |group: CstNode| group.as_object()?.array_value("hooks");
    let command = |hook: CstNode| hook.as_object()?.get("command")?.value()?.as_string_lit();
    groups
        .elements()
        .into_iter()
        .filter_map(hooks)
        .flat_map(|hooks| hooks.elements())
        .filter_map(command)
        .find(|it| {
            let command = it.decoded_value();
            command.is_ok_and(|command| caller.owns(&command, subcommand))
        })
}

fn group(matcher: Option<&str>, timeout: u32, command: String) -> CstInputValue {
    let field = |name: &str, value: CstInputValue| (name.to_owned(), value);
    let hook = CstInputValue::Object(vec![
        field("type", "command".into()),
        field("command", command.into()),
        field("timeout", timeout.into()),
    ]);
    let matcher = matcher.map(|matcher| field("matcher", matcher.into()));
    let hooks = field("hooks", CstInputValue::Array(vec![hook]));
    CstInputValue::Object(matcher.into_iter().chain([hooks]).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn caller() -> HookCaller {
        HookCaller {
            program: "/opt/comail".into(),
            session: "/home/kim/a b/.comail".into(),
            tool_arguments: vec!["--unattended".into()],
        }
    }

    fn with(text: &str) -> Result<String, SettingsError> {
        with_hooks(text, HookAgent::Claude, &caller())
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn hooks_are_added_to_settings_without_any() {
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
    fn a_second_installation_changes_only_what_moved() {
        for agent in [HookAgent::Claude, HookAgent::Codex, HookAgent::Gemini] {
            let once = with_hooks("", agent, &caller()).unwrap();
            assert_eq!(with_hooks(&once, agent, &caller()).unwrap(), once);
            let moved = HookCaller {
                program: "/new/comail".into(),
                ..caller()
            };
            let again = with_hooks(&once, agent, &moved).unwrap();
            assert_eq!(again, once.replace("/opt/", "/new/"));
            let other = HookCaller {
                session: "/other".into(),
                ..caller()
            };
            let both = read(&with_hooks(&once, agent, &other).unwrap());
            let events = both["hooks"].as_object().unwrap();
            assert!(events.values().all(|it| it.as_array().unwrap().len() == 2));
        }
    }

    #[test]
    fn settings_of_another_form_are_refused() {
        for text in [
            "{",
            "[]",
            "7",
            "// a\n{}",
            "{a: 1}",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"Stop\":{}}}",
            "{\"hooks\":{},\"hooks\":{}}",
            "{\"hooks\":{\"Stop\":[],\"Stop\":[]}}",
            "{\"hooks\":null}",
            "\u{feff}{}",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
    }
}
