//! How the cells of a binary workbook are formatted (MS-XLS 2.1), which calamine does not tell.
//!
//! The stream `Workbook` (`Book` before Excel 97) is a sequence of records: kind and length, 16
//! bits each, and data. Those of the workbook come first and end with EOF; each sheet's begin
//! where its `BoundSheet8` record says. All numbers are little-endian.

use std::collections::HashMap;
use std::io::{Read, Seek};

use ssfmt::format_code_from_id;

use super::number_format::NumberFormats;

/// The formats of one sheet's cells.
pub(super) struct XlsFormats {
    formats: NumberFormats,
    styles: HashMap<(u32, u32), usize>,
}

const BOF: u16 = 0x0809;
const EOF: u16 = 0x000a;
const DATE_MODE: u16 = 0x0022;
const FORMAT: u16 = 0x041e;
const XF: u16 = 0x00e0;
const BOUND_SHEET: u16 = 0x0085;
const MUL_RK: u16 = 0x00bd;
/// The records of one cell that begin with row, column and format: `Formula`, `LabelSst`,
/// `Number`, `Label`, `RK`.
const CELLS: [u16; 5] = [0x0006, 0x00fd, 0x0203, 0x0204, 0x027e];

/// The version in the BOF record from which on texts are Unicode.
const BIFF8: u16 = 0x0600;

impl XlsFormats {
    /// Reads the formats of the sheet at `index`, counted from 0 in the order of the tabs; none
    /// if the file does not say.
    pub(super) fn read(file: impl Read + Seek, length: u64, index: usize) -> Option<Self> {
        let mut package = cfb::CompoundFile::open(file).ok()?;
        let name = ["/Workbook", "/Book"]
            .into_iter()
            .find(|name| package.is_stream(name))?;
        let mut stream = Vec::new();
        // No stream is longer than the file that it is in.
        let part = package.open_stream(name).ok()?;
        part.take(length).read_to_end(&mut stream).ok()?;
        Self::of_stream(&stream, index)
    }

    fn of_stream(stream: &[u8], index: usize) -> Option<Self> {
        let globals = Globals::read(stream);
        let start = usize::try_from(*globals.sheets.get(index)?).ok()?;
        let mut ids: Vec<u16> = globals.styles.clone();
        ids.sort_unstable();
        ids.dedup();
        let codes = ids.iter().map(|id| (u32::from(*id), globals.code(*id)));
        let formats = NumberFormats::of_codes(codes, globals.date_1904);
        let format = |style: u16| {
            let id = globals.styles.get(usize::from(style))?;
            ids.binary_search(id).ok()
        };
        let styles = cells(stream.get(start..)?)
            .into_iter()
            .filter_map(|(place, style)| Some((place, format(style)?)))
            .collect();
        Some(Self { formats, styles })
    }

    /// The number at this row and column, counted from 0, as its cell shows it; nothing where
    /// no format but General is known.
    pub(super) fn number(&self, row: u32, column: u32, value: f64) -> Option<String> {
        let style = *self.styles.get(&(row, column))?;
        if self.formats.is_general(style) {
            return None;
        }
        let mut text = String::new();
        self.formats.number(style, value, &mut text);
        Some(text)
    }

    /// The text at this row and column as its cell shows it.
    pub(super) fn text(&self, row: u32, column: u32, value: &str) -> String {
        let mut text = String::new();
        match self.styles.get(&(row, column)) {
            Some(style) => self.formats.text(*style, value, &mut text),
            None => text.push_str(value),
        }
        text
    }
}

/// What the workbook's own records say.
#[derive(Debug, Default)]
struct Globals {
    unicode: bool,
    date_1904: bool,
    /// The codes of number formats, by their ids.
    codes: HashMap<u16, String>,
    /// The number format's id of every cell format, in order.
    styles: Vec<u16>,
    /// Where the records of every sheet begin.
    sheets: Vec<u32>,
}

impl Globals {
    fn read(stream: &[u8]) -> Self {
        let mut globals = Self::default();
        for (kind, data) in records(stream) {
            match kind {
                BOF => globals.unicode = u16_at(data, 0).is_some_and(|version| version >= BIFF8),
                DATE_MODE => globals.date_1904 = u16_at(data, 0) == Some(1),
                FORMAT => {
                    if let Some((id, code)) = format(data, globals.unicode) {
                        globals.codes.insert(id, code);
                    }
                }
                XF => globals.styles.push(u16_at(data, 2).unwrap_or(0)),
                BOUND_SHEET => globals.sheets.push(u32_at(data, 0).unwrap_or(u32::MAX)),
                EOF => break,
                _ => {}
            }
        }
        globals
    }

    fn code(&self, id: u16) -> &str {
        let own = self.codes.get(&id).map(String::as_str);
        own.or_else(|| format_code_from_id(id.into()))
            .unwrap_or("General")
    }
}

/// The cells of the sheet whose records begin here: row and column, counted from 0, and the
/// index of the cell's format. Charts within the sheet have records of their own and no cells.
fn cells(stream: &[u8]) -> Vec<((u32, u32), u16)> {
    let mut cells = Vec::new();
    let mut depth = 0_u32;
    for (kind, data) in records(stream) {
        match kind {
            BOF => depth += 1,
            EOF if depth <= 1 => break,
            EOF => depth -= 1,
            _ if depth > 1 => {}
            MUL_RK => cells.extend(mul_rk(data)),
            kind if CELLS.contains(&kind) => cells.extend(cell(data)),
            _ => {}
        }
    }
    cells
}

fn cell(data: &[u8]) -> Option<((u32, u32), u16)> {
    let (row, column) = (u16_at(data, 0)?, u16_at(data, 2)?);
    Some(((row.into(), column.into()), u16_at(data, 4)?))
}

/// Several numbers in a row: row, first column, format and 32 bits of each, last column.
fn mul_rk(data: &[u8]) -> impl Iterator<Item = ((u32, u32), u16)> + '_ {
    let row = u32::from(u16_at(data, 0).unwrap_or(0));
    let first = u32::from(u16_at(data, 2).unwrap_or(0));
    let numbers = data.get(4..).unwrap_or_default().chunks_exact(6);
    (first..)
        .zip(numbers)
        .filter_map(move |(column, number)| Some(((row, column), u16_at(number, 0)?)))
}

/// A number format's id and code.
fn format(data: &[u8], unicode: bool) -> Option<(u16, String)> {
    let id = u16_at(data, 0)?;
    if !unicode {
        let length = usize::from(*data.get(2)?);
        return Some((id, latin(data.get(3..3 + length)?)));
    }
    let length = usize::from(u16_at(data, 2)?);
    let wide = data.get(4)? & 1 == 1;
    let bytes = data.get(5..5 + if wide { length * 2 } else { length })?;
    let code = if wide {
        let units = bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        char::decode_utf16(units)
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    } else {
        latin(bytes)
    };
    Some((id, code))
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The records from here on, up to the last that is whole.
fn records(stream: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        let kind = u16_at(rest, 0)?;
        let end = 4 + usize::from(u16_at(rest, 2)?);
        let data = rest.get(4..end)?;
        rest = &rest[end..];
        Some((kind, data))
    })
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    let bytes = data.get(at..at + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(kind: u16, words: &[u16], rest: &[u8]) -> Vec<u8> {
        let data: Vec<u8> = words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .chain(rest.iter().copied())
            .collect();
        let length = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), &data].concat()
    }

    /// A workbook of one sheet whose only XF beside General has the format 164.
    fn stream(version: u16, format: Vec<u8>, sheet: &[Vec<u8>]) -> Vec<u8> {
        let globals = [
            record(BOF, &[version, 5], &[]),
            format,
            record(XF, &[0, 0], &[]),
            record(XF, &[0, 164], &[]),
            record(XF, &[0, 10], &[]),
        ]
        .concat();
        let bound = |start: u32| {
            let start = start.to_le_bytes();
            [record(BOUND_SHEET, &[], &start), record(EOF, &[], &[])].concat()
        };
        let start = u32::try_from(globals.len() + bound(0).len()).unwrap();
        [globals, bound(start), sheet.concat()].concat()
    }

    fn sheet() -> Vec<Vec<u8>> {
        vec![
            record(BOF, &[BIFF8, 16], &[]),
            record(0x0203, &[2, 0, 1], &[0; 8]),
            record(0x027e, &[2, 1, 2], &[0; 4]),
            // A chart, whose records are not the sheet's.
            record(BOF, &[BIFF8, 32], &[]),
            record(0x0203, &[9, 9, 1], &[0; 8]),
            record(EOF, &[], &[]),
            record(MUL_RK, &[3, 4, 1, 0, 0, 0, 0, 0, 2, 0, 0, 6], &[]),
            record(EOF, &[], &[]),
            record(0x0203, &[8, 8, 1], &[0; 8]),
        ]
    }

    #[test]
    fn cells_have_their_formats() {
        let wide: Vec<u8> = "0\"년\""
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let format = record(FORMAT, &[164, 4], &[&[1], wide.as_slice()].concat());
        let formats = XlsFormats::of_stream(&stream(BIFF8, format, &sheet()), 0).unwrap();
        let shown = |row, column| formats.number(row, column, 7.0);
        assert_eq!(shown(2, 0).as_deref(), Some("7년"));
        assert_eq!(shown(2, 1).as_deref(), Some("700.00%"));
        assert_eq!(shown(3, 4).as_deref(), Some("7년"));
        assert_eq!(shown(3, 5), None);
        assert_eq!(shown(3, 6).as_deref(), Some("700.00%"));
        assert_eq!(shown(8, 8), None);
        assert_eq!(shown(9, 9), None);
    }

    #[test]
    fn older_workbooks_have_texts_of_bytes() {
        let format = record(FORMAT, &[164], b"\x030.0");
        let formats = XlsFormats::of_stream(&stream(0x0500, format, &sheet()), 0).unwrap();
        assert_eq!(formats.number(2, 0, 7.0).as_deref(), Some("7.0"));
    }

    #[test]
    fn a_sheet_that_is_not_there_has_none() {
        let whole = stream(BIFF8, Vec::new(), &sheet());
        assert!(XlsFormats::of_stream(&whole, 1).is_none());
        assert!(XlsFormats::of_stream(&[], 0).is_none());
        assert!(XlsFormats::read(std::io::Cursor::new(b"no container"), 12, 0).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            at in 0_usize..400,
        ) {
            let mut whole = stream(BIFF8, record(FORMAT, &[164, 1], b"\x000"), &sheet());
            let at = at % whole.len();
            whole.splice(at..at, bytes.iter().copied());
            if let Some(formats) = XlsFormats::of_stream(&whole, 0) {
                prop_assert!(formats.text(2, 0, "Acme").contains("Acme"));
            }
            XlsFormats::of_stream(&bytes, 0);
        }
    }
}
