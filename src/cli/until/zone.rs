//! What an agent may change under `comail until`.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::super::exit::{Hinted, UsageError};
use crate::world::tree::{Ignored, TreePath, Zones, read_gitignores};

/// One glob a line; `#` begins a comment.
const PROTECTED: &str = include_str!("protected.txt");

/// Where the agent may write.
#[derive(Debug)]
pub(super) struct Zone {
    /// For the `write` of a quest file: the last one that matches a file decides.
    pub(super) globs: Vec<String>,
    /// The files and folders at the top of the tree that the agent may change.
    work: Vec<String>,
    /// The files that the commands name.
    named: Vec<String>,
    may_edit: Vec<String>,
}

impl Zone {
    /// The zone of `tree`, as it is now. New names at its top are no part of it: many tools look for
    /// their settings and their programs there.
    pub(super) fn of(
        tree: &Path,
        session: &Path,
        commands: &[String],
        may_edit: &[String],
    ) -> Result<Self> {
        Zones::without_exceptions(may_edit)
            .map_err(|bad| UsageError(format!("--may-edit: {bad}")))?;
        let protected: Vec<String> = PROTECTED
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|glob| format!("!{glob}"))
            .collect();
        let named = named_files(tree, commands);
        let taken = named
            .iter()
            .map(|name| format!("!{}", globset::escape(name)));
        let mut globs = top(tree, session)?;
        globs.extend(protected);
        globs.extend(taken);
        globs.extend(may_edit.iter().cloned());
        let zones = Zones::new(&globs)?;
        let mut work = Vec::new();
        for glob in globs.iter().take_while(|glob| !glob.starts_with('!')) {
            // A file that no name below it could be is asked for a folder.
            let sample = glob.replace("/**", "/comail");
            if TreePath::parse(&sample).is_ok_and(|path| zones.contains(&path)) {
                work.push(glob.clone());
            }
        }
        if work.is_empty() && may_edit.is_empty() {
            return Err(Hinted {
                message: "every file in the tree is protected, so that the agent could not work; \
                          nothing was started"
                    .to_owned(),
                hint: "name what it may change, such as --may-edit 'src/**'".to_owned(),
            }
            .into());
        }
        globs
            .retain(|glob| glob.starts_with('!') || work.contains(glob) || may_edit.contains(glob));
        Ok(Self {
            globs,
            work,
            named,
            may_edit: may_edit.to_vec(),
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<&str> = self
            .work
            .iter()
            .chain(&self.may_edit)
            .map(String::as_str)
            .collect();
        write!(f, "The agent may change {}", all.join(", "))?;
        if !self.work.is_empty() {
            write!(
                f,
                ", except tests, hidden files, settings, lock files and build scripts"
            )?;
        }
        if !self.named.is_empty() {
            write!(
                f,
                ", and the files that commands name: {}",
                self.named.join(", ")
            )?;
        }
        Ok(())
    }
}

/// A glob for each file and folder at the top of the tree that is part of it.
fn top(tree: &Path, session: &Path) -> Result<Vec<String>> {
    let failed = || format!("the tree {}", tree.display());
    let ignored = Ignored::default().and_folder(session);
    let rules = read_gitignores(tree, &ignored).with_context(failed)?;
    let ignored = ignored.and_gitignores(&rules);
    let mut globs = Vec::new();
    for entry in fs::read_dir(tree).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let kind = entry.file_type().with_context(failed)?;
        let name = entry.file_name();
        let Some(path) = name.to_str().and_then(|name| TreePath::parse(name).ok()) else {
            continue;
        };
        let name = globset::escape(path.as_str());
        if kind.is_file() && ignored.rule_of_file(&path).is_none() {
            globs.push(name);
        } else if kind.is_dir() && ignored.rule_of_folder(&path).is_none() {
            globs.push(format!("{name}/**"));
        }
    }
    globs.sort_unstable();
    Ok(globs)
}

/// The files of the tree that commands name.
fn named_files(tree: &Path, commands: &[String]) -> Vec<String> {
    let part_of_path = |c: char| c.is_alphanumeric() || "_-+=./:,@%~".contains(c);
    let words = commands
        .iter()
        .flat_map(|command| command.split(|c| !part_of_path(c)));
    let paths = words.filter_map(|word| {
        let path = TreePath::parse(word.trim_start_matches("./")).ok()?;
        let found = fs::symlink_metadata(path.join_to(tree));
        found
            .is_ok_and(|found| found.is_file())
            .then(|| path.to_string())
    });
    let mut named: Vec<String> = paths.collect();
    named.sort_unstable();
    named.dedup();
    named
}
