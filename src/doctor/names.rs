//! Whether DNS answers, and tells the truth about names that do not exist.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;

use super::{Check, Finding};
use crate::world::domain::HostName;
use crate::world::fetch::address_guard::permitted;
use crate::world::fetch::budget::Budget;
use crate::world::fetch::dns::DnsResolver;
use crate::world::fetch::settings::NetworkSettings;
use crate::world::{Looked, RecordKind, Records, Resolver as _};

/// How long one question may take, with all that it is asked of.
const PATIENCE: Duration = Duration::from_secs(5);

const MEND: &str = "name a resolver that answers truly by `scan --dns-server ADDR:PORT`";

/// What DNS said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// A name that everybody knows.
    pub known: HostName,
    /// What was said of it.
    pub of_known: Looked,
    /// A name that must not exist.
    pub absent: HostName,
    /// What was said of that, where it was asked for: not of who does not answer at all.
    pub of_absent: Option<Looked>,
    /// The networks that may be connected to although they are not public.
    pub allowed: Vec<IpNet>,
}

/// Asks for both names.
#[must_use]
pub fn look(settings: &NetworkSettings, known: HostName, absent: HostName) -> Observed {
    let ask = |name: &HostName| {
        let budget = Arc::new(Budget::new(PATIENCE));
        DnsResolver::new(settings, budget).lookup(name, RecordKind::A)
    };
    let of_known = ask(&known);
    let answers = !matches!(of_known, Looked::Unanswered(_));
    Observed {
        of_absent: answers.then(|| ask(&absent)),
        of_known,
        known,
        absent,
        allowed: settings.allow_net.clone(),
    }
}

/// What is to be said of DNS.
#[must_use]
pub fn judge(seen: &Observed) -> Vec<Finding> {
    let mut findings: Vec<_> = absent(seen).into_iter().collect();
    findings.extend(known(seen));
    if findings.is_empty() {
        let found = format!(
            "{} has an address, and a name that is made up has none",
            seen.known.as_str()
        );
        findings.push(Check::Dns.ok(found));
    }
    findings
}

fn known(seen: &Observed) -> Option<Finding> {
    let (it, name) = (Check::Dns, seen.known.as_str());
    match &seen.of_known {
        Looked::Found(Records::Addresses(addresses)) => {
            let reached = |address: &IpAddr| permitted(*address, &seen.allowed);
            let found = format!("{name} leads to no public address, but to {addresses:?}");
            (!addresses.iter().any(reached)).then(|| it.trouble(found, MEND))
        }
        Looked::Found(Records::Mx(_)) => None,
        Looked::NoData | Looked::NoSuchName => {
            let found = format!("{name} has no address, says the resolver");
            Some(it.trouble(found, MEND))
        }
        Looked::Unanswered(why) => {
            let found = format!("no resolver answers: {why}");
            let mend = "check the network, or name a resolver by `scan --dns-server ADDR:PORT`; \
                        without any, use --offline here";
            Some(it.note(found, mend))
        }
    }
}

fn absent(seen: &Observed) -> Option<Finding> {
    let (it, name) = (Check::Dns, seen.absent.as_str());
    match seen.of_absent.as_ref()? {
        Looked::NoSuchName => None,
        Looked::Found(_) => {
            let found = format!(
                "{name} does not exist, and the resolver makes up an address for it: a missing \
                 domain would pass"
            );
            Some(it.trouble(found, MEND))
        }
        Looked::NoData => {
            let found = format!("{name} does not exist, and the resolver does not say so");
            Some(it.note(found, MEND))
        }
        Looked::Unanswered(why) => {
            let found = format!("nothing is answered about {name}, which does not exist: {why}");
            Some(it.note(found, MEND))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::world::{Silence, Unanswered};

    fn address(text: &str) -> Looked {
        Looked::Found(Records::Addresses(vec![text.parse().unwrap()]))
    }

    fn silent() -> Looked {
        Looked::Unanswered(Unanswered::new(Silence::Dns, "no answer in time"))
    }

    fn levels(of_known: Looked, of_absent: Option<Looked>) -> Vec<Level> {
        let seen = Observed {
            known: HostName::parse("example.com").unwrap(),
            of_known,
            absent: HostName::parse("made-up.com").unwrap(),
            of_absent,
            allowed: vec!["127.0.0.0/8".parse().unwrap()],
        };
        let findings = judge(&seen).into_iter();
        findings.map(|finding| finding.level).collect()
    }

    #[test]
    fn a_resolver_that_tells_the_truth_is_fine() {
        for public in ["93.184.215.14", "127.0.0.1"] {
            let levels = levels(address(public), Some(Looked::NoSuchName));
            assert_eq!(levels, [Level::Ok]);
        }
    }

    #[test]
    fn one_that_lies_is_trouble() {
        let gone = || Some(Looked::NoSuchName);
        for (of_known, of_absent) in [
            (address("93.184.215.14"), Some(address("192.0.2.1"))),
            (address("10.0.0.1"), gone()),
            (Looked::NoSuchName, gone()),
            (Looked::NoData, gone()),
        ] {
            assert_eq!(levels(of_known, of_absent), [Level::Trouble]);
        }
    }

    #[test]
    fn one_that_does_not_answer_is_a_note() {
        assert_eq!(levels(silent(), None), [Level::Note]);
        let public = || address("93.184.215.14");
        assert_eq!(levels(public(), Some(silent())), [Level::Note]);
        assert_eq!(levels(public(), Some(Looked::NoData)), [Level::Note]);
    }
}
