//! Trees of commits, and repositories that would run something.

use std::fs;
use std::path::PathBuf;

use super::super::entry::Entry;
use super::super::git_commits::Commits;
use super::super::test_tree::{TestTree, ignored, path, paths};
use super::*;
use crate::base::Digest;

/// The machine's git.
fn git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|dir| dir.join("git"));
    found.find(|git| git.is_file()).unwrap()
}

/// Runs git in a folder, and returns what it says.
fn run(dir: &Path, words: &[&str]) -> String {
    let mut command = Command::new(git());
    command.current_dir(dir).env_clear();
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
    let output = command.args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(tree: &TestTree) -> String {
    run(&tree.root(), &["add", "-A"]);
    run(&tree.root(), &["commit", "-q", "-m", "all"]);
    run(&tree.root(), &["rev-parse", "HEAD"])
}

fn repository(files: &[&str]) -> TestTree {
    let tree = TestTree::of(files);
    run(&tree.root(), &["init", "-q"]);
    tree
}

fn pinned(tree: &TestTree, root: &Path, commit: &str, globs: &[&str]) -> Result<Pinned, TreeError> {
    tree.store.borrow_mut().clear();
    take(
        &git(),
        root,
        commit,
        &ignored(globs),
        &mut |digest, contents| tree.keep(digest, contents),
    )
}

#[test]
fn a_commit_is_what_the_tree_was() {
    let tree = repository(&["a/b", "c", ".github/x", "a/é"]);
    let id = commit(&tree);
    let baseline = tree.baseline().unwrap();
    tree.write("c", "changed since");
    tree.write("d", "new since");
    let pinned = pinned(&tree, &tree.root(), "HEAD", &[]).unwrap();
    assert_eq!(pinned.commit, id);
    assert_eq!(pinned.listing, baseline);
    assert_eq!(tree.store.borrow()[&Digest::of(b"c")], b"c");
}

#[test]
fn a_folder_of_the_repository_can_be_the_root() {
    let tree = repository(&["top", "sub/a", "sub/deep/b", "sub/left/out"]);
    commit(&tree);
    let pinned = pinned(&tree, &tree.at("sub"), "HEAD", &["left/**"]).unwrap();
    assert_eq!(paths(&pinned.listing), ["a", "deep/b"]);
}

#[test]
fn a_repository_of_sha256_is_read_too() {
    let tree = TestTree::of(&["a"]);
    run(&tree.root(), &["init", "-q", "--object-format=sha256"]);
    let id = commit(&tree);
    assert_eq!(id.len(), 64);
    assert_eq!(pinned(&tree, &tree.root(), &id, &[]).unwrap().commit, id);
}

#[test]
fn what_is_no_commit_is_refused() {
    let tree = repository(&["a"]);
    commit(&tree);
    for asked in [
        "nothing",
        "--help",
        "-",
        "",
        "HEAD:a",
        "HEAD^{tree}",
        "--git-dir",
    ] {
        let refused = pinned(&tree, &tree.root(), asked, &[]);
        let is_refusal = matches!(refused, Err(TreeError::Git(GitError::Refused { .. })));
        assert!(is_refusal, "{asked}: {refused:?}");
    }
    let plain = TestTree::of(&["a"]);
    assert!(pinned(&plain, &plain.root(), "HEAD", &[]).is_err());
    let nowhere = take(
        Path::new("/no/git"),
        &tree.root(),
        "HEAD",
        &ignored(&[]),
        &mut |_, _| Ok(()),
    );
    assert!(matches!(nowhere, Err(TreeError::Git(GitError::Run { .. }))));
}

#[test]
fn a_submodule_is_refused_unless_it_is_ignored() {
    let tree = repository(&["a"]);
    let id = commit(&tree);
    let entry = format!("160000,{id},vendor/sub");
    run(
        &tree.root(),
        &["update-index", "--add", "--cacheinfo", &entry],
    );
    run(&tree.root(), &["commit", "-q", "-m", "sub"]);
    let refused = pinned(&tree, &tree.root(), "HEAD", &[]);
    assert!(matches!(
        refused,
        Err(TreeError::Git(GitError::Submodule { .. }))
    ));
    assert!(pinned(&tree, &tree.root(), "HEAD", &["vendor/sub"]).is_ok());
}

#[test]
fn a_replaced_object_is_not_read() {
    let tree = repository(&["a"]);
    commit(&tree);
    let old = run(&tree.root(), &["rev-parse", "HEAD:a"]);
    tree.write("forged", "forged");
    let new = run(&tree.root(), &["hash-object", "-w", "forged"]);
    run(&tree.root(), &["replace", &old, &new]);
    let pinned = pinned(&tree, &tree.root(), "HEAD", &[]).unwrap();
    let file = pinned.listing.get(&path("a")).unwrap();
    assert!(matches!(file, Entry::File { sha256, .. } if *sha256 == Digest::of(b"a")));
}

#[test]
fn contents_under_another_name_are_not_taken() {
    let tree = repository(&["a", "b"]);
    commit(&tree);
    let object = |file: &str| {
        let id = run(&tree.root(), &["rev-parse", &format!("HEAD:{file}")]);
        tree.at(&format!(".git/objects/{}/{}", &id[..2], &id[2..]))
    };
    fs::remove_file(object("a")).unwrap();
    fs::copy(object("b"), object("a")).unwrap();
    let altered = pinned(&tree, &tree.root(), "HEAD", &[]).unwrap_err();
    // Newer gits look by themselves.
    let is_told = matches!(
        altered,
        TreeError::Git(GitError::Altered { .. } | GitError::Refused { .. } | GitError::Run { .. })
    );
    assert!(is_told, "{altered}");
    fs::remove_file(object("a")).unwrap();
    assert!(pinned(&tree, &tree.root(), "HEAD", &[]).is_err());
}

#[cfg(unix)]
mod on_unix {
    use super::super::super::test_tree::{link, set_mode};
    use super::*;

    #[test]
    fn links_and_modes_are_read() {
        let tree = repository(&["run", "plain"]);
        set_mode(&tree.at("run"), 0o755);
        link("/etc/passwd", tree.at("link"));
        fs::write(tree.at("new\nline"), "").unwrap();
        commit(&tree);
        let baseline = tree.baseline().unwrap();
        let pinned = pinned(&tree, &tree.root(), "HEAD", &[]).unwrap();
        assert_eq!(pinned.listing, baseline);
        assert_eq!(pinned.listing.odd().len(), 1);
    }

    /// Each setting would run a program, were it heeded; that program leaves a mark.
    #[test]
    fn nothing_that_a_repository_says_is_run() {
        let tree = repository(&["a"]);
        tree.write(".gitattributes", "* filter=evil diff=evil\n");
        commit(&tree);
        let id = run(&tree.root(), &["rev-parse", "HEAD:a"]);
        let mark = tree.root().with_file_name("mark");
        let evil = tree.root().with_file_name("evil.sh");
        fs::write(
            &evil,
            format!("#!/bin/sh\necho \"$@\" >> {}\n", mark.display()),
        )
        .unwrap();
        set_mode(&evil, 0o755);
        let program = evil.to_str().unwrap();
        let settings = [
            "core.fsmonitor",
            "core.sshCommand",
            "core.pager",
            "core.editor",
            "core.askPass",
            "core.alternateRefsCommand",
            "alias.ls-tree",
            "alias.cat-file",
            "alias.rev-parse",
            "filter.evil.smudge",
            "filter.evil.clean",
            "filter.evil.process",
            "diff.evil.textconv",
            "diff.external",
            "credential.helper",
            "pager.ls-tree",
            "remote.evil.uploadpack",
            "uploadpack.packObjectsHook",
            "gpg.program",
        ];
        for setting in settings {
            let value = if setting.starts_with("alias") {
                format!("!{program}")
            } else {
                program.to_owned()
            };
            run(&tree.root(), &["config", setting, &value]);
        }
        // An object that is missing is fetched from where the repository says.
        for (setting, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "evil"),
            ("remote.evil.promisor", "true"),
            ("remote.evil.url", &format!("ext::{program} fetch")),
            ("protocol.ext.allow", "always"),
        ] {
            run(&tree.root(), &["config", setting, value]);
        }
        for hook in ["post-checkout", "reference-transaction", "pre-auto-gc"] {
            fs::copy(&evil, tree.at(&format!(".git/hooks/{hook}"))).unwrap();
        }
        assert!(pinned(&tree, &tree.root(), "HEAD", &[]).is_ok());
        fs::remove_file(tree.at(&format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
        assert!(pinned(&tree, &tree.root(), "HEAD", &[]).is_err());
        let commits = Commits::take(&git(), &tree.root(), "HEAD").unwrap();
        assert!(commits.is_some());
        assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());

        // The trap is a good one: a git that heeds the repository springs it.
        let mut heeding = Command::new(git());
        heeding
            .current_dir(tree.root())
            .args(["cat-file", "-p", "HEAD:a"]);
        heeding.output().unwrap();
        assert!(mark.exists());
    }
}
