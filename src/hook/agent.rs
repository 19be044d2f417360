//! The coding agents whose hooks are answered, and how each writes them down.

use std::fmt;
use std::str::FromStr;

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HookAgent {
    /// Claude Code.
    #[default]
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// A name of no agent that is known.
#[derive(Debug, thiserror::Error)]
#[error("the agents are claude, codex and gemini")]
pub struct UnknownAgent;

/// One entry of an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEvent {
    /// The event.
    pub name: &'static str,
    /// The tools that it is for, where it is for tools.
    pub matcher: Option<&'static str>,
    /// The subcommand that answers it.
    pub answers: &'static str,
}

impl HookAgent {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The file of its settings, in the directory that it works in.
    #[must_use]
    pub fn settings(self) -> &'static str {
        match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    /// The events that are answered.
    #[must_use]
    pub fn events(self) -> [HookEvent; 2] {
        let (stop, tool, matcher) = match self {
            Self::Claude => (
                "Stop",
                "PreToolUse",
                "Bash|Edit|MultiEdit|NotebookEdit|Write",
            ),
            Self::Codex => ("Stop", "PreToolUse", "Bash|apply_patch|Edit|Write"),
            Self::Gemini => (
                "AfterAgent",
                "BeforeTool",
                "run_shell_command|replace|write_file",
            ),
        };
        let event = |name, matcher, answers| HookEvent {
            name,
            matcher,
            answers,
        };
        [
            event(stop, None, "stop"),
            event(tool, Some(matcher), "tool"),
        ]
    }

    /// How long a hook may take, in the agent's own unit.
    #[must_use]
    pub fn timeout(self) -> u32 {
        match self {
            Self::Claude | Self::Codex => 60,
            Self::Gemini => 60_000,
        }
    }

    /// Whether a hook can have it ask a person.
    #[must_use]
    pub fn can_ask(self) -> bool {
        self == Self::Claude
    }
}

impl fmt::Display for HookAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HookAgent {
    type Err = UnknownAgent;

    fn from_str(text: &str) -> Result<Self, UnknownAgent> {
        let all = [Self::Claude, Self::Codex, Self::Gemini];
        let found = all.into_iter().find(|agent| agent.name() == text);
        found.ok_or(UnknownAgent)
    }
}
