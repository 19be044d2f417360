//! Confinement by Linux: namespaces, Landlock, and finding what a command started.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, NetPort,
    PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, Scope, path_beneath_rules,
};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getgid, getuid};

use super::confinement::Namespace;
use super::order::Network;
use super::wire::{Instructions, Setting};

/// The newest interface whose rights are known here; an older kernel heeds those that it knows.
const KNOWN: ABI = ABI::V9;

/// Devices that do no more than programs expect of them.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
];

/// Enters as many of the wanted namespaces as the kernel lets us, and tells which.
///
/// With [`Namespace::Pid`] the next child is the first process of a namespace of its own. To be
/// called while the process has one thread.
pub(super) fn enter(setting: &Setting) -> std::io::Result<BTreeSet<Namespace>> {
    let entered = enter_most(&setting.namespaces)?;
    if entered.contains(&Namespace::Mount) {
        mount_over(setting);
    }
    Ok(entered)
}

/// A kernel may refuse all, or those of the network, or, to one without privileges, all but with a
/// namespace of users, which the privileged need not.
fn enter_most(wanted: &BTreeSet<Namespace>) -> std::io::Result<BTreeSet<Namespace>> {
    let without = |left: &[Namespace]| -> BTreeSet<Namespace> {
        let kept = wanted.iter().filter(|one| !left.contains(one));
        kept.copied().collect()
    };
    let (uid, gid) = (getuid(), getgid());
    let mut tries = vec![without(&[]), without(&[Namespace::Net])];
    if uid.is_root() {
        tries.insert(0, without(&[Namespace::User]));
    }
    for set in tries {
        if set.is_empty() || unshare(flags(&set)).is_err() {
            continue;
        }
        if set.contains(&Namespace::User) {
            // Only as its root the first process of the pid namespace can mount what it sees.
            map_ids((0, uid.as_raw()), (0, gid.as_raw()))?;
        }
        return Ok(set);
    }
    Ok(BTreeSet::new())
}

/// Says who inside a new namespace of users is who outside of it.
fn map_ids(uids: (u32, u32), gids: (u32, u32)) -> std::io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{} {} 1", uids.0, uids.1))?;
    fs::write("/proc/self/gid_map", format!("{} {} 1", gids.0, gids.1))
}

/// Who this process is: its user and its group.
pub(super) fn ids() -> (u32, u32) {
    (getuid().as_raw(), getgid().as_raw())
}

fn flags(namespaces: &BTreeSet<Namespace>) -> CloneFlags {
    let flag = |namespace: &Namespace| match namespace {
        Namespace::Pid => CloneFlags::CLONE_NEWPID,
        Namespace::Net => CloneFlags::CLONE_NEWNET,
        Namespace::Ipc => CloneFlags::CLONE_NEWIPC,
        Namespace::Mount => CloneFlags::CLONE_NEWNS,
        Namespace::User => CloneFlags::CLONE_NEWUSER,
    };
    namespaces.iter().map(flag).collect()
}

/// Gives the command a shared memory of its own, and an empty directory for each hidden one.
///
/// Nothing is mounted unless it stays in this namespace; what cannot be mounted is left as it is.
fn mount_over(setting: &Setting) {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    if mount(None::<&str>, "/", None::<&str>, private, None::<&str>).is_err() {
        return;
    }
    let memory = |at: &Path, options: &str| {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options))
    };
    let _ = memory(Path::new("/dev/shm"), "size=64m,mode=1777");
    for hidden in &setting.hidden {
        let needed = setting.visible.iter().any(|path| path.starts_with(hidden));
        if !needed {
            let _ = memory(hidden, "size=4k,mode=0000");
        }
    }
}

/// Makes this process, the first of a pid namespace, one that ends with its parent, sees only its
/// own processes, and is again who it was before it entered a namespace of users.
pub(super) fn settle_first(
    namespaces: &BTreeSet<Namespace>,
    (uid, gid): (u32, u32),
) -> std::io::Result<()> {
    if namespaces.contains(&Namespace::Mount) {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let _ = mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>);
    }
    if namespaces.contains(&Namespace::User) {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        map_ids((uid, 0), (gid, 0))?;
    }
    Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
}

/// Makes this process the parent of whatever its descendants leave behind.
pub(super) fn adopt_orphans() -> nix::Result<()> {
    prctl::set_child_subreaper(true)
}

/// Restricts the calling thread, and so what it starts, and tells the version of Landlock.
pub(super) fn restrict(
    instructions: &Instructions,
    namespaces: &BTreeSet<Namespace>,
) -> Result<Option<u32>, Box<dyn std::error::Error + Send + Sync>> {
    prctl::set_no_new_privs()?;
    if !instructions.landlock {
        return Ok(None);
    }
    // Without a namespace of mounts, shared memory is the machine's.
    let private = namespaces.contains(&Namespace::Mount);
    let devices = DEVICES
        .into_iter()
        .filter(|path| private || *path != "/dev/shm");
    let status = rules(instructions, devices)?;
    Ok(match status {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        _ => None,
    })
}

#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    Rules(#[from] RulesetError),
    #[error(transparent)]
    Root(#[from] PathFdError),
}

fn rules(
    instructions: &Instructions,
    devices: impl Iterator<Item = &'static str>,
) -> Result<LandlockStatus, Refused> {
    let open = instructions.network == Network::Any;
    let mut everywhere = AccessFs::from_read(KNOWN);
    if open {
        everywhere |= AccessFs::ResolveUnix;
    }
    // A device file that root makes would be a way around all the rest.
    let beneath = AccessFs::from_all(KNOWN) & !(AccessFs::MakeBlock | AccessFs::MakeChar);

    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::Signal)?;
    if !open {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::AbstractUnixSocket)?;
    }
    let mut created = ruleset
        .create()?
        .add_rule(PathBeneath::new(PathFd::new("/")?, everywhere))?
        .add_rules(path_beneath_rules(&instructions.writable, beneath))?
        .add_rules(path_beneath_rules(devices, beneath))?;
    if let Network::Loopback { ports } = &instructions.network {
        for port in ports {
            created = created.add_rule(NetPort::new(*port, AccessNet::from_all(KNOWN)))?;
        }
    }
    Ok(created.restrict_self()?.landlock)
}

/// All that descends from this process, by the kernel's list of processes.
pub(super) fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![Pid::this().as_raw()];
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
