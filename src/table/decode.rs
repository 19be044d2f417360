//! Reading a text file as UTF-8, whatever its encoding, with memory that does not grow.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use encoding_rs::{Decoder, DecoderResult};

use super::encoding::TextEncoding;
use super::read_error::ReadError;

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
    /// The encoding that was expected.
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
                encoding,
            },
            None => Self::Io { path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::EUC_KR;
    use proptest::prelude::*;

    use super::*;

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
}
