//! A part of a width, as SVG spells it.

use std::fmt;

use serde::{Serialize, Serializer};

/// A part of a width or height, in hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Portion(u32);

impl Portion {
    /// All of it.
    pub const WHOLE: Self = Self(10_000);

    /// How much `part` is of `whole`, to the nearest; all of it where it is more.
    pub fn of(part: u64, whole: u64) -> Self {
        let whole = u128::from(whole.max(1));
        let hundredths = (u128::from(part) * 10_000 + whole / 2) / whole;
        Self(u32::try_from(hundredths).map_or(10_000, |it| it.min(10_000)))
    }

    /// So many hundredths of a percent, and no more than all.
    pub fn hundredths(count: u32) -> Self {
        Self(count.min(10_000))
    }

    /// The number of its hundredths of a percent.
    pub fn count(self) -> u32 {
        self.0
    }

    /// What is left of the whole.
    pub fn rest(self) -> Self {
        Self(10_000 - self.0)
    }
}

impl fmt::Display for Portion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (percent, hundredths) = (self.0 / 100, self.0 % 100);
        match hundredths {
            0 => write!(f, "{percent}%"),
            _ => write!(f, "{percent}.{hundredths:02}%"),
        }
    }
}

impl Serialize for Portion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_told_in_percent() {
        let told = [(0, 0), (1, 3), (1, 2), (3, 2), (u64::MAX, u64::MAX)];
        let told = told.map(|(part, whole)| Portion::of(part, whole).to_string());
        assert_eq!(told, ["0%", "33.33%", "50%", "100%", "100%"]);
        assert_eq!(Portion::of(1, 3).rest().to_string(), "66.67%");
        assert_eq!(Portion::hundredths(5).to_string(), "0.05%");
    }
}
