//! Sockets, and the connections on them: each one is bounded in time, and their number is bounded.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

use super::slots::{Slot, Slots};
use super::token::TokenId;

const MAX_CONNECTIONS: usize = 512;

/// How long a client may take to read on.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a client may take to send a head, and how long a connection may be idle.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// After an error such as a limit of open files, accepting again at once would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("cannot listen on {place}")]
    Bind { place: String, source: io::Error },
    #[error("{0} is a file and no socket; choose another path")]
    NoSocket(PathBuf),
    #[error("another server listens on {0}")]
    InUse(PathBuf),
}

pub enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener, Option<TlsAcceptor>),
}

impl Listener {
    /// A socket that only its owner can open. One that a dead server left is replaced.
    pub fn unix(path: &Path) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Bind {
            place: path.display().to_string(),
            source,
        };
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return Err(ListenError::NoSocket(path.to_owned()));
            }
            Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => {
                return Err(ListenError::InUse(path.to_owned()));
            }
            Ok(_) => fs::remove_file(path).map_err(failed)?,
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self::Unix(listener, path.to_owned()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // A socket that stays behind is replaced by the next server.
            let _ = fs::remove_file(path);
        }
    }
}

/// One connection's client: a stranger, unless its last call showed a good token.
#[derive(Debug, Clone, Default)]
pub(super) struct Peer(Arc<Admission>);

/// The connection's place among those of its token.
type Admission = Mutex<Option<Slot>>;

impl Peer {
    /// It has shown a good token. Returns whether the token may have this connection, too.
    pub(super) fn admit(&self, token: TokenId, connections: &Arc<Slots>) -> bool {
        let mut place = admission(&self.0);
        if place.as_ref().is_none_or(|slot| slot.token() != token) {
            *place = connections.take(token);
        }
        place.is_some()
    }

    pub(super) fn withdraw(&self) {
        *admission(&self.0) = None;
    }
}

fn admission(place: &Admission) -> MutexGuard<'_, Option<Slot>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connections, the oldest first. A place is lost when its connection ends.
#[derive(Debug, Default)]
struct Connections(VecDeque<(Weak<Admission>, AbortHandle)>);

impl Connections {
    fn add(&mut self, peer: &Peer, connection: AbortHandle) {
        if self.0.len() >= 2 * MAX_CONNECTIONS {
            self.forget_ended();
        }
        self.0.push_back((Arc::downgrade(&peer.0), connection));
    }

    fn forget_ended(&mut self) {
        self.0.retain(|(_, connection)| !connection.is_finished());
    }

    /// Cuts the oldest stranger, so that a client with a token need not wait for those that have
    /// none.
    fn cut_stranger(&mut self) {
        self.forget_ended();
        let is_stranger = |place: &Weak<Admission>| {
            let place = place.upgrade();
            place.is_some_and(|place| admission(&place).is_none())
        };
        let oldest = self.0.iter().position(|(place, _)| is_stranger(place));
        if let Some((_, connection)) = oldest.and_then(|oldest| self.0.remove(oldest)) {
            connection.abort();
        }
    }
}

/// Answers connections until the task is dropped.
pub async fn serve(listener: &Listener, router: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = Connections::default();
    loop {
        let (router, peer) = (router.clone(), Peer::default());
        let known = peer.clone();
        let accepted = match listener {
            Listener::Unix(listener, _) => listener.accept().await.map(|(stream, _)| {
                let served = connection(stream, router, known, WRITE_TIMEOUT);
                Box::pin(served) as Connection
            }),
            Listener::Tcp(listener, tls) => listener.accept().await.map(|(stream, _)| {
                let tls = tls.clone();
                Box::pin(async move {
                    let Some(tls) = tls else {
                        return connection(stream, router, known, WRITE_TIMEOUT).await;
                    };
                    let shaken = tokio::time::timeout(HEADER_TIMEOUT, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        connection(stream, router, known, WRITE_TIMEOUT).await;
                    }
                }) as Connection
            }),
        };
        let served = match accepted {
            Ok(served) => served,
            Err(error) => {
                pause(&error).await;
                continue;
            }
        };
        if places.available_permits() == 0 {
            connections.cut_stranger();
        }
        let Ok(permit) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let task = tokio::spawn(async move {
            served.await;
            drop(permit);
        });
        connections.add(&peer, task.abort_handle());
    }
}

type Connection = Pin<Box<dyn Future<Output = ()> + Send>>;

async fn pause(error: &io::Error) {
    tracing::warn!("cannot accept a connection: {error}");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: Peer,
    write_timeout: Duration,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write_timeout));
    let stream = Box::pin(stream);
    let answering = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        answering.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::routing::get;
    use tokio::net::UnixStream;

    use super::*;

    const LENGTH: usize = 8 << 20;

    /// How many bytes a client gets that reads only once the connection is over, and one that reads.
    async fn read_by(reads: bool) -> usize {
        let router = Router::new().route("/", get(|| async { vec![b'x'; LENGTH] }));
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let stream = UnixStream::from_std(ours).unwrap();
        let reading = |mut theirs: std::os::unix::net::UnixStream| {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all.len()
        };
        let mut writer = theirs.try_clone().unwrap();
        io::Write::write_all(&mut writer, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        let timeout = Duration::from_millis(200);
        let served = connection(stream, router, Peer::default(), timeout);
        if reads {
            let read = tokio::task::spawn_blocking(move || reading(theirs));
            served.await;
            read.await.unwrap()
        } else {
            served.await;
            reading(theirs)
        }
    }

    #[test]
    fn a_client_that_does_not_read_is_cut() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap();
        assert!(runtime.block_on(read_by(true)) > LENGTH);
        assert!(runtime.block_on(read_by(false)) < LENGTH);
    }
}
