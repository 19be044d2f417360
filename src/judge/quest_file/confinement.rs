//! What confines a command here and now.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::world::sandbox::{Confinement, Launcher, Network, Order, run};

const PATIENCE_MS: u64 = 30_000;

/// What was in force while this program told its version; nothing where it could not be run.
pub(crate) fn confinement(scratch: &Path) -> Confinement {
    tried(scratch).unwrap_or_default()
}

fn tried(scratch: &Path) -> io::Result<Confinement> {
    let place = tempfile::Builder::new()
        .prefix("comail-")
        .tempdir_in(scratch)?;
    let program = std::env::current_exe()?;
    let order = Order {
        name: "confinement".to_owned(),
        argv: vec![program.to_string_lossy().into_owned(), "--version".into()],
        env: BTreeMap::new(),
        pass: Vec::new(),
        dir: String::new(),
        stdin: String::new(),
        timeout_ms: PATIENCE_MS,
        output_bytes: 4096,
        writable: Vec::new(),
        network: Network::None,
        reports: Vec::new(),
        edits: Vec::new(),
        round: 0,
    };
    Ok(run(&order, place.path(), &Launcher::this()?).confinement)
}
