//! What a confined child is sent for an order.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use super::confinement::{Means, Namespace};
use super::order::{Network, Order};
use super::wire::{Instructions, Setting};

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
