//! A command line, taken apart into simple commands, or the reason why that cannot be done.

/// Why a command line cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unclear {
    /// A quotation without an end, or a backslash before nothing.
    #[error("it has a quotation that does not end")]
    Quotation,
    /// Something that a shell puts something else in place of.
    #[error("`{0}` stands for something that is not known")]
    Expansion(char),
    /// Something that joins commands otherwise than in a row.
    #[error("`{0}` is not understood")]
    Operator(char),
    /// A control character, a line break among them.
    #[error("it has a line break or a control character")]
    Control,
    /// A command of no words.
    #[error("a command is missing")]
    Nothing,
    /// A variable that is set for a command.
    #[error("a variable is set before a command")]
    Assignment,
}

/// What a reader of a command line stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Its words.
    pub(super) words: Vec<String>,
    /// The first of them that a shell may put names of files in place of: it has `*`, `?` or `[`.
    pub(super) glob: Option<usize>,
}

/// The simple commands of a line.
pub(super) fn commands(line: &str) -> Result<Vec<Command>, Unclear> {
    if line.chars().any(|c| c.is_control() && c != '\t') {
        return Err(Unclear::Control);
    }
    let pieces = pieces(line.trim())?.into_iter();
    pieces
        .map(|(piece, glob)| words(piece).map(|words| Command { words, glob }))
        .collect()
}

/// The parts of the line between operators, each with its first word that is a glob.
fn pieces(line: &str) -> Result<Vec<(&str, Option<usize>)>, Unclear> {
    let mut pieces = Vec::new();
    let (mut quote, mut start, mut word) = (Quote::None, 0, 0_usize);
    let mut glob = None;
    let mut letters = line.char_indices().peekable();
    let mut gap = true;
    while let Some((at, c)) = letters.next() {
        let begins = std::mem::replace(&mut gap, false);
        match (quote, c) {
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::Single, _) => {}
            // Some shells put an earlier command in place of `!`, in double quotes too.
            (_, '$' | '`' | '!') | (Quote::None, '{' | '}') => return Err(Unclear::Expansion(c)),
            (Quote::None, '~') if begins => return Err(Unclear::Expansion(c)),
            (_, '\\') => {
                letters.next().ok_or(Unclear::Quotation)?;
            }
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::None, '<' | '>' | '(' | ')') => return Err(Unclear::Operator(c)),
            (Quote::None, '#') if begins => return Err(Unclear::Operator(c)),
            (Quote::None, '*' | '?' | '[') => glob = glob.or(Some(word)),
            (Quote::None, ';' | '&' | '|') => {
                let doubled = letters.peek().is_some_and(|(_, next)| *next == c);
                pieces.push((&line[start..at], glob.take()));
                if doubled && c != ';' {
                    letters.next();
                } else if c == '&' {
                    return Err(Unclear::Operator(c));
                }
                start = letters.peek().map_or(line.len(), |(at, _)| *at);
                word = 0;
                gap = true;
            }
            (Quote::None, ' ' | '\t') => {
                word += usize::from(!begins);
                gap = true;
            }
            (Quote::None | Quote::Double, _) => {}
        }
    }
    if quote != Quote::None {
        return Err(Unclear::Quotation);
    }
    let rest = &line[start..];
    // A `;` may end a line.
    if pieces.is_empty() || !rest.trim().is_empty() || !line.ends_with(';') {
        pieces.push((rest, glob));
    }
    Ok(pieces)
}

fn words(piece: &str) -> Result<Vec<String>, Unclear> {
    // Other white space than this is a letter to a shell.
    let words = shlex::split(piece).ok_or(Unclear::Quotation)?;
    match words.first() {
        None => Err(Unclear::Nothing),
        Some(first) if sets_variable(first) => Err(Unclear::Assignment),
        Some(_) => Ok(words),
    }
}

fn sets_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c))
    })
}
