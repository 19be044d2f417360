//! Whether a session can be read and written, and by whom.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Check, Finding};
use crate::judge::audit;
use crate::judge::quest_file::Definition;
use crate::session::{
    Checkup, FORMAT, IndexState, LockState, Manifest, SessionError, Watch, look_at_lock, look_over,
    that_makes,
};

/// How long to wait for the lock: an append takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Checks the session in `dir`, and returns what it holds where that can be read. A session that
/// is missing is a problem only if it was `named`.
pub fn check(
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
    findings.extend(mode(dir).map(|(mode, own)| permissions(dir, mode, own)));
    findings.push(lock(dir, &look_at_lock(dir, LOCK_PATIENCE)));
    findings.push(evidence(dir, write_in(&dir.join("evidence"))));
    (findings, held.ok())
}

fn missing(dir: &Path, named: bool) -> Finding {
    let found = format!("there is no session at {}", dir.display());
    let hint = format!(
        "create one with `{}`, or name one with --session",
        that_makes(dir)
    );
    if named {
        Check::Session.problem(found, hint)
    } else {
        Check::Session.note(found, hint)
    }
}

fn unreadable(error: &SessionError) -> Finding {
    let source = std::error::Error::source(error);
    let found = source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    Check::Session.problem(
        found,
        match error {
            SessionError::Missing { .. } => {
                "name the directory that `comail scan` created with --session"
            }
            SessionError::Newer { .. } => "use a version of comail that reads this format",
            _ => "run `comail audit` for details, and restore the session from a copy",
        },
    )
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
        let found = format!(
            "the last line of the ledger is incomplete ({} bytes)",
            checkup.torn
        );
        findings.push(it.note(found, "no action needed: the next command removes them"));
    }
    findings.extend(index(&checkup.index, checkup.lines));
    findings
}

fn index(state: &IndexState, lines: u64) -> Option<Finding> {
    let it = Check::Session;
    match state {
        IndexState::Fits => None,
        IndexState::Missing => {
            let hint = "no action needed: the next command rebuilds it from the ledger";
            Some(it.note("there is no usable index", hint))
        }
        IndexState::Behind { lines: known } => {
            let found = format!("the index covers {known} of {lines} lines");
            Some(it.note(found, "no action needed: the next command updates it"))
        }
        IndexState::Unfit(why) => {
            let found = format!("the index does not agree with the ledger: {why}");
            let hint = "remove index.sqlite, which is rebuilt, and run `comail audit`";
            Some(it.problem(found, hint))
        }
    }
}

/// The permissions of a directory, and whether it belongs to this user.
fn mode(dir: &Path) -> Option<(u32, bool)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        let found = std::fs::metadata(dir).ok()?;
        let own = found.uid() == nix::unistd::geteuid().as_raw();
        Some((found.mode() & 0o777, own))
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        None
    }
}

fn permissions(dir: &Path, mode: u32, own: bool) -> Finding {
    const OTHERS: u32 = 0o077;

    let it = Check::Permissions;
    if mode & OTHERS != 0 {
        let found = format!("other users can access it (mode {mode:03o})");
        return it.problem(found, format!("chmod 700 {}", dir.display()));
    }
    if own {
        it.ok("only its owner can read it")
    } else {
        it.note("it belongs to another user", "run comail as its owner")
    }
}

fn lock(dir: &Path, state: &LockState) -> Finding {
    let it = Check::Lock;
    match state {
        LockState::Free => it.ok("available"),
        LockState::Missing => {
            let hint = "no action needed: the next command creates it";
            it.note("there is no lock file", hint)
        }
        LockState::Held => {
            let seconds = LOCK_PATIENCE.as_secs();
            let found = format!("another process has held it for {seconds} s");
            let path = dir.join("lock");
            it.problem(
                found,
                format!("`fuser {}` shows the process", path.display()),
            )
        }
        LockState::Refused(why) => {
            let hint = "keep the session on a writable file system that supports locks";
            it.problem(format!("cannot lock it: {why}"), hint)
        }
    }
}

fn write_in(dir: &Path) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, b"comail")?;
    file.as_file().sync_all()
}

fn evidence(dir: &Path, written: io::Result<()>) -> Finding {
    match written {
        Ok(()) => Check::Evidence.ok("writable"),
        Err(why) => {
            let dir = dir.join("evidence");
            let hint = format!("make {} a directory that you can write to", dir.display());
            Check::Evidence.problem(format!("cannot store evidence: {why}"), hint)
        }
    }
}

/// Whether the programs that the session's checks run are still the same.
pub fn programs(definition: &Definition) -> Vec<Finding> {
    let it = Check::Programs;
    let names: Vec<&str> = definition
        .gathered
        .programs
        .keys()
        .map(String::as_str)
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let changed = audit::programs(definition);
    if changed.is_empty() {
        return vec![it.ok(format!("{} unchanged since the scan", names.join(", ")))];
    }
    let hint = "install the earlier version again, or create a new session with `scan --carry`";
    let changed = changed
        .into_iter()
        .map(|finding| it.problem(finding.what, hint));
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn a_session_that_is_missing_is_a_problem_only_where_it_was_named() {
        let dir = Path::new("/s");
        assert_eq!(missing(dir, false).level, Level::Note);
        assert_eq!(missing(dir, true).level, Level::Problem);
        let error = SessionError::Missing { dir: "/s".into() };
        assert_eq!(unreadable(&error).level, Level::Problem);
    }

    #[test]
    fn access_of_others_is_a_problem() {
        for (mode, own, level) in [
            (0o700, true, Level::Ok),
            (0o700, false, Level::Note),
            (0o750, true, Level::Problem),
            (0o701, false, Level::Problem),
        ] {
            assert_eq!(
                permissions(Path::new("/s"), mode, own).level,
                level,
                "{mode:o}"
            );
        }
    }

    #[test]
    fn a_lock_or_evidence_that_cannot_be_used_is_a_problem() {
        for (state, level) in [
            (LockState::Free, Level::Ok),
            (LockState::Missing, Level::Note),
            (LockState::Held, Level::Problem),
            (LockState::Refused("no locks".into()), Level::Problem),
        ] {
            assert_eq!(lock(Path::new("/s"), &state).level, level);
        }
        let refused = Err(io::ErrorKind::ReadOnlyFilesystem.into());
        assert_eq!(evidence(Path::new("/s"), refused).level, Level::Problem);
    }

    #[test]
    fn an_index_that_disagrees_is_a_problem_and_one_that_is_behind_is_not() {
        let level = |state| index(&state, 9).map(|finding| finding.level);
        assert_eq!(level(IndexState::Fits), None);
        assert_eq!(level(IndexState::Missing), Some(Level::Note));
        assert_eq!(level(IndexState::Behind { lines: 3 }), Some(Level::Note));
        assert_eq!(level(IndexState::Unfit("x".into())), Some(Level::Problem));
    }
}
