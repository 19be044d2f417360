//! Words as shells read and write them.
//!
//! What a session holds may look like a command: a key such as `$(reboot)`. Where a shell takes
//! what is offered into the command line as it stands, it must be quoted before.

use std::iter::Peekable;
use std::str::Chars;

/// What is open where a piece of a word ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// Nothing.
    None,
    /// `'`.
    Single,
    /// `"`.
    Double,
}

/// Whose rules a word is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// bash and zsh.
    Posix,
    /// fish, which knows `\'` within single quotes.
    Fish,
}

/// What a word says that was typed as `raw`, and what is open at its end.
///
/// A `~/` at its beginning is `home`. Nothing is expanded: a variable is its own name. `None` for
/// what says nothing by itself, such as `$'…'`.
pub(super) fn unquoted(raw: &str, home: Option<&str>, dialect: Dialect) -> Option<(String, Quote)> {
    let mut said = String::new();
    let mut rest = raw;
    if let Some((home, tail)) = home
        .zip(raw.strip_prefix('~'))
        .filter(|(_, t)| t.starts_with('/'))
    {
        said.push_str(home);
        rest = tail;
    }
    let mut quote = Quote::None;
    let mut characters = rest.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Quote::None, '$') if matches!(characters.peek(), Some('\'' | '"')) => return None,
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (_, '\\') => said.extend(escaped(quote, dialect, &mut characters)),
            (_, other) => said.push(other),
        }
    }
    Some((said, quote))
}

/// What stands for a backslash and the character behind it.
fn escaped(
    quote: Quote,
    dialect: Dialect,
    characters: &mut Peekable<Chars<'_>>,
) -> impl Iterator<Item = char> {
    let takes = |next: char| match quote {
        Quote::None => true,
        Quote::Single => dialect == Dialect::Fish && matches!(next, '\'' | '\\'),
        Quote::Double => matches!(next, '"' | '\\' | '$' | '`'),
    };
    let next = characters.next_if(|next| takes(*next));
    let lone = next.is_none() && quote != Quote::None;
    lone.then_some('\\').into_iter().chain(next)
}

/// `text` as bash is to find it behind what leaves `quote` open.
pub(super) fn for_bash(text: &str, quote: Quote) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        match (quote, character) {
            (Quote::None, plain) if is_plain(plain) => written.push(plain),
            (Quote::Double, '"' | '\\' | '$' | '`') | (Quote::None, _) => {
                written.extend(['\\', character]);
            }
            // Within quotes an interactive bash would look for it in its history.
            (Quote::Double, '!') => written.push_str("\"\\!\""),
            (Quote::Single, '\'') => written.push_str("'\\''"),
            (_, other) => written.push(other),
        }
    }
    written
}

/// `text` as one word of `PowerShell`; nothing where no quotes are sure to hold it.
pub(super) fn for_powershell(text: &str) -> Option<String> {
    if text.chars().all(is_plain) && !text.is_empty() {
        return Some(text.to_owned());
    }
    // It takes these for single quotes too.
    let is_curly = |character: char| ('\u{2018}'..='\u{201b}').contains(&character);
    let quoted = || format!("'{}'", text.replace('\'', "''"));
    (!text.contains(is_curly)).then(quoted)
}

/// Whether a character means nothing but itself wherever it stands in a word.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || matches!(character, '_' | '-' | '.' | '/' | '+' | '%')
        || (!character.is_ascii() && !character.is_whitespace() && !is_quote(character))
}

/// The quotation marks beyond ASCII that `PowerShell` takes for quotes.
fn is_quote(character: char) -> bool {
    ('\u{2018}'..='\u{201f}').contains(&character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says(raw: &str) -> (String, Quote) {
        unquoted(raw, Some("/home/kim"), Dialect::Posix).unwrap()
    }

    #[test]
    fn a_word_is_read_as_a_shell_reads_it() {
        for (raw, said, quote) in [
            ("", "", Quote::None),
            ("Acme\\ Co", "Acme Co", Quote::None),
            ("\"Acme Co", "Acme Co", Quote::Double),
            ("'it'\\''s", "it's", Quote::Single),
            ("\"a\\$b\\c\"d", "a$b\\cd", Quote::None),
            ("'a\\", "a\\", Quote::Single),
            ("a\\", "a", Quote::None),
            ("~/x", "/home/kim/x", Quote::None),
            ("~x", "~x", Quote::None),
        ] {
            assert_eq!(says(raw), (said.to_owned(), quote), "{raw}");
        }
        assert_eq!(unquoted("$'a", None, Dialect::Posix), None);
        let fish = unquoted("'it\\'s", None, Dialect::Fish);
        assert_eq!(fish, Some(("it's".to_owned(), Quote::Single)));
    }

    #[test]
    fn powershell_is_given_one_word_or_none() {
        assert_eq!(for_powershell("Acme").unwrap(), "Acme");
        assert_eq!(for_powershell("$(x)'").unwrap(), "'$(x)'''");
        assert_eq!(for_powershell("a;b").unwrap(), "'a;b'");
        assert_eq!(for_powershell("it\u{2019}s"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_for_bash_says_the_same(text in "[a-c \\\\$`\"'!*?#~{}();&|<>=:@^한]{0,8}") {
            for (open, quote) in [("", Quote::None), ("'", Quote::Single), ("\"", Quote::Double)] {
                let raw = format!("{open}{}", for_bash(&text, quote));
                prop_assert_eq!(says(&raw), (text.clone(), quote));
            }
        }
    }
}
