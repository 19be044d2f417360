//! The table `[network]`: the world of a session, frozen by `scan`. Nothing that is passed to `next`
//! or `submit` changes it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ipnet::IpNet;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error;
use url::Url;

use super::{Table, Values, no_key};
use crate::cli::exit::{UsageError, refuse};
use crate::world::browser;
use crate::world::fetch::live::{LiveWorld, WorldError};
use crate::world::fetch::politeness::TurnPlace;
use crate::world::fetch::settings::{NetworkSettings, RobotsPolicy};

#[derive(Debug, Default)]
pub(in crate::cli) struct NetworkTable {
    settings: NetworkSettings,
    ca_certs: Vec<PathBuf>,
    browser: Browser,
}

/// What shows the pages.
#[derive(Debug, Default)]
enum Browser {
    /// The first browser on the `PATH` that works here.
    #[default]
    Auto,
    Off,
    Program(PathBuf),
}

impl Table for NetworkTable {
    const NAME: &'static str = "network";

    fn set(&mut self, key: &str, values: Values<'_>) -> Result<(), String> {
        let settings = &mut self.settings;
        match key {
            "dns-server" => settings.dns_servers = values.all_by(dns_server)?,
            "allow-net" => settings.allow_net = values.all_by(network)?,
            "ca-cert" => self.ca_certs = values.all_by(str::parse)?,
            "proxy" => settings.proxy = Some(values.by(proxy)?),
            "rate" => settings.min_gap_ms = whole(1_000.0 / values.within(0.001, 1_000.0)?),
            "user-agent" => settings.user_agent = values.by(user_agent)?,
            "robots" => {
                let policy = values.one()?.into_deserializer();
                let policy = RobotsPolicy::deserialize(policy);
                settings.robots = policy.map_err(|error: Error| error.to_string())?;
            }
            "timeout" => {
                let limits = &mut settings.limits;
                limits.request_ms = whole(values.within(0.1, 60.0)? * 1_000.0);
                limits.connect_ms = limits.connect_ms.min(limits.request_ms);
                limits.dns_ms = limits.dns_ms.min(limits.request_ms);
            }
            "browser" => {
                self.browser = match values.one()? {
                    "auto" => Browser::Auto,
                    "off" => Browser::Off,
                    path => Browser::Program(path.into()),
                }
            }
            "lookup-tries" => settings.limits.tries = values.within(1, 10)?,
            _ => return no_key(key),
        }
        Ok(())
    }
}

fn dns_server(text: &str) -> Result<SocketAddr, &'static str> {
    let address = text.parse();
    address.map_err(|_| "expected an IP address and a port, such as 9.9.9.9:53")
}

fn network(text: &str) -> Result<IpNet, &'static str> {
    let network = text.parse();
    network.map_err(|_| "expected a network such as 10.0.0.0/8")
}

fn proxy(text: &str) -> Result<Url, &'static str> {
    let url = text.parse();
    url.map_err(|_| "expected a URL such as http://proxy.example:3128")
}

// robots.txt names a crawler by a word of its User-Agent (RFC 9309, section 2.2.1), and comail obeys
// the rules for `comail`, so it must not call itself something else.
fn user_agent(text: &str) -> Result<String, &'static str> {
    if text.to_ascii_lowercase().contains("comail") {
        Ok(text.to_owned())
    } else {
        Err(
            "it must contain comail, the name that robots.txt rules refer to, and a contact, for \
             example \"comail/0.1 (+mailto:you@your-company)\"",
        )
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

impl NetworkTable {
    /// The settings, which were tried: otherwise only the first submission would show that they can
    /// never work.
    pub(in crate::cli) fn settings(
        self,
        may_render: bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<NetworkSettings> {
        let ca_certs = self.ca_certs.iter().map(|path| read_pem(path));
        let settings = NetworkSettings {
            ca_certs_pem: ca_certs.collect::<Result<_>>()?,
            browser: if may_render {
                self.browser.program(note)?
            } else {
                None
            },
            ..self.settings
        };
        LiveWorld::new(&settings, TurnPlace::Process).map_err(|WorldError(refused)| {
            UsageError(format!("{:#}", anyhow::Error::new(refused)))
        })?;
        Ok(settings)
    }
}

impl Browser {
    /// The browser that the session freezes, which was started once.
    fn program(self, note: &mut dyn FnMut(&str)) -> Result<Option<PathBuf>> {
        let found = match self {
            Self::Off => return Ok(None),
            Self::Auto => {
                let path = std::env::var_os("PATH");
                let Some(found) = browser::find(path.as_deref()) else {
                    return Ok(None);
                };
                match usable(&found) {
                    Ok(found) => found,
                    Err(why) => {
                        let found = found.display();
                        note(&format!(
                            "pages are judged by their markup: the browser {found} cannot be used \
                             ({why})"
                        ));
                        return Ok(None);
                    }
                }
            }
            Self::Program(path) => {
                let refused =
                    |why| UsageError(format!("network.browser: {}: {why}", path.display()));
                usable(&path).map_err(refused)?
            }
        };
        note(&format!(
            "pages are judged as {} shows them, and its scripts run",
            found.display()
        ));
        Ok(Some(found))
    }
}

/// The program as an absolute path, if it starts and no agent that works here can change it.
fn usable(program: &Path) -> Result<PathBuf, String> {
    let program = std::fs::canonicalize(program).map_err(|error| error.to_string())?;
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    if here.is_ok_and(|here| program.starts_with(here)) {
        return Err("it is in the working directory, where an agent could change it".to_owned());
    }
    browser::Browser::new(program.clone()).check()?;
    Ok(program)
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
