//! The facts of a check that found many: the first few, and how many there are.

use super::probe::{Found, MOST_FACTS};

/// At most [`MOST_FACTS`] of `all`: what is wrong before what could not be said, each in its order.
///
/// The last one shown of each sort counts for those of its sort that are not.
pub(super) fn first_facts(all: Vec<Found>) -> Vec<Found> {
    let (wrong, unsure): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|found| matches!(found, Found::Wrong(_)));
    let room = MOST_FACTS.saturating_sub(wrong.len());
    let mut first = cut(wrong, MOST_FACTS);
    first.extend(cut(unsure, room));
    first
}

fn cut(mut found: Vec<Found>, most: usize) -> Vec<Found> {
    let left = found.len().saturating_sub(most);
    found.truncate(most);
    if left > 0
        && let Some(Found::Wrong(last) | Found::Unconfirmed(last)) = found.last_mut()
    {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        last.count = last.count.saturating_add(left);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::checks::probe::Detail;

    #[test]
    fn the_last_that_is_shown_counts_for_the_rest() {
        let many = (0..25).map(|at| Detail::new("x", at.to_string()).wrong());
        let shown = first_facts(many.collect());
        assert_eq!(shown.len(), 20);
        let counts: Vec<u32> = shown.iter().map(count).collect();
        assert_eq!((counts[0], counts[19]), (1, 6));
        assert_eq!(counts.iter().sum::<u32>(), 25);
    }

    #[test]
    fn doubts_do_not_hide_what_is_wrong() {
        let mut many: Vec<Found> = (0..30)
            .map(|_| Detail::new("x", "y").unconfirmed())
            .collect();
        many.push(Detail::new("x", "z").wrong());
        let shown = first_facts(many);
        assert!(matches!(&shown[0], Found::Wrong(it) if it.actual == "z"));
        assert_eq!(shown.len(), 20);
        assert_eq!(shown.iter().map(count).sum::<u32>(), 31);
    }

    fn count(found: &Found) -> u32 {
        let (Found::Wrong(detail) | Found::Unconfirmed(detail)) = found;
        detail.count
    }
}
