//! What coverage reports say, and which file of them is meant.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Coverage {
    Coverage::read(text.as_bytes()).expect("a report")
}

fn missed(coverage: &Coverage, path: &str) -> String {
    let lines = coverage.file(path).expect("a file");
    line_runs(&lines.uncovered(&(1..=u32::MAX)).expect("executable lines"))
}

#[test]
fn reads_what_coverage_py_writes() {
    let lcov = Coverage::read(include_bytes!("../samples/coverage.lcov")).expect("LCOV");
    let lines = lcov.file("shop.py").expect("its file");
    assert_eq!(lines.uncovered(&(1..=7)), Some(vec![3, 6]));
    assert_eq!(lines.uncovered(&(1..=2)), Some(Vec::new()));
    assert_eq!(lines.uncovered(&(8..=9)), None);
    let reversed = std::ops::RangeInclusive::new(9, 1);
    assert_eq!(lines.uncovered(&reversed), None);
}

#[test]
fn a_line_that_ran_in_one_record_ran() {
    let huge = "9".repeat(40);
    let text = format!(
        "SF:a\nDA:1,0\nDA:2,{huge}\nDA:3,-4\nend_of_record\nSF:a\nDA:1,2\nDA:2,{huge},sum\nDA:4294967295,0\nend_of_record\n"
    );
    let coverage = read(&text);
    assert_eq!(missed(&coverage, "a"), "3, 4294967295");
}

#[test]
fn damaged_reports_are_refused() {
    let said = |text: &str| Coverage::read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(said(""), "no LCOV report in it");
    assert!(said("SF:a\nDA:1,1\n").contains("cut off"));
    assert!(said("DA:1,1\n").contains("line 1: a line outside of any file"));
    assert!(said("SF:a\nDA:4294967296,1\nend_of_record").contains("line 2"));
}

#[test]
fn lines_are_shown_as_runs() {
    let shown = line_runs;
    assert_eq!(shown(&[41, 44, 70]), "41, 44, 70");
    assert_eq!(shown(&[41, 42, 43, 44, 70, 71]), "41-44, 70-71");
    assert_eq!(shown(&[u32::MAX]), "4294967295");
    assert_eq!(shown(&[]), "");
    let many: Vec<u32> = (0..100).map(|number| number * 2).collect();
    assert!(
        shown(&many).ends_with("38, and 80 more"),
        "{}",
        shown(&many)
    );
}

proptest! {
    #[test]
    fn reports_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "((SF:|DA:|end_of_record|[0-9,. ]{1,12})\n?){0,20}",
    ) {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            if let Ok(coverage) = Coverage::read(bytes) {
                for path in coverage.paths() {
                    prop_assert!(coverage.file(path).is_some());
                }
            }
        }
    }
}
