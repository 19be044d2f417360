//! Finding what a command started, where no namespace of processes holds it together.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nix::sys::prctl;
use nix::unistd::Pid;

/// Makes this process the parent of whatever its descendants leave behind, and one that others of
/// its user cannot look into.
pub(crate) fn adopt_orphans() -> nix::Result<()> {
    prctl::set_dumpable(false)?;
    prctl::set_child_subreaper(true)
}

/// Makes this process the parent of whatever its descendants leave behind.
pub(crate) fn adopt_strays() -> nix::Result<()> {
    prctl::set_child_subreaper(true)
}

/// What has fallen to this process, or was started by its first thread.
///
/// The kernel hands orphans to that thread; what the others start is theirs.
pub(crate) fn fallen() -> Vec<Pid> {
    let first = Pid::this();
    let list = fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
    let list = list.unwrap_or_default();
    let pids = list.split_ascii_whitespace();
    pids.filter_map(|pid| pid.parse().ok().map(Pid::from_raw))
        .collect()
}

/// All that descends from a process, by the kernel's list of processes.
pub(crate) fn descendants(first: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![first.as_raw()];
    while let Some(parent) = open.pop() {
        let next = children.remove(&parent).unwrap_or_default();
        found.extend(next.iter().copied().map(Pid::from_raw));
        open.extend(next);
    }
    found
}

/// Every process and its parent.
fn processes() -> Vec<(i32, i32)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let stat = |entry: PathBuf| {
        let pid = entry.file_name()?.to_str()?.parse().ok()?;
        let stat = fs::read(entry.join("stat")).ok()?;
        Some((pid, parent_in(&stat)?))
    };
    entries
        .filter_map(|entry| stat(entry.ok()?.path()))
        .collect()
}

/// The parent in a line of `/proc/PID/stat`, whose second field is a name with anything in it.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(&stat[name_ends + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parent_in;

    #[test]
    fn a_name_does_not_hide_the_parent() {
        assert_eq!(parent_in(b"12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(b"12 (a) S 1 (b) R 8 12"), Some(8));
        assert_eq!(parent_in(b"12 (\xff) S 9 12"), Some(9));
        assert_eq!(parent_in(b""), None);
    }
}
