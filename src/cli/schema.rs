//! `comail schema`: the JSON Schemas of what comail prints, reads and keeps.

mod document;
mod registry;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;

pub use document::{Document, Way};
pub use registry::DOCUMENTS;

use super::context::Context;
use super::destination::{NewFile, write_into};
use super::exit::Exit;
use super::output::Paper;
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::judge;
use crate::quest::{QuestKind, email};
use crate::session::read_manifest;

/// Print the JSON Schemas of what comail prints, reads and keeps
///
/// Without NAME, the list of them. What is printed may gain members, which a reader has to bear;
/// a member that is there keeps its name and meaning. The schema of a submission is that of the
/// session, where there is one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SchemaArgs {
    /// Which one, by its name in the list
    #[arg(value_parser = document(), hide_possible_values = true)]
    name: Option<&'static Document>,

    /// Write NAME.schema.json into this directory, in place of printing; all of them without NAME
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
    /// What comail does with it.
    way: Way,
    /// The command that prints or reads it, or the file that is it.
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
        .try_map(|name| Document::named(&name).ok_or("there is no such document"))
}

pub(super) fn run(context: &mut Context, args: &SchemaArgs) -> Result<Exit> {
    // A session that does not read stands in the way of its own schema alone.
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

/// The kind of the session, else the built-in one.
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
            Way::Read => format!("what comail {place} reads"),
            Way::Kept => format!("{place}, in the session"),
        };
        paper.line(format!("{name:width$}  {what}"));
    }
    paper.line("comail schema NAME  prints one, --out DIR writes all");
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

#[cfg(test)]
mod tests;
