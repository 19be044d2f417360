//! Distinguishes a judge without a network from a world that does not answer.

use crate::judge::error::JudgeError;
use crate::world::evidence::Evidence;
use crate::world::{UnansweredKind, World};

/// Fails if lookups got no answer because comail has no network, or was kept from using it.
///
/// An agent can run `submit` without a network, hold the lock of a host, or stop the process. If that
/// counted as an unanswered lookup, it could get any answer locked as REVIEW. `world` is checked only
/// after a lookup without a reply.
pub(super) fn check_network(evidence: &Evidence, world: &World<'_>) -> Result<(), JudgeError> {
    let (mut dns, mut pages) = (false, false);
    for why in evidence.unanswered() {
        match why.silence {
            UnansweredKind::Denied => return Err(JudgeError::NoNetwork(why.clone())),
            UnansweredKind::NoBrowser => return Err(JudgeError::NoBrowser(why.clone())),
            UnansweredKind::NotAsked => return Err(JudgeError::NotAsked(why.clone())),
            UnansweredKind::Dns => dns = true,
            // An HTTP status is a reply.
            _ => pages |= why.status.is_none(),
        }
    }
    if dns {
        let checked = world.resolver.check_network();
        checked.map_err(JudgeError::NoNetwork)?;
    }
    if pages {
        let checked = world.fetcher.check_network();
        checked.map_err(JudgeError::NoNetwork)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::judge::NothingAccepted;
    use crate::world::sandbox::NoSandbox;
    use crate::world::{MockFetcher, MockResolver, Unanswered};

    const PAGE: &str = r#"{"get":{"url":"https://acme.com/","answer":{"unanswered":WHY}}}"#;
    const MX: &str = r#"{"dns":{"name":"acme.com","kind":"MX","answer":{"unanswered":WHY}}}"#;

    /// The evidence of a lookup without an answer.
    fn silent(lookup: &str, why: &str) -> Evidence {
        let exchange = lookup.replace("WHY", why);
        serde_json::from_str(&format!(r#"{{"exchanges":[{exchange}]}}"#)).unwrap()
    }

    /// Whether the judge has a network where DNS and the way to pages are asked `times` each, and
    /// say that there is `network`.
    fn has_network(evidence: &Evidence, times: [usize; 2], network: bool) -> bool {
        let says = move || {
            let silent = || Unanswered::new(UnansweredKind::Dns, "no reply");
            network.then_some(()).ok_or_else(silent)
        };
        let (mut resolver, mut fetcher) = (MockResolver::new(), MockFetcher::new());
        let asked = resolver.expect_check_network();
        asked.times(times[0]).returning(says);
        let asked = fetcher.expect_check_network();
        asked.times(times[1]).returning(says);
        let world = World {
            fetcher: &fetcher,
            resolver: &resolver,
            accepted: &NothingAccepted,
            sandbox: &NoSandbox,
        };
        match check_network(evidence, &world) {
            Ok(()) => true,
            Err(JudgeError::NoNetwork(_) | JudgeError::NotAsked(_)) => false,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn an_unanswered_lookup_counts_only_with_a_network() {
        let (dns, time) = (
            r#"{"silence":"dns","detail":""}"#,
            r#"{"silence":"timeout","detail":""}"#,
        );
        // Each row: the lookup, why it has no answer, and how often DNS and the way to pages are
        // asked whether there is a network.
        for (lookup, why, times) in rows! {
            MX, dns => [1, 0];
            PAGE, dns => [1, 0];
            PAGE, time => [0, 1];
        } {
            let evidence = silent(lookup, why);
            assert!(has_network(&evidence, times, true), "{lookup} {why}");
            assert!(!has_network(&evidence, times, false), "{lookup} {why}");
        }
    }

    #[test]
    fn does_not_check_the_network_after_a_reply_or_a_denial() {
        let status = r#"{"silence":"status","detail":"","status":503}"#;
        assert!(has_network(&silent(PAGE, status), [0, 0], false));
        assert!(has_network(&Evidence::default(), [0, 0], false));
        for own in ["denied", "not-asked"] {
            let own = format!(r#"{{"silence":"{own}","detail":""}}"#);
            for lookup in [PAGE, MX] {
                assert!(!has_network(&silent(lookup, &own), [0, 0], true), "{own}");
            }
        }
    }
}
