//! What `scan` refuses: a clear error, and no half-made session.

use crate::harness::{Place, Run};
use crate::sheets::{bring, fixture, names, workbook, xml_row};

/// A place with lists that nothing can be made of, or something.
fn place() -> Place {
    let place = Place::new();
    for name in ["companies.xlsx", "encrypted.xlsx", "encrypted.ods"] {
        bring(&place, name);
    }
    bring(&place, "openpyxl.xlsx");
    bring(&place, "cp949.csv");
    place.write("empty.txt", "");
    place.write("blank.txt", "\n \n\r\n");
    place.write("headings.csv", "Company,Site\n");
    place.write("nameless.csv", "Company,Site\n ,acme.com\n,beta.com\n");
    place.write("lines.txt", "Acme\nBeta\n");
    place.write("binary.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01");
    place.write("fake.xlsx", "<html>not a workbook</html>");
    place.write(
        "torn.xlsx",
        &std::fs::read(fixture("companies.xlsx")).expect("a fixture")[..3000],
    );
    place.write("twice.csv", "Company,Site,Site\nAcme,a.com,b.com\n");
    place
}

/// Scans and expects this exit code, these words (separated by bars) on stderr, and nothing new on
/// disk.
#[track_caller]
fn refused(place: &Place, args: &[&str], code: i32, words: &str) {
    let before = names(place.path());
    let run = place.run([&["scan"], args].concat());
    assert_eq!(run.code, code, "{args:?}: {run:?}");
    assert_eq!(run.stdout, "");
    for word in words.split('|') {
        assert!(
            run.stderr.contains(word),
            "{args:?}: {word:?} in {}",
            run.stderr
        );
    }
    assert_eq!(names(place.path()), before, "{args:?}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn lists_columns_and_flags_that_cannot_be_used() {
    let place = place();
    place.write("bad.jsonl", "{\"a\":1}\n{\"a\" 2}\n");
    place.write("ca.pem", "-----BEGIN CERTIFICATE-----\nnot base64\n");
    place.write("empty.pem", "");
    let columns = "A `Company`|B `Country`|C `Website`|D `Phone`";
    let asked = "--col|companies.xlsx|`Companies`|A `Company`|D `Phone`";
    let cases: [(&str, i32, &str); 50] = [
        ("no.xlsx --col A", 1, "no.xlsx|no such file"),
        ("no.txt", 1, "no.txt|no such file"),
        (".", 1, "directory"),
        ("encrypted.xlsx --col A", 1, "encrypted|without"),
        ("encrypted.ods", 1, "encrypted|password"),
        ("empty.txt", 1, "the list has no rows"),
        ("blank.txt", 1, "the list has no rows"),
        ("headings.csv --col=A", 1, "no rows below its headings"),
        ("nameless.csv --col=A", 1, "none of 2 rows|Company"),
        ("binary.txt", 1, "neither a workbook nor text"),
        ("fake.xlsx --col A", 1, "web page"),
        ("torn.xlsx --col A", 1, "damaged"),
        (
            "bad.jsonl --col=a",
            1,
            "bad.jsonl: line 2, column 6: expected `:`",
        ),
        // Columns and sheets that are not there are answered with those that are.
        ("companies.xlsx --col Firma", 1, columns),
        ("companies.xlsx --col Z", 1, columns),
        ("companies.xlsx --col company", 1, columns),
        ("companies.xlsx --col ''", 1, columns),
        ("companies.xlsx --col 1", 1, columns),
        ("companies.xlsx --col=A --show=Firma", 1, columns),
        ("companies.xlsx --col=A --site-col=Firma", 1, columns),
        ("companies.xlsx --key-cols=A,Firma", 1, columns),
        (
            "openpyxl.xlsx --col=A --sheet=Suppliers",
            1,
            "`Notes`|`업체 목록`|`옛 목록`",
        ),
        ("twice.csv --col=Site", 1, "B, C|letter"),
        ("lines.txt --col=B", 1, "there are A"),
        ("lines.txt --sheet=X", 1, "no sheets"),
        ("companies.xlsx", 2, asked),
        ("cp949.csv", 2, "A `회사명`, B `홈페이지`"),
        (
            "openpyxl.xlsx --sheet '업체 목록'",
            2,
            "`업체 목록`|A `업체명`",
        ),
        (
            "cp949.csv --col=A --encoding=klingon",
            2,
            "klingon|euc-kr|shift_jis",
        ),
        (
            "cp949.csv --col=A --encoding=utf-8",
            1,
            "line 1 is not text in UTF-8",
        ),
        (
            "companies.xlsx --col=A --encoding=utf-8",
            1,
            "remove --encoding",
        ),
        // Settings that could never work are not frozen.
        ("lines.txt --proxy=socks5://127.0.0.1:1", 2, "--proxy http"),
        ("lines.txt '--user-agent=comail\nb'", 2, "header"),
        (
            "lines.txt --user-agent=AcmeBot/1.0",
            2,
            "must contain comail",
        ),
        ("lines.txt --ca-cert=ca.pem", 2, "certificate"),
        ("lines.txt --ca-cert=empty.pem", 2, "empty.pem"),
        ("lines.txt --ca-cert=no.pem", 1, "no.pem"),
        ("lines.txt --rate=0", 2, "--rate"),
        ("lines.txt --rate=NaN", 2, "--rate"),
        ("lines.txt --timeout=1000", 2, "--timeout"),
        ("lines.txt --level=freemial=fail", 2, "freemail"),
        ("lines.txt --level=freemail=off", 2, "switched off"),
        ("lines.txt --level=no-result=review", 2, "cannot be changed"),
        ("lines.txt --max-tries=0", 2, "--max-tries"),
        // Flags that contradict each other.
        ("companies.xlsx --col=A --key-cols=A,B", 2, ""),
        ("companies.xlsx --col=A --update --max-tries=5", 2, ""),
        ("companies.xlsx --col=A --update --rate=2", 2, ""),
        ("companies.xlsx --col=A --header=perhaps", 2, ""),
        ("", 2, ""),
        ("lines.txt --update", 1, "no session|comail scan"),
    ];
    for (line, code, words) in cases {
        let args = shlex::split(line).expect("words");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(&place, &args, code, words);
    }
    for (line, code, once) in [
        (
            "cp949.csv --col=A --encoding=klingon",
            2,
            "is not an encoding",
        ),
        ("lines.txt --session no/such/place", 1, "No such file"),
    ] {
        let run = place.run(["scan"].into_iter().chain(line.split(' ')));
        assert_eq!(run.stderr.matches(once).count(), 1, "{run:?}");
        run.exits(code);
    }
}

#[test]
fn a_session_is_never_replaced_and_the_list_is_not_even_looked_at() {
    let place = place();
    place.run(["scan", "lines.txt"]).ok();
    let before = place.ledger();
    for list in ["lines.txt", "companies.xlsx", "no-such-list.txt"] {
        refused(&place, &[list], 1, "never replaced|--update");
    }
    assert_eq!(place.ledger(), before);
    std::fs::create_dir(place.at("other")).unwrap();
    place.write("other/notes.txt", "mine");
    refused(&place, &["lines.txt", "--session=other"], 1, "other");
    place.write("file", "mine");
    refused(&place, &["lines.txt", "--session=file"], 1, "file");
    // An empty directory becomes the session.
    std::fs::create_dir(place.at("mine")).unwrap();
    place.run(["scan", "lines.txt", "--session", "mine"]).ok();
    assert!(place.at("mine/session.json").exists());
}

#[test]
fn a_pipe_is_refused_before_it_is_waited_for() {
    let place = place();
    let made = std::process::Command::new("mkfifo")
        .arg(place.at("pipe"))
        .status();
    assert!(made.unwrap().success());
    refused(&place, &["pipe"], 1, "not a regular file");
    refused(&place, &["/dev/null"], 1, "not a regular file");
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    use crate::sheets::on_a_full_disk;
    let place = Place::new();
    let list: Vec<String> = (0..3000)
        .map(|number| format!("Company {number}"))
        .collect();
    place.write("list.txt", list.join("\n"));
    // The copy of the list is too large for the disk, then the ledger is.
    for kib in [8, 64] {
        let run: Run = on_a_full_disk(&place, kib, "scan list.txt");
        assert_eq!(run.code, 1, "{run:?}");
        run.says("cannot");
        assert_eq!(names(place.path()), ["list.txt"]);
    }
    place.run(["scan", "list.txt"]).ok();
}

#[test]
fn a_cell_below_the_last_row_of_any_sheet_is_refused() {
    let place = Place::new();
    for last in [1_048_577, u32::MAX] {
        let rows = [1, 2, last].map(|row| xml_row(row, &["company"]));
        workbook(&place.at("far.xlsx"), &rows.concat());
        refused(&place, &["far.xlsx"], 1, "below row 1048576");
    }
}
