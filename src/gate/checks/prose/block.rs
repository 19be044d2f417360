//! The blocks that a line of Markdown begins.

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate::checks) enum Block {
    /// A heading of this level.
    Heading(usize),
    /// An item of a list.
    Item {
        /// Whether it is numbered.
        numbered: bool,
        /// How many lists it lies in, beside its own.
        depth: usize,
    },
    /// A fenced block of code.
    Code {
        /// What its fence says.
        language: String,
        /// Its lines.
        text: String,
    },
}

/// The lists that are open, by the indentation of their items.
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<usize>);

impl Lists {
    /// The item that a line begins.
    pub(super) fn item(&mut self, line: &str) -> Option<Block> {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.is_empty() {
            return None;
        }
        let Some(numbered) = marker(text) else {
            if indent == 0 {
                self.0.clear();
            }
            return None;
        };
        self.0.retain(|open| *open < indent);
        let depth = self.0.len();
        self.0.push(indent);
        Some(Block::Item { numbered, depth })
    }
}

/// The heading that a line is, by the `#` that it begins with.
pub(super) fn heading(line: &str) -> Option<Block> {
    let text = line.trim_start_matches(' ');
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let is_set_off = rest.starts_with([' ', '\t']);
    let says = !rest.trim_matches([' ', '\t', '#']).is_empty();
    (line.len() - text.len() < 4 && (1..=6).contains(&level) && is_set_off && says)
        .then_some(Block::Heading(level))
}

/// The heading that a line makes of the text above it.
pub(super) fn underline(line: &str) -> Option<Block> {
    let text = line.trim();
    let is_of = |mark: char| text.len() > 1 && text.chars().all(|c| c == mark);
    match () {
        () if is_of('=') => Some(Block::Heading(1)),
        () if is_of('-') => Some(Block::Heading(2)),
        () => None,
    }
}

/// Whether a line begins an item, and then whether that is numbered.
fn marker(text: &str) -> Option<bool> {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let is_rule = |mark: char| bare.len() > 2 && bare.chars().all(|c| c == mark);
    if ['-', '*', '_'].into_iter().any(is_rule) {
        return None;
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (numbered, rest) = match digits {
        0 => (false, text.strip_prefix(['-', '*', '+'])),
        1..=9 => (true, text[digits..].strip_prefix(['.', ')'])),
        _ => return None,
    };
    let says = |rest: &str| rest.starts_with([' ', '\t']) && !rest.trim().is_empty();
    rest.is_some_and(says).then_some(numbered)
}
