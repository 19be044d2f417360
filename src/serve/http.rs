//! The HTTP interface: who may call what, how often, and how much at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::cookie::{Scheme, token_of_cookie};
use super::desk::{Call, Desk, Form, Reply};
use super::listen::Peer;
use super::metrics::{METRICS, recorder};
use super::rate::{Buckets, Rate};
use super::reply::{problem, readers_only, refused};
use super::slots::{Slot, Slots};
use super::token::{Grant, Token, TokenError, TokenStore};
use crate::base::Digest;
use crate::base::clock::SystemClock;

/// What a client that prints text sends in `Accept`; with `;colour` for a terminal.
pub const TEXT: &str = "text/plain";

/// The longest body of a call, without its files.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// The same where answers bring files. Base64 and the escapes of JSON make files longer.
pub const MAX_BODY_BYTES_WITH_FILES: usize = 32 << 20;

/// How much memory all bodies that are longer than [`MAX_BODY_BYTES`] may use at once. Further ones
/// wait, and shorter ones do not wait for them.
const LONG_BODIES_KIB: usize = 128 << 10;

/// For how long an answer to `/readyz` holds.
const READINESS: Duration = Duration::from_secs(1);

/// How long a probe waits for the session.
const READINESS_PATIENCE: Duration = Duration::from_secs(3);

/// What a probe last found.
#[derive(Default)]
struct Readiness {
    known: Option<(bool, Instant)>,
    /// A look that no probe has waited for to its end.
    looking: Option<JoinHandle<bool>>,
}

const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// How many connections one token may have: few of all, so that others find a place.
const CONNECTIONS_OF_TOKEN: usize = 16;

/// How often one token may follow the log at once.
const FOLLOWERS_OF_TOKEN: usize = 4;

#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// How often one token may call.
    pub rate: Rate,
    /// How many calls of one token are answered at once.
    pub calls_of_token: usize,
    /// How many calls are answered at once.
    pub calls: usize,
    /// The longest body of a call.
    pub body_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            rate: Rate {
                per_second: 5.0,
                burst: 60.0,
            },
            calls_of_token: 2,
            calls: 64,
            body_bytes: MAX_BODY_BYTES,
        }
    }
}

/// Which `Host` and `Origin` headers are accepted.
#[derive(Debug, Clone)]
pub enum Hosts {
    /// A socket that only its owner can open: no browser reaches it by a name.
    Any,
    /// These authorities, such as `localhost:8017`.
    Only { names: Vec<String>, scheme: Scheme },
}

pub struct Server {
    pub(super) desk: Arc<dyn Desk>,
    tokens: Arc<dyn Tokens>,
    pub(super) hosts: Hosts,
    bounds: Bounds,
    buckets: Mutex<Buckets>,
    connections: Arc<Slots>,
    working: Arc<Slots>,
    pub(super) followers: Arc<Slots>,
    calls: Arc<Semaphore>,
    long_bodies: Arc<Semaphore>,
    /// Whether the session could be used, and when that was looked at.
    readiness: AsyncMutex<Readiness>,
}

/// What a call holds until it is answered: its place among those of its token, and the memory of a
/// long body.
struct Held {
    _slot: Slot,
    _memory: Option<OwnedSemaphorePermit>,
}

/// The part of a body that may be long.
#[derive(Deserialize)]
struct Files<'a> {
    #[serde(borrow, default)]
    tree: Option<&'a RawValue>,
}

/// Where the server finds out what a token grants.
pub trait Tokens: Send + Sync + 'static {
    /// None for a token that is unknown, expired or revoked.
    ///
    /// # Errors
    ///
    /// Why nobody can say now.
    fn grant(&self, token: &Token) -> Result<Option<Grant>, String>;
}

impl Tokens for TokenStore {
    fn grant(&self, token: &Token) -> Result<Option<Grant>, String> {
        match self.grant(token, SystemClock::time()) {
            Err(error @ TokenError::Session(_)) => Err(error.to_string()),
            granted => Ok(granted.unwrap_or_else(|why| {
                tracing::error!("{why}");
                None
            })),
        }
    }
}

/// Who calls: the token and what it grants.
#[derive(Debug, Clone)]
pub struct Caller {
    pub token: Token,
    pub grant: Grant,
}

impl Server {
    pub fn new(
        desk: Arc<dyn Desk>,
        tokens: Arc<dyn Tokens>,
        hosts: Hosts,
        bounds: Bounds,
    ) -> Arc<Self> {
        Arc::new(Self {
            desk,
            tokens,
            hosts,
            bounds,
            buckets: Mutex::default(),
            connections: Slots::new(CONNECTIONS_OF_TOKEN),
            working: Slots::new(bounds.calls_of_token),
            followers: Slots::new(FOLLOWERS_OF_TOKEN),
            calls: Arc::new(Semaphore::new(bounds.calls)),
            long_bodies: Arc::new(Semaphore::new(LONG_BODIES_KIB)),
            readiness: AsyncMutex::default(),
        })
    }

    /// The routes of the server: `guarded` ones with its own behind the check of tokens, and `open`
    /// ones.
    pub(super) fn router(
        self: &Arc<Self>,
        guarded: Router<Arc<Self>>,
        open: Router<Arc<Self>>,
    ) -> Router {
        let routes = guarded
            .route("/v1/next", post(next))
            .route("/v1/submit", post(submit))
            .route("/v1/status", get(status))
            .route("/v1/claims", get(claims))
            .route("/v1/kind", get(kind))
            .route("/v1/openapi.json", get(openapi))
            .route("/metrics", get(metrics))
            .with_state(Arc::clone(self));
        // Before a route is chosen: which methods a path has is nothing for strangers either.
        let guarded = Router::new()
            .fallback_service(routes)
            .layer(from_fn_with_state(Arc::clone(self), admit));
        let checked = open
            .fallback_service(guarded)
            .layer(from_fn_with_state(Arc::clone(self), check_host))
            .with_state(Arc::clone(self));
        // A probe names the address of a container, and has no token.
        Router::new()
            .route("/healthz", get(|| async { "alive\n" }))
            .route("/readyz", get(ready))
            .with_state(Arc::clone(self))
            .fallback_service(checked)
    }

    /// Whether the session can be used now, as it was found at most [`READINESS`] ago: anybody may ask.
    async fn is_ready(self: &Arc<Self>) -> bool {
        let mut readiness = self.readiness.lock().await;
        if let Some((is_ready, at)) = readiness.known
            && at.elapsed() < READINESS
        {
            return is_ready;
        }
        // A database that does not answer keeps a thread waiting, and only one.
        let looking = readiness.looking.get_or_insert_with(|| {
            let desk = Arc::clone(&self.desk);
            tokio::task::spawn_blocking(move || desk.is_ready())
        });
        let looked = tokio::time::timeout(READINESS_PATIENCE, looking).await;
        if looked.is_ok() {
            readiness.looking = None;
        }
        let is_ready = looked.is_ok_and(|looked| looked.unwrap_or(false));
        readiness.known = Some((is_ready, Instant::now()));
        is_ready
    }

    /// What the token grants now.
    pub(super) fn grant(&self, token: &Token) -> Result<Option<Grant>, String> {
        self.tokens.grant(token)
    }

    /// Answers a call on a thread of its own: a judgement may take minutes.
    pub(super) async fn answer(self: &Arc<Self>, caller: &Caller, call: Call, form: Form) -> Reply {
        match self.working.take(caller.token.id()) {
            Some(slot) => {
                let held = Held {
                    _slot: slot,
                    _memory: None,
                };
                self.answer_in(held, caller, call, form).await
            }
            None => busy(),
        }
    }

    async fn answer_in(
        self: &Arc<Self>,
        held: Held,
        caller: &Caller,
        call: Call,
        form: Form,
    ) -> Reply {
        let recorder = recorder();
        recorder.waiting.inc();
        let permit = Arc::clone(&self.calls).acquire_owned().await;
        recorder.waiting.dec();
        let Ok(permit) = permit else {
            return problem(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopped",
                "the server is stopping",
            );
        };
        let (desk, grant) = (Arc::clone(&self.desk), caller.grant.clone());
        // The thread goes on if the client leaves: what was submitted is judged and recorded.
        let answered = tokio::task::spawn_blocking(move || {
            let _held = (held, permit);
            let name: &str = (&call).into();
            let span = tracing::debug_span!(
                "call",
                otel.name = name,
                otel.kind = "server",
                http.response.status_code = tracing::field::Empty,
            );
            let _entered = span.enter();
            recorder.answering.inc();
            let reply = desk.answer(&grant, call, form);
            recorder.answering.dec();
            span.record("http.response.status_code", reply.status);
            reply
        });
        answered.await.unwrap_or_else(|_| {
            let why = "the server failed to answer; nothing is known about this call";
            problem(StatusCode::INTERNAL_SERVER_ERROR, "other", why)
        })
    }

    /// Waits until there is memory for a long body.
    async fn memory_for(&self, length: Option<u64>) -> Option<OwnedSemaphorePermit> {
        let limit = self.bounds.body_bytes;
        let most = length.map(usize::try_from);
        let bytes = most.and_then(Result::ok).map_or(limit, |it| it.min(limit));
        if bytes <= MAX_BODY_BYTES {
            return None;
        }
        let kib = u32::try_from(bytes >> 10).ok()?;
        let long_bodies = Arc::clone(&self.long_bodies);
        long_bodies.acquire_many_owned(kib).await.ok()
    }

    fn accepts(&self, request: &Request) -> bool {
        let Hosts::Only { names, scheme } = &self.hosts else {
            return true;
        };
        let is_known = |host: &str| names.iter().any(|name| name.eq_ignore_ascii_case(host));
        let text = |name| request.headers().get(name).map(HeaderValue::to_str);
        let host = matches!(text(header::HOST), Some(Ok(host)) if is_known(host));
        let origin = text(header::ORIGIN).is_none_or(|origin| {
            let parts = origin.ok().and_then(|origin| origin.split_once("://"));
            parts.is_some_and(|(of, host)| of == scheme.name() && is_known(host))
        });
        // A request line may name a host too.
        let authority = request.uri().authority();
        host && origin && authority.is_none_or(|named| is_known(named.as_str()))
    }
}

/// Lets a request through whose host is right.
async fn check_host(State(server): Asked, request: Request, next: Next) -> Response {
    if server.accepts(&request) {
        return next.run(request).await;
    }
    let why = "this server does not answer for the host or origin of the request";
    problem(StatusCode::FORBIDDEN, "host", why).into_response()
}

/// Lets a request through whose token and rate are right; says nothing about the session to anybody
/// else.
async fn admit(State(server): Asked, request: Request, next: Next) -> Response {
    // A call through files has no connection.
    let peer = request.extensions().get::<Peer>().cloned();
    let peer = peer.unwrap_or_default();
    let response = admitted(&server, &peer, request, next).await;
    if [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&response.status()) {
        peer.withdraw();
    }
    response
}

async fn admitted(server: &Server, peer: &Peer, mut request: Request, next: Next) -> Response {
    let caller = match caller(server, &request) {
        Ok(Some(caller)) => caller,
        Ok(None) => return refused(request.headers()),
        // The token may be good, so the client must not give it up.
        Err(why) => {
            tracing::error!("{why}");
            let why = "the token cannot be checked now; try again";
            return problem(StatusCode::SERVICE_UNAVAILABLE, "busy", why).into_response();
        }
    };
    let taken = {
        let mut buckets = server
            .buckets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        buckets.take(caller.token.id(), server.bounds.rate, Instant::now())
    };
    if let Err(wait) = taken {
        let why = "this token calls too often";
        let mut refused = problem(StatusCode::TOO_MANY_REQUESTS, "busy", why).into_response();
        let seconds = HeaderValue::from(wait.as_secs() + 1);
        refused.headers_mut().insert(header::RETRY_AFTER, seconds);
        return refused;
    }
    if !peer.admit(caller.token.id(), &server.connections) {
        let why = "this token has too many connections; use one of them again, or close one";
        let mut refused = problem(StatusCode::TOO_MANY_REQUESTS, "busy", why).into_response();
        let close = HeaderValue::from_static("close");
        refused.headers_mut().insert(header::CONNECTION, close);
        return refused;
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// Who calls by the token in the header or, where a reader's browser reads, in the cookie.
fn caller(server: &Server, request: &Request) -> Result<Option<Caller>, String> {
    let Some((token, is_of_browser)) = token_of(request.headers()) else {
        return Ok(None);
    };
    let Some(grant) = server.grant(&token)? else {
        return Ok(None);
    };
    let is_read = grant == Grant::Reader && request.method() == Method::GET;
    Ok((!is_of_browser || is_read).then_some(Caller { token, grant }))
}

/// The token of a request, and whether a browser sent it in a cookie.
fn token_of(headers: &HeaderMap) -> Option<(Token, bool)> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Some((token_of_cookie(headers)?, true));
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    // Its case does not matter (RFC 9110 §11.1).
    let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
    Some((Token::parse(token).filter(|_| is_bearer)?, false))
}

pub(super) type Asked = State<Arc<Server>>;

async fn ready(State(server): Asked) -> Response {
    if server.is_ready().await {
        return "ready\n".into_response();
    }
    let why = "the session is unavailable";
    problem(StatusCode::SERVICE_UNAVAILABLE, "busy", why).into_response()
}

async fn metrics(State(server): Asked, request: Request) -> Response {
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return refused(request.headers());
    };
    if caller.grant != Grant::Reader {
        return readers_only();
    }
    let reply = server.answer(&caller, Call::Metrics, Form::Json).await;
    let is_text = reply.status == StatusCode::OK.as_u16();
    let mut response = reply.into_response();
    if is_text {
        let content = HeaderValue::from_static(METRICS);
        response.headers_mut().insert(header::CONTENT_TYPE, content);
    }
    response
}

async fn next(State(server): Asked, request: Request) -> Response {
    called(&server, request, Call::Next).await
}

async fn submit(State(server): Asked, request: Request) -> Response {
    called(&server, request, Call::Submit).await
}

async fn called<T: DeserializeOwned>(
    server: &Arc<Server>,
    request: Request,
    call: fn(T) -> Call,
) -> Response {
    let form = form_of(request.headers());
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return refused(request.headers());
    };
    // Taken before the body is read: a token keeps no more bodies in memory than it has calls.
    let Some(slot) = server.working.take(caller.token.id()) else {
        return busy().into_response();
    };
    let held = Held {
        _slot: slot,
        _memory: server.memory_for(request.body().size_hint().upper()).await,
    };
    let body = match body_of(request.into_body(), server.bounds.body_bytes).await {
        Ok(body) => body,
        Err(refused) => return refused.into_response(),
    };
    if bytes_beside_files(&body) > MAX_BODY_BYTES {
        return too_long(MAX_BODY_BYTES, " beside its `tree`").into_response();
    }
    // Without a body, a call has no arguments.
    let arguments = serde_json::from_slice(if body.is_empty() { b"{}" } else { &body });
    match arguments {
        Ok(arguments) => {
            drop(body);
            let reply = server.answer_in(held, &caller, call(arguments), form);
            reply.await.into_response()
        }
        Err(error) => {
            server.desk.refused(&caller.grant, Digest::of(&body));
            let why = format!("the body is not the JSON of this call: {error}");
            problem(StatusCode::BAD_REQUEST, "usage", &why).into_response()
        }
    }
}

/// How much of a body is not files. Once parsed, JSON takes several times the memory of its text.
fn bytes_beside_files(body: &[u8]) -> usize {
    if body.len() <= MAX_BODY_BYTES {
        return body.len();
    }
    let files = serde_json::from_slice::<Files<'_>>(body).ok();
    let files = files.and_then(|it| it.tree).map_or(0, |it| it.get().len());
    body.len() - files
}

/// Reads the body for a service that sets no bounds of its own. The slot is free again before the
/// service answers, because its calls take one each.
pub(super) async fn bounded(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let Some(caller) = parts.extensions.get::<Caller>() else {
        return refused(&parts.headers);
    };
    let Some(slot) = server.working.take(caller.token.id()) else {
        return busy().into_response();
    };
    let body = match body_of(body, MAX_BODY_BYTES).await {
        Ok(body) => body,
        Err(refused) => return refused.into_response(),
    };
    drop(slot);
    next.run(Request::from_parts(parts, Body::from(body))).await
}

pub(super) async fn body_of(body: Body, limit: usize) -> Result<Bytes, Reply> {
    match timeout(BODY_TIMEOUT, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(too_long(limit, ", or it was cut off")),
        Err(_) => {
            let why = "the body did not come in time";
            Err(problem(StatusCode::REQUEST_TIMEOUT, "usage", why))
        }
    }
}

fn too_long(limit: usize, more: &str) -> Reply {
    let why = format!("the body is longer than {} MiB{more}", limit >> 20);
    problem(StatusCode::PAYLOAD_TOO_LARGE, "usage", &why)
}

async fn status(state: Asked, request: Request) -> Response {
    read(state, request, Call::Status).await
}

async fn claims(state: Asked, request: Request) -> Response {
    read(state, request, Call::Claims).await
}

async fn openapi(state: Asked, request: Request) -> Response {
    read(state, request, Call::OpenApi).await
}

async fn read(State(server): Asked, request: Request, call: Call) -> Response {
    match request.extensions().get::<Caller>() {
        Some(caller) => {
            let reply = server.answer(caller, call, form_of(request.headers()));
            reply.await.into_response()
        }
        None => refused(request.headers()),
    }
}

async fn kind(state: Asked, request: Request) -> Response {
    read(state, request, Call::Kind).await
}

fn form_of(headers: &HeaderMap) -> Form {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    match accept.and_then(|accept| accept.strip_prefix(TEXT)) {
        Some(parameters) => Form::Text {
            colour: parameters.contains("colour"),
        },
        None => Form::Json,
    }
}

fn busy() -> Reply {
    let why = "this token has too many calls in progress; wait for their answers";
    problem(StatusCode::TOO_MANY_REQUESTS, "busy", why)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    struct Nothing;

    impl Desk for Nothing {
        fn answer(&self, _: &Grant, _: Call, _: Form) -> Reply {
            busy()
        }

        fn session(&self) -> &Path {
            Path::new("")
        }
    }

    impl Tokens for Nothing {
        fn grant(&self, _: &Token) -> Result<Option<Grant>, String> {
            Ok(None)
        }
    }

    #[test]
    fn long_bodies_wait_for_memory_and_short_ones_do_not() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(bounded_memory());
    }

    async fn bounded_memory() {
        let bounds = Bounds {
            body_bytes: MAX_BODY_BYTES_WITH_FILES,
            ..Bounds::default()
        };
        let server = Server::new(Arc::new(Nothing), Arc::new(Nothing), Hosts::Any, bounds);
        let free = || server.long_bodies.available_permits();
        let long = Some(MAX_BODY_BYTES_WITH_FILES as u64);
        let mut held = Vec::new();
        // A length that is not told, or not true, counts as the longest.
        for length in [long, long, None, Some(u64::MAX)] {
            held.push(server.memory_for(length).await.unwrap());
        }
        assert_eq!(free(), 0);
        for short in [0, MAX_BODY_BYTES as u64] {
            assert!(server.memory_for(Some(short)).await.is_none());
        }
        let waits = timeout(Duration::ZERO, server.memory_for(Some(2 << 20)));
        assert!(waits.await.is_err());
        drop(held.pop());
        assert!(server.memory_for(Some(2 << 20)).await.is_some());
        drop(held);
        assert_eq!(free(), LONG_BODIES_KIB);
    }
}
