//! `comail man`: the manual pages.

use std::io;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::Exit;
use super::output_file::{FilesWritten, NewFile, write_into};

/// Print the manual page, or write all manual pages into a directory
///
/// There is one page for comail and one for each command. Pages that exist are replaced.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write all pages, comail.1 and so on, into this directory; created if missing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Manual {
    Page { file: String, text: String },
    Written(FilesWritten),
}

pub(super) fn run(context: &mut Context, args: &ManArgs) -> Result<Exit> {
    let mut pages = pages(&context.parser)?;
    let manual = match &args.out {
        None => {
            let NewFile { name: file, text } = pages.swap_remove(0);
            Manual::Page { file, text }
        }
        Some(dir) => Manual::Written(write_into(dir, &pages, &context.dir)?),
    };
    context.output.keep_lines();
    context.output.show(&manual, |out, manual| match manual {
        Manual::Page { text, .. } => out.line(text.trim_end()),
        Manual::Written(written) => out.line(written.text("page")),
    })?;
    Ok(Exit::Done)
}

/// The page of the program comes first.
pub(super) fn pages(parser: &Command) -> io::Result<Vec<NewFile>> {
    let mut parser = parser.clone().disable_help_subcommand(true);
    parser.build();
    let mut pages = Vec::new();
    let mut commands = vec![&parser];
    while let Some(command) = commands.pop() {
        pages.push(page(command)?);
        commands.extend(command.get_subcommands().filter(|it| !it.is_hide_set()));
    }
    Ok(pages)
}

fn page(command: &Command) -> io::Result<NewFile> {
    let man = Man::new(command.clone())
        .source(concat!("comail ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
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
    for line in below.lines() {
        match line.strip_suffix(':') {
            Some(heading @ ("Examples" | "Exit codes")) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                // Without it, roff would join the lines of examples to fill the page.
                roff.control("nf", []);
            }
            _ => {
                roff.text([roman(line)]);
            }
        }
    }
    roff.control("fi", []);
    roff.to_writer(&mut page)?;
    let name = command.get_display_name().unwrap_or(command.get_name());
    Ok(NewFile {
        name: format!("{name}.1"),
        text: String::from_utf8(page).map_err(io::Error::other)?,
    })
}
