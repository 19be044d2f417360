//! The places in a topic that the code fills in: a line such as `<exit-codes>` for itself.

use super::part::Part;

/// The text with every such line replaced by what it stands for.
pub(super) fn filled(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    for line in source.lines() {
        let lines = match mark(line).and_then(Part::named) {
            Some(part) => part.lines(),
            None => vec![line.to_owned()],
        };
        for line in lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// What a line marks, if it is such a line.
pub(super) fn mark(line: &str) -> Option<&str> {
    line.strip_prefix('<')?.strip_suffix('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_for_itself_is_filled() {
        let text = filled("a\n<events>\n see <events>\n<nothing>\n");
        assert!(text.starts_with("a\n    session, quest"), "{text}");
        assert!(text.ends_with("\n see <events>\n<nothing>\n"), "{text}");
    }
}
