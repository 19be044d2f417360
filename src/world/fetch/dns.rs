//! Asks DNS over UDP and TCP, and tells a definite answer from silence.
//!
//! A stub of our own rather than a resolver library's: those append search domains, read the
//! hosts file, cache, and fold referrals, alias loops and filtered addresses into "no such
//! record". Here a question is one absolute name and one kind of record; only NXDOMAIN and a
//! proper NODATA deny it, and whatever else comes is [`Silence::Dns`].

mod answer;
mod exchange;
mod servers;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::op::Query;
use hickory_proto::rr::Name;

use self::answer::{Aliases, Reading};
use self::exchange::Patience;
use super::backoff::backoff;
use super::budget::Budget;
use super::settings::{Limits, NetworkSettings};
use crate::world::domain::HostName;
use crate::world::{Looked, RecordKind, Resolver, Silence, Unanswered, told};

/// Asks the session's name servers, in order, until one gives a definite answer.
#[derive(Debug)]
pub struct DnsResolver {
    configured: Vec<SocketAddr>,
    system: OnceLock<Result<Vec<SocketAddr>, String>>,
    limits: Limits,
    budget: Arc<Budget>,
}

/// Why one server gave no definite answer, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Indefinite(String);

impl DnsResolver {
    /// A resolver that asks the servers of `settings`, or the system's, within `budget`.
    ///
    /// The system's servers are read at the first question, from `/etc/resolv.conf` alone:
    /// its search list and options, and those of the environment, have no effect.
    #[must_use]
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
        match self.system.get_or_init(servers::of_the_system) {
            Ok(servers) => Ok(servers),
            Err(detail) => Err(silent(detail.clone())),
        }
    }

    /// Asks every server once; the last reason when none is definite.
    fn round(
        &self,
        servers: &[SocketAddr],
        name: &Name,
        kind: RecordKind,
    ) -> Result<Looked, Unanswered> {
        let mut last = silent(format!("no name server to ask for {name}"));
        for &server in servers {
            if self.budget.left().is_none() {
                return Err(self.budget.used_up());
            }
            match self.ask_one(server, name, kind) {
                Ok(looked) => return Ok(looked),
                Err(Indefinite(why)) if self.budget.left().is_some() => {
                    last = silent(format!("{name} {}: {server}: {why}", label(kind)));
                }
                Err(_) => return Err(self.budget.used_up()),
            }
        }
        Err(last)
    }

    /// Asks one server, and again for the target where it tells only part of an alias chain.
    fn ask_one(
        &self,
        server: SocketAddr,
        name: &Name,
        kind: RecordKind,
    ) -> Result<Looked, Indefinite> {
        let patience = Patience {
            each: Duration::from_millis(self.limits.dns_ms),
            until: self.budget.deadline(),
        };
        let mut aliases = Aliases::of(name.clone());
        loop {
            let query = Query::query(aliases.last().clone(), answer::record_type(kind));
            let message = exchange::ask(server, &query, patience)?;
            match answer::read(&message, &mut aliases, kind)? {
                Reading::Definite(looked) => return Ok(looked),
                Reading::AskOn => {}
            }
        }
    }
}

impl Resolver for DnsResolver {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        let began = Instant::now();
        let looked = self.look_up_in_the_end(name, kind);
        told::looked(name, label(kind), &looked, began.elapsed());
        looked
    }
}

impl DnsResolver {
    /// Asks until there is a definite answer, or no try is left.
    fn look_up_in_the_end(&self, name: &HostName, kind: RecordKind) -> Looked {
        let (servers, name) = match (self.servers(), Name::from_ascii(format!("{name}."))) {
            (Ok(servers), Ok(name)) => (servers, name),
            (Err(why), _) => return Looked::Unanswered(why),
            (_, Err(error)) => return Looked::Unanswered(silent(error.to_string())),
        };
        for tried in 1.. {
            let why = match self.round(servers, &name, kind) {
                Ok(looked) => return looked,
                Err(why) => why,
            };
            let pause = backoff(&self.limits, tried);
            if tried >= self.limits.tries || self.budget.left().is_none_or(|left| left <= pause) {
                return Looked::Unanswered(why);
            }
            thread::sleep(pause);
        }
        Looked::Unanswered(self.budget.used_up())
    }
}

fn silent(detail: String) -> Unanswered {
    Unanswered {
        silence: Silence::Dns,
        status: None,
        detail,
    }
}

fn label(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::A => "A",
        RecordKind::Aaaa => "AAAA",
        RecordKind::Mx => "MX",
    }
}
