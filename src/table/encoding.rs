//! The encodings of text lists: their names, their detection, and decoding to UTF-8.

use std::io::Read;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use csv::{Reader, ReaderBuilder};
use encoding_rs::{DecoderResult, Encoding};

use super::error::{Fault, Result, UnknownEncoding};

/// An encoding of the WHATWG Encoding standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    /// The encoding with this label, in either case.
    ///
    /// Besides the labels of the standard it knows the names that Windows and Java give to the
    /// Korean, Japanese and Chinese code pages (`cp949`, `uhc`, `cp932`, `ms932`, `cp936`,
    /// `cp950`).
    pub fn named(name: &str) -> std::result::Result<Self, UnknownEncoding> {
        let trimmed = name.trim();
        let lower = trimmed.to_ascii_lowercase();
        let label = match lower.as_str() {
            "cp949" | "ms949" | "uhc" | "949" => "euc-kr",
            "cp932" | "932" => "shift_jis",
            "cp936" | "936" => "gbk",
            "cp950" | "950" => "big5",
            "utf16" | "utf16le" => "utf-16le",
            "utf16be" => "utf-16be",
            other => other,
        };
        let encoding = Encoding::for_label_no_replacement(label.as_bytes());
        encoding
            .map(Self)
            .ok_or_else(|| UnknownEncoding(trimmed.to_owned()))
    }
}

/// How many bytes the statistical detector gets, counted from the first that is not ASCII.
///
/// More would not change its answer, and detecting is slower than reading.
const DETECTOR_BYTES: usize = 256 * 1024;

/// How many bytes are enough to recognise UTF-16 without a byte order mark.
const HEAD_BYTES: usize = 4096;

/// Detects the encoding of a text; none if the bytes are not text.
///
/// In this order: a byte order mark; UTF-16 by its zero bytes; UTF-8 if all of it is valid UTF-8;
/// otherwise the guess of `chardetng` from the bytes that are not ASCII. Bytes that are not UTF-8 are
/// not text if one of them is a binary data byte of the WHATWG MIME Sniffing standard, 7.
pub(super) fn detect(bytes: &[u8]) -> Option<TextEncoding> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let marked = Encoding::for_bom(head).map(|(encoding, _)| encoding);
    if let Some(encoding) = marked.or_else(|| utf16_without_mark(head)) {
        return Some(TextEncoding(encoding));
    }
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    if bytes.contains(&0) || (!is_utf8 && bytes.iter().copied().any(is_binary_data)) {
        return None;
    }
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    let seen = bytes.len().min(ascii + DETECTOR_BYTES);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..seen], true);
    // Pure ASCII is UTF-8 too, unless escapes make it ISO-2022-JP.
    let allowed = if is_utf8 {
        Utf8Detection::Allow
    } else {
        Utf8Detection::Deny
    };
    Some(TextEncoding(detector.guess(None, allowed)))
}

fn is_binary_data(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

/// UTF-16 of a text that is mostly ASCII, as in lists with commas, line ends and addresses.
fn utf16_without_mark(head: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = head.as_chunks::<2>();
    let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count();
    let many = pairs.len().div_ceil(10).max(1);
    match (zeros(0), zeros(1)) {
        (0, second) if second >= many => Some(encoding_rs::UTF_16LE),
        (first, 0) if first >= many => Some(encoding_rs::UTF_16BE),
        _ => None,
    }
}

/// Decodes `bytes`, without a byte order mark at their start.
///
/// Bytes that are invalid in the encoding are an error and never replaced.
pub(super) fn decode(bytes: &[u8], encoding: TextEncoding) -> Result<String> {
    let mut decoder = encoding.0.new_decoder_with_bom_removal();
    let most = decoder.max_utf8_buffer_length_without_replacement(bytes.len());
    let mut text = String::with_capacity(most.unwrap_or_default());
    match decoder.decode_to_string_without_replacement(bytes, &mut text, true) {
        (DecoderResult::InputEmpty, _) => Ok(text),
        _ => Err(Fault::Other(format!(
            "line {} is not text in {}; name the file's encoding with --encoding, or correct that \
             line",
            text.split('\n').count(),
            encoding.0.name()
        ))),
    }
}

/// How many records are compared.
const RECORDS: usize = 100;

/// Detects the delimiter of the text that starts with `sample`; `whole` is true if that is all of it.
///
/// It is the one that gives most records the same number of cells, at least two. Between equals, more
/// cells win, then the comma. A text of one column counts as comma-separated.
pub(super) fn sniff_delimiter(sample: &str, whole: bool) -> u8 {
    let mut best = (b',', (0, 0));
    for delimiter in *b",;\t" {
        let score = score(sample, whole, delimiter);
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

/// The percentage of records with the most common number of cells, and that number.
fn score(sample: &str, whole: bool, delimiter: u8) -> (usize, usize) {
    let mut widths: Vec<usize> = csv_reader(sample.as_bytes(), delimiter)
        .into_records()
        .map_while(std::result::Result::ok)
        .take(RECORDS)
        .map(|record| record.len())
        .collect();
    // The last record of a sample may be cut.
    if !whole && widths.len() > 1 && widths.len() < RECORDS {
        widths.pop();
    }
    let scores = widths.iter().filter(|&&width| width > 1).map(|width| {
        let same = widths.iter().filter(|other| *other == width).count();
        (same * 100 / widths.len(), *width)
    });
    scores.max().unwrap_or_default()
}

/// A reader of RFC 4180 records with any number of cells, without a record of headings.
///
/// Rows are identified by the numbers of their records, so all readers of a list must use it.
pub(super) fn csv_reader<R: Read>(text: R, delimiter: u8) -> Reader<R> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_KR, Encoding, SHIFT_JIS};
    use proptest::prelude::*;

    #[test]
    fn common_encoding_names_are_known() {
        for (name, known) in [
            ("CP949", "EUC-KR"),
            ("euc-kr", "EUC-KR"),
            ("Shift_JIS", "Shift_JIS"),
            ("sjis", "Shift_JIS"),
            ("cp932", "Shift_JIS"),
            ("UTF8", "UTF-8"),
            ("utf-16", "UTF-16LE"),
            (" utf-16be ", "UTF-16BE"),
        ] {
            assert_eq!(TextEncoding::named(name).unwrap().0.name(), known, "{name}");
        }
        for name in ["", "utf-9", "replacement", "hz-gb-2312"] {
            let error = TextEncoding::named(name).unwrap_err().to_string();
            assert!(error.contains("shift_jis"), "{error}");
        }
    }

    fn name(bytes: &[u8]) -> &'static str {
        detect(bytes).map_or("binary", |it| it.0.name())
    }

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn encodings_are_detected() {
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
    fn binary_data_is_recognised_without_a_zero_byte() {
        let compressed = b"4 0 obj\nstream\nx\x9c\x03\xe2\x02\x8f\nendstream\n";
        assert_eq!(name(compressed), "binary");
        // UTF-8 may have a stray control character, and so may a workbook's export.
        assert_eq!(name("Acme\u{b}한빛\n".as_bytes()), "UTF-8");
        assert_eq!(name(&encoded(EUC_KR, "한빛식품\u{c}\n")), "EUC-KR");
    }

    #[test]
    fn bytes_late_in_the_file_decide_the_encoding_too() {
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

    fn decoded(bytes: &[u8], name: &str) -> Result<String> {
        decode(bytes, TextEncoding::named(name).unwrap())
    }

    #[test]
    fn only_a_leading_byte_order_mark_is_dropped() {
        assert_eq!(decoded(b"\xef\xbb\xbfAcme", "utf-8").unwrap(), "Acme");
        assert_eq!(decoded(b"A\xef\xbb\xbf", "utf-8").unwrap(), "A\u{feff}");
        assert_eq!(decoded(b"\xff\xfeA\0", "utf-16le").unwrap(), "A");
    }

    #[test]
    fn undecodable_lines_are_reported_by_number() {
        let bytes = [EUC_KR.encode("한빛\n대한\n").0.as_ref(), b"\xff\xff\n"].concat();
        let error = decoded(&bytes, "cp949").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("line 3 is not text in EUC-KR;")
        );
        let error = decoded(b"a\nb\n\xed\x95", "utf-8").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("line 3 is not text in UTF-8;")
        );
        assert!(decoded(b"A\0B", "utf-16le").is_err());
    }

    proptest! {
        #[test]
        fn encoded_text_comes_back(
            text in "[^\u{feff}]\\PC{0,40}",
            times in 1_usize..4000,
            korean in "[가-힣a-z,\n\"]{0,2000}",
        ) {
            let long = text.repeat(times);
            prop_assert_eq!(decoded(long.as_bytes(), "utf-8").unwrap(), long);
            let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(decoded(&wide, "utf-16be").unwrap(), text);
            let bytes = EUC_KR.encode(&korean).0.into_owned();
            prop_assert_eq!(decoded(&bytes, "cp949").unwrap(), korean);
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for name in ["utf-8", "utf-16le", "shift_jis", "cp949", "gb18030", "iso-2022-jp"] {
                if let Ok(text) = decoded(&bytes, name) {
                    prop_assert!(text.len() <= bytes.len() * 4);
                }
            }
        }
    }

    #[test]
    fn the_delimiter_is_detected_from_the_records() {
        for (sample, delimiter) in [
            ("a,b\nc,d\n", b','),
            ("a;b\nc;d\n", b';'),
            ("a\tb\nc\td\n", b'\t'),
            ("Name;Note\nAcme;one, two\nBeta;three\n", b';'),
            ("Name,Note\n\"Acme; Co\",\"a;b\"\nBeta,c\n", b','),
            ("Acme, Inc.\tacme.com\nBeta\tbeta.com\n", b'\t'),
            ("\"multi\nline\";x\nAcme;y\n", b';'),
            ("Acme\nBeta\n", b','),
            ("", b','),
        ] {
            assert_eq!(sniff_delimiter(sample, true), delimiter, "{sample:?}");
        }
    }
}
