//! What the kernel offers to confine a command.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod read_only;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{enter, ids, restrict, settle_first};
#[cfg(target_os = "linux")]
pub(super) use {
    landlock::restrict,
    namespaces::{enter, ids, settle_first},
};
