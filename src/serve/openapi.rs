//! The description of the HTTP interface in `OpenAPI` 3.1, whose schemas are those of JSON Schema 2020-12.

use schemars::{JsonSchema as _, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::desk::{ErrorDocument, KindDocument, NextCall, SubmitCall};

/// The schemas of what calls reply.
#[derive(Debug, Clone)]
pub struct Replies {
    pub next: Schema,
    pub submit: Schema,
    pub status: Schema,
    pub claims: Schema,
    /// Of one event of the log.
    pub event: Schema,
}

/// The description for quests of this kind. `generator` keeps its definitions in
/// `#/components/schemas`.
pub fn openapi(kind: &KindDocument, replies: &Replies, mut generator: SchemaGenerator) -> Value {
    let next = generator.subschema_for::<NextCall>();
    let submit = submit_schema(kind, &mut generator);
    let error = generator.subschema_for::<ErrorDocument>();
    let described = generator.subschema_for::<KindDocument>();
    let calls = [
        (
            "/v1/next",
            "Get the next quest, and how to answer it",
            Some(next),
            &replies.next,
        ),
        (
            "/v1/submit",
            "Submit an answer; the gate verifies it",
            Some(submit),
            &replies.submit,
        ),
        (
            "/v1/status",
            "Get the progress of the session",
            None,
            &replies.status,
        ),
        (
            "/v1/claims",
            "Get the claims of the worker, or all for a reader",
            None,
            &replies.claims,
        ),
        ("/v1/kind", "Get the fields of an answer", None, &described),
    ];
    let mut paths: Map<String, Value> = calls
        .into_iter()
        .map(|(path, summary, asked, replied)| {
            let document = json!({"application/json": {"schema": replied}});
            let mut operation = operation(summary, &document, &error);
            let method = match asked {
                None => "get",
                Some(asked) => {
                    let content = json!({"application/json": {"schema": asked}});
                    operation["requestBody"] = json!({"content": content});
                    "post"
                }
            };
            (path.to_owned(), json!({method: operation}))
        })
        .collect();
    paths.insert("/v1/log".to_owned(), log(&replies.event, &error));
    json!({
        "openapi": "3.1.0",
        "info": {"title": "comail serve", "version": env!("CARGO_PKG_VERSION")},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(summary: &str, content: &Value, error: &Schema) -> Value {
    let failed = json!({"application/json": {"schema": error}});
    json!({
        "summary": summary,
        "responses": {
            "200": {"description": "What the command prints with --json", "content": content},
            "default": {"description": "An error", "content": failed},
        },
    })
}

fn log(event: &Schema, error: &Schema) -> Value {
    // The schema is that of the data of one event.
    let stream = json!({"text/event-stream": {"schema": event}});
    let number = json!({"type": "integer", "minimum": 0});
    let parameter = |place: &str, name: &str, description: &str| json!({"in": place, "name": name, "description": description, "schema": number});
    let mut get = operation("Follow the events of the ledger", &stream, error);
    get["parameters"] = json!([
        parameter("query", "from", "The number of the first event"),
        parameter(
            "header",
            "Last-Event-ID",
            "The number of the last event that the client has"
        ),
    ]);
    json!({"get": get})
}

/// The schema of an answer: that of the call, with the fields of the quest kind.
fn submit_schema(kind: &KindDocument, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = SubmitCall::json_schema(generator);
    if let Some(properties) = schema.get_mut("properties") {
        properties["fields"] = kind.fields_schema();
    }
    schema
}
