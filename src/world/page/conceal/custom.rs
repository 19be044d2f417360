//! Custom properties, and the values that `var()` may stand for.
//!
//! Which of its declarations a custom property takes on an element is not worked out: every
//! value that the page gives it anywhere is one that it may have.

use std::collections::HashMap;

use super::escape::unescaped;

/// How many custom properties are remembered.
const MOST_NAMES: usize = 5_000;

/// How many values of one are remembered, and how many a value is read as.
const MOST_VALUES: usize = 8;

/// How often `var()` is read in what `var()` stands for.
const DEPTH: usize = 4;

/// The longest value that is read, in bytes.
const LONGEST: usize = 300;

/// The values of custom properties.
#[derive(Debug, Default)]
pub(super) struct Custom(HashMap<String, Vec<String>>);

impl Custom {
    /// Remembers the custom properties among declarations parted by semicolons.
    pub(super) fn read(&mut self, declarations: &str) {
        if !declarations.contains("--") && !declarations.contains('\\') {
            return;
        }
        for declaration in declarations.split(';') {
            let Some((name, value)) = declaration.split_once(':') else {
                continue;
            };
            let name = unescaped(name.trim());
            let value = value.split('!').next().unwrap_or_default().trim();
            if !name.starts_with("--")
                || value.len() > LONGEST
                || self.0.len() >= MOST_NAMES && !self.0.contains_key(&*name)
            {
                continue;
            }
            let value = unescaped(value).to_ascii_lowercase();
            let values = self.0.entry(name.into_owned()).or_default();
            if values.len() < MOST_VALUES && !values.contains(&value) {
                values.push(value);
            }
        }
    }

    /// What `value` may be once every `var()` in it is read.
    pub(super) fn readings(&self, value: &str) -> Vec<String> {
        let mut readings = vec![value.to_owned()];
        for _ in 0..DEPTH {
            if !readings.iter().any(|reading| has_variable(reading)) {
                break;
            }
            let next = readings.iter().flat_map(|reading| self.once(reading));
            readings = next.take(MOST_VALUES).collect();
        }
        readings
    }

    /// `value` with its last `var()` read, in each way.
    fn once(&self, value: &str) -> Vec<String> {
        const OPEN: &str = "var(";
        // What stands in the last one holds no further one.
        let parts = value
            .rsplit_once(OPEN)
            .and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
        let Some((before, (inner, after))) = parts else {
            return vec![value.to_owned()];
        };
        let (name, fallback) = match inner.split_once(',') {
            Some((name, fallback)) => (name, Some(fallback.trim().to_owned())),
            None => (inner, None),
        };
        let known = self.0.get(name.trim()).into_iter().flatten().cloned();
        known
            .chain(fallback)
            .filter(|one| before.len() + one.len() + after.len() <= LONGEST)
            .map(|one| format!("{before}{one}{after}"))
            .collect()
    }
}

/// Whether a value has a `var()`.
pub(super) fn has_variable(value: &str) -> bool {
    value.contains("var(")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom() -> Custom {
        let mut custom = Custom::default();
        custom.read("--d: NONE !important; color:red;--a:var(--d);--loop:var(--loop)");
        custom.read("--d:block");
        custom
    }

    #[test]
    fn every_value_is_a_reading() {
        let custom = custom();
        assert_eq!(custom.readings("red"), ["red"]);
        assert_eq!(custom.readings("var(--d)"), ["none", "block"]);
        assert_eq!(custom.readings("var( --a , x)"), ["none", "block", "x"]);
        assert_eq!(custom.readings("var(--no,var(--d))"), ["none", "block"]);
        assert_eq!(custom.readings("scale(var(--no, 0))"), ["scale(0)"]);
        assert_eq!(custom.readings("var(--no)"), [""; 0]);
    }

    #[test]
    fn loops_and_torn_ones_end() {
        let custom = custom();
        assert_eq!(custom.readings("var(--loop)"), ["var(--loop)"]);
        assert_eq!(custom.readings("var(--d"), ["var(--d"]);
    }
}
