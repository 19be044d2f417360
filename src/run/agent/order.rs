//! What is started, and how its output is read.

use std::ffi::OsString;
use std::path::PathBuf;

/// One start of an agent. It runs with the rights and the environment of the caller, except for
/// the variables that are set or unset here.
#[derive(Debug, Clone)]
pub struct AgentOrder {
    // A program without a slash is searched in the agent's own `PATH`; a relative path is relative
    // to `dir`.
    pub argv: Vec<OsString>,
    pub stdin: Option<String>,
    pub dir: PathBuf,
    pub env: Vec<(OsString, OsString)>,
    pub unset: Vec<OsString>,
    pub log: PathBuf,
    pub most_log_bytes: u64,
    pub stream: Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Text, in which a line may be a JSON event. The first event decides which known format it
    /// is; otherwise common field names such as `tool` and `usage` are read.
    Plain,
    Events(StreamForm),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamForm {
    Claude,
    Codex,
    Gemini,
    Cursor,
    Opencode,
}
