//! README.md is true: every command in it is run, and what it prints is what it shows.

use std::fs;
use std::path::Path;

use crate::harness::{Place, Run};

const README: &str = include_str!("../README.md");
const CI: &str = include_str!("../.ci/run");

/// How the README says `comail` before it is built.
const BUILD_AND_RUN: &str = "cargo run --release -- ";

/// What separates the outputs of two commands.
const END: char = '\u{1e}';

/// Types the commands into one shell in an empty folder, without any variable of the harness. Returns
/// the exit code of each, and what a person sees of it.
fn by_hand(place: &Place, scripts: &[String]) -> Vec<(String, String)> {
    let mut typed = String::from("exec 2>&1\n");
    for script in scripts {
        typed += script;
        typed += "\nprintf '\\036%s\\036' $?\n";
    }
    let program = Path::new(env!("CARGO_BIN_EXE_comail")).parent();
    let program = program.expect("the program is in a folder").display();
    fs::create_dir(place.at("home")).expect("a folder");
    fs::create_dir(place.at("here")).expect("a folder");
    let mut shell = place.shell(&typed);
    shell
        .env("PATH", format!("{program}:/usr/local/bin:/usr/bin:/bin"))
        .env("HOME", place.at("home"))
        .current_dir(place.at("here"));
    let said = Run::of(&mut shell).ok();
    let parts: Vec<&str> = said.split(END).collect();
    let told = parts.chunks_exact(2);
    told.map(|it| (it[1].to_owned(), it[0].to_owned()))
        .collect()
}

/// Runs a command at a terminal, and types a word when it is asked for one.
const AT_TERMINAL: &str = r#"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", sys.argv[2]])
seen = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        part = b""
    if not part:
        break
    seen += part
    os.write(1, part)
    if part.endswith(b"to continue: "):
        os.write(terminal, sys.argv[1].encode() + b"\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

/// The command, typed at a terminal if it asks for a word there.
fn as_typed(command: &Command) -> String {
    let asked = command.shown.split_once(" to continue: ");
    let Some((_, rest)) = asked else {
        return command.script.clone();
    };
    let word = rest.lines().next().expect("what is typed");
    let words = ["python3", "-c", AT_TERMINAL, word, &command.script];
    shlex::try_join(words).expect("a command line")
}

#[test]
fn every_command_works_when_it_is_copied_by_hand() {
    let place = Place::new();
    let commands = commands(README);
    assert!(commands.len() >= 9, "{commands:#?}");
    let (of_cargo, of_comail): (Vec<Command>, Vec<Command>) = commands
        .into_iter()
        .map(|mut command| {
            if let Some(args) = command.script.strip_prefix(BUILD_AND_RUN) {
                command.script = format!("comail {args}");
            }
            command
        })
        .partition(|command| command.script.starts_with("cargo "));
    for Command { script, .. } in of_cargo {
        assert!(ci_runs(&script), "{script} is not run by .ci/run");
    }
    let scripts: Vec<String> = of_comail.iter().map(as_typed).collect();
    let played = by_hand(&place, &scripts);
    assert_eq!(played.len(), scripts.len(), "{played:#?}");
    for (Command { script, shown }, (code, text)) in of_comail.iter().zip(&played) {
        let (shown, exit) = parted(shown);
        assert_eq!(*code, exit.to_string(), "{script}: {text}");
        let text = &text.replace("\r\n", "\n");
        assert!(
            matches(shown, text),
            "`{script}` printed\n{text}\nand the README shows\n{shown}"
        );
    }
}

/// The commands for a real agent, which is not here: `run` shows what it would start.
#[test]
fn the_commands_for_your_own_list_are_taken() {
    let (_, block) = README.split_once("```sh\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let place = Place::new();
    place.write("companies.xlsx", WORKBOOK);
    let mut names = Vec::new();
    for line in block.lines() {
        let script = line.replace("comail run ", "comail run --dry-run ");
        Run::of(&mut place.shell(&script)).ok();
        names.extend(line.split(' ').nth(1));
    }
    assert_eq!(names, ["scan", "run", "status", "review", "export"]);
}

/// The flags that let claude work are the same wherever comail names them.
#[test]
fn claude_gets_the_same_flags_as_in_the_help() {
    let line = README.lines().find(|line| line.contains("--allowedTools"));
    let line = line.expect("the line that starts claude");
    let (command, flags) = line.split_once(" -- ").expect("flags of claude");
    let place = Place::new();
    let help = place.run(["run", "--help"]).ok();
    let joined = help.replace("\\\n    ", "");
    assert!(joined.contains(&format!("  {line}\n")), "{help}");
    place.scan(&["Acme Foods"], &[]);
    let dry = Run::of(&mut place.shell(&format!("{command} --dry-run"))).ok();
    assert!(dry.contains(&format!(" -- {flags}\n")), "{dry}");
}

/// It has the columns that the README names.
const WORKBOOK: &[u8] = include_bytes!("../fixtures/workbooks/companies.xlsx");

#[test]
fn every_file_that_it_links_to_is_there() {
    let parts = README.split("](").skip(1);
    let links = parts.filter_map(|part| part.split(')').next());
    let files: Vec<&str> = links.filter(|link| !link.contains("://")).collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert!(path.exists(), "{file}");
    }
}

#[test]
fn it_is_short() {
    assert!(README.lines().count() <= 180);
}

#[test]
fn names_every_command() {
    let help = Place::new().run(["--help"]).ok();
    let list = help.lines().skip_while(|line| !line.starts_with("Usage:"));
    let list = list.take_while(|line| *line != "Options:");
    let commands: Vec<&str> = list
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for name in commands {
        let named = [
            format!("comail {name}"),
            format!("-- {name}"),
            format!("`{name}`"),
        ];
        assert!(named.iter().any(|text| README.contains(text)), "{name}");
    }
}

/// What is shown, and the exit code that its last line states.
pub fn parted(shown: &str) -> (&str, i32) {
    let stated = shown
        .trim_end()
        .rsplit_once('\n')
        .unwrap_or(("", shown.trim_end()));
    let code = stated.1.strip_prefix("[exit code ");
    match code.and_then(|code| code.strip_suffix(']')) {
        Some(code) => (stated.0, code.parse().expect("an exit code")),
        None => (shown, 0),
    }
}

#[test]
fn a_stated_exit_code_is_no_part_of_what_is_shown() {
    assert_eq!(parted("a\nb\n[exit code 5]\n"), ("a\nb", 5));
    assert_eq!(parted("[exit code 130]\n"), ("", 130));
    assert_eq!(parted("a\n"), ("a\n", 0));
}

/// Whether CI runs this very command; what it does with its output does not matter.
fn ci_runs(script: &str) -> bool {
    CI.lines()
        .filter_map(|line| line.strip_prefix(script))
        .any(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A command line and what is shown below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// What stands behind `$ `, and behind `> ` in the lines that go on.
    pub script: String,
    /// The lines below it.
    pub shown: String,
}

/// Every command of every `console` block, in order.
pub fn commands(markdown: &str) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(script) = line.strip_prefix("$ ") {
            found.push(Command {
                script: script.to_owned(),
                shown: String::new(),
            });
            continue;
        }
        let command = found.last_mut().expect("a block begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if command.shown.is_empty() => {
                command.script.push('\n');
                command.script.push_str(more);
            }
            _ => {
                command.shown.push_str(line);
                command.shown.push('\n');
            }
        }
    }
    found
}

#[test]
fn reads_commands_and_what_they_show() {
    let text =
        "```console\n$ a \\\n>   b\nout\n> quoted\n$ c\n```\n$ not this\n```sh\n$ nor\n```\n";
    let command = |script: &str, shown: &str| Command {
        script: script.to_owned(),
        shown: shown.to_owned(),
    };
    assert_eq!(
        commands(text),
        [command("a \\\n  b", "out\n> quoted\n"), command("c", "")]
    );
}

/// Whether `text` is what `shown` shows: `[..]` stands for any characters of a line, a line `[...]`
/// for any lines.
pub fn matches(shown: &str, text: &str) -> bool {
    let shown: Vec<&str> = shown.lines().collect();
    let text: Vec<&str> = text.lines().collect();
    lines_match(&shown, &text)
}

fn lines_match(shown: &[&str], text: &[&str]) -> bool {
    match shown.split_first() {
        None => text.is_empty(),
        Some((&"[...]", rest)) => (0..=text.len()).any(|skip| lines_match(rest, &text[skip..])),
        Some((line, rest)) => text
            .split_first()
            .is_some_and(|(first, text)| line_matches(line, first) && lines_match(rest, text)),
    }
}

fn line_matches(shown: &str, text: &str) -> bool {
    match shown.split_once("[..]") {
        None => shown == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn gaps_match_what_they_stand_for_and_nothing_else() {
    assert!(matches("a\n[...]\nd", "a\nb\nc\nd\n"));
    assert!(matches("a\n[...]\nd", "a\nd\n"));
    assert!(!matches("a\n[...]\nd", "a\nb\n"));
    assert!(matches("in [..]/x of [..]", "in /tmp/ü/x of 3"));
    assert!(!matches("in [..]/x", "in /tmp/y"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("a\nb", "a"));
}
