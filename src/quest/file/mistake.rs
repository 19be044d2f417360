//! What is wrong with a quest file, and where.

use std::fmt;
use std::ops::Range;

/// How alike a known name must be to be suggested, by Jaro and Winkler.
const LEAST_LIKENESS: f64 = 0.7;

/// A mistake in a quest file, with the place that it stands at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    pub line: usize,
    pub column: usize,
    /// What is wrong, what was expected and, of a name that there is not, which is nearest.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

impl Mistake {
    #[must_use]
    pub fn at(text: &str, span: &Range<usize>, what: impl Into<String>) -> Self {
        let start = (0..=span.start.min(text.len()))
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }

    /// What the TOML reader complains of, with the nearest of the names that it expected.
    #[must_use]
    pub(super) fn of_toml(text: &str, table: &Range<usize>, error: &toml::de::Error) -> Self {
        let span = error.span().filter(|span| *span != (0..0));
        let mut what = error.message().trim().replace('\n', " ");
        if let Some(near) = nearest_expected(&what) {
            what = format!("{what}; did you mean `{near}`?");
        }
        Self::at(text, span.as_ref().unwrap_or(table), what)
    }
}

fn nearest_expected(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let found = names.next()?;
    nearest(found, names).map(str::to_owned)
}

#[must_use]
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(found, name), name))
        .filter(|(likeness, _)| *likeness > LEAST_LIKENESS)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map(|(_, name)| name)
}

#[must_use]
pub fn unknown_name(what: &str, found: &str, known: &[&str]) -> String {
    let near = nearest(found, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let known = if known.is_empty() {
        String::from("there is none")
    } else {
        format!("expected one of `{}`", known.join("`, `"))
    };
    format!("unknown {what} `{found}`, {known}{near}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text = "a = 1\nß = 'é' x";
        let at = text.find('x').unwrap();
        let mistake = Mistake::at(text, &(at..at + 1), "no");
        assert_eq!((mistake.line, mistake.column), (2, 9));
        assert_eq!(mistake.to_string(), "2:9: no");
        assert_eq!(Mistake::at("é", &(1..2), "no").column, 1);
        assert_eq!(Mistake::at("", &(9..9), "no").line, 1);
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let message = "unknown field `tiemout`, expected one of `argv`, `timeout`, `env`";
        assert_eq!(nearest_expected(message).as_deref(), Some("timeout"));
        assert_eq!(nearest_expected("missing field `argv`"), None);
        assert_eq!(
            unknown_name("check kind", "comand", &["command", "http"]),
            "unknown check kind `comand`, expected one of `command`, `http`; did you mean `command`?"
        );
    }
}
