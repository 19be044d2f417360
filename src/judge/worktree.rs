//! The worktrees that `next --worktree` made, as the session remembers them.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::files::{AtomicError, Overwrite};
use crate::base::{Digest, files};
use crate::judge::error::JudgeError;
use crate::judge::union::{Worktree, make_worktree};
use crate::quest::QuestId;
use crate::session::Session;

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
    #[error("{} is no worktree of this session: make one with `comail next --worktree DIR`", .0.display())]
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
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
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

    /// Makes a worktree for a quest, unless it is already there.
    pub fn keep_or_make(session: &Session, quest: QuestId, dir: &Path) -> Result<(), JudgeError> {
        fs::create_dir_all(dir).map_err(WorktreeError::io("make", dir))?;
        let root = fs::canonicalize(dir).map_err(WorktreeError::io("find", dir))?;
        let mut entries = fs::read_dir(&root).map_err(WorktreeError::io("read", dir))?;
        if entries.next().is_some() {
            let known = known(session.dir(), &root)?;
            return if known.is_some_and(|known| known.quest == quest) {
                Ok(())
            } else {
                Err(WorktreeError::NotEmpty(dir.to_owned()).into())
            };
        }
        let made = make_worktree(session, quest, &root, None)?;
        let known = Known {
            quest,
            root: made.root,
            base: made.base,
        };
        let path = place(session.dir(), &root);
        let folder = session.dir().join(WORKTREES);
        fs::create_dir_all(&folder).map_err(WorktreeError::io("make", &folder))?;
        let text = serde_json::to_vec(&known)?;
        let written = files::write_whole(&path, Overwrite::ReplaceNoLink, &[], |file| {
            file.write_all(&text)
                .map_err(WorktreeError::io("write", &path))
        });
        Ok(written?)
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
