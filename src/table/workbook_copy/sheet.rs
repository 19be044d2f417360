//! A sheet is read twice: once to find where its columns end ([`scan`]), once to copy every byte and
//! insert cells ([`insert`]).

use std::io::{BufRead, Write};

use quick_xml::events::{BytesStart, Event};

use super::package;
use super::package::{Token, Tokens, WorkbookError};
use crate::table::cell::{Area, CellReference, LAST_COLUMN, LAST_ROW, parse_row, write_cell};
use crate::table::results::{Cell, ExportError, ResultRow, RowError};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The last column in use, counted from 1; 0 for an empty sheet. Cells with a format and no value
    /// are not in use; merged areas from the header row on are.
    pub(super) last_column: u32,
    /// The last column to which the sheet gives a width, counted from 1.
    pub(super) last_width: u32,
    /// The format of the last heading that has one.
    pub(super) header_style: Option<u32>,
}

pub(super) fn scan(
    mut tokens: Tokens<impl BufRead>,
    header_row: Option<u32>,
) -> Result<Scan, WorkbookError> {
    let mut walk = Walk::new(tokens.part());
    let mut scan = Scan::default();
    let mut has_heading = false;
    let mut cell = CellUse::default();
    loop {
        let token = tokens.next()?;
        let mut ended = false;
        match walk.step(&token)? {
            Step::Cell { column, empty } => {
                cell = CellUse {
                    column,
                    style: style_of(token.raw).filter(|style| *style != NO_STYLE),
                    ..CellUse::default()
                };
                ended = empty;
            }
            Step::InCell => cell.see(&walk, &token),
            Step::CellEnd => ended = true,
            Step::Merged => scan.merge(token.raw, header_row),
            Step::Width => {
                let last = package::value(token.raw, "max").and_then(|max| max.parse().ok());
                scan.last_width = scan.last_width.max(last.unwrap_or(LAST_COLUMN));
            }
            Step::End => return Ok(scan),
            _ => {}
        }
        if !ended {
            continue;
        }
        if header_row == Some(walk.row) && (cell.used || !has_heading) {
            // Without any heading, the last empty cell counts.
            let before = scan.header_style.filter(|_| has_heading);
            scan.header_style = cell.style.or(before);
            has_heading |= cell.used;
        }
        if cell.used {
            scan.last_column = scan.last_column.max(cell.column);
        }
    }
}

/// The format of cells that name none.
const NO_STYLE: u32 = 0;

fn style_of(tag: &[u8]) -> Option<u32> {
    package::value(tag, "s")?.parse().ok()
}

#[derive(Debug, Default)]
struct CellUse {
    column: u32,
    style: Option<u32>,
    used: bool,
    in_value: bool,
}

impl CellUse {
    /// Notes whether there is more in the cell than an empty `v`.
    fn see(&mut self, walk: &Walk, token: &Token<'_>) {
        match &token.event {
            Event::Start(start) => {
                self.in_value = walk.is(start.name().into_inner(), "v");
                self.used |= !self.in_value;
            }
            Event::Empty(start) => self.used |= !walk.is(start.name().into_inner(), "v"),
            Event::End(_) => self.in_value = false,
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                self.used |= self.in_value || !token.raw.trim_ascii().is_empty();
            }
            _ => {}
        }
    }
}

impl Scan {
    /// A result within a merged area would not be visible. An area up to the last column does not
    /// count, because there is no room next to it.
    fn merge(&mut self, tag: &[u8], header_row: Option<u32>) {
        let Some(area) = package::value(tag, "ref").and_then(Area::parse) else {
            return;
        };
        if area.last.row >= header_row.unwrap_or(1) && area.last.column < LAST_COLUMN {
            self.last_column = self.last_column.max(area.last.column);
        }
    }
}

/// The meaning of an event in the sheet. A tag that is `empty` closes itself and has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Dimension,
    Width,
    WidthsEnd,
    Rows {
        empty: bool,
    },
    RowsEnd,
    /// The start of a row, counted from 1.
    Row {
        row: u32,
        empty: bool,
    },
    RowEnd,
    /// The start of a cell; its column is counted from 1.
    Cell {
        column: u32,
        empty: bool,
    },
    CellEnd,
    InCell,
    Merged,
    End,
    Other,
}

#[derive(Debug)]
pub(super) struct Walk {
    part: String,
    /// The prefix of the sheet's elements with its colon, or nothing.
    pub(super) prefix: String,
    depth: u32,
    inside: Inside,
    seen_rows: bool,
    row: u32,
    column: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Sheet,
    Rows,
    Row,
    Cell,
}

impl Walk {
    pub(super) fn new(part: &str) -> Self {
        Self {
            part: part.to_owned(),
            prefix: String::new(),
            depth: 0,
            inside: Inside::Sheet,
            seen_rows: false,
            row: 0,
            column: 0,
        }
    }

    /// Whether `name` is the sheet's own element `local`.
    fn is(&self, name: &str, local: &str) -> bool {
        name.strip_prefix(&self.prefix) == Some(local)
    }

    pub(super) fn step(&mut self, token: &Token<'_>) -> Result<Step, WorkbookError> {
        match &token.event {
            Event::Start(start) => {
                self.depth += 1;
                self.open(start, token.raw, self.depth, false)
            }
            Event::Empty(start) => self.open(start, token.raw, self.depth + 1, true),
            Event::End(end) => {
                let ends_widths = self.inside == Inside::Sheet
                    && self.depth == 2
                    && self.is(end.name().into_inner(), "cols");
                let step = if ends_widths {
                    Step::WidthsEnd
                } else {
                    self.close()
                };
                self.depth = self.depth.saturating_sub(1);
                Ok(step)
            }
            Event::Eof if self.depth > 0 => Err(self.malformed("ends too early")),
            Event::Eof if !self.seen_rows => Err(self.malformed("is not a worksheet")),
            Event::Eof => Ok(Step::End),
            _ if self.inside == Inside::Cell => Ok(Step::InCell),
            _ => Ok(Step::Other),
        }
    }

    fn open(
        &mut self,
        start: &BytesStart<'_>,
        tag: &[u8],
        depth: u32,
        empty: bool,
    ) -> Result<Step, WorkbookError> {
        let name = start.name().into_inner();
        if depth == 1 {
            let local = name.rfind(':').map_or(0, |colon| colon + 1);
            if &name[local..] != "worksheet" {
                return Err(self.malformed("is not a worksheet"));
            }
            name[..local].clone_into(&mut self.prefix);
            return Ok(Step::Other);
        }
        match (self.inside, depth) {
            (Inside::Cell, _) => Ok(Step::InCell),
            (Inside::Sheet, 2) if self.is(name, "sheetData") => self.open_rows(empty),
            (Inside::Sheet, 2) if self.is(name, "dimension") => Ok(Step::Dimension),
            (Inside::Sheet, 3) if self.is(name, "mergeCell") => Ok(Step::Merged),
            (Inside::Sheet, 3) if self.is(name, "col") => Ok(Step::Width),
            (Inside::Sheet, 2) if empty && self.is(name, "cols") => Ok(Step::Width),
            (Inside::Rows, 3) if self.is(name, "row") => self.open_row(tag, empty),
            (Inside::Row, 4) if self.is(name, "c") => self.open_cell(tag, empty),
            _ => Ok(Step::Other),
        }
    }

    fn open_rows(&mut self, empty: bool) -> Result<Step, WorkbookError> {
        if std::mem::replace(&mut self.seen_rows, true) {
            return Err(self.malformed("has two lists of rows"));
        }
        if !empty {
            self.inside = Inside::Rows;
        }
        Ok(Step::Rows { empty })
    }

    fn open_row(&mut self, tag: &[u8], empty: bool) -> Result<Step, WorkbookError> {
        let row = match package::value(tag, "r") {
            Some(number) => parse_row(number),
            None => Some(self.row + 1).filter(|row| *row <= LAST_ROW),
        };
        let Some(row) = row.filter(|row| *row > self.row) else {
            let last = self.row;
            return Err(self.malformed(&format!(
                "has a row out of order or bounds after row {last}"
            )));
        };
        self.row = row;
        self.column = 0;
        if !empty {
            self.inside = Inside::Row;
        }
        Ok(Step::Row { row, empty })
    }

    fn open_cell(&mut self, tag: &[u8], empty: bool) -> Result<Step, WorkbookError> {
        let row = self.row;
        let column = match package::value(tag, "r") {
            Some(reference) => CellReference::parse(reference)
                .filter(|place| place.row == row)
                .map(|place| place.column),
            None => Some(self.column + 1).filter(|column| *column <= LAST_COLUMN),
        };
        let Some(column) = column.filter(|column| *column > self.column) else {
            return Err(self.malformed(&format!("has a cell out of order or bounds in row {row}")));
        };
        self.column = column;
        if !empty {
            self.inside = Inside::Cell;
        }
        Ok(Step::Cell { column, empty })
    }

    fn close(&mut self) -> Step {
        match (self.inside, self.depth) {
            (Inside::Cell, 4) => {
                self.inside = Inside::Row;
                Step::CellEnd
            }
            (Inside::Cell, _) => Step::InCell,
            (Inside::Row, 3) => {
                self.inside = Inside::Rows;
                Step::RowEnd
            }
            (Inside::Rows, 2) => {
                self.inside = Inside::Sheet;
                Step::RowsEnd
            }
            _ => Step::Other,
        }
    }

    fn malformed(&self, what: &str) -> WorkbookError {
        WorkbookError::malformed(&self.part, what)
    }
}

/// Copies a sheet with the results in it.
pub(super) fn insert(
    mut tokens: Tokens<impl BufRead>,
    out: &mut dyn Write,
    results: Results<'_>,
) -> Result<(), ExportError> {
    let mut sheet = Sheet {
        out,
        walk: Walk::new(tokens.part()),
        results,
        gain: None,
        replacing: false,
    };
    loop {
        let token = tokens.next()?;
        let step = sheet.walk.step(&token)?;
        sheet.pass_on(step, token.raw)?;
        if step == Step::End {
            return Ok(());
        }
    }
}

struct Sheet<'o, 'r> {
    out: &'o mut dyn Write,
    walk: Walk,
    results: Results<'r>,
    gain: Option<Gain>,
    replacing: bool,
}

impl Sheet<'_, '_> {
    fn pass_on(&mut self, step: Step, raw: &[u8]) -> Result<(), ExportError> {
        match step {
            Step::Dimension => {
                return self.bytes(&widened_dimension(raw, self.results.last_column));
            }
            Step::WidthsEnd => self.widths()?,
            Step::Rows { empty } => {
                self.width_list()?;
                if empty {
                    return self.empty_rows(raw);
                }
            }
            Step::Row { row, empty } => return self.row(row, empty, raw),
            Step::Cell { column, empty } => return self.cell(column, empty, raw),
            Step::InCell if self.replacing => return Ok(()),
            Step::CellEnd if std::mem::take(&mut self.replacing) => return Ok(()),
            Step::RowEnd => self.gained_cells()?,
            Step::RowsEnd => self.rows_before(LAST_ROW + 1)?,
            _ => {}
        }
        self.bytes(raw)
    }

    /// Writes the widths of the result columns into the list of widths.
    fn widths(&mut self) -> Result<(), ExportError> {
        let widths = std::mem::take(&mut self.results.widths);
        for (column, width) in (self.results.first_column..).zip(widths) {
            let prefix = &self.walk.prefix;
            let tag = format!(
                "<{prefix}col min=\"{column}\" max=\"{column}\" width=\"{width}\" customWidth=\"1\"/>"
            );
            self.bytes(tag.as_bytes())?;
        }
        Ok(())
    }

    /// Writes a list of widths before the rows of a sheet that has none.
    fn width_list(&mut self) -> Result<(), ExportError> {
        if self.results.widths.is_empty() {
            return Ok(());
        }
        let start = format!("<{}cols>", self.walk.prefix);
        self.bytes(start.as_bytes())?;
        self.widths()?;
        self.close("cols")
    }

    fn empty_rows(&mut self, raw: &[u8]) -> Result<(), ExportError> {
        if self.results.due().is_none() {
            return self.bytes(raw);
        }
        self.bytes(&opened(raw))?;
        self.rows_before(LAST_ROW + 1)?;
        self.close("sheetData")
    }

    fn row(&mut self, row: u32, empty: bool, raw: &[u8]) -> Result<(), ExportError> {
        self.rows_before(row)?;
        self.gain = self.results.take(row)?;
        if self.gain.is_none() {
            return self.bytes(raw);
        }
        let tag = widened_spans(raw, self.results.last_column);
        if !empty {
            return self.bytes(&tag);
        }
        self.bytes(&opened(&tag))?;
        self.gained_cells()?;
        self.close("row")
    }

    fn cell(&mut self, column: u32, empty: bool, raw: &[u8]) -> Result<(), ExportError> {
        let (first, last) = (self.results.first_column, self.results.last_column);
        if column > last {
            self.gained_cells()?;
        }
        // The first reading found no value from the first result's column on.
        match &mut self.gain {
            Some(gain) if column >= first => {
                let own = &mut gain.styles[(column - first) as usize];
                *own = own.or(style_of(raw)).or(Some(NO_STYLE));
                self.replacing = !empty;
                Ok(())
            }
            _ => self.bytes(raw),
        }
    }

    fn gained_cells(&mut self) -> Result<(), ExportError> {
        let Some(gain) = self.gain.take() else {
            return Ok(());
        };
        let row = gain.row;
        for ((column, cell), style) in (self.results.first_column..)
            .zip(&gain.cells)
            .zip(gain.styles)
        {
            let place = CellReference { column, row };
            write_cell(self.out, &self.walk.prefix, place, style, cell)
                .map_err(ExportError::Write)?;
        }
        Ok(())
    }

    /// Writes the rows that are due before `row` and missing in the sheet.
    fn rows_before(&mut self, row: u32) -> Result<(), ExportError> {
        while let Some(due) = self.results.due().filter(|due| *due < row) {
            let start = format!("<{}row r=\"{due}\">", self.walk.prefix);
            self.bytes(start.as_bytes())?;
            self.gain = self.results.take(due)?;
            self.gained_cells()?;
            self.close("row")?;
        }
        Ok(())
    }

    fn close(&mut self, element: &str) -> Result<(), ExportError> {
        let end = format!("</{}{element}>", self.walk.prefix);
        self.bytes(end.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.out.write_all(bytes).map_err(ExportError::Write)
    }
}

fn opened(tag: &[u8]) -> Vec<u8> {
    let mut open = tag.strip_suffix(b"/>").unwrap_or(tag).to_vec();
    if open.len() < tag.len() {
        open.push(b'>');
    }
    open
}

/// The row's tag with `spans` up to the last column; unchanged if it cannot be read.
fn widened_spans(tag: &[u8], last: u32) -> Vec<u8> {
    replaced(tag, "spans", |spans| {
        let (before, end) = spans.rsplit_once(':')?;
        let end: u32 = end.parse().ok()?;
        Some(format!("{before}:{}", end.max(last)))
    })
}

/// The dimension's tag with an area up to the last column; unchanged if it cannot be read.
fn widened_dimension(tag: &[u8], last: u32) -> Vec<u8> {
    replaced(tag, "ref", |area| {
        let area = Area::parse(area)?;
        let end = CellReference {
            column: area.last.column.max(last),
            row: area.last.row,
        };
        Some(format!("{}:{end}", area.first))
    })
}

fn replaced(tag: &[u8], name: &str, change: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let changed = package::value(tag, name).and_then(change);
    match (package::value_range(tag, name), changed) {
        (Some(range), Some(value)) => {
            [&tag[..range.start], value.as_bytes(), &tag[range.end..]].concat()
        }
        _ => tag.to_vec(),
    }
}

/// The cells that one row gains, and the formats of the empty cells that they replace.
#[derive(Debug)]
struct Gain {
    row: u32,
    cells: Vec<Cell>,
    styles: Vec<Option<u32>>,
}

/// The result columns, and the headings and results that are still to be written.
pub(super) struct Results<'a> {
    /// Counted from 1, as `last_column` is.
    first_column: u32,
    last_column: u32,
    width: usize,
    /// The widths of the first columns, until they are written.
    widths: Vec<u16>,
    header: Option<Gain>,
    next: Option<Gain>,
    rows: &'a mut dyn Iterator<Item = Result<ResultRow, RowError>>,
    last_row: u32,
}

impl<'a> Results<'a> {
    pub(super) fn new(
        scan: &Scan,
        header_row: Option<u32>,
        headings: Vec<String>,
        rows: &'a mut dyn Iterator<Item = Result<ResultRow, RowError>>,
    ) -> Result<Self, ExportError> {
        let width = headings.len();
        let added = u32::try_from(width).unwrap_or(u32::MAX);
        let last_column = scan.last_column.saturating_add(added);
        if last_column > LAST_COLUMN {
            return Err(ExportError::TooLarge("more columns"));
        }
        let mut results = Self {
            first_column: scan.last_column + 1,
            last_column,
            width,
            widths: Vec::new(),
            header: header_row.map(|row| Gain {
                row,
                styles: vec![scan.header_style; width],
                cells: headings.into_iter().map(Cell::Text).collect(),
            }),
            next: None,
            rows,
            last_row: 0,
        };
        results.advance()?;
        Ok(results)
    }

    /// The same with these widths, unless the sheet itself sets the widths of the columns.
    pub(super) fn wide(mut self, scan: &Scan, widths: &[u16]) -> Self {
        if scan.last_width < self.first_column {
            self.widths = widths.to_vec();
        }
        self
    }

    /// The number of the row that gains cells next.
    fn due(&self) -> Option<u32> {
        let rows = [&self.header, &self.next];
        rows.into_iter().flatten().map(|gain| gain.row).min()
    }

    /// The cells that this row gains, if any. The header row has no results.
    fn take(&mut self, row: u32) -> Result<Option<Gain>, ExportError> {
        let header = self.header.take_if(|gain| gain.row == row);
        let result = self.next.take_if(|gain| gain.row == row);
        if header.is_some() && result.is_some() {
            return Err(ExportError::mismatch(row, "is out of order"));
        }
        if result.is_some() {
            self.advance()?;
        }
        Ok(header.or(result))
    }

    fn advance(&mut self) -> Result<(), ExportError> {
        let Some(next) = self.rows.next() else {
            return Ok(());
        };
        let ResultRow { row, cells } = next.map_err(ExportError::Rows)?;
        if row <= self.last_row {
            return Err(ExportError::mismatch(row, "is out of order"));
        }
        if row > LAST_ROW {
            return Err(ExportError::TooLarge("more rows"));
        }
        let (found, width) = (cells.len(), self.width);
        if found != width {
            let why = format!("has {found} results for {width} columns");
            return Err(ExportError::mismatch(row, why));
        }
        self.last_row = row;
        self.next = Some(Gain {
            row,
            cells,
            styles: vec![None; width],
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(rows: &str, header: Option<u32>) -> Result<Scan, WorkbookError> {
        let xml = format!(
            "<worksheet><sheetData>{rows}</sheetData><mergeCells><mergeCell ref=\"A1:F1\"/></mergeCells></worksheet>"
        );
        scan(Tokens::new("sheet", xml.as_bytes())?, header)
    }

    #[test]
    fn cells_with_only_a_format_do_not_count_as_used() {
        let rows = "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" s=\"1\"/><c r=\"C2\"><v/></c><c r=\"D2\"><v></v></c></row>";
        assert_eq!(scanned(rows, Some(2)).unwrap().last_column, 1);
        for used in ["<v>0</v>", "<f>A1</f>", "<f/>", "<is><t/></is>", "<v> </v>"] {
            let rows = format!("<row r=\"2\"><c r=\"G2\">{used}</c></row>");
            assert_eq!(scanned(&rows, Some(2)).unwrap().last_column, 7, "{used}");
        }
    }

    #[test]
    fn a_merged_title_above_the_header_does_not_count() {
        let rows = "<row><c><v>1</v></c></row>";
        assert_eq!(scanned(rows, Some(2)).unwrap().last_column, 1);
        assert_eq!(scanned(rows, Some(1)).unwrap().last_column, 6);
        assert_eq!(scanned(rows, None).unwrap().last_column, 6);
    }

    #[test]
    fn the_last_heading_with_a_style_gives_it() {
        for (header, style) in [
            (
                r#"<c s="4"><v>7</v></c><c s="5"><v>8</v></c><c s="9"/>"#,
                Some(5),
            ),
            // A heading without a style, or an empty column, does not end a styled row.
            (r#"<c s="4"><v>7</v></c><c><v>8</v></c>"#, Some(4)),
            (
                r#"<c s="4"><v>7</v></c><c s="0"/><c s="0"><v>8</v></c>"#,
                Some(4),
            ),
            (r#"<c><v>7</v></c><c s="9"/>"#, None),
            (r#"<c s="4"/><c s="9"/>"#, Some(9)),
        ] {
            let rows =
                format!(r#"<row r="1">{header}</row><row r="2"><c s="8"><v>1</v></c></row>"#);
            let found = |row| scanned(&rows, row).unwrap().header_style;
            assert_eq!(found(Some(1)), style, "{header}");
            assert_eq!(found(None), None, "{header}");
        }
    }

    #[test]
    fn rows_and_cells_out_of_order_or_bounds_are_errors() {
        for rows in [
            "<row r=\"2\"/><row r=\"2\"/>",
            "<row r=\"3\"/><row r=\"1\"/>",
            "<row r=\"0\"/>",
            "<row r=\"1048577\"/>",
            "<row r=\"1\"><c r=\"B1\"/><c r=\"A1\"/></row>",
            "<row r=\"1\"><c r=\"A2\"/></row>",
            "<row r=\"1\"><c r=\"XFE1\"/></row>",
            "</sheetData><sheetData>",
            "<row r=\"1048576\"/><row/>",
            "<row r=\"1\"><c r=\"XFD1\"/><c/></row>",
        ] {
            assert!(
                matches!(scanned(rows, None), Err(WorkbookError::Malformed(_))),
                "{rows}"
            );
        }
        for rows in ["<row></c>", "<row", "&x"] {
            assert!(scanned(rows, None).is_err(), "{rows}");
        }
    }
}
