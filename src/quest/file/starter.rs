//! The quest file that a new one begins from: the worksheet of a good gate.

use super::document::is_kebab;

const STARTER: &str = include_str!("starter.toml");

/// The starter for a kind of this name; none where that is no kebab-case.
#[must_use]
pub fn starter(name: &str) -> Option<String> {
    is_kebab(name).then(|| STARTER.replace("NAME-OF-THE-KIND", name))
}
