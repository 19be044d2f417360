//! The report for people, as Markdown that shows no more than it says.
//!
//! Tables are bounded; the numbers of all quests that are not PASS are there however many they are.

mod against;
mod quest_table;
mod run_table;
mod share_table;
mod text;

use super::tell::Report;
use crate::judge::completeness::FinalWord;

/// The report as Markdown.
///
/// What came from outside (keys, names of agents, facts) can neither form anything in it nor steer a
/// terminal.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let parts = [
        head(report),
        against::shortfall_section(report),
        share_table::share_section(report),
        run_table::run_section(report),
        quest_table::quest_section(report),
        foot(report),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn head(report: &Report) -> String {
    let title = if report.complete {
        "COMPLETE"
    } else {
        "NOT COMPLETE"
    };
    let last = report.final_gate.map(final_gate);
    format!(
        "# {title}\n\n{}{}\n",
        share_table::share_sentence(report),
        last.unwrap_or_default()
    )
}

/// What the checks over the whole result said, behind what is said of the quests.
fn final_gate(word: FinalWord) -> &'static str {
    match word {
        FinalWord::None => " Final gate: none.",
        FinalWord::Passed => " Final gate: passed, without a negative control.",
        FinalWord::Proven => " Final gate: passed, and its negative control failed as it must.",
        FinalWord::Refused => " Final gate: not passed.",
        FinalWord::Unjudged => " Final gate: not judged.",
    }
}

fn foot(report: &Report) -> String {
    let head = report.head.map(|head| format!(", ledger head {head}"));
    format!(
        "Made by comail {} at {}{}.\n",
        text::escaped(&report.comail),
        report.at,
        head.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
