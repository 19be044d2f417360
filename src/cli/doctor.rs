//! `comail doctor`: diagnoses problems of a session, the machine and the network.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use super::context::{self, Context};
use super::exit::{self, Exit, UsageError};
use crate::doctor::{self, Finding, Level};
use crate::hook::HookRecord;
use crate::judge::network_of;
use crate::judge::quest_file::{Definition, confinement};
use crate::session::{Manifest, WorldKind};
use crate::world::browser::{self, Browser};
use crate::world::domain::HostName;
use crate::world::fetch::settings::NetworkSettings;

/// Diagnose problems with the session and its environment
///
/// Checks the session, its permissions, its lock and its evidence; the file system, DNS, TLS, the
/// clock, known agents, their hooks, the confinement of commands, and the browser. It looks up the host of --url and a name
/// that must not exist, and connects to the host once. The exit code is 8 if it finds a problem. The
/// session is not changed.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Skip checks that need the network
    #[arg(long)]
    offline: bool,

    /// The page for the connection test
    #[arg(long, value_name = "URL", default_value = "https://example.com/")]
    url: Url,

    /// A domain name that must not exist [default: a random name]
    #[arg(long, value_name = "NAME")]
    absent: Option<String>,

    /// Use this name server (repeatable) [default: those of the session, or the system's]
    #[arg(long, value_name = "ADDR:PORT")]
    dns_server: Vec<SocketAddr>,
}

/// The JSON form of `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diagnosis {
    /// Whether no problem was found.
    healthy: bool,
    findings: Vec<Finding>,
}

pub(super) fn run(context: &mut Context, args: &DoctorArgs) -> Result<Exit> {
    let dir = &context.dir;
    let named = context.named_session.is_some();
    let (mut findings, held) = doctor::session(dir, named, &*context.watch());
    let manifest = held.as_ref().map(|(manifest, _)| manifest);
    let definition = manifest.and_then(|manifest| Definition::of(manifest).ok().flatten());
    findings.extend(doctor::disk(&place(dir)));
    let settings = settings(manifest, args);
    let recorded = manifest.is_some_and(|it| it.frozen.world_kind() == WorldKind::Recorded);
    if recorded {
        findings.push(doctor::recorded_world());
    }
    let offline = args.offline || recorded;
    if !offline {
        let (known, absent) = names(args)?;
        findings.extend(doctor::dns(&settings, &known, &absent));
    }
    let (of_tls, web) = doctor::tls(&settings, &args.url, offline);
    findings.push(of_tls);
    let last_line = held.as_ref().and_then(|(_, checkup)| checkup.last_at);
    findings.extend(doctor::clock(context::now(), last_line, web));
    findings.push(doctor::agents(std::env::var_os("PATH").as_deref()));
    findings.extend(HookRecord::new(dir).installed().iter().map(|it| {
        let about = it.agent.hooks();
        doctor::hooks(about.name, &it.settings, (it.stop, it.tool), about.trust)
    }));
    let now = confinement(&std::env::temp_dir());
    let at_scan = definition.as_ref().map(|it| &it.confinement);
    findings.push(doctor::confinement(&now, at_scan));
    if !recorded {
        let named = match manifest {
            Some(manifest) => network_of(manifest).ok().and_then(|frozen| frozen.browser),
            None => browser::find(std::env::var_os("PATH").as_deref()),
        };
        let tried = named.map(|program| {
            let checked = Browser::new(program.clone()).check();
            (program, checked)
        });
        findings.push(doctor::browser(tried.as_ref(), manifest.is_some()));
    }
    let is_problem = |finding: &Finding| finding.level == Level::Problem;
    let healthy = !findings.iter().any(is_problem);
    let diagnosis = Diagnosis { healthy, findings };
    context
        .output
        .show_as(&diagnosis, include_str!("text/doctor.txt"))?;
    Ok(exit::of_finding(healthy))
}

/// The directory of the session, or the one in which it would be created.
fn place(session: &Path) -> PathBuf {
    if session.is_dir() {
        return session.to_owned();
    }
    let parent = session.parent().filter(|parent| parent.is_dir());
    parent.map_or_else(|| ".".into(), Path::to_owned)
}

/// The network settings of the session, with shorter timeouts.
fn settings(manifest: Option<&Manifest>, args: &DoctorArgs) -> NetworkSettings {
    const MOST_MS: u64 = 2_000;

    let frozen = manifest.and_then(|manifest| network_of(manifest).ok());
    let mut settings = frozen.unwrap_or_default();
    if !args.dns_server.is_empty() {
        settings.dns_servers.clone_from(&args.dns_server);
    }
    settings.limits.tries = 1;
    settings.limits.dns_ms = settings.limits.dns_ms.min(MOST_MS);
    settings.limits.connect_ms = settings.limits.connect_ms.min(MOST_MS);
    settings
}

fn names(args: &DoctorArgs) -> Result<(HostName, HostName)> {
    let known = HostName::of_url(&args.url);
    let known = known.ok_or_else(|| UsageError("--url has no host name".to_owned()))?;
    // Such a name is not registered, so no resolver can know it.
    let made_up = || format!("comail-{}.com", hex::encode(&context::salt().0[..8]));
    let absent = args.absent.clone().unwrap_or_else(made_up);
    let absent =
        HostName::parse(&absent).map_err(|error| UsageError(format!("--absent: {error}")))?;
    Ok((known, absent))
}
