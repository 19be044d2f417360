//! Whether a session can be read and written, and by whom.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Check, Finding};
use crate::session::{
    Checkup, FORMAT, IndexState, LockState, Manifest, SessionError, Watch, look_at_lock, look_over,
    that_makes,
};

/// How long is waited for the lock: an append takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// A session as it was seen.
#[derive(Debug)]
pub struct Observed {
    /// Its directory.
    pub dir: PathBuf,
    /// What it holds.
    pub held: Result<(Manifest, Checkup), SessionError>,
    /// Who may do what with its directory, as Unix says it; none elsewhere.
    pub access: Option<Access>,
    /// Its lock.
    pub lock: LockState,
    /// Whether a file can be written among its evidence.
    pub evidence: Result<(), String>,
}

/// Who may do what with a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Its permissions.
    pub mode: u32,
    /// Whether it is this user's.
    pub own: bool,
}

/// Looks at the session in `dir`; none where nothing is there at all.
#[must_use]
pub fn look(dir: &Path, watch: &dyn Watch) -> Option<Observed> {
    if !dir.exists() {
        return None;
    }
    Some(Observed {
        dir: dir.to_owned(),
        held: look_over(dir, watch),
        access: access(dir),
        lock: look_at_lock(dir, LOCK_PATIENCE),
        evidence: written_in(&dir.join("evidence")).map_err(|error| error.to_string()),
    })
}

#[cfg(unix)]
fn access(dir: &Path) -> Option<Access> {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = std::fs::metadata(dir).ok()?;
    Some(Access {
        mode: metadata.mode() & 0o777,
        own: metadata.uid() == nix::unistd::geteuid().as_raw(),
    })
}

#[cfg(not(unix))]
fn access(_dir: &Path) -> Option<Access> {
    None
}

/// Writes a file that is gone again at once.
fn written_in(dir: &Path) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, b"comail")?;
    file.as_file().sync_all()
}

/// What is to be said where there is no session.
#[must_use]
pub fn none(dir: &Path, named: bool) -> Finding {
    let found = format!("there is no session at {}", dir.display());
    let mend = format!(
        "make one with `{}`, or name it by --session",
        that_makes(dir)
    );
    if named {
        Check::Session.trouble(found, mend)
    } else {
        Check::Session.note(found, mend)
    }
}

/// What is to be said of a session.
#[must_use]
pub fn judge(seen: &Observed) -> Vec<Finding> {
    let mut findings = held(seen);
    findings.extend(seen.access.map(|access| permissions(&seen.dir, access)));
    findings.push(lock(seen));
    findings.push(evidence(seen));
    findings
}

fn held(seen: &Observed) -> Vec<Finding> {
    let it = Check::Session;
    let (manifest, checkup) = match &seen.held {
        Ok(held) => held,
        Err(error @ SessionError::Missing { .. }) => {
            let mend = "name the directory that `comail scan` made, by --session";
            return vec![it.trouble(error.to_string(), mend)];
        }
        Err(error @ SessionError::Newer { .. }) => {
            return vec![it.trouble(error.to_string(), "use a comail that reads that format")];
        }
        Err(error) => {
            let error = match std::error::Error::source(error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            };
            return vec![it.trouble(error, "`comail audit` tells more; restore it from a copy")];
        }
    };
    let mut findings = vec![it.ok(format!(
        "{}: format {} of {FORMAT}, {} lines, and its chain holds up to {}",
        seen.dir.display(),
        manifest.format,
        checkup.lines,
        checkup.head
    ))];
    if checkup.torn > 0 {
        let found = format!(
            "{} bytes of a line are torn at the ledger's end",
            checkup.torn
        );
        findings.push(it.note(found, "nothing: the next command that writes cuts them off"));
    }
    findings.extend(index(&checkup.index, checkup.lines));
    findings
}

fn index(state: &IndexState, lines: u64) -> Option<Finding> {
    let it = Check::Session;
    match state {
        IndexState::Fits => None,
        IndexState::Missing => {
            let mend = "nothing: the next command makes it anew from the ledger";
            Some(it.note("there is no index that can be used", mend))
        }
        IndexState::Behind { lines: known } => {
            let found = format!("the index knows {known} of {lines} lines");
            Some(it.note(found, "nothing: the next command brings it up to date"))
        }
        IndexState::Unfit(why) => {
            let found = format!("the index does not agree with the ledger: {why}");
            let mend = "remove index.sqlite, which is made anew, and run `comail audit`";
            Some(it.trouble(found, mend))
        }
    }
}

fn permissions(dir: &Path, access: Access) -> Finding {
    const OTHERS: u32 = 0o077;

    let (it, dir) = (Check::Permissions, dir.display());
    if access.mode & OTHERS != 0 {
        let found = format!(
            "others than its owner may enter it (mode {:03o})",
            access.mode
        );
        return it.trouble(found, format!("chmod 700 {dir}"));
    }
    if access.own {
        it.ok("its owner alone may read it")
    } else {
        let mend = "run comail as the user who owns it";
        it.note(
            "it belongs to another user, and no others may read it",
            mend,
        )
    }
}

fn lock(seen: &Observed) -> Finding {
    let it = Check::Lock;
    match &seen.lock {
        LockState::Free => it.ok("it can be had"),
        LockState::Missing => it.note(
            "there is no file to lock",
            "nothing: the next command makes it",
        ),
        LockState::Held => {
            let found = format!(
                "another process has held it for {} s",
                LOCK_PATIENCE.as_secs()
            );
            let path = seen.dir.join("lock");
            it.trouble(
                found,
                format!("`fuser {}` names the process", path.display()),
            )
        }
        LockState::Refused(why) => {
            let mend = "keep the session on a file system with locks that you may write to";
            it.trouble(format!("it cannot be had: {why}"), mend)
        }
    }
}

fn evidence(seen: &Observed) -> Finding {
    let it = Check::Evidence;
    match &seen.evidence {
        Ok(()) => it.ok("it can be written"),
        Err(why) => {
            let dir = seen.dir.join("evidence");
            let mend = format!("make {} a directory that you may write to", dir.display());
            it.trouble(format!("no evidence can be kept: {why}"), mend)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn broken() -> Observed {
        Observed {
            dir: "/s".into(),
            held: Err(SessionError::Missing { dir: "/s".into() }),
            access: None,
            lock: LockState::Free,
            evidence: Ok(()),
        }
    }

    fn levels(seen: &Observed) -> Vec<(Check, Level)> {
        let findings = judge(seen).into_iter();
        findings
            .map(|finding| (finding.check, finding.level))
            .collect()
    }

    #[test]
    fn a_directory_without_a_session_is_told_apart_from_none() {
        assert_eq!(levels(&broken())[0], (Check::Session, Level::Trouble));
        assert_eq!(none(Path::new("/s"), false).level, Level::Note);
        assert_eq!(none(Path::new("/s"), true).level, Level::Trouble);
    }

    #[test]
    fn what_others_may_enter_is_trouble() {
        for (mode, own, level) in [
            (0o700, true, Level::Ok),
            (0o700, false, Level::Note),
            (0o750, true, Level::Trouble),
            (0o701, false, Level::Trouble),
        ] {
            let access = Some(Access { mode, own });
            let seen = Observed { access, ..broken() };
            assert_eq!(levels(&seen)[1], (Check::Permissions, level), "{mode:o}");
        }
    }

    #[test]
    fn locks_and_evidence_that_cannot_be_had_are_trouble() {
        for (state, level) in [
            (LockState::Free, Level::Ok),
            (LockState::Missing, Level::Note),
            (LockState::Held, Level::Trouble),
            (LockState::Refused("no locks".into()), Level::Trouble),
        ] {
            let seen = Observed {
                lock: state,
                ..broken()
            };
            assert_eq!(levels(&seen)[1], (Check::Lock, level));
        }
        let seen = Observed {
            evidence: Err("read-only".into()),
            ..broken()
        };
        assert_eq!(levels(&seen)[2], (Check::Evidence, Level::Trouble));
    }

    #[test]
    fn an_index_that_says_something_else_is_trouble_and_one_that_is_behind_is_not() {
        let level = |state| index(&state, 9).map(|finding| finding.level);
        assert_eq!(level(IndexState::Fits), None);
        assert_eq!(level(IndexState::Missing), Some(Level::Note));
        assert_eq!(level(IndexState::Behind { lines: 3 }), Some(Level::Note));
        assert_eq!(level(IndexState::Unfit("x".into())), Some(Level::Trouble));
    }
}
