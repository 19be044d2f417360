//! What share of the quests ended how.

use super::text;
use crate::quest::QuestId;
use crate::report::run::ids::ids;
use crate::report::run::quests::QuestReport;
use crate::report::run::shares::Shares;
use crate::report::run::tell::Report;
use crate::session::{Effective, State};

/// How long the numbers of those that passed may be, in characters.
const MOST_NUMBERS: usize = 200;

/// How many passed and how many did not, in one sentence that stands under the headline.
#[must_use]
pub fn share_sentence(report: &Report) -> String {
    let Some(shares) = &report.shares else {
        return "The ledger cannot be believed, and nothing can be told of its quests.".to_owned();
    };
    let (pass, unproven) = (shares.pass, shares.unproven.quests);
    let forgotten = match report.forgotten.len() {
        0 => String::new(),
        count => format!(
            " Proof blotted out, and not judged again: {count} (numbers {}).",
            ids(&report.forgotten)
        ),
    };
    format!(
        "PASS: {pass} of {} ({:.1} %). Ended with nothing proven: {unproven} ({:.1} \
         %).{forgotten}",
        shares.quests,
        shares.percent(pass),
        shares.percent(unproven)
    )
}

/// The shares, and the numbers of all quests that are not PASS.
#[must_use]
pub fn share_section(report: &Report) -> String {
    let Some(shares) = &report.shares else {
        return String::new();
    };
    let unproven = quests_where(report, |quest| quest.unproven);
    let rows = [
        share_row(shares, "PASS", shares.pass, String::new(), &passed(report)),
        share_row(
            shares,
            "REVIEW",
            shares.review,
            reviews(shares),
            &ids(&in_state(report, State::Review)),
        ),
        share_row(
            shares,
            "DONE",
            shares.done,
            String::new(),
            &ids(&in_state(report, State::Done)),
        ),
        share_row(
            shares,
            "TODO",
            shares.todo,
            String::new(),
            &ids(&in_state(report, State::Todo)),
        ),
        share_row(
            shares,
            "ended unproven",
            shares.unproven.quests,
            why_unproven(shares),
            &ids(&unproven),
        ),
    ];
    let table = text::table(
        &["state", "-:quests", "-:share", "of which", "numbers"],
        &rows,
    );
    format!(
        "## Shares\n\n{table}\n`ended unproven`: ended with nothing proven, given up or for lookups \
         that were not answered.\n"
    )
}

fn share_row(shares: &Shares, name: &str, count: u32, which: String, numbers: &str) -> Vec<String> {
    vec![
        name.to_owned(),
        count.to_string(),
        format!("{:.1} %", shares.percent(count)),
        which,
        if count == 0 { "" } else { numbers }.to_owned(),
    ]
}

/// The numbers of those that passed, where they are told in a few spans.
fn passed(report: &Report) -> String {
    let numbers = ids(&in_state(report, State::Pass));
    if numbers.len() > MOST_NUMBERS {
        return "all others".to_owned();
    }
    numbers
}

fn in_state(report: &Report, state: State) -> Vec<QuestId> {
    quests_where(report, |quest| quest.state == state)
}

fn quests_where(report: &Report, is: impl Fn(&QuestReport) -> bool) -> Vec<QuestId> {
    let quests = report.quests.iter().filter(|quest| is(quest));
    quests.map(|quest| quest.quest).collect()
}

fn reviews(shares: &Shares) -> String {
    let reviews = shares.reviews;
    counted(&[
        (reviews.accepted, Effective::Accepted.name()),
        (reviews.confirmed, Effective::Confirmed.name()),
        (reviews.open, Effective::Open.name()),
        (reviews.refuted, Effective::Refuted.name()),
        (reviews.rejected, Effective::Rejected.name()),
    ])
}

fn why_unproven(shares: &Shares) -> String {
    let unproven = shares.unproven;
    counted(&[
        (unproven.no_result, "given up"),
        (unproven.silence, "for lookups that were not answered"),
    ])
}

fn counted(counts: &[(u32, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = some
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    texts.join(", ")
}
