//! What a shell is answered that asks what can be typed, and completions as they are typed in bash,
//! zsh and fish at a terminal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::email_net::{ACME, page};
use crate::harness::letters::{LETTERS, Letters};
use crate::harness::tmux::Tmux;
use crate::harness::{EmailNet, Place, Run, poll, tools};

const NAMES: [&str; 4] = [ACME, "한빛상사", "Zebra Inc.", "Zulu"];

/// Asks as fish does, whose answers say what they mean; the last word is being typed.
fn asked(place: &Place, words: &[&str]) -> String {
    let mut command = place.command();
    command
        .env("COMAIL_COMPLETE", "fish")
        .args(["--", "comail"]);
    let run = Run::of(command.args(words));
    assert_eq!(run.stderr, "", "{words:?}");
    run.ok()
}

/// The names alone of what is offered.
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let lines = asked(place, words);
    let names = lines.lines().filter_map(|line| line.split('\t').next());
    names.map(str::to_owned).collect()
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).expect("a directory");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.is_file());
    files
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect()
}

/// A PASS, two REVIEWs of which a person accepted one, and one that is TODO.
fn world() -> EmailNet {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    let flags = world.flags_with(&["--operator-key", &key]);
    world.place.scan(&NAMES, &flags);
    world.expect(1, &world.right("acme.co.kr"), "PASS", &[]);
    world.company("hanbit.co.kr", NAMES[1]);
    world.company("zebra.co.kr", NAMES[2]);
    for (id, domain, name) in [(2, "hanbit", NAMES[1]), (3, "zebra", "Zebra Inc.")] {
        let text = format!("Sales<br>info [at] {domain} [dot] co [dot] kr<br>Seoul");
        let www = format!("www.{domain}.co.kr");
        world.net.web.page(&www, "/contact", &page(name, &text));
        let right = world.right(&format!("{domain}.co.kr"));
        world.expect(id, &right, "REVIEW", &["email-obfuscated"]);
    }
    let accept = ["review", "accept", "3", "--note=seen", "--operator-key"];
    world.place.run(accept.into_iter().chain([&*key])).ok();
    world
}

#[test]
fn each_argument_is_offered_what_it_can_name() {
    let world = world();
    let place = &world.place;
    place.run(["next", "--worker", "w1"]).ok();
    fs::create_dir(place.at("some-dir")).expect("a directory");
    fs::create_dir(place.at(".hidden")).expect("a directory");
    place.write("some-file", "");
    let before = files(&place.at(".comail"));
    for (words, wanted) in [
        (&["submit", "--company", ""][..], &["Zulu"][..]),
        (&["submit", "--company", "한"], &[]),
        (&["submit", "--id", ""], &["4"]),
        (&["submit", "--company=Z"], &["--company=Zulu"]),
        (&["submit", "--em"], &["--email"]),
        (&["submit", "--worker", ""], &["w1"]),
        (&["next", "--worker", "w"], &["w1"]),
        (&["next", "--worker", "x"], &[]),
        (&["release", ""], &["4"]),
        (&["release", "--worker", ""], &["w1"]),
        (&["dispute", ""], &["1", "3", "Acme Foods", "Zebra Inc."]),
        (&["show", "4"], &["4"]),
        (&["show", "Zu"], &["Zulu"]),
        (&["list", "--rule", "freem"], &["freemail"]),
        (&["list", "--worker", "w"], &["w1"]),
        (&["review", "accept", "2"], &["2"]),
        (&["review", "accept", "3"], &[]),
        (&["review", "reject", ""], &["2", "한빛상사"]),
        (&["review", "reject", "--rule", "freem"], &["freemail"]),
        (&["review", "reopen", "Z"], &["Zebra Inc."]),
        (&["scan", "--header", ""], &["auto", "yes", "no"]),
        (&["scan", "--set", "network.ra"], &["network.rate="]),
        (&["scan", "--set", "gr"], &[]),
        (&["run", "--set", "gr"], &["grace="]),
        (&["export", "--state", "pass,r"], &["pass,review"]),
        (&["log", "--type", "att"], &["attempt"]),
        (&["hook", "install", "--agent", "c"], &["claude", "codex"]),
        (&["stat"], &["status"]),
        (&["completions", "z"], &["zsh"]),
        (&["nonsense", "--wh"], &[]),
        (&["help", "subm"], &["submit"]),
        (&["help", "email-g"], &["email-gate"]),
        (&["help", "contai"], &["contains"]),
        (&["help", "review", "acc"], &["accept"]),
        (&["help", "status", "a"], &[]),
        (&["rules", "freem"], &["freemail"]),
        (&["--session", ""], &[".", "some-dir/"]),
        (&["--session=.c"], &["--session=.comail/"]),
        (&["status", "--session", "s"], &["some-dir/"]),
        (&["man", "--out", "s"], &["some-dir/"]),
    ] {
        let found = offered(place, words);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let found: Vec<&str> = match words {
            // A place for values alone takes flags too.
            ["review" | "dispute" | "release", .., last] if !last.starts_with('-') => found
                .into_iter()
                .filter(|name| !name.starts_with('-'))
                .collect(),
            _ => found,
        };
        assert_eq!(found, wanted, "{words:?}");
    }
    let ids = asked(place, &["show", "2"]);
    assert_eq!(ids, "2\t한빛상사\n");
    assert_eq!(files(&place.at(".comail")), before);
}

#[test]
fn the_session_that_is_meant_answers_and_no_other() {
    let place = Place::new();
    place.scan(&["Here"], &[]);
    place.write("there.txt", "There");
    place
        .run(["scan", "there.txt", "--session", "other dir"])
        .ok();
    let key = ["submit", "--company", ""];
    assert_eq!(offered(&place, &key), ["Here"]);
    let named = [&["--session", "other dir"], &key[..]].concat();
    assert_eq!(offered(&place, &named), ["There"]);
    let mut command = place.command();
    command
        .env("COMAIL_SESSION", "other dir")
        .env("COMAIL_COMPLETE", "fish")
        .args(["--", "comail"]);
    assert_eq!(Run::of(command.args(key)).ok(), "There\tquest 1, TODO\n");
    let missing = [&["--session", "nowhere"], &key[..]].concat();
    assert!(offered(&place, &missing).is_empty());
    assert!(!place.at("nowhere").exists());
}

#[test]
fn a_session_of_another_kind_offers_its_own_fields() {
    let letters = Letters::scanned(LETTERS);
    let flags = offered(&letters.place, &["submit", "--"]);
    for field in ["--letter", "--quote", "--total"] {
        assert!(flags.iter().any(|flag| flag == field), "{flags:?}");
    }
    assert!(!flags.iter().any(|flag| flag == "--company"), "{flags:?}");
}

#[test]
fn without_a_sound_index_nothing_is_offered_and_nothing_made() {
    let place = Place::new();
    place.scan(&["Here"], &[]);
    let key = ["submit", "--company", ""];
    let index = place.at(".comail/index.sqlite");
    for bytes in [
        None,
        Some(&b""[..]),
        Some(b"not a database, and longer than nothing"),
    ] {
        match bytes {
            None => fs::remove_file(&index).expect("an index"),
            Some(bytes) => fs::write(&index, bytes).expect("a file"),
        }
        let before = files(&place.at(".comail"));
        assert!(offered(&place, &key).is_empty());
        assert_eq!(files(&place.at(".comail")), before);
    }
    place.run(["status"]).ok();
    assert_eq!(offered(&place, &key), ["Here"]);
}

#[test]
fn only_what_a_shell_asks_is_answered_so() {
    let place = Place::new();
    for value in ["bash", "tcsh", ""] {
        let mut command = place.command();
        let run = Run::of(command.env("COMAIL_COMPLETE", value).arg("--version"));
        assert!(run.ok().starts_with("comail "), "{value}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let mut command = place.command();
        let run = Run::of(command.env("COMAIL_COMPLETE", shell).arg("--"));
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (0, "", ""),
            "{shell}"
        );
    }
}

#[test]
fn at_most_200_are_offered() {
    let place = Place::new();
    let names: Vec<String> = (1..=450)
        .map(|number| format!("Company {number}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    place.scan(&names, &[]);
    assert_eq!(offered(&place, &["submit", "--company", ""]).len(), 200);
    assert_eq!(offered(&place, &["submit", "--id", ""]).len(), 200);
    assert_eq!(
        offered(&place, &["submit", "--company", "Company\\ 44"]).len(),
        11
    );
    let ids = offered(&place, &["submit", "--id", "44"]);
    assert_eq!(ids.len(), 11);
    assert_eq!(ids[..3], ["44", "440", "441"]);
}

#[test]
fn manual_pages_are_written_whole_and_replaced() {
    let place = Place::new();
    let page = place.run(["man"]).ok();
    assert!(page.contains(".TH comail 1"), "{page}");
    place.write("pages", "");
    assert_eq!(place.run(["man", "--out=pages"]).code, 1);
    for _ in 0..2 {
        let (code, written) = place.json(["man", "--out=share/man1"]);
        assert_eq!(code, 0);
        let files = written["files"].as_array().expect("files");
        assert!(files.len() > 25, "{written}");
        let text = |file: &Value| {
            let path = place.at("share/man1").join(file.as_str().expect("a name"));
            fs::read_to_string(path).expect("a page")
        };
        for file in files {
            let (name, text) = (file.as_str().expect("a name"), text(file));
            let below = match name {
                "comail.1" => ".SH \"EXIT CODES\"",
                _ => ".SH EXAMPLES",
            };
            assert!(text.contains(".SH NAME") && text.contains(below), "{name}");
        }
        let submit = text(&"comail-submit.1".into()).replace("\\-", "-");
        for part in ["comail-submit", "--company", ".nf", "comail submit"] {
            assert!(submit.contains(part), "{part}: {submit}");
        }
        for file in ["comail.1", "comail-review-accept.1", "comail-man.1"] {
            assert!(files.contains(&file.into()), "{written}");
        }
        let left = fs::read_dir(place.at("share/man1"))
            .expect("a directory")
            .count();
        assert_eq!(left, files.len());
    }
    place.scan(&["Here"], &[]);
    assert_eq!(place.run(["man", "--out=.comail"]).code, 2);
}

/// What is typed for `--company`, and the key that it must come to.
const KEYS: [(&str, &str); 14] = [
    ("k01", "k01 Acme Co., Ltd."),
    ("k02", "k02 $(touch pwned)"),
    ("k03", "k03 `touch pwned`"),
    ("k04", "k04 'one' \"two\" it's"),
    ("k05", "k05; touch pwned # & | < > ( ) { a,b }"),
    ("k06", "k06 * ? [a] ~ ^ = @ %"),
    ("k07", "k07 \\ back\\$HOME \\"),
    ("k08", "k08 colon: a:b=c"),
    ("k09", "k09 !! !touch"),
    ("k10", "k10 한빛 상사 ㈜"),
    ("--f", "--flag $x"),
    ("k12", "k12\nline\t tab"),
    ("\\~", "~root/x"),
    ("k14", "k14 ${x:-$(touch pwned)} $x"),
];

/// A key of which the first word was typed with its space quoted.
const ESCAPED: (&str, &[&str]) = ("--company k03\\ ", &["--company", "k03 `touch pwned`"]);

/// Bash passes the parts of such a word on their own, and completes nothing.
const JOINED: (&str, &[&str]) = (
    "--company=k05",
    &["--company=k05; touch pwned # & | < > ( ) { a,b }"],
);

fn place() -> Place {
    let place = Place::new();
    let list: Vec<String> = KEYS
        .iter()
        .map(|(_, key)| serde_json::json!({ "name": key }).to_string())
        .collect();
    place.write("list.jsonl", list.join("\n"));
    place.run(["scan", "list.jsonl", "--col", "name"]).ok();
    // What a pattern would come to.
    place.write("k06 a", "");
    place
}

/// A shell at a terminal, to which the program is known and its completions are.
struct Shell<'a> {
    place: &'a Place,
    terminal: Tmux,
    seen: PathBuf,
}

impl<'a> Shell<'a> {
    fn start(place: &'a Place, program: &[&str], set_up: &str) -> Self {
        tools::installed(program[0], "--version");
        let rc = place.write("rc", set_up);
        let path = std::path::Path::new(env!("CARGO_BIN_EXE_comail"));
        let own = path.parent().expect("a directory").display().to_string();
        let env = [
            ("PATH", format!("{own}:/usr/local/bin:/usr/bin:/bin")),
            ("TERM", "xterm".to_owned()),
            ("HISTFILE", "/dev/null".to_owned()),
        ];
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, &**value)).collect();
        let rc = rc.display().to_string();
        let program: Vec<&str> = program
            .iter()
            .map(|word| if *word == "RC" { &*rc } else { *word })
            .collect();
        let terminal = Tmux::program(place, (200, 50), &env, &program);
        let seen = place.at("seen");
        let shell = Self {
            place,
            terminal,
            seen,
        };
        shell.terminal.shows(&["ready>"]);
        shell
    }

    /// The words that a line comes to which is typed and completed.
    #[track_caller]
    fn completed(&self, typed: &str) -> Vec<String> {
        let _ = fs::remove_file(&self.seen);
        self.terminal.types(typed);
        self.terminal.press(&["Tab", "C-a"]);
        self.terminal.types("seen ");
        self.terminal.press(&["Enter"]);
        let mut words = String::new();
        let come = poll::tried(|| {
            words = fs::read_to_string(&self.seen).unwrap_or_default();
            words.ends_with("\0end\0")
        });
        let screen = || self.terminal.asks("#{pane_current_command}");
        assert!(come, "{typed:?} comes to nothing in {}", screen());
        let words = words.split('\0').map(str::to_owned).collect::<Vec<_>>();
        words[..words.len() - 2].to_vec()
    }

    /// Types every key, and finds it as it is.
    fn completes_all(&self, further: &[(&str, &[&str])]) {
        let before = fs::read(self.place.at(".comail/index.sqlite")).expect("an index");
        for (typed, key) in KEYS {
            let words = self.completed(&format!("comail submit --company {typed}"));
            let folded = key.split_whitespace().collect::<Vec<_>>().join(" ");
            let key = if key.contains('\n') { &folded } else { key };
            assert_eq!(words, ["comail", "submit", "--company", key]);
        }
        for (typed, wanted) in further {
            let words = self.completed(&format!("comail submit {typed}"));
            assert_eq!(words[2..], **wanted, "{typed}");
        }
        for (typed, wanted) in [
            ("stat", "status"),
            ("help email-g", "help email-gate"),
            ("help statu", "help status"),
            ("help contai", "help contains"),
            ("submit --emai", "submit --email"),
            ("submit --company unknown", "submit --company unknown"),
            (
                "--session '.'comail submit --id 10",
                "--session .comail submit --id 10",
            ),
        ] {
            let words = self.completed(&format!("comail {typed}"));
            assert_eq!(words[1..].join(" "), wanted, "{typed}");
        }
        assert!(!self.place.at("pwned").exists(), "a key was run");
        let after = fs::read(self.place.at(".comail/index.sqlite")).expect("an index");
        assert!(before == after);
    }
}

#[test]
fn bash_completes_what_looks_like_a_command() {
    let place = place();
    let set_up = "\
        PS1='ready> '; set -o emacs; bind 'set bell-style none'\n\
        seen() { printf '%s\\0' \"$@\" end >seen.new; mv seen.new seen; }\n\
        source <(comail completions bash)\n";
    let bash = Shell::start(
        &place,
        &["bash", "--noprofile", "--rcfile", "RC", "-i"],
        set_up,
    );
    bash.completes_all(&[ESCAPED]);
}

#[test]
fn zsh_completes_what_looks_like_a_command() {
    let place = place();
    let set_up = "\
        PROMPT='ready> '; bindkey -e; unsetopt beep\n\
        autoload -Uz compinit && compinit -u -D\n\
        seen() { printf '%s\\0' \"$@\" end >seen.new; mv seen.new seen }\n\
        source <(comail completions zsh)\n";
    place.write(".zshrc", set_up);
    let zsh = Shell::start(&place, &["zsh", "-o", "no_global_rcs", "-i"], set_up);
    zsh.completes_all(&[ESCAPED, JOINED]);
}

#[test]
fn fish_completes_what_looks_like_a_command() {
    let place = place();
    let set_up = "\
        function fish_prompt; echo 'ready> '; end\n\
        set -U fish_greeting\n\
        function seen; printf '%s\\0' $argv end >seen.new; mv seen.new seen; end\n\
        comail completions fish | source\n";
    let fish = Shell::start(
        &place,
        &["fish", "--no-config", "-i", "-C", "source rc"],
        set_up,
    );
    fish.completes_all(&[ESCAPED, JOINED]);
}
