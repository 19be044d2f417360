//! The whole picture, brought together from its parts.

use std::path::Path;

use jiff::Timestamp;

use super::choose::chosen;
use super::reading::Reading;
use super::room::Room;
use super::row::{Told, row};
use super::spread::{TIMES, TRIES, spread};
use crate::gate::{Level, Rule};
use crate::judge::completeness::is_live;
use crate::judge::forgotten::{blotted, is_forgotten};
use crate::judge::{JudgeError, SessionKind};
use crate::quest::{FieldName, QuestId};
use crate::report::picture::{Picture, QuestRow, RuleRow, Word, WorkerRow};
use crate::report::run::{Run, RunHistory, RunReport};
use crate::report::{Overview, RuleCount, overview};
use crate::review::{Bounds, Glancer};
use crate::session::{Board, Forgetting, Session, SessionError, State, Store as _, Watch};

/// The most quests that a page has rows of.
pub const MOST_QUESTS: usize = 10_000;

/// What is asked of a picture.
pub struct Asked<'a> {
    /// The time.
    pub at: Timestamp,
    /// Whether the session is complete, where that was looked into.
    pub completeness: Option<Word>,
    /// The states of the quests that have rows; all where none is named.
    pub only: &'a [State],
    /// The most quests that have rows.
    pub most: usize,
    /// Who is told how far the reading is.
    pub watch: &'a dyn Watch,
}

/// The picture of `session`, in which every quest stands as `board` says.
pub fn picture(session: &Session, board: &Board, asked: Asked<'_>) -> Result<Picture, JudgeError> {
    let kind = SessionKind::load(session.manifest())?;
    let all_rules = kind.rules();
    let kind = kind.quest;
    let shown = chosen(board.quests(), asked.only, asked.most);
    let mut reading = Reading::of(session, board, &shown, kind.answer.clone(), asked.watch)?;
    let fields = kind.result_fields();
    let quests = rows(session, board, &mut reading, &shown, &fields)?;
    let overview = overview(session, forgotten(session, board)?)?;
    let forgetting = session.forgetting();
    let source = session.source();
    let title = Path::new(&source.path).file_name().unwrap_or_default();
    let left_out = board.quests().len() - quests.len();
    Ok(Picture {
        title: without(&forgetting, &title.to_string_lossy()),
        kind: kind.name.into_owned(),
        unit: kind.unit.into_owned(),
        at: asked.at,
        comail: env!("CARGO_PKG_VERSION").to_owned(),
        completeness: asked.completeness,
        burn_down: reading.burn_down.points(),
        funnel: reading.funnel.steps(),
        rules: rules(&overview, &all_rules),
        times: spread(reading.clock.all(), TIMES),
        tries: spread(tries(board), TRIES),
        workers: workers(reading.workers.rows(), &forgetting),
        runs: runs(&reading.runs, session.dir()),
        quests,
        left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
        head: board.tip().head,
        overview,
    })
}

/// The rows of `shown`, in order. What needs eyes most is looked at first, while there is room.
fn rows(
    session: &Session,
    board: &Board,
    reading: &mut Reading,
    shown: &[QuestId],
    fields: &[FieldName],
) -> Result<Vec<QuestRow>, JudgeError> {
    let mut glancer = Glancer::new(session, Bounds::PAGE)?;
    let forgetting = session.forgetting();
    let mut rows = Vec::with_capacity(shown.len());
    let mut room = Room::new();
    for standing in shown.iter().filter_map(|id| board.get(*id)) {
        let told = Told {
            standing,
            glance: glancer.glance(standing)?,
            course: reading.steps.of(standing.id),
            took: reading.clock.of(standing.id),
            fields,
        };
        let mut row = row(told, &forgetting);
        room.fit(&mut row);
        rows.push(row);
    }
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

/// How many quests are PASS or REVIEW by answers that were blotted out.
fn forgotten(session: &Session, board: &Board) -> Result<u32, SessionError> {
    if session.forgetting().is_empty() {
        return Ok(0);
    }
    let mut reader = session.reader()?;
    let quests = board.quests().iter();
    let forgotten = quests.map(|standing| is_forgotten(&mut reader, standing).map(u32::from));
    forgotten.sum()
}

/// The rules that fired, with what the catalogue says of them.
fn rules(overview: &Overview, catalogue: &[Rule]) -> Vec<RuleRow> {
    let row = |count: &RuleCount| {
        let rule = catalogue.iter().find(|rule| rule.id.as_str() == count.rule);
        RuleRow {
            rule: count.rule.clone(),
            meaning: rule.map(|rule| rule.meaning.clone().into_owned()),
            fails: rule.map(|rule| rule.level == Level::Fail),
            submissions: count.attempts,
        }
    };
    overview.rules.iter().map(row).collect()
}

/// How many submissions each settled quest took here.
fn tries(board: &Board) -> Vec<u64> {
    let settled = board.quests().iter().filter(|standing| {
        // A PASS of an earlier session took none here.
        standing.progress.state != State::Todo && standing.attempts > 0
    });
    settled.map(|standing| standing.attempts.into()).collect()
}

fn workers(rows: Vec<WorkerRow>, forgetting: &Forgetting) -> Vec<WorkerRow> {
    let rows = rows.into_iter().map(|row| WorkerRow {
        name: row.name.map(|name| without(forgetting, &name)),
        ..row
    });
    rows.collect()
}

fn runs(history: &RunHistory, dir: &Path) -> Vec<RunReport> {
    let lives = |run: &Run| run.ended.is_none() && is_live(dir, run.id, run.began.process);
    let runs = history.runs().iter();
    runs.map(|run| RunReport::of(run, lives(run))).collect()
}

fn without(forgetting: &Forgetting, text: &str) -> String {
    blotted(forgetting, text).unwrap_or_else(|| text.to_owned())
}
