//! `comail tree`: the accepted tree of a session with worktrees.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand};
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, refuse};
use super::output_file::refuse_in_session;
use crate::base::Digest;
use crate::base::files::{Overwrite, write_whole};
use crate::judge::{self, Branch, Commits};
use crate::quest::QuestId;
use crate::world::git::{self, Git};
use crate::world::sandbox::SandboxConfig;
use crate::world::tree::{AcceptedTree, BadPatch, NotApplied, Snapshot, TreePath};

/// Show the accepted tree, and write it somewhere
///
/// In a session with worktrees, the accepted tree is what `scan` froze with the files of every accepted
/// answer. Without a subcommand, the changed files are listed, with the quests that changed them.
#[derive(Debug, Args)]
pub struct TreeArgs {
    #[command(subcommand)]
    command: Option<TreeCommand>,

    /// Use the tree as it was after this event of the ledger, not as it is now
    ///
    /// `comail log` prints the numbers of the events; the first is 0.
    #[arg(long, value_name = "SEQ", global = true)]
    at: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum TreeCommand {
    /// Write the changed files to the working tree
    ///
    /// A file that has other contents there than when the session was made, or than an accepted answer
    /// gave it, is an error, and nothing is written.
    Apply,
    /// Copy the whole accepted tree to a directory
    Export {
        /// A new or an empty directory
        #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: PathBuf,
    },
    /// Write what changed since the scan as one patch
    ///
    /// `git apply` and `patch -p1` read it; binary files are only for `git apply`.
    Patch {
        /// A new file
        #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        file: PathBuf,

        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Make the git branch again that has a commit for each accepted answer
    ///
    /// If the tree was in a git repository when it was scanned, each accepted answer is a commit on a
    /// branch whose name begins with comail/. The ledger says what it has, so whatever it has now is
    /// replaced. Your index, your files and HEAD stay as they are.
    Branch,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum TreeReply {
    Listed {
        /// The digest of the tree's listing.
        tree: Digest,
        /// The last accepted change; none if nothing was accepted.
        head: Option<Digest>,
        files: Vec<ChangedFile>,
        /// The quests whose changes it has although they do not count as PASS now.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unproven_changes: Vec<QuestId>,
        /// The git branch with a commit for each accepted answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        branch: Option<BranchSeen>,
    },
    Applied {
        files: usize,
        dir: PathBuf,
    },
    Exported {
        files: usize,
        dir: PathBuf,
    },
    Patched {
        files: usize,
        file: PathBuf,
    },
    Branched {
        branch: String,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BranchSeen {
    name: String,
    /// Whether it has every accepted answer, and is where comail left it.
    current: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedFile {
    path: String,
    /// The quests that changed it.
    quests: BTreeSet<QuestId>,
    /// Whether it was removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
}

pub(super) fn run(context: &mut Context, args: &TreeArgs) -> Result<Exit> {
    let session = context.open_session()?;
    let (tree, config) = judge::accepted_of(&session, args.at)?;
    let unproven_changes = judge::unproven_changes(&session, args.at)?;
    if let Some(said) = judge::says_unproven(&unproven_changes) {
        context.output.note(&said);
    }
    let reply = match &args.command {
        None => {
            let files = tree.authors().iter().map(|(path, quests)| ChangedFile {
                path: path.to_string(),
                quests: quests.clone(),
                removed: tree.snapshot.listing.get(path).is_none(),
            });
            TreeReply::Listed {
                tree: tree.snapshot.digest(),
                head: tree.head,
                files: files.collect(),
                unproven_changes,
                branch: Branch::of(&session)?.map(|branch| BranchSeen {
                    current: !branch.is_behind(&session)
                        && branch.is_in_place(&session).unwrap_or(false),
                    name: branch.name,
                }),
            }
        }
        Some(TreeCommand::Apply) => {
            let patch = tree.patch(&*config.load)?;
            let Some(dir) = config.root else {
                return refuse("the session has no working tree");
            };
            let applied = patch.apply(&dir, &|path| tree.before(path), &config.ignored);
            let applied = applied.map_err(|why| match why {
                NotApplied::Bad(BadPatch::Taken(taken)) => anyhow!(
                    "{taken} in {} is neither as `scan` froze it nor as any accepted answer had it: \
                     move it away and run this again, or use `comail tree export DIR`; nothing was \
                     written",
                    dir.display()
                ),
                other => other.into(),
            });
            applied?.keep();
            let files = patch.paths().count();
            TreeReply::Applied { files, dir }
        }
        Some(TreeCommand::Export { dir }) => {
            make_empty(dir)?;
            tree.snapshot.write_to(dir, &*config.load)?;
            let files = tree.snapshot.listing.entries().len();
            TreeReply::Exported {
                files,
                dir: dir.clone(),
            }
        }
        Some(TreeCommand::Patch { file, force }) => {
            refuse_in_session(file, session.dir())?;
            let paths: Vec<_> = tree.authors().keys().collect();
            let text = patch(&tree, &paths, &config)?;
            let overwrite = if *force {
                Overwrite::Replace
            } else {
                Overwrite::Never
            };
            write_whole(file, overwrite, &[], |out| {
                out.write_all(&text)
                    .with_context(|| format!("cannot write {}", file.display()))
            })?;
            TreeReply::Patched {
                files: paths.len(),
                file: file.clone(),
            }
        }
        Some(TreeCommand::Branch) if args.at.is_some() => {
            return refuse("the branch has every accepted answer: leave out --at");
        }
        Some(TreeCommand::Branch) => {
            let Some(branch) = Branch::of(&session)? else {
                return refuse(match session.totals().accepted {
                    None => "nothing is accepted yet",
                    Some(_) => {
                        "there is no branch: at the scan, the tree was not in a git repository, or git \
                         ignored it; `comail tree patch FILE` writes a patch"
                    }
                });
            };
            branch.make(&session, Commits::All)?;
            TreeReply::Branched {
                branch: branch.name,
            }
        }
    };
    context.output.show(&reply, |out, reply| {
        out.template(include_str!("text/tree.txt"), context! { reply });
    })?;
    Ok(Exit::Done)
}

/// Makes a directory, which may be there already and have no files.
fn make_empty(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut entries =
        fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    if entries.next().is_some() {
        return refuse(format!(
            "{} has files: name a directory that is new or empty; nothing was written",
            dir.display()
        ));
    }
    Ok(())
}

/// The patch of these files as git prints it, because only git can write binary files and modes for `git apply`.
fn patch(tree: &AcceptedTree, paths: &[&TreePath], config: &SandboxConfig) -> Result<Vec<u8>> {
    let path = env::var_os("PATH").unwrap_or_default();
    let untrusted: Vec<_> = config.root.clone().into_iter().collect();
    let program = git::program(&path, &untrusted);
    let program = program.context("git makes the patch; `comail tree export DIR` needs no git")?;
    let git = Git::alone(program)?;
    let frozen = Snapshot::of(&config.baseline);
    let mut trees = Vec::new();
    for snapshot in [&frozen, &tree.snapshot] {
        let mut files = Vec::new();
        for path in paths {
            files.push((
                path.to_string(),
                git::stored(snapshot, path, &*config.load)?,
            ));
        }
        files.retain(|(_, file)| file.is_some());
        git.read_tree(None)?;
        git.stage(&files)?;
        trees.push(git.write_tree()?);
    }
    // In the index, git would find attributes that the work has.
    git.read_tree(None)?;
    Ok(git.diff(&trees[0], &trees[1])?)
}
