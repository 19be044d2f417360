//! Which diffs read, and where they apply.

use proptest::prelude::*;

use super::*;

const GIT: &str = "diff --git a/src/a.py b/src/a.py
index 1111111..2222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@
 one
-two
+TWO
+2.5
 three
@@ -10 +11,0 @@ def f():
-ten
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
\\ No newline at end of file
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-x
-y
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
";

fn said(text: &str) -> String {
    Patch::read(text).map(|_| ()).unwrap_err().to_string()
}

fn only(text: &str) -> FilePatch {
    Patch::read(text).expect("a patch").files.remove(0)
}

#[test]
fn reads_and_applies_what_git_writes() {
    let patch = Patch::read(GIT).expect("a patch");
    let files: Vec<_> = patch
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.change))
        .collect();
    assert_eq!(
        files,
        [
            ("src/a.py", Change::Modify),
            ("new.txt", Change::Create),
            ("old.txt", Change::Delete),
            ("empty", Change::Create),
        ]
    );
    let old = "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\nlast";
    let new = patch.files[0]
        .apply(Some(old))
        .expect("it applies")
        .expect("a file");
    assert_eq!(new, "one\nTWO\n2.5\nthree\n4\n5\n6\n7\n8\n9\nlast");
    assert_eq!(patch.files[1].apply(None), Ok(Some("hello".to_owned())));
    assert_eq!(patch.files[2].apply(Some("x\ny\n")), Ok(None));
    assert_eq!(patch.files[3].apply(None), Ok(Some(String::new())));
}

#[test]
fn says_where_it_does_not_apply() {
    let patch = Patch::read(GIT).expect("a patch");
    let why = |file: usize, old| patch.files[file].apply(old).unwrap_err().to_string();
    assert_eq!(
        why(0, Some("one\n  two\nthree\n")),
        "hunk 1 does not fit at line 2: expected \"two\", found \"  two\""
    );
    assert_eq!(
        why(0, Some("one\ntwo\nthree")),
        "hunk 1 does not fit at line 3: expected \"three\", found \"three (without a line end)\""
    );
    assert!(why(0, Some("0\none\ntwo\nthree\n")).contains("at line 1: expected \"one\""));
    assert!(why(0, Some("one\ntwo\nthree\n")).starts_with("hunk 2 does not fit at line 4"));
    assert_eq!(why(0, None), Rejected::Missing.to_string());
    assert_eq!(why(1, Some("")), Rejected::Exists.to_string());
    assert_eq!(
        why(2, Some("x\ny\nz\n")),
        Rejected::Remains { left: 1 }.to_string()
    );
}

#[test]
fn reads_plain_diffs_of_several_files() {
    let patch = Patch::read(
        "--- a.txt\t2025-01-01\n+++ a.txt\t2025-01-02\n@@ -0,0 +1 @@\n+first\n--- b/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-1\r\n+2\r\n",
    )
    .expect("a patch");
    assert_eq!(
        patch.files[0].apply(Some("rest\n")),
        Ok(Some("first\nrest\n".to_owned()))
    );
    assert_eq!(patch.files[1].path, "b/x.txt");
    assert_eq!(
        patch.files[1].apply(Some("1\r\n")),
        Ok(Some("2\r\n".to_owned()))
    );
}

#[test]
fn joins_no_lines() {
    let adding = only("--- a/a\n+++ b/a\n@@ -1,0 +2 @@\n+two\n");
    assert_eq!(
        adding.apply(Some("one\n")),
        Ok(Some("one\ntwo\n".to_owned()))
    );
    assert!(adding.apply(Some("one")).is_err());
    let early = only("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+ONE\n\\ No newline at end of file\n");
    assert_eq!(early.apply(Some("one\n")), Ok(Some("ONE".to_owned())));
    assert!(early.apply(Some("one\ntwo\n")).is_err());
}

#[test]
fn refuses_paths_that_lead_out() {
    let named = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-1\n+2\n");
    for path in [
        "../x",
        "x/../../y",
        "/etc/passwd",
        ".git/config",
        "x/.GIT/hooks",
        ".git./x",
        "a//b",
        "./x",
        "x/",
        "c:/x",
    ] {
        assert!(Patch::read(&named(path)).is_err(), "{path}");
    }
    assert!(
        said("--- \"a/x\\\\y\"\n+++ \"b/x\\\\y\"\n@@ -1 +1 @@\n-1\n+2\n").contains("backslash")
    );
    assert!(Patch::read(&named("src/.gitignore")).is_ok());
    assert!(said("--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-1\n+2\n").contains("is not relative"));
}

#[test]
fn refuses_what_is_no_edit_of_text() {
    let git = |rest: &str| format!("diff --git a/x b/x\n{rest}");
    assert!(
        said(&git("similarity index 100%\nrename from x\nrename to y\n")).contains("not renamed")
    );
    assert!(said("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n").contains("not renamed"));
    assert!(said(&git("old mode 100644\nnew mode 100755\n")).contains("mode is not changed"));
    assert!(
        said(&git(
            "new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n"
        ))
        .contains("links")
    );
    assert!(said(&git("index 1..2\nBinary files a/x and b/x differ\n")).contains("binary"));
    assert_eq!(said("just words\n"), "no patch in it");
    assert_eq!(said(""), "no patch in it");
}

#[test]
fn headers_that_cost_much_are_refused() {
    let spaces = format!("diff --git {}\nnew file mode 100644\n", " ".repeat(1 << 18));
    assert!(said(&spaces).contains("too long"));
}

#[test]
fn no_hunk_is_lost() {
    let junk = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\njunk\n@@ -5 +5 @@\n-5\n+6\n";
    assert!(said(junk).contains("belong to no file"));
    let before = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n";
    assert!(said(before).contains("belong to no file"));
    let twice = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-2\n+3\n";
    assert!(said(twice).contains("twice"));
    assert!(Patch::read("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-1\n+2\n").is_err());
    assert!(Patch::read("--- a/x\n+++ b/x\n@@ -0 +1 @@\n-1\n+2\n").is_err());
    assert!(Patch::read("--- a/x\n+++ b/x\n@@ -18446744073709551615,9 +1 @@\n-1\n").is_err());
}

proptest! {
    #[test]
    fn applies_every_diff_that_it_reads(old in "([ab]\n){0,8}[ab]?", new in "([ab]\n){0,8}[ab]?") {
        let text = diffy::create_patch(&old, &new).to_string();
        let text = text.replacen("--- original", "--- a/x", 1).replacen("+++ modified", "+++ b/x", 1);
        if let Ok(patch) = Patch::read(&text) {
            prop_assert_eq!(patch.files[0].apply(Some(&old)), Ok(Some(new)));
        } else {
            prop_assert_eq!(old, new);
        }
    }

    #[test]
    fn never_panics(
        text in ".{0,200}",
        pieces in "(diff --git a/x b/x\n|--- a/x\n|\\+\\+\\+ b/x\n|@@ -[0-9]{1,2}(,[0-3])? \\+[0-9](,[0-3])? @@\n|[-+ ]a\n|\\\\ No newline at end of file\n|GIT binary patch\n|new file mode 1\n|rename from x\n){0,14}",
        old in "(a\n){0,4}a?",
    ) {
        for text in [text, pieces] {
            if let Ok(patch) = Patch::read(&text) {
                for file in &patch.files {
                    let _ = file.apply(Some(&old));
                    let _ = file.apply(None);
                }
            }
        }
    }
}
