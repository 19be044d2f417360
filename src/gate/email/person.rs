//! Local parts that read as a person's name.

use super::lists::{PERSON, ROLE};

/// Whether the local part reads as a person's name.
///
/// A word that names a role, digits after it or not, makes it a role. Otherwise it is a
/// person's when it has two or three words of letters of which at most one is an initial
/// (`first.last`, `j.smith`, `kim_minsu`), or one word that is a listed name, two listed names
/// together, or an initial before a listed name (`minsu`, `kimminsu`, `jsmith`).
#[must_use]
pub fn reads_as_person(local: &str) -> bool {
    let words: Vec<&str> = local
        .split(['.', '_', '-'])
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    if words.iter().any(|word| ROLE.has(word)) {
        return false;
    }
    let all_letters = words
        .iter()
        .all(|word| word.chars().all(char::is_alphabetic));
    let initials = words
        .iter()
        .filter(|word| word.chars().nth(1).is_none())
        .count();
    match words.as_slice() {
        [word] => all_letters && is_name(word),
        [_, _] | [_, _, _] => all_letters && initials <= 1,
        _ => false,
    }
}

fn is_name(word: &str) -> bool {
    PERSON.has(word)
        || word.char_indices().skip(1).any(|(place, _)| {
            let (first, second) = word.split_at(place);
            PERSON.has(second) && (first.chars().count() == 1 || PERSON.has(first))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_names() {
        for local in [
            "jane.roe",
            "j.smith",
            "smith.j",
            "kim_minsu",
            "anna-maria.huber",
            "minsu",
            "kimminsu",
            "jsmith",
            "john2",
        ] {
            assert!(reads_as_person(local), "{local}");
        }
    }

    #[test]
    fn lets_roles_and_the_unknown_through() {
        for local in [
            "info",
            "sales.korea",
            "customer-service",
            "info2",
            "acme",
            "r.d",
            "a1.b2",
            "x",
            "",
            "...",
            "a.b.c.d",
            "as",
        ] {
            assert!(!reads_as_person(local), "{local}");
        }
    }
}
