//! Panels that are taken, and every reason for which one is refused.

use super::*;
use crate::base::rows;
use crate::quest::file::{QuestFile, Threshold};

/// A panel of two reviewers for [`QUEST`].
pub(crate) const PANEL: &str = r#"
[panel]
quorum = 2
[[reviewer]]
name = "reader"
kind = "command"
model = "small-1"
argv = ["ask", "-m", "small"]
sees = ["submission.summary", "evidence.source"]
[[reviewer]]
name = "other"
kind = "chat"
model = "large-2"
base_url = "http://127.0.0.1:11434/v1"
sees = ["submission.summary", "input.text"]
[[question]]
id = "faithful"
ask = "Does the summary say what the source does not say?"
[[plant]]
name = "made-up-year"
sees = { "submission.summary" = "It was founded on Mars." }
doubts = ["faithful"]
"#;

/// A quest file that a panel can be added to.
pub(crate) const QUEST: &str = r#"
name = "summaries"
unit = "text"
[input]
key = ["id"]
anchor = ["text"]
[prompt]
text = "{{ key }}"
[[field]]
name = "summary"
kind = "text"
[[field]]
name = "source"
kind = "url"
[[field]]
name = "more"
kind = "url"
required = false
[[check]]
name = "quoted"
kind = "contains"
field = "summary"
url = "{{ field.source }}"
"#;

fn refused(from: &str, to: &str) -> String {
    let text = PANEL.replacen(from, to, 1);
    assert_ne!(text, PANEL, "{from}");
    let whole = format!("{QUEST}{text}");
    QuestFile::parse(&whole).map(drop).unwrap_err().what
}

#[test]
fn reads_a_panel_alone_and_in_a_quest_file() {
    let panel = Panel::parse(PANEL).unwrap();
    assert_eq!(panel.names().collect::<Vec<_>>(), ["reader", "other"]);
    assert_eq!(panel.head.threshold, Threshold::Majority);
    let whole = format!("{QUEST}{PANEL}");
    let file = QuestFile::parse(&whole).unwrap();
    let within = file.panel.unwrap();
    let tables = |panel: &Panel<'_>| -> Vec<_> {
        let reviewers = panel.reviewers.iter();
        reviewers.map(|reviewer| reviewer.table.clone()).collect()
    };
    assert_eq!(tables(&within), tables(&panel));
    assert!(QuestFile::parse(QUEST).unwrap().panel.is_none());
}

#[test]
fn rejects_the_generator_as_a_reviewer() {
    let panel = Panel::parse(PANEL).unwrap();
    assert!(panel.refuse_generator("medium-3").is_ok());
    let wrong = panel.refuse_generator(" maker/Small-1").unwrap_err();
    assert!(wrong.what.contains("no model reviews itself"), "{wrong}");
    assert_eq!((wrong.line, wrong.column), (7, 9));
    let with = |model: &str| {
        let run = format!("[run]\nagents = [{{ agent = \"claude\", model = \"{model}\" }}]\n");
        QuestFile::parse(&format!("{QUEST}{run}{PANEL}")).map(drop)
    };
    assert!(with("medium-3").is_ok());
    let wrong = with("large-2").unwrap_err();
    assert!(wrong.what.contains("no model reviews itself"), "{wrong}");
}

#[test]
fn rejects_revisions_that_use_every_try() {
    let with = |tries: u32, revisions: u32| {
        let quest = QUEST.replacen("unit", &format!("max_tries = {tries}\nunit"), 1);
        let panel = PANEL.replacen("quorum", &format!("revisions = {revisions}\nquorum"), 1);
        QuestFile::parse(&format!("{quest}{panel}")).map(drop)
    };
    assert!(with(3, 2).is_ok());
    let wrong = with(3, 3).unwrap_err();
    assert!(wrong.what.contains("fewer than `max_tries`"), "{wrong}");
}

#[test]
fn rejects_other_tables_in_a_file_of_reviewers() {
    let wrong = Panel::parse(&format!("{PANEL}\n[pannel]\n")).unwrap_err();
    assert!(wrong.what.contains("did you mean `panel`?"), "{wrong}");
    assert!(Panel::parse("").is_err());
}

#[test]
fn reports_each_mistake_with_its_reason() {
    for (from, to, why) in rows! {
        "large-2", "SMALL-1 " => "the same model makes the same mistakes";
        "large-2", " " => "it is blank";
        "evidence.source", "key" => "has not written itself";
        "doubts = [\"faithful\"]", "" => "so it must contain every input";
        "doubts = [\"faithful\"]", "doubts = [\"faithfull\"]" => "did you mean `faithful`?";
        "\"submission.summary\" =", "\"key\" =" => "sees none of it";
        "\"submission.summary\" =", "\"keys\" =" => "expected `key`";
        "input.text", "input.txt" => "did you mean `text`?";
        "input.text", "submission.sumary" => "did you mean `summary`?";
        "input.text", "tree.diff" => "add [tree]";
        "input.text", "file.summary" => "add [tree]";
        "input.text", "transform.quoted" => "there is none";
        "input.text", "evidence.more" => "may be left out";
        "input.text", "page.source" => "expected `key`";
        "input.text", "submission.summary" => "appears twice";
        "quorum = 2", "quorum = 1" => "expected from 2 to 2";
        "quorum = 2", "quorum = 3" => "expected from 2 to 2";
        "name = \"other\"", "name = \"reader\"" => "two reviewers `reader`";
        "name = \"other\"", "name = \"The Other\"" => "kebab-case";
        "argv = [\"ask\", \"-m\", \"small\"]", "" => "say `argv`";
        "base_url", "argv = [\"x\"]\nbase_url" => "means nothing to a reviewer of kind `chat`";
        "large-2", "maker/\u{ff33}mall-1" => "the same model";
        "large-2", "maker/" => "it is blank";
        "Does the summary say what the source does not say?", " " => "ask a question";
        "quorum = 2", "revisions = 11" => "expected at most 10";
        "[panel]", "[panel]\nrevisions = 4294967295" => "expected at most 10";
        "argv = [\"ask\"", "env = { LD_PRELOAD = \"a.so\" }\nargv = [\"ask\"" => "can change which program runs";
        "argv = [\"ask\"", "pass = [\"HOME\", \"BASH_ENV\"]\nargv = [\"ask\"" => "can change which program runs";
        "quorum", "qourum" => "did you mean `quorum`?";
        "model = \"large-2\"", "" => "missing field `model`";
    } {
        let wrong = refused(from, to);
        assert!(wrong.contains(why), "{from} → {to}: {wrong}");
    }
}

#[test]
fn rejects_repeated_questions_and_a_single_reviewer() {
    let twice = format!("{PANEL}[[question]]\nid = \"faithful\"\nask = \"?\"\n");
    let wrong = Panel::parse(&twice).unwrap_err();
    assert_eq!(wrong.what, "there are two questions `faithful`");
    let (head, rest) = PANEL.split_once("[[reviewer]]\nname = \"other\"").unwrap();
    let (_, rest) = rest.split_once("[[question]]").unwrap();
    let alone = format!("{head}[[question]]{rest}");
    let wrong = Panel::parse(&alone).unwrap_err();
    assert!(wrong.what.contains("at least two reviewers"), "{wrong}");
    let (head, _) = PANEL.split_once("[[plant]]").unwrap();
    let wrong = Panel::parse(head).unwrap_err();
    assert!(wrong.what.contains("no [[plant]] with `doubts`"), "{wrong}");
}

#[test]
fn recognises_variables_that_choose_programs() {
    for name in "LD_PRELOAD DYLD_INSERT_LIBRARIES PATH Path ENV IFS".split(' ') {
        assert!(owns_programs(name), "{name}");
    }
    for name in "MODEL_KEY HOME LANG OLD_PATH ENVIRONMENT API_PATH".split(' ') {
        assert!(!owns_programs(name), "{name}");
    }
}
