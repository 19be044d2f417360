//! Fits text to a terminal: long lines are broken at spaces, and tables that are too wide become one
//! field per line.

use std::iter;

use unicode_width::UnicodeWidthChar as _;

use super::exit::hanging;
use crate::base::wrap::{LongWord, rows};

const ESCAPE: char = '\u{1b}';

/// The end of a command line that continues on the next line in a shell.
const CONTINUED: &str = " \\";

/// The text in lines of at most `columns`, except for longer words. Escape sequences of colours take no
/// columns.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut fitted = String::new();
    let mut at = 0;
    while at < lines.len() {
        let table = table_length(&lines[at..]);
        let is_wide = |line: &&str| width(line) > columns;
        if table > 0 && lines[at..at + table].iter().any(is_wide) {
            for field in fields(&lines[at..at + table]) {
                add(&mut fitted, &field, columns);
            }
        } else {
            for line in &lines[at..at + table.max(1)] {
                add(&mut fitted, line, columns);
            }
        }
        at += table.max(1);
    }
    if !text.ends_with('\n') {
        fitted.pop();
    }
    fitted
}

/// The start of a list item.
const ITEM: &str = "- ";

/// The lines of a Markdown text, where paragraphs and items of lists are broken at `columns`.
pub(super) fn reflow(markdown: &str, columns: usize) -> String {
    let mut fitted = String::new();
    let (mut mark, mut paragraph) = ("", String::new());
    let mut is_code = false;
    // The empty line at the end ends a last paragraph.
    for line in markdown.lines().chain([""]) {
        is_code ^= line.starts_with("```");
        let is_text = !is_code && !line.starts_with("```");
        let starts = line.starts_with(|c: char| c.is_alphanumeric() || "`*".contains(c));
        let goes_on = mark == ITEM && line.starts_with("  ") && !line.starts_with("   ");
        if is_text && (goes_on || starts && mark.is_empty()) {
            paragraph.extend([line.trim_start(), " "]);
            continue;
        }
        for line in hanging(mark, &std::mem::take(&mut paragraph), columns) {
            fitted.extend([&line, "\n"]);
        }
        mark = "";
        if is_text && let Some(item) = line.strip_prefix(ITEM) {
            mark = ITEM;
            paragraph.extend([item, " "]);
        } else if is_text && starts {
            paragraph.extend([line, " "]);
        } else {
            fitted.extend([line, "\n"]);
        }
    }
    fitted.truncate(fitted.trim_end().len());
    fitted + "\n"
}

fn add(fitted: &mut String, line: &str, columns: usize) {
    if width(line) <= columns {
        fitted.extend([line, "\n"]);
        return;
    }
    let places: Vec<(usize, char)> = visible(line).collect();
    let chars: Vec<char> = places.iter().map(|(_, c)| *c).collect();
    let hang = hang(&chars, columns);
    let kept = keep_arguments(&chars);
    let (text, end) = if is_command(&kept) {
        (kept, CONTINUED)
    } else {
        (chars, "")
    };
    let room = columns.saturating_sub(end.len());
    let rows = rows(&text, room, room.saturating_sub(hang), LongWord::Whole);
    let byte = |at: usize| places.get(at).map_or(line.len(), |(byte, _)| *byte);
    for (at, row) in rows.iter().enumerate() {
        let start = if at == 0 { 0 } else { byte(row.start) };
        let Some(next) = rows.get(at + 1) else {
            fitted.extend([&line[start..], "\n"]);
            return;
        };
        let (stop, next) = (byte(row.end), byte(next.start));
        fitted.extend([&line[start..stop], end, "\n"]);
        fitted.extend(iter::repeat_n(' ', hang));
        // Escape sequences between two rows are kept.
        fitted.push_str(&line[stop..next].replace(' ', ""));
    }
}

/// The indent of continuation lines: that of the last of several columns, or else two more than that of
/// the line, so that no text from outside begins a line.
fn hang(line: &[char], columns: usize) -> usize {
    let indent = line.iter().take_while(|c| **c == ' ').count();
    let starts_column = |at: &usize| line[at - 2..*at] == [' ', ' '] && line[*at] != ' ';
    let last = (indent + 2..line.len()).rev().find(starts_column);
    let last = last.map(|at| line[..at].iter().filter_map(|c| c.width()).sum());
    let last = last.filter(|hang| (indent + 1..=columns / 2).contains(hang));
    last.unwrap_or_else(|| (indent + 2).min(columns / 2))
}

/// Whether a line shows a command to type: it has a prompt, or is indented.
fn is_command(line: &[char]) -> bool {
    let line: String = line.iter().collect();
    let is_alone = line.starts_with("  ") && !line.trim_start().contains("  ");
    line.starts_with("$ ") || is_alone && line.trim_start().starts_with("comail ")
}

/// A command line in which spaces within quotes are replaced, so that it is not broken there.
fn keep_arguments(line: &[char]) -> Vec<char> {
    let (mut quote, mut is_escaped) = (None, false);
    let keep = |&c: &char| {
        let is_plain = quote.is_none() && !is_escaped;
        let is_literal = is_escaped;
        is_escaped = c == '\\' && !is_literal && quote != Some('\'');
        if !is_literal && ['\'', '"'].contains(&c) {
            quote = match quote {
                None => Some(c),
                Some(open) if open == c => None,
                open => open,
            };
        }
        if c == ' ' && !is_plain { '\u{a0}' } else { c }
    };
    line.iter().map(keep).collect()
}

/// How many of these lines are a table: a head, a line of dashes, and rows.
fn table_length(lines: &[&str]) -> usize {
    let is_rule = |line: &&str| line.contains("---") && line.chars().all(|c| "|-: ".contains(c));
    if !lines[0].starts_with('|') || !lines.get(1).is_some_and(is_rule) {
        return 0;
    }
    lines
        .iter()
        .take_while(|line| line.starts_with('|'))
        .count()
}

fn fields(table: &[&str]) -> Vec<String> {
    let heads = cells(table[0]);
    let is_headed = heads.iter().any(|head| !head.is_empty());
    let mut fields = Vec::new();
    for row in &table[2..] {
        let cells = cells(row);
        if !is_headed {
            fields.push(cells.join(": "));
            continue;
        }
        let filled = heads
            .iter()
            .zip(&cells)
            .filter(|(_, cell)| !cell.is_empty());
        for (at, (head, cell)) in filled.enumerate() {
            let indent = if at == 0 { "" } else { "  " };
            fields.push(format!("{indent}{head}: {cell}"));
        }
    }
    fields
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut is_escaped = false;
    let cells = row.split(|c| {
        let ends = c == '|' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    cells.map(|cell| cell.trim().to_owned()).collect()
}

fn width(line: &str) -> usize {
    visible(line).filter_map(|(_, c)| c.width()).sum()
}

/// The characters outside of escape sequences, with their places.
fn visible(line: &str) -> impl Iterator<Item = (usize, char)> {
    let mut is_escape = false;
    line.char_indices().filter(move |(_, c)| {
        let was_escape = is_escape;
        is_escape = *c == ESCAPE || (is_escape && !c.is_ascii_alphabetic());
        !is_escape && !was_escape
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_continue_under_the_last_column() {
        let text = "  one two three four\nshort\n";
        assert_eq!(fit(text, 10), "  one two\n    three\n    four\nshort\n");
        assert_eq!(
            fit("ab  c  one two three", 16),
            "ab  c  one two\n       three"
        );
        // Under a column in the right half, nothing would fit.
        assert_eq!(fit("abcdefgh  one two", 14), "abcdefgh  one\n  two");
        // A long word is left to the terminal, so that it can be copied.
        assert_eq!(
            fit("see https://a.example/b", 9),
            "see\n  https://a.example/b"
        );
        assert_eq!(fit("run `comail a b` now", 18), "run `comail a b`\n  now");
        assert_eq!(fit("\n\n", 10), "\n\n");
    }

    #[test]
    fn colours_take_no_columns_and_are_kept() {
        let text = "\u{1b}[1maaaa\u{1b}[0m \u{1b}[32mbbbb\u{1b}[0m";
        assert_eq!(fit(text, 9), text);
        let broken = "\u{1b}[1maaaa\u{1b}[0m\n  \u{1b}[32mbbbb\u{1b}[0m";
        assert_eq!(fit(text, 6), broken);
    }

    #[test]
    fn a_command_can_still_be_copied() {
        let line = "  comail submit --company 'A & B Ltd.' --none \"it's  it\"";
        let fitted = fit(line, 24);
        let joined = fitted.replace("\\\n", "");
        assert_eq!(shlex::split(&joined), shlex::split(line), "{fitted}");
        assert!(fitted.lines().all(|line| line.len() <= 24), "{fitted}");
        assert!(fitted.lines().count() > 2, "{fitted}");
        // A sentence and a row of a list are not commands.
        assert_eq!(fit("comail reads it", 10), "comail\n  reads it");
        assert_eq!(
            fit("  comail a  reads the page", 22),
            "  comail a  reads the\n    page"
        );
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_one_field_a_line() {
        let table =
            "| quest | key | rules |\n| ---: | --- | --- |\n| 1 | A \\| B |  |\n| 2 | C | x |\n";
        assert_eq!(fit(table, 30), table);
        let fields = "quest: 1\n  key: A \\| B\nquest: 2\n  key: C\n  rules: x\n";
        assert_eq!(fit(table, 20), fields);
        let headless = "|  |  |\n| --- | --- |\n| agent | claude |\n";
        assert_eq!(fit(headless, 16), "agent: claude\n");
        assert_eq!(fit("| no table\n", 8), "| no\n  table\n");
    }

    #[test]
    fn paragraphs_of_markdown_are_broken_and_code_is_not() {
        let text = "# A b c d e f\n\none two\nthree four\n\n```console\n$ aa bb cc dd\n```\n";
        let expected = "# A b c d e f\n\none\ntwo\nthree\nfour\n\n```console\n$ aa bb cc dd\n```\n";
        assert_eq!(reflow(text, 6), expected);
        assert_eq!(reflow("one\ntwo\n", 80), "one two\n");
        let items = "- one two\n  three\n- four\n\n*five* six\n";
        assert_eq!(
            reflow(items, 7),
            "- one\n  two\n  three\n- four\n\n*five*\nsix\n"
        );
    }
}
