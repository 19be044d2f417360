//! The quest files that ship, each used from the scan to the audit; the final gate and polling; and
//! fixers, which run a bounded number of times.

use std::fs;
use std::time::Duration;

use comail::judge::{FinalResult, FinalWord, JudgeContext, Poll};
use comail::quest::QuestId;
use comail::session::Session;
use serde_json::{Value, json};

use crate::harness::case::copy;
use crate::harness::poll::until;
use crate::harness::quest_play::{QuestPlay, Shipped};
use crate::harness::{Place, Run, tools};
use crate::played::Played;

/// Fields of a submission.
type Fields<'a> = &'a [(&'a str, &'a str)];

const BACKUP: Fields<'_> = &[("manifest", "claims/backup.json")];

#[test]
fn claims_pass_with_a_citation_for_each() {
    let play = Played::scanned("claims", "documents.jsonl");
    assert!(play.next().contains("docs/backup.md"));
    play.put_control("says-otherwise");
    let answer = play.submit("backup", BACKUP);
    let place = &answer["facts"][0]["location"];
    assert_eq!(place, "src/backup.py:3", "{answer:#}");
    for (from, to, said) in [
        ("src/backup.py:3:", "src/backup.py:4:", "FAIL cited"),
        ("src/backup.py:3:", "src/backup.py:300:", "FAIL cited"),
        ("src/backup.py:3:", "src/../docs/backup.md:5:", "FAIL cited"),
        ("src/backup.py:3:", "/etc/passwd:1:", "FAIL form"),
        ("KEEP_DAYS = 30", "= 30", "FAIL cited"),
        ("KEEP_DAYS = 30", "KEEP_DAYS =", "FAIL every-claim"),
        ("\"C4\"", "\"C9\"", "FAIL every-claim"),
        ("\"C4\"", "\"C3\"", "FAIL every-claim"),
    ] {
        play.put_control("right");
        play.edit("claims/backup.json", from, to);
        play.expect("backup", BACKUP, said);
    }
    let outside = &[("manifest", "claims/../../secret.json")];
    play.expect("backup", outside, "FAIL field-format");
    // A manifest with very much wrong about it is wrong all the same.
    for text in ["x".repeat(11 << 20), r"\ud800".to_owned()] {
        let claim = format!(
            r#"{{"id": "C1", "text": "{text}", "cites": ["src/backup.py:3: \"KEEP_DAYS = 30\""]}}"#
        );
        let path = play.world.place.at("tree/claims/backup.json");
        fs::write(path, format!(r#"{{"claims": [{claim}]}}"#)).expect("a file");
        assert_eq!(play.submit("backup", BACKUP)["verdict"], "FAIL");
    }
    play.put_control("right");
    play.expect("backup", BACKUP, "PASS");
    play.put_control("soft");
    let restore = &[("manifest", "claims/restore.json")];
    play.expect("restore", restore, "REVIEW every-claim-unconfirmed");
    play.ends(1, 1, 2);
}

const COUNT: Fields<'_> = &[("summary", "add refuses what is no count")];

#[test]
fn code_review_runs_tests_and_reviewers_name_file_and_line() {
    let play = Played::scanned("code-review", "issues.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("No error is swallowed"), "{prompt}");
    play.put_control("right");
    play.expect("count", COUNT, "PASS");
    // Who is 60 % sure asks, and does not doubt.
    let cart = "src/shop/cart.py";
    let asked = "    # A count of 0 is refused: if count in doubt, ask.\n    cart[name]";
    play.edit(cart, "    cart[name]", asked);
    let up = "-(-cents * (100 - percent) // 100)";
    play.edit(cart, "cents - cents * percent / 100", up);
    let rounded = &[("summary", "discounts are rounded up")];
    play.expect("discount", rounded, "PASS");
    play.ends(2, 0, 2);

    play.begin_again();
    play.put_control("swallows");
    let answer = play.submit("count", COUNT);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let facts = answer["facts"].as_array().expect("facts");
    let expected = [("first", 10), ("second", 10), ("first", 6), ("second", 6)];
    assert_eq!(facts.len(), expected.len(), "{answer:#}");
    for (fact, (who, line)) in facts.iter().zip(expected) {
        let by = fact["expected"].as_str().expect("a question");
        assert!(by.starts_with(&format!("{who} answers no: ")), "{by}");
        assert_eq!(fact["location"], format!("src/shop/cart.py:{line}"));
    }
    assert_eq!(facts[0]["actual"], "+    except TypeError:", "{answer:#}");
    play.ends(0, 1, 2);
}

#[test]
fn endpoints_calls_each_operation_of_the_service() {
    let play = Played::scanned("endpoints", "endpoints.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("listParcels: GET /parcels"), "{prompt}");
    let submit = |operation: &str, request: &str, said: &str| {
        play.expect(operation, &[("request", request)], said);
    };
    for request in [
        r#"{"method": "GET", "path": "/parcels/1/track"}"#,
        r#"{"method": "POST", "path": "/parcels/1"}"#,
        r#"{"method": "GET", "path": "//127.0.0.1:1/parcels/1"}"#,
        r#"{"method": "GET", "path": "/parcels/%2e%2e%2fparcels%2f1"}"#,
        r#"{"method": "GET", "path": "/parcels/1", "headers": {"Host": "elsewhere"}}"#,
    ] {
        submit("getParcel", request, "FAIL answers");
    }
    submit("getParcel", "GET /parcels/1", "FAIL field-format");
    // What the server cannot read is wrong, and not left to a person.
    let deep = "[".repeat(5_000);
    for body in [deep.as_str(), r#"{\"to\": \"\\ud800\", \"grams\": 1}"#] {
        let request = format!(r#"{{"method": "POST", "path": "/parcels", "body": "{body}"}}"#);
        submit("createParcel", &request, "FAIL answers");
    }
    let post = r#"{"method": "POST", "path": "/parcels", "body": {"to": "Ulsan", "grams": 90}}"#;
    submit("createParcel", post, "PASS");
    // Each judgement has a server of its own: the parcel that was just made is not there.
    let third = r#"{"method": "GET", "path": "/parcels/3"}"#;
    submit("getParcel", third, "FAIL answers");
    for (operation, path) in [
        ("listParcels", "/parcels?state=sent"),
        ("getParcel", "/parcels/2"),
        ("trackParcel", "/parcels/2/track"),
    ] {
        let request = format!(r#"{{"method": "GET", "path": "{path}"}}"#);
        submit(operation, &request, "PASS");
    }
    let quote = r#"{"method": "GET", "path": "/quote"}"#;
    let answer = play.submit("getQuote", &[("request", quote)]);
    let place = &answer["facts"][0]["location"];
    assert_eq!(place, "GET /quote: /cents", "{answer:#}");
    play.ends(4, 0, 5);
}

const NEWS: &str = "www.morning-post.com";
const STORY: &str = "<title>Acme Foods buys Bolt</title><p>Published 22 November 2026</p>\
    <p>Acme Foods has bought the toy maker Bolt for 12.5 million euros.</p>\
    <p>Its director, Kim Min-ji, said that the shops stay open.</p>";
const PORT: &str = "<meta charset='utf-8'><title>한빛 항만 개항</title><p>입력 2026년 11월 21일</p>\
    <p>박서연 시장이 새 항만을 열었다. 한빛 항만은 하루에 배 마흔 척을 받는다.</p>";

#[test]
fn facts_must_be_on_the_page_word_for_word() {
    let play = Played::of("facts");
    let (net, hanbit) = (&play.world.net, "hanbit-news.co.kr");
    for host in [NEWS, hanbit, "elsewhere.com"] {
        net.host(host);
    }
    net.web.page(NEWS, "/story/17", STORY);
    net.web.page(NEWS, "/search?q=Kim+Min-ji", STORY);
    net.web.page("elsewhere.com", "/story/17", STORY);
    net.web.page(hanbit, "/2026/11/21/port", PORT);
    play.scan("stories.jsonl");
    assert!(play.next().contains("morning-post.com on Bolt"));
    // The right submission for the first story, but for one field.
    let but = |name: &str, text: &str, said: &str| {
        let url = net.web.url(NEWS, "/story/17");
        let mut fields = [
            ("who", "Kim Min-ji"),
            ("what", "Acme Foods has bought the toy maker Bolt"),
            ("when", "2026-11-22"),
            ("url", url.as_str()),
        ];
        for field in fields.iter_mut().filter(|field| field.0 == name) {
            field.1 = text;
        }
        play.expect("acme-buys-bolt", &fields, said);
    };
    for (host, path, said) in [
        ("elsewhere.com", "/story/17", "FAIL about-it"),
        (NEWS, "/story/99", "FAIL about-it"),
        (NEWS, "/search?q=Kim+Min-ji", "FAIL who-there"),
    ] {
        but("url", &net.web.url(host, path), said);
    }
    but("who", "Kim Mi", "FAIL who-there");
    but("when", "22 November 2026", "FAIL field-format");
    but("", "", "PASS");
    let url = net.web.url(hanbit, "/2026/11/21/port");
    let fields = [
        ("who", "박서연"),
        ("what", "한빛 항만은 하루에 배 마흔 척을 받는다"),
        ("when", "2026-11-21"),
        ("url", url.as_str()),
    ];
    play.expect("hanbit-port", &fields, "PASS");
    play.ends(2, 0, 2);
}

#[test]
fn move_out_photos_go_to_a_person() {
    const SPOTS: [&str; 5] = ["kitchen", "bathroom", "bedroom", "living", "balcony"];
    let play = Played::scanned("move-out", "flats.jsonl");
    assert!(play.next().contains("Photograph flat-12"));
    let submit = |flat: &str, said: &str| {
        let paths = SPOTS.map(|spot| format!("photos/{flat}/{spot}.png"));
        let fields = SPOTS.into_iter().zip(paths.iter().map(String::as_str));
        play.expect(flat, &fields.collect::<Vec<_>>(), said);
    };
    play.put_control("right");
    submit("flat-12", "REVIEW open-ended");
    // The photos of one flat are of another place than the next, and of another day.
    let photos = play.world.place.at("tree/photos");
    copy(&photos.join("flat-12"), &photos.join("flat-14"));
    submit("flat-14", "FAIL new-scenes-unconfirmed time-and-place");
    play.ends(0, 1, 2);
}

const VOLUME: &str = "\
use parcels::volume_weight;

#[test]
fn five_cubic_centimetres_weigh_a_gram() {
    assert_eq!(volume_weight(10, 20, 30), Some(1200));
    assert_eq!(volume_weight(10, 20, 0), None);
}
";

const RATE: &str = "\
use parcels::base_rate;

#[test]
fn heavier_is_dearer() {
    let rates = vec![(0, None), (500, Some(390)), (501, Some(590)), (2001, Some(710))];
    for (grams, rate) in rates {
        assert_eq!(base_rate(grams), rate);
    }
}
";

#[test]
fn rust_tests_are_written_function_by_function() {
    let play = QuestPlay::of("rust-tests");
    play.scan(&play.beside("functions.jsonl"), &[]);
    let prompt = play.place.run(["next"]).ok();
    assert!(prompt.contains("`base_rate`, lines 4 to 11"), "{prompt}");

    let rate = ["--function=base_rate", "--test=added_base_rate"];
    let file = "tests/added_base_rate.rs";
    // One branch is left out, which turns no test red when it panics.
    play.put(file, RATE.replace("(501, Some(590)), ", ""));
    play.fails(&rate, "tests-bite");
    let again = play.place.run(["next"]).ok();
    assert!(again.contains("src/lib.rs:8"), "{again}");
    play.put(file, RATE);
    play.passes(&rate);

    play.put_control("right");
    play.passes(&["--function=with_discount", "--test=added_with_discount"]);
    play.put("tests/added_volume.rs", VOLUME);
    play.passes(&["--function=volume_weight", "--test=added_volume"]);
    play.ends(3);
}

const SPELLED: Fields<'_> = &[("canonical", "customer.email_address")];

#[test]
fn spec_sync_needs_one_name_in_both_specifications() {
    let play = Played::scanned("spec-sync", "names.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("customer.emailAddress"), "{prompt}");
    let (api, sql) = ("openapi.json", "schema.sql");
    let email = "customer.email";
    let after_both = "NOT NULL,\n    email_address TEXT,\n    active";
    let long = format!("\"{}\"", "x".repeat(11 << 20));
    for (file, from, to) in [
        (sql, "    email_address VARCHAR(254) NOT NULL,\n", ""),
        (
            sql,
            "CREATE TABLE parcel",
            "-- CREATE TABLE x (a TEXT);\nCREATE TABLE parcel",
        ),
        (sql, "NOT NULL,\n    active", after_both),
        (
            api,
            "\"email_address\":",
            "\"email_address\": {}, \"email_address\":",
        ),
        (api, "\"number\"", r#""\ud800""#),
        (api, "\"number\"", &long),
        (api, "\"number\"", r#"["number"]"#),
        (api, "\"number\"", "1"),
        (api, "\"required\": [", "\"x-\\ud800\": 1, \"required\": ["),
        (
            api,
            "\"operationId\": \"list",
            "\"x\": 1, \"operationId\": \"list",
        ),
        (api, "\"maxLength\": 254", "\"maxLength\": \"254\""),
        (
            api,
            "\"type\": \"string\",\n            \"maxLength\": 254",
            "\"type\": \"string 254\"",
        ),
    ] {
        play.put_control("right");
        play.edit(file, from, to);
        play.expect(email, SPELLED, "FAIL agree");
    }
    play.put_control("right");
    play.expect(email, SPELLED, "PASS");
    // The name that has passed stays as it is while the next one is made one.
    play.put_control("weight");
    let weight = &[("canonical", "parcel.weight")];
    play.expect("parcel.weight", weight, "PASS");
    play.ends(2, 0, 2);
}

const WORDS: &str = include_str!("quest_shipped/words.py");

#[test]
fn structure_is_improved_file_by_file() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &["--max-tries=9"]);
    let prompt = play.place.run(["next"]).ok();
    let has = "src/stock/orders.py has functions";
    assert!(prompt.contains(has), "{prompt}");
    let orders = ["--path=src/stock/orders.py", "--summary=took the taxes out"];
    play.fails(&orders, "small");
    play.put_control("right");
    play.passes(&orders);

    let file = "src/stock/words.py";
    let words = ["--path=src/stock/words.py", "--summary=took the plural out"];
    play.fails(&words, "small");
    let singular = WORDS.replace("what if count == 1 else plural(what)", "what");
    play.put(file, singular);
    play.fails(&words, "tests-pass");
    play.put(file, WORDS);
    // Whoever adds code that is not small does not stand in the way of another file.
    let more = "def f(x):\n    return [y for y in x if y and y > 1 or y < 3 if y != 4 if y != 5]\n";
    play.put("src/stock/more.py", more);
    play.passes(&words);
    play.ends(2);
}

const MILL: &str = "Ada Brook opened the Red River mill on 1987-05-03. After a flood in 2019, a \
    loan of 250,000 paid for a wheel of steel, and it still sells its rye, partly on the coast.";

#[test]
fn summaries_keep_the_facts_and_go_to_a_person_where_one_is_missing() {
    let play = Played::scanned("summary", "articles.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("6 people work there"), "{prompt}");
    let dated = |date: &str| MILL.replace("1987-05-03", date);
    let other = dated("3 May 1988");
    play.expect("mill", &[("summary", &other)], "FAIL no-new-numbers");
    let right = dated("3 May 1987");
    play.expect("mill", &[("summary", &right)], "PASS");
    play.ends(1, 0, 6);

    play.begin_again();
    let text = MILL.replace("Ada Brook", "Someone");
    let answer = play.submit("mill", &[("summary", &text)]);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let fact = &answer["facts"][0];
    assert_eq!(fact["rule"], "says-what-counts", "{answer:#}");
    assert_eq!(fact["expected"], "the name Ada Brook", "{answer:#}");
    assert_eq!(fact["location"], "source:1", "{answer:#}");
    play.ends(0, 1, 6);
}

const OPENING: &str = include_str!("quest_shipped/opening.md");

#[test]
fn translations_pass_when_all_of_the_page_is_said_in_german() {
    let play = Played::scanned("translation", "texts.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("Ada Brook opens the counter"), "{prompt}");
    let but = |from: &str, to: &str| {
        assert!(OPENING.contains(from), "{from}");
        OPENING.replacen(from, to, 1)
    };
    for (from, to, said) in [
        ("1.250,50", "1250", "FAIL same-numbers"),
        ("# Den", "## Den", "FAIL same-outline"),
        ("{customer}", "Kunden", "FAIL same-outline"),
    ] {
        play.expect("opening", &[("translation", &but(from, to))], said);
    }
    let text = but("1.250,50", "einige");
    let answer = play.submit("opening", &[("translation", &text)]);
    let fact = &answer["facts"][0];
    assert_eq!(fact["location"], "source:5", "{answer:#}");
    assert_eq!(fact["expected"], "the number 1,250.50", "{answer:#}");
    let text = but("1.250,50", "1 250,5");
    play.expect("opening", &[("translation", &text)], "PASS");
    let door = &[("translation", "# Tür\n\nAda Brook meint 5-mal: {sign}")];
    play.expect("sign", door, "REVIEW turned-back-unconfirmed");
    play.ends(1, 1, 12);

    play.begin_again();
    facts_lost_in_the_back_translation(&play);
    play.begin_again();
    an_addition_that_reviewers_find(&play);
}

fn facts_lost_in_the_back_translation(play: &Played) {
    let text = OPENING
        .replace("Ada", "Eva")
        .replace("November", "Dezember");
    let answer = play.submit("opening", &[("translation", &text)]);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let facts = answer["facts"].as_array().expect("facts");
    let expected: Vec<_> = facts.iter().map(|fact| &fact["expected"]).collect();
    let lost = ["the name Ada Brook", "the date 22 November 2026"];
    assert_eq!(expected, lost);
    play.ends(0, 1, 12);
}

fn an_addition_that_reviewers_find(play: &Played) {
    let text = OPENING.replace("begrüßen.", "begrüßen, das ist kostenlos.");
    let answer = play.submit("opening", &[("translation", &text)]);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let facts = answer["facts"].as_array().expect("facts");
    let by = facts.iter().map(|fact| {
        let expected = fact["expected"].as_str().expect("a question");
        expected.split(" answers no: ").next()
    });
    let by: Vec<_> = by.flatten().collect();
    assert_eq!(by, ["reader", "back-reader"], "{answer:#}");
    let said = facts[1]["actual"].as_str().expect("a passage");
    assert!(said.contains("das ist kostenlos"), "{said}");
    play.ends(0, 1, 12);
}

const DISCOUNT: &str = include_str!("quest_shipped/test_discount.py");

const DIGIT: &str = include_str!("quest_shipped/test_digit.py");

const NAME: &str = include_str!("quest_shipped/test_name.py");

#[test]
fn python_tests_are_written_function_by_function() {
    let play = QuestPlay::of("unit-tests");
    play.scan(&play.beside("functions.jsonl"), &[]);
    let prompt = play.place.run(["next"]).ok();
    let lines = "`with_discount`, lines 15 to 19 of\nsrc/parcels/rates.py";
    assert!(prompt.contains(lines), "{prompt}");
    let file = |name: &str| format!("tests/added/test_{name}.py");
    let submitted = |function: &str, name: &str| {
        let file = file(name);
        [
            format!("--function={function}"),
            format!("--test_file={file}"),
        ]
    };
    let discount = submitted("with_discount", "discount");
    let discount = discount.each_ref().map(String::as_str);
    play.put(&file("discount"), DISCOUNT.replace("(9, 390), ", ""));
    play.fails(&discount, "lines-covered");
    let again = play.place.run(["next"]).ok();
    assert!(again.contains("line 19 uncovered"), "{again}");
    play.put(&file("discount"), DISCOUNT);
    play.put(&file("digit"), DIGIT);
    play.put(&file("name"), NAME);
    play.put_control("right");
    for (function, name) in [
        ("with_discount", "discount"),
        ("volume_weight", "volume_weight"),
        ("check_digit", "digit"),
        ("short_name", "name"),
    ] {
        play.passes(&submitted(function, name).each_ref().map(String::as_str));
    }
    play.ends(4);
}

const WORK: &str = "work.acme-tools.com";
const SUMMARY: &str = "The counter for parcels now prints labels, the quote is a number again, and \
    the nightly backup has been restored once to see that it can be.";

#[test]
fn weekly_reports_need_their_form_and_links_that_answer() {
    let play = Played::of("weekly-report");
    let net = &play.world.net;
    net.host(WORK);
    let links = ["/t/1", "/t/2", "/t/3", "/t/9"].map(|path| net.web.url(WORK, path));
    for path in ["/t/1", "/t/2", "/t/3"] {
        net.web.page(WORK, path, "<p>Done.</p>");
    }
    play.scan("weeks.txt");
    assert!(play.next().contains("Write the report of 2026-W46"));
    let report = |links: &[String]| {
        let entry = |link| format!(r#"{{"what": "The nightly backup is done", "link": "{link}"}}"#);
        let done: Vec<_> = links.iter().map(entry).collect();
        let done = done.join(", ");
        format!(r#"{{"done": [{done}], "next": ["More of it"]}}"#)
    };
    let right = report(&links[..3]);
    let later = right.replace("\"next\"", "\"later\"");
    let again = SUMMARY.to_uppercase();
    let no_form = "FAIL each-said enough-done field-format form";
    for (week, summary, report, said) in [
        (
            "2026-W46",
            SUMMARY,
            &*report(&links[1..]),
            "FAIL links-answer",
        ),
        ("2026-W46", SUMMARY, &later, "FAIL form"),
        ("2026-W46", SUMMARY, "done: all", no_form),
        ("2026-W46", SUMMARY, &right, "PASS"),
        ("2026-W47", &again, &right, "FAIL new-summary"),
    ] {
        play.expect(week, &[("summary", summary), ("report", report)], said);
    }
    play.ends(1, 0, 2);
}

/// One quest a page, with nothing to submit; the final part goes after it.
const PAGES: &str = include_str!("harness/quests/pages.toml");

const CONTROLS: &str = include_str!("harness/quests/pages_controls.toml");
const FINAL: &str = include_str!("harness/quests/pages_final.toml");

#[test]
fn the_handbook_is_fixed_and_its_chapters_fit_together() {
    let shipped = Shipped::named("handbook");
    let place = Place::new();
    let mut check = place.command();
    check.env("PATH", tools::path()).args(["quest", "check"]);
    let run = Run::of(check.arg(&shipped.file)).ok();
    for said in [
        "ok      final: every chapter, and every link leads somewhere",
        "leads somewhere, broken by [final.negative]",
        "that do not fit together (FAIL, as expected)",
    ] {
        assert!(run.contains(said), "{said}: {run}");
    }

    let play = QuestPlay::of("handbook");
    play.scan(&play.beside("chapters.jsonl"), &[]);
    play.fails(&["--id=1"], "written");
    play.put_control("untidy");
    // The fixer takes the white space away, for a try.
    let (_, answer) = play.place.json(["submit", "--id=1"]);
    assert_eq!(answer["verdict"], "PASS", "{answer:#}");
    assert_eq!(answer["attempt"], 3, "{answer:#}");
    assert_eq!(answer["tries"], 2, "{answer:#}");
    assert_eq!(answer["fixes"], serde_json::json!([{"fixer": "changed"}]));
    play.put_control("whole");
    play.passes(&["--chapter=use"]);
    play.ends(2);
}

#[test]
fn quest_check_finds_a_negative_control_that_passes() {
    let place = Place::new();
    fs::create_dir_all(place.at("handbook")).expect("a folder");
    let shipped = Shipped::named("handbook");
    copy(&shipped.beside(""), &place.at("handbook"));
    let text = fs::read_to_string(&shipped.file).expect("the quest file");
    // What it breaks has no links, so that nothing notices.
    let worthless = text.replace("See [nothing](nothing.md).", "See nothing.");
    assert_ne!(text, worthless);
    place.write("handbook.toml", worthless);
    let mut check = place.command();
    check.env("PATH", tools::path());
    let run = Run::of(check.args(["quest", "check", "handbook.toml"])).exits(8);
    assert!(run.contains("FAILED  final: every chapter"), "{run:?}");
}

#[test]
fn a_final_gate_needs_a_control_that_fails() {
    let (bare, _) = FINAL.split_once("[[final.control]]").expect("a control");
    let negative = format!("{bare}[final.negative]\nremove = [\"known.txt\"]\n");
    for (last, holds) in [(FINAL, true), (negative.as_str(), true), (bare, false)] {
        let place = unscanned(last);
        let (code, proof) = place.json(["quest", "check", "pages.toml"]);
        assert_eq!(code, if holds { 0 } else { 8 }, "{proof:#}");
        let lacking = serde_json::json!([{"final-rule": "whole"}]);
        assert_eq!(proof["lacking"] == lacking, !holds, "{proof:#}");
        let scan = place.run(["scan", "list.txt", "--quest=pages.toml"]);
        scan.exits(if holds { 0 } else { 2 });
        assert_eq!(place.at(".comail/session.json").exists(), holds);
    }
}

/// A session of pages, whose final part is this.
fn pages(last: &str) -> Place {
    let place = unscanned(last);
    place.run(["scan", "list.txt", "--quest=pages.toml"]).ok();
    place
}

fn unscanned(last: &str) -> Place {
    let place = Place::new();
    fs::create_dir_all(place.at("tree/out")).expect("a folder");
    place.write("tree/known.txt", "yes\n");
    place.write("list.txt", "a\nb\n");
    for (dir, known) in [("done", "yes\n"), ("wrong", "no\n")] {
        fs::create_dir_all(place.at(dir).join("out")).expect("a folder");
        place.write(&format!("{dir}/known.txt"), known);
        place.write(&format!("{dir}/out/a"), "x\n");
    }
    place.write("pages.toml", format!("{PAGES}{last}{CONTROLS}"));
    place
}

fn open(place: &Place) -> Session {
    Session::open(&place.at(".comail")).expect("a session")
}

fn asked(place: &Place) -> FinalResult {
    let session = open(place);
    let context = JudgeContext::of(&session).expect("a kind");
    context.final_gate(&session).expect("an outcome")
}

/// Expects this word, and as many details as it has reasons.
#[track_caller]
fn says(place: &Place, word: FinalWord) -> Vec<String> {
    let said = asked(place);
    assert_eq!(said.word, word, "{said:?}");
    assert_eq!(
        said.details.is_empty(),
        word != FinalWord::Refused,
        "{said:?}"
    );
    said.details
}

#[test]
fn the_final_gate_judges_the_tree_as_it_is_now() {
    let plain = pages("");
    says(&plain, FinalWord::None);

    let place = pages(FINAL);
    let before = place.ledger();
    let said = says(&place, FinalWord::Refused);
    assert!(said[0].starts_with("whole "), "{said:?}");
    place.write("tree/out/b", "x\n");
    says(&place, FinalWord::Passed);
    fs::remove_file(place.at("tree/out/b")).expect("removed");
    says(&place, FinalWord::Refused);
    assert_eq!(place.ledger(), before, "nothing of it is recorded");

    let doubtful = FINAL.replace("kind =", "level = \"review\"\nkind =");
    let doubtful = pages(&doubtful.replace("verdict = \"FAIL\"", "verdict = \"REVIEW\""));
    says(&doubtful, FinalWord::Refused);
}

#[test]
fn a_final_gate_that_passes_its_negative_control_refuses() {
    for (negative, expected) in [
        ("remove = [\"out/b\"]\nfires = [\"whole\"]", true),
        ("files = { \"out/b\" = \" \" }", true),
        ("files = { \"out/other\" = \"x\" }", false),
        ("remove = [\"known.txt\"]", false),
    ] {
        let place = pages(&format!("{FINAL}[final.negative]\n{negative}\n"));
        let said = says(&place, FinalWord::Refused);
        assert!(!said[0].contains("negative control"), "{said:?}");
        place.write("tree/out/b", "x\n");
        if expected {
            says(&place, FinalWord::Proven);
        } else {
            let said = says(&place, FinalWord::Refused);
            assert!(said[0].starts_with("its negative control"), "{said:?}");
        }
        // It was broken in a copy alone.
        let text = fs::read_to_string(place.at("tree/out/b")).expect("what was written");
        assert_eq!(text, "x\n");
        assert!(!place.at("tree/out/other").exists() && place.at("tree/known.txt").exists());
    }
}

#[test]
fn a_poll_reports_when_the_checks_hold_and_records_nothing() {
    let place = pages("");
    let session = open(&place);
    let start = || {
        let poll = Poll::start(&session, QuestId::FIRST, Duration::from_millis(5));
        poll.expect("it starts").expect("nothing is submitted")
    };
    let poll = start();
    let before = place.ledger();
    assert!(!poll.holds());
    place.write("tree/out/b", "another\n");
    place.write("tree/out/a", "x\n");
    until("the checks hold", || poll.holds());
    // Of one state it is said once, and of the next again.
    place.write("tree/out/a", "xy\n");
    until("it is said again", || poll.holds());
    assert_eq!(place.ledger(), before);

    let (_, answer) = place.json(["submit", "--id=1"]);
    assert_eq!(answer["verdict"], "PASS", "{answer:#}");
}

#[test]
fn a_quest_with_fields_is_not_polled() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let poll = Poll::start(&open(&place), QuestId::FIRST, Duration::from_millis(5));
    assert!(poll.expect("it is told").is_none());
}

/// A quest whose file must say `good` and `mine`; the fixer is for `good` alone.
const QUEST: &str = include_str!("harness/quests/notes.toml");

/// A session with this fixer, where out/a says this.
fn session(script: &str, text: &str) -> Place {
    let place = Place::new();
    for (dir, text) in [
        ("tree", ""),
        ("good", "good mine\n"),
        ("bad", "mine\n"),
        ("theirs", "good\n"),
    ] {
        fs::create_dir_all(place.at(dir).join("out")).expect("a folder");
        if !text.is_empty() {
            place.write(&format!("{dir}/out/a"), text);
        }
    }
    place.write("list.txt", "a\nb\n");
    place.write("notes.toml", QUEST.replace("SCRIPT", script));
    let mut scan = place.command();
    scan.env("PATH", tools::path())
        .env("SECRET", "of-the-operator");
    Run::of(scan.args(["scan", "list.txt", "--quest=notes.toml"])).ok();
    place.write("tree/out/a", text);
    place
}

/// The verdict, the tries, the attempt, and what the fixer did.
fn submit(place: &Place) -> (String, u64, u64, Value) {
    let (_, answer) = place.json(["submit", "--id=1"]);
    let number = |name: &str| answer[name].as_u64();
    let (tries, attempt) = number("tries").zip(number("attempt")).expect("numbers");
    let verdict = answer["verdict"].as_str().unwrap_or_default().to_owned();
    (verdict, tries, attempt, answer["fixes"].clone())
}

#[test]
fn a_fixer_fixes_the_file_for_one_try() {
    let script = "cat > out/told; env > out/env; pwd > out/place; echo good >> out/a";
    let place = session(script, "mine\n");
    let expected = ("PASS".to_owned(), 1, 2, json!([{"fixer": "changed"}]));
    assert_eq!(submit(&place), expected);
    assert_eq!(place.attempts(), [(1, 1), (1, 2)]);
    let read = |name: &str| fs::read_to_string(place.at("tree/out").join(name)).expect("a file");
    let told: Value = serde_json::from_str(&read("told")).expect("JSON");
    assert_eq!(told["quest"]["key"], "a");
    assert_eq!(told["facts"][0]["rule"], "good", "{told:#}");
    // Confined, it may find the tree at another path.
    assert!(read("place").trim().ends_with("/tree"), "{}", read("place"));
    let env = read("env");
    assert!(
        env.contains("HOME=/nonexistent") && !env.contains("SECRET"),
        "{env}"
    );

    // Nobody fixes anything where what was judged is judged again.
    fs::remove_file(place.at("tree/out/told")).expect("removed");
    let (code, report) = place.json(["audit"]);
    assert_eq!(code, 0, "{report:#}");
    assert!(!place.at("tree/out/told").exists());
}

#[test]
fn the_ledger_records_how_each_run_of_the_fixer_ended() {
    for (script, fixed, said) in [
        (
            "echo x >> out/a",
            &[json!({"fixer": "changed"}), json!({"fixer": "changed"})][..],
            "quest 1, a: the fixer made changes after attempt 2",
        ),
        (
            "exit 0",
            &[json!({"fixer": "changed-nothing"})],
            "quest 1, a: the fixer found nothing to change after attempt 1",
        ),
        (
            "echo no >&2; exit 3",
            &[json!({"fixer": "failed", "why": "it ended with 3: no"})],
            "quest 1, a: the fixer failed after attempt 1: it ended with 3: no",
        ),
    ] {
        let place = session(script, "mine\n");
        submit(&place);
        let mut expected = fixed.to_vec();
        for (body, attempt) in expected.iter_mut().zip(1..) {
            body["quest"] = json!(1);
            body["attempt"] = json!(attempt);
        }
        assert_eq!(place.events("fixed"), expected, "{script}");
        let log = place.run(["log", "--type=fixed"]).ok();
        let last = log.lines().last().expect("a line");
        assert!(last.ends_with(said), "{log}");
        let (code, report) = place.json(["audit"]);
        assert_eq!(code, 0, "{report:#}");
    }
    let place = session("exit 0", "good mine\n");
    submit(&place);
    assert_eq!(place.events("fixed"), [Value::Null; 0]);
}

#[test]
fn a_fixer_is_not_started_for_other_failures() {
    for text in ["nothing\n", "good\n"] {
        let place = session("echo good mine >> out/a", text);
        let expected = ("FAIL".to_owned(), 1, 1, Value::Null);
        assert_eq!(submit(&place), expected, "{text}");
    }
    let place = session("echo good mine >> out/a", "mine\n");
    let (_, answer) = place.json(["submit", "--id=1", "--none", "it is hard"]);
    assert_eq!(answer["attempt"], 1, "{answer:#}");
    assert_eq!(answer["fixes"], Value::Null, "{answer:#}");
    assert_eq!(place.attempts(), [(1, 1)]);
}

#[test]
fn no_second_fix_follows_one_that_changes_nothing_or_fails() {
    let nothing = json!([{"fixer": "changed-nothing"}]);
    let failed = json!([{"fixer": "failed", "why": "it ended with 3: no"}]);
    for (script, fixes) in [
        ("exit 0", &nothing),
        // Files outside the zones reach no check, and are no change.
        ("echo x > elsewhere", &nothing),
        ("echo good >> out/a; echo no >&2; exit 3", &failed),
    ] {
        let place = session(script, "mine\n");
        let expected = ("FAIL".to_owned(), 1, 1, fixes.clone());
        assert_eq!(submit(&place), expected, "{script}");
        if script.contains("good") {
            let run = place.run(["submit", "--id=1"]).ok();
            assert!(!run.contains("fixer"), "{run}");
        }
    }
}

#[test]
fn max_fixes_bounds_the_fixes_and_a_done_quest_has_none() {
    let place = session("echo x >> out/a", "mine\n");
    let twice = json!([{"fixer": "changed"}, {"fixer": "changed"}]);
    assert_eq!(submit(&place), ("FAIL".to_owned(), 3, 3, twice));
    let text = place.run(["submit", "--id=1"]).exits(6);
    assert!(text.contains("now DONE"), "{text}");
    assert!(!text.contains("fixer"), "{text}");
    let written = fs::read_to_string(place.at("tree/out/a")).expect("a file");
    assert_eq!(written, "mine\nx\nx\n");
    assert_eq!(place.attempts(), [(1, 1), (1, 2), (1, 3), (1, 4)]);
}

#[test]
fn submit_says_what_the_fixer_did() {
    let place = session("echo good >> out/a", "mine\n");
    let run = place.run(["submit", "--id=1"]).ok();
    let first = run.lines().next();
    let expected = "the fixer made changes, and the quest was judged again";
    assert_eq!(first, Some(expected), "{run}");
    let place = session("exit 0", "mine\n");
    let run = place.run(["submit", "--id=1"]).exits(5);
    assert!(run.contains("the fixer found nothing to change"), "{run}");
}
