//! bash, which takes what it is offered into the command line as it stands.
//!
//! It also cuts words where its line editor would, at `=` and `:` and opened quotes. So the script
//! hands over the line up to the cursor, and the piece of it that an offer is to replace; what is
//! offered is quoted for just that place.

use std::ffi::OsString;

use clap_complete::CompletionCandidate;

use super::quoting::{Dialect, Quote, for_bash, unquoted};

/// The script; `COMPLETER` stands for the program.
const SCRIPT: &str = include_str!("bash.sh");

/// The script that has bash ask `completer`.
pub(super) fn script(completer: &str) -> String {
    let quoted = for_bash(completer, Quote::None);
    SCRIPT.replace("COMPLETER", &quoted)
}

/// A command line up to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed {
    /// What its words say; the last is being typed.
    pub(super) words: Vec<OsString>,
    /// What the last says before the piece that is replaced.
    head: String,
    /// What that leaves open.
    quote: Quote,
}

impl Typed {
    /// Reads what the script hands over: the line, and the piece to replace.
    pub(super) fn of(args: &[OsString], home: Option<&str>) -> Option<Self> {
        let [line, piece] = args else {
            return None;
        };
        let (line, piece) = (line.to_str()?, piece.to_str()?);
        let raws = raw_words(line);
        let head = raws.last()?.strip_suffix(piece)?;
        let (head, quote) = unquoted(head, home, Dialect::Posix)?;
        let said = raws.iter().map(|raw| {
            let (said, _) = unquoted(raw, home, Dialect::Posix)?;
            Some(OsString::from(said))
        });
        Some(Self {
            words: said.collect::<Option<_>>()?,
            head,
            quote,
        })
    }
}

/// The words of a line as they are typed; the last may be empty.
fn raw_words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        if quote.is_none() && !escaped && matches!(character, ' ' | '\t' | '\n') {
            words.extend(start.take().map(|start| &line[start..at]));
            continue;
        }
        start.get_or_insert(at);
        match (quote, character) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    words.push(start.map_or("", |start| &line[start..]));
    words
}

/// What is answered, a line for each offer: what takes the place of the piece.
pub(super) fn answer(typed: &Typed, offers: Vec<CompletionCandidate>) -> Option<Vec<u8>> {
    let mut lines = String::new();
    for offer in offers {
        let value = offer.get_value().to_str()?;
        if let Some(rest) = value.strip_prefix(&typed.head) {
            lines.push_str(&for_bash(rest, typed.quote));
            lines.push('\n');
        }
    }
    Some(lines.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str, piece: &str, offers: &[&str]) -> Option<String> {
        let typed = Typed::of(&[line.into(), piece.into()], None)?;
        let offers = offers.iter().map(CompletionCandidate::new).collect();
        answer(&typed, offers).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_line_is_read_up_to_the_cursor() {
        let typed = |line: &str, piece: &str| {
            let typed = Typed::of(&[line.into(), piece.into()], Some("/h")).unwrap();
            let words: Vec<_> = typed.words.iter().map(|w| w.to_str().unwrap()).collect();
            words.join("|")
        };
        assert_eq!(typed("comail  status ", ""), "comail|status|");
        let line = "comail --session ~/'my dir' submit --key=\"Acme C";
        assert_eq!(
            typed(line, "Acme C"),
            "comail|--session|/h/my dir|submit|--key=Acme C"
        );
        // A piece that is not the end of the line is nobody's.
        assert_eq!(Typed::of(&["comail a".into(), "b".into()], None), None);
    }

    #[test]
    fn an_offer_takes_the_place_of_the_piece_alone() {
        let offers = &["--key=Acme Co", "--key=Acme $(x)"];
        let line = "comail submit --key=Ac";
        assert_eq!(
            answered(line, "Ac", offers).unwrap(),
            "Acme\\ Co\nAcme\\ \\$\\(x\\)\n"
        );
        let line = "comail submit --key=\"Ac";
        assert_eq!(
            answered(line, "Ac", offers).unwrap(),
            "Acme Co\nAcme \\$(x)\n"
        );
        let line = "comail submit --key 'Ac";
        assert_eq!(answered(line, "Ac", &["Acme `x`"]).unwrap(), "Acme `x`\n");
    }
}
