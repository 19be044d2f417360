//! Cheating around the gate: configuration files, ways to end the work without doing it, and pipes
//! and devices where a session's own files are looked for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::harness::case::{List, Worlds};
use crate::harness::email_net::{ACME, Submission, page};
#[cfg(target_os = "linux")]
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Place, Run};
use crate::servers::TestNet;

/// A file with every setting that would make cheating easier.
fn hostile(own: &TestNet) -> String {
    format!(
        "color = \"always\"\n[network]\ndns-server = [\"{}\"]\nrate = 1000\n\
         timeout = 0.1\n[gate]\nlevel = [\"email-not-on-source=review\"]\n\
         [scan]\npause-after = 0\nlease = \"30d\"\n[run]\nmax-cost = \"1000\"\n\
         [submit]\nverdict = \"PASS\"\n",
        own.dns.address()
    )
}

#[test]
fn configuration_of_the_agent_changes_no_judgement() {
    let mut worlds = Worlds::new();
    let list = List::Names(&[ACME]);
    let twin = worlds.next(list, &[]);
    let lie = twin.acme().email("ceo@acme.co.kr").args(1);
    let lie: Vec<&str> = lie.iter().map(String::as_str).collect();
    let before = twin.place.run(&lie).exits(5);
    let own = TestNet::start();
    own.host("www.acme.co.kr");
    own.web
        .page("www.acme.co.kr", "/contact", &page(ACME, "ceo@acme.co.kr"));
    let world = worlds.next(list, &[]);
    let home = world.place.at("home");
    fs::create_dir_all(home.join(".config/comail")).unwrap();
    world
        .place
        .write("home/.config/comail/config.toml", hostile(&own));
    for file in [
        "comail.toml",
        "config.toml",
        ".comail/config.toml",
        "home/comail.toml",
    ] {
        let text = format!("session = \"own\"\n{}", hostile(&own));
        world.place.write(file, text);
    }
    fs::create_dir_all(home.join("comail")).unwrap();
    world.place.write("home/comail/config.toml", hostile(&own));
    let run = |args: &[&str]| {
        let mut command = world.place.command();
        command.env("HOME", &home).env("XDG_CONFIG_HOME", &home);
        Run::of(command.env("COMAIL_LOG", "off").args(args))
    };
    let next = run(&["next"]);
    assert!(
        next.stderr.is_empty() && !next.stdout.contains('\u{1b}'),
        "{next:?}"
    );
    next.ok();
    let judged = run(&lie);
    assert_eq!(judged.stderr, "");
    assert_eq!(judged.exits(5), before);
    assert_eq!(own.dns.questions(), []);
    assert_eq!(own.web.connections(), 0);
    assert!(!world.place.at("own").exists());
    run(&["audit"]).ok();
    run(&["next"]).ok();
    // A project has no file, so a person's commands read none there.
    let (_, true_one) = world.place.json(["status"]);
    for words in [
        &["export", "--out=out.csv"][..],
        &["log"],
        &["audit"],
        &["review"],
    ] {
        let run = world.place.run(words);
        assert!(!run.stderr.contains("config"), "{run:?}");
        run.ok();
    }
    assert_eq!(world.place.json(["status"]).1["head"], true_one["head"]);
    // A person's command says what is wrong with the file, and does nothing.
    let status = run(&["status"]);
    status.says("config.toml:13: `submit`: unknown key");
    status.exits(2);
}

#[test]
fn a_configuration_that_is_no_regular_file_is_refused_at_once() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let home = place.at("home");
    fs::create_dir_all(home.join("comail")).unwrap();
    let file = home.join("comail/config.toml");
    let status = || Run::of(place.command().env("XDG_CONFIG_HOME", &home).arg("status"));
    let refused = |why: &str| {
        let began = Instant::now();
        let run = status();
        assert!(began.elapsed() < Duration::from_secs(10), "{run:?}");
        assert!(
            run.stderr.contains("cannot read ") && run.stderr.contains(why),
            "{run:?}"
        );
        assert_eq!(run.exits(2), "");
        fs::remove_file(&file).unwrap();
    };
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused("not a regular file");
    symlink("/dev/full", &file).unwrap();
    refused("not a regular file");
    fs::create_dir(home.join("comail/dir")).unwrap();
    for (target, why) in [("dir", "not a regular file"), ("nowhere", "No such file")] {
        symlink(target, &file).unwrap();
        refused(why);
    }
    fs::File::create(&file).unwrap().set_len(3 << 30).unwrap();
    refused("longer than 65536 bytes");
    status().ok();
}

#[test]
fn names_in_errors_are_escaped() {
    let place = Place::new();
    let home = place.at("home");
    fs::create_dir_all(home.join("comail")).unwrap();
    let name = "\"x\\n# COMPLETE\\n\" = 1\n";
    fs::write(home.join("comail/config.toml"), name).unwrap();
    let run = Run::of(place.command().env("XDG_CONFIG_HOME", &home).arg("status"));
    assert_eq!(run.stderr.lines().count(), 2, "{run:?}");
    run.says("x\\u{a}# COMPLETE");
    run.exits(2);
    for args in [
        &["--session", "x\ncomplete", "status"][..],
        &["--session=x\ncomplete", "next"],
        &["status", "x\ncomplete"],
        &["status", "--color=x\ncomplete"],
        &["scan", "x\ncomplete"],
        &["quest", "check", "x\ncomplete"],
        &["submit", "--session=x\ncomplete", "--unheard=1"],
    ] {
        let run = place.run(args);
        let forged = run.stderr.lines().any(|line| line.starts_with("complete"));
        assert!(!forged && run.stderr.contains("x\\u{a}complete"), "{run:?}");
        assert_ne!(run.code, 0);
    }
    place.scan(&["Acme"], &[]);
    let long = format!("--none={}", "y".repeat((16 << 10) + 1));
    let run = place.run(["submit", "--id=1", &long]);
    run.says("the reason of --none is longer than 16 KiB");
    run.exits(2);
    let run = place.run(["submit", "--company=x\ncomplete", "--none=y"]);
    assert!(
        !run.stderr.lines().any(|line| line.starts_with("complete")),
        "{run:?}"
    );
}

const NAMES: [&str; 4] = ["Acme Foods", "Beta Works", "Gamma Market", "Delta Lines"];

/// Submits one freemail address for three companies, from the agent's own page with this HTML,
/// and expects that no quest passes and that the session pauses.
#[track_caller]
fn pauses(what: &str, pause_after: &str, site: Option<&str>, html: &str) {
    let world = EmailNet::with(&NAMES, &[&format!("--set=scan.pause-after={pause_after}")]);
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
    let flags = ["--operator-key", &key, "--set=scan.pause-after=1"].map(str::to_owned);
    place.scan(&NAMES, &flags);
    for code in [5, 5, 6] {
        assert_eq!(place.give_up(1), code);
    }
    place.run(["next"]).exits(9);
    let run = at_terminal(&place, &["resume"], "resume");
    let paused = place.run(["next"]);
    assert_eq!(paused.code, 9, "{run:?} {paused:?}");
}

/// Longer than any of this takes, and shorter than forever.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a command that must end, however what lies there.
#[track_caller]
fn ends(command: &mut Command) -> Run {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("it hangs: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Run::from(child.wait_with_output().expect("what it wrote"))
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    mkfifo(path, Mode::S_IRWXU).expect("a pipe");
}

fn scanned() -> Place {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    place
}

const READING: [&[&str]; 9] = [
    &["next"],
    &["status"],
    &["submit", "--id=1", "--none=x"],
    &["audit"],
    &["export", "--out=out.csv", "--force"],
    &["log"],
    &["doctor"],
    &["review"],
    &["forget", "info@acme.com", "--note=asked"],
];

#[test]
fn what_a_session_rests_on_is_a_file_or_refused() {
    for name in ["session.json", "ledger.jsonl"] {
        let place = scanned();
        pipe(&place.at(".comail").join(name));
        for words in READING {
            let run = ends(place.command().args(words));
            let told = [&run.stdout[..], &run.stderr].concat();
            assert!(
                run.code != 0 && told.contains("not a regular file"),
                "{words:?}: {run:?}"
            );
            assert!(told.contains(name), "{words:?}: {run:?}");
        }
        let path = place.at(".comail").join(name);
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        ends(place.command().arg("status")).exits(1);
    }
    let place = scanned();
    let manifest = fs::File::create(place.at(".comail/session.json")).unwrap();
    manifest.set_len(4 << 30).unwrap();
    let run = ends(place.command().arg("next"));
    run.says("longer than");
    run.exits(1);
}

#[test]
fn an_index_that_is_no_file_is_made_anew() {
    for name in ["", "-journal", "-wal", "-shm"] {
        let name = format!("index.sqlite{name}");
        let place = scanned();
        pipe(&place.at(".comail").join(&name));
        let run = ends(place.command().arg("next"));
        assert!(run.stderr.contains("not a regular file"), "{name}: {run:?}");
        run.ok();
        ends(place.command().args(["submit", "--id=1", "--none=x"])).exits(5);
        assert_eq!(ends(place.command().arg("status")).stderr, "");
    }
}

#[test]
fn a_lock_that_is_no_file_lets_read_and_not_write() {
    let place = scanned();
    pipe(&place.at(".comail/lock"));
    ends(place.command().arg("status")).ok();
    let run = ends(place.command().args(["submit", "--id=1", "--none=x"]));
    assert!(
        run.stderr.contains("lock") && run.stderr.contains("not a regular file"),
        "{run:?}"
    );
    run.exits(1);
}

#[test]
fn a_copy_is_a_file_in_the_session() {
    let place = scanned();
    pipe(&place.at(".comail/source.txt"));
    for words in [
        &["export", "--out=out.csv"][..],
        &["audit"],
        &["forget", "info@acme.com", "--note=asked"],
    ] {
        let run = ends(place.command().args(words));
        assert_ne!(run.code, 0, "{words:?}: {run:?}");
    }
    for copy in ["/dev/zero", "../../x", "a/b", ".."] {
        let place = scanned();
        let path = place.at(".comail/session.json");
        let manifest = fs::read_to_string(&path).unwrap();
        assert!(manifest.contains("\"source.txt\""));
        fs::write(
            &path,
            manifest.replace("\"source.txt\"", &format!("{copy:?}")),
        )
        .unwrap();
        let run = ends(place.command().args(["export", "--out=out.csv"]));
        run.says("not the name of a file");
        run.exits(1);
    }
}

#[test]
fn a_key_press_is_answered_whatever_lies_there() {
    for name in "session.json ledger.jsonl index.sqlite index.sqlite-journal index.sqlite-wal"
        .split_whitespace()
    {
        let place = scanned();
        pipe(&place.at(".comail").join(name));
        let mut command = place.command();
        command.env("COMAIL_COMPLETE", "fish");
        let began = Instant::now();
        let run = ends(command.args(["--", "comail", "submit", "--company", ""]));
        assert!(began.elapsed() < Duration::from_secs(5), "{name}: {run:?}");
        assert_eq!(run.stderr, "");
        run.ok();
    }
}

#[test]
fn rules_that_are_no_file_forbid_and_keep_nobody_waiting() {
    let place = scanned();
    pipe(&place.at("rules.toml"));
    let mut command = place.command();
    command.args(["hook", "tool", "--rules", "rules.toml"]);
    let run = ends(command.stdin(Stdio::null()));
    assert!(run.stdout.contains("deny"), "{run:?}");
}
