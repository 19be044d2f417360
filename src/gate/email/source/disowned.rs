//! Whether a page disowns the address that it shows: by a note near it, or by a word within it.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::super::lists::{DISGUISES, DISOWNED};
use crate::base::text::fold;
use crate::base::words::{Text, rows, table};
use crate::world::email_text::{is_unspaced, mentions};
use crate::world::mailbox::Mailbox;

#[derive(Debug, Clone, Deserialize)]
struct Note {
    text: String,
    #[serde(default)]
    place: Place,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Place {
    #[default]
    Sentence,
    Around,
    Below,
    Before,
    /// Takes back the notes of its language about a sentence: it begins a condition.
    Unless,
}

/// By language.
static NOTES: LazyLock<Vec<Vec<Note>>> = LazyLock::new(|| {
    let notes = table::<Note>(DISOWNED).into_values();
    let plain = |note: Note| Note {
        text: closed_up(&plain(&note.text)),
        ..note
    };
    notes
        .map(|rows| rows.into_iter().map(|row| plain(row.word)).collect())
        .collect()
});

/// Stands for the address in a note.
const ADDRESS: &str = "{}";

/// The most places of one page at which a note is looked for.
const MAX_PLACES: usize = 100;

/// How far from the address a note may stand in its line, in bytes.
const NEAR: usize = 400;

/// The note by which `lines`, which a reader sees one below the other, disown `email`.
pub fn note(lines: &[String], email: &Mailbox) -> Option<&'static str> {
    let wanted = email.to_string();
    let word = email
        .local()
        .split(['.', '-', '_'])
        .next()
        .unwrap_or_default();
    let may_hold = |line: &String| line.to_lowercase().contains(&word.to_lowercase());
    let held = lines.iter().enumerate().filter(|(_, line)| may_hold(line));
    let places = held.flat_map(|(index, line)| {
        let spans = mentions(line, &|address| address == wanted);
        spans.into_iter().map(move |span| {
            let start = line.floor_char_boundary(span.start.saturating_sub(NEAR));
            let end = line.floor_char_boundary(span.end + NEAR);
            (index, &line[start..span.start], &line[span.end..end])
        })
    });
    places.take(MAX_PLACES).find_map(|(index, before, after)| {
        let place = Placed::new(lines, index, before, after);
        NOTES.iter().find_map(|notes| place.note(notes))
    })
}

/// What stands around an address, in plain letters.
struct Placed<'a> {
    sentence: String,
    /// What comes before it in its line, or where that is nothing, the line above.
    before: String,
    line: String,
    lines: &'a [String],
    index: usize,
}

static ENDS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"[.!?]\s|[。！？|·•;]";
    Regex::new(pattern).expect("the pattern is a constant")
});

impl<'a> Placed<'a> {
    fn new(lines: &'a [String], index: usize, before: &str, after: &str) -> Self {
        let start = ENDS.find_iter(before).last().map_or(0, |end| end.end());
        let end = ENDS.find(after).map_or(after.len(), |end| end.start());
        let sentence = plain(&format!("{}{ADDRESS}{}", &before[start..], &after[..end]));
        let above = index.checked_sub(1).map_or("", |above| &*lines[above]);
        let near = if before.trim().is_empty() {
            above
        } else {
            before
        };
        Self {
            sentence: closed_up(&sentence),
            before: plain(near),
            line: plain(&format!("{before}{ADDRESS}{after}")),
            lines,
            index,
        }
    }

    /// The note among those of one language that counts here.
    fn note(&self, notes: &'static [Note]) -> Option<&'static str> {
        let is_condition = || {
            let mut conditions = notes.iter().filter(|note| note.place == Place::Unless);
            conditions.any(|note| has_word(&self.sentence, &note.text))
        };
        let found = notes.iter().find(|note| match note.place {
            Place::Sentence => self.sentence.contains(&note.text) && !is_condition(),
            Place::Around => {
                let neighbours = [self.index.wrapping_sub(1), self.index + 1];
                let mut near = neighbours.iter().filter_map(|near| self.lines.get(*near));
                self.line.contains(&note.text) || near.any(|line| says(line, &note.text))
            }
            Place::Below => self.is_below(&note.text),
            Place::Before => {
                let before = self
                    .before
                    .trim_end_matches(|c: char| !c.is_alphanumeric() && !note.text.ends_with(c));
                before.strip_suffix(&note.text).is_some_and(|rest| {
                    let last = rest.chars().next_back();
                    note.text.starts_with(is_unspaced) || !last.is_some_and(char::is_alphanumeric)
                })
            }
            Place::Unless => false,
        });
        found.map(|note| note.text.as_str())
    }

    /// Whether `note` comes before the address, with nothing but further addresses between.
    fn is_below(&self, note: &str) -> bool {
        const MOST_LINES: usize = 100;
        let own = self
            .line
            .find(ADDRESS)
            .is_some_and(|at| self.line[..at].contains(note));
        let above = self.lines[..self.index].iter().rev().take(MOST_LINES);
        let mut above = above.scan(true, |goes_on, line| {
            let now = std::mem::replace(goes_on, line.contains('@'));
            now.then_some(line)
        });
        own || above.any(|line| says(line, note))
    }
}

fn says(line: &str, note: &str) -> bool {
    let head = &line[..line.floor_char_boundary(2 * NEAR)];
    plain(head).contains(note)
}

/// Folded, with one kind of apostrophe.
fn plain(text: &str) -> String {
    fold(text).replace('\u{2019}', "'")
}

/// Without what parts the address from the words next to it.
fn closed_up(text: &str) -> String {
    let outside = |c: char| c == ' ' || matches!(c, ':' | '<' | '>' | '"' | '(' | ')' | ',');
    let Some((before, after)) = text.split_once(ADDRESS) else {
        return text.to_owned();
    };
    let (before, after) = (
        before.trim_end_matches(outside),
        after.trim_start_matches(outside),
    );
    format!("{before}{ADDRESS}{after}")
}

fn has_word(text: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        word.starts_with(is_unspaced)
            || !joins(before.chars().next_back()) && !joins(after.chars().next())
    })
}

/// The word that disguises the address, for a reader to take out.
pub fn disguise(email: &Mailbox) -> Option<&'static str> {
    static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let rows = rows::<Text>(DISGUISES).into_iter();
        rows.map(|row| fold(&row.word.text)).collect()
    });
    let local = joined(email.local());
    let mut words = WORDS.iter();
    words.find(|word| local.contains(*word)).map(String::as_str)
}

fn joined(local: &str) -> String {
    let folded = fold(local);
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;

    fn noted(text: &str) -> Option<&'static str> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        note(&lines, &Mailbox::parse("old@acme.com").unwrap())
    }

    #[test]
    fn every_note_counts_where_it_stands() {
        check(DISOWNED, |row: &Note, text| match row.place {
            Place::Unless => has_word(&plain(text), &plain(&row.text)),
            _ => noted(text) == Some(&closed_up(&plain(&row.text))),
        });
    }

    #[test]
    fn a_note_about_something_else_does_not_count() {
        for text in [
            "old@acme.com\nIf this address no longer works, call us.",
            "Wenn Ihr Konto nicht mehr gültig ist: old@acme.com",
            "old@acme.com | Fax: no longer in use",
            "Beware of e-mails from strangers.\nOur shop\nold@acme.com",
            "not write to new@acme.com, but to old@acme.com",
            "",
        ] {
            assert_eq!(noted(text), None, "{text}");
        }
    }

    #[test]
    fn a_note_above_a_list_counts_for_all_of_it() {
        let list = "Beware of mails from\na@acme.com\nb@acme.com\nold@acme.com";
        assert!(noted(list).is_some());
        let parted = "Beware of mails from\na@acme.com\nOur shop\nold@acme.com";
        assert_eq!(noted(parted), None);
    }

    #[test]
    fn words_that_disguise_an_address_are_known() {
        check(DISGUISES, |word: &Text, local| {
            joined(local).contains(&fold(&word.text))
        });
        let disguised = |address: &str| disguise(&Mailbox::parse(address).unwrap());
        assert_eq!(disguised("info.NO-SPAM@acme.com"), Some("nospam"));
        assert_eq!(disguised("info@nospam.com"), None);
    }

    #[test]
    fn hostile_pages_end() {
        let email = Mailbox::parse("old@acme.com").unwrap();
        let lines = vec!["old@acme.com mails".to_owned(); 20_000];
        note(&lines, &email);
        note(&["old@acme.com. ".repeat(20_000)], &email);
    }
}
