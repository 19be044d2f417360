//! Completions as they are typed, in real shells: bash, zsh and fish at a terminal.
//!
//! Each line is completed, then run with `seen` before it, which keeps the words that the shell
//! makes of it. So a key that looks like a command must come out as it went in.

use std::fs;
use std::path::PathBuf;

use crate::harness::poll;
use crate::harness::tmux::Tmux;
use crate::harness::{Place, tools};

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
const ESCAPED: (&str, &[&str]) = ("--key k03\\ ", &["--key", "k03 `touch pwned`"]);

/// Bash passes the parts of such a word on their own, and completes nothing.
const JOINED: (&str, &[&str]) = (
    "--key=k05",
    &["--key=k05; touch pwned # & | < > ( ) { a,b }"],
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
            ("submit --key unknown", "submit --key unknown"),
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
