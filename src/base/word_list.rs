//! Word lists that are compiled in from text files.

/// The entries of a list, one a line, in the order of the file. Empty lines and lines that begin
/// with `#` are comments.
pub fn entries(text: &'static str) -> Vec<&'static str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_not_entries() {
        assert_eq!(entries("# a\nb c\n\n d\n"), ["b c", "d"]);
    }
}
