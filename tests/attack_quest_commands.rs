//! Scripts that fight the one who judges them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use walkdir::WalkDir;

use crate::harness::shell_quest::ShellQuest;

#[test]
fn nothing_but_the_copy_is_written() {
    let quest = ShellQuest::new("20s");
    let before = quest.place.ledger();
    let place = quest.place.path().display().to_string();
    for target in [
        ".comail/ledger.jsonl",
        ".comail/session.json",
        ".comail/index.sqlite",
        ".comail/evidence/new",
        "quest.toml",
        "tree/in/yes.sh",
        "tree/in/new",
        "new",
        "tmp/new",
    ] {
        quest.refuses(&format!("echo made >> {place}/{target} && exit 0; exit 1"));
        quest.refuses(&format!(
            "rm -f {place}/{target} && ! cat {place}/{target} && echo gone; exit 1"
        ));
    }
    assert!(quest.place.ledger().starts_with(&before));
    for name in ["new", "tmp/new", "tree/in/new", ".comail/evidence/new"] {
        assert!(!quest.place.at(name).exists(), "{name}");
    }
    assert_eq!(
        fs::read_to_string(quest.at("in/yes.sh")).expect("a file"),
        "exit 0\n"
    );
    assert_eq!(quest.place.json(["audit"]).0, 0);
}

#[test]
fn a_tree_that_is_deleted_is_a_copy() {
    let quest = ShellQuest::new("20s");
    quest.refuses("chmod 0 in; rm -rf ./* ../* 2>/dev/null; exit 1");
    assert_eq!(
        fs::read_to_string(quest.at("own/data")).expect("a file"),
        "as it was\n"
    );
    assert_eq!(quest.tries("exit 0").verdict, "PASS");
    let left: Vec<_> = fs::read_dir(quest.place.at("tmp"))
        .expect("a folder")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_an_agent_changed_elsewhere_is_not_seen() {
    let quest = ShellQuest::new("20s");
    fs::write(quest.at("own/data"), "changed\n").expect("a file");
    fs::write(quest.at("own/new"), "new\n").expect("a file");
    quest.refuses("grep -q changed own/data || test -e own/new");
    fs::remove_file(quest.at("own/data")).expect("a file to remove");
    assert_eq!(quest.tries("grep -q 'as it was' own/data").verdict, "PASS");
}

#[test]
fn no_configuration_from_above_is_found() {
    let quest = ShellQuest::new("20s");
    for above in ["tmp", "."] {
        let folder = quest.place.at(above).join(".tool");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("config"), "all = \"well\"\n").expect("a file");
    }
    // As tools look for what they are to do: here, and in every directory above.
    quest.refuses(
        "while [ \"$PWD\" != / ]; do cd .. || exit 1; [ -e .tool/config ] && exit 0; done; exit 1",
    );
    quest.refuses("ls -a .. | grep -q tool");
    assert_eq!(
        quest.tries("cd own && cd .. && grep -q . own/data").verdict,
        "PASS"
    );
}

#[test]
fn nobody_is_reached_by_network() {
    let quest = ShellQuest::new("20s");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let program = format!(
        "import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(\"reached\")"
    );
    let said = quest.refuses(&format!("python3 -I -c '{program}'"));
    assert!(
        !said.all.to_string().contains("reached\\n"),
        "{:#}",
        said.all
    );
}

#[test]
fn nothing_outlives_its_judgement() {
    let quest = ShellQuest::new("2s");
    // Nobody else sleeps for as long.
    let span = format!("86{}", std::process::id());
    let script = format!(
        "trap '' TERM HUP INT
        for i in 1 2 3 4 5 6 7 8 9 10; do
            for j in 1 2 3 4 5 6 7 8 9 10; do sleep {span} & done
        done
        setsid sh -c 'trap \"\" TERM; (setsid sleep {span} &) ; sleep {span}' &
        wait
        exit 0"
    );
    let said = quest.refuses(&script);
    assert!(
        said.all.to_string().contains("still running after 2s"),
        "{:#}",
        said.all
    );
    assert_eq!(sleepers(&span), 0);
    // One that ends well and leaves some behind has none left either.
    let left = format!("setsid sleep {span} & sleep {span} & exit 0");
    assert_eq!(quest.tries(&left).verdict, "PASS");
    assert_eq!(sleepers(&span), 0);
}

/// How many processes sleep for so long.
fn sleepers(span: &str) -> usize {
    let lines = fs::read_dir("/proc")
        .expect("processes")
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("cmdline")).ok());
    lines
        .filter(|line| line.starts_with("sleep\0") && line.contains(span))
        .count()
}

#[test]
fn output_without_end_is_cut_off() {
    let quest = ShellQuest::new("60s");
    for script in [
        "head -c 2000000000 /dev/zero; exit 0",
        "head -c 2000000000 /dev/zero >&2; exit 0",
        "yes PASS | head -c 2000000000; exit 0",
    ] {
        let said = quest.refuses(script);
        assert!(said.all.to_string().len() < 100_000, "{script}");
        assert!(
            said.all.to_string().contains("it printed more"),
            "{:#}",
            said.all
        );
    }
    assert!(bytes_in(&quest.place.at(".comail")) < 2_000_000);
}

fn bytes_in(dir: &Path) -> u64 {
    let files = WalkDir::new(dir).into_iter().filter_map(Result::ok);
    files
        .filter_map(|file| file.metadata().ok())
        .map(|meta| meta.len())
        .sum()
}

#[test]
fn whoever_kills_its_parent_does_not_pass() {
    let quest = ShellQuest::new("5s");
    quest.refuses("kill -9 $PPID; exit 1");
    quest.refuses("kill -9 -1; exit 1");
    quest.refuses("kill -9 $$");
    quest.refuses("kill -STOP $$; exit 0");
    assert_eq!(quest.tries("exit 0").verdict, "PASS");
}

#[test]
fn a_terminal_is_not_typed_into() {
    let quest = ShellQuest::new("20s");
    quest.refuses("exec 3<>/dev/tty && exit 0; exit 1");
    quest.refuses("read line && exit 0; exit 1");
}
