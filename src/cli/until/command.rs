//! The commands of `comail until`, and how they are started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Result;
use nix::unistd::{AccessFlags, access};

use super::super::exit::{UsageError, refuse};
use crate::world::sandbox::Pinned;

/// The directories in which commands find programs: those outside the tree.
pub(super) struct SearchPath {
    path: OsString,
    pub(super) dropped: Vec<PathBuf>,
}

impl SearchPath {
    pub(super) fn outside(tree: &Path) -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let inside = |dir: &PathBuf| {
            let real = fs::canonicalize(dir);
            dir.starts_with(tree) || real.is_ok_and(|real| real.starts_with(tree))
        };
        let (dropped, kept): (Vec<_>, Vec<_>) = env::split_paths(&path)
            .filter(|dir| dir.is_absolute())
            .partition(inside);
        Self {
            // The parts of a path can be joined again.
            path: env::join_paths(kept).unwrap_or_default(),
            dropped,
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        match name {
            "PATH" => Some(self.path.clone()),
            name => env::var_os(name),
        }
    }
}

/// Whether a word can be a command by itself.
pub(super) fn is_program(word: &str, tree: &Path, path: &SearchPath) -> bool {
    if !word.chars().all(is_plain) || word.contains('=') {
        return true;
    }
    if word.contains('/') {
        let place = tree.join(word);
        return place.is_file() && access(&place, AccessFlags::X_OK).is_ok();
    }
    Pinned::find(word, &path.path, Path::new("/")).is_ok()
}

/// Whether a character means nothing to a shell.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || " _-+=./:,@%".contains(c)
}

/// Whether a command is a program of the PATH with plain arguments, which needs no shell.
pub(super) fn is_started_directly(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    command.chars().all(is_plain) && !program.contains(['/', '='])
}

/// The program and its arguments, as a quest file writes them.
pub(super) fn argv(command: &str, path: &SearchPath) -> Result<Vec<String>> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some(program) = words.first() else {
        return refuse("a command is empty: write it as one argument, such as 'cargo test'");
    };
    if !is_started_directly(command) {
        return Ok(vec!["sh".to_owned(), "-c".to_owned(), literal(command)?]);
    }
    if Pinned::find(program, &path.path, Path::new("/")).is_err() {
        return Err(UsageError(format!(
            "`{command}`: the program `{program}` is not in PATH; nothing was started"
        ))
        .hint(
            "check its name; the programs of the tree itself are not used, because the agent could \
             replace them",
        )
        .into());
    }
    Ok(words.into_iter().map(str::to_owned).collect())
}

/// A template that renders to the text, whatever is in it.
fn literal(text: &str) -> Result<String> {
    if text.contains('{') {
        return Ok(format!("{{{{ {} }}}}", serde_json::to_string(text)?));
    }
    Ok(text.to_owned())
}
