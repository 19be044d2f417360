//! `command-policy`: a proposed command line, held against prefixes that are allowed, asked about
//! or forbidden.
//!
//! The line is only read, never run. Nothing is expanded: whatever a shell would put something in
//! place of is refused, since it cannot be told what would run.

mod shell;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::shell::{Command, commands};
use super::context::Context;
use super::fields::shown;
use super::first_facts::first_facts;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;
use crate::quest::FieldName;

/// `kind = "command-policy"`.
///
/// Each entry is the first words of a command: `git status`. Of all entries that fit, the gravest
/// decides; of a line of several commands, the gravest of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandPolicySpec {
    /// The field that says the command line.
    field: String,
    /// Commands that may be run.
    #[serde(default)]
    allow: Vec<String>,
    /// Commands that a person has to be asked about.
    #[serde(default)]
    prompt: Vec<String>,
    /// Commands that may not be run.
    #[serde(default)]
    forbid: Vec<String>,
    /// What of a command that fits none.
    #[serde(default)]
    default: Otherwise,
}

/// What of a command that no entry fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Otherwise {
    /// It may not be run.
    #[default]
    Forbid,
    /// A person has to be asked.
    Prompt,
}

#[derive(Debug)]
struct CommandPolicy {
    field: FieldName,
    allow: Vec<Vec<String>>,
    prompt: Vec<Vec<String>>,
    forbid: Vec<Vec<String>>,
    default: Otherwise,
}

impl Spec for CommandPolicySpec {
    const KIND: &'static str = "command-policy";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let lists = [&self.allow, &self.prompt, &self.forbid];
        if lists.iter().all(|list| list.is_empty()) {
            return Err(Flaw::new("field", "say `allow`, `prompt` or `forbid`"));
        }
        let (allow, prompt, forbid) = (
            prefixes("allow", &self.allow)?,
            prefixes("prompt", &self.prompt)?,
            prefixes("forbid", &self.forbid)?,
        );
        Ok(Box::new(CommandPolicy {
            field: source.field("field", &self.field)?,
            allow,
            prompt,
            forbid,
            default: self.default,
        }))
    }
}

fn prefixes(key: &'static str, texts: &[String]) -> Result<Vec<Vec<String>>, Flaw> {
    let read = texts.iter().map(|text| match commands(text).as_deref() {
        Ok([Command { words, glob: None }]) => Ok(words.clone()),
        Ok(_) => {
            let what = format!("`{text}`: expected the words of one command");
            Err(Flaw::new(key, what))
        }
        Err(why) => Err(Flaw::new(key, format!("`{text}`: {why}"))),
    });
    read.collect()
}

impl CommandPolicy {
    /// Whether a glob of the command stands where a word decides.
    fn is_unclear(&self, Command { words, glob }: &Command) -> bool {
        let Some(known) = glob.and_then(|glob| words.get(..glob)) else {
            return false;
        };
        let mut prefixes = [&self.allow, &self.prompt, &self.forbid]
            .into_iter()
            .flatten();
        prefixes.any(|prefix| prefix.len() > known.len() && prefix.starts_with(known))
    }

    fn judged(&self, command: &Command) -> Option<Found> {
        let words = &command.words;
        let fits = |prefixes: &[Vec<String>]| {
            let hit = prefixes.iter().find(|prefix| words.starts_with(prefix));
            hit.map(|prefix| prefix.join(" "))
        };
        let line = shown(&words.join(" "));
        let detail = |expected: &str, actual: String| {
            let expected = format!("{expected} command");
            Detail::new(expected, actual).on(&self.field)
        };
        if self.is_unclear(command) {
            let actual = format!("{line} (it is not known what its pattern stands for)");
            return Some(detail("another", actual).wrong());
        }
        if let Some(hit) = fits(&self.forbid) {
            return Some(detail("another", format!("{line} (`{hit}` is forbidden)")).wrong());
        }
        if let Some(hit) = fits(&self.prompt) {
            let actual = format!("{line} (`{hit}` is asked about)");
            return Some(detail("an allowed", actual).unconfirmed());
        }
        if fits(&self.allow).is_some() {
            return None;
        }
        let detail = detail("an allowed", format!("{line} (on no list)"));
        Some(match self.default {
            Otherwise::Forbid => detail.wrong(),
            Otherwise::Prompt => detail.unconfirmed(),
        })
    }
}

impl Probe for CommandPolicy {
    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let Some(text) = context.field(&self.field) else {
            return Vec::new();
        };
        match commands(text) {
            Ok(all) => first_facts(all.iter().filter_map(|it| self.judged(it)).collect()),
            Err(why) => {
                let expected = "plain commands, apart by `;`, `&&`, `||` or `|`";
                let detail = Detail::new(expected, format!("{why}: {}", shown(text)));
                vec![detail.on(&self.field).wrong()]
            }
        }
    }
}
