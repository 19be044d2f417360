//! Values of variables that are taken when they are needed, and kept out of all that is kept.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::order::Order;
use super::order::{End, Ran};
use super::{Launcher, run};

/// A shorter value is found in too much that is no secret.
const SHORTEST: usize = 8;

/// Values that must not be kept.
#[derive(Clone, Default)]
pub(super) struct Secrets(BTreeMap<String, String>);

/// A variable that should hold a value and does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set, or holds no text")]
pub(super) struct NotSet(String);

impl Secrets {
    /// The values of these variables, by `lookup`; an empty one is none.
    pub(super) fn take<'n>(
        names: impl IntoIterator<Item = &'n String>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, NotSet> {
        let taken = names.into_iter().map(|name| {
            let value = lookup(name).filter(|value| !value.trim().is_empty());
            Ok((name.clone(), value.ok_or_else(|| NotSet(name.clone()))?))
        });
        taken.collect::<Result<_, _>>().map(Self)
    }

    /// The value of this variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The variable whose value stands in what somebody has answered, in these words.
    ///
    /// Such an answer can be neither kept nor gone by: with a name in place of the value it is
    /// another one.
    pub(super) fn spoken_in(&self, answer: &[u8]) -> Option<String> {
        let holds = |value: &String| forms(value).iter().any(|it| stands_in(it, answer));
        let (name, _) = self.0.iter().find(|(_, value)| holds(value))?;
        Some(format!(
            "the answer holds the value of the environment variable {name}, and cannot be kept"
        ))
    }

    /// The bytes with the name of the variable in each place of a value.
    pub(super) fn hide(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut hidden = bytes;
        for (name, value) in &self.0 {
            for form in forms(value) {
                hidden = replaced(hidden, form.as_bytes(), format!("[{name}]").as_bytes());
            }
        }
        hidden
    }

    /// The same of a text.
    pub(super) fn hide_in(&self, text: String) -> String {
        let hidden = self.hide(text.into_bytes());
        String::from_utf8_lossy(&hidden).into_owned()
    }
}

/// Shows the names alone.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// How a value may be written: as it is, without what surrounds it, and as JSON writes it.
fn forms(value: &str) -> Vec<String> {
    let bare = value.trim();
    let quoted = serde_json::Value::from(bare).to_string();
    let inner = quoted.trim_matches('"').to_owned();
    let mut forms = vec![bare.to_owned(), inner];
    forms.dedup();
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// The value of a variable of this process, where it is text.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs a command with these among its variables, and keeps them out of what it leaves.
///
/// A command that prints a value has said nothing. That is no failure of ours, for which nothing
/// would be recorded: whoever sets the variables could wish away what they guess it will say.
pub(super) fn run_with(
    order: &Order,
    secrets: &Secrets,
    scratch: &Path,
    launcher: &Launcher,
) -> Ran {
    let mut filled = order.clone();
    filled.env.extend(secrets.0.clone());
    let ran = run(&filled, scratch, launcher);
    if let Some(why) = secrets.spoken_in(&ran.stdout) {
        return Ran {
            end: End::Withheld(why),
            stdout: Vec::new(),
            stderr: Vec::new(),
            reports: ran.reports.into_keys().map(|name| (name, None)).collect(),
            ..ran
        };
    }
    let reports = ran.reports.into_iter();
    Ran {
        stdout: secrets.hide(ran.stdout),
        stderr: secrets.hide(ran.stderr),
        reports: reports
            .map(|(name, bytes)| (name, bytes.map(|bytes| secrets.hide(bytes))))
            .collect(),
        ..ran
    }
}

fn stands_in(what: &str, bytes: &[u8]) -> bool {
    bytes
        .windows(what.len())
        .any(|window| window == what.as_bytes())
}

fn replaced(bytes: Vec<u8>, what: &[u8], with: &[u8]) -> Vec<u8> {
    if !bytes.windows(what.len()).any(|window| window == what) {
        return bytes;
    }
    let mut left = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(what) {
            left.extend_from_slice(with);
            rest = behind;
        } else {
            left.push(*first);
            rest = after;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(value: &str) -> Secrets {
        let names = ["A_KEY".to_owned()];
        Secrets::take(&names, |_| Some(value.to_owned())).unwrap()
    }

    #[test]
    fn a_value_is_nowhere_in_what_is_kept() {
        let secrets = secrets("sk-0123456789");
        let text = "Bearer sk-0123456789: no such key sk-0123456789".to_owned();
        assert_eq!(secrets.hide_in(text), "Bearer [A_KEY]: no such key [A_KEY]");
        assert_eq!(secrets.hide(b"\xffsk-0123456789".to_vec()), b"\xff[A_KEY]");
        assert_eq!(secrets.hide_in("sk-01234".to_owned()), "sk-01234");
        assert!(!format!("{secrets:?}").contains("0123"));
    }

    #[test]
    fn an_answer_with_a_value_in_it_is_told_by_the_name() {
        let secrets = secrets(" quote\"d-secret\n");
        for answer in [r#"{"quotation":"a quote\"d-secret"}"#, "quote\"d-secret"] {
            let why = secrets.spoken_in(answer.as_bytes()).unwrap();
            assert!(why.contains("A_KEY") && !why.contains("d-secret"), "{why}");
        }
        assert_eq!(secrets.spoken_in(b"all is well"), None);
    }

    #[test]
    fn a_value_is_found_however_it_is_written() {
        let secrets = secrets(" quote\"d-secret\n");
        let written = r#"{"key":"quote\"d-secret"}"#.to_owned();
        assert_eq!(secrets.hide_in(written), r#"{"key":"[A_KEY]"}"#);
        assert_eq!(secrets.hide_in("quote\"d-secret".to_owned()), "[A_KEY]");
    }

    #[test]
    fn a_short_value_is_not_looked_for() {
        assert_eq!(secrets("ollama").hide_in("ollama".to_owned()), "ollama");
    }

    #[test]
    fn what_is_not_set_is_named() {
        let names = ["A_KEY".to_owned()];
        for value in [None, Some(""), Some(" ")] {
            let missing = Secrets::take(&names, |_| value.map(str::to_owned)).unwrap_err();
            assert!(missing.to_string().contains("A_KEY"), "{missing}");
        }
    }
}
