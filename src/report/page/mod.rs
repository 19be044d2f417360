//! The HTML page about a session: one file that needs no other, made from its
//! [`Picture`](super::picture::Picture) alone.
//!
//! The page makes no network requests and works without its script: `page.js` only sorts, filters
//! and searches the table. The content security policy allows only that script and that style
//! sheet, by their hashes. So no element may have a `style` attribute: geometry is in attributes
//! of the SVG, colours are in classes.
//!
//! All outside text goes through the formatter of the templates, which escapes markup and makes
//! invisible characters visible. Outside text never becomes a link.

mod chart;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use minijinja::value::Value;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, context, escape_formatter,
};
use serde::Serialize;

use self::chart::{BurnDown, Histogram, Portion, Stripe, counted, number, stripes};
use crate::base::Digest;
use crate::base::text::is_unsafe;
use crate::report::Overview;
use crate::report::picture::{
    FunnelStep, Picture, QuestRow, RuleRow, Spread, Word, WorkerRow, Worth,
};
use crate::report::run::RunReport;
use crate::session::{Effective, Reason, State, Tally};

#[derive(Debug, Serialize)]
pub struct Head<'a> {
    policy: String,
    title: &'a str,
    kind: &'a str,
    unit: &'a str,
    at: Timestamp,
    comail: &'a str,
    completeness: Option<&'a Word>,
    overview: &'a Overview,
    settled: String,
    states: Vec<StateShare>,
    reviews: Vec<(Effective, u32)>,
    burn_down: Option<BurnDown>,
    funnel: Vec<FunnelBar<'a>>,
    rules: Vec<RuleBar<'a>>,
    effort: Effort,
    workers: &'a [WorkerRow],
    runs: Vec<RunLine<'a>>,
    shown: usize,
    left_out: u32,
    rules_shown: BTreeMap<&'a str, u32>,
    chain: Digest,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct StateShare {
    state: State,
    quests: u32,
    percent: String,
    #[serde(flatten)]
    stripe: Stripe,
}

#[derive(Debug, Serialize)]
struct FunnelBar<'a> {
    #[serde(flatten)]
    step: &'a FunnelStep,
    /// What came, of what came to the first step.
    came: Portion,
    passed: Portion,
    stop: Portion,
}

#[derive(Debug, Serialize)]
struct RuleBar<'a> {
    #[serde(flatten)]
    rule: &'a RuleRow,
    width: Portion,
}

#[derive(Debug, Serialize)]
struct RunLine<'a> {
    #[serde(flatten)]
    run: &'a RunReport,
    why: &'static str,
    tokens_text: String,
    cost_text: String,
}

impl<'a> Head<'a> {
    pub fn of(picture: &'a Picture) -> Self {
        let overview = &picture.overview;
        let settled = overview.total.saturating_sub(overview.tally.todo);
        Self {
            policy: policy(STYLE, SCRIPT),
            title: &picture.title,
            kind: &picture.kind,
            unit: &picture.unit,
            at: picture.at,
            comail: &picture.comail,
            completeness: picture.completeness.as_ref(),
            overview,
            settled: chart::percent(settled.into(), overview.total.into()),
            states: states(&overview.tally),
            reviews: reviews(&overview.effective),
            burn_down: BurnDown::of(&picture.burn_down, picture.at),
            funnel: funnel(&picture.funnel),
            rules: rules(&picture.rules),
            effort: Effort::of(picture),
            workers: &picture.workers,
            runs: picture.runs.iter().map(run).collect(),
            shown: picture.quests.len(),
            left_out: picture.left_out,
            rules_shown: rules_shown(picture),
            chain: picture.head,
        }
    }
}

fn states(tally: &Tally) -> Vec<StateShare> {
    let counts = [tally.pass, tally.review, tally.done, tally.todo];
    let shares = State::ALL.into_iter().zip(counts).zip(stripes(counts));
    let shares = shares.map(|((state, quests), stripe)| StateShare {
        state,
        quests,
        percent: chart::percent(quests.into(), tally.total().into()),
        stripe,
    });
    shares.collect()
}

fn reviews(effective: &BTreeMap<Effective, u32>) -> Vec<(Effective, u32)> {
    let became = [
        Effective::Accepted,
        Effective::Confirmed,
        Effective::Open,
        Effective::Refuted,
        Effective::Rejected,
    ];
    let counts = became.map(|it| (it, effective.get(&it).copied().unwrap_or(0)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn funnel(steps: &[FunnelStep]) -> Vec<FunnelBar<'_>> {
    let most = steps.iter().map(|step| step.reached).max().unwrap_or(0);
    let bars = steps.iter().map(|step| {
        let passed = step.reached.saturating_sub(step.stopped);
        let came = Portion::of(step.reached.into(), most.into());
        let passed = Portion::of(passed.into(), most.into()).min(came);
        FunnelBar {
            step,
            came,
            passed,
            stop: Portion::hundredths(came.count() - passed.count()),
        }
    });
    bars.collect()
}

fn rules(rules: &[RuleRow]) -> Vec<RuleBar<'_>> {
    let most = rules.iter().map(|rule| rule.submissions).max().unwrap_or(0);
    let bars = rules.iter().map(|rule| RuleBar {
        rule,
        width: Portion::of(rule.submissions.into(), most.into()),
    });
    bars.collect()
}

fn run(run: &RunReport) -> RunLine<'_> {
    RunLine {
        run,
        why: run.reason.map_or("goes on", Reason::label),
        tokens_text: run.used.tokens_text(),
        cost_text: run.used.cost_text(),
    }
}

fn rules_shown(picture: &Picture) -> BTreeMap<&str, u32> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for quest in &picture.quests {
        for rule in &quest.fired {
            *counts.entry(rule.as_str()).or_default() += 1;
        }
    }
    counts
}

#[derive(Debug, Serialize)]
pub struct Effort {
    times: Told,
    submissions: Told,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Told {
    #[serde(flatten)]
    histogram: Histogram,
    of: String,
}

impl Effort {
    pub fn of(picture: &Picture) -> Self {
        let settled = picture
            .overview
            .total
            .saturating_sub(picture.overview.tally.todo);
        // Every other settled quest took a submission here.
        let carried = settled.saturating_sub(picture.tries.known);
        Self {
            times: Told {
                histogram: Histogram::of(&picture.times, chart::span),
                of: times_of(&picture.times, settled, carried),
            },
            submissions: Told {
                histogram: Histogram::of(&picture.tries, chart::number),
                of: submissions_of(&picture.tries, settled, carried),
            },
        }
    }
}

fn times_of(times: &Spread, settled: u32, carried: u32) -> String {
    let head = head(
        "the first hand-out or submission to the end",
        times,
        settled,
    );
    let rest = settled.saturating_sub(times.known);
    let unseen = rest.saturating_sub(carried);
    let unseen = (unseen > 0).then(|| {
        let unseen = number(unseen.into());
        format!(
            "{unseen} without a known beginning, settled by a first submission that no hand-out \
             came before"
        )
    });
    told(head, [unseen, brought(carried.min(rest))])
}

fn submissions_of(submissions: &Spread, settled: u32, carried: u32) -> String {
    let head = head("the first submission to the last", submissions, settled);
    told(head, [brought(carried), None])
}

fn head(way: &str, spread: &Spread, settled: u32) -> String {
    let known = number(spread.known.into());
    let settled = counted(settled.into(), "settled quest");
    format!("From {way}, of {known} of {settled}.")
}

fn brought(carried: u32) -> Option<String> {
    let carried = (carried > 0).then(|| number(carried.into()));
    carried.map(|carried| format!("{carried} brought from an earlier session"))
}

fn told(head: String, left_out: [Option<String>; 2]) -> String {
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    if left_out.is_empty() {
        return head;
    }
    format!("{head} Left out: {}.", left_out.join("; "))
}

/// The most rules that stand in the row itself; its details have all of them.
const MOST_RULES: usize = 2;

#[derive(Debug, Serialize)]
pub struct Row<'a> {
    quest: &'a QuestRow,
    /// What is proven, or would be; none of what does not stand.
    answer: Option<&'a str>,
    answer_is: &'static str,
    /// What the facts in the details are of; none where nothing was submitted.
    facts_of: Option<&'static str>,
    became: Option<&'static str>,
    place: Option<usize>,
    /// The last time, in milliseconds since 1970.
    last: Option<i64>,
    rules: Vec<&'a str>,
    more_rules: usize,
    fired: String,
}

impl<'a> Row<'a> {
    pub fn of(quest: &'a QuestRow, picture: &'a Picture) -> Self {
        let mut rules = fired_rules(quest);
        let more_rules = rules.len().saturating_sub(MOST_RULES);
        rules.truncate(MOST_RULES);
        let is_review = quest.state == State::Review;
        Self {
            quest,
            answer: answer(quest, picture).filter(|_| quest.worth == Some(Worth::Stands)),
            answer_is: quest.worth.map_or("Answer", answer_is),
            facts_of: quest.worth.map(|_| facts_of(quest)),
            became: is_review.then(|| quest.effective.name()),
            place: State::ALL.iter().position(|state| *state == quest.state),
            last: quest.last.map(Timestamp::as_millisecond),
            rules,
            more_rules,
            fired: quest.fired.join("\n"),
        }
    }
}

fn answer_is(worth: Worth) -> &'static str {
    match worth {
        Worth::Stands => "Answer",
        Worth::Refuted => "Last answer (refuted)",
        Worth::SentBack => "Last answer (sent back)",
        Worth::Rejected => "Last answer (rejected)",
        Worth::Missing => "Last submission (no answer)",
    }
}

fn facts_of(quest: &QuestRow) -> &'static str {
    if quest.again {
        "Facts, as judged again"
    } else {
        "Facts of the last submission"
    }
}

fn fired_rules(quest: &QuestRow) -> Vec<&str> {
    let mut rules: Vec<&str> = Vec::new();
    for fact in &quest.facts.shown {
        if !rules.contains(&fact.rule.as_str()) {
            rules.push(&fact.rule);
        }
    }
    rules
}

/// The field that a quest is about: the one that is called as its kind is, else the first that
/// is not the key.
fn answer<'a>(quest: &'a QuestRow, picture: &Picture) -> Option<&'a str> {
    let fields = || quest.answer.iter();
    let named = fields().find(|field| field.label == picture.kind);
    let first = || fields().find(|field| field.label != picture.unit);
    named.or_else(first).map(|field| field.text.as_str())
}

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A template is wrong: a mistake of ours.
    #[error("the page's template does not fit what it shows")]
    Template(#[from] minijinja::Error),
    #[error("could not write the page")]
    Io(#[from] io::Error),
}

pub fn html(picture: &Picture) -> Result<String, PageError> {
    let mut page = Vec::new();
    write(picture, &mut page)?;
    String::from_utf8(page)
        .map_err(|error| PageError::Io(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Writes the page about `picture` to `to`, which holds no more than a quest of it at once.
///
/// The same picture makes the same bytes.
pub fn write(picture: &Picture, to: &mut dyn Write) -> Result<(), PageError> {
    let templates = environment()?;
    let page = context! {
        page => Head::of(picture),
        style => trusted(STYLE),
        script => trusted(SCRIPT),
    };
    piece(&templates, "top.html", &page, to)?;
    for quest in &picture.quests {
        let row = Row::of(quest, picture);
        piece(&templates, "quest.html", &context! { row => row }, to)?;
    }
    piece(&templates, "end.html", &page, to)
}

fn piece(
    templates: &Environment<'_>,
    name: &str,
    values: &impl Serialize,
    to: &mut dyn Write,
) -> Result<(), PageError> {
    let made = templates.get_template(name)?.render(values)?;
    Ok(to.write_all(made.as_bytes())?)
}

/// The policy that allows this style sheet and this script, by their hashes, and nothing else.
pub(super) fn policy(style: &str, script: &str) -> String {
    let (style, script) = (hash(style), hash(script));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; \
         form-action 'none'"
    )
}

fn hash(text: &str) -> String {
    let digest = Digest::of(text.as_bytes());
    format!("sha256-{}", STANDARD.encode(digest.as_bytes()))
}

pub(super) const STYLE: &str = include_str!("page.css");

pub(super) const SCRIPT: &str = include_str!("page.js");

const TEMPLATES: [(&str, &str); 11] = [
    ("top.html", include_str!("html/top.html")),
    ("tally.html", include_str!("html/tally.html")),
    ("burn_down.html", include_str!("html/burn_down.html")),
    ("checks.html", include_str!("html/checks.html")),
    ("spread.html", include_str!("html/spread.html")),
    ("people.html", include_str!("html/people.html")),
    ("quests.html", include_str!("html/quests.html")),
    ("quest.html", include_str!("html/quest.html")),
    ("details.html", include_str!("html/details.html")),
    ("facts.html", include_str!("html/facts.html")),
    ("end.html", include_str!("html/end.html")),
];

pub(super) fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            let seen = seen(text);
            escape_formatter(out, state, &Value::from(seen.as_ref()))
        }
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("number", chart::number);
    environment.add_filter("counted", |count: u64, noun: &str| {
        chart::counted(count, noun)
    });
    environment.add_filter("span", chart::span);
    environment.add_filter("moment", |at: &str| read(at).map(chart::moment));
    environment.add_filter("second", |at: &str| read(at).map(chart::second));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

pub(super) fn trusted(text: &'static str) -> Value {
    Value::from_safe_string(text.to_owned())
}

/// The text with what a reader would not see as `\u{…}`; lines and tabs stay.
fn seen(text: &str) -> Cow<'_, str> {
    let hides = |c: char| is_unsafe(c) && c != '\n' && c != '\t';
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hides(c) {
            // Writing to a string cannot fail.
            let _ = write!(seen, "\\u{{{:x}}}", u32::from(c));
        } else {
            seen.push(c);
        }
    }
    Cow::Owned(seen)
}

fn read(at: &str) -> Result<Timestamp, Error> {
    at.parse::<Timestamp>()
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

#[cfg(test)]
mod tests_head {
    use super::*;

    fn step(reached: u32, stopped: u32) -> FunnelStep {
        FunnelStep {
            name: "page".to_owned(),
            reached,
            stopped,
        }
    }

    #[test]
    fn a_funnel_is_as_wide_as_what_came_first() {
        let steps = [step(200, 50), step(150, 150), step(0, 0)];
        let bars = funnel(&steps);
        let told = bars.iter().map(|bar| {
            let widths = [bar.came, bar.passed, bar.stop];
            widths.map(|width| width.to_string()).join(" ")
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            ["100% 75% 25%", "75% 0% 75%", "0% 0% 0%"]
        );
    }

    #[test]
    fn a_step_that_stopped_more_than_came_is_drawn_all_the_same() {
        let bars = [step(1, 2)];
        assert_eq!(funnel(&bars)[0].stop, Portion::WHOLE);
    }

    #[test]
    fn states_are_told_in_the_order_in_which_people_are_shown_them() {
        let tally = Tally {
            todo: 1,
            pass: 2,
            review: 1,
            done: 0,
        };
        let told = states(&tally);
        let told = told
            .iter()
            .map(|it| format!("{} {}", it.state.name(), it.percent));
        assert_eq!(
            told.collect::<Vec<_>>(),
            ["PASS 50 %", "REVIEW 25 %", "DONE 0 %", "TODO 25 %"]
        );
    }
}

#[cfg(test)]
mod tests_effort {
    use super::*;

    fn known(known: u32) -> Spread {
        Spread {
            known,
            ..Spread::default()
        }
    }

    #[test]
    fn those_that_are_left_out_are_told_with_why() {
        let way = "From the first hand-out or submission to the end, of";
        assert_eq!(
            times_of(&known(25), 54, 4),
            format!(
                "{way} 25 of 54 settled quests. Left out: 25 without a known beginning, settled \
                 by a first submission that no hand-out came before; 4 brought from an earlier \
                 session."
            )
        );
        assert_eq!(
            times_of(&known(1), 1, 0),
            format!("{way} 1 of 1 settled quest.")
        );
        assert_eq!(
            submissions_of(&known(50), 54, 4),
            "From the first submission to the last, of 50 of 54 settled quests. Left out: 4 \
             brought from an earlier session."
        );
        assert!(!submissions_of(&known(54), 54, 0).contains("Left out"));
    }
}

#[cfg(test)]
mod tests_policy {
    use super::*;

    #[test]
    fn hashes_are_those_of_a_browser() {
        // From the specification of subresource integrity: the hash of `alert('Hello, world.');`
        // by another program.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
    }

    #[test]
    fn nothing_is_allowed_that_is_not_named() {
        let policy = policy("a", "b");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(!policy.contains('*'), "{policy}");
    }
}

#[cfg(test)]
mod tests_templates {
    use minijinja::context;

    use super::*;

    fn made(template: &str, text: &str) -> String {
        let environment = environment().unwrap();
        environment.render_str(template, context! { text }).unwrap()
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            made("<b>{{ text }}</b>", "<script>\"'&"),
            "<b>&lt;script&gt;&quot;&#x27;&amp;</b>"
        );
    }

    #[test]
    fn an_attribute_is_not_left() {
        assert_eq!(
            made("<i title=\"{{ text }}\">", "\" onclick='x'\u{0}>"),
            "<i title=\"&quot; onclick=&#x27;x&#x27;\\u{0}&gt;\">"
        );
    }

    #[test]
    fn what_is_unseen_is_shown() {
        assert_eq!(
            made("{{ text }}", "a\u{202e}b\u{200b}\u{1b}\u{9b}\r\n\tc"),
            "a\\u{202e}b\\u{200b}\\u{1b}\\u{9b}\\u{d}\n\tc"
        );
        assert_eq!(made("{{ text }}", "한빛 שלום 😀"), "한빛 שלום 😀");
    }

    #[test]
    fn a_filter_does_not_let_text_through() {
        assert_eq!(
            made("{{ text | upper }}", "<b>\u{202e}"),
            "&lt;B&gt;\\u{202e}"
        );
    }

    #[test]
    fn a_name_that_there_is_not_is_an_error() {
        assert!(
            environment()
                .unwrap()
                .render_str("{{ other }}", ())
                .is_err()
        );
    }
}
