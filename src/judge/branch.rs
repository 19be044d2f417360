//! The accepted answers as commits of a git branch.
//!
//! The branch follows from the ledger: each event that added to the accepted tree is a commit, with
//! the event's date, over the commit that was checked out when the session was made. So it is the
//! same whenever it is made, and one that was lost or moved is made again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::base::files::{AtomicError, Overwrite, write_whole};
use crate::base::text::Escaped;
use crate::judge::accepted::{AcceptedStep, History, stored};
use crate::judge::error::JudgeError;
use crate::judge::quest_file::Definition;
use crate::judge::union::with_worktrees;
use crate::quest::Key;
use crate::session::Session;
use crate::world::git::{self, COMMITTER, Git, Note, ObjectId, Repository, Stored};
use crate::world::sandbox::SandboxConfig;
use crate::world::tree::{AcceptedError, Snapshot, TreePath};

/// Which commits are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    All,
    /// Those that follow the last one that was made.
    Missing,
}

/// The branch of a session.
#[derive(Debug)]
pub struct Branch {
    pub name: String,
    repository: Repository,
}

/// The last commit that was made, in `branch.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    change: Digest,
    commit: ObjectId,
}

const LAST: &str = "branch.json";

impl Branch {
    /// The branch of a session whose tree is in a repository, once an answer was accepted.
    pub fn of(session: &Session) -> Result<Option<Self>, JudgeError> {
        if session.totals().accepted.is_none() {
            return Ok(None);
        }
        let definition = Definition::of(session.manifest())?;
        let repository = definition.and_then(|it| it.tree?.repository);
        Ok(repository.map(|repository| Self {
            name: name(session),
            repository,
        }))
    }

    /// Whether accepted answers are missing on the branch, as far as is known without asking git.
    pub fn is_behind(&self, session: &Session) -> bool {
        let made = last(session).map(|last| last.change);
        made != session.totals().accepted
    }

    /// Whether the branch is where it was last made.
    pub fn is_in_place(&self, session: &Session) -> Result<bool, JudgeError> {
        let commit = self.repository.open()?.branch(&self.name);
        Ok(commit.is_some() && commit == last(session).map(|last| last.commit))
    }

    pub fn make(&self, session: &Session, commits: Commits) -> Result<(), JudgeError> {
        // Of two processes, the last one sees what both have recorded.
        let lock = File::create(session.dir().join("branch.lock"));
        let lock = lock.and_then(|file| file.lock().map(|()| file));
        let _lock = lock.map_err(JudgeError::Branch)?;
        let (_, config) = with_worktrees(session)?;
        let making = Making {
            session,
            repository: &self.repository,
            config,
            history: History::read(session)?,
            git: self.repository.open()?,
        };
        let Some(newest) = making.history.steps.last() else {
            return Ok(());
        };
        let last = last(session).filter(|_| commits == Commits::Missing);
        let added = last.map_or(Ok(None), |last| making.after(&last));
        let commit = match added {
            Ok(Some(commit)) => commit,
            Ok(None) => making.all()?,
            // Its objects may be gone. If they are not, this says more than what follows from it.
            Err(why) => making.all().map_err(|_| why)?,
        };
        making.git.verify(&commit, self.repository.head.as_ref())?;
        if making.git.branch(&self.name).as_ref() != Some(&commit) {
            self.repository.refuse_checked_out(&self.name)?;
        }
        // Also a reference to the right commit by way of another branch is replaced.
        making.git.set_branch(&self.name, &commit)?;
        let last = Last {
            change: newest.change,
            commit,
        };
        write_last(session, &last).map_err(JudgeError::Branch)
    }
}

struct Making<'a> {
    session: &'a Session,
    repository: &'a Repository,
    config: SandboxConfig,
    history: History,
    git: Git,
}

impl Making<'_> {
    /// The branch with every commit.
    fn all(&self) -> Result<ObjectId, JudgeError> {
        let git = &self.git;
        let head = self.repository.head.as_ref();
        git.read_tree(head)?;
        let before = head.map(|_| git.write_tree()).transpose()?;
        self.stage_scanned()?;
        let tree = git.write_tree()?;
        let base = match (head, before) {
            (Some(head), Some(before)) if before == tree => head.clone(),
            _ => {
                let manifest = self.session.config().policy.session;
                let note = Note {
                    author: COMMITTER.to_owned(),
                    at: self.session.manifest().created,
                    message: format!("Tree as scanned\n\nComail-Session: {manifest}\n"),
                };
                git.commit(&tree, head, &note)?
            }
        };
        self.add(&self.history.steps, base)
    }

    /// The branch with the commits that follow the last one; `None` if that one is another session's.
    fn after(&self, last: &Last) -> Result<Option<ObjectId>, JudgeError> {
        let steps = &self.history.steps;
        let Some(made) = steps.iter().position(|step| step.change == last.change) else {
            return Ok(None);
        };
        self.git.read_tree(Some(&last.commit))?;
        self.add(&steps[made + 1..], last.commit.clone()).map(Some)
    }

    fn add(&self, steps: &[AcceptedStep], mut commit: ObjectId) -> Result<ObjectId, JudgeError> {
        for step in steps {
            let change = stored(self.session, step.change);
            let patch = change.ok_or(AcceptedError::Missing(step.change))?.patch;
            let mut files: BTreeMap<_, _> = patch.removed.iter().map(|it| (it, None)).collect();
            for (path, file) in &patch.files {
                let contents = file.bytes(path)?;
                files.insert(path, Some((git::mode(&file.entry(&contents)), contents)));
            }
            self.stage(files)?;
            let tree = self.git.write_tree()?;
            commit = self.git.commit(&tree, Some(&commit), &note(step))?;
        }
        Ok(commit)
    }

    /// Makes the index the frozen tree, if it is that of the commit that was checked out.
    fn stage_scanned(&self) -> Result<(), JudgeError> {
        let frozen = Snapshot::of(&self.config.baseline);
        let mut files = BTreeMap::new();
        for path in &self.repository.changed {
            files.insert(path, git::stored(&frozen, path, &*self.config.load)?);
        }
        self.stage(files)
    }

    fn stage(&self, files: BTreeMap<&TreePath, Option<Stored>>) -> Result<(), JudgeError> {
        let files = files.into_iter();
        let files = files.filter(|(path, _)| self.repository.can_hold(path));
        let files = files.map(|(path, file)| (self.repository.place(path), file));
        Ok(self.git.stage(&files.collect::<Vec<_>>())?)
    }
}

fn note(step: &AcceptedStep) -> Note {
    let (quest, (line, hash)) = (step.quest, step.event);
    let key = step.key.as_ref().map(Key::folded);
    let key = key.as_ref().map_or("", |key| key.as_str());
    let mut message = format!("Quest {quest}, {}: {}\n\n", step.state, Escaped(key));
    for (name, value) in [
        ("Quest", quest.to_string()),
        ("Attempt", step.attempt.to_string()),
        ("Ledger", format!("{line} {hash}")),
    ] {
        let _ = writeln!(message, "Comail-{name}: {value}");
    }
    let author = step.author.as_deref();
    // Git accepts no name of punctuation alone.
    let author = author.filter(|name| name.contains(char::is_alphanumeric));
    Note {
        author: author.unwrap_or("agent").to_owned(),
        at: step.at,
        message,
    }
}

/// The digits tell sessions apart that are made at the same place one after the other: the branch of
/// the earlier one may hold work that is not merged yet.
fn name(session: &Session) -> String {
    let dir = fs::canonicalize(session.dir()).unwrap_or_else(|_| session.dir().to_owned());
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let name = name.replace(|c: char| !c.is_alphanumeric() && c != '_', "-");
    let digest = session.config().policy.session.to_string();
    format!("comail/{}-{}", name.trim_matches('-'), &digest[..DIGITS])
}

const DIGITS: usize = 8;

fn last(session: &Session) -> Option<Last> {
    let text = fs::read(session.dir().join(LAST)).ok()?;
    serde_json::from_slice(&text).ok()
}

fn write_last(session: &Session, last: &Last) -> io::Result<()> {
    let path = session.dir().join(LAST);
    let written = write_whole(&path, Overwrite::ReplaceNoLink, &[], |file| {
        serde_json::to_writer(file, last).map_err(|error| Unwritten(error.into()))
    });
    written.map_err(|Unwritten(error)| error)
}

struct Unwritten(io::Error);

impl From<AtomicError> for Unwritten {
    fn from(error: AtomicError) -> Self {
        Self(io::Error::other(error))
    }
}
