//! A file's place inside a tree.
//!
//! Each file has exactly one spelling. Nothing is normalised, so that two different paths are never
//! the same file, and a zone that contains a path contains the file. A name that cannot be spelled
//! this way (not UTF-8, a newline) is not part of a tree; see [`Oddity`](super::Oddity).

use std::borrow::Borrow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

// With the root in front of it, a path of this length can still be opened.
const MAX_PATH_BYTES: usize = 1024;

// Each folder on the way costs an open handle during a walk.
const MAX_DEPTH: usize = 128;

/// A relative path inside a tree: `/` between names, none of them empty, `.`, `..` or `.git`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TreePath(Box<str>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a path inside the tree: {flaw}")]
pub struct BadTreePath {
    text: String,
    flaw: String,
}

impl TreePath {
    pub fn parse(text: &str) -> Result<Self, BadTreePath> {
        match flaw_of(text) {
            None => Ok(Self(text.into())),
            Some(flaw) => Err(BadTreePath {
                text: text.chars().take(MAX_PATH_BYTES).collect(),
                flaw,
            }),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn join_to(&self, root: &Path) -> PathBuf {
        let mut path = root.to_owned();
        path.extend(self.names());
        path
    }

    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    pub fn parent(&self) -> Option<Self> {
        let (folder, _) = self.0.rsplit_once('/')?;
        Some(Self(folder.into()))
    }

    pub fn folders(&self) -> impl Iterator<Item = Self> + use<> {
        std::iter::successors(self.parent(), Self::parent)
    }
}

fn flaw_of(text: &str) -> Option<String> {
    let mut names = text.split('/');
    let flaw = if text.len() > MAX_PATH_BYTES {
        format!("it is longer than {MAX_PATH_BYTES} bytes")
    } else if text.chars().any(char::is_control) {
        "it has a control character; rename the file".to_owned()
    } else if text.starts_with(['/', '\\']) {
        "it begins with `/`; write it relative to the tree's root".to_owned()
    } else if text.contains('\\') || names.any(|name| matches!(name, "" | "." | "..")) {
        respelled(text)
    } else if text
        .split('/')
        .any(|name| name.eq_ignore_ascii_case(".git"))
    {
        // Where file names are compared without case, this is git's own folder too.
        "`.git` is never part of a tree".to_owned()
    } else if text.split('/').count() > MAX_DEPTH {
        format!("it is deeper than {MAX_DEPTH} names")
    } else {
        return None;
    };
    Some(flaw)
}

fn respelled(text: &str) -> String {
    let names = text.split(['/', '\\']);
    let names: Vec<_> = names.filter(|name| !matches!(*name, "" | ".")).collect();
    if names.contains(&"..") {
        "`..` is not understood; write the path from the tree's root".to_owned()
    } else if names.is_empty() {
        "it is empty; name a file".to_owned()
    } else {
        format!("write {:?}", names.join("/"))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for TreePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TreePath {
    type Error = BadTreePath;

    fn try_from(text: String) -> Result<Self, BadTreePath> {
        Self::parse(&text)
    }
}

impl From<TreePath> for String {
    fn from(path: TreePath) -> Self {
        path.0.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        TreePath::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn says_what_to_write() {
        for text in ["./a/b", "a//b", "a/b/", "a/./b", r"a\b"] {
            assert!(said(text).ends_with(r#"write "a/b""#), "{}", said(text));
        }
        assert!(said("").contains("empty"));
        assert!(said(".").contains("empty"));
        assert!(said("/etc/passwd").contains("relative to the tree's root"));
        assert!(said("a/../../b").contains("from the tree's root"));
        assert!(said(r"..\b").contains("from the tree's root"));
        assert!(said(&format!("{}b", "a/".repeat(128))).contains("deeper"));
        assert!(said(&"a".repeat(1025)).contains("longer"));
    }

    #[test]
    fn git_and_control_characters_are_no_part_of_a_tree() {
        for text in [".git", ".git/config", "sub/.git/hooks/x", "a/.GIT"] {
            assert!(said(text).contains("`.git` is never"), "{text}");
        }
        for text in ["a\nb", "a\0b", "a\u{7f}", "\u{85}"] {
            assert!(said(text).contains("control character"), "{text:?}");
        }
        for text in [".gitignore", "a.git", "..a", "a b", "é/ü", "-rf", "..."] {
            assert_eq!(TreePath::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn knows_its_folders() {
        let path = TreePath::parse("a/b/c").unwrap();
        let folders: Vec<_> = path.folders().map(String::from).collect();
        assert_eq!(folders, ["a/b", "a"]);
        assert_eq!(path.join_to(Path::new("/r")), Path::new("/r/a/b/c"));
    }

    proptest! {
        #[test]
        fn what_is_taken_stays_inside_and_is_written_back(text in r"([a.]{0,2}|\.git|\PC|[\\\n])(/([a.]{0,2}|\PC))*") {
            if let Ok(path) = TreePath::parse(&text) {
                prop_assert_eq!(path.as_str(), &text);
                let joined = path.join_to(Path::new("/tree"));
                prop_assert!(joined.components().skip(2).all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert_eq!(joined.to_str().unwrap(), format!("/tree/{text}"));
                let json = serde_json::to_string(&path).unwrap();
                prop_assert_eq!(serde_json::from_str::<TreePath>(&json).unwrap(), path);
            }
        }

        #[test]
        fn whatever_is_asked_is_answered(text in any::<String>()) {
            let _ = TreePath::parse(&text).map_err(|error| error.to_string());
        }
    }
}
