//! A bar in stripes: how a whole divides into its parts.

use serde::Serialize;

use super::Portion;

/// The least width of what is there at all, in hundredths of a percent.
const LEAST: u32 = 60;

/// A stripe of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stripe {
    /// Where it begins.
    pub x: Portion,
    /// How wide it is.
    pub width: Portion,
}

/// The stripes of these counts, one beside the other over the whole width.
///
/// What is there is seen: a count above 0 has a least width, which the widest gives.
pub fn stripes<const N: usize>(counts: [u32; N]) -> [Stripe; N] {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let mut widths = counts.map(|count| {
        let width = Portion::of(count.into(), total).count();
        if count > 0 { width.max(LEAST) } else { 0 }
    });
    let used: u32 = widths.iter().sum();
    if let Some(widest) = widths.iter_mut().max() {
        let whole = if total > 0 { Portion::WHOLE.count() } else { 0 };
        *widest = (*widest + whole).saturating_sub(used);
    }
    let mut x = 0;
    widths.map(|width| {
        let stripe = Stripe {
            x: Portion::hundredths(x),
            width: Portion::hundredths(width),
        };
        x += width;
        stripe
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_there_is_seen() {
        let widths = stripes([99_999, 1, 0, 0]).map(|stripe| stripe.width.to_string());
        assert_eq!(widths, ["99.40%", "0.60%", "0%", "0%"]);
        let none = stripes([0, 0]).map(|stripe| stripe.width);
        assert_eq!(none, [Portion::default(); 2]);
    }

    proptest! {
        #[test]
        fn fill_the_width(counts in any::<[u32; 4]>()) {
            let stripes = stripes(counts);
            let total: u32 = stripes.iter().map(|stripe| stripe.width.count()).sum();
            let full = counts.iter().any(|count| *count > 0);
            prop_assert_eq!(total, if full { 10_000 } else { 0 });
            for pair in stripes.windows(2) {
                prop_assert_eq!(pair[0].x.count() + pair[0].width.count(), pair[1].x.count());
            }
        }
    }
}
