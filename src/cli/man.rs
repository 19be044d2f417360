//! `comail man`: the manual pages.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use schemars::JsonSchema;
use serde::Serialize;

use super::command;
use super::context::Context;
use super::exit::{Exit, UsageError};
use super::output_file::{NewFile, write_into};
use crate::base::text::{Escaped, plural};
use crate::quest::email;

/// Print the manual page, or write all manual pages into a directory
///
/// There is one page for comail and one for each command. Pages that exist are replaced.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ManArgs {
    /// The directory for all pages, comail.1 and so on; created if missing
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
pub(super) enum Manual {
    Page(Page),
    Written(Written),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Written {
    directory: String,
    files: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Page {
    file: String,
    text: String,
}

pub(super) fn run(context: &mut Context, args: &ManArgs) -> Result<Exit> {
    let mut pages = pages()?;
    let manual = match &args.dir {
        None => Manual::Page(pages.swap_remove(0)),
        Some(dir) => {
            refuse_command(dir)?;
            let files = pages.into_iter().map(|page| NewFile {
                name: page.file,
                text: page.text,
            });
            let files: Vec<_> = files.collect();
            write_into(dir, &files, context.session_dir())?;
            Manual::Written(Written {
                directory: dir.display().to_string(),
                files: files.into_iter().map(|file| file.name).collect(),
            })
        }
    };
    context.output.show(&manual, |paper, manual| match manual {
        Manual::Page(page) => paper.line(page.text.trim_end()),
        Manual::Written(written) => {
            let pages = plural(u64::try_from(written.files.len()).unwrap_or(0), "page");
            paper.line(format!(
                "{pages} written to {}",
                Escaped(&written.directory)
            ));
        }
    })?;
    Ok(Exit::Done)
}

/// Refuses the name of a command: a user who types `comail man submit` wants to read about it.
fn refuse_command(dir: &Path) -> Result<()> {
    let name = dir.to_str().filter(|_| !dir.is_dir());
    let parser = command::parser(&email::kind());
    let Some(name) = name.filter(|name| parser.find_subcommand(name).is_some()) else {
        return Ok(());
    };
    let hint = format!(
        "run `comail help {name}` to read about it, or `comail man ./{name}` to write all pages \
         into a new directory {name}"
    );
    Err(UsageError(format!("{name} is a command, not a directory"))
        .hint(hint)
        .into())
}

/// The page of the program, then one for each command.
fn pages() -> io::Result<Vec<Page>> {
    let mut parser = command::parser(&email::kind()).disable_help_subcommand(true);
    parser.build();
    let mut pages = Vec::new();
    add_pages(&parser, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    pages.push(Page {
        file: format!("{name}.1"),
        text: String::from_utf8(page(command)?).map_err(io::Error::other)?,
    });
    let mut shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    shown.try_for_each(|inner| add_pages(inner, pages))
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let source = concat!("comail ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone());
    let man = man.source(source).manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let below = command.get_after_long_help().or(command.get_after_help());
    let below = below.map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for (heading, lines) in sections(&below) {
        roff.control("SH", [heading.to_uppercase().as_str()]);
        // Otherwise roff would join the lines of examples to fill the page.
        roff.control("nf", []);
        for line in lines {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// The sections of a text, by its headings: lines such as `Examples:`.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections = vec![("Notes", Vec::new())];
    for line in text.lines() {
        let heading = line.strip_suffix(':').filter(|it| !it.contains([' ', '`']));
        let heading = heading.or_else(|| line.strip_suffix(':').filter(|it| *it == "Exit codes"));
        match (heading, sections.last_mut()) {
            (Some(heading), _) => sections.push((heading, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    sections.retain(|(_, lines)| lines.iter().any(|line| !line.is_empty()));
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let pages = pages().unwrap();
        let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
        assert_eq!(files[0], "comail.1");
        for wanted in ["comail-submit.1", "comail-review-accept.1", "comail-man.1"] {
            assert!(files.contains(&wanted), "{files:?}");
        }
        let submit = pages.iter().find(|page| page.file == "comail-submit.1");
        let submit = submit.unwrap().text.replace("\\-", "-");
        for part in ["comail-submit", "--company", ".nf", "comail submit"] {
            assert!(submit.contains(part), "{part}: {submit}");
        }
        for page in &pages {
            assert!(page.text.contains(".SH NAME"), "{}", page.file);
            let below = match page.file.as_str() {
                "comail.1" => ".SH \"EXIT CODES\"",
                _ => ".SH EXAMPLES",
            };
            assert!(page.text.contains(below), "{} lacks {below}", page.file);
        }
    }

    #[test]
    fn the_name_of_a_command_is_refused_unless_it_is_a_directory() {
        let refused = refuse_command(Path::new("submit")).unwrap_err();
        assert_eq!(refused.to_string(), "submit is a command, not a directory");
        for dir in ["./submit", "pages", "src"] {
            assert!(refuse_command(Path::new(dir)).is_ok(), "{dir}");
        }
    }
}
