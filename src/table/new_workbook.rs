//! New workbooks of one sheet: the results next to the values of a list, or a form.
//!
//! Text stays text and never becomes a formula, not even when its cell is opened for editing. The rows
//! are kept in a temporary file, so memory does not grow with them.

use std::borrow::Cow;
use std::cell::{Cell as Flag, RefCell};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Once;
use std::{io, panic};

use rust_xlsxwriter::{
    DataValidation, DataValidationErrorStyle, Format, FormatAlign, FormatUnderline, Workbook,
    Worksheet, XlsxError,
};
use unicode_width::UnicodeWidthStr;
use url::Url;

use super::cell::{LAST_ROW, needs_code, shortened, starts_formula};
use super::results::{Cell, ExportError, RowKind, Rows};

/// The longest address that Excel opens, and the most of them on a sheet.
const MAX_LINK_UNITS: usize = 2_079;
const MAX_LINKS: usize = 65_530;

const TOO_WIDE: ExportError = ExportError::TooLarge("more rows or columns");

/// The minimum and maximum width of a column, and the width of the filter's button in it.
const MIN_WIDTH: u16 = 8;
const MAX_WIDTH: u16 = 60;
const WIDTH_OF_BUTTON: u16 = 3;

const MAX_FROZEN: u32 = 10;

/// `rust_xlsxwriter` treats an address with one of these as already escaped.
const MARKS_OF_ESCAPED: [&str; 3] = ["%20", "%22", "%25"];

/// Writes the rows, one below the other without gaps. Temporary files go to `folder`.
///
/// The heading row stays visible and filters the rows below it. Columns are as wide as their texts,
/// and web addresses among the results are links.
pub fn write_workbook(
    out: impl Write + Send,
    folder: &Path,
    rows: Rows<'_>,
) -> Result<(), ExportError> {
    write_sheet(out, folder, "comail", |sheet| {
        let styles = FormStyles::new();
        let title = Format::new().set_bold();
        let (mut written, mut header, mut links) = (0, None, 0);
        let mut widths = Vec::new();
        rows(&mut |row| {
            let own = row.source.len();
            let cells = row.source.into_iter().map(Cell::Text).chain(row.results);
            for (at, cell) in cells.enumerate() {
                let column = u16::try_from(at).map_err(|_| TOO_WIDE)?;
                if row.kind == RowKind::Title {
                    put(sheet, written, column, &cell, &title)?;
                    continue;
                }
                widths.resize(widths.len().max(at + 1), 0);
                widths[at] = widths[at].max(width(&cell));
                if row.kind == RowKind::Header {
                    put(sheet, written, column, &cell, &styles.heading)?;
                } else {
                    let cell = if at < own {
                        FormCell::Value(cell)
                    } else {
                        result(cell)
                    };
                    put_form_cell(sheet, written, column, &cell, &styles, &mut links)?;
                }
            }
            if row.kind == RowKind::Header {
                header = Some(written);
            }
            written += 1;
            Ok(())
        })?;
        arrange(sheet, header, written, &widths).map_err(refused)
    })
}

/// A result as a cell; a web address becomes a link.
fn result(cell: Cell) -> FormCell {
    match cell {
        Cell::Text(text) => FormCell::Link(text),
        number @ Cell::Number(_) => FormCell::Value(number),
    }
}

/// The width of the cell's longest line, in digits of the default font.
fn width(cell: &Cell) -> usize {
    match cell {
        Cell::Text(text) => text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0),
        Cell::Number(number) => number.to_string().len(),
    }
}

/// Sets the widths of the columns, and freezes and filters by the heading row.
fn arrange(
    sheet: &mut Worksheet,
    header: Option<u32>,
    rows: u32,
    widths: &[usize],
) -> Result<(), XlsxError> {
    for (column, width) in (0..).zip(widths) {
        let width = u16::try_from(*width).unwrap_or(u16::MAX);
        let width = width.saturating_add(WIDTH_OF_BUTTON);
        sheet.set_column_width(column, width.clamp(MIN_WIDTH, MAX_WIDTH))?;
    }
    let last = u16::try_from(widths.len()).unwrap_or(u16::MAX);
    if let Some(header) = header {
        sheet.autofilter(header, 0, rows.saturating_sub(1), last.saturating_sub(1))?;
        // More frozen rows would leave no room to scroll on a small screen.
        if header < MAX_FROZEN {
            sheet.set_freeze_panes(header + 1, 0)?;
        }
    }
    Ok(())
}

/// Writes a form. Temporary files go to `folder`.
///
/// The heading row stays visible, and columns of choices offer their words.
pub fn write_form(out: impl Write + Send, folder: &Path, form: &Form) -> Result<(), ExportError> {
    let last = u32::try_from(form.rows.len()).unwrap_or(u32::MAX);
    if last >= LAST_ROW {
        return Err(ExportError::TooLarge("more rows"));
    }
    write_sheet(out, folder, form.sheet, |sheet| {
        let styles = FormStyles::new();
        sheet.set_freeze_panes(1, 0).map_err(refused)?;
        for (number, column) in (0..).zip(&form.columns) {
            sheet
                .set_column_width(number, column.width)
                .map_err(refused)?;
            match column.role {
                ColumnRole::Hidden => {
                    sheet.set_column_hidden(number).map_err(refused)?;
                }
                ColumnRole::Choice(words) if last > 0 => {
                    let choices = choices(words).map_err(refused)?;
                    sheet
                        .add_data_validation(1, number, last, number, &choices)
                        .map_err(refused)?;
                }
                ColumnRole::Free | ColumnRole::Choice(_) => {}
            }
            let heading = Cell::Text(column.heading.clone());
            put(sheet, 0, number, &heading, &styles.heading)?;
        }
        let mut links = 0;
        for (row, cells) in (1..).zip(&form.rows) {
            for (column, cell) in (0..).zip(cells) {
                put_form_cell(sheet, row, column, cell, &styles, &mut links)?;
            }
        }
        Ok(())
    })
}

struct FormStyles {
    heading: Format,
    value: Format,
    link: Format,
}

impl FormStyles {
    fn new() -> Self {
        let value = Format::new().set_align(FormatAlign::Top).set_text_wrap();
        Self {
            heading: value.clone().set_bold(),
            link: value
                .clone()
                .set_font_color(0x05_63C1)
                .set_underline(FormatUnderline::Single),
            value,
        }
    }
}

fn choices(words: &[&str]) -> Result<DataValidation, XlsxError> {
    DataValidation::new()
        .allow_list_strings(words)?
        .set_error_style(DataValidationErrorStyle::Stop)
        .set_error_message("Choose a word of the list, or leave the cell empty.")
}

fn put_form_cell(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    cell: &FormCell,
    styles: &FormStyles,
    links: &mut usize,
) -> Result<(), ExportError> {
    match cell {
        FormCell::Link(address) if *links < MAX_LINKS && opens_as_written(address) => {
            *links += 1;
            sheet
                .write_url_with_format(row, column, address.as_str(), &styles.link)
                .map_err(refused)?;
            Ok(())
        }
        FormCell::Link(address) => {
            let text = Cell::Text(address.clone());
            put(sheet, row, column, &text, &styles.value)
        }
        FormCell::Value(value) => put(sheet, row, column, value, &styles.value),
    }
}

/// Whether a click on this address opens exactly what the cell shows.
///
/// Only web addresses of limited length become links. An address that a browser would change, such as
/// one with a non-ASCII host, stays text. So does one that `rust_xlsxwriter` would escape a second
/// time, because the link would lead elsewhere.
fn opens_as_written(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let opened = url.as_str();
    let is_same = opened == text || opened.strip_suffix('/') == Some(text);
    let (link, _) = text.split_once('#').unwrap_or((text, ""));
    let as_written = MARKS_OF_ESCAPED.iter().any(|mark| link.contains(mark))
        || !link.contains(['%', '"', '<', '>', '[', ']', '^', '`', '{', '}']);
    let is_web = matches!(url.scheme(), "http" | "https");
    is_same && is_web && text.len() <= MAX_LINK_UNITS && as_written
}

fn put(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    cell: &Cell,
    style: &Format,
) -> Result<(), ExportError> {
    let written = match cell {
        Cell::Text(text) if text.is_empty() => return Ok(()),
        Cell::Text(text) => {
            let text = shortened(text);
            let quoted = starts_formula(&text).then(|| style.clone().set_quote_prefix());
            let style = quoted.as_ref().unwrap_or(style);
            sheet.write_string_with_format(row, column, unambiguous(&text), style)
        }
        Cell::Number(number) => {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            let number = *number as f64;
            sheet.write_number_with_format(row, column, number, style)
        }
    };
    written.map(drop).map_err(refused)
}

/// The text without control characters where it also has `_x`.
///
/// A control character is written as `_xHHHH_`. After `_x0041` its first character would complete
/// `_x0041_`, which every reader takes for `A`.
pub fn unambiguous(text: &str) -> Cow<'_, str> {
    if text.contains("_x") && text.contains(needs_code) {
        Cow::Owned(text.replace(needs_code, " "))
    } else {
        Cow::Borrowed(text)
    }
}

fn write_sheet(
    out: impl Write + Send,
    folder: &Path,
    name: &str,
    fill: impl FnOnce(&mut Worksheet) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let write = || {
        let mut workbook = Workbook::new();
        workbook.set_tempdir(folder).map_err(refused)?;
        let sheet = workbook
            .add_worksheet_with_constant_memory()
            .map_err(refused)?;
        sheet.set_name(name).map_err(refused)?;
        fill(sheet)?;
        workbook.save_to_writer(out).map_err(refused)
    };
    caught(write).unwrap_or_else(|source| {
        Err(ExportError::Temporary {
            folder: folder.to_path_buf(),
            source,
        })
    })
}

fn refused(error: XlsxError) -> ExportError {
    match error {
        XlsxError::TempFileError(folder, source) => ExportError::Temporary { folder, source },
        XlsxError::IoError(source) | XlsxError::ZipError(zip::result::ZipError::Io(source)) => {
            ExportError::Write(source)
        }
        XlsxError::RowColumnLimitError => ExportError::TooLarge("more rows or columns"),
        other => ExportError::Write(io::Error::other(other)),
    }
}

thread_local! {
    static WATCHED: Flag<bool> = const { Flag::new(false) };
    static PANICKED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Calls `write`. A panic inside `rust_xlsxwriter` becomes an error.
///
/// It panics if its temporary file cannot be written, for example on a full disk.
fn caught<T>(write: impl FnOnce() -> T) -> io::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            let place = why.location().map_or("", |place| place.file());
            if WATCHED.get() && place.contains("rust_xlsxwriter") {
                let text = why.payload().downcast_ref::<String>();
                PANICKED.set(Some(text.cloned().unwrap_or_default()));
            } else {
                usual(why);
            }
        }));
    });
    WATCHED.set(true);
    let written = catch_unwind(AssertUnwindSafe(write));
    WATCHED.set(false);
    written.or_else(|panic| match PANICKED.take() {
        Some(text) => Err(io::Error::other(text)),
        None => resume_unwind(panic),
    })
}

/// A sheet for people to fill in; each row has a cell for every column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub sheet: &'static str,
    pub columns: Vec<FormColumn>,
    pub rows: Vec<Vec<FormCell>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormColumn {
    pub heading: String,
    /// In digits of the default font.
    pub width: u8,
    pub role: ColumnRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// Read-only or free text.
    Free,
    /// One of these words, or empty.
    Choice(&'static [&'static str]),
    Hidden,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormCell {
    Value(Cell),
    /// A text that becomes a link if it is a web address.
    Link(String),
}

impl FormCell {
    /// A cell with this text; an empty text gives an empty cell.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Value(Cell::Text(text.into()))
    }

    pub fn number(number: impl Into<u64>) -> Self {
        Self::Value(Cell::Number(number.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use calamine::{Data, Reader as _, Xlsx};
    use proptest::prelude::*;
    use zip::ZipArchive;

    use super::*;
    use crate::table::results::TableRow;

    fn row(kind: RowKind, source: &[String], results: Vec<Cell>) -> TableRow {
        TableRow {
            row: 1,
            kind,
            source: source.to_vec(),
            results,
        }
    }

    fn column(heading: &str, role: ColumnRole) -> FormColumn {
        FormColumn {
            heading: heading.to_owned(),
            width: 12,
            role,
        }
    }

    fn form(rows: Vec<Vec<FormCell>>) -> Form {
        let columns = vec![
            column("key", ColumnRole::Free),
            column("page", ColumnRole::Free),
            column("decision", ColumnRole::Choice(&["accept", "reject"])),
            column("session", ColumnRole::Hidden),
        ];
        Form {
            sheet: "review",
            columns,
            rows,
        }
    }

    fn workbook(rows: &[TableRow]) -> Result<Vec<u8>, ExportError> {
        let mut out = Vec::new();
        let folder = std::env::temp_dir();
        write_workbook(&mut out, &folder, &mut |put| {
            rows.iter().cloned().try_for_each(put)
        })?;
        Ok(out)
    }

    fn written(form: &Form) -> Result<Vec<u8>, ExportError> {
        let mut out = Vec::new();
        write_form(&mut out, &std::env::temp_dir(), form)?;
        Ok(out)
    }

    fn part(workbook: &[u8], name: &str) -> String {
        let mut package = ZipArchive::new(Cursor::new(workbook)).unwrap();
        let mut text = String::new();
        let mut part = package.by_name(name).unwrap();
        part.read_to_string(&mut text).unwrap();
        text
    }

    fn cells(workbook: Vec<u8>) -> Vec<Vec<Data>> {
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(workbook)).unwrap();
        let sheet = book.sheet_names().remove(0);
        let formulas = book.worksheet_formula(&sheet).unwrap();
        assert_eq!(formulas.used_cells().count(), 0);
        let range = book.worksheet_range(&sheet).unwrap();
        range.rows().map(<[Data]>::to_vec).collect()
    }

    fn link(text: &str) -> FormCell {
        FormCell::Link(text.to_owned())
    }

    #[test]
    fn results_are_text_and_numbers_for_another_reader() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let formula = "=cmd|' /C calc'!A0".to_owned();
        let result = vec![text("https://acme.com"), Cell::Number(3)];
        let headings = vec![text("email"), text("tries")];
        let rows = workbook(&[
            row(RowKind::Header, &["company".to_owned()], headings),
            row(RowKind::Body, &[formula], result),
        ])
        .unwrap();
        assert_eq!(
            format!("{:?}", cells(rows)),
            "[[String(\"company\"), String(\"email\"), String(\"tries\")], \
             [String(\"=cmd|' /C calc'!A0\"), String(\"https://acme.com\"), Float(3.0)]]"
        );
        assert!(cells(workbook(&[]).unwrap()).is_empty());
    }

    #[test]
    fn a_sheet_of_results_can_be_read_filtered_and_clicked() {
        let texts = |texts: &[&str]| -> Vec<String> {
            texts.iter().map(|text| (*text).to_owned()).collect()
        };
        let text = |text: &str| Cell::Text(text.to_owned());
        let site = "https://acme.com/about";
        let rows = workbook(&[
            row(
                RowKind::Title,
                &texts(&["A title that is longer than any cell below it"]),
                vec![],
            ),
            row(
                RowKind::Header,
                &texts(&["company", "한글"]),
                vec![text("site")],
            ),
            row(
                RowKind::Body,
                &texts(&["Acme", "https://list.kr"]),
                vec![text(site)],
            ),
            row(
                RowKind::Body,
                &texts(&["=1+1", "가나다라마바사"]),
                vec![text(&"x ".repeat(99))],
            ),
        ]);
        let rows = rows.unwrap();
        let sheet = part(&rows, "xl/worksheets/sheet1.xml");
        for expected in [
            "<pane ySplit=\"2\" topLeftCell=\"A3\" activePane=\"bottomLeft\" state=\"frozen\"/>",
            "<autoFilter ref=\"A2:C4\"/>",
            "<col min=\"1\" max=\"1\" width=\"10.7109375\"",
            "<col min=\"2\" max=\"2\" width=\"18.7109375\"",
            "<col min=\"3\" max=\"3\" width=\"60.7109375\"",
            "<hyperlink ref=\"C3\"",
        ] {
            assert!(sheet.contains(expected), "{expected} in {sheet}");
        }
        assert_eq!(sheet.matches("<hyperlink ").count(), 1, "{sheet}");
        assert!(part(&rows, "xl/worksheets/_rels/sheet1.xml.rels").contains(site));
        let bare = workbook(&[row(RowKind::Body, &texts(&["Acme"]), vec![])]).unwrap();
        let bare = part(&bare, "xl/worksheets/sheet1.xml");
        assert!(
            !bare.contains("autoFilter") && !bare.contains("<pane"),
            "{bare}"
        );
    }

    #[test]
    fn more_rows_or_columns_than_a_sheet_holds_are_refused() {
        let wide = vec![String::new(); 16_384];
        let refused = workbook(&[row(RowKind::Body, &wide, vec![Cell::Number(1)])]);
        assert!(matches!(refused, Err(ExportError::TooLarge(_))));
        let wide = Form {
            sheet: "review",
            columns: vec![column("a", ColumnRole::Free); 16_385],
            rows: Vec::new(),
        };
        let refused = written(&wide);
        assert!(matches!(refused, Err(ExportError::TooLarge(_))));
        let refused = written(&form(vec![Vec::new(); 1_048_576]));
        assert!(matches!(refused, Err(ExportError::TooLarge(_))));
    }

    #[test]
    fn a_missing_folder_is_an_error_and_our_own_panics_pass() {
        let folder = std::env::temp_dir().join("no-such-folder-of-comail");
        let refused = write_workbook(Vec::new(), &folder, &mut |_| Ok(())).unwrap_err();
        let expected = "no-such-folder-of-comail";
        assert!(refused.to_string().contains(expected), "{refused}");
        let ours = catch_unwind(|| caught(|| -> () { panic!("another reason") }));
        assert!(ours.is_err());
    }

    #[test]
    fn formulas_are_written_as_quoted_text() {
        let evil = "=HYPERLINK(\"http://evil.kr\",\"here\")";
        let workbook = written(&form(vec![vec![
            FormCell::text(evil),
            FormCell::text("plain"),
            FormCell::number(3_u32),
        ]]))
        .unwrap();
        let styles = part(&workbook, "xl/styles.xml");
        let (_, formats) = styles.split_once("<cellXfs").unwrap();
        let quoted = formats.split("<xf ").skip(1);
        let quoted = quoted.take_while(|format| !format.contains("quotePrefix=\"1\""));
        let expected = format!("<c r=\"A2\" s=\"{}\" t=\"inlineStr\">", quoted.count());
        let sheet = part(&workbook, "xl/worksheets/sheet1.xml");
        assert!(sheet.contains(&expected), "{expected} in {sheet}");
        assert!(!sheet.contains("<f>"), "{sheet}");
        let rows = cells(workbook);
        assert_eq!(rows[1][0], Data::String(evil.to_owned()));
        assert_eq!(rows[1][2], Data::Float(3.0));
    }

    #[test]
    fn no_cell_becomes_a_formula_when_it_is_edited() {
        let quoted = |kind, text: &str, results: Vec<Cell>| {
            let workbook = workbook(&[row(kind, &[text.to_owned()], results)]).unwrap();
            part(&workbook, "xl/styles.xml").contains("quotePrefix=\"1\"")
        };
        let result = |text: &str| vec![Cell::Text(text.to_owned())];
        for text in ["=1+1", "+1", "-x", "@a", "＝1", "＋1", "－1", "＠a", " =1"] {
            for kind in [RowKind::Title, RowKind::Header, RowKind::Body] {
                assert!(quoted(kind, text, Vec::new()), "{kind:?} {text}");
                assert!(quoted(kind, "plain", result(text)), "{kind:?} {text}");
                assert!(!quoted(kind, "a=1", result("https://acme.com/?a=1")));
            }
        }
    }

    #[test]
    fn links_open_exactly_what_they_show_or_stay_text() {
        let opened = "https://acme.co.kr/a%20b?a=%B0%A1&b=%2F#at";
        let texts = [
            "javascript:alert(1)",
            "https://acme.co.kr/%EC%97%B0%EB%9D%BD",
            "https://[::1]/",
        ];
        let mut rows = vec![vec![FormCell::text("a"), link(opened)]];
        rows.extend(texts.map(|text| vec![FormCell::text("b"), link(text)]));
        let workbook = written(&form(rows)).unwrap();
        let targets = part(&workbook, "xl/worksheets/_rels/sheet1.xml.rels");
        let expected = "Target=\"https://acme.co.kr/a%20b?a=%B0%A1&amp;b=%2F\"";
        assert!(targets.contains(expected), "{targets}");
        assert_eq!(targets.matches("Target=").count(), 1, "{targets}");
        let sheet = part(&workbook, "xl/worksheets/sheet1.xml");
        assert!(sheet.contains("location=\"at\""), "{sheet}");
        let shown = cells(workbook);
        for (row, text) in shown[1..].iter().zip([opened].iter().chain(&texts)) {
            assert_eq!(row[1], Data::String((*text).to_owned()));
        }
        for opened in ["https://acme.co.kr/a?b#c", "http://acme.co.kr"] {
            assert!(opens_as_written(opened), "{opened}");
        }
        for other in [
            "HTTP://acme.co.kr",
            "https://аcme.co.kr/",
            "https://acme.co.kr/a/../b",
            "see https://acme.co.kr",
            "file:///etc/passwd",
            "mailto:a@b.kr",
            "ftp://a.kr",
            "https://a.kr/?a=^",
        ] {
            assert!(!opens_as_written(other), "{other}");
        }
        let long = "a".repeat(MAX_LINK_UNITS);
        assert!(!opens_as_written(&format!("https://a.kr/{long}")));
    }

    #[test]
    fn headings_are_frozen_and_choices_are_offered() {
        let rows = vec![vec![FormCell::text("a")], vec![FormCell::text("b")]];
        let sheet = part(&written(&form(rows)).unwrap(), "xl/worksheets/sheet1.xml");
        for expected in [
            "<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>",
            "min=\"4\" max=\"4\"",
            "hidden=\"1\"",
            "sqref=\"C2:C3\"><formula1>\"accept,reject\"</formula1>",
        ] {
            assert!(sheet.contains(expected), "{expected} in {sheet}");
        }
        let empty = written(&form(Vec::new())).unwrap();
        let empty = part(&empty, "xl/worksheets/sheet1.xml");
        assert!(!empty.contains("dataValidation"), "{empty}");
    }

    proptest! {
        #[test]
        fn every_text_comes_back(
            escapes in prop::collection::vec("(_x|[0-9A-Fa-f]{4}_|\\PC|[&<>\"'=]){1,12}", 1..3),
            controls in prop::collection::vec("(\\PC|[\\x00-\\x1F\u{FFFE}\u{FFFF}]){1,12}", 1..3),
        ) {
            let texts = [escapes, controls].concat();
            let rows = cells(workbook(&[row(RowKind::Body, &texts, vec![])]).unwrap());
            for (found, text) in rows[0].iter().zip(texts) {
                let expected = if text.contains("_x") { unambiguous(&text).into_owned() } else { text };
                prop_assert_eq!(found, &Data::String(expected));
            }
        }
    }
}
