//! The flags of `scan` that freeze how the world is asked.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use ipnet::IpNet;
use url::Url;

use super::exit::UsageError;
use crate::world::fetch::live::{LiveWorld, WorldError};
use crate::world::fetch::settings::{Limits, NetworkSettings, RobotsPolicy};

/// How the world is asked. Nothing that is passed to `next` or `submit` changes it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network, frozen for the session")]
pub struct NetworkArgs {
    /// Ask this name server (repeatable) [default: the system's]
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "update")]
    dns_server: Vec<SocketAddr>,

    /// Let connections go to this network although it is not public (repeatable)
    #[arg(long, value_name = "CIDR", conflicts_with = "update")]
    allow_net: Vec<IpNet>,

    /// Trust this certificate authority too, a PEM file (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with = "update")]
    ca_cert: Vec<PathBuf>,

    /// Fetch pages through this HTTP proxy, which then resolves names itself
    #[arg(long, value_name = "URL", conflicts_with = "update")]
    proxy: Option<Url>,

    /// The most requests a second to one host
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1.0,
        conflicts_with = "update"
    )]
    rate: f64,

    /// The User-Agent header; it names comail and a contact
    #[arg(long, value_name = "TEXT", conflicts_with = "update")]
    user_agent: Option<String>,

    /// Whether robots.txt is obeyed
    #[arg(long, value_enum, default_value = "obey", conflicts_with = "update")]
    robots: Robots,

    /// The most seconds that one request may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 20.0,
        conflicts_with = "update"
    )]
    timeout: f64,

    /// How often a lookup that brings no answer is made in all
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "update",
          value_parser = clap::value_parser!(u32).range(1..=10))]
    lookup_tries: u32,
}

/// Whether robots.txt is obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Robots {
    /// As RFC 9309 says.
    Obey,
    /// Not asked for.
    Ignore,
}

impl NetworkArgs {
    /// Whether robots.txt is obeyed.
    #[must_use]
    pub fn robots(&self) -> RobotsPolicy {
        match self.robots {
            Robots::Obey => RobotsPolicy::Obey,
            Robots::Ignore => RobotsPolicy::Ignore,
        }
    }

    /// The networks that may be connected to although they are not public.
    #[must_use]
    pub fn allow_net(&self) -> &[IpNet] {
        &self.allow_net
    }

    /// The settings to freeze.
    ///
    /// # Errors
    ///
    /// A certificate file that cannot be read, or a setting that could never work.
    pub fn settings(&self) -> Result<NetworkSettings> {
        let defaults = NetworkSettings::default();
        if !(0.001..=1_000.0).contains(&self.rate) {
            return Err(UsageError("--rate is a number from 0.001 to 1000".into()).into());
        }
        let settings = NetworkSettings {
            dns_servers: self.dns_server.clone(),
            allow_net: self.allow_net.clone(),
            ca_certs_pem: self
                .ca_cert
                .iter()
                .map(|path| read_pem(path))
                .collect::<Result<_>>()?,
            proxy: self.proxy.clone(),
            min_gap_ms: whole(1_000.0 / self.rate),
            user_agent: self.named_agent()?.unwrap_or(defaults.user_agent),
            robots: self.robots(),
            limits: self.limits(defaults.limits)?,
        };
        // A session whose settings could never work would be found out by its first submission.
        LiveWorld::new(&settings, None).map_err(|WorldError(refused)| {
            UsageError(format!("{:#}", anyhow::Error::new(refused)))
        })?;
        Ok(settings)
    }

    /// The `User-Agent` that was named. robots.txt knows a crawler by a word of that header
    /// (RFC 9309 §2.2.1), and the rules that are obeyed are those for `comail`.
    fn named_agent(&self) -> Result<Option<String>> {
        let names_us = |agent: &String| agent.to_ascii_lowercase().contains("comail");
        if self
            .user_agent
            .as_ref()
            .is_some_and(|agent| !names_us(agent))
        {
            let text = "--user-agent names comail, since robots.txt is read under that name, and \
                        a contact: for example \"comail/0.1 (+mailto:you@your-company)\"";
            return Err(UsageError(text.to_owned()).into());
        }
        Ok(self.user_agent.clone())
    }

    fn limits(&self, defaults: Limits) -> Result<Limits> {
        if !(0.1..=60.0).contains(&self.timeout) {
            return Err(UsageError("--timeout is a number from 0.1 to 60".into()).into());
        }
        let request_ms = whole(self.timeout * 1_000.0);
        Ok(Limits {
            request_ms,
            connect_ms: defaults.connect_ms.min(request_ms),
            dns_ms: defaults.dns_ms.min(request_ms),
            tries: self.lookup_tries,
            ..defaults
        })
    }
}

/// A non-negative number of milliseconds, rounded.
fn whole(milliseconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the callers' ranges lie between 0 and 1,000,000"
    )]
    let whole = milliseconds.round() as u64;
    whole
}

fn read_pem(path: &Path) -> Result<String> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the certificate authority {place}"))?;
    if text.contains("-----BEGIN CERTIFICATE-----") {
        Ok(text)
    } else {
        Err(UsageError(format!("{place} holds no certificate in PEM form")).into())
    }
}
