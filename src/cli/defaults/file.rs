//! Reading a configuration file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{KEYS, Key, SESSION};
use super::places::{Author, Place};
use crate::quest::file::{Mistake, nearest};

/// What a file says of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Setting {
    pub(in crate::cli) key: &'static Key,
    /// As flags take them: one, but for a flag that can be repeated.
    pub(in crate::cli) values: Vec<String>,
    pub(in crate::cli) author: Author,
    pub(in crate::cli) path: PathBuf,
    /// The line, from 1.
    pub(in crate::cli) line: usize,
}

/// A configuration file that cannot be heeded.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum BadFile {
    /// It says what it may not.
    #[error("{}:{mistake}", path.display())]
    Mistake {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        mistake: Mistake,
    },
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Where one is looked for cannot be told.
    #[error("this directory cannot be told, and so not where comail.toml lies")]
    Nowhere(#[source] std::io::Error),
}

/// What the file at `place` with this text says.
pub(super) fn read(place: &Place, text: &str) -> Result<Vec<Setting>, BadFile> {
    let reading = Reading { place, text };
    reading.whole().map_err(|mistake| BadFile::Mistake {
        path: place.path.clone(),
        mistake,
    })
}

/// Which session the file at `place` with this text names; whatever else it says is not looked at.
pub(super) fn read_session(place: &Place, text: &str) -> Result<Option<Setting>, BadFile> {
    let reading = Reading { place, text };
    reading.session().map_err(|mistake| BadFile::Mistake {
        path: place.path.clone(),
        mistake,
    })
}

/// A file that is being read.
struct Reading<'a> {
    place: &'a Place,
    text: &'a str,
}

impl Reading<'_> {
    fn document(&self) -> Result<Spanned<DeTable<'_>>, Mistake> {
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let why = error.message().trim().replace('\n', " ");
            Mistake::at(self.text, &span, unreadable(self.text, &span, &why))
        })
    }

    fn session(&self) -> Result<Option<Setting>, Mistake> {
        let document = self.document()?;
        let mut named = document.get_ref().iter();
        let named = named.find(|(name, _)| name.get_ref().as_ref() == SESSION);
        named
            .map(|(name, value)| self.one(None, name, value))
            .transpose()
    }

    fn whole(&self) -> Result<Vec<Setting>, Mistake> {
        let document = self.document()?;
        let mut settings = Vec::new();
        for (name, value) in document.get_ref() {
            let tables = || KEYS.iter().filter_map(|key| key.command);
            match value.get_ref() {
                DeValue::Table(table) if tables().any(|known| known == name.get_ref().as_ref()) => {
                    for (flag, value) in table {
                        settings.push(self.one(Some(name.get_ref().as_ref()), flag, value)?);
                    }
                }
                _ => settings.push(self.one(None, name, value)?),
            }
        }
        Ok(settings)
    }

    fn one(
        &self,
        command: Option<&str>,
        name: &Spanned<impl AsRef<str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Setting, Mistake> {
        let flag = name.get_ref().as_ref();
        let at_name = |what: String| Mistake::at(self.text, &name.span(), what);
        let key = Key::named(command, flag).ok_or_else(|| at_name(unknown(command, flag)))?;
        if key.author < self.place.author {
            return Err(at_name(format!(
                "`{}` may stand in the user's configuration alone, not in a project's, which \
                 agents may be able to write: remove it here, and {}",
                key.name(),
                key.instead()
            )));
        }
        let values = values(value.get_ref()).ok_or_else(|| {
            let what = format!("`{}` is a text, a number, or a list of such", key.name());
            Mistake::at(self.text, &value.span(), what)
        })?;
        let setting = Setting {
            key,
            values,
            author: self.place.author,
            path: self.place.path.clone(),
            line: Mistake::at(self.text, &name.span(), "").line,
        };
        Ok(setting.beside(&self.place.path))
    }
}

impl Setting {
    /// The same, a path in it being one from where the file lies.
    fn beside(mut self, file: &Path) -> Self {
        if self.key.is_session() {
            let dir = file.parent().unwrap_or(Path::new("."));
            for value in &mut self.values {
                *value = dir.join(&value).to_string_lossy().into_owned();
            }
        }
        self
    }

    /// What is wrong with the value, told with its place.
    pub(super) fn refused(&self, why: &str) -> BadFile {
        let mistake = Mistake {
            line: self.line,
            column: 1,
            what: format!("`{}`: {why}", self.key.name()),
        };
        BadFile::Mistake {
            path: self.path.clone(),
            mistake,
        }
    }
}

/// The values as flags take them; none where a flag takes no such.
fn values(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(array) => array.iter().map(|one| scalar(one.get_ref())).collect(),
        value => scalar(value).map(|one| vec![one]),
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

/// That a line is no TOML: in words, where it is plain text.
fn unreadable(text: &str, span: &Range<usize>, why: &str) -> String {
    let start = text
        .get(..span.start)
        .map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let line = text.get(start..).and_then(|rest| rest.lines().next());
    let line = line.unwrap_or_default().trim();
    if line.contains(['=', '[', '#']) {
        return why.to_owned();
    }
    format!(
        "this line is no setting: one is written `name = \"value\"`, such as `color = \"never\"` \
         ({why}); `comail config --example` shows a whole file"
    )
}

/// That there is no such key, and which is nearest.
fn unknown(command: Option<&str>, flag: &str) -> String {
    let whole = match command {
        Some(command) => format!("{command}.{flag}"),
        None => flag.to_owned(),
    };
    let names: Vec<String> = KEYS.iter().map(Key::name).collect();
    let near = nearest(&whole, names.iter().map(String::as_str));
    let near = near.map_or(";".to_owned(), |near| format!("; did you mean `{near}`?"));
    format!("unknown key `{whole}`{near} `comail config --example` lists all")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(author: Author, text: &str) -> Result<Vec<(String, Vec<String>, usize)>, String> {
        let place = Place {
            author,
            path: "/p/comail.toml".into(),
        };
        let settings = read(&place, text).map_err(|error| error.to_string())?;
        let settings = settings.into_iter();
        Ok(settings
            .map(|setting| (setting.key.name(), setting.values, setting.line))
            .collect())
    }

    #[test]
    fn values_come_with_their_lines() {
        let text = "session = \"work\"\n[scan]\nrate = 0.5\ndns-server = [\"9.9.9.9:53\", \"[::1]:53\"]\n\
                    [run]\nmax-quests = 20\n";
        let one = |name: &str, value: &str, line| (name.to_owned(), vec![value.to_owned()], line);
        let mut found = said(Author::User, text).unwrap();
        found.sort_by_key(|(_, _, line)| *line);
        assert_eq!(found[0], one("session", "/p/work", 1));
        assert_eq!(found[1], one("scan.rate", "0.5", 3));
        assert_eq!(found[2].1, ["9.9.9.9:53", "[::1]:53"]);
        assert_eq!(found[3], one("run.max-quests", "20", 6));
        assert_eq!(said(Author::Project, ""), Ok(Vec::new()));
    }

    #[test]
    fn mistakes_come_with_their_place_and_the_nearest_name() {
        for (text, expected) in [
            (
                "\n[run]\nagnet = 1\n",
                "/p/comail.toml:3:1: unknown key `run.agnet`; did you mean `run.agent`?",
            ),
            (
                "max_tries = 99\n",
                "/p/comail.toml:1:1: unknown key `max_tries`",
            ),
            (
                "[submit]\nid = 1\n",
                "/p/comail.toml:1:2: unknown key `submit`",
            ),
            ("color = true\n", "/p/comail.toml:1:9: `color` is a text"),
            ("color = \n", "/p/comail.toml:1:"),
            (
                "my settings\n",
                "/p/comail.toml:1:4: this line is no setting: one is written `name = ",
            ),
            ("run = 3\n", "/p/comail.toml:1:1: unknown key `run`"),
        ] {
            let wrong = said(Author::User, text).unwrap_err();
            assert!(wrong.starts_with(expected), "{wrong}");
        }
    }

    #[test]
    fn a_project_sets_neither_the_world_nor_the_budgets() {
        for text in [
            "[scan]\ndns-server = \"9.9.9.9:53\"\n",
            "[scan]\ntimeout = 0.1\n",
            "[scan]\npause-after = 0\n",
            "[run]\nmax-cost = \"1000\"\n",
        ] {
            assert!(said(Author::User, text).is_ok(), "{text}");
            let wrong = said(Author::Project, text).unwrap_err();
            assert!(
                wrong.contains(":2:1: ") && wrong.contains("alone"),
                "{wrong}"
            );
        }
        for text in ["session = \"work\"\n", "session = \"/elsewhere\"\n"] {
            assert!(said(Author::User, text).is_ok(), "{text}");
            let wrong = said(Author::Project, text).unwrap_err();
            assert!(wrong.contains("COMAIL_SESSION"), "{wrong}");
        }
        let columns = "[export]\ncolumns = \"source=status\"\n";
        assert!(said(Author::User, columns).is_ok());
        let wrong = said(Author::Project, columns).unwrap_err();
        assert!(wrong.contains("--columns"), "{wrong}");
    }
}
