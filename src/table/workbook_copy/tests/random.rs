//! Sheets of every legal shape: nothing is lost, and the results are where they belong.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::table::cell::column_letters;

/// How a sheet writes what it may write in several ways.
#[derive(Debug, Clone, Copy)]
struct Style {
    prefix: &'static str,
    row_numbers: bool,
    cell_references: bool,
    gap: &'static str,
}

fn style() -> impl Strategy<Value = Style> {
    let gap = prop::sample::select(vec!["", "\r\n  ", "<!-- <row r=\"1\"> -->", "\t"]);
    (any::<bool>(), any::<bool>(), any::<bool>(), gap).prop_map(
        |(prefixed, row_numbers, cell_references, gap)| Style {
            prefix: if prefixed { "x:" } else { "" },
            row_numbers,
            cell_references,
            gap,
        },
    )
}

/// Values by row and column, counted from 1; none is a cell that has a format alone.
type Values = BTreeMap<u32, BTreeMap<u32, Option<u32>>>;

/// Numbers stand only where the places before them are taken, if places are implied.
fn xml(style: Style, values: &Values) -> String {
    let Style { prefix: p, gap, .. } = style;
    let mut rows = String::new();
    let last_row = values.keys().last().copied().unwrap_or(0);
    for row in 1..=last_row {
        let cells = values.get(&row);
        if cells.is_none() && style.row_numbers {
            continue;
        }
        let number = if style.row_numbers {
            format!(" r=\"{row}\"")
        } else {
            String::new()
        };
        let last = cells
            .and_then(|cells| cells.keys().last().copied())
            .unwrap_or(0);
        if last == 0 {
            write!(rows, "<{p}row{number}/>{gap}").unwrap();
            continue;
        }
        write!(rows, "<{p}row{number}>{gap}").unwrap();
        for column in 1..=last {
            let value = cells.and_then(|cells| cells.get(&column));
            if value.is_none() && style.cell_references {
                continue;
            }
            let reference = if style.cell_references {
                format!(" r=\"{}{row}\"", column_letters(column))
            } else {
                String::new()
            };
            match value.copied().flatten() {
                Some(value) => {
                    write!(rows, "<{p}c{reference}><{p}v>{value}</{p}v></{p}c>{gap}").unwrap();
                }
                None => write!(rows, "<{p}c{reference} s=\"1\"/>{gap}").unwrap(),
            }
        }
        write!(rows, "</{p}row>{gap}").unwrap();
    }
    let namespace = if p.is_empty() { "xmlns" } else { "xmlns:x" };
    format!(
        "<{p}worksheet {namespace}=\"{MAIN}\">{gap}<{p}sheetData>{gap}{rows}</{p}sheetData></{p}worksheet>"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn another_reader_finds_every_cell(
        style in style(),
        values in prop::collection::btree_map(1..12_u32, prop::collection::btree_map(1..6_u32, prop::option::of(0..99_u32), 0..4), 0..8),
        rows in prop::collection::btree_set(1..16_u32, 0..8),
        header in prop::option::of(1..4_u32),
    ) {
        let rows: BTreeSet<u32> = rows.into_iter().filter(|row| Some(*row) != header).collect();
        let results: Vec<ResultRow> = rows.iter()
            .map(|&row| result(row, &[text(&format!("=r{row}")), Cell::Number(row.into())]))
            .collect();
        let source = Book::with_sheet(xml(style, &values)).zipped();
        let copy = copied(&source, header, &["mail", "tries"], &results).unwrap();
        let range = read_back(&copy);

        let used = |cells: &BTreeMap<u32, Option<u32>>| cells.iter().filter(|cell| cell.1.is_some()).map(|cell| *cell.0).max();
        let first = values.values().filter_map(used).max().unwrap_or(0) + 1;
        for row in 1..17 {
            for column in 1..first {
                let expected = values.get(&row).and_then(|cells| cells.get(&column).copied().flatten());
                let expected = expected.map_or(Data::Empty, |value| Data::Float(value.into()));
                prop_assert_eq!(at(&range, row, column), expected);
            }
            let (email, tries) = if rows.contains(&row) {
                (Data::String(format!("=r{row}")), Data::Float(row.into()))
            } else if header == Some(row) {
                (Data::String("mail".into()), Data::String("tries".into()))
            } else {
                (Data::Empty, Data::Empty)
            };
            prop_assert_eq!(at(&range, row, first), email);
            prop_assert_eq!(at(&range, row, first + 1), tries);
        }
    }

    #[test]
    fn without_results_the_sheet_stays_as_it_was(style in style(), values in prop::collection::btree_map(1..12_u32, prop::collection::btree_map(1..6_u32, prop::option::of(0..99_u32), 0..4), 0..8)) {
        let xml = xml(style, &values);
        prop_assert_eq!(copied_sheet(&xml, None, &[]), xml);
    }

    #[test]
    fn no_bytes_make_it_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut source = Book::with_sheet(sheet_of("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row>")).zipped();
        for (index, byte) in damage {
            let index = index.index(source.len());
            source[index] = byte;
        }
        let _refused_or_not = copied(&source, Some(1), &["email"], &[result(2, &[text("x")])]);
    }
}
