//! Programs that run another one, which is what counts.

use super::rules::program;
use super::shell::Word;

/// What a command runs beside itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inside<'a> {
    /// Nothing that its words tell.
    Nothing,
    /// The command that begins at this word.
    Command(usize),
    /// The shell line at this word.
    Line(usize),
    /// These words as a shell line.
    Joined(&'a [Word]),
    /// The shell lines that it is fed.
    Fed,
    /// Something that cannot be told.
    Hidden(&'static str),
}

/// A program whose words go on with another command.
struct Wrapper {
    name: &'static str,
    /// The letters of options that stand alone.
    alone: &'static str,
    /// The letters of options that take a value.
    valued: &'static str,
    /// Long options that stand alone, or whose value is joined to them.
    long: &'static [&'static str],
    /// Long options that take the next word.
    long_valued: &'static [&'static str],
    /// How many words of its own come before the command.
    operands: usize,
}

const fn wrapper(name: &'static str, alone: &'static str, valued: &'static str) -> Wrapper {
    Wrapper {
        name,
        alone,
        valued,
        long: &[],
        long_valued: &[],
        operands: 0,
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        long: &["--ignore-environment", "--null", "--unset"],
        long_valued: &["--unset"],
        ..wrapper("env", "i0v", "u")
    },
    Wrapper {
        long: &["--non-interactive", "--preserve-env", "--user", "--group"],
        long_valued: &["--user", "--group"],
        ..wrapper("sudo", "AbEHnPS", "ughpCrtT")
    },
    wrapper("doas", "nL", "uC"),
    Wrapper {
        long: &[
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--max-args",
            "--max-procs",
            "--replace",
        ],
        long_valued: &["--max-args", "--max-procs"],
        ..wrapper("xargs", "0rtxp", "ILnPsdEa")
    },
    wrapper("nice", "", "n"),
    Wrapper {
        long: &["--class", "--classdata", "--ignore"],
        long_valued: &["--class", "--classdata"],
        ..wrapper("ionice", "t", "cn")
    },
    Wrapper {
        long: &["--all-tasks", "--cpu-list"],
        operands: 1,
        ..wrapper("taskset", "ac", "")
    },
    wrapper("unbuffer", "p", ""),
    wrapper("nohup", "", ""),
    wrapper("setsid", "cfw", ""),
    wrapper("stdbuf", "", "ioe"),
    Wrapper {
        long: &[
            "--preserve-status",
            "--foreground",
            "--signal",
            "--kill-after",
            "--verbose",
        ],
        long_valued: &["--signal", "--kill-after"],
        operands: 1,
        ..wrapper("timeout", "v", "sk")
    },
    wrapper("time", "pvq", "fo"),
    wrapper("command", "p", ""),
    wrapper("builtin", "", ""),
    wrapper("exec", "cl", "a"),
    wrapper("busybox", "", ""),
    wrapper("toybox", "", ""),
    wrapper("chronic", "ve", ""),
];

const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash",
];

/// What a program that runs others in ways that are not followed is asked about for.
const UNFOLLOWED: &[&str] = &[
    "su",
    "runuser",
    "watch",
    "parallel",
    "script",
    "expect",
    "screen",
    "tmux",
    "at",
    "batch",
    "crontab",
    "alias",
    "trap",
    "flock",
    "chroot",
    "unshare",
    "nsenter",
    "ssh",
    "strace",
    "gdb",
    "shopt",
    "enable",
    "hash",
    "chrt",
    "setarch",
    "linux32",
    "linux64",
    "i386",
    "x86_64",
    "systemd-run",
    "prlimit",
    "setpriv",
];

/// What stands before a command without being one.
const BEFORE: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "!", "{",
];

/// What ends a compound command.
const BEHIND: &[&str] = &["fi", "done", "esac", "}", "]]"];

/// Where the command begins in the words of a part: behind what the shell's grammar has before it,
/// and behind assignments. None where there is no command.
pub(super) fn command_at(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            text if word.is_plain() && BEFORE.contains(&text) => at += 1,
            "function" if word.is_plain() => at += 2,
            text if word.is_plain() && (BEHIND.contains(&text) || is_header(text)) => return None,
            _ if assigned(word).is_some() => at += 1,
            _ => return Some(at),
        }
    }
    None
}

fn is_header(text: &str) -> bool {
    matches!(text, "for" | "case" | "select" | "[[")
}

/// What stands in a part that shells take for a command where this does not.
pub(super) fn doubtful(words: &[Word]) -> Option<&'static str> {
    let keyword = |word: &&Word| {
        word.is_plain()
            && (BEFORE.contains(&&*word.text) || is_header(&word.text) || word.is("coproc"))
    };
    let at = words
        .iter()
        .take_while(|word| word.is_plain() && BEFORE.contains(&&*word.text))
        .count();
    let first = words.get(at).filter(keyword)?;
    let behind = words.get(at + 2);
    match first.text.as_str() {
        "select" => Some("`select` stands in it"),
        "coproc" => Some("`coproc` stands in it"),
        "for" if behind.is_some_and(|word| word.is("do") || word.is("{")) => {
            Some("a loop has no `in`")
        }
        _ => None,
    }
}

/// The name of the variable that a word sets.
pub(super) fn assigned(word: &Word) -> Option<&str> {
    let (name, _) = word.text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let good = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    good.then_some(name)
}

/// What a command runs beside itself.
pub(super) fn inside(argv: &[Word]) -> Inside<'_> {
    let Some(first) = argv.first() else {
        return Inside::Nothing;
    };
    if !first.is_plain() {
        return Inside::Hidden("its program is not known");
    }
    let name = program(&first.text).to_lowercase();
    let asks = |word: &Word| {
        let letters = word.text.strip_prefix('-');
        letters.is_some_and(|it| it.starts_with(['v', 'V']))
    };
    if name == "command" && argv.get(1).is_some_and(asks) {
        return Inside::Nothing;
    }
    if matches!(name.as_str(), "." | "source") {
        return match argv.get(1) {
            Some(word) if !word.is_plain() => Inside::Hidden("the file that it reads is not known"),
            Some(word) if is_fed(&word.text) => Inside::Fed,
            _ => Inside::Nothing,
        };
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        return wrapped(wrapper, argv);
    }
    if SHELLS.contains(&name.as_str()) {
        return shell(argv);
    }
    if name == "eval" {
        return Inside::Joined(&argv[1..]);
    }
    if UNFOLLOWED.contains(&name.as_str()) {
        return Inside::Hidden("it runs other commands in its own way");
    }
    Inside::Nothing
}

fn wrapped<'a>(wrapper: &Wrapper, argv: &'a [Word]) -> Inside<'a> {
    const UNKNOWN: &str = "an option of it is not known";
    let mut at = 1;
    let mut operands = wrapper.operands;
    while let Some(word) = argv.get(at) {
        if !word.is_plain() {
            return Inside::Hidden(UNKNOWN);
        }
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        } else if text.starts_with("--") {
            let (name, joined) = text
                .split_once('=')
                .map_or((text, false), |(it, _)| (it, true));
            if !wrapper.long.contains(&name) {
                return Inside::Hidden(UNKNOWN);
            }
            at += 1 + usize::from(!joined && wrapper.long_valued.contains(&name));
        } else if let Some(letters) = text.strip_prefix('-').filter(|it| !it.is_empty()) {
            match takes_next(wrapper, letters) {
                Some(next) => at += 1 + usize::from(next),
                None => return Inside::Hidden(UNKNOWN),
            }
        } else if text == "-" || assigned(word).is_some_and(|_| wrapper.name != "timeout") {
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    at += operands;
    if argv.get(at).is_some() {
        Inside::Command(at)
    } else if matches!(wrapper.name, "sudo" | "doas") {
        Inside::Hidden("it may start a shell")
    } else {
        Inside::Nothing
    }
}

/// Whether a cluster of short options takes the next word; none where a letter is not known.
fn takes_next(wrapper: &Wrapper, letters: &str) -> Option<bool> {
    // `nice -5`
    if letters.chars().all(|c| c.is_ascii_digit()) && wrapper.alone != "0rtxp" {
        return Some(false);
    }
    for (place, letter) in letters.char_indices() {
        if wrapper.valued.contains(letter) {
            return Some(place + letter.len_utf8() == letters.len());
        }
        if !wrapper.alone.contains(letter) {
            return None;
        }
    }
    Some(false)
}

/// Whether a file is what a program is fed.
fn is_fed(path: &str) -> bool {
    path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")
}

fn shell(argv: &[Word]) -> Inside<'_> {
    let (mut at, mut line) = (1, false);
    while let Some(word) = argv.get(at) {
        if !word.is_plain() {
            return Inside::Hidden("an option of the shell is not known");
        }
        let text = word.text.as_str();
        if text == "--" || text == "-" {
            at += 1;
            break;
        } else if matches!(text, "--rcfile" | "--init-file") {
            return Inside::Hidden("the shell reads a file of its own first");
        } else if text.starts_with("--") {
            at += 1;
        } else if let Some(letters) = text.strip_prefix(['-', '+']).filter(|it| !it.is_empty()) {
            if letters.contains('s') {
                return Inside::Fed;
            }
            // Each takes a word of its own, before the line; and some change what patterns mean.
            let options = letters.matches(['o', 'O']).count();
            let last = usize::from(letters.ends_with('o'));
            if options > last || (text.starts_with("-C") && argv[0].text.ends_with("fish")) {
                return Inside::Hidden("options of the shell change what it does");
            }
            line |= letters.contains('c');
            at += 1 + usize::from(letters.ends_with(['o', 'O']));
        } else {
            break;
        }
    }
    match argv.get(at) {
        Some(word) if line && word.is_plain() => Inside::Line(at),
        Some(_) if line => Inside::Hidden("the shell's line is not known"),
        Some(word) if !word.is_plain() => Inside::Hidden("the shell's file is not known"),
        Some(word) if is_fed(&word.text) => Inside::Fed,
        Some(_) => Inside::Nothing,
        None => Inside::Fed,
    }
}
