//! The bench at which a session's judgements are made.

use std::io;
use std::path::PathBuf;

use super::definition::{Definition, Faulty};
use super::services::services;
use crate::judge::{DriveError, FrozenPanel};
use crate::session::{EvidenceStore, Manifest, SessionError};
use crate::world::evidence::unpack;
use crate::world::sandbox::{Bench, Contents, Launcher};
use crate::world::tree::bounds::BOUNDS;
use crate::world::tree::{BadGlob, Ignored, Listing, Zones};

const MOST_LISTING_BYTES: u64 = 256 * 1024 * 1024;

/// Why a bench cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    /// A glob of the tree's is none.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// This program cannot tell where it is, to start itself.
    #[error("this program does not know its own place, and cannot confine a command")]
    Launcher(#[source] io::Error),
}

/// The bench of a session in `dir`; none when its kind is built in and nobody reviews.
pub fn bench_of(
    manifest: &Manifest,
    store: EvidenceStore,
    dir: PathBuf,
) -> Result<Option<Bench>, DriveError> {
    let panel = FrozenPanel::of(manifest)?;
    let Some(definition) = Definition::of(manifest)? else {
        let bench = panel.map(|panel| panel.bench(vec![dir]));
        return Ok(bench.transpose()?);
    };
    let baseline = match &definition.tree {
        Some(tree) => {
            let listing = listing(&store, tree.listing)?;
            let lost = "the tree's listing in evidence/ is missing or was changed: restore it \
                        from a copy";
            listing.ok_or_else(|| SessionError::Stock(lost.to_owned()))?
        }
        None => Listing::default(),
    };
    let load = move |digest| {
        let packed = store.load(digest).map_err(io::Error::other)?;
        Ok(packed.and_then(|packed| unpack(&packed, BOUNDS.file_bytes).ok()))
    };
    let mut bench = definition.bench(baseline, Box::new(load), vec![dir])?;
    if let Some(panel) = panel {
        panel.equip(&mut bench);
    }
    Ok(Some(bench))
}

fn listing(
    store: &EvidenceStore,
    digest: crate::base::Digest,
) -> Result<Option<Listing>, SessionError> {
    let packed = store.load(digest)?;
    let text = packed.and_then(|packed| unpack(&packed, MOST_LISTING_BYTES).ok());
    let read = text.and_then(|text| serde_json::from_slice::<Listing>(&text).ok());
    Ok(read.filter(|listing| listing.digest() == digest))
}

impl Definition {
    /// A bench with this baseline, whose commands cannot read what is `hidden`.
    pub fn bench(
        &self,
        baseline: Listing,
        load: Box<Contents>,
        hidden: Vec<PathBuf>,
    ) -> Result<Bench, BenchError> {
        let file = self.file()?;
        let services = services(&file, &self.gathered).map_err(|bad| self.faulty(bad))?;
        let globs = |of: fn(&super::FrozenTree) -> &Vec<String>| {
            self.tree.as_ref().map(of).cloned().unwrap_or_default()
        };
        Ok(Bench {
            root: self.tree.as_ref().map(|tree| tree.root.clone()),
            baseline,
            commits: self.tree.as_ref().and_then(|tree| tree.commits),
            zones: Zones::new(&globs(|tree| &tree.write))?,
            ignored: Ignored::new(&globs(|tree| &tree.ignore))?,
            load,
            scratch: self.scratch.clone(),
            programs: self.gathered.programs.values().cloned().collect(),
            services,
            launcher: Launcher::this()
                .map_err(BenchError::Launcher)?
                .hiding(hidden),
            confinement: self.confinement.clone(),
        })
    }
}
