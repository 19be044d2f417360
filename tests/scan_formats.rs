//! `scan` reads every format: which quests it makes, and what it says of the list.

use serde_json::{Value, json};

use crate::harness::Place;
use crate::sheets::{cells, fixture, keys, quests, rows, texts, workbook, xml_row};

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
    assert_eq!(counts(&answer), [5, 3, 1, 1]);
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
    assert_eq!(counts(&answer), [6, 2, 2, 2]);
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
    assert_eq!(counts(&answer), [7, 2, 5, 0]);
    assert_eq!(rows(&place), [[4], [10]]);
}

#[test]
fn the_text_says_what_was_read_and_what_comes_next() {
    let place = Place::new();
    let path = fixture("companies.xlsx").display().to_string();
    let text = place
        .run(["scan", &path, "--col", "A", "--session", "my session"])
        .ok();
    let expected = format!(
        "5 rows read from {path}, sheet `Companies`, headings in row 1\n\
         5 quests created, keyed by Company\n\
         0 blank rows skipped, 0 repeats merged\n\
         session my session; go on with: comail next --session 'my session'\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn a_site_that_nothing_can_be_held_against_is_told() {
    let place = Place::new();
    let list = "company,site\nAcme,acme.co.kr\nBeta,ask them\nGamma,localhost\nDelta,\n";
    place.write("list.csv", list);
    let run = place.run(["scan", "list.csv", "--col=company", "--site-col=site"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("2 quests with a site") && run.stderr.contains("Beta in row 3"),
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
    let flags = ["--col=company", "--show=tags", "--pause-after=0"];
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
    let table = exported(&["out.csv", "--columns=status"]);
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
    place.run(["export", "out.xlsx"]).ok();
    let sheet = cells(&place.at("out.xlsx"), "comail");
    assert_eq!(texts(&sheet, 1, 1), ["company", "size"]);
    assert_eq!(texts(&sheet, 3, 1), ["Bolt Toys", ""]);
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
