//! Tables of a quest file with their places, read into the types that they stand for.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::mistake::Mistake;

pub type Spot = Range<usize>;

/// A table as it stands in the file, to be read by whoever knows its kind.
#[derive(Debug, Clone)]
pub struct RawTable<'t> {
    table: Spanned<DeTable<'t>>,
}

impl<'t> RawTable<'t> {
    pub(super) fn new(table: Spanned<DeTable<'t>>) -> Self {
        Self { table }
    }

    #[must_use]
    pub fn spot(&self) -> Spot {
        self.table.span()
    }

    #[must_use]
    pub fn spot_of(&self, key: &str) -> Spot {
        let entry = self.table.get_ref().get(key);
        entry.map_or_else(|| self.spot(), Spanned::span)
    }

    #[must_use]
    pub fn spot_of_text(&self, key: &str, text: &str) -> Spot {
        let value = self.table.get_ref().get(key);
        let mut items = value
            .and_then(|value| value.get_ref().as_array())
            .into_iter()
            .flat_map(|items| items.iter());
        let item = items.find(|item| item.get_ref().as_str() == Some(text));
        item.map_or_else(|| self.spot_of(key), Spanned::span)
    }

    #[must_use]
    pub fn spot_within(&self, key: &str, name: &str) -> Spot {
        let value = self.table.get_ref().get(key);
        let mut names = value
            .and_then(|value| value.get_ref().as_table())
            .into_iter()
            .flat_map(DeTable::iter);
        let found = names.find(|(known, _)| known.get_ref() == name);
        found.map_or_else(|| self.spot_of(key), |(known, _)| known.span())
    }

    #[must_use]
    pub fn inner(&self, key: &str) -> Option<Self> {
        let value = self.table.get_ref().get(key)?;
        let table = value.get_ref().as_table()?.clone();
        Some(Self::new(Spanned::new(value.span(), table)))
    }

    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.table.get_ref().contains_key(key)
    }

    #[must_use]
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.table.get_ref().get(key)?.get_ref().as_str()
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.table
            .get_ref()
            .keys()
            .map(|key| key.get_ref().as_ref())
    }

    #[must_use]
    pub fn part(&self, head: &[&str]) -> (Self, Self) {
        let spot = self.spot();
        let (mut ours, mut rest) = (DeTable::new(), DeTable::new());
        for (key, value) in self.table.get_ref() {
            let name: &str = key.get_ref();
            let side = if head.contains(&name) {
                &mut ours
            } else {
                &mut rest
            };
            side.insert(key.clone(), value.clone());
        }
        let raw = |table| Self {
            table: Spanned::new(spot.clone(), table),
        };
        (raw(ours), raw(rest))
    }

    pub fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, Mistake> {
        T::deserialize(Deserializer::from(self.table.clone()))
            .map_err(|error| Mistake::of_toml(text, &self.spot(), &error))
    }
}

pub(super) fn take_tables<'t>(
    document: &mut DeTable<'t>,
    name: &str,
    text: &str,
) -> Result<Vec<RawTable<'t>>, Mistake> {
    let Some(found) = document.remove(name) else {
        return Ok(Vec::new());
    };
    let spot = found.span();
    let wrong = || Mistake::at(text, &spot, format!("`{name}` is written as [[{name}]]"));
    let DeValue::Array(tables) = found.into_inner() else {
        return Err(wrong());
    };
    tables
        .iter()
        .map(|table| match table.get_ref() {
            DeValue::Table(inner) => Ok(RawTable::new(Spanned::new(table.span(), inner.clone()))),
            _ => Err(wrong()),
        })
        .collect()
}
