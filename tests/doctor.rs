//! `comail doctor`: sound and broken sessions, and resolvers and servers that lie.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::harness::email_net::WWW;
use crate::harness::{EmailNet, Place, Run};
use crate::servers::http::Reply;
use crate::servers::{TestNet, closed_port};

/// What the check of this name told: the worst of its levels, and all that was found.
#[track_caller]
fn told(answer: &Value, check: &str) -> (String, String) {
    let findings = answer["findings"].as_array().expect("findings");
    let of_it = findings.iter().filter(|finding| finding["check"] == check);
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let found: Vec<_> = of_it
        .clone()
        .map(|finding| text(finding, "found"))
        .collect();
    let levels = ["problem", "note", "ok"].into_iter();
    let worst = levels.clone().find(|level| {
        let mut of_it = of_it.clone();
        of_it.any(|finding| finding["level"] == *level)
    });
    for finding in of_it {
        // Whatever is not as it should be says how to solve it.
        assert_eq!(
            finding["level"] == "ok",
            finding["hint"].is_null(),
            "{finding}"
        );
    }
    (worst.unwrap_or("none").to_owned(), found.join("; "))
}

/// Asks with these further arguments, and expects the exit code that fits.
#[track_caller]
fn asks(place: &Place, args: &[&str]) -> Value {
    let (code, answer) = place.json([&["doctor"], args].concat());
    let sound = answer["healthy"].as_bool().expect("a verdict");
    assert_eq!(code, if sound { 0 } else { 8 }, "{answer:#}");
    answer
}

fn level(answer: &Value, check: &str) -> String {
    told(answer, check).0
}

#[test]
fn a_sound_session_in_a_sound_world_has_no_problem() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    world.net.tls.page(WWW, "/", "hello");
    let url = world.net.tls.url(WWW, "/");
    let answer = asks(&world.place, &["--url", &url, "--absent", "made.up.test"]);
    for check in "session permissions lock evidence file-system dns tls clock".split(' ') {
        assert_eq!(level(&answer, check), "ok", "{check}: {answer:#}");
    }
    assert_eq!(level(&answer, "agents"), "note");
    assert_eq!(answer["healthy"], true);
    assert_eq!(world.place.ledger(), before);
    let left = fs::read_dir(world.place.at(".comail")).unwrap();
    assert!(
        left.flatten()
            .all(|entry| !entry.file_name().to_string_lossy().contains("doctor"))
    );
}

#[test]
fn a_world_that_lies_is_a_problem() {
    let world = EmailNet::start();
    world.net.host("made.up.test");
    let long_ago = "Sun, 06 Nov 1994 08:49:37 GMT";
    let reply = Reply::html("hello").with("Date", long_ago);
    world.net.tls.reply(WWW, "/", reply);
    let url = world.net.tls.url(WWW, "/");
    let answer = asks(&world.place, &["--url", &url, "--absent", "made.up.test"]);
    let (level_of_dns, found) = told(&answer, "dns");
    assert_eq!(level_of_dns, "problem", "{answer:#}");
    assert!(found.contains("made.up.test does not exist"), "{found}");
    let (level_of_clock, found) = told(&answer, "clock");
    assert_eq!(level_of_clock, "problem", "{answer:#}");
    assert!(found.contains("1994-11-06T08:49:37Z"), "{found}");
    // Whose certificate the session does not trust is nobody to be believed.
    let other = TestNet::start();
    let url = other.tls.url(WWW, "/");
    let answer = asks(&world.place, &["--url", &url, "--absent", "nothing.test"]);
    assert_eq!(level(&answer, "tls"), "problem", "{answer:#}");
    assert_eq!(level(&answer, "dns"), "ok", "{answer:#}");
    // A name that everybody knows, and the resolver does not.
    let answer = asks(&world.place, &["--url", "https://known.test/"]);
    assert_eq!(level(&answer, "dns"), "problem", "{answer:#}");
}

#[test]
fn no_network_is_a_note_and_none_is_asked_offline() {
    let place = Place::new();
    let nobody = closed_port().to_string();
    let answer = asks(&place, &["--dns-server", &nobody]);
    for check in ["session", "dns", "tls"] {
        assert_eq!(level(&answer, check), "note", "{check}: {answer:#}");
    }
    assert_eq!(answer["healthy"], true, "{answer:#}");
    let named = asks(&place, &["--offline", "--session", "nowhere"]);
    assert_eq!(level(&named, "session"), "problem");
    let world = EmailNet::start();
    let url = world.net.tls.url(WWW, "/");
    let answer = asks(&world.place, &["--offline", "--url", &url]);
    assert_eq!(level(&answer, "dns"), "none");
    assert_eq!(level(&answer, "tls"), "ok");
    assert_eq!(world.net.dns.questions(), []);
    assert_eq!(world.net.tls.connections(), 0);
    let ill = ["doctor", "--url", "https://127.0.0.1/"];
    world.place.run(ill).exits(2);
}

#[test]
fn what_is_broken_in_a_session_is_told_and_left_as_it_is() {
    let world = EmailNet::start();
    world.spoils();
    assert_eq!(world.place.give_up(1), 5);
    let place = &world.place;
    let at = |name: &str| place.at(&format!(".comail/{name}"));
    let offline = || asks(place, &["--offline"]);
    let broken = |name: &str, text: &[u8], expected: &str| {
        let kept = fs::read(at(name)).unwrap();
        fs::write(at(name), text).unwrap();
        let answer = offline();
        assert_eq!(level(&answer, "session"), expected, "{name}: {answer:#}");
        assert_eq!(fs::read(at(name)).unwrap(), text, "{name}");
        fs::write(at(name), kept).unwrap();
    };
    let ledger = place.ledger();
    let torn = [&ledger[..], b"{\"seq\":"].concat();
    broken("ledger.jsonl", &torn, "note");
    let flipped = String::from_utf8(ledger.clone()).unwrap();
    let flipped = flipped.replace("looked everywhere", "looked nowhere!!!");
    broken("ledger.jsonl", flipped.as_bytes(), "problem");
    let lines: Vec<_> = ledger.split_inclusive(|byte| *byte == b'\n').collect();
    broken(
        "ledger.jsonl",
        &lines[..lines.len() - 1].concat(),
        "problem",
    );
    broken("session.json", b"{}", "problem");
    broken("session.json", b"{\"format\": 99}", "problem");
    broken("index.sqlite", b"no database", "problem");
    let index = fs::read(at("index.sqlite")).unwrap();
    fs::remove_file(at("index.sqlite")).unwrap();
    assert_eq!(level(&offline(), "session"), "note");
    assert!(!at("index.sqlite").exists());
    fs::write(at("index.sqlite"), index).unwrap();
    fs::rename(at("evidence"), at("elsewhere")).unwrap();
    assert_eq!(level(&offline(), "evidence"), "problem");
    fs::rename(at("elsewhere"), at("evidence")).unwrap();
    assert_eq!(offline()["healthy"], true);
}

#[test]
fn a_session_that_others_may_enter_is_a_problem() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = EmailNet::start();
    let session = world.place.at(".comail");
    fs::set_permissions(&session, fs::Permissions::from_mode(0o755)).unwrap();
    let answer = asks(&world.place, &["--offline"]);
    assert_eq!(level(&answer, "permissions"), "problem");
    let text = world.place.run(["doctor", "--offline"]).exits(8);
    let hint = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("hint: "));
    let hint = hint.expect("a hint");
    // The hint solves it.
    Run::of(world.place.shell(hint).current_dir(world.place.path())).ok();
    let answer = asks(&world.place, &["--offline"]);
    assert_eq!(level(&answer, "permissions"), "ok", "{answer:#}");
}

#[test]
fn a_clock_before_the_ledgers_last_line_and_a_slow_resolver_end_in_bounded_time() {
    let world = EmailNet::start();
    let hung = crate::servers::dns::Answer::Silence;
    world.net.dns.says_always(WWW, &hung);
    let url = world.net.tls.url(WWW, "/");
    let began = std::time::Instant::now();
    let answer = asks(&world.place, &["--url", &url]);
    assert_eq!(level(&answer, "dns"), "note", "{answer:#}");
    assert_eq!(level(&answer, "tls"), "note", "{answer:#}");
    // Far above what it takes: that it ends at all is what counts.
    assert!(began.elapsed() < Duration::from_mins(1));
}

#[test]
fn reads_well() {
    let world = EmailNet::start();
    let mut command = world.place.command();
    let text = Run::of(command.args(["doctor", "--offline"])).ok();
    // What depends on the machine is left out, with its hint.
    let machine = "(?m)^.{9}(confinement|space|file system) .*\\n( +hint: .*\\n)?";
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(machine, "");
    settings.add_filter("[0-9a-f]{64}", "[head]");
    settings.add_filter("[0-9]+ authorities", "[n] authorities");
    settings.add_filter("[0-9]+ notes?\n?$", "[n] notes");
    settings.bind(|| insta::assert_snapshot!("doctor", text));
}
