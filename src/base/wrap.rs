//! Wraps lines at spaces, by the width of each character on a terminal.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

/// How to treat a word that is longer than a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongWord {
    Broken,
    /// It gets its own row, which is too long.
    Whole,
}

/// Splits a line into rows, as ranges of its characters. `first` is the width of the first row, and
/// `rest` that of the others. Spaces between two rows belong to neither.
///
/// A part between backticks is broken only if it is longer than a row.
pub fn rows(line: &[char], first: usize, rest: usize, long_word: LongWord) -> Vec<Range<usize>> {
    let quoted = quoted(line);
    let mut rows = Vec::new();
    let (mut start, mut columns) = (0, first);
    loop {
        let end = start + fitting(&line[start..], columns).max(1);
        if end >= line.len() {
            rows.push(start..line.len());
            return rows;
        }
        // The first row keeps the indentation of the line.
        let word = (start..end).find(|&at| line[at] != ' ').unwrap_or(end);
        let is_space = |at: &usize| line[*at] == ' ';
        let between = |at: &usize| is_space(at) && !quoted[*at];
        let last = |is: &dyn Fn(&usize) -> bool| (word..=end).rev().find(is);
        let next = match last(&between).or_else(|| last(&is_space)) {
            Some(space) => (word..=space)
                .rev()
                .find(|at| !is_space(at))
                .map_or(space, |last| last + 1),
            None if long_word == LongWord::Broken => end,
            None => (end..line.len()).find(is_space).unwrap_or(line.len()),
        };
        rows.push(start..next);
        let after = (next..line.len()).find(|at| !is_space(at));
        let Some(after) = after else {
            return rows;
        };
        (start, columns) = (after, rest);
    }
}

/// How many leading characters fit into the columns.
pub fn fitting(line: &[char], columns: usize) -> usize {
    let mut used = 0;
    let fits = |c: &&char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    line.iter().take_while(fits).count()
}

/// For each character, whether it is between backticks.
fn quoted(line: &[char]) -> Vec<bool> {
    let ticks: Vec<usize> = (0..line.len()).filter(|&at| line[at] == '`').collect();
    let mut quoted = vec![false; line.len()];
    for pair in ticks.chunks_exact(2) {
        quoted[pair[0]..pair[1]].fill(true);
    }
    quoted
}

/// Wraps a text to `columns`, with each run of white space as one space.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: Vec<char> = words.join(" ").chars().collect();
    if line.is_empty() {
        return Vec::new();
    }
    let rows = rows(&line, columns, columns, LongWord::Whole);
    rows.into_iter()
        .map(|row| line[row].iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces() {
        assert_eq!(wrap("aa bb  cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aa `b b`, c", 7), ["aa", "`b b`,", "c"]);
        assert_eq!(wrap("aa `b", 4), ["aa", "`b"]);
        assert_eq!(wrap("가나 다", 4), ["가나", "다"]);
        assert_eq!(wrap("aaaaaaaa b", 4), ["aaaaaaaa", "b"]);
        assert_eq!(wrap("", 4), [""; 0]);
    }

    #[test]
    fn breaks_a_long_word_or_gives_it_a_row() {
        let split = |text: &str, long_word| -> Vec<String> {
            let line: Vec<char> = text.chars().collect();
            let rows = rows(&line, 4, 3, long_word);
            rows.into_iter()
                .map(|row| line[row].iter().collect())
                .collect()
        };
        assert_eq!(
            split("aaaaaaaa b", LongWord::Broken),
            ["aaaa", "aaa", "a b"]
        );
        assert_eq!(split("aaaaaaaa b", LongWord::Whole), ["aaaaaaaa", "b"]);
        assert_eq!(split("  aaaaa  ", LongWord::Whole), ["  aaaaa"]);
        assert_eq!(split("`a b c d`", LongWord::Whole), ["`a b", "c", "d`"]);
    }
}
