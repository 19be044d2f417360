//! What a reviewer's answer says: strict JSON, and each doubt quotes what the reviewer saw.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::base::text::visible;
use crate::gate::{Passage, Vote, VoteOn};
use crate::quest::file::{AnswerForm, QuestionTable};
use crate::quest::{ReviewInput, json};
use crate::world::evidence::prune::masked;
use crate::world::sandbox::Usage;

/// How sure a reviewer must be, in percent, so that a finding is a doubt; less is a question.
const DOUBTS_OVER: u8 = 80;
const ASKS_FROM: u8 = 50;
const SUREST: u8 = 100;

/// What a reviewer said on each question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReviewerAnswer {
    pub(super) votes: Vec<VoteOn>,
    /// Complaints about answers to questions that nobody asked.
    pub(super) strays: Vec<String>,
    pub(super) usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerDocument {
    answers: Vec<Value>,
    usage: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerTo {
    question: String,
    doubt: bool,
    quotation: Option<String>,
    checked: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    confidence: Option<u8>,
}

/// Reads an object, and no array: serde would take one for a struct, member by member.
fn object<T: DeserializeOwned>(value: Value) -> serde_json::Result<T> {
    if value.is_object() {
        serde_json::from_value(value)
    } else {
        Err(serde_json::Error::custom("expected an object"))
    }
}

/// Reads an answer to these questions. Text that is more than one JSON document answers none.
pub(super) fn read(
    text: &str,
    form: AnswerForm,
    questions: &[QuestionTable],
    shown: &ShownInputs,
) -> ReviewerAnswer {
    let read = json::value(text).and_then(object).and_then(|document| {
        let AnswerDocument { answers, usage } = document;
        let answers: Result<Vec<AnswerTo>, _> = answers.into_iter().map(object).collect();
        Ok((answers?, usage))
    });
    let (answers, usage) = match read {
        Ok(read) => read,
        Err(error) => {
            let place = match form {
                AnswerForm::Questions => "",
                AnswerForm::Findings => r#","file":"…","line":1,"confidence":90"#,
            };
            let why = format!(
                "its answer cannot be read: {error}; expected {{\"answers\":[{{\"question\":\"ID\",\
                 \"doubt\":true,\"quotation\":\"…\"{place}}}]}}, or \"doubt\":false with \
                 \"checked\":\"…\", alone"
            );
            return ReviewerAnswer::none(questions, &why);
        }
    };
    let votes = questions.iter().map(|question| {
        let on = answers.iter().filter(|it| it.question == question.id);
        VoteOn {
            question: question.id.clone(),
            vote: vote_of(&on.collect::<Vec<_>>(), form, shown),
        }
    });
    let known = |answer: &&AnswerTo| questions.iter().any(|it| it.id == answer.question);
    let strays = answers.iter().filter(|answer| !known(answer));
    let strays = strays.map(|answer| format!("nobody asked {:?}", answer.question));
    ReviewerAnswer {
        votes: votes.collect(),
        strays: strays.collect(),
        usage: usage.as_ref().map(Usage::told).unwrap_or_default(),
    }
}

impl ReviewerAnswer {
    /// No answer to any question, for this reason.
    pub(super) fn none(questions: &[QuestionTable], why: &str) -> Self {
        let votes = questions.iter().map(|question| VoteOn {
            question: question.id.clone(),
            vote: Vote::Error(why.to_owned()),
        });
        Self {
            votes: votes.collect(),
            strays: Vec::new(),
            usage: Usage::default(),
        }
    }

    pub(super) fn vote(&self, question: &str) -> Option<&Vote> {
        let on = self.votes.iter().find(|on| on.question == question);
        on.map(|on| &on.vote)
    }
}

fn error(why: &str) -> Vote {
    Vote::Error(why.to_owned())
}

fn vote_of(on: &[&AnswerTo], form: AnswerForm, shown: &ShownInputs) -> Vote {
    match (on, form) {
        ([], _) => error("it did not answer"),
        ([one], _) => vote(one, form, shown),
        (_, AnswerForm::Questions) => error("it answered more than once"),
        (many, AnswerForm::Findings) if many.iter().any(|it| !it.doubt) => {
            error("it found something, and cleared it as well")
        }
        (many, AnswerForm::Findings) => {
            let votes = many.iter().map(|one| vote(one, form, shown));
            let gravest = votes.max_by_key(weight);
            gravest.unwrap_or_else(|| error("it did not answer"))
        }
    }
}

fn weight(vote: &Vote) -> (u8, u8) {
    let sure = |passage: &Passage| passage.confidence.unwrap_or(SUREST);
    match vote {
        Vote::Doubt(passage) => (4, sure(passage)),
        // An answer with an error must not be outweighed by one that counts for little.
        Vote::Error(_) => (3, 0),
        Vote::Unsure(passage) => (2, sure(passage)),
        Vote::Faint(passage) => (1, sure(passage)),
        Vote::Cleared(_) => (0, 0),
    }
}

fn vote(answer: &AnswerTo, form: AnswerForm, shown: &ShownInputs) -> Vote {
    let said = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).unwrap_or_default();
        (!text.is_empty()).then(|| text.to_owned())
    };
    if !answer.doubt {
        let checked = said(&answer.checked).map(Vote::Cleared);
        return checked.unwrap_or_else(|| error("it cleared without saying what it checked"));
    }
    let Some(quotation) = said(&answer.quotation) else {
        return error("it doubted without a quotation");
    };
    if let Err(why) = shown.holds(&quotation) {
        return Vote::Error(why);
    }
    let passage = Passage {
        quotation,
        file: said(&answer.file),
        line: answer.line,
        confidence: answer.confidence,
    };
    match (form, &passage.file, passage.line, passage.confidence) {
        (AnswerForm::Questions, None, None, None) => Vote::Doubt(passage),
        (AnswerForm::Questions, ..) => error("it was asked for no place"),
        (AnswerForm::Findings, Some(_), Some(_), Some(sure)) if sure <= SUREST => match sure {
            sure if sure > DOUBTS_OVER => Vote::Doubt(passage),
            sure if sure >= ASKS_FROM => Vote::Unsure(passage),
            _ => Vote::Faint(passage),
        },
        (AnswerForm::Findings, ..) => {
            error("it doubted without a file, a line and a confidence from 0 to 100")
        }
    }
}

/// The fewest visible characters of a quotation: fewer are found in every text.
const MIN_QUOTED: usize = 8;

/// The inputs as one reviewer sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownInputs {
    pub(super) inputs: Vec<(ReviewInput, String)>,
    folded: Vec<String>,
}

impl ShownInputs {
    pub(super) fn new(inputs: Vec<(ReviewInput, String)>) -> Self {
        let folded = inputs.iter().map(|(_, text)| visible(text)).collect();
        Self { inputs, folded }
    }

    /// Checks that one input contains the quotation, literally but for characters that no reader
    /// sees.
    pub(super) fn holds(&self, quotation: &str) -> Result<(), String> {
        let sought = visible(quotation);
        let visible = sought.chars().filter(|c| !c.is_whitespace()).count();
        let whole = !sought.is_empty() && self.folded.contains(&sought);
        if visible < MIN_QUOTED && !whole {
            return Err(format!(
                "its quotation has under {MIN_QUOTED} characters: {quotation:?}"
            ));
        }
        if self.folded.iter().any(|text| text.contains(&sought)) {
            Ok(())
        } else {
            Err(format!("no input contains its quotation: {quotation:?}"))
        }
    }

    /// Whether one input still contains what an earlier doubt quotes.
    ///
    /// Which mailboxes a reviewer is shown depends on what is submitted, so that words next to one
    /// would come and go with the submission. So a quotation is looked for in the text as it is, and
    /// once more with every mailbox masked on both sides.
    pub(super) fn still_hold(&self, quotation: &str) -> bool {
        let without_mailboxes = |text: &str| visible(&masked(text, &[]));
        let (sought, bare) = (visible(quotation), without_mailboxes(quotation));
        let mut texts = self.inputs.iter().zip(&self.folded);
        texts.any(|((_, text), folded)| {
            (!sought.is_empty() && folded.contains(&sought))
                || (!bare.is_empty() && without_mailboxes(text).contains(&bare))
        })
    }
}

#[cfg(test)]
mod tests;
