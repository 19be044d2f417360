//! Complaints of which each is one line: `file:line:column: message`.

use std::sync::LazyLock;

use regex::Regex;

use super::complaint::{Complaint, Complaints};
use super::located::Located;
use super::text::{constant, lines, printed};

/// The rule that a message names: before it (`E501 …`, `error TS2322: …`) or after it
/// (`… [no-untyped-def]`).
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?x)^(?:(?:fatal\ )?error\ |warning\ )?(?<before>[A-Z]{1,5}[0-9]{1,5})\b
        | [\[(] (?: (?:error|warning)/ )? (?<after>[A-Za-z@][\w@/.-]*) [\])] $",
    )
});

pub(super) fn read(bytes: &[u8]) -> Complaints {
    let mut all = Complaints::default();
    for found in lines(&printed(bytes)).filter_map(Located::read) {
        // A note belongs to the complaint before it.
        if found.message.starts_with("note:") {
            continue;
        }
        let rule = RULE.captures(found.message);
        let rule = rule.and_then(|rule| rule.name("before").or(rule.name("after")));
        let complaint = Complaint::rule(found.message).at(Some(&found.place()));
        all.push(complaint.named(rule.map_or("", |rule| rule.as_str())));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_complaints_among_other_lines() {
        let printed = b"Checking 3 files\n\
            src/shop.py:3:80: E501 Line too long (93 > 79)\n\
            src/shop.py:7: error: Function is missing a type annotation  [no-untyped-def]\n\
            src/shop.py:7: note: Use \"-> None\" if it returns nothing\n\
            web/a.ts(3,5): error TS2322: Type 'string' is not assignable\r\n\
            Found 3 errors\n";
        let all = read(printed);
        let seen: Vec<_> = all
            .first
            .iter()
            .map(|one| (one.location.as_deref(), one.name.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                (Some("src/shop.py:3:80"), Some("E501")),
                (Some("src/shop.py:7"), Some("no-untyped-def")),
                (Some("web/a.ts:3:5"), Some("TS2322")),
            ]
        );
        assert_eq!(all.count, 3);
        assert_eq!(all.seen, None);
        assert_eq!(all.first[0].actual, "E501 Line too long (93 > 79)");
    }

    #[test]
    fn keeps_the_first_and_counts_all() {
        let many = "a.py:1: x\n".repeat(500);
        let all = read(many.as_bytes());
        assert_eq!((all.first.len(), all.count), (20, 500));
    }
}
