//! What a judgement is to see that is not so: edits over what is judged, in no file of the tree.

use super::look::Look;
use crate::world::sandbox::{Changed, Edit};
use crate::world::tree::{TreePath, Zones};

/// Edits over what is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alteration {
    /// Files with the text that each has then.
    pub files: Vec<Edit>,
    /// Files that are not there then.
    pub removed: Vec<TreePath>,
}

impl Alteration {
    /// Lays the edits over what was seen; they count as changes of the tree.
    pub(super) fn lay_over(&self, look: &mut Look, zones: &Zones) -> Result<(), String> {
        for edit in &self.files {
            let path = TreePath::parse(&edit.path).map_err(|bad| bad.to_string())?;
            let was_there = look.snapshot.listing.get(&path).is_some();
            look.snapshot.left_out.remove(&path);
            let edited = look.snapshot.edit(&path, edit.text.as_bytes());
            edited.map_err(|bad| bad.to_string())?;
            note(
                look,
                &path,
                if was_there { "changed" } else { "added" },
                zones,
            );
        }
        for path in &self.removed {
            look.snapshot.remove(path);
            note(look, path, "removed", zones);
        }
        look.changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(())
    }
}

fn note(look: &mut Look, path: &TreePath, how: &str, zones: &Zones) {
    look.changes.retain(|known| known.path != path.as_str());
    look.changes.push(Changed {
        path: path.to_string(),
        how: how.to_owned(),
        inside: zones.contains(path),
    });
}
