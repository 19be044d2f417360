//! A judge that agents can only talk to: HTTP and MCP, tokens, and bounds on what a client may use.

mod cookie;
mod desk;
mod http;
mod listen;
mod log;
mod mcp;
mod metrics;
mod openapi;
mod page;
mod rate;
mod reply;
mod router;
mod slots;
mod spool;
mod token;

pub use cookie::Scheme;
pub use desk::{
    Call, Desk, ErrorDocument, FieldDocument, Form, KindDocument, NextCall, Reply, SubmitCall,
};
pub use http::{
    Bounds, Caller, Hosts, MAX_BODY_BYTES, MAX_BODY_BYTES_WITH_FILES, Server, TEXT, Tokens,
};
pub use listen::{ListenError, Listener, serve};
pub use mcp::{Backend, McpTools};
pub use metrics::{METRICS, Recorder, SessionFigures, recorder};
pub use openapi::{Replies, openapi};
pub use rate::Rate;
pub use reply::{EXIT_HEADER, unauthorised};
pub use router::router;
pub use spool::{CALL, REPLY, Spool, SpooledCall, SpooledReply};
pub use token::{BadTokenId, Grant, Token, TokenError, TokenId, TokenRecord, TokenStore};
