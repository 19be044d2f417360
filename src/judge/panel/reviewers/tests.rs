//! Prompts, answers that are votes, and everything that is none.

use crate::base::rows;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read_of(text: &str, form: AnswerForm) -> ReviewerAnswer {
    let shown = of(&["It was founded in Seoul in 1998."]);
    let questions = ["one", "two"].map(|id| QuestionTable {
        id: id.to_owned(),
        ask: String::from("Is it so?"),
        checked: None,
    });
    read(text, form, &questions, &shown)
}

fn of(texts: &[&str]) -> ShownInputs {
    let inputs = texts.iter();
    let inputs = inputs.map(|text| (ReviewInput::Key, (*text).to_owned()));
    ShownInputs::new(inputs.collect())
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
const CLEAR_ONE: &str = r#"{"question":"one","doubt":false,"checked":"the year"}"#;

fn with_clear(first: &str) -> String {
    format!(r#"{{"answers":[{first},{CLEAR}]}}"#)
}

#[test]
fn each_question_gets_a_vote() {
    let about_one = |rest: &str| format!(r#"{{"question":"one",{rest}}}"#);
    for (first, votes) in rows! {
        about_one(r#""doubt":true,"quotation":"in Seoul in 1998""#) => "dc";
        CLEAR_ONE.to_owned() => "cc";
        about_one(r#""doubt":false"#) => "ec";
        about_one(r#""doubt":false,"checked":" ""#) => "ec";
        about_one(r#""doubt":true"#) => "ec";
        about_one(r#""doubt":true,"quotation":"in Seoul in 1999""#) => "ec";
        about_one(r#""doubt":true,"quotation":"Seoul""#) => "ec";
        CLEAR_ONE.replace("one", "three") => "ec";
        CLEAR.to_owned() => "ee";
        about_one(r#""doubt":true,"quotation":"in Seoul in 1998","line":1"#) => "ec";
    } {
        let letters = letters(&with_clear(&first), AnswerForm::Questions);
        assert_eq!(letters, votes, "{first}");
    }
    let stray = with_clear(&CLEAR_ONE.replace("one", "three"));
    let reading = read_of(&stray, AnswerForm::Questions);
    assert_eq!(reading.strays, [r#"nobody asked "three""#]);
}

#[test]
fn accepts_only_one_json_document_of_objects() {
    let right = with_clear(CLEAR_ONE);
    assert_eq!(letters(&format!(" {right}\n"), AnswerForm::Questions), "cc");
    // serde would take an array for an object, member by member.
    let one = r#"["one",false,null,"the year",null,null,null]"#;
    let two = r#"["two",false,null,"the year",null,null,null]"#;
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
        String::from(r#"{"answers":[]}"#),
        String::from("null"),
        format!(r#"{{"answers":[{one},{two}]}}"#),
        format!("[[{CLEAR_ONE},{CLEAR}],null]"),
        format!(r#"[[{one},{two}],{{"cost":1}}]"#),
    ] {
        assert_eq!(letters(&text, AnswerForm::Questions), "ee", "{text}");
    }
}

fn finding(quotation: &str, sure: i64) -> String {
    let finding = json!({"question": "one", "doubt": true, "quotation": quotation,
                         "file": "a.py", "line": 3, "confidence": sure});
    finding.to_string()
}

#[test]
fn the_gravest_finding_counts_by_its_confidence() {
    let of = |sure| finding("in Seoul in 1998", sure);
    let (sure, unsure) = (of(90), finding("was founded", 60));
    let made_up = finding("on the planet Mars", 99);
    let bare = r#"{"question":"one","doubt":true,"quotation":"in Seoul in 1998"}"#;
    for (first, votes) in [
        (of(100), "dc"),
        (of(81), "dc"),
        (of(80), "uc"),
        (of(50), "uc"),
        (of(49), "fc"),
        (of(0), "fc"),
        (of(101), "ec"),
        (of(-1), "ee"),
        (bare.to_owned(), "ec"),
        (format!("{unsure},{sure}"), "dc"),
        (format!("{unsure},{made_up}"), "ec"),
        (format!("{made_up},{sure}"), "dc"),
        (format!("{sure},{CLEAR_ONE}"), "ec"),
    ] {
        let letters = letters(&with_clear(&first), AnswerForm::Findings);
        assert_eq!(letters, votes, "{first}");
    }
}

proptest! {
    #[test]
    fn arbitrary_text_is_no_answer(text in "\\PC{0,80}") {
        prop_assert_eq!(letters(&text, AnswerForm::Questions), "ee");
    }

    #[test]
    fn a_truncated_answer_never_clears(cut in 0_usize..200) {
        let whole = with_clear(CLEAR_ONE);
        prop_assume!(cut < whole.len());
        prop_assert_eq!(letters(&whole[..cut], AnswerForm::Questions), "ee");
    }
}

#[test]
fn reported_usage_does_not_change_votes() {
    let with = |usage: &str| {
        let text = format!(r#"{{"answers":[{CLEAR_ONE},{CLEAR}],"usage":{usage}}}"#);
        read_of(&text, AnswerForm::Questions)
    };
    let told = with(r#"{"input_tokens":7,"output_tokens":2,"cost":0.25}"#);
    let tokens = (told.usage.input_tokens, told.usage.output_tokens);
    assert_eq!(tokens, (Some(7), Some(2)));
    assert_eq!(told.usage.cost, crate::world::sandbox::Cost::of(0.25));
    let untold = with("\"much\"");
    assert_eq!(untold.usage, Usage::default());
    assert_eq!(untold.votes, told.votes);
    let mut votes = told.votes.iter();
    assert!(votes.all(|on| matches!(on.vote, Vote::Cleared(_))));
}

#[test]
fn a_quotation_is_literal_and_long_enough() {
    let shown = of(&["It was founded\n  in 1998, in Seoul.", "1998"]);
    for (quotation, holds) in [
        ("founded in 1998", true),
        ("founded\u{200b} in １９９８", true),
        ("1998", true),
        ("", false),
        (" ", false),
        ("in", false),
        ("1998, i", false),
        ("founded in 1999", false),
        ("Founded in 1998", false),
        // No quotation reaches from one input into the next.
        ("in Seoul. 1998", false),
    ] {
        assert_eq!(shown.holds(quotation).is_ok(), holds, "{quotation}");
    }
}

proptest! {
    #[test]
    fn accepts_every_long_part_of_an_input(
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

fn question() -> QuestionTable {
    QuestionTable {
        id: String::from("faithful"),
        ask: String::from("Does it say more?"),
        checked: Some(String::from("each sentence")),
    }
}

#[test]
fn equal_inputs_make_equal_prompts() {
    let asked = |text: &str| prompt(AnswerForm::Questions, &[question()], &of(&[text]));
    assert_eq!(asked("a"), asked("a"));
    assert_ne!(asked("a"), asked("b"));
    let text = asked("the key");
    assert!(text.contains("faithful: Does it say more?"), "{text}");
    assert!(text.contains("each sentence"), "{text}");
    assert!(!text.contains("confidence"), "{text}");
    let findings = prompt(AnswerForm::Findings, &[question()], &of(&["a"]));
    assert!(findings.contains("confidence"), "{findings}");
}

proptest! {
    #[test]
    fn an_input_cannot_end_itself(text in "(=== |[0-9a-f]{64}|\n| end key| begin key|.){0,20}") {
        let seen = of(&[&text]);
        let fence = fence(&seen.inputs);
        prop_assert!(!text.contains(&fence));
        let asked = prompt(AnswerForm::Questions, &[question()], &seen);
        // Once in the words, and once at either end.
        prop_assert_eq!(asked.matches(&fence).count(), 3);
        let between = format!("{fence} begin key\n{text}\n{fence} end key\n");
        prop_assert!(asked.contains(&between));
    }
}
