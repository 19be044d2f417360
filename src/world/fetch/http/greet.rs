//! One short exchange by which is seen whether the web can be asked at all.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::exchange::Client;
use super::{ClientError, route};
use crate::world::fetch::budget::Budget;
use crate::world::fetch::dns::DnsResolver;
use crate::world::fetch::settings::NetworkSettings;
use crate::world::{Fetched, Unanswered};

/// What came of a greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Greeted {
    /// An answer, whatever it says.
    Answered {
        /// The status.
        status: u16,
        /// The `Date` header, as sent.
        date: Option<String>,
    },
    /// There is no such host.
    NoSuchHost,
    /// No answer.
    Unanswered(Unanswered),
}

/// Greets the server of `url` once, with all of `limit` for it.
pub fn greet(
    url: &Url,
    settings: &NetworkSettings,
    limit: Duration,
) -> Result<Greeted, ClientError> {
    let client = Client::new(settings)?;
    let budget = Arc::new(Budget::new(limit));
    let resolver = DnsResolver::new(settings, Arc::clone(&budget));
    let addresses = match route::addresses(url, &resolver, settings) {
        Ok(addresses) => addresses,
        Err(Fetched::Unanswered(why)) => return Ok(Greeted::Unanswered(why)),
        Err(_) => return Ok(Greeted::NoSuchHost),
    };
    let Some(left) = budget.left() else {
        return Ok(Greeted::Unanswered(budget.used_up()));
    };
    Ok(match client.head(url, addresses, left) {
        Ok((status, date)) => Greeted::Answered { status, date },
        Err(why) => Greeted::Unanswered(why),
    })
}

/// How many certificate authorities are trusted, those of `settings` included.
pub fn roots(settings: &NetworkSettings) -> Result<usize, String> {
    let client = Client::new(settings).map_err(|error| error.to_string())?;
    client.trust().map_err(|error| error.to_string())?;
    Ok(webpki_roots::TLS_SERVER_ROOTS.len() + settings.ca_certs_pem.len())
}
