//! `comail list`: a row for each quest.

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::outcome::{OutcomeReader, QuestOutcome};
use super::output::{TextOutput, Tone};
use super::rules::unknown;
use super::screen::{clip, line};
use super::state_args::StateArgs;
use super::terminal::size;
use crate::base::text::{Escaped, escape_json};
use crate::judge::SessionKind;
use crate::quest::{FieldName, Fields, Key, QuestId};
use crate::report::template::RECORDED_WORLD;
use crate::session::{Effective, QuestRecord, State, Worker, WorldKind};
use crate::table::results::{Cell, Columns};

/// List the quests with their states and answers
///
/// Each quest is a row, in the order of the list; the options select rows. Columns that are empty in
/// every row are left out. At a terminal, long cells are cut to its width, except for addresses; where
/// these do not fit, each field has a line of its own. With --json, each quest is a line with all its
/// members.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    state: StateArgs,

    /// Only quests whose last judgement names this rule, such as freemail
    #[arg(long)]
    rule: Option<String>,

    /// Only quests that this worker answered last or holds
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// The columns after number and key, each NAME or NAME=HEADING, named as by `export` [default:
    /// status,email,email-to-review,rule]
    #[arg(long, value_name = "LIST")]
    columns: Option<String>,
}

/// A line of `list --json`: one quest.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedQuest<'a> {
    id: QuestId,
    key: &'a Key,
    state: State,
    /// What the state comes to after the decisions of people and later judgements.
    effective: Effective,
    /// The answer, unless it failed or a person rejected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a Fields>,
    /// Whether the gate passed the answer, at once or when it looked again, and nobody disputed
    /// it. A person's decision to accept proves nothing.
    proven: bool,
    /// Whether somebody reported that the answer proved wrong.
    disputed: bool,
    /// The rules that the last judgement names, each once. If the last answer repeated an earlier
    /// one, they are those of the earlier judgement.
    rules: &'a [String],
    /// How many answers were submitted.
    tries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_at: Option<Timestamp>,
    /// Who gave the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<&'a Worker>,
    /// Who holds the quest, also after the lease has expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<&'a Worker>,
}

pub(super) fn run(context: &mut Context, args: &ListArgs) -> Result<Exit> {
    let session = context.open_session()?;
    let kind = SessionKind::load(session.manifest())?;
    let rules = kind.rules();
    if let Some(name) = &args.rule
        && !rules.iter().any(|rule| rule.id.as_str() == name)
    {
        return Err(unknown(&rules, name).into());
    }
    let columns = columns(args.columns.as_deref(), &kind.quest.result_fields())?;
    context.output.page();
    let mut out = context.output.out();
    let mut outcomes = OutcomeReader::new(&session, session.waiting()?)?.without_world();
    let mut rows = Vec::new();
    for record in session.index().quests() {
        let record = record?;
        let states = &args.state.states;
        if !states.is_empty() && !states.contains(&record.progress.state) {
            continue;
        }
        let outcome = outcomes.read(&record).map_err(anyhow::Error::from_boxed)?;
        if !args.selects(&record, &outcome) {
            continue;
        }
        if !context.output.json {
            let named = [record.id.to_string(), record.key.to_string()];
            let cells = columns.cells(&outcome.shown).into_iter().map(text);
            let row = named.into_iter().chain(cells);
            rows.push(row.map(|cell| Escaped(&cell).to_string()).collect());
            continue;
        }
        out.line(ListedQuest::of(&record, &outcome)?);
        if out.len() >= WRITTEN_AT && context.output.go_on(&mut out)?.is_break() {
            return Ok(Exit::Done);
        }
    }
    if !context.output.json {
        if session.manifest().frozen.world_kind() == WorldKind::Recorded {
            out.line(out.tint(Tone::Doubt, RECORDED_WORLD));
        }
        if rows.is_empty() {
            out.line("no quest matches");
        } else {
            let room = context.output.terminal.then(|| size().columns);
            write_rows(&mut out, &columns, &rows, args.columns.is_some(), room);
        }
    }
    let _ = context.output.go_on(&mut out)?;
    Ok(Exit::Done)
}

impl ListedQuest<'_> {
    fn of(record: &QuestRecord, outcome: &QuestOutcome) -> serde_json::Result<String> {
        let (effective, shown) = (Effective::of(record), &outcome.shown);
        let listed = ListedQuest {
            id: record.id,
            key: &record.key,
            state: record.progress.state,
            effective,
            answer: shown.fields.as_ref(),
            proven: effective.is_proven() && shown.holds,
            disputed: record.is_disputed(),
            rules: &shown.rules,
            tries: shown.tries,
            judged_at: shown.judged_at,
            worker: outcome.worker.as_ref(),
            claimed_by: record.claim.as_ref().map(|claim| &claim.worker),
        };
        serde_json::to_string(&listed).map(|line| escape_json(&line))
    }
}

impl ListArgs {
    fn selects(&self, record: &QuestRecord, outcome: &QuestOutcome) -> bool {
        let fired = |rule: &String| outcome.shown.rules.contains(rule);
        let holder = record.claim.as_ref().map(|claim| &claim.worker);
        let works =
            |worker: &Worker| outcome.worker.as_ref() == Some(worker) || holder == Some(worker);
        self.rule.as_ref().is_none_or(fired) && self.worker.as_ref().is_none_or(works)
    }
}

fn columns(named: Option<&str>, fields: &[FieldName]) -> Result<Columns> {
    let usual = match fields.first() {
        Some(answer) => format!("status,{answer},{answer} to review,rule"),
        None => "status,rule".to_owned(),
    };
    let columns = Columns::parse(named.unwrap_or(&usual), fields);
    Ok(columns.map_err(|refused| UsageError(refused.to_string()))?)
}

/// Writes rows as aligned columns or, if those are wider than `room`, one field per line. Columns that
/// are empty in every row are left out unless they were `chosen`.
fn write_rows(
    out: &mut TextOutput,
    columns: &Columns,
    rows: &[Vec<String>],
    chosen: bool,
    room: Option<usize>,
) {
    let mut headings = vec!["id".to_owned(), "key".to_owned()];
    headings.extend(columns.headings());
    let is_filled = |at: usize| rows.iter().any(|row| !row[at].is_empty());
    let shown: Vec<_> = (0..headings.len())
        .filter(|at| chosen || is_filled(*at))
        .collect();
    let only =
        |row: &[String]| -> Vec<String> { shown.iter().map(|at| row[*at].clone()).collect() };
    let width = |at: &usize| {
        let column = rows
            .iter()
            .chain([&headings])
            .map(|row| line(&row[*at]).width());
        column.max().unwrap_or_default()
    };
    let widths: Vec<_> = shown.iter().map(width).collect();
    let whole: Vec<_> = [true, false]
        .into_iter()
        .chain(columns.of_answer())
        .collect();
    let whole: Vec<_> = shown.iter().map(|at| whole[*at]).collect();
    if let Some(widths) = fitted(&widths, &whole, room.unwrap_or(usize::MAX)) {
        out.line(out.tint(Tone::Strong, &aligned(&only(&headings), &widths)));
        for row in rows {
            out.line(aligned(&only(row), &widths));
        }
        return;
    }
    for row in rows {
        out.line(out.tint(Tone::Strong, &row[..2].join("  ")));
        let fields = headings.iter().zip(row).skip(2);
        for (heading, cell) in fields.filter(|(_, cell)| !cell.is_empty()) {
            out.line(format!("    {heading}: {cell}"));
        }
    }
}

fn text(cell: Cell) -> String {
    match cell {
        // Several facts or notes are on separate lines.
        Cell::Text(text) => text.replace('\n', "; "),
        Cell::Number(number) => number.to_string(),
    }
}

/// How many bytes of JSON are written at once.
const WRITTEN_AT: usize = 1 << 16;

const GAP: usize = 2;

const LEAST_WIDTH: usize = 8;

/// The widths for lines of at most `room` columns: the widest columns that need not be `whole` are
/// narrowed. None if that is not enough.
fn fitted(widths: &[usize], whole: &[bool], room: usize) -> Option<Vec<usize>> {
    let mut widths = widths.to_vec();
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room {
        let narrower = widths.iter_mut().zip(whole).filter(|(_, whole)| !**whole);
        let (widest, _) = narrower.max_by_key(|(width, _)| **width)?;
        if *widest <= LEAST_WIDTH {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

fn aligned(row: &[impl AsRef<str>], widths: &[usize]) -> String {
    let mut aligned = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let cell = clip(&line(cell.as_ref()), *width);
        aligned.push_str(&cell.to_string());
        let pad = (width + GAP).saturating_sub(cell.width());
        aligned.extend(std::iter::repeat_n(' ', pad));
    }
    aligned.truncate(aligned.trim_end().len());
    aligned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_are_narrowed_before_the_answer_until_a_line_fits() {
        let none = [false; 3];
        assert_eq!(
            fitted(&[3, 40, 10], &none, usize::MAX),
            Some(vec![3, 40, 10])
        );
        assert_eq!(fitted(&[3, 40, 10], &none, 57), Some(vec![3, 40, 10]));
        assert_eq!(fitted(&[3, 40, 10], &none, 40), Some(vec![3, 23, 10]));
        assert_eq!(fitted(&[3, 40, 30], &none, 47), Some(vec![3, 20, 20]));
        let answer = [true, false, true];
        assert_eq!(fitted(&[3, 40, 30], &answer, 47), Some(vec![3, 10, 30]));
        // No column vanishes, however narrow the terminal is.
        assert_eq!(fitted(&[3, 40, 30], &answer, 44), None);
        assert_eq!(fitted(&[3, 40, 30], &[true; 3], 70), None);
    }

    #[test]
    fn cells_are_aligned_by_the_columns_that_they_take() {
        let widths = [2, 8, 4];
        let wide = aligned(&["1", "한빛", "PASS"], &widths);
        assert_eq!(wide, "1   한빛      PASS");
        let cut = aligned(&["10", "Hanbit Foods", ""], &widths);
        assert_eq!(cut, "10  Hanbit …");
    }

    #[test]
    fn the_answer_of_a_kind_and_the_one_to_review_are_shown_by_default() {
        let fields = ["total", "quote"].map(FieldName::known);
        let headings = |named: Option<&str>, fields: &[FieldName]| {
            columns(named, fields).map(|columns| columns.headings())
        };
        let usual = headings(None, &fields).unwrap();
        assert_eq!(usual, ["status", "total", "total to review", "rule"]);
        assert_eq!(headings(None, &[]).unwrap(), ["status", "rule"]);
        let chosen = headings(Some("quote=Quote,tries"), &fields).unwrap();
        assert_eq!(chosen, ["Quote", "tries"]);
        assert!(headings(Some("speed"), &fields).is_err());
    }
}
