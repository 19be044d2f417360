//! `comail schema`: the JSON Schemas of what comail prints, reads and stores.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use minijinja::context;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::context::Context;
use super::exit::{ErrorReply, Exit};
use super::generator::generator;
use super::output_file::{FilesWritten, NewFile, write_into};
use super::run::{DryRun, RunLine};
use super::{
    audit, claims, completions, config, demo, dispute, doctor, export, forget, help, hook, list,
    man, next, notify, prompt, quest, recheck, release, reopen, resume, review, rules, scan, serve,
    session, submit, token, tree,
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
pub struct SchemaArgs {
    /// The name of a schema in the list
    #[arg(value_parser = document(), hide_possible_values = true)]
    name: Option<&'static Document>,

    /// Write NAME.schema.json, or all schemas without NAME, into this directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    documents: &'static [Document],
}

fn document() -> impl TypedValueParser<Value = &'static Document> {
    let names = DOCUMENTS.iter().map(|document| document.name);
    PossibleValuesParser::new(names)
        .try_map(|name| Document::named(&name).ok_or("no such document"))
}

pub(super) fn run(context: &mut Context, args: &SchemaArgs) -> Result<Exit> {
    let chosen: Vec<&Document> = match args.name {
        Some(one) => vec![one],
        None => DOCUMENTS.iter().collect(),
    };
    // Only the schema of a submission needs the session, so a damaged one must not stop the rest.
    let is_needed = args
        .name
        .map_or(args.out.is_some(), |one| one.name == SUBMISSION);
    let session = &context.dir;
    let kind = if is_needed && session.join("session.json").exists() {
        judge::kind_of(&read_manifest(session)?.0)?
    } else {
        email::kind()
    };
    if let Some(dir) = &args.out {
        let files = chosen.iter().map(|document| NewFile {
            name: format!("{}.schema.json", document.name),
            text: format!("{:#}\n", document.schema(&kind).as_value()),
        });
        let files: Vec<_> = files.collect();
        let written = write_into(dir, &files, session)?;
        context.output.show(&written, |out, written| {
            out.line(written.text("schema"));
        })?;
    } else if let Some(one) = args.name {
        context.output.keep_lines();
        context.output.show(&one.schema(&kind), |out, schema| {
            out.line(format!("{:#}", schema.as_value()));
        })?;
    } else {
        let listed = Listed {
            documents: DOCUMENTS,
        };
        let width = DOCUMENTS.iter().map(|document| document.name.len()).max();
        context.output.show(&listed, |out, listed| {
            let values = context! { documents => listed.documents, width };
            out.template(include_str!("text/schema.txt"), values);
        })?;
    }
    Ok(Exit::Done)
}

/// A document that comail prints, reads or stores, and how its schema is made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Document {
    /// The name under which `comail schema` prints its schema.
    pub name: &'static str,
    pub way: Way,
    /// The command that prints or reads it, with its flags, or the file.
    pub place: &'static str,
    #[serde(skip)]
    make: fn(&QuestKind) -> Schema,
}

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
    /// Every command prints it with `--json` if it ends with an error.
    Failed,
}

const SUBMISSION: &str = "submission";
const QUEST_FILE: &str = "quest";

const fn printed<T: JsonSchema>(name: &'static str, place: &'static str) -> Document {
    Document {
        name,
        way: Way::Printed,
        place,
        make: of_type::<T>,
    }
}

const fn lines<T: JsonSchema>(name: &'static str, place: &'static str) -> Document {
    Document {
        way: Way::Lines,
        ..printed::<T>(name, place)
    }
}

const fn read(name: &'static str, place: &'static str, make: fn(&QuestKind) -> Schema) -> Document {
    Document {
        name,
        way: Way::Read,
        place,
        make,
    }
}

fn of_type<T: JsonSchema>(_: &QuestKind) -> Schema {
    generator("/$defs").into_root_schema_for::<T>()
}

impl Document {
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = DOCUMENTS.iter();
        all.find(|document| document.name == name)
    }

    /// The schema for quests of this kind: JSON Schema 2020-12, without external references.
    pub fn schema(&self, kind: &QuestKind) -> Schema {
        let mut schema = (self.make)(kind);
        // `quest schema` prints the schema of quest files too, with its own title.
        if self.name != QUEST_FILE {
            let program = if self.way == Way::Kept { "" } else { "comail " };
            schema.insert(
                "title".to_owned(),
                format!("{program}{}", self.place).into(),
            );
        }
        schema
    }
}

pub const DOCUMENTS: &[Document] = &[
    printed::<scan::reply::Scanned>("scan", "scan"),
    lines::<RunLine<'static>>("run", "run"),
    printed::<DryRun>("run-dry", "run --dry-run"),
    printed::<next::NextReply>("next", "next"),
    printed::<submit::SubmitReply>("submit", "submit"),
    read(SUBMISSION, "submit --in", submission_schema),
    printed::<Status>("status", "status"),
    lines::<Status>("status-watch", "status --watch"),
    lines::<list::ListedQuest<'static>>("list", "list"),
    printed::<Item>("show", "show"),
    printed::<export::Exported>("export", "export"),
    printed::<tree::TreeReply>("tree", "tree"),
    printed::<audit::Report>("audit", "audit"),
    printed::<recheck::RecheckReport>("recheck", "recheck"),
    printed::<Report>("report", "report"),
    printed::<rules::Catalogue>("rules", "rules"),
    printed::<quest::Checked>("quest-check", "quest check"),
    printed::<quest::Attacked>("quest-attack", "quest attack"),
    printed::<quest::FileWritten>("quest-new", "quest new"),
    read(QUEST_FILE, "scan --quest", |_| {
        quest_file().try_into().unwrap_or_default()
    }),
    printed::<Proof>("quest-prove", "quest prove"),
    printed::<Calibration>("quest-prove-reviewers", "quest prove --reviewers"),
    printed::<resume::ResumeReply>("resume", "resume"),
    printed::<Queue>("review", "review"),
    printed::<review::settle::Answer<'static>>("review-accept", "review accept"),
    printed::<review::settle::Answer<'static>>("review-reject", "review reject"),
    printed::<review::settle::Answer<'static>>("review-reopen", "review reopen"),
    printed::<review::sample::DrawReply<'static>>("review-sample", "review --sample"),
    printed::<review::workbook::Exported>("review-export", "review --export"),
    printed::<review::workbook::Answer<'static>>("review-import", "review --import"),
    printed::<dispute::DisputeReply>("dispute", "dispute"),
    printed::<reopen::ReopenReply>("reopen", "reopen"),
    printed::<forget::ForgetReply>("forget", "forget"),
    printed::<session::CopyReply>("session-copy", "session copy"),
    printed::<claims::Listed>("claims", "claims"),
    printed::<release::ReleaseReply>("release", "release"),
    printed::<serve::Serving>("serve", "serve"),
    printed::<token::NewToken>("token-new", "token new"),
    printed::<token::TokenList>("token-list", "token list"),
    printed::<token::Revoked>("token-revoke", "token revoke"),
    lines::<Line<'static>>("log", "log"),
    printed::<Insights>("insights", "insights"),
    printed::<HookReply>("hook-stop", "hook stop"),
    printed::<HookReply>("hook-tool", "hook tool"),
    printed::<hook::Installed>("hook-install", "hook install"),
    printed::<config::Configuration>("config", "config"),
    printed::<config::Example>("config-example", "config --example"),
    printed::<notify::Notification<'static>>("notify", "notify --test"),
    printed::<doctor::Diagnosis>("doctor", "doctor"),
    printed::<demo::Demonstrated>("demo", "demo"),
    printed::<prompt::Instructions>("prompt", "prompt"),
    printed::<help::Help>("help", "help"),
    printed::<completions::Script>("completions", "completions"),
    printed::<man::Manual>("man", "man"),
    printed::<Listed>("schema", "schema"),
    printed::<FilesWritten>("schema-out", "schema --out"),
    Document {
        way: Way::Kept,
        ..printed::<Manifest>("session", "session.json")
    },
    Document {
        way: Way::Failed,
        ..printed::<ErrorReply>("error", "COMMAND")
    },
];
