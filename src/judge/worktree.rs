//! The worktrees that `next --worktree` made, as the session remembers them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::files::{AtomicError, Overwrite};
use crate::base::{Digest, files};
use crate::quest::QuestId;
use crate::world::tree::TreeError;

/// A copy of the accepted tree in which one agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    pub root: PathBuf,
    /// The last change of the accepted tree that it was copied from; `None` for the frozen tree.
    pub base: Option<Digest>,
}

/// What the session knows of a worktree, in `worktrees/DIGEST.json`; the digest is that of its path.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    quest: QuestId,
    root: PathBuf,
    base: Option<Digest>,
}

/// Why a directory cannot be used as a worktree.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error("{} is not a worktree of this session: make one with `comail next --worktree DIR`", .0.display())]
    Unknown(PathBuf),
    #[error("{} has files: name a directory that is new or empty; nothing changed", .0.display())]
    NotEmpty(PathBuf),
    #[error("cannot {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is the worktree of quest {quest}, and the answer is for another quest; nothing changed", dir.display())]
    OfAnother { dir: PathBuf, quest: QuestId },
    #[error(
        "{} has no file of the write zones that the accepted tree has, or is a link: make a new \
         worktree with `comail next --worktree DIR`; nothing was recorded, and no try was used",
        .0.display()
    )]
    Gone(PathBuf),
    #[error("the files of {} cannot be judged: {source}; nothing was recorded, and no try was used", root.display())]
    NotRead { root: PathBuf, source: TreeError },
    #[error(transparent)]
    Write(#[from] AtomicError),
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
}

impl WorktreeError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

impl Worktree {
    /// The worktree of a quest at this path.
    pub fn find(session: &Path, dir: &Path, quest: QuestId) -> Result<Self, WorktreeError> {
        let unknown = || WorktreeError::Unknown(dir.to_owned());
        let root = fs::canonicalize(dir).map_err(|_| unknown())?;
        let known = known(session, &root)?.ok_or_else(unknown)?;
        if known.quest != quest {
            return Err(WorktreeError::OfAnother {
                dir: dir.to_owned(),
                quest: known.quest,
            });
        }
        Ok(Self {
            root: known.root,
            base: known.base,
        })
    }

    /// Makes the session remember the worktree of a quest.
    pub(super) fn remember(&self, session: &Path, quest: QuestId) -> Result<(), WorktreeError> {
        let known = Known {
            quest,
            root: self.root.clone(),
            base: self.base,
        };
        let path = place(session, &self.root);
        let folder = session.join(WORKTREES);
        fs::create_dir_all(&folder).map_err(WorktreeError::io("make", &folder))?;
        files::write_whole(&path, Overwrite::ReplaceNoLink, &[], |file| {
            serde_json::to_writer(file, &known)
                .map_err(io::Error::from)
                .map_err(WorktreeError::io("write", &path))
        })
    }
}

/// Whether the directory is empty; if not, it must be the worktree of this quest.
pub(super) fn is_new(session: &Path, root: &Path, quest: QuestId) -> Result<bool, WorktreeError> {
    let mut entries = fs::read_dir(root).map_err(WorktreeError::io("read", root))?;
    if entries.next().is_none() {
        return Ok(true);
    }
    match known(session, root)? {
        Some(known) if known.quest == quest => Ok(false),
        _ => Err(WorktreeError::NotEmpty(root.to_owned())),
    }
}

const WORKTREES: &str = "worktrees";

fn place(session: &Path, root: &Path) -> PathBuf {
    let name = Digest::of(root.as_os_str().as_encoded_bytes());
    session.join(WORKTREES).join(format!("{name}.json"))
}

fn known(session: &Path, root: &Path) -> Result<Option<Known>, WorktreeError> {
    let path = place(session, root);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(WorktreeError::io("read", &path)(error)),
    };
    let known = serde_json::from_slice(&text);
    known
        .map(Some)
        .map_err(|source| WorktreeError::Unreadable { path, source })
}
