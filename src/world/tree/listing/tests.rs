//! What a tree has at a scan, and what is no part of it.

use super::super::test_tree::{TestTree, ignored, path, paths};
use super::*;
use crate::base::Digest;
use std::{fs, io};

fn within(tree: &TestTree, bounds: Bounds) -> Result<Listing, TreeError> {
    take_within(bounds, &tree.root(), &ignored(&[]), &mut |_, _| Ok(()))
}

fn said(result: Result<Listing, TreeError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn lists_files_and_stores_equal_ones_once() {
    let tree = TestTree::of(&["a/b", "c", ".hidden", ".git/config", "sub/.git/x"]);
    tree.write("same", "c");
    let listing = tree.baseline().unwrap();
    assert_eq!(paths(&listing), [".hidden", "a/b", "c", "same"]);
    assert_eq!(
        listing.get(&path("a/b")),
        Some(&Entry::File {
            sha256: Digest::of(b"a/b"),
            bytes: 3,
            executable: false
        })
    );
    assert_eq!(tree.store.borrow().len(), 3);
    assert_eq!(tree.store.borrow()[&Digest::of(b"c")], b"c");
    assert_eq!(tree.baseline().unwrap().digest(), listing.digest());
}

#[test]
fn leaves_out_what_is_ignored() {
    let tree = TestTree::of(&[".venv/a", "a/__pycache__/b", "a/c.pyc", "a/d"]);
    let globs = [".venv/**", "**/__pycache__", "**/*.pyc"];
    assert_eq!(paths(&tree.baseline_without(&globs).unwrap()), ["a/d"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_what_it_says_and_nothing_is_odd_but_told() {
    use super::super::test_tree::{link, make_pipe, set_mode};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let tree = TestTree::of(&["run", "dir/in"]);
    set_mode(&tree.at("run"), 0o755);
    link("/etc/passwd", tree.at("passwd"));
    link("dir", tree.at("also"));
    link(OsStr::from_bytes(b"\xff"), tree.at("raw"));
    make_pipe(&tree.at("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(tree.at("socket")).unwrap();
    fs::write(tree.at("new\nline"), "").unwrap();
    fs::write(tree.root().join(OsStr::from_bytes(b"dir/\xff")), "").unwrap();
    let listing = tree.baseline().unwrap();
    assert_eq!(paths(&listing), ["also", "dir/in", "passwd", "run"]);
    let to = |to: &str| Entry::Link { to: to.to_owned() };
    assert_eq!(listing.get(&path("passwd")), Some(&to("/etc/passwd")));
    assert_eq!(listing.get(&path("also")), Some(&to("dir")));
    assert!(matches!(
        listing.get(&path("run")),
        Some(Entry::File {
            executable: true,
            ..
        })
    ));
    let odd = [
        (r#""new\nline""#, Oddity::Name),
        (r#"dir/"\xFF""#, Oddity::Name),
        ("pipe", Oddity::Pipe),
        ("raw", Oddity::Target),
        ("socket", Oddity::Socket),
    ];
    let odd = odd.map(|(place, why)| Odd {
        place: place.to_owned(),
        why,
    });
    assert_eq!(*listing.odd(), odd.into());
}

#[test]
fn says_which_file_is_over_which_bound() {
    let tree = TestTree::of(&["a", "b/c", "d"]);
    assert!(within(&tree, BOUNDS).is_ok());
    let files = within(&tree, Bounds { files: 2, ..BOUNDS });
    assert!(said(files).starts_with("with d the tree has more than 2 files: name in `ignore`"));
    let bytes = within(&tree, Bounds { bytes: 4, ..BOUNDS });
    assert!(said(bytes).starts_with("with d the tree has more than 4 bytes"));
    let file = within(
        &tree,
        Bounds {
            file_bytes: 2,
            ..BOUNDS
        },
    );
    assert_eq!(
        said(file),
        "b/c has 3 bytes, and a file may have 2: name it in `ignore`"
    );
    let names = within(&tree, Bounds { names: 3, ..BOUNDS });
    assert!(said(names).starts_with("b: the tree has more than 3 names"));
}

#[test]
fn a_file_of_65_mib_is_too_large_and_is_not_read() {
    let tree = TestTree::of(&["a"]);
    let large = fs::File::create(tree.at("large.bin")).unwrap();
    large.set_len(65 << 20).unwrap();
    let error = tree.baseline().unwrap_err();
    assert!(matches!(&error, TreeError::TooLarge { path, .. } if path.as_str() == "large.bin"));
    assert!(tree.baseline_without(&["*.bin"]).is_ok());
}

/// A file changes while it is read: here when the one before it is stored.
#[test]
fn a_file_that_is_gone_when_its_turn_comes_is_an_error() {
    let tree = TestTree::of(&["a", "b"]);
    let taken = take(&tree.root(), &ignored(&[]), &mut |_, _| {
        fs::remove_file(tree.at("b"))
    });
    assert!(matches!(
        taken,
        Err(TreeError::Odd {
            why: Oddity::Changing,
            ..
        })
    ));
}

#[test]
fn a_store_that_fails_and_a_root_that_is_none_are_told_of() {
    let tree = TestTree::of(&["a"]);
    let full = |_, _: &[u8]| Err(io::Error::other("the disk is full"));
    let error = take(&tree.root(), &ignored(&[]), &mut { full }).unwrap_err();
    assert_eq!(error.to_string(), "a cannot be stored: the disk is full");
    let nowhere = take(&tree.at("a"), &ignored(&[]), &mut |_, _| Ok(()));
    assert!(matches!(nowhere, Err(TreeError::Io { .. })));
}

/// The folders are made by handle: no system call takes so long a path.
#[cfg(unix)]
#[test]
fn two_thousand_folders_in_each_other_are_told_of() {
    use cap_std::{ambient_authority, fs::Dir};

    let tree = TestTree::of(&["a"]);
    let mut dir = Dir::open_ambient_dir(tree.root(), ambient_authority()).unwrap();
    for _ in 0..2000 {
        dir.create_dir("deep").unwrap();
        dir = dir.open_dir("deep").unwrap();
    }
    let listing = tree.baseline().unwrap();
    assert_eq!(paths(&listing), ["a"]);
    let odd: Vec<_> = listing.odd().iter().collect();
    assert_eq!(odd.len(), 1);
    assert!(odd[0].place.starts_with("deep/deep/") && odd[0].why == Oddity::Name);
}

fn link(to: &str) -> Entry {
    Entry::Link { to: to.to_owned() }
}

fn of(paths: &[&str]) -> Result<Listing, Clash> {
    let entries = paths.iter().map(|text| (path(text), link("x"))).collect();
    Listing::new(entries, BTreeSet::new())
}

#[test]
fn nothing_lies_beneath_a_file_or_a_link() {
    assert!(of(&["a", "a-b", "a.c"]).is_ok());
    let clash = of(&["a", "a-b", "a/b"]).unwrap_err();
    assert_eq!((clash.beneath, clash.above), (path("a/b"), path("a")));
    assert!(of(&["a", "a/b/c/d"]).is_err());
    let mut listing = of(&["a/b", "c"]).unwrap();
    assert!(listing.put(path("a"), link("y")).is_err());
    assert!(listing.put(path("c/d"), link("y")).is_err());
    assert!(listing.put(path("c"), link("y")).is_ok());
    assert!(listing.is_folder(&path("a")) && !listing.is_folder(&path("c")));
}

#[test]
fn one_tree_has_one_text() {
    let file = Entry::File {
        sha256: Digest::of(b""),
        bytes: 0,
        executable: true,
    };
    let odd = Odd {
        place: "s".to_owned(),
        why: Oddity::Socket,
    };
    let entries = [(path("b"), link("é")), (path("a/b"), file)];
    let listing = Listing::new(entries.into(), [odd].into()).unwrap();
    let text = serde_json::to_string(&listing).unwrap();
    let empty = Digest::of(b"");
    assert_eq!(
        text,
        format!(
            r#"{{"entries":{{"a/b":{{"file":{{"sha256":"{empty}","bytes":0,"executable":true}}}},"b":{{"link":{{"to":"é"}}}}}},"odd":[{{"place":"s","why":"socket"}}]}}"#
        )
    );
    assert_eq!(serde_json::from_str::<Listing>(&text).unwrap(), listing);
    assert_eq!(listing.digest(), Digest::of(text.as_bytes()));
    assert_eq!(
        serde_json::to_string(&Listing::default()).unwrap(),
        r#"{"entries":{}}"#
    );
}

#[test]
fn a_text_that_is_no_tree_is_refused() {
    for paths in [r#""a","a/b""#, r#""../a","b""#, r#""a//b","b""#] {
        let entries = paths.replace(',', r#":{"link":{"to":"x"}},"#);
        let text = format!(r#"{{"entries":{{{entries}:{{"link":{{"to":"x"}}}}}}}}"#);
        assert!(serde_json::from_str::<Listing>(&text).is_err(), "{text}");
    }
}
