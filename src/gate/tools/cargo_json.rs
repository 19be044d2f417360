//! What cargo prints with `--message-format=json`; clippy's complaints among it.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::complaint::Unread;
use super::complaint::{Complaint, Complaints};
use super::complaint::{decoded, lines};

const FORMAT: &str = "output of cargo --message-format=json";

#[derive(Deserialize)]
struct Line {
    reason: String,
    success: Option<bool>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "message")]
    text: String,
    level: String,
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    column_start: u64,
    #[serde(default)]
    is_primary: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<Complaints, Unread> {
    let text = decoded(bytes);
    let mut all = Complaints::default();
    // A file that belongs to several targets is complained of once for each.
    let mut known = BTreeSet::new();
    let (mut found, mut failed) = (false, false);
    // What a program that cargo ran printed stands between cargo's own lines.
    for line in lines(&text).filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        found = true;
        failed |= line.reason == "build-finished" && line.success == Some(false);
        let message = line.message.filter(|_| line.reason == "compiler-message");
        if let Some(message) = message.filter(Message::complains)
            && known.insert((message.place(), message.text.clone()))
        {
            all.push(message.complaint());
        }
    }
    if !found {
        return Err(Unread::Nothing { format: FORMAT });
    }
    if failed && all.count == 0 {
        all.push(Complaint::new(
            "the build succeeds",
            "it failed, and no message says why",
        ));
    }
    Ok(all)
}

impl Message {
    fn complains(&self) -> bool {
        let weighs = self.level == "warning" || self.level.starts_with("error");
        weighs && !(self.spans.is_empty() && self.code.is_none() && self.sums_up())
    }

    /// Whether it only counts the messages before it.
    fn sums_up(&self) -> bool {
        let text = &self.text;
        text.starts_with("aborting due to ")
            || text.ends_with(" emitted")
            || text.starts_with("could not compile ")
            || text.starts_with("Some errors have detailed explanations")
    }

    fn place(&self) -> Option<String> {
        let primary = self.spans.iter().find(|span| span.is_primary);
        let span = primary.or(self.spans.first())?;
        Some(format!(
            "{}:{}:{}",
            span.file_name, span.line_start, span.column_start
        ))
    }

    fn complaint(&self) -> Complaint {
        let code = self.code.as_ref().map_or("", |code| code.code.as_str());
        Complaint::rule(&format!("{}: {}", self.level, self.text))
            .at(self.place().as_deref())
            .named(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_clippys_complaints_once() {
        let all = read(include_bytes!("samples/cargo.jsonl")).expect("cargo");
        assert_eq!(all.count, 2, "{all:?}");
        let one = &all.first[0];
        assert_eq!(one.location.as_deref(), Some("src/lib.rs:2:5"));
        assert_eq!(one.name.as_deref(), Some("clippy::needless_return"));
        assert_eq!(one.actual, "warning: unneeded `return` statement");
        assert_eq!(all.first[1].name.as_deref(), Some("E0308"));
    }

    #[test]
    fn a_failed_build_never_looks_clean() {
        let read = |text: &str| read(text.as_bytes()).map(|all| all.count);
        assert_eq!(read(r#"{"reason":"build-finished","success":true}"#), Ok(0));
        assert_eq!(
            read(r#"{"reason":"build-finished","success":false}"#),
            Ok(1)
        );
        assert!(read("error: could not find `Cargo.toml`\n").is_err());
        assert!(read("").is_err());
        assert!(read(&format!(r#"{{"reason":{}"#, "[".repeat(100_000))).is_err());
    }
}
