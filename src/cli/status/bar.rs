//! The bar of what stands where: one sign a state, so that it reads without colours.

use super::states::tone;
use crate::cli::output::Paper;
use crate::session::{State, Tally};

/// The most cells that it has.
const WIDEST: usize = 60;

/// The columns of its brackets.
const BRACKETS: usize = 2;

/// What stands for a state in the bar.
pub(super) fn sign(state: State) -> char {
    match state {
        State::Pass => '#',
        State::Review => '?',
        State::Done => 'x',
        State::Todo => '.',
    }
}

/// Writes it, if it has room in `columns`.
pub(super) fn write_bar(paper: &mut Paper, tally: &Tally, columns: usize) {
    let width = columns.saturating_sub(BRACKETS).min(WIDEST);
    let counts = State::ALL.map(|state| tally.of(state));
    let Some(cells) = cells(counts, width) else {
        return;
    };
    let pieces = State::ALL.iter().zip(cells).map(|(state, cells)| {
        let signs = sign(*state).to_string().repeat(cells);
        if signs.is_empty() {
            signs
        } else {
            paper.tint(tone(*state), &signs)
        }
    });
    let pieces: String = pieces.collect();
    paper.line(format!("[{pieces}]"));
}

/// How many of `width` cells each has: in proportion, but one at least where there is any.
///
/// None where there are too few cells for that, or nothing to be shown.
fn cells<const N: usize>(counts: [u32; N], width: usize) -> Option<[usize; N]> {
    let total: u64 = counts.iter().copied().map(u64::from).sum();
    let some = counts.iter().filter(|count| **count > 0).count();
    if total == 0 || width < some {
        return None;
    }
    let exact = |count: u32| u64::from(count) * width as u64;
    let whole = |count: u32| usize::try_from(exact(count) / total).unwrap_or(width);
    let mut cells = counts.map(|count| whole(count).max(usize::from(count > 0)));
    // What is over goes to those that were cut most, and what is too much comes from the longest.
    let mut by_rest: Vec<usize> = (0..N).filter(|at| counts[*at] > 0).collect();
    by_rest.sort_by_key(|at| std::cmp::Reverse(exact(counts[*at]) % total));
    let mut next = by_rest.iter().cycle();
    while cells.iter().sum::<usize>() < width {
        cells[*next.next()?] += 1;
    }
    while cells.iter().sum::<usize>() > width {
        *cells.iter_mut().max()? -= 1;
    }
    Some(cells)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_are_in_proportion_and_nothing_is_lost() {
        assert_eq!(cells([1, 1, 1, 1], 8), Some([2, 2, 2, 2]));
        assert_eq!(cells([2, 1, 0, 0], 6), Some([4, 2, 0, 0]));
        assert_eq!(cells([99_999, 0, 0, 1], 10), Some([9, 0, 0, 1]));
        assert_eq!(cells([1, 1, 1, 99_999], 4), Some([1, 1, 1, 1]));
        assert_eq!(cells([1, 1, 1, 1], 3), None);
        assert_eq!(cells([0, 0, 0, 0], 9), None);
    }

    #[test]
    fn it_reads_without_colours() {
        let tally = Tally {
            todo: 5,
            pass: 3,
            review: 1,
            done: 1,
        };
        let mut paper = Paper::plain();
        write_bar(&mut paper, &tally, 12);
        write_bar(&mut paper, &tally, 5);
        assert_eq!(paper.into_text(), "[###?x.....]\n");
    }

    proptest! {
        #[test]
        fn they_fill_the_width(counts in any::<[u32; 4]>(), width in 0..200_usize) {
            if let Some(cells) = cells(counts, width) {
                prop_assert_eq!(cells.iter().sum::<usize>(), width);
                for (cells, count) in cells.iter().zip(counts) {
                    prop_assert_eq!(*cells > 0, count > 0);
                }
            }
        }
    }
}
