//! The events of the ledger as server-sent events, for readers.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response, Sse};
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::http::{Asked, Caller, Server};
use super::reply::{problem, readers_only, refused};
use super::slots::Slot;
use super::token::{Grant, Token};
use crate::session::{Ledger, SessionError, Unwatched};

/// How long a follower waits before it looks for new events.
const PATIENCE: Duration = Duration::from_millis(200);

/// A connection whose client is gone is noticed when something is sent.
const QUIET: Duration = Duration::from_secs(15);

const BATCH_BYTES: usize = 64 * 1024;

#[derive(Debug, Deserialize)]
pub(super) struct Start {
    /// The first event that is sent.
    #[serde(default)]
    from: u64,
}

/// Sends the events from the one after `Last-Event-ID`, or else from `from` on.
pub(super) async fn follow(
    State(server): Asked,
    Query(start): Query<Start>,
    request: Request,
) -> Response {
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return refused(request.headers());
    };
    if caller.grant != Grant::Reader {
        return readers_only();
    }
    let Ok(last) = last_event(request.headers()) else {
        let why = "Last-Event-ID is not the number of an event";
        return problem(StatusCode::BAD_REQUEST, "usage", why).into_response();
    };
    let Some(slot) = server.followers.take(caller.token.id()) else {
        let why = "this token follows the log too often at once";
        return problem(StatusCode::TOO_MANY_REQUESTS, "busy", why).into_response();
    };
    let opening = Arc::clone(&server);
    let opened =
        tokio::task::spawn_blocking(move || Ledger::open(opening.session()).map(|(_, it)| it));
    let ledger = match opened.await {
        Ok(Ok(ledger)) => ledger,
        Ok(Err(error)) => {
            let why = error.to_string();
            return problem(StatusCode::INTERNAL_SERVER_ERROR, "other", &why).into_response();
        }
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let (sender, events) = channel(64);
    let tail = Tail {
        ledger,
        from: last.map_or(start.from, |last| last.saturating_add(1)),
        token: caller.token,
        server,
    };
    drop(tokio::spawn(send(tail, sender, slot)));
    Sse::new(ReceiverStream::new(events)).into_response()
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, ()> {
    let Some(last) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let last = last.to_str().map_err(drop)?;
    last.parse().map(Some).map_err(drop)
}

struct Tail {
    ledger: Ledger,
    from: u64,
    token: Token,
    server: Arc<Server>,
}

/// Sends events until the client leaves, its token is no longer good, or the ledger is damaged.
async fn send(mut tail: Tail, to: Sender<Result<Event, Infallible>>, _slot: Slot) {
    let mut damages = 0;
    let mut sent = Instant::now();
    while !to.is_closed() {
        let read = tokio::task::spawn_blocking(move || {
            let (events, ended) = tail.read();
            let admitted = matches!(tail.server.grant(&tail.token), Ok(Some(Grant::Reader)));
            (tail, events, ended, admitted)
        });
        let Ok((read, mut events, ended, admitted)) = read.await else {
            return;
        };
        tail = read;
        if !admitted {
            return;
        }
        if let Err(error) = ended {
            // Another process may have repaired a torn line while it was read. Real damage is
            // still there in the second try.
            damages += 1;
            if damages > 1 {
                tracing::error!("the log cannot be followed: {error}");
                return;
            }
        } else {
            damages = 0;
        }
        if events.is_empty() {
            tokio::time::sleep(PATIENCE).await;
            if sent.elapsed() < QUIET {
                continue;
            }
            events.push(Event::default().comment(""));
        }
        for event in events {
            if to.send(Ok(event)).await.is_err() {
                return;
            }
        }
        sent = Instant::now();
    }
}

impl Tail {
    /// Some of the events that were not read yet.
    fn read(&mut self) -> (Vec<Event>, Result<(), SessionError>) {
        let (mut events, mut bytes) = (Vec::new(), 0);
        let from = self.from;
        if let Err(error) = self.ledger.catch_up() {
            return (events, Err(error));
        }
        let ended = self.ledger.read_while(&Unwatched, &mut |entry| {
            // The line at which it breaks is read again.
            if bytes >= BATCH_BYTES {
                return ControlFlow::Break(());
            }
            let line = entry.line;
            if line.seq() >= from {
                bytes += line.text().len();
                events.push(
                    Event::default()
                        .id(line.seq().to_string())
                        .data(line.text()),
                );
            }
            ControlFlow::Continue(())
        });
        (events, ended)
    }
}

impl Server {
    fn session(&self) -> &Path {
        self.desk.session()
    }
}
