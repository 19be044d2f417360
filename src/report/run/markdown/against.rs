//! What stands against completeness.

use super::text;
use crate::judge::completeness::{Shortfall, ShortfallKind};
use crate::report::run::ids::ids;
use crate::report::run::tell::Report;

/// The most findings of a shortfall that are shown.
const MOST_DETAILS: usize = 20;

/// The shortfalls, each with its quests; nothing where there are none.
#[must_use]
pub fn shortfall_section(report: &Report) -> String {
    if report.shortfalls.is_empty() {
        return String::new();
    }
    let mut lines = vec!["## What stands against it".to_owned(), String::new()];
    for shortfall in &report.shortfalls {
        tell(&mut lines, shortfall);
    }
    let kinds = || report.shortfalls.iter().map(|it| it.kind);
    // What is TODO comes first; much else follows from it.
    if kinds().all(|kind| kind != ShortfallKind::Todo) {
        lines.extend(["", "To go on:", ""].map(str::to_owned));
        lines.extend(kinds().map(|kind| format!("- **{}**: {}", kind.name(), step(kind))));
    }
    lines.join("\n") + "\n"
}

/// What to do about it.
fn step(kind: ShortfallKind) -> &'static str {
    match kind {
        ShortfallKind::Todo => "`comail next`, or `comail run` with an agent.",
        ShortfallKind::OrphanedClaims => "`comail release` takes the claims back.",
        ShortfallKind::TreeChanged => "undo the changes in the working tree.",
        ShortfallKind::TreeUnread => "put the working tree back where it was.",
        ShortfallKind::PassChanged => {
            "put the files back as the PASS saw them, or scan a new session for these quests."
        }
        ShortfallKind::Ledger | ShortfallKind::NotReplayed | ShortfallKind::Record => {
            "`comail audit` says more; put back what was changed from a copy, or scan a new session."
        }
        ShortfallKind::Unchecked => "`comail report` once more, to its end.",
        ShortfallKind::FinalGate => {
            "mend what the facts name, then `comail report` once more; where a file of a PASS must \
             change for it, scan a new session for its quest."
        }
        ShortfallKind::MinPass => {
            "no quest is left to do: scan a new session for those that are not PASS, or ask for \
             less."
        }
    }
}

fn tell(lines: &mut Vec<String>, shortfall: &Shortfall) {
    let quests = match shortfall.quests.as_slice() {
        [] => String::new(),
        [quest] => format!(" (quest {quest})"),
        quests => format!(" (quests {})", ids(quests)),
    };
    let (kind, what) = (
        shortfall.kind.name(),
        text::escaped_sentence(&shortfall.what),
    );
    lines.push(format!("- **{kind}**: {what}{quests}"));
    let details = shortfall.details.iter();
    let shown = details
        .take(MOST_DETAILS)
        .map(|it| text::escaped_sentence(it));
    lines.extend(shown.map(|detail| format!("  - {detail}")));
    let more = shortfall.details.len().saturating_sub(MOST_DETAILS);
    if more > 0 {
        lines.push(format!("  - and {more} more; the report's JSON has all"));
    }
}
