//! Answers that are votes, and everything that is none.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::quest::ReviewInput;

fn question(id: &str) -> QuestionTable {
    QuestionTable {
        id: id.to_owned(),
        ask: String::from("Is it so?"),
        checked: None,
    }
}

fn read_of(text: &str, form: AnswerForm) -> ReviewerAnswer {
    let shown = ShownInputs::new(vec![(
        ReviewInput::Key,
        String::from("It was founded in Seoul in 1998."),
    )]);
    read(text, form, &[question("one"), question("two")], &shown)
}

fn letters(text: &str, form: AnswerForm) -> String {
    let letter = |on: &VoteOn| match on.vote {
        Vote::Doubt(_) => 'd',
        Vote::Unsure(_) => 'u',
        Vote::Faint(_) => 'f',
        Vote::Cleared(_) => 'c',
        Vote::Error(_) => 'e',
    };
    read_of(text, form).votes.iter().map(letter).collect()
}

const CLEAR: &str = r#"{"question":"two","doubt":false,"checked":"both sentences"}"#;

fn with_clear(first: &str) -> String {
    format!(r#"{{"answers":[{first},{CLEAR}]}}"#)
}

#[test]
fn each_question_has_its_vote() {
    for (first, votes) in [
        (
            r#"{"question":"one","doubt":true,"quotation":"in Seoul in 1998"}"#,
            "dc",
        ),
        (
            r#"{"question":"one","doubt":false,"checked":"the year"}"#,
            "cc",
        ),
        (r#"{"question":"one","doubt":false}"#, "ec"),
        (r#"{"question":"one","doubt":false,"checked":" "}"#, "ec"),
        (r#"{"question":"one","doubt":true}"#, "ec"),
        (
            r#"{"question":"one","doubt":true,"quotation":"in Seoul in 1999"}"#,
            "ec",
        ),
        (
            r#"{"question":"one","doubt":true,"quotation":"Seoul"}"#,
            "ec",
        ),
        (
            r#"{"question":"three","doubt":false,"checked":"the year"}"#,
            "ec",
        ),
        (CLEAR, "ee"),
        (
            r#"{"question":"one","doubt":true,"quotation":"in Seoul in 1998","line":1}"#,
            "ec",
        ),
    ] {
        assert_eq!(
            letters(&with_clear(first), AnswerForm::Questions),
            votes,
            "{first}"
        );
    }
    let stray = with_clear(r#"{"question":"three","doubt":false,"checked":"x"}"#);
    let reading = read_of(&stray, AnswerForm::Questions);
    assert_eq!(reading.strays, [r#"nobody asked "three""#]);
}

#[test]
fn what_is_not_json_and_nothing_else_is_no_answer() {
    let right = with_clear(r#"{"question":"one","doubt":false,"checked":"the year"}"#);
    assert_eq!(letters(&format!(" {right}\n"), AnswerForm::Questions), "cc");
    for text in [
        String::new(),
        format!("Sure! {right}"),
        format!("{right} I hope that helps."),
        format!("```json\n{right}\n```"),
        format!("{right}{right}"),
        right.replacen("doubt", "doubts", 1),
        right.replacen("false", "\"false\"", 1),
        right.replacen("\"doubt\":false", "\"doubt\":false,\"doubt\":false", 1),
        right.replacen("\"question\"", "\"because\":\"x\",\"question\"", 1),
        String::from("[]"),
        String::from("{}"),
        String::from("null"),
    ] {
        assert_eq!(letters(&text, AnswerForm::Questions), "ee", "{text}");
    }
}

#[test]
fn a_finding_weighs_what_its_reviewer_is_sure_of() {
    let finding = |sure: i64| {
        let one = json!({"question": "one", "doubt": true, "quotation": "in Seoul in 1998",
                         "file": "a.py", "line": 3, "confidence": sure});
        letters(&with_clear(&one.to_string()), AnswerForm::Findings)
    };
    for (sure, votes) in [
        (100, "dc"),
        (81, "dc"),
        (80, "uc"),
        (50, "uc"),
        (49, "fc"),
        (0, "fc"),
    ] {
        assert_eq!(finding(sure), votes, "{sure}");
    }
    assert_eq!(finding(101), "ec");
    assert_eq!(finding(-1), "ee");
    let bare = r#"{"question":"one","doubt":true,"quotation":"in Seoul in 1998"}"#;
    assert_eq!(letters(&with_clear(bare), AnswerForm::Findings), "ec");
}

#[test]
fn of_several_findings_the_gravest_counts() {
    let finding = |quotation: &str, sure: u8| {
        json!({"question": "one", "doubt": true, "quotation": quotation, "file": "a.py",
               "line": 3, "confidence": sure})
        .to_string()
    };
    let (sure, unsure) = (finding("in Seoul in 1998", 90), finding("was founded", 60));
    let made_up = finding("on the planet Mars", 99);
    for (first, votes) in [
        (format!("{unsure},{sure}"), "dc"),
        (format!("{unsure},{made_up}"), "ec"),
        (format!("{made_up},{sure}"), "dc"),
    ] {
        assert_eq!(
            letters(&with_clear(&first), AnswerForm::Findings),
            votes,
            "{first}"
        );
    }
    let cleared = r#"{"question":"one","doubt":false,"checked":"all"}"#;
    let both = with_clear(&format!("{sure},{cleared}"));
    assert_eq!(letters(&both, AnswerForm::Findings), "ec");
}

proptest! {
    #[test]
    fn no_text_is_more_than_it_says(text in "\\PC{0,80}") {
        prop_assert_eq!(letters(&text, AnswerForm::Questions), "ee");
    }

    #[test]
    fn a_cut_answer_never_clears(cut in 0_usize..200) {
        let whole = with_clear(r#"{"question":"one","doubt":false,"checked":"the year"}"#);
        prop_assume!(cut < whole.len());
        prop_assert_eq!(letters(&whole[..cut], AnswerForm::Questions), "ee");
    }
}

#[test]
fn what_an_answer_took_is_told_beside_it_and_changes_no_vote() {
    let one = r#"{"question":"one","doubt":false,"checked":"the year"}"#;
    let with = |usage: &str| {
        let text = format!(r#"{{"answers":[{one},{CLEAR}],"usage":{usage}}}"#);
        read_of(&text, AnswerForm::Questions)
    };
    let told = with(r#"{"input_tokens":7,"output_tokens":2,"cost":0.25}"#);
    assert_eq!(
        (told.usage.input_tokens, told.usage.output_tokens),
        (Some(7), Some(2))
    );
    assert_eq!(told.usage.cost, crate::world::sandbox::Cost::of(0.25));
    let untold = with("\"much\"");
    assert_eq!(untold.usage, Usage::default());
    assert_eq!(untold.votes, told.votes);
    assert!(
        told.votes
            .iter()
            .all(|on| matches!(on.vote, Vote::Cleared(_)))
    );
}

#[test]
fn an_array_in_place_of_an_object_is_no_answer() {
    let one = r#"["one",false,null,"the year",null,null,null]"#;
    let two = r#"["two",false,null,"the year",null,null,null]"#;
    let object = r#"{"question":"one","doubt":false,"checked":"the year"}"#;
    for text in [
        format!(r#"{{"answers":[{one},{two}]}}"#),
        format!("[[{object},{CLEAR}],null]"),
        format!(r#"[[{one},{two}],{{"cost":1}}]"#),
    ] {
        assert_eq!(letters(&text, AnswerForm::Questions), "ee", "{text}");
    }
    assert_eq!(letters(&with_clear(object), AnswerForm::Questions), "cc");
}

fn of(texts: &[&str]) -> ShownInputs {
    let inputs = texts
        .iter()
        .map(|text| (ReviewInput::Key, (*text).to_owned()));
    ShownInputs::new(inputs.collect())
}

#[test]
fn a_quotation_is_literal_and_says_something() {
    let shown = of(&["It was founded\n  in 1998, in Seoul.", "1998"]);
    assert_eq!(shown.holds("founded in 1998"), Ok(()));
    assert_eq!(shown.holds("founded\u{200b} in １９９８"), Ok(()));
    assert_eq!(shown.holds("1998"), Ok(()));
    for bad in [
        "",
        " ",
        "in",
        "1998, i",
        "founded in 1999",
        "Founded in 1998",
    ] {
        assert!(shown.holds(bad).is_err(), "{bad}");
    }
    // No quotation reaches from one input into the next.
    assert!(shown.holds("in Seoul. 1998").is_err());
}

proptest! {
    #[test]
    fn every_long_part_of_an_input_stands_in_it(
        text in "[a-zé ]{20,60}",
        start in 0_usize..8,
        length in 17_usize..40,
    ) {
        let part: String = text.chars().skip(start).take(length).collect();
        let visible = part.chars().filter(|c| !c.is_whitespace()).count();
        prop_assume!(visible >= MIN_QUOTED);
        prop_assert_eq!(of(&[&text]).holds(&part), Ok(()));
        prop_assert!(of(&["nothing of it"]).holds(&part).is_err());
    }
}
