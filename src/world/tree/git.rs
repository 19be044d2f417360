//! A baseline from a commit instead of the working tree.
//!
//! The files are what git stores: nothing is checked out, no filter is run. Whoever works in the
//! tree can write in its `.git` too, so git is run with no configuration but the repository's,
//! without what of that could start a program or reach for a network, and every file is held
//! against the name that git has for it.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::bounds::{BOUNDS, Bounds};
use super::entry::{Odd, Oddity};
use super::error::TreeError;
use super::gathered::{Gathered, Store};
use super::git_command::{Running, command, read_from};
use super::git_objects::Objects;
use super::git_record::{Kind, Record};
use super::listing::Listing;
use super::path::TreePath;
use super::zones::Ignored;

/// The bytes that systems let a link say.
const LINK_BYTES: u64 = 4096;

/// What can go wrong with a commit.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// git could not be run, or stopped speaking.
    #[error("cannot {doing} with git: {source}")]
    Run {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// git said no.
    #[error("git cannot {doing}: {said}")]
    Refused {
        /// What was tried.
        doing: &'static str,
        /// What git said.
        said: String,
    },
    /// git said what it never should.
    #[error("git answered what is not understood when asked to {doing}: {said:?}")]
    Garbled {
        /// What was tried.
        doing: &'static str,
        /// What git said.
        said: String,
    },
    /// A repository within the repository.
    #[error("{path} is a submodule, whose files the commit does not have: name it in `ignore`")]
    Submodule {
        /// Where it stands.
        path: TreePath,
    },
    /// The repository's files were changed.
    #[error("{path}: the repository's contents are not those that {id} names; run `git fsck`")]
    Altered {
        /// The file.
        path: TreePath,
        /// git's name for its contents.
        id: String,
    },
    /// The repository's history was changed.
    #[error("the repository's commit {id} is not the one that it names; run `git fsck`")]
    AlteredCommit {
        /// git's name for it.
        id: String,
    },
}

/// A commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The commit's full name.
    pub commit: String,
    /// What it has beneath the root.
    pub listing: Listing,
}

impl GitError {
    pub(super) fn run(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Run { doing, source }
    }
}

/// Lists what a commit has beneath `root`, which may be a folder of the repository, and hands
/// each file's contents on to be stored, equal ones once.
pub fn take(
    git: &Path,
    root: &Path,
    commit: &str,
    ignored: &Ignored,
    store: &mut Store<'_>,
) -> Result<Pinned, TreeError> {
    let commit = resolve(git, root, commit)?;
    let records = list(git, root, &commit, BOUNDS)?;
    let mut gathered = Gathered::new(BOUNDS, store);
    let mut objects = Objects::open(git, root)?;
    for record in records {
        take_record(&mut gathered, &mut objects, record, ignored)?;
    }
    Ok(Pinned {
        commit,
        listing: gathered.finish()?,
    })
}

/// The commit's full name.
pub(super) fn resolve(git: &Path, root: &Path, commit: &str) -> Result<String, GitError> {
    let doing = "find the commit";
    let object = format!("{commit}^{{commit}}");
    let mut asked = command(git, root);
    asked.args(["rev-parse", "--verify", "--end-of-options", &object]);
    let said = read_from(asked, doing)?;
    let id = said.trim_end();
    let is_full = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_full {
        Ok(id.to_owned())
    } else {
        Err(GitError::Garbled { doing, said })
    }
}

/// What the commit has beneath `root`.
fn list(git: &Path, root: &Path, commit: &str, bounds: Bounds) -> Result<Vec<Record>, TreeError> {
    let doing = "list the commit's files";
    let mut asked = command(git, root);
    asked.args(["rev-parse", "--show-prefix"]);
    let prefix = read_from(asked, doing)?;
    let prefix = prefix.strip_suffix('\n').unwrap_or(&prefix);
    let tree = match prefix.strip_suffix('/') {
        None => format!("{commit}^{{tree}}"),
        Some(folder) => format!("{commit}:{folder}"),
    };
    let mut asked: Command = command(git, root);
    asked.args(["ls-tree", "-r", "-z", "--full-tree", &tree]);
    let mut running = Running::start(asked, Stdio::null(), doing)?;
    let mut said = BufReader::new(running.stdout(doing)?);
    let mut records = Vec::new();
    let mut line = Vec::new();
    while said
        .read_until(0, &mut line)
        .map_err(GitError::run(doing))?
        > 0
    {
        if records.len() == bounds.names {
            return Err(TreeError::Names {
                place: root.display().to_string(),
                limit: bounds.names,
            });
        }
        records.push(Record::parse(&line).ok_or_else(|| GitError::Garbled {
            doing,
            said: String::from_utf8_lossy(&line).into_owned(),
        })?);
        line.clear();
    }
    running.finish(doing)?;
    Ok(records)
}

/// Takes one of the commit's files.
fn take_record(
    gathered: &mut Gathered<'_>,
    objects: &mut Objects,
    record: Record,
    ignored: &Ignored,
) -> Result<(), TreeError> {
    let path = match record.path {
        Ok(path) if ignored.contains(&path) => return Ok(()),
        Ok(path) => path,
        Err(place) => {
            let why = Oddity::Name;
            gathered.unnamed([Odd { place, why }]);
            return Ok(());
        }
    };
    let executable = match record.kind {
        Kind::Submodule => return Err(GitError::Submodule { path }.into()),
        Kind::Link => {
            let to = objects.file(&path, &record.id, &mut |bytes| short(&path, bytes))?;
            return match String::from_utf8(to) {
                Ok(to) if !to.contains('\0') => gathered.link(path, to),
                _ => gathered.odd(path, Oddity::Target),
            };
        }
        Kind::File { executable } => executable,
    };
    let contents = objects.file(&path, &record.id, &mut |bytes| gathered.admit(&path, bytes))?;
    gathered.file(path, &contents, executable)
}

/// Lets a link in that a system could make.
fn short(path: &TreePath, bytes: u64) -> Result<(), TreeError> {
    if bytes <= LINK_BYTES {
        return Ok(());
    }
    Err(TreeError::TooLarge {
        path: path.clone(),
        bytes,
        limit: LINK_BYTES,
    })
}

#[cfg(test)]
mod tests;
