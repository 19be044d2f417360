//! Checks the JSON that the program prints against the schemas that it publishes.
//!
//! The schemas are closed for it: a member that no schema names fails the test, although readers
//! must ignore it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};

use boon::{Compiler, SchemaIndex, Schemas, ValidationError};
use comail::cli::schema::{DOCUMENTS, Document, Way};
use comail::quest::email;
use serde_json::{Map, Value, json};

/// Checks each document that `command` has printed.
///
/// A document that breaks off, since the disk was full or the reader stopped, is for other tests.
#[track_caller]
pub fn check(command: &Command, stdout: &[u8]) {
    let args: Vec<&str> = command.get_args().filter_map(OsStr::to_str).collect();
    if command.get_program() != env!("CARGO_BIN_EXE_comail") || !args.contains(&"--json") {
        return;
    }
    let values = serde_json::Deserializer::from_slice(stdout).into_iter::<Value>();
    for value in values.map_while(Result::ok) {
        let document = if is_error(&value) {
            Document::named("error")
        } else {
            document(&args)
        };
        let Some(document) = document else {
            assert!(
                prints_a_schema(&args),
                "no schema for {args:?}: add a line to src/cli/schema.rs"
            );
            Validator::new(&value);
            continue;
        };
        let errors = errors(document, &value);
        assert!(
            errors.is_empty(),
            "{args:?} is not as `comail schema {}` says: {errors:#?}\n{value:#}",
            document.name
        );
    }
}

/// Whether this is the document of a command that ended with an error.
fn is_error(value: &Value) -> bool {
    let members = value.as_object();
    members.is_some_and(|members| members.len() == 1 && members.contains_key("error"))
}

pub fn errors(document: &'static Document, value: &Value) -> Vec<String> {
    with_validator(document, |validator| validator.errors(value))
}

/// A compiled schema.
pub struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    #[track_caller]
    pub fn new(schema: &Value) -> Self {
        const NAME: &str = "comail:///schema.json";
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler
            .add_resource(NAME, schema.clone())
            .expect("a document");
        let mut schemas = Schemas::new();
        let index = compiler.compile(NAME, &mut schemas).expect("a JSON Schema");
        Self { schemas, index }
    }

    pub fn is_valid(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }

    pub fn errors(&self, value: &Value) -> Vec<String> {
        fn innermost(error: &ValidationError<'_, '_>, found: &mut Vec<String>) {
            if error.causes.is_empty() {
                found.push(format!("{}: {}", error.instance_location, error.kind));
            }
            error
                .causes
                .iter()
                .for_each(|cause| innermost(cause, found));
        }
        let mut found = Vec::new();
        if let Err(error) = self.schemas.validate(value, self.index) {
            innermost(&error, &mut found);
        }
        found
    }
}

/// The schemas of an `OpenAPI` document, which refer to its components.
pub struct Described<'a> {
    document: &'a Value,
}

impl<'a> Described<'a> {
    pub fn new(document: &'a Value) -> Self {
        Self { document }
    }

    /// What is wrong with `value` by one of its schemas, closed.
    pub fn errors(&self, schema: &Value, value: &Value) -> Vec<String> {
        let mut whole = schema.clone();
        whole["$defs"] = self.document["components"]["schemas"].clone();
        let text = whole
            .to_string()
            .replace("#/components/schemas/", "#/$defs/");
        let whole = serde_json::from_str(&text).expect("JSON");
        Validator::new(&closed(&whole)).errors(value)
    }
}

/// The document of the command that shares the most words with `args`.
pub fn document(args: &[&str]) -> Option<&'static Document> {
    let command = match *args.iter().find(|arg| is_command(arg))? {
        "until" => "run",
        command => command,
    };
    if prints_a_schema(args) {
        return None;
    }
    let says = |word: &str| {
        let joined = format!("{word}=");
        let same = |arg: &&str| *arg == word || arg.starts_with(&joined);
        args.iter().any(same)
    };
    let fits = |document: &&Document| {
        let printed = matches!(document.way, Way::Printed | Way::Lines);
        let mut words = document.place.split(' ');
        printed && words.next() == Some(command) && words.all(says)
    };
    let words = |document: &&Document| document.place.split(' ').count();
    DOCUMENTS.iter().filter(fits).max_by_key(words)
}

/// Whether this can be the name of a command.
fn is_command(arg: &str) -> bool {
    !arg.starts_with('-') && !arg.contains(['/', '.'])
}

fn prints_a_schema(args: &[&str]) -> bool {
    let at = args.iter().position(|arg| *arg == "schema");
    let Some(at) = at else { return false };
    let named = |arg: &&str| DOCUMENTS.iter().any(|document| document.name == *arg);
    let of_quest = at > 0 && args[at - 1] == "quest";
    of_quest || !args.contains(&"--out") && args[at + 1..].iter().any(named)
}

/// The validators so far: each schema is compiled once in a process.
static VALIDATORS: LazyLock<Mutex<BTreeMap<&'static str, &'static Validator>>> =
    LazyLock::new(Mutex::default);

fn with_validator<T>(document: &'static Document, then: impl FnOnce(&Validator) -> T) -> T {
    let mut all = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = *all.entry(document.name).or_insert_with(|| {
        let schema = closed(&document.schema(&email::kind()).to_value());
        // Of the few there are, each serves until the process ends.
        Box::leak(Box::new(Validator::new(&schema)))
    });
    drop(all);
    then(validator)
}

/// A schema under which no object has a member that is not named.
///
/// Only the schema of a whole value is closed, not its parts: each part would refuse the members
/// that another names.
pub fn closed(schema: &Value) -> Value {
    let mut whole = within(schema);
    refuse_unnamed(&mut whole);
    whole
}

/// Closes what `schema` says of the values within its own.
fn within(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let members = members.iter().map(|(word, value)| {
        let value = match word.as_str() {
            "properties" | "patternProperties" => each(value, closed),
            "items" | "additionalProperties" | "prefixItems" if value.is_object() => closed(value),
            "$defs" => each(value, within),
            "oneOf" | "anyOf" | "allOf" => {
                let parts = value.as_array().into_iter().flatten();
                Value::Array(parts.map(within).collect())
            }
            _ => value.clone(),
        };
        (word.clone(), value)
    });
    Value::Object(members.collect())
}

fn each(members: &Value, of: fn(&Value) -> Value) -> Value {
    let members = members.as_object().into_iter().flatten();
    let members: Map<String, Value> = members
        .map(|(name, value)| (name.clone(), of(value)))
        .collect();
    Value::Object(members)
}

/// Refuses members that are not named, in a schema that names any; one without names accepts
/// everything, as it must.
fn refuse_unnamed(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    let names = ["properties", "$ref", "oneOf", "anyOf", "allOf"];
    if names.iter().any(|word| members.contains_key(*word)) {
        members
            .entry("unevaluatedProperties")
            .or_insert_with(|| json!(false));
    }
}
