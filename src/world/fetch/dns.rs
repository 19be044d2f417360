//! Asks DNS over UDP and TCP, and distinguishes definite answers from missing ones.
//!
//! Lookups go through the raw client of hickory rather than through its resolver: that one
//! appends search domains, reads the hosts file, caches, and turns referrals, alias loops and
//! filtered addresses into "no such record". Here a question is one absolute name and one kind of
//! record. Only NXDOMAIN and a proper NODATA count as a denial; anything else is
//! [`UnansweredKind::Dns`].

mod answer;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::tcp::TcpClientStream;
use hickory_resolver::net::udp::UdpClientStream;
use hickory_resolver::net::xfer::{DnsHandle as _, DnsRequestSender as _, FirstAnswer as _};
use hickory_resolver::proto::op::{DnsRequest, DnsRequestOptions, DnsResponse, Message, Query};
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::system_conf::read_system_conf;

use self::answer::Indefinite;
use super::budget::{Budget, retry};
use super::log;
use super::settings::{Limits, NetworkSettings};
use crate::world::client::{block_on, is_denied};
use crate::world::domain::HostName;
use crate::world::{Looked, RecordKind, Resolver, Unanswered, UnansweredKind};

#[derive(Debug)]
pub struct DnsResolver {
    configured: Vec<SocketAddr>,
    system: OnceLock<Result<Vec<SocketAddr>, String>>,
    limits: Limits,
    budget: Arc<Budget>,
}

impl DnsResolver {
    /// A resolver that asks the servers of `settings`, or the system's, within `budget`.
    ///
    /// The system's servers are read at the first question, from `/etc/resolv.conf` alone:
    /// its search list and options, and those of the environment, have no effect.
    pub fn new(settings: &NetworkSettings, budget: Arc<Budget>) -> Self {
        Self {
            configured: settings.dns_servers.clone(),
            system: OnceLock::new(),
            limits: settings.limits,
            budget,
        }
    }

    fn servers(&self) -> Result<&[SocketAddr], Unanswered> {
        if !self.configured.is_empty() {
            return Ok(&self.configured);
        }
        match self.system.get_or_init(of_the_system) {
            Ok(servers) => Ok(servers),
            Err(detail) => Err(unanswered(detail.clone())),
        }
    }

    /// Asks every server once. The error is the last reason if no answer is definite.
    fn round(
        &self,
        servers: &[SocketAddr],
        name: &Name,
        kind: RecordKind,
    ) -> Result<Looked, Unanswered> {
        let mut last = unanswered(format!("no name server to ask for {name}"));
        for &server in servers {
            if self.budget.left().is_none() {
                return Err(self.budget.used_up());
            }
            match self.ask_one(server, name, kind) {
                Ok(looked) => return Ok(looked),
                Err(why) if why.silence == UnansweredKind::Dns && self.budget.left().is_none() => {
                    return Err(self.budget.used_up());
                }
                Err(why) => {
                    let detail = format!("{name} {}: {server}: {why}", label(kind));
                    last = Unanswered { detail, ..why };
                }
            }
        }
        Err(last)
    }

    /// Asks one server, and again for the target if the answer has only a part of an alias chain.
    fn ask_one(
        &self,
        server: SocketAddr,
        name: &Name,
        kind: RecordKind,
    ) -> Result<Looked, Unanswered> {
        let mut chain = vec![name.clone()];
        loop {
            let last = chain.last().unwrap_or(name).clone();
            let query = Query::query(last, answer::record_type(kind));
            let message = self.exchange(server, &query)?;
            if let Some(looked) = answer::read(&message, &mut chain, kind)? {
                return Ok(looked);
            }
        }
    }
}

impl Resolver for DnsResolver {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        let began = Instant::now();
        let looked = self.look_up_in_the_end(name, kind);
        let looked = looked.unwrap_or_else(Looked::Unanswered);
        log::looked(name, label(kind), &looked, began.elapsed());
        looked
    }

    // Every resolver can answer a question about the root, and no agent or site can influence the
    // answer.
    fn check_network(&self) -> Result<(), Unanswered> {
        let root = Query::query(Name::root(), RecordType::NS);
        let limit = Duration::from_millis(self.limits.dns_ms);
        let servers = self.servers()?;
        // A budget of its own, because the lookups may have used up the time of the submission.
        let budget = Budget::new(Duration::MAX);
        let ask_all = || {
            let mut last = unanswered("no name server is configured".to_owned());
            for &server in servers {
                let asked = block_on(budget.wait(limit, over_udp(server, &root)));
                let why = match asked {
                    // A reply that cannot be parsed is a reply too.
                    Ok(Some(Ok(_) | Err(NetError::Proto(_) | NetError::Dns(_)))) => return Ok(()),
                    Ok(Some(Err(error))) => error.to_string(),
                    Ok(None) => NetError::Timeout.to_string(),
                    Err(error) => error.to_string(),
                };
                last = unanswered(format!("{server} sends no reply: {why}"));
            }
            Err((last, None))
        };
        retry(&self.limits, &budget, ask_all)
    }
}

impl DnsResolver {
    /// Asks one question over UDP, and over TCP if the answer does not fit into a datagram (RFC 7766
    /// §5). An answer that cannot be parsed may be too long as well.
    fn exchange(&self, server: SocketAddr, query: &Query) -> Result<Message, Unanswered> {
        let exchanged = block_on(async {
            match self.within_limit(over_udp(server, query)).await {
                Ok(answer) if !answer.truncation => return Ok(answer.into_message()),
                Ok(_) | Err(NetError::Proto(_)) => {}
                Err(error) => return Err(no_answer(&error)),
            }
            let answer = self.within_limit(over_tcp(server, query)).await;
            let answer = answer.map_err(|error| {
                let why = no_answer(&error);
                let detail = format!("over TCP: {why}");
                Unanswered { detail, ..why }
            })?;
            // Over TCP the library compares only the id, but RFC 5452 §9.1 requires the question too.
            if answer.truncation || answer.queries.as_slice() != std::slice::from_ref(query) {
                let detail = "over TCP: not an answer to the question";
                return Err(unanswered(detail.to_owned()));
            }
            Ok(answer.into_message())
        });
        exchanged.map_err(|error| no_answer(&error.into()))?
    }

    /// Waits for one exchange until its own limit, or the rest of the submission's time.
    async fn within_limit(
        &self,
        exchange: impl Future<Output = Result<DnsResponse, NetError>>,
    ) -> Result<DnsResponse, NetError> {
        let left = self.budget.left().unwrap_or_default();
        let limit = Duration::from_millis(self.limits.dns_ms).min(left);
        let answer = self.budget.wait(limit, exchange).await;
        answer.unwrap_or(Err(NetError::Timeout))
    }

    /// Asks until there is a definite answer, or no try is left.
    fn look_up_in_the_end(&self, name: &HostName, kind: RecordKind) -> Result<Looked, Unanswered> {
        let servers = self.servers()?;
        let name = Name::from_ascii(format!("{name}."));
        let name = name.map_err(|error| unanswered(error.to_string()))?;
        retry(&self.limits, &self.budget, || {
            self.round(servers, &name, kind).map_err(|why| (why, None))
        })
    }
}

/// The library's timeout. The caller ends an exchange long before: the library's clock continues while
/// this process is stopped, and for TCP it does not cover a body that arrives byte by byte.
const LIBRARY_TIMEOUT: Duration = Duration::from_hours(1);

// The library ignores datagrams that do not echo the question's random id, name, type and class
// (RFC 5452 §9.1).
async fn over_udp(server: SocketAddr, query: &Query) -> Result<DnsResponse, NetError> {
    let provider = TokioRuntimeProvider::default();
    let stream = UdpClientStream::builder(server, provider).with_timeout(Some(LIBRARY_TIMEOUT));
    // Tries are counted by the caller: a second question would be one more.
    let mut stream = stream
        .with_max_retries(1)
        .with_os_port_selection(true)
        .build();
    stream.send_message(request(query)).first_answer().await
}

async fn over_tcp(server: SocketAddr, query: &Query) -> Result<DnsResponse, NetError> {
    // Dropping the last provider ends the task that reads the answers.
    let provider = TokioRuntimeProvider::default();
    let exchange =
        TcpClientStream::exchange(server, None, LIBRARY_TIMEOUT, None, provider.clone()).await?;
    let answer = exchange.send(request(query)).first_answer().await;
    drop(provider);
    answer
}

/// The question, without EDNS: an answer of more than 512 octets comes over TCP.
fn request(query: &Query) -> DnsRequest {
    let mut options = DnsRequestOptions::default();
    options.use_edns = false;
    DnsRequest::from_query(query.clone(), options)
}

fn no_answer(error: &NetError) -> Unanswered {
    match error {
        NetError::Io(io) if is_denied(io) => {
            Unanswered::new(UnansweredKind::Denied, io.to_string())
        }
        _ => unanswered(error.to_string()),
    }
}

impl From<Indefinite> for Unanswered {
    fn from(Indefinite(why): Indefinite) -> Self {
        unanswered(why)
    }
}

fn unanswered(detail: String) -> Unanswered {
    Unanswered::new(UnansweredKind::Dns, detail)
}

fn label(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::A => "A",
        RecordKind::Aaaa => "AAAA",
        RecordKind::Mx => "MX",
    }
}

/// The port of DNS (RFC 1035 §4.2).
const PORT: u16 = 53;

/// The name servers of the system, without its search list and options.
fn of_the_system() -> Result<Vec<SocketAddr>, String> {
    let (config, _options) = read_system_conf().map_err(|error| {
        format!(
            "the system's name servers cannot be read ({error}); \
             scan with --set network.dns-server=ADDR:PORT to name one"
        )
    })?;
    let addresses = config.name_servers().iter().map(|server| server.ip);
    Ok(addresses.map(|ip| SocketAddr::new(ip, PORT)).collect())
}
