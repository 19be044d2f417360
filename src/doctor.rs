//! Diagnoses problems of a session and of the machine and network that it depends on.
//!
//! Each check observes first, and a pure function turns the observations into findings. A check
//! changes only its own temporary files, which it removes, and ends in bounded time.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use crate::run::agent::Preset;
use crate::session::{
    Checkup, FORMAT, IndexState, LockState, Manifest, SessionError, Watch, look_at_lock, look_over,
    that_makes,
};
use crate::world::domain::HostName;
use crate::world::fetch::address_guard::permitted;
use crate::world::fetch::budget::Budget;
use crate::world::fetch::dns::DnsResolver;
use crate::world::fetch::http::{Connection, check_connection, trusted_authorities};
use crate::world::fetch::settings::NetworkSettings;
use crate::world::sandbox::{Confinement, Namespace, Network, is_executable};
use crate::world::{Looked, RecordKind, Records, Resolver as _, UnansweredKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Ok,
    /// Worth knowing; everything works.
    Note,
    /// Something will not work, or cannot be trusted.
    Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// `session.json`, the ledger's chain and the index.
    Session,
    /// Who may read the session.
    Permissions,
    Lock,
    Evidence,
    FileSystem,
    /// How much room is left on the disk.
    Space,
    Dns,
    Tls,
    Clock,
    /// The agents that `run` knows.
    Agents,
    /// The hooks that `hook install` added to the settings of an agent.
    Hooks,
    /// What confines the commands of quest files.
    Confinement,
    /// What shows pages.
    Browser,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    pub check: Check,
    pub level: Level,
    pub found: String,
    /// How to solve it, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Check {
    fn ok(self, found: impl Into<String>) -> Finding {
        Finding {
            check: self,
            level: Level::Ok,
            found: found.into(),
            hint: None,
        }
    }

    fn note(self, found: impl Into<String>, hint: impl Into<String>) -> Finding {
        Finding {
            level: Level::Note,
            hint: Some(hint.into()),
            ..self.ok(found)
        }
    }

    fn problem(self, found: impl Into<String>, hint: impl Into<String>) -> Finding {
        Finding {
            level: Level::Problem,
            ..self.note(found, hint)
        }
    }
}

// An append holds the lock for milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Checks the session in `dir`, and returns its content if that can be read. A missing session is a
/// problem only if it was `named`.
pub fn session(
    dir: &Path,
    named: bool,
    watch: &dyn Watch,
) -> (Vec<Finding>, Option<(Manifest, Checkup)>) {
    if !dir.exists() {
        return (vec![missing(dir, named)], None);
    }
    let held = look_over(dir, watch);
    let mut findings = match &held {
        Ok((manifest, checkup)) => readable(dir, manifest, checkup),
        Err(error) => vec![unreadable(error)],
    };
    if let Ok(found) = fs::metadata(dir) {
        let is_own = found.uid() == nix::unistd::geteuid().as_raw();
        findings.push(permissions(dir, found.mode() & 0o777, is_own));
    }
    findings.push(lock(dir, &look_at_lock(dir, LOCK_PATIENCE)));
    findings.push(evidence(&dir.join("evidence")));
    (findings, held.ok())
}

fn missing(dir: &Path, named: bool) -> Finding {
    let found = format!("no session found at {}", dir.display());
    let made = that_makes(dir);
    let hint = format!("create one with `{made}`, or name one with --session");
    if named {
        Check::Session.problem(found, hint)
    } else {
        Check::Session.note(found, hint)
    }
}

fn unreadable(error: &SessionError) -> Finding {
    let source = std::error::Error::source(error);
    let found = source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    let hint = match error {
        SessionError::Missing(_) => "name the directory that `comail scan` created with --session",
        SessionError::Newer { .. } => "use a version of comail that reads this format",
        _ => "run `comail audit` for details, and restore the session from a copy",
    };
    Check::Session.problem(found, hint)
}

fn readable(dir: &Path, manifest: &Manifest, checkup: &Checkup) -> Vec<Finding> {
    let it = Check::Session;
    let mut findings = vec![it.ok(format!(
        "{}: format {} of {FORMAT}, {} lines, chain intact up to {}",
        dir.display(),
        manifest.format,
        checkup.lines,
        checkup.head
    ))];
    if checkup.torn > 0 {
        let torn = checkup.torn;
        let found = format!("the last line of the ledger is incomplete ({torn} bytes)");
        findings.push(it.note(found, "no action needed: the next command removes them"));
    }
    findings.extend(index(&checkup.index, checkup.lines));
    findings
}

fn index(state: &IndexState, lines: u64) -> Option<Finding> {
    let it = Check::Session;
    Some(match state {
        IndexState::Fits => return None,
        IndexState::Missing => it.note(
            "there is no usable index",
            "no action needed: the next command rebuilds it from the ledger",
        ),
        IndexState::Behind { lines: known } => it.note(
            format!("the index covers {known} of {lines} lines"),
            "no action needed: the next command updates it",
        ),
        IndexState::Unfit(why) => it.problem(
            format!("the index does not agree with the ledger: {why}"),
            "remove index.sqlite, which is rebuilt, and run `comail audit`",
        ),
    })
}

fn permissions(dir: &Path, mode: u32, is_own: bool) -> Finding {
    const OTHERS: u32 = 0o077;

    let it = Check::Permissions;
    if mode & OTHERS != 0 {
        let found = format!("other users can access it (mode {mode:03o})");
        return it.problem(found, format!("chmod 700 {}", dir.display()));
    }
    if is_own {
        it.ok("only its owner can read it")
    } else {
        it.note("it belongs to another user", "run comail as its owner")
    }
}

fn lock(dir: &Path, state: &LockState) -> Finding {
    let it = Check::Lock;
    match state {
        LockState::Free => it.ok("available"),
        LockState::Missing => it.note(
            "there is no lock file",
            "no action needed: the next command creates it",
        ),
        LockState::Held => {
            let seconds = LOCK_PATIENCE.as_secs();
            let found = format!("another process has held it for {seconds} s");
            let path = dir.join("lock");
            it.problem(
                found,
                format!("`fuser {}` shows the process", path.display()),
            )
        }
        LockState::Refused(why) => it.problem(
            format!("cannot lock it: {why}"),
            "keep the session on a writable file system that supports locks",
        ),
    }
}

fn evidence(dir: &Path) -> Finding {
    let written = tempfile::NamedTempFile::new_in(dir).and_then(|mut file| {
        file.write_all(b"comail")?;
        file.as_file().sync_all()
    });
    match written {
        Ok(()) => Check::Evidence.ok("writable"),
        Err(why) => Check::Evidence.problem(
            format!("cannot store evidence: {why}"),
            format!("make {} a directory that you can write to", dir.display()),
        ),
    }
}

// A slower fsync is noticeable, because every answer waits for one.
const SLOW_SYNC: Duration = Duration::from_millis(250);

/// The observed behaviour of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Disk {
    synced: Duration,
    /// Whether a file replaced another by a rename.
    renamed: bool,
    /// Whether a lock kept a second process out.
    locked: bool,
}

pub fn disk(dir: &Path) -> Vec<Finding> {
    let mut findings = disk_findings(dir, observe(dir));
    if let Ok(seen) = nix::sys::statvfs::statvfs(dir) {
        #[expect(clippy::useless_conversion, reason = "their width differs by platform")]
        let (blocks, size) = (
            u64::from(seen.blocks_available()),
            u64::from(seen.fragment_size()),
        );
        findings.push(space(blocks.saturating_mul(size)));
    }
    findings
}

fn space(bytes: u64) -> Finding {
    let mib = bytes >> 20;
    let (it, found) = (Check::Space, format!("{mib} MiB free"));
    let hint = "free some disk space: every answer adds to evidence and ledger";
    match mib {
        0..50 => it.problem(found, hint),
        50..1024 => it.note(found, hint),
        _ => it.ok(found),
    }
}

pub fn agents(path_var: Option<&OsStr>) -> Finding {
    let dirs = || path_var.map(std::env::split_paths).into_iter().flatten();
    let found = Preset::ALL.into_iter().filter_map(|preset| {
        let mut paths = dirs().map(|dir| dir.join(preset.program()));
        let path = paths.find(|path| is_executable(path))?;
        Some(format!("{} ({})", preset.name, path.display()))
    });
    let found: Vec<String> = found.collect();
    if !found.is_empty() {
        return Check::Agents.ok(found.join(", "));
    }
    let names = Preset::ALL.map(|preset| preset.name).join(", ");
    let hint = "install one for `comail run --agent`, or name your own after `comail run --`";
    Check::Agents.note(format!("none of these is in PATH: {names}"), hint)
}

/// The hooks of an agent: when each was last called, and how the agent comes to trust its settings.
pub fn hooks(
    agent: &str,
    settings: &Path,
    (stop, tool): (Option<Timestamp>, Option<Timestamp>),
    trust: Option<&str>,
) -> Finding {
    let it = Check::Hooks;
    let place = settings.display();
    if stop.is_none() && tool.is_none() {
        let found = format!("{agent} has not called the hooks in {place} so far");
        let start = trust.map_or_else(
            || format!("start {agent} in the directory of these settings"),
            |trust| format!("start {agent} in the directory of these settings, with: {trust}"),
        );
        let hint = format!("{start}; an agent that `run` confines cannot note its calls");
        return it.note(found, hint);
    }
    let called = |at: Option<Timestamp>| {
        let at = at.and_then(|at| at.round(Unit::Second).ok());
        at.map_or_else(|| "never".to_owned(), |at| format!("last at {at}"))
    };
    let (stop, tool) = (called(stop), called(tool));
    it.ok(format!(
        "{agent} called the hooks in {place}: stop {stop}, tool {tool}"
    ))
}

fn observe(dir: &Path) -> io::Result<Disk> {
    let place = tempfile::Builder::new()
        .prefix(".comail-doctor-")
        .tempdir_in(dir)?;
    let (old, new) = (place.path().join("old"), place.path().join("new"));
    let began = Instant::now();
    let mut first = File::create(&new)?;
    first.write_all(b"new")?;
    first.sync_all()?;
    let synced = began.elapsed();
    fs::write(&old, "old")?;
    fs::rename(&new, &old)?;
    let renamed = fs::read(&old)? == b"new" && !new.exists();
    first.lock()?;
    let locked = match File::options().write(true).open(&old)?.try_lock() {
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => false,
    };
    Ok(Disk {
        synced,
        renamed,
        locked,
    })
}

fn disk_findings(dir: &Path, disk: io::Result<Disk>) -> Vec<Finding> {
    let it = Check::FileSystem;
    let disk = match disk {
        Ok(disk) => disk,
        Err(why) => {
            let found = format!("cannot work in {}: {why}", dir.display());
            let hint = "make it writable, or name another directory with --session";
            return vec![it.problem(found, hint)];
        }
    };
    let hint = "keep the session on a local disk";
    let mut findings = Vec::new();
    if disk.synced > SLOW_SYNC {
        let ms = disk.synced.as_millis();
        let found = format!("fsync took {ms} ms, and every answer waits for it");
        findings.push(it.note(found, hint));
    }
    if !disk.renamed {
        findings.push(it.problem("a rename does not replace a file", hint));
    }
    if !disk.locked {
        findings.push(it.problem("locks do not keep other processes out", hint));
    }
    if findings.is_empty() {
        findings.push(it.ok("fsync, renames and locks work"));
    }
    findings
}

/// A browser that was tried: its path, and its version or why it cannot be used.
pub type TriedBrowser = (PathBuf, Result<String, String>);

/// The browser that the session froze, or else the one that `scan` would find.
pub fn browser(tried: Option<&TriedBrowser>, is_frozen: bool) -> Finding {
    let it = Check::Browser;
    match tried {
        None if is_frozen => it.ok("the session judges pages by their markup, without a browser"),
        None => it.note(
            "pages are judged by their markup, because no browser is on the PATH",
            "install Chromium, and scan again to judge by what a reader sees",
        ),
        Some((path, Ok(version))) => it.ok(format!(
            "{version} ({}) works without a network, and shows pages",
            path.display()
        )),
        Some((path, Err(why))) if is_frozen => it.problem(
            format!(
                "the session's browser {} cannot be used: {why}",
                path.display()
            ),
            "install it again, or scan with --set network.browser=off",
        ),
        Some((path, Err(why))) => it.note(
            format!(
                "pages are judged by their markup, because {} cannot be used: {why}",
                path.display()
            ),
            "allow user namespaces, or name another browser with --set network.browser=PATH",
        ),
    }
}

/// Compares the confinement of a command `now` with that at the creation of the session.
pub fn confinement(now: &Confinement, at_scan: Option<&Confinement>) -> Finding {
    let it = Check::Confinement;
    let namespaces = [Namespace::Pid, Namespace::Net, Namespace::Mount];
    let mut missing = Vec::new();
    if now.landlock.is_none() {
        missing.push((
            "agents can write wherever you can, and commands can read files of yours",
            "use Linux 5.13 or newer with Landlock among its security modules (lsm=landlock,…)",
        ));
    }
    if !namespaces.iter().all(|one| now.namespaces.contains(one)) {
        missing.push((
            "commands and agents have no namespaces of their own: what an agent starts can outlive \
             it, and agents are not confined if the session is below their working directory",
            "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or \
             kernel.apparmor_restrict_unprivileged_userns=0; in a container, change its seccomp \
             profile",
        ));
    }
    let what: Vec<&str> = missing.iter().map(|(what, _)| *what).collect();
    let what = what.join(", and ");
    let hint = missing.first().map(|(_, hint)| *hint);
    if at_scan.is_some_and(|before| now.is_less(before, &Network::None)) {
        let what = if what.is_empty() {
            "not everything is mounted read-only"
        } else {
            &what
        };
        let found = format!(
            "commands are less confined than at the scan, so a person decides on what they check: \
             {what}"
        );
        let hint = hint.unwrap_or("run comail where the session was created");
        return it.problem(found, hint);
    }
    match hint {
        Some(hint) => it.note(what, hint),
        None => it.ok(format!(
            "commands and agents are confined by Landlock {} and namespaces; each command sees {}",
            now.landlock.unwrap_or_default(),
            if now.overlay {
                "the tree through an overlay of its own"
            } else {
                "a copy of the tree, because the system has no overlays"
            }
        )),
    }
}

const LOOKUP_PATIENCE: Duration = Duration::from_secs(5);
const CONNECT_PATIENCE: Duration = Duration::from_secs(8);

const NETWORK_HINT: &str = "check the network, or name a resolver with \
                            `scan --set network.dns-server=ADDR:PORT`; without a network, use \
                            --offline";

pub fn dns(settings: &NetworkSettings, known: &HostName, absent: &HostName) -> Vec<Finding> {
    let resolver = || DnsResolver::new(settings, Arc::new(Budget::new(LOOKUP_PATIENCE)));
    let ask = |name: &HostName| resolver().lookup(name, RecordKind::A);
    let of_known = ask(known);
    if matches!(of_known, Looked::Unanswered(_))
        && let Err(why) = resolver().check_network()
    {
        let found = format!("there is no network: {why}; `submit` and `recheck` cannot judge");
        return vec![Check::Dns.note(found, NETWORK_HINT)];
    }
    // A resolver that does not answer is not asked a second time.
    let answers = !matches!(of_known, Looked::Unanswered(_));
    let of_absent = answers.then(|| ask(absent));
    dns_findings(
        (known.as_str(), &of_known),
        (absent.as_str(), of_absent.as_ref()),
        &settings.allow_net,
    )
}

/// Replaces the findings of [`dns`] for a session on a recorded world.
pub fn recorded_world() -> Finding {
    Check::Dns.note(
        "web pages and DNS come from a recorded world; the network was not checked",
        "create a session without `scan --world` to judge real sites",
    )
}

fn dns_findings(
    (known, of_known): (&str, &Looked),
    (absent, of_absent): (&str, Option<&Looked>),
    allowed: &[IpNet],
) -> Vec<Finding> {
    let problem = |found| {
        let hint = "choose a resolver that reports missing domains, with `scan --set network.dns-server=ADDR:PORT`";
        Some(Check::Dns.problem(found, hint))
    };
    let note = |found| Some(Check::Dns.note(found, NETWORK_HINT));
    let of_absent = match of_absent {
        None | Some(Looked::NoSuchName) => None,
        Some(Looked::Found(_)) => problem(format!(
            "{absent} does not exist, but the resolver returns an address for it: a domain that \
             does not exist would pass"
        )),
        Some(Looked::NoData) => note(format!(
            "{absent} does not exist, but the resolver does not say so"
        )),
        Some(Looked::Unanswered(why)) => note(format!(
            "no answer about {absent}, which does not exist: {why}"
        )),
    };
    let of_known = match of_known {
        Looked::Found(Records::Addresses(addresses)) => {
            let is_reached = |address: &IpAddr| permitted(*address, allowed);
            if addresses.iter().any(is_reached) {
                None
            } else {
                problem(format!("{known} has no public address: {addresses:?}"))
            }
        }
        Looked::Found(Records::Mx(_)) => None,
        Looked::NoData | Looked::NoSuchName => {
            problem(format!("the resolver knows no address of {known}"))
        }
        Looked::Unanswered(why) => note(format!("no resolver answers: {why}")),
    };
    let mut findings: Vec<Finding> = of_absent.into_iter().chain(of_known).collect();
    if findings.is_empty() {
        let found = format!("{known} has an address, and a made-up name has none");
        findings.push(Check::Dns.ok(found));
    }
    findings
}

pub fn tls(settings: &NetworkSettings, url: &Url, offline: bool) -> (Finding, Option<Timestamp>) {
    let greeted = (!offline).then(|| {
        let greeted = check_connection(url, settings, CONNECT_PATIENCE);
        greeted.map_err(|error| error.to_string())
    });
    let time = match &greeted {
        Some(Ok(Connection::Answered { date, .. })) => date.as_deref().and_then(time_of_header),
        _ => None,
    };
    let roots = trusted_authorities(settings).map_err(|error| error.to_string());
    (tls_finding(url, roots, greeted), time)
}

fn tls_finding(
    url: &Url,
    roots: Result<usize, String>,
    greeted: Option<Result<Connection, String>>,
) -> Finding {
    let it = Check::Tls;
    let roots = match roots {
        Ok(0) => return it.problem("no authority is trusted", "install comail again"),
        Ok(count) => format!("{count} authorities are trusted"),
        Err(why) => {
            let hint = "scan with another network.ca-cert, network.proxy or network.user-agent";
            return it.problem(format!("cannot set up connections: {why}"), hint);
        }
    };
    match greeted {
        None => it.ok(format!("{roots}; no server was contacted")),
        Some(Ok(Connection::Answered { status, .. })) => {
            it.ok(format!("{roots}; {url} answers ({status})"))
        }
        Some(Ok(Connection::NoSuchHost)) => it.note(
            format!("{roots}; the host of {url} does not exist"),
            "name another with --url",
        ),
        // The connection may be intercepted, so this is worse than no answer.
        Some(Ok(Connection::Unanswered(why))) if why.silence == UnansweredKind::Tls => it.problem(
            format!("no secure connection: {why}"),
            "if your own proxy opens TLS connections, trust it with `scan --set \
             network.ca-cert=FILE`; otherwise do not trust this network",
        ),
        Some(Ok(Connection::Unanswered(why))) => it.note(
            format!("{roots}; no server answers: {why}"),
            "check network and firewall, or name a proxy with `scan --set network.proxy=URL`; \
             without a network, use --offline",
        ),
        Some(Err(why)) => it.problem(why, "scan with other settings in [network]"),
    }
}

fn time_of_header(date: &str) -> Option<Timestamp> {
    let parser = DateTimeParser::new().relaxed_weekday(true);
    parser.parse_timestamp(date.trim()).ok()
}

/// A time before this program existed.
const TOO_EARLY: &str = "2025-01-01T00:00:00Z";

/// How far a server's clock may be off before it is a note, and a problem.
const WEB_SLACK: SignedDuration = SignedDuration::from_mins(2);
const WEB_FAR: SignedDuration = SignedDuration::from_hours(1);

/// Compares the clock with the ledger's last line and with the time that a web server reports.
pub fn clock(now: Timestamp, last_line: Option<Timestamp>, web: Option<Timestamp>) -> Vec<Finding> {
    const HINT: &str = "set the clock, for example with `timedatectl set-ntp true`";

    let it = Check::Clock;
    let mut findings = Vec::new();
    if TOO_EARLY.parse().is_ok_and(|early: Timestamp| now < early) {
        findings.push(it.problem(format!("it shows {now}, which is in the past"), HINT));
    }
    if let Some(last) = last_line.filter(|last| now < *last) {
        let found = format!("it shows {now}, but the ledger's last line was written at {last}");
        findings.push(it.problem(found, HINT));
    }
    let apart = web.map(|web| (web, now.duration_since(web).abs()));
    if let Some((web, apart)) = apart.filter(|(_, apart)| *apart > WEB_SLACK) {
        let found = format!("it shows {now}, but a web server reports {web}");
        findings.push(if apart > WEB_FAR {
            it.problem(found, HINT)
        } else {
            it.note(found, HINT)
        });
    }
    if findings.is_empty() {
        findings.push(it.ok(match web {
            Some(_) => "agrees with a web server",
            None => "not behind the ledger; no server was contacted",
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::world::Unanswered;

    #[track_caller]
    fn assert_levels(findings: impl IntoIterator<Item = Finding>, expected: &[Level]) {
        let findings: Vec<Finding> = findings.into_iter().collect();
        let levels: Vec<Level> = findings.iter().map(|finding| finding.level).collect();
        assert_eq!(levels, expected, "{findings:?}");
    }

    #[test]
    fn an_unusable_session_is_a_problem_and_a_repairable_one_a_note() {
        let dir = Path::new("/s");
        let error = SessionError::Missing("/s".into());
        let refused = LockState::Refused("no locks".into());
        let behind = IndexState::Behind { lines: 3 };
        for (finding, expected) in [
            (missing(dir, false), Level::Note),
            (missing(dir, true), Level::Problem),
            (unreadable(&error), Level::Problem),
            (permissions(dir, 0o700, true), Level::Ok),
            (permissions(dir, 0o700, false), Level::Note),
            (permissions(dir, 0o750, true), Level::Problem),
            (permissions(dir, 0o701, false), Level::Problem),
            (lock(dir, &LockState::Free), Level::Ok),
            (lock(dir, &LockState::Missing), Level::Note),
            (lock(dir, &LockState::Held), Level::Problem),
            (lock(dir, &refused), Level::Problem),
            (evidence(dir), Level::Problem),
        ] {
            assert_levels([finding], &[expected]);
        }
        assert_levels(index(&IndexState::Fits, 9), &[]);
        assert_levels(index(&IndexState::Missing, 9), &[Level::Note]);
        assert_levels(index(&behind, 9), &[Level::Note]);
        assert_levels(index(&IndexState::Unfit("x".into()), 9), &[Level::Problem]);
    }

    #[test]
    fn each_missing_feature_of_a_file_system_is_a_problem() {
        for (ms, renamed, locked, expected) in [
            (2, true, true, Level::Ok),
            (1_000, true, true, Level::Note),
            (2, false, true, Level::Problem),
            (2, true, false, Level::Problem),
        ] {
            let disk = Disk {
                synced: Duration::from_millis(ms),
                renamed,
                locked,
            };
            let findings = disk_findings(Path::new("/s"), Ok(disk));
            assert_levels(findings, &[expected]);
        }
    }

    #[test]
    fn this_file_system_works() {
        let dir = tempfile::tempdir().unwrap();
        let seen = observe(dir.path()).unwrap();
        assert!(seen.renamed && seen.locked);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(disk(&dir.path().join("none"))[0].level, Level::Problem);
        for (mib, expected) in [
            (0, Level::Problem),
            (49, Level::Problem),
            (50, Level::Note),
            (1024, Level::Ok),
        ] {
            assert_levels([space(mib << 20)], &[expected]);
        }
    }

    #[test]
    fn agents_are_found_by_their_programs() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("codex", 0o755), ("cursor-agent", 0o755), ("gemini", 0o644)] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_permissions(PermissionsExt::from_mode(mode))
                .unwrap();
        }
        let path = std::env::join_paths(["/none".as_ref(), dir.path()]).unwrap();
        let finding = agents(Some(&path));
        assert_eq!(finding.level, Level::Ok);
        let place = dir.path().display();
        let expected = format!("codex ({place}/codex), cursor ({place}/cursor-agent)");
        assert_eq!(finding.found, expected);
        assert_eq!(agents(None).level, Level::Note);
    }

    #[test]
    fn less_confinement_than_at_the_scan_is_a_problem() {
        let of = |landlock: Option<u32>, namespaces: &[Namespace]| Confinement {
            landlock,
            namespaces: namespaces.iter().copied().collect(),
            read_only: false,
            overlay: false,
        };
        let all = [Namespace::Pid, Namespace::Net, Namespace::Mount];
        let full = of(Some(4), &all);
        let none = Confinement::default();
        for (now, at_scan, expected) in [
            (&full, None, Level::Ok),
            (&of(None, &all), None, Level::Note),
            (&of(Some(4), &[]), None, Level::Note),
            (&none, None, Level::Note),
            (&full, Some(&full), Level::Ok),
            (&of(None, &all), Some(&full), Level::Problem),
            (&of(Some(4), &[]), Some(&full), Level::Problem),
            (&none, Some(&none), Level::Note),
        ] {
            assert_eq!(confinement(now, at_scan).level, expected, "{now:?}");
        }
    }

    #[test]
    fn a_lying_resolver_is_a_problem_and_a_silent_one_a_note() {
        let address = |text: &str| Looked::Found(Records::Addresses(vec![text.parse().unwrap()]));
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
            assert_levels(findings, &[expected]);
        }
    }

    #[test]
    fn only_an_untrusted_connection_is_a_problem() {
        let answered = Connection::Answered {
            status: 503,
            date: None,
        };
        let silent = |silence| Some(Ok(Connection::Unanswered(Unanswered::new(silence, "x"))));
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
            (Ok(100), Some(Ok(Connection::NoSuchHost)), Level::Note),
        ] {
            let url = Url::parse("https://example.com/").unwrap();
            assert_levels([tls_finding(&url, roots, greeted)], &[expected]);
        }
    }

    #[test]
    fn the_clock_agrees_with_the_ledger_and_with_a_server() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
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
            assert_levels(clock(at(now), last_line.map(at), web.map(at)), &[expected]);
        }
        let date = time_of_header("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date, Some(at("1994-11-06T08:49:37Z")));
        assert_eq!(time_of_header("soon"), None);
    }
}
