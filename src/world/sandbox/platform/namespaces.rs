//! Namespaces: what of the machine a command sees.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getgid, getuid};

use super::read_only;
use crate::world::sandbox::confinement::Namespace;
use crate::world::sandbox::wire::{Entered, Moved, Setting};

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
        entered.read_only = visible.all(|path| read_only::keep(path)) && read_only::seal(&kept);
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
