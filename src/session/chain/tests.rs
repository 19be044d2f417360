//! Lines: what reads back, and what is seen.

use super::*;
use crate::session::event::Resumed;

fn line(tip: Tip, streak: u32) -> Line<'static> {
    let at = "2026-01-02T03:04:05.678Z".parse().unwrap();
    let event = Event::Resumed(Resumed { streak });
    Line::next(tip, at, Salt([7; 16]), &event).unwrap()
}

#[test]
fn a_line_reads_back_and_its_successor_follows() {
    let first = line(Tip::start(), 25);
    let read = Line::parse(Tip::start(), first.text()).unwrap();
    assert_eq!(read.text(), first.text());
    assert_eq!(read.tip(), first.tip());
    let second = line(read.tip(), 26);
    assert!(Line::parse(read.tip(), second.text()).is_ok());
    assert!(matches!(
        Line::parse(Tip::start(), second.text()),
        Err(LineError::Sequence { .. })
    ));
}

#[test]
fn no_flipped_bit_goes_unseen() {
    let line = line(Tip::start(), 25);
    let (good, tip) = (line.text(), line.tip());
    for byte in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.to_owned().into_bytes();
            bad[byte] ^= 1 << bit;
            let Ok(bad) = String::from_utf8(bad) else {
                continue;
            };
            // The head of the last line is bound by whoever noted the tip.
            let seen = match Line::parse(Tip::start(), &bad) {
                Err(_) => true,
                Ok(line) => line.tip() != tip,
            };
            assert!(seen, "bit {bit} of byte {byte}: {bad}");
        }
    }
}

#[test]
fn a_blotted_line_keeps_its_place_in_the_chain() {
    let whole = line(Tip::start(), 25);
    let blotted = whole.with_body("{\"streak\":7}");
    let read = Line::parse(Tip::start(), blotted.text()).unwrap();
    assert_eq!(read.tip(), whole.tip());
    assert_eq!(read.redacted(), blotted.redacted());
    assert!(read.redacted().is_some() && whole.redacted().is_none());
    assert!(matches!(
        read.event(),
        Ok(Event::Resumed(Resumed { streak: 7 }))
    ));
    let again = read.with_body("{\"streak\":8}");
    let read = Line::parse(Tip::start(), again.text()).unwrap();
    assert_eq!((read.tip(), read.body()), (whole.tip(), "{\"streak\":8}"));
}

#[test]
fn no_byte_of_a_blotted_line_is_changed_unseen() {
    let whole = line(Tip::start(), 25);
    let blotted = whole.with_body("{\"streak\":7}");
    for byte in 0..blotted.text().len() {
        let mut bad = blotted.text().to_owned().into_bytes();
        bad[byte] ^= 1;
        let Ok(bad) = String::from_utf8(bad) else {
            continue;
        };
        let seen = match Line::parse(Tip::start(), &bad) {
            Err(_) => true,
            Ok(line) => line.tip() != whole.tip() || line.redacted() != blotted.redacted(),
        };
        assert!(seen, "byte {byte}: {bad}");
    }
    let text = blotted.text();
    let mark = text.find(",\"redacted\"").unwrap();
    let unmarked = format!(
        "{}{}",
        &text[..mark],
        &text[text.find(",\"body\"").unwrap()..]
    );
    assert!(matches!(
        Line::parse(Tip::start(), &unmarked),
        Err(LineError::Body)
    ));
}

#[test]
fn the_first_line_is_never_blotted() {
    let at = "2026-01-02T03:04:05.678Z".parse().unwrap();
    let body = serde_json::json!({ "manifest": Digest::of(b"one") });
    let first = Line::next_of(Tip::start(), at, Salt([7; 16]), EventType::Session, &body);
    let other = serde_json::json!({ "manifest": Digest::of(b"two") }).to_string();
    let blotted = first.unwrap().with_body(&other);
    assert!(Line::parse(Tip::start(), blotted.text()).is_err());
}

#[test]
fn another_spelling_of_the_same_line_is_refused() {
    let line = line(Tip::start(), 25);
    let good = line.text();
    for bad in [
        good.replace("{\"seq\":0", "{ \"seq\":0"),
        good.replace("\"seq\":0", "\"seq\":0,\"seq\":0"),
        good.replace(".678Z", ".6780Z"),
        good.replace("{\"streak\":25}", "{\"streak\": 25}"),
        format!("{good} "),
        good.replace(",\"body\"", ",\"more\":1,\"body\""),
        good.replace("\"seq\":0", "\"seq\":00"),
        good.replace("\"seq\":0", "\"seq\":+0"),
        good.replacen("e3b0", "E3B0", 1),
        good.replace("0707", "0A0a"),
        good.replace("resumed", "paused"),
    ] {
        assert_ne!(bad, good);
        assert!(Line::parse(Tip::start(), &bad).is_err(), "{bad}");
    }
}
