//! One HTTP/1.1 exchange with addresses that were checked before, or the reason for no answer.
//!
//! Only a page has a body here: the bodies of redirects, 404 and 410 are not read, because no gate
//! looks at them.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{future, io};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Proxy, header};
use rustls::ClientConfig;
use url::Url;

use super::budget::Budget;
use super::dns::DnsResolver;
use super::route;
use super::settings::{Limits, NetworkSettings};
use crate::world::browser::ResourceAnswer;
use crate::world::client::{
    self, CaError, authorities, block_on, cause, causes, is_denied, read_body, retry_after,
    trusting,
};
use crate::world::{Fetched, Response, Unanswered, UnansweredKind};

const ACCEPT: HeaderValue =
    HeaderValue::from_static("text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1");

/// The headers that a browser needs to use an answer.
const OF_RESOURCES: [header::HeaderName; 6] = [
    header::CONTENT_TYPE,
    header::LOCATION,
    header::REFRESH,
    header::CONTENT_SECURITY_POLICY,
    header::X_CONTENT_TYPE_OPTIONS,
    header::X_FRAME_OPTIONS,
];

/// No definite answer; another try may give one.
#[derive(Debug)]
pub(super) struct Silence {
    pub(super) why: Unanswered,
    pub(super) retry_after: Option<Duration>,
}

impl From<Unanswered> for Silence {
    fn from(why: Unanswered) -> Self {
        let retry_after = None;
        Self { why, retry_after }
    }
}

#[derive(Debug)]
pub(super) struct Client {
    limits: Limits,
    user_agent: HeaderValue,
    proxy: Option<Proxy>,
    tls: ClientConfig,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error(transparent)]
    Tls(#[from] CaError),
    #[error(
        "the User-Agent {0:?} cannot be used in a header; scan with another network.user-agent"
    )]
    UserAgent(String),
    #[error("{host} cannot be used as a proxy; scan with --set network.proxy=http://HOST:PORT")]
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
            tls: trusting(authorities(&settings.ca_certs_pem)?)?,
        })
    }

    /// Makes one GET with `addresses`, within the limit of a request and `budget`.
    pub(super) fn get(
        &self,
        url: &Url,
        addresses: &[IpAddr],
        budget: &Budget,
    ) -> Result<Fetched, Silence> {
        with_timeout(self.limits.request_ms, budget, url, async {
            let client = self.build(addresses.to_vec())?;
            let sent = client.get(url.clone()).send().await;
            let response = sent.map_err(|error| {
                let why = unanswered_by(url, &error);
                if error.is_connect() && lacks_route(addresses) {
                    return Unanswered::new(UnansweredKind::Denied, why.detail);
                }
                why
            })?;
            self.judge(url, response).await
        })
    }

    /// Makes one GET for a resource of a page. Most statuses count as an answer.
    pub(super) fn resource(
        &self,
        url: &Url,
        addresses: &[IpAddr],
        budget: &Budget,
        within: Duration,
    ) -> Result<ResourceAnswer, Unanswered> {
        let limit_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let limit_ms = limit_ms.min(self.limits.request_ms);
        with_timeout(limit_ms, budget, url, async {
            let client = self.build(addresses.to_vec())?;
            let sent = client
                .get(url.clone())
                .header(header::ACCEPT, "*/*")
                .send()
                .await;
            let response = sent.map_err(|error| unanswered_by(url, &error))?;
            let status = response.status().as_u16();
            if status >= 500 || status == 429 {
                let detail = format!("{url}: the server answers {status}");
                return Err(Unanswered {
                    status: Some(status),
                    ..Unanswered::new(UnansweredKind::Status, detail)
                });
            }
            let kept = OF_RESOURCES.iter().filter_map(|name| {
                Some((name.as_str().to_owned(), text(response.headers(), name)?))
            });
            let headers = kept.collect();
            let limit_bytes = self.limits.body_bytes;
            let body = read_body(response, limit_bytes).await;
            let body = body.map_err(|error| unanswered_by(url, &error))?;
            let body = body.ok_or_else(|| {
                let detail = format!("{url}: larger than {limit_bytes} bytes");
                Unanswered::new(UnansweredKind::Protocol, detail)
            })?;
            Ok(ResourceAnswer {
                status,
                headers,
                body,
            })
        })
    }

    fn build(&self, addresses: Vec<IpAddr>) -> Result<reqwest::Client, Unanswered> {
        let builder = client::client(self.tls.clone())
            .dns_resolver(Arc::new(Pinned(addresses)))
            .connect_timeout(Duration::from_millis(self.limits.connect_ms))
            .user_agent(self.user_agent.clone())
            .default_headers(HeaderMap::from_iter([(header::ACCEPT, ACCEPT)]));
        let builder = match &self.proxy {
            Some(proxy) => builder.proxy(proxy.clone()),
            None => builder,
        };
        builder.build().map_err(not_set_up)
    }

    async fn judge(&self, url: &Url, response: reqwest::Response) -> Result<Fetched, Silence> {
        let status = response.status();
        let headers = response.headers();
        let missing = matches!(status.as_u16(), 404 | 410);
        if missing || (status.is_redirection() && headers.contains_key(header::LOCATION)) {
            return Ok(Fetched::Response(head(&response)));
        }
        if !status.is_success() {
            let detail = format!("{url}: the server answers {status}");
            let asked = text(headers, &header::RETRY_AFTER);
            return Err(Silence {
                why: Unanswered {
                    status: Some(status.as_u16()),
                    ..Unanswered::new(UnansweredKind::Status, detail)
                },
                retry_after: asked.and_then(|value| retry_after(&value, SystemTime::now())),
            });
        }
        if let Some(coding) = text(headers, &header::CONTENT_ENCODING)
            && !coding.trim().eq_ignore_ascii_case("identity")
        {
            let detail = format!("{url}: the content coding {coding:?} was not asked for");
            return Err(Unanswered::new(UnansweredKind::Protocol, detail).into());
        }
        self.page(url, response).await
    }

    async fn page(&self, url: &Url, response: reqwest::Response) -> Result<Fetched, Silence> {
        let limit_bytes = self.limits.body_bytes;
        let length = response.content_length();
        if length.is_some_and(|length| length > limit_bytes) {
            return Ok(Fetched::TooLarge { limit_bytes });
        }
        let head = head(&response);
        let body = read_body(response, limit_bytes).await;
        Ok(match body.map_err(|error| unanswered_by(url, &error))? {
            Some(body) => Fetched::Response(Response { body, ..head }),
            None => Fetched::TooLarge { limit_bytes },
        })
    }
}

fn head(response: &reqwest::Response) -> Response {
    let headers = response.headers();
    Response {
        status: response.status().as_u16(),
        content_type: text(headers, &header::CONTENT_TYPE),
        location: text(headers, &header::LOCATION),
        refresh: text(headers, &header::REFRESH),
        disposition: text(headers, &header::CONTENT_DISPOSITION).map(String::into_boxed_str),
        body: Vec::new(),
    }
}

/// A header's first value. Bytes that are not UTF-8, which some servers send, are replaced.
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

fn not_set_up(error: impl Error) -> Unanswered {
    let detail = format!("no connection could be set up here: {error}");
    Unanswered::new(UnansweredKind::Denied, detail)
}

fn with_timeout<T, E: From<Unanswered>>(
    limit_ms: u64,
    budget: &Budget,
    url: &Url,
    exchange: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let limit = Duration::from_millis(limit_ms).min(budget.left().unwrap_or_default());
    let ended = block_on(budget.wait(limit, exchange)).map_err(not_set_up)?;
    ended.unwrap_or_else(|| {
        let detail = format!("{url}: no complete answer in {} s", limit.as_secs_f64());
        Err(Unanswered::new(UnansweredKind::Timeout, detail).into())
    })
}

/// Answers every name with the addresses that were checked for this connection.
///
/// Unlike an override by name, it also applies to other spellings of the host, such as one with a
/// trailing dot, and no other resolver is asked.
#[derive(Debug)]
struct Pinned(Vec<IpAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        // Port 0 means the URL's own.
        let addresses: Vec<_> = self.0.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        let addresses: Addrs = Box::new(addresses.into_iter());
        Box::pin(future::ready(Ok(addresses)))
    }
}

fn unanswered_by(url: &Url, error: &reqwest::Error) -> Unanswered {
    Unanswered::new(silence_kind(error), format!("{url}: {}", cause(error)))
}

/// Whether the system has no route to any of the addresses. An IPv6-only site proves nothing, because
/// many networks have only IPv4.
fn lacks_route(addresses: &[IpAddr]) -> bool {
    // Connecting a UDP socket looks up the route without sending anything.
    let is_unreachable = |address: &IpAddr| {
        let own = match address {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let connected = UdpSocket::bind((own, 0)).and_then(|it| it.connect((*address, 443)));
        connected.is_err_and(|error| error.kind() == io::ErrorKind::NetworkUnreachable)
    };
    addresses.iter().any(IpAddr::is_ipv4) && addresses.iter().all(is_unreachable)
}

fn silence_kind(error: &reqwest::Error) -> UnansweredKind {
    if error.is_timeout() {
        return UnansweredKind::Timeout;
    }
    if causes(error).any(<dyn Error>::is::<rustls::Error>) {
        return UnansweredKind::Tls;
    }
    let denied =
        |cause: &(dyn Error + 'static)| cause.downcast_ref::<io::Error>().is_some_and(is_denied);
    if causes(error).any(denied) {
        return UnansweredKind::Denied;
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    Answered { status: u16, date: Option<String> },
    NoSuchHost,
    Unanswered(Unanswered),
}

pub fn check_connection(
    url: &Url,
    settings: &NetworkSettings,
    limit: Duration,
) -> Result<Connection, ClientError> {
    let client = Client::new(settings)?;
    let budget = Arc::new(Budget::new(limit));
    let resolver = DnsResolver::new(settings, Arc::clone(&budget));
    let addresses = match route::addresses(url, &resolver, settings) {
        Ok(addresses) => addresses,
        Err(Fetched::Unanswered(why)) => return Ok(Connection::Unanswered(why)),
        Err(_) => return Ok(Connection::NoSuchHost),
    };
    let greeted = with_timeout(u64::MAX, &budget, url, async {
        let sent = client.build(addresses)?.head(url.clone()).send().await;
        let response = sent.map_err(|error| unanswered_by(url, &error))?;
        Ok(Connection::Answered {
            status: response.status().as_u16(),
            date: text(response.headers(), &header::DATE),
        })
    });
    Ok(greeted.unwrap_or_else(Connection::Unanswered))
}

pub fn trusted_authorities(settings: &NetworkSettings) -> Result<usize, ClientError> {
    Client::new(settings)?;
    Ok(authorities(&settings.ca_certs_pem)?.len())
}
