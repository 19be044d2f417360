//! `weekly-report.toml`, played: a form, counts, and links that answer on loopback.

use crate::played::Played;

const HOST: &str = "work.acme-tools.com";
const SUMMARY: &str = "The counter for parcels now prints labels, the quote is a number again, and \
    the nightly backup has been restored once to see that it can be.";

fn scanned() -> Played {
    let play = Played::of("weekly-report");
    play.world.net.host(HOST);
    for path in ["/t/1", "/t/2", "/t/3"] {
        play.world.net.web.page(HOST, path, "<p>Done.</p>");
    }
    play.scan("weeks.txt");
    play
}

fn report(play: &Played, paths: &[&str]) -> String {
    let entry = |path: &&str| {
        let link = play.world.net.web.url(HOST, path);
        format!(r#"{{"what": "One more thing is done", "link": "{link}"}}"#)
    };
    let done: Vec<_> = paths.iter().map(entry).collect();
    format!(
        r#"{{"done": [{}], "next": ["More of it"]}}"#,
        done.join(", ")
    )
}

#[test]
fn reports_need_their_form_and_links_that_answer() {
    let play = scanned();
    assert!(play.next().contains("Write the report of 2026-W46"));
    let right = report(&play, &["/t/1", "/t/2", "/t/3"]);
    let week = "2026-W46";
    let submit = |summary: &str, report: &str, said: &str| {
        play.expect(week, &[("summary", summary), ("report", report)], said);
    };
    submit(
        SUMMARY,
        &report(&play, &["/t/1", "/t/2", "/t/9"]),
        "FAIL links-answer",
    );
    submit(
        SUMMARY,
        &report(&play, &["/t/1", "/t/1", "/t/1"]),
        "FAIL links-answer",
    );
    for paths in [
        ["/t/1?a=1", "/t/1?a=2", "/t/1?a=3"],
        ["/t/1", "/t/1/", "/%74/1"],
    ] {
        for path in paths {
            play.world.net.web.page(HOST, path, "<p>Done.</p>");
        }
        submit(SUMMARY, &report(&play, &paths), "FAIL pages-differ");
    }
    submit(
        SUMMARY,
        &report(&play, &["/t/1", "/t/2"]),
        "FAIL enough-done",
    );
    submit(SUMMARY, &right.replace(HOST, "acme-tools.com"), "FAIL form");
    submit(
        SUMMARY,
        &right.replace("\"next\"", "\"later\""),
        "FAIL form",
    );
    submit(
        SUMMARY,
        &right.replacen("One more thing is done", "Done", 1),
        "FAIL each-said",
    );
    submit(
        SUMMARY,
        "done: all",
        "FAIL each-said enough-done field-format form",
    );
    submit("All done.", &right, "FAIL enough-said");
    submit(SUMMARY, &right, "PASS");
    let again = SUMMARY.to_uppercase();
    let fields = [("summary", again.as_str()), ("report", right.as_str())];
    play.expect("2026-W47", &fields, "FAIL new-summary");
    play.ends(1, 0, 2);
}

#[test]
fn a_link_that_keeps_silent_leaves_it_to_a_person() {
    let play = scanned();
    let busy = crate::servers::http::Reply::status(503);
    play.world.net.web.reply(HOST, "/t/3", busy);
    let right = report(&play, &["/t/1", "/t/2", "/t/3"]);
    let fields = [("summary", SUMMARY), ("report", right.as_str())];
    play.expect("2026-W46", &fields, "REVIEW links-answer-unconfirmed");
    play.ends(0, 1, 2);
}
