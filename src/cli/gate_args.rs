//! The flags of `scan` that freeze the gate.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use ipnet::IpNet;
use serde::Deserialize as _;
use serde_json::Value;
use url::Url;

use super::exit::{UsageError, refuse};
use super::rules::unknown as unknown_rule;
use crate::base::files;
use crate::gate::{Level, Levels, Rule, common_rules};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::{LiveWorld, WorldError};
use crate::world::fetch::settings::{Limits, NetworkSettings, RobotsPolicy};

#[derive(Debug, Args)]
#[command(next_help_heading = "Gate, frozen for the session")]
pub struct GateArgs {
    /// Send addresses that look like a person's name to REVIEW
    #[arg(long)]
    pub(super) role_only: bool,

    /// Set the level of a rule to review or fail (repeatable); see `comail rules`
    #[arg(long = "level", value_name = "RULE=LEVEL", value_parser = level)]
    levels: Vec<(String, Level)>,
}

fn level(text: &str) -> Result<(String, Level), &'static str> {
    let (rule, level) = text
        .split_once('=')
        .ok_or("expected RULE=review or RULE=fail")?;
    let level = match level.to_ascii_lowercase().as_str() {
        "review" => Level::Review,
        "fail" => Level::Fail,
        _ => return Err("the level must be review or fail; no rule can be switched off"),
    };
    Ok((rule.to_owned(), level))
}

impl GateArgs {
    pub fn known_levels(&self, rules: &[Rule]) -> Result<Levels> {
        let mut levels = Levels::new();
        for (name, level) in &self.levels {
            let is_named = |rule: &&Rule| rule.id.as_str() == name;
            if let Some(rule) = rules.iter().find(is_named) {
                levels.insert(rule.id.clone(), *level);
            } else if common_rules::rules().iter().any(|rule| is_named(&rule)) {
                return refuse(format!("the level of {name} cannot be changed"));
            } else {
                return Err(unknown_rule(rules, name).into());
            }
        }
        Ok(levels)
    }
}

/// The network settings of a session. Nothing that is passed to `next` or `submit` changes them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network, frozen for the session")]
pub struct NetworkArgs {
    /// Use this name server (repeatable) [default: the system's]
    #[arg(long, value_name = "ADDR:PORT")]
    dns_server: Vec<SocketAddr>,

    /// Allow connections to this network even though it is not public (repeatable)
    #[arg(long, value_name = "CIDR")]
    pub(super) allow_net: Vec<IpNet>,

    /// Also trust the certificate authority in this PEM file (repeatable)
    #[arg(long, value_name = "FILE")]
    ca_cert: Vec<PathBuf>,

    /// Fetch pages through this HTTP proxy, which also resolves names
    #[arg(long, value_name = "URL")]
    proxy: Option<Url>,

    /// Maximum number of requests per second to one host
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    rate: f64,

    /// The User-Agent header; it must contain comail and a contact
    #[arg(long, value_name = "TEXT")]
    user_agent: Option<String>,

    /// Whether to obey robots.txt, as RFC 9309 specifies
    #[arg(long, value_enum, value_name = "ROBOTS", default_value = "obey")]
    pub(super) robots: RobotsPolicy,

    /// Timeout of a request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    timeout: f64,

    /// Number of attempts for a lookup that gets no answer
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=10))]
    lookup_tries: u32,

    /// Judge by the recorded web pages and DNS records in this directory, for practice; `comail demo
    /// --world` writes one
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    world: Option<PathBuf>,
}

/// The file of a directory that `--world` names.
pub(super) const WORLD_FILE: &str = "world.json";

const MAX_WORLD_BYTES: u64 = 16 << 20;

impl NetworkArgs {
    /// The recorded world in place of the network, read whole so that no later change of the file
    /// reaches the session.
    pub(super) fn recorded_world(&self) -> Result<Option<Value>> {
        let Some(dir) = &self.world else {
            return Ok(None);
        };
        let path = dir.join(WORLD_FILE);
        let place = path.display();
        let bytes = files::read(&path, MAX_WORLD_BYTES)
            .with_context(|| format!("cannot read the recorded world {place}"))?;
        let refused = |error| UsageError(format!("{place} is not a recorded world: {error}"));
        let world: Value = serde_json::from_slice(&bytes).map_err(refused)?;
        RecordedWorld::deserialize(&world).map_err(refused)?;
        Ok(Some(world))
    }

    pub fn settings(&self) -> Result<NetworkSettings> {
        if !(0.001..=1_000.0).contains(&self.rate) {
            return refuse("--rate must be between 0.001 and 1000");
        }
        if !(0.1..=60.0).contains(&self.timeout) {
            return refuse("--timeout must be between 0.1 and 60");
        }
        let defaults = NetworkSettings::default();
        // robots.txt names a crawler by a word of its User-Agent (RFC 9309, section 2.2.1), and
        // comail obeys the rules for `comail`, so it must not call itself something else.
        let user_agent = self.user_agent.clone().unwrap_or(defaults.user_agent);
        if !user_agent.to_ascii_lowercase().contains("comail") {
            let text = "--user-agent must contain comail, the name that robots.txt rules refer \
                        to, and a contact, for example \"comail/0.1 (+mailto:you@your-company)\"";
            return refuse(text);
        }
        let request_ms = whole(self.timeout * 1_000.0);
        let limits = Limits {
            request_ms,
            connect_ms: defaults.limits.connect_ms.min(request_ms),
            dns_ms: defaults.limits.dns_ms.min(request_ms),
            tries: self.lookup_tries,
            ..defaults.limits
        };
        let ca_certs = self.ca_cert.iter().map(|path| read_pem(path));
        let settings = NetworkSettings {
            dns_servers: self.dns_server.clone(),
            allow_net: self.allow_net.clone(),
            ca_certs_pem: ca_certs.collect::<Result<_>>()?,
            proxy: self.proxy.clone(),
            min_gap_ms: whole(1_000.0 / self.rate),
            user_agent,
            robots: self.robots,
            limits,
        };
        // Otherwise only the first submission would show that these settings can never work.
        LiveWorld::new(&settings, None).map_err(|WorldError(refused)| {
            UsageError(format!("{:#}", anyhow::Error::new(refused)))
        })?;
        Ok(settings)
    }
}

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
        refuse(format!("{place} contains no PEM certificate"))
    }
}
