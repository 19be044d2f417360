//! How many rows a second a list is read and turned into quests.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use comail::quest::{Listing, ListingError, OtherCells, Row};
use comail::table::new_workbook::write_workbook;
use comail::table::results::{RowKind, TableRow};
use comail::table::{List, ReadError, ReadOptions};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The rows of the lists; few when it is only tried whether this runs.
fn rows() -> u32 {
    if std::env::args().any(|arg| arg == "--bench") {
        100_000
    } else {
        100
    }
}

fn cells(row: u32) -> [String; 3] {
    let name = format!("한빛상사 Trading {row}");
    [name, "Seoul".to_owned(), format!("02-{row}")]
}

fn write_csv(path: &Path, rows: u32) {
    let mut text = String::from("company,city,phone\n");
    for [name, city, phone] in (1..=rows).map(cells) {
        writeln!(text, "{name},{city},{phone}").expect("a text grows");
    }
    fs::write(path, text).expect("a file");
}

fn write_xlsx(path: &Path, rows: u32) {
    let header = ["company", "city", "phone"].map(str::to_owned);
    let all = std::iter::once((RowKind::Header, header))
        .chain((1..=rows).map(|row| (RowKind::Body, cells(row))));
    let mut table = (1..).zip(all).map(|(row, (kind, source))| TableRow {
        row,
        kind,
        source: source.into(),
        results: Vec::new(),
    });
    let file = File::create(path).expect("a file");
    let folder = path.parent().expect("a directory");
    write_workbook(file, folder, &mut |put| table.try_for_each(put)).expect("a workbook");
}

/// Why a list was not read to its end.
#[derive(Debug)]
#[expect(dead_code, reason = "shown when a bench panics")]
enum Ended {
    Read(ReadError),
    Listing(ListingError),
}

impl From<ReadError> for Ended {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

fn scan(path: &Path) -> Result<Listing, Ended> {
    let mut list = List::open(path, &ReadOptions::default())?;
    let column = list.column("company")?;
    let mut listing = Listing::default();
    list.rows(&[column], |row, cells| {
        let row = Row {
            number: row,
            key_parts: &[&cells[0]],
            ..Row::default()
        };
        let added = listing.add(row, OtherCells::default);
        added.map_err(Ended::Listing)
    })?;
    Ok(listing)
}

/// Reads the rows and does nothing with them.
fn read(path: &Path) -> Result<u32, ReadError> {
    let mut list = List::open(path, &ReadOptions::default())?;
    let column = list.column("company")?;
    let mut count = 0;
    list.rows(&[column], |_, _| {
        count += 1;
        Ok::<_, ReadError>(())
    })?;
    Ok(count)
}

fn reading(criterion: &mut Criterion) {
    by_format(criterion, "table/read", |path| {
        read(path).expect("a list");
    });
}

fn scanning(criterion: &mut Criterion) {
    by_format(criterion, "table/scan", |path| {
        scan(path).expect("a list");
    });
}

/// Runs `bench` for a list of each format.
fn by_format(criterion: &mut Criterion, name: &str, bench: impl Fn(&Path)) {
    let home = tempfile::tempdir().expect("a directory");
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group.throughput(Throughput::Elements(rows().into()));
    for (name, write) in [
        ("list.csv", write_csv as fn(&Path, u32)),
        ("list.xlsx", write_xlsx),
    ] {
        let path = home.path().join(name);
        write(&path, rows());
        group.bench_function(name, |bencher| {
            bencher.iter(|| bench(&path));
        });
    }
}

criterion_group!(benches, reading, scanning);
criterion_main!(benches);
