//! Programs that change files which they are given: what they reach, and what they may write.

use std::path::Path;

use super::command::{Judge, finds_to_end, is_device, touched};
use super::ground::Reach;
use super::options::shortens;
use super::rules::program;
use super::ruling::{Ruled, Ruling};
use super::shell::{Sight, Word};
use super::writer_table::{self, Means, Operands, Writer};
use super::written::{words_of, written};

/// Programs that end or move what is in a directory that they are given.
const DESTROY: &[&str] = &[
    "rm", "rmdir", "mv", "unlink", "shred", "chmod", "chown", "chgrp", "chattr", "setfacl",
    "rsync", "srm", "trash",
];

impl Judge<'_> {
    /// What becomes of a program that changes files.
    pub(super) fn changes(&self, argv: &[Word]) -> Ruled {
        let name = program(&argv[0].text).to_lowercase();
        let name = writer_table::own_name(&name);
        let mut ruled = Ruled::nothing();
        if ends(name, argv) {
            ruled = ruled.stricter(self.destroys(name, argv));
        }
        match writer_table::by_name(name) {
            Some(writer) => ruled.stricter(self.written(writer, argv)),
            None => ruled,
        }
    }

    /// The files that a command of this program writes.
    pub(super) fn written(&self, writer: &Writer, argv: &[Word]) -> Ruled {
        let written = written(writer, argv);
        let mut ruled = Ruled::nothing();
        if let Some(why) = written.doubt {
            ruled = self.unreadable(why);
        }
        if written.is_named && self.ground.zone.is_some() {
            ruled = ruled.stricter(self.unreadable("the files that it writes are not known"));
        }
        let files = written.files.iter();
        files.fold(ruled, |ruled, word| ruled.stricter(self.writes(word)))
    }

    /// A file that is written.
    pub(super) fn writes(&self, word: &Word) -> Ruled {
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
            if edit.ruling >= Ruling::Prompt {
                ruled.stricter(edit)
            } else {
                ruled
            }
        })
    }

    /// Words of a command that ends or moves what it is given.
    fn destroys(&self, name: &str, argv: &[Word]) -> Ruled {
        let given = destroyed(name, argv);
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

/// The words that may name what a command ends or moves.
fn destroyed(name: &str, argv: &[Word]) -> Vec<Word> {
    let mut given: Vec<Word> = argv[1..].to_vec();
    if let Some(writer) = writer_table::by_name(name) {
        let told = words_of(writer, argv);
        // What is moved into a directory leaves the rest of it as it is.
        let into = writer.operands == Operands::Move
            && !told.has(Means::Folder)
            && !told.has(Means::Whole);
        if !told.is_guess {
            given = told.operands;
            given.truncate(given.len() - usize::from(into && !given.is_empty()));
            return given;
        }
    }
    if name == "find" && given.first().is_none_or(|word| word.text.starts_with('-')) {
        given.push(Word::plain("."));
    }
    given.retain(|word| !word.text.starts_with('-'));
    given
}

/// Whether a command ends or moves what it is given.
fn ends(name: &str, argv: &[Word]) -> bool {
    let short = |letter: char| {
        argv[1..].iter().any(|word| {
            let text = word.text.as_str();
            text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
        })
    };
    let long = |full: &str| argv.iter().any(|word| shortens(&word.text, full));
    match name {
        "find" => finds_to_end(argv),
        "cp" | "ln" | "install" => {
            // `a/.` is copied over what is there.
            let whole = writer_table::by_name(name)
                .is_some_and(|writer| words_of(writer, argv).has(Means::Whole));
            whole || short('T') || argv.iter().any(|word| word.text.ends_with("/."))
        }
        "tar" => long("--remove-files") || long("--recursive-unlink"),
        "zip" => short('m') || long("--move"),
        _ => DESTROY.contains(&name),
    }
}
