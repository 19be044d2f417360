//! Screens of all sizes.

use proptest::prelude::*;

use super::*;
use crate::cli::status::sample;

fn shown(columns: usize, rows: usize) -> String {
    let frame = frame(&sample::status(), Size { columns, rows }, &Paper::plain);
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
        let mut status = sample::status();
        status.overview.paused = true;
        let size = Size {
            columns: 30,
            rows: 9,
        };
        frame(&status, size, &Paper::plain)
    };
    assert!(paused.rows[6].text().starts_with("paused: "), "{paused:?}");
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let mut status = sample::status();
    status.claims[0].key = "a\u{1b}[2J\u{202e}".to_owned();
    let size = Size {
        columns: 80,
        rows: 24,
    };
    let frame = frame(&status, size, &Paper::plain);
    let text: String = frame.rows.iter().map(Line::text).collect();
    assert!(text.contains("a\\u{1b}[2J\\u{202e}"), "{text}");
}

proptest! {
    #[test]
    fn no_screen_is_overrun(columns in 1..200_usize, rows in 1..60_usize) {
        let frame = frame(&sample::status(), Size { columns, rows }, &Paper::plain);
        prop_assert_eq!(frame.rows.len(), rows);
        for line in &frame.rows {
            prop_assert!(line.width() <= columns);
        }
    }
}
