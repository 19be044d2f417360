//! Answers the hooks of coding agents: may the agent stop, may it run this command or edit this
//! file?
//!
//! Hooks guide an honest agent; they do not confine a hostile one, which can write and run a
//! program of its own. Only what the gate finds counts.

mod command_line;
mod install;
mod path_policy;
mod protocol;
mod record;
mod stop_limit;
mod tool_rules;

pub use install::{HookCaller, SettingsError, with_hooks};
pub use path_policy::{PathError, PathPolicy, WriteZone, real_path};
pub use protocol::{
    AgentHooks, CallError, HookAgent, HookReply, MAX_CALL_BYTES, Permission, StopCall, StopReply,
    ToolAction, ToolCall, ToolReply,
};
pub use record::{Hook, HookRecord, InstalledHooks};
pub use stop_limit::{DEFAULT_MAX_REFUSALS, RefusalStore, Refusals};
pub use tool_rules::{RulesError, ToolPolicy, ToolRules};
