//! Cheating by configuration files, which an agent can write for its user and in the project.

use std::fs;
use std::time::{Duration, Instant};

use crate::harness::case::{List, Worlds};
use crate::harness::email_net::{ACME, page};
use crate::harness::{Place, Run};
use crate::servers::TestNet;

/// A file with every setting that would make cheating easier.
fn hostile(own: &TestNet) -> String {
    format!(
        "color = \"always\"\n[scan]\ndns-server = [\"{}\"]\nrate = 1000\n\
         timeout = 0.1\npause-after = 0\nlease = \"30d\"\n[run]\nmax-cost = \"1000\"\n\
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
        &["export", "out.csv"][..],
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
    status.says("config.toml: unknown key `submit`");
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
    let run = place.run(["submit", "--company=x\ncomplete", "--none=y"]);
    assert!(
        !run.stderr.lines().any(|line| line.starts_with("complete")),
        "{run:?}"
    );
}
