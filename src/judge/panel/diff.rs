//! What the agent changed where it may write, as one unified diff.

use std::fmt::Write as _;

use crate::world::sandbox::{FileSeen, Workshop};
use crate::world::tree::TreePath;

/// The difference between the tree as it was and as it is judged; empty where there is none.
///
/// There is no such text where a changed file is no UTF-8: a program may well read what is then
/// shown to nobody.
pub(super) fn diff(workshop: &dyn Workshop) -> Result<String, String> {
    let mut text = String::new();
    let changes = workshop.changes()?;
    for change in changes.iter().filter(|change| change.inside) {
        let Ok(path) = TreePath::parse(&change.path) else {
            let _ = writeln!(text, "{:?}: {}", change.path, change.how);
            continue;
        };
        let (before, after) = (workshop.pinned(&path), workshop.file(&path));
        // Writing to a text cannot fail.
        let _ = write!(text, "--- a/{path} ({})\n+++ b/{path}\n", change.how);
        if before == after {
            continue;
        }
        match (lines(before, &path)?, lines(after, &path)?) {
            (Ok(before), Ok(after)) => {
                let hunks = diffy::create_patch(&before, &after).to_string();
                let hunks = hunks.split_inclusive('\n').skip(2);
                text.extend(hunks);
            }
            (Err(what), _) | (_, Err(what)) => {
                let _ = writeln!(text, "{what}");
            }
        }
    }
    Ok(text)
}

/// The text of a file, empty where there is none; else what it is that is no file.
fn lines(seen: FileSeen, path: &TreePath) -> Result<Result<String, String>, String> {
    match seen {
        FileSeen::Absent => Ok(Ok(String::new())),
        FileSeen::Other(what) => Ok(Err(what)),
        FileSeen::File(bytes) => {
            let text = String::from_utf8(bytes);
            text.map(Ok).map_err(|_| format!("{path} is no UTF-8 text"))
        }
    }
}
