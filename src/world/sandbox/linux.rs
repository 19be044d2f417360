//! Namespaces and mounts, which a command cannot leave, and Landlock, which restricts the paths that it
//! may write to and the ports that it may connect to.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
    path_beneath_rules,
};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::unistd::{getgid, getuid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};
use serde::{Deserialize, Serialize};

use super::api::{Grants, Namespace, Network};
use super::copies;
use super::reading::SYSTEM_SECRETS;
use super::run::{Base, Request};

/// The namespaces and mounts that the kernel allowed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Entered {
    pub namespaces: BTreeSet<Namespace>,
    /// Where the command sees its scratch copy, if it is mounted elsewhere.
    pub stage: Option<PathBuf>,
    /// Whether everything but the places of the command is mounted read-only.
    pub read_only: bool,
    /// Whether the scratch copy is laid over its base.
    pub overlay: bool,
}

// The newest interface that is known here. An older kernel applies the rights that it knows.
const KNOWN: ABI = ABI::V9;

const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
];

const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// Restricts the calling thread and everything that it starts. Returns the version of Landlock.
pub(super) fn restrict(
    request: &Request,
    namespaces: &BTreeSet<Namespace>,
) -> Result<Option<u32>, Box<dyn std::error::Error + Send + Sync>> {
    drop_capabilities(false)?;
    prctl::set_no_new_privs()?;
    if !request.means.landlock {
        return Ok(None);
    }
    // Without a mount namespace, it would be the shared memory of the machine.
    let private = namespaces.contains(&Namespace::Mount);
    let devices = DEVICES
        .into_iter()
        .filter(|path| private || *path != "/dev/shm");
    let network = &request.order.network;
    let open = *network == Network::Any;
    let read = AccessFs::from_read(KNOWN);
    // With a device file that it made, root could circumvent all other restrictions.
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
        .add_rules(path_beneath_rules(&request.readable, read))?
        .add_rules(path_beneath_rules(&request.writable, beneath))?
        .add_rules(path_beneath_rules(devices, beneath))?;
    if open {
        let sockets = PathBeneath::new(PathFd::new("/")?, AccessFs::ResolveUnix);
        created = created.add_rule(sockets)?;
    }
    if let Network::Loopback { ports } = network {
        for port in ports {
            created = created.add_rule(NetPort::new(*port, AccessNet::from_all(KNOWN)))?;
        }
    }
    Ok(match created.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        _ => None,
    })
}

/// Restricts this process to what was granted, also after `exec`. Returns the version of Landlock.
///
/// Landlock also keeps it from mounting, from inspecting processes outside, and from sending them
/// signals.
pub(super) fn confine(grants: &Grants) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    let hides = !grants.hidden.is_empty();
    if hides {
        hide_below(grants)
            .map_err(|error| format!("this system does not let the session be hidden: {error}"))?;
    }
    drop_capabilities(grants.own_sandbox)?;
    if grants.own_sandbox {
        return Ok(0);
    }
    prctl::set_no_new_privs()?;
    let read = AccessFs::from_read(KNOWN);
    let write = AccessFs::from_all(KNOWN) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    // Without a mount namespace, these would be the shared memory and terminals of the machine.
    let devices = DEVICES
        .into_iter()
        .filter(|path| hides || grants.alone || *path != "/dev/shm")
        .chain(TERMINALS.into_iter().filter(|_| grants.alone));
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::Signal)?
        .scope(Scope::AbstractUnixSocket)?
        .create()?
        .add_rules(path_beneath_rules(&grants.system, read))?
        .add_rules(path_beneath_rules(devices, write))?
        .add_rules(path_beneath_rules(
            &grants.read,
            read | AccessFs::ResolveUnix,
        ))?
        .add_rules(path_beneath_rules(&grants.write, write))?;
    match created.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi as u32),
        _ => {
            Err("the kernel has no Landlock, or it is not among the active security modules".into())
        }
    }
}

// The capabilities that root needs for its own files. With others it could circumvent Landlock, mount
// the session again, change owners and modes of any file, or change the network and the clock.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

// Capabilities that Codex needs in addition, for the user namespace of its sandbox.
const OF_SANDBOX: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETFCAP);

fn drop_capabilities(own_sandbox: bool) -> rustix::io::Result<()> {
    let kept = if own_sandbox {
        KEPT.union(OF_SANDBOX)
    } else {
        KEPT
    };
    for other in (CapabilitySet::all() - kept).iter() {
        match remove_capability_from_bounding_set(other) {
            // The kernel does not have the capability, or this user has none at all.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(Errno::PERM) if !getuid().is_root() => {}
            Err(error) => return Err(error),
        }
    }
    clear_ambient_capability_set()?;
    let held = capabilities(None)?;
    let kept = CapabilitySets {
        effective: held.effective & kept,
        permitted: held.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, kept)
}

/// Mounts an empty directory over each hidden one, in a new mount namespace. Landlock alone cannot
/// exclude a part of a grant, and a program that may read a file can also lock it forever. Readable
/// files in a hidden directory are copied.
fn hide_below(grants: &Grants) -> std::io::Result<()> {
    let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
    if uid == 0 {
        unshare(CloneFlags::CLONE_NEWNS)?;
    } else {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        map_ids((uid, uid), (gid, gid))?;
    }
    let refused = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    let done = |done: bool| done.then_some(()).ok_or_else(refused);
    done(become_private())?;
    for hidden in &grants.hidden {
        let is_below = |dir: &&Path| {
            let mut write = grants.write.iter();
            write.any(|granted| dir.starts_with(granted) && *dir != granted)
        };
        let above: Vec<_> = hidden.ancestors().skip(1).filter(is_below).collect();
        // A mount point cannot be renamed, so another session cannot take the place of this one.
        for dir in above.into_iter().rev() {
            done(keep(dir))?;
        }
        let kept = grants.read.iter().filter(|path| path.starts_with(hidden));
        let kept: Vec<_> = kept
            .map(|path| Ok((path, fs::read(path)?)))
            .collect::<std::io::Result<_>>()?;
        memory(hidden, "size=256m,mode=0755")?;
        for (path, content) in kept {
            fs::write(path, content)?;
        }
        let table = fs::read("/proc/self/mountinfo")?;
        let mut mounts = table.split(|byte| *byte == b'\n').rev().filter_map(read);
        let mounted = mounts.find(|mount| mount.at == *hidden);
        done(mounted.is_some_and(|mount| mount.make_read_only().is_ok()))?;
    }
    Ok(memory(Path::new("/dev/shm"), "size=256m,mode=1777")?)
}

// Directories that are usually empty, and above which only the administrator can write.
const STAGES: [&str; 4] = ["/srv", "/media", "/mnt", "/opt"];

/// Enters as many of the wanted namespaces as the kernel allows, and mounts what it can in them.
///
/// With [`Namespace::Pid`] the next child is the first process of a namespace of its own. It must
/// be called while the process has one thread.
pub(super) fn enter(request: &Request) -> std::io::Result<Entered> {
    use Namespace::{Ipc, Mount, Net, Pid, User};

    let wanted: &[Namespace] = match (request.means.namespaces, &request.order.network) {
        (false, _) => &[],
        (true, Network::None) => &[Pid, Net, Ipc, Mount, User],
        (true, Network::Loopback { .. } | Network::Any) => &[Pid, Ipc, Mount, User],
    };
    let mut entered = Entered {
        namespaces: enter_most(wanted)?,
        ..Entered::default()
    };
    let mounts = entered.namespaces.contains(&Mount) && become_private();
    if let Some(base) = &request.base {
        let by_user = entered.namespaces.contains(&User);
        entered.overlay = mounts && overlay(&request.scratch, base, by_user).is_ok();
        // Afterwards, the base may be hidden.
        if !entered.overlay {
            copies::copy(&base.dir, &request.scratch)?;
        }
    }
    if mounts {
        entered.stage = mount_over(request)?;
        let kept = request.writable.iter().chain(&entered.stage);
        let kept: Vec<_> = kept.cloned().collect();
        let mut writable = request.writable.iter();
        entered.read_only = writable.all(|path| keep(path)) && seal(&kept);
    }
    Ok(entered)
}

/// Enters namespaces for an agent and its children, as far as the kernel allows. As with [`enter`], the
/// next child is the first process, and this process must have one thread.
pub(super) fn enter_alone() -> std::io::Result<BTreeSet<Namespace>> {
    use Namespace::{Ipc, Mount, Pid, User};

    let entered = enter_most(&[Pid, Ipc, Mount, User])?;
    if entered.contains(&Mount) && !become_private() {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    Ok(entered)
}

/// Gives an agent private shared memory and terminals, and returns whether it could. Also makes
/// everything read-only that the agent may not change, if possible: Landlock does not protect owners,
/// modes and times.
pub(super) fn furnish(grants: &Grants) -> bool {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let options = Some("newinstance,ptmxmode=0666,mode=0620");
    let terminals = mount(Some("devpts"), "/dev/pts", Some("devpts"), flags, options);
    let shared = memory(Path::new("/dev/shm"), "size=256m,mode=1777");
    mask_secrets();
    let _sealed = grants.write.iter().all(|path| keep(path)) && seal(&grants.write);
    terminals.is_ok() && shared.is_ok()
}

// Makes later mounts invisible outside this namespace.
fn become_private() -> bool {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).is_ok()
}

// A kernel may refuse all namespaces, or only that of the network. Root needs no user namespace;
// another user cannot have any of the others without one.
fn enter_most(wanted: &[Namespace]) -> std::io::Result<BTreeSet<Namespace>> {
    let without = |left: Option<Namespace>| -> BTreeSet<Namespace> {
        let kept = wanted.iter().copied();
        kept.filter(|one| Some(*one) != left).collect()
    };
    let (uid, gid) = (getuid(), getgid());
    let mut tries = vec![without(None), without(Some(Namespace::Net))];
    if uid.is_root() {
        tries.insert(0, without(Some(Namespace::User)));
    }
    for set in tries {
        if set.is_empty() || unshare(flags(&set)).is_err() {
            continue;
        }
        if set.contains(&Namespace::User) {
            // The first process of the pid namespace can mount `/proc` only as root of this one.
            map_ids((0, uid.as_raw()), (0, gid.as_raw()))?;
        }
        return Ok(set);
    }
    Ok(BTreeSet::new())
}

// Maps the first id of each pair, inside the new user namespace, to the second, outside it.
fn map_ids(uids: (u32, u32), gids: (u32, u32)) -> std::io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{} {} 1", uids.0, uids.1))?;
    fs::write("/proc/self/gid_map", format!("{} {} 1", gids.0, gids.1))
}

/// A file system in memory that has room for so many bytes. Agents that are confined, and commands, see
/// another one in its place.
pub(super) fn shared_memory(bytes: u64) -> Option<&'static Path> {
    let place = Path::new("/dev/shm");
    let found = statfs(place).ok()?;
    let block = u64::try_from(found.block_size()).ok()?;
    let room = found.blocks_available().saturating_mul(block) / PART_OF_FREE;
    (found.filesystem_type() == TMPFS_MAGIC && bytes <= room.min(MOST_BYTES)).then_some(place)
}

/// A copy of a tree takes at most this part of what is free.
const PART_OF_FREE: u64 = 4;

/// A container may have less memory than the file system says.
const MOST_BYTES: u64 = 256 << 20;

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

/// Mounts private shared memory, an empty directory over each hidden one, and the scratch copy on a
/// stage.
fn mount_over(request: &Request) -> std::io::Result<Option<PathBuf>> {
    let _ = memory(Path::new("/dev/shm"), "size=64m,mode=1777");
    mask_secrets();
    cover(request)?;
    let is_empty =
        |dir: &&Path| fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
    let stage = STAGES.into_iter().map(Path::new).find(is_empty);
    Ok(stage.and_then(|stage| stage_at(stage, &request.scratch).ok()))
}

/// Makes the keys and passwords of the system look empty. Only root can read them, and they need not
/// be there.
fn mask_secrets() {
    for secret in SYSTEM_SECRETS {
        let (from, flags) = (Some("/dev/null"), MsFlags::MS_BIND);
        let _ = mount(from, secret, None::<&str>, flags, None::<&str>);
    }
}

/// Makes the hidden directories look empty, apart from what may be read or written in them.
fn cover(request: &Request) -> std::io::Result<()> {
    let hidden = request.hidden.iter();
    let hidden: BTreeSet<_> = hidden
        .filter(|dir| !request.writable.contains(dir))
        .collect();
    let visible: BTreeSet<_> = request.readable.iter().chain(&request.writable).collect();
    let mut back = Vec::new();
    for path in visible {
        if hidden.iter().any(|dir| is_below(path, dir)) {
            back.push((path, PathFd::new(path).map_err(std::io::Error::other)?));
        }
    }
    // Inner directories disappear with the outer ones and are created again: a home directory must
    // exist.
    let dirs = hidden.iter().filter(|dir| dir.is_dir());
    let dirs: Vec<_> = dirs.collect();
    for dir in dirs {
        if dir.is_dir() {
            memory(dir, COVER)?;
        } else {
            fs::create_dir_all(dir)?;
        }
    }
    for (path, place) in &back {
        let from = format!("/proc/self/fd/{}", place.as_fd().as_raw_fd());
        if Path::new(&from).is_dir() {
            fs::create_dir_all(path)?;
        } else {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            // It exists already if its directory was mounted again.
            let mut options = fs::OpenOptions::new();
            drop(options.append(true).create(true).open(path));
        }
        let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(
            Some(from.as_str()),
            *path,
            None::<&str>,
            flags,
            None::<&str>,
        )?;
    }
    for dir in hidden {
        if back.iter().any(|(path, _)| is_below(dir, path)) && dir.is_dir() {
            memory(dir, COVER)?;
        }
    }
    Ok(())
}

fn is_below(path: &Path, dir: &Path) -> bool {
    path != dir && path.starts_with(dir)
}

const COVER: &str = "size=1m,mode=0755";

fn memory(at: &Path, options: &str) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options))
}

/// Mounts the scratch copy below an otherwise empty directory. Tools look for their configuration in
/// all parent directories, and others can write to the parents of scratch copies.
fn stage_at(stage: &Path, scratch: &Path) -> std::io::Result<PathBuf> {
    memory(stage, "size=4k,mode=0755")?;
    let to = stage.join("tree");
    fs::create_dir(&to)?;
    mount(
        Some(scratch),
        &to,
        None::<&str>,
        // With what hides the session in it.
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None::<&str>,
    )?;
    Ok(to)
}

/// Lays a directory over its base. From then on, its path leads to both together.
fn overlay(dir: &Path, base: &Base, by_user: bool) -> std::io::Result<()> {
    let open = |path: &Path| PathFd::new(path).map_err(std::io::Error::other);
    let layers = [open(&base.dir)?, open(dir)?, open(&base.work)?];
    // By number, because a path may have the characters that separate options.
    let [lower, upper, work] = layers.each_ref().map(|layer| layer.as_fd().as_raw_fd());
    // Otherwise, a report could be in the upper layer without its contents.
    let whole = if by_user {
        "userxattr"
    } else {
        "redirect_dir=off,metacopy=off"
    };
    let fd = "/proc/self/fd";
    let options =
        format!("lowerdir={fd}/{lower},upperdir={fd}/{upper},workdir={fd}/{work},{whole}");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let kind = Some("overlay");
    Ok(mount(kind, dir, kind, flags, Some(options.as_str()))?)
}

/// Prepares the first process of a pid namespace. It ends with its parent, sees only the processes
/// of the namespace, has its former user and group again, and cannot be inspected by other
/// processes of that user.
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
    prctl::set_dumpable(false)?;
    Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
}

// Mounts whose content does not last, or to which programs must be able to write.
const LEFT: [&str; 3] = ["/proc", "/dev", "/sys"];

/// Makes every mount read-only except `kept` and what is below them. Returns whether it could.
fn seal(kept: &[PathBuf]) -> bool {
    let Ok(table) = fs::read("/proc/self/mountinfo") else {
        return false;
    };
    let left = |at: &Path| {
        let mut kept = kept.iter().map(PathBuf::as_path);
        let mut left = LEFT.iter().map(Path::new);
        kept.any(|path| at.starts_with(path)) || left.any(|path| at.starts_with(path))
    };
    let mounts = table.split(|byte| *byte == b'\n').filter_map(read);
    let mut mounts = mounts.filter(|mount| !left(&mount.at));
    // No path leads to a mount that another one covers, or whose directory is gone.
    mounts.all(|found| {
        matches!(
            found.make_read_only(),
            Ok(()) | Err(nix::Error::ENOENT | nix::Error::ENOTDIR)
        )
    })
}

/// Makes a path that stays writable a mount point.
fn keep(path: &Path) -> bool {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(path), path, None::<&str>, flags, None::<&str>).is_ok()
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    at: PathBuf,
    /// A remount must repeat them: only root may remove one.
    flags: MsFlags,
}

impl Mount {
    fn make_read_only(&self) -> nix::Result<()> {
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | self.flags;
        mount(None::<&str>, &self.at, None::<&str>, flags, None::<&str>)
    }
}

// A line of `/proc/self/mountinfo`: the fifth word is the place, the sixth its options.
fn read(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ').skip(4);
    let (at, options) = (words.next()?, words.next()?);
    let options = str::from_utf8(options).ok()?;
    let flags = options.split(',').map(flag).collect();
    let at = PathBuf::from(OsString::from_vec(unescaped(at)));
    Some(Mount { at, flags })
}

fn flag(option: &str) -> MsFlags {
    match option {
        "nosuid" => MsFlags::MS_NOSUID,
        "nodev" => MsFlags::MS_NODEV,
        "noexec" => MsFlags::MS_NOEXEC,
        "noatime" => MsFlags::MS_NOATIME,
        "nodiratime" => MsFlags::MS_NODIRATIME,
        "relatime" => MsFlags::MS_RELATIME,
        _ => MsFlags::empty(),
    }
}

// White space and backslashes are escaped as three octal digits.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let code =
            digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_place_and_the_flags_of_a_mount() {
        let line = br"36 35 98:0 /mnt1 /a\040b rw,nosuid,noatime shared:1 - ext3 /dev/root rw";
        let expected = Mount {
            at: PathBuf::from("/a b"),
            flags: MsFlags::MS_NOSUID | MsFlags::MS_NOATIME,
        };
        assert_eq!(read(line), Some(expected));
        assert_eq!(read(b"36 35 98:0"), None);
        assert_eq!(read(b""), None);
    }
}
