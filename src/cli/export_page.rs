//! The page about a session, written where a person wants it.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;

use super::beside::write_beside;
use super::context;
use super::destination::refuse_in_session;
use super::export_rows::{Comes, Findings};
use super::export_write::Written;
use crate::report::draw::{self, Asked, MOST_QUESTS};
use crate::report::page;
use crate::report::picture::{Picture, Word};
use crate::session::{State, Watch};

/// What is wanted of a page.
pub(super) struct PageWanted<'a> {
    pub(super) path: &'a Path,
    /// Whether a file that is there is replaced.
    pub(super) force: bool,
    /// The states of the quests that have rows; all where none is named.
    pub(super) only: &'a [State],
    /// Whether the session is complete, where that was looked into.
    pub(super) completeness: Option<Word>,
}

/// A page, and the picture that it shows.
pub(super) struct Page {
    pub(super) picture: Picture,
    pub(super) html: String,
}

/// The page about a session.
pub(super) fn page(
    findings: Findings<'_>,
    completeness: Option<Word>,
    only: &[State],
    watch: &dyn Watch,
) -> Result<Page> {
    let asked = Asked {
        at: context::now(),
        completeness,
        only,
        most: MOST_QUESTS,
        watch,
    };
    let picture = draw::picture(findings.session, findings.board, asked)?;
    let html = page::html(&picture)?;
    Ok(Page { picture, html })
}

/// Writes the page about a session, whole or not at all, and never over a list.
pub(super) fn write_page(
    findings: Findings<'_>,
    wanted: PageWanted<'_>,
    watch: &dyn Watch,
) -> Result<Written> {
    let Findings { session, board } = findings;
    let PageWanted { path, force, .. } = wanted;
    refuse_in_session(path, session.dir())?;
    let picture = write_beside(path, force, session, board.totals(), |out| {
        let page = page(findings, wanted.completeness, wanted.only, watch)?;
        out.write_all(page.html.as_bytes())?;
        Ok(page.picture)
    })?;
    let shown = picture.quests.iter().map(|row| row.id).collect();
    Ok(Written {
        rows: picture.quests.len() as u64,
        gone: 0,
        comes: Comes::of_quests(findings, shown)?,
        left_out: picture.left_out,
    })
}
