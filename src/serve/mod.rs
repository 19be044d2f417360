//! A judge that agents can only talk to: HTTP and MCP, tokens, and bounds on what a client may use.

mod desk;
mod http;
mod listen;
mod mcp;
mod rate;
mod spool;
mod token;

pub use desk::{Call, Desk, FieldDocument, Form, KindDocument, NextCall, Reply, SubmitCall};
pub use http::{
    Bounds, Caller, EXIT_HEADER, Hosts, MAX_BODY_BYTES, MAX_BODY_BYTES_WITH_FILES, Server, TEXT,
    Tokens, unauthorised,
};
pub use listen::{ListenError, Listener, serve};
pub use mcp::{Backend, McpTools, router};
pub use rate::Rate;
pub use spool::{CALL, REPLY, Spool, SpooledCall, SpooledReply};
pub use token::{BadTokenId, Grant, Token, TokenError, TokenId, TokenRecord, TokenStore};
