//! No reader panics, whatever it is given.

use proptest::prelude::*;

use super::*;

const FORMATS: [Format; 3] = [Format::Junit, Format::Sarif, Format::Cargo];

const SAMPLES: [&[u8]; 4] = [
    include_bytes!("samples/pytest.xml"),
    include_bytes!("samples/lint.sarif"),
    include_bytes!("samples/cargo.jsonl"),
    include_bytes!("samples/coverage.lcov"),
];

fn hold(bytes: &[u8]) {
    for format in FORMATS {
        let Ok(all) = format.read(bytes) else {
            continue;
        };
        assert!(all.first.len() <= 20 && all.first.len() <= all.count as usize);
        for one in &all.first {
            let place = one.location.as_deref().unwrap_or_default();
            for text in [&*one.actual, &*one.expected, place] {
                // A name and what is said of it are each cut.
                assert!(text.chars().count() <= 2 * MAX_CHARS + 4, "{text}");
                assert!(!text.contains(['\n', '\r', '\u{1b}']), "{text:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        hold(&bytes);
    }

    #[test]
    fn damaged_samples_never_panic(
        sample in prop::sample::select(SAMPLES.to_vec()),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = sample.to_vec();
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        hold(&bytes[..end.index(bytes.len() + 1)]);
    }

    #[test]
    fn lines_of_any_format_never_panic(
        lines in prop::collection::vec(prop::sample::select(SAMPLES.to_vec()), 1..4),
        order in any::<u64>(),
    ) {
        let mut pieces: Vec<&[u8]> = lines.iter().flat_map(|text| text.split_inclusive(|b| *b == b'\n')).collect();
        let count = u64::try_from(pieces.len()).unwrap_or(1).max(1);
        pieces.rotate_left(usize::try_from(order % count).unwrap_or(0));
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
    let mut all = Complaints::default();
    for _ in 0..50 {
        all.push(complaint("x", "", "y", ""));
    }
    let facts = all.into_facts();
    assert_eq!((facts.len(), facts[0].count, facts[19].count), (20, 1, 31));
}
