//! Reads workbooks with calamine: Office Open XML cell by cell, the other formats at once.
//!
//! In an `.xlsx` workbook a cell reads as the sheet shows it: numbers and dates in their number
//! formats, booleans as TRUE and FALSE, formulas by their cached value, rich text joined, without
//! phonetic runs. The top left one of merged cells has the text. An error value that calamine does
//! not know reads as blank. In an `.xls` or `.ods` workbook a cell reads as its value, because
//! calamine does not report its format: dates by ISO 8601, numbers as in the format General.

use std::fs::File;
use std::io;
use std::io::{BufReader, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::result;

use calamine::{
    CellErrorType, Data, DataRef, Ods, OdsError, Range, Reader, Sheet, SheetType, SheetVisible,
    Style, Xls, XlsError, Xlsx, XlsxError,
};
use ssfmt::{DateSystem, FormatOptions, NumberFormat};
use zip::ZipArchive;

use super::cell::{LAST_ROW, RowSink, near};
use super::error::{Fault, Result};
use super::source::open_regular;

/// An `.xlsx` or `.xlsm` workbook, with one sheet chosen.
pub(super) struct XlsxSheet {
    workbook: Xlsx<BufReader<File>>,
    pub(super) name: String,
}

impl XlsxSheet {
    pub(super) fn open(path: &Path, wanted: Option<&str>) -> Result<Self> {
        check_bounds(open_regular(path)?)?;
        let file = BufReader::new(open_regular(path)?);
        let workbook = guarded(|| Xlsx::new(file))?;
        let name = choose_sheet(wanted, &sheets(&workbook))?;
        Ok(Self { workbook, name })
    }

    pub(super) fn declared_width(&mut self) -> Result<u32> {
        let cells = guarded(|| self.workbook.worksheet_cells_reader(&self.name))?;
        Ok(cells.dimensions().end.1.saturating_add(1))
    }

    pub(super) fn read(&mut self, sink: &mut RowSink<'_>) -> Result<()> {
        let date_1904 = self.workbook.has_1904_epoch();
        let mut cells = guarded(|| self.workbook.worksheet_cells_reader(&self.name))?;
        let formats = NumberFormats::new(cells.styles(), date_1904);
        loop {
            let (cell, style) = match caught(|| cells.next_cell_with_style_id())? {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(()),
                Err(XlsxError::CellError(_)) => continue,
                Err(error) => return Err(calamine::Error::from(error).into()),
            };
            let (row, column) = cell.get_position();
            if row >= LAST_ROW {
                let why = format!("a cell is below row {LAST_ROW}, the last of a sheet");
                return Err(Fault::Damaged(why));
            }
            let value = cell.get_value();
            let is_blank = match value {
                DataRef::Empty => true,
                DataRef::String(text) => text.trim().is_empty(),
                DataRef::SharedString(text) => text.trim().is_empty(),
                _ => false,
            };
            if is_blank {
                continue;
            }
            sink.at_row(row + 1)?;
            if let Some(place) = sink.cell(column as usize) {
                formats.show(value, style, place);
            }
        }
    }
}

fn error_text(error: &CellErrorType) -> String {
    match error {
        CellErrorType::GettingData => "#GETTING_DATA".to_owned(),
        known => known.to_string(),
    }
}

/// One sheet of an `.xls` or `.ods` workbook, which calamine reads whole.
pub(super) struct HeldSheet {
    cells: Range<Data>,
    date_1904: bool,
    pub(super) name: String,
}

impl HeldSheet {
    pub(super) fn open_xls(path: &Path, wanted: Option<&str>) -> Result<Self> {
        // An encrypted Office Open XML workbook is wrapped in the container of the binary ones.
        let file = BufReader::new(open_regular(path)?);
        if let Err(XlsxError::Password) = caught(|| Xlsx::new(file))? {
            return Err(Fault::encrypted());
        }
        let file = BufReader::new(open_regular(path)?);
        let workbook = guarded(|| Xls::new(file))?;
        let date_1904 = workbook.has_1904_epoch();
        Self::read_sheet(wanted, workbook, date_1904)
    }

    pub(super) fn open_ods(path: &Path, wanted: Option<&str>) -> Result<Self> {
        let file = BufReader::new(open_regular(path)?);
        let workbook = guarded(|| Ods::new(file))?;
        Self::read_sheet(wanted, workbook, false)
    }

    fn read_sheet<W: Reader<BufReader<File>>>(
        wanted: Option<&str>,
        mut workbook: W,
        date_1904: bool,
    ) -> Result<Self>
    where
        calamine::Error: From<W::Error>,
    {
        let name = choose_sheet(wanted, &sheets(&workbook))?;
        Ok(Self {
            cells: guarded(|| workbook.worksheet_range(&name))?,
            date_1904,
            name,
        })
    }

    pub(super) fn read(&self, sink: &mut RowSink<'_>) -> Result<()> {
        let (first_row, first_column) = self.cells.start().unwrap_or_default();
        for (row, cells) in (first_row..).zip(self.cells.rows()) {
            sink.at_row(row.saturating_add(1))?;
            for (column, value) in (first_column..).zip(cells) {
                sink.put(column as usize, &self.text(value));
            }
        }
        Ok(())
    }

    fn text(&self, value: &Data) -> String {
        match value {
            Data::Empty => String::new(),
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
            Data::Float(value) => general(*value),
            Data::Int(value) => value.to_string(),
            Data::Bool(value) => value.to_string().to_uppercase(),
            Data::DateTime(moment) if moment.is_duration() => duration(moment.as_f64()),
            Data::DateTime(moment) => iso_date(moment.as_f64(), self.date_1904),
            Data::Error(error) => error_text(error),
        }
    }
}

/// Calls `read`, and turns its panic into an error.
///
/// calamine indexes the records of binary workbooks and computes cell references unchecked, so a
/// damaged file can make it panic.
fn caught<T>(read: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| Fault::damaged("its records contradict each other"))
}

/// The same for a `read` that can fail.
fn guarded<T, E>(read: impl FnOnce() -> result::Result<T, E>) -> Result<T>
where
    calamine::Error: From<E>,
{
    caught(read)?.map_err(|error| calamine::Error::from(error).into())
}

impl From<calamine::Error> for Fault {
    fn from(error: calamine::Error) -> Self {
        use calamine::Error::{Io, Ods, Xls, Xlsx};

        match error {
            Xlsx(XlsxError::Password) | Xls(XlsError::Password) | Ods(OdsError::Password) => {
                Self::encrypted()
            }
            Io(source)
            | Xlsx(XlsxError::Io(source))
            | Xls(XlsError::Io(source))
            | Ods(OdsError::Io(source)) => Self::Io(source),
            Ods(OdsError::CellLimitExceeded { max, .. }) => {
                Self::too_large("one of its sheets", max as u64)
            }
            other => Self::damaged(other),
        }
    }
}

fn sheets<R: io::Read + io::Seek, W: Reader<R>>(workbook: &W) -> Vec<Sheet> {
    let mut sheets = workbook.sheets_metadata().to_vec();
    sheets.retain(|sheet| sheet.typ == SheetType::WorkSheet);
    sheets
}

/// Chooses the sheet called `wanted`, or the first visible one, or the first.
fn choose_sheet(wanted: Option<&str>, sheets: &[Sheet]) -> Result<String> {
    let Some(name) = wanted else {
        let visible = |sheet: &&Sheet| sheet.visible == SheetVisible::Visible;
        let chosen = sheets.iter().find(visible).or_else(|| sheets.first());
        let chosen = chosen.ok_or_else(|| Fault::damaged("it has no sheet of cells"))?;
        return Ok(chosen.name.clone());
    };
    let trimmed = |sheet: &&Sheet| sheet.name.trim() == name.trim();
    let exact = sheets.iter().find(|sheet| sheet.name == name);
    if let Some(sheet) = exact.or_else(|| sheets.iter().find(trimmed)) {
        return Ok(sheet.name.clone());
    }
    let quoted = sheets.iter().map(|sheet| format!("`{}`", sheet.name));
    let quoted: Vec<String> = quoted.collect();
    let (known, near) = (quoted.join(", "), near(name, &quoted));
    Err(Fault::NoSuchSheet(format!(
        "there is no sheet `{name}`; there are {known}{near}"
    )))
}

/// The maximum unpacked size of a part that is kept in memory.
const MAX_HELD_BYTES: u64 = 1 << 30;

/// The maximum ratio of deflate (RFC 1951: 258 bytes for two bits).
const MAX_RATIO: u64 = 1032;

/// How many bytes of the shared strings are searched for their count.
const HEAD_BYTES: u64 = 4096;

/// Checks the workbook in `file` before any of it is kept in memory.
///
/// Sheets are streamed, but shared strings and styles are kept. A small file can unpack to terabytes
/// of these, and can claim any number of strings for which the reader allocates memory.
fn check_bounds(file: File) -> Result<()> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(Fault::damaged)?;
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).map_err(Fault::damaged)?;
        let name = String::from_utf8_lossy(part.name_raw()).to_ascii_lowercase();
        let is_strings = name.ends_with("sharedstrings.xml");
        let held = ["styles.xml", "workbook.xml", ".rels", "theme1.xml"];
        if !is_strings && !held.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        // The part cannot unpack to more, whatever size it claims.
        let most = part.compressed_size().saturating_mul(MAX_RATIO);
        let mut first_bytes = Vec::new();
        let mut prefix = (&mut part).take(HEAD_BYTES);
        prefix
            .read_to_end(&mut first_bytes)
            .map_err(Fault::damaged)?;
        if is_strings && claimed_strings(&first_bytes).is_some_and(|count| count > most) {
            let why = "it claims more shared strings than it can contain";
            return Err(Fault::damaged(why));
        }
        if most > MAX_HELD_BYTES {
            let mut rest = (&mut part).take(MAX_HELD_BYTES);
            let rest = io::copy(&mut rest, &mut io::sink()).map_err(Fault::damaged)?;
            if rest == MAX_HELD_BYTES {
                return Err(Fault::too_large(&format!("{name} in it"), MAX_HELD_BYTES));
            }
        }
    }
    Ok(())
}

fn claimed_strings(head: &[u8]) -> Option<u64> {
    let head = String::from_utf8_lossy(head);
    let (_, after) = head.split_once("uniqueCount=")?;
    let digits = after.chars().skip(1).take_while(char::is_ascii_digit);
    // A number with too many digits is more than any file can contain.
    Some(digits.fold(0_u64, |count, digit| {
        let digit = digit.to_digit(10).unwrap_or_default();
        count.saturating_mul(10).saturating_add(digit.into())
    }))
}

/// Integers below this are exact, and are shown with all their digits.
const EXACT: f64 = 1e15;

/// The number formats of a workbook's styles; none for General and for codes that cannot be read.
struct NumberFormats {
    styles: Vec<Option<NumberFormat>>,
    options: FormatOptions,
}

impl NumberFormats {
    fn new(styles: &[Style], date_1904: bool) -> Self {
        let compiled = styles.iter().map(|style| {
            let format = style.number_format.as_ref()?;
            compiled(format.format_id, &format.format_code)
        });
        Self {
            styles: compiled.collect(),
            options: options(date_1904),
        }
    }

    /// Appends `value` to `text` as a cell of `style` shows it.
    fn show(&self, value: &DataRef<'_>, style: usize, text: &mut String) {
        match value {
            DataRef::Empty => {}
            DataRef::SharedString(value) => text.push_str(value),
            DataRef::Float(number) => self.number(style, *number, text),
            DataRef::DateTime(moment) => self.number(style, moment.as_f64(), text),
            DataRef::Int(number) => text.push_str(&number.to_string()),
            DataRef::Bool(value) => text.push_str(&value.to_string().to_uppercase()),
            DataRef::String(value) | DataRef::DateTimeIso(value) | DataRef::DurationIso(value) => {
                text.push_str(value);
            }
            DataRef::Error(error) => text.push_str(&error_text(error)),
        }
    }

    fn number(&self, style: usize, value: f64, text: &mut String) {
        let format = self.styles.get(style).and_then(Option::as_ref);
        let shown = format.and_then(|format| format.try_format(value, &self.options).ok());
        match shown {
            Some(shown) => text.push_str(shown.trim()),
            None => text.push_str(&general(value)),
        }
    }
}

fn compiled(id: Option<u32>, code: &str) -> Option<NumberFormat> {
    let code = built_in(id, code);
    let is_general = code.eq_ignore_ascii_case("general") || code == "@" || code.is_empty();
    if is_general {
        return None;
    }
    NumberFormat::parse(code).ok()
}

/// The code of a built-in format that the file names only by its number.
///
/// ECMA-376 part 1, §18.8.30 leaves some formats to the reader's language. Here 14 and 22 are shown
/// as in English Excel, and dates with East Asian format numbers by ISO 8601.
fn built_in(id: Option<u32>, code: &str) -> &str {
    match (id, code) {
        (Some(14), "mm-dd-yy") => "m/d/yyyy",
        (Some(22), "m/d/yy h:mm") => "m/d/yyyy h:mm",
        (Some(5), "General") => "\"$\"#,##0_);(\"$\"#,##0)",
        (Some(6), "General") => "\"$\"#,##0_);[Red](\"$\"#,##0)",
        (Some(7), "General") => "\"$\"#,##0.00_);(\"$\"#,##0.00)",
        (Some(8), "General") => "\"$\"#,##0.00_);[Red](\"$\"#,##0.00)",
        (Some(32), "General") => "h:mm",
        (Some(33), "General") => "h:mm:ss",
        (Some(27..=31 | 34..=36 | 50..=58), "General") => "yyyy-mm-dd",
        _ => code,
    }
}

fn options(date_1904: bool) -> FormatOptions {
    FormatOptions {
        date_system: if date_1904 {
            DateSystem::Date1904
        } else {
            DateSystem::Date1900
        },
        ..FormatOptions::default()
    }
}

/// `value` in the format General.
///
/// As in Excel in a cell that is wide enough, with one difference: an integer of 12 to 15 digits keeps
/// all of them, as in the formula bar, because `1.23457E+12` identifies no company.
fn general(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < EXACT {
        // Adding zero turns -0 into 0.
        return format!("{:.0}", value + 0.0);
    }
    ssfmt::format_default(value, "General").unwrap_or_else(|_| value.to_string())
}

/// The serial number `value` as a date, a time of day or both by ISO 8601, for formats with unknown
/// codes.
fn iso_date(value: f64, date_1904: bool) -> String {
    let code = match (value.trunc() > 0.0, value.fract() > 0.0) {
        (true, false) => "yyyy-mm-dd",
        (true, true) => "yyyy-mm-dd hh:mm:ss",
        (false, _) => "hh:mm:ss",
    };
    shown_as(value, code, date_1904)
}

/// The serial number `value` as hours, minutes and seconds.
fn duration(value: f64) -> String {
    shown_as(value, "[h]:mm:ss", false)
}

fn shown_as(value: f64, code: &str, date_1904: bool) -> String {
    NumberFormat::parse(code)
        .ok()
        .and_then(|format| format.try_format(value, &options(date_1904)).ok())
        .unwrap_or_else(|| general(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_visible_sheet_is_read() {
        let sheet = |(name, visible): (&str, SheetVisible)| Sheet {
            name: name.to_owned(),
            typ: SheetType::WorkSheet,
            visible,
        };
        let (shown, hidden) = (SheetVisible::Visible, SheetVisible::Hidden);
        let sheets = [("Old", hidden), ("Companies", shown), ("Notes", shown)].map(sheet);
        let chosen = |wanted| choose_sheet(wanted, &sheets);
        assert_eq!(chosen(None).unwrap(), "Companies");
        assert_eq!(chosen(Some("Old")).unwrap(), "Old");
        assert_eq!(chosen(Some(" Notes")).unwrap(), "Notes");
        let error = chosen(Some("notes")).unwrap_err().to_string();
        assert!(error.contains("`Old`, `Companies`, `Notes`"), "{error}");
        let error = chosen(Some("Comapnies")).unwrap_err().to_string();
        assert!(error.ends_with("; did you mean `Companies`?"), "{error}");
        let error = chosen(Some("Fax")).unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn the_claimed_number_of_strings_is_read() {
        let claim = |text: &str| claimed_strings(text.as_bytes());
        assert_eq!(claim("<sst count=\"9\" uniqueCount=\"12\">"), Some(12));
        let endless = claim("<sst uniqueCount='99999999999999999999'>");
        assert_eq!(endless, Some(u64::MAX));
        assert_eq!(claim("<sst uniqueCount=\"\">"), Some(0));
        assert_eq!(claim("<sst>"), None);
    }

    fn shown(id: u32, code: &str, value: f64) -> String {
        let formats = NumberFormats {
            styles: vec![compiled(Some(id), code)],
            options: options(false),
        };
        let mut text = String::new();
        formats.number(0, value, &mut text);
        text
    }

    #[test]
    fn general_shows_what_excel_shows() {
        for (value, text) in [
            (123_456.0, "123456"),
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (1.0 / 3.0, "0.333333333"),
            (1_234_567_890_123.0, "1234567890123"),
            (-12.0, "-12"),
            (1e20, "1E+20"),
        ] {
            assert_eq!(general(value), text);
        }
    }

    #[test]
    fn codes_show_what_excel_shows() {
        for (id, code, value, text) in [
            (164, "#,##0", 1_234_567.0, "1,234,567"),
            (164, "000-00-00000", 1_234_567_890.0, "123-45-67890"),
            (164, "yyyy\"년\" m\"월\"", 45_356.0, "2024년 3월"),
            (164, "yyyy-mm-dd", 45_356.0, "2024-03-05"),
            (164, "0.0%", 0.125, "12.5%"),
            (164, "[h]:mm", 1.5, "36:00"),
            (14, "mm-dd-yy", 45_356.0, "3/5/2024"),
            (14, "dd.mm.yyyy", 45_356.0, "05.03.2024"),
            (31, "General", 45_356.0, "2024-03-05"),
            (49, "@", 7.0, "7"),
            (164, "_-* #,##0_-", 5.0, "5"),
        ] {
            assert_eq!(shown(id, code, value), text, "{code}");
        }
    }

    #[test]
    fn the_date_system_counts() {
        assert_eq!(iso_date(45_356.0, false), "2024-03-05");
        assert_eq!(iso_date(43_894.0, true), "2024-03-05");
        assert_eq!(iso_date(45_356.5, false), "2024-03-05 12:00:00");
        assert_eq!(iso_date(0.25, false), "06:00:00");
        assert_eq!(duration(1.25), "30:00:00");
    }

    proptest! {
        #[test]
        fn any_code_and_number_are_shown(
            code in "[#0?,.;%Eedmyhsg@*_\"\\[\\]$A/P +\\-가\\\\<>=1-9]{0,24}",
            value in any::<f64>(),
        ) {
            prop_assert!(shown(164, &code, value).len() < 5_000);
        }
    }
}
