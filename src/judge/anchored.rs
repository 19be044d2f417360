//! Whether a quest's PASS rests on something that the operator knew beforehand.

use crate::gate::email::anchor::is_anchored;
use crate::quest::Quest;

/// Whether submissions for `quest` are held against what the operator knows: a site that can be
/// compared, or cells that checks go by.
#[must_use]
pub fn anchored(quest: &Quest) -> bool {
    is_anchored(quest) || !quest.known.is_empty()
}
