//! Whether DNS tells the truth, connections can be trusted, and the clock is right.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use url::Url;

use super::{Check, Finding};
use crate::world::domain::HostName;
use crate::world::fetch::address_guard::permitted;
use crate::world::fetch::dns::DnsResolver;
use crate::world::fetch::http::{ClientError, Greeted, greet, roots};
use crate::world::fetch::settings::Budget;
use crate::world::fetch::settings::NetworkSettings;
use crate::world::{Looked, RecordKind, Records, Resolver as _, Unanswered, UnansweredKind};

/// How long one lookup and one connection may take.
const LOOKUP_PATIENCE: Duration = Duration::from_secs(5);
const CONNECT_PATIENCE: Duration = Duration::from_secs(8);

const RESOLVER_HINT: &str =
    "name a resolver that tells the truth with `scan --dns-server ADDR:PORT`";

/// Looks up a name that exists and one that does not.
pub fn dns(settings: &NetworkSettings, known: &HostName, absent: &HostName) -> Vec<Finding> {
    let ask = |name: &HostName| {
        let budget = Arc::new(Budget::new(LOOKUP_PATIENCE));
        DnsResolver::new(settings, budget).lookup(name, RecordKind::A)
    };
    let of_known = ask(known);
    // A resolver that does not answer at all is not asked twice.
    let answers = !matches!(of_known, Looked::Unanswered(_));
    let of_absent = answers.then(|| ask(absent));
    let known = (known.as_str(), &of_known);
    dns_findings(
        known,
        (absent.as_str(), of_absent.as_ref()),
        &settings.allow_net,
    )
}

fn dns_findings(
    known: (&str, &Looked),
    absent: (&str, Option<&Looked>),
    allowed: &[IpNet],
) -> Vec<Finding> {
    let it = Check::Dns;
    let (name, looked) = absent;
    let of_absent = match looked {
        None | Some(Looked::NoSuchName) => None,
        Some(Looked::Found(_)) => {
            let found = format!(
                "{name} does not exist, but the resolver returns an address for it: a domain that \
                 does not exist would pass"
            );
            Some(it.problem(found, RESOLVER_HINT))
        }
        Some(Looked::NoData) => {
            let found = format!("{name} does not exist, but the resolver does not say so");
            Some(it.note(found, RESOLVER_HINT))
        }
        Some(Looked::Unanswered(why)) => {
            let found = format!("no answer about {name}, which does not exist: {why}");
            Some(it.note(found, RESOLVER_HINT))
        }
    };
    let (name, looked) = known;
    let of_known = match looked {
        Looked::Found(Records::Addresses(addresses)) => {
            let reached = |address: &IpAddr| permitted(*address, allowed);
            let found = format!("{name} has no public address: {addresses:?}");
            (!addresses.iter().any(reached)).then(|| it.problem(found, RESOLVER_HINT))
        }
        Looked::Found(Records::Mx(_)) => None,
        Looked::NoData | Looked::NoSuchName => {
            let found = format!("the resolver knows no address of {name}");
            Some(it.problem(found, RESOLVER_HINT))
        }
        Looked::Unanswered(why) => {
            let hint = "check the network, or name a resolver with `scan --dns-server ADDR:PORT`; \
                        without a network, use --offline";
            Some(it.note(format!("no resolver answers: {why}"), hint))
        }
    };
    let findings: Vec<Finding> = of_absent.into_iter().chain(of_known).collect();
    if findings.is_empty() {
        return vec![it.ok(format!(
            "{name} has an address, and a made-up name has none"
        ))];
    }
    findings
}

/// Connects to the server of `url`, unless `offline`, and returns the time that it reports.
pub fn tls(settings: &NetworkSettings, url: &Url, offline: bool) -> (Finding, Option<Timestamp>) {
    let said = |error: ClientError| error.to_string();
    let greeted = (!offline).then(|| greet(url, settings, CONNECT_PATIENCE).map_err(said));
    let date = match &greeted {
        Some(Ok(Greeted::Answered { date, .. })) => date.as_deref(),
        _ => None,
    };
    let time = date.and_then(time_of_header);
    (tls_finding(url, roots(settings), greeted), time)
}

fn tls_finding(
    url: &Url,
    roots: Result<usize, String>,
    greeted: Option<Result<Greeted, String>>,
) -> Finding {
    let it = Check::Tls;
    let roots = match roots {
        Ok(0) => return it.problem("no authority is trusted", "install comail again"),
        Ok(count) => format!("{count} authorities are trusted"),
        Err(why) => {
            let hint = "scan with another --ca-cert, --proxy or --user-agent";
            return it.problem(format!("cannot set up connections: {why}"), hint);
        }
    };
    match greeted {
        None => it.ok(format!("{roots}; no server was contacted")),
        Some(Ok(Greeted::Answered { status, .. })) => {
            it.ok(format!("{roots}; {url} answers ({status})"))
        }
        Some(Ok(Greeted::NoSuchHost)) => it.note(
            format!("{roots}; the host of {url} does not exist"),
            "name another with --url",
        ),
        Some(Ok(Greeted::Unanswered(why))) => unanswered(&roots, &why),
        Some(Err(why)) => it.problem(why, "scan with other network flags"),
    }
}

fn unanswered(roots: &str, why: &Unanswered) -> Finding {
    if why.silence == UnansweredKind::Tls {
        let hint = "if your own proxy opens TLS connections, trust it with `scan --ca-cert FILE`; \
                    otherwise do not trust this network";
        return Check::Tls.problem(format!("no secure connection: {why}"), hint);
    }
    let hint = "check network and firewall, or name a proxy with `scan --proxy URL`; without a \
                network, use --offline";
    Check::Tls.note(format!("{roots}; no server answers: {why}"), hint)
}

fn time_of_header(date: &str) -> Option<Timestamp> {
    let parser = DateTimeParser::new().relaxed_weekday(true);
    parser.parse_timestamp(date.trim()).ok()
}

const CLOCK_HINT: &str = "set the clock, for example with `timedatectl set-ntp true`";

/// A time before this program existed.
const TOO_EARLY: &str = "2025-01-01T00:00:00Z";

/// How far a server's clock may be off before it is a note, and a problem.
const WEB_SLACK: SignedDuration = SignedDuration::from_mins(2);
const WEB_FAR: SignedDuration = SignedDuration::from_hours(1);

/// Compares the clock with the ledger's last line and with the time that a web server reports.
pub fn clock(now: Timestamp, last_line: Option<Timestamp>, web: Option<Timestamp>) -> Vec<Finding> {
    let it = Check::Clock;
    let mut findings = Vec::new();
    if TOO_EARLY.parse().is_ok_and(|early: Timestamp| now < early) {
        findings.push(it.problem(format!("it shows {now}, which is in the past"), CLOCK_HINT));
    }
    if let Some(last) = last_line.filter(|last| now < *last) {
        let found = format!("it shows {now}, but the ledger's last line was written at {last}");
        findings.push(it.problem(found, CLOCK_HINT));
    }
    let apart = web.map(|web| (web, now.duration_since(web).abs()));
    if let Some((web, apart)) = apart.filter(|(_, apart)| *apart > WEB_SLACK) {
        let found = format!("it shows {now}, but a web server reports {web}");
        findings.push(if apart > WEB_FAR {
            it.problem(found, CLOCK_HINT)
        } else {
            it.note(found, CLOCK_HINT)
        });
    }
    if findings.is_empty() {
        findings.push(it.ok(match web {
            Some(_) => "it agrees with a web server",
            None => "it is not behind the ledger; no server was contacted",
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn levels(findings: Vec<Finding>) -> Vec<Level> {
        findings.into_iter().map(|finding| finding.level).collect()
    }

    fn address(text: &str) -> Looked {
        Looked::Found(Records::Addresses(vec![text.parse().unwrap()]))
    }

    #[test]
    fn a_resolver_that_lies_is_a_problem_and_one_that_is_silent_a_note() {
        let silent =
            || Looked::Unanswered(Unanswered::new(UnansweredKind::Dns, "no answer in time"));
        let public = || address("93.184.215.14");
        let gone = || Some(Looked::NoSuchName);
        for (of_known, of_absent, expected) in [
            (public(), gone(), Level::Ok),
            (address("127.0.0.1"), gone(), Level::Ok),
            (public(), Some(address("192.0.2.1")), Level::Problem),
            (address("10.0.0.1"), gone(), Level::Problem),
            (Looked::NoSuchName, gone(), Level::Problem),
            (Looked::NoData, gone(), Level::Problem),
            (silent(), None, Level::Note),
            (public(), Some(silent()), Level::Note),
            (public(), Some(Looked::NoData), Level::Note),
        ] {
            let findings = dns_findings(
                ("example.com", &of_known),
                ("made-up.com", of_absent.as_ref()),
                &["127.0.0.0/8".parse().unwrap()],
            );
            assert_eq!(levels(findings), [expected], "{of_known:?} {of_absent:?}");
        }
    }

    #[test]
    fn only_a_connection_that_cannot_be_trusted_is_a_problem() {
        let answered = Greeted::Answered {
            status: 503,
            date: None,
        };
        let silent = |silence| Some(Ok(Greeted::Unanswered(Unanswered::new(silence, "x"))));
        for (roots, greeted, expected) in [
            (Ok(100), Some(Ok(answered)), Level::Ok),
            (Ok(100), None, Level::Ok),
            (Ok(0), None, Level::Problem),
            (Err("x".into()), None, Level::Problem),
            (Ok(100), silent(UnansweredKind::Tls), Level::Problem),
            (Ok(100), Some(Err("x".into())), Level::Problem),
            (Ok(100), silent(UnansweredKind::Timeout), Level::Note),
            (Ok(100), silent(UnansweredKind::Connection), Level::Note),
            (Ok(100), silent(UnansweredKind::Dns), Level::Note),
            (Ok(100), Some(Ok(Greeted::NoSuchHost)), Level::Note),
        ] {
            let url = Url::parse("https://example.com/").unwrap();
            let finding = tls_finding(&url, roots, greeted);
            assert_eq!(finding.level, expected, "{finding:?}");
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_clock_is_never_before_what_has_happened_and_close_to_a_server() {
        let now = "2026-03-04T12:00:00Z";
        for (now, last_line, web, expected) in [
            (now, Some(now), Some(now), Level::Ok),
            (now, None, None, Level::Ok),
            (now, Some("2026-03-04T12:00:01Z"), None, Level::Problem),
            ("1970-01-01T00:00:09Z", None, None, Level::Problem),
            (now, None, Some("2026-03-04T12:01:59Z"), Level::Ok),
            (now, None, Some("2026-03-04T11:57:00Z"), Level::Note),
            (now, None, Some("2026-03-04T14:00:00Z"), Level::Problem),
        ] {
            let findings = clock(at(now), last_line.map(at), web.map(at));
            assert_eq!(levels(findings), [expected], "{now} {last_line:?} {web:?}");
        }
        let date = time_of_header("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date, Some(at("1994-11-06T08:49:37Z")));
        assert_eq!(time_of_header("soon"), None);
    }
}
