//! What a repository keeps, each object held against git's name for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};

use sha1::{Digest as _, Sha1};

use super::error::TreeError;
use super::git::GitError;
use super::git_command::{Running, command};
use super::path::TreePath;
use crate::base::Digest;

const DOING: &str = "read the repository's objects";

/// The bytes that a line about an object may have.
const LINE_BYTES: u64 = 256;

const BLOB: &str = "blob";
const COMMIT: &str = "commit";

/// A `git cat-file --batch` under way.
pub(super) struct Objects {
    ask: ChildStdin,
    said: BufReader<ChildStdout>,
    _running: Running,
}

/// What git says of an object before its contents.
enum Announced {
    /// Contents of so many bytes come.
    Bytes(u64),
    /// What it says in their place.
    Refusal(String),
}

impl Objects {
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
    pub(super) fn file(
        &mut self,
        path: &TreePath,
        id: &str,
        admit: &mut dyn FnMut(u64) -> Result<(), TreeError>,
    ) -> Result<Vec<u8>, TreeError> {
        let bytes = match self.ask(BLOB, id)? {
            Announced::Bytes(bytes) => bytes,
            Announced::Refusal(said) => return Err(refused(said).into()),
        };
        admit(bytes)?;
        let contents = self.contents(bytes)?;
        if names(BLOB, id, &contents) {
            return Ok(contents);
        }
        Err(TreeError::Git(GitError::Altered {
            path: path.clone(),
            id: id.to_owned(),
        }))
    }

    /// A commit as git stores it, of at most `limit` bytes; none where the repository lacks it.
    pub(super) fn commit(&mut self, id: &str, limit: u64) -> Result<Option<Vec<u8>>, GitError> {
        let bytes = match self.ask(COMMIT, id)? {
            Announced::Bytes(bytes) => bytes,
            Announced::Refusal(said) if said == format!("{id} missing") => return Ok(None),
            Announced::Refusal(said) => return Err(refused(said)),
        };
        if bytes > limit {
            let said = format!("the commit {id} has {bytes} bytes, more than {limit}");
            return Err(refused(said));
        }
        let contents = self.contents(bytes)?;
        if names(COMMIT, id, &contents) {
            return Ok(Some(contents));
        }
        Err(GitError::AlteredCommit { id: id.to_owned() })
    }

    /// Asks for an object of a kind.
    fn ask(&mut self, kind: &str, id: &str) -> Result<Announced, GitError> {
        writeln!(self.ask, "{id}").map_err(GitError::run(DOING))?;
        let mut line = Vec::new();
        let read = (&mut self.said)
            .take(LINE_BYTES)
            .read_until(b'\n', &mut line);
        read.map_err(GitError::run(DOING))?;
        let line = String::from_utf8_lossy(&line);
        let mut words = line.trim_end().split(' ');
        let known = words.next() == Some(id) && words.next() == Some(kind);
        let bytes = words.next().and_then(|length| length.parse().ok());
        let refusal = || Announced::Refusal(line.trim_end().to_owned());
        Ok(bytes
            .filter(|_| known)
            .map_or_else(refusal, Announced::Bytes))
    }

    /// The contents that come next.
    fn contents(&mut self, bytes: u64) -> Result<Vec<u8>, GitError> {
        let mut contents = Vec::new();
        let read = (&mut self.said).take(bytes).read_to_end(&mut contents);
        read.map_err(GitError::run(DOING))?;
        let mut end = [0];
        self.said
            .read_exact(&mut end)
            .map_err(GitError::run(DOING))?;
        Ok(contents)
    }
}

fn refused(said: String) -> GitError {
    GitError::Refused { doing: DOING, said }
}

/// Whether `id` is git's name for an object: the digest of its contents after a head.
fn names(kind: &str, id: &str, contents: &[u8]) -> bool {
    let head = format!("{kind} {}\0", contents.len());
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
        assert!(names(BLOB, sha1, b"") && names(BLOB, sha256, b""));
        assert!(!names(BLOB, sha1, b"x") && !names(BLOB, sha256, b"x"));
        assert!(!names(BLOB, "", b"") && !names(COMMIT, sha1, b""));
    }
}
