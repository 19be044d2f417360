//! The lists that a session was judged by, held against this program's.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::judge::email_record;
use crate::session::Manifest;

/// In what the judge of a session differs from this program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct OtherJudge {
    /// The version that made the session, where it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The lists that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<OtherList>,
}

/// A built-in list that is not the one that the session was judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherList {
    /// Its name.
    pub name: String,
    /// The digest that the session froze; none where it knew no such list.
    pub session: Option<Digest>,
    /// The digest of this program's; none where it has no such list.
    pub here: Option<Digest>,
}

impl OtherJudge {
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self {
            program: (manifest.comail != version).then(|| manifest.comail.clone()),
            lists: other_lists(&manifest.kind.lists, &email_record().lists),
        }
    }

    /// Whether it does in nothing.
    #[must_use]
    pub fn is_same(&self) -> bool {
        *self == Self::default()
    }
}

#[must_use]
pub fn other_lists(
    session: &BTreeMap<String, Digest>,
    here: &BTreeMap<String, Digest>,
) -> Vec<OtherList> {
    let gone = session.keys().filter(|name| !here.contains_key(*name));
    let mut names: Vec<&String> = here.keys().chain(gone).collect();
    names.sort();
    let lists = names.into_iter().map(|name| OtherList {
        name: name.clone(),
        session: session.get(name).copied(),
        here: here.get(name).copied(),
    });
    lists.filter(|list| list.session != list.here).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(lists: &[(&str, &str)]) -> BTreeMap<String, Digest> {
        let lists = lists
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Digest::of(text.as_bytes())));
        lists.collect()
    }

    #[test]
    fn what_is_new_gone_or_changed_differs() {
        let session = digests(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let here = digests(&[("b", "1"), ("c", "2"), ("d", "1")]);
        let other = other_lists(&session, &here);
        let names: Vec<_> = other.iter().map(|list| list.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "d"]);
        assert!(other[0].here.is_none() && other[2].session.is_none());
        assert_eq!(other_lists(&session, &session), []);
    }
}
