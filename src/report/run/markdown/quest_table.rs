//! The quests, one a line.

use std::cmp::Reverse;

use super::run_table::reason;
use super::text;
use crate::report::run::quests::QuestReport;
use crate::report::run::tell::Report;
use crate::session::{Effective, State};

/// The most quests that are shown.
const MOST_QUESTS: usize = 200;

/// The most rules of a quest that are named.
const MOST_RULES: usize = 3;

/// The quests that are not PASS, and then the others, as far as there is room.
#[must_use]
pub fn quest_section(report: &Report) -> String {
    if report.quests.is_empty() {
        return String::new();
    }
    let mut quests: Vec<&QuestReport> = report.quests.iter().collect();
    // Of equals the order stays.
    quests.sort_by_key(|quest| rank(quest.state));
    let rows: Vec<Vec<String>> = quests.iter().take(MOST_QUESTS).map(|it| row(it)).collect();
    let heads = [
        "-:quest",
        "key",
        "state",
        "-:FAILs",
        "rules that fired",
        "-:starts",
        "-:time",
        "-:tokens",
        "-:cost",
        "reason",
    ];
    let table = text::table(&heads, &rows);
    let hidden = quests.len().saturating_sub(MOST_QUESTS);
    let more = match hidden {
        0 => String::new(),
        hidden => format!("\nand {hidden} more, which are in the report's JSON\n"),
    };
    format!("## Quests\n\n{table}{more}")
}

fn rank(state: State) -> u8 {
    match state {
        State::Todo => 0,
        State::Done => 1,
        State::Review => 2,
        State::Pass => 3,
    }
}

fn row(quest: &QuestReport) -> Vec<String> {
    let mut row = vec![
        quest.quest.to_string(),
        text::escaped(quest.key.as_str()),
        state(quest),
        quest.tries.to_string(),
        rules(quest),
    ];
    match quest.took() {
        None => row.extend(vec![String::new(); 5]),
        Some(took) => row.extend([
            took.starts.to_string(),
            text::duration(took.milliseconds),
            took.used.tokens_text(),
            took.used.cost_text(),
            quest
                .driven
                .last()
                .map_or("", |last| reason(last.reason))
                .to_owned(),
        ]),
    }
    row
}

fn state(quest: &QuestReport) -> String {
    let said = match quest.effective {
        Effective::Pass | Effective::Done | Effective::Todo => String::new(),
        effective => format!(" ({})", effective.name()),
    };
    let unproven = if quest.unproven { ", unproven" } else { "" };
    format!("{}{said}{unproven}", quest.state)
}

/// The rules that fired, the most frequent first.
fn rules(quest: &QuestReport) -> String {
    let mut rules: Vec<(&String, &u32)> = quest.rules.iter().collect();
    rules.sort_by_key(|(_, count)| Reverse(**count));
    let more = rules.len().saturating_sub(MOST_RULES);
    let shown = rules.iter().take(MOST_RULES).map(|(rule, count)| {
        let rule = text::escaped(rule);
        match count {
            1 => rule,
            count => format!("{rule} ×{count}"),
        }
    });
    let more = (more > 0).then(|| format!("{more} more"));
    let texts: Vec<String> = shown.chain(more).collect();
    texts.join(", ")
}
