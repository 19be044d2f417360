//! The Model Context Protocol: the tools `next`, `submit` and `status`, and the quest as a prompt.
//!
//! Over HTTP, the tools belong to [`Server`]. `comail mcp` offers the same ones over standard input and
//! output, and passes each call to a server; it judges nothing.

use std::future::Future;
use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Extensions,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, JsonObject,
    ListPromptsResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptMessage, Role,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use super::desk::{Call, Form, KindDocument, NextCall, Reply, SubmitCall};
use super::http::{Caller, Server};

const INSTRUCTIONS: &str = "Call `next` for a quest and `submit` for your answer, until `next` says \
     that no quest is left. Where a quest names the command `comail submit`, call the tool `submit` \
     with the same fields. Only the gate decides whether an answer is right.";

const PROMPT: &str = "quest";

/// Where the calls of the tools go.
pub trait Backend: Send + Sync + 'static {
    fn call(
        &self,
        call: Call,
        form: Form,
        extensions: &Extensions,
    ) -> impl Future<Output = Result<Reply, ErrorData>> + Send;
}

impl Backend for Arc<Server> {
    async fn call(
        &self,
        call: Call,
        form: Form,
        extensions: &Extensions,
    ) -> Result<Reply, ErrorData> {
        let parts = extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        let Some(caller) = caller.cloned() else {
            return Err(ErrorData::invalid_request(
                "this server needs a valid token",
                None,
            ));
        };
        Ok(self.answer(&caller, call, form).await)
    }
}

/// The MCP service of a server. It keeps nothing between requests: each one brings its token.
pub(super) fn service(
    server: &Arc<Server>,
) -> StreamableHttpService<McpTools<Arc<Server>>, NeverSessionManager> {
    // `admit` checks hosts and origins for the whole server.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let tools = McpTools::new(Arc::clone(server));
    let sessions = Arc::<NeverSessionManager>::default();
    StreamableHttpService::new(move || Ok(tools.clone()), sessions, config)
}

#[derive(Debug, Clone)]
pub struct McpTools<B> {
    backend: B,
}

impl<B: Backend + Clone> McpTools<B> {
    pub fn new(backend: B) -> Self {
        Self { backend }
    }
}

impl<B: Backend + Clone> ServerHandler for McpTools<B> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .build();
        let program = Implementation::new("comail", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(program)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (call, form) = (Call::Kind, Form::Json);
        let reply = self.backend.call(call, form, &context.extensions).await?;
        let kind = serde_json::from_str(&reply.body);
        let kind = kind.map_err(|_| ErrorData::internal_error(reply.body, None))?;
        let tools = vec![
            Tool::new(
                "next",
                "Get the next quest, and how to answer it",
                object(&[]),
            ),
            Tool::new(
                "submit",
                "Submit an answer; the gate verifies it",
                input_of_submit(&kind),
            ),
            Tool::new("status", "Get the progress of the session", object(&[])),
        ];
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = match &*request.name {
            "next" => Call::Next(NextCall::default()),
            "submit" => Call::Submit(answer(arguments)?),
            "status" => Call::Status,
            name => {
                let why = format!("there is no tool `{name}`; use next, submit or status");
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        let reply = self
            .backend
            .call(call, Form::Json, &context.extensions)
            .await?;
        Ok(result(&reply).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new(PROMPT, Some("The next quest, and how to answer it"), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            let why = format!("there is no prompt `{}`; use `{PROMPT}`", request.name);
            return Err(ErrorData::invalid_params(why, None));
        }
        let call = Call::Next(NextCall::default());
        let form = Form::Text { colour: false };
        let reply = self.backend.call(call, form, &context.extensions).await?;
        let message = PromptMessage::new_text(Role::User, reply.body);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

/// An error of the call is the tool's, so that the agent reads it.
fn result(reply: &Reply) -> CallToolResult {
    let is_error = reply.status >= 400;
    match serde_json::from_str(&reply.body) {
        Ok(document) if is_error => CallToolResult::structured_error(document),
        Ok(document) => CallToolResult::structured(document),
        Err(_) => CallToolResult::error(vec![ContentBlock::text(reply.body.clone())]),
    }
}

const OWN: [(&str, &str); 3] = [
    ("key", "The key of the quest, in place of its number"),
    (
        "none",
        "In place of the fields: that you found nothing, and why; this uses a try",
    ),
    (
        "idempotency_key",
        "Makes the call safe to repeat: with the same key it returns the first judgement",
    ),
];

fn object(properties: &[(&str, Value)]) -> JsonObject {
    let properties: JsonObject = properties
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// The input of `submit`: the fields of the quest kind, and which quest is meant.
fn input_of_submit(kind: &KindDocument) -> JsonObject {
    let described = |text: &str| json!({"type": "string", "description": text});
    let mut properties = OWN.map(|(name, help)| (name, described(help))).to_vec();
    let number = "The number of the quest";
    properties.push((
        "id",
        json!({"type": "integer", "minimum": 1, "description": number}),
    ));
    properties.push(("fields", kind.fields_schema()));
    object(&properties)
}

fn answer(arguments: JsonObject) -> Result<SubmitCall, ErrorData> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}
