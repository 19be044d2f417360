//! A call of a tool, as detectors know it.

use serde_json::Value;

use super::own::Own;
use crate::quest::Digest;

/// A call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    /// The digest of tool and arguments, in which the order of keys does not count.
    pub digest: Digest,
    /// The call of comail that it makes, where it makes one.
    pub own: Option<Own>,
}

impl Call {
    /// The call of `tool` with these arguments, as the agent's event stream tells it.
    #[must_use]
    pub fn new(tool: &str, arguments: &Value) -> Self {
        let canonical = serde_json::json!([tool, arguments]).to_string();
        Self {
            digest: Digest::of(canonical.as_bytes()),
            own: None,
        }
    }

    /// A call that comail itself noted, for an agent without an event stream.
    #[must_use]
    pub fn noted(own: Own) -> Self {
        let digest = match own {
            Own::Next => Digest::of(b"next"),
            Own::Status => Digest::of(b"status"),
            Own::Submit(digest) => digest,
        };
        Self {
            digest,
            own: Some(own),
        }
    }
}
