//! What was noted beside where quests stand: by people, and what waits in vain.

use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::cli::output::{Paper, Tone};
use crate::report::Overview;

/// Says what people noted, and what only looks so.
pub(super) fn people(paper: &mut Paper, overview: &Overview) {
    if overview.disputed > 0 {
        let disputed = plural(overview.disputed, "quest");
        paper.line(format!(
            "disputed: the world contradicted {disputed} since; `export` tells which"
        ));
    }
    if overview.forgotten > 0 {
        let forgotten = plural(overview.forgotten, "quest");
        paper.line(format!(
            "forgotten: the answer of {forgotten} was blotted out; `export` tells which"
        ));
    }
    if overview.unsealed > 0 {
        let word = paper.tint(Tone::Bad, "not sealed");
        let unsealed = plural(overview.unsealed, "line");
        paper.line(format!(
            "{word}: {unsealed} of the ledger that only the operator's key could make, and that \
             changed nothing; `audit` tells which"
        ));
    }
}

/// Names what waits in vain, and for what.
pub(super) fn blocked(paper: &mut Paper, overview: &Overview) {
    if overview.blocked == 0 {
        return;
    }
    let count = paper.tint(Tone::Bad, &format!("blocked {}", overview.blocked));
    paper.line(format!(
        "{count}, of what is TODO: never handed out as it stands"
    ));
    for quest in &overview.first_blocked {
        let (key, by) = (Escaped(quest.key.as_str()), &quest.by);
        let by_key = Escaped(by.key.as_str());
        paper.line(format!(
            "  quest {} ({key}) waits for quest {} ({by_key}), which is {}",
            quest.id, by.id, by.state
        ));
    }
    let more = (overview.blocked as usize).saturating_sub(overview.first_blocked.len());
    if more > 0 {
        paper.line(format!("  and {more} more"));
    }
}
