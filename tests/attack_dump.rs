//! Ways to end the work without doing it.

use crate::harness::email_net::Submission;
#[cfg(target_os = "linux")]
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Place};

const NAMES: [&str; 4] = ["Acme Foods", "Beta Works", "Gamma Market", "Delta Lines"];

/// Submits one freemail address for three companies, from the agent's own page with this HTML,
/// and expects that no quest passes and that the session pauses.
#[track_caller]
fn pauses(what: &str, pause_after: &str, site: Option<&str>, html: &str) {
    let world = EmailNet::with(&NAMES, &["--pause-after", pause_after]);
    for host in ["agent.kr", "gmail.com"] {
        world.net.host(host);
    }
    world.net.dns.mx("gmail.com", 10, "gmail.com");
    let html = format!("<meta charset=utf-8>{html}<p>dump.it.all@gmail.com</p>");
    world.net.web.page("agent.kr", "/", &html);
    let page = world.net.web.url("agent.kr", "/");
    let submission = Submission {
        site: site.map_or_else(|| page.clone(), |host| world.right(host).site),
        email: "dump.it.all@gmail.com".to_owned(),
        source: page,
    };
    for id in 1..=3 {
        let (code, answer) = world.submit(id, &submission);
        // With a page that names every company the pause may come before the third.
        let is_judged = site.is_none() || matches!(code, 0 | 6);
        assert!(is_judged, "{what}: {answer}");
        assert_ne!(answer["verdict"], "PASS", "{what}: {answer}");
    }
    let next = world.place.run(["next"]);
    assert_eq!(next.code, 9, "{what}: {next:?}");
}

#[test]
fn one_freemail_address_for_every_company_pauses() {
    pauses("a page of any host", "3", Some("acme.co.kr"), "");
}

/// What an agent's own page has that names every company of the list, and one address.
fn pages_for_all() -> Vec<(&'static str, String)> {
    let lines = |sign: &str| NAMES.join(sign);
    let organizations = NAMES.map(|name| {
        format!(
            "<script type=\"application/ld+json\">{{\"@type\":\"Organization\",\"name\":\"{name}\"}}</script>"
        )
    });
    let within =
        |tag: &str, start: &str, sign: &str| format!("<{tag}>{start}{}</{tag}>", lines(sign));
    vec![
        ("header", within("header", "", "<br>")),
        ("headings", within("h1", "", "</h1><h1>")),
        ("footer", within("footer", "", "<br>")),
        ("title", within("title", "", " | ")),
        ("copyright", within("footer", "© ", " · © ")),
        ("copyrights", within("footer", "© ", "<br>© ")),
        ("organizations", organizations.concat()),
        ("company lines", within("footer", "상호: ", "<br>상호: ")),
    ]
}

#[test]
fn one_page_that_names_every_company_and_a_freemail_address_pauses() {
    for (what, html) in pages_for_all() {
        pauses(what, "2", None, &html);
    }
}

/// A terminal is easily had; where the operator froze a key, the key is what is asked for.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_does_not_replace_the_operators_key() {
    let place = Place::new();
    let key = place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    let flags = ["--operator-key", &key, "--pause-after", "1"].map(str::to_owned);
    place.scan(&NAMES, &flags);
    for code in [5, 5, 6] {
        assert_eq!(place.give_up(1), code);
    }
    place.run(["next"]).exits(9);
    let run = at_terminal(&place, &["resume"], "resume");
    let paused = place.run(["next"]);
    assert_eq!(paused.code, 9, "{run:?} {paused:?}");
}
