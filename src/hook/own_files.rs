//! The files that this program's own commands write where they are told to.

use super::command::Judge;
use super::options::{Alike, alone, told, valued};
use super::own;
use super::ruling::Ruled;
use super::shell::Word;
use super::writer_table::Means::{self, File, Folder, Nothing};

/// A command, whether its first operand is written, and its options.
type Own = (&'static str, Option<Means>, &'static [Alike<Means>]);

const GLOBAL: Alike<Means> = alone(Nothing, "vqh", "json force help");
const PLACED: Alike<Means> = valued(Nothing, "", "session color");

const OWN: &[Own] = &[
    (
        "export",
        Some(File),
        &[GLOBAL, PLACED, valued(Nothing, "", "format columns only")],
    ),
    (
        "report",
        None,
        &[
            GLOBAL,
            PLACED,
            valued(Nothing, "", "run min-pass"),
            valued(File, "", "html"),
        ],
    ),
    (
        "quest",
        None,
        &[
            GLOBAL,
            PLACED,
            valued(Nothing, "", "tree"),
            valued(File, "", "out"),
        ],
    ),
    ("schema", None, &[GLOBAL, PLACED, valued(Folder, "", "out")]),
    ("demo", None, &[GLOBAL, PLACED, valued(Folder, "", "dir")]),
    ("man", Some(Folder), &[GLOBAL, PLACED]),
    (
        "review",
        None,
        &[
            GLOBAL,
            PLACED,
            alone(Nothing, "", "yes all"),
            valued(Nothing, "", "by note key operator-key import"),
            valued(File, "", "export"),
        ],
    ),
];

impl Judge<'_> {
    /// The files that a command of this program's writes.
    pub(super) fn own_files(&self, argv: &[Word]) -> Ruled {
        let Some((name, rest)) = own::subcommand(argv) else {
            return Ruled::nothing();
        };
        let Some((_, first, known)) = OWN.iter().find(|(it, ..)| *it == name) else {
            return Ruled::nothing();
        };
        let told = told(known, rest);
        let mut ruled = Ruled::nothing();
        if told.is_guess {
            ruled = self.unreadable("an option of it is not known");
        }
        let first = first.and_then(|means| Some((means, told.operands.first()?)));
        let options = told.options.iter();
        let values = options.filter_map(|(means, value)| Some((*means, value.as_ref()?)));
        let files = values.chain(first).filter_map(|(means, word)| match means {
            File => Some(word.clone()),
            Folder => Some(Word {
                text: format!("{}/{}", word.text, own::NAME),
                sight: word.sight,
            }),
            _ => None,
        });
        let files: Vec<_> = files.collect();
        let files = files.iter();
        files.fold(ruled, |ruled, word| ruled.stricter(self.writes(word)))
    }
}
