//! A session that cannot be read on, as a finding.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde_json::Value;

use super::finding::{Finding, Kind, Place};
use crate::quest::{Key, Quest, QuestId};
use crate::session::SessionError;

/// What `error` says of the session, where that is a finding; the error itself where it is none.
pub fn found(error: SessionError) -> Result<Finding, SessionError> {
    match &error {
        SessionError::Damaged { path, line, why } => {
            let place = place(path, *line);
            Ok(Finding::new(Kind::Ledger, place, why.to_string()))
        }
        SessionError::ManifestChanged { .. } | SessionError::Manifest { .. } => {
            let place = Place::of_line(1);
            Ok(Finding::new(Kind::Settings, place, error.to_string()))
        }
        _ => Err(error),
    }
}

/// A line of the ledger at `path` and its quest, as far as the line still tells.
fn place(path: &Path, line: u64) -> Place {
    let before = usize::try_from(line).ok().and_then(|n| n.checked_sub(1));
    let said = lines(path)
        .zip(before)
        .and_then(|(mut lines, n)| lines.nth(n));
    let quest = said.and_then(|said| quest_of(&said));
    Place {
        line: Some(line),
        quest,
        key: quest.and_then(|quest| key_of(path, quest)),
    }
}

const MOST_BYTES: u64 = 64 * 1024 * 1024;

fn lines(path: &Path) -> Option<impl Iterator<Item = Vec<u8>>> {
    let mut reader = BufReader::new(File::open(path).ok()?);
    Some(std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let mut limited = reader.by_ref().take(MOST_BYTES);
        let read = limited.read_until(b'\n', &mut bytes).ok()?;
        (read > 0).then_some(bytes)
    }))
}

/// The quest that a line is about, be it damaged or not.
fn quest_of(said: &[u8]) -> Option<QuestId> {
    let said: Value = serde_json::from_slice(said).ok()?;
    let body = said.get("body")?;
    let carried = body.get("attempt").and_then(|attempt| attempt.get("quest"));
    let named = [body.get("id"), body.get("quest"), carried];
    let mut named = named.into_iter().flatten();
    named.find_map(|id| serde_json::from_value(id.clone()).ok())
}

fn key_of(path: &Path, quest: QuestId) -> Option<Key> {
    #[derive(serde::Deserialize)]
    struct Line {
        r#type: String,
        body: Value,
    }

    lines(path)?.find_map(|said| {
        let line: Line = serde_json::from_slice(&said).ok()?;
        let made: Quest = serde_json::from_value(line.body).ok()?;
        (line.r#type == "quest" && made.id == quest).then_some(made.key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "not json\n\
        {\"type\":\"quest\",\"body\":{\"id\":1,\"key\":\"Acme\",\"rows\":[1]}}\n\
        {\"type\":\"attempt\",\"body\":{\"quest\":1}}\n\
        {\"type\":\"carried\",\"body\":{\"attempt\":{\"quest\":1}}}\n\
        {\"type\":\"claim\",\"body\":{\"quest\":9}}\n";

    #[test]
    fn a_line_that_cannot_be_believed_still_names_its_quest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), LINES).unwrap();
        let named = |line| {
            let place = place(file.path(), line);
            (
                place.quest.map(|quest| quest.to_string()),
                place.key.map(|key| key.as_str().to_owned()),
            )
        };
        let acme = (Some("1".to_owned()), Some("Acme".to_owned()));
        for line in [2, 3, 4] {
            assert_eq!(named(line), acme, "{line}");
        }
        assert_eq!(named(5), (Some("9".to_owned()), None));
        for line in [0, 1, 6] {
            assert_eq!(named(line), (None, None), "{line}");
        }
    }
}
