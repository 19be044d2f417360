//! `session.json`: the settings that `scan` froze, written once and atomically.
//!
//! ```text
//! {"format":1,"comail":"0.1.0","created":"…Z",
//!  "kind":{"name":"email","lists":{"freemail.txt":"<sha-256>",…}},
//!  "source":{"path":"companies.xlsx","sha256":"…","copy":"source.xlsx","list":{…}},
//!  "frozen":{"max_tries":3,"pause_after":25,"lease":900,"operator_key":null,"gate":{…},"network":{…}}}
//! ```
//!
//! The session does not interpret `list`, `gate`, `network`, `world` and a kind's `definition` and
//! `reviewers`. They belong to the readers of lists, the gate, the world and quest files.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::claim::Lease;
use super::decision::{DecisionPolicy, OperatorKey};
use super::error::SessionError;
use super::event::SourceRecord;
use super::redaction::Suppressed;
use crate::base::{Digest, files};

/// The format that this version writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// What `scan` froze.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of the session directory.
    pub format: u32,
    /// The version of the program that made it.
    pub comail: String,
    /// When it was made.
    pub created: Timestamp,
    /// What turns the list into quests.
    pub kind: KindRecord,
    /// The list.
    pub source: SourceRecord,
    /// The settings.
    pub frozen: Frozen,
    /// The addresses that an earlier session forgot, whose PASSes this one was begun with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Suppressed>,
}

/// The quest kind, and the built-in lists that its gate went by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KindRecord {
    /// Its name.
    pub name: String,
    /// The digest of each built-in list, by name.
    pub lists: BTreeMap<String, Digest>,
    /// What defines it, of a kind that is not built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Value>,
    /// The reviewers that are asked about what passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewers: Option<Value>,
}

/// The settings that nothing changes after `scan`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The FAIL that ends a quest.
    pub max_tries: NonZeroU32,
    /// How many quests in a row may end without a result before the session pauses; 0 for any number.
    pub pause_after: u32,
    /// How long a worker's claim lasts where the worker does not say.
    #[serde(default = "default_lease")]
    pub lease: Lease,
    /// The public half of the operator's key, where one was named.
    pub operator_key: Option<OperatorKey>,
    /// The gate's settings.
    pub gate: Value,
    /// How the world is asked.
    pub network: Value,
    /// The recorded world that answers in place of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Value>,
}

/// Where a session gets web pages and DNS records from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorldKind {
    /// The network.
    #[default]
    Live,
    /// A recording, so that the results say nothing about real sites.
    Recorded,
}

impl Frozen {
    pub fn world_kind(&self) -> WorldKind {
        match self.world {
            None => WorldKind::Live,
            Some(_) => WorldKind::Recorded,
        }
    }
}

fn default_lease() -> Lease {
    Lease::DEFAULT
}

/// The size limit in bytes, far above a quest file with its settings.
const MOST_BYTES: u64 = 64 << 20;

/// Reads `session.json`, and checks its format first.
pub fn read_manifest(dir: &Path) -> Result<(Manifest, Digest), SessionError> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u64,
    }

    let path = dir.join("session.json");
    let bytes = match files::read(&path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(SessionError::Missing(dir.to_owned()));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(SessionError::NotADirectory(dir.to_owned()));
        }
        Err(error) => return Err(SessionError::io(&path, "read the session")(error)),
    };
    let unreadable = |error: serde_json::Error| SessionError::Manifest {
        path: path.clone(),
        why: error.to_string(),
    };
    let Format { format } = serde_json::from_slice(&bytes).map_err(unreadable)?;
    if format > u64::from(FORMAT) {
        return Err(SessionError::Newer {
            path,
            format,
            newest: FORMAT,
        });
    }
    let manifest = serde_json::from_slice(&bytes).map_err(unreadable)?;
    Ok((manifest, Digest::of(&bytes)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldConfig {
    pub max_tries: NonZeroU32,
    pub policy: DecisionPolicy,
}

impl FoldConfig {
    pub fn of(manifest: &Manifest, session: Digest) -> Self {
        Self {
            max_tries: manifest.frozen.max_tries,
            policy: DecisionPolicy {
                session,
                key: manifest.frozen.operator_key,
            },
        }
    }
}
