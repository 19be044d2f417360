//! A three-way merge of trees.

use std::collections::BTreeSet;
use std::fmt;

use diffy::{ConflictStyle, MergeOptions};

use super::listing::{Entry, TreeError, TreePath};
use super::patch::{PatchFile, TreePatch};
use super::snapshot::{Load, Snapshot};

/// Two changes of the same lines, or of a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: TreePath,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// The first conflicting line of the merged file, from 1.
    Line(usize),
    /// A side removed the file, is not text, or is too long.
    File,
    /// A file where the other side has a folder.
    Paths(String),
}

impl Conflict {
    pub(super) fn of_paths(path: TreePath, why: String) -> Self {
        let what = What::Paths(why);
        Self { path, what }
    }

    /// The first conflicting line of the merged file, from 1.
    pub fn line(&self) -> Option<usize> {
        match self.what {
            What::Line(first) => Some(first),
            What::File | What::Paths(_) => None,
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.what {
            What::Line(first) => write!(f, "{path}:{first}"),
            What::File => write!(f, "{path} as a whole"),
            What::Paths(why) => write!(f, "{why}"),
        }
    }
}

/// What turns `theirs` into a tree that also has the changes from `base` to `ours`.
pub(super) fn merge(
    base: &Snapshot,
    ours: &Snapshot,
    theirs: &Snapshot,
    load: &Load<'_>,
) -> Result<Result<TreePatch, Vec<Conflict>>, TreeError> {
    let mut patch = TreePatch::empty(theirs.digest());
    let mut conflicts = Vec::new();
    for path in changed(base, ours) {
        let [was, new, now] = [base, ours, theirs].map(|tree| tree.listing.get(path));
        if new == now {
            continue;
        }
        let file = if was == now {
            file_of(ours, path, load)?
        } else {
            match merge_file(path, [base, ours, theirs], load)? {
                Ok(Some(file)) => Some(file),
                Ok(None) => continue,
                Err(what) => {
                    conflicts.push(Conflict {
                        path: path.clone(),
                        what,
                    });
                    continue;
                }
            }
        };
        match file {
            Some(file) => drop(patch.files.insert(path.clone(), file)),
            None => drop(patch.removed.insert(path.clone())),
        }
    }
    Ok(if conflicts.is_empty() {
        Ok(patch)
    } else {
        Err(conflicts)
    })
}

fn changed<'a>(base: &'a Snapshot, ours: &'a Snapshot) -> BTreeSet<&'a TreePath> {
    let (base, ours) = (&base.listing, &ours.listing);
    let paths = base.entries().keys().chain(ours.entries().keys());
    paths
        .filter(|path| base.get(path) != ours.get(path))
        .collect()
}

pub(super) fn file_of(
    tree: &Snapshot,
    path: &TreePath,
    load: &Load<'_>,
) -> Result<Option<PatchFile>, TreeError> {
    let contents = tree.read(path, load)?;
    let is_executable = is_executable(tree.listing.get(path));
    Ok(contents.map(|contents| PatchFile::of(contents.to_vec(), is_executable)))
}

fn is_executable(entry: Option<&Entry>) -> bool {
    matches!(
        entry,
        Some(Entry::File {
            executable: true,
            ..
        })
    )
}

/// Merges a file that both sides changed; `None` if theirs has all of our changes already.
fn merge_file(
    path: &TreePath,
    trees: [&Snapshot; 3],
    load: &Load<'_>,
) -> Result<Result<Option<PatchFile>, What>, TreeError> {
    let mut texts = Vec::new();
    for tree in trees {
        let contents = tree.read(path, load)?;
        let text = contents.and_then(|contents| String::from_utf8(contents.to_vec()).ok());
        texts.extend(text);
    }
    let [was, new, now] = texts.as_slice() else {
        return Ok(Err(What::File));
    };
    if texts.iter().any(|text| text.lines().count() > MAX_LINES) {
        return Ok(Err(What::File));
    }
    let [base, ours, theirs] = trees.map(|tree| is_executable(tree.listing.get(path)));
    let executable = if ours == base { theirs } else { ours };
    let mut options = MergeOptions::new();
    options.set_conflict_style(ConflictStyle::Merge);
    Ok(match options.merge(was, new, now) {
        Ok(text) if text == *now && executable == theirs => Ok(None),
        Ok(text) => Ok(Some(PatchFile::of(text.into_bytes(), executable))),
        Err(marked) => {
            let before = marked.lines();
            let before = before.take_while(|line| !line.starts_with("<<<<<<<"));
            Err(What::Line(before.count() + 1))
        }
    })
}

/// The most lines of a file that is merged: more take too long if all of them differ.
const MAX_LINES: usize = 10_000;
