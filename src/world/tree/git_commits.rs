//! The commits that a repository has behind one of them, with their messages.
//!
//! Each is read whole and held against git's name for it, and names its parents itself: so no
//! list of the repository's, which whoever works in the tree can write, adds one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use encoding_rs::{Encoding, UTF_8};
use serde::{Deserialize, Serialize};

use super::error::TreeError;
use super::git::{GitError, resolve};
use super::git_objects::Objects;
use crate::base::Digest;

/// The most bytes of what is kept of all commits: what is unpacked again has a bound.
const MOST_BYTES: usize = 48 << 20;

/// The bytes that a commit may have.
const COMMIT_BYTES: u64 = 16 << 20;

/// Commits by their full names, each with its message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commits(BTreeMap<String, String>);

/// What of some commits a name names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named<'a> {
    /// One.
    One {
        /// Its full name.
        id: &'a str,
        /// What it says.
        message: &'a str,
    },
    /// None.
    None,
    /// Several begin so.
    Several,
}

impl Commits {
    /// The commits from `commit` back, those nearest to it first until there are too many; none
    /// where there is no repository, or no such commit in it.
    pub fn take(git: &Path, root: &Path, commit: &str) -> Result<Option<Self>, TreeError> {
        let first = match resolve(git, root, commit) {
            Ok(first) => first,
            Err(GitError::Refused { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut objects = Objects::open(git, root)?;
        let mut commits = BTreeMap::new();
        let mut bytes = 0;
        let mut known = BTreeSet::from([first.clone()]);
        let mut ahead = VecDeque::from([first]);
        while let Some(id) = ahead.pop_front() {
            // The history of a shallow clone ends before its beginning.
            let Some(text) = objects.commit(&id, COMMIT_BYTES)? else {
                continue;
            };
            let commit = Commit::parse(&text);
            bytes += bytes_kept(&id, &commit.message);
            if bytes > MOST_BYTES {
                break;
            }
            let new = commit.parents.into_iter();
            ahead.extend(new.filter(|parent| known.insert(parent.clone())));
            commits.insert(id, commit.message);
        }
        Ok(Some(Self(commits)))
    }

    /// The commit whose name begins so, in digits of base 16.
    #[must_use]
    pub fn named(&self, start: &str) -> Named<'_> {
        let start = start.to_ascii_lowercase();
        let from = self.0.range(start.clone()..);
        let mut found = from.take_while(|(id, _)| id.starts_with(&start));
        match (found.next(), found.next()) {
            (Some((id, message)), None) => Named::One { id, message },
            (Some(_), Some(_)) => Named::Several,
            (None, _) => Named::None,
        }
    }

    /// The form in which they are kept.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// The commits of that form, where its digest is this.
    #[must_use]
    pub fn of_bytes(bytes: &[u8], sha256: Digest) -> Option<Self> {
        let read = || serde_json::from_slice(bytes).ok();
        (Digest::of(bytes) == sha256).then(read).flatten()
    }
}

/// The bytes that a commit has in the form in which commits are kept.
fn bytes_kept(id: &str, message: &str) -> usize {
    let escaped = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c.is_control() => 6,
        c => c.len_utf8(),
    };
    id.len() + "\"\":\"\",".len() + message.chars().map(escaped).sum::<usize>()
}

/// What a commit says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Commit {
    parents: Vec<String>,
    message: String,
}

impl Commit {
    /// Reads the lines of its head up to a blank one, and the message after it.
    fn parse(text: &[u8]) -> Self {
        let end = text.windows(2).position(|pair| pair == b"\n\n");
        let (head, message) = match end {
            Some(end) => (&text[..end], &text[end + 2..]),
            None => (text, &b""[..]),
        };
        let mut parents = Vec::new();
        let mut encoding = UTF_8;
        for line in head.split(|byte| *byte == b'\n') {
            if let Some(parent) = line.strip_prefix(b"parent ") {
                parents.push(String::from_utf8_lossy(parent).into_owned());
            } else if let Some(label) = line.strip_prefix(b"encoding ") {
                encoding = Encoding::for_label(label).unwrap_or(UTF_8);
            }
        }
        let (message, _) = encoding.decode_without_bom_handling(message);
        Self {
            parents,
            message: message.into_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
