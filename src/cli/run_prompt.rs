//! The prompts of `comail run`: what `next` prints, how to answer, lessons and history.

use std::error::Error;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use super::answer_form::write_json_form;
use super::context::{self, Reaching};
use super::next::HandedQuest;
use super::output::TextOutput;
use crate::base::text::{Escaped, EscapedLines};
use crate::judge;
use crate::quest::QuestId;
use crate::run::lessons::{Bound, Earlier, Learned, inherited};
use crate::run::{Answers, NONE, Past, PromptBuilder, PromptInput};
use crate::session::{Log, Session};

// Enough to recognise an answer; the ledger has the rest.
const MAX_SUBMISSION: usize = 500;

/// Which lessons prompts carry.
#[derive(Debug)]
pub(super) struct LessonPlan {
    pub(super) bound: Bound,
    pub(super) earlier: Vec<Earlier>,
}

#[derive(Debug)]
pub(super) struct RunPrompts {
    lessons: LessonPlan,
    learned: Mutex<(Log, Learned)>,
}

impl RunPrompts {
    pub(super) fn new(dir: &Path, lessons: LessonPlan) -> Result<Self> {
        let (_, log) = Log::open(dir)?;
        Ok(Self {
            lessons,
            learned: Mutex::new((log, Learned::default())),
        })
    }

    fn lessons(&self, session: &Session, quest: QuestId) -> Result<String> {
        let plan = &self.lessons;
        if plan.bound.lessons == 0 {
            return Ok(String::new());
        }
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, learned) = &mut *learned;
        if learned.read_on(log).is_err() {
            // Lines were redacted, so the ones behind them have moved: read all again.
            (*log, *learned) = (session.log(), Learned::default());
            learned.read_on(log)?;
        }
        let own = learned.lessons(quest, plan.bound);
        let kind = &session.manifest().kind.name;
        let earlier = inherited(&plan.earlier, kind, plan.bound, context::now());
        Ok(own + &earlier)
    }
}

impl PromptBuilder for RunPrompts {
    fn prompt(
        &self,
        session: &Session,
        input: &PromptInput<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let lessons = self.lessons(session, input.standing.id)?;
        Ok(write(session, input, &lessons)?)
    }
}

fn write(session: &Session, input: &PromptInput<'_>, lessons: &str) -> Result<String> {
    let mut paper = TextOutput::plain();
    let claim = Some(input.claim.clone());
    // The environment names session and worker.
    let handed = HandedQuest::new(session, input.standing, claim, &Reaching::default())?;
    match input.answers {
        Answers::Submit => handed.write(&mut paper),
        Answers::Stdout => {
            handed.write_task(&mut paper);
            paper.gap();
            write_json_form(&mut paper, &judge::kind_of(session.manifest())?, NONE);
        }
        Answers::World => {
            handed.write_task(&mut paper);
            paper.gap();
            paper.line(
                "There is nothing to submit: do the work. The gate checks it, and stops you once \
                 it is right.",
            );
        }
    }
    if !lessons.is_empty() {
        paper.gap();
        paper.line(EscapedLines(lessons.trim_end()).to_string());
    }
    write_history(&mut paper, input.history);
    if !input.facts.is_empty() {
        paper.gap();
        paper.line("Note:");
        for fact in input.facts {
            paper.line(format!("  {}", Escaped(fact)));
        }
    }
    if let Some(reason) = input.last_call {
        paper.gap();
        paper.line(format!(
            "This is the last call for this quest, whose budget has ended ({reason}): answer with \
             the best that you have now. Before that, describe your progress in a few lines for \
             the agent that gets the quest next."
        ));
    }
    Ok(paper.into_text())
}

fn write_history(paper: &mut TextOutput, history: &[Past]) {
    if history.is_empty() {
        return;
    }
    paper.gap();
    paper.line("Earlier starts of an agent for this quest:");
    for past in history {
        paper.line(format!("  start {} ended: {}", past.start, past.reason));
        for submitted in &past.submitted {
            let text: String = submitted.text.chars().take(MAX_SUBMISSION).collect();
            let rules = submitted.rules.join(", ");
            paper.line(format!("    submitted {}", Escaped(&text)));
            paper.line(format!("    rules that failed: {}", Escaped(&rules)));
        }
    }
}
