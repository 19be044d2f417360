//! The whole round, with reviewers that are written down, and what labelled cases show of them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::Opinion::{Clear, Doubt, Nothing};
use super::*;
use crate::gate::checks::outside::Gathered;
use crate::gate::{Fact, Level, RuleId};
use crate::quest::{FieldName, Fields, Key, Quest, QuestId, Shown, Submission};
use crate::world::evidence::Recording;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::replay::Replay;
use crate::world::sandbox::{
    Changed, ChatOrder, Chatted, FileSeen, MockSandbox, Said, Sandbox, Usage,
};
use crate::world::{EarlierDoubt, MockFetcher, MockResolver, MockUniquenessIndex};

const PANEL: &str = r#"
[panel]
revisions = 1
[[reviewer]]
name = "reader"
kind = "chat"
model = "small-1"
base_url = "http://127.0.0.1:1/v1"
sees = ["submission.summary", "tree.diff"]
[[reviewer]]
name = "other"
kind = "chat"
model = "large-2"
base_url = "http://127.0.0.1:2/v1"
sees = ["submission.summary", "input.text"]
[[question]]
id = "faithful"
ask = "Does the summary say what the text does not say?"
[[plant]]
name = "mars"
sees = { "submission.summary" = "It was founded on Mars in 1650." }
doubts = ["faithful"]
"#;

struct Says(Verdict);

impl Gate for Says {
    fn rules(&self) -> Vec<Rule> {
        Vec::new()
    }

    fn judge(&self, _case: Case<'_>, _world: &World<'_>) -> Judgement {
        let level = match self.0 {
            Verdict::Pass => None,
            Verdict::Review => Some(Level::Review),
            Verdict::Fail => Some(Level::Fail),
        };
        let fact = |level| Fact {
            rule: RuleId::known("a-rule"),
            level,
            ..Fact::wrong("", "")
        };
        Judgement::from_facts(level.map(fact).into_iter().collect(), Vec::new())
    }

    fn takes(&self, _case: Case<'_>) -> Vec<UniqueValue> {
        Vec::new()
    }

    fn fact_checks(&self) -> Vec<&str> {
        Vec::new()
    }
}

const CLEAR: &str =
    r#"{"answers":[{"question":"faithful","doubt":false,"checked":"each sentence"}]}"#;
const MARS: &str =
    r#"{"answers":[{"question":"faithful","doubt":true,"quotation":"founded on Mars"}]}"#;
const SEOUL: &str =
    r#"{"answers":[{"question":"faithful","doubt":true,"quotation":"founded in Seoul"}]}"#;

/// A sandbox that nothing keeps from looking.
fn looking() -> MockSandbox {
    let mut sandbox = MockSandbox::new();
    sandbox.expect_failure().return_const(None);
    sandbox
}

/// The same with one changed file, which held `before` and holds `after`.
fn changing(before: &[u8], after: &[u8]) -> MockSandbox {
    let [before, after] = [before, after].map(|bytes| FileSeen::File(bytes.to_vec()));
    let mut sandbox = looking();
    sandbox.expect_changes().returning(|| {
        Ok(vec![Changed {
            path: String::from("a.txt"),
            how: String::from("changed"),
            inside: true,
        }])
    });
    sandbox.expect_pinned().returning(move |_| before.clone());
    sandbox.expect_file().returning(move |_| after.clone());
    sandbox
}

fn answering(replies: &'static [(&str, &str, &str)]) -> MockSandbox {
    let mut sandbox = changing(b"one\ntwo\n", b"one\nthree\n");
    sandbox.expect_chat().returning(move |order: &ChatOrder| {
        let reply = replies.iter().find(|(model, ..)| *model == order.model);
        let Some((_, plant, real)) = reply else {
            return Chatted::Failed(String::from("nobody is there"));
        };
        let is_plant = order.prompt.contains("founded on Mars");
        Chatted::Said(Said {
            text: (if is_plant { *plant } else { *real }).to_owned(),
            usage: Usage::default(),
            millis: 3,
            tries: 1,
        })
    });
    sandbox
}

fn gate(verdict: Verdict) -> SessionGate {
    gate_of(PANEL, verdict)
}

fn gate_of(panel: &str, verdict: Verdict) -> SessionGate {
    let panel = crate::quest::file::Panel::parse(panel).unwrap();
    let reviewers = Reviewers::new(&panel, &Gathered::default()).unwrap();
    SessionGate::new(Box::new(Says(verdict)), Some(reviewers))
}

fn quest(key: &str) -> Quest {
    Quest {
        known: vec![Shown {
            label: String::from("text"),
            text: String::from("Acme was founded in Seoul."),
        }],
        rows: vec![1],
        ..Quest::new(QuestId::FIRST, Key::new(key).unwrap())
    }
}

fn judged(gate: &SessionGate, sandbox: &dyn Sandbox) -> Judgement {
    judged_if(true, gate, sandbox)
}

/// The same, where reviewers may be asked or not.
fn judged_if(may_ask: bool, gate: &SessionGate, sandbox: &dyn Sandbox) -> Judgement {
    let quest = quest("acme");
    let summary = String::from("It was founded in Seoul.");
    let submission = Submission::Fields(Fields::from([(FieldName::known("summary"), summary)]));
    let case = Case::new(&quest, &submission);
    let (fetcher, resolver) = (MockFetcher::new(), MockResolver::new());
    let mut accepted = MockUniquenessIndex::new();
    accepted.expect_doubts().return_const(Vec::new());
    accepted.expect_may_ask().return_const(may_ask);
    let recorder = Recorder::new(World {
        fetcher: &fetcher,
        resolver: &resolver,
        accepted: &accepted,
        sandbox,
    });
    let judgement = gate.judge(case, &recorder.world());
    if sandbox.failure().is_some() {
        // Nothing of it is recorded.
        return judgement;
    }
    let Recording { evidence, bodies } = recorder.finish();
    let replay = Replay::new(&evidence, &bodies);
    let again = gate.judge(case, &replay.world());
    assert_eq!(replay.missing(), [""; 0]);
    let written = |judgement: &Judgement| serde_json::to_string(judgement).unwrap();
    assert_eq!(written(&again), written(&judgement));
    let read: Judgement = serde_json::from_str(&written(&judgement)).unwrap();
    assert_eq!(read, judgement);
    judgement
}

fn fired(judgement: &Judgement) -> Vec<&str> {
    let facts = judgement.facts.iter();
    facts.map(|fact| fact.rule.as_str()).collect()
}

#[test]
fn does_not_ask_reviewers_about_a_failure() {
    for verdict in [Verdict::Review, Verdict::Fail] {
        // A sandbox that expects nothing else panics at whatever it is asked.
        let judgement = judged(&gate(verdict), &looking());
        assert_eq!(judgement.verdict, verdict);
        assert_eq!(judgement.panel, None);
    }
}

#[test]
fn an_input_that_cannot_be_shown_leads_to_review() {
    let mut sandbox = looking();
    sandbox
        .expect_changes()
        .returning(|| Err(String::from("the tree is gone")));
    let judgement = judged(&gate(Verdict::Pass), &sandbox);
    assert_eq!(fired(&judgement), ["reviewers-unsettled"]);
    assert_eq!(
        &*judgement.facts[0].expected,
        "`tree.diff` can be shown to reviewers"
    );
}

#[test]
fn shows_a_change_as_a_diff() {
    let text = crate::judge::panel::reviewers::diff(&answering(&[])).unwrap();
    assert_eq!(
        text,
        "--- a/a.txt (changed)\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    );
}

#[test]
fn a_silenced_doubter_does_not_lead_to_a_pass() {
    let third = "[[reviewer]]\nname = \"third\"\nkind = \"chat\"\nmodel = \"third-3\"\n\
                 base_url = \"http://127.0.0.1:3/v1\"\n\
                 sees = [\"submission.summary\", \"tree.diff\"]\n[[question]]";
    let panel = PANEL.replacen("[[question]]", third, 1);
    let any = panel.replacen("[panel]", "[panel]\nthreshold = \"any\"", 1);
    let strict = |plant, answer| [("small-1", MARS, CLEAR), ("large-2", plant, answer)];
    let says = |panel: &str, first: [(&'static str, &'static str, &'static str); 2]| {
        let third = ("third-3", MARS, CLEAR);
        let all: &'static [_] = Vec::leak(first.into_iter().chain([third]).collect());
        let judgement = judged(&gate_of(panel, Verdict::Pass), &answering(all));
        fired(&judgement).first().map(|rule| (*rule).to_owned())
    };
    assert_eq!(says(&any, strict(MARS, CLEAR)), None);
    let doubt = says(&any, strict(MARS, SEOUL));
    assert_eq!(doubt.as_deref(), Some("reviewers-doubt"));
    for silenced in [strict(MARS, ""), strict("", SEOUL), strict(CLEAR, SEOUL)] {
        let unsettled = says(&any, silenced);
        assert_eq!(unsettled.as_deref(), Some("reviewers-unsettled"));
        assert_eq!(says(&panel, silenced), None);
    }
}

#[test]
fn does_not_show_a_binary_change() {
    let (ascii, latin) = (&b"one\n"[..], &b"# -*- coding: latin-1 -*- \xe9\none\n"[..]);
    for (before, after) in [(ascii, latin), (latin, ascii)] {
        let judgement = judged(&gate(Verdict::Pass), &changing(before, after));
        assert_eq!(fired(&judgement), ["reviewers-unsettled"]);
        let actual = &judgement.facts[0].actual;
        assert!(actual.contains("a.txt is not UTF-8 text"), "{actual}");
    }
}

#[test]
fn does_not_ask_again_after_an_unrecorded_reply() {
    let mut sandbox = answering(&[]);
    sandbox.checkpoint();
    sandbox.expect_failure().return_const(None);
    sandbox.expect_changes().returning(|| Ok(Vec::new()));
    let judgement = judged_if(false, &gate(Verdict::Pass), &sandbox);
    assert_eq!(fired(&judgement), ["reviewers-unsettled"]);
    let actual = &judgement.facts[0].actual;
    assert!(actual.contains("was never recorded"), "{actual}");
}

#[test]
fn stops_asking_after_a_sandbox_failure() {
    let mut sandbox = answering(&[]);
    sandbox.checkpoint();
    sandbox.expect_changes().returning(|| Ok(Vec::new()));
    sandbox.expect_failure().times(1).return_const(None);
    sandbox
        .expect_failure()
        .return_const(Some(String::from("no key")));
    sandbox
        .expect_chat()
        .times(1)
        .returning(|_| Chatted::Failed(String::from("no key")));
    let case = judged(&gate(Verdict::Pass), &sandbox);
    assert!(case.panel.is_some_and(|panel| panel.reviewers.is_empty()));
}

fn plant_of(name: &str, doubts: &[&str]) -> PlantTable {
    PlantTable {
        name: name.to_owned(),
        sees: BTreeMap::from([(String::from("key"), String::from("Mars"))]),
        doubts: doubts.iter().map(|id| (*id).to_owned()).collect(),
    }
}

/// The plant for this answer to the quest of this number.
fn chosen<'p>(number: u32, text: &str, plants: &'p [PlantTable]) -> &'p str {
    let field = (FieldName::known("text"), text.to_owned());
    let (quest, submission) = (quest(&format!("key {number}")), Fields::from([field]));
    let submission = Submission::Fields(submission);
    let plant = plant_for(Case::new(&quest, &submission), plants);
    &plant.unwrap().name
}

#[test]
fn the_quest_alone_selects_a_plant_with_a_defect() {
    let plants = ["a", "b", "c", "d"].map(|name| plant_of(name, &["one"]));
    let first = chosen(1, "", &plants);
    for length in 0..40 {
        assert_eq!(chosen(1, &"x".repeat(length), &plants), first);
    }
    let plants = [("a", &["one"][..]), ("clean", &[]), ("b", &["one"])];
    let plants = plants.map(|(name, doubts)| plant_of(name, doubts));
    let mut met = BTreeMap::<&str, u32>::new();
    for number in 0..40 {
        *met.entry(chosen(number, "text", &plants)).or_default() += 1;
    }
    assert!(met["a"] > 5 && met["b"] > 5, "{met:?}");
    assert_eq!(met.len(), 2);
}

#[test]
fn a_plant_replaces_its_inputs() {
    let column = ReviewInput::Input(String::from("text"));
    let inputs = [
        (ReviewInput::Key, String::from("7")),
        (column, String::from("t")),
    ];
    let planted = planted(&inputs, &plant_of("a", &["one"]).sees);
    let texts: Vec<_> = planted.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["Mars", "t"]);
}

fn vote(kind: char) -> Vote {
    let passage = Passage {
        quotation: String::from("these words"),
        file: None,
        line: None,
        confidence: None,
    };
    match kind {
        'd' => Vote::Doubt(passage),
        'u' => Vote::Unsure(passage),
        'f' => Vote::Faint(passage),
        'c' => Vote::Cleared(String::from("all")),
        _ => Vote::Error(String::from("timed out")),
    }
}

fn tallied(threshold: Threshold, quorum: u32, kinds: &str, differs: &[bool]) -> Tally {
    let head = PanelTable {
        threshold,
        quorum,
        revisions: 0,
    };
    let votes: Vec<_> = kinds.chars().map(|kind| (kind, vote(kind))).collect();
    let panel = votes.iter().enumerate().map(|(at, (kind, vote))| Ballot {
        vote: (*kind != 's').then_some(vote),
        differs: differs.get(at).copied().unwrap_or(true),
    });
    tally(head, panel)
}

#[test]
fn a_tie_is_a_doubt_and_silence_never_clears() {
    use Lack::{Quorum, Silent};
    use Tally::{Cleared, Doubted, Unsettled};
    use Threshold::{Any, Majority};
    for (threshold, kinds, weight) in [
        (Majority, "cc", Cleared),
        (Majority, "dc", Doubted),
        (Majority, "dcc", Cleared),
        (Any, "dcc", Doubted),
        (Majority, "dce", Doubted),
        (Majority, "uf", Cleared),
        (Any, "uc", Cleared),
        (Majority, "de", Unsettled(Quorum(1))),
        (Any, "de", Unsettled(Quorum(1))),
        (Majority, "ee", Unsettled(Quorum(0))),
        (Majority, "", Unsettled(Quorum(0))),
        (Any, "ecc", Unsettled(Silent(1))),
        (Any, "scc", Unsettled(Silent(1))),
        (Majority, "ecc", Cleared),
        (Majority, "scc", Cleared),
        (Majority, "secc", Unsettled(Silent(2))),
        (Majority, "dsccc", Cleared),
        (Majority, "dscc", Unsettled(Silent(1))),
    ] {
        assert_eq!(tallied(threshold, 2, kinds, &[]), weight, "{kinds}");
    }
}

#[test]
fn requires_a_vote_from_a_reviewer_with_other_input() {
    let weight = |kinds| tallied(Threshold::Majority, 2, kinds, &[true, false, false]);
    assert_eq!(weight("ccc"), Tally::Cleared);
    assert_eq!(weight("ecc"), Tally::Unsettled(Lack::OtherInput));
    assert_eq!(weight("scc"), Tally::Unsettled(Lack::OtherInput));
    assert_eq!(weight("cec"), Tally::Cleared);
    assert_eq!(weight("edd"), Tally::Doubted);
}

proptest! {
    #[test]
    fn silencing_a_reviewer_never_clears_an_answer(
        kinds in "[dufces]{0,9}",
        quorum in 2_u32..5,
        any in proptest::bool::ANY,
        differs in proptest::collection::vec(proptest::bool::ANY, 10),
    ) {
        let threshold = if any { Threshold::Any } else { Threshold::Majority };
        let of = |kinds: &str| tallied(threshold, quorum, kinds, &differs);
        let before = of(&kinds);
        let with = |kind: char| of(&format!("{kinds}{kind}"));
        if before != Tally::Cleared {
            prop_assert_ne!(with('e'), Tally::Cleared);
        }
        if before == Tally::Doubted {
            prop_assert_eq!(with('d'), Tally::Doubted);
            prop_assert_eq!(with('e'), Tally::Doubted);
        }
        if before == Tally::Cleared {
            prop_assert_eq!(with('c'), Tally::Cleared);
        }
        // Whoever is silenced, that never turns a REVIEW into a PASS.
        for (at, silence) in kinds.char_indices().zip("es".chars().cycle()) {
            let mut less = kinds.clone();
            less.replace_range(at.0..=at.0, &silence.to_string());
            if before != Tally::Cleared {
                prop_assert_ne!(of(&less), Tally::Cleared);
            }
        }
    }
}

fn said(votes: Vec<Vote>) -> ReviewerReport {
    ReviewerReport {
        name: String::from("reader"),
        model: String::from("small-1"),
        counts: !votes.is_empty(),
        votes: votes
            .into_iter()
            .map(|vote| VoteOn {
                question: String::from("faithful"),
                vote,
            })
            .collect(),
        errors: Vec::new(),
        usage: Usage::default(),
    }
}

fn after(mut report: ReviewerReport, reviewer: &str, text: &str) -> ReviewerReport {
    let earlier = [EarlierDoubt {
        reviewer: reviewer.to_owned(),
        question: String::from("faithful"),
        quotation: String::from("founded on Mars"),
    }];
    let questions = [QuestionTable {
        id: String::from("faithful"),
        ask: String::from("Is it so?"),
        checked: None,
    }];
    let texts = ShownInputs::new(vec![(ReviewInput::Key, text.to_owned())]);
    keep_doubts(&mut report, &earlier, &questions, &texts);
    report
}

#[test]
fn finds_an_earlier_quotation_despite_masked_mailboxes() {
    let mail = "Write to sales@acme.kr, which Bolt reads, or jo@acme.kr.";
    for (text, quotation, expected) in [
        ("exit 0 #", "exit 0", true),
        ("exit 0", "exit 0", true),
        ("exit 1 #", "exit 0", false),
        ("exit 0", "", false),
        ("exit 0", " ", false),
        ("exit 0", "\u{200b}", false),
        (mail, "sales@acme.kr, which Bolt", true),
        (mail, "xxxxx@acme.kr, which Bolt", true),
        (mail, "Write to sal", true),
        (mail, "xx@acme.kr, which Bolt", true),
        (mail, "sales@acme.kr, which Bolt reads, or xx@acme.kr", true),
        (mail, "sales@acme.kr, which nobody reads", false),
        (mail, "xxxxx@bolt.kr, which Bolt", false),
    ] {
        let texts = ShownInputs::new(vec![(ReviewInput::Key, text.to_owned())]);
        assert_eq!(
            texts.still_hold(quotation),
            expected,
            "{text}: {quotation:?}"
        );
    }
}

#[test]
fn a_doubt_remains_until_its_quotation_is_gone() {
    let clear = || Vote::Cleared(String::from("all"));
    let still = "It was\u{200b} founded  on Mars.";
    for votes in [vec![clear()], vec![Vote::Error(String::new())], Vec::new()] {
        let report = after(said(votes.clone()), "reader", still);
        assert!(report.counts);
        let passage = report.votes[0].vote.doubt().unwrap();
        assert_eq!(passage.quotation, "founded on Mars");
        for (reviewer, text) in [("reader", "It was founded in Seoul."), ("other", still)] {
            assert_eq!(
                after(said(votes.clone()), reviewer, text),
                said(votes.clone())
            );
        }
    }
}

fn labelled(must_doubt: bool, said: [Opinion; 3], panel: Opinion) -> LabelledCase {
    LabelledCase {
        plant: "plant".to_owned(),
        question: "faithful".to_owned(),
        must_doubt,
        said: said.to_vec(),
        panel,
    }
}

fn calibrated(cases: Vec<LabelledCase>) -> Calibration {
    let reviewers = ["one", "two", "three"].map(|name| TriedReviewer {
        name: name.to_owned(),
        model: name.to_owned(),
        usage: Usage::default(),
        errors: Vec::new(),
        score: Score::default(),
    });
    Calibration::of(reviewers.into(), cases)
}

fn share(part: u32, whole: u32) -> Share {
    Share { part, whole }
}

#[test]
fn scores_count_each_kind_of_error() {
    let cases = vec![
        labelled(true, [Doubt, Clear, Nothing], Doubt),
        labelled(true, [Doubt, Clear, Doubt], Doubt),
        labelled(true, [Clear, Clear, Doubt], Clear),
        labelled(false, [Clear, Clear, Nothing], Clear),
        labelled(false, [Doubt, Clear, Doubt], Doubt),
    ];
    let found = calibrated(cases);
    let first = Score {
        right: share(3, 5),
        false_pass: share(1, 3),
        false_doubt: share(1, 2),
        unanswered: share(0, 5),
    };
    let blind = Score {
        right: share(2, 5),
        false_pass: share(3, 3),
        false_doubt: share(0, 2),
        unanswered: share(0, 5),
    };
    let rare = Score {
        right: share(2, 3),
        false_pass: share(0, 2),
        false_doubt: share(1, 1),
        unanswered: share(2, 5),
    };
    let scores: Vec<_> = found.reviewers.iter().map(|it| it.score).collect();
    assert_eq!(scores, [first, blind, rare]);
    assert_eq!(found.panel, first);
    assert_eq!(found.agreement, share(1, 5));
    assert!(!found.panel.is_clean());
}

#[test]
fn silence_is_neither_right_nor_agreement() {
    let found = calibrated(vec![labelled(true, [Nothing, Nothing, Doubt], Nothing)]);
    assert_eq!(found.agreement, share(0, 0));
    assert_eq!(found.panel.right, share(0, 0));
    assert!(!found.panel.is_clean());
    assert!(found.reviewers[2].score.is_clean());
}

#[test]
fn a_silent_reviewer_makes_a_panel_unclean() {
    let cases = |dead| {
        calibrated(vec![
            labelled(true, [Doubt, Doubt, dead], Doubt),
            labelled(false, [Clear, Clear, Clear], Clear),
        ])
    };
    assert!(cases(Doubt).is_clean() && cases(Clear).is_clean());
    assert!(cases(Nothing).panel.is_clean() && !cases(Nothing).is_clean());
}
