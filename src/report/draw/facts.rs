//! Facts as a page has room for.

use serde::Deserialize;

use super::clip::clipped;
use crate::gate::{Fact, Level};
use crate::report::picture::{FactRow, FactRows};

/// What is read of a judgement.
#[derive(Deserialize)]
struct Found {
    facts: Vec<Fact>,
}

/// The facts of a judgement, as the gate wrote it: at most `most`, each text of some `longest`
/// bytes. One that does not read is `audit`'s to tell of.
pub(super) fn facts_of(judgement: &str, most: usize, longest: usize) -> FactRows {
    let found = serde_json::from_str::<Found>(judgement);
    let facts = found.map_or_else(|_| Vec::new(), |found| found.facts);
    rows(facts, most, |text| clipped(text, longest))
}

/// At most `most` of `facts`, the texts of which are shown as `shown` says.
pub(super) fn rows(facts: Vec<Fact>, most: usize, shown: impl Fn(&str) -> String) -> FactRows {
    let left_out = small(facts.len().saturating_sub(most));
    let kept = facts.into_iter().take(most);
    FactRows {
        shown: kept.map(|it| row(it, &shown)).collect(),
        left_out,
    }
}

fn row(fact: Fact, shown: impl Fn(&str) -> String) -> FactRow {
    let more = match fact.count {
        0 | 1 => String::new(),
        count => format!(" ({count} of its kind)"),
    };
    FactRow {
        rule: fact.rule.to_string(),
        fails: fact.level == Level::Fail,
        field: fact.field.map(|field| field.to_string()),
        place: fact.location.map(|place| shown(&place)),
        expected: shown(&fact.expected),
        actual: shown(&fact.actual) + &more,
    }
}

/// Takes all of them away, and leaves their number.
pub(super) fn leave_out(facts: &mut FactRows) {
    let gone = small(facts.shown.len());
    facts.left_out = facts.left_out.saturating_add(gone);
    facts.shown = Vec::new();
}

/// How many bytes their texts have.
pub(super) fn bytes(facts: &FactRows) -> usize {
    let texts = facts.shown.iter().map(|it| {
        let place = it.place.as_ref().map_or(0, String::len);
        it.rule.len() + place + it.expected.len() + it.actual.len()
    });
    texts.sum()
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::draw::bench::{fact, judgement};

    #[test]
    fn those_that_there_is_no_room_for_are_counted() {
        let judged = judgement(vec![fact("one", "x"), fact("two", "y"), fact("three", "z")]);
        let mut facts = facts_of(&judged, 2, 100);
        let rules: Vec<&str> = facts.shown.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!((rules, facts.left_out), (vec!["one", "two"], 1));
        assert_eq!(bytes(&facts), "onethisx".len() + "twothisy".len());
        leave_out(&mut facts);
        assert_eq!((facts.shown.len(), facts.left_out), (0, 3));
        assert_eq!(facts_of("null", 2, 100), FactRows::default());
    }

    #[test]
    fn long_texts_are_cut_and_a_kind_is_counted_behind_them() {
        let many = Fact {
            cause: crate::gate::Cause::Wrong,
            count: 3,
            ..fact("one", &"x".repeat(1000))
        };
        let facts = facts_of(&judgement(vec![many]), 9, 10);
        let expected = "xxxxxxxxxx… (1000 bytes) (3 of its kind)";
        assert_eq!(facts.shown[0].actual, expected);
    }
}
