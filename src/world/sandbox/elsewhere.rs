//! Systems other than Linux, where only a process group confines a command.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::api::{Grants, Namespace};
use super::copies;
use super::run::Request;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Entered {
    pub namespaces: BTreeSet<Namespace>,
    pub stage: Option<PathBuf>,
    pub read_only: bool,
    pub overlay: bool,
}

pub(super) fn enter(request: &Request) -> io::Result<Entered> {
    if let Some(base) = &request.base {
        copies::copy(&base.dir, &request.scratch)?;
    }
    Ok(Entered::default())
}

pub(super) fn shared_memory(_: u64) -> Option<&'static Path> {
    None
}

pub(super) fn ids() -> (u32, u32) {
    (0, 0)
}

#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
pub(super) fn settle_first(_: &BTreeSet<Namespace>, _: (u32, u32)) -> io::Result<()> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
pub(super) fn restrict(
    _: &Request,
    _: &BTreeSet<Namespace>,
) -> Result<Option<u32>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(None)
}

pub(super) fn confine(_: &Grants) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Err("only Linux can confine an agent".into())
}

#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
pub(super) fn enter_alone() -> io::Result<BTreeSet<Namespace>> {
    Ok(BTreeSet::new())
}

pub(super) fn furnish(_: &Grants) -> bool {
    false
}
