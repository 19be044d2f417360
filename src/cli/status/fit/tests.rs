//! Screens of all sizes.

use proptest::prelude::*;

use super::*;
use crate::cli::status::fixtures;

fn shown(columns: usize, rows: usize) -> String {
    let frame = frame(
        &fixtures::status(),
        None,
        Size { columns, rows },
        &Paper::plain,
    );
    let lines: Vec<String> = frame.rows.iter().map(Line::text).collect();
    lines.join("\n")
}

#[test]
fn a_screen_shows_all_that_it_has_room_for() {
    insta::assert_snapshot!("status_80x24", shown(80, 24));
    insta::assert_snapshot!("status_80x14", shown(80, 14));
    insta::assert_snapshot!("status_40x10", shown(40, 10));
    insta::assert_snapshot!("status_20x5", shown(20, 5));
}

#[test]
fn what_matters_most_is_shown_on_the_smallest() {
    assert_eq!(shown(80, 1), "527 quests, 498 left, 61 submissions judged");
    assert_eq!(shown(1, 1), "…");
    assert!(shown(20, 3).ends_with("\n#20 ?6 x3 .498"));
    let paused = {
        let mut status = fixtures::status();
        status.overview.paused = true;
        let size = Size {
            columns: 30,
            rows: 9,
        };
        frame(&status, None, size, &Paper::plain)
    };
    let rows = &paused.rows;
    assert!(
        rows.iter().any(|row| row.text().starts_with("paused: ")),
        "{paused:?}"
    );
}

#[test]
fn what_is_wanted_most_is_whole_where_there_is_room_in_height() {
    let told = |status: &Status, rows| {
        let size = Size { columns: 40, rows };
        let frame = frame(status, Some(Path::new(".two")), size, &Paper::plain);
        let lines = frame.rows.iter().map(|line| line.text().trim().to_owned());
        lines.collect::<Vec<_>>().join(" ")
    };
    let mut status = fixtures::status();
    for rows in [9, 10, 11, 16, 24] {
        let told = told(&status, rows);
        for wanted in [
            "about 8h 44m left: 57.0 settled an hour over the last 20m",
            "4 open REVIEWs wait for a person: `comail review --session .two`",
        ] {
            assert!(told.contains(wanted), "{rows}: {told}");
        }
        assert!(
            told.contains("… more on a taller screen; q quits"),
            "{rows}: {told}"
        );
    }
    let all = told(&status, 40);
    assert!(all.ends_with("q quits") && !all.contains('…'), "{all}");
    (status.overview.paused, status.overview.streak) = (true, 25);
    let told = told(&status, 12);
    assert!(
        told.contains("and run `comail resume --session .two`"),
        "{told}"
    );
}

#[test]
fn what_is_cut_says_so() {
    let mut status = fixtures::status();
    (status.overview.paused, status.overview.streak) = (true, 25);
    let size = Size {
        columns: 40,
        rows: 6,
    };
    let rows: Vec<String> = frame(&status, None, size, &Paper::plain)
        .rows
        .iter()
        .map(Line::text)
        .collect();
    assert!(rows[4].ends_with('…'), "{rows:?}");
    assert!(rows[5].starts_with("… more"), "{rows:?}");
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let mut status = fixtures::status();
    status.claims[0].key = "a\u{1b}[2J\u{202e}".to_owned();
    let size = Size {
        columns: 80,
        rows: 24,
    };
    let frame = frame(&status, None, size, &Paper::plain);
    let text: String = frame.rows.iter().map(Line::text).collect();
    assert!(text.contains("a\\u{1b}[2J\\u{202e}"), "{text}");
}

proptest! {
    #[test]
    fn no_screen_is_overrun(columns in 1..200_usize, rows in 1..60_usize) {
        let frame = frame(&fixtures::status(), None, Size { columns, rows }, &Paper::plain);
        prop_assert_eq!(frame.rows.len(), rows);
        for line in &frame.rows {
            prop_assert!(line.width() <= columns);
        }
    }
}
