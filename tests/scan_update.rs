//! `scan --update`: a newer list joins the session, and the export goes by it.

use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::sheets::{cells, keys, names, pass, quests, scan, texts, workbook, world, xml_row};

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
    let (code, answer) = world.place.json([&["scan", "--update"], args].concat());
    assert_eq!(code, 0, "{answer}");
    answer
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
        .run(["export", "out.xlsx", "--columns=email,status"]);
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
    let run = world.place.run(["scan", "--update", "list.xlsx"]);
    run.says("now names a site for 1 quest scanned without one");
    assert!(
        run.ok()
            .contains("2 quests added, 5 in all; 1 not in this list\n")
    );
}

#[test]
fn flags_of_the_update_take_the_place_of_the_first_ones() {
    let world = begun();
    world.place.write(
        "more.csv",
        "firm;web\nAcme Foods;acme.co.kr\nZeta Air;zeta.co.kr\n",
    );
    let run = world.place.run(["scan", "--update", "more.csv"]);
    assert_eq!(run.code, 1);
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
    for args in [&["bad.csv"][..], &["no.csv"], &["list.xlsx", "--show=Nope"]] {
        let run = world.place.run([&["scan", "--update"], args].concat());
        assert_eq!(run.code, 1, "{run:?}");
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
        let run = world.place.run(["export", "--force", list]);
        assert_eq!(run.code, 1, "{run:?}");
        run.says("the source itself");
    }
}
