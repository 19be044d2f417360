//! How pages write a calendar date.

use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The ways of writing `date` that can mean no other one.
///
/// Numbers alone are taken with the year first, or with full stops and the day first; with strokes
/// and the year last one country's day is another's month, and such a text tells no date.
pub(super) fn wordings(date: Date) -> Vec<String> {
    let (year, month, day) = (date.year(), date.month(), date.day());
    let mut all = Vec::new();
    for (month, day) in [
        (month.to_string(), day.to_string()),
        (format!("{month:02}"), format!("{day:02}")),
    ] {
        all.extend([
            format!("{year}-{month}-{day}"),
            format!("{year}/{month}/{day}"),
            format!("{year}.{month}.{day}"),
            format!("{year}. {month}. {day}"),
            format!("{year}년 {month}월 {day}일"),
            format!("{year}년{month}월{day}일"),
            format!("{year}年{month}月{day}日"),
            format!("{year} 年 {month} 月 {day} 日"),
            format!("{day}.{month}.{year}"),
            format!("{day}. {month}. {year}"),
        ]);
    }
    for name in names(month) {
        for day in [
            day.to_string(),
            format!("{day:02}"),
            format!("{day}{}", ending(day)),
        ] {
            all.extend([
                format!("{day} {name} {year}"),
                format!("{day} {name}, {year}"),
                format!("{day} of {name} {year}"),
                format!("{day}-{name}-{year}"),
                format!("{name} {day}, {year}"),
                format!("{name} {day} {year}"),
            ]);
        }
    }
    all.sort();
    all.dedup();
    all
}

/// The month's name, and what it is cut to.
fn names(month: i8) -> Vec<String> {
    let place = usize::try_from(month - 1).unwrap_or_default();
    let Some(name) = MONTHS.get(place) else {
        return Vec::new();
    };
    let cut = |length: usize| name.get(..length).unwrap_or(name);
    let mut names = vec![
        (*name).to_owned(),
        cut(3).to_owned(),
        format!("{}.", cut(3)),
    ];
    if *name == "September" {
        names.extend([cut(4).to_owned(), format!("{}.", cut(4))]);
    }
    names
}

fn ending(day: i8) -> &'static str {
    match day {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_in_many_ways_that_mean_it_alone() {
        let of = |text: &str| wordings(text.parse().unwrap());
        let written = of("2026-11-02");
        for way in [
            "2026-11-02",
            "2026/11/2",
            "2026. 11. 2",
            "2026년 11월 2일",
            "2026年11月2日",
            "2 November 2026",
            "2nd Nov 2026",
            "November 2, 2026",
            "Nov. 02, 2026",
            "02.11.2026",
        ] {
            assert!(written.iter().any(|it| it == way), "{way}");
        }
        assert!(!written.iter().any(|it| it == "02/11/2026"));
        assert!(of("2026-09-21").contains(&"Sept. 21st, 2026".to_owned()));
        assert!(of("2026-05-13").contains(&"13th May 2026".to_owned()));
    }

    #[test]
    fn no_two_dates_are_written_alike() {
        let mut known = std::collections::BTreeMap::new();
        let first: Date = "2024-01-01".parse().unwrap();
        for date in first.series(jiff::ToSpan::days(1)).take(800) {
            for way in wordings(date) {
                assert_eq!(known.insert(way.clone(), date), None, "{way}");
            }
        }
    }
}
