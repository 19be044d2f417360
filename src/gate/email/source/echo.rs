//! Whether a URL carries the address: a page that repeats its own URL proves nothing.
//!
//! The URL is read in every way that a server may plausibly read it: as it stands, with
//! percent escapes decoded, and with every run that could be base64, base32 or hexadecimal decoded
//! at every alignment; and each of those readings once more, but for base32. Each is compared without what a
//! server takes out, or a reader does not see.

use std::collections::BTreeSet;

use percent_encoding::percent_decode;
use url::{Position, Url};

use super::folded_text::{folded, untagged, without_zeroes};
use crate::world::mailbox::Mailbox;

/// How often readings are made of readings.
const DEPTH: usize = 2;

/// How often an escape may be escaped itself.
const MAX_ESCAPES: usize = 8;

/// The shortest run of base64 or hexadecimal digits worth decoding: no address has fewer than
/// four characters.
const SHORTEST_RUN: usize = 6;

/// Whether some reading of the URL holds the address, forwards or backwards.
#[must_use]
pub fn carries(url: &Url, email: &Mailbox) -> bool {
    let needles = needles(email);
    // A fragment is sent to no server.
    readings_of(&url[..Position::AfterQuery])
        .iter()
        .any(|reading| is_any_in(&without_zeroes(reading), &needles))
}

/// Whether some reading of `part`, a part of a URL, holds `text`, forwards or backwards.
#[must_use]
pub fn carries_text(part: &str, text: &str) -> bool {
    let needles = with_backwards(vec![folded(text).replace([' ', '+'], "")]);
    readings_of(part)
        .iter()
        .any(|reading| is_any_in(&without_zeroes(reading), &needles))
}

fn is_any_in(reading: &str, needles: &[String]) -> bool {
    let holds = |text: String| {
        let joined = text.replace([' ', '+'], "");
        let mut needles = needles.iter();
        needles.any(|needle| text.contains(needle) || joined.contains(needle))
    };
    // An address in angle brackets looks like a tag itself.
    holds(folded(reading)) || holds(folded(&untagged(reading)))
}

/// Every reading of `text`, itself included.
#[must_use]
pub fn readings_of(text: &str) -> Vec<Vec<u8>> {
    let mut known = BTreeSet::from([text.as_bytes().to_vec()]);
    let base32 = (0..8).map(|skip| decoded_runs(text.as_bytes(), base32_digit, 5, skip));
    known.extend(base32);
    let mut fresh: Vec<Vec<u8>> = known.iter().cloned().collect();
    for _ in 0..DEPTH {
        let next: Vec<Vec<u8>> = fresh.iter().flat_map(|reading| decoded(reading)).collect();
        fresh = next
            .into_iter()
            .filter(|reading| !reading.is_empty() && known.insert(reading.clone()))
            .collect();
    }
    known.into_iter().collect()
}

/// The text with every percent escape decoded, escaped escapes too.
#[must_use]
pub fn unescaped(text: &str) -> String {
    String::from_utf8_lossy(&percent_decoded(text.as_bytes())).into_owned()
}

fn needles(email: &Mailbox) -> Vec<String> {
    let (unicode, _) = idna::domain_to_unicode(email.domain().as_str());
    let mut needles = vec![
        email.to_string(),
        format!("{}@{}", email.local(), unicode.to_lowercase()),
    ];
    needles = needles.iter().map(|needle| folded(needle)).collect();
    needles.dedup();
    with_backwards(needles)
}

fn with_backwards(mut needles: Vec<String>) -> Vec<String> {
    let backwards: Vec<String> = needles
        .iter()
        .map(|needle| needle.chars().rev().collect())
        .collect();
    needles.extend(backwards);
    needles
}

fn decoded(text: &[u8]) -> Vec<Vec<u8>> {
    let mut out = vec![percent_decoded(text)];
    out.extend((0..4).map(|skip| decoded_runs(text, base64_digit, 6, skip)));
    out.extend((0..2).map(|skip| decoded_runs(text, hex_digit, 4, skip)));
    out
}

/// Percent escapes decoded, escaped escapes too, so that `%2540` is read as `@`.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..MAX_ESCAPES {
        text = percent_decode(&text).collect();
    }
    text
}

/// Every run of digits, without its first `skip`, as the bytes that it packs.
fn decoded_runs(text: &[u8], digit: fn(u8) -> Option<u8>, bits: u32, skip: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for run in text.split(|byte| digit(*byte).is_none()) {
        if run.len() < SHORTEST_RUN {
            continue;
        }
        let (mut held, mut held_bits) = (0_u16, 0);
        for value in run.iter().skip(skip).filter_map(|byte| digit(*byte)) {
            held = (held << bits) | u16::from(value);
            held_bits += bits;
            if held_bits >= 8 {
                held_bits -= 8;
                let [_, byte] = (held >> held_bits).to_be_bytes();
                out.push(byte);
            }
        }
        out.push(b'\n');
    }
    out
}

/// The value of a digit of base64 in either alphabet (RFC 4648 §4, §5).
fn base64_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// The value of a digit of base32 (RFC 4648 §6), in either case.
fn base32_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a'),
        b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    }
}

/// The value of a digit of base 16 (RFC 4648 §8).
fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

    use super::*;

    fn echoes(url: &str) -> bool {
        let email = Mailbox::parse("info@acme.co.kr").unwrap();
        carries(&Url::parse(url).unwrap(), &email)
    }

    #[test]
    fn plain_and_percent_encoded() {
        for url in [
            "https://acme.co.kr/?q=info@acme.co.kr",
            "https://acme.co.kr/?q=INFO%40Acme.CO.kr",
            "https://acme.co.kr/?q=info%2540acme.co.kr",
            "https://acme.co.kr/?q=%69%6e%66%6f%252540acme%2eco%2ekr",
            "https://acme.co.kr/echo/info@acme.co.kr/x",
            "https://acme.co.kr/?q=info+%40+acme.co.kr",
            "https://info%40acme.co.kr@acme.co.kr/",
            "https://acme.co.kr/?q=rk.oc.emca@ofni",
        ] {
            assert!(echoes(url), "{url}");
        }
    }

    #[test]
    fn base64_at_every_alignment_and_in_every_alphabet() {
        for before in ["", "x", "xy", "xyz", "?>~"] {
            let text = format!("{before}Info@ACME.co.kr");
            for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                for prefix in ["", "a", "bc", "def", "v/"] {
                    let blob = engine.encode(&text);
                    let url = format!("https://acme.co.kr/e?d={prefix}{blob}");
                    assert!(echoes(&url), "{url}");
                    let escaped = blob.replace('+', "%2B").replace('=', "%3D");
                    let url = format!("https://acme.co.kr/e/{escaped}");
                    assert!(echoes(&url), "{url}");
                }
            }
        }
    }

    #[test]
    fn base64_twice_hexadecimal_and_utf_16() {
        let twice = STANDARD.encode(STANDARD.encode("info@acme.co.kr"));
        assert!(echoes(&format!("https://acme.co.kr/?d={twice}")));
        let hex = hex::encode_upper("info@acme.co.kr");
        assert!(echoes(&format!("https://acme.co.kr/?d={hex}")));
        assert!(echoes(&format!("https://acme.co.kr/?d=a{hex}")));
        let wide: Vec<u8> = "info@acme.co.kr"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert!(echoes(&format!(
            "https://acme.co.kr/?d={}",
            STANDARD.encode(wide)
        )));
    }

    #[test]
    fn base32_at_every_alignment() {
        // Of info@acme.co.kr, and of xinfo@acme.co.kr.
        for blob in ["NFXGM32AMFRW2ZJOMNXS423S", "PBUW4ZTPIBQWG3LFFZRW6LTLOI"] {
            for prefix in ["", "a", "bc", "def", "ghij"] {
                for blob in [blob.to_owned(), blob.to_lowercase()] {
                    let url = format!("https://acme.co.kr/s/{prefix}{blob}");
                    assert!(echoes(&url), "{url}");
                }
            }
        }
    }

    #[test]
    fn an_international_domain_in_its_own_letters() {
        let ascii = idna::domain_to_ascii("한빛.kr").unwrap();
        let email = Mailbox::parse(&format!("info@{ascii}")).unwrap();
        let url = Url::parse("https://a.kr/?q=info@한빛.kr").unwrap();
        assert!(carries(&url, &email));
        let url = Url::parse("https://a.kr/?q=info@한빚.kr").unwrap();
        assert!(!carries(&url, &email));
    }

    #[test]
    fn characters_that_no_reader_sees_part_nothing() {
        for url in [
            "https://acme.co.kr/no/in%E2%80%8Bfo@ac%C2%ADme.co.kr",
            "https://acme.co.kr/?q=%EF%BB%BFinfo@acme.co.k%E2%81%A0r",
        ] {
            assert!(echoes(url), "{url}");
        }
    }

    #[test]
    fn what_servers_take_out_parts_nothing() {
        for url in [
            "https://acme.co.kr/s/in%3Cb%3Efo@ac%3C/b%3Eme.co.kr",
            "https://acme.co.kr/s/%3Cinfo@acme.co.kr%3E",
            "https://acme.co.kr/s/in%5Cfo@ac%22me.co.kr",
            "https://acme.co.kr/s/in%01fo@ac%FFme.co.kr",
            "https://acme.co.kr/s/in%1B(Bfo@ac%1B(Bme.co.kr",
            "https://acme.co.kr/s/info%26commat;acme%26period;co.kr",
            "https://acme.co.kr/s/info%26%2364;acme%26%23x2e;co.kr",
            "https://acme.co.kr/s/info%EF%BC%A0acme.co.kr",
        ] {
            assert!(echoes(url), "{url}");
        }
        let email = Mailbox::parse("a.b+c@acme.co.kr").unwrap();
        let url = Url::parse("https://acme.co.kr/s/a.b+c@ac%00me.co.kr").unwrap();
        assert!(carries(&url, &email));
    }

    #[test]
    fn neighbours_do_not_echo() {
        for url in [
            "https://acme.co.kr/contact",
            "https://info.acme.co.kr/",
            "https://acme.co.kr/info?d=acme.co.kr",
            "https://acme.co.kr/?q=sales@acme.co.kr",
            // A fragment never reaches the server.
            "https://acme.co.kr/contact#info@acme.co.kr",
        ] {
            assert!(!echoes(url), "{url}");
        }
    }

    #[test]
    fn a_huge_url_is_read_to_its_end() {
        let url = format!(
            "https://acme.co.kr/?x={}&d=aW5mb0BhY21lLmNvLmty",
            "%25".repeat(30_000)
        );
        assert!(echoes(&url));
    }
}
