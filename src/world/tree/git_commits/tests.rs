//! What is pinned of a repository's history.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::super::test_tree::TestTree;
use super::*;

/// The machine's git.
fn git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|dir| dir.join("git"));
    found.find(|git| git.is_file()).unwrap()
}

/// Runs git in the tree, and returns what it says.
fn run(tree: &TestTree, words: &[&str]) -> String {
    let mut command = Command::new(git());
    command.current_dir(tree.root()).env_clear();
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
    let output = command.args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(tree: &TestTree, message: &str) -> String {
    run(tree, &["commit", "-q", "--allow-empty", "-m", message]);
    run(tree, &["rev-parse", "HEAD"])
}

fn repository() -> TestTree {
    let tree = TestTree::of(&["a"]);
    run(&tree, &["init", "-q"]);
    tree
}

fn take(tree: &TestTree) -> Result<Option<Commits>, TreeError> {
    Commits::take(&git(), &tree.root(), "HEAD")
}

#[test]
fn what_lies_behind_a_commit_is_pinned_with_its_messages() {
    let tree = repository();
    let first = commit(&tree, "Begin\n\nWith nothing.");
    run(&tree, &["checkout", "-q", "-b", "side"]);
    let side = commit(&tree, "Aside");
    run(&tree, &["checkout", "-q", "-"]);
    let other = commit(&tree, "Go on");
    run(&tree, &["merge", "-q", "--no-ff", "-m", "Join", "side"]);
    let merge = run(&tree, &["rev-parse", "HEAD"]);
    run(&tree, &["checkout", "-q", "-b", "later"]);
    let later = commit(&tree, "Later");
    run(&tree, &["checkout", "-q", "-"]);

    let commits = take(&tree).unwrap().unwrap();
    let says = |id: &str| match commits.named(id) {
        Named::One { message, .. } => Some(message.trim_end().to_owned()),
        Named::None | Named::Several => None,
    };
    for (id, message) in [
        (&first, "Begin\n\nWith nothing."),
        (&side, "Aside"),
        (&other, "Go on"),
        (&merge, "Join"),
    ] {
        assert_eq!(says(id).as_deref(), Some(message));
        assert_eq!(says(&id[..12].to_uppercase()).as_deref(), Some(message));
    }
    assert_eq!(says(&later), None);
    assert_eq!(commits.named(""), Named::Several);
    assert_eq!(commits.named(&format!("{first}0")), Named::None);
    let bytes = commits.to_bytes().unwrap();
    let sha256 = Digest::of(&bytes);
    assert_eq!(Commits::of_bytes(&bytes, sha256), Some(commits));
    assert_eq!(Commits::of_bytes(b"{}", sha256), None);
}

#[test]
fn where_there_is_no_commit_none_is_pinned() {
    assert!(take(&repository()).unwrap().is_none());
    assert!(take(&TestTree::of(&["a"])).unwrap().is_none());
    let gone = Commits::take(Path::new("/no/git"), &repository().root(), "HEAD");
    assert!(matches!(gone, Err(TreeError::Git(GitError::Run { .. }))));
}

#[test]
fn neither_a_graft_nor_a_replacement_adds_to_the_history() {
    let tree = repository();
    let first = commit(&tree, "Begin");
    let forged = commit(&tree, "Forged");
    run(&tree, &["reset", "-q", "--hard", &first]);
    fs::create_dir_all(tree.at(".git/info")).unwrap();
    fs::write(tree.at(".git/info/grafts"), format!("{first} {forged}\n")).unwrap();
    let unhurt = take(&tree).unwrap().unwrap();
    assert_eq!(unhurt.named(&forged), Named::None);
    fs::remove_file(tree.at(".git/info/grafts")).unwrap();
    run(&tree, &["replace", &first, &forged]);
    assert_eq!(take(&tree).unwrap().unwrap(), unhurt);
}

#[test]
fn a_commit_under_another_name_is_not_taken() {
    let tree = repository();
    let first = commit(&tree, "Begin");
    let second = commit(&tree, "Go on");
    let object = |id: &str| tree.at(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    fs::remove_file(object(&first)).unwrap();
    // The history of a shallow clone ends so.
    assert_eq!(take(&tree).unwrap().unwrap().named(&first), Named::None);
    fs::copy(object(&second), object(&first)).unwrap();
    assert!(take(&tree).is_err());
}

#[test]
fn a_commit_is_read_as_it_is_encoded() {
    let commit =
        Commit::parse(b"tree 1\nparent ab\nparent cd\nencoding ISO-8859-1\n\ncaf\xe9\n\nx");
    assert_eq!(commit.parents, ["ab", "cd"]);
    assert_eq!(commit.message, "caf\u{e9}\n\nx");
    // Lines of a signature are indented.
    let signed = Commit::parse(b"tree 1\ngpgsig x\n parent ab\n\nparent cd\n");
    assert_eq!((signed.parents.len(), &*signed.message), (0, "parent cd\n"));
    assert_eq!(Commit::parse(b"tree 1").message, "");
}
