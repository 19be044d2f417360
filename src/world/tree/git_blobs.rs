//! The contents of a commit's files, each held against git's name for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};

use sha1::{Digest as _, Sha1};

use super::error::TreeError;
use super::git::GitError;
use super::git_command::{Running, command};
use super::path::TreePath;
use crate::quest::Digest;

const DOING: &str = "read the commit's files";

/// The bytes that a line about an object may have.
const LINE_BYTES: u64 = 256;

/// A `git cat-file --batch` under way.
pub(super) struct Blobs {
    ask: ChildStdin,
    said: BufReader<ChildStdout>,
    _running: Running,
}

impl Blobs {
    pub(super) fn open(git: &Path, root: &Path) -> Result<Self, GitError> {
        let mut asked = command(git, root);
        asked.args(["cat-file", "--batch"]);
        let mut running = Running::start(asked, Stdio::piped(), DOING)?;
        Ok(Self {
            ask: running.stdin(DOING)?,
            said: BufReader::new(running.stdout(DOING)?),
            _running: running,
        })
    }

    /// A file's contents, once `admit` let their length in.
    pub(super) fn read(
        &mut self,
        path: &TreePath,
        id: &str,
        admit: &mut dyn FnMut(u64) -> Result<(), TreeError>,
    ) -> Result<Vec<u8>, TreeError> {
        let bytes = self.length_of(id)?;
        admit(bytes)?;
        let mut contents = Vec::new();
        let read = (&mut self.said).take(bytes).read_to_end(&mut contents);
        read.map_err(GitError::run(DOING))?;
        let mut end = [0];
        self.said
            .read_exact(&mut end)
            .map_err(GitError::run(DOING))?;
        if names(id, &contents) {
            return Ok(contents);
        }
        Err(TreeError::Git(GitError::Altered {
            path: path.clone(),
            id: id.to_owned(),
        }))
    }

    /// Asks for an object, whose contents come next.
    fn length_of(&mut self, id: &str) -> Result<u64, GitError> {
        writeln!(self.ask, "{id}").map_err(GitError::run(DOING))?;
        let mut line = Vec::new();
        let read = (&mut self.said)
            .take(LINE_BYTES)
            .read_until(b'\n', &mut line);
        read.map_err(GitError::run(DOING))?;
        let line = String::from_utf8_lossy(&line);
        let length = line
            .trim_end()
            .strip_prefix(id)
            .and_then(|rest| rest.strip_prefix(" blob "))
            .and_then(|length| length.parse().ok());
        length.ok_or_else(|| GitError::Refused {
            doing: DOING,
            said: line.trim_end().to_owned(),
        })
    }
}

/// Whether `id` is git's name for a file with these contents: the digest of them after a head.
fn names(id: &str, contents: &[u8]) -> bool {
    let head = format!("blob {}\0", contents.len());
    let digest = match id.len() {
        40 => hex::encode(
            Sha1::new()
                .chain_update(&head)
                .chain_update(contents)
                .finalize(),
        ),
        _ => Digest::of_parts([head.as_bytes(), contents]).to_string(),
    };
    digest == id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contents_as_git_does() {
        // What `git hash-object` says of no bytes, by SHA-1 and by SHA-256.
        let sha1 = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        let sha256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        assert!(names(sha1, b"") && names(sha256, b""));
        assert!(!names(sha1, b"x") && !names(sha256, b"x") && !names("", b""));
    }
}
