//! `comail tree`: the accepted tree of a session with worktrees.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand};
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, refuse};
use crate::base::Digest;
use crate::judge;
use crate::quest::QuestId;
use crate::world::tree::{BadPatch, NotApplied};

/// Show the accepted tree, and write it somewhere
///
/// In a session with worktrees, the accepted tree is what `scan` froze with the files of every accepted
/// answer. Without a subcommand, the changed files are listed, with the quests that changed them.
#[derive(Debug, Args)]
pub struct TreeArgs {
    #[command(subcommand)]
    command: Option<TreeCommand>,
}

#[derive(Debug, Subcommand)]
enum TreeCommand {
    /// Write the changed files to the working tree
    ///
    /// A file that has other contents there than when the session was made is an error, and nothing is
    /// written.
    Apply,
    /// Copy the whole accepted tree to a directory
    Export {
        /// A new or an empty directory
        #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: PathBuf,
    },
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
    },
    Applied {
        files: usize,
        dir: PathBuf,
    },
    Exported {
        files: usize,
        dir: PathBuf,
    },
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
    let (tree, config) = judge::accepted_of(&session)?;
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
            }
        }
        Some(TreeCommand::Apply) => {
            let patch = tree.patch(&config.baseline, &*config.load)?;
            let Some(dir) = config.root else {
                return refuse("the session has no working tree");
            };
            let applied = patch.apply(&dir, &config.baseline, &config.ignored);
            let applied = applied.map_err(|why| match why {
                NotApplied::Bad(BadPatch::Taken(taken)) => anyhow!(
                    "{taken} in {} is neither as `scan` froze it nor as the accepted tree has it: \
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
            fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
            let mut entries =
                fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
            if entries.next().is_some() {
                return refuse(format!(
                    "{} has files: name a directory that is new or empty; nothing was written",
                    dir.display()
                ));
            }
            tree.snapshot.write_to(dir, &*config.load)?;
            let files = tree.snapshot.listing.entries().len();
            TreeReply::Exported {
                files,
                dir: dir.clone(),
            }
        }
    };
    context.output.show(&reply, |out, reply| {
        out.template(include_str!("text/tree.txt"), context! { reply });
    })?;
    Ok(Exit::Done)
}
