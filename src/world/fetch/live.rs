//! The live world: pages and DNS as they are now.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::dns::DnsResolver;
use super::http::{ClientError, HttpFetcher, HttpSetup};
use super::politeness::Politeness;
use super::settings::Budget;
use super::settings::NetworkSettings;
use crate::world::{Fetcher, Resolver};

/// Answers the lookups of one submission, which share one budget of time.
#[derive(Debug)]
pub struct LiveWorld {
    setup: Arc<HttpSetup>,
    resolver: Arc<DnsResolver>,
    fetcher: HttpFetcher,
}

#[derive(Debug, thiserror::Error)]
#[error("the session's network settings cannot be used")]
pub struct WorldError(#[from] pub ClientError);

impl LiveWorld {
    /// A world that is asked as `settings` say.
    ///
    /// Processes that name the same `politeness_dir` take turns at hosts; without one, only
    /// the threads of this process do. Cheap: nothing is read or connected to before the
    /// first lookup, with which the submission's time starts.
    ///
    /// # Errors
    ///
    /// Settings that could never work: a CA certificate that is none, a proxy that is not an
    /// http or https URL, a User-Agent that cannot stand in a header.
    pub fn new(
        settings: &NetworkSettings,
        politeness_dir: Option<PathBuf>,
    ) -> Result<Self, WorldError> {
        let setup = HttpSetup::new(settings, Politeness::new(politeness_dir))?;
        Ok(Self::of(Arc::new(setup)))
    }

    /// The same world for another submission: with a budget of its own, sharing TLS and the
    /// turns at hosts. It may be used by another thread.
    pub fn for_another(&self) -> Self {
        Self::of(Arc::clone(&self.setup))
    }

    pub fn fetcher(&self) -> &dyn Fetcher {
        &self.fetcher
    }

    pub fn resolver(&self) -> &dyn Resolver {
        self.resolver.as_ref()
    }

    fn of(setup: Arc<HttpSetup>) -> Self {
        let settings = setup.settings();
        let limit = Duration::from_millis(settings.limits.submission_ms);
        let budget = Arc::new(Budget::new(limit));
        let resolver = Arc::new(DnsResolver::new(settings, Arc::clone(&budget)));
        let fetcher = HttpFetcher::new(Arc::clone(&setup), Arc::clone(&resolver), budget);
        Self {
            setup,
            resolver,
            fetcher,
        }
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn threads_can_share_a_world() {
        fn shared<T: Send + Sync>() {}
        shared::<LiveWorld>();
    }

    #[test]
    fn settings_that_could_never_work_are_refused() {
        let proxy = |text| NetworkSettings {
            proxy: Url::parse(text).ok(),
            ..NetworkSettings::default()
        };
        assert!(LiveWorld::new(&proxy("http://proxy.test:3128"), None).is_ok());
        assert!(LiveWorld::new(&proxy("socks5://proxy.test:1080"), None).is_err());
        let agent = NetworkSettings {
            user_agent: "two\r\nlines".to_owned(),
            ..NetworkSettings::default()
        };
        assert!(LiveWorld::new(&agent, None).is_err());
    }
}
