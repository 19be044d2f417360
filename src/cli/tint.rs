//! Words in colour, and the way back from them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Doubt,
    Bad,
    Strong,
}

const ESCAPE: char = '\u{1b}';

const CODES: [(Tone, &str); 4] = [
    (Tone::Good, "[32m"),
    (Tone::Doubt, "[33m"),
    (Tone::Bad, "[31m"),
    (Tone::Strong, "[1m"),
];

const END: &str = "[0m";

pub(super) fn tinted(tone: Tone, word: &str) -> String {
    let code = CODES.iter().find(|(of, _)| *of == tone);
    let code = code.map_or(END, |(_, code)| code);
    format!("{ESCAPE}{code}{word}{ESCAPE}{END}")
}

pub(super) fn pieces(line: &str) -> Vec<(Option<Tone>, &str)> {
    let mut parts = line.split(ESCAPE);
    let mut pieces = vec![(None, parts.next().unwrap_or_default())];
    for part in parts {
        let begins = |(tone, code): &(Tone, &str)| Some((Some(*tone), part.strip_prefix(code)?));
        let plain = || (None, part.strip_prefix(END).unwrap_or(part));
        pieces.push(CODES.iter().find_map(begins).unwrap_or_else(plain));
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tinted_is_taken_apart_again() {
        let line = format!(
            "  {} x {}",
            tinted(Tone::Doubt, "m[0m"),
            tinted(Tone::Bad, "y")
        );
        let expected = [
            (None, "  "),
            (Some(Tone::Doubt), "m[0m"),
            (None, " x "),
            (Some(Tone::Bad), "y"),
        ];
        assert_eq!(pieces(&line), expected);
        assert_eq!(pieces("plain"), [(None, "plain")]);
        assert_eq!(pieces(""), []);
    }
}
