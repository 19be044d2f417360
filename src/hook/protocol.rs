//! What each coding agent sends to its hooks, and what it expects to read.

use std::path::PathBuf;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const MAX_CALL_BYTES: u64 = 16 << 20;

/// The most bytes of a text in a reply. Agents cut or drop longer ones.
const MAX_REPLY_BYTES: usize = 16 << 10;

/// A coding agent whose hooks comail answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookAgent {
    Claude,
    Codex,
    Gemini,
}

/// What the settings of an agent say about its hooks.
#[derive(Debug)]
pub struct AgentHooks {
    pub name: &'static str,
    /// The settings file, relative to the directory in which the agent works.
    pub settings: &'static str,
    pub stop_event: &'static str,
    pub tool_event: &'static str,
    /// The tools to which the tool hook applies, as the agent's regular expression.
    pub tools: &'static str,
    /// One minute, in the agent's own unit.
    pub timeout: u32,
    /// What makes the agent trust these settings, without which it ignores them.
    pub trust: Option<&'static str>,
}

impl HookAgent {
    pub const fn hooks(self) -> &'static AgentHooks {
        match self {
            Self::Claude => &AgentHooks {
                name: "claude",
                settings: ".claude/settings.json",
                stop_event: "Stop",
                tool_event: "PreToolUse",
                tools: "Bash|Edit|MultiEdit|NotebookEdit|Write",
                timeout: 60,
                trust: None,
            },
            Self::Codex => &AgentHooks {
                name: "codex",
                settings: ".codex/hooks.json",
                stop_event: "Stop",
                tool_event: "PreToolUse",
                tools: "Bash|apply_patch|Edit|Write",
                timeout: 60,
                trust: Some("--trust --dangerously-bypass-hook-trust"),
            },
            Self::Gemini => &AgentHooks {
                name: "gemini",
                settings: ".gemini/settings.json",
                stop_event: "AfterAgent",
                tool_event: "BeforeTool",
                tools: "run_shell_command|replace|write_file",
                timeout: 60_000,
                trust: Some("GEMINI_CLI_TRUST_WORKSPACE=true"),
            },
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("the hook's input is not valid")]
    Json(#[from] serde_json::Error),
    #[error("the hook's input is longer than {MAX_CALL_BYTES} bytes")]
    TooLong,
    #[error("the input of {0} has no {1}")]
    Missing(String, &'static str),
}

/// The agent wants to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct StopCall {
    #[serde(default, rename = "session_id")]
    pub conversation: String,
    #[serde(default, rename = "hook_event_name")]
    pub event: String,
    /// Whether a hook already refused a stop in this turn, if the agent says.
    #[serde(default, rename = "stop_hook_active")]
    pub was_refused: Option<bool>,
}

/// The agent wants to use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub cwd: Option<PathBuf>,
    pub action: ToolAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAction {
    Run(String),
    Edit(Vec<String>),
    /// Use a tool that neither runs commands nor changes files.
    Other,
}

impl StopCall {
    pub fn parse(bytes: &[u8]) -> Result<Self, CallError> {
        Ok(serde_json::from_slice(checked_length(bytes)?)?)
    }

    /// Whether the agent itself wants to stop, rather than a subagent of it.
    pub fn is_main_agent(&self) -> bool {
        matches!(self.event.as_str(), "" | "Stop" | "AfterAgent")
    }
}

impl ToolCall {
    pub fn parse(bytes: &[u8]) -> Result<Self, CallError> {
        #[derive(Deserialize)]
        struct Raw {
            tool_name: String,
            #[serde(default)]
            tool_input: Value,
            cwd: Option<PathBuf>,
        }
        let raw: Raw = serde_json::from_slice(checked_length(bytes)?)?;
        let field = |name: &str| raw.tool_input.get(name);
        let text = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
        let missing = |field| CallError::Missing(raw.tool_name.clone(), field);
        // All of them, so that a call cannot show one path and change another.
        let paths: Vec<String> = ["file_path", "path", "notebook_path"]
            .into_iter()
            .filter_map(text)
            .collect();
        let patch = || ["command", "input", "patch"].into_iter().find_map(text);
        let action = match raw.tool_name.as_str() {
            "Bash" | "run_shell_command" | "exec_command" | "shell" | "shell_command" => {
                let line = ["command", "cmd"].into_iter().find_map(|name| {
                    let words = field(name)?;
                    text(name).or_else(|| joined(words))
                });
                ToolAction::Run(line.ok_or_else(|| missing("command"))?)
            }
            // Codex also calls its patches Edit and Write.
            "apply_patch" | "Write" | "Edit" | "MultiEdit" | "write_file" | "replace"
            | "NotebookEdit" => {
                let patched = patch().map(|patch| patched_files(&patch));
                let all = [paths, patched.unwrap_or_default()].concat();
                if all.is_empty() {
                    return Err(missing("file_path"));
                }
                ToolAction::Edit(all)
            }
            _ => ToolAction::Other,
        };
        let folder = ["dir_path", "directory", "workdir"]
            .into_iter()
            .find_map(text);
        let cwd = match (&action, folder) {
            (ToolAction::Run(_), Some(folder)) => Some(raw.cwd.unwrap_or_default().join(folder)),
            _ => raw.cwd,
        };
        Ok(Self { cwd, action })
    }
}

fn checked_length(bytes: &[u8]) -> Result<&[u8], CallError> {
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MAX_CALL_BYTES => Ok(bytes),
        _ => Err(CallError::TooLong),
    }
}

fn joined(words: &Value) -> Option<String> {
    let words: Option<Vec<&str>> = words.as_array()?.iter().map(Value::as_str).collect();
    shlex::try_join(words?).ok()
}

/// The files that a patch in the format of `apply_patch` names.
fn patched_files(patch: &str) -> Vec<String> {
    const HEADERS: [&str; 4] = [
        "*** Add File:",
        "*** Update File:",
        "*** Delete File:",
        "*** Move to:",
    ];
    let named = |line: &str| {
        HEADERS
            .iter()
            .find_map(|header| Some(line.trim().strip_prefix(header)?.trim().to_owned()))
    };
    patch.lines().filter_map(named).collect()
}

/// The answer to an agent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReply {
    /// It must go on, with this as its task.
    GoOn(String),
    Stop(String),
}

/// What happens to a tool call, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    Allow,
    /// The agent's own permissions decide.
    #[serde(skip)]
    Defer,
    /// A person decides.
    Ask,
    Deny,
}

impl Permission {
    pub fn because(self, reason: impl Into<String>) -> ToolReply {
        ToolReply {
            permission: self,
            reason: reason.into(),
        }
    }
}

/// The answer to an agent that wants to use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReply {
    pub permission: Permission,
    pub reason: String,
}

/// The answer in the agent's own form. An empty object leaves the decision to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookReply {
    /// `block` or `deny` for a stop; `allow` or `deny` for a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Why the agent may stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<ToolDecision>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolDecision {
    hook_event_name: &'static str,
    /// `allow`, `ask` or `deny`.
    permission_decision: &'static str,
    permission_decision_reason: String,
}

impl StopReply {
    /// A text that is too long is cut, and ends with `hint`, which says how to read all of it.
    pub fn for_agent(&self, agent: HookAgent, hint: &str) -> HookReply {
        match self {
            Self::GoOn(text) => HookReply {
                decision: Some(match agent {
                    HookAgent::Claude | HookAgent::Codex => "block",
                    HookAgent::Gemini => "deny",
                }),
                reason: Some(bounded(text, hint)),
                ..HookReply::default()
            },
            Self::Stop(reason) => HookReply {
                system_message: Some(bounded(reason, "")),
                ..HookReply::default()
            },
        }
    }
}

impl ToolReply {
    /// The stricter of both, the first of two that are equal.
    pub(super) fn stricter(self, other: Self) -> Self {
        if other.permission > self.permission {
            other
        } else {
            self
        }
    }

    /// The same where nobody can be asked: deny what a person would decide.
    pub fn unattended(self) -> Self {
        if self.permission != Permission::Ask {
            return self;
        }
        Permission::Deny.because(format!("{}; nobody is there to allow it", self.reason))
    }

    pub fn for_agent(&self, agent: HookAgent) -> HookReply {
        let decision = match (self.permission, agent) {
            // Codex knows only "deny" here; it takes any other word for an error and goes on.
            (Permission::Defer, _) | (Permission::Allow, HookAgent::Codex) => {
                return HookReply::default();
            }
            (Permission::Allow, _) => "allow",
            // Only Claude Code can ask a person.
            (Permission::Ask, HookAgent::Claude) => "ask",
            (Permission::Ask | Permission::Deny, _) => "deny",
        };
        let reason = format!("comail: {}", bounded(&self.reason, ""));
        match agent {
            HookAgent::Gemini => HookReply {
                decision: Some(decision),
                reason: Some(reason),
                ..HookReply::default()
            },
            HookAgent::Claude | HookAgent::Codex => HookReply {
                hook_specific_output: Some(ToolDecision {
                    hook_event_name: agent.hooks().tool_event,
                    permission_decision: decision,
                    permission_decision_reason: reason,
                }),
                ..HookReply::default()
            },
        }
    }
}

fn bounded(text: &str, hint: &str) -> String {
    if text.len() <= MAX_REPLY_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_REPLY_BYTES).rfind(|at| text.is_char_boundary(*at));
    format!("{}\n[…]\n{hint}", &text[..end.unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use crate::base::rows;
    use serde_json::json;

    use super::*;

    const ALL: [Permission; 4] = [
        Permission::Allow,
        Permission::Defer,
        Permission::Ask,
        Permission::Deny,
    ];

    fn action(tool: &str, input: &Value) -> Option<ToolAction> {
        let call = json!({ "tool_name": tool, "tool_input": input, "cwd": "/w" });
        let call = ToolCall::parse(call.to_string().as_bytes());
        call.ok().map(|call| call.action)
    }

    #[test]
    fn the_tools_of_each_agent_are_understood() {
        let run = |line: &str| ToolAction::Run(line.into());
        let edit = |paths: &[&str]| ToolAction::Edit(paths.iter().map(|&it| it.into()).collect());
        let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n-x\n*** End Patch";
        for (tool, input, expected) in rows! {
            "Bash", json!({"command": "ls"}) => run("ls");
            "run_shell_command", json!({"command": "a"}) => run("a");
            "exec_command", json!({"cmd": "a b"}) => run("a b");
            "shell", json!({"command": ["a", "b c"]}) => run("a 'b c'");
            "Edit", json!({"file_path": "a"}) => edit(&["a"]);
            "NotebookEdit", json!({"notebook_path": "a"}) => edit(&["a"]);
            "replace", json!({"file_path": "/a"}) => edit(&["/a"]);
            "apply_patch", json!({"command": patch}) => edit(&["a", "../b"]);
            "Write", json!({"input": patch}) => edit(&["a", "../b"]);
            "Write", json!({"file_path": "a", "path": "b"}) => edit(&["a", "b"]);
            "Read", json!({"file_path": "a"}) => ToolAction::Other;
        } {
            assert_eq!(action(tool, &input), Some(expected), "{tool} {input}");
        }
    }

    #[test]
    fn a_call_without_the_deciding_field_is_an_error() {
        for (tool, input) in [
            ("Bash", json!({})),
            ("Bash", json!({"command": [1]})),
            ("Write", json!({"other": "a"})),
            ("Write", json!({"file_path": 1})),
            ("apply_patch", json!({"command": "no patch"})),
        ] {
            assert_eq!(action(tool, &input), None, "{tool} {input}");
        }
        for bytes in [
            &b"{"[..],
            b"[]",
            b"{}",
            b"\xff",
            b"{\"tool_name\":\"Bash\xff\"}",
        ] {
            assert!(ToolCall::parse(bytes).is_err());
        }
    }

    #[test]
    fn only_the_main_agent_is_asked_to_go_on() {
        let stop = br#"{"session_id":"a","hook_event_name":"Stop","stop_hook_active":true,"x":1}"#;
        let stop = StopCall::parse(stop).unwrap();
        assert!(stop.is_main_agent() && stop.was_refused == Some(true));
        assert_eq!(stop.conversation, "a");
        let part = StopCall::parse(br#"{"hook_event_name":"SubagentStop"}"#).unwrap();
        assert!(!part.is_main_agent());
        assert!(StopCall::parse(b"Stop").is_err());
    }

    #[test]
    fn each_agent_reads_its_own_words() {
        let words = |agent: HookAgent| {
            ALL.map(|permission| {
                let json = json!(permission.because("x").for_agent(agent));
                let own = &json["hookSpecificOutput"]["permissionDecision"];
                let word = own.as_str().or_else(|| json["decision"].as_str());
                word.unwrap_or("-").to_owned()
            })
        };
        assert_eq!(words(HookAgent::Claude), ["allow", "-", "ask", "deny"]);
        assert_eq!(words(HookAgent::Codex), ["-", "-", "deny", "deny"]);
        assert_eq!(words(HookAgent::Gemini), ["allow", "-", "deny", "deny"]);
        let go_on = StopReply::GoOn("x".into());
        let word = |agent| go_on.for_agent(agent, "").decision.unwrap();
        assert_eq!(
            [word(HookAgent::Claude), word(HookAgent::Gemini)],
            ["block", "deny"]
        );
        let stop = StopReply::Stop("x".into()).for_agent(HookAgent::Codex, "");
        assert_eq!(json!(stop), json!({ "systemMessage": "x" }));
    }

    #[test]
    fn a_reply_that_is_too_long_is_cut() {
        let long = StopReply::GoOn("ä".repeat(MAX_REPLY_BYTES));
        let text = long.for_agent(HookAgent::Claude, "more").reason.unwrap();
        assert!(text.len() < MAX_REPLY_BYTES + 100 && text.ends_with("more"));
    }

    #[test]
    fn the_strictest_permission_wins_and_nobody_is_asked_when_unattended() {
        let reply = |permission: Permission| permission.because(format!("{permission:?}"));
        for (place, permission) in ALL.into_iter().enumerate() {
            for other in ALL.into_iter().take(place + 1) {
                assert_eq!(reply(permission).stricter(reply(other)), reply(permission));
                let reversed = reply(other).stricter(reply(permission));
                assert_eq!(reversed.permission, permission);
            }
        }
        let asked = reply(Permission::Ask).unattended();
        assert_eq!(asked.permission, Permission::Deny);
        assert_eq!(
            reply(Permission::Defer).unattended(),
            reply(Permission::Defer)
        );
    }
}
