//! The picture of a session, and the page that shows it: what it counts, what it shows, and what
//! must not be in it.

use std::fs;

use comail::gate::Level;
use comail::report::draw::{self, Asked, MOST_QUESTS};
use comail::report::picture::{Picture, QuestRow, Word, Worth};
use comail::session::{Session, Unwatched};
use comail::world::email_text::mentions;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::harness::audited::session;
use crate::harness::email_net::ACME;
use crate::harness::forgotten::{ADDRESS, forget, known};

const SCRIPT: &str = "<script>alert(1)</script>";

fn picture(world: &EmailNet, most: usize) -> Picture {
    let mut session = Session::open(&session(world)).expect("a session");
    let projection = session.fold().expect("a ledger");
    let asked = Asked {
        at: Timestamp::UNIX_EPOCH,
        completeness: Word {
            complete: false,
            settled: None,
            left_out: 0,
            unproven: None,
            shortfalls: Vec::new(),
        },
        only: &[],
        most,
        watch: &Unwatched,
    };
    draw::picture(&session, &projection, asked).expect("a picture")
}

/// One PASS at the second try, one REVIEW, one DONE with a key that is a script, and one TODO.
fn played() -> EmailNet {
    let names = [ACME, "Bolt Toys", SCRIPT, "Delta Works"];
    let world = EmailNet::with(&names, &["--set=scan.pause-after=0", "--max-tries=2"]);
    let made_up = world.acme().email("made.up@acme.co.kr");
    assert_eq!(world.submit(1, &made_up).0, 5);
    world.expect(1, &world.acme(), "PASS", &[]);
    assert_eq!(world.submit(2, &world.acme()).1["verdict"], "REVIEW");
    assert_eq!((world.place.give_up(3), world.place.give_up(3)), (5, 6));
    world
}

fn row(picture: &Picture, id: usize) -> &QuestRow {
    let rows = picture.quests.iter();
    let mut rows = rows.filter(|row| row.id.index() + 1 == id);
    rows.next().expect("a row")
}

/// What happened to it, each in a word.
fn course(row: &QuestRow) -> Vec<&str> {
    row.history.iter().map(|step| step.what.as_str()).collect()
}

/// Every line that is marked in what the gate saw, with the place that it is from.
fn marked(row: &QuestRow) -> Vec<(&str, &str)> {
    let lines = row.excerpts.iter().flat_map(|excerpt| {
        let lines = excerpt.lines.iter().filter(|line| line.found);
        lines.map(move |line| (excerpt.of.as_str(), line.text.as_str()))
    });
    lines.collect()
}

#[test]
fn a_picture_shows_what_happened_and_counts_it() {
    let world = played();
    let whole = picture(&world, MOST_QUESTS);
    a_picture_counts_what_status_and_report_count(&world, &whole);
    each_submission_is_in_one_place_of_each_chart(&whole);
    a_row_shows_what_was_seen_and_what_happened(&world, &whole);
    what_fired_before_is_told_with_what_was_expected(&whole);
    // Of too many quests, those that need eyes are shown, and all are counted.
    let few = picture(&world, 2);
    let shown: Vec<usize> = few.quests.iter().map(|row| row.id.index() + 1).collect();
    assert_eq!((shown, few.left_out), (vec![2, 3], 2));
    assert_eq!(few.overview.total, 4);
}

fn a_picture_counts_what_status_and_report_count(world: &EmailNet, picture: &Picture) {
    let (_, status) = world.place.json(["status"]);
    let told = serde_json::to_value(picture).expect("JSON");
    let overview = told["overview"].as_object().expect("an overview");
    for (name, value) in overview {
        assert_eq!(value, &status[name], "{name}");
    }
    let (_, report) = world.place.json(["report"]);
    assert_eq!(told["head"], report["head"]);
    for row in &picture.quests {
        let of_report = &report["quests"][row.id.index()];
        assert_eq!(json!(row.state), of_report["state"]);
        assert_eq!(json!(row.effective), of_report["effective"]);
        assert_eq!(json!(row.tries), of_report["submissions"]);
    }
    assert_eq!((picture.quests.len(), picture.left_out), (4, 0));
    let rules: Vec<Value> = picture
        .rules
        .iter()
        .map(|rule| json!({"rule": rule.rule, "attempts": rule.submissions}))
        .collect();
    assert_eq!(json!(rules), status["rules"]);
    let given_up = picture.rules.iter().find(|it| it.rule == "no-result");
    let given_up = given_up.expect("a rule of the house");
    assert_eq!((given_up.fails, given_up.submissions), (Some(true), 2));
    assert!(given_up.meaning.is_some());
}

fn each_submission_is_in_one_place_of_each_chart(picture: &Picture) {
    let attempts = picture.overview.attempts;
    assert_eq!(attempts, 5);
    let left: Vec<u32> = picture.burn_down.iter().map(|it| it.left).collect();
    assert_eq!(left, [4, 3, 2, 1]);
    let funnel = &picture.funnel;
    assert_eq!((funnel[0].reached, funnel[0].stopped), (attempts, 2));
    let stopped: u32 = funnel.iter().map(|step| step.stopped).sum();
    assert_eq!(stopped, 3, "the three that failed");
    let names: Vec<&str> = funnel.iter().map(|it| it.name.as_str()).collect();
    let place = |name: &str| names.iter().position(|it| *it == name);
    assert!(
        place("format") < place("source") && place("format").is_some(),
        "{names:?}"
    );
    let workers: Vec<_> = picture.workers.iter().collect();
    assert_eq!(workers.len(), 1);
    let worker = workers[0];
    let counts = (worker.submissions, worker.pass, worker.review, worker.fail);
    assert_eq!((worker.name.as_deref(), counts), (None, (5, 1, 1, 3)));
    let tries = picture.tries.marks.expect("settled quests");
    assert_eq!((picture.tries.known, tries.least, tries.most), (3, 1, 2));
    assert_eq!(picture.times.known, 2, "one was settled by its first line");
}

fn a_row_shows_what_was_seen_and_what_happened(world: &EmailNet, picture: &Picture) {
    let pass = row(picture, 1);
    let source = world.acme().source;
    assert_eq!(
        marked(pass),
        [(source.as_str(), "Write to info@acme.co.kr")]
    );
    assert_eq!(course(pass), ["FAIL", "PASS"]);
    let labels: Vec<&str> = pass.answer.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["email", "site", "source"]);
    assert!(pass.took.is_some() && pass.last.is_some() && pass.damage.is_none());
    let review = row(picture, 2);
    assert!(
        review
            .facts
            .shown
            .iter()
            .all(|fact| fact.level == Level::Review)
    );
    // The first fact quotes the copyright line of the site.
    let site = world.acme().site;
    let shows = |(of, text): &(&str, &str)| *of == site && *text == "© 2026 Acme Foods";
    assert!(marked(review).iter().any(shows), "{review:?}");
    let done = row(picture, 3);
    assert_eq!(
        (done.key.as_str(), course(done)),
        (SCRIPT, vec!["FAIL", "FAIL"])
    );
    assert_eq!(done.facts.shown[0].rule.as_str(), "no-result");
    let todo = row(picture, 4);
    assert_eq!(
        (todo.answer.len(), todo.history.len(), todo.last),
        (0, 0, None)
    );
}

fn what_fired_before_is_told_with_what_was_expected(picture: &Picture) {
    let pass = row(picture, 1);
    assert!(pass.facts.shown.is_empty(), "nothing fired in the end");
    let first = &pass.history[0].facts.shown;
    let absent = first
        .iter()
        .find(|it| it.rule.as_str() == "email-not-on-source");
    let absent = absent.expect("what the first submission failed for");
    assert!(absent.level == Level::Fail && absent.expected.contains("made.up@acme.co.kr"));
    assert!(absent.actual.contains("info@acme.co.kr"), "{absent:?}");
    assert_eq!(pass.fired, ["email-not-on-source"]);
    let done = row(picture, 3);
    let told = done.history.iter().map(|step| step.facts.shown.len());
    assert_eq!(told.collect::<Vec<_>>(), [1, 0], "the last are its own");
    assert_eq!((done.fired.len(), done.again), (1, false));
    let worth = [1, 2, 3, 4].map(|id| row(picture, id).worth);
    let stands = Some(Worth::Stands);
    assert_eq!(worth, [stands, stands, Some(Worth::Missing), None]);
}

#[test]
fn what_was_refuted_is_no_answer_and_the_known_site_is_told() {
    let world = EmailNet::anchored(&[[ACME, "www.acme.co.kr"]]);
    let made_up = world.acme().email("made.up@acme.co.kr");
    assert_eq!(world.submit(1, &made_up).0, 5);
    let picture = picture(&world, MOST_QUESTS);
    let todo = row(&picture, 1);
    assert_eq!(todo.worth, Some(Worth::Refuted));
    let known = &todo.shown[0];
    assert_eq!(
        (known.label.as_str(), known.text.as_str()),
        ("known site", "www.acme.co.kr")
    );
    world.place.run(["report", "--out=out.html"]).exits(8);
    let html = fs::read_to_string(world.place.at("out.html")).expect("a page");
    for said in ["Last answer (refuted)", "known site"] {
        assert!(html.contains(said), "{said}");
    }
    assert!(!html.contains(">made.up@acme.co.kr</td>"), "{html}");
    assert!(!html.contains("No rule fired."), "{html}");
}

#[test]
fn a_report_is_written_as_a_page_or_as_markdown() {
    let world = played();
    let place = &world.place;
    let markdown = place.run(["report"]).exits(8);
    let text = place.run(["report", "--out=page.html"]).exits(8);
    assert!(text.starts_with("# NOT COMPLETE\n"), "{text}");
    assert!(text.ends_with("\n\nwritten to page.html\n"), "{text}");
    let html = fs::read_to_string(place.at("page.html")).expect("a page");
    for said in ["1 quest is TODO", "alert(1)"] {
        assert!(html.contains(said), "{said}");
    }
    assert!(!html.contains(SCRIPT), "{html}");
    place.run(["report", "--out=report.md"]).exits(8);
    let written = fs::read_to_string(place.at("report.md")).expect("a report");
    assert!(written.starts_with("# NOT COMPLETE\n"), "{written}");
    assert_eq!(written.lines().count(), markdown.lines().count());
    place.run(["report", "--out=page.html"]).exits(1);
    let (code, report) = place.json(["report", "--out=page.html", "--force"]);
    assert_eq!((code, &report["complete"]), (8, &json!(false)), "{report}");
    let some = [
        "report",
        "--out=page.html",
        "--force",
        "--state=pass,REVIEW",
    ];
    let text = place.run(some).exits(8);
    assert!(
        text.contains("written to page.html; it lists 2 of 4 quests"),
        "{text}"
    );
    let html = fs::read_to_string(place.at("page.html")).expect("a page");
    assert!(html.contains("<b>Not all of them.</b> This page shows 2 of 4 quests"));
    for (code, args, why) in [
        (2, "--out=page.txt", "for a web page, or .md"),
        (2, "--force", "--out <FILE>"),
        (2, "--state=pass", "--out FILE.html"),
        (2, "--state=pass --out=a.md", "--out FILE.html"),
        (2, "--out=.comail/a.html", "is inside the session"),
        (2, "--html=a.html", "unexpected argument"),
        (2, "--out=companies.txt --force", "for a web page, or .md"),
    ] {
        let run = place.run(["report"].into_iter().chain(args.split(' ')));
        assert_eq!(run.code, code, "{args}: {run:?}");
        assert!(run.stderr.contains(why), "{args}: {run:?}");
    }
    assert!(!place.at("a.html").exists() && !place.at("a.md").exists());
}

#[test]
fn a_report_is_never_written_over_the_list() {
    let world = EmailNet::unscanned();
    let list = "company\nAcme Foods\n";
    world.place.write("list.csv", list);
    world.place.run(["scan", "list.csv", "--col=company"]).ok();
    std::fs::hard_link(world.place.at("list.csv"), world.place.at("page.html")).expect("a link");
    let run = world.place.run(["report", "--out=page.html", "--force"]);
    run.says("the source itself");
    run.exits(1);
    let left = fs::read_to_string(world.place.at("page.html")).expect("a list");
    assert_eq!(left, list);
}

#[test]
fn no_page_is_drawn_of_a_ledger_that_does_not_hold() {
    let world = played();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    fs::write(&path, good.replacen("\"tries\":1", "\"tries\":0", 1)).expect("a ledger");
    let run = world.place.run(["report", "--out=a.html"]);
    assert!(
        run.code == 8 && run.stderr.contains("no file was written"),
        "{run:?}"
    );
    assert!(!world.place.at("a.html").exists());
    fs::write(&path, good).expect("a ledger");
    world.place.run(["report", "--out=a.html"]).exits(8);
    assert!(world.place.at("a.html").exists());
}

#[test]
fn what_was_forgotten_is_in_no_picture_and_in_no_page() {
    let world = known();
    let shown = |name: &str| {
        world.place.run(["report", "--out", name]).exits(8);
        let html = fs::read_to_string(world.place.at(name)).expect("a page");
        let drawn = serde_json::to_string(&picture(&world, MOST_QUESTS)).expect("JSON");
        [html, drawn].map(|text| !mentions(&text, &|address| address == ADDRESS).is_empty())
    };
    assert_eq!(shown("before.html"), [true, true]);
    forget(&world).ok();
    assert_eq!(shown("after.html"), [false, false]);
    let picture = picture(&world, MOST_QUESTS);
    assert_eq!(picture.overview.forgotten, 2);
    for id in [1, 4] {
        let row = row(&picture, id);
        let damage = row.damage.as_deref().unwrap_or_default();
        assert!(
            damage.contains("forgotten") && row.excerpts.is_empty(),
            "{row:?}"
        );
    }
    assert_eq!(course(row(&picture, 1)), ["PASS", "disputed"]);
    assert!(row(&picture, 1).disputed && !row(&picture, 2).disputed);
    assert!(!marked(row(&picture, 2)).is_empty(), "others are shown");
}
