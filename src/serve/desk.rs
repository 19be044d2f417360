//! What clients call, and what they get back. How a call is answered is the caller's of this module.

use std::path::Path;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strum::IntoStaticStr;

use super::token::Grant;
use crate::base::Digest;
use crate::quest::{Field, FieldKind, NO_EXAMPLE, QuestId, QuestKind, Shape};
use crate::session::{IdempotencyKey, Lease};
use crate::world::tree::{PatchBase, TreePatch};

/// A call of a client.
#[derive(Debug, Clone, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Call {
    Next(NextCall),
    Submit(SubmitCall),
    Status,
    /// The worker's own claims, or all for a reader.
    Claims,
    /// The fields of an answer.
    Kind,
    /// The page about the session, for readers.
    Page,
    /// The description of the HTTP interface.
    OpenApi,
    /// The figures for Prometheus, for readers.
    Metrics,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

/// An answer: its quest by number or by key, and its fields or why there is none.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<QuestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// The files of the write zones, if the kind has a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreePatch>,
}

/// The form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// One JSON document, as `--json` prints it.
    #[default]
    Json,
    /// What the command prints, with or without colours.
    Text { colour: bool },
}

/// The answer to a call: what the command would print, and how it would end.
#[derive(Debug, Clone)]
pub struct Reply {
    pub exit: u8,
    pub status: u16,
    pub body: String,
}

/// An error, as `--json` prints it. The kinds `token`, `host`, `busy` and `stopped` are the server's own.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorDocument {
    error: ErrorDetails,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ErrorDetails {
    kind: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl ErrorDocument {
    pub fn new(kind: &str, message: &str) -> Self {
        Self {
            error: ErrorDetails {
                kind: kind.to_owned(),
                message: message.to_owned(),
                hint: None,
            },
        }
    }
}

/// Answers calls. Each call is one of a worker or reader whose token was checked.
pub trait Desk: Send + Sync + 'static {
    fn answer(&self, grant: &Grant, call: Call, form: Form) -> Reply;

    /// Where the session is, so that readers can follow its ledger.
    fn session(&self) -> &Path;

    /// Whether the session can be used now.
    fn is_ready(&self) -> bool {
        true
    }

    /// Notes an answer whose fields could not be read.
    fn refused(&self, _grant: &Grant, _answer: Digest) {}
}

/// What a client needs to know of the quest kind to send an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KindDocument {
    /// What one quest is about, in the singular: `company`.
    pub unit: String,
    pub fields: Vec<FieldDocument>,
    /// The tree that the quests are about, if its files have to come with an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PatchBase>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FieldDocument {
    pub name: String,
    pub help: String,
    pub example: String,
    pub required: bool,
    pub kind: FieldKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What its value looks like, as JSON Schema.
    #[schemars(with = "Map<String, Value>")]
    pub schema: Schema,
}

impl From<&QuestKind> for KindDocument {
    fn from(kind: &QuestKind) -> Self {
        let fields = kind.fields.iter().map(|field| FieldDocument {
            name: field.name.to_string(),
            help: field.help.to_string(),
            example: field.example.to_string(),
            required: field.required,
            kind: field.shape.kind(),
            choices: field.shape.choices().to_vec(),
            schema: field.shape.schema(),
        });
        Self {
            unit: kind.unit.to_string(),
            fields: fields.collect(),
            tree: None,
        }
    }
}

impl KindDocument {
    /// The schema of the fields of an answer.
    pub(super) fn fields_schema(&self) -> Value {
        let fields = self.fields.iter().map(|field| {
            let mut schema = field.schema.clone();
            if !field.help.is_empty() {
                schema.insert("description".to_owned(), field.help.clone().into());
            }
            (field.name.clone(), schema.to_value())
        });
        let fields: Map<String, Value> = fields.collect();
        let required = self.fields.iter().filter(|field| field.required);
        let required: Vec<_> = required.map(|field| &field.name).collect();
        json!({
            "type": "object", "properties": fields, "required": required,
            "additionalProperties": false,
            "description": "The answer, field by field",
        })
    }

    /// The kind, as far as the flags of `submit` show it. Only the server checks values.
    pub fn into_kind(self) -> QuestKind {
        let fields = self.fields.into_iter().map(|field| Field {
            name: field.name.into(),
            help: field.help.into(),
            example: field.example.into(),
            required: field.required,
            shape: Shape::new(field.kind, None, (None, None), &field.choices).unwrap_or_default(),
            unchecked: true,
        });
        QuestKind {
            name: String::new().into(),
            unit: self.unit.into(),
            prompt: String::new().into(),
            columns: Vec::new(),
            example_key: NO_EXAMPLE.into(),
            fields: fields.collect(),
            answer: None,
        }
    }
}
