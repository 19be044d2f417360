//! A session that is only read.

use std::path::{Path, PathBuf};

use super::board::Board;
use super::error::SessionError;
use super::evidence_store::EvidenceStore;
use super::forgotten::Forgetting;
use super::ledger::Ledger;
use super::line_reader::LineReader;
use super::manifest::Manifest;
use super::progress::Watch;
use super::read_manifest::read_manifest;
use super::terms::Terms;
use crate::base::Digest;

/// A session that is only read: its whole ledger, folded, and nothing but the ledger.
///
/// Nothing in its directory is written, locked or mended, so one that cannot be written to
/// will do.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    manifest: Manifest,
    digest: Digest,
    board: Board,
    ledger: Ledger,
}

impl Archive {
    /// Reads the session in `dir`; a torn last line is left alone, any other damage is an error.
    pub fn open(dir: &Path, watch: &dyn Watch) -> Result<Self, SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        let mut ledger = Ledger::new(dir);
        ledger.begins(digest)?;
        let mut board = Board::new(Terms::of(&manifest, digest));
        board.read_on(&mut ledger, watch)?;
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
            digest,
            board,
            ledger,
        })
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What was frozen at `scan`.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The digest of its `session.json`.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The hash of the last line that was read.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.ledger.tip().head
    }

    /// Where every quest stands.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// What was forgotten there, and in the session whose PASSes were carried there.
    #[must_use]
    pub fn forgetting(&self) -> Forgetting {
        let forgetting = self.board.totals().forgetting.clone();
        forgetting.beside(&self.manifest.forgotten)
    }

    /// What pages said.
    #[must_use]
    pub fn evidence(&self) -> EvidenceStore {
        EvidenceStore::new(&self.dir)
    }

    /// A reader of quests and attempts, for many of them.
    pub fn reader(&self) -> Result<LineReader, SessionError> {
        let forgetting = self.board.totals().forgetting.clone();
        self.ledger.reader(forgetting)
    }
}
