//! Round numbers along an axis.

/// The most lines above the base line.
const MOST: u32 = 4;

/// Round numbers from 0, which is not among them, to `most` or beyond, evenly apart; few enough
/// to be read.
pub fn ticks(most: u32) -> Vec<u32> {
    let step = step(most);
    let times = 1..=most.div_ceil(step);
    times.map(|times| times.saturating_mul(step)).collect()
}

/// The least of 1, 2, 5, 10, 20, 50, … that divides the axis into few enough parts.
fn step(most: u32) -> u32 {
    let mut tens: u32 = 1;
    loop {
        for digit in [1, 2, 5] {
            let step = tens.saturating_mul(digit);
            if most.div_ceil(step) <= MOST {
                return step;
            }
        }
        tens = tens.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn are_round() {
        assert_eq!(ticks(0), [0; 0]);
        assert_eq!(ticks(1), [1]);
        assert_eq!(ticks(4), [1, 2, 3, 4]);
        assert_eq!(ticks(5), [2, 4, 6]);
        assert_eq!(ticks(75), [20, 40, 60, 80]);
        assert_eq!(ticks(527), [200, 400, 600]);
        assert_eq!(ticks(10_000), [5000, 10_000]);
    }

    proptest! {
        #[test]
        fn are_few_and_only_the_last_is_beyond(most in 1u32..) {
            let ticks = ticks(most);
            prop_assert!((1..=4).contains(&ticks.len()), "{ticks:?}");
            prop_assert!(ticks.iter().rev().skip(1).all(|tick| *tick < most));
            prop_assert!(ticks.last().is_some_and(|tick| *tick >= most));
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
