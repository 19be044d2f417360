//! The tables of a quest file with their places in the text.

use std::fmt;
use std::ops::{Deref, Range};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

pub type Spot = Range<usize>;

#[derive(Debug, Clone)]
pub struct RawTable<'t> {
    table: Spanned<DeTable<'t>>,
}

/// A parsed table with its place.
#[derive(Debug, Clone)]
pub struct Placed<'t, T> {
    pub table: T,
    pub raw: RawTable<'t>,
}

impl<T> Deref for Placed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.table
    }
}

impl<'t> RawTable<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, Mistake> {
        let table = DeTable::parse(text);
        let table = table.map_err(|error| Mistake::of_toml(text, &(0..0), &error))?;
        Ok(Self { table })
    }

    pub fn spot(&self) -> Spot {
        self.table.span()
    }

    fn value(&self, key: &str) -> Option<&Spanned<DeValue<'t>>> {
        self.table.get_ref().get(key)
    }

    pub fn spot_of(&self, key: &str) -> Spot {
        self.value(key).map_or_else(|| self.spot(), Spanned::span)
    }

    pub fn spot_of_text(&self, key: &str, text: &str) -> Spot {
        let items = self.value(key).and_then(|value| value.get_ref().as_array());
        let mut items = items.into_iter().flat_map(|items| items.iter());
        let item = items.find(|item| item.get_ref().as_str() == Some(text));
        item.map_or_else(|| self.spot_of(key), Spanned::span)
    }

    pub fn spot_within(&self, key: &str, name: &str) -> Spot {
        let table = self.value(key).and_then(|value| value.get_ref().as_table());
        let mut names = table.into_iter().flat_map(DeTable::iter);
        let found = names.find(|(known, _)| known.get_ref() == name);
        found.map_or_else(|| self.spot_of(key), |(known, _)| known.span())
    }

    pub fn inner(&self, key: &str) -> Option<Self> {
        self.value(key).and_then(Self::of_value)
    }

    pub(super) fn tables(&self, key: &str) -> Vec<Self> {
        let items = self.value(key).and_then(|value| value.get_ref().as_array());
        let items = items.into_iter().flat_map(|items| items.iter());
        items.filter_map(Self::of_value).collect()
    }

    /// Pairs each parsed table of the array `key` with its place.
    pub(super) fn placed<T>(&self, key: &str, tables: Vec<T>) -> Vec<Placed<'t, T>> {
        let placed = tables.into_iter().zip(self.tables(key));
        placed.map(|(table, raw)| Placed { table, raw }).collect()
    }

    fn of_value(value: &Spanned<DeValue<'t>>) -> Option<Self> {
        let table = value.get_ref().as_table()?.clone();
        Some(Self {
            table: Spanned::new(value.span(), table),
        })
    }

    pub fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.value(key)?.get_ref().as_str()
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.table.get_ref().keys();
        keys.map(|key| key.get_ref().as_ref())
    }

    /// Splits the table into the keys of `head` and the others.
    pub fn part(&self, head: &[&str]) -> (Self, Self) {
        let (mut ours, mut rest) = (DeTable::new(), DeTable::new());
        for (key, value) in self.table.get_ref() {
            let name: &str = key.get_ref();
            let is_ours = head.contains(&name);
            let side = if is_ours { &mut ours } else { &mut rest };
            side.insert(key.clone(), value.clone());
        }
        let raw = |table| Self {
            table: Spanned::new(self.spot(), table),
        };
        (raw(ours), raw(rest))
    }

    pub fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, Mistake> {
        T::deserialize(Deserializer::from(self.table.clone()))
            .map_err(|error| Mistake::of_toml(text, &self.spot(), &error))
    }
}

const LEAST_LIKENESS: f64 = 0.7;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, what was expected and, for an unknown name, the nearest one.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

impl Mistake {
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

    /// An error of the TOML parser, with the nearest expected name.
    pub(super) fn of_toml(text: &str, table: &Range<usize>, error: &toml::de::Error) -> Self {
        let span = error.span().filter(|span| *span != (0..0));
        let mut what = error.message().trim().replace('\n', " ");
        if let Some(near) = nearest_expected(&what) {
            what = format!("{what}; did you mean `{near}`?");
        }
        Self::at(text, span.as_ref().unwrap_or(table), what)
    }
}

/// The expected name nearest to the one that was found. The message quotes the found name first.
fn nearest_expected(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let found = names.next()?;
    nearest(found, names).map(str::to_owned)
}

pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(found, name), name))
        .filter(|(likeness, _)| *likeness > LEAST_LIKENESS)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map(|(_, name)| name)
}

/// The message about an unknown name: the known names, and the nearest of them.
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

/// Whether `name` is kebab-case: words of a-z and 0-9 joined by single dashes.
pub(crate) fn is_kebab(name: &str) -> bool {
    let word = |word: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !word.is_empty() && word.bytes().all(plain)
    };
    name.split('-').all(word) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_places_in_lines_and_characters() {
        let text = "a = 1\nß = 'é' x";
        let at = text.find('x').unwrap();
        let mistake = Mistake::at(text, &(at..at + 1), "no");
        assert_eq!((mistake.line, mistake.column), (2, 9));
        assert_eq!(mistake.to_string(), "2:9: no");
        assert_eq!(Mistake::at("é", &(1..2), "no").column, 1);
        assert_eq!(Mistake::at("", &(9..9), "no").line, 1);
    }

    #[test]
    fn suggests_the_nearest_name() {
        let message = "unknown field `tiemout`, expected one of `argv`, `timeout`, `env`";
        assert_eq!(nearest_expected(message).as_deref(), Some("timeout"));
        assert_eq!(nearest_expected("missing field `argv`"), None);
        assert_eq!(
            unknown_name("check kind", "comand", &["command", "http"]),
            "unknown check kind `comand`, expected one of `command`, `http`; did you mean `command`?"
        );
    }
}
