//! Landlock: where a command may write, and by which ports it may connect.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
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
use nix::unistd::{getgid, getuid};

use super::linux;
use crate::world::sandbox::order::{Namespace, Network};
use crate::world::sandbox::wire::{Entered, Instructions, Moved, Setting};

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

/// Restricts the calling thread, and so what it starts, and tells the version of Landlock.
pub(in crate::world::sandbox) fn restrict(
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

/// Directories of the system's that are empty where nobody has put anything into them. Only the
/// system's administrator writes in what is above them.
const STAGES: [&str; 4] = ["/srv", "/media", "/mnt", "/opt"];

/// Enters as many of the wanted namespaces as the kernel lets us, and tells which, and what it
/// could mount in them.
///
/// With [`Namespace::Pid`] the next child is the first process of a namespace of its own. To be
/// called while the process has one thread.
pub(in crate::world::sandbox) fn enter(setting: &Setting) -> std::io::Result<Entered> {
    let mut entered = Entered {
        namespaces: enter_most(&setting.namespaces)?,
        ..Entered::default()
    };
    if entered.namespaces.contains(&Namespace::Mount) && become_private() {
        entered.moved = mount_over(setting);
        let own = entered.moved.as_ref().map(|moved| moved.to.clone());
        let kept: Vec<_> = setting.visible.iter().cloned().chain(own).collect();
        let mut visible = setting.visible.iter();
        entered.read_only = visible.all(|path| linux::keep(path)) && linux::seal(&kept);
    }
    Ok(entered)
}

/// Lets nothing that is mounted from now on be seen outside of this namespace.
fn become_private() -> bool {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).is_ok()
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
pub(in crate::world::sandbox) fn ids() -> (u32, u32) {
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

/// Gives the command a shared memory of its own, an empty directory for each hidden one, and the
/// scratch copy below an empty one.
///
/// What cannot be mounted is left as it is.
fn mount_over(setting: &Setting) -> Option<Moved> {
    let _ = memory(Path::new("/dev/shm"), "size=64m,mode=1777");
    for hidden in &setting.hidden {
        let needed = setting.visible.iter().any(|path| path.starts_with(hidden));
        if !needed {
            let _ = memory(hidden, "size=4k,mode=0000");
        }
    }
    let stage = STAGES
        .into_iter()
        .map(Path::new)
        .find(|dir| is_empty(dir))?;
    stage_at(stage, &setting.scratch).ok()
}

fn memory(at: &Path, options: &str) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options))
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// Shows the scratch copy below a directory that has nothing else in it.
///
/// Tools look for their configuration in the directories above the one in which they start, and
/// where scratch copies are made others can write.
fn stage_at(stage: &Path, scratch: &Path) -> std::io::Result<Moved> {
    memory(stage, "size=4k,mode=0755")?;
    let to = stage.join("tree");
    fs::create_dir(&to)?;
    mount(
        Some(scratch),
        &to,
        None::<&str>,
        MsFlags::MS_BIND,
        None::<&str>,
    )?;
    Ok(Moved {
        from: scratch.to_owned(),
        to,
    })
}

/// Makes this process, the first of a pid namespace, one that ends with its parent, sees only its
/// own processes, is again who it was before it entered a namespace of users, and cannot be looked
/// into by others of that user.
pub(in crate::world::sandbox) fn settle_first(
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

/// Where nothing lies that stays, or what programs must be able to write to.
const LEFT: [&str; 3] = ["/proc", "/dev", "/sys"];

/// Mounts everything read-only but `kept`, each a mount of its own, and what lies beneath them.
///
/// Tells whether all of it could be.
pub(super) fn seal(kept: &[PathBuf]) -> bool {
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
    mounts.all(|found| {
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | found.flags;
        mount(None::<&str>, &found.at, None::<&str>, flags, None::<&str>).is_ok()
    })
}

/// Makes a path that stays writable a mount of its own.
pub(super) fn keep(path: &Path) -> bool {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(path), path, None::<&str>, flags, None::<&str>).is_ok()
}

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    at: PathBuf,
    /// What it must stay: to take one of these away is not everybody's.
    flags: MsFlags,
}

/// Reads a line (`proc_pid_mountinfo(5)`): the fifth word is the place, the sixth its options.
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

/// White space and backslashes stand as three octal digits.
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
    fn a_line_tells_where_a_mount_is_and_what_it_must_stay() {
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
