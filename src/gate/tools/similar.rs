//! How alike two texts are, in whole thousandths.
//!
//! The measure is Jaccard's over runs of three words, or over runs of three characters where a
//! text has fewer words; integers alone, so that every machine comes to the same.

use crate::base::text::fold;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How long a run is, in words or characters.
const RUN: usize = 3;

/// How alike two texts are: 0 for nothing in common, 1000 for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Likeness(u16);

/// A number that is no likeness.
#[derive(Debug, thiserror::Error)]
#[error("a likeness is 0 to 1000 thousandths")]
pub struct BadLikeness;

impl Likeness {
    /// Nothing in common.
    pub const NONE: Self = Self(0);
    /// The same.
    pub const SAME: Self = Self(1000);

    /// It in thousandths.
    #[must_use]
    pub fn thousandths(self) -> u16 {
        self.0
    }

    /// How alike two texts are, whatever their case, width and white space.
    #[must_use]
    pub fn of(one: &str, other: &str) -> Self {
        let (one, other) = (fold(one), fold(other));
        let words = [&one, &other].map(|text| text.split(' ').collect::<Vec<&str>>());
        if words.iter().all(|words| words.len() >= RUN) {
            return shared(&words[0], &words[1]);
        }
        let [one, other] = [&one, &other].map(|text| text.chars().collect::<Vec<char>>());
        shared(&one, &other)
    }
}

/// The reference that `text` is most like, the first of several, and how alike they are.
#[must_use]
pub fn closest<T: AsRef<str>>(text: &str, references: &[T]) -> Option<(usize, Likeness)> {
    let all = references
        .iter()
        .map(|one| Likeness::of(text, one.as_ref()));
    all.enumerate()
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// The runs that both have, of all that either has; what is shorter than a run is one by itself.
fn shared<T: Ord>(one: &[T], other: &[T]) -> Likeness {
    let [one, other] = [one, other].map(|whole| {
        if whole.len() < RUN {
            BTreeSet::from([whole])
        } else {
            whole.windows(RUN).collect()
        }
    });
    let both = one.intersection(&other).count();
    let either = one.len() + other.len() - both;
    // A set is never empty, and texts are far shorter than what would overflow here.
    let thousandths = both.saturating_mul(1000) / either.max(1);
    Likeness(u16::try_from(thousandths).unwrap_or(1000))
}

impl TryFrom<u16> for Likeness {
    type Error = BadLikeness;

    fn try_from(thousandths: u16) -> Result<Self, BadLikeness> {
        match thousandths {
            0..=1000 => Ok(Self(thousandths)),
            _ => Err(BadLikeness),
        }
    }
}

impl From<Likeness> for u16 {
    fn from(likeness: Likeness) -> Self {
        likeness.0
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}%", self.0 / 10, self.0 % 10)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(one: &str, other: &str) -> u16 {
        Likeness::of(one, other).thousandths()
    }

    #[test]
    fn measures_runs_of_words() {
        let text = "The quick brown fox jumps over the lazy dog";
        assert_eq!(
            of(text, "the  QUICK brown\nfox jumps over the lazy dog "),
            1000
        );
        assert_eq!(
            of(text, "the quick brown fox jumps over a sleeping cat"),
            400
        );
        assert_eq!(of(text, "nothing of this is in the other text"), 0);
        assert_eq!(of("a b c d", "a b c"), 500);
    }

    #[test]
    fn measures_runs_of_characters_where_words_are_few() {
        assert_eq!(of("colour", "colours"), 800);
        assert_eq!(of("ab", "AB"), 1000);
        assert_eq!(of("ab", "ba"), 0);
        assert_eq!(of("", ""), 1000);
        assert_eq!(of("", "a"), 0);
        assert_eq!(of("같은 문장", "같은 문장"), 1000);
    }

    #[test]
    fn looks_through_disguises() {
        assert_eq!(
            of("ＦＵＬＬ width\u{200b} text\u{ad}", "full width text"),
            1000
        );
        assert_eq!(of("Straße und so", "STRASSE UND SO"), 1000);
    }

    #[test]
    fn finds_the_closest() {
        let references = ["one two three", "a b c d", "a b c d"];
        let (at, likeness) = closest("a b c x", &references).expect("one");
        assert_eq!((at, likeness.to_string().as_str()), (1, "33.3%"));
        assert_eq!(closest::<&str>("a", &[]), None);
    }

    proptest! {
        #[test]
        fn is_symmetric_and_whole_for_the_same(one in ".{0,60}", other in "[ab c]{0,30}") {
            prop_assert_eq!(Likeness::of(&one, &other), Likeness::of(&other, &one));
            prop_assert_eq!(Likeness::of(&one, &one), Likeness::SAME);
        }
    }
}
