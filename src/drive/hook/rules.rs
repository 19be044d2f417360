//! The file of rules for commands.
//!
//! ```toml
//! default = "prompt"       # what no rule names; left out, the agent's own permissions decide
//! unreadable = "forbid"    # what cannot be told before it runs; left out, "prompt"
//!
//! [[rule]]
//! prefix = ["git", ["push", "fetch"]]
//! decision = "forbid"
//! why = "the release is a person's"
//! ```
//!
//! A rule names the commands that begin with its words. Of several the strictest counts.

use serde::Deserialize;

use super::ruling::{Decision, Ruled, Ruling};
use super::shell::Word;

/// The rules for commands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    default: Option<Decision>,
    #[serde(default = "prompt")]
    unreadable: Decision,
    #[serde(default)]
    rule: Vec<PrefixRule>,
}

/// What is said of the commands that begin with these words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefixRule {
    prefix: Vec<Pattern>,
    decision: Decision,
    #[serde(default)]
    why: String,
}

/// What one word is held against.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Pattern {
    One(String),
    AnyOf(Vec<String>),
}

/// A file that holds no rules.
#[derive(Debug, thiserror::Error)]
pub enum BadRules {
    /// It does not read.
    #[error("the rules do not read: {0}")]
    Toml(#[from] toml::de::Error),
    /// A rule would name everything, or nothing.
    #[error("rule {0} names no command: its prefix has no words, or an empty one")]
    Empty(usize),
}

fn prompt() -> Decision {
    Decision::Prompt
}

/// The options behind which a program's own subcommand stands, and that take a value.
const VALUED: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--config-env",
        ],
    ),
    ("comail", &["--session", "--color"]),
    ("cargo", &["-C", "-Z", "--config", "--color"]),
    ("npm", &["--prefix", "-C"]),
];

impl Default for Rules {
    fn default() -> Self {
        Self {
            default: None,
            unreadable: Decision::Prompt,
            rule: Vec::new(),
        }
    }
}

impl Rules {
    /// Reads a file of rules.
    pub fn parse(text: &str) -> Result<Self, BadRules> {
        let rules: Self = toml::from_str(text)?;
        let is_empty =
            |rule: &PrefixRule| rule.prefix.is_empty() || rule.prefix.iter().any(Pattern::is_empty);
        match rules.rule.iter().position(is_empty) {
            Some(place) => Err(BadRules::Empty(place + 1)),
            None => Ok(rules),
        }
    }

    /// What the rules say of a command: the strictest that names it.
    pub(super) fn named(&self, argv: &[Word]) -> Option<Ruled> {
        let short = without_options(argv);
        let hits = self.rule.iter().filter(|rule| {
            // A permission holds for what it names letter by letter; a refusal is not to be
            // slipped past by an option in between.
            let loose = rule.decision != Decision::Allow;
            rule.names(argv) || (loose && rule.names(&short))
        });
        hits.map(PrefixRule::ruled).reduce(Ruled::stricter)
    }

    /// What is said of a command that no rule names.
    pub(super) fn unnamed(&self) -> Ruled {
        match self.default {
            None => Ruled::new(Ruling::Leave, "no rule names it"),
            Some(decision) => Ruled::new(decision.into(), "no rule names it"),
        }
    }

    /// What is said of what cannot be told before it runs.
    pub(super) fn unreadable(&self, why: &str) -> Ruled {
        let ruling = match self.unreadable {
            // It is let through as though it said nothing, not because it is good.
            Decision::Allow => Ruling::Leave,
            decision => decision.into(),
        };
        Ruled::new(ruling, format!("what it does cannot be told: {why}"))
    }
}

impl PrefixRule {
    fn names(&self, argv: &[Word]) -> bool {
        argv.len() >= self.prefix.len()
            && self
                .prefix
                .iter()
                .zip(argv)
                .enumerate()
                .all(|(place, (pattern, word))| {
                    word.is_plain()
                        && (pattern.is(&word.text)
                            || (place == 0 && pattern.is(program(&word.text))))
                })
    }

    fn ruled(&self) -> Ruled {
        let words = self
            .prefix
            .iter()
            .map(Pattern::shown)
            .collect::<Vec<_>>()
            .join(" ");
        let why = match &*self.why {
            "" => format!("the rule for `{words}`"),
            why => format!("the rule for `{words}`: {why}"),
        };
        Ruled::new(self.decision.into(), why)
    }
}

impl Pattern {
    fn is(&self, text: &str) -> bool {
        match self {
            Self::One(one) => one == text,
            Self::AnyOf(any) => any.iter().any(|one| one == text),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::One(one) => one.is_empty(),
            Self::AnyOf(any) => any.is_empty() || any.iter().any(String::is_empty),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::One(one) => one.clone(),
            Self::AnyOf(any) => any.join("|"),
        }
    }
}

/// A program's name without the folders before it.
pub(super) fn program(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The words without the options that stand before the first operand.
pub(super) fn without_options(argv: &[Word]) -> Vec<Word> {
    let Some((first, rest)) = argv.split_first() else {
        return Vec::new();
    };
    let name = program(&first.text);
    let valued = VALUED.iter().find(|(program, _)| *program == name);
    let valued = valued.map_or(&[][..], |(_, options)| options);
    let mut rest = rest.iter();
    let mut kept = vec![first.clone()];
    while let Some(word) = rest.next() {
        if !word.text.starts_with(['-', '+']) {
            kept.push(word.clone());
            break;
        }
        if valued.contains(&word.text.as_str()) {
            rest.next();
        }
    }
    kept.extend(rest.cloned());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::plain).collect()
    }

    fn rules() -> Rules {
        Rules::parse(
            r#"
            [[rule]]
            prefix = ["git"]
            decision = "allow"
            [[rule]]
            prefix = ["git", ["push", "fetch"]]
            decision = "forbid"
            why = "a person's"
            [[rule]]
            prefix = ["cargo", "publish"]
            decision = "prompt"
            "#,
        )
        .unwrap()
    }

    #[test]
    fn the_strictest_rule_that_names_a_command_counts() {
        for (line, ruling) in [
            ("git status", Some(Ruling::Allow)),
            ("git push", Some(Ruling::Forbid)),
            ("git fetch origin", Some(Ruling::Forbid)),
            ("/usr/bin/git push", Some(Ruling::Forbid)),
            ("git -C there --no-pager push", Some(Ruling::Forbid)),
            ("git commit push", Some(Ruling::Allow)),
            ("cargo +nightly publish", Some(Ruling::Prompt)),
            ("cargo test", None),
            ("gitk", None),
            ("GIT push", None),
        ] {
            let named = rules().named(&words(line));
            assert_eq!(named.map(|ruled| ruled.ruling), ruling, "{line}");
        }
        let why = rules().named(&words("git push")).unwrap().why;
        assert_eq!(why, "the rule for `git push|fetch`: a person's");
    }

    #[test]
    fn a_permission_holds_letter_by_letter() {
        let rules =
            Rules::parse("rule = [{ prefix = ['git', 'log'], decision = 'allow' }]").unwrap();
        assert!(rules.named(&words("git log")).is_some());
        assert!(rules.named(&words("git -c core.pager=x log")).is_none());
    }

    #[test]
    fn a_file_that_says_something_else_is_refused() {
        for text in [
            "rule = [{ prefix = [], decision = 'allow' }]",
            "rule = [{ prefix = [''], decision = 'allow' }]",
            "rule = [{ prefix = [[]], decision = 'allow' }]",
            "rule = [{ prefix = ['a'], decision = 'perhaps' }]",
            "rule = [{ prefix = ['a'] }]",
            "rules = []",
            "default = 'deny'",
            "default",
        ] {
            assert!(Rules::parse(text).is_err(), "{text}");
        }
        assert_eq!(Rules::parse("").unwrap(), Rules::default());
    }

    #[test]
    fn what_no_rule_names_is_left_or_as_the_file_says() {
        assert_eq!(Rules::default().unnamed().ruling, Ruling::Leave);
        let strict = Rules::parse("default = 'forbid'\nunreadable = 'forbid'").unwrap();
        assert_eq!(strict.unnamed().ruling, Ruling::Forbid);
        assert_eq!(strict.unreadable("").ruling, Ruling::Forbid);
        assert_eq!(Rules::default().unreadable("").ruling, Ruling::Prompt);
        let lax = Rules::parse("unreadable = 'allow'").unwrap();
        assert_eq!(lax.unreadable("").ruling, Ruling::Leave);
    }
}
