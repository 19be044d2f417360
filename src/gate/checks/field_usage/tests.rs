//! A field that nothing uses is reported.

use crate::gate::checks::tests::mistake_in;
use crate::quest::file::Mistake;

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

fn mistake(text: &str) -> Option<Mistake> {
    mistake_in(text, "print()")
}

fn file(tree: &str, check: &str) -> String {
    format!("{HEAD}{tree}{FORM}[[check]]\nname = \"it\"\n{check}")
}

#[track_caller]
fn is_gate(text: &str) {
    assert_eq!(mistake(text), None, "{text}");
}

const SCRIPT: &str = "kind = \"script\"\nscript = \"judge.py\"\ninterpreter = [\"sh\"]\n";

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
        &format!("{FACT}[[check]]\nname = \"its\"\n{SCRIPT}"),
    );
    for script in ["submission['value']", "print()"] {
        let wrong = mistake_in(&text, script).unwrap();
        assert!(wrong.what.contains("`remark`"), "{wrong}");
    }
    for script in ["submission['remark']", "sorted(submission)"] {
        assert_eq!(mistake_in(&text, script), None, "{script}");
    }
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
            .contains("no check uses the field `summary`")
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
