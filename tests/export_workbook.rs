//! `export` of a workbook: a copy in which one sheet gains columns and nothing else changes.

use std::path::Path;

use calamine::Data;

use crate::harness::EmailNet;
use crate::sheets::{
    Cells, bring, cells, done, fail, formulas, parts, pass, review, scan, text, texts, workbook,
    world, xml_row,
};

const USUAL: [&str; 8] = [
    "email",
    "status",
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
        let (code, answer) = world.place.json(["export", "out.xlsx"]);
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
        assert_eq!(texts(&found, 1, 7), [""; 8]);
        assert_eq!(texts(&found, 7, 7), [""; 8]);
        results_are_right(&world, &found);
    }
}

#[track_caller]
fn results_are_right(world: &EmailNet, found: &Cells) {
    let hanbit = world.right("hanbit-foods.co.kr");
    for row in [3, 5] {
        let (site, source) = (&*hanbit.site, &*hanbit.source);
        let expected = [&hanbit.email, "PASS", site, source, "", ""];
        assert_eq!(texts(found, row, 7), expected);
        assert_eq!(found[&(row, 13)], Data::Float(0.0));
        let judged: jiff::Timestamp = text(found, row, 14).parse().expect("a time");
        assert!(judged.as_second() > 0);
    }
    assert_eq!(texts(found, 4, 7), ["daehan.sales@gmail.com", "REVIEW"]);
    let rule = text(found, 4, 11);
    assert!(rule.split(", ").any(|rule| rule == "freemail"), "{rule}");
    assert!(text(found, 4, 12).contains("freemail"));
    // What failed is nobody's address.
    assert_eq!(
        texts(found, 6, 7),
        ["", "DONE", "", "", "email-not-on-source"]
    );
    assert!(text(found, 6, 12).contains("info@aoyama-seiki.co.jp"));
    assert_eq!(found[&(6, 13)], Data::Float(3.0));
    assert_eq!(
        texts(found, 8, 7),
        ["", "TODO", "", "", "email-not-on-source"]
    );
    assert_eq!(found[&(8, 13)], Data::Float(1.0));
    assert_eq!(texts(found, 9, 7), ["", "TODO", "", "", "", "", "0", ""]);
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
    world.place.run(["export", "out.xlsx"]).ok();
    let found = cells(&world.place.at("out.xlsx"), "Companies");
    assert_eq!(
        texts(&found, 1, 5),
        ["email (comail)", "status (comail 2)", "site"]
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
        .run(["export", "again.xlsx", "--session=again"])
        .ok();
    let found = cells(&world.place.at("again.xlsx"), "Companies");
    assert_eq!(
        texts(&found, 1, 13),
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
    world.place.run(["export", "out.xlsx"]).ok();
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
    let summary = world.place.run(["export", "out.xlsx", columns]).ok();
    assert_eq!(
        summary,
        "6 rows filled in, written to out.xlsx\n\
         1 PASS, 1 REVIEW, 1 DONE, 2 still TODO\n\
         A published address is not consent to receive mail.\n"
    );
    let found = cells(&world.place.at("out.xlsx"), "업체 목록");
    assert_eq!(texts(&found, 2, 7), ["상태", "이메일", "judged at", ""]);
    assert_eq!(texts(&found, 3, 7), ["PASS", "info@hanbit-foods.co.kr"]);
    let run = world.place.run(["export", "no.xlsx", "--columns=emial"]);
    run.says("did you mean \"email\"");
    run.exits(2);
    assert!(!world.place.at("no.xlsx").exists());

    let some = ["export", "sure.xlsx", "--only", "pass,REVIEW"];
    world.place.run(some).ok();
    let found = cells(&world.place.at("sure.xlsx"), "comail");
    let first: Vec<String> = (1..=6).map(|row| text(&found, row, 1)).collect();
    let hanbit = "한빛식품 주식회사";
    assert_eq!(first, ["업체명", hanbit, "㈜대한정밀", hanbit, "", ""]);
    assert_eq!(texts(&found, 1, 7), USUAL);
    assert_eq!(texts(&found, 2, 7), ["info@hanbit-foods.co.kr", "PASS"]);
    let run = world.place.run(["export", "x.xlsx", "--only", "passed"]);
    assert_eq!(run.code, 2);
}
