//! No reader panics, whatever it is given.

use proptest::prelude::*;

use super::*;

const SAMPLES: [&[u8]; 3] = [
    include_bytes!("samples/pytest.xml"),
    include_bytes!("samples/coverage.lcov"),
    include_bytes!("samples/libtest.txt"),
];

fn hold(bytes: &[u8]) {
    let reports = [read_junit(bytes), read_libtest(bytes)];
    let reports: Vec<_> = reports.into_iter().flatten().collect();
    assert!(reports.iter().all(|report| report.facts.len() <= 20));
    for one in reports.iter().flat_map(|report| &report.facts) {
        let place = one.location.as_deref().unwrap_or_default();
        for text in [&*one.actual, &*one.expected, place] {
            // A name and what is said of it are each cut.
            assert!(text.chars().count() <= 2 * MAX_CHARS + 4, "{text}");
            assert!(!text.contains(['\n', '\r', '\u{1b}']), "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn nothing_makes_a_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        samples in prop::collection::vec(prop::sample::select(SAMPLES.to_vec()), 1..4),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        order in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
    ) {
        hold(&bytes);
        let mut damaged = samples[0].to_vec();
        for (at, byte) in cuts {
            let at = at.index(damaged.len());
            damaged[at] = byte;
        }
        hold(&damaged[..end.index(damaged.len() + 1)]);
        // Lines of one format among those of another.
        let lines = |text: &'static [u8]| text.split_inclusive(|byte| *byte == b'\n');
        let mut pieces: Vec<&[u8]> = samples.into_iter().flat_map(lines).collect();
        let start = order.index(pieces.len());
        pieces.rotate_left(start);
        hold(&pieces.concat());
    }
}

#[test]
fn is_one_short_line() {
    assert_eq!(brief("  a\r\n\tb\u{0}c  "), "a b c");
    let long = brief(&"가 ".repeat(1000));
    assert!(long.ends_with('…'), "{long}");
    assert!(long.chars().count() <= MAX_CHARS + 1, "{long}");
    assert_eq!(brief(&"x".repeat(MAX_CHARS)), "x".repeat(MAX_CHARS));
}

#[test]
fn reads_byte_order_marks() {
    assert_eq!(decoded(b"\xff\xfea\0b\0"), "ab");
    assert_eq!(decoded(b"\xef\xbb\xbf<a/>"), "<a/>");
}

#[test]
fn the_first_are_kept_and_all_are_counted() {
    let mut all = TestReport::default();
    for _ in 0..50 {
        all.push(complaint("x", "", "y", ""));
    }
    let facts = all.facts;
    assert_eq!((facts.len(), facts[0].count, facts[19].count), (20, 1, 31));
}
