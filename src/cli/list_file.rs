//! The list that is read: what the operator names, or a file that is made of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::exit::UsageError;
use super::list_args::ListArgs;
use super::list_plan::ListPlan;
use crate::base::text::truncate;
use crate::quest::file::{InputFormat, InputTable};
use crate::table::{FormatWish, MadeList};

/// The files of a directory that are quests where the quest file does not say.
const EVERY_FILE: &str = "**";

/// The column of a directory's list in which each file's path stands.
const PATH: &str = "path";

/// The most characters of a command that are told.
const LONGEST_COMMAND: usize = 60;

/// The list that is read.
pub(super) struct ListFile {
    place: PathBuf,
    made: Option<MadeList>,
    /// What it is, in words, where its place does not say.
    words: Option<String>,
    /// The column of the key where nobody names one.
    key: Option<&'static str>,
}

impl ListFile {
    /// Finds the list, and makes a file of a directory or of what a command prints.
    ///
    /// The command is the operator's own, and runs as they would run it: unconfined, beside the
    /// quest file, by whose name its list goes.
    pub(super) fn find(
        args: &ListArgs,
        input: Option<&InputTable>,
        quest: Option<&Path>,
    ) -> Result<Self> {
        let format = input.and_then(|input| input.format);
        if let (Some(input), Some(InputFormat::Command), None) = (input, format, args.named()) {
            let here = quest.and_then(Path::parent).unwrap_or(Path::new("."));
            let bytes = printed(&input.argv, here)?;
            return Ok(Self {
                place: quest.unwrap_or(Path::new("list")).to_owned(),
                made: Some(MadeList::of_lines(&bytes)?),
                words: Some(what_printed(&input.argv)),
                key: None,
            });
        }
        let place = args.path()?.to_owned();
        let made = match input {
            Some(input) if place.is_dir() => {
                let glob = input.glob.as_deref().unwrap_or(EVERY_FILE);
                Some(MadeList::of_dir(&place, glob, &[])?)
            }
            _ => None,
        };
        let key = made.as_ref().map(|_| PATH);
        Ok(Self {
            place,
            made,
            words: None,
            key,
        })
    }

    /// The file to read.
    pub(super) fn path(&self) -> &Path {
        match &self.made {
            Some(made) => made.path(),
            None => &self.place,
        }
    }

    /// The column of the key where nobody names one, and the list has one by itself.
    pub(super) fn own_key(&self) -> Option<&'static str> {
        self.key
    }

    /// What it is in words, where its place does not say.
    pub(super) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// What it is, for messages.
    pub(super) fn said(&self) -> String {
        match &self.words {
            Some(words) => words.clone(),
            None => self.place.display().to_string(),
        }
    }

    /// What the operator named, or the quest file whose command printed it.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Notes in `plan` how the file is read that was made.
    pub(super) fn note_in(&self, plan: &mut ListPlan) {
        if let Some(made) = &self.made {
            plan.format = Some(made.format());
            plan.made = true;
        }
    }
}

/// The list of a command in words: on one line, and not too long for it.
fn what_printed(argv: &[String]) -> String {
    let words = argv.join(" ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("what `{}` printed", truncate(&words, LONGEST_COMMAND))
}

fn printed(argv: &[String], here: &Path) -> Result<Vec<u8>> {
    let Some((program, arguments)) = argv.split_first() else {
        let text = "[input] says that the list is what a command prints, and `argv` names none";
        return Err(UsageError(text.to_owned()).into());
    };
    let place = here.display();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .current_dir(here)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {program}, which is to print the list, in {place}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    anyhow::bail!(
        "{program}, which is to print the list, ended with {}; it was run in {place}",
        output.status
    )
}

/// The format that the quest file wishes, of those that are files.
pub(super) fn wish(format: InputFormat) -> Option<FormatWish> {
    match format {
        InputFormat::Xlsx => Some(FormatWish::Xlsx),
        InputFormat::Csv => Some(FormatWish::Csv),
        InputFormat::Jsonl => Some(FormatWish::Jsonl),
        InputFormat::Lines => Some(FormatWish::Lines),
        InputFormat::Dir | InputFormat::Command => None,
    }
}
