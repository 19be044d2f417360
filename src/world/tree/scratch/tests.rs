//! Copies of a snapshot, and links that would lead out of them.

use std::fs;

use super::super::test_tree::{TestTree, path};
use super::*;

/// Writes a snapshot into a folder of its own.
fn written(tree: &TestTree, snapshot: &Snapshot) -> (tempfile::TempDir, Vec<TreePath>) {
    let dir = tempfile::tempdir().unwrap();
    let left_out = snapshot
        .write_to(dir.path(), &|digest| tree.load(digest))
        .unwrap();
    (dir, left_out)
}

#[test]
fn writes_the_snapshot_and_not_the_tree() {
    let tree = TestTree::of(&["src/deep/a", "tests/a", "tests/b"]);
    let baseline = tree.baseline().unwrap();
    tree.write("tests/a", "agent's");
    tree.write("src/deep/a", "forged");
    let (mut snapshot, _) = tree.snapshot(&baseline, &["tests/**"]);
    snapshot.edit(&path("src/new"), b"mutant").unwrap();
    let (dir, left_out) = written(&tree, &snapshot);
    assert!(left_out.is_empty());
    let text = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap();
    assert_eq!(text("src/deep/a"), "src/deep/a");
    assert_eq!(text("tests/a"), "agent's");
    assert_eq!(text("tests/b"), "tests/b");
    assert_eq!(text("src/new"), "mutant");
}

#[test]
fn replaces_nothing_and_writes_no_forged_contents() {
    let tree = TestTree::of(&["a"]);
    let snapshot = Snapshot::of(&tree.baseline().unwrap());
    let (dir, _) = written(&tree, &snapshot);
    let load = |digest| tree.load(digest);
    assert!(matches!(
        snapshot.write_to(dir.path(), &load),
        Err(TreeError::Io { .. })
    ));
    let dir = tempfile::tempdir().unwrap();
    let forged = snapshot.write_to(dir.path(), &|_| Ok(Some(Vec::new())));
    assert!(matches!(forged, Err(TreeError::Altered { .. })));
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::super::test_tree::{link, set_mode};
    use super::*;

    #[test]
    fn modes_are_one_of_two() {
        let tree = TestTree::of(&["plain", "run"]);
        set_mode(&tree.at("plain"), 0o600);
        set_mode(&tree.at("run"), 0o4700);
        let snapshot = Snapshot::of(&tree.baseline().unwrap());
        let (dir, _) = written(&tree, &snapshot);
        let mode = |file: &str| {
            let metadata = fs::metadata(dir.path().join(file)).unwrap();
            metadata.permissions().mode() & 0o7777
        };
        assert_eq!((mode("plain"), mode("run")), (0o644, 0o755));
    }

    #[test]
    fn a_link_that_leads_out_is_left_out() {
        let tree = TestTree::of(&["dir/deep/a"]);
        link("dir/deep", tree.at("in"));
        link("../dir/deep/a", tree.at("dir/file"));
        link("/etc/passwd", tree.at("passwd"));
        link("../outside", tree.at("out"));
        link("in/../../..", tree.at("sly"));
        let snapshot = Snapshot::of(&tree.baseline().unwrap());
        let (dir, left_out) = written(&tree, &snapshot);
        assert_eq!(left_out, ["out", "passwd", "sly"].map(path));
        let text = fs::read_to_string(dir.path().join("in/a")).unwrap();
        assert_eq!(text, "dir/deep/a");
        assert_eq!(
            fs::read_link(dir.path().join("dir/file")).unwrap(),
            Path::new("../dir/deep/a")
        );
        assert!(fs::symlink_metadata(dir.path().join("passwd")).is_err());
    }
}
