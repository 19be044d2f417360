//! What is started, and how its output is read.

use std::ffi::OsString;
use std::path::PathBuf;

/// One start of an agent.
///
/// It runs with the rights of whoever starts it, and with that environment but for what is set
/// and unset here.
#[derive(Debug, Clone)]
pub struct AgentOrder {
    /// Its program and arguments; a program that is named without a slash is looked for in the
    /// `PATH` that it gets, and one with a relative path is relative to `dir`.
    pub argv: Vec<OsString>,
    /// What it can read on standard input; else that is empty.
    pub stdin: Option<String>,
    /// Its working directory.
    pub dir: PathBuf,
    /// The variables that are set for it.
    pub env: Vec<(OsString, OsString)>,
    /// The variables that it does not inherit.
    pub unset: Vec<OsString>,
    /// The file that its output is copied to, which must not be there yet.
    pub log: PathBuf,
    /// How much of its output is copied.
    pub most_log_bytes: u64,
    /// How its standard output is read.
    pub stream: Stream,
}

/// How the standard output of an agent is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// As text, in which a line may be a JSON object that tells what the agent does: one of the
    /// forms below, which is then known by its first line, or anything that says `tool`, `usage`
    /// and `text` as most do.
    Plain,
    /// As one JSON object a line, of this form.
    Events(StreamForm),
}

/// Whose form the events of an agent have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamForm {
    /// Claude Code's `--output-format stream-json`, which others took over.
    Claude,
    /// `codex exec --json`.
    Codex,
    /// Gemini CLI's `--output-format stream-json`.
    Gemini,
    /// Cursor's `--output-format stream-json`.
    Cursor,
    /// `opencode run --format json`.
    Opencode,
}
