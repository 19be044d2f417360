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

use std::collections::BTreeSet;

use serde::Deserialize;

use super::leading::behind;
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
        let hits = self.rule.iter().filter(|rule| {
            // A permission holds for what it names letter by letter; a refusal is not to be
            // slipped past by an option in between.
            let loose = rule.decision != Decision::Allow;
            rule.names(argv) || (loose && rule.names_loosely(argv))
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

    /// Whether it names a command with options between its words, where what stands behind an
    /// option that is not known may be its value or not.
    fn names_loosely(&self, argv: &[Word]) -> bool {
        let Some(name) = argv.first().map(|word| program(&word.text)) else {
            return false;
        };
        let mut places = BTreeSet::from([0]);
        for (number, pattern) in self.prefix.iter().enumerate() {
            let mut next = BTreeSet::new();
            while let Some(place) = places.pop_first() {
                let Some(word) = argv.get(place) else {
                    continue;
                };
                let by_name = number == 0 && pattern.is(program(&word.text));
                if word.is_plain() && (pattern.is(&word.text) || by_name) {
                    next.insert(place + 1);
                }
                if number > 0 {
                    places.extend(behind(name, word).iter().map(|by| place + by));
                }
            }
            places = next;
        }
        !places.is_empty()
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
            prefix = [["cargo", "npm"], "publish"]
            decision = "prompt"
            [[rule]]
            prefix = ["kubectl", "delete"]
            decision = "forbid"
            [[rule]]
            prefix = ["kubectl", "config", "unset"]
            decision = "forbid"
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
            ("git --attr-source HEAD push", Some(Ruling::Forbid)),
            ("git --unknown x push", Some(Ruling::Forbid)),
            ("git --unknown push", Some(Ruling::Forbid)),
            ("git --no-pager log push", Some(Ruling::Allow)),
            ("npm --loglevel silent publish", Some(Ruling::Prompt)),
            ("npm --unknown x publish", Some(Ruling::Prompt)),
            ("npm run publish", None),
            ("kubectl -n prod delete x", Some(Ruling::Forbid)),
            ("kubectl --context=x -n prod delete", Some(Ruling::Forbid)),
            ("kubectl get delete", None),
            ("kubectl config -n x unset y", Some(Ruling::Forbid)),
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
