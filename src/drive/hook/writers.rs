//! Programs that change files which they are given: what they reach, and what they may write.

use std::path::Path;

use super::command::{Judge, finds_to_end, is_device, touched};
use super::ground::Reach;
use super::rules::program;
use super::ruling::{Ruled, Ruling};
use super::shell::{Sight, Word};

/// Programs that end or move what is in a directory that they are given.
const DESTROY: &[&str] = &[
    "rm", "rmdir", "mv", "unlink", "shred", "chmod", "chown", "chgrp", "chattr", "setfacl",
    "rsync", "srm", "trash",
];

/// What a program does with its operands.
enum Operands {
    /// It changes each.
    All,
    /// It changes the last.
    Last,
    /// It changes each, the last perhaps as a directory.
    Move,
    /// It changes each but the first.
    Rest,
    /// It changes those of these options alone.
    Options,
}

/// A program that writes: its operands, its options with a value, and those that name a file.
type Writer = (
    &'static str,
    Operands,
    &'static [&'static str],
    &'static [&'static str],
);

const WRITERS: &[Writer] = &[
    (
        "sed",
        Operands::Rest,
        &["-e", "-f", "--expression", "--file", "-l"],
        &[],
    ),
    ("tee", Operands::All, &[], &[]),
    ("cp", Operands::Last, &["-S"], &["-t", "--target-directory"]),
    ("mv", Operands::Move, &["-S"], &["-t", "--target-directory"]),
    ("ln", Operands::Last, &["-S"], &["-t", "--target-directory"]),
    (
        "install",
        Operands::Last,
        &["-m", "-o", "-g", "-S"],
        &["-t", "--target-directory"],
    ),
    ("rm", Operands::All, &[], &[]),
    ("unlink", Operands::All, &[], &[]),
    ("shred", Operands::All, &["-n", "-s"], &[]),
    (
        "truncate",
        Operands::All,
        &["-s", "-r", "--size", "--reference"],
        &[],
    ),
    (
        "touch",
        Operands::All,
        &["-d", "-t", "-r", "--date", "--reference"],
        &[],
    ),
    (
        "patch",
        Operands::All,
        &["-p", "-d"],
        &["-i", "-o", "--output"],
    ),
    ("dd", Operands::Options, &[], &["of"]),
    ("curl", Operands::Options, &[], &["-o", "--output"]),
    ("wget", Operands::Options, &[], &["-O", "--output-document"]),
];

impl Judge<'_> {
    /// What becomes of a program that changes files.
    pub(super) fn changes(&self, argv: &[Word]) -> Ruled {
        let name = program(&argv[0].text).to_lowercase();
        let mut ruled = Ruled::nothing();
        if ends(&name, argv) {
            ruled = ruled.stricter(self.destroys(&name, argv));
        }
        let Some(writer) = WRITERS.iter().find(|writer| writer.0 == name) else {
            return ruled;
        };
        if name == "sed" && !edits_in_place(argv) {
            return ruled;
        }
        written(writer, argv)
            .iter()
            .fold(ruled, |ruled, word| ruled.stricter(self.writes(word)))
    }

    /// A file that is written.
    fn writes(&self, word: &Word) -> Ruled {
        let steers = self.places.iter().any(|here| match word.sight {
            Sight::Plain => self
                .ground
                .places(&word.text, here)
                .iter()
                .any(|real| self.ground.steers(real)),
            Sight::Pattern => self.ground.pattern_steers(&word.text, here),
            Sight::Hidden => false,
        });
        if steers {
            return steered(&word.text);
        }
        if self.ground.zone.is_none() || is_device(&word.text) {
            return Ruled::nothing();
        }
        if !word.is_plain() {
            return self.unreadable("the file that it writes is not known");
        }
        self.places.iter().fold(Ruled::nothing(), |ruled, here| {
            let edit = self.ground.edit(&word.text, here);
            if edit.ruling == Ruling::Forbid {
                ruled.stricter(edit)
            } else {
                ruled
            }
        })
    }

    /// Words of a command that ends or moves what it is given.
    fn destroys(&self, name: &str, argv: &[Word]) -> Ruled {
        let mut given: Vec<Word> = argv[1..].to_vec();
        let to = |word: &Word| word.text.starts_with("-t") || word.text.starts_with("--t");
        if name == "mv" && !given.iter().any(to) {
            // What is moved into a directory leaves the rest of it as it is.
            given.pop();
        }
        if name == "find" && given.first().is_none_or(|word| word.text.starts_with('-')) {
            given.push(Word::plain("."));
        }
        given.retain(|word| !word.text.starts_with('-'));
        if let Some(word) = given
            .iter()
            .find(|word| self.reaches(word) != Reach::Nothing)
        {
            return touched(&word.text);
        }
        let steers = given.iter().find(|word| {
            self.places
                .iter()
                .any(|here| self.holds_steering(word, here))
        });
        steers.map_or_else(Ruled::nothing, |word| steered(&word.text))
    }

    /// Whether a word names what holds a file that decides what the agent may do.
    fn holds_steering(&self, word: &Word, here: &Path) -> bool {
        match word.sight {
            Sight::Plain => self
                .ground
                .places(&word.text, here)
                .iter()
                .any(|real| self.ground.steers_in(real)),
            Sight::Pattern => self.ground.pattern_steers(&word.text, here),
            Sight::Hidden => false,
        }
    }
}

fn steered(word: &str) -> Ruled {
    Ruled::forbid(format!(
        "{word} decides what the agent may do, or holds what does"
    ))
}

/// Whether a command ends or moves what it is given.
fn ends(name: &str, argv: &[Word]) -> bool {
    let short = |letter: char| {
        argv[1..].iter().any(|word| {
            let text = word.text.as_str();
            text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
        })
    };
    let long = |begin: &str| argv.iter().any(|word| word.text.starts_with(begin));
    match name {
        "find" => finds_to_end(argv),
        "cp" | "ln" | "install" => {
            // `a/.` is copied over what is there.
            short('T') || long("--no-target") || argv.iter().any(|word| word.text.ends_with("/."))
        }
        "tar" => long("--remove") || long("--recursive-unlink"),
        "zip" => short('m') || long("--move"),
        _ => DESTROY.contains(&name),
    }
}

fn edits_in_place(argv: &[Word]) -> bool {
    argv[1..].iter().any(|word| {
        let text = word.text.as_str();
        let cluster = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        text.starts_with("--in-place") || cluster.is_some_and(|it| it.contains('i'))
    })
}

/// The files that a command writes.
fn written(writer: &Writer, argv: &[Word]) -> Vec<Word> {
    let (name, operands, valued, files) = writer;
    let (mut given, mut found, mut scripted, mut ended) = (Vec::new(), Vec::new(), false, false);
    let mut words = argv[1..].iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let (option, value) = text
            .split_once('=')
            .map_or((text, None), |(a, b)| (a, Some(b)));
        if files.contains(&option) {
            let next = || words.next().cloned();
            found.extend(
                value
                    .map(|value| Word {
                        text: value.to_owned(),
                        sight: word.sight,
                    })
                    .or_else(next),
            );
        } else if ended || text == "-" || !text.starts_with('-') {
            given.push(word.clone());
        } else if text == "--" {
            ended = true;
        } else if valued.contains(&option) {
            scripted = true;
            if value.is_none() {
                words.next();
            }
        } else {
            scripted |= text.starts_with("-e") || text.starts_with("-f");
            let short =
                |name: &&&str| name.len() == 2 && text.len() > 2 && text.starts_with(**name);
            if let Some(name) = files.iter().find(short) {
                found.push(Word {
                    text: text[name.len()..].to_owned(),
                    sight: word.sight,
                });
            }
        }
    }
    let into = !found.is_empty();
    match operands {
        Operands::Rest => found.extend(given.into_iter().skip(usize::from(!scripted))),
        Operands::Move if !into => {
            found.extend(given.iter().take(given.len().saturating_sub(1)).cloned());
            found.extend(inside(name, given));
        }
        Operands::All | Operands::Move => found.extend(given),
        Operands::Last if !into => found.extend(inside(name, given)),
        Operands::Last | Operands::Options => {}
    }
    found
}

/// Where the last of a command's operands is written: what is copied into a directory has a place
/// in it.
fn inside(name: &str, mut given: Vec<Word>) -> Vec<Word> {
    let last = given.pop();
    let Some(last) = last else { return given };
    if given.is_empty() && name == "ln" {
        return vec![Word {
            text: program(&last.text).to_owned(),
            sight: last.sight,
        }];
    }
    if last.text.ends_with('/') {
        let named = given.iter().map(|word| Word {
            text: format!("{}{}", last.text, program(word.text.trim_end_matches('/'))),
            sight: last.sight.max(word.sight),
        });
        return named.collect();
    }
    vec![last]
}
