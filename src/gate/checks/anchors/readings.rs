//! What a number can mean, as it is written: `1.000` is a thousand here and a one there.

/// Digits, and those that follow, each after the mark that parts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) first: String,
    pub(super) rest: Vec<(char, String)>,
}

/// The ways of reading it; each is the values that are then said, in one form for each.
pub(super) fn readings(written: &Written) -> Vec<Vec<String>> {
    let Written { first, rest } = written;
    let Some((last, before)) = rest.split_last() else {
        return vec![vec![whole(first)]];
    };
    let mut all = Vec::new();
    if is_grouped(first, rest) {
        all.push(vec![whole(&joined(first, rest))]);
    }
    let (mark, fraction) = last;
    let is_mark = matches!(mark, '.' | ',');
    if before.is_empty() && is_mark {
        // Both sides may write it so, but no other number is meant by it.
        let decimal = if all.is_empty() {
            decimal(first, fraction)
        } else {
            format!("{first}.{fraction}")
        };
        all.push(vec![decimal]);
    } else if is_mark && before.iter().all(|(other, _)| other != mark) && is_grouped(first, before)
    {
        all.push(vec![decimal(&joined(first, before), fraction)]);
    }
    if all.is_empty() && rest.iter().all(|(mark, _)| *mark == '.') {
        // A version, or a date whose order nobody knows.
        let parts = rest.iter().map(|(_, digits)| digits.as_str());
        let dotted: Vec<_> = std::iter::once(first.as_str()).chain(parts).collect();
        all.push(vec![dotted.join(".")]);
    }
    if all.is_empty() || rest.iter().any(|(mark, _)| *mark == ' ') {
        all.push(parts(first, rest));
    }
    all
}

/// Whether marks of one sort part it as thousands are parted, or as lakhs and crores.
fn is_grouped(first: &str, rest: &[(char, String)]) -> bool {
    let Some((last, before)) = rest.split_last() else {
        return false;
    };
    let by_threes = before.iter().all(|(_, digits)| digits.len() == 3);
    let by_twos = before.iter().all(|(_, digits)| digits.len() == 2) && first.len() < 3;
    (by_threes || by_twos)
        && last.1.len() == 3
        && first.len() <= 3
        && !first.starts_with('0')
        && before.iter().all(|(mark, _)| *mark == last.0)
}

fn parts(first: &str, rest: &[(char, String)]) -> Vec<String> {
    let rest = rest.iter().map(|(_, digits)| whole(digits));
    std::iter::once(whole(first)).chain(rest).collect()
}

fn joined(first: &str, rest: &[(char, String)]) -> String {
    let rest = rest.iter().map(|(_, digits)| digits.as_str());
    std::iter::once(first).chain(rest).collect()
}

fn whole(digits: &str) -> String {
    match digits.trim_start_matches('0') {
        "" => String::from("0"),
        digits => digits.to_owned(),
    }
}

fn decimal(digits: &str, fraction: &str) -> String {
    match fraction.trim_end_matches('0') {
        "" => whole(digits),
        fraction => format!("{}.{fraction}", whole(digits)),
    }
}
