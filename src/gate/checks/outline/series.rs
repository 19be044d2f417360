//! Where blocks cease to follow one another as in the source.

use std::collections::BTreeSet;

use super::Pair;
use crate::gate::checks::probe::Found;
use crate::gate::checks::prose::{Block, Markup, Placed};

/// The first departure in each section, among the blocks that `pick` takes.
///
/// Headings, which end sections, are one series of the whole text.
pub(super) fn departed(
    theirs: &Markup,
    ours: &Markup,
    pair: &Pair<'_>,
    pick: impl Fn(&Block) -> Option<Block>,
) -> Vec<Found> {
    let picked = |markup: &Markup| -> Vec<Placed<Block>> {
        let blocks = markup.blocks.iter();
        let picked = blocks.filter_map(|it| Some((it, pick(&it.it)?)));
        picked
            .map(|(placed, it)| Placed {
                line: placed.line,
                section: match it {
                    Block::Heading(_) => 0,
                    _ => placed.section,
                },
                it,
            })
            .collect()
    };
    let (theirs, ours) = (picked(theirs), picked(ours));
    let all = theirs.iter().chain(&ours);
    let sections: BTreeSet<usize> = all.map(|it| it.section).collect();
    let found = sections.into_iter().filter_map(|section| {
        let of = |all: &[Placed<Block>]| -> Vec<Placed<Block>> {
            let of = all.iter().filter(|it| it.section == section);
            of.cloned().collect()
        };
        first(&of(&theirs), &of(&ours), pair)
    });
    found.collect()
}

fn first(theirs: &[Placed<Block>], ours: &[Placed<Block>], pair: &Pair<'_>) -> Option<Found> {
    let same = theirs.iter().zip(ours);
    let same = same.take_while(|(one, other)| one.it == other.it).count();
    match (theirs.get(same), ours.get(same)) {
        (None, None) => None,
        (Some(lost), None) => Some(pair.lost(&named(&lost.it), lost.line)),
        (None, Some(other)) => {
            let expected = "no more than the source has";
            Some(pair.other(expected, &named(&other.it), other.line))
        }
        (Some(one), Some(other)) => {
            let (mut expected, mut actual) = (named(&one.it), named(&other.it));
            if expected == actual {
                expected.push_str(" that says the same");
                actual.push_str(" that says something else");
            }
            let expected = format!("{expected}, as at {}", pair.original.line(one.line));
            Some(pair.other(&expected, &actual, other.line))
        }
    }
}

fn named(block: &Block) -> String {
    match block {
        Block::Heading(level) => format!("a heading of level {level}"),
        Block::Item { numbered, depth } => {
            let sort = if *numbered {
                "a numbered item"
            } else {
                "an item"
            };
            format!("{sort} of a list at depth {}", depth + 1)
        }
        Block::Code { language, .. } if language.is_empty() => String::from("a block of code"),
        Block::Code { language, .. } => format!("a block of code in `{language}`"),
    }
}
