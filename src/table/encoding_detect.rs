//! Finding out how a file's bytes are text.

use std::io::{self, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::DecoderResult;

use super::encoding::TextEncoding;

/// How many bytes the statistical detector sees, counted from the first that is not ASCII.
///
/// More would not change its mind, and it is slower than the reader it serves.
const DETECTOR_BYTES: usize = 256 * 1024;

/// How many bytes tell UTF-16 without a byte order mark.
const HEAD_BYTES: usize = 4096;

/// What a file's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// Text in this encoding.
    Text(TextEncoding),
    /// Not text in any: it holds zero bytes.
    Binary,
}

/// Tells how the bytes of `reader` are text.
///
/// In this order: a byte order mark; UTF-16 by its zero bytes; UTF-8 if all of the file is
/// valid UTF-8; else what `chardetng` guesses from the bytes that are not ASCII.
pub fn detect(reader: &mut impl Read) -> io::Result<Detected> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    reader.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    if let Some(marked) = TextEncoding::of_byte_order_mark(&head) {
        return Ok(Detected::Text(marked));
    }
    if let Some(wide) = utf16_without_mark(&head) {
        return Ok(Detected::Text(wide));
    }
    let mut survey = Survey::new();
    let mut chunk = head;
    loop {
        if chunk.contains(&0) {
            return Ok(Detected::Binary);
        }
        survey.see(&chunk);
        chunk.resize(64 * 1024, 0);
        let read = reader.read(&mut chunk)?;
        if read == 0 {
            return Ok(Detected::Text(survey.conclude()));
        }
        chunk.truncate(read);
    }
}

/// UTF-16 of a text that is mostly ASCII, as lists with commas, line ends and addresses are.
fn utf16_without_mark(head: &[u8]) -> Option<TextEncoding> {
    let (pairs, _) = head.as_chunks::<2>();
    let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let many = pairs.len().div_ceil(10);
    match (first, second) {
        (0, second) if second > 0 && second >= many => Some(TextEncoding::UTF_16LE),
        (first, 0) if first > 0 && first >= many => Some(TextEncoding::UTF_16BE),
        _ => None,
    }
}

struct Survey {
    utf8: Option<encoding_rs::Decoder>,
    detector: EncodingDetector,
    left: usize,
    scratch: Vec<u8>,
}

impl Survey {
    fn new() -> Self {
        Self {
            utf8: Some(encoding_rs::UTF_8.new_decoder_without_bom_handling()),
            detector: EncodingDetector::new(Iso2022JpDetection::Allow),
            left: DETECTOR_BYTES,
            scratch: Vec::new(),
        }
    }

    fn see(&mut self, bytes: &[u8]) {
        self.check_utf8(bytes, false);
        let ascii = encoding_rs::Encoding::ascii_valid_up_to(bytes);
        let has_escape = bytes[..ascii].contains(&0x1b);
        if (ascii < bytes.len() || has_escape) && self.left > 0 {
            let seen = &bytes[..bytes.len().min(self.left)];
            self.detector.feed(seen, false);
            self.left -= seen.len();
        }
    }

    fn check_utf8(&mut self, bytes: &[u8], last: bool) {
        let Some(decoder) = self.utf8.as_mut() else {
            return;
        };
        let room = decoder
            .max_utf8_buffer_length_without_replacement(bytes.len())
            .unwrap_or(bytes.len() + 16);
        self.scratch.resize(room, 0);
        let (result, ..) =
            decoder.decode_to_utf8_without_replacement(bytes, &mut self.scratch, last);
        if !matches!(result, DecoderResult::InputEmpty) {
            self.utf8 = None;
        }
    }

    fn conclude(mut self) -> TextEncoding {
        self.check_utf8(&[], true);
        self.detector.feed(&[], true);
        match self.utf8 {
            // Pure ASCII is UTF-8 too, unless escapes make it ISO-2022-JP.
            Some(_) => match self.detector.guess(None, Utf8Detection::Allow) {
                guess if guess == encoding_rs::ISO_2022_JP => guess.into(),
                _ => TextEncoding::UTF_8,
            },
            None => self.detector.guess(None, Utf8Detection::Deny).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_KR, Encoding, SHIFT_JIS};

    use super::*;

    fn name(bytes: &[u8]) -> &'static str {
        match detect(&mut &*bytes).unwrap() {
            Detected::Text(encoding) => encoding.name(),
            Detected::Binary => "binary",
        }
    }

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn tells_the_encodings_of_lists() {
        let korean = "회사명,홈페이지\n한빛식품,hanbit-foods.co.kr\n대한정밀공업,daehan.co.kr\n";
        let japanese = "会社名,ホームページ\n青山精機株式会社,aoyama-seiki.co.jp\n";
        assert_eq!(name(korean.as_bytes()), "UTF-8");
        assert_eq!(name(&encoded(EUC_KR, korean)), "EUC-KR");
        assert_eq!(name(&encoded(SHIFT_JIS, japanese)), "Shift_JIS");
        assert_eq!(name(b"Company\nAcme\n"), "UTF-8");
        assert_eq!(name(b""), "UTF-8");
        let wide: Vec<u8> = "Acme,회사\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(name(&wide), "UTF-16LE");
        let marked: Vec<u8> = "\u{feff}한빛"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(name(&marked), "UTF-16BE");
    }

    #[test]
    fn sees_what_comes_late_in_the_file() {
        let mut late = b"Acme,acme.com\n".repeat(20_000);
        late.extend(encoded(EUC_KR, "한빛식품,주식회사 대한정밀공업\n"));
        assert_eq!(name(&late), "EUC-KR");
        late.push(0);
        assert_eq!(name(&late), "binary");
    }

    #[test]
    fn a_split_character_is_not_an_error() {
        let mut text = "a".repeat(HEAD_BYTES - 1);
        text.push_str(&"한".repeat(60_000));
        assert_eq!(name(text.as_bytes()), "UTF-8");
        let cut = &text.as_bytes()[..text.len() - 1];
        assert_ne!(name(cut), "UTF-8");
    }
}
