//! What stands against completeness.

use super::text;
use crate::drive::completeness::Shortfall;
use crate::report::run::ids::ids;
use crate::report::run::tell::Report;

/// The most findings of a shortfall that are shown.
const MOST_DETAILS: usize = 20;

/// The shortfalls, each with its quests; nothing where there are none.
#[must_use]
pub fn section(report: &Report) -> String {
    if report.shortfalls.is_empty() {
        return String::new();
    }
    let mut lines = vec!["## What stands against it".to_owned(), String::new()];
    for shortfall in &report.shortfalls {
        tell(&mut lines, shortfall);
    }
    lines.join("\n") + "\n"
}

fn tell(lines: &mut Vec<String>, shortfall: &Shortfall) {
    let quests = match shortfall.quests.as_slice() {
        [] => String::new(),
        [quest] => format!(" (quest {quest})"),
        quests => format!(" (quests {})", ids(quests)),
    };
    let (kind, what) = (shortfall.kind.name(), text::sentence(&shortfall.what));
    lines.push(format!("- **{kind}**: {what}{quests}"));
    let details = shortfall.details.iter();
    let shown = details.take(MOST_DETAILS).map(|it| text::sentence(it));
    lines.extend(shown.map(|detail| format!("  - {detail}")));
    let more = shortfall.details.len().saturating_sub(MOST_DETAILS);
    if more > 0 {
        lines.push(format!("  - and {more} more; the report's JSON has all"));
    }
}
