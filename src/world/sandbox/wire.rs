//! What the confined child is sent: a [`Setting`] and then [`Instructions`], in two frames,
//! since two processes read one each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::order::{Means, Namespace, Network, Order};

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

/// No file that a command writes becomes longer, unless its output may.
const FILE_BYTES: u64 = 1 << 30;

/// A directory for temporary files where the scratch copy is, but not in it: a command that lists
/// its tree is not to find it.
pub(super) fn beside(scratch: &Path) -> io::Result<TempDir> {
    let parent = scratch.parent().unwrap_or(scratch);
    temporary(parent)
}

/// A directory for temporary files in this one.
pub(super) fn temporary(dir: &Path) -> io::Result<TempDir> {
    let dir = fs::canonicalize(dir)?;
    tempfile::Builder::new().prefix("tmp-").tempdir_in(dir)
}

/// What is to be run and what it may do, if that is an order that can be carried out.
pub(super) fn instructions(
    means: Means,
    order: &Order,
    scratch: &Path,
    temporary: &Path,
) -> io::Result<Instructions> {
    let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !order.argv.first().is_some_and(|path| path.starts_with('/')) {
        return refuse("the program is not named by an absolute path");
    }
    if !is_beneath(&order.dir) {
        return refuse("the working directory is not in the scratch copy");
    }
    let dir = fs::canonicalize(scratch.join(&order.dir))?;
    if !dir.starts_with(scratch) {
        return refuse("the working directory is not in the scratch copy");
    }
    let mut writable = vec![scratch.to_owned(), temporary.to_owned()];
    for path in &order.writable {
        if !path.starts_with('/') {
            return refuse("a place that may be written is not named by an absolute path");
        }
        // What is not there cannot be written, and is no reason not to run.
        writable.extend(fs::canonicalize(path));
    }
    let mut env = order.env.clone();
    if !env.contains_key("TMPDIR") {
        let temporary = temporary.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        env.insert("TMPDIR".to_owned(), temporary.to_owned());
    }
    Ok(Instructions {
        argv: order.argv.clone(),
        env,
        dir,
        stdin: order.stdin.clone(),
        writable,
        network: order.network.clone(),
        landlock: means.landlock,
        file_bytes: FILE_BYTES.max(order.output_bytes),
    })
}

/// What must be known before the command's own instructions.
pub(super) fn setting(
    means: Means,
    hidden: &[PathBuf],
    order: &Order,
    scratch: &Path,
    instructions: &Instructions,
) -> Setting {
    use Namespace::{Ipc, Mount, Net, Pid, User};

    let namespaces = match (&order.network, means.namespaces) {
        (_, false) => vec![],
        (Network::None, true) => vec![Pid, Net, Ipc, Mount, User],
        (Network::Loopback { .. } | Network::Any, true) => vec![Pid, Ipc, Mount, User],
    };
    Setting {
        namespaces: namespaces.into_iter().collect(),
        hidden: hidden
            .iter()
            .filter_map(|path| fs::canonicalize(path).ok())
            .collect(),
        visible: instructions.writable.clone(),
        scratch: scratch.to_owned(),
    }
}

/// Whether a relative path leads nowhere but down.
pub(super) fn is_beneath(path: &str) -> bool {
    let down = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    Path::new(path).components().all(down)
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
