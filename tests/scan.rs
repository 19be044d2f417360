//! `scan`: every format and the quests that it makes of it, what it refuses, and newer lists that join
//! a session.

use serde_json::{Value, json};

use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Place, Run};
use crate::sheets::{
    bring, cells, fixture, keys, names, on_a_full_disk, pass, quests, refused, rows, scan, texts,
    workbook, world, xml_row,
};

/// Scans a fixture in a place of its own.
#[track_caller]
fn scanned(name: &str, flags: &[&str]) -> (Place, Value) {
    let place = Place::new();
    let path = fixture(name).display().to_string();
    let (code, answer) = place.json([&["scan", &path], flags].concat());
    assert_eq!(code, 0, "{answer}");
    (place, answer)
}

/// Scans a list of these bytes in a place of its own.
#[track_caller]
fn scanned_bytes(name: &str, bytes: impl AsRef<[u8]>, flags: &[&str]) -> (Place, Value) {
    let place = Place::new();
    place.write(name, bytes);
    let (code, answer) = place.json([&["scan", name], flags].concat());
    assert_eq!(code, 0, "{answer}");
    (place, answer)
}

/// rows, quests, blanks, repeats.
fn counts(answer: &Value) -> [u64; 4] {
    ["rows", "quests", "blanks", "repeats"].map(|name| answer[name].as_u64().expect(name))
}

const SUPPLIERS: [&str; 5] = [
    "한빛식품 주식회사",
    "㈜대한정밀",
    "青山精機株式会社",
    "Bluefin Freight Inc.",
    "합계",
];

#[test]
fn one_workbook_is_the_same_list_in_every_format() {
    for name in [
        "openpyxl.xlsx",
        "libreoffice.xlsx",
        "libreoffice.ods",
        "libreoffice.xls",
    ] {
        let flags = ["--sheet", "업체 목록", "--col", "업체명"];
        let (place, answer) = scanned(name, &flags);
        assert_eq!(keys(&place), SUPPLIERS, "{name}");
        let expected: [&[u64]; 5] = [&[3, 5], &[4], &[6], &[8], &[9]];
        assert_eq!(rows(&place), expected, "{name}");
        assert_eq!(counts(&answer), [7, 5, 1, 1], "{name}");
        assert_eq!(answer["sheet"], "업체 목록");
        assert_eq!(answer["header_row"], 2);
        assert_eq!(answer["key"], json!(["업체명"]));
    }
}

#[test]
fn lines_need_no_column_and_blank_ones_are_counted() {
    let (place, answer) = scanned("lines.txt", &[]);
    assert_eq!(keys(&place), ["Acme Inc.", "한빛식품", "Beta GmbH"]);
    assert_eq!(rows(&place), [[1], [3], [4]]);
    assert_eq!(counts(&answer), [4, 3, 1, 0]);
    assert_eq!(answer["header_row"], Value::Null);
    assert_eq!(answer["sheet"], Value::Null);
}

#[test]
fn the_heading_row_is_found_or_said() {
    let bare = "Acme,Seoul\nBeta,Busan\n";
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (bare, &["--col", "A"], &["Acme", "Beta"]),
        (bare, &["--col", "A", "--header", "yes"], &["Beta"]),
        ("company,city\nAcme,x\n", &["--col", "company"], &["Acme"]),
        (
            "company,city\nAcme,x\n",
            &["--col", "A", "--header", "no"],
            &["company", "Acme"],
        ),
        (
            "Our suppliers,\nName,Web\nAcme,acme.com\n",
            &["--col", "Name"],
            &["Acme"],
        ),
    ];
    for (list, flags, expected) in cases {
        let (place, _) = scanned_bytes("list.csv", list, flags);
        assert_eq!(keys(&place), expected, "{list:?} {flags:?}");
    }
    let (place, answer) = scanned_bytes("list.txt", "Names\nAcme\n", &["--header", "yes"]);
    assert_eq!(keys(&place), ["Acme"]);
    assert_eq!(answer["key"], json!(["Names"]));
}

#[test]
fn a_key_of_several_columns() {
    let list = "company,no,city\nAcme,1,Seoul\nAcme,2,Busan\n,3,\nAcme,4,Seoul\nBeta,5,\n";
    let (place, answer) = scanned_bytes("list.csv", list, &["--key-cols", "A,city"]);
    assert_eq!(keys(&place), ["Acme / Seoul", "Acme / Busan", "Beta"]);
    assert_eq!(counts(&answer), [5, 3, 0, 1]);
    assert_eq!(answer["without_key"], 1);
    assert_eq!(answer["key"], json!(["company", "city"]));
}

#[test]
fn repeats_are_one_quest_unless_their_sites_differ() {
    let list = "company,site\nAcme,acme.com\nAcme,https://www.acme.com/\nＡcme ,\nAcme,acme.de\n,\n \
                ,x.com\n";
    let (place, answer) = scanned_bytes("list.csv", list, &["--col=A", "--site-col=site"]);
    assert_eq!(keys(&place), ["Acme", "Acme"]);
    let expected: [&[u64]; 2] = [&[2, 3, 4], &[5]];
    assert_eq!(rows(&place), expected);
    assert_eq!(quests(&place)[1]["anchor"], json!({"site": "acme.de"}));
    assert_eq!(counts(&answer), [6, 2, 1, 2]);
    assert_eq!(answer["without_key"], 1);
}

#[test]
fn the_first_sheet_that_is_shown_is_read_unless_another_is_named() {
    let (place, answer) = scanned("openpyxl.xlsx", &["--col", "A", "--header", "no"]);
    assert_eq!(answer["sheet"], "Notes");
    assert_eq!(keys(&place), ["Read the sheet 업체 목록"]);
    let hidden = ["--col", "A", "--sheet", "옛 목록", "--header=no"];
    assert_eq!(keys(&scanned("openpyxl.xlsx", &hidden).0), ["지난 업체"]);
}

#[test]
fn blank_rows_between_others_are_counted_and_cells_of_white_space_are_blank() {
    let place = Place::new();
    let sheet: String = [
        xml_row(3, &["Company", "City"]),
        xml_row(4, &["Acme", "Seoul"]),
        xml_row(8, &["", "Busan"]),
        xml_row(9, &[" \u{3000} ", "Busan"]),
        xml_row(10, &["Beta", ""]),
    ]
    .concat();
    workbook(&place.at("list.xlsx"), &sheet);
    let (_, answer) = place.json(["scan", "list.xlsx", "--col", "Company"]);
    assert_eq!(counts(&answer), [7, 2, 3, 0]);
    assert_eq!(answer["without_key"], 2);
    assert_eq!(rows(&place), [[4], [10]]);
}

#[test]
fn the_text_says_what_was_read_and_what_comes_next() {
    let place = Place::new();
    let path = fixture("companies.xlsx").display().to_string();
    let text = place
        .run(["scan", &path, "--col", "A", "--session", "my session"])
        .ok();
    let keys = "\"Hanbit Foods Co., Ltd.\", \"Northwind Tools GmbH\", \"Bluefin Freight Inc.\"";
    let expected = format!(
        "5 rows read from {path}, sheet `Companies`, headings in row 1\n\
         5 quests created; key: Company ({keys}, …)\n\
         wrong column? Remove my session and scan again with another --col\n\
         session my session; go on with `comail run --agent claude --session 'my session'`, or by \
         hand with `comail next --session 'my session'`\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn rows_that_make_no_quest_are_told_apart() {
    let place = Place::new();
    let long = "L".repeat(60);
    let list = format!("company,site\n{long},\n,\n,acme.co.kr\n,acme.de\n{long},\n");
    place.write("list.csv", list);
    let text = place.run(["scan", "list.csv", "--col=company"]).ok();
    let shown = format!("1 quest created; key: company (\"{}…\")\n", "L".repeat(40));
    let merged = format!(
        "\n1 row merged into an earlier row with the same company: row 6 into row 2 ({}…)\n",
        "L".repeat(40)
    );
    for line in [
        shown.as_str(),
        "\n2 rows with no company skipped\n",
        "\n1 empty row skipped\n",
        merged.as_str(),
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    // Plain lines have no other column.
    place.write("list.txt", "Acme\n");
    let text = place.run(["scan", "list.txt", "--session=lines"]).ok();
    assert!(text.contains("key: column A (\"Acme\")"), "{text}");
    assert!(!text.contains("wrong column"), "{text}");
}

#[test]
fn a_column_of_sites_without_any_is_refused() {
    let place = Place::new();
    let list = "no,company,site,blank\n1,Acme,acme.co.kr,\n2,Beta,-,\n";
    place.write("list.csv", list);
    let run = place.run(["scan", "list.csv", "--col=company", "--site-col=no"]);
    run.says("the column `no` names no website: the first value is \"1\"");
    run.says("leave --site-col out");
    run.exits(2);
    assert!(!place.at(".comail").exists());
    // Sites may come with a newer list.
    let blank = ["scan", "list.csv", "--col=company", "--site-col=blank"];
    let run = place.run([&blank[..], &["--session=blank"]].concat());
    run.says("the column `blank` is empty");
    run.ok();
    let scan = ["scan", "list.csv", "--col=company", "--site-col=site"];
    place.run(scan).ok();
}

#[test]
fn a_column_of_websites_that_was_not_named_is_noted() {
    let place = Place::new();
    let list = "company,mail,Web site\nBooking.com,a@acme.de,acme.de\nBeta,b@beta.de,-\n\
                Gamma,c@gamma.de,gamma.de\nDelta,d@delta.de,\n";
    place.write("list.csv", list);
    place.write("few.csv", "company,Web\nAcme,acme.de\nBeta,-\nGamma,none\n");
    let scan = |list, flags: &[&str]| {
        let run = place.run([&["scan", list, "--col=company"], flags].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run.stderr
    };
    let noted = scan("list.csv", &[]);
    let add = "`comail scan --update --site-col 'Web site'` adds it";
    assert!(noted.contains(add), "{noted}");
    let named = scan("list.csv", &["--session=named", "--site-col=Web site"]);
    let few = scan("few.csv", &["--session=few"]);
    assert!(
        !format!("{named}{few}").contains("holds websites"),
        "{named}{few}"
    );
}

#[test]
fn a_site_that_nothing_can_be_held_against_is_told() {
    let place = Place::new();
    let list = "company,site\nAcme,acme.co.kr\nBeta,ask them\nGamma,localhost\nDelta,\n";
    place.write("list.csv", list);
    let run = place.run(["scan", "list.csv", "--col=company", "--site-col=site"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr
            .contains("2 quests with a site that is not a valid domain")
            && run.stderr.contains("(Beta in row 3, Gamma in row 4)"),
        "{run:?}"
    );
}

const OBJECTS: &str = r#"{"company":"Acme Foods","size": 1.50,"tags":["a", "b"]}

{"company":"Bolt Toys","email":"old@bolt.kr"}
{"company":" ","size":3}
"#;

#[test]
fn each_object_of_json_lines_is_a_quest_and_keeps_what_it_holds() {
    let place = Place::new();
    place.write("list.jsonl", OBJECTS);
    let flags = ["--col=company", "--show=tags", "--set=scan.pause-after=0"];
    let scan = [&["scan", "list.jsonl"], &flags[..]].concat();
    let text = place.run(scan).ok();
    assert!(text.contains("headed by the keys"), "{text}");
    assert_eq!(keys(&place), ["Acme Foods", "Bolt Toys"]);
    let expected: [&[u64]; 2] = [&[1], &[3]];
    assert_eq!(rows(&place), expected);
    assert!(place.at(".comail/source.jsonl").is_file());
    let (code, answer) = place.json(["next"]);
    let shown = json!([{"label": "tags", "text": "[\"a\",\"b\"]"}]);
    assert_eq!((code, &answer["quest"]["shown"]), (0, &shown));
    let exported = |args: &[&str]| {
        let (_, answer) = place.json([&["export"], args].concat());
        let path = place.at(answer["path"].as_str().expect("a path"));
        std::fs::read_to_string(path).expect("an export")
    };
    let table = exported(&["--out=out.csv", "--columns=status"]);
    let table: Vec<&str> = table.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(
        table,
        [
            "company,size,tags,email,status",
            r#"Acme Foods,1.50,"[""a"",""b""]",,TODO"#,
            "Bolt Toys,,,old@bolt.kr,TODO",
            ",3,,,",
        ]
    );
    place.run(["export", "--out=out.xlsx"]).ok();
    let sheet = cells(&place.at("out.xlsx"), "comail");
    assert_eq!(texts(&sheet, 2, 1), ["company", "size"]);
    assert_eq!(texts(&sheet, 4, 1), ["Bolt Toys", ""]);
    assert_eq!(place.give_up(2), 5);
    let text = exported(&["--columns=email,status,tries"]);
    assert!(place.at("list.comail.jsonl").is_file());
    let first = r#"{"company":"Acme Foods","size":1.50,"tags":["a", "b"],"email (comail)":null,"status":"TODO","tries":0}"#;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, first));
    let second: Value = serde_json::from_str(lines[1]).expect("an object");
    assert_eq!(
        (&second["email"], &second["tries"]),
        (&json!("old@bolt.kr"), &json!(1))
    );
    let third: Value = serde_json::from_str(lines[2]).expect("an object");
    assert_eq!(third["status"], Value::Null);
}

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
    place.write("bad.json", "[{\"a\": 1}]\n");
    place.write("binary.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01");
    place.write("f.pdf", "%PDF-1.4\n1 0 obj\n");
    place.write("stream", b"x\x9c\x03\xe2\x02\x8f\nAcme\n");
    place.write("fake.xlsx", "<html>not a workbook</html>");
    place.write(
        "torn.xlsx",
        &std::fs::read(fixture("companies.xlsx")).expect("a fixture")[..3000],
    );
    place.write("twice.csv", "Company,Site,Site\nAcme,a.com,b.com\n");
    place
}

/// Exit code, command line, and words of the error.
const REFUSED: &str = r"1 no.xlsx --col A => no.xlsx|no such file
1 no.txt => no.txt|no such file
1 . => directory
2 encrypted.xlsx --col A => encrypted|without
2 encrypted.ods => encrypted|password
2 empty.txt => the list has no rows
2 blank.txt => the list has no rows
2 headings.csv --col=A => no rows below its headings
2 nameless.csv --col=A => none of 2 rows|Company
2 binary.txt => neither a workbook nor text
2 f.pdf => neither a workbook nor text
2 stream => neither a workbook nor text
2 fake.xlsx --col A => web page
2 torn.xlsx --col A => damaged
2 bad.json --col=a => save it as JSON Lines
2 bad.jsonl --col=a => bad.jsonl: line 2, column 6: expected `:`
# Columns and sheets that are not there are answered with those that are.
2 companies.xlsx --col Firma => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --col Z => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --col compny => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --col '' => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --col 1 => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --col=A --show=Firma => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --col=A --site-col=Firma => A `Company`|B `Country`|C `Website`|D `Phone`
2 companies.xlsx --key-cols=A,Firma => A `Company`|B `Country`|C `Website`|D `Phone`
2 openpyxl.xlsx --col=A --sheet=Suppliers => `Notes`|`업체 목록`|`옛 목록`
2 twice.csv --col=Site => B, C|letter
2 lines.txt --col=B => no column `B`|one key per line|leave --col out
2 lines.txt --sheet=X => no sheets
2 companies.xlsx => --col|companies.xlsx|`Companies`|A `Company`|D `Phone`
2 cp949.csv => A `회사명`, B `홈페이지`
2 openpyxl.xlsx --sheet '업체 목록' => `업체 목록`|A `업체명`
2 cp949.csv --col=A --encoding=klingon => klingon|euc-kr|shift_jis
2 cp949.csv --col=A --encoding=utf-8 => line 1 is not text in UTF-8
2 companies.xlsx --col=A --encoding=utf-8 => remove --encoding
# Settings that could never work are not frozen.
2 lines.txt --set=network.proxy=socks5://127.0.0.1:1 => network.proxy=http
2 lines.txt '--set=network.user-agent=comail\nb' => header
2 lines.txt --set=network.user-agent=AcmeBot/1.0 => must contain comail
2 lines.txt --set=network.ca-cert=ca.pem => certificate
2 lines.txt --set=network.ca-cert=empty.pem => empty.pem
1 lines.txt --set=network.ca-cert=no.pem => no.pem
2 lines.txt --set=network.rate=0 => --set network.rate: expected a number from 0.001 to 1000
2 lines.txt --set=network.rate=NaN => --set network.rate
2 lines.txt --set=network.timeout=1000 => --set network.timeout
2 lines.txt --set=gate.level=freemial=fail => freemail
2 lines.txt --set=gate.level=freemail=off => switched off
2 lines.txt --set=gate.level=no-result=review => cannot be changed
2 lines.txt --max-tries=0 => --max-tries
# Flags that contradict each other.
2 companies.xlsx --col=A --key-cols=A,B =>
2 companies.xlsx --col=A --update --max-tries=5 =>
2 companies.xlsx --col=A --update --set=network.rate=2 =>
2 companies.xlsx --col=A --header=perhaps =>
2 =>
1 lines.txt --update => no session|comail scan";

#[test]
fn lists_columns_and_flags_that_cannot_be_used() {
    let place = place();
    place.write("bad.jsonl", "{\"a\":1}\n{\"a\" 2}\n");
    place.write("ca.pem", "-----BEGIN CERTIFICATE-----\nnot base64\n");
    place.write("empty.pem", "");
    let cases = REFUSED.lines().filter(|case| !case.starts_with('#'));
    for case in cases {
        let (line, words) = case.split_once(" =>").expect(case);
        let (code, line) = line.split_once(' ').unwrap_or((line, ""));
        let args = shlex::split(&line.replace("\\n", "\n")).expect(case);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let code = code.parse().expect("an exit code");
        refused(&place, "scan", &args, code, words.trim());
    }
    for (line, code, once) in [
        (
            "cp949.csv --col=A --encoding=klingon",
            2,
            "is not an encoding",
        ),
        (
            "lines.txt --session no/such/place",
            1,
            "there is no directory no/such",
        ),
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
        refused(&place, "scan", &[list], 1, "never replaces|--update");
    }
    assert_eq!(place.ledger(), before);
    std::fs::create_dir(place.at("other")).unwrap();
    place.write("other/notes.txt", "mine");
    refused(
        &place,
        "scan",
        &["lines.txt", "--session=other"],
        1,
        "other",
    );
    place.write("file", "mine");
    refused(&place, "scan", &["lines.txt", "--session=file"], 1, "file");
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
    refused(&place, "scan", &["pipe"], 1, "not a regular file");
    refused(&place, "scan", &["/dev/null"], 1, "not a regular file");
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
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
        refused(&place, "scan", &["far.xlsx"], 2, "below row 1048576");
    }
}

/// A world with a list of three companies, of which the first has passed.
fn begun() -> EmailNet {
    let world = world();
    let rows: String = [
        xml_row(1, &["Company", "Site"]),
        xml_row(2, &["Acme Foods", "acme.co.kr"]),
        xml_row(3, &["Beta Steel", "beta.co.kr"]),
        xml_row(4, &["Gamma Optics", ""]),
    ]
    .concat();
    workbook(&world.place.at("list.xlsx"), &rows);
    scan(&world, &["list.xlsx", "--col=Company", "--site-col=Site"]);
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    world
}

/// Writes the newer list: a title above, Beta gone, Acme further down and twice, Gamma with a
/// site, another Acme, and a new company.
fn newer(world: &EmailNet) {
    let rows: String = [
        xml_row(1, &["Suppliers"]),
        xml_row(3, &["No", "Company", "Site"]),
        xml_row(4, &["1", "Delta Labs", "delta.co.kr"]),
        xml_row(5, &["2", "Acme Foods", "www.acme.co.kr"]),
        xml_row(6, &["3", "Gamma Optics", "gamma.co.kr"]),
        xml_row(8, &["4", "Acme Foods", "acme.de"]),
        xml_row(9, &["5", "Acme Foods", ""]),
    ]
    .concat();
    workbook(&world.place.at("list.xlsx"), &rows);
}

#[track_caller]
fn update(world: &EmailNet, args: &[&str]) -> Value {
    // A person confirms an update that leaves quests without a row.
    let args = [&["scan", "--json", "--update"], args].concat();
    let run = at_terminal(&world.place, &args, "update");
    assert_eq!(run.code, 0, "{run:?}");
    let document = run.stdout.find("{\"").expect("a document");
    serde_json::from_str(run.stdout[document..].trim_end()).expect("JSON")
}

#[test]
fn new_keys_join_and_what_was_proven_stays_also_in_the_export() {
    let world = begun();
    newer(&world);
    let answer = update(&world, &["list.xlsx"]);
    let counts = [
        "rows", "quests", "added", "gone", "known", "blanks", "repeats",
    ]
    .map(|name| answer[name].as_u64().unwrap());
    assert_eq!(counts, [6, 5, 2, 1, 2, 1, 1], "{answer}");
    assert_eq!(answer["updated"], true);
    let expected = [
        "Acme Foods",
        "Beta Steel",
        "Gamma Optics",
        "Delta Labs",
        "Acme Foods",
    ];
    assert_eq!(keys(&world.place), expected);
    assert_eq!(
        quests(&world.place)[4]["anchor"],
        json!({"site": "acme.de"})
    );
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["tally"]["pass"], 1);
    assert_eq!(status["tally"]["todo"], 4);
    // The export goes by the newer list.
    pass(&world, 4, "delta.co.kr", "Delta Labs");
    let run = world
        .place
        .run(["export", "--out=out.xlsx", "--columns=email,status"]);
    run.says("no longer has a row for them: 1 quest");
    run.ok();
    let out = cells(&world.place.at("out.xlsx"), "Companies");
    let acme = ["info@acme.co.kr", "PASS"];
    assert_eq!(texts(&out, 1, 4), ["", ""]);
    assert_eq!(texts(&out, 3, 4), ["email", "status"]);
    assert_eq!(texts(&out, 4, 4), ["info@delta.co.kr", "PASS"]);
    assert_eq!(texts(&out, 5, 4), acme);
    assert_eq!(texts(&out, 6, 4), ["", "TODO"]);
    assert_eq!(texts(&out, 8, 4), ["", "TODO"]);
    assert_eq!(texts(&out, 9, 4), acme);
}

#[test]
fn a_site_that_comes_late_is_not_passed_over_in_silence() {
    let world = begun();
    newer(&world);
    let run = at_terminal(&world.place, &["scan", "--update", "list.xlsx"], "update");
    let said: Vec<&str> = run.stdout.split_whitespace().collect();
    let said = said.join(" ");
    for words in [
        "now names a site for 1 quest scanned without a site",
        "2 new quests (\"Delta Labs\", \"Acme Foods\"); the session now has 5, 1 of them without a row in \
         this list",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn flags_of_the_update_take_the_place_of_the_first_ones() {
    let world = begun();
    world.place.write(
        "more.csv",
        "firm;web\nAcme Foods;acme.co.kr\nZeta Air;zeta.co.kr\n",
    );
    let run = world.place.run(["scan", "--update", "more.csv"]);
    assert_eq!(run.code, 2);
    run.says("A `firm`, B `web`");
    let flags = ["more.csv", "--col=firm", "--site-col=web", "--header=yes"];
    assert_eq!(update(&world, &flags)["added"], 1);
    world.place.run(["export"]).ok();
    let csv = std::fs::read_to_string(world.place.at("more.comail.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[1].starts_with("Acme Foods,acme.co.kr,info@acme.co.kr,PASS,"),
        "{csv}"
    );
    assert!(lines[2].starts_with("Zeta Air,zeta.co.kr,,TODO,"), "{csv}");
    // What was said last holds for the next one.
    assert_eq!(update(&world, &["more.csv"])["added"], 0);
}

#[test]
fn an_update_that_adds_nothing_still_renews_the_copy() {
    let world = begun();
    let before = world.place.ledger();
    let answer = update(&world, &["list.xlsx"]);
    assert_eq!(
        (answer["added"].as_u64(), answer["gone"].as_u64()),
        (Some(0), Some(0))
    );
    assert!(world.place.ledger().starts_with(&before));
    assert!(world.place.at(".comail/source-2.xlsx").exists());
    world.place.run(["export"]).ok();
}

#[test]
fn a_refused_update_changes_nothing() {
    let world = begun();
    world.place.write("bad.csv", "firm\nAcme\n");
    let session = world.place.at(".comail");
    let before = (world.place.ledger(), names(&session));
    for (args, code) in [
        (&["bad.csv"][..], 2),
        (&["no.csv"], 1),
        (&["list.xlsx", "--show=Nope"], 2),
    ] {
        let run = world.place.run([&["scan", "--update"], args].concat());
        assert_eq!(run.code, code, "{run:?}");
    }
    assert_eq!((world.place.ledger(), names(&session)), before);
}

#[test]
fn every_list_that_was_scanned_is_safe_from_the_export() {
    let world = begun();
    world
        .place
        .write("more.csv", "Company,Site\nZeta Air,zeta.co.kr\n");
    update(&world, &["more.csv"]);
    for list in ["list.xlsx", "more.csv"] {
        let run = world.place.run(["export", "--force", "--out", list]);
        assert_eq!(run.code, 1, "{run:?}");
        run.says("the source itself");
    }
}
