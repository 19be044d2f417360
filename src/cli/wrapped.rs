//! Prose in lines of a width.

/// The words of `text` in lines of at most so many characters; what stands between backticks is
/// one word, and one that is longer has a line of its own.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = text.split(move |c: char| {
        quoted ^= c == '`';
        c.is_whitespace() && !quoted
    });
    parts.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("aa bb  cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("aa `b b`, c", 5), ["aa", "`b b`,", "c"]);
        assert_eq!(wrapped("가나 다", 4), ["가나 다"]);
        assert_eq!(wrapped("", 4), [""; 0]);
    }
}
