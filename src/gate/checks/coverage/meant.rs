//! Which file of a report is meant, where a report spells paths in its own way.
//!
//! Reports name files by absolute paths, or from a folder of their own, so that a path can only
//! be held against the end of another. A file that somebody has put into the tree so that its
//! path ends alike is not taken for the one that is asked for.

use std::cmp::Ordering;

use crate::world::sandbox::{FileSeen, Workshop};
use crate::world::tree::TreePath;

/// What of a report is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant<'r> {
    /// The file that it spells so.
    One(&'r str),
    /// Nothing.
    None,
    /// One of these, and it cannot be told which.
    Several(Vec<&'r str>),
}

/// The one of `spelled` that is the file at `wanted`.
pub fn meant<'r>(
    spelled: impl Iterator<Item = &'r str>,
    wanted: &TreePath,
    workshop: &dyn Workshop,
) -> Result<Meant<'r>, String> {
    let mut fitting: Vec<&str> = spelled.filter(|one| fits(one, wanted.as_str())).collect();
    if let Some(same) = fitting.iter().find(|one| **one == wanted.as_str()) {
        return Ok(Meant::One(same));
    }
    if fitting.is_empty() {
        return Ok(Meant::None);
    }
    let changes = workshop.changes()?;
    let is_new = |one: &str| {
        let mut paths = changes.iter().map(|change| change.path.as_str());
        paths.any(|path| path != wanted.as_str() && fits(one, path))
    };
    fitting.retain(|one| !is_another(one, wanted, workshop) && !is_new(one));
    Ok(match fitting.as_slice() {
        [] => Meant::None,
        [one] => Meant::One(one),
        several => Meant::Several(several.to_vec()),
    })
}

/// Whether one of the two paths ends as the other.
fn fits(one: &str, other: &str) -> bool {
    let (one, other) = (names(one), names(other));
    let both = !one.is_empty() && !other.is_empty();
    both && (one.ends_with(&other) || other.ends_with(&one))
}

/// Whether another file of the tree stands where the end of this path points.
fn is_another(spelled: &str, wanted: &TreePath, workshop: &dyn Workshop) -> bool {
    let names = names(spelled);
    let (longest, own) = (names.len(), wanted.names().count());
    let mut lengths = match longest.cmp(&own) {
        Ordering::Greater => own + 1..=longest,
        Ordering::Less => longest..=longest,
        Ordering::Equal => return false,
    };
    lengths.any(|length| {
        let path = TreePath::parse(&names[longest - length..].join("/"));
        path.is_ok_and(|path| matches!(workshop.file(&path), FileSeen::File(_)))
    })
}

fn names(path: &str) -> Vec<&str> {
    let names = path.split(['/', '\\']);
    names.filter(|name| !matches!(*name, "" | ".")).collect()
}
