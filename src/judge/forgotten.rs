//! Recognises forgotten addresses in what is submitted, and removes them from what is recorded.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::gate::{Judgement, common_rules};
use crate::judge::masking::{self, MASK, masked_json};
use crate::judge::recorded::NewJudgement;
use crate::quest::field::FieldKind;
use crate::quest::{FieldName, QuestKind, Submission, Verdict};
use crate::session::{
    Forgetting, LineReader, QuestRecord, SessionError, State, Suppressed, Worker,
};
use crate::world::email_text::{mentions, without};
use crate::world::sandbox::{FileSeen, Sandbox};
use crate::world::tree::TreePath;

fn wanted(suppressed: &[Suppressed]) -> impl Fn(&str) -> bool {
    |address| suppressed.iter().any(|one| one.is(address))
}

/// A submission with a forgotten address, as it may be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Masked {
    /// What was submitted, without the address.
    pub submission: Submission,
    pub judgement: Judgement,
}

/// What is recorded of a `submission` that contains a forgotten address; none if it contains none.
///
/// `holds`: the fields that name files which contain one.
pub fn masked(
    forgetting: &Forgetting,
    submission: &Submission,
    holds: &BTreeSet<FieldName>,
) -> Option<Masked> {
    let suppressed = forgetting.suppressed();
    if suppressed.is_empty() {
        return None;
    }
    let wanted = wanted(suppressed);
    let mask = |text: &str| without(text, &wanted, MASK);
    let submission = match submission {
        Submission::None(why) => Submission::None(mask(why)?),
        Submission::Fields(fields) => {
            let others: Vec<_> = fields
                .iter()
                .filter_map(|(name, text)| {
                    let of_file = holds.contains(name).then(|| MASK.to_owned());
                    Some((name.clone(), of_file.or_else(|| mask(text))?))
                })
                .collect();
            if others.is_empty() {
                return None;
            }
            let mut fields = fields.clone();
            fields.extend(others);
            Submission::Fields(fields)
        }
    };
    Some(Masked {
        submission,
        judgement: common_rules::forgotten_address(),
    })
}

/// The fields that name files which contain a forgotten address.
pub fn holding_files(
    forgetting: &Forgetting,
    submission: &Submission,
    kind: &QuestKind,
    sandbox: &dyn Sandbox,
) -> BTreeSet<FieldName> {
    let suppressed = forgetting.suppressed();
    let wanted = wanted(suppressed);
    let files = kind
        .fields
        .iter()
        .filter(|field| field.shape.kind() == FieldKind::File);
    let holds = files.filter(|field| {
        let path = submission.field(field.name.as_str());
        let path = path.and_then(|path| TreePath::parse(path).ok());
        path.is_some_and(|path| match sandbox.file(&path) {
            FileSeen::File(bytes) => masking::holds(&bytes, &wanted),
            FileSeen::Absent | FileSeen::Other(_) => false,
        })
    });
    holds.map(|field| field.name.clone()).collect()
}

/// Whether the name of a worker contains a forgotten address.
pub fn is_named(forgetting: &Forgetting, worker: &Worker) -> bool {
    mention_one(forgetting.suppressed(), worker.as_str())
}

/// `text` without the addresses that were forgotten; none when it holds none of them.
pub fn blotted(forgetting: &Forgetting, text: &str) -> Option<String> {
    let suppressed = forgetting.suppressed();
    let masked = || without(text, &wanted(suppressed), MASK);
    if suppressed.is_empty() {
        None
    } else {
        masked()
    }
}

/// Whether a submission contains a forgotten address.
pub fn names(suppressed: &[Suppressed], submission: &Submission) -> bool {
    match submission {
        Submission::None(why) => mention_one(suppressed, why),
        Submission::Fields(fields) => fields.values().any(|text| mention_one(suppressed, text)),
    }
}

fn mention_one(suppressed: &[Suppressed], text: &str) -> bool {
    !suppressed.is_empty() && !mentions(text, &wanted(suppressed)).is_empty()
}

/// The judgement without the forgotten addresses that pages showed the gate: neither in its facts
/// nor among the bodies that are kept.
///
/// A PASS stays as it is, for it is judged again from them; its pages are kept without the
/// addresses that it does not name.
pub(crate) fn without_forgotten(forgetting: &Forgetting, made: NewJudgement) -> NewJudgement {
    let suppressed = forgetting.suppressed();
    if suppressed.is_empty() || made.judgement.verdict == Verdict::Pass {
        return made;
    }
    let wanted = wanted(suppressed);
    let said = serde_json::to_string(&made.judgement).unwrap_or_default();
    let other = masked_json(&said, &wanted, MASK);
    let other = other.and_then(|other| serde_json::from_str(&other).ok());
    let mut recording = made.recording;
    recording
        .bodies
        .retain(|_, body| mentions(&String::from_utf8_lossy(body), &wanted).is_empty());
    NewJudgement {
        judgement: other.unwrap_or(made.judgement),
        recording,
        ..made
    }
}

/// Whether a list contains a forgotten address, or may contain one that cannot be found.
pub fn brings_back(forgetting: &Forgetting, list: &[u8]) -> bool {
    let suppressed = forgetting.suppressed();
    let wanted = wanted(suppressed);
    !suppressed.is_empty() && !matches!(masking::masked(list, &wanted), Ok(None))
}

/// Whether an address was removed from what the quest was settled by.
pub fn is_forgotten(reader: &mut LineReader, record: &QuestRecord) -> Result<bool, SessionError> {
    let locked = matches!(record.progress.state, State::Pass | State::Review);
    match record.last.filter(|_| locked) {
        Some(last) if reader.is_redacted(last.line)? => {
            let last = reader.last_attempt(record)?;
            Ok(last.is_some_and(|last| is_masked(&last.value.submission)))
        }
        _ => Ok(false),
    }
}

/// Whether an address was removed from the evidence of the quest's last judgement.
pub fn is_evidence_blotted(
    forgetting: &Forgetting,
    reader: &mut LineReader,
    record: &QuestRecord,
    evidence: &RawValue,
) -> Result<bool, SessionError> {
    let lines = [
        record.last.map(|last| last.line),
        record.resolution.map(|it| it.line),
    ];
    let mut blotted = forgetting.empties(evidence.get());
    for line in lines.into_iter().flatten() {
        blotted |= reader.is_redacted(line)?;
    }
    Ok(blotted)
}

pub fn is_masked(submission: &Submission) -> bool {
    match submission {
        Submission::None(why) => why.contains(MASK),
        Submission::Fields(fields) => fields.values().any(|text| text.contains(MASK)),
    }
}
