//! Landlock: where a command may write, and by which ports it may connect.

use std::collections::BTreeSet;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, NetPort,
    PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, Scope, path_beneath_rules,
};
use nix::sys::prctl;

use crate::world::sandbox::confinement::Namespace;
use crate::world::sandbox::order::Network;
use crate::world::sandbox::wire::Instructions;

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
