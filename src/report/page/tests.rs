//! No text can change the form of the page.

use super::*;
use crate::base::Digest;
use crate::base::rows;
use crate::gate::Fact;
use crate::quest::{Key, QuestId, Shown};
use crate::report::picture::{
    Bar, Excerpt, ExcerptLine, FactRows, FunnelStep, Marks, Picture, QuestRow, Remaining, RuleRow,
    Spread, Step, Word, WorkerRow, Worth,
};
use crate::report::run::{RunReport, Took};
use crate::report::{Overview, Rechecked, page};
use crate::session::{Effective, Reason, State, Tally, WorldKind};
use jiff::Timestamp;
use minijinja::context;
use proptest::prelude::*;
use scraper::Html;
use scraper::node::Node;
use std::collections::BTreeMap;

fn at() -> Timestamp {
    Timestamp::from_second(1_770_000_000).unwrap()
}

fn picture(text: &str) -> Picture {
    let own = || text.to_owned();
    Picture {
        title: own(),
        kind: own(),
        unit: own(),
        at: at(),
        comail: "0.1.0".to_owned(),
        completeness: Word {
            complete: false,
            settled: None,
            left_out: 0,
            shortfalls: vec![own()],
            unproven: Some(own()),
        },
        overview: overview(),
        burn_down: vec![Remaining {
            at: at(),
            left: 1,
            grew: true,
        }],
        funnel: vec![FunnelStep {
            name: own(),
            reached: 2,
            stopped: 1,
        }],
        rules: vec![RuleRow {
            rule: own(),
            meaning: Some(own()),
            fails: Some(true),
            submissions: 1,
        }],
        times: spread(),
        tries: spread(),
        workers: vec![WorkerRow {
            name: Some(own()),
            submissions: 1,
            pass: 0,
            review: 0,
            fail: 1,
        }],
        runs: vec![run(text)],
        quests: vec![quest(text)],
        left_out: 1,
        head: Digest::of(b"head"),
    }
}

fn quest(text: &str) -> QuestRow {
    let own = || text.to_owned();
    let labelled = || Shown {
        label: own(),
        text: own(),
    };
    let facts = || FactRows {
        shown: vec![Fact {
            location: Some(text.into()),
            ..Fact::new("some-rule", text, text)
        }],
        left_out: 1,
    };
    let line = |found| ExcerptLine { text: own(), found };
    QuestRow {
        id: QuestId::FIRST,
        key: Key::new(&format!("k{text}")).unwrap(),
        state: State::Review,
        effective: Effective::Refuted,
        disputed: false,
        tries: 1,
        last: Some(at()),
        took: Some(61_000),
        worker: Some(own()),
        answer: vec![labelled()],
        worth: Some(Worth::Stands),
        shown: vec![labelled()],
        facts: facts(),
        again: false,
        fired: vec![own()],
        excerpts: vec![Excerpt {
            of: own(),
            first: 7,
            lines: vec![line(false), line(true)],
        }],
        history: vec![Step {
            at: at(),
            what: own(),
            by: Some(own()),
            notes: vec![own()],
            judged: true,
            facts: facts(),
        }],
        damage: Some(own()),
    }
}

fn overview() -> Overview {
    Overview {
        world: WorldKind::Live,
        tally: Tally {
            todo: 1,
            pass: 0,
            review: 1,
            done: 0,
        },
        total: 2,
        blocked: 1,
        first_blocked: Vec::new(),
        unanchored: 1,
        rendered: 0,
        from_markup: 0,
        carried: 1,
        rechecked: Rechecked {
            confirmed: 0,
            refuted: 1,
            undecided: 0,
        },
        effective: BTreeMap::from([(Effective::Refuted, 1), (Effective::Todo, 1)]),
        disputed: 1,
        sample: None,
        forgotten: 1,
        unsealed: 1,
        behind: None,
        attempts: 1,
        rules: Vec::new(),
        streak: 1,
        paused: true,
        head: Digest::of(b"head"),
    }
}

fn spread() -> Spread {
    Spread {
        known: 1,
        marks: Some(Marks {
            least: 1,
            median: 1,
            ninth: 1,
            most: 1,
        }),
        bars: vec![Bar {
            from: 1,
            to: 1,
            quests: 1,
        }],
    }
}

fn run(text: &str) -> RunReport {
    RunReport {
        run: "7f3a09c2".parse().unwrap(),
        agent: text.to_owned(),
        model: Some(text.to_owned()),
        then: Vec::new(),
        workers: 1,
        began: at(),
        ended: Some(at()),
        reason: Some(Reason::WallClock),
        quests: 1,
        settled: 1,
        took: Took {
            starts: 1,
            lost: 1,
            milliseconds: 1000,
            ..Took::default()
        },
    }
}

fn form(page: &str) -> Vec<String> {
    let tree = Html::parse_document(page);
    let nodes = tree
        .tree
        .root()
        .descendants()
        .filter_map(|node| match node.value() {
            Node::Element(element) => {
                let mut names: Vec<&str> = element.attrs().map(|(name, _)| name).collect();
                names.sort_unstable();
                Some(format!("{} {}", element.name(), names.join(" ")))
            }
            Node::Comment(_) => Some("a comment".to_owned()),
            _ => None,
        });
    nodes.collect()
}

fn pages_text(page: &str) -> String {
    Html::parse_document(page).root_element().text().collect()
}

#[test]
fn a_company_named_like_a_script_tag_stays_text() {
    let name = "<script>alert('1')</script> \"&quot;";
    let page = html(&picture(name)).unwrap();
    assert_eq!(form(&page), form(&html(&picture("Acme")).unwrap()));
    assert!(pages_text(&page).contains(&format!("k{name}")));
}

#[test]
fn the_form_shows_what_would_break_out() {
    let calm = html(&picture("Acme")).unwrap();
    let broken = calm.replacen(">kAcme<", "><b>Acme</b><", 1);
    assert_ne!(form(&calm), form(&broken));
    let broken = calm.replacen("data-rules=\"Acme\"", "data-rules=\"\" onclick=\"Acme\"", 1);
    assert_ne!(form(&calm), form(&broken));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_text_changes_the_form(
        text in r#"([<>"'&/=`!\\\-\]\[{}%# \n\t]|\PC|\p{C}|<script>|</script>|</style>|<!--|-->|]]>|" onload="|' x='|\{\{|\{%|&lt;|javascript:|</title>|</svg>|<tbody>){1,12}"#,
    ) {
        let page = html(&picture(&text)).unwrap();
        prop_assert_eq!(form(&page), form(&html(&picture("Acme")).unwrap()));
        let unseen = page.chars().find(|c| crate::base::text::is_unsafe(*c) && *c != '\n' && *c != '\t');
        prop_assert_eq!(unseen, None);
    }
}

#[test]
fn the_policy_matches_the_style_and_script_of_the_page() {
    let page = html(&picture("Acme")).unwrap();
    let between = |from: &str, to: &str| {
        let (_, rest) = page.split_once(from).unwrap();
        rest.split_once(to).unwrap().0.to_owned()
    };
    let policy = page::policy(
        &between("<style>", "</style>"),
        &between("<script>", "</script>"),
    );
    let allowed = between("Content-Security-Policy\" content=\"", "\"");
    let allowed = allowed.replace("&#x27;", "'").replace("&#x2f;", "/");
    assert_eq!(allowed, policy);
    assert_ne!(allowed, page::policy("", ""));
    // Nothing is allowed that is not named.
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(
        !policy.contains("unsafe") && !policy.contains('*'),
        "{policy}"
    );
    // From the specification of subresource integrity: a hash by another program.
    assert_eq!(
        hash("alert('Hello, world.');"),
        "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
    );
}

#[test]
fn the_page_contains_nothing_that_its_policy_forbids() {
    let page = html(&picture("Acme")).unwrap();
    for element in form(&page) {
        let mut words = element.split(' ');
        let name = words.next().unwrap();
        assert!(
            !["a", "img", "link", "iframe", "object"].contains(&name) || name == "a",
            "{element}"
        );
        assert!(
            words.all(|it| it != "style" && it != "src" && !it.starts_with("on")),
            "{element}"
        );
    }
    let ends = ["</style", "</script", "<!--"];
    let own = [page::STYLE, page::SCRIPT];
    assert!(
        own.iter()
            .all(|text| ends.iter().all(|end| !text.contains(end)))
    );
}

#[test]
fn links_stay_within_the_page() {
    let page = html(&picture("https://example.com/")).unwrap();
    let links: Vec<&str> = page.split("href=\"").skip(1).collect();
    assert!(!links.is_empty());
    assert!(links.iter().all(|link| link.starts_with('#')));
}

#[test]
fn an_empty_session_has_a_page() {
    let mut empty = picture("Acme");
    empty.overview.tally = Tally::default();
    empty.overview.total = 0;
    empty.burn_down.clear();
    empty.funnel.clear();
    empty.rules.clear();
    (empty.times, empty.tries) = (Spread::default(), Spread::default());
    empty.workers.clear();
    empty.runs.clear();
    empty.quests.clear();
    let text = pages_text(&html(&empty).unwrap());
    for said in [
        "Not complete.",
        "No rule fired.",
        "Nothing was handed out yet.",
        "0 quests",
    ] {
        assert!(text.contains(said), "{said}");
    }
}

/// The page about one quest, which is changed first.
fn page_of(change: impl FnOnce(&mut QuestRow)) -> String {
    let mut picture = picture("Acme");
    change(&mut picture.quests[0]);
    html(&picture).unwrap()
}

#[test]
fn a_rejected_answer_is_labelled_and_not_shown_as_the_answer() {
    let answered = |worth| {
        page_of(|quest| {
            quest.worth = worth;
            quest.answer[0].text = "info@made-up.example".to_owned();
        })
    };
    for (worth, heading) in [
        (Worth::Stands, "<h3>Answer</h3>"),
        (Worth::Refuted, "<h3>Last answer (refuted)</h3>"),
        (Worth::SentBack, "<h3>Last answer (sent back)</h3>"),
        (Worth::Rejected, "<h3>Last answer (rejected)</h3>"),
        (Worth::Missing, "<h3>Last submission (no answer)</h3>"),
    ] {
        let page = answered(Some(worth));
        let stands = worth == Worth::Stands;
        assert!(page.contains(heading), "{worth:?}");
        let cell = "<td role=\"cell\"><span class=\"part\">info</span>\
                    <span class=\"part\">@made-up.example</span></td>";
        assert_eq!(page.contains(cell), stands, "{page}");
        let struck = matches!(worth, Worth::Refuted | Worth::Rejected);
        assert_eq!(page.contains("<dl class=\"fallen\">"), struck);
    }
}

#[test]
fn open_and_disputed_answers_are_shown_to_review() {
    for (effective, disputed, expected) in rows! {
        Effective::Pass, false => false;
        Effective::Confirmed, false => false;
        Effective::Open, false => true;
        Effective::Pass, true => true;
    } {
        let page = page_of(|quest| {
            quest.effective = effective;
            quest.disputed = disputed;
        });
        let found = page.contains("<span class=\"became\">to review</span></td>");
        assert_eq!(found, expected, "{effective:?} {disputed}");
    }
}

#[test]
fn an_address_has_two_parts_and_other_text_has_one() {
    for (text, expected) in rows! {
        "info@acme.co.kr" => ["info", "@acme.co.kr"];
        "\"a@b\"@acme.co.kr" => ["\"a@b\"", "@acme.co.kr"];
        "https://acme.co.kr/" => ["https://acme.co.kr/", ""];
        "mail us @ noon" => ["mail us @ noon", ""];
        "" => ["", ""];
    } {
        assert_eq!(halves(text), expected, "{text}");
    }
}

#[test]
fn the_answers_come_before_the_charts() {
    let page = html(&picture("Acme")).unwrap();
    let order = [
        "tally",
        "table",
        "burn-down",
        "checks",
        "rules",
        "effort",
        "workers",
        "runs",
    ];
    let places = order.map(|id| page.find(&format!(" id=\"{id}\"")));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
}

#[test]
fn the_heading_of_facts_names_their_judgement() {
    let bare = |quest: &mut QuestRow| quest.facts = FactRows::default();
    let page = page_of(bare);
    assert!(page.contains("<h3>Facts</h3>"));
    assert!(page.contains("No rule fired."));
    let page = page_of(|quest| quest.again = true);
    assert!(page.contains("<h3>Facts, as judged again</h3>"));
    assert!(page.contains("1 fact left out here.") && !page.contains("No rule fired."));
    let page = page_of(|quest| {
        bare(quest);
        quest.worth = None;
    });
    assert!(page.contains("Nothing was submitted yet.") && !page.contains("No rule fired."));
}

#[test]
fn quests_are_found_by_every_rule_that_ever_fired_on_them() {
    let says = |disputed| page_of(|quest| quest.disputed = disputed).contains(">disputed</span>");
    assert!(
        says(true) && !says(false),
        "a dispute is seen without opening the row"
    );
    let page = page_of(|quest| quest.fired = vec!["first".to_owned(), "second".to_owned()]);
    assert!(page.contains("data-rules=\"first\nsecond\""));
    for rule in ["first", "second"] {
        let option = format!("<option value=\"{rule}\">{rule} (1)</option>");
        assert!(page.contains(&option), "{rule}");
    }
}

#[test]
fn a_funnel_is_as_wide_as_what_reached_its_first_step() {
    let mut picture = picture("Acme");
    picture.funnel = [(200, 50), (150, 150), (0, 0), (1, 2)]
        .map(|(reached, stopped)| FunnelStep {
            name: "page".to_owned(),
            reached,
            stopped,
        })
        .into();
    let page = html(&picture).unwrap();
    let bars: Vec<&str> = page.split("class=\"went\" width=\"").skip(1).collect();
    for (bar, expected) in bars.iter().zip([
        "75%\" height=\"100%\"/><rect class=\"stopped\" x=\"75%\" width=\"25%\"",
        "0%\" height=\"100%\"/><rect class=\"stopped\" x=\"0%\" width=\"75%\"",
        "0%\" height=\"100%\"/><rect class=\"stopped\" x=\"0%\" width=\"0%\"",
        "0%\" height=\"100%\"/><rect class=\"stopped\" x=\"0%\" width=\"0.50%\"",
    ]) {
        assert!(bar.starts_with(expected), "{bar}");
    }
}

/// The histogram of the times of quests in these bars.
fn histogram(counts: &[u32]) -> String {
    let mut picture = picture("Acme");
    let bars = (1..).zip(counts).map(|(number, quests)| Bar {
        from: number * 60_000,
        to: number * 60_000 + 59_999,
        quests: *quests,
    });
    picture.times.bars = bars.collect();
    let page = html(&picture).unwrap();
    page.split("id=\"times-t\"")
        .nth(1)
        .unwrap()
        .split("</div>")
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn bars_are_in_proportion_apart_and_named() {
    let attributes = |page: &str, name: &str| -> Vec<String> {
        let columns = page.split("<rect class=\"column\"").skip(1);
        let values = columns.map(|it| it.split(&format!(" {name}=\"")).nth(1).unwrap());
        values
            .map(|it| it.split('"').next().unwrap().to_owned())
            .collect()
    };
    let page = histogram(&[50, 100, 0]);
    assert_eq!(attributes(&page, "height"), ["50%", "100%", "0%"]);
    assert_eq!(attributes(&page, "y"), ["50%", "0%", "100%"]);
    assert_eq!(attributes(&page, "x"), ["3.33%", "36.67%", "70%"]);
    assert_eq!(attributes(&page, "width"), ["26.67%", "26.66%", "26.67%"]);
    assert_eq!(page.matches("class=\"tick\" x").count(), 2, "{page}");
    assert!(
        page.contains("<th scope=\"row\">1 min to 1 min 59 s</th>"),
        "{page}"
    );
    let page = histogram(&[100_000, 1]);
    assert_eq!(attributes(&page, "height"), ["100%", "1%"]);
    let named = |count| histogram(&vec![1; count]).matches("y=\"172\"").count();
    assert_eq!([1, 5, 6, 20, 21].map(named), [1, 5, 3, 5, 5]);
}

#[test]
fn quests_that_a_histogram_leaves_out_are_counted_with_the_reason() {
    let said = |total: u32, times: u32, tries: u32| {
        let mut picture = picture("Acme");
        (picture.overview.total, picture.overview.tally.todo) = (total, 0);
        (picture.times.known, picture.tries.known) = (times, tries);
        let text = pages_text(&html(&picture).unwrap());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let some = said(54, 25, 50);
    for text in [
        "From the first claim or submission to the end, of 25 of 54 settled quests. Not included: \
         25 without a known beginning, settled by a first submission without a claim; 4 carried \
         over from an earlier session.",
        "From the first submission to the last, of 50 of 54 settled quests. Not included: 4 \
         carried over from an earlier session.",
    ] {
        assert!(some.contains(text), "{some}");
    }
    let all = said(1, 1, 1);
    assert!(
        all.contains("of 1 of 1 settled quest.") && !all.contains("Not included"),
        "{all}"
    );
}

#[test]
fn text_stays_text_in_every_place_of_a_template() {
    let environment = environment().unwrap();
    for (template, text, made) in rows! {
        "<b>{{ text }}</b>", "<script>\"'&" => "<b>&lt;script&gt;&quot;&#x27;&amp;</b>";
        "<i title=\"{{ text }}\">", "\" onclick='x'\u{0}>"
            => "<i title=\"&quot; onclick=&#x27;x&#x27;\\u{0}&gt;\">";
        "{{ text }}", "a\u{202e}b\u{200b}\u{1b}\u{9b}\r\n\tc"
            => "a\\u{202e}b\\u{200b}\\u{1b}\\u{9b}\\u{d}\n\tc";
        "{{ text }}", "한빛 שלום 😀" => "한빛 שלום 😀";
        "{{ text | upper }}", "<b>\u{202e}" => "&lt;B&gt;\\u{202e}";
    } {
        let found = environment.render_str(template, context! { text }).unwrap();
        assert_eq!(found, made, "{text:?}");
    }
}
