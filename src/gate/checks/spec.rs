//! What a `[[check]]` table may say, and how it becomes a check.

use std::cell::RefCell;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::basis::{Basis, read_by_script, read_by_variable};
use super::outside::Outside;
use super::probe::Probe;
use super::quest_check::LevelName;
use crate::quest::file::{QuestFile, unknown_name};
use crate::quest::template::{Names, Template};
use crate::quest::{Field, FieldName, field_kind};
use crate::world::tree::{TreePath, Zones};

/// What a check of some kind is told in its table, beside what every check is.
pub trait Spec: DeserializeOwned + JsonSchema {
    /// The kind's name, in kebab-case.
    const KIND: &'static str;

    /// What passing it shows.
    const SHOWS: Shows;

    /// The level of all checks of the kind, where their tables do not choose it.
    const LEVEL: Option<LevelName> = None;

    /// The check that the table stands for.
    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw>;
}

/// What passing a check shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// That a fact holds in the world: an agent cannot bring it about by wording alone.
    Fact,
    /// That the submission has a form, which an agent can always give it.
    Form,
}

/// What is wrong with a value of a check's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The key.
    pub key: &'static str,
    /// What is wrong, and what was expected.
    pub what: String,
}

impl Flaw {
    /// The flaw of this key.
    #[must_use]
    pub fn new(key: &'static str, what: impl Into<String>) -> Self {
        Self {
            key,
            what: what.into(),
        }
    }
}

/// What a check's table is read against.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The quest file.
    pub file: &'a QuestFile<'a>,
    /// The check's own name.
    pub name: &'a str,
    /// What a template may name.
    pub names: &'a Names,
    /// What the file goes by that does not stand in it.
    pub outside: &'a dyn Outside,
    /// What of an agent's work the check goes by, as far as it is read.
    pub basis: &'a RefCell<Basis>,
}

impl Source<'_> {
    /// The template that is the value of `key`.
    pub fn template(&self, key: &'static str, text: &str) -> Result<Template, Flaw> {
        self.template_of(key, text, self.names)
    }

    /// The template that is the value of `key`, and may name these.
    pub fn template_of(
        &self,
        key: &'static str,
        text: &str,
        names: &Names,
    ) -> Result<Template, Flaw> {
        let parsed = Template::parse(text, names);
        let template = parsed.map_err(|bad| Flaw::new(key, self.of_no_quest(bad.to_string())))?;
        self.note(|field| template.reads_field(field));
        Ok(template)
    }

    /// The templates of a list.
    pub fn templates(&self, key: &'static str, texts: &[String]) -> Result<Vec<Template>, Flaw> {
        let parsed = texts.iter().map(|text| self.template(key, text));
        parsed.collect()
    }

    /// The field that is the value of `key`.
    pub fn field(&self, key: &'static str, name: &str) -> Result<FieldName, Flaw> {
        self.note(|field| field == name);
        self.file.field(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.file.fields.iter().map(|it| it.name.as_str()).collect();
            let what = unknown_name("field", name, &known);
            Flaw::new(key, self.of_no_quest(what))
        })
    }

    /// What is wrong with a name, and in a check over the whole result why there is none.
    fn of_no_quest(&self, what: String) -> String {
        if self.file.is_final() {
            return format!("{what}; a check of [final] is about no single quest or submission");
        }
        what
    }

    /// The field that is the value of `key`, with what belongs in it.
    pub fn whole_field(&self, key: &'static str, name: &str) -> Result<Field, Flaw> {
        let name = self.field(key, name)?;
        let mut fields = self.file.fields.iter();
        let field = fields.find(|field| field.name == name).cloned();
        field.ok_or_else(|| Flaw::new(key, "there is no such field"))
    }

    fn note(&self, is_read: impl Fn(&str) -> bool) {
        let mut basis = self.basis.borrow_mut();
        let fields = self.file.fields.iter().map(|field| &field.name);
        for field in fields.filter(|field| is_read(field.as_str())) {
            basis.name(field);
        }
    }

    /// Notes that the check looks at the tree as the agent has left it.
    pub fn sees_tree(&self) {
        let tree = self.file.tree.as_ref();
        if tree.is_some_and(|tree| !tree.write.is_empty()) {
            self.basis.borrow_mut().see_zone();
        }
    }

    /// The same of the one file at this path.
    pub fn sees_file(&self, path: &Template) {
        let globs = self.file.tree.as_ref().map(|tree| tree.write.as_slice());
        let path = TreePath::parse(path.source())
            .ok()
            .filter(|_| path.is_fixed());
        // What is wrong with a glob is told elsewhere.
        let zones = Zones::new(globs.unwrap_or_default()).ok();
        if path
            .zip(zones)
            .is_none_or(|(path, zones)| zones.contains(&path))
        {
            self.sees_tree();
        }
    }

    /// Notes the fields that a program reads whose own text this is.
    pub fn told_to_script(&self, text: &str) {
        self.tell(read_by_script(text, &self.file.fields));
    }

    /// Notes the fields whose variables stand in a command's text.
    pub fn told_to_command(&self, text: &str) {
        self.tell(read_by_variable(text, &self.file.fields));
    }

    /// Notes the fields by which another check goes that this one is about.
    pub fn told_by_template(&self, text: &str) {
        // What is wrong with it is told of the check whose it is.
        if let Ok(template) = Template::parse(text, self.names) {
            let fields = self.file.fields.iter().map(|field| &field.name);
            self.tell(fields.filter(|field| template.reads_field(field.as_str())));
        }
        self.told_to_command(text);
    }

    fn tell<'f>(&self, fields: impl IntoIterator<Item = &'f FieldName>) {
        let mut basis = self.basis.borrow_mut();
        for field in fields {
            basis.tell(field);
        }
    }

    /// The column that is the value of `key`.
    pub fn column(&self, key: &'static str, name: &str) -> Result<String, Flaw> {
        let mut columns = self.file.input.columns();
        if columns.any(|column| column == name) {
            return Ok(name.to_owned());
        }
        let known: Vec<_> = self.file.input.columns().collect();
        let what = self.of_no_quest(unknown_name("column", name, &known));
        let how = format!("{what}; a column of the list is named in `anchor` or `show` of [input]");
        Err(Flaw::new(key, how))
    }

    /// The pattern that is the value of `key`; it is looked for anywhere in a text.
    pub fn pattern(&self, key: &'static str, text: &str) -> Result<regex::Regex, Flaw> {
        regex::Regex::new(text).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or(&text).to_owned();
            Flaw::new(key, format!("not a pattern: {last}"))
        })
    }

    /// The pattern that is the value of `key`; a whole text has to match it.
    pub fn whole_pattern(&self, key: &'static str, text: &str) -> Result<regex::Regex, Flaw> {
        field_kind::whole(text).map_err(|what| Flaw::new(key, what))
    }

    /// The text of a file that lies beside the quest file, as it was at scan.
    pub fn beside(&self, key: &'static str, name: &str) -> Result<String, Flaw> {
        self.outside
            .asset(name)
            .map_err(|missing| Flaw::new(key, missing.to_string()))
    }
}
