//! `export` into new files: what other formats gain, and that no text can run as a formula.

use calamine::Data;
use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::sheets::{bring, cells, formulas, keys, parts, pass, scan, text, texts, world};

fn listed(name: &str, bytes: impl AsRef<[u8]>, flags: &[&str]) -> EmailNet {
    let world = world();
    world.place.write(name, bytes);
    scan(&world, &[&[name], flags].concat());
    world
}

/// Exports as CSV and reads it as another program does.
#[track_caller]
fn csv(world: &EmailNet, args: &[&str]) -> Vec<Vec<String>> {
    world
        .place
        .run([&["export", "out.csv", "--force"], args].concat())
        .ok();
    let bytes = std::fs::read(world.place.at("out.csv")).expect("the export");
    let bytes = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .expect("a byte order mark");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes);
    let fields = |row: csv::Result<csv::StringRecord>| {
        row.expect("a record").iter().map(str::to_owned).collect()
    };
    reader.records().map(fields).collect()
}

#[track_caller]
fn jsonl(world: &EmailNet, args: &[&str]) -> Vec<Value> {
    world
        .place
        .run([&["export", "out.jsonl", "--force"], args].concat())
        .ok();
    let text = std::fs::read_to_string(world.place.at("out.jsonl")).expect("the export");
    assert!(text.ends_with('\n') && !text.contains('\r'));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn delimited_text_becomes_csv_and_lines_do() {
    let korean = encoding_rs::EUC_KR
        .encode("회사명;도시\n한빛식품;\"서울; 본사\"\n;x\n대한;\"두\n줄\"\n")
        .0;
    let world = listed("list.csv", &korean, &["--col", "회사명"]);
    pass(&world, 1, "hanbit.co.kr", "한빛식품");
    let columns = "--columns=email,status,tries";
    assert_eq!(
        csv(&world, &[columns]),
        [
            ["회사명", "도시", "email", "status", "tries"],
            ["한빛식품", "서울; 본사", "info@hanbit.co.kr", "PASS", "0"],
            ["", "x", "", "", ""],
            ["대한", "두\n줄", "", "TODO", "0"],
        ]
    );
    world.place.run(["export"]).ok();
    assert!(world.place.at("list.comail.csv").exists());

    let world = listed("list.txt", "Acme Foods\n\n  Beta\n", &[]);
    assert_eq!(
        csv(&world, &[columns]),
        [["Acme Foods", "", "TODO", "0"], ["  Beta", "", "TODO", "0"]]
    );
}

#[test]
fn old_workbooks_become_new_ones_with_their_values() {
    for name in ["libreoffice.xls", "libreoffice.ods"] {
        let world = world();
        bring(&world.place, name);
        scan(&world, &[name, "--sheet=업체 목록", "--col=업체명"]);
        pass(&world, 1, "hanbit-foods.co.kr", "한빛식품 주식회사");
        world.place.run(["export"]).ok();
        let found = cells(&world.place.at("libreoffice.comail.xlsx"), "comail");
        let expected = "한빛식품 주식회사|hanbit-foods.co.kr|1234567890|2024-03-05|0.125";
        assert_eq!(texts::<5>(&found, 3, 1).join("|"), expected);
        assert_eq!(text(&found, 2, 7), "email");
        for row in [3, 5] {
            assert_eq!(texts(&found, row, 7), ["info@hanbit-foods.co.kr", "PASS"]);
        }
        // The blank row is no row of the new workbook.
        assert_eq!(texts(&found, 7, 1), ["Bluefin Freight Inc.", ""]);
        assert_eq!(text(&found, 8, 1), "합계");
    }
}

#[test]
fn every_line_of_jsonl_is_an_object_of_the_same_names() {
    let world = world();
    bring(&world.place, "openpyxl.xlsx");
    let columns = ["openpyxl.xlsx", "--sheet=업체 목록", "--col=업체명"];
    scan(&world, &columns);
    pass(&world, 1, "hanbit-foods.co.kr", "한빛식품 주식회사");
    let lines = jsonl(&world, &[]);
    let rows: Vec<_> = lines.iter().map(|line| line["row"].clone()).collect();
    assert_eq!(rows, [3, 4, 5, 6, 8, 9]);
    let names = |line: &Value| -> Vec<_> { line.as_object().unwrap().keys().cloned().collect() };
    for line in &lines {
        assert_eq!(names(line), names(&lines[0]));
        assert!(line["tries"].is_u64());
    }
    assert_eq!(lines[0]["email"], "info@hanbit-foods.co.kr");
    assert_eq!(lines[0]["등록번호"], "123-45-67890");
    assert_eq!(
        (&lines[1]["email"], &lines[1]["status"]),
        (&Value::Null, &json!("TODO"))
    );
    assert_eq!(jsonl(&world, &["--only=pass"]).len(), 2);
}

const HOSTILE: [&str; 8] = [
    "=HYPERLINK(\"http://evil.test\",\"Acme\")",
    "+82 2 555 0101",
    "-cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    "\t=1+1",
    " =1+1",
    "＝1+1",
    "-12.5",
];

/// A list with those texts beside the names of companies.
fn hostile() -> EmailNet {
    let row = |(number, text): (usize, &&str)| {
        format!("Company {number},\"{}\"", text.replace('"', "\"\""))
    };
    let rows: Vec<String> = HOSTILE.iter().enumerate().map(row).collect();
    let list = format!("company,=note\n{}\n", rows.join("\n"));
    listed("list.csv", list, &["--col=company", "--header=yes"])
}

#[test]
fn no_text_can_run_as_a_formula() {
    let world = hostile();
    let columns = "--columns=status,email==1+1";
    let rows = csv(&world, &[columns]);
    assert_eq!(rows[0], ["company", "'=note", "status", "'=1+1"]);
    world.place.run(["export", "out.xlsx", columns]).ok();
    let path = world.place.at("out.xlsx");
    let found = cells(&path, "comail");
    // JSON Lines keep texts as they are.
    let lines = jsonl(&world, &[]);
    for (index, text) in HOSTILE.into_iter().enumerate() {
        let is_number = text == "-12.5";
        let expected = format!("{}{text}", if is_number { "" } else { "'" });
        assert_eq!(rows[index + 1][1], expected);
        let row = u32::try_from(index + 2).expect("few");
        assert_eq!(found[&(row, 2)], Data::String(text.to_owned()));
        assert_eq!(lines[index]["=note"], text);
    }
    assert_eq!(found[&(1, 4)], Data::String("=1+1".to_owned()));
    assert!(formulas(&path, "comail").is_empty());
    for (name, part) in parts(&path) {
        let content = String::from_utf8_lossy(&part.content);
        assert!(!content.contains("<f>"), "{name}");
    }
}

#[test]
fn an_address_that_begins_like_a_formula_does_not_run() {
    let list = "company\nAcme Foods\n";
    let world = listed("list.csv", list, &["--col=A", "--header=yes"]);
    world.company("acme.co.kr", "Acme Foods");
    let shown = crate::harness::email_net::page("Acme Foods", "Write to +82@acme.co.kr");
    world.net.web.page("www.acme.co.kr", "/contact", &shown);
    let mut submission = world.right("acme.co.kr");
    submission.email = "+82@acme.co.kr".to_owned();
    let (code, answer) = world.submit(1, &submission);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(
        csv(&world, &["--columns=email"])[1],
        ["Acme Foods", "'+82@acme.co.kr"]
    );
    world.place.run(["export", "out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "comail");
    assert_eq!(found[&(2, 2)], Data::String("+82@acme.co.kr".to_owned()));
}

#[test]
fn control_characters_and_endless_texts_fit_into_a_cell() {
    let world = listed("list.txt", "Acme\nBeta\n", &[]);
    let endless = "가".repeat(40_000);
    let steering = "a\u{1b}[2J\u{7}\r\n_x0041_ <&>\u{202e}";
    for (id, why) in [("1", endless.as_str()), ("2", steering)] {
        let submit = ["submit", "--id", id, "--none", why];
        world.place.run(submit).exits(5);
    }
    let facts = ["export", "out.xlsx", "--columns=facts"];
    world.place.run(facts).ok();
    let found = cells(&world.place.at("out.xlsx"), "comail");
    let facts = text(&found, 1, 2);
    assert!(facts.ends_with("가… (120000 bytes)"), "{facts:?}");
    let facts = text(&found, 2, 2);
    // Beside `_x`, a control character could not be told from its code: it becomes a space.
    let spelled = steering.replace(['\u{1b}', '\u{7}', '\r'], " ");
    assert!(facts.contains(&spelled), "{facts:?}");
    let lines = jsonl(&world, &["--columns=facts"]);
    assert!(lines[0]["facts"].as_str().unwrap().ends_with("bytes)"));
    assert!(lines[1]["facts"].as_str().unwrap().ends_with(steering));
    let rows = csv(&world, &["--columns=facts"]);
    let plain = steering.replace(['\u{1b}', '\u{7}'], "\u{fffd}");
    assert!(rows[0][1].ends_with("bytes)") && rows[1][1].ends_with(&plain));
}

#[test]
fn long_cells_of_the_list_are_cut_in_a_workbook_alone() {
    let long = "x".repeat(33_000);
    let list = format!("company,note\nAcme,{long}\n");
    let world = listed("list.csv", list, &["--col=company"]);
    world.place.run(["export", "out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "comail");
    assert_eq!(text(&found, 2, 2).chars().count(), 32_767);
    assert_eq!(csv(&world, &[])[1][1], long);
}

#[test]
fn an_exported_list_can_be_scanned_again() {
    let list = "company\nAcme Foods\n\"Beta, Co\"\n";
    let world = listed("list.csv", list, &["--col=company"]);
    let before = keys(&world.place);
    csv(&world, &[]);
    let again = crate::harness::Place::new();
    again.write("out.csv", std::fs::read(world.place.at("out.csv")).unwrap());
    again.run(["scan", "out.csv", "--col=company"]).ok();
    assert_eq!(keys(&again), before);
}
