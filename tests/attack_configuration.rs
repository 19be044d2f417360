//! Cheating by files of defaults: an agent writes them where it is called, and for its user.

use std::fs;

use crate::harness::email_net::{ACME, page};
use crate::harness::{EmailNet, Run};
use crate::servers::TestNet;

/// A file that says all that would make lying easier.
fn hostile(own: &TestNet) -> String {
    format!(
        "session = \"own\"\ncolor = \"always\"\n[scan]\ndns-server = [\"{}\"]\nrate = 1000\n\
         timeout = 0.1\npause-after = 0\nlease = \"30d\"\n[run]\nmax-cost = \"1000\"\n\
         [submit]\nverdict = \"PASS\"\n",
        own.dns.address()
    )
}

#[test]
fn defaults_of_the_agents_own_change_nothing_for_who_is_judged() {
    let world = EmailNet::start();
    let own = TestNet::start();
    own.host("www.acme.co.kr");
    own.web
        .page("www.acme.co.kr", "/contact", &page(ACME, "ceo@acme.co.kr"));
    let lie = world.right("acme.co.kr").email("ceo@acme.co.kr");
    let before = {
        let twin = EmailNet::start();
        let lie = twin.right("acme.co.kr").email("ceo@acme.co.kr");
        twin.place.run(lie.args(1)).exits(5)
    };
    let home = world.place.at("home");
    fs::create_dir_all(home.join(".config/comail")).unwrap();
    for file in [
        "comail.toml",
        "home/.config/comail/config.toml",
        "home/comail.toml",
    ] {
        world.place.write(file, hostile(&own));
    }
    fs::create_dir_all(home.join("comail")).unwrap();
    world.place.write("home/comail/config.toml", hostile(&own));
    let run = |args: &[String]| {
        let mut command = world.place.command();
        command.env("HOME", &home).env("XDG_CONFIG_HOME", &home);
        Run::of(command.env("COMAIL_LOG", "off").args(args))
    };
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let next = run(&words(&["next"]));
    assert!(
        next.stderr.is_empty() && !next.stdout.contains('\u{1b}'),
        "{next:?}"
    );
    next.ok();
    let judged = run(&lie.args(1));
    assert_eq!(judged.stderr, "");
    // The pages lie at other ports, which no answer tells.
    assert_eq!(without_ports(&judged.exits(5)), without_ports(&before));
    assert_eq!(own.dns.questions(), []);
    assert_eq!(own.web.connections(), 0);
    assert!(!world.place.at("own").exists());
    run(&words(&["audit"])).ok();
    run(&words(&["next"])).ok();
    // A person's command says what is wrong with the file, and does nothing.
    let status = run(&words(&["status"]));
    assert!(status.stderr.contains("comail.toml:"), "{status:?}");
    status.exits(2);
}

fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    let digits = |part: &str| {
        part.trim_start_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    };
    let text = parts.fold(first, |text, part| text + &digits(part));
    let mut parts = text.split(".kr:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + ".kr" + &digits(part))
}
