//! What coverage reports say, and which file of them is meant.

use proptest::prelude::*;

use super::*;

fn read(format: CoverageFormat, text: &str) -> Coverage {
    Coverage::read(format, text.as_bytes()).expect("a report")
}

fn missed(coverage: &Coverage, path: &str) -> String {
    let lines = coverage.file(path).expect("a file");
    let cover = lines.cover(&(1..=u32::MAX)).expect("executable lines");
    LineRuns(&cover.uncovered).to_string()
}

#[test]
fn reads_what_coverage_py_writes() {
    let lcov = Coverage::read(
        CoverageFormat::Lcov,
        include_bytes!("../samples/coverage.lcov"),
    );
    let cobertura = Coverage::read(
        CoverageFormat::Cobertura,
        include_bytes!("../samples/cobertura.xml"),
    );
    let lcov = lcov.expect("LCOV");
    assert_eq!(Ok(&lcov), cobertura.as_ref());
    let lines = lcov.file("src/shop.py").expect("its file");
    let cover = lines.cover(&(1..=7)).expect("executable lines");
    assert_eq!((cover.covered, cover.executable), (5, 7));
    assert_eq!(LineRuns(&cover.uncovered).to_string(), "3, 6");
    assert_eq!(lines.cover(&(8..=9)), None);
    let reversed = std::ops::RangeInclusive::new(9, 1);
    assert_eq!(lines.cover(&reversed), None);
    assert!(lines.cover(&(1..=2)).is_some_and(|cover| cover.is_whole()));
}

#[test]
fn hits_add_up_over_records_without_overflow() {
    let huge = "9".repeat(40);
    let text = format!(
        "SF:a\nDA:1,0\nDA:2,{huge}\nDA:3,-4\nend_of_record\nSF:a\nDA:1,2\nDA:2,{huge},sum\nDA:4294967295,0\nend_of_record\n"
    );
    let coverage = read(CoverageFormat::Lcov, &text);
    let lines = coverage.file("a").expect("a file");
    assert_eq!(
        [1, 2, 3].map(|line| lines.hits(line)),
        [Some(2), Some(u64::MAX), Some(0)]
    );
    assert_eq!(missed(&coverage, "a"), "3, 4294967295");
}

#[test]
fn damaged_reports_are_refused() {
    let said = |format, text: &str| {
        Coverage::read(format, text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(said(CoverageFormat::Lcov, ""), "no LCOV report in it");
    assert!(said(CoverageFormat::Lcov, "SF:a\nDA:1,1\n").contains("cut off"));
    assert!(said(CoverageFormat::Lcov, "DA:1,1\n").contains("line 1: a line outside of any file"));
    assert!(said(CoverageFormat::Lcov, "SF:a\nDA:4294967296,1\nend_of_record").contains("line 2"));
    assert!(said(CoverageFormat::Cobertura, "<coverage>").contains("cut off"));
    assert!(said(CoverageFormat::Cobertura, "<html/>").starts_with("no Cobertura"));
    assert!(said(CoverageFormat::Go, "a.go:1.1,2.2 1 1\n").starts_with("no Go"));
    assert!(
        said(CoverageFormat::Go, "mode: set\na.go:1.1,4294967295.2 1 1\n")
            .contains("too many lines")
    );
    assert!(said(CoverageFormat::Go, "mode: set\na.go:3.1,2.2 1 1\n").contains("line 2"));
}

#[test]
fn classes_of_one_file_add_up_and_methods_do_not() {
    let coverage = read(
        CoverageFormat::Cobertura,
        r#"<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
        <coverage><packages><package><classes>
        <class filename="A.java"><methods><method><lines><line number="1" hits="2"/></lines></method></methods>
        <lines><line number="1" hits="2"/><line number="2" hits="0"/></lines></class>
        <class filename="A.java"><lines><line number="1" hits="3"/></lines></class>
        </classes></package></packages></coverage>"#,
    );
    assert_eq!(
        coverage.file("src/A.java").map(|lines| lines.hits(1)),
        Ok(Some(5))
    );
    assert_eq!(missed(&coverage, "A.java"), "2");
}

#[test]
fn blocks_of_go_become_lines() {
    let coverage = read(
        CoverageFormat::Go,
        "mode: count\nexample.com/shop/a.go:3.20,4.15 2 5\nexample.com/shop/a.go:4.15,4.28 1 0\n\
         example.com/shop/a.go:6.2,8.3 3 0\nexample.com/shop/a.go:9.2,9.2 0 0\n\
         mode: count\nexample.com/shop/a.go:6.2,8.3 3 1\nexample.com/shop/b.go:1.1,1.9 1 0\n",
    );
    assert_eq!(missed(&coverage, "shop/a.go"), "4");
    assert_eq!(
        coverage.file("shop/a.go").map(|lines| lines.hits(9)),
        Ok(None)
    );
}

#[test]
fn files_are_found_by_whole_components() {
    let text = "SF:/elsewhere/src/a.py\nend_of_record\nSF:lib\\b.py\nend_of_record\nSF:x/c.py\nend_of_record\nSF:y/c.py\nend_of_record\n";
    let coverage = read(CoverageFormat::Lcov, text);
    assert!(coverage.file("src/a.py").is_ok());
    assert!(coverage.file("./src/a.py").is_ok());
    assert!(coverage.file("pkg/lib/b.py").is_ok());
    assert!(coverage.file("x/c.py").is_ok());
    let said = |path| coverage.file(path).unwrap_err().to_string();
    assert_eq!(
        said("c.py"),
        "the file can be each of these of the report: x/c.py, y/c.py"
    );
    assert_eq!(
        said("y/d.py"),
        "the report does not name the file; nearest to it: y/c.py, x/c.py"
    );
    assert!(said("rc/a.py").contains("does not name the file"));
    assert!(coverage.file("").is_err());
}

#[test]
fn lines_are_shown_as_runs() {
    let shown = |lines: &[u32]| LineRuns(lines).to_string();
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
        text in "(mode: set\n)?((SF:|DA:|a.go:|end_of_record|<coverage>|<class filename='a'>|<line number='|' hits='|'/>|[0-9,. ]{1,12})\n?){0,20}",
    ) {
        for format in [CoverageFormat::Lcov, CoverageFormat::Cobertura, CoverageFormat::Go] {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                if let Ok(coverage) = Coverage::read(format, bytes) {
                    for path in coverage.paths() {
                        prop_assert!(coverage.file(path).is_ok());
                    }
                }
            }
        }
    }
}
