//! What of the source's code, links and placeholders is lost, or was not there.

use std::collections::BTreeMap;

use super::Pair;
use crate::gate::checks::fields::shown;
use crate::gate::checks::probe::Found;
use crate::gate::checks::prose::{Inline, InlineKind, Markup, Placed};

/// What stands in a section, by what it says: the lines of each.
type Lines<'a> = BTreeMap<(usize, &'a str), Vec<usize>>;

/// What of this kind either side has and the other has not.
pub(super) fn strayed(
    theirs: &Markup,
    ours: &Markup,
    pair: &Pair<'_>,
    kind: InlineKind,
) -> Vec<Found> {
    let (one, other) = (lines(theirs, kind), lines(ours, kind));
    let mut found = Vec::new();
    for (key, at) in &one {
        let there = other.get(key).map_or(0, Vec::len);
        let lost = at.iter().skip(there);
        found.extend(lost.map(|line| pair.lost(&named(kind, key.1), *line)));
    }
    for (key, at) in &other {
        let expected = format!("{} as often as the source has it", named(kind, key.1));
        let there = one.get(key).map_or(0, Vec::len);
        let more = at.iter().skip(there);
        found.extend(more.map(|line| pair.other(&expected, "one more", *line)));
    }
    if found.is_empty() {
        found.extend(swapped(theirs, ours, pair).filter(|_| kind == InlineKind::Placeholder));
    }
    found
}

fn lines(markup: &Markup, kind: InlineKind) -> Lines<'_> {
    let mut lines = Lines::new();
    for placed in markup
        .inlines
        .iter()
        .filter(|placed| placed.it.kind == kind)
    {
        let key = (placed.section, placed.it.text.as_str());
        lines.entry(key).or_default().push(placed.line);
    }
    lines
}

/// The first of the placeholders that are filled by their order alone and stand in another one.
fn swapped(theirs: &Markup, ours: &Markup, pair: &Pair<'_>) -> Option<Found> {
    let mut pairs = ordered(theirs).zip(ordered(ours));
    let (one, other) = pairs.find(|(one, other)| one.it.text != other.it.text)?;
    let expected = format!(
        "{}, as at {}",
        named(InlineKind::Placeholder, &one.it.text),
        pair.original.line(one.line)
    );
    let actual = named(InlineKind::Placeholder, &other.it.text);
    Some(pair.other(&expected, &actual, other.line))
}

fn ordered(markup: &Markup) -> impl Iterator<Item = &Placed<Inline>> {
    markup.inlines.iter().filter(|placed| {
        let text = placed.it.text.as_str();
        let by_order = text == "{}" || (text.starts_with('%') && !text.contains(['$', '(']));
        placed.it.kind == InlineKind::Placeholder && by_order
    })
}

fn named(kind: InlineKind, text: &str) -> String {
    let text = shown(text);
    match kind {
        InlineKind::Code => format!("the code `{text}`"),
        InlineKind::Link => format!("a link to {text}"),
        InlineKind::Placeholder => format!("the placeholder {text}"),
    }
}
