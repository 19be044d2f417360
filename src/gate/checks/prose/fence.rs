//! Fences of code (`CommonMark` §4.5).

/// A fence that has begun a block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// What its line says of the code's language.
    pub(super) language: String,
}

impl Fence {
    /// The fence that a line begins.
    pub(super) fn begun_by(line: &str) -> Option<Self> {
        let text = flush(line)?;
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        is_fence.then(|| Self {
            mark,
            length,
            language: rest.trim().to_owned(),
        })
    }

    /// Whether a line ends it.
    pub(super) fn ended_by(&self, line: &str) -> bool {
        flush(line).is_some_and(|text| {
            let rest = text.trim_start_matches(self.mark);
            text.len() - rest.len() >= self.length && rest.trim().is_empty()
        })
    }
}

/// The line without its indentation, where that is no more than a block may have.
fn flush(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4).then_some(text)
}
