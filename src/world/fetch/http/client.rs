//! One HTTP exchange with addresses that were checked before, and why it gave no answer.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{future, io};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Proxy, header, redirect, retry};
use url::Url;

use crate::world::fetch::settings::{Limits, NetworkSettings};
use crate::world::tls::{CaError, Tls, cause, causes, retry_after};
use crate::world::{Fetched, Response, Unanswered, UnansweredKind};

/// What pages are asked for as; anything else is still taken.
const ACCEPT: HeaderValue =
    HeaderValue::from_static("text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1");

#[derive(Debug)]
pub(super) enum Exchanged {
    Settled(Fetched),
    Silent {
        why: Unanswered,
        /// How long the server asks to be left alone.
        retry_after: Option<Duration>,
    },
}

#[derive(Debug)]
pub(super) struct Client {
    limits: Limits,
    user_agent: HeaderValue,
    proxy: Option<Proxy>,
    tls: Tls,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error(transparent)]
    Tls(#[from] CaError),
    #[error("the User-Agent {0:?} cannot stand in a header; scan with another --user-agent")]
    UserAgent(String),
    #[error("{host} cannot be used as a proxy; scan with --proxy http://HOST:PORT")]
    Proxy {
        host: String,
        source: Option<reqwest::Error>,
    },
}

impl Client {
    /// Checks the settings; nothing is set up yet.
    pub(super) fn new(settings: &NetworkSettings) -> Result<Self, ClientError> {
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| ClientError::UserAgent(settings.user_agent.clone()))?;
        Ok(Self {
            limits: settings.limits,
            user_agent,
            proxy: settings.proxy.as_ref().map(proxy).transpose()?,
            tls: Tls::new(&settings.ca_certs_pem)?,
        })
    }

    /// Makes one GET with `addresses`, which must take less than `limit` in all.
    ///
    /// It runs on a runtime of its own, which ends with it: nothing of an exchange outlives
    /// it, and exchanges of several threads do not wait for each other.
    pub(super) fn get(&self, url: &Url, addresses: Vec<IpAddr>, limit: Duration) -> Exchanged {
        let exchanged = within(limit, url, self.exchange(url, addresses));
        exchanged.unwrap_or_else(Exchanged::silent)
    }

    /// Asks for the head of a page alone, and tells its status and date, whatever they are.
    pub(super) fn head(
        &self,
        url: &Url,
        addresses: Vec<IpAddr>,
        limit: Duration,
    ) -> Result<(u16, Option<String>), Unanswered> {
        let head = async {
            let client = self
                .build(addresses)
                .map_err(|error| not_set_up(error.as_ref()))?;
            let answered = client.head(url.clone()).send().await;
            let response = answered.map_err(|error| unanswered_by(url, &error))?;
            let date = text(response.headers(), &header::DATE);
            Ok((response.status().as_u16(), date))
        };
        within(limit, url, head).flatten()
    }

    /// The trust that connections are made with, built as for the first of them.
    pub(super) fn trust(&self) -> Result<(), rustls::Error> {
        self.tls.config().map(|_| ())
    }

    async fn exchange(&self, url: &Url, addresses: Vec<IpAddr>) -> Exchanged {
        let client = match self.build(addresses) {
            Ok(client) => client,
            Err(error) => return Exchanged::silent(not_set_up(error.as_ref())),
        };
        match client.get(url.clone()).send().await {
            Ok(response) => self.judge(url, response).await,
            Err(error) => Exchanged::silent(unanswered_by(url, &error)),
        }
    }

    fn build(&self, addresses: Vec<IpAddr>) -> Result<reqwest::Client, Box<dyn std::error::Error>> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(self.tls.config()?)
            .dns_resolver(Pinned::to(addresses))
            .connect_timeout(Duration::from_millis(self.limits.connect_ms))
            .pool_max_idle_per_host(0)
            .http1_only()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .user_agent(self.user_agent.clone())
            .default_headers(HeaderMap::from_iter([(header::ACCEPT, ACCEPT)]))
            // Neither the environment's proxy nor the system's.
            .no_proxy();
        let builder = match &self.proxy {
            Some(proxy) => builder.proxy(proxy.clone()),
            None => builder,
        };
        Ok(builder.build()?)
    }

    /// What the answer's status means, and its body where that matters.
    async fn judge(&self, url: &Url, response: reqwest::Response) -> Exchanged {
        let status = response.status();
        let headers = response.headers();
        let missing = matches!(status.as_u16(), 404 | 410);
        if missing || (status.is_redirection() && headers.contains_key(header::LOCATION)) {
            return Exchanged::Settled(Fetched::Response(head(&response)));
        }
        if !status.is_success() {
            return Exchanged::Silent {
                why: Unanswered {
                    silence: UnansweredKind::Status,
                    status: Some(status.as_u16()),
                    detail: format!("{url}: the server answers {status}"),
                },
                retry_after: text(headers, &header::RETRY_AFTER)
                    .and_then(|value| retry_after(&value, SystemTime::now())),
            };
        }
        if let Some(coding) = text(headers, &header::CONTENT_ENCODING)
            && !coding.trim().eq_ignore_ascii_case("identity")
        {
            return Exchanged::silent(Unanswered {
                silence: UnansweredKind::Protocol,
                status: None,
                detail: format!("{url}: the content coding {coding:?} was not asked for"),
            });
        }
        self.page(url, response).await
    }

    /// Reads the body, whose bytes are counted after decompression, as they come.
    async fn page(&self, url: &Url, mut response: reqwest::Response) -> Exchanged {
        let limit_bytes = self.limits.body_bytes;
        let too_large = Exchanged::Settled(Fetched::TooLarge { limit_bytes });
        if response
            .content_length()
            .is_some_and(|length| length > limit_bytes)
        {
            return too_large;
        }
        let head = head(&response);
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    let length = body.len().saturating_add(chunk.len());
                    if u64::try_from(length).is_ok_and(|length| length <= limit_bytes) {
                        body.extend_from_slice(&chunk);
                    } else {
                        return too_large;
                    }
                }
                Ok(None) => {
                    return Exchanged::Settled(Fetched::Response(Response { body, ..head }));
                }
                Err(error) => return Exchanged::silent(unanswered_by(url, &error)),
            }
        }
    }
}

impl Exchanged {
    fn silent(why: Unanswered) -> Self {
        Self::Silent {
            why,
            retry_after: None,
        }
    }
}

/// The answer without its body.
fn head(response: &reqwest::Response) -> Response {
    let headers = response.headers();
    Response {
        status: response.status().as_u16(),
        content_type: text(headers, &header::CONTENT_TYPE),
        location: text(headers, &header::LOCATION),
        refresh: text(headers, &header::REFRESH),
        body: Vec::new(),
    }
}

/// A header's first value; bytes that are no UTF-8, which some servers send, are replaced.
fn text(headers: &HeaderMap, name: &header::HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn proxy(url: &Url) -> Result<Proxy, ClientError> {
    let error = |source| ClientError::Proxy {
        host: url.host_str().unwrap_or_default().to_owned(),
        source,
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(error(None));
    }
    Proxy::all(url.clone()).map_err(|source| error(Some(source)))
}

fn not_set_up(error: &dyn std::error::Error) -> Unanswered {
    Unanswered::new(
        UnansweredKind::Connection,
        format!("no connection could be set up here: {error}"),
    )
}

/// Brings an exchange to its end, which must take less than `limit`.
fn within<T>(
    limit: Duration,
    url: &Url,
    exchange: impl Future<Output = T>,
) -> Result<T, Unanswered> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| not_set_up(&error))?;
    runtime.block_on(async {
        let ended = tokio::time::timeout(limit, exchange).await;
        ended.map_err(|_| {
            let detail = format!("{url}: no complete answer in {} s", limit.as_secs_f64());
            Unanswered::new(UnansweredKind::Timeout, detail)
        })
    })
}

/// Answers every name with the addresses that were checked for this connection.
///
/// Unlike an override by name it cannot be missed by another spelling of the host, such as
/// one with a trailing dot; nothing behind it asks any other resolver.
#[derive(Debug)]
pub(super) struct Pinned(Vec<IpAddr>);

impl Pinned {
    /// A resolver that knows nothing but `addresses`.
    pub(super) fn to(addresses: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self(addresses))
    }
}

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        // Port 0 stands for the URL's own.
        let addresses: Vec<_> = self.0.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        let addresses: Addrs = Box::new(addresses.into_iter());
        Box::pin(future::ready(Ok(addresses)))
    }
}

/// The silence that `error` is, with what is said all the way down to its cause.
fn unanswered_by(url: &Url, error: &reqwest::Error) -> Unanswered {
    Unanswered {
        silence: kind(error),
        status: None,
        detail: format!("{url}: {}", cause(error)),
    }
}

fn kind(error: &reqwest::Error) -> UnansweredKind {
    if error.is_timeout() {
        return UnansweredKind::Timeout;
    }
    if causes(error).any(<dyn Error>::is::<rustls::Error>) {
        return UnansweredKind::Tls;
    }
    if error.is_connect() {
        return UnansweredKind::Connection;
    }
    let cut_off = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(|error| {
            error.is_incomplete_message() || error.is_closed() || error.is_canceled()
        }) || cause
            .downcast_ref::<io::Error>()
            .is_some_and(is_of_connection)
    };
    if causes(error).any(cut_off) {
        return UnansweredKind::Connection;
    }
    UnansweredKind::Protocol
}

fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::UnexpectedEof
    )
}
