//! The quest kind of the session that a command line means, before the command line is read.
//!
//! `submit` has a flag for each field of the session's own kind, so the session has to be found
//! first. What is found here decides which flags there are, and nothing else.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::context::{DEFAULT_SESSION, SESSION_VARIABLE};
use super::defaults;
use crate::judge;
use crate::quest::{QuestKind, email};
use crate::session;

/// The kind of the session that `args` mean; the built-in one where there is no such session.
pub(super) fn of(args: &[OsString]) -> QuestKind {
    let kind = submits(args).then(|| kind_in(&dir(args))).flatten();
    kind.unwrap_or_else(email::kind)
}

/// Why `submit` may lack flags that somebody gave: there is no session that names its fields.
pub(super) fn without_session(args: &[OsString]) -> Option<String> {
    let dir = dir(args);
    let lacks = submits(args) && kind_in(&dir).is_none();
    lacks.then(|| {
        format!(
            "no session is read in {}, and without one `submit` knows the fields of the e-mail \
             quest alone",
            dir.display()
        )
    })
}

fn submits(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "submit")
}

/// The kind of the session in `dir`, where one is read there.
pub(super) fn kind_in(dir: &Path) -> Option<QuestKind> {
    let (manifest, _) = session::read_manifest(dir).ok()?;
    judge::kind_of(&manifest).ok()
}

/// The session directory that `args` mean.
pub(super) fn dir(args: &[OsString]) -> PathBuf {
    let named = || {
        let pairs = args.iter().zip(args.iter().skip(1));
        let mut pairs = pairs.filter(|(arg, _)| *arg == "--session");
        pairs.next().map(|(_, value)| PathBuf::from(value))
    };
    let joined = || args.iter().find_map(|arg| joined_value(arg));
    let environment = || {
        let value = std::env::var_os(SESSION_VARIABLE)?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    };
    named()
        .or_else(joined)
        .or_else(environment)
        .or_else(defaults::session_of_user)
        .unwrap_or_else(|| DEFAULT_SESSION.into())
}

fn joined_value(arg: &OsStr) -> Option<PathBuf> {
    let value = arg.to_str()?.strip_prefix("--session=")?;
    Some(PathBuf::from(value))
}
