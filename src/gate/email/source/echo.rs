//! Whether a URL carries the address: a page that repeats its own URL proves nothing.
//!
//! The URL is read in every way that a server may plausibly read it: as it is, with percent
//! escapes decoded, and with every run that could be base64, base32 or hexadecimal decoded at every
//! alignment; and each of those readings once more, except for base32. Each is compared without
//! what a server takes out, or a reader does not see.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};
use percent_encoding::percent_decode;
use unicode_normalization::UnicodeNormalization;
use url::{Position, Url};

use crate::base::text::invisible;
use crate::world::email_text::reference;
use crate::world::mailbox::Mailbox;

const DEPTH: usize = 2;

/// How often an escape may be escaped itself.
const MAX_ESCAPES: usize = 8;

/// The shortest run of base64 or hexadecimal digits worth decoding: no address has fewer than
/// four characters.
const MIN_RUN: usize = 6;

pub fn carries(url: &Url, email: &Mailbox) -> bool {
    let needles = needles(email);
    // A fragment is sent to no server.
    readings_of(&url[..Position::AfterQuery])
        .iter()
        .any(|reading| is_any_in(&without_zeroes(reading), &needles))
}

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

fn readings_of(text: &str) -> Vec<Vec<u8>> {
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
    out.push(char_codes(text, 10));
    out.push(char_codes(text, 16));
    out.extend(inflated(text));
    out
}

/// Numbers that signs part, as the characters of which they are the codes: `105-110`, `0x69,0x6e`.
fn char_codes(text: &[u8], radix: u32) -> Vec<u8> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    let numbers = text.split(|byte| !is_digit(byte));
    // What is shorter is the 0 of `0x`.
    let numbers = numbers.filter(|digits| digits.len() > 1);
    let codes =
        numbers.filter_map(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, radix).ok());
    codes.collect()
}

/// The texts that zlib or gzip has compressed (RFC 1950, 1952), each in base64 or hexadecimal
/// between the signs that part a URL.
fn inflated(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let tokens = text.split(|byte| b"/?&=#:;,.".contains(byte));
    let packed = tokens.flat_map(|token| {
        let base64 = decoded_runs(token, base64_digit, 6, 0);
        [base64, decoded_runs(token, hex_digit, 4, 0)]
    });
    packed.filter_map(|packed| match *packed {
        [0x78, ..] => Some(start_of(ZlibDecoder::new(&*packed))),
        [0x1f, 0x8b, ..] => Some(start_of(GzDecoder::new(&*packed))),
        _ => None,
    })
}

/// What can be read of it; what is behind it in the URL may be no part of it.
fn start_of(reader: impl Read) -> Vec<u8> {
    const MOST_BYTES: u64 = 4096;
    let mut out = Vec::new();
    let _ = reader.take(MOST_BYTES).read_to_end(&mut out);
    out
}

/// Percent escapes decoded, escaped escapes too, so that `%2540` is read as `@`, and those of the
/// form `%u0040`.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut text = without_unicode_escapes(text);
    for _ in 0..MAX_ESCAPES {
        text = percent_decode(&text).collect();
    }
    text
}

/// With the characters of `%u0040`, as `escape` of JavaScript writes them (ECMAScript, B.2.1).
fn without_unicode_escapes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let code = match after {
            [b'u' | b'U', digits @ ..] if first == b'%' => digits
                .get(..4)
                .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
                .and_then(|digits| u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()),
            _ => None,
        };
        if let Some(meant) = code.and_then(char::from_u32) {
            out.extend(meant.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &rest[6..];
        } else {
            out.push(first);
            rest = after;
        }
    }
    out
}

/// Every run of digits, without its first `skip`, as the bytes that it packs.
fn decoded_runs(text: &[u8], digit: fn(u8) -> Option<u8>, bits: u32, skip: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for run in text.split(|byte| digit(*byte).is_none()) {
        if run.len() < MIN_RUN {
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
    u8::try_from(char::from(byte).to_digit(16)?).ok()
}

fn without_zeroes(reading: &[u8]) -> String {
    let dense: Vec<u8> = reading.iter().copied().filter(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&dense).into_owned()
}

/// Lower case in compatibility forms, with character references decoded, and without charset
/// escapes, control characters, undecodable bytes, backslashes, quotation marks and characters
/// that no reader sees.
fn folded(text: &str) -> String {
    let plain: String = dereferenced(&without_escapes(text)).nfkc().collect();
    let kept = |c: &char| {
        !(c.is_control() || invisible(*c) || matches!(c, '\\' | '"' | '\'' | '\u{fffd}'))
    };
    plain.to_lowercase().chars().filter(kept).collect()
}

/// The text without its tags, as PHP's `strip_tags` and functions like it leave it.
fn untagged(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        kept.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// The text without the sequences that switch a charset (ISO/IEC 2022 §13.2): ESC, any
/// intermediate bytes, one final byte.
fn without_escapes(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.trim_start_matches(|c| (' '..='/').contains(&c));
        kept.push_str(
            end.strip_prefix(|c| ('0'..='~').contains(&c))
                .unwrap_or(end),
        );
    }
    kept
}

fn dereferenced(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (meant, length) = match reference(rest) {
            Some((meant, length)) => (Some(meant), length),
            None => unknown_reference(rest).map_or((Some('&'), 1), |length| (None, length)),
        };
        out.extend(meant);
        rest = &rest[length..];
    }
    out + rest
}

/// The length of a reference to a character that is in no address: a page may drop it.
fn unknown_reference(text: &str) -> Option<usize> {
    const MAX_NAME: usize = 32;
    let (name, _) = text.strip_prefix('&')?.split_once(';')?;
    let is_name = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some(name.len() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

    fn echoes(path: &str) -> bool {
        let email = Mailbox::parse("info@acme.co.kr").unwrap();
        let url = Url::parse("https://acme.co.kr/").unwrap();
        carries(&url.join(path).unwrap(), &email)
    }

    #[test]
    fn an_address_in_plain_letters_whatever_is_between_them() {
        for path in "?q=info@acme.co.kr ?q=INFO%40Acme.CO.kr ?q=info%2540acme.co.kr
            ?q=%69%6e%66%6f%252540acme%2eco%2ekr /echo/info@acme.co.kr/x ?q=info+%40+acme.co.kr
            https://info%40acme.co.kr@acme.co.kr/ ?q=rk.oc.emca@ofni"
            .split_whitespace()
        {
            assert!(echoes(path), "{path}");
        }
        // Characters that no reader sees, and what servers take out.
        for path in "/no/in%E2%80%8Bfo@ac%C2%ADme.co.kr ?q=%EF%BB%BFinfo@acme.co.k%E2%81%A0r
            /s/in%3Cb%3Efo@ac%3C/b%3Eme.co.kr /s/%3Cinfo@acme.co.kr%3E /s/in%5Cfo@ac%22me.co.kr
            /s/in%01fo@ac%FFme.co.kr /s/in%1B(Bfo@ac%1B(Bme.co.kr
            /s/info%26commat;acme%26period;co.kr /s/info%26%2364;acme%26%23x2e;co.kr
            /s/info%EF%BC%A0acme.co.kr /no/info%3C!----%3E@acme.co.kr"
            .split_whitespace()
        {
            assert!(echoes(path), "{path}");
        }
        let email = Mailbox::parse("a.b+c@acme.co.kr").unwrap();
        let url = Url::parse("https://acme.co.kr/s/a.b+c@ac%00me.co.kr").unwrap();
        assert!(carries(&url, &email));
        // A fragment never reaches the server.
        for path in "/contact https://info.acme.co.kr/ /info?d=acme.co.kr ?q=sales@acme.co.kr
            /contact#info@acme.co.kr"
            .split_whitespace()
        {
            assert!(!echoes(path), "{path}");
        }
    }

    #[test]
    fn base64_at_every_alignment_and_in_every_alphabet() {
        for before in ["", "x", "xy", "xyz", "?>~"] {
            let text = format!("{before}Info@ACME.co.kr");
            for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                for prefix in ["", "a", "bc", "def", "v/"] {
                    let blob = engine.encode(&text);
                    let url = format!("/e?d={prefix}{blob}");
                    assert!(echoes(&url), "{url}");
                    let escaped = blob.replace('+', "%2B").replace('=', "%3D");
                    let url = format!("/e/{escaped}");
                    assert!(echoes(&url), "{url}");
                }
            }
        }
    }

    #[test]
    fn base64_twice_hexadecimal_and_utf_16() {
        let twice = STANDARD.encode(STANDARD.encode("info@acme.co.kr"));
        assert!(echoes(&format!("/?d={twice}")));
        let hex = hex::encode_upper("info@acme.co.kr");
        assert!(echoes(&format!("/?d={hex}")));
        assert!(echoes(&format!("/?d=a{hex}")));
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
    fn codes_unicode_escapes_and_compressed_text() {
        let codes: Vec<String> = "info@acme.co.kr".bytes().map(|b| b.to_string()).collect();
        assert!(echoes(&format!("/t/{}", codes.join("-"))));
        assert!(echoes(&format!("/?t={}", codes.join(","))));
        let codes: Vec<String> = "info@acme.co.kr"
            .bytes()
            .map(|b| format!("0x{b:x}"))
            .collect();
        assert!(echoes(&format!("/t/{}", codes.join(","))));
        assert!(echoes("/nope/info%u0040acme.co.kr"));
        assert!(echoes("/nope/info%25u0040acme.co.kr"));
        let text: &[u8] = b"write to info@acme.co.kr";
        let zlib = flate2::read::ZlibEncoder::new(text, flate2::Compression::best());
        let gzip = flate2::read::GzEncoder::new(text, flate2::Compression::fast());
        for mut reader in [Box::new(zlib) as Box<dyn Read>, Box::new(gzip)] {
            let mut packed = Vec::new();
            reader.read_to_end(&mut packed).unwrap();
            assert!(echoes(&format!("/d/{}", URL_SAFE_NO_PAD.encode(&packed))));
            assert!(echoes(&format!("/?d={}", hex::encode(&packed))));
        }
        assert!(!echoes("/t/105-110-102-111"));
        assert!(!echoes("/2024/05/17"));
        assert!(!echoes("/a%u00e9b"));
    }

    #[test]
    fn base32_at_every_alignment() {
        // Of info@acme.co.kr, and of xinfo@acme.co.kr.
        for blob in ["NFXGM32AMFRW2ZJOMNXS423S", "PBUW4ZTPIBQWG3LFFZRW6LTLOI"] {
            for prefix in ["", "a", "bc", "def", "ghij"] {
                for blob in [blob.to_owned(), blob.to_lowercase()] {
                    let url = format!("/s/{prefix}{blob}");
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
    fn a_huge_url_is_read_to_its_end() {
        let url = format!("/?x={}&d=aW5mb0BhY21lLmNvLmty", "%25".repeat(30_000));
        assert!(echoes(&url));
    }

    #[test]
    fn what_does_not_come_back_is_taken_out() {
        for (text, left) in [
            ("A\u{200b}b\u{ad}c\u{fe0f}", "abc"),
            ("a\u{1b}(Bb\u{1b}$(Dc\u{1b}", "abc"),
            ("a\\b\"c'd\u{1}\u{fffd}", "abcd"),
            ("a&commat;b&#46;c&#x2E;d&#64e", "a@b.c.d@e"),
            ("a&shy;b&zwj;c", "abc"),
            ("\u{ff41}\u{ff20}", "a@"),
        ] {
            assert_eq!(folded(text), left, "{text:?}");
        }
    }

    #[test]
    fn what_comes_back_stays() {
        for text in ["r&d", "a&b=c;d e", "a.b+c@acme.co.kr", "한빛", "&;", "&#;"] {
            assert_eq!(folded(text), text);
        }
        assert_eq!(untagged("a<b>c</b>d"), "acd");
        assert_eq!(untagged("a > b <"), "a > b ");
    }
}
