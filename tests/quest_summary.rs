//! `summary.toml`, played: articles are summed up, and what counts is looked for.

use crate::played::Played;

const MILL: &str = "Ada Brook opened the Red River mill on 1987-05-03. After a flood in 2019, a \
    loan of 250,000 paid for a wheel of steel, and it still sells its rye, partly on the coast.";

#[track_caller]
fn said_so(play: &Played, from: &str, to: &str, said: &str) {
    assert!(MILL.contains(from), "{from}");
    let text = MILL.replacen(from, to, 1);
    play.expect("mill", &[("summary", &text)], said);
}

#[test]
fn a_summary_says_what_counts_in_its_own_words() {
    let play = Played::of("summary");
    play.scan("articles.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("6 people work there"), "{prompt}");
    play.expect("mill", &[("summary", "A mill.")], "FAIL short");
    let copied = "half of what they grind is sold as far away as the coast";
    said_so(&play, "it still", copied, "FAIL own-words");
    said_so(&play, "250,000", "350,000", "FAIL no-new-numbers");
    said_so(&play, "1987-05-03", "3 May 1988", "FAIL no-new-numbers");
    said_so(&play, "1987-05-03", "3 May 1987", "PASS");
    play.ends(1, 0, 6);
}

#[test]
fn what_is_left_out_is_for_a_person() {
    let play = Played::of("summary");
    play.scan("articles.jsonl");
    let text = MILL.replace("Ada Brook", "Someone");
    let answer = play.submit("mill", &[("summary", &text)]);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let fact = &answer["facts"][0];
    assert_eq!(fact["rule"], "says-what-counts", "{answer:#}");
    assert_eq!(fact["expected"], "the name Ada Brook", "{answer:#}");
    assert_eq!(fact["location"], "source:1", "{answer:#}");
    play.ends(0, 1, 6);
}

#[test]
fn what_no_machine_sees_is_doubted_by_those_who_read_it() {
    let play = Played::of("summary");
    play.scan("articles.jsonl");
    let award = "a wheel of steel that won an award";
    said_so(&play, "a wheel of steel", award, "REVIEW reviewers-doubt");
    play.ends(0, 1, 6);
}
