//! The accepted tree: the baseline, and over it the files of every accepted answer, in order.
//!
//! Each answer adds an [`AcceptedChange`] that names the one before it. So the digest of the last
//! change names the whole tree, and every earlier tree can be read as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use super::listing::{Entry, Listing, TreeError, TreePath};
use super::merge::{Conflict, file_of, merge};
use super::patch::{BadPatch, TreePatch};
use super::snapshot::{Load, Snapshot};
use crate::base::Digest;
use crate::quest::QuestId;

/// What one accepted answer changed, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedChange {
    /// The digest of the change before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Digest>,
    pub quest: QuestId,
    /// The digest of the tree's listing after it.
    pub tree: Digest,
    /// The files, as changes to the tree before it.
    pub patch: TreePatch,
}

impl AcceptedChange {
    /// The text that is stored, whose digest names the change.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

/// Why the accepted tree cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AcceptedError {
    #[error("the accepted change {0} is missing from evidence/, or was changed; restore it")]
    Missing(Digest),
    #[error("the accepted change {0} does not lead to the tree that it names; restore it")]
    OtherTree(Digest),
    #[error("the accepted change {change} cannot be applied")]
    Patch {
        change: Digest,
        #[source]
        source: BadPatch,
    },
}

#[derive(Debug, Clone, Default)]
pub struct AcceptedTree {
    /// The last change; `None` for the baseline.
    pub head: Option<Digest>,
    pub snapshot: Snapshot,
    /// Which quests changed a path.
    authors: BTreeMap<TreePath, BTreeSet<QuestId>>,
    /// What was at each of these paths before, from the baseline on.
    before: BTreeMap<TreePath, Vec<Option<Entry>>>,
}

/// An answer's files over the accepted tree.
#[derive(Debug, Clone)]
pub struct Union {
    pub change: AcceptedChange,
    pub snapshot: Snapshot,
}

/// Other accepted answers changed the same lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{conflict}{}", changed_by(.quests))]
pub struct AuthoredConflict {
    pub conflict: Conflict,
    /// The quests that changed the path.
    pub quests: BTreeSet<QuestId>,
}

fn changed_by(quests: &BTreeSet<QuestId>) -> String {
    match quests.iter().join(", ") {
        none if none.is_empty() => none,
        quests => format!(" (changed by quest {quests})"),
    }
}

impl AcceptedTree {
    pub fn of(baseline: &Listing) -> Self {
        Self {
            snapshot: Snapshot::of(baseline),
            ..Self::default()
        }
    }

    /// The tree after the change `head`. `find` reads a stored change.
    pub fn read(
        baseline: &Listing,
        head: Option<Digest>,
        find: &dyn Fn(Digest) -> Option<AcceptedChange>,
    ) -> Result<Self, AcceptedError> {
        let mut changes = Vec::new();
        let mut next = head;
        while let Some(digest) = next {
            let change = find(digest).ok_or(AcceptedError::Missing(digest))?;
            next = change.parent;
            changes.push((digest, change));
        }
        let mut tree = Self::of(baseline);
        for (digest, change) in changes.iter().rev() {
            tree.advance(*digest, change)?;
        }
        tree.snapshot.forget_old_contents();
        // Each change has the digest of the one before it, so only the last tree must be compared.
        match changes.first() {
            Some((digest, last)) if tree.snapshot.digest() != last.tree => {
                Err(AcceptedError::OtherTree(*digest))
            }
            _ => Ok(tree),
        }
    }

    fn advance(&mut self, digest: Digest, change: &AcceptedChange) -> Result<(), AcceptedError> {
        for path in change.patch.paths() {
            let was = self.snapshot.listing.get(path).cloned();
            self.before.entry(path.clone()).or_default().push(was);
        }
        let put = self.snapshot.put_files(&change.patch);
        put.map_err(|source| AcceptedError::Patch {
            change: digest,
            source,
        })?;
        for path in change.patch.paths() {
            let authors = self.authors.entry(path.clone()).or_default();
            authors.insert(change.quest);
        }
        self.head = Some(digest);
        Ok(())
    }

    /// Lays what `ours` changes in `base` over this tree, for `quest`. The error names each conflict.
    pub fn lay(
        &self,
        quest: QuestId,
        base: &Snapshot,
        ours: &Snapshot,
        load: &Load<'_>,
    ) -> Result<Result<Union, Vec<AuthoredConflict>>, TreeError> {
        let patch = match merge(base, ours, &self.snapshot, load)? {
            Ok(patch) => patch,
            Err(conflicts) => {
                let authored = |conflict: Conflict| AuthoredConflict {
                    quests: self
                        .authors
                        .get(&conflict.path)
                        .cloned()
                        .unwrap_or_default(),
                    conflict,
                };
                return Ok(Err(conflicts.into_iter().map(authored).collect()));
            }
        };
        let mut snapshot = self.snapshot.clone();
        if let Err(bad) = snapshot.put_files(&patch) {
            let (paths, why) = match bad {
                BadPatch::Clash(clash) => {
                    let why = clash.to_string();
                    (vec![clash.beneath, clash.above], why)
                }
                bad => (patch.paths().cloned().collect(), bad.to_string()),
            };
            let authors = paths.iter().filter_map(|path| self.authors.get(path));
            let quests: BTreeSet<_> = authors.flatten().copied().collect();
            let first = paths.into_iter().next();
            let conflicts = first.into_iter().map(|first| AuthoredConflict {
                conflict: Conflict::of_paths(first, why.clone()),
                quests: quests.clone(),
            });
            return Ok(Err(conflicts.collect()));
        }
        snapshot.check_size("the files of the answer")?;
        let tree = snapshot.digest();
        snapshot.left_out.clone_from(&ours.left_out);
        let change = AcceptedChange {
            parent: self.head,
            quest,
            tree,
            patch,
        };
        Ok(Ok(Union { change, snapshot }))
    }

    /// The paths that differ from the baseline, with the quests that changed each.
    pub fn authors(&self) -> &BTreeMap<TreePath, BTreeSet<QuestId>> {
        &self.authors
    }

    /// What was at a path that an accepted answer changed.
    pub fn before(&self, path: &TreePath) -> Vec<Option<Entry>> {
        self.before.get(path).cloned().unwrap_or_default()
    }

    /// All files that accepted answers changed, as they are now.
    pub fn patch(&self, load: &Load<'_>) -> Result<TreePatch, TreeError> {
        let mut patch = TreePatch::empty(self.snapshot.digest());
        for path in self.authors.keys() {
            match file_of(&self.snapshot, path, load)? {
                Some(file) => drop(patch.files.insert(path.clone(), file)),
                None => drop(patch.removed.insert(path.clone())),
            }
        }
        Ok(patch)
    }
}

impl Snapshot {
    /// Makes the changes of a patch.
    fn put_files(&mut self, patch: &TreePatch) -> Result<(), BadPatch> {
        self.listing.remove(patch.paths());
        for (path, file) in &patch.files {
            let contents = file.bytes(path)?;
            let entry = file.entry(&contents);
            let Entry::File { sha256, .. } = entry else {
                continue;
            };
            self.listing.put(path.clone(), entry)?;
            self.new_contents
                .insert(sha256, Arc::from(contents.as_slice()));
        }
        Ok(())
    }

    /// Drops the contents of files that a later change replaced.
    fn forget_old_contents(&mut self) {
        let entries = self.listing.entries().values();
        let kept: BTreeSet<Digest> = entries
            .filter_map(|entry| match entry {
                Entry::File { sha256, .. } => Some(*sha256),
                Entry::Link { .. } => None,
            })
            .collect();
        self.new_contents.retain(|digest, _| kept.contains(digest));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::base::rows;
    use crate::world::tree::merge::Conflict;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn snapshot(files: &[(&str, &str)]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (name, text) in files {
            snapshot.edit(&path(name), text.as_bytes()).unwrap();
        }
        snapshot
    }

    fn text(snapshot: &Snapshot, name: &str) -> Option<String> {
        let contents = snapshot.read(&path(name), &|_| Ok(None)).unwrap();
        contents.map(|contents| String::from_utf8(contents.to_vec()).unwrap())
    }

    fn tree_at(snapshot: Snapshot) -> AcceptedTree {
        AcceptedTree {
            snapshot,
            ..AcceptedTree::default()
        }
    }

    /// Accepts a union, and remembers its change.
    fn accept(tree: &mut AcceptedTree, union: &Union) -> (Digest, AcceptedChange) {
        let change = union.change.clone();
        let digest = Digest::of(&change.text().unwrap());
        tree.advance(digest, &change).unwrap();
        (digest, change)
    }

    #[test]
    fn both_sides_of_a_file_are_kept_and_the_same_lines_conflict() {
        let base = "1\n2\n3\n4\n5\n";
        for (ours, theirs, expected) in rows! {
            "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n" => Ok("one\n2\n3\n4\nfive\n");
            "one\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n" => Ok("one\n2\n3\n4\n5\n");
            base, "one\n2\n3\n4\n5\n" => Ok("one\n2\n3\n4\n5\n");
            "one\n2\n3\n4\n5\n", "uno\n2\n3\n4\n5\n" => Err(1);
            "1\n2\n3\n4\nfive\n", "1\n2\n3\n4\n" => Err(5);
        } {
            let tree = tree_at(snapshot(&[("a", theirs)]));
            let (base, ours) = (snapshot(&[("a", base)]), snapshot(&[("a", ours)]));
            let laid = tree
                .lay(QuestId::FIRST, &base, &ours, &|_| Ok(None))
                .unwrap();
            let laid = laid.map(|union| text(&union.snapshot, "a").unwrap());
            let laid = laid.map_err(|conflicts| conflicts[0].conflict.line().unwrap());
            assert_eq!(laid, expected.map(str::to_owned));
        }
    }

    #[test]
    fn what_the_tree_already_has_is_no_change() {
        let base = "1\n2\n3\n4\n5\n";
        for (ours, theirs, expected) in rows! {
            base, "1\n2\n3\n4\nfive\n" => 0;
            "one\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n" => 0;
            "one\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n" => 0;
            "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n" => 1;
        } {
            let tree = tree_at(snapshot(&[("a", theirs)]));
            let (base, ours) = (snapshot(&[("a", base)]), snapshot(&[("a", ours)]));
            let laid = tree
                .lay(QuestId::FIRST, &base, &ours, &|_| Ok(None))
                .unwrap();
            let change = laid.unwrap().change;
            assert_eq!(change.patch.paths().count(), expected, "{ours:?}");
        }
    }

    #[test]
    fn whole_files_conflict_too() {
        let base = [("a", "1\n"), ("b", "1\n")];
        for (ours, theirs, conflicts) in rows! {
            &[("b", "1\n")][..], &[("a", "2\n"), ("b", "1\n")][..] => true;
            &[("a", "2\n"), ("b", "1\n")][..], &[("b", "1\n")][..] => true;
            &[("b", "1\n")][..], &[("b", "1\n")][..] => false;
            &[("b", "1\n")][..], &[("a", "1\n")][..] => false;
            &[("a", "1\n"), ("b", "1\n"), ("c", "x\n")][..],
                &[("a", "1\n"), ("b", "1\n"), ("c", "y\n")][..] => true;
            // A folder where the other side has a file.
            &[("a", "1\n"), ("b", "1\n"), ("c/d", "x\n")][..],
                &[("a", "1\n"), ("b", "1\n"), ("c", "y\n")][..] => true;
        } {
            let tree = tree_at(snapshot(theirs));
            let (base, ours) = (snapshot(&base), snapshot(ours));
            let laid = tree
                .lay(QuestId::FIRST, &base, &ours, &|_| Ok(None))
                .unwrap();
            assert_eq!(laid.is_err(), conflicts, "{laid:?}");
        }
    }

    #[test]
    fn a_tree_is_read_by_its_last_change_alone() {
        let mut tree = AcceptedTree::of(&Listing::default());
        let mut stored = BTreeMap::new();
        let mut heads = vec![None];
        for (number, contents) in ["a\n", "b\n"].into_iter().enumerate() {
            let ours = snapshot(&[("a", contents)]);
            let base = tree.snapshot.clone();
            let union = tree
                .lay(QuestId::FIRST, &base, &ours, &|_| Ok(None))
                .unwrap();
            let (digest, change) = accept(&mut tree, &union.unwrap());
            stored.insert(digest, change);
            heads.push(Some(digest));
            let read = AcceptedTree::read(&Listing::default(), heads[number + 1], &|digest| {
                stored.get(&digest).cloned()
            });
            assert_eq!(
                text(&read.unwrap().snapshot, "a").as_deref(),
                Some(contents)
            );
        }
        let find = |digest| {
            stored
                .get(&digest)
                .filter(|it| it.parent.is_some())
                .cloned()
        };
        let lost = AcceptedTree::read(&Listing::default(), heads[2], &find);
        assert!(matches!(lost, Err(AcceptedError::Missing(_))));
        let find = |digest| {
            let tree = Digest::of(b"another");
            Some(AcceptedChange {
                tree,
                ..stored[&digest].clone()
            })
        };
        let other = AcceptedTree::read(&Listing::default(), heads[1], &find);
        assert!(matches!(other, Err(AcceptedError::OtherTree(_))));
    }

    #[test]
    fn a_conflict_names_the_quests_that_changed_the_path() {
        let first: QuestId = serde_json::from_str("1").unwrap();
        let second: QuestId = serde_json::from_str("2").unwrap();
        let base = snapshot(&[("a", "1\n")]);
        let mut tree = tree_at(base.clone());
        let ours = snapshot(&[("a", "2\n")]);
        let union = tree
            .lay(first, &base, &ours, &|_| Ok(None))
            .unwrap()
            .unwrap();
        accept(&mut tree, &union);
        let ours = snapshot(&[("a", "3\n")]);
        let conflicts = tree
            .lay(second, &base, &ours, &|_| Ok(None))
            .unwrap()
            .unwrap_err();
        assert_eq!(conflicts[0].quests, [first].into());
        let Conflict { path: at, .. } = &conflicts[0].conflict;
        assert_eq!(at.as_str(), "a");
        let told = conflicts[0].to_string();
        assert_eq!(told, "a:1 (changed by quest 1)");
    }

    #[test]
    fn a_file_where_another_quest_made_a_folder_is_told_with_that_quest() {
        let first: QuestId = serde_json::from_str("1").unwrap();
        let second: QuestId = serde_json::from_str("2").unwrap();
        for (theirs, ours) in [("c", "c/d"), ("c/d", "c")] {
            let base = snapshot(&[]);
            let mut tree = tree_at(base.clone());
            let lay = |tree: &AcceptedTree, quest, name| {
                let files = snapshot(&[(name, "1\n")]);
                tree.lay(quest, &base, &files, &|_| Ok(None)).unwrap()
            };
            let union = lay(&tree, first, theirs).unwrap();
            accept(&mut tree, &union);
            let conflicts = lay(&tree, second, ours).unwrap_err();
            let told: Vec<_> = conflicts.iter().map(ToString::to_string).collect();
            let expected =
                "c/d cannot be in a tree where c is a file or a link (changed by quest 1)";
            assert_eq!(told, [expected]);
            // No quest is named where none is known.
            let unknown = AuthoredConflict {
                quests: BTreeSet::new(),
                ..conflicts[0].clone()
            };
            assert!(unknown.to_string().ends_with("a link"), "{unknown}");
        }
    }

    const SLOTS: usize = 4;

    /// A file with one line for each slot, far apart.
    fn file(slots: [u8; SLOTS]) -> String {
        let lines = slots.iter().enumerate();
        let lines = lines.map(|(at, slot)| format!("slot {slot}\n-- {at}\n== {at}\n"));
        lines.collect()
    }

    #[derive(Debug, Clone)]
    enum Step {
        Begin(usize),
        Edit(usize, usize, u8),
        Submit(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..3_usize).prop_map(Step::Begin),
            (0..3_usize, 0..SLOTS, 0..3_u8).prop_map(|(who, slot, to)| Step::Edit(who, slot, to)),
            (0..3_usize).prop_map(Step::Submit),
        ]
    }

    proptest! {
        /// Three agents, each with a copy of the tree of its own, against a plain array of lines.
        #[test]
        fn nothing_that_was_accepted_is_lost(steps in prop::collection::vec(step(), 1..40)) {
            let mut model = [0_u8; SLOTS];
            let mut tree = tree_at(snapshot(&[("f", &file(model))]));
            let mut agents = [(model, model); 3];
            let mut bases = [0; 3].map(|_| tree.snapshot.clone());
            for step in steps {
                match step {
                    Step::Begin(who) => {
                        agents[who] = (model, model);
                        bases[who] = tree.snapshot.clone();
                    }
                    Step::Edit(who, slot, to) => agents[who].1[slot] = to,
                    Step::Submit(who) => {
                        let (was, new) = agents[who];
                        let changed = (0..SLOTS).filter(|at| was[*at] != new[*at]);
                        let changed: Vec<_> = changed.collect();
                        let fits = |at: &usize| model[*at] == was[*at] || model[*at] == new[*at];
                        let ours = snapshot(&[("f", &file(new))]);
                        let laid = tree.lay(QuestId::FIRST, &bases[who], &ours, &|_| Ok(None)).unwrap();
                        prop_assert_eq!(laid.is_ok(), changed.iter().all(fits));
                        if let Ok(union) = laid {
                            for at in changed {
                                model[at] = new[at];
                            }
                            accept(&mut tree, &union);
                        }
                    }
                }
                let now = text(&tree.snapshot, "f");
                let expected = file(model);
                prop_assert_eq!(now.as_deref(), Some(expected.as_str()));
            }
        }
    }
}
