//! A document that comail prints, reads or keeps, and how its schema is made.

use std::fmt;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::gate::checks::schema::schema as quest_file;
use crate::quest::{QuestKind, submission_schema};

/// A document that has a JSON Schema.
#[derive(Clone)]
pub struct Document {
    /// The name by which people ask for its schema.
    pub name: &'static str,
    /// What comail does with it.
    pub way: Way,
    /// The command that prints or reads it, or the file that is it.
    pub place: &'static str,
    made: Made,
}

/// What comail does with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A command prints it, with `--json`.
    Printed,
    /// A command prints one a line, with `--json`.
    Lines,
    /// A command reads it.
    Read,
    /// It lies in the session.
    Kept,
}

/// What a schema is made from.
#[derive(Clone, Copy)]
enum Made {
    /// The type that is written.
    Type(fn(SchemaGenerator) -> Schema),
    /// The quest kind.
    Kind(fn(&QuestKind) -> Schema),
    /// The checks that there are.
    QuestFile,
}

impl Document {
    /// What a command prints: a value of this type.
    #[must_use]
    pub(super) const fn printed<T: JsonSchema>(name: &'static str, place: &'static str) -> Self {
        Self::of::<T>(name, Way::Printed, place)
    }

    /// What a command prints on each line.
    #[must_use]
    pub(super) const fn lines<T: JsonSchema>(name: &'static str, place: &'static str) -> Self {
        Self::of::<T>(name, Way::Lines, place)
    }

    /// A file of the session.
    #[must_use]
    pub(super) const fn kept<T: JsonSchema>(name: &'static str, place: &'static str) -> Self {
        Self::of::<T>(name, Way::Kept, place)
    }

    /// What an agent answers with.
    #[must_use]
    pub(super) const fn submission(name: &'static str, place: &'static str) -> Self {
        Self::read(name, place, Made::Kind(submission_schema))
    }

    /// A quest file.
    #[must_use]
    pub(super) const fn quest_file(name: &'static str, place: &'static str) -> Self {
        Self::read(name, place, Made::QuestFile)
    }

    const fn read(name: &'static str, place: &'static str, made: Made) -> Self {
        Self {
            name,
            way: Way::Read,
            place,
            made,
        }
    }

    const fn of<T: JsonSchema>(name: &'static str, way: Way, place: &'static str) -> Self {
        let made = Made::Type(SchemaGenerator::into_root_schema_for::<T>);
        Self {
            name,
            way,
            place,
            made,
        }
    }

    /// The document of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = super::DOCUMENTS.iter();
        all.find(|document| document.name == name)
    }

    /// Whether sessions differ in it.
    #[must_use]
    pub fn is_of_session(&self) -> bool {
        matches!(self.made, Made::Kind(_))
    }

    /// The name of the file of its schema.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.schema.json", self.name)
    }

    /// Its schema, for quests of this kind: JSON Schema 2020-12, which refers to nothing outside.
    #[must_use]
    pub fn schema(&self, kind: &QuestKind) -> Schema {
        let mut schema = match self.made {
            Made::Type(of) => {
                let settings = SchemaSettings::draft2020_12().for_serialize();
                let settings = settings.with_transform(RecursiveTransform(never_null));
                of(settings.into_generator())
            }
            Made::Kind(of) => of(kind),
            // It has a title of its own, and is what `quest schema` prints.
            Made::QuestFile => return quest_file().try_into().unwrap_or_default(),
        };
        let title = match self.way {
            Way::Kept => self.place.to_owned(),
            Way::Printed | Way::Lines | Way::Read => format!("comail {}", self.place),
        };
        schema.insert("title".to_owned(), json!(title));
        schema
    }
}

/// Takes null from the members that are left out where there is nothing to say.
fn never_null(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    let required = members.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    for (name, value) in properties.into_iter().flatten() {
        if !required.contains(&json!(name)) {
            without_null(value);
        }
    }
}

/// Takes null from what a value may be.
fn without_null(schema: &mut Value) {
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|one| one != "null");
        if let [only] = &types[..] {
            schema["type"] = only.clone();
        }
        return;
    }
    let Some(ways) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return;
    };
    ways.retain(|way| way["type"] != "null");
    if let [only] = &ways[..]
        && let Some(only) = only.as_object().cloned()
        && let Some(members) = schema.as_object_mut()
    {
        members.remove("anyOf");
        members.extend(only);
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({})", self.name)
    }
}
