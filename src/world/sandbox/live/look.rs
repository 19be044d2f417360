//! The one look at a tree on which a judgement goes.

use crate::world::sandbox::{Bench, Changed, FileSeen};
use crate::world::tree::{Change, ChangeKind, Snapshot, TreeError, TreePath};

/// What the tree was when the judgement first asked.
pub(super) struct Look {
    pub(super) snapshot: Snapshot,
    pub(super) changes: Vec<Changed>,
}

/// Takes what is judged, and what is not as it was, in one look.
pub(super) fn look(bench: &Bench) -> Result<Look, String> {
    let Some(root) = &bench.root else {
        return Ok(Look {
            snapshot: Snapshot::of(&bench.baseline),
            changes: Vec::new(),
        });
    };
    let taken = Snapshot::take(root, &bench.baseline, &bench.zones, &bench.ignored);
    let (snapshot, changes) = taken.map_err(|error| error.to_string())?;
    let known = |inside| move |change: &Change| changed(change, inside);
    let inside = changes.inside.iter().map(known(true));
    let outside = changes.outside.iter().map(known(false));
    let odd = changes.odd.iter().map(|odd| Changed {
        path: odd.place.clone(),
        how: format!("odd: {}", odd.why),
        inside: false,
    });
    let mut changes: Vec<Changed> = inside.chain(outside).chain(odd).collect();
    changes.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(Look { snapshot, changes })
}

fn changed(change: &Change, inside: bool) -> Changed {
    let how = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
        ChangeKind::Mode => "mode",
        ChangeKind::Odd => "odd",
    };
    Changed {
        path: change.path.to_string(),
        how: how.to_owned(),
        inside,
    }
}

/// Reads a file of a snapshot.
pub(super) fn seen(
    snapshot: &Snapshot,
    path: &TreePath,
    bench: &Bench,
) -> Result<FileSeen, TreeError> {
    if let Some(why) = snapshot.left_out.get(path) {
        return Ok(FileSeen::Other(why.to_string()));
    }
    if snapshot.listing.is_folder(path) {
        return Ok(FileSeen::Other("a folder".to_owned()));
    }
    Ok(match snapshot.read(path, &*bench.load)? {
        Some(bytes) => FileSeen::File(bytes.to_vec()),
        None if snapshot.listing.get(path).is_some() => FileSeen::Other("a link".to_owned()),
        None => FileSeen::Absent,
    })
}
