//! Where a line goes with `cd`: what stands behind it is held against that place too.

use std::path::{Component, Path, PathBuf};

use super::command::Judge;
use super::ruling::Ruled;
use super::shell::Word;

/// The directories that are kept in mind behind `cd`.
const MOST_PLACES: usize = 32;

impl Judge<'_> {
    /// Where a command goes.
    pub(super) fn moves(&mut self, argv: &[Word]) -> Ruled {
        let target = argv.iter().skip(1).find(|word| !word.text.starts_with('-'));
        let dashed = argv.iter().any(|word| word.is("-"));
        let known = target.filter(|word| word.is_plain() && !dashed);
        let home = self.ground.home.as_deref();
        let next: Vec<PathBuf> = match known {
            Some(word) => {
                let places = self.places.iter();
                let both = places.flat_map(|here| {
                    // A shell takes `..` off the name of a link, the system off where it leads.
                    let mut all = self.ground.places(&word.text, here);
                    all.push(taken_off(&here.join(&word.text)));
                    all
                });
                both.collect()
            }
            None if argv.len() == 1 => home.map(Path::to_owned).into_iter().collect(),
            None => {
                return self.unreadable("the directory that it goes to is not known");
            }
        };
        for place in next {
            if !self.places.contains(&place) {
                self.places.push(place);
            }
        }
        if self.places.len() > MOST_PLACES {
            return self.unreadable("it goes to too many directories");
        }
        Ruled::nothing()
    }
}

/// The path with each `..` taken off the name before it, as it is written.
fn taken_off(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
