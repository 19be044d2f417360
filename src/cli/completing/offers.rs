//! What a session offers where somebody types one of its names.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use clap_complete::CompletionCandidate;
use clap_complete::engine::{PathCompleter, ValueCompleter as _};

use crate::base::text::Escaped;
use crate::base::text::is_unsafe;
use crate::gate::email::EmailGate;
use crate::gate::{Gate as _, Level, house};
use crate::quest::Key;
use crate::session::{Effective, Glance, Prefix, SessionError, Sought, Standing, State};

/// The most that is offered.
const MOST: usize = 200;

/// How long is looked.
const PATIENCE: Duration = Duration::from_millis(40);

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    /// A quest by its key.
    Key(Which),
    /// A quest by its number.
    Id(Which),
    /// A quest that a worker holds, by its number.
    ClaimedId,
    /// A worker that holds a quest.
    Worker,
    /// A run that began and has not ended.
    Run,
    /// A rule that fired in the session.
    FiredRule,
    /// A rule of the e-mail gate with a level behind it.
    RuleLevel,
    /// A rule of the e-mail gate, or of every gate.
    Rule,
    /// The directory of a session.
    SessionDir,
}

/// Which quests are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that take a submission.
    Todo,
    /// Those that wait for a person.
    Open,
    /// Every REVIEW.
    Review,
    /// Those that a person settled.
    Settled,
    /// Those that count as right.
    Right,
}

impl Which {
    /// The state that they are all in, if there is one.
    fn state(self) -> Option<State> {
        match self {
            Self::Todo => Some(State::Todo),
            Self::Open | Self::Review | Self::Settled => Some(State::Review),
            Self::Right => None,
        }
    }

    /// Which of those in that state are meant.
    fn wanted(self) -> fn(&Standing) -> bool {
        match self {
            Self::Todo | Self::Review => |_| true,
            Self::Open => |standing| Effective::of(standing).is_open(),
            Self::Settled => |standing| {
                let effective = Effective::of(standing);
                matches!(effective, Effective::Accepted | Effective::Rejected)
            },
            Self::Right => |standing| Effective::of(standing).holds(),
        }
    }
}

impl Offer {
    /// What the session in `dir` offers for what begins with `typed`; nothing where it cannot be
    /// looked at.
    pub(super) fn of(self, dir: &Path, typed: &str) -> Vec<CompletionCandidate> {
        let offered = match self {
            Self::RuleLevel => return rule_levels(typed),
            Self::SessionDir => return session_dirs(typed),
            Self::Rule => {
                let rules = house::rules()
                    .into_iter()
                    .chain(EmailGate::default().rules());
                let named = rules.map(|rule| (rule.id.to_string(), rule.meaning.to_string()));
                Ok(named.collect())
            }
            Self::Key(which) => quests(dir, Prefix::Key(typed), which),
            Self::Id(which) => quests(dir, Prefix::Number(typed), which),
            Self::ClaimedId => claims(dir, |claim| {
                let id = claim.quest.to_string();
                (id, format!("held by {}", claim.worker))
            }),
            Self::Worker => claims(dir, |claim| {
                (
                    claim.worker.to_string(),
                    format!("holds quest {}", claim.quest),
                )
            }),
            Self::Run => Glance::at(dir).map(|glance| {
                let runs = glance.totals().runs.keys();
                runs.map(|run| (run.to_string(), "goes on".to_owned()))
                    .collect()
            }),
            Self::FiredRule => Glance::at(dir).map(|glance| {
                let rules = glance.totals().counts.rules.iter();
                rules
                    .map(|(rule, count)| (rule.clone(), format!("fired {count}×")))
                    .collect()
            }),
        };
        candidates(offered.unwrap_or_default(), typed)
    }
}

/// Those of these names that begin with `typed`, each with what it means.
pub(super) fn candidates(
    mut named: Vec<(String, String)>,
    typed: &str,
) -> Vec<CompletionCandidate> {
    named.retain(|(value, _)| value.starts_with(typed) && !value.contains(is_unsafe));
    named.truncate(MOST);
    let candidates = named.into_iter().map(|(value, help)| {
        let help = Escaped(&help).to_string();
        CompletionCandidate::new(value).help(Some(help.into()))
    });
    candidates.collect()
}

/// Directories; of those that are hidden, sessions are offered beside the others.
fn session_dirs(typed: &str) -> Vec<CompletionCandidate> {
    let found = PathCompleter::dir().complete(OsStr::new(typed)).into_iter();
    let found = found.filter(|dir| dir.get_value() != ".");
    let shown = found.map(|dir| {
        let is_session = Path::new(dir.get_value()).join("session.json").is_file();
        let hidden = dir.is_hide_set() && !is_session;
        dir.hide(hidden)
    });
    shown.collect()
}

/// Names and what they mean.
type Named = Result<Vec<(String, String)>, SessionError>;

fn quests(dir: &Path, by: Prefix<'_>, which: Which) -> Named {
    let end = Instant::now() + PATIENCE;
    let sought = Sought {
        by,
        state: which.state(),
        wanted: which.wanted(),
        most: MOST,
    };
    let found = Glance::at(dir)?.quests(&sought, &|| Instant::now() > end)?;
    let named = found.into_iter().filter_map(|quest| match by {
        Prefix::Key(_) => {
            let state = quest.progress.state;
            Some((
                typeable(&quest.key)?,
                format!("quest {}, {state}", quest.id),
            ))
        }
        Prefix::Number(_) => Some((quest.id.to_string(), quest.key.as_str().to_owned())),
    });
    Ok(named.collect())
}

/// How a key is typed: as it stands or, where white space in it would end a line, folded, which
/// finds it too. What holds other characters that nobody sees is named by its number.
fn typeable(key: &Key) -> Option<String> {
    let is_typed = |text: &str| !text.contains(is_unsafe);
    if is_typed(key.as_str()) {
        return Some(key.as_str().to_owned());
    }
    let folded = key.folded();
    is_typed(folded.as_str()).then(|| folded.as_str().to_owned())
}

fn claims(dir: &Path, say: fn(&crate::session::Claim) -> (String, String)) -> Named {
    Ok(Glance::at(dir)?.claims()?.iter().map(say).collect())
}

fn rule_levels(typed: &str) -> Vec<CompletionCandidate> {
    let rules = EmailGate::default().rules().into_iter();
    let pairs = rules.flat_map(|rule| {
        let level = |level: Level| {
            let value = format!("{}={}", rule.id, level.to_string().to_lowercase());
            CompletionCandidate::new(value).help(Some(rule.meaning.to_string().into()))
        };
        [level(Level::Review), level(Level::Fail)]
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.retain(|pair| pair.get_value().to_string_lossy().starts_with(typed));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_offered_as_it_can_be_typed() {
        let typed = |key: &str| typeable(&Key::new(key).unwrap());
        assert_eq!(typed("$(x) 'y'").unwrap(), "$(x) 'y'");
        assert_eq!(typed("a\n \tb").unwrap(), "a b");
        assert_eq!(typed("a\u{1b}[2J"), None);
        assert_eq!(typed("a\u{202e}b"), None);
    }

    #[test]
    fn where_there_is_no_session_nothing_is_offered() {
        let dir = tempfile::tempdir().unwrap();
        for offer in [
            Offer::Key(Which::Todo),
            Offer::Id(Which::Open),
            Offer::Worker,
        ] {
            assert!(offer.of(dir.path(), "").is_empty());
        }
        let levels = Offer::RuleLevel.of(dir.path(), "mx-n");
        let levels: Vec<_> = levels.iter().map(CompletionCandidate::get_value).collect();
        assert_eq!(levels, ["mx-null=review", "mx-null=fail"]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
