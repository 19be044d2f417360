//! `translation.toml`, played: pages are said in German, and turned back.

use crate::played::Played;

const OPENING: &str = "# Den Schalter öffnen

Ada Brook öffnet den Schalter um 7:30 Uhr mit `counter open --till {till}`.

- Das Wechselgeld zählen: Es sind 1.250,50 in Münzen.
- Vor dem 22. November 2026 das Etikett jedes Pakets drucken.
- {customer} mit Namen begrüßen.

Mehr steht im [Handbuch](https://counter.example/open).";

fn scanned() -> Played {
    let play = Played::of("translation");
    play.scan("texts.jsonl");
    play
}

#[track_caller]
fn said_so(play: &Played, from: &str, to: &str, said: &str) {
    assert!(OPENING.contains(from), "{from}");
    let text = OPENING.replacen(from, to, 1);
    play.expect("opening", &[("translation", &text)], said);
}

#[test]
fn a_page_passes_when_all_of_it_is_said_in_german() {
    let play = scanned();
    let prompt = play.next();
    assert!(prompt.contains("Ada Brook opens the counter"), "{prompt}");
    let english = "Ada Brook opens the counter at dawn. Mehr";
    said_so(&play, "Mehr", english, "FAIL not-left");
    said_so(&play, "1.250,50", "1250", "FAIL same-numbers");
    said_so(&play, "Etikett", "Schild", "FAIL called-so");
    said_so(&play, "# Den", "## Den", "FAIL same-outline");
    said_so(&play, "{customer}", "Kunden", "FAIL same-outline");
    said_so(&play, "1.250,50", "1 250,5", "PASS");
    play.ends(1, 0, 12);
}

#[test]
fn facts_say_where_the_source_says_what_is_missing() {
    let play = scanned();
    let text = OPENING.replace("1.250,50", "einige");
    let answer = play.submit("opening", &[("translation", &text)]);
    let fact = &answer["facts"][0];
    assert_eq!(fact["location"], "source:5", "{answer:#}");
    assert_eq!(fact["expected"], "the number 1,250.50", "{answer:#}");
}

#[test]
fn what_does_not_come_back_is_for_a_person() {
    let play = scanned();
    let text = OPENING
        .replace("Ada", "Eva")
        .replace("November", "Dezember");
    let answer = play.submit("opening", &[("translation", &text)]);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let facts = answer["facts"].as_array().expect("facts");
    let expected: Vec<_> = facts.iter().map(|fact| &fact["expected"]).collect();
    assert_eq!(
        expected,
        ["the name Ada Brook", "the date 22 November 2026"]
    );
    let door = &[("translation", "# Tür\n\nAda Brook meint 5-mal: {sign}")];
    play.expect("sign", door, "REVIEW turned-back-unconfirmed");
    play.ends(0, 2, 12);
}

#[test]
fn what_no_machine_sees_is_doubted_by_those_who_read_it() {
    let play = scanned();
    let text = OPENING.replace("begrüßen.", "begrüßen, das ist kostenlos.");
    let answer = play.submit("opening", &[("translation", &text)]);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let facts = answer["facts"].as_array().expect("facts");
    let by: Vec<_> = facts.iter().map(|fact| &fact["location"]).collect();
    assert_eq!(by, ["reader", "back-reader"], "{answer:#}");
    let said = facts[1]["actual"].as_str().expect("a passage");
    assert!(said.contains("das ist kostenlos"), "{said}");
    play.ends(0, 1, 12);
}
