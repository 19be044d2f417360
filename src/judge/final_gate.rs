//! The final gate: checks over the whole result, since parts that pass alone can fail together.
//!
//! It judges the working tree as it is now, with the results of all quests. Its verdict is not
//! recorded, so that it can be asked again at any time.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::gate::checks::FileGate;
use crate::gate::{Case, Fact, Gate as _, Judgement};
use crate::judge::context::JudgeContext;
use crate::judge::error::JudgeError;
use crate::judge::kind::gate_settings;
use crate::judge::recorded::NothingAccepted;
use crate::quest::file::NegativeTable;
use crate::quest::{Fields, Key, Quest, QuestId, Submission, Verdict};
use crate::session::Session;
use crate::world::World;
use crate::world::sandbox::{Alteration, Edit};
use crate::world::tree::TreePath;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FinalResult {
    pub word: FinalWord,
    /// What it found, or why it was not asked.
    pub details: Vec<String>,
}

/// What the checks over the whole result said, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinalWord {
    /// There are none.
    #[default]
    None,
    /// They passed, with no negative control.
    Passed,
    /// They passed, and the negative control failed as it must.
    Proven,
    Refused,
    Unjudged,
}

impl FinalResult {
    pub fn unjudged(why: impl Into<String>) -> Self {
        Self {
            word: FinalWord::Unjudged,
            details: vec![why.into()],
        }
    }

    fn of(word: FinalWord) -> Self {
        Self {
            word,
            details: Vec::new(),
        }
    }
}

impl JudgeContext {
    pub fn has_final_gate(&self) -> bool {
        self.kind.has_final
    }

    /// Judges the whole result of a session, with the tree as it is now.
    ///
    /// Where there is a negative control, the result is also judged with that change, which must
    /// make it fail: a gate that passes what is wrong on purpose is worth nothing.
    pub fn final_gate(&self, session: &Session) -> Result<FinalResult, JudgeError> {
        let Some(definition) = &self.kind.definition else {
            return Ok(FinalResult::default());
        };
        let file = definition.file()?;
        let settings = gate_settings(session.manifest())?;
        let gate = FileGate::of_final(&file, &definition.gathered, settings);
        let gate = gate.map_err(|mistake| definition.faulty(mistake))?;
        let (Some(gate), Some(part)) = (gate, &file.final_part) else {
            return Ok(FinalResult::default());
        };
        let quest = quest_of_all(&self.kind.quest.name)?;
        let submission = Submission::Fields(Fields::new());
        let case = Case {
            quest: &quest,
            submission: &submission,
        };
        let judged = |altered| {
            let nothing = NothingAccepted;
            let judge = |world: World<'_>| gate.judge(case, &world);
            self.world.lend_altered(&nothing, altered, judge)
        };
        let judgement = judged(Alteration::default())?;
        if judgement.verdict != Verdict::Pass {
            return Ok(FinalResult {
                word: FinalWord::Refused,
                details: judgement.facts.iter().map(sentence).collect(),
            });
        }
        let Some(negative) = &part.negative else {
            return Ok(FinalResult::of(FinalWord::Passed));
        };
        let judgement = judged(alteration(negative)?)?;
        let fires = negative.fires.as_deref();
        let fits = fires.is_none_or(|rules| fires_exactly(&judgement, rules));
        if judgement.verdict == Verdict::Fail && fits {
            return Ok(FinalResult::of(FinalWord::Proven));
        }
        let what = format!(
            "its negative control, which is wrong on purpose, did not fail as it should: it is {}",
            judgement.verdict
        );
        let facts = judgement.facts.iter().map(sentence);
        Ok(FinalResult {
            word: FinalWord::Refused,
            details: std::iter::once(what).chain(facts).collect(),
        })
    }
}

fn sentence(fact: &Fact) -> String {
    let place = fact.location.as_ref().map(|place| format!(" at {place}"));
    let place = place.unwrap_or_default();
    let (rule, expected, actual) = (&fact.rule, &fact.expected, &fact.actual);
    format!("{rule}{place}: expected {expected}, found {actual}")
}

/// Stands for the quest, since the final gate is about all of them.
fn quest_of_all(kind: &str) -> Result<Quest, JudgeError> {
    let key = Key::new(kind).map_err(|_| JudgeError::UnknownKind(kind.to_owned()))?;
    Ok(Quest::new(QuestId::FIRST, key))
}

pub(super) fn alteration(negative: &NegativeTable) -> Result<Alteration, JudgeError> {
    let files = negative.files.iter().map(|(path, text)| Edit {
        path: path.clone(),
        text: text.clone(),
    });
    let removed = negative.remove.iter().map(|path| TreePath::parse(path));
    let removed = removed.collect::<Result<_, _>>();
    Ok(Alteration {
        files: files.collect(),
        removed: removed.map_err(|bad| JudgeError::Sandbox(bad.to_string()))?,
    })
}

/// Whether these rules fired, and no others.
pub(super) fn fires_exactly(judgement: &Judgement, rules: &[String]) -> bool {
    let fired: BTreeSet<&str> = judgement.facts.iter().map(|it| it.rule.as_str()).collect();
    let rules: BTreeSet<&str> = rules.iter().map(String::as_str).collect();
    rules == fired
}
