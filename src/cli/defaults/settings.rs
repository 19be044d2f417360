//! What the configuration files say together.

use super::file::{self, BadFile, Setting};
use super::key::Key;
use super::places::{Found, State, Surroundings, look};

/// What the files say together, and where they lie.
#[derive(Debug)]
pub(in crate::cli) struct Settings {
    /// Every place that was looked at, the one that counts first before the other.
    pub(in crate::cli) places: Vec<Found>,
    said: Vec<Setting>,
}

impl Settings {
    /// Reads the files.
    pub(in crate::cli) fn read(surroundings: &Surroundings) -> Result<Self, BadFile> {
        let mut places = Vec::new();
        for place in surroundings.places(std::path::Path::exists) {
            let path = place.path.clone();
            let found = look(place).map_err(|source| BadFile::Unreadable { path, source })?;
            places.push(found);
        }
        Self::of(places)
    }

    /// Which session the user's file names, and nothing else.
    pub(in crate::cli) fn session_alone(surroundings: &Surroundings) -> Result<Self, BadFile> {
        let mut found = Self::of(Vec::new())?;
        let Some(place) = surroundings.of_user() else {
            return Ok(found);
        };
        let path = place.path.clone();
        let at = look(place).map_err(|source| BadFile::Unreadable { path, source })?;
        if let State::Read(text) = &at.state {
            found.said.extend(file::read_session(&at.place, text)?);
        }
        found.places.push(at);
        Ok(found)
    }

    /// What was found says.
    fn of(places: Vec<Found>) -> Result<Self, BadFile> {
        let mut said = Vec::new();
        for found in &places {
            if let State::Read(text) = &found.state {
                said.extend(file::read(&found.place, text)?);
            }
        }
        Ok(Self { places, said })
    }

    /// What is said of a key: by the first file that says anything of it.
    pub(in crate::cli) fn of_key(&self, key: &Key) -> Option<&Setting> {
        self.said.iter().find(|setting| setting.key == key)
    }

    /// Whether nothing is said at all.
    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// A note on each file that is left aside.
    pub(in crate::cli) fn notes(&self) -> impl Iterator<Item = String> {
        self.places.iter().filter_map(|found| match found.state {
            State::LeftAside(why) => Some(format!(
                "note: {} is left aside: {why}",
                found.place.path.display()
            )),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::{Author, Place};
    use super::*;

    fn found(author: Author, state: State) -> Found {
        let place = Place {
            author,
            path: format!("/{author}/comail.toml").into(),
        };
        Found { place, state }
    }

    #[test]
    fn the_projects_counts_before_the_users_key_by_key() {
        let settings = Settings::of(vec![
            found(
                Author::Project,
                State::Read("[run]\nagent = \"aider\"\n".into()),
            ),
            found(
                Author::User,
                State::Read("color = \"never\"\n[run]\nagent = \"codex\"\n".into()),
            ),
        ]);
        let settings = settings.unwrap();
        let said = |command, flag| settings.of_key(Key::named(command, flag).unwrap()).unwrap();
        assert_eq!(said(Some("run"), "agent").values, ["aider"]);
        assert_eq!(said(None, "color").author, Author::User);
        assert_eq!(
            settings.of_key(Key::named(Some("run"), "model").unwrap()),
            None
        );
    }

    #[test]
    fn what_is_left_aside_says_nothing_and_is_told_of() {
        let aside = found(Author::Project, State::LeftAside("anybody may write to it"));
        let settings = Settings::of(vec![aside]).unwrap();
        assert!(settings.is_empty());
        let notes: Vec<_> = settings.notes().collect();
        assert_eq!(
            notes,
            ["note: /project/comail.toml is left aside: anybody may write to it"]
        );
    }
}
