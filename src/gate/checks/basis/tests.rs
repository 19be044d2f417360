//! What says the same of every submission shows nothing, and what nobody reads is told.

use std::path::PathBuf;

use super::*;
use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::world::sandbox::Pinned;

const HEAD: &str = r#"
name = "claims"
unit = "claim"
[input]
anchor = ["cell"]
[prompt]
text = "{{ key }}"
[[service]]
name = "api"
argv = ["sh"]
[[field]]
name = "value"
kind = "text"
"#;
const TREE: &str = "[tree]\nwrite = [\"out/**\"]\n";
const FORM: &str =
    "[[check]]\nname = \"form\"\nkind = \"matches\"\nfield = \"value\"\npattern = 'x'\n";
const FACT: &str = "kind = \"contains\"\nfield = \"value\"\nurl = \"https://acme.com/\"\n";

fn outside(script: &str) -> Gathered {
    let path = PathBuf::from("/usr/bin/sh");
    let sha256 = Digest::of(b"sh");
    let pinned = Pinned {
        target: path.clone(),
        path,
        sha256,
    };
    Gathered {
        assets: [("judge.py".to_owned(), script.to_owned())].into(),
        programs: [("sh".to_owned(), pinned)].into(),
        ..Gathered::default()
    }
}

/// The mistake of a file with a script of this text.
fn mistake_with(text: &str, script: &str) -> Option<Mistake> {
    let file = QuestFile::parse(text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    FileGate::new(&file, &outside(script), FileSettings::default()).err()
}

fn mistake(text: &str) -> Option<Mistake> {
    mistake_with(text, "print()")
}

/// A file with a check of form and this one.
fn file(tree: &str, check: &str) -> String {
    format!("{HEAD}{tree}{FORM}[[check]]\nname = \"it\"\n{check}")
}

#[track_caller]
fn is_refused(text: &str) {
    let wrong = mistake(text).unwrap_or_else(|| panic!("a gate:\n{text}"));
    let check = text.find("name = \"it\"").unwrap();
    let line = text[..check].matches('\n').count() + 2;
    assert!(
        wrong.what.contains("the same of every submission"),
        "{wrong}"
    );
    assert_eq!((wrong.line, wrong.column), (line, 8), "{text}");
}

#[track_caller]
fn is_gate(text: &str) {
    assert_eq!(mistake(text), None, "{text}");
}

/// Checks that go by nothing that is submitted.
const CONSTANT: &[&str] = &[
    "kind = \"contains\"\ntext = \"Acme\"\nurl = \"https://acme.com/\"\n",
    "kind = \"contains\"\ntext = \"{{ input.cell }}\"\nurl = \"https://acme.com/{{ key }}\"\n",
    "kind = \"http\"\nurl = \"https://acme.com/\"\n",
    "kind = \"command\"\nargv = [\"sh\", \"-c\", \"true # value\"]\nstdin = \"{{ input.cell }}\"\n",
    "kind = \"script\"\nscript = \"judge.py\"\ninterpreter = [\"sh\"]\n",
    "kind = \"http\"\nservice = \"api\"\nmethod = \"GET\"\npath = \"/{{ key }}\"\n",
];

#[test]
fn a_fact_of_nothing_that_is_submitted_is_refused() {
    for check in CONSTANT {
        is_refused(&file("", check));
        is_refused(&file("[tree]\nroot = \".\"\n", check));
        is_refused(&file(
            "",
            &format!("{check}[[check]]\nname = \"real\"\n{FACT}"),
        ));
        is_refused(&format!("open = true\n{}", file("", check)));
    }
    let review = format!("{}level = \"review\"\n", CONSTANT[0]);
    is_refused(&file("", &review));
}

#[test]
fn it_is_none_where_it_names_a_field() {
    for check in [
        FACT,
        "kind = \"contains\"\ntext = \"Acme\"\nurl = \"{{ field.value }}\"\n",
        "kind = \"http\"\nurl = \"https://acme.com/{{ field['value'] }}\"\n",
        "kind = \"command\"\nargv = [\"sh\", \"--\", \"{{ field.value }}\"]\n",
        "kind = \"command\"\nargv = [\"sh\", \"-c\", 'test \"$COMAIL_FIELD_VALUE\"']\n",
        "kind = \"command\"\nargv = [\"sh\"]\nstdin = \"{{ field.value }}\"\n",
        "kind = \"script\"\nscript = \"judge.py\"\ninterpreter = [\"sh\"]\n\
            env = { VALUE = \"{{ field.value }}\" }\n",
        "kind = \"http\"\nservice = \"api\"\nmethod = \"GET\"\npath = \"/{{ field.value }}\"\n",
    ] {
        is_gate(&file("", check));
    }
}

#[test]
fn it_is_none_where_it_looks_at_what_an_agent_may_write() {
    for (at, check) in CONSTANT.iter().enumerate() {
        let text = file(TREE, check);
        if at < 3 {
            is_refused(&text);
        } else {
            is_gate(&text);
        }
    }
    let cites = |path: &str| file(TREE, &format!("kind = \"citation\"\npath = \"{path}\"\n"));
    is_gate(&cites("out/cites.txt"));
    is_gate(&cites("{{ key }}.txt"));
    is_refused(&cites("src/cites.txt"));
    let links = |path: &str| file(TREE, &format!("kind = \"http\"\nlinks_path = \"{path}\"\n"));
    is_gate(&links("out/links.md"));
    is_refused(&links("links.md"));
    let pinned = "kind = \"contains\"\ntext = \"Acme\"\npath = \"out/a.md\"\n";
    is_refused(&file(TREE, pinned));
}

#[test]
fn a_script_goes_by_what_its_text_names() {
    let text = file("", CONSTANT[4]);
    for script in [
        "said = asked['submission']['value']",
        "for name in asked['submission']: judge(name)",
        "os.environ['COMAIL_FIELD_VALUE']",
    ] {
        assert_eq!(mistake_with(&text, script), None, "{script}");
    }
    for script in ["asked['quest']['key']", "values = 1; my_value = 2"] {
        let wrong = mistake_with(&text, script).unwrap();
        assert!(wrong.what.contains("every submission"), "{wrong}");
    }
}

/// A file with another field, of this table, which no check names.
fn with_field(head: &str, more: &str, check: &str) -> String {
    let field = format!("[[field]]\nname = \"remark\"\nkind = \"text\"\n{more}");
    format!("{head}{HEAD}{TREE}{field}[[check]]\nname = \"it\"\n{check}")
}

#[test]
fn a_field_by_which_no_check_goes_is_told() {
    for more in [
        "",
        "required = false\n",
        "unchecked = false\n",
        "pattern = 'x+'\n",
    ] {
        let text = with_field("", more, FACT);
        let wrong = mistake(&text).unwrap_or_else(|| panic!("a gate:\n{text}"));
        let place = text.find("\"remark\"").unwrap();
        let line = text[..place].matches('\n').count() + 1;
        assert_eq!((wrong.line, wrong.column), (line, 8), "{text}");
        for word in ["`remark`", "{{ field.remark }}", "`unchecked = true`"] {
            assert!(wrong.what.contains(word), "{wrong}");
        }
    }
    is_gate(&with_field("", "unchecked = true\n", FACT));
    is_gate(&with_field("open = true\n", "", FACT));
    let form = FORM.replace("\"value\"", "\"remark\"");
    is_gate(&with_field("", "", &format!("{FACT}{form}")));
}

#[test]
fn a_script_that_names_some_fields_reads_no_others() {
    let text = with_field(
        "",
        "",
        &format!("{FACT}[[check]]\nname = \"its\"\n{}", CONSTANT[4]),
    );
    for script in ["submission['value']", "print()"] {
        let wrong = mistake_with(&text, script).unwrap();
        assert!(wrong.what.contains("`remark`"), "{wrong}");
    }
    for script in ["submission['remark']", "sorted(submission)"] {
        assert_eq!(mistake_with(&text, script), None, "{script}");
    }
}

#[test]
fn a_check_of_a_command_goes_by_what_that_goes_by() {
    let command = "kind = \"command\"\nargv = [\"sh\", \"--\", \"{{ field.value }}\"]\n\
        reports = [\"c.lcov\"]\n";
    let coverage = "[[check]]\nname = \"lines\"\nkind = \"coverage\"\nfrom = \"it\"\n\
        report = \"c.lcov\"\nformat = \"lcov\"\nfile = \"{{ input.cell }}\"\n";
    is_gate(&file("", &format!("{command}{coverage}")));
    is_gate(&file(TREE, &format!("{command}{coverage}")));
    let constant = command.replace("{{ field.value }}", "x");
    is_refused(&file("", &format!("{constant}{coverage}")));
    is_gate(&file(TREE, &format!("{constant}{coverage}")));
}

#[test]
fn where_nothing_is_submitted_the_work_is_in_the_world() {
    let check =
        "[[check]]\nname = \"it\"\nkind = \"http\"\nurl = \"{{ input.cell }}\"\nstatus = [200]\n";
    let (head, _) = HEAD.split_once("[[field]]").unwrap();
    assert_eq!(mistake(&format!("{head}{check}")), None);
    let with_a_field = mistake(&format!("{HEAD}{check}")).unwrap();
    assert!(
        with_a_field
            .to_string()
            .contains("the same of every submission")
    );
}

#[test]
fn a_field_that_a_reviewer_sees_is_gone_by() {
    let field = "[[field]]\nname = \"summary\"\nkind = \"text\"\n";
    let (head, rest) = HEAD.split_once("[[field]]").unwrap();
    let checked = file("", FACT);
    let checked = checked.strip_prefix(HEAD).unwrap();
    let bare = format!("{head}{field}[[field]]{rest}{checked}");
    assert!(
        mistake(&bare)
            .unwrap()
            .to_string()
            .contains("no check goes by the field `summary`")
    );
    let reviewer = |name: &str| {
        format!(
            "[[reviewer]]\nname = \"{name}\"\nkind = \"command\"\nmodel = \"{name}\"\nargv = [\"sh\"]\n\
             sees = [\"submission.summary\", \"evidence.value\"]\n"
        )
    };
    let panel = "[[question]]\nid = \"q\"\nask = \"Is it wrong?\"\n[[plant]]\nname = \"p\"\n\
        sees = { \"submission.summary\" = \"x\" }\ndoubts = [\"q\"]\n";
    let with = format!("{bare}{}{}{panel}", reviewer("one"), reviewer("two"));
    assert_eq!(mistake(&with), None);
}
