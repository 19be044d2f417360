//! No reader panics, whatever it is given.

use proptest::prelude::*;

use super::Adapter;
use super::complaint::MOST_CHARS;

fn adapters() -> Vec<Adapter> {
    vec![
        Adapter::JunitXml,
        Adapter::Sarif,
        Adapter::Lines,
        Adapter::CargoJson,
        Adapter::GoTestJson,
        Adapter::Regex(r"(?<file>\S+) (?<message>.*)".parse().expect("a pattern")),
    ]
}

const SAMPLES: [&[u8]; 6] = [
    include_bytes!("samples/pytest.xml"),
    include_bytes!("samples/lint.sarif"),
    include_bytes!("samples/cargo.jsonl"),
    include_bytes!("samples/go-test.jsonl"),
    b"src/a.py:1:2: E501 x [y]\nsrc/b.ts(3,4): error TS1: z\n",
    include_bytes!("samples/coverage.lcov"),
];

fn hold(bytes: &[u8]) {
    for adapter in adapters() {
        let Ok(all) = adapter.read(bytes) else {
            continue;
        };
        assert!(all.first.len() <= 20 && all.first.len() <= all.count as usize);
        for one in &all.first {
            let texts = [
                Some(&one.actual),
                Some(&one.expected),
                one.name.as_ref(),
                one.location.as_ref(),
            ];
            for text in texts.into_iter().flatten() {
                assert!(text.chars().count() <= MOST_CHARS + 1, "{text}");
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
