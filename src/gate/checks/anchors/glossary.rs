//! A glossary: terms, and how another language says them.

use std::path::Path;

use crate::base::text::fold;
use crate::gate::checks::standing::standing;
use crate::world::page::is_unspaced;

/// Terms, the longest first: a term that stands inside a longer one is not meant there.
#[derive(Debug, Clone, Default)]
pub(in crate::gate::checks) struct Glossary(Vec<Entry>);

/// A term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate::checks) struct Entry {
    /// The term as the glossary has it.
    pub(in crate::gate::checks) term: String,
    /// What it may be called in the other language.
    pub(in crate::gate::checks) targets: Vec<String>,
}

/// What ends a term of which the text may go on: `Rechnung*`.
const OPEN: char = '*';

impl Glossary {
    /// The glossary that a file of this name says: TOML (`"term" = "target"` or a list) where the
    /// name ends so, otherwise CSV whose first row names the columns.
    pub(in crate::gate::checks) fn read(name: &str, text: &str) -> Result<Self, String> {
        let entries = if has_ending(name, "toml") {
            of_toml(text)?
        } else {
            of_csv(text)?
        };
        if let Some(bare) = entries.iter().find(|it| fold(&it.term).is_empty()) {
            return Err(format!("a term is blank, for {:?}", bare.targets));
        }
        if entries.is_empty() {
            return Err("there is no term in it".to_owned());
        }
        Ok(Self::sorted(entries))
    }

    /// The terms themselves, as a list has them; blank ones are none.
    pub(in crate::gate::checks) fn of_terms<'a>(terms: impl Iterator<Item = &'a str>) -> Self {
        let terms = terms.map(str::trim).filter(|term| !fold(term).is_empty());
        let entries = terms.map(|term| Entry {
            term: term.to_owned(),
            targets: vec![term.to_owned()],
        });
        Self::sorted(entries.collect())
    }

    /// Whether there is no term.
    pub(in crate::gate::checks) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn sorted(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|it| std::cmp::Reverse(it.term.chars().count()));
        Self(entries)
    }

    /// The terms that the text says, and the line, from 1, on which each first stands.
    pub(in crate::gate::checks) fn said_in(&self, text: &str) -> Vec<(&Entry, usize)> {
        let Unwrapped { mut text, starts } = Unwrapped::of(text);
        let mut said = Vec::new();
        for entry in &self.0 {
            let places = places_of(&text, &entry.term);
            for at in &places {
                // It is spoken for: no shorter term is meant here.
                text.replace_range(at.clone(), &"\0".repeat(at.len()));
            }
            let first = places
                .first()
                .map(|at| starts.partition_point(|it| *it <= at.start));
            said.extend(first.map(|line| (entry, line)));
        }
        said.sort_by_key(|(_, line)| *line);
        said
    }
}

/// A text as it is compared, whose lines are joined within a paragraph.
struct Unwrapped {
    text: String,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl Unwrapped {
    fn of(text: &str) -> Self {
        let (mut whole, mut starts) = (String::new(), Vec::new());
        for line in text.lines().map(fold) {
            starts.push(whole.len());
            whole.push_str(&line);
            whole.push(if line.is_empty() { '\n' } else { ' ' });
        }
        Self {
            text: whole,
            starts,
        }
    }
}

impl Entry {
    /// Whether a text, folded already, says one of its targets.
    pub(in crate::gate::checks) fn is_met_by(&self, folded: &str) -> bool {
        self.targets.iter().any(|target| says(folded, target))
    }
}

/// Whether a text, folded already, says this term, word by word.
pub(in crate::gate::checks) fn says(text: &str, term: &str) -> bool {
    !places_of(text, term).is_empty()
}

/// Where a term stands in a text, folded already.
fn places_of(text: &str, term: &str) -> Vec<std::ops::Range<usize>> {
    let term = fold(term);
    match term.strip_suffix(OPEN) {
        None => standing(text, &term)
            .map(|at| at..at + term.len())
            .collect(),
        Some(stem) => {
            let begins = |at: &usize| {
                let before = text[..*at].chars().next_back();
                before.is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c))
            };
            let found = text.match_indices(stem).map(|(at, _)| at).filter(begins);
            found.map(|at| at..at + stem.len()).collect()
        }
    }
}

/// Whether a file's name has this ending, whatever its case.
pub(in crate::gate::checks) fn has_ending(name: &str, ending: &str) -> bool {
    let own = Path::new(name).extension();
    own.is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

fn of_toml(text: &str) -> Result<Vec<Entry>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let message = error.message().to_owned();
        format!("it is no TOML: {message}")
    })?;
    let entry = |(term, value): (String, toml::Value)| {
        let targets = match value {
            toml::Value::String(text) => Some(vec![text]),
            toml::Value::Array(items) => {
                let texts = items.into_iter().map(|it| it.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        made(&term, targets.unwrap_or_default())
            .ok_or_else(|| format!("`{term}`: expected a text or a list of texts"))
    };
    table.into_iter().map(entry).collect()
}

fn of_csv(text: &str) -> Result<Vec<Entry>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut entries = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| format!("it is no CSV: {error}"))?;
        let mut cells = record.iter();
        let term = cells.next().unwrap_or_default();
        let targets = cells.flat_map(|cell| cell.split(';')).map(str::to_owned);
        let row = record.position().map_or(0, csv::Position::line);
        let entry = made(term, targets.collect());
        let entry = entry.ok_or_else(|| format!("line {row}: `{term}` has no target term"))?;
        entries.push(entry);
    }
    Ok(entries)
}

fn made(term: &str, targets: Vec<String>) -> Option<Entry> {
    let targets = targets.into_iter().map(|text| text.trim().to_owned());
    let is_text = |text: &String| !fold(text.trim_end_matches(OPEN)).is_empty();
    let targets: Vec<_> = targets.filter(is_text).collect();
    (!targets.is_empty()).then(|| Entry {
        term: term.trim().to_owned(),
        targets,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "english,german\ncredit,Kredit*\ncredit note,Gutschrift;Gutschriften\n";

    #[test]
    fn the_longest_term_is_meant() {
        let glossary = Glossary::read("terms.csv", CSV).unwrap();
        let said = |text: &str| -> Vec<(String, usize)> {
            let said = glossary.said_in(text).into_iter();
            said.map(|(entry, line)| (entry.term.clone(), line))
                .collect()
        };
        assert_eq!(said("x\nA Credit\nnote"), [("credit note".to_owned(), 2)]);
        assert_eq!(said("A Credit\n\nnote"), [("credit".to_owned(), 1)]);
        assert_eq!(said("x\na CREDIT note"), [("credit note".to_owned(), 2)]);
        assert_eq!(said("accredited"), []);
        let both = [("credit note".to_owned(), 1), ("credit".to_owned(), 1)];
        assert_eq!(said("a credit note, a credit"), both);
    }

    #[test]
    fn targets_are_words_and_may_be_open() {
        let glossary = Glossary::read("terms.csv", CSV).unwrap();
        let met = |text: &str| -> Vec<bool> {
            let text = fold(text);
            glossary.0.iter().map(|it| it.is_met_by(&text)).collect()
        };
        assert_eq!(met("Die Kreditlinie"), [false, true]);
        assert_eq!(met("Die Gutschriften"), [true, false]);
        assert_eq!(met("Die Sammelgutschrift, Mikrokredite"), [false, false]);
    }

    #[test]
    fn toml_says_the_same_and_what_cannot_be_meant_is_told() {
        let read = |text| Glossary::read("terms.toml", text).map(|it| it.0);
        let two = read("invoice = [\"Rechnung\", \"Faktura\"]\n\"credit note\" = \"Gutschrift\"");
        assert_eq!(two.unwrap()[1].targets, ["Rechnung", "Faktura"]);
        assert!(read("invoice = 3").unwrap_err().contains("a list of texts"));
        assert!(read("= x").unwrap_err().contains("TOML"));
        assert!(read("").unwrap_err().contains("no term"));
        let bare = Glossary::read("terms.csv", "a,b\ninvoice,\n").unwrap_err();
        assert!(bare.contains("line 2"), "{bare}");
    }
}
