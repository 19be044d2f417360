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
fn lists_that_cannot_be_read() {
    let place = place();
    place.write("bad.jsonl", "{\"a\":1}\n{\"a\" 2}\n");
    let cases: [(&[&str], &str); 13] = [
        (&["no.xlsx", "--col", "A"], "no.xlsx|no such file"),
        (&["no.txt"], "no.txt|no such file"),
        (&["."], "directory"),
        (&["encrypted.xlsx", "--col", "A"], "encrypted|without"),
        (&["encrypted.ods"], "encrypted|password"),
        (&["empty.txt"], "the list has no rows"),
        (&["blank.txt"], "the list has no rows"),
        (&["headings.csv", "--col=A"], "no rows below its headings"),
        (&["nameless.csv", "--col=A"], "none of 2 rows|Company"),
        (&["binary.txt"], "neither a workbook nor text"),
        (&["fake.xlsx", "--col", "A"], "web page"),
        (&["torn.xlsx", "--col", "A"], "damaged"),
        (
            &["bad.jsonl", "--col=a"],
            "bad.jsonl: line 2, column 6: expected `:`",
        ),
    ];
    for (args, words) in cases {
        refused(&place, args, 1, words);
    }
}

#[test]
fn columns_and_sheets_that_are_not_there_are_answered_with_those_that_are() {
    let place = place();
    let columns = "A `Company`|B `Country`|C `Website`|D `Phone`";
    for column in ["Firma", "Z", "company", "", "1"] {
        refused(&place, &["companies.xlsx", "--col", column], 1, columns);
    }
    for flag in ["--show=Firma", "--site-col=Firma", "--key-cols=A,Firma"] {
        let key = if flag.starts_with("--key") {
            "--header=auto"
        } else {
            "--col=A"
        };
        refused(&place, &["companies.xlsx", key, flag], 1, columns);
    }
    refused(
        &place,
        &["openpyxl.xlsx", "--col=A", "--sheet=Suppliers"],
        1,
        "`Notes`|`업체 목록`|`옛 목록`",
    );
    refused(&place, &["twice.csv", "--col=Site"], 1, "B, C|letter");
    refused(&place, &["lines.txt", "--col=B"], 1, "there are A");
    refused(&place, &["lines.txt", "--sheet=X"], 1, "no sheets");
}

#[test]
fn a_column_that_was_not_named_is_asked_for_with_those_there_are() {
    let place = place();
    let columns = "--col|companies.xlsx|`Companies`|A `Company`|D `Phone`";
    refused(&place, &["companies.xlsx"], 2, columns);
    refused(&place, &["cp949.csv"], 2, "A `회사명`, B `홈페이지`");
    refused(
        &place,
        &["openpyxl.xlsx", "--sheet", "업체 목록"],
        2,
        "`업체 목록`|A `업체명`",
    );
}

#[test]
fn encodings_that_do_not_fit() {
    let place = place();
    let bogus = ["cp949.csv", "--col=A", "--encoding=klingon"];
    refused(&place, &bogus, 2, "klingon|euc-kr|shift_jis");
    let wrong = ["cp949.csv", "--col=A", "--encoding=utf-8"];
    refused(&place, &wrong, 1, "line 1 is not text in UTF-8");
    let workbook = ["companies.xlsx", "--col=A", "--encoding=utf-8"];
    refused(&place, &workbook, 1, "remove --encoding");
}

#[test]
fn a_message_says_a_thing_once() {
    let place = place();
    let run = place.run(["scan", "cp949.csv", "--col=A", "--encoding=klingon"]);
    assert_eq!(run.stderr.matches("is not an encoding").count(), 1);
    let run = place.run(["scan", "lines.txt", "--session", "no/such/place"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stderr.matches("No such file").count(),
        1,
        "{}",
        run.stderr
    );
}

#[test]
fn settings_that_could_never_work_are_not_frozen() {
    let place = place();
    place.write("ca.pem", "-----BEGIN CERTIFICATE-----\nnot base64\n");
    place.write("empty.pem", "");
    let cases: [(&str, i32, &str); 13] = [
        ("--proxy=socks5://127.0.0.1:1", 2, "--proxy http"),
        ("--user-agent=comail\nb", 2, "header"),
        ("--user-agent=AcmeBot/1.0", 2, "must contain comail"),
        ("--ca-cert=ca.pem", 2, "certificate"),
        ("--ca-cert=empty.pem", 2, "empty.pem"),
        ("--ca-cert=no.pem", 1, "no.pem"),
        ("--rate=0", 2, "--rate"),
        ("--rate=NaN", 2, "--rate"),
        ("--timeout=1000", 2, "--timeout"),
        ("--level=freemial=fail", 2, "freemail"),
        ("--level=freemail=off", 2, "switched off"),
        ("--level=no-result=review", 2, "cannot be changed"),
        ("--max-tries=0", 2, "--max-tries"),
    ];
    for (flag, code, word) in cases {
        refused(&place, &["lines.txt", flag], code, word);
    }
}

#[test]
fn flags_that_contradict_each_other() {
    let place = place();
    for args in [
        &["companies.xlsx", "--col=A", "--key-cols=A,B"][..],
        &["companies.xlsx", "--col=A", "--update", "--max-tries=5"],
        &["companies.xlsx", "--col=A", "--update", "--rate=2"],
        &["companies.xlsx", "--col=A", "--header=perhaps"],
        &[],
    ] {
        refused(&place, args, 2, "");
    }
    refused(
        &place,
        &["lines.txt", "--update"],
        1,
        "no session|comail scan",
    );
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
