//! What a reviewer's answer says: strict JSON, each vote held against what the reviewer saw.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::base::text::visible;
use crate::gate::{Passage, Vote, VoteOn};
use crate::quest::ReviewInput;
use crate::quest::file::{AnswerForm, QuestionTable};
use crate::world::sandbox::Usage;

const DOUBTS_OVER: u8 = 80;
const ASKS_FROM: u8 = 50;
const SUREST: u8 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) votes: Vec<VoteOn>,
    pub(super) strays: Vec<String>,
    pub(super) usage: Usage,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    answers: Vec<Object<Answer>>,
    usage: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    question: String,
    doubt: bool,
    quotation: Option<String>,
    checked: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    confidence: Option<u8>,
}

/// Reads an answer to these questions; one that is not JSON and nothing else is none to any.
pub(super) fn read(
    text: &str,
    form: AnswerForm,
    questions: &[QuestionTable],
    seen: &Seen,
) -> Reading {
    let Answers { answers, usage } = match serde_json::from_str::<Object<Answers>>(text) {
        Ok(Object(answers)) => answers,
        Err(error) => {
            let expected = expected(form);
            let why = format!("its answer does not read: {error}; expected {expected} alone");
            return nothing(questions, &why);
        }
    };
    let answers: Vec<Answer> = answers.into_iter().map(|Object(answer)| answer).collect();
    let votes = questions.iter().map(|question| {
        let on: Vec<&Answer> = answers
            .iter()
            .filter(|it| it.question == question.id)
            .collect();
        VoteOn {
            question: question.id.clone(),
            vote: vote_of(&on, form, seen),
        }
    });
    let known = |answer: &&Answer| questions.iter().any(|it| it.id == answer.question);
    let strays = answers.iter().filter(|answer| !known(answer));
    let strays = strays.map(|answer| format!("nobody asked {:?}", answer.question));
    Reading {
        votes: votes.collect(),
        strays: strays.collect(),
        usage: usage.as_ref().map(Usage::told).unwrap_or_default(),
    }
}

fn expected(form: AnswerForm) -> &'static str {
    match form {
        AnswerForm::Questions => {
            r#"{"answers":[{"question":"ID","doubt":true,"quotation":"…"}]}, or "doubt":false with "checked":"…","#
        }
        AnswerForm::Findings => {
            r#"{"answers":[{"question":"ID","doubt":true,"quotation":"…","file":"…","line":1,"confidence":90}]}, or "doubt":false with "checked":"…","#
        }
    }
}

/// The reading of no answer at all, for this reason.
pub(super) fn nothing(questions: &[QuestionTable], why: &str) -> Reading {
    let votes = questions.iter().map(|question| VoteOn {
        question: question.id.clone(),
        vote: Vote::Error(why.to_owned()),
    });
    Reading {
        votes: votes.collect(),
        strays: Vec::new(),
        usage: Usage::default(),
    }
}

fn vote_of(on: &[&Answer], form: AnswerForm, seen: &Seen) -> Vote {
    let error = |why: &str| Vote::Error(why.to_owned());
    match (on, form) {
        ([], _) => error("it did not answer"),
        ([one], _) => vote(one, form, seen),
        (_, AnswerForm::Questions) => error("it answered more than once"),
        (many, AnswerForm::Findings) if many.iter().any(|it| !it.doubt) => {
            error("it found something, and cleared it as well")
        }
        (many, AnswerForm::Findings) => {
            let votes = many.iter().map(|one| vote(one, form, seen));
            votes
                .max_by_key(weight)
                .unwrap_or_else(|| error("it did not answer"))
        }
    }
}

fn weight(vote: &Vote) -> (u8, u8) {
    let sure = |passage: &Passage| passage.confidence.unwrap_or(SUREST);
    match vote {
        Vote::Doubt(passage) => (4, sure(passage)),
        // What is wrong must not be outweighed by what is of no weight.
        Vote::Error(_) => (3, 0),
        Vote::Unsure(passage) => (2, sure(passage)),
        Vote::Faint(passage) => (1, sure(passage)),
        Vote::Cleared(_) => (0, 0),
    }
}

fn vote(answer: &Answer, form: AnswerForm, seen: &Seen) -> Vote {
    let said = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).unwrap_or_default();
        (!text.is_empty()).then(|| text.to_owned())
    };
    if !answer.doubt {
        return said(&answer.checked).map_or_else(
            || Vote::Error(String::from("it cleared without saying what it checked")),
            Vote::Cleared,
        );
    }
    let Some(quotation) = said(&answer.quotation) else {
        return Vote::Error(String::from("it doubted without a quotation"));
    };
    if let Err(why) = seen.holds(&quotation) {
        return Vote::Error(why);
    }
    let placed = (said(&answer.file), answer.line, answer.confidence);
    match (form, placed) {
        (AnswerForm::Questions, (None, None, None)) => Vote::Doubt(Passage {
            quotation,
            file: None,
            line: None,
            confidence: None,
        }),
        (AnswerForm::Questions, _) => Vote::Error(String::from("it was asked for no place")),
        (AnswerForm::Findings, (Some(file), Some(line), Some(sure))) if sure <= SUREST => {
            let passage = Passage {
                quotation,
                file: Some(file),
                line: Some(line),
                confidence: Some(sure),
            };
            match sure {
                sure if sure > DOUBTS_OVER => Vote::Doubt(passage),
                sure if sure >= ASKS_FROM => Vote::Unsure(passage),
                _ => Vote::Faint(passage),
            }
        }
        (AnswerForm::Findings, _) => Vote::Error(String::from(
            "it doubted without a file, a line and a confidence from 0 to 100",
        )),
    }
}

#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys(PhantomData)).map(Self)
    }
}

/// Takes keys with their values, and nothing else.
struct Keys<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

const FEWEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    inputs: Vec<(ReviewInput, String)>,
    folded: Vec<String>,
}

impl Seen {
    pub(super) fn new(inputs: Vec<(ReviewInput, String)>) -> Self {
        let folded = inputs.iter().map(|(_, text)| visible(text)).collect();
        Self { inputs, folded }
    }

    pub(super) fn inputs(&self) -> &[(ReviewInput, String)] {
        &self.inputs
    }

    /// That the quotation stands in one input, literally but for what no reader sees.
    pub(super) fn holds(&self, quotation: &str) -> Result<(), String> {
        let sought = visible(quotation);
        let visible = sought.chars().filter(|c| !c.is_whitespace()).count();
        let whole = !sought.is_empty() && self.folded.contains(&sought);
        if visible < FEWEST && !whole {
            return Err(format!(
                "its quotation has under {FEWEST} characters: {quotation:?}"
            ));
        }
        let stands = self.folded.iter().any(|text| text.contains(&sought));
        stands
            .then_some(())
            .ok_or_else(|| format!("its quotation stands in nothing that it saw: {quotation:?}"))
    }
}

#[cfg(test)]
mod tests;
