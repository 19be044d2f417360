//! Columns, cells and areas of a sheet by their A1 names, the XML of a cell, and the cells of one
//! row of a list.

use std::borrow::Cow;
use std::io::Write;
use std::{fmt, io};

use rust_xlsxwriter::utility::column_number_to_name;

use super::error;
use super::results::Cell;
use crate::quest::file::nearest;

/// The number of the last column of a sheet, XFD.
pub(crate) const LAST_COLUMN: u32 = 16_384;
pub(crate) const LAST_ROW: u32 = 1_048_576;

/// A column, counted from 0; shown as its letters (`A`, `AB`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnIndex(u32);

impl ColumnIndex {
    pub const FIRST: Self = Self(0);

    pub const fn new(index: u32) -> Option<Self> {
        if index < LAST_COLUMN {
            Some(Self(index))
        } else {
            None
        }
    }

    /// The column with these letters, in either case; none beyond the last column of a sheet.
    pub fn parse(letters: &str) -> Option<Self> {
        parse_column(letters).map(|column| Self(column - 1))
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ColumnIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&column_letters(self.0 + 1))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellReference {
    pub(crate) column: u32,
    pub(crate) row: u32,
}

/// A rectangle of cells, from its upper left to its lower right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) first: CellReference,
    pub(crate) last: CellReference,
}

/// The letters of a column counted from 1: A, …, Z, AA, …
pub(crate) fn column_letters(column: u32) -> String {
    let index = u16::try_from(column.saturating_sub(1)).unwrap_or(u16::MAX);
    column_number_to_name(index)
}

impl CellReference {
    /// The cell that a name such as `B7` refers to; none outside the bounds of a sheet.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let split = text.find(|letter: char| !letter.is_ascii_alphabetic())?;
        let (letters, digits) = text.split_at(split);
        Some(Self {
            column: parse_column(letters)?,
            row: parse_row(digits)?,
        })
    }
}

impl Area {
    /// The area that `A1:C3` or a single `A1` names.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        Some(Self {
            first: CellReference::parse(first)?,
            last: CellReference::parse(last)?,
        })
    }
}

impl fmt::Display for CellReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", column_letters(self.column), self.row)
    }
}

/// The number of the column with these letters; none beyond the last column of a sheet.
fn parse_column(letters: &str) -> Option<u32> {
    if !(1..=3).contains(&letters.len()) || !letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        return None;
    }
    let column = letters.bytes().fold(0, |column, letter| {
        column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1
    });
    (column <= LAST_COLUMN).then_some(column)
}

/// A row's number; none beyond the last row of a sheet.
pub(crate) fn parse_row(digits: &str) -> Option<u32> {
    let row = digits.parse().ok()?;
    (1..=LAST_ROW).contains(&row).then_some(row)
}

/// How many UTF-16 units a cell's text may have.
const LONGEST: usize = 32_767;

/// Writes a cell. `prefix` is the namespace prefix of the sheet's elements with its colon, or
/// empty; `style` is an index into the workbook's cell formats. An empty cell without a style is not
/// written.
pub(super) fn write_cell(
    out: &mut dyn Write,
    prefix: &str,
    place: CellReference,
    style: Option<u32>,
    cell: &Cell,
) -> io::Result<()> {
    if cell.is_empty() && style.is_none() {
        return Ok(());
    }
    write!(out, "<{prefix}c r=\"{place}\"")?;
    if let Some(style) = style {
        write!(out, " s=\"{style}\"")?;
    }
    match cell {
        Cell::Text(text) if text.is_empty() => out.write_all(b"/>"),
        Cell::Text(text) => write!(
            out,
            " t=\"inlineStr\"><{prefix}is><{prefix}t xml:space=\"preserve\">{}</{prefix}t></{prefix}is></{prefix}c>",
            escaped(&shortened(text))
        ),
        Cell::Number(number) => write!(out, "><{prefix}v>{number}</{prefix}v></{prefix}c>"),
    }
}

/// Whether a spreadsheet could read the text as a formula once its cell is edited.
pub fn starts_formula(text: &str) -> bool {
    text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{FEFF}')
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// The text, cut with an ellipsis if it is too long for a cell.
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST || text.encode_utf16().count() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let mut units = 0;
    let fits = |letter: &char| {
        units += letter.len_utf16();
        units < LONGEST
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    Cow::Owned(short)
}

/// The text for an element that Excel reads. Characters that XML cannot contain, or that its readers
/// change, become `_xHHHH_`, and text that looks like such an escape is escaped as well (ECMA-376
/// part 1, 22.9.2.19).
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| matches!(letter, '&' | '<' | '>' | '_') || needs_code(letter)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for (at, letter) in text.char_indices() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '_' if looks_escaped(&text[at..]) => escaped.push_str("_x005F_"),
            letter if needs_code(letter) => escaped.push_str(&code(letter)),
            letter => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

fn code(letter: char) -> String {
    format!("_x{:04X}_", u32::from(letter))
}

pub(super) fn needs_code(letter: char) -> bool {
    matches!(letter, '\0'..='\x08' | '\x0B'..='\x1F' | '\u{FFFE}' | '\u{FFFF}')
}

/// Whether a reader would take the start of this text for an escape. Its closing underscore may also
/// be the first one of the next escape.
fn looks_escaped(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("_x") else {
        return false;
    };
    let mut letters = rest.chars();
    letters
        .by_ref()
        .take(4)
        .filter(char::is_ascii_hexdigit)
        .count()
        == 4
        && letters
            .next()
            .is_some_and(|next| next == '_' || needs_code(next))
}

/// What is done with one row: its number and the cells asked for.
pub(super) type Visit<'a> = dyn FnMut(u32, &[String]) -> error::Result<()> + 'a;

/// Takes the cells of a list in order, and hands on each row that has any.
pub(super) struct RowSink<'a> {
    /// The columns to hand on, in this order; all if there are none.
    wanted: Option<&'a [ColumnIndex]>,
    /// The cells of the row, by column. Texts of columns that nobody wants stay empty.
    cells: Vec<String>,
    picked: Vec<String>,
    row: u32,
    is_blank: bool,
    pub(super) widest: usize,
    visit: &'a mut Visit<'a>,
}

impl<'a> RowSink<'a> {
    pub(super) fn new(wanted: Option<&'a [ColumnIndex]>, visit: &'a mut Visit<'a>) -> Self {
        Self {
            wanted,
            cells: Vec::new(),
            picked: vec![String::new(); wanted.map_or(0, <[ColumnIndex]>::len)],
            row: 0,
            is_blank: true,
            widest: 0,
            visit,
        }
    }

    /// Starts `row`, counted from 1, and hands on the row before it.
    pub(super) fn at_row(&mut self, row: u32) -> error::Result<()> {
        if row != self.row {
            self.finish()?;
            self.row = row;
        }
        Ok(())
    }

    /// Notes that the row has a cell at `column`, counted from 0, that is not blank, and returns
    /// the place for its text, empty, if it is wanted.
    pub(super) fn cell(&mut self, column: usize) -> Option<&mut String> {
        self.is_blank = false;
        if column >= LAST_COLUMN as usize {
            return None;
        }
        self.widest = self.widest.max(column + 1);
        // Numbers are formatted only where somebody reads them.
        let is_wanted = |wanted: &[ColumnIndex]| wanted.iter().any(|it| it.index() == column);
        if !self.wanted.is_none_or(is_wanted) {
            return None;
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        let text = &mut self.cells[column];
        text.clear();
        Some(text)
    }

    /// Puts `text` in the row at `column` unless it is blank.
    pub(super) fn put(&mut self, column: usize, text: &str) {
        if !text.trim().is_empty()
            && let Some(place) = self.cell(column)
        {
            place.push_str(text);
        }
    }

    pub(super) fn finish(&mut self) -> error::Result<()> {
        if std::mem::replace(&mut self.is_blank, true) {
            return Ok(());
        }
        let Some(wanted) = self.wanted else {
            let visited = (self.visit)(self.row, &self.cells);
            self.cells.clear();
            return visited;
        };
        for (picked, column) in self.picked.iter_mut().zip(wanted) {
            let text = self.cells.get(column.index());
            text.map_or("", String::as_str).clone_into(picked);
        }
        self.cells.iter_mut().for_each(String::clear);
        (self.visit)(self.row, &self.picked)
    }
}

/// Suggests the one of `known` whose quoted name is nearest to `name`, if one is near.
pub(super) fn near(name: &str, known: &[String]) -> String {
    let quoted = known.iter().filter_map(|known| known.split('`').nth(1));
    let near = nearest(name, quoted);
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_numbers_agree() {
        for (column, letters) in [
            (1, "A"),
            (26, "Z"),
            (27, "AA"),
            (702, "ZZ"),
            (16_384, "XFD"),
        ] {
            let index = ColumnIndex::parse(&letters.to_lowercase()).unwrap();
            assert_eq!(
                (index.0 + 1, index.to_string()),
                (column, letters.to_owned())
            );
            let expected = CellReference { column, row: 7 };
            assert_eq!(CellReference::parse(&format!("{letters}7")), Some(expected));
            assert_eq!(expected.to_string(), format!("{letters}7"));
        }
    }

    #[test]
    fn references_outside_of_a_sheet_are_refused() {
        for text in [
            "", "A", "7", "A0", "XFE1", "A1048577", "AAAA1", "A-1", "é1", "A1:B2", "A 1",
        ] {
            assert_eq!(CellReference::parse(text), None, "{text}");
        }
        for text in ["", "A1", "1", "XFE", "ZZZ", "AAAA", "가", " A"] {
            assert_eq!(ColumnIndex::parse(text), None, "{text}");
        }
        assert_eq!(ColumnIndex::new(LAST_COLUMN), None);
        assert!(Area::parse("A1:B2").is_some() && Area::parse("B2").is_some());
        assert!(Area::parse("A1:").is_none());
    }

    fn xml(prefix: &str, style: Option<u32>, cell: &Cell) -> String {
        let mut out = Vec::new();
        let place = CellReference { column: 7, row: 5 };
        write_cell(&mut out, prefix, place, style, cell).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_hold_inline_text_or_numbers_and_never_formulas() {
        assert_eq!(
            xml("", None, &Cell::Text("=1+1 <&>".into())),
            "<c r=\"G5\" t=\"inlineStr\"><is><t xml:space=\"preserve\">=1+1 &lt;&amp;&gt;</t></is></c>"
        );
        assert_eq!(
            xml("x:", Some(3), &Cell::Text("a".into())),
            "<x:c r=\"G5\" s=\"3\" t=\"inlineStr\"><x:is><x:t xml:space=\"preserve\">a</x:t></x:is></x:c>"
        );
        assert_eq!(xml("", None, &Cell::Number(3)), "<c r=\"G5\"><v>3</v></c>");
        assert_eq!(xml("", None, &Cell::empty()), "");
        assert_eq!(xml("", Some(2), &Cell::empty()), "<c r=\"G5\" s=\"2\"/>");
    }

    #[test]
    fn characters_that_xml_cannot_hold_are_escaped_as_in_excel() {
        assert_eq!(escaped("a\u{7}\r\n\tb"), "a_x0007__x000D_\n\tb");
        assert_eq!(escaped("_x0041_"), "_x005F_x0041_");
        assert_eq!(escaped("_x0041"), "_x0041");
        assert_eq!(escaped("_x00G1_"), "_x00G1_");
        assert_eq!(escaped("_x0041\u{7}"), "_x005F_x0041_x0007_");
        assert_eq!(escaped("_x00e\u{e9}_"), "_x00e\u{e9}_");
    }

    #[test]
    fn long_text_is_cut_by_utf16_units() {
        let fits = "a".repeat(LONGEST);
        assert_eq!(shortened(&fits), fits);
        let cut = shortened(&"a".repeat(LONGEST + 1)).into_owned();
        assert_eq!(
            (cut.len(), cut.ends_with("a…")),
            (LONGEST - 1 + '…'.len_utf8(), true)
        );
        let wide = shortened(&"😀".repeat(LONGEST)).into_owned();
        assert!(wide.encode_utf16().count() <= LONGEST && wide.ends_with("😀…"));
        let hangul = "한".repeat(LONGEST);
        assert_eq!(shortened(&hangul), hangul);
    }
}
