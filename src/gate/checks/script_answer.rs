//! What a script answers: JSON, or a code.

use crate::gate::Fact;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::orders::{capped, tail, with_meaning};
use crate::base::text::truncate;
use crate::quest::json::whole_text;
use crate::quest::{Field, Verdict, json};
use crate::world::sandbox::{End, Ran};

/// The most characters of a text that a script writes into a fact.
const LONGEST: usize = 2_000;

/// The answer as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    verdict: Verdict,
    #[serde(default)]
    facts: Vec<ToldFact>,
    /// For whoever reads the evidence, in which all that it printed stands.
    #[serde(default, rename = "evidence")]
    _evidence: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToldFact {
    field: Option<String>,
    location: Option<String>,
    expected: String,
    actual: String,
}

/// What stands in the way, by what a script has answered.
///
/// It passes by saying so and nothing else, or by a code alone; what cannot be read, or
/// contradicts itself, confirms nothing.
#[must_use]
pub fn judged(ran: &Ran, fields: &[Field], means: Option<&str>) -> Vec<Fact> {
    let unclear = |why: String| {
        let detail = Fact::wrong("an answer of the script", format!("{why}: {}", tail(ran)));
        vec![detail.unconfirmed()]
    };
    let code = match ran.end {
        End::Exited(code @ 0..=2) => code,
        End::Exited(code) => return unclear(format!("it ended with the code {code}")),
        End::Signalled(signal) => return unclear(format!("it was ended by signal {signal}")),
        End::TooMuchOutput | End::TimedOut | End::NotStarted(_) | End::Withheld(_) => {
            return unclear(String::from("it did not end by itself"));
        }
    };
    let said = ran.stdout.trim_ascii();
    if said.is_empty() {
        return by_code(code, ran, means);
    }
    if !said.starts_with(b"{") {
        // What the script says may stand after words that code under test printed.
        return match code {
            1 => by_code(code, ran, means),
            _ => unclear(format!(
                "it ended with the code {code}, and printed no answer"
            )),
        };
    }
    // What a script repeats of a submission need be no text, and is the submission's doing.
    let said = whole_text(said);
    let answer = json::value(&said).and_then(serde_json::from_value);
    let answer: Answer = match answer {
        Ok(answer) => answer,
        Err(error) => return unclear(format!("it cannot be read ({error})")),
    };
    let agrees = match answer.verdict {
        Verdict::Pass => code == 0,
        // A script that has said its verdict in words may well end as one that has done its work.
        Verdict::Fail => code != 2,
        Verdict::Review => code != 1,
    };
    if !agrees {
        return unclear(format!(
            "it says {} and ends with the code {code}",
            answer.verdict
        ));
    }
    match details(answer.facts, fields) {
        Err(unknown) => unclear(format!("it names a field `{unknown}` that there is not")),
        Ok(details) if answer.verdict == Verdict::Pass && !details.is_empty() => {
            unclear(String::from("it says PASS, and what stands in the way"))
        }
        Ok(details) => by_verdict(answer.verdict, details, ran, means),
    }
}

fn by_code(code: i32, ran: &Ran, means: Option<&str>) -> Vec<Fact> {
    let verdict = match code {
        0 => Verdict::Pass,
        1 => Verdict::Fail,
        _ => Verdict::Review,
    };
    by_verdict(verdict, Vec::new(), ran, means)
}

fn by_verdict(verdict: Verdict, mut facts: Vec<Fact>, ran: &Ran, means: Option<&str>) -> Vec<Fact> {
    if verdict != Verdict::Pass && facts.is_empty() {
        let actual = format!("it says {verdict}: {}", tail(ran));
        // What the check means is not known to be so where the script cannot tell.
        let means = means.filter(|_| verdict == Verdict::Fail);
        facts.push(Fact::wrong(
            "the script passes it",
            with_meaning(means, actual),
        ));
    }
    if verdict == Verdict::Review {
        facts = facts.into_iter().map(Fact::unconfirmed).collect();
    }
    let total = u32::try_from(facts.len()).unwrap_or(u32::MAX);
    capped(facts, total)
}

/// The facts as details; the name of a field that there is not where one names it.
fn details(facts: Vec<ToldFact>, fields: &[Field]) -> Result<Vec<Fact>, String> {
    let detail = |fact: ToldFact| {
        let mut detail = Fact::wrong(
            truncate(&fact.expected, LONGEST),
            truncate(&fact.actual, LONGEST),
        );
        detail.location = fact
            .location
            .as_deref()
            .map(|at| truncate(at, LONGEST).into_owned());
        if let Some(name) = fact.field {
            let field = fields.iter().find(|field| field.name.as_str() == name);
            detail.field = Some(field.ok_or(name)?.name.clone());
        }
        Ok(detail)
    };
    facts.into_iter().map(detail).collect()
}

#[cfg(test)]
mod tests;
