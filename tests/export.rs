//! `export`: a copy of a workbook with more columns, new files of other formats, and where it writes:
//! never over the list, never half, and no text that can run as a formula.

use std::fmt::Write as _;
use std::path::Path;

use calamine::Data;
use serde_json::{Value, json};

use crate::harness::{EmailNet, Place};
use crate::sheets::{
    Cells, bring, cells, done, fail, formulas, keys, names, on_a_full_disk, part_text, parts, pass,
    refused, review, scan, text, texts, workbook, world, xml_row,
};

const USUAL: [&str; 9] = [
    "email",
    "status",
    "email to review",
    "site",
    "source",
    "rule",
    "facts",
    "tries",
    "judged at",
];

/// A world with the fixture scanned, its quests in every state: 한빛식품 PASS, 대한정밀 REVIEW,
/// 青山精機 DONE, Bluefin still TODO after one try, 합계 untouched.
fn judged(name: &str) -> EmailNet {
    let world = world();
    bring(&world.place, name);
    let columns = ["--sheet=업체 목록", "--col=업체명", "--site-col=홈페이지"];
    scan(&world, &[&[name][..], &columns].concat());
    pass(&world, 1, "hanbit-foods.co.kr", "한빛식품 주식회사");
    let freemail = "daehan.sales@gmail.com";
    review(&world, 2, "daehan.co.kr", "㈜대한정밀", freemail);
    done(&world, 3, "aoyama-seiki.co.jp", "青山精機株式会社");
    let failed = fail(&world, 4, "bluefin.com", "Bluefin Freight Inc.", "no.one");
    assert_eq!(failed, 5);
    world
}

/// Expects every cell of `before` in `after`, and the other way round left of `column`.
#[track_caller]
fn same_cells(before: &Cells, after: &Cells, column: u32) {
    let left: Cells = after
        .iter()
        .filter(|((_, at), _)| *at < column)
        .map(|(at, data)| (*at, data.clone()))
        .collect();
    assert_eq!(&left, before);
}

/// Expects the same parts in the same order, all but `sheet` byte for byte.
#[track_caller]
fn same_parts(before: &Path, after: &Path, sheet: &str) {
    let (before, after) = (parts(before), parts(after));
    let names = |parts: &[(String, _)]| -> Vec<String> {
        parts.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&before), names(&after));
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        assert_eq!(name != sheet, before == after, "{name}");
    }
}

#[test]
fn a_workbook_keeps_all_that_it_had_and_gains_the_results() {
    for (name, sheet) in [
        ("openpyxl.xlsx", "xl/worksheets/sheet2.xml"),
        ("libreoffice.xlsx", "xl/worksheets/sheet2.xml"),
    ] {
        let world = judged(name);
        let (code, answer) = world.place.json(["export", "--out=out.xlsx"]);
        assert_eq!((code, answer["rows"].as_u64()), (0, Some(6)), "{answer}");
        assert_eq!(answer["remaining"], 2);
        let (before, after) = (world.place.at(name), world.place.at("out.xlsx"));
        same_parts(&before, &after, sheet);
        for other in ["Notes", "옛 목록", "빈 시트"] {
            assert_eq!(cells(&before, other), cells(&after, other), "{other}");
        }
        let found = cells(&after, "업체 목록");
        same_cells(&cells(&before, "업체 목록"), &found, 7);
        let kept = formulas(&before, "업체 목록");
        assert_eq!(kept[&(8, 5)], "SUM(E3:E6)");
        assert_eq!(kept, formulas(&after, "업체 목록"));
        assert_eq!(texts(&found, 2, 7), USUAL);
        let partial = "partial export: 2 of 5 quests are still TODO";
        assert_eq!(text(&found, 2, 16), partial);
        assert_eq!(texts(&found, 1, 7), [""; 10]);
        assert_eq!(texts(&found, 7, 7), [""; 10]);
        results_are_right(&world, &found);
    }
}

#[track_caller]
fn results_are_right(world: &EmailNet, found: &Cells) {
    let hanbit = world.right("hanbit-foods.co.kr");
    for row in [3, 5] {
        let (site, source) = (&*hanbit.site, &*hanbit.source);
        let expected = [&hanbit.email, "PASS", "", site, source, "", ""];
        assert_eq!(texts(found, row, 7), expected);
        assert_eq!(found[&(row, 14)], Data::Float(1.0));
        let judged: jiff::Timestamp = text(found, row, 15).parse().expect("a time");
        assert!(judged.as_second() > 0);
    }
    // Nobody can mail an address by mistake that waits for a person.
    let expected = ["", "REVIEW", "daehan.sales@gmail.com"];
    assert_eq!(texts(found, 4, 7), expected);
    let rule = text(found, 4, 12);
    assert!(rule.split(", ").any(|rule| rule == "freemail"), "{rule}");
    assert!(text(found, 4, 13).contains("freemail"));
    assert_eq!(found[&(4, 14)], Data::Float(1.0));
    // What failed is nobody's address.
    assert_eq!(
        texts(found, 6, 7),
        ["", "DONE", "", "", "", "email-not-on-source"]
    );
    assert!(text(found, 6, 13).contains("info@aoyama-seiki.co.jp"));
    assert_eq!(found[&(6, 14)], Data::Float(3.0));
    assert_eq!(
        texts(found, 8, 7),
        ["", "TODO", "", "", "", "email-not-on-source"]
    );
    assert_eq!(found[&(8, 14)], Data::Float(1.0));
    assert_eq!(
        texts(found, 9, 7),
        ["", "TODO", "", "", "", "", "", "0", ""]
    );
}

#[test]
fn macros_tables_charts_and_links_stay() {
    let companies = ["Northwind Tools GmbH", "Aoyama & Söhne <KG>"];
    for name in ["macros.xlsm", "xlsxwriter.xlsx"] {
        let world = world();
        bring(&world.place, name);
        scan(&world, &[name, "--col", "Company", "--sheet", "Suppliers"]);
        pass(&world, 1, "northwind-tools.de", companies[0]);
        world.place.run(["export"]).ok();
        let copy = name.replace('.', ".comail.");
        let (before, after) = (world.place.at(name), world.place.at(&copy));
        same_parts(&before, &after, "xl/worksheets/sheet1.xml");
        let macros = parts(&after)
            .iter()
            .any(|(part, _)| part.ends_with("vbaProject.bin"));
        assert_eq!(macros, name.ends_with("xlsm"));
        assert_eq!(cells(&before, "Chart"), cells(&after, "Chart"));
        let found = cells(&after, "Suppliers");
        same_cells(&cells(&before, "Suppliers"), &found, 8);
        assert_eq!(
            formulas(&before, "Suppliers"),
            formulas(&after, "Suppliers")
        );
        assert_eq!(texts(&found, 4, 8), USUAL);
        assert_eq!(texts(&found, 5, 8), ["info@northwind-tools.de", "PASS"]);
        assert_eq!(text(&found, 6, 1), companies[1]);
        assert_eq!(texts(&found, 6, 8), ["", "TODO"]);
    }
}

#[test]
fn a_heading_that_is_taken_is_set_apart() {
    let world = world();
    let rows = [
        xml_row(1, &["Company", "Email", "status (comail)", "STATUS "]),
        xml_row(2, &["Acme Foods", "old@acme.co.kr", "x", "y"]),
    ];
    workbook(&world.place.at("list.xlsx"), &rows.concat());
    scan(&world, &["list.xlsx", "--col", "Company"]);
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    world.place.run(["export", "--out=out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "Companies");
    assert_eq!(
        texts(&found, 1, 5),
        ["email (comail)", "status (comail 2)", "email to review"]
    );
    assert_eq!(
        texts(&found, 2, 1),
        [
            "Acme Foods",
            "old@acme.co.kr",
            "x",
            "y",
            "info@acme.co.kr",
            "PASS"
        ]
    );
    // A second round keeps the first one's results.
    let again = ["scan", "out.xlsx", "--col=Company", "--session=again"];
    world.place.run(again).ok();
    world
        .place
        .run(["export", "--out=again.xlsx", "--session=again"])
        .ok();
    let found = cells(&world.place.at("again.xlsx"), "Companies");
    assert_eq!(
        texts(&found, 1, 14),
        ["email (comail 2)", "status (comail 3)"]
    );
    assert_eq!(texts(&found, 2, 5), ["info@acme.co.kr", "PASS"]);
}

#[test]
fn without_headings_the_first_row_has_results_too() {
    let world = world();
    let rows = [
        xml_row(1, &["Acme Foods", "Seoul"]),
        xml_row(3, &["Beta", "Busan"]),
    ];
    workbook(&world.place.at("list.xlsx"), &rows.concat());
    scan(&world, &["list.xlsx", "--col=A", "--header=no"]);
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    world.place.run(["export", "--out=out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "Companies");
    assert_eq!(
        texts(&found, 1, 1),
        ["Acme Foods", "Seoul", "info@acme.co.kr", "PASS"]
    );
    assert_eq!(texts(&found, 3, 1), ["Beta", "Busan", "", "TODO"]);
}

#[test]
fn columns_and_states_are_chosen_and_the_summary_says_what_is_left() {
    let world = judged("openpyxl.xlsx");
    let columns = "--columns=status=상태, email = 이메일,Judged_At";
    let run = world.place.run(["export", "--out=out.xlsx", columns]);
    run.says("2 of 5 quests are still TODO; export again with --force");
    let summary = run.ok();
    assert_eq!(
        summary,
        "2 addresses filled in, 1 to review left out, 3 rows without an answer, written to out.xlsx\n\
         1 PASS, 1 REVIEW, 1 DONE, 2 TODO\n\
         A published address is not consent to receive mail.\n"
    );
    let found = cells(&world.place.at("out.xlsx"), "업체 목록");
    let partial = "partial export: 2 of 5 quests are still TODO";
    assert_eq!(
        texts(&found, 2, 7),
        ["상태", "이메일", "judged at", partial, ""]
    );
    assert_eq!(texts(&found, 3, 7), ["PASS", "info@hanbit-foods.co.kr"]);
    let run = world
        .place
        .run(["export", "--out=no.xlsx", "--columns=emial"]);
    run.says("did you mean \"email\"");
    run.exits(2);
    assert!(!world.place.at("no.xlsx").exists());

    let some = ["export", "--out=sure.xlsx", "--state", "pass,REVIEW"];
    let summary = world.place.run(some).ok();
    let partial = "partial export: only PASS, REVIEW; 2 of 5 quests are still TODO";
    assert_eq!(
        summary,
        format!(
            "2 addresses filled in, 1 to review, written to sure.xlsx\n\
             1 PASS, 1 REVIEW, 0 DONE, 0 TODO\n\
             {partial}\n\
             A published address is not consent to receive mail.\n"
        )
    );
    let found = cells(&world.place.at("sure.xlsx"), "comail");
    let first: Vec<String> = (1..=6).map(|row| text(&found, row, 1)).collect();
    let hanbit = "한빛식품 주식회사";
    assert_eq!(first, [partial, "업체명", hanbit, "㈜대한정밀", hanbit, ""]);
    assert_eq!(texts(&found, 2, 7), USUAL);
    assert_eq!(texts(&found, 3, 7), ["info@hanbit-foods.co.kr", "PASS"]);
    assert_eq!(
        texts(&found, 4, 7),
        ["", "REVIEW", "daehan.sales@gmail.com"]
    );
    let run = world
        .place
        .run(["export", "--out=x.xlsx", "--state", "passed"]);
    assert_eq!(run.code, 2);
}

#[test]
fn an_office_can_read_filter_and_click_a_new_workbook() {
    let list = "Company\nAcme Foods\nBolt Toys\n";
    let world = listed("list.csv", list, &["--col=Company"]);
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    let freemail = "bolt.toys.sales.department@gmail.com";
    review(&world, 2, "bolt.co.kr", "Bolt Toys", freemail);
    let (code, answer) = world.place.json(["export", "--out=out.xlsx"]);
    assert_eq!(code, 0, "{answer}");
    let answers = json!({"filled_in": 1, "to_review": 1, "left_out": 0});
    assert_eq!(
        (&answer["answers"], &answer["partial"]),
        (&answers, &Value::Null)
    );
    let path = world.place.at("out.xlsx");
    let found = cells(&path, "comail");
    assert_eq!(texts(&found, 1, 2), USUAL, "no row above the headings");
    let (source, unproven) = (text(&found, 2, 6), text(&found, 3, 4));
    assert_eq!(texts(&found, 2, 2), ["info@acme.co.kr", "PASS", ""]);
    assert_eq!(texts(&found, 3, 2), ["", "REVIEW", freemail]);
    let sheet = part_text(&path, "xl/worksheets/sheet1.xml");
    for expected in [
        "<pane ySplit=\"1\" topLeftCell=\"A2\"",
        "<autoFilter ref=\"A1:J3\"/>",
        "<hyperlink ref=\"E2\"",
        "<hyperlink ref=\"F2\"",
        "<hyperlink ref=\"F3\"",
    ] {
        assert!(sheet.contains(expected), "{expected} in {sheet}");
    }
    let wide = format!("<col min=\"4\" max=\"4\" width=\"{}.", unproven.len() + 3);
    assert!(sheet.contains(&wide), "{wide} in {sheet}");
    let links = part_text(&path, "xl/worksheets/_rels/sheet1.xml.rels");
    assert!(links.contains(&format!("Target=\"{source}\"")), "{links}");
    assert!(!links.contains("mailto"), "{links}");
}

#[test]
fn an_answer_that_was_repeated_shows_what_was_wrong_with_it() {
    let world = listed("list.csv", "Company\nAcme Foods\n", &["--col=Company"]);
    let tries = ["one", "two", "one"];
    let codes = tries.map(|local| fail(&world, 1, "acme.co.kr", "Acme Foods", local));
    assert_eq!(codes, [5, 5, 6]);
    let columns = "--columns=email,email-to-review,status,rule,facts,tries";
    let row = csv(&world, &[columns])[1].clone();
    assert_eq!(row[1..5], ["", "", "DONE", "email-not-on-source"]);
    assert!(row[5].contains("one@acme.co.kr"), "{row:?}");
    assert_eq!(row[6], "3");
    let line = &jsonl(&world, &[columns])[0];
    assert_eq!(line["rule"], "email-not-on-source");
    let page = ["report", "--out=out.html"];
    world.place.run(page).exits(8);
    let page = std::fs::read_to_string(world.place.at("out.html")).expect("a page");
    let quest = page.split("<tbody role=\"rowgroup\" data-state").nth(1);
    let row = quest
        .expect("a quest")
        .split("</tr>")
        .next()
        .expect("a row");
    assert!(row.contains("<code>email-not-on-source</code>"), "{row}");
    assert!(!row.contains("<code>repeated-submission</code>"), "{row}");
}

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
        .run([&["export", "--out=out.csv", "--force"], args].concat())
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
        .run([&["export", "--out=out.jsonl", "--force"], args].concat())
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
            ["한빛식품", "서울; 본사", "info@hanbit.co.kr", "PASS", "1"],
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
        // The first row says that the export is partial.
        let expected = "한빛식품 주식회사|hanbit-foods.co.kr|1234567890|2024-03-05|0.125";
        assert_eq!(texts::<5>(&found, 4, 1).join("|"), expected);
        assert_eq!(text(&found, 3, 7), "email");
        for row in [4, 6] {
            assert_eq!(texts(&found, row, 7), ["info@hanbit-foods.co.kr", "PASS"]);
        }
        // The blank row is no row of the new workbook.
        assert_eq!(texts(&found, 8, 1), ["Bluefin Freight Inc.", ""]);
        assert_eq!(text(&found, 9, 1), "합계");
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
    assert_eq!(jsonl(&world, &["--state=pass"]).len(), 2);
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
    world.place.run(["export", "--out=out.xlsx", columns]).ok();
    let path = world.place.at("out.xlsx");
    let found = cells(&path, "comail");
    // JSON Lines keep texts as they are.
    let lines = jsonl(&world, &[]);
    for (index, text) in HOSTILE.into_iter().enumerate() {
        let is_number = text == "-12.5";
        let expected = format!("{}{text}", if is_number { "" } else { "'" });
        assert_eq!(rows[index + 1][1], expected);
        let row = u32::try_from(index + 3).expect("few");
        assert_eq!(found[&(row, 2)], Data::String(text.to_owned()));
        assert_eq!(lines[index]["=note"], text);
    }
    assert_eq!(found[&(2, 4)], Data::String("=1+1".to_owned()));
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
        csv(&world, &["--columns=email,email-to-review"])[1],
        ["Acme Foods", "", "'+82@acme.co.kr"]
    );
    world.place.run(["export", "--out=out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "comail");
    assert_eq!(found[&(2, 4)], Data::String("+82@acme.co.kr".to_owned()));
}

#[test]
fn control_characters_and_endless_texts_fit_into_a_cell() {
    let world = listed("list.txt", "Acme\nBeta\n", &[]);
    let endless = "가".repeat(5_000);
    let steering = "a\u{1b}[2J\u{7}\r\n_x0041_ <&>\u{202e}";
    for (id, why) in [("1", endless.as_str()), ("2", steering)] {
        let submit = ["submit", "--id", id, "--none", why];
        world.place.run(submit).exits(5);
    }
    let facts = ["export", "--out=out.xlsx", "--columns=facts"];
    world.place.run(facts).ok();
    let found = cells(&world.place.at("out.xlsx"), "comail");
    let facts = text(&found, 2, 2);
    assert!(facts.ends_with("가… (15000 bytes)"), "{facts:?}");
    let facts = text(&found, 3, 2);
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
    world.place.run(["export", "--out=out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "comail");
    assert_eq!(text(&found, 3, 2).chars().count(), 32_767);
    assert_eq!(csv(&world, &[])[1][1], long);
}

#[test]
fn an_exported_list_can_be_scanned_again() {
    let list = "company\nAcme Foods\n\"Beta, Co\"\n";
    let world = listed("list.csv", list, &["--col=company"]);
    let before = keys(&world.place);
    csv(&world, &[]);
    let again = Place::new();
    again.write("out.csv", std::fs::read(world.place.at("out.csv")).unwrap());
    again.run(["scan", "out.csv", "--col=company"]).ok();
    assert_eq!(keys(&again), before);
}

fn scanned() -> Place {
    let place = Place::new();
    bring(&place, "companies.xlsx");
    place.run(["scan", "companies.xlsx", "--col=A"]).ok();
    place
}

#[test]
fn nothing_that_exists_is_replaced_without_force() {
    let place = scanned();
    place.write("mine.xlsx", "mine");
    let exists = "mine.xlsx exists already|--force";
    refused(&place, "export", &["--out=mine.xlsx"], 1, exists);
    assert_eq!(std::fs::read(place.at("mine.xlsx")).unwrap(), b"mine");
    place.run(["export", "--out=mine.xlsx", "--force"]).ok();
    let found = cells(&place.at("mine.xlsx"), "Companies");
    assert_eq!(text(&found, 1, 5), "email");
    place.run(["export"]).ok();
    refused(
        &place,
        "export",
        &[],
        1,
        "companies.comail.xlsx exists already",
    );
}

#[test]
fn the_list_is_never_written_over_by_whatever_name() {
    let place = scanned();
    let absolute = place.at("companies.xlsx").display().to_string();
    std::os::unix::fs::symlink("companies.xlsx", place.at("soft.xlsx")).unwrap();
    std::fs::hard_link(place.at("companies.xlsx"), place.at("hard.xlsx")).unwrap();
    let plain = ["companies.xlsx", "./companies.xlsx", &absolute];
    for way in [&plain[..], &["soft.xlsx", "hard.xlsx"]].concat() {
        refused(
            &place,
            "export",
            &["--out", way, "--force"],
            1,
            "is the source itself",
        );
        refused(&place, "export", &["--out", way], 1, "");
    }
    // A list that was moved is still the list.
    std::fs::rename(place.at("companies.xlsx"), place.at("moved.xlsx")).unwrap();
    let list = std::fs::read(place.at("moved.xlsx")).unwrap();
    let moved = ["--out=moved.xlsx", "--force"];
    refused(&place, "export", &moved, 1, "is the source itself");
    assert_eq!(std::fs::read(place.at("moved.xlsx")).unwrap(), list);
}

#[test]
fn the_session_is_no_place_for_results() {
    let place = scanned();
    let session = place.at(".comail");
    let before = (place.ledger(), names(&session));
    let around = ".comail/../.comail/evidence/out.xlsx";
    for path in [".comail/source.xlsx", ".comail/out.xlsx", around] {
        refused(
            &place,
            "export",
            &["--out", path, "--force"],
            2,
            "is inside the session",
        );
    }
    refused(
        &place,
        "export",
        &["--out=.comail/ledger.jsonl", "--force"],
        2,
        "session",
    );
    assert_eq!((place.ledger(), names(&session)), before);
}

#[test]
fn places_that_are_no_files() {
    let place = scanned();
    std::fs::create_dir(place.at("dir")).unwrap();
    std::fs::create_dir(place.at("dir.csv")).unwrap();
    for force in [&[][..], &["--force"]] {
        let dir = [&["--out=dir"], force].concat();
        refused(&place, "export", &dir, 1, "dir is a directory");
        refused(
            &place,
            "export",
            &[&["--out=dir.csv"], force].concat(),
            1,
            "is a directory",
        );
        let nowhere = [&["--out=no/such/out.csv"], force].concat();
        refused(
            &place,
            "export",
            &nowhere,
            1,
            "there is no directory no/such|create it",
        );
    }
    refused(
        &place,
        "export",
        &["--out=/dev/null", "--force"],
        1,
        "device",
    );
}

#[test]
fn a_name_never_promises_another_format() {
    let place = scanned();
    let cases: [(&[&str], &str); 7] = [
        (&["--out=out.doc"], "out.doc|.csv|.jsonl|--format"),
        (&["--out=out.pdf"], "out.pdf"),
        (&["--out=out.xlsx", "--format=csv"], "out.xlsx|csv"),
        (&["--out=out.xlsm"], "macros|.xlsx"),
        (
            &["--out=out.html"],
            "out.html|comail report --out FILE.html",
        ),
        (&["--out=out.HTM", "--format=csv"], "out.HTM|comail report"),
        (&["--out=out.txt", "--format=pdf"], "pdf"),
    ];
    for (args, words) in cases {
        refused(&place, "export", args, 2, words);
    }
    place.run(["export", "--out=out.txt", "--format=csv"]).ok();
    place.run(["export", "--out=out"]).ok();
}

#[test]
fn a_vanished_or_changed_original_costs_nothing() {
    let place = scanned();
    place.run(["export", "--out=first.xlsx"]).ok();
    let first = std::fs::read(place.at("first.xlsx")).unwrap();
    place.write("companies.xlsx", "something else");
    let run = place.run(["export", "--out=second.xlsx"]);
    run.says("has changed since it was scanned");
    run.ok();
    std::fs::remove_file(place.at("companies.xlsx")).unwrap();
    let run = place.run(["export", "--out=third.xlsx"]);
    run.says("can no longer be read");
    run.ok();
    for name in ["second.xlsx", "third.xlsx"] {
        assert_eq!(std::fs::read(place.at(name)).unwrap(), first, "{name}");
    }
    // The original's name stays reserved for it while it is there.
    place.write("companies.xlsx", "something else");
    let reserved = ["--out=companies.xlsx", "--force"];
    refused(&place, "export", &reserved, 1, "is the source itself");
}

#[test]
fn a_copy_or_chain_that_was_tampered_with_is_a_finding() {
    let place = scanned();
    let copy = place.at(".comail/source.xlsx");
    let whole = std::fs::read(&copy).unwrap();
    std::fs::write(&copy, &whole[..whole.len() - 1]).unwrap();
    refused(
        &place,
        "export",
        &["--out=out.xlsx"],
        8,
        "not the list that was scanned",
    );
    std::fs::remove_file(&copy).unwrap();
    refused(&place, "export", &["--out=out.xlsx"], 1, "source.xlsx");
    std::fs::write(&copy, &whole).unwrap();

    let ledger = String::from_utf8(place.ledger()).unwrap();
    place.write(".comail/ledger.jsonl", ledger.replace("Bluefin", "Blowfin"));
    refused(&place, "export", &["--out=out.xlsx"], 8, "line");
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let place = Place::new();
    let list: Vec<String> = (0..600).map(|number| format!("Company {number}")).collect();
    place.write("list.txt", list.join("\n"));
    place.run(["scan", "list.txt"]).ok();
    place.write("old.csv", "old");
    let before = names(place.path());
    for args in ["out.csv", "out.xlsx", "old.csv --force"] {
        let run = on_a_full_disk(&place, 4, &format!("export --out={args}"));
        assert_eq!(run.code, 1, "{run:?}");
        run.says("disk has room");
        assert_eq!(names(place.path()), before);
    }
    assert_eq!(std::fs::read(place.at("old.csv")).unwrap(), b"old");
}

#[test]
fn a_directory_that_may_not_be_written_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = scanned();
    let locked = place.at("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(locked.join("probe"), "").is_ok() {
        // Whoever may write everywhere is refused nothing.
        return;
    }
    refused(
        &place,
        "export",
        &["--out=locked/out.csv"],
        1,
        "the directory is writable",
    );
    assert!(names(Path::new(&locked)).is_empty());
}

const ROWS: u32 = 20_000;

/// The name in `row`: every tenth row is blank, every hundredth repeats the first name.
fn name(row: u32) -> Option<String> {
    match row {
        _ if row.is_multiple_of(10) => None,
        _ if row % 100 == 1 => Some("Company 2".to_owned()),
        _ => Some(format!("Company {row}")),
    }
}

#[test]
fn twenty_thousand_rows() {
    let place = Place::new();
    let mut rows = String::from(
        "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>No</t></is></c>\
         <c r=\"B1\" t=\"inlineStr\"><is><t>Company</t></is></c></row>",
    );
    for row in 2..=ROWS {
        write!(rows, "<row r=\"{row}\"><c r=\"A{row}\"><v>{row}</v></c>").unwrap();
        if let Some(name) = name(row) {
            write!(
                rows,
                "<c r=\"B{row}\" t=\"inlineStr\"><is><t>{name}</t></is></c>"
            )
            .unwrap();
        }
        rows.push_str("</row>");
    }
    workbook(&place.at("list.xlsx"), &rows);

    let (code, answer) = place.json(["scan", "list.xlsx", "--col", "Company"]);
    assert_eq!(code, 0, "{answer}");
    let counts =
        ["rows", "quests", "without_key", "repeats"].map(|name| answer[name].as_u64().unwrap());
    assert_eq!(counts, [19_999, 17_800, 2_000, 199]);
    let submit = ["submit", "--id=1", "--none=nothing found"];
    place.run(submit).exits(5);

    let (code, answer) = place.json(["export", "--out=out.xlsx", "--columns=status,tries"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["rows"], 17_999, "{answer}");
    let found = cells(&place.at("out.xlsx"), "Companies");
    assert_eq!(texts(&found, 1, 3), ["status", "tries"]);
    for row in 2..=ROWS {
        assert_eq!(text(&found, row, 1), row.to_string());
        let name = name(row);
        assert_eq!(text(&found, row, 2), name.clone().unwrap_or_default());
        let expected = match name.as_deref() {
            None => ["", ""],
            Some("Company 2") => ["TODO", "1"],
            Some(_) => ["TODO", "0"],
        };
        assert_eq!(texts(&found, row, 3), expected, "row {row}");
    }
}
