//! What the confined child is sent: a [`Setting`] and then [`Instructions`], in two frames,
//! since two processes read one each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::confinement::Namespace;
use super::order::Network;

/// What must be known before anything else is done.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setting {
    /// The namespaces to enter where the kernel lets us.
    pub namespaces: BTreeSet<Namespace>,
    /// Directories that are to look empty.
    pub hidden: Vec<PathBuf>,
    /// Directories that must not be hidden.
    pub visible: Vec<PathBuf>,
    /// The scratch copy.
    pub scratch: PathBuf,
}

/// What was entered of what was wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Entered {
    /// The namespaces.
    pub namespaces: BTreeSet<Namespace>,
    /// Where the command sees its scratch copy, if elsewhere.
    pub moved: Option<Moved>,
    /// Whether all but its own places is mounted read-only.
    pub read_only: bool,
}

/// A directory that a command sees at another place than others do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Moved {
    /// Where others see it.
    pub from: PathBuf,
    /// Where the command does.
    pub to: PathBuf,
}

impl Moved {
    /// Where the command sees what others see at `path`.
    pub fn seen(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.from) {
            // An empty rest would leave a slash at the end.
            Ok(rest) if rest.as_os_str().is_empty() => self.to.clone(),
            Ok(rest) => self.to.join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// What is to be run, and what it may do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Instructions {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    pub dir: PathBuf,
    /// What it reads.
    pub stdin: String,
    /// What it may write.
    pub writable: Vec<PathBuf>,
    /// What it may reach.
    pub network: Network,
    /// Whether Landlock may be used.
    pub landlock: bool,
    /// How long a file may become.
    pub file_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_is_seen_elsewhere() {
        let moved = Moved {
            from: PathBuf::from("/tmp/a"),
            to: PathBuf::from("/srv/tree"),
        };
        for (path, seen) in [
            ("/tmp/a", "/srv/tree"),
            ("/tmp/a/b", "/srv/tree/b"),
            ("/tmp/ab", "/tmp/ab"),
        ] {
            assert_eq!(moved.seen(Path::new(path)).as_os_str(), seen);
        }
    }
}
