//! The encodings of lists that are text, by name.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use csv::{Reader, ReaderBuilder};
use encoding_rs::{Decoder, DecoderResult, Encoding};
use serde::{Deserialize, Serialize};

use super::read_error::{ReadError, UnknownEncoding};

/// An encoding of the WHATWG Encoding standard; shown and stored by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);
    /// UTF-16, low byte first.
    pub const UTF_16LE: Self = Self(encoding_rs::UTF_16LE);
    /// UTF-16, high byte first.
    pub const UTF_16BE: Self = Self(encoding_rs::UTF_16BE);

    /// The encoding that `name` labels, of either case.
    ///
    /// Besides the standard's labels it knows Windows' and Java's names of the Korean, Japanese
    /// and Chinese code pages (`cp949`, `uhc`, `cp932`, `ms932`, `cp936`, `cp950`).
    pub fn named(name: &str) -> Result<Self, UnknownEncoding> {
        let trimmed = name.trim();
        let label = match trimmed.to_ascii_lowercase().as_str() {
            "cp949" | "ms949" | "uhc" | "949" => "euc-kr",
            "cp932" | "ms932" | "932" => "shift_jis",
            "cp936" | "936" => "gbk",
            "cp950" | "950" => "big5",
            "utf8" => "utf-8",
            "utf16" | "utf16le" => "utf-16le",
            "utf16be" => "utf-16be",
            other => other,
        }
        .to_owned();
        match Encoding::for_label_no_replacement(label.as_bytes()) {
            Some(encoding) => Ok(Self(encoding)),
            None => Err(UnknownEncoding(trimmed.to_owned())),
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    #[must_use]
    pub fn get(self) -> &'static Encoding {
        self.0
    }

    /// The encoding that the byte order mark at the start of `bytes` tells.
    #[must_use]
    pub fn of_byte_order_mark(bytes: &[u8]) -> Option<Self> {
        Encoding::for_bom(bytes).map(|(encoding, _)| Self(encoding))
    }
}

impl From<&'static Encoding> for TextEncoding {
    fn from(encoding: &'static Encoding) -> Self {
        Self(encoding)
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TryFrom<String> for TextEncoding {
    type Error = UnknownEncoding;

    fn try_from(name: String) -> Result<Self, UnknownEncoding> {
        Self::named(&name)
    }
}

impl From<TextEncoding> for String {
    fn from(encoding: TextEncoding) -> Self {
        encoding.name().to_owned()
    }
}

/// How many bytes the statistical detector sees, counted from the first that is not ASCII.
///
/// More would not change its mind, and it is slower than the reader it serves.
const DETECTOR_BYTES: usize = 256 * 1024;

/// How many bytes tell UTF-16 without a byte order mark.
const HEAD_BYTES: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    Text(TextEncoding),
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

/// How many bytes are decoded at a time.
const CHUNK: usize = 64 * 1024;

/// A reader of UTF-8 without a byte order mark, decoded from a file in any encoding.
///
/// Bytes that are not text in the encoding are an error that [`ReadError::of_text`] turns into
/// [`ReadError::Undecodable`], never a replacement character.
pub struct DecodedText<R> {
    bytes: R,
    decoder: Decoder,
    input: Vec<u8>,
    input_at: usize,
    output: Vec<u8>,
    output_at: usize,
    line: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    LastInput,
    Flushed,
}

/// Bytes that are not text, as the source of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not text in {encoding}")]
pub struct UndecodableLine {
    /// The line, counted from 1.
    pub line: u64,
    pub encoding: TextEncoding,
}

/// Opens the text file at `path` as UTF-8.
///
/// This is how lists are read, and how their copies must be, for records to have the same
/// numbers in both.
pub fn open_text(
    path: &Path,
    encoding: TextEncoding,
) -> Result<DecodedText<BufReader<File>>, ReadError> {
    let file = File::open(path).map_err(|source| ReadError::opening(path, source))?;
    Ok(DecodedText::new(BufReader::new(file), encoding))
}

impl<R: Read> DecodedText<R> {
    /// Decodes `bytes`; a byte order mark of `encoding` at their start is dropped.
    pub fn new(bytes: R, encoding: TextEncoding) -> Self {
        Self {
            bytes,
            decoder: encoding.get().new_decoder_with_bom_removal(),
            input: Vec::with_capacity(CHUNK),
            input_at: 0,
            output: Vec::with_capacity(CHUNK),
            output_at: 0,
            line: 1,
            state: State::Reading,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.output_at = 0;
        self.output.clear();
        while self.output.is_empty() && self.state != State::Flushed {
            if self.input_at == self.input.len() && self.state == State::Reading {
                self.input.resize(CHUNK, 0);
                let read = self.bytes.read(&mut self.input);
                self.input.truncate(*read.as_ref().unwrap_or(&0));
                self.input_at = 0;
                if read? == 0 {
                    self.state = State::LastInput;
                }
            }
            self.decode()?;
        }
        Ok(())
    }

    fn decode(&mut self) -> io::Result<()> {
        let last = self.state == State::LastInput;
        self.output.resize(CHUNK, 0);
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
            &self.input[self.input_at..],
            &mut self.output,
            last,
        );
        self.input_at += read;
        self.output.truncate(written);
        self.line += self.output.split(|&byte| byte == b'\n').skip(1).count() as u64;
        match result {
            DecoderResult::InputEmpty => {
                if last {
                    self.state = State::Flushed;
                }
                Ok(())
            }
            DecoderResult::OutputFull => Ok(()),
            DecoderResult::Malformed(..) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                UndecodableLine {
                    line: self.line,
                    encoding: self.decoder.encoding().into(),
                },
            )),
        }
    }
}

impl<R: Read> Read for DecodedText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.output_at == self.output.len() {
            self.refill()?;
        }
        let ready = &self.output[self.output_at..];
        let given = ready.len().min(buffer.len());
        buffer[..given].copy_from_slice(&ready[..given]);
        self.output_at += given;
        Ok(given)
    }
}

/// Reads the start of the text file at `path`, at most `limit` bytes of UTF-8, and tells
/// whether that is all of it.
pub(super) fn read_start(
    path: &Path,
    encoding: TextEncoding,
    limit: u64,
) -> Result<(String, bool), ReadError> {
    let failed = |source| ReadError::of_text(path, source);
    let mut text = open_text(path, encoding)?;
    let mut bytes = Vec::new();
    (&mut text)
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    let whole = text.read(&mut [0]).map_err(failed)? == 0;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), whole))
}

impl ReadError {
    /// The error that reading a [`DecodedText`] of the file at `path` gave.
    #[must_use]
    pub fn of_text(path: &Path, source: io::Error) -> Self {
        let path = PathBuf::from(path);
        let undecodable = source
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<UndecodableLine>());
        match undecodable {
            Some(&UndecodableLine { line, encoding }) => Self::Undecodable {
                path,
                line,
                encoding: encoding.name(),
            },
            None => Self::Io { path, source },
        }
    }
}

/// How many records are compared.
const RECORDS: usize = 100;

/// Tells the delimiter of the text that starts with `sample`; `whole` says whether that is all
/// of it.
///
/// It is the one by which most records have the same number of cells, more than one; of equals
/// the one that gives more cells, then the comma. A text of one column counts as comma-separated.
#[must_use]
pub fn sniff_delimiter(sample: &str, whole: bool) -> Delimiter {
    let mut best = (Delimiter::Comma, (0, 0));
    for delimiter in Delimiter::ALL {
        let score = score(sample, whole, delimiter);
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

/// How many of a hundred records have the usual number of cells, and that number.
fn score(sample: &str, whole: bool, delimiter: Delimiter) -> (usize, usize) {
    let mut widths: Vec<usize> = csv_reader(sample.as_bytes(), delimiter)
        .into_records()
        .map_while(Result::ok)
        .take(RECORDS)
        .map(|record| record.len())
        .collect();
    // The last record of a part may be cut.
    if !whole && widths.len() > 1 && widths.len() < RECORDS {
        widths.pop();
    }
    let usual = widths
        .iter()
        .filter(|&&width| width > 1)
        .max_by_key(|&&width| {
            let same = widths.iter().filter(|&&other| other == width).count();
            (same, width)
        });
    usual.map_or((0, 0), |&width| {
        let same = widths.iter().filter(|&&other| other == width).count();
        (same * 100 / widths.len().max(1), width)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delimiter {
    Comma,
    Semicolon,
    Tab,
}

impl Delimiter {
    /// All of them, the likeliest first.
    pub const ALL: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// A reader of records of UTF-8 as lists are read: RFC 4180, any number of cells a record, no
/// record taken for headings.
///
/// Whatever identifies rows by their numbers must read with it.
pub fn csv_reader<R: Read>(text: R, delimiter: Delimiter) -> Reader<R> {
    ReaderBuilder::new()
        .delimiter(delimiter.byte())
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
    fn knows_the_names_that_people_type() {
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
            assert_eq!(TextEncoding::named(name).unwrap().name(), known, "{name}");
        }
    }

    #[test]
    fn refuses_other_names() {
        for name in ["", "utf-9", "replacement", "hz-gb-2312"] {
            let error = TextEncoding::named(name).unwrap_err().to_string();
            assert!(error.contains("shift_jis"), "{error}");
        }
    }

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

    fn decoded(bytes: &[u8], name: &str) -> io::Result<String> {
        let encoding = TextEncoding::named(name).unwrap();
        let mut text = String::new();
        DecodedText::new(bytes, encoding).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn drops_the_mark_alone() {
        assert_eq!(decoded(b"\xef\xbb\xbfAcme", "utf-8").unwrap(), "Acme");
        assert_eq!(decoded(b"A\xef\xbb\xbf", "utf-8").unwrap(), "A\u{feff}");
        assert_eq!(decoded(b"\xff\xfeA\0", "utf-16le").unwrap(), "A");
    }

    #[test]
    fn names_the_line_that_is_not_text() {
        let bytes = [EUC_KR.encode("한빛\n대한\n").0.as_ref(), b"\xff\xff\n"].concat();
        let error = decoded(&bytes, "cp949").unwrap_err();
        assert_eq!(error.to_string(), "line 3 is not text in EUC-KR");
        let error = decoded(b"a\nb\n\xed\x95", "utf-8").unwrap_err();
        assert_eq!(error.to_string(), "line 3 is not text in UTF-8");
        assert!(decoded(b"A\0B", "utf-16le").is_err());
    }

    proptest! {
        #[test]
        fn gives_utf8_back(text in "[^\u{feff}]\\PC{0,40}", times in 1_usize..4000) {
            let long = text.repeat(times);
            prop_assert_eq!(decoded(long.as_bytes(), "utf-8").unwrap(), long);
        }

        #[test]
        fn gives_utf16_back(text in "[^\u{feff}]\\PC{0,40}") {
            let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(decoded(&wide, "utf-16be").unwrap(), text);
        }

        #[test]
        fn gives_korean_back(text in "[가-힣a-z,\n\"]{0,2000}") {
            let bytes = EUC_KR.encode(&text).0.into_owned();
            prop_assert_eq!(decoded(&bytes, "cp949").unwrap(), text);
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
    fn tells_the_delimiter_by_the_records() {
        for (sample, delimiter) in [
            ("a,b\nc,d\n", Delimiter::Comma),
            ("a;b\nc;d\n", Delimiter::Semicolon),
            ("a\tb\nc\td\n", Delimiter::Tab),
            (
                "Name;Note\nAcme;one, two\nBeta;three\n",
                Delimiter::Semicolon,
            ),
            (
                "Name,Note\n\"Acme; Co\",\"a;b\"\nBeta,c\n",
                Delimiter::Comma,
            ),
            ("Acme, Inc.\tacme.com\nBeta\tbeta.com\n", Delimiter::Tab),
            ("\"multi\nline\";x\nAcme;y\n", Delimiter::Semicolon),
            ("Acme\nBeta\n", Delimiter::Comma),
            ("", Delimiter::Comma),
        ] {
            assert_eq!(sniff_delimiter(sample, true), delimiter, "{sample:?}");
        }
    }
}
