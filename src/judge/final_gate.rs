//! The final gate: checks over the whole result, since parts that pass alone can fail together.
//!
//! It judges the working tree as it is now, with the results of all quests. Its verdict is not
//! recorded, so that it can be asked again at any time.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::gate::checks::FileGate;
use crate::gate::{Case, Fact, Gate as _, Judgement};
use crate::judge::accepted::NothingAccepted;
use crate::judge::error::JudgeError;
use crate::judge::kind::{SessionKind, gate_settings};
use crate::quest::file::NegativeTable;
use crate::quest::{Fields, Key, Quest, QuestId, Submission, Verdict};
use crate::session::Session;
use crate::world::sandbox::{Alteration, Bench, Edit, LiveWorkshop, Workshop as _};
use crate::world::tree::TreePath;
use crate::world::{Fetcher, Resolver, World};

/// What the final gate says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FinalOutcome {
    /// The kind has none.
    None,
    Passed,
    /// It passed, and a result that is wrong on purpose failed as it must.
    Proven,
    /// The result does not hold.
    Failed {
        /// What is not so.
        facts: Vec<Fact>,
    },
    Unconfirmed {
        /// What could not be told.
        facts: Vec<Fact>,
    },
    /// The result holds, and so does one that is wrong on purpose, or it fails for another reason
    /// than it must: the gate is worth nothing, and counts as not passed.
    NegativeHeld {
        verdict: Verdict,
        facts: Vec<Fact>,
    },
}

impl FinalOutcome {
    /// Whether nothing stands in the way: the kind has no final gate, or it passed.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self, Self::None | Self::Passed | Self::Proven)
    }

    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        match self {
            Self::None | Self::Passed | Self::Proven => &[],
            Self::Failed { facts }
            | Self::Unconfirmed { facts }
            | Self::NegativeHeld { facts, .. } => facts,
        }
    }
}

/// Judges the whole result of a session, with the tree as it is now.
pub fn final_gate(
    session: &Session,
    kind: &SessionKind,
    (fetcher, resolver): (&dyn Fetcher, &dyn Resolver),
) -> Result<FinalOutcome, JudgeError> {
    let Some(definition) = &kind.definition else {
        return Ok(FinalOutcome::None);
    };
    let Some(gate) = definition.final_gate(gate_settings(session.manifest())?)? else {
        return Ok(FinalOutcome::None);
    };
    let Some(bench) = kind.bench(session.evidence(), session.dir().to_owned())? else {
        return Ok(FinalOutcome::None);
    };
    let asked = WholeResult {
        quest: quest_of_all(&kind.quest.name)?,
        gate,
        fetcher,
        resolver,
        bench: &bench,
    };
    let judgement = asked.judged(Alteration::default())?;
    match judgement.verdict {
        Verdict::Fail => Ok(FinalOutcome::Failed {
            facts: judgement.facts,
        }),
        Verdict::Review => Ok(FinalOutcome::Unconfirmed {
            facts: judgement.facts,
        }),
        Verdict::Pass => {
            let file = definition.file()?;
            let part = file.final_part.as_ref();
            match part.and_then(|part| part.negative.as_ref()) {
                None => Ok(FinalOutcome::Passed),
                Some(negative) => asked.negative(negative),
            }
        }
    }
}

/// Stands for the quest, since the final gate is about all of them.
fn quest_of_all(kind: &str) -> Result<Quest, JudgeError> {
    let key = Key::new(kind).map_err(|_| JudgeError::UnknownKind(kind.to_owned()))?;
    Ok(Quest {
        id: QuestId::FIRST,
        key,
        anchor: None,
        shown: Vec::new(),
        known: Vec::new(),
        after: Vec::new(),
        rows: Vec::new(),
    })
}

struct WholeResult<'a> {
    gate: FileGate,
    fetcher: &'a dyn Fetcher,
    resolver: &'a dyn Resolver,
    bench: &'a Bench,
    quest: Quest,
}

impl WholeResult<'_> {
    fn judged(&self, altered: Alteration) -> Result<Judgement, JudgeError> {
        let workshop = LiveWorkshop::altered(self.bench, altered);
        let world = World {
            fetcher: self.fetcher,
            resolver: self.resolver,
            accepted: &NothingAccepted,
            workshop: &workshop,
        };
        let submission = Submission::Fields(Fields::new());
        let case = Case {
            quest: &self.quest,
            submission: &submission,
        };
        let judgement = self.gate.judge(case, &world);
        let failure = workshop.failure();
        failure.map_or(Ok(judgement), |why| Err(JudgeError::Workshop(why)))
    }

    fn negative(&self, negative: &NegativeTable) -> Result<FinalOutcome, JudgeError> {
        let judgement = self.judged(alteration(negative)?)?;
        if fails_as_it_must(negative, &judgement) {
            return Ok(FinalOutcome::Proven);
        }
        Ok(FinalOutcome::NegativeHeld {
            verdict: judgement.verdict,
            facts: judgement.facts,
        })
    }
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
        removed: removed.map_err(|bad| JudgeError::Workshop(bad.to_string()))?,
    })
}

fn fails_as_it_must(negative: &NegativeTable, judgement: &Judgement) -> bool {
    let fired: BTreeSet<&str> = judgement.facts.iter().map(|it| it.rule.as_str()).collect();
    judgement.verdict == Verdict::Fail
        && negative.fires.as_ref().is_none_or(|rules| {
            let rules: BTreeSet<&str> = rules.iter().map(String::as_str).collect();
            rules == fired
        })
}
