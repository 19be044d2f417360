//! Addresses that an element's edge runs through.
//!
//! `<b>Mail</b><span>info@acme.com</span>` reads `Mailinfo@acme.com`, unless a style sheet that
//! is not known sets the two apart: it is not sure that the page shows the longer address. That
//! it shows the shorter is less sure still, and does not count.

/// Takes out of a visible line the addresses through whose local part an edge runs, such that
/// what follows the edge is an address itself; gives each of them whole.
pub(super) fn part(line: String, edges: &[usize]) -> (String, Vec<String>) {
    let mut unclear = Vec::new();
    if edges.is_empty() || !line.contains('@') {
        return (line, unclear);
    }
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in line.match_indices('@') {
        let start = at - run(line[..at].bytes().rev());
        let before = edges.partition_point(|edge| *edge <= start);
        let until = edges.partition_point(|edge| *edge < at);
        let inside = edges.get(before..until).unwrap_or_default();
        if inside.is_empty() || start < from {
            continue;
        }
        let end = at + 1 + domain(&line[at + 1..]);
        unclear.push(line[start..end].to_owned());
        kept.push_str(&line[from..start]);
        from = end;
    }
    kept.push_str(&line[from..]);
    (kept.trim().to_owned(), unclear)
}

/// How many octets in a row may stand in a local part as people write it.
fn run(octets: impl Iterator<Item = u8>) -> usize {
    const MOST_LOCAL: usize = 64;
    octets
        .take(MOST_LOCAL)
        .take_while(|b| b.is_ascii_alphanumeric() || b"._+-".contains(b))
        .count()
}

/// How long the domain at the start of `text` is, in bytes, without the signs that end it.
fn domain(text: &str) -> usize {
    let in_domain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let end = text.find(|c| !in_domain(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', '-']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(line: &str, edges: &[usize]) -> (String, Vec<String>) {
        part(line.to_owned(), edges)
    }

    #[test]
    fn an_edge_inside_a_local_part_makes_it_unclear() {
        let (line, unclear) = parted("a Mailinfo@acme.co. b@acme.co", &[6, 24]);
        assert_eq!(line, "a . b@acme.co");
        assert_eq!(unclear, ["Mailinfo@acme.co"]);
        let (line, unclear) = parted("a-b@acme.co", &[1, 2]);
        assert_eq!(line, "");
        assert_eq!(unclear, ["a-b@acme.co"]);
    }

    #[test]
    fn an_edge_elsewhere_does_not() {
        for edges in [&[][..], &[5], &[9], &[10], &[14], &[5, 9, 10]] {
            let (line, unclear) = parted("Mail:info@acme.co", edges);
            assert_eq!(line, "Mail:info@acme.co", "{edges:?}");
            assert_eq!(unclear, [""; 0]);
        }
        assert_eq!(parted("이메일info@acme.co", &[9]).1, [""; 0]);
        assert_eq!(parted("ab", &[1]).1, [""; 0]);
        assert_eq!(parted("@@", &[1]).1, [""; 0]);
        assert_eq!(parted("a @b.co", &[2]).1, [""; 0]);
    }
}
