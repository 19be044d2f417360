//! Secret values that a command or a request needs, and that nothing may record.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::command::{CommandResult, CommandSpec, End};
use super::run::{Launcher, run};

// A shorter value occurs in too many texts that are not secret.
const MIN_BYTES: usize = 8;

#[derive(Clone, Default)]
pub(super) struct Secrets(BTreeMap<String, String>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set, or contains no text")]
pub(super) struct NotSet(String);

impl Secrets {
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

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Why an answer that contains a value cannot be kept.
    ///
    /// It cannot be judged either: with the name in place of the value, it is another answer.
    pub(super) fn spoken_in(&self, answer: &[u8]) -> Option<String> {
        let holds = |value: &String| {
            forms(value)
                .iter()
                .any(|it| contains(answer, it.as_bytes()))
        };
        let (name, _) = self.0.iter().find(|(_, value)| holds(value))?;
        Some(format!(
            "the answer contains the value of the environment variable {name}, and cannot be kept"
        ))
    }

    /// Replaces each value with the name of its variable.
    pub(super) fn hide(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut hidden = bytes;
        for (name, value) in &self.0 {
            for form in forms(value) {
                hidden = replace(hidden, form.as_bytes(), format!("[{name}]").as_bytes());
            }
        }
        hidden
    }

    pub(super) fn hide_in(&self, text: String) -> String {
        let hidden = self.hide(text.into_bytes());
        String::from_utf8_lossy(&hidden).into_owned()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// How a value may be printed: without the white space around it, and escaped as in JSON.
fn forms(value: &str) -> Vec<String> {
    let bare = value.trim();
    let quoted = serde_json::Value::from(bare).to_string();
    let inner = quoted.trim_matches('"').to_owned();
    let mut forms = vec![bare.to_owned(), inner];
    forms.dedup();
    forms.retain(|form| form.len() >= MIN_BYTES);
    forms
}

pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs a command with these variables, and keeps their values out of its result.
///
/// A command that prints a value has no result. This is the command's fault and is recorded as such:
/// otherwise the person who sets the variables could discard a result that they can guess.
pub(super) fn run_with(
    order: &CommandSpec,
    secrets: &Secrets,
    scratch: &Path,
    launcher: &Launcher,
) -> CommandResult {
    let mut filled = order.clone();
    filled.env.extend(secrets.0.clone());
    let ran = run(&filled, scratch, launcher);
    if let Some(why) = secrets.spoken_in(&ran.stdout) {
        return CommandResult {
            end: End::Withheld(why),
            confinement: ran.confinement,
            millis: ran.millis,
            ..CommandResult::not_started(order, "")
        };
    }
    let reports = ran.reports.into_iter();
    CommandResult {
        stdout: secrets.hide(ran.stdout),
        stderr: secrets.hide(ran.stderr),
        reports: reports
            .map(|(name, bytes)| (name, bytes.map(|bytes| secrets.hide(bytes))))
            .collect(),
        ..ran
    }
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

fn replace(bytes: Vec<u8>, what: &[u8], with: &[u8]) -> Vec<u8> {
    if !contains(&bytes, what) {
        return bytes;
    }
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(what) {
            replaced.extend_from_slice(with);
            rest = behind;
        } else {
            replaced.push(*first);
            rest = after;
        }
    }
    replaced
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
    fn a_short_value_is_not_searched() {
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
