//! What a server answers.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};

use super::http::{Server, bounded};
use super::{log, mcp, page};

pub fn router(server: &Arc<Server>) -> Router {
    let bounded = from_fn_with_state(Arc::clone(server), bounded);
    let guarded = Router::new()
        .route_service("/mcp", mcp::service(server))
        .layer(bounded)
        .route("/", get(page::show))
        .route("/v1/log", get(log::follow));
    let login = any(page::log_in);
    server.router(guarded, Router::new().route("/login", login))
}
