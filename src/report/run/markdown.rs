//! The report for people, as Markdown that shows no more than it says.
//!
//! Tables are bounded; the numbers of all quests that are not PASS are there however many they are.

mod against;
mod quest_table;
mod run_table;
mod share_table;
mod text;

use super::tell::Report;

/// The report as Markdown.
///
/// What came from outside (keys, names of agents, facts) can neither form anything in it nor steer a
/// terminal.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let parts = [
        head(report),
        against::section(report),
        share_table::section(report),
        run_table::section(report),
        quest_table::section(report),
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
    format!("# {title}\n\n{}\n", share_table::sentence(report))
}

fn foot(report: &Report) -> String {
    let head = report.head.map(|head| format!(", ledger head {head}"));
    format!(
        "Made by comail {} at {}{}.\n",
        text::of(&report.comail),
        report.at,
        head.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
