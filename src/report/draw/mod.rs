//! Draws the picture of a session. The ledger is read once, line by line, and forgotten values are left
//! out.

mod figures;
#[cfg(test)]
mod fixtures;
mod quests;

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;

use self::figures::{BurnDown, Clock, Funnel, TIMES, TRIES, Workers, spread};
use self::quests::{Courses, MAX_ROW_BYTES, RowInput, chosen, fit, row};
use crate::base::text::small;
use crate::gate::{Level, Rule};
use crate::judge::excerpts::SummaryReader;
use crate::judge::forgotten::redacted;
use crate::judge::live_runs::is_live;
use crate::judge::{JudgeError, SessionKind};
use crate::quest::{FieldName, QuestId};
use crate::report::picture::{Picture, QuestRow, RuleRow, Word, WorkerRow};
use crate::report::run::{Run, RunHistory, RunReport};
use crate::report::{Overview, RuleCount, forgotten, overview};
use crate::session::{Entry, Event, Forgetting, Projection, Session, SessionError, State, Watch};

pub const MOST_QUESTS: usize = 10_000;

pub struct Asked<'a> {
    pub at: Timestamp,
    pub completeness: Word,
    /// The states of the quests that get rows; empty for all states.
    pub only: &'a [State],
    pub most: usize,
    pub watch: &'a dyn Watch,
}

pub fn picture(
    session: &Session,
    projection: &Projection,
    asked: Asked<'_>,
) -> Result<Picture, JudgeError> {
    let kind = SessionKind::load(session.manifest())?;
    let all_rules = kind.rules();
    let kind = kind.quest;
    let shown = chosen(projection.quests(), asked.only, asked.most)?;
    let mut reading = Reading::of(
        session,
        projection,
        &shown,
        kind.answer.clone(),
        asked.watch,
    )?;
    let fields = kind.result_fields();
    let quests = rows(session, projection, &mut reading, &shown, &fields)?;
    let overview = overview(session, forgotten(session, projection)?)?;
    let forgetting = session.forgetting();
    let source = session.source();
    let title = Path::new(&source.path).file_name().unwrap_or_default();
    let left_out = projection.count() - quests.len();
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
        times: spread(reading.clock.took.into_values().collect(), TIMES),
        tries: spread(tries(projection)?, TRIES),
        workers: workers(reading.workers.rows(), &forgetting),
        runs: runs(&reading.runs, session.dir()),
        quests,
        left_out: small(left_out),
        head: projection.tip().head,
        overview,
    })
}

/// The rows of `shown`, in order. The most urgent quests are drawn first, while there is room.
fn rows(
    session: &Session,
    projection: &Projection,
    reading: &mut Reading,
    shown: &[QuestId],
    fields: &[FieldName],
) -> Result<Vec<QuestRow>, JudgeError> {
    let mut summaries = SummaryReader::new(session)?;
    let forgetting = session.forgetting();
    let mut rows = Vec::with_capacity(shown.len());
    let mut room = MAX_ROW_BYTES;
    for id in shown {
        let Some(record) = projection.get(*id)? else {
            continue;
        };
        let input = RowInput {
            record: &record,
            summary: summaries.summary(&record)?,
            course: reading.courses.of(record.id),
            took: reading.clock.took.get(&record.id).copied(),
            fields,
        };
        let mut row = row(input, &forgetting);
        fit(&mut row, &mut room);
        rows.push(row);
    }
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

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

fn tries(projection: &Projection) -> Result<Vec<u64>, SessionError> {
    let mut tries = Vec::new();
    for quest in projection.quests() {
        let quest = quest?;
        // A PASS of an earlier session used no try here.
        if quest.progress.state != State::Todo && quest.attempts > 0 {
            tries.push(quest.attempts.into());
        }
    }
    Ok(tries)
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
    redacted(forgetting, text).unwrap_or_else(|| text.to_owned())
}

#[derive(Debug)]
struct Reading {
    burn_down: BurnDown,
    funnel: Funnel,
    clock: Clock,
    workers: Workers,
    runs: RunHistory,
    courses: Courses,
}

impl Reading {
    /// Reads the lines of `session` that `projection` was folded from, with the history of `shown`.
    ///
    /// `answer` is the field that the quests are about.
    fn of(
        session: &Session,
        projection: &Projection,
        shown: &[QuestId],
        answer: Option<FieldName>,
        watch: &dyn Watch,
    ) -> Result<Self, SessionError> {
        let policy = projection.policy();
        let mut reading = Self {
            burn_down: BurnDown::default(),
            funnel: Funnel::default(),
            clock: Clock::default(),
            workers: Workers::default(),
            runs: RunHistory::default(),
            courses: Courses::new(shown.iter().copied(), policy, answer),
        };
        // Others may have appended lines since, but a picture shows one moment.
        let end = projection.tip().length;
        session.read_sound(watch, &mut |entry| {
            if entry.line.seq() >= end {
                return ControlFlow::Break(());
            }
            reading.take(entry);
            ControlFlow::Continue(())
        })?;
        Ok(reading)
    }

    fn take(&mut self, entry: &Entry<'_>) {
        let (at, event) = (entry.line.at(), &entry.event);
        self.burn_down.take(at, event);
        self.clock.take(at, event);
        self.courses.take(at, entry.line.prev(), event);
        match event {
            Event::Attempt(attempt) => {
                self.funnel.take(attempt.judgement.get());
                self.workers.take(attempt);
            }
            Event::Claim(_) | Event::Run(_) => self.runs.take(at, event),
            _ => {}
        }
    }
}
