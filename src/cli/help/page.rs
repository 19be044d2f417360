//! A Markdown text as a terminal shows it.

use crate::cli::output::{Paper, Tone};

/// Writes the text: blocks between fences are indented, and headings are bold where there is
/// colour. Elsewhere it stays Markdown.
pub(super) fn write(paper: &mut Paper, text: &str) {
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced && line.is_empty() {
            paper.gap();
        } else if fenced {
            paper.line(format!("  {line}"));
        } else {
            match heading(line).filter(|_| paper.has_colour()) {
                Some(words) => {
                    let words = paper.tint(Tone::Strong, words);
                    paper.line(words);
                }
                None => paper.line(line),
            }
        }
    }
}

fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    words.strip_prefix(' ').filter(|_| words.len() < line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_indented_and_their_comments_are_no_headings() {
        let mut paper = Paper::plain();
        write(&mut paper, "# A\n\n```toml\n# b\n\nc = 1\n```\nd");
        assert_eq!(paper.into_text(), "# A\n\n  # b\n\n  c = 1\nd\n");
        assert_eq!(heading("## A b"), Some("A b"));
        assert_eq!(heading("#a"), None);
        assert_eq!(heading(" a"), None);
    }
}
