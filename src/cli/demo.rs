//! `comail demo`: the e-mail quest on a bundled workbook, offline.
//!
//! Every step is a command line that the program's own parser and commands run, so the demo shows
//! what it does. Only web pages and DNS are recorded.

#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::command;
use super::context::Context;
use super::exit::Exit;
use super::output::{Paper, Tone};
use super::output_file::refuse_in_session;
use super::shell_line::ShellLine;
use crate::base::text::Escaped;
use crate::cli::exit::UsageError;
use crate::world::evidence::recorded::RecordedWorld;

/// Run the e-mail quest offline, on a bundled workbook and recorded pages
///
/// The workbook lists five invented companies. Some addresses pass, a made-up one fails and is
/// corrected, one is left to a person, and one is not found. Only web pages and DNS are recorded;
/// everything else runs as in any session.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct DemoArgs {
    /// The directory to create [default: comail-demo, or comail-demo-2, …]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  comail demo
  comail demo --dir look-at-it";

const WORLD: &str = include_str!("demo/world.json");

/// The JSON form of `demo`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Played {
    directory: String,
    workbook: String,
    session: String,
    results: String,
    status_command: String,
    steps: Vec<PlayedStep>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlayedStep {
    about: &'static str,
    command: String,
    exit: u8,
    /// What it printed: the document of its command.
    #[schemars(with = "serde_json::Value")]
    output: Said,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Said {
    Json(Box<RawValue>),
    Text(String),
}

pub(super) fn run(context: &mut Context, args: &DemoArgs) -> Result<Exit> {
    let world = RecordedWorld::from_json(WORLD).context("the demo's world cannot be read")?;
    let world = Rc::new(world);
    if let Some(dir) = &args.dir {
        refuse_in_session(dir, context.session_dir())?;
    }
    let place = Place::make(args.dir.as_deref())?;
    let steps = script(&place)
        .into_iter()
        .map(|step| play(context, step, &world))
        .collect::<Result<_>>()?;
    let show = |path: PathBuf| path.display().to_string();
    let played = Played {
        directory: show(place.dir().to_owned()),
        workbook: show(place.workbook()),
        session: show(place.session()),
        results: show(place.results()),
        status_command: ShellLine::comail("status", Some(&place.session())).into_text(),
        steps,
    };
    context.output.show(&played, text)?;
    Ok(Exit::Done)
}

fn play(context: &Context, step: Step, world: &Rc<RecordedWorld>) -> Result<PlayedStep> {
    let command = step.line.into_text();
    let failed = || format!("the demo stopped at `{command}`");
    let words = shlex::split(&command).with_context(failed)?;
    let (output, kept) = context.output.kept();
    let json = output.is_json();
    let exit = command::rehearse(&words, output, Rc::clone(world)).with_context(failed)?;
    let text = kept.text();
    Ok(PlayedStep {
        about: step.about,
        exit: exit.code(),
        output: if json {
            Said::Json(serde_json::from_str(&text).with_context(failed)?)
        } else {
            Said::Text(text)
        },
        command,
    })
}

fn text(paper: &mut Paper, played: &Played) {
    paper.line("The e-mail quest on invented companies and recorded pages; it uses no network.");
    for step in &played.steps {
        paper.gap();
        paper.line(format!("# {}", step.about));
        let command = Escaped(&step.command).to_string();
        let command = paper.tint(Tone::Strong, &command);
        paper.line(format!("$ {command}"));
        if let Said::Text(said) = &step.output {
            // The command has already escaped its output for a terminal.
            paper.line(said.trim_end());
        }
        if step.exit != 0 {
            paper.line(format!("[exit code {}]", step.exit));
        }
    }
    paper.gap();
    paper.line(format!(
        "Workbook with results: {}",
        Escaped(&played.results)
    ));
    paper.line(format!(
        "Status of the session: {}",
        Escaped(&played.status_command)
    ));
}

const WORKBOOK: &[u8] = include_bytes!("../../fixtures/workbooks/companies.xlsx");

const DEFAULT_DIR: &str = "comail-demo";

const MAX_DIRS: u32 = 1_000;

/// A directory that holds the bundled workbook.
#[derive(Debug)]
struct Place(PathBuf);

impl Place {
    /// Creates `wanted` or the first free default name, and puts the workbook there.
    fn make(wanted: Option<&Path>) -> Result<Self> {
        let place = Self(match wanted {
            Some(dir) => make_named(dir)?,
            None => make_free(Path::new(DEFAULT_DIR))?,
        });
        let workbook = place.workbook();
        fs::write(&workbook, WORKBOOK)
            .with_context(|| format!("cannot write {}", workbook.display()))?;
        Ok(place)
    }

    fn dir(&self) -> &Path {
        &self.0
    }

    fn workbook(&self) -> PathBuf {
        self.0.join("companies.xlsx")
    }

    fn session(&self) -> PathBuf {
        self.0.join("session")
    }

    fn results(&self) -> PathBuf {
        self.0.join("results.xlsx")
    }
}

fn make_named(dir: &Path) -> Result<PathBuf> {
    if dir.to_str().is_none() {
        let text = format!(
            "--dir {}: the name must be UTF-8, because the demo prints command lines with it",
            dir.display()
        );
        return Err(UsageError(text).into());
    }
    match fs::create_dir(dir) {
        Ok(()) => Ok(dir.to_owned()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => anyhow::bail!(
            "{} already exists; choose another directory with --dir",
            dir.display()
        ),
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot create the directory {}; choose another one with --dir",
                dir.display()
            )
        }),
    }
}

/// Creates `name`, `name-2`, `name-3`, …; creating a directory is the only safe test of whether it
/// is free.
fn make_free(name: &Path) -> Result<PathBuf> {
    let mut dir = name.to_owned();
    for number in 2..=MAX_DIRS {
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                dir = format!("{}-{number}", name.display()).into();
            }
            Err(_) => break,
            Ok(()) => return Ok(dir),
        }
    }
    make_named(&dir)
}

#[derive(Debug)]
struct Step {
    about: &'static str,
    line: ShellLine,
}

struct Answer<'a> {
    about: &'static str,
    company: &'a str,
    site: &'a str,
    email: &'a str,
    source: &'a str,
}

const HANBIT: Answer<'_> = Answer {
    about: "The agent answers. The gate reads the page, DNS and the home page, and locks PASS.",
    company: "Hanbit Foods Co., Ltd.",
    site: "https://www.hanbit-foods.co.kr",
    email: "info@hanbit-foods.co.kr",
    source: "https://www.hanbit-foods.co.kr/contact",
};

const NORTHWIND_MADE_UP: Answer<'_> = Answer {
    about: "The agent makes an address up. The page does not show it, and the facts say what it shows.",
    company: "Northwind Tools GmbH",
    site: "https://www.northwind-tools.de",
    email: "info@northwind-tools.de",
    source: "https://www.northwind-tools.de/impressum",
};

const NORTHWIND: Answer<'_> = Answer {
    about: "The agent corrects its answer with the help of the facts.",
    email: "kontakt@northwind-tools.de",
    ..NORTHWIND_MADE_UP
};

const BLUEFIN: Answer<'_> = Answer {
    about: "A free-mail address may be the company's. The gate cannot know, so a person decides.",
    company: "Bluefin Freight Inc.",
    site: "https://bluefin-freight.com",
    email: "bluefin.freight@gmail.com",
    source: "https://bluefin-freight.com/",
};

const AOYAMA_GUESSED: Answer<'_> = Answer {
    about: "The agent guesses an address; the page has only a form.",
    company: "Aoyama Seiki K.K.",
    site: "https://www.aoyama-seiki.co.jp",
    email: "info@aoyama-seiki.co.jp",
    source: "https://www.aoyama-seiki.co.jp/inquiry",
};

const AOYAMA_ELSEWHERE: Answer<'_> = Answer {
    about: "The agent uses another company's site; the Website column of the workbook names another one.",
    site: "https://www.hanbit-foods.co.kr",
    email: "info@hanbit-foods.co.kr",
    source: "https://www.hanbit-foods.co.kr/contact",
    ..AOYAMA_GUESSED
};

const LUMIERE: Answer<'_> = Answer {
    about: "The last answer passes.",
    company: "Lumière Textiles SARL",
    site: "https://lumiere-textiles.fr",
    email: "contact@lumiere-textiles.fr",
    source: "https://lumiere-textiles.fr/",
};

fn script(place: &Place) -> Vec<Step> {
    let session = place.session();
    let command = |name| ShellLine::comail(name, Some(&session));
    let step = |about, line| Step { about, line };
    let submit = |answer: Answer<'_>| {
        let line = command("submit")
            .flag("company", answer.company)
            .flag("site", answer.site)
            .flag("email", answer.email)
            .flag("source", answer.source);
        step(answer.about, line)
    };
    vec![
        step(
            "`scan` makes quests from a list, with the websites that the list knows.",
            scan(&place.workbook(), command("scan")),
        ),
        step("An agent asks for a quest.", command("next")),
        submit(HANBIT),
        submit(NORTHWIND_MADE_UP),
        submit(NORTHWIND),
        submit(BLUEFIN),
        submit(AOYAMA_GUESSED),
        submit(AOYAMA_ELSEWHERE),
        step(
            "The agent gives up. That uses the third and last try.",
            command("submit")
                .flag("company", AOYAMA_GUESSED.company)
                .flag("none", "the site shows a form and no address"),
        ),
        submit(LUMIERE),
        step(
            "No quest is left, according to the ledger.",
            command("next"),
        ),
        step("The result of the session.", command("status")),
        step(
            "The results in a copy of the workbook.",
            command("export").path(&place.results()),
        ),
    ]
}

fn scan(list: &Path, line: ShellLine) -> ShellLine {
    line.path(list)
        .flag("col", "Company")
        .flag("site-col", "Website")
        .flag("show", "Country")
}
