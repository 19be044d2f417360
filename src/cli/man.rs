//! `comail man`: the manual pages.

mod sections;
mod synopsis;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;
use schemars::JsonSchema;
use serde::Serialize;

use super::command;
use super::context::Context;
use super::destination::{NewFile, write_into};
use super::exit::{Exit, UsageError};
use super::output::Paper;
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::quest::email;

/// Print the manual page, or write all of them into a directory
///
/// One page for the program and one for each command, made from what --help prints. Pages that
/// are there are replaced, each whole or not at all. For the help of one command, such as submit,
/// run `comail help submit`; the name of a command is no DIR unless there is such a directory.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ManArgs {
    /// The directory to write all pages into, as comail.1 and its like; made where it is missing
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  comail man | man -l -
  comail man ~/.local/share/man/man1    # then: man comail-submit";

/// The JSON form of `man`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Told {
    /// Without a directory, the page of the program.
    Page(Page),
    /// With one, what was written into it.
    Written(Written),
}

/// Pages that were written.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Written {
    directory: String,
    files: Vec<String>,
}

/// One page.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Page {
    file: String,
    text: String,
}

pub(super) fn run(context: &mut Context, args: &ManArgs) -> Result<Exit> {
    let mut pages = pages()?;
    let Some(dir) = &args.dir else {
        context
            .output
            .show(&Told::Page(pages.swap_remove(0)), text)?;
        return Ok(Exit::Done);
    };
    refuse_command(dir)?;
    let files = pages.into_iter().map(|page| NewFile {
        name: page.file,
        text: page.text,
    });
    let files: Vec<_> = files.collect();
    write_into(dir, &files, context.session_dir())?;
    let written = Written {
        directory: dir.display().to_string(),
        files: files.into_iter().map(|file| file.name).collect(),
    };
    context.output.show(&Told::Written(written), text)?;
    Ok(Exit::Done)
}

/// Refuses what names a command, and no directory that is there: who types it wants its page.
fn refuse_command(dir: &Path) -> Result<()> {
    let Some(name) = dir.to_str().filter(|_| !dir.is_dir()) else {
        return Ok(());
    };
    if command::parser(&email::kind())
        .find_subcommand(name)
        .is_none()
    {
        return Ok(());
    }
    let text = format!(
        "{name} is a command, and no directory is called so: `comail help {name}` tells of it, \
         and `comail man DIR` writes all pages into DIR (`comail man ./{name}` into a new {name}/)"
    );
    Err(UsageError(text).into())
}

fn text(paper: &mut Paper, told: &Told) {
    match told {
        Told::Page(page) => paper.line(page.text.trim_end()),
        Told::Written(written) => {
            let pages = plural(u64::try_from(written.files.len()).unwrap_or(0), "page");
            paper.line(format!(
                "{pages} written to {}",
                Escaped(&written.directory)
            ));
        }
    }
}

/// The page of the program, and then one for each of its commands.
fn pages() -> io::Result<Vec<Page>> {
    let mut parser = command::parser(&email::kind()).disable_help_subcommand(true);
    parser.build();
    let mut pages = Vec::new();
    add_pages(&parser, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    let text = String::from_utf8(page(command)?).map_err(io::Error::other)?;
    let name = command.get_display_name().unwrap_or(command.get_name());
    let file = format!("{name}.1");
    pages.push(Page { file, text });
    let shown = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set());
    shown
        .into_iter()
        .try_for_each(|inner| add_pages(inner, pages))
}

/// Whether that is the program itself, and none of its commands.
fn is_root(command: &Command) -> bool {
    let called = command.get_bin_name();
    called.is_none_or(|called| called == command.get_name())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let source = concat!("comail ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .source(source)
        .manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    sections::synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        sections::commands(command).to_writer(&mut page)?;
    }
    sections::below(command).to_writer(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_the_program_and_for_every_command() {
        let pages = pages().unwrap();
        let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
        assert_eq!(files[0], "comail.1");
        for wanted in ["comail-submit.1", "comail-review-accept.1", "comail-man.1"] {
            assert!(files.contains(&wanted), "{files:?}");
        }
        let submit = pages.iter().find(|page| page.file == "comail-submit.1");
        let submit = &submit.unwrap().text;
        for part in ["comail\\-submit", "\\-\\-company", ".nf", "comail submit"] {
            let plain = submit.replace("\\-", "-");
            assert!(
                submit.contains(part) || plain.contains(part),
                "{part}: {submit}"
            );
        }
        for page in &pages {
            assert!(page.text.contains(".SH NAME"), "{}", page.file);
            let below = match page.file.as_str() {
                "comail.1" => ".SH \"EXIT STATUS\"",
                _ => ".SH EXAMPLES",
            };
            assert!(page.text.contains(below), "{} lacks {below}", page.file);
        }
    }

    #[test]
    fn the_page_of_the_program_lists_commands_as_help_does() {
        let page = pages().unwrap().swap_remove(0).text.replace("\\-", "-");
        let (_, commands) = page.split_once(".SH COMMANDS").unwrap();
        let places = [
            "Setting up",
            "comail-scan",
            "comail-next",
            "Tools",
            "comail-man",
        ];
        let places = places.map(|name| commands.find(name).expect(name));
        assert!(places.is_sorted(), "{commands}");
    }

    #[test]
    fn the_name_of_a_command_is_no_directory_unless_there_is_one() {
        let refused = refuse_command(Path::new("submit")).unwrap_err().to_string();
        assert!(refused.contains("`comail help submit`"), "{refused}");
        assert!(refused.contains("`comail man DIR`"), "{refused}");
        for dir in ["./submit", "pages", "src"] {
            assert!(refuse_command(Path::new(dir)).is_ok(), "{dir}");
        }
    }
}
