//! What the kernel offers to confine a command.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{enter, ids, restrict, settle_first};
#[cfg(target_os = "linux")]
pub(super) use linux::{enter, ids, restrict, settle_first};
