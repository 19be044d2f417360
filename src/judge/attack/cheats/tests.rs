use super::*;

const TEXT: &str = r#"
name = "tests"
unit = "function"
[input]
key = ["function"]
anchor = ["file", "first", "last"]
[tree]
write = ["tests/**"]
[prompt]
text = "{{ key }}"
[[field]]
name = "summary"
kind = "text"
[[field]]
name = "count"
kind = "integer"
required = false
[[field]]
name = "free"
kind = "text"
unchecked = true
[[check]]
name = "passes"
kind = "command"
argv = ["pytest"]
reports = ["junit.xml", "lines.lcov"]
[[check]]
name = "covers"
kind = "coverage"
report = "lines.lcov"
file = "{{ input.file }}"
first = "{{ input.first }}"
last = "{{ input.last }}"
[[control]]
name = "right"
key = "double"
input = { file = "src/a.py", first = "1", last = "2" }
submit = { summary = "doubles a number", count = "1", free = "x" }
writes = "right"
verdict = "PASS"
[[control]]
name = "of another row"
key = "half"
submit = { summary = "halves it", count = "1", free = "y" }
verdict = "FAIL"
[[control]]
name = "of the same row"
key = "double"
input = { file = "src/a.py", first = "1", last = "2" }
submit = { summary = "does nothing", count = "3", free = "z" }
verdict = "FAIL"
"#;

const WORK: &str = "def test_double():\n    assert double(1) == 2\n";

/// What a kind of cheat changes: fields or files, with their new texts.
fn made(kind: CheatKind, text: &str, work: &str) -> Vec<(String, Option<String>)> {
    let file = QuestFile::parse(text).unwrap();
    let path = |text: &str| TreePath::parse(text).unwrap();
    let target = Target {
        file: &file,
        control: &file.controls[0].table,
        work: once((path("tests/test_a.py"), work.to_owned())).collect(),
        writable: vec![path("tests/run.sh"), path("tests/notes.md")],
        protected: vec![path("conftest.py")],
        sources: once((path("src/a.py"), "x\n".to_owned())).collect(),
    };
    let cheats = cheats(&target)
        .into_iter()
        .filter(|cheat| cheat.kind == kind);
    let changes = cheats.flat_map(|cheat| {
        let fields = cheat.control.submit.into_iter();
        let fields = fields.filter(|(name, text)| target.control.submit[name] != *text);
        let fields = fields.map(|(name, text)| (name, Some(text)));
        let files = cheat
            .edits
            .into_iter()
            .map(|(path, text)| (path.to_string(), text));
        let undone = cheat
            .control
            .writes
            .is_none()
            .then(|| ("the work".to_owned(), None));
        fields.chain(files).chain(undone).collect_vec()
    });
    changes.collect()
}

fn of(kind: CheatKind) -> Vec<(String, Option<String>)> {
    made(kind, TEXT, WORK)
}

#[track_caller]
fn changes(kind: CheatKind, expected: &[(&str, Option<&str>)]) {
    let made = of(kind);
    let made = made
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_deref()));
    assert_eq!(made.collect_vec(), expected, "{kind:?}");
}

#[test]
fn fields_that_no_check_sees_are_left_alone() {
    changes(
        CheatKind::BlankField,
        &[
            ("summary", Some("")),
            ("summary", Some("n/a")),
            ("count", Some("n/a")),
        ],
    );
    // The digits of a number have no script.
    let scripts = of(CheatKind::OtherScript);
    assert_eq!(scripts.len(), 1, "{scripts:?}");
    let text = scripts[0].1.as_deref().unwrap();
    assert!(
        !text.contains(|c: char| c.is_ascii_alphabetic()) && text.contains(' '),
        "{text}"
    );
    let huge = of(CheatKind::HugeValue);
    assert_eq!(
        huge.iter().map(|it| it.0.as_str()).collect_vec(),
        ["summary", "count"]
    );
}

#[test]
fn fields_are_swapped_only_with_other_values_of_other_rows() {
    changes(CheatKind::SwappedField, &[("summary", Some("halves it"))]);
}

#[test]
fn work_is_missing_or_says_only_what_is_expected() {
    changes(
        CheatKind::DeletedFile,
        &[("tests/test_a.py", None), ("the work", None)],
    );
    let expected = "double\nsrc/a.py\n1\n2\n1\nx\ndoubles a number\n";
    changes(
        CheatKind::ExpectedValue,
        &[("tests/test_a.py", Some(expected))],
    );
}

#[test]
fn programs_exit_and_write_the_reports_that_are_read() {
    let exit = "import os\nos._exit(0)\n";
    changes(CheatKind::ExitZero, &[("tests/test_a.py", Some(exit))]);
    changes(
        CheatKind::EditedTests,
        &[
            ("tests/run.sh", Some("exit 0\n")),
            ("the work", None),
            ("conftest.py", Some(exit)),
            ("the work", None),
        ],
    );
    let forged = of(CheatKind::ForgedReport);
    let text = forged[0].1.as_deref().unwrap();
    for part in [
        "<testcase",
        "SF:src/a.py\\nDA:1,1\\nDA:2,1\\nend_of_record",
        exit,
    ] {
        let part = part.trim_start_matches("import os\n");
        assert!(text.contains(part), "{part}: {text}");
    }
    let unread = TEXT.replace("reports = [\"junit.xml\", \"lines.lcov\"]", "");
    assert_eq!(made(CheatKind::ForgedReport, &unread, WORK), []);
}

#[test]
fn tests_lose_their_assertions_and_compare_the_source() {
    let weak = WORK.replace("assert", "_ =");
    changes(
        CheatKind::WeakAssertions,
        &[("tests/test_a.py", Some(&weak))],
    );
    let hashed = of(CheatKind::HashedSource);
    let text = hashed[0].1.as_deref().unwrap();
    let digest = crate::base::Digest::of(b"x\n").to_string();
    assert!(text.starts_with(&weak) && text.contains(&digest), "{text}");
    assert_eq!(made(CheatKind::WeakAssertions, TEXT, "print()\n"), []);
}

#[test]
fn a_symbol_of_the_list_is_renamed_where_it_is_called() {
    let renamed = "def test_double():\n    assert renamed(1) == 2\n";
    changes(
        CheatKind::RenamedSymbol,
        &[("tests/test_a.py", Some(renamed))],
    );
    assert_eq!(
        made(CheatKind::RenamedSymbol, TEXT, "# to double a number\n"),
        []
    );
}
