//! What an agent says when it calls a hook.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// The most bytes of a call that are read.
pub const MOST_CALL_BYTES: u64 = 16 << 20;

/// A call that does not read.
#[derive(Debug, thiserror::Error)]
pub enum BadCall {
    /// It is no JSON, or not of the form.
    #[error("the hook's input does not read: {0}")]
    Json(#[from] serde_json::Error),
    /// It is longer than is read.
    #[error("the hook's input is longer than {MOST_CALL_BYTES} bytes")]
    Long,
    /// A tool's input lacks what decides.
    #[error("the input of {tool} has no {lacks}")]
    Lacks {
        /// The tool.
        tool: String,
        /// What is missing.
        lacks: &'static str,
    },
}

/// An agent wants to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct StopCall {
    /// The agent's name for its conversation.
    #[serde(default, rename = "session_id")]
    pub conversation: String,
    /// The event.
    #[serde(default, rename = "hook_event_name")]
    pub event: String,
    /// Whether it goes on because a hook refused the last stop; none where it does not say.
    #[serde(default, rename = "stop_hook_active")]
    pub goes_on: Option<bool>,
}

/// An agent wants to use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The directory in which it does.
    pub here: Option<PathBuf>,
    /// What the tool would do.
    pub act: Act,
}

/// What a tool would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Run this shell line.
    Run(String),
    /// Change these files.
    Edit(Vec<String>),
    /// What is not known: the texts of its input.
    Other(Vec<String>),
}

impl StopCall {
    /// Reads a call.
    pub fn read(bytes: &[u8]) -> Result<Self, BadCall> {
        Ok(serde_json::from_slice(within(bytes)?)?)
    }

    /// Whether it is the end of an agent's turn, and not of some part of it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self.event.as_str(), "" | "Stop" | "AfterAgent")
    }
}

impl ToolCall {
    /// Reads a call.
    pub fn read(bytes: &[u8]) -> Result<Self, BadCall> {
        #[derive(Deserialize)]
        struct Raw {
            tool_name: String,
            #[serde(default)]
            tool_input: Value,
            cwd: Option<PathBuf>,
        }
        let raw: Raw = serde_json::from_slice(within(bytes)?)?;
        let mut here = raw.cwd;
        let text = |names: &[&'static str]| {
            let mut values = names.iter().filter_map(|name| raw.tool_input.get(*name));
            let value = values.next().and_then(Value::as_str);
            value.map(str::to_owned).ok_or_else(|| BadCall::Lacks {
                tool: raw.tool_name.clone(),
                lacks: names[0],
            })
        };
        let act = match raw.tool_name.as_str() {
            "Bash" | "run_shell_command" => Act::Run(text(&["command"])?),
            "exec_command" | "shell" | "shell_command" => text(&["cmd", "command"])
                .map_or_else(|_| Act::Other(texts(&raw.tool_input)), Act::Run),
            "apply_patch" => Act::Edit(patched(&text(&["command", "input", "patch"])?)),
            "Write" | "Edit" | "MultiEdit" | "write_file" | "replace" => {
                // Codex calls its patches so too.
                match text(&["file_path"]) {
                    Ok(path) => Act::Edit(vec![path]),
                    Err(lacks) => match text(&["command"]) {
                        Ok(patch) => Act::Edit(patched(&patch)),
                        Err(_) => return Err(lacks),
                    },
                }
            }
            "NotebookEdit" => Act::Edit(vec![text(&["notebook_path", "file_path"])?]),
            "TodoWrite" | "write_todos" | "WebSearch" => Act::Other(Vec::new()),
            _ => Act::Other(texts(&raw.tool_input)),
        };
        let act = match act {
            Act::Edit(mut paths) => {
                // Who names one file and changes another is not believed.
                let names = ["file_path", "path", "notebook_path"];
                let further = names
                    .iter()
                    .filter_map(|name| raw.tool_input.get(*name)?.as_str());
                let further: Vec<_> = further.map(str::to_owned).collect();
                if !paths.is_empty() {
                    paths.extend(further);
                    paths.dedup();
                }
                Act::Edit(paths)
            }
            other => other,
        };
        if act == Act::Edit(Vec::new()) {
            return Err(BadCall::Lacks {
                tool: raw.tool_name,
                lacks: "file",
            });
        }
        let folder = ["dir_path", "directory", "workdir"]
            .iter()
            .find_map(|name| raw.tool_input.get(*name));
        if let (Act::Run(_), Some(folder)) = (&act, folder.and_then(Value::as_str)) {
            here = Some(here.unwrap_or_default().join(folder));
        }
        Ok(Self { here, act })
    }
}

fn within(bytes: &[u8]) -> Result<&[u8], BadCall> {
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MOST_CALL_BYTES => Ok(bytes),
        _ => Err(BadCall::Long),
    }
}

/// All texts in a value; a list of texts also as one, as its words.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let mut found: Vec<_> = items.iter().flat_map(texts).collect();
            found.push(found.join(" "));
            found
        }
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The files that a patch names.
fn patched(patch: &str) -> Vec<String> {
    const NAMES: &[&str] = &[
        "*** Add File:",
        "*** Update File:",
        "*** Delete File:",
        "*** Move to:",
    ];
    let lines = patch.lines();
    let named =
        lines.filter_map(|line| NAMES.iter().find_map(|name| line.trim().strip_prefix(name)));
    named.map(|path| path.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn act(tool: &str, input: &Value) -> Option<Act> {
        let call = json!({ "tool_name": tool, "tool_input": input, "cwd": "/w" });
        let call = ToolCall::read(call.to_string().as_bytes());
        call.ok().map(|call| call.act)
    }

    fn edits(paths: &[&str]) -> Act {
        Act::Edit(paths.iter().map(|&path| path.to_owned()).collect())
    }

    #[test]
    fn tools_of_each_agent_are_told_apart() {
        let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n-x\n*** End Patch";
        for (tool, input, expected) in [
            ("Bash", json!({"command": "ls"}), Act::Run("ls".into())),
            (
                "run_shell_command",
                json!({"command": "a"}),
                Act::Run("a".into()),
            ),
            ("Edit", json!({"file_path": "a"}), edits(&["a"])),
            ("NotebookEdit", json!({"notebook_path": "a"}), edits(&["a"])),
            ("replace", json!({"file_path": "/a"}), edits(&["/a"])),
            (
                "apply_patch",
                json!({"command": patch}),
                edits(&["a", "../b"]),
            ),
            (
                "Read",
                json!({"file_path": "a", "b": [{"c": "d"}]}),
                Act::Other(vec!["d".into(), "d".into(), "a".into()]),
            ),
        ] {
            assert_eq!(act(tool, &input), Some(expected), "{tool} {input}");
        }
    }

    #[test]
    fn what_lacks_the_deciding_word_does_not_read() {
        for (tool, input) in [
            ("Bash", json!({})),
            ("Bash", json!({"command": ["ls"]})),
            ("Write", json!({"path": "a"})),
            ("Write", json!({"file_path": 1})),
            ("apply_patch", json!({"command": "no patch"})),
        ] {
            assert_eq!(act(tool, &input), None, "{tool} {input}");
        }
        for bytes in [
            &b"{"[..],
            b"[]",
            b"{}",
            b"\xff",
            b"{\"tool_name\":\"Bash\xff\"}",
        ] {
            assert!(ToolCall::read(bytes).is_err());
        }
    }

    #[test]
    fn a_stop_is_told_from_the_end_of_a_part() {
        let stop = br#"{"session_id":"a","hook_event_name":"Stop","stop_hook_active":true,"x":1}"#;
        let stop = StopCall::read(stop).unwrap();
        assert!(stop.is_stop() && stop.goes_on == Some(true) && stop.conversation == "a");
        assert!(
            !StopCall::read(br#"{"hook_event_name":"SubagentStop"}"#)
                .unwrap()
                .is_stop()
        );
        assert!(StopCall::read(b"Stop").is_err());
    }
}
