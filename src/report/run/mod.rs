//! The run report: what became of every quest, what it took, and whether the session is complete.
//!
//! [`Report`] is a function of values: the folded ledger, what runs left in it ([`RunHistory`]), and
//! what stands against completeness. It is told as JSON (the form of [`Report`], format 1) and, for
//! people, as Markdown ([`markdown()`]).

mod history;
mod ids;
mod markdown;
mod quests;
mod runs;
mod shares;
mod tell;
mod used;
mod word;
mod write;

#[cfg(test)]
mod bench;

pub use history::{Driven, Judged, Run, RunHistory};
pub use markdown::markdown;
pub use quests::{DrivenIn, QuestReport};
pub use runs::{RunReport, Took};
pub use shares::{Reviews, Shares, Unproven};
pub use tell::{FORMAT, Report, Telling};
pub use used::Used;
pub use word::word;
pub use write::{WriteError, write_at, write_page, write_report};
