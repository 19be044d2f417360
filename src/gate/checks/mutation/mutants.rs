//! The files that a mutation tries.

use crate::gate::checks::context::Context;
use crate::gate::checks::own_lines::Place;
use crate::gate::checks::probe::{Detail, Found};
use crate::gate::tools::{Language, replace_body};
use crate::world::tree::TreePath;
use crate::world::workshop::FileSeen;

/// What a mutation puts in the place of what is there.
#[derive(Debug)]
pub enum Change {
    /// These bodies, each in the place of the function's own.
    Bodies(Language, Vec<String>),
    /// This text in the place of the file's.
    Whole(String),
}

/// A file that is not what it was.
#[derive(Debug)]
pub struct Mutant {
    /// The file.
    pub file: TreePath,
    /// Its text.
    pub text: String,
    /// What was done to it.
    pub what: String,
    /// Where.
    pub place: String,
}

impl Change {
    /// Every mutant that is not the file as it is.
    pub fn mutants(&self, place: &Place, context: &Context<'_>) -> Result<Vec<Mutant>, Found> {
        let unclear = |actual: String| {
            let detail = Detail::new("code that can be replaced", actual);
            detail.at(place.shown()).unconfirmed()
        };
        let bytes = match self {
            Self::Bodies(..) => place.as_pinned(context)?,
            Self::Whole(_) => match context.world.workshop.file(&place.file) {
                FileSeen::File(bytes) => bytes,
                FileSeen::Absent => return Err(unclear(String::from("nothing is there"))),
                FileSeen::Other(what) => return Err(unclear(what)),
            },
        };
        let source = String::from_utf8(bytes);
        let source = source.map_err(|_| unclear(String::from("it is not UTF-8")))?;
        let mutants: Result<Vec<_>, _> = match (self, &place.lines) {
            (Self::Bodies(language, with), Some(lines)) => with
                .iter()
                .map(|with| {
                    let text = replace_body(&source, lines, *language, with)?;
                    Ok((
                        text,
                        format!("the body of what is tested is replaced by `{with}`"),
                    ))
                })
                .collect(),
            (Self::Bodies(..), None) => Ok(Vec::new()),
            (Self::Whole(text), _) => {
                let what = String::from("the whole file is replaced");
                Ok(vec![(text.clone(), what)])
            }
        };
        let mutants =
            mutants.map_err(|bad: crate::gate::tools::NoBody| unclear(bad.to_string()))?;
        let mutants = mutants.into_iter().filter(|(text, _)| *text != source);
        let mutants: Vec<_> = mutants
            .map(|(text, what)| Mutant {
                file: place.file.clone(),
                text,
                what,
                place: place.shown(),
            })
            .collect();
        if mutants.is_empty() {
            let actual = "every replacement leaves the file as it is";
            return Err(unclear(String::from(actual)));
        }
        Ok(mutants)
    }
}
