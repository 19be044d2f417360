//! `comail doctor`: what ails a session or its surroundings, and how to mend it.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::doctor::{
    Check, Finding, Level, agents, clock, confinement, disk, is_sound, names, programs, session,
    terminal, web,
};
use crate::judge::network_of;
use crate::judge::quest_file::Definition;
use crate::session::{Checkup, Manifest};
use crate::world::domain::HostName;
use crate::world::fetch::settings::NetworkSettings;

/// Diagnose problems with the session and its environment
///
/// Checks the session, its permissions, its lock and its evidence; the file system, DNS, TLS, the
/// clock, the terminal, known agents, and the confinement of commands. It looks up the host of --url
/// and a name that must not exist, and connects to the host once. The exit code is 8 if it finds a
/// problem. The session is not changed.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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

const EXAMPLES: &str = "\
Examples:
  comail doctor
  comail doctor --offline --json";

/// The JSON form of `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// Whether nothing must be mended.
    sound: bool,
    findings: Vec<Finding>,
}

pub(super) fn run(context: &mut Context, args: &DoctorArgs) -> Result<Exit> {
    let mut round = Round::default();
    let held = of_session(context, &mut round);
    let manifest = held.as_ref().map(|(manifest, _)| manifest);
    let definition = manifest.and_then(|manifest| Definition::of(manifest).ok().flatten());
    if let Some(definition) = &definition {
        round.check("programs", || {
            let seen = programs::look(definition);
            seen.as_ref().map(programs::judge).unwrap_or_default()
        });
    }
    let place = place(context.session_dir());
    let mut stamped = None;
    round.check("file system", || {
        let seen = disk::look(&place);
        stamped = seen.as_ref().ok().and_then(|seen| seen.stamped);
        disk::judge(&place, &seen)
    });
    let settings = settings(manifest, args);
    if !args.offline {
        let (known, absent) = asked(args)?;
        round.check("dns", || {
            names::judge(&names::look(&settings, known, absent))
        });
    }
    let mut web_time = None;
    round.check("tls", || {
        let seen = web::look(&settings, args.url.clone(), args.offline);
        web_time = seen.date().and_then(clock::of_header);
        vec![web::judge(&seen)]
    });
    let clocks = clock::Observed {
        now: context::now(),
        file: stamped.and_then(clock::of_file),
        last_line: held.as_ref().and_then(|(_, checkup)| checkup.last_at),
        web: web_time,
    };
    round.check("clock", || clock::judge(&clocks));
    of_surroundings(&mut round, definition.as_ref());
    let told = Told {
        sound: is_sound(&round.findings),
        findings: round.findings,
    };
    context.output.show(&told, text)?;
    Ok(if told.sound {
        Exit::Done
    } else {
        Exit::Finding
    })
}

/// What the checks so far have found.
#[derive(Default)]
struct Round {
    findings: Vec<Finding>,
}

impl Round {
    fn check(&mut self, name: &str, look: impl FnOnce() -> Vec<Finding>) {
        let began = Instant::now();
        let found = look();
        let worst = found.iter().map(|finding| finding.level).max();
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(check = name, ?worst, ms, "looked");
        self.findings.extend(found);
    }
}

/// Checks the session, and returns what it holds if it is sound.
fn of_session(context: &Context, round: &mut Round) -> Option<(Manifest, Checkup)> {
    let dir = context.session_dir();
    let mut held = None;
    round.check("session", || match session::look(dir, &*context.watch()) {
        None => vec![session::none(dir, context.named_session().is_some())],
        Some(seen) => {
            let findings = session::judge(&seen);
            held = seen.held.ok();
            findings
        }
    });
    held
}

/// Checks what has nothing to do with session and network.
fn of_surroundings(round: &mut Round, definition: Option<&Definition>) {
    let variable = |name: &str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(value.to_string_lossy().into_owned())
    };
    round.check("terminal", || {
        let is_terminal = std::io::stdout().is_terminal();
        terminal::judge(&terminal::look(is_terminal, &variable))
    });
    round.check("agents", || {
        let path = std::env::var_os("PATH");
        let seen = agents::look(path.as_deref().map(OsStr::new), &is_program);
        vec![agents::judge(&seen)]
    });
    #[cfg(unix)]
    round.check("confinement", || {
        let at_scan = definition.map(|definition| definition.confinement.clone());
        vec![confinement::judge(&confinement::look(at_scan))]
    });
}

/// Where the session lies, or would.
fn place(session: &Path) -> PathBuf {
    if session.is_dir() {
        return session.to_owned();
    }
    let parent = session.parent().filter(|parent| parent.is_dir());
    parent.map_or_else(|| ".".into(), Path::to_owned)
}

/// How the world is asked: as the session does, but less patiently.
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

/// The name that everybody knows, and one that must not exist.
fn asked(args: &DoctorArgs) -> Result<(HostName, HostName)> {
    let known = HostName::of_url(&args.url);
    let known = known.ok_or_else(|| UsageError("--url names no host by its name".to_owned()))?;
    // Of no value to anybody, and so not taken: no resolver can know it.
    let made_up = || format!("comail-{}.com", hex::encode(&context::salt().0[..8]));
    let absent = args.absent.clone().unwrap_or_else(made_up);
    let absent =
        HostName::parse(&absent).map_err(|error| UsageError(format!("--absent: {error}")))?;
    Ok((known, absent))
}

#[cfg(unix)]
fn is_program(path: &PathBuf) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &PathBuf) -> bool {
    ["", "exe", "cmd"]
        .iter()
        .any(|ending| path.with_extension(ending).is_file())
}

fn text(paper: &mut Paper, told: &Told) {
    for finding in &told.findings {
        let tone = match finding.level {
            Level::Ok => Tone::Good,
            Level::Note => Tone::Doubt,
            Level::Trouble => Tone::Bad,
        };
        let level = paper.tint(tone, &format!("{:7}", finding.level));
        let (check, found) = (finding.check, Escaped(&finding.found));
        paper.line(format!("{level}  {check:11}  {found}"));
        if let Some(mend) = &finding.mend {
            paper.line(format!("{:22}mend: {}", "", Escaped(mend)));
        }
    }
    paper.line(verdict(&told.findings));
}

/// What all of it comes to.
fn verdict(findings: &[Finding]) -> String {
    let count = |level| {
        findings
            .iter()
            .filter(|finding| finding.level == level)
            .count()
    };
    let checks: std::collections::BTreeSet<Check> =
        findings.iter().map(|finding| finding.check).collect();
    format!(
        "{} things checked: {} to mend, {} worth knowing",
        checks.len(),
        count(Level::Trouble),
        count(Level::Note)
    )
}
