//! Values that stand alone on a line of a prompt's template, and keep their own lines.

use crate::base::text::EscapedLines;

/// What templates call the cells that keep their lines; no column of a list is named by it.
pub(super) const CELLS: &str = "_own_lines";

/// The filter that indents them.
pub(super) const FILTER: &str = "_indented";

/// The indentation of several lines where their placeholder has none: what begins at the edge is
/// the prompt's own.
const LEAST: &str = "  ";

/// The template, with each `{{ input.… }}` that has a line for itself asking for all its lines.
pub(super) fn on_own_lines(template: &str) -> String {
    // What is raw is no placeholder, and where it ends only the engine can tell.
    if template.contains("raw") && template.contains("{%") {
        return template.to_owned();
    }
    let lines = template.split_inclusive('\n');
    lines
        .map(|line| asking_for_lines(line).unwrap_or_else(|| line.to_owned()))
        .collect()
}

fn asking_for_lines(line: &str) -> Option<String> {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = &line[..line.len() - text.len()];
    let placeholder = text.trim_end();
    let inner = placeholder.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let path = inner.strip_prefix("input")?;
    let is_one = !inner.contains("{{") && !inner.contains("}}") && !inner.ends_with('-');
    if !is_one || !path.starts_with(['.', '[']) {
        return None;
    }
    let end = &text[placeholder.len()..];
    let width = indent.escape_default();
    Some(format!(
        "{indent}{{{{ ({CELLS}{path}) | {FILTER}(\"{width}\") }}}}{end}"
    ))
}

/// The text with what is unsafe escaped, each of its line breaks a line feed.
pub(super) fn of_several_lines(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace(is_break, "\n");
    let lines = lines.trim_matches('\n');
    EscapedLines(lines).to_string()
}

/// Whether a reader begins another line after it.
pub(super) fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The text as it stands behind `indent`, with every further line indented alike.
pub(super) fn indented(text: &str, indent: &str) -> String {
    let several = text.contains('\n');
    let (first, indent) = match indent {
        "" if several => (LEAST, LEAST),
        indent => ("", indent),
    };
    let mut lines = text.split('\n');
    let mut block = format!("{first}{}", lines.next().unwrap_or_default());
    for line in lines {
        block.push('\n');
        if !line.trim().is_empty() {
            block.push_str(indent);
            block.push_str(line);
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_with_a_line_for_itself_asks_for_all_lines() {
        let asks = |line: &str| asking_for_lines(line).is_some();
        for line in [
            "{{ input.text }}",
            "  {{input.text}} \n",
            "{{ input['the text'] | trim }}\r\n",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in [
            "Text: {{ input.text }}",
            "{{ input.text }}.",
            "{{ input.a }} {{ input.b }}",
            "{{- input.text }}",
            "{{ input.text -}}",
            "{{ input }}",
            "{{ inputs.text }}",
            "{{ key }}",
        ] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn every_line_is_indented_as_the_first() {
        assert_eq!(indented("a\nb\n\nc", "    "), "a\n    b\n\n    c");
        assert_eq!(indented("a\nb", ""), "  a\n  b");
        assert_eq!(indented("a", ""), "a");
        assert_eq!(
            of_several_lines("a\r\nb\u{2028}c\u{1b}\n"),
            "a\nb\nc\\u{1b}"
        );
    }
}
