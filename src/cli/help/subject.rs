//! What `comail help` is asked about.

use super::checks::{self, CheckPage};
use super::topic::{TOPICS, Topic};
use crate::gate::Rule;

/// What help is asked for.
pub(super) enum Subject<'a> {
    /// All that there is.
    All,
    /// A command, or one of its own.
    Command(&'a clap::Command),
    /// A topic.
    Topic(&'static Topic),
    /// A kind of check.
    Check(CheckPage),
    /// A rule.
    Rule(&'a Rule),
}

/// The most names that an error suggests.
const MOST_SUGGESTED: usize = 3;

/// How alike a name must be to be suggested, by Jaro and Winkler.
const LEAST_LIKENESS: f64 = 0.7;

/// How much less alike than the best one it may be.
const NEAR_THE_BEST: f64 = 0.1;

impl<'a> Subject<'a> {
    /// What `words` name; commands come first, and `rules` last. Else what is wrong with them.
    pub(super) fn of(
        words: &[String],
        parser: &'a clap::Command,
        rules: &'a [Rule],
    ) -> Result<Self, String> {
        let name = words.join("-").to_lowercase();
        if words.is_empty() {
            return Ok(Self::All);
        }
        let command = words.iter().try_fold(parser, |command, word| {
            command.find_subcommand(word).ok_or((command, word))
        });
        let topic = TOPICS.iter().find(|it| it.name == name);
        let rule = rules.iter().find(|rule| rule.id.as_str() == name);
        match (command, topic, checks::page(&name), rule) {
            (Ok(command), ..) => Ok(Self::Command(command)),
            (_, Some(topic), ..) => Ok(Self::Topic(topic)),
            (_, _, Some(check), _) => Ok(Self::Check(check)),
            (.., Some(rule)) => Ok(Self::Rule(rule)),
            (Err((parent, word)), None, None, None) => {
                Err(unknown(parent, word, &name, words, rules))
            }
        }
    }
}

/// What is said of words that name nothing: `parent` has no command `word`.
fn unknown(
    parent: &clap::Command,
    word: &str,
    name: &str,
    words: &[String],
    rules: &[Rule],
) -> String {
    let before = words.iter().map(String::as_str);
    let before = before.take_while(|it| *it != word);
    let before: String = before.flat_map(|it| [it, " "]).collect();
    let commands = parent.get_subcommands().map(|it| {
        let likeness = strsim::jaro_winkler(word, it.get_name());
        (likeness, format!("{before}{}", it.get_name()))
    });
    let topics = TOPICS.iter().map(|it| it.name);
    let rules = rules.iter().map(|rule| rule.id.to_string());
    let others = topics.chain(checks::names()).map(str::to_owned);
    let others = others.chain(rules);
    let others = others.map(|it| (strsim::jaro_winkler(name, &it), it));
    let mut near: Vec<(f64, String)> = commands.chain(others).collect();
    near.retain(|(likeness, _)| *likeness > LEAST_LIKENESS);
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let best = near.first().map_or(0.0, |(likeness, _)| *likeness);
    near.retain(|(likeness, _)| *likeness > best - NEAR_THE_BEST);
    near.truncate(MOST_SUGGESTED);
    let near: Vec<String> = near.into_iter().map(|(_, it)| format!("`{it}`")).collect();
    let meant = if near.is_empty() {
        String::from(";")
    } else {
        format!("; did you mean {}?", near.join(" or "))
    };
    let words = words.join(" ");
    format!("there is no command and no topic `{words}`{meant} `comail help` lists them")
}
