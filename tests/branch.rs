//! The git branch of accepted answers, and the patch that has all of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::harness::shell_quest::ShellQuest;
use crate::harness::{Place, Run};

pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What git prints here; its user has no configuration.
pub fn git<const N: usize>(dir: &Path, args: [&str; N]) -> String {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", PATH).current_dir(dir);
    for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{name}_NAME"), "user");
        command.env(format!("{name}_EMAIL"), "user@host.invalid");
    }
    let ran = command.args(args).output().expect("git starts");
    let (out, err) = [ran.stdout, ran.stderr]
        .map(|it| String::from_utf8(it).expect("text"))
        .into();
    assert!(ran.status.success(), "git {args:?}: {out}{err}");
    out.trim_end().to_owned()
}

/// A session with worktrees whose tree is in a repository, after `before`.
fn quest(before: impl FnOnce(&Place)) -> ShellQuest {
    ShellQuest::scanned("10s", |place| {
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        let with = file.replace("[tree]\n", "[tree]\nworktrees = true\n");
        assert!(with.contains("worktrees"), "{file}");
        place.write("quest.toml", with);
        before(place);
    })
}

/// Makes the tree a repository with one commit.
fn commit(place: &Place) {
    let tree = place.at("tree");
    git(&tree, ["init", "-q", "-b", "main"]);
    git(&tree, ["add", "."]);
    git(&tree, ["commit", "-q", "-m", "first"]);
}

/// Answers a quest with these files, in a worktree of its own. Returns what stderr says.
fn answer(quest: &ShellQuest, id: u32, files: &[(&str, &[u8])]) -> String {
    let dir = format!("--worktree=work{id}");
    let worker = format!("--worker=ann{id}");
    quest.place.run(["next", &worker, &dir]).ok();
    for (path, contents) in files {
        fs::write(quest.place.at(&format!("work{id}/{path}")), contents).expect("a file");
    }
    submit(quest, id)
}

fn submit(quest: &ShellQuest, id: u32) -> String {
    let dir = format!("--worktree=work{id}");
    let worker = format!("--worker=ann{id}");
    let run = quest.place.run([
        "submit",
        &format!("--id={id}"),
        &worker,
        &dir,
        "--file=in/yes.sh",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("PASS"), "{run:?}");
    run.stderr
}

fn branch(quest: &ShellQuest) -> String {
    let name = git(
        &quest.at(""),
        [
            "for-each-ref",
            "--format=%(refname:short)",
            "refs/heads/comail",
        ],
    );
    assert!(name.starts_with("comail/comail-"), "{name}");
    name
}

/// Checks that a checkout of the branch is the accepted tree, file by file.
fn assert_is_accepted_tree(quest: &ShellQuest) {
    let [ours, theirs] = ["exported", "checked-out"].map(|name| quest.place.at(name));
    let _ = fs::remove_dir_all(&ours);
    let _ = fs::remove_dir_all(&theirs);
    quest.place.run(["tree", "export", "exported"]).ok();
    let tree = quest.at("");
    git(&tree, ["fsck", "--strict"]);
    let place = theirs.display().to_string();
    git(&tree, ["clone", "-q", "-b", &branch(quest), ".", &place]);
    fs::remove_dir_all(theirs.join(".git")).expect("a folder");
    let differing = Command::new("diff").arg("-r").args([ours, theirs]).output();
    let differing = differing.expect("diff starts");
    assert!(differing.status.success(), "{differing:?}");
}

#[test]
fn each_pass_is_a_commit_and_the_users_files_stay_as_they_are() {
    let quest = quest(|place| {
        place.write("tree/own/gone", "soon removed\n");
        commit(place);
        let tree = place.at("tree");
        // Staged, changed, removed and new files, and one that git ignores and the tree has not.
        place.write("tree/own/data", "staged\n");
        git(&tree, ["add", "own/data"]);
        place.write("tree/own/data", "changed\n");
        place.write("tree/own/new", "new\n");
        symlink("data", tree.join("own/link")).expect("a link");
        fs::remove_file(tree.join("own/gone")).expect("a file");
        place.write("tree/.gitignore", "built\n");
        place.write("tree/built", "by a compiler\n");
        fs::set_permissions(tree.join("in/yes.sh"), fs::Permissions::from_mode(0o755))
            .expect("mode");
    });
    let tree = quest.at("");
    let status = || git(&tree, ["status", "--porcelain=v2", "--branch", "-uall"]);
    let (before, diff) = (status(), git(&tree, ["diff", "--cached"]));
    answer(
        &quest,
        1,
        &[("in/one.sh", b"exit 0\n"), ("in/bytes", b"\0\xff")],
    );
    answer(
        &quest,
        2,
        &[("in/two.sh", b"exit 0\n"), ("in/one.sh", b"exit 0 # two\n")],
    );
    assert_eq!((status(), git(&tree, ["diff", "--cached"])), (before, diff));
    assert_is_accepted_tree(&quest);
    let branch = branch(&quest);
    let log = git(
        &tree,
        ["log", "--reverse", "--format=%an|%ae|%cn|%s", &branch],
    );
    let expected = "user|user@host.invalid|user|first
comail|comail@comail.invalid|comail|Tree as scanned
ann1|ann1@comail.invalid|comail|Quest 1, PASS: one
ann2|ann2@comail.invalid|comail|Quest 2, PASS: two";
    assert_eq!(log, expected);
    let trailers = git(&tree, ["log", "-1", "--format=%(trailers)", &branch]);
    let lines = quest.place.lines();
    let attempt = lines
        .iter()
        .rfind(|line| line["type"] == "attempt")
        .expect("an attempt");
    let hash = trailers.rsplit(' ').next().expect("a hash");
    assert_eq!(
        trailers,
        format!(
            "Comail-Quest: 2\nComail-Attempt: 1\nComail-Ledger: {} {hash}",
            attempt["seq"]
        )
    );
    let (_, status) = quest.place.json(["status"]);
    assert_eq!(status["head"], hash);
    let date = git(&tree, ["log", "-1", "--format=%cI", &branch]);
    let at = attempt["at"].as_str().expect("a date");
    assert_eq!(date[..19], at[..19]);
    let (_, shown) = quest.place.json(["tree"]);
    assert_eq!(shown["branch"], json!({"name": branch, "current": true}));
}

#[test]
fn a_clean_tree_needs_no_commit_of_its_own() {
    let quest = quest(commit);
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    let tree = quest.at("");
    let log = git(&tree, ["log", "--format=%s", &branch(&quest)]);
    assert_eq!(log, "Quest 1, PASS: one\nfirst");
    assert_is_accepted_tree(&quest);
    git(&tree, ["merge", "-q", "--ff-only", &branch(&quest)]);
    assert!(tree.join("in/one.sh").exists());
    // The tree as it was before is still there.
    quest.place.run(["tree", "export", "--at=0", "first"]).ok();
    assert!(!quest.place.at("first/in/one.sh").exists());
    quest
        .place
        .run(["tree", "export", "--at=99", "none"])
        .exits(1);
}

#[test]
fn a_branch_that_was_moved_or_lost_is_made_again() {
    let quest = quest(commit);
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    let (tree, name) = (quest.at(""), branch(&quest));
    let first = git(&tree, ["rev-parse", &name]);
    let is_behind = |expected: bool| {
        let (_, reply) = quest.place.json(["tree"]);
        assert_eq!(reply["branch"]["current"], !expected, "{reply:#}");
    };
    let again = || {
        is_behind(true);
        quest.place.run(["tree", "branch"]).ok();
        is_behind(false);
        assert_eq!(git(&tree, ["rev-parse", &name]), first);
    };
    git(&tree, ["branch", "-q", "-f", &name, "main"]);
    again();
    git(&tree, ["branch", "-q", "-D", &name]);
    git(&tree, ["reflog", "expire", "--expire=now", "--all"]);
    git(&tree, ["gc", "-q", "--prune=now"]);
    again();
    // The name leads to another branch, which stays where it is.
    let main = git(&tree, ["rev-parse", "main"]);
    let reference = format!("refs/heads/{name}");
    git(&tree, ["symbolic-ref", &reference, "refs/heads/main"]);
    again();
    assert_eq!(git(&tree, ["rev-parse", "main"]), main);
    // The next PASS does the same, also where the objects of the last one are gone.
    git(&tree, ["branch", "-q", "-D", &name]);
    git(&tree, ["gc", "-q", "--prune=now"]);
    answer(&quest, 2, &[("in/two.sh", b"exit 0\n")]);
    assert_eq!(git(&tree, ["rev-parse", &format!("{name}~1")]), first);
    assert_is_accepted_tree(&quest);
}

#[test]
fn nothing_that_the_repository_names_is_started() {
    let quest = quest(|place| {
        place.write("tree/.gitattributes", "* filter=evil diff=evil\n");
        commit(place);
        let tree = place.at("tree");
        let evil = place.write(
            "evil",
            format!("#!/bin/sh\ntouch {}\n", place.at("started").display()),
        );
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).expect("a mode");
        for name in [
            "reference-transaction",
            "post-index-change",
            "pre-commit",
            "post-commit",
        ] {
            let hooks = tree.join(".git/hooks");
            fs::create_dir_all(&hooks).expect("a folder");
            fs::copy(&evil, hooks.join(name)).expect("a hook");
        }
        let evil = evil.display().to_string();
        for key in [
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "core.editor",
            "gpg.program",
            "filter.evil.clean",
            "filter.evil.process",
            "diff.evil.command",
            "diff.external",
            "core.alternateRefsCommand",
            "alias.update-ref",
        ] {
            git(&tree, ["config", key, &evil]);
        }
        git(&tree, ["config", "commit.gpgSign", "true"]);
    });
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    let mut command = quest.place.command();
    Run::of(
        command
            .env("PATH", PATH)
            .args(["tree", "patch", "all.patch"]),
    )
    .ok();
    quest.place.run(["tree", "branch"]).ok();
    assert!(
        quest
            .at(&format!(".git/refs/heads/{}", name_of(&quest)))
            .exists()
    );
    assert!(!quest.place.at("started").exists());
    // The control: git itself would have.
    git(&quest.at(""), ["update-ref", "refs/heads/other", "main"]);
    assert!(quest.place.at("started").exists());
}

fn name_of(quest: &ShellQuest) -> String {
    let (_, reply) = quest.place.json(["tree"]);
    reply["branch"]["name"].as_str().expect("a name").to_owned()
}

#[test]
fn if_git_fails_the_pass_stands_and_the_status_says_so() {
    let quest = quest(commit);
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    let tree = quest.at("");
    let away = quest.place.at("away");
    fs::rename(tree.join(".git"), &away).expect("a folder");
    let said = answer(&quest, 2, &[("in/two.sh", b"exit 0\n")]);
    assert!(
        said.contains("`comail tree branch` makes the branch again"),
        "{said}"
    );
    let status = quest.place.run(["status"]).ok();
    assert!(status.contains("lacks accepted answers"), "{status}");
    // Git would write to wherever a link leads.
    symlink(&away, tree.join(".git")).expect("a link");
    let run = quest.place.run(["tree", "branch"]);
    assert!(run.stderr.contains("is a link"), "{run:?}");
    fs::remove_file(tree.join(".git")).expect("a link");
    fs::rename(&away, tree.join(".git")).expect("a folder");
    // A branch that somebody works on stays as it is.
    let name = branch(&quest);
    git(&tree, ["checkout", "-q", &name]);
    let run = quest.place.run(["tree", "branch"]);
    assert!(run.stderr.contains("checked out in"), "{run:?}");
    // Git does not list a branch that is checked out, and not there.
    let reference = format!("refs/heads/{name}");
    git(&tree, ["update-ref", "-d", "--no-deref", &reference]);
    let run = quest.place.run(["tree", "branch"]);
    assert!(run.stderr.contains("checked out in"), "{run:?}");
    git(&tree, ["symbolic-ref", "HEAD", "refs/heads/main"]);
    // A git died while it had the branch, and a pipe is where git reads.
    let lock = tree.join(format!(".git/{reference}.lock"));
    let pipe = tree.join(".git/objects/info/alternates");
    fs::create_dir_all(lock.parent().expect("a folder")).expect("a folder");
    fs::write(&lock, "").expect("a file");
    let run = quest.place.run(["tree", "branch"]);
    let path = lock.canonicalize().expect("a path").display().to_string();
    assert!(run.stderr.contains(&path), "{run:?}");
    assert!(run.stderr.contains("remove this file"), "{run:?}");
    fs::remove_file(&lock).expect("a file");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo starts").success());
    let run = quest.place.run(["tree", "branch"]);
    assert!(run.stderr.contains("alternates is not a file"), "{run:?}");
    fs::remove_file(&pipe).expect("a pipe");
    git(&tree, ["reset", "-q", "--hard"]);
    quest.place.run(["tree", "branch"]).ok();
    assert!(!quest.place.run(["status"]).ok().contains("lacks accepted"));
    assert_is_accepted_tree(&quest);
    quest.place.run(["audit"]).ok();
}

/// Git keeps an object that is there already. Here it has the name of what will be accepted, and other
/// contents.
#[test]
fn an_object_that_was_planted_is_not_committed() {
    let quest = quest(commit);
    let other = quest.place.at("other");
    fs::create_dir(&other).expect("a folder");
    git(&other, ["init", "-q"]);
    fs::write(other.join("honest"), "honest\n").expect("a file");
    fs::write(other.join("planted"), "planted\n").expect("a file");
    let name = git(&other, ["hash-object", "honest"]);
    let planted = git(&other, ["hash-object", "-w", "planted"]);
    let place = |name: &str| format!(".git/objects/{}/{}", &name[..2], &name[2..]);
    let object = quest.at(&place(&name));
    fs::create_dir_all(object.parent().expect("a folder")).expect("a folder");
    fs::copy(other.join(place(&planted)), &object).expect("an object");
    let said = answer(&quest, 1, &[("in/new", b"honest\n")]);
    assert!(
        said.contains(&name) && said.contains("do not match its name"),
        "{said}"
    );
    fs::remove_file(&object).expect("an object");
    quest.place.run(["tree", "branch"]).ok();
    assert_is_accepted_tree(&quest);
}

/// The branch has the files as they were judged, whatever git was told to assume about them.
#[test]
fn files_that_git_does_not_compare_are_on_the_branch_as_they_were_judged() {
    let quest = quest(|place| {
        for name in ["assumed", "skipped", "sparse"] {
            place.write(&format!("tree/own/{name}"), "committed\n");
        }
        commit(place);
        let tree = place.at("tree");
        git(&tree, ["update-index", "--assume-unchanged", "own/assumed"]);
        for name in ["own/skipped", "own/sparse"] {
            git(&tree, ["update-index", "--skip-worktree", name]);
        }
        for name in ["assumed", "skipped"] {
            place.write(&format!("tree/own/{name}"), "judged\n");
        }
        fs::remove_file(tree.join("own/sparse")).expect("a file");
    });
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    let (tree, name) = (quest.at(""), branch(&quest));
    let on_branch = |path: &str| git(&tree, ["show", &format!("{name}:own/{path}")]);
    assert_eq!(on_branch("assumed"), "judged");
    assert_eq!(on_branch("skipped"), "judged");
    // A file that a person removed from the working tree stays in git.
    assert_eq!(on_branch("sparse"), "committed");
}

#[test]
fn a_repository_in_the_tree_is_told_and_stays_as_it_is_on_the_branch() {
    let made = |place: &Place| {
        for name in ["tree/in/module", "tree/in/nested"] {
            let inner = place.at(name);
            fs::create_dir(&inner).expect("a folder");
            place.write(&format!("{name}/a.sh"), "exit 0\n");
            git(&inner, ["init", "-q", "-b", "main"]);
            git(&inner, ["add", "."]);
            git(&inner, ["commit", "-q", "-m", "inner"]);
        }
        let tree = place.at("tree");
        git(&tree, ["init", "-q", "-b", "main"]);
        git(&tree, ["add", "in/module", "in/yes.sh", "in/no.sh", "own"]);
        git(&tree, ["commit", "-q", "-m", "first"]);
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        place.write(
            "quest.toml",
            file.replace("[tree]\n", "[tree]\nworktrees = true\n"),
        );
    };
    let (quest, run) = ShellQuest::scan("10s", made);
    run.says("repositories of their own");
    run.says("writes: in/module, in/nested");
    run.ok();
    answer(
        &quest,
        1,
        &[
            ("in/one.sh", b"exit 0\n"),
            ("in/module/a.sh", b"exit 0 # one\n"),
            ("in/nested/a.sh", b"exit 0 # one\n"),
        ],
    );
    let (tree, name) = (quest.at(""), branch(&quest));
    let changed = ["diff", "--name-only", "main", &name];
    assert_eq!(git(&tree, changed), "in/one.sh");
    let (_, reply) = quest.place.json(["tree"]);
    assert!(reply.to_string().contains("in/module/a.sh"), "{reply:#}");
}

/// Git takes no file whose name means `.git` on another system.
#[test]
fn a_file_that_git_refuses_is_no_part_of_the_tree() {
    let quest = quest(commit);
    let said = answer(
        &quest,
        1,
        &[("in/git~1", b"text\n"), ("in/one.sh", b"exit 0\n")],
    );
    assert!(!said.contains("not on the branch"), "{said}");
    let (_, tree) = quest.place.json(["tree"]);
    assert!(!tree.to_string().contains("git~1"), "{tree:#}");
    let files = git(
        &quest.at(""),
        ["ls-tree", "-r", "--name-only", &branch(&quest)],
    );
    assert!(
        files.contains("one.sh") && !files.contains("git~1"),
        "{files}"
    );
}

#[test]
fn a_tree_without_a_repository_has_no_branch_and_no_error() {
    let quest = quest(|_| {});
    let said = answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    assert!(!said.contains("branch"), "{said}");
    let (_, reply) = quest.place.json(["tree"]);
    assert!(reply.get("branch").is_none(), "{reply:#}");
    let run = quest.place.run(["tree", "branch"]);
    assert!(run.stderr.contains("comail tree patch FILE"), "{run:?}");
    run.exits(2);
}

#[test]
fn a_tree_below_a_repository_keeps_what_is_beside_it() {
    let quest = quest(|place| {
        place.write("beside", "1\n");
        let top = place.path();
        git(top, ["init", "-q", "-b", "main"]);
        git(top, ["add", "beside", "tree/own"]);
        git(top, ["commit", "-q", "-m", "first"]);
        let monitor = place.write("monitor", "#!/bin/sh\ntouch \"$0.started\"\n");
        fs::set_permissions(&monitor, fs::Permissions::from_mode(0o755)).expect("a mode");
        let monitor = monitor.display().to_string();
        git(top, ["config", "core.fsmonitor", &monitor]);
    });
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    assert!(!quest.place.at("monitor.started").exists());
    // The control: git itself starts what the configuration names.
    git(quest.place.path(), ["status", "--short"]);
    assert!(quest.place.at("monitor.started").exists());
    let name = name_of(&quest);
    let listed = git(quest.place.path(), ["ls-tree", "-r", "--name-only", &name]);
    assert_eq!(
        listed,
        "beside\ntree/in/no.sh\ntree/in/one.sh\ntree/in/yes.sh\ntree/own/data"
    );
}

#[test]
fn the_tree_may_be_a_linked_worktree_of_a_repository_with_other_names() {
    let quest = quest(|place| {
        let repository = place.at("repository");
        fs::rename(place.at("tree"), &repository).expect("a folder");
        git(
            &repository,
            ["init", "-q", "-b", "main", "--object-format=sha256"],
        );
        git(&repository, ["add", "."]);
        git(&repository, ["commit", "-q", "-m", "first"]);
        git(
            &repository,
            ["worktree", "add", "-q", "-b", "other", "../tree"],
        );
        let excluded = repository.join(".git/info/exclude");
        fs::write(excluded, "local\n").expect("a file");
        place.write("tree/own/local", "ignored by git alone\n");
        place.write("tree/own/data", "changed\n");
    });
    answer(&quest, 1, &[("in/one.sh", b"exit 0\n")]);
    let repository = quest.place.at("repository");
    let name = name_of(&quest);
    let changed = ["log", "--format=%s", "--name-status", &name];
    assert_eq!(
        git(&repository, changed),
        "Quest 1, PASS: one\n\nA\tin/one.sh\nTree as scanned\n\nM\town/data\nfirst\n\n\
         A\tin/no.sh\nA\tin/yes.sh\nA\town/data"
    );
}

#[test]
fn the_patch_is_applied_by_git_and_by_patch() {
    let quest = quest(|_| {});
    let binary: &[u8] = b"\0\x01\xff";
    answer(
        &quest,
        1,
        &[("in/one.sh", b"exit 0\n"), ("in/yes.sh", b"exit 0 # new\n")],
    );
    quest
        .place
        .run(["next", "--worker=ann2", "--worktree=work2"])
        .ok();
    let work = quest.place.at("work2/in");
    fs::remove_file(work.join("no.sh")).expect("a file");
    fs::set_permissions(work.join("one.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::write(work.join("with space \u{e9}"), "no newline").expect("a file");
    submit(&quest, 2);
    let patch = |name: &str| {
        let mut command = quest.place.command();
        let run = Run::of(command.env("PATH", PATH).args(["tree", "patch", name]));
        run.ok();
        quest.place.at(name).display().to_string()
    };
    let applied_by = |program: &str, args: &[&str], file: &str| {
        let dir = quest.place.at("applied");
        let _ = fs::remove_dir_all(&dir);
        let copied = Command::new("cp")
            .arg("-r")
            .args([quest.at(""), dir.clone()])
            .status();
        assert!(copied.expect("cp starts").success());
        let ran = Command::new(program)
            .current_dir(&dir)
            .args(args)
            .arg(file)
            .output();
        let ran = ran.expect("it starts");
        assert!(ran.status.success(), "{ran:?}");
        let out = quest.place.at("exported");
        let _ = fs::remove_dir_all(&out);
        quest.place.run(["tree", "export", "exported"]).ok();
        let same = Command::new("diff")
            .arg("-r")
            .args([&dir, &out])
            .output()
            .expect("diff");
        assert!(same.status.success(), "{same:?}");
        let mode = fs::metadata(dir.join("in/one.sh"))
            .expect("a file")
            .permissions();
        assert_eq!(mode.mode() & 0o111, 0o111);
    };
    let text = patch("text.patch");
    applied_by("git", &["apply"], &text);
    applied_by("patch", &["-s", "-p1", "-i"], &text);
    answer(&quest, 3, &[("in/bytes", binary)]);
    applied_by("git", &["apply"], &patch("binary.patch"));
    // A file is replaced only if that was asked for, and without git the error says what else helps.
    let run = quest.place.run(["tree", "patch", "text.patch"]);
    assert!(run.stderr.contains("comail tree export DIR"), "{run:?}");
    let mut command = quest.place.command();
    let run = Run::of(
        command
            .env("PATH", PATH)
            .args(["tree", "patch", "text.patch"]),
    );
    assert!(run.stderr.contains("exists already"), "{run:?}");
}

#[test]
fn attributes_in_the_work_do_not_change_the_patch() {
    let quest = quest(|place| {
        commit(place);
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        let zone = "write = [\"in/**\"";
        assert!(file.contains(zone), "{file}");
        place.write(
            "quest.toml",
            file.replace(zone, &format!("{zone}, \"in/.gitattributes\"")),
        );
    });
    let files: &[(&str, &[u8])] = &[
        ("in/.gitattributes", b"*.sh -diff\n"),
        ("in/one.sh", b"exit 0 # new\n"),
    ];
    answer(&quest, 1, files);
    let mut command = quest.place.command();
    Run::of(
        command
            .env("PATH", PATH)
            .args(["tree", "patch", "all.patch"]),
    )
    .ok();
    let patch = fs::read_to_string(quest.place.at("all.patch")).expect("a patch");
    assert!(patch.contains("\n+exit 0 # new\n"), "{patch}");
}

#[test]
fn a_run_ends_with_the_name_of_the_branch() {
    let quest = quest(commit);
    quest.place.write(
        "agent.sh",
        "touch in/done\necho '{\"file\": \"in/yes.sh\"}'\n",
    );
    let agent = quest.place.at("agent.sh").display().to_string();
    let mut command = quest.place.command();
    command.current_dir(quest.at("")).env("PATH", PATH);
    let run = Run::of(command.args(["run", "--answer=stdout", "--", "sh", &agent]));
    let name = branch(&quest);
    assert!(
        run.stderr.contains(&format!("`git merge {name}`")),
        "{run:?}"
    );
    let authors = git(&quest.at(""), ["log", "-1", "--format=%an <%ae>", &name]);
    assert_eq!(authors, "sh <sh@comail.invalid>");
}
