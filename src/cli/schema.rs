//! `comail schema`: the JSON Schemas of what comail prints, reads and stores.

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::context::Context;
use super::exit::Exit;
use super::output::Paper;
use super::output_file::{NewFile, write_into};
use crate::base::text::{Escaped, plural};
use crate::cli::prompt::AgentBlock;
#[cfg(unix)]
use crate::cli::run::{DryRun, RunTells};
use crate::cli::{
    audit, claims, completions, config, demo, dispute, doctor, export, forget, help, hook, man,
    next, quest, recheck, release, resume, review, rules, scan, submit,
};
use crate::gate::checks::schema::schema as quest_file;
use crate::hook::HookReply;
use crate::judge;
use crate::judge::panel::Calibration;
use crate::judge::prove::Proof;
use crate::quest::{QuestKind, email, submission_schema};
use crate::report::run::Report;
use crate::report::{Insights, Status};
use crate::review::{Item, Queue};
use crate::session::{Line, Manifest, read_manifest};

/// Print the JSON Schemas of what comail prints, reads and stores
///
/// Without NAME, list all schemas. Later versions may add members, so a reader must ignore members
/// that it does not know; existing members keep their names and meanings. The schema of a submission
/// is that of the session, if there is one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SchemaArgs {
    /// The name of a schema in the list
    #[arg(value_parser = document(), hide_possible_values = true)]
    name: Option<&'static Document>,

    /// Write NAME.schema.json, or all schemas without NAME, into this directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  comail schema
  comail schema status
  comail schema --out schemas";

/// The JSON form of `schema`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    documents: Vec<Listing>,
}

/// A document that has a schema.
#[derive(Debug, Serialize, JsonSchema)]
struct Listing {
    /// The name under which `comail schema` prints its schema.
    name: &'static str,
    /// What comail does with the document.
    way: Way,
    /// The command that prints or reads it, or the file.
    place: &'static str,
}

/// The JSON form of `schema --out`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Written {
    directory: String,
    /// The files that were written.
    files: Vec<String>,
}

fn document() -> impl TypedValueParser<Value = &'static Document> {
    let names = DOCUMENTS.iter().map(|document| document.name);
    PossibleValuesParser::new(names)
        .try_map(|name| Document::named(&name).ok_or("no such document"))
}

pub(super) fn run(context: &mut Context, args: &SchemaArgs) -> Result<Exit> {
    // Only the schema of a submission needs the session, so a damaged one must not stop the rest.
    let of_session = args.name.is_none_or(Document::is_of_session);
    let kind = if of_session && (args.name.is_some() || args.out.is_some()) {
        kind(context.session_dir())?
    } else {
        email::kind()
    };
    match (&args.out, args.name) {
        (Some(dir), Some(one)) => write(context, dir, &[one], &kind)?,
        (Some(dir), None) => {
            let all: Vec<&Document> = DOCUMENTS.iter().collect();
            write(context, dir, &all, &kind)?;
        }
        (None, Some(one)) => {
            context.output.show(&one.schema(&kind), |paper, schema| {
                paper.line(format!("{:#}", schema.as_value()));
            })?;
        }
        (None, None) => list(context)?,
    }
    Ok(Exit::Done)
}

fn kind(session: &Path) -> Result<QuestKind> {
    if !session.join("session.json").exists() {
        return Ok(email::kind());
    }
    let (manifest, _) = read_manifest(session)?;
    Ok(judge::kind_of(&manifest)?)
}

fn list(context: &mut Context) -> Result<()> {
    let documents = DOCUMENTS.iter().map(|document| Listing {
        name: document.name,
        way: document.way,
        place: document.place,
    });
    let listed = Listed {
        documents: documents.collect(),
    };
    context.output.show(&listed, text)?;
    Ok(())
}

fn text(paper: &mut Paper, listed: &Listed) {
    let names = listed.documents.iter().map(|document| document.name.len());
    let width = names.max().unwrap_or(0);
    for Listing { name, way, place } in &listed.documents {
        let what = match way {
            Way::Printed => format!("comail {place} --json"),
            Way::Lines => format!("comail {place} --json, each line"),
            Way::Read => format!("comail {place}, input"),
            Way::Kept => format!("{place} in the session"),
        };
        paper.line(format!("{name:width$}  {what}"));
    }
    paper.line("Run `comail schema NAME` to print one, or `comail schema --out DIR` to write all.");
}

fn write(context: &mut Context, dir: &Path, all: &[&Document], kind: &QuestKind) -> Result<()> {
    let files = all.iter().map(|document| NewFile {
        name: document.file(),
        text: format!("{:#}\n", document.schema(kind).as_value()),
    });
    let files: Vec<_> = files.collect();
    write_into(dir, &files, context.session_dir())?;
    let written = Written {
        directory: dir.display().to_string(),
        files: files.into_iter().map(|file| file.name).collect(),
    };
    context.output.show(&written, |paper, written| {
        let count = u32::try_from(written.files.len()).unwrap_or(u32::MAX);
        let directory = Escaped(&written.directory);
        paper.line(format!(
            "{} written to {directory}",
            plural(count, "schema")
        ));
    })?;
    Ok(())
}

/// A document that comail prints, reads or stores, and how its schema is made.
#[derive(Clone)]
pub struct Document {
    pub name: &'static str,
    pub way: Way,
    /// The command that prints or reads it, with its flags, or the file.
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
    /// The session contains it.
    Kept,
}

#[derive(Clone, Copy)]
enum Made {
    Type(fn(SchemaGenerator) -> Schema),
    Kind(fn(&QuestKind) -> Schema),
    QuestFile,
}

impl Document {
    #[must_use]
    pub(super) const fn printed<T: JsonSchema>(name: &'static str, place: &'static str) -> Self {
        Self::of::<T>(name, Way::Printed, place)
    }

    #[must_use]
    pub(super) const fn lines<T: JsonSchema>(name: &'static str, place: &'static str) -> Self {
        Self::of::<T>(name, Way::Lines, place)
    }

    #[must_use]
    pub(super) const fn kept<T: JsonSchema>(name: &'static str, place: &'static str) -> Self {
        Self::of::<T>(name, Way::Kept, place)
    }

    #[must_use]
    pub(super) const fn submission(name: &'static str, place: &'static str) -> Self {
        Self::read(name, place, Made::Kind(submission_schema))
    }

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

    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = DOCUMENTS.iter();
        all.find(|document| document.name == name)
    }

    #[must_use]
    pub fn is_of_session(&self) -> bool {
        matches!(self.made, Made::Kind(_))
    }

    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.schema.json", self.name)
    }

    /// The schema for quests of this kind: JSON Schema 2020-12, without external references.
    #[must_use]
    pub fn schema(&self, kind: &QuestKind) -> Schema {
        let mut schema = match self.made {
            Made::Type(of) => {
                let settings = SchemaSettings::draft2020_12().for_serialize();
                let settings = settings.with_transform(RecursiveTransform(never_null));
                of(settings.into_generator())
            }
            Made::Kind(of) => of(kind),
            // This is the output of `quest schema`, which has its own title.
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

/// Removes null from optional members: comail leaves them out instead.
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

/// Every document, in the order of `comail schema`: one for each form that a command prints.
pub const DOCUMENTS: &[Document] = &[
    Document::printed::<scan::Scanned>("scan", "scan"),
    #[cfg(unix)]
    Document::lines::<RunTells<'static>>("run", "run"),
    #[cfg(unix)]
    Document::printed::<DryRun>("run-dry", "run --dry-run"),
    Document::printed::<next::Answer>("next", "next"),
    Document::printed::<submit::Answer>("submit", "submit"),
    Document::submission("submission", "submit --in"),
    Document::printed::<Status>("status", "status"),
    Document::lines::<Status>("status-watch", "status --watch"),
    Document::printed::<export::Exported>("export", "export"),
    Document::printed::<audit::Report>("audit", "audit"),
    Document::printed::<recheck::Report>("recheck", "recheck"),
    Document::printed::<Report>("report", "report"),
    Document::printed::<rules::Catalogue>("rules", "rules"),
    Document::printed::<quest::Checked>("quest-check", "quest check"),
    Document::printed::<quest::Written>("quest-new", "quest new"),
    Document::quest_file("quest", "scan --quest"),
    Document::printed::<Proof>("prove", "prove"),
    Document::printed::<Calibration>("prove-reviewers", "prove --reviewers"),
    Document::printed::<resume::Answer>("resume", "resume"),
    Document::printed::<Queue>("review", "review"),
    Document::printed::<Item>("review-show", "review show"),
    Document::printed::<review::settle::Answer<'static>>("review-accept", "review accept"),
    Document::printed::<review::settle::Answer<'static>>("review-reject", "review reject"),
    Document::printed::<review::settle::Answer<'static>>("review-reopen", "review reopen"),
    Document::printed::<crate::cli::review::workbook::Exported>("review-export", "review --export"),
    Document::printed::<crate::cli::review::workbook::Answer<'static>>(
        "review-import",
        "review --import",
    ),
    Document::printed::<dispute::Answer>("dispute", "dispute"),
    Document::printed::<forget::Answer>("forget", "forget"),
    Document::printed::<claims::Listed>("claims", "claims"),
    Document::printed::<release::Answer>("release", "release"),
    Document::lines::<Line<'static>>("log", "log"),
    Document::printed::<Insights>("insights", "insights"),
    Document::printed::<HookReply>("hook-stop", "hook stop"),
    Document::printed::<HookReply>("hook-tool", "hook tool"),
    Document::printed::<hook::Installed>("hook-install", "hook install"),
    Document::printed::<config::Configuration>("config", "config"),
    Document::printed::<config::Example>("config-example", "config --example"),
    Document::printed::<doctor::Diagnosis>("doctor", "doctor"),
    Document::printed::<demo::Played>("demo", "demo"),
    Document::printed::<AgentBlock>("prompt", "prompt"),
    Document::printed::<help::Help>("help", "help"),
    Document::printed::<completions::Script>("completions", "completions"),
    Document::printed::<man::Manual>("man", "man"),
    Document::printed::<Listed>("schema", "schema"),
    Document::printed::<Written>("schema-out", "schema --out"),
    Document::kept::<Manifest>("session", "session.json"),
];
