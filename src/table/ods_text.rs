//! The text of one cell of an `OpenDocument` spreadsheet, as it is gathered.

/// The longest text that a cell is let have.
pub(super) const MAX_TEXT: usize = super::read_csv::MAX_CELL_BYTES;

/// Gathers paragraphs: white space collapses (ODF 1.3 part 3, §6.1.2), paragraphs are lines.
#[derive(Debug, Default)]
pub(super) struct CellText {
    text: String,
    paragraphs: usize,
    open: usize,
    after_space: bool,
}

impl CellText {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.paragraphs = 0;
        self.open = 0;
    }

    pub(super) fn start_paragraph(&mut self) {
        if self.paragraphs > 0 {
            self.text.push('\n');
        }
        self.paragraphs += 1;
        self.open += 1;
        self.after_space = true;
    }

    pub(super) fn end_paragraph(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// Adds text as the file has it, outside of paragraphs nothing.
    pub(super) fn push_str(&mut self, text: &str) {
        if self.open == 0 {
            return;
        }
        for letter in text.chars() {
            let space = matches!(letter, ' ' | '\t' | '\n' | '\r');
            if !space {
                self.text.push(letter);
            } else if !self.after_space {
                self.text.push(' ');
            }
            self.after_space = space;
        }
    }

    /// Adds a character that does not collapse, `count` times.
    pub(super) fn push_kept(&mut self, letter: char, count: usize) {
        if self.open > 0 {
            let room = (MAX_TEXT + 1).saturating_sub(self.text.len());
            self.text
                .extend(std::iter::repeat_n(letter, count.min(room)));
            self.after_space = false;
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapses_but_keeps_what_is_marked() {
        let mut cell = CellText::default();
        cell.push_str("between");
        cell.start_paragraph();
        cell.push_str("\n  Acme  \n");
        cell.push_kept(' ', 2);
        cell.push_str("Co");
        cell.end_paragraph();
        cell.push_str("\n");
        cell.start_paragraph();
        cell.push_str("Ltd");
        assert_eq!(cell.as_str(), "Acme   Co\nLtd");
        cell.push_kept(' ', usize::MAX);
        assert_eq!(cell.as_str().len(), MAX_TEXT + 1);
    }
}
