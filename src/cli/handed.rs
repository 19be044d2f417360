//! A quest as it is handed to an agent: its prompt, what failed last, and how to answer.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Reaching;
use super::output::{Paper, Tone};
use super::prompt;
use super::rules;
use super::shell_line::AnswerLines;
use crate::base::text::{Escaped, EscapedLines};
use crate::gate::{Fact, Judgement, Rule};
use crate::judge::SessionKind;
use crate::quest::{self, Quest};
use crate::session::{Claim, QuestRecord, Session};

/// One quest, handed out.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Handed {
    quest: Quest,
    unit: String,
    total: u32,
    remaining: u32,
    #[serde(rename = "try")]
    this_try: u32,
    max_tries: u32,
    prompt: String,
    example: String,
    submit: String,
    /// The fields that may be left out, as flags with what belongs in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    optional: Vec<String>,
    submit_none: String,
    /// The claim under which the worker has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
    /// What the last attempt failed on.
    facts: Vec<Fact>,
    /// What the last agent that was driven at it said of where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Box<str>>,
    #[serde(skip)]
    rules: Vec<Rule>,
    #[serde(skip)]
    would_look_right: String,
}

impl Handed {
    /// The quest of `standing`, to be answered by a program that `reaching` leads to the session.
    pub(super) fn of(
        session: &Session,
        standing: &QuestRecord,
        claim: Option<Claim>,
        reaching: &Reaching,
    ) -> Result<Self> {
        let judging = SessionKind::load(session.manifest())?;
        let kind = &judging.quest;
        let quest = session.quest(standing)?;
        let facts = match session.last_attempt(standing)? {
            Some(last) => serde_json::from_str::<Judgement>(last.value.judgement.get())?.facts,
            None => Vec::new(),
        };
        let note = session.handover(standing)?.map(|note| note.value);
        let tally = session.totals().tally;
        let namesakes = session.named(&quest.key.folded())?.len();
        let lines = AnswerLines::of_quest(kind, &quest, namesakes, reaching);
        Ok(Self {
            prompt: quest::prompt::render(kind, &quest)?,
            would_look_right: prompt::would_look_right(kind),
            unit: kind.unit.to_string(),
            total: tally.total(),
            remaining: tally.todo,
            this_try: standing.progress.tries + 1,
            max_tries: session.manifest().frozen.max_tries.get(),
            example: lines.example(),
            submit: lines.submit(),
            optional: lines.optional(),
            submit_none: lines.none(),
            rules: judging.rules(),
            quest,
            claim,
            facts,
            note,
        })
    }

    /// Writes it as `next` prints it.
    pub(super) fn write(&self, paper: &mut Paper) {
        self.write_task(paper);
        self.write_answering(paper);
    }

    /// What is to be done, and what is known of it.
    pub(super) fn write_task(&self, paper: &mut Paper) {
        let place = format!(
            "quest {} of {}, {} left, try {} of {}",
            self.quest.id, self.total, self.remaining, self.this_try, self.max_tries
        );
        let place = paper.tint(Tone::Strong, &place);
        paper.line(place);
        if let Some(claim) = &self.claim {
            let (worker, lease) = (&claim.worker, claim.lease);
            paper.line(format!(
                "claimed by {worker} for {lease}, renewed by each submission"
            ));
        }
        paper.gap();
        paper.line(EscapedLines(self.prompt.trim_end()).to_string());
        if !self.facts.is_empty() {
            paper.gap();
            paper.line(format!("The last attempt ({}) failed:", self.this_try - 1));
            rules::write_facts(paper, &self.facts, &self.rules);
        }
        if let Some(note) = &self.note {
            paper.gap();
            paper.line("The last agent left a note:");
            for line in note.lines() {
                paper.line(format!("  > {}", Escaped(line)));
            }
        }
    }

    /// How it is answered on a command line.
    fn write_answering(&self, paper: &mut Paper) {
        paper.gap();
        paper.line(&self.would_look_right);
        paper.line(format!("  {}", Escaped(&self.example)));
        paper.line(prompt::SUBMIT_YOURS);
        paper.line(format!("  {}", Escaped(&self.submit)));
        if !self.optional.is_empty() {
            paper.line(prompt::MAY_BE_ADDED);
            for flag in &self.optional {
                paper.line(format!("  {}", Escaped(flag)));
            }
        }
        paper.line(prompt::NOTHING_FOUND);
        paper.line(format!("  {}", Escaped(&self.submit_none)));
    }
}
