//! Whether a quotation stands in what a reviewer was shown.

use crate::gate::checks::folded::seen;
use crate::quest::Sight;

const FEWEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    inputs: Vec<(Sight, String)>,
    folded: Vec<String>,
}

impl Seen {
    pub(super) fn new(inputs: Vec<(Sight, String)>) -> Self {
        let folded = inputs.iter().map(|(_, text)| seen(text)).collect();
        Self { inputs, folded }
    }

    pub(super) fn inputs(&self) -> &[(Sight, String)] {
        &self.inputs
    }

    /// That the quotation stands in one input, literally but for what no reader sees.
    pub(super) fn holds(&self, quotation: &str) -> Result<(), String> {
        let sought = seen(quotation);
        let visible = sought.chars().filter(|c| !c.is_whitespace()).count();
        let whole = !sought.is_empty() && self.folded.contains(&sought);
        if visible < FEWEST && !whole {
            return Err(format!(
                "its quotation has under {FEWEST} characters: {quotation:?}"
            ));
        }
        let stands = self.folded.iter().any(|text| text.contains(&sought));
        stands
            .then_some(())
            .ok_or_else(|| format!("its quotation stands in nothing that it saw: {quotation:?}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(texts: &[&str]) -> Seen {
        let inputs = texts.iter().map(|text| (Sight::Key, (*text).to_owned()));
        Seen::new(inputs.collect())
    }

    #[test]
    fn a_quotation_is_literal_and_says_something() {
        let seen = of(&["It was founded\n  in 1998, in Seoul.", "1998"]);
        assert_eq!(seen.holds("founded in 1998"), Ok(()));
        assert_eq!(seen.holds("founded\u{200b} in １９９８"), Ok(()));
        assert_eq!(seen.holds("1998"), Ok(()));
        for bad in [
            "",
            " ",
            "in",
            "1998, i",
            "founded in 1999",
            "Founded in 1998",
        ] {
            assert!(seen.holds(bad).is_err(), "{bad}");
        }
        // No quotation reaches from one input into the next.
        assert!(seen.holds("in Seoul. 1998").is_err());
    }

    proptest! {
        #[test]
        fn every_long_part_of_an_input_stands_in_it(
            text in "[a-zé ]{20,60}",
            start in 0_usize..8,
            length in 17_usize..40,
        ) {
            let part: String = text.chars().skip(start).take(length).collect();
            let visible = part.chars().filter(|c| !c.is_whitespace()).count();
            prop_assume!(visible >= FEWEST);
            prop_assert_eq!(of(&[&text]).holds(&part), Ok(()));
            prop_assert!(of(&["nothing of it"]).holds(&part).is_err());
        }
    }
}
