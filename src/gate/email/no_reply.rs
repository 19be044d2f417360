//! Mailboxes that send and do not read.

use super::lists::NO_REPLY;

/// How many words at most make up one entry of the list (`please-do-not-reply`).
const MOST_WORDS: usize = 4;

/// An entry from this length on is also known with something after it (`noreplykr`).
const LONG_ENTRY: usize = 7;

/// The listed word that the local part has, whatever parts its words: `no-reply`, `no_reply2`
/// and `acme.noreply` all have `noreply`.
#[must_use]
pub fn reads_no_mail(local: &str) -> Option<&'static str> {
    let words: Vec<&str> = local
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    (0..words.len())
        .flat_map(|start| {
            (1..=MOST_WORDS).filter_map(move |count| Some((start, start.checked_add(count)?)))
        })
        .filter_map(|(start, end)| words.get(start..end))
        .find_map(|run| entry(&run.concat()))
}

fn entry(word: &str) -> Option<&'static str> {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    NO_REPLY
        .iter()
        .filter(|entry| *entry == bare || (entry.len() >= LONG_ENTRY && word.starts_with(entry)))
        .max_by_key(|entry| (entry.len(), *entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_every_spelling() {
        for local in [
            "noreply",
            "no-reply",
            "no_reply2",
            "acme.noreply",
            "noreplykr",
            "do.not.reply",
            "please-do-not-reply",
            "mailer-daemon",
            "bounces",
            "발신전용",
        ] {
            assert!(reads_no_mail(local).is_some(), "{local}");
        }
    }

    #[test]
    fn lets_its_neighbours_through() {
        for local in [
            "reply",
            "info",
            "casino-reply",
            "bouncer",
            "postmaster",
            "nora.eply",
            "",
            "-",
        ] {
            assert_eq!(reads_no_mail(local), None, "{local}");
        }
    }
}
