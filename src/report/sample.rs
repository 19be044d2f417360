//! Estimates how many PASSes are wrong from a sample that a person checked by hand.

use schemars::JsonSchema;
use serde::Serialize;

use crate::session::Totals;

/// What a person found in the PASSes that were drawn at random.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SampleEstimate {
    /// The number of PASSes before the first draw. The rate covers these.
    pub passes: u32,
    /// The PASSes that came later: the rate does not cover them.
    pub later: u32,
    pub draws: u32,
    pub drawn: u32,
    pub right: u32,
    pub wrong: u32,
    /// Those that nobody has checked yet; for the rate, they count as wrong.
    pub open: u32,
    /// With 95 % confidence, the share of wrong PASSes is below this: the exact one-sided bound of
    /// Clopper and Pearson (1934), rounded up to a thousandth.
    pub rate_below: f64,
    /// The same as a sentence.
    pub text: String,
}

impl SampleEstimate {
    /// None before the first draw.
    pub fn of(totals: &Totals) -> Option<Self> {
        let sample = totals.sample?;
        let mut estimate = Self {
            passes: sample.passes,
            later: totals.tally.pass.saturating_sub(sample.passes),
            draws: sample.draws,
            drawn: sample.drawn(),
            right: sample.right,
            wrong: sample.wrong,
            open: sample.open,
            rate_below: rounded_up(upper_bound(sample.wrong + sample.open, sample.drawn())),
            text: String::new(),
        };
        estimate.text = estimate.sentence();
        Some(estimate)
    }

    fn sentence(&self) -> String {
        let (wrong, drawn) = (self.wrong, self.drawn);
        let were = if wrong == 1 { "was" } else { "were" };
        let (open, assumed) = match self.open {
            0 => (String::new(), ""),
            1 => (", and 1 is not checked yet".to_owned(), ASSUMED),
            open => (format!(", and {open} are not checked yet"), ASSUMED),
        };
        let rate = match self.right {
            // Without any right answer, a rate says nothing.
            0 => String::new(),
            _ => format!(
                ": {assumed}the rate is below {:.1} % with 95 % confidence",
                self.rate_below * 100.0
            ),
        };
        let covered = match self.later {
            0 => String::new(),
            later => format!(
                "; this covers the {} PASSes before the first draw, and not the {later} after it",
                self.passes
            ),
        };
        format!("{wrong} of {drawn} sampled PASSes {were} wrong{open}{rate}{covered}")
    }
}

const ASSUMED: &str = "if those count as wrong, ";

const CONFIDENCE: f64 = 0.95;

/// The bits of a float's mantissa: further halvings change nothing.
const HALVINGS: u32 = 53;

/// The largest share of wrong answers that is still compatible with `wrong` of `drawn`, at this
/// confidence (Clopper and Pearson 1934).
fn upper_bound(wrong: u32, drawn: u32) -> f64 {
    if wrong >= drawn {
        return 1.0;
    }
    let doubt = (1.0 - CONFIDENCE).ln();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if ln_at_most(wrong, drawn, middle) > doubt {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The logarithm of the probability that at most `most` of `drawn` are wrong, if each is wrong with
/// probability `share`. The terms of a large sample are too small for a float.
fn ln_at_most(most: u32, drawn: u32, share: f64) -> f64 {
    let (drawn, odds) = (f64::from(drawn), share.ln() - (-share).ln_1p());
    let mut term = drawn * (-share).ln_1p();
    let mut sum = term;
    for wrong in 0..most {
        let wrong = f64::from(wrong);
        term += ((drawn - wrong) / (wrong + 1.0)).ln() + odds;
        sum = sum.max(term) + (-(sum - term).abs()).exp().ln_1p();
    }
    sum
}

/// Rounded up, so that the bound still holds.
fn rounded_up(share: f64) -> f64 {
    (share * 1000.0).ceil() / 1000.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::{Sample, Tally};

    /// The sample sizes that show a rate below 5 % with 95 % confidence for 0, 1, 2… wrong answers:
    /// the "95/95" of Wilks (1941), as NUREG-1475 prints it.
    const WILKS: [u32; 7] = [59, 93, 124, 153, 181, 208, 234];

    #[test]
    fn the_bound_matches_published_values() {
        for (wrong, size) in (0..).zip(WILKS) {
            assert!(upper_bound(wrong, size) <= 0.05, "{wrong} of {size}");
            assert!(upper_bound(wrong, size - 1) > 0.05, "{wrong} of {size} - 1");
        }
        // With no wrong answer, and with all but one wrong, the bound has a closed form.
        for size in [1, 10, 60, 1_000, 100_000] {
            let share = 1.0 - 0.05_f64.powf(1.0 / f64::from(size));
            assert!((upper_bound(0, size) - share).abs() < 1e-12, "0 of {size}");
            let share = 0.95_f64.powf(1.0 / f64::from(size));
            let found = upper_bound(size - 1, size);
            assert!((found - share).abs() < 1e-9, "{size} - 1: {found} {share}");
        }
        assert!((upper_bound(0, 0) - 1.0).abs() < f64::EPSILON);
        assert!((upper_bound(7, 7) - 1.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn the_bound_grows_with_what_is_wrong_and_falls_with_what_is_right(
            (wrong, drawn) in (1u32..3_000).prop_flat_map(|drawn| (0..drawn, Just(drawn))),
        ) {
            let bound = upper_bound(wrong, drawn);
            prop_assert!(bound > f64::from(wrong) / f64::from(drawn) && bound <= 1.0);
            prop_assert!(upper_bound(wrong + 1, drawn) > bound);
            prop_assert!(upper_bound(wrong, drawn + 1) < bound);
        }
    }

    fn estimate(open: u32, right: u32, wrong: u32, pass: u32) -> SampleEstimate {
        let sample = Sample {
            passes: 412,
            draws: 1,
            open,
            right,
            wrong,
            ..Sample::default()
        };
        let tally = Tally {
            pass,
            ..Tally::default()
        };
        SampleEstimate::of(&Totals {
            tally,
            sample: Some(sample),
            ..Totals::default()
        })
        .unwrap()
    }

    #[test]
    fn the_sentence_names_the_finding_and_its_coverage() {
        let said = |open, right, wrong, pass| estimate(open, right, wrong, pass).text;
        assert_eq!(
            said(0, 60, 0, 412),
            "0 of 60 sampled PASSes were wrong: the rate is below 4.9 % with 95 % confidence"
        );
        assert_eq!(
            said(0, 59, 1, 412),
            "1 of 60 sampled PASSes was wrong: the rate is below 7.7 % with 95 % confidence"
        );
        assert_eq!(
            said(60, 0, 0, 412),
            "0 of 60 sampled PASSes were wrong, and 60 are not checked yet"
        );
        assert_eq!(
            said(1, 58, 1, 412),
            "1 of 60 sampled PASSes was wrong, and 1 is not checked yet: if those count as wrong, \
             the rate is below 10.2 % with 95 % confidence"
        );
        assert_eq!(said(0, 0, 2, 412), "2 of 2 sampled PASSes were wrong");
        assert_eq!(
            said(0, 60, 0, 442),
            "0 of 60 sampled PASSes were wrong: the rate is below 4.9 % with 95 % confidence; this \
             covers the 412 PASSes before the first draw, and not the 30 after it"
        );
        assert_eq!(SampleEstimate::of(&Totals::default()), None);
    }

    #[test]
    fn unchecked_answers_count_as_wrong() {
        let open = estimate(12, 48, 0, 412).rate_below;
        assert!((open - estimate(0, 48, 12, 412).rate_below).abs() < f64::EPSILON);
        assert!((estimate(0, 60, 0, 412).rate_below - 0.049).abs() < f64::EPSILON);
    }
}
