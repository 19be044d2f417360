//! The quest files that ship, each used from the scan to the audit.
//!
//! Each scan runs the file's controls. Nothing here repeats what a control shows, and each file is
//! scanned once.

use std::fs;

use crate::harness::case::copy;
use crate::harness::quest_play::QuestPlay;
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
    let places: Vec<_> = facts.iter().map(|it| it["location"].clone()).collect();
    let expected = [("first", 10), ("second", 10), ("first", 6), ("second", 6)];
    let expected = expected.map(|(who, line)| format!("{who}: src/shop/cart.py:{line}"));
    assert_eq!(places, expected, "{answer:#}");
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
    let by: Vec<_> = facts.iter().map(|fact| &fact["location"]).collect();
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
        let entry = |link| format!(r#"{{"what": "One more thing is done", "link": "{link}"}}"#);
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
