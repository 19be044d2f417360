//! Trees in which somebody else writes as they please.

use crate::base::rows;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use std::{fs, io};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::snapshot::take_baseline_within;
use super::walk::{Bounds, Met, Unopened, read_gitignores_within};
use super::*;
use crate::base::Digest;

fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

fn zones(globs: &[&str]) -> Zones {
    let globs: Vec<_> = globs.iter().map(|&glob| glob.to_owned()).collect();
    Zones::new(&globs).unwrap()
}

fn ignored(globs: &[&str]) -> Ignored {
    Ignored::new(zones(globs).texts()).unwrap()
}

/// A tree on disk, and the contents that were stored of it.
struct TestTree {
    dir: tempfile::TempDir,
    store: RefCell<BTreeMap<Digest, Vec<u8>>>,
}

impl TestTree {
    /// A tree with these files, each of which holds its own path.
    fn of(files: &[&str]) -> Self {
        let tree = Self {
            dir: tempfile::tempdir().unwrap(),
            store: RefCell::default(),
        };
        fs::create_dir(tree.root()).unwrap();
        for file in files {
            tree.write(file, file);
        }
        tree
    }

    /// The tree's root; what lies beside it is outside of the tree.
    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    fn at(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(file).parent().unwrap()).unwrap();
        fs::write(self.at(file), text).unwrap();
    }

    #[expect(clippy::unnecessary_wraps, reason = "a store may fail")]
    fn load(&self, digest: Digest) -> io::Result<Option<Vec<u8>>> {
        Ok(self.store.borrow().get(&digest).cloned())
    }

    fn baseline(&self) -> Result<Listing, TreeError> {
        self.baseline_within(BOUNDS, &[])
    }

    fn baseline_within(&self, bounds: Bounds, globs: &[&str]) -> Result<Listing, TreeError> {
        self.store.borrow_mut().clear();
        let keep = &mut |digest: Digest, contents: &[u8]| {
            let before = self.store.borrow_mut().insert(digest, contents.to_owned());
            assert!(before.is_none(), "stored twice: {digest}");
            Ok(())
        };
        take_baseline_within(bounds, &self.root(), &ignored(globs), keep)
    }

    fn snapshot(&self, baseline: &Listing, globs: &[&str]) -> (Snapshot, Vec<Changed>) {
        Snapshot::take(&self.root(), baseline, &zones(globs), &ignored(&[])).unwrap()
    }

    fn text(&self, snapshot: &Snapshot, file: &str) -> Option<String> {
        let contents = snapshot.read(&path(file), &|digest| self.load(digest));
        let contents = contents.unwrap()?;
        Some(String::from_utf8(contents.to_vec()).unwrap())
    }
}

/// A tree with these files, and its baseline.
fn listed(files: &[&str]) -> (TestTree, Listing) {
    let tree = TestTree::of(files);
    let baseline = tree.baseline().unwrap();
    (tree, baseline)
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries().keys().map(TreePath::as_str).collect()
}

/// The changes inside or outside the zones, each as `how path`.
fn said(changes: &[Changed], inside: bool) -> String {
    let changes = changes.iter().filter(|change| change.inside == inside);
    let said: Vec<_> = changes
        .map(|change| format!("{} {}", change.how, change.path))
        .collect();
    said.join(", ")
}

fn link(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

fn make_pipe(at: &Path) {
    use std::process::Command;
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

fn set_mode(at: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
}

/// What was left out of a snapshot, each as `path: why`.
fn left_out(snapshot: &Snapshot) -> Vec<String> {
    let left_out = snapshot.left_out.iter();
    left_out
        .map(|(path, why)| format!("{path}: {why}"))
        .collect()
}

fn error<T>(result: Result<T, TreeError>) -> String {
    result.err().expect("an error").to_string()
}

fn runs(listing: &Listing, file: &str) -> bool {
    let Some(Entry::File { executable, .. }) = listing.get(&path(file)) else {
        panic!("{file} is no file");
    };
    *executable
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
    let tree = TestTree::of(&[".venv/a", "a/built/b", "a/c.o", "a/d", "a/d.pyc"]);
    let globs = [".venv/**", "**/built", "**/*.o"];
    let listing = tree.baseline_within(BOUNDS, &globs).unwrap();
    assert_eq!(paths(&listing), ["a/d"], "the rest is ignored");
}

#[test]
fn a_link_is_what_it_says_and_nothing_is_odd_but_told() {
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
    let passwd = link_to("/etc/passwd");
    assert_eq!(listing.get(&path("passwd")), Some(&passwd));
    assert_eq!(listing.get(&path("also")), Some(&link_to("dir")));
    assert!(runs(&listing, "run") && !runs(&listing, "dir/in"));
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
    let large = fs::File::create(tree.at("large.bin")).unwrap();
    large.set_len(65 << 20).unwrap();
    let large = error(tree.baseline());
    assert!(large.starts_with("large.bin has 68157440 bytes"), "{large}");
    let within = |bounds| tree.baseline_within(bounds, &["*.bin"]);
    assert!(within(BOUNDS).is_ok());
    let (files, bytes, file_bytes, names) = (2, 4, 2, 3);
    for (bounds, expected) in rows! {
        Bounds { files, ..BOUNDS } => "with d the tree has more than 2 files: add";
        Bounds { bytes, ..BOUNDS } => "with d the tree has more than 4 bytes";
        Bounds { file_bytes,..BOUNDS }
            => "b/c has 3 bytes, and a file may have 2: add it to .gitignore or to `ignore` in [tree]";
        Bounds { names, ..BOUNDS } => "the tree has more than 3 names";
    } {
        let refused = error(within(bounds));
        assert!(refused.contains(expected), "{refused}");
    }
}

/// A file changes while it is read: here when the one before it is stored.
#[test]
fn a_file_that_is_gone_a_store_that_fails_and_a_root_that_is_none_are_errors() {
    let tree = TestTree::of(&["a", "b"]);
    let taken = take_baseline(&tree.root(), &ignored(&[]), &mut |_, _| {
        fs::remove_file(tree.at("b"))
    });
    let why = Oddity::Changing;
    assert!(matches!(taken, Err(TreeError::Odd { why: found, .. }) if found == why));
    let full = |_, _: &[u8]| Err(io::Error::other("the disk is full"));
    let full = take_baseline(&tree.root(), &ignored(&[]), &mut { full });
    assert_eq!(error(full), "a cannot be stored: the disk is full");
    let nowhere = take_baseline(&tree.at("a"), &ignored(&[]), &mut |_, _| Ok(()));
    assert!(matches!(nowhere, Err(TreeError::Io { .. })));
}

/// The folders are made by handle: no system call takes so long a path.
#[test]
fn two_thousand_folders_in_each_other_are_told_of() {
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

fn link_to(to: &str) -> Entry {
    Entry::Link { to: to.to_owned() }
}

fn of(paths: &[&str]) -> Result<Listing, Clash> {
    let entries = paths
        .iter()
        .map(|text| (path(text), link_to("x")))
        .collect();
    Listing::new(entries, BTreeSet::new())
}

#[test]
fn nothing_lies_beneath_a_file_or_a_link() {
    assert!(of(&["a", "a-b", "a.c"]).is_ok());
    let clash = of(&["a", "a-b", "a/b"]).unwrap_err();
    assert_eq!((clash.beneath, clash.above), (path("a/b"), path("a")));
    assert!(of(&["a", "a/b/c/d"]).is_err());
    let mut listing = of(&["a/b", "c"]).unwrap();
    assert!(listing.put(path("a"), link_to("y")).is_err());
    assert!(listing.put(path("c/d"), link_to("y")).is_err());
    assert!(listing.put(path("c"), link_to("y")).is_ok());
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
    let entries = [(path("b"), link_to("é")), (path("a/b"), file)];
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
    for paths in [r#""../a","b""#, r#""a//b","b""#] {
        let entries = paths.replace(',', r#":{"link":{"to":"x"}},"#);
        let text = format!(r#"{{"entries":{{{entries}:{{"link":{{"to":"x"}}}}}}}}"#);
        assert!(serde_json::from_str::<Listing>(&text).is_err(), "{text}");
    }
}

/// The rules of a tree's `.gitignore` files, as a session freezes them.
fn frozen(tree: &TestTree) -> Ignored {
    let files = read_gitignores(&tree.root(), &Ignored::default()).unwrap();
    Ignored::default().and_gitignores(&files)
}

fn listing(tree: &TestTree, ignored: &Ignored) -> Listing {
    take_baseline(&tree.root(), ignored, &mut |_, _| Ok(())).unwrap()
}

#[test]
fn what_gitignore_files_ignore_is_no_part_of_a_tree() {
    let tree = TestTree::of(&["a", "b.log", "keep.log", "sub/b.log", "sub/only", "z/only"]);
    tree.write(".gitignore", "target/\n*.log\n!keep.log\n");
    tree.write("sub/.gitignore", "only\n!*.log\n");
    // Some tools make folders that ignore themselves.
    tree.write(".cache/.gitignore", "*\n");
    tree.write(".cache/a", "");
    tree.write("target/a", "");
    tree.write("target/.gitignore", "!a\n");
    fs::File::create(tree.at("target/large"))
        .unwrap()
        .set_len(65 << 20)
        .unwrap();
    assert!(error(tree.baseline()).starts_with("target/large has 68157440 bytes"));
    let ignored = frozen(&tree);
    let expected = [
        ".gitignore",
        "a",
        "keep.log",
        "sub/.gitignore",
        "sub/b.log",
        "z/only",
    ];
    assert_eq!(paths(&listing(&tree, &ignored)), expected);
    let files = read_gitignores(&tree.root(), &Ignored::default()).unwrap();
    let files: Vec<_> = files.keys().map(TreePath::as_str).collect();
    assert_eq!(files, [".cache/.gitignore", ".gitignore", "sub/.gitignore"]);
}

#[test]
fn later_rules_change_nothing() {
    let tree = TestTree::of(&["src/a", "target/a"]);
    tree.write(".gitignore", "target\n");
    let ignored = frozen(&tree);
    let baseline = listing(&tree, &ignored);
    let all = zones(&["src/**"]);
    let taken = || Snapshot::take(&tree.root(), &baseline, &all, &ignored).unwrap();
    tree.write("target/b", "");
    assert!(taken().1.is_empty());
    tree.write(".gitignore", "*\n");
    tree.write("src/.gitignore", "*\n");
    tree.write("src/b", "");
    tree.write("c", "");
    let (snapshot, changes) = taken();
    assert_eq!(said(&changes, true), "added src/b");
    assert_eq!(
        said(&changes, false),
        "changed .gitignore, added c, added src/.gitignore"
    );
    let expected = [".gitignore", "src/a", "src/b"];
    assert_eq!(paths(&snapshot.listing), expected);
    // What was ignored is ignored when the rules are gone, too.
    fs::remove_file(tree.at(".gitignore")).unwrap();
    assert_eq!(
        said(&taken().1, false),
        "removed .gitignore, added c, added src/.gitignore"
    );
}

#[test]
fn a_gitignore_that_is_no_plain_file_has_no_rules() {
    let tree = TestTree::of(&["a", "sub/.gitignore/b", "deep/c"]);
    let rules = tree.root().with_file_name("rules");
    fs::write(&rules, "*\n").unwrap();
    link(&rules, tree.at(".gitignore"));
    make_pipe(&tree.at("deep/.gitignore"));
    let expected = [".gitignore", "a", "deep/c", "sub/.gitignore/b"];
    assert_eq!(paths(&listing(&tree, &frozen(&tree))), expected);
}

#[test]
fn rules_are_read_within_bounds_and_not_where_the_quest_file_ignores() {
    let tree = TestTree::of(&["a", "sub/b"]);
    tree.write(".gitignore", "12345\n");
    tree.write("sub/.gitignore", "1234\n");
    let within = |rule_bytes, globs: &[&str]| {
        let bounds = Bounds {
            rule_bytes,
            ..BOUNDS
        };
        read_gitignores_within(bounds, &tree.root(), &ignored(globs))
    };
    assert_eq!(within(11, &[]).unwrap().len(), 2);
    let refused = error(within(10, &[]));
    let expected = "with sub/.gitignore the tree has more than 10 bytes of ignore rules";
    assert!(refused.starts_with(expected), "{refused}");
    for glob in ["sub", "sub/**", "**/.gitignore"] {
        let read = within(10, &[glob]).unwrap();
        assert!(!read.contains_key(&path("sub/.gitignore")), "{glob}");
    }
}

#[test]
fn a_folder_is_left_out_whatever_it_is_called() {
    let tree = TestTree::of(&["a", "sub/session/ledger", "other/ledger"]);
    let ignored = Ignored::default().and_folder(&tree.at("sub/session"));
    assert_eq!(paths(&listing(&tree, &ignored)), ["a", "other/ledger"]);
    fs::rename(tree.at("sub/session"), tree.at("renamed")).unwrap();
    tree.write("sub/session/b", "");
    let expected = ["a", "other/ledger", "sub/session/b"];
    assert_eq!(paths(&listing(&tree, &ignored)), expected);
    let nowhere = Ignored::default().and_folder(&tree.at("nowhere"));
    assert_eq!(paths(&listing(&tree, &nowhere)).len(), 4);
}

const TESTS: &[&str] = &["tests/**"];

#[test]
fn takes_the_zones_alone() {
    let (tree, baseline) = listed(&["src/a", "src/b", "tests/a", "tests/b", "tests/c"]);
    tree.write("tests/a", "A tests");
    tree.write("tests/new/d", "new");
    fs::remove_file(tree.at("tests/b")).unwrap();
    tree.write("src/a", "SRC/A");
    tree.write("src/new", "new");
    tree.write("src/b", "longer than before");
    fs::remove_file(tree.at("src/b")).unwrap();
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(
        said(&changes, true),
        "changed tests/a, removed tests/b, added tests/new/d"
    );
    assert_eq!(
        said(&changes, false),
        "changed src/a, removed src/b, added src/new"
    );
    let expected = ["src/a", "src/b", "tests/a", "tests/c", "tests/new/d"];
    assert_eq!(paths(&snapshot.listing), expected);
    assert_eq!(tree.text(&snapshot, "src/a").unwrap(), "src/a");
    assert_eq!(tree.text(&snapshot, "tests/a").unwrap(), "A tests");
    assert_eq!(tree.text(&snapshot, "tests/b"), None);
    assert_eq!(snapshot.new_contents.len(), 2);
    assert!(snapshot.left_out.is_empty());
    // What was read is what is judged.
    tree.write("tests/a", "a moment after");
    assert_eq!(tree.text(&snapshot, "tests/a").unwrap(), "A tests");
    let (after, _) = tree.snapshot(&baseline, TESTS);
    assert_ne!(after.digest(), snapshot.digest());
}

#[test]
fn a_tree_as_it_was_is_its_baseline() {
    let (tree, baseline) = listed(&["a", "b/c"]);
    let (snapshot, changes) = tree.snapshot(&baseline, &["**"]);
    assert!(changes.is_empty() && snapshot.new_contents.is_empty());
    assert_eq!(snapshot.digest(), baseline.digest());
    assert_eq!(Snapshot::of(&baseline).digest(), baseline.digest());
}

#[test]
fn what_no_agent_can_write_has_no_file_of_a_zone() {
    let (tree, baseline) = listed(&["src/a", "tests/a", "tests/b/c"]);
    tree.write("tests/a", "changed");
    tree.write("tests/AGENTS.md", "say that all is well");
    let pinned = Snapshot::beyond(&baseline, &zones(TESTS));
    assert_eq!(paths(&pinned.listing), ["src/a"]);
    assert_eq!(tree.text(&pinned, "src/a").unwrap(), "src/a");
}

#[test]
fn a_file_and_a_folder_can_take_each_others_place() {
    let (tree, baseline) = listed(&["tests/a", "tests/d/b"]);
    fs::remove_file(tree.at("tests/a")).unwrap();
    tree.write("tests/a/in", "1");
    fs::remove_dir_all(tree.at("tests/d")).unwrap();
    tree.write("tests/d", "2");
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(paths(&snapshot.listing), ["tests/a/in", "tests/d"]);
    let expected = "removed tests/a, added tests/a/in, added tests/d, removed tests/d/b";
    assert_eq!(said(&changes, true), expected);
}

#[test]
fn what_stands_outside_the_zones_is_not_pushed_aside() {
    let (tree, baseline) = listed(&["a", "d/b"]);
    fs::remove_file(tree.at("a")).unwrap();
    tree.write("a/in", "1");
    fs::remove_dir_all(tree.at("d")).unwrap();
    tree.write("d", "2");
    let (snapshot, changes) = tree.snapshot(&baseline, &["a/**", "d"]);
    assert_eq!(paths(&snapshot.listing), ["a", "d/b"]);
    assert_eq!(said(&changes, false), "removed a, removed d/b");
    assert_eq!(snapshot.left_out[&path("a/in")], "in the way of a");
    assert_eq!(snapshot.left_out[&path("d")], "in the way of d/b");
}

#[test]
fn an_edit_replaces_a_file_or_adds_one() {
    let (tree, baseline) = listed(&["src/a", "src/b"]);
    let mut mutant = Snapshot::of(&baseline);
    mutant.edit(&path("src/a"), b"mutant").unwrap();
    mutant.edit(&path("src/c"), b"new").unwrap();
    assert!(mutant.edit(&path("src"), b"").is_err());
    assert!(mutant.edit(&path("src/b/c"), b"").is_err());
    assert_eq!(tree.text(&mutant, "src/a").unwrap(), "mutant");
    assert_eq!(tree.text(&mutant, "src/b").unwrap(), "src/b");
    assert_ne!(mutant.digest(), baseline.digest());
}

#[test]
fn a_store_that_lies_is_an_error_and_a_copy_replaces_nothing() {
    let tree = TestTree::of(&["a"]);
    let snapshot = Snapshot::of(&tree.baseline().unwrap());
    let forged = |_| Ok(Some(b"forged".to_vec()));
    let missing = snapshot.read(&path("a"), &|_| Ok(None));
    assert!(error(missing).contains("are not in the store"));
    let broken = snapshot.read(&path("a"), &|_| Err(io::Error::other("broken")));
    assert!(error(broken).ends_with("cannot be read from the store: broken"));
    let read = snapshot.read(&path("a"), &forged);
    assert!(error(read).contains("were changed in the store"));
    let dir = tempfile::tempdir().unwrap();
    let copied = snapshot.write_to(dir.path(), &forged);
    assert!(error(copied).contains("were changed in the store"));

    let (dir, _) = written(&tree, &snapshot);
    let again = snapshot.write_to(dir.path(), &|digest| tree.load(digest));
    assert!(matches!(again, Err(TreeError::Io { .. })));
}

#[test]
fn a_file_that_is_too_large_is_left_out_and_not_an_error() {
    let (tree, baseline) = listed(&["tests/a"]);
    for file in ["tests/large", "large"] {
        let large = fs::File::create(tree.at(file)).unwrap();
        large.set_len(65 << 20).unwrap();
    }
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(paths(&snapshot.listing), ["tests/a"]);
    assert_eq!(
        said(&changes, true),
        "odd: something that is too large tests/large"
    );
    assert_eq!(said(&changes, false), "added large");
    assert_eq!(
        left_out(&snapshot),
        ["tests/large: something that is too large"]
    );
}

#[test]
fn more_than_is_kept_is_left_out() {
    let (tree, baseline) = listed(&[]);
    for (file, text) in [("a", "1234"), ("b", "1234"), ("c", "56"), ("d", "7")] {
        tree.write(file, text);
    }
    let bounds = Bounds {
        new_bytes: 5,
        ..BOUNDS
    };
    let all = zones(&["**"]);
    let taken = Snapshot::take_within(bounds, &tree.root(), &baseline, &all, &ignored(&[]));
    let (snapshot, _) = taken.unwrap();
    assert_eq!(paths(&snapshot.listing), ["a", "b", "d"]);
    let expected = ["c: something that is more than is kept of changed files"];
    assert_eq!(left_out(&snapshot), expected);
}

#[test]
fn a_link_is_a_change_and_is_not_taken() {
    let tree = TestTree::of(&["tests/a", "tests/b", "src/a"]);
    link("a", tree.at("tests/old"));
    link("a", tree.at("tests/kept"));
    let baseline = tree.baseline().unwrap();
    fs::remove_file(tree.at("tests/a")).unwrap();
    link("/etc/passwd", tree.at("tests/a"));
    fs::remove_file(tree.at("tests/old")).unwrap();
    link("b", tree.at("tests/old"));
    link("../src/a", tree.at("tests/new"));
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(
        said(&changes, true),
        "odd: a link, which is not followed tests/a, odd: a link, which is not followed tests/new, \
         odd: a link, which is not followed tests/old"
    );
    assert_eq!(paths(&snapshot.listing), ["src/a", "tests/b", "tests/kept"]);
    assert!(snapshot.new_contents.is_empty());
    let links = ["tests/a", "tests/new", "tests/old"];
    let expected = links.map(|link| format!("{link}: a link, which is not followed"));
    assert_eq!(left_out(&snapshot), expected);
}

#[test]
fn what_a_linked_folder_leads_to_is_not_read() {
    let (tree, baseline) = listed(&["tests/a", "tests/sub/b"]);
    let elsewhere = tree.root().with_file_name("elsewhere");
    fs::rename(tree.at("tests"), &elsewhere).unwrap();
    fs::write(elsewhere.join("a"), "forged").unwrap();
    fs::write(elsewhere.join("secret"), "secret").unwrap();
    link("../elsewhere", tree.at("tests"));
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(said(&changes, false), "added tests");
    assert_eq!(said(&changes, true), "removed tests/a, removed tests/sub/b");
    assert!(snapshot.listing.entries().is_empty() && snapshot.new_contents.is_empty());
}

#[test]
fn a_folder_in_the_place_of_a_link_is_not_written_through_it() {
    let tree = TestTree::of(&["real/a"]);
    link("real", tree.at("tests"));
    let baseline = tree.baseline().unwrap();
    fs::remove_file(tree.at("tests")).unwrap();
    tree.write("tests/a", "forged");
    let (snapshot, _) = tree.snapshot(&baseline, TESTS);
    assert_eq!(paths(&snapshot.listing), ["real/a", "tests"]);
    assert_eq!(left_out(&snapshot), ["tests/a: in the way of tests"]);
    let mut mutant = snapshot.clone();
    let refused = mutant.edit(&path("tests"), b"").unwrap_err();
    assert_eq!(refused, "tests is a link, and is not edited");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let tree = TestTree::of(&["tests/a", "src/a"]);
    make_pipe(&tree.at("was-there"));
    let baseline = tree.baseline().unwrap();
    for file in ["tests/a", "src/a"] {
        fs::remove_file(tree.at(file)).unwrap();
        make_pipe(&tree.at(file));
    }
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(
        said(&changes, true),
        "odd: something that is a named pipe tests/a"
    );
    assert_eq!(said(&changes, false), "odd src/a");
    assert_eq!(paths(&snapshot.listing), ["src/a"]);
    let expected = ["tests/a: something that is a named pipe"];
    assert_eq!(left_out(&snapshot), expected);
}

#[test]
fn a_hard_link_is_a_file_and_a_mode_is_a_change() {
    let (tree, baseline) = listed(&["src/a", "tests/run", "src/run"]);
    fs::hard_link(tree.at("src/a"), tree.at("tests/a")).unwrap();
    set_mode(&tree.at("tests/run"), 0o700);
    set_mode(&tree.at("src/run"), 0o700);
    let (snapshot, changes) = tree.snapshot(&baseline, TESTS);
    assert_eq!(said(&changes, true), "added tests/a, mode tests/run");
    assert_eq!(said(&changes, false), "mode src/run");
    assert_eq!(tree.text(&snapshot, "tests/a").unwrap(), "src/a");
    assert_eq!(tree.text(&snapshot, "tests/run").unwrap(), "tests/run");
    assert!(runs(&snapshot.listing, "tests/run"));
    assert!(!runs(&snapshot.listing, "src/run"));
}

#[test]
fn a_name_that_no_path_has_is_told_of_once_it_is_new() {
    let tree = TestTree::of(&["a"]);
    fs::write(tree.at("was\nthere"), "").unwrap();
    let baseline = tree.baseline().unwrap();
    fs::create_dir(tree.at("is\nnew")).unwrap();
    fs::write(tree.at("is\nnew/in"), "").unwrap();
    let (snapshot, changes) = tree.snapshot(&baseline, &["**"]);
    assert_eq!(paths(&snapshot.listing), ["a"]);
    let expected = Changed {
        path: r#""is\nnew""#.to_owned(),
        how: format!("odd: {}", Oddity::Name),
        inside: false,
    };
    assert_eq!(changes, [expected]);
}

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
    let (tree, baseline) = listed(&["src/deep/a", "tests/a", "tests/b"]);
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
fn compiled_python_is_no_change_and_reaches_no_copy() {
    let (tree, baseline) = listed(&["src/a.py", "src/b.pyc", "src/__pycache__/a.pyc"]);
    assert_eq!(paths(&baseline), ["src/a.py"]);
    for file in ["src/__pycache__/a.pyc", "src/c.pyc", "src/c.py"] {
        tree.write(file, "new");
    }
    let (snapshot, changes) = tree.snapshot(&baseline, &["**"]);
    assert_eq!(said(&changes, true), "added src/c.py");
    let (dir, _) = written(&tree, &snapshot);
    let names = fs::read_dir(dir.path().join("src")).unwrap();
    let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.py", "c.py"]);
}

#[test]
fn a_copy_keeps_the_dates_of_the_baseline_and_dates_changes_later() {
    let tree = TestTree::of(&["built", "source", "changed"]);
    let at = |seconds: u64| UNIX_EPOCH + Duration::from_millis(1_700_000_000_123 + 1000 * seconds);
    let date = |file: &str, date| {
        let file = fs::File::options().write(true).open(tree.at(file));
        file.unwrap().set_modified(date).unwrap();
    };
    for (file, seconds) in [("built", 2), ("source", 1), ("changed", 0)] {
        date(file, at(seconds));
    }
    let baseline = tree.baseline().unwrap();
    // Whatever an agent makes of the dates of files, they are what they were.
    date("source", at(9));
    tree.write("changed", "new");
    tree.write("added", "added");
    date("added", at(0));
    let (snapshot, changes) = tree.snapshot(&baseline, &["**"]);
    assert_eq!(said(&changes, true), "added added, changed changed");
    let (dir, _) = written(&tree, &snapshot);
    let dated = |file: &str| {
        let found = fs::metadata(dir.path().join(file));
        found.unwrap().modified().unwrap()
    };
    assert_eq!((dated("built"), dated("source")), (at(2), at(1)));
    assert_eq!(dated("changed"), dated("added"));
    assert!(dated("changed") > at(2));
}

#[test]
fn modes_are_one_of_two() {
    let tree = TestTree::of(&["plain", "run"]);
    set_mode(&tree.at("plain"), 0o600);
    set_mode(&tree.at("run"), 0o4700);
    let snapshot = Snapshot::of(&tree.baseline().unwrap());
    let (dir, _) = written(&tree, &snapshot);
    let mode = |file: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = fs::metadata(dir.path().join(file)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    assert_eq!((mode("plain"), mode("run")), (0o644, 0o755));
}

#[test]
fn a_link_is_written_as_it_is_unless_it_leads_out() {
    let tree = TestTree::of(&["dir/deep/a"]);
    link("dir/deep", tree.at("in"));
    link("../dir/deep/a", tree.at("dir/file"));
    link("/etc/passwd", tree.at("passwd"));
    link("../outside", tree.at("out"));
    let snapshot = Snapshot::of(&tree.baseline().unwrap());
    let (dir, left_out) = written(&tree, &snapshot);
    assert_eq!(left_out, ["out", "passwd"].map(path));
    let text = fs::read_to_string(dir.path().join("in/a")).unwrap();
    assert_eq!(text, "dir/deep/a");
    let target = fs::read_link(dir.path().join("dir/file")).unwrap();
    assert_eq!(target, Path::new("../dir/deep/a"));
    assert!(fs::symlink_metadata(dir.path().join("passwd")).is_err());
}

fn instead<T>(met: io::Result<Met<T>>) -> Option<Oddity> {
    match met.unwrap() {
        Met::There(_) => unreachable!("nothing can be opened there"),
        Met::Odd(why) => Some(why),
        Met::Gone => None,
    }
}

/// What stands at a name is not what it was when the folder was listed.
#[test]
fn what_became_something_else_is_neither_followed_nor_waited_for() {
    let tree = TestTree::of(&["file", "dir/a"]);
    link("file", tree.at("to-file"));
    link("dir", tree.at("to-dir"));
    make_pipe(&tree.at("pipe"));
    let dir = Dir::open_ambient_dir(tree.root(), ambient_authority()).unwrap();
    let at = |name| Unopened {
        dir: &dir,
        name: OsStr::new(name),
    };
    let changing = Some(Oddity::Changing);
    for name in ["to-file", "to-dir", "pipe"] {
        assert_eq!(instead(at(name).open()), changing, "{name}");
        assert_eq!(instead(at(name).open_dir()), changing, "{name}");
    }
    assert_eq!(instead(at("dir").open()), changing);
    assert_eq!(instead(at("file").open_dir()), changing);
    for name in ["pipe", "dir", "file"] {
        assert_eq!(instead(at(name).read_link()), changing, "{name}");
    }
    assert_eq!(instead(at("gone").open()), None);
    assert_eq!(instead(at("gone").open_dir()), None);
    assert_eq!(instead(at("gone").read_link()), None);
    // A file that grows is not read past the bound.
    let Met::There(opened) = at("file").open().unwrap() else {
        unreachable!("the file is there");
    };
    fs::write(tree.at("file"), "longer").unwrap();
    assert_eq!(opened.bytes, 4);
    assert!(opened.read(5).unwrap().is_none());
}

/// Whether the first of these links stays in a copy of the tree, in which `b/c` is a file.
fn stays(links: &[(&str, &str)]) -> bool {
    let tree = TestTree::of(&["b/c"]);
    for (from, to) in links {
        fs::create_dir_all(tree.at(from).parent().unwrap()).unwrap();
        link(to, tree.at(from));
    }
    let snapshot = Snapshot::of(&tree.baseline().unwrap());
    let (_dir, left_out) = written(&tree, &snapshot);
    !left_out.contains(&path(links[0].0))
}

#[test]
fn links_of_a_copy_stay_inside_it() {
    for (links, expected) in rows! {
        &[("a/l", "../b/c")][..] => true;
        &[("l", ".")] => true;
        &[("l", "gone/x")] => true;
        &[("l", "b/c/x")] => true;
        &[("a/b/l", "../..")] => true;
        &[("l", "m/x"), ("m", "n"), ("n", "gone")] => true;
        &[("l", "/etc/passwd")] => false;
        &[("l", "..")] => false;
        &[("a/l", "../b/../../c")] => false;
        &[("l", "m/x"), ("m", "/etc")] => false;
        // `d/e/m` is the root, so what looks like `d/..` is two folders above it.
        &[("l", "d/e/m/../.."), ("d/e/m", "../..")] => false;
        &[("l", "m/../.."), ("m", "d/e"), ("d/e/x", "y")] => true;
        &[("l", "in/../../.."), ("in", "b/d"), ("b/d/x", "y")] => false;
        &[("l", "l")] => false;
        &[("l", "m"), ("m", "l/x")] => false;
    } {
        assert_eq!(stays(links), expected, "{links:?}");
    }
}
