//! Unified diffs: what a patch does to which file, told before anything is changed.
//!
//! A patch is read more strictly than other tools do: every hunk in it counts or all is refused,
//! each applies at the very line that it names, and a rename, a copy, a binary file, a link and a
//! change of mode are refused.

mod apply;
mod path;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use diffy::Line;
use diffy::patch_set::{FileMode, FileOperation, FilePatch as Parsed, ParseOptions, PatchSet};

pub use self::apply::Rejected;
use super::unread::Unread;

const FORMAT: &str = "patch";

/// A patch of one or more files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// What happens to each file; no file comes twice.
    pub files: Vec<FilePatch>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file: relative, without `..`.
    pub path: String,
    /// Whether the file comes, changes or goes.
    pub change: Change,
    hunks: Vec<Hunk>,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Create,
    /// It has other lines.
    Modify,
    /// It is gone.
    Delete,
}

/// Neighbouring lines that change, and their surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    /// How many lines of the old file come before it.
    before: usize,
    lines: Vec<Step>,
}

/// One line of a hunk, with what ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Keep(String),
    Drop(String),
    Add(String),
}

impl Patch {
    /// Reads a patch, as `git diff` or `diff -u` write it.
    pub fn read(text: &str) -> Result<Self, Unread> {
        let heads = |prefix: &str| {
            text.split('\n')
                .filter(|line| line.starts_with(prefix))
                .count()
        };
        let options = if heads("diff --git ") > 0 {
            ParseOptions::gitdiff()
        } else if heads("--- ") + heads("+++ ") > 0 {
            ParseOptions::unidiff()
        } else {
            return Err(Unread::Nothing { format: FORMAT });
        };
        let mut files = Vec::new();
        let mut paths = BTreeSet::new();
        for parsed in PatchSet::parse(text, options) {
            let file = FilePatch::read(&parsed.map_err(|why| damaged(&why))?)?;
            if !paths.insert(file.path.clone()) {
                return Err(damaged(&format!("{} comes twice in it", file.path)));
            }
            files.push(file);
        }
        let hunks: usize = files.iter().map(|file| file.hunks.len()).sum();
        if hunks != heads("@@ ") {
            return Err(damaged("it has hunks that belong to no file"));
        }
        Ok(Self { files })
    }
}

fn damaged(why: &(impl ToString + ?Sized)) -> Unread {
    Unread::damaged(FORMAT, why)
}

impl FilePatch {
    fn read(parsed: &Parsed<'_, str>) -> Result<Self, Unread> {
        let (path, change) = target(parsed.operation())?;
        let path = path::checked(path).map_err(|why| damaged(&why))?;
        let refused = |why: &str| damaged(&format!("{path}: {why}"));
        if change != Change::Delete {
            match (parsed.old_mode(), parsed.new_mode()) {
                (None, None | Some(FileMode::Regular)) => {}
                (_, Some(FileMode::Symlink)) => return Err(refused("links are not taken")),
                _ => return Err(refused("a file's mode is not changed")),
            }
        }
        let text = parsed.patch().as_text();
        let text = text.ok_or_else(|| refused("binary files are not taken"))?;
        let hunks: Result<Vec<Hunk>, Unread> = text.hunks().iter().map(Hunk::read).collect();
        let hunks = hunks?;
        if change == Change::Modify && hunks.is_empty() {
            return Err(refused("it changes nothing"));
        }
        Ok(Self {
            path: path.to_owned(),
            change,
            hunks,
        })
    }
}

/// The file that an operation is about, without the `a/` and `b/` that git writes before it.
fn target<'a>(operation: &'a FileOperation<'_, str>) -> Result<(&'a str, Change), Unread> {
    let without = |path: &'a str, prefix| path.strip_prefix(prefix).unwrap_or(path);
    match operation {
        FileOperation::Create(path) => Ok((without(path, "b/"), Change::Create)),
        FileOperation::Delete(path) => Ok((without(path, "a/"), Change::Delete)),
        FileOperation::Modify { original, modified } if original == modified => {
            Ok((original, Change::Modify))
        }
        FileOperation::Modify { original, modified } => {
            let path = without(original, "a/");
            if path != without(modified, "b/") {
                return Err(damaged(&format!(
                    "{original} becomes {modified}: files are not renamed"
                )));
            }
            Ok((path, Change::Modify))
        }
        FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => Err(damaged(
            &format!("{from} becomes {to}: files are not renamed or copied"),
        )),
    }
}

impl Hunk {
    fn read(parsed: &diffy::Hunk<'_, str>) -> Result<Self, Unread> {
        let old = parsed.old_range();
        // A hunk without old lines names the line that it comes after.
        let before = if old.is_empty() {
            Some(old.start())
        } else {
            old.start().checked_sub(1)
        };
        let before = before.ok_or_else(|| damaged("a hunk begins at line 0"))?;
        let lines = parsed.lines().iter().map(|line| match line {
            Line::Context(text) => Step::Keep((*text).to_owned()),
            Line::Delete(text) => Step::Drop((*text).to_owned()),
            Line::Insert(text) => Step::Add((*text).to_owned()),
        });
        Ok(Self {
            before,
            lines: lines.collect(),
        })
    }
}
