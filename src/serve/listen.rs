//! Sockets, and the connections on them: each one is bounded in time, and their number is bounded.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

const MAX_CONNECTIONS: usize = 512;

/// How long a client may take to read on.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

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

    pub async fn tcp(address: SocketAddr, tls: Option<TlsAcceptor>) -> Result<Self, ListenError> {
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| ListenError::Bind {
            place: address.to_string(),
            source,
        })?;
        Ok(Self::Tcp(listener, tls))
    }

    /// Where a client finds it, as `COMAIL_SERVER` names it.
    pub fn url(&self) -> io::Result<String> {
        Ok(match self {
            Self::Unix(_, path) => format!("unix:{}", path.display()),
            Self::Tcp(listener, None) => format!("http://{}", listener.local_addr()?),
            Self::Tcp(listener, Some(_)) => format!("https://{}", listener.local_addr()?),
        })
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

/// Answers connections until the task is dropped.
pub async fn serve(listener: &Listener, router: Router) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else {
            return;
        };
        let router = router.clone();
        match listener {
            Listener::Unix(listener, _) => match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(async move {
                    connection(stream, router).await;
                    drop(permit);
                })),
                Err(error) => pause(&error).await,
            },
            Listener::Tcp(listener, tls) => match listener.accept().await {
                Ok((stream, _)) => {
                    let tls = tls.clone();
                    drop(tokio::spawn(async move {
                        match tls {
                            None => connection(stream, router).await,
                            Some(tls) => {
                                let shaken = tls.accept(stream);
                                let shaken = tokio::time::timeout(HEADER_TIMEOUT, shaken).await;
                                if let Ok(Ok(stream)) = shaken {
                                    connection(stream, router).await;
                                }
                            }
                        }
                        drop(permit);
                    }));
                }
                Err(error) => pause(&error).await,
            },
        }
    }
}

async fn pause(error: &io::Error) {
    tracing::warn!("cannot accept a connection: {error}");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let stream = Box::pin(stream);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = served.await {
        tracing::debug!("a connection ended: {error}");
    }
}
