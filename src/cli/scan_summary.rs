//! What `scan` says of the list that it has read.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::list_plan::PlannedList;
use super::output::Paper;
use super::prove_report;
use super::scan_carry::{self, CarriedOver};
use super::shell_line::ShellLine;
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::quest::ListingCounts;
use crate::session::SourceRecord;

/// The JSON form of `scan`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Scanned {
    session: String,
    source: String,
    /// What the list is in words, where its path does not say.
    #[serde(skip)]
    pub(super) words: Option<String>,
    /// The sheet that was read, of a workbook.
    sheet: Option<String>,
    /// The row of headings, if there is one.
    header_row: Option<u32>,
    /// Whether keys of objects name the columns.
    #[serde(skip)]
    keyed: bool,
    /// What the columns of the key are called.
    key: Vec<String>,
    #[serde(flatten)]
    pub(super) counts: ListingCounts,
    /// How many quests the session has.
    pub(super) quests: usize,
    /// How many of them are new.
    pub(super) added: usize,
    /// How many have no row in this list.
    pub(super) gone: usize,
    pub(super) updated: bool,
    /// Whether there are reviewers, none of whom was asked.
    #[serde(skip)]
    pub(super) reviewers: bool,
    /// What an earlier session brought.
    pub(super) carried: Option<CarriedOver>,
}

impl Scanned {
    /// A summary of this list with all counts at zero.
    pub(super) fn new(session: &Path, source: &SourceRecord, planned: &PlannedList) -> Self {
        let list = planned.list();
        Self {
            session: session.display().to_string(),
            source: source.path.clone(),
            words: None,
            sheet: list.sheet().map(str::to_owned),
            header_row: match list.keys() {
                Some(_) => None,
                None => list.header().map(|header| header.row),
            },
            keyed: list.keys().is_some(),
            key: planned.key_labels(),
            counts: ListingCounts::default(),
            quests: 0,
            added: 0,
            gone: 0,
            updated: false,
            reviewers: false,
            carried: None,
        }
    }
}

/// Writes the summary; `session` is the directory that `--session` named.
pub(super) fn text(paper: &mut Paper, scanned: &Scanned, session: Option<&Path>) {
    let counts = scanned.counts;
    let sheet = match &scanned.sheet {
        Some(sheet) => format!(", sheet `{}`", Escaped(sheet)),
        None => String::new(),
    };
    let header = match scanned.header_row {
        Some(row) => format!("headings in row {row}"),
        None if scanned.keyed => "headed by the keys".to_owned(),
        None => "no headings".to_owned(),
    };
    paper.line(format!(
        "{} read from {}{sheet}, {header}",
        plural(counts.rows, "row"),
        Escaped(scanned.words.as_ref().unwrap_or(&scanned.source))
    ));
    let added = plural(scanned.added as u64, "quest");
    if scanned.updated {
        paper.line(format!(
            "{added} added, {} in all; {} not in this list",
            scanned.quests, scanned.gone
        ));
    } else {
        let key = scanned.key.join(", ");
        paper.line(format!("{added} made, keyed by {}", Escaped(&key)));
    }
    paper.line(format!(
        "{} skipped, {} merged",
        plural(counts.blanks, "blank row"),
        plural(counts.repeats, "repeat")
    ));
    if let Some(over) = &scanned.carried {
        scan_carry::text(paper, over);
    }
    prove_report::unasked(paper, scanned.reviewers);
    let next = ShellLine::comail("next", session);
    paper.line(format!(
        "session {}; go on with: {}",
        Escaped(&scanned.session),
        Escaped(next.text())
    ));
}
