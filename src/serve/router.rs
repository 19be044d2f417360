//! What a server answers.

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get};

use super::http::Server;
use super::{log, mcp, page};

pub fn router(server: &Arc<Server>) -> Router {
    let guarded = Router::new()
        .route("/", get(page::show))
        .route("/v1/log", get(log::follow))
        .route_service("/mcp", mcp::service(server));
    let login = any(page::log_in);
    server.router(guarded, Router::new().route("/login", login))
}
