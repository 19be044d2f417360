//! What `comail audit` prints.

use schemars::JsonSchema;
use serde::Serialize;

use super::output::{Paper, Tone};
use crate::base::Digest;
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::judge::audit::history::Checked;
use crate::judge::audit::history::OtherJudge;
use crate::judge::audit::live::Silent;
use crate::judge::audit::{Finding, Live, NotedHead, Place};

/// The JSON form of `audit`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Report {
    /// How it ended.
    pub(super) status: Status,
    /// What was found.
    pub(super) findings: Vec<Finding>,
    /// What was looked at; none when the ledger could not be read on.
    pub(super) checked: Option<Checked>,
    /// The ledger's head.
    pub(super) head: Option<Digest>,
    /// Where the noted head is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) noted: Option<NotedHead>,
    /// What is worth knowing and changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// In what this program differs from the one that the session was made with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) judge: Option<OtherJudge>,
    /// What the world said, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<Live>,
}

/// How an audit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    /// Nothing was found.
    Clean,
    /// Something was.
    Found,
    /// Not everything was looked at.
    Interrupted,
}

impl Status {
    /// How an audit ended that was `stopped` or not, and found this.
    pub(super) fn of(stopped: bool, findings: &[Finding]) -> Self {
        if stopped {
            Self::Interrupted
        } else if findings.is_empty() {
            Self::Clean
        } else {
            Self::Found
        }
    }
}

impl Report {
    /// A ledger or settings that cannot be believed: nothing else was looked at.
    pub(super) fn of_damage(finding: Finding) -> Self {
        Self {
            status: Status::Found,
            live: None,
            findings: vec![finding],
            checked: None,
            head: None,
            noted: None,
            notes: Vec::new(),
            judge: None,
        }
    }
}

/// Writes a report as people read it.
pub(super) fn text(paper: &mut Paper, report: &Report) {
    for finding in &report.findings {
        self::finding(paper, finding);
    }
    for note in &report.notes {
        paper.line(format!("note: {}", Escaped(note)));
    }
    if let Some(judge) = &report.judge {
        paper.line(other_judge(judge));
    }
    if let Some(NotedHead { line, since }) = report.noted {
        let since = plural(since, "line");
        paper.line(format!(
            "the noted head is that of line {line}; {since} since"
        ));
    }
    if let Some(live) = &report.live {
        self::live(paper, live);
    }
    if report.status == Status::Interrupted {
        paper.line("stopped before everything was looked at");
    }
    paper.line(summary(report));
}

fn live(paper: &mut Paper, live: &Live) {
    for Silent { place, facts } in &live.unanswered {
        let word = paper.tint(Tone::Doubt, "unanswered");
        let rules: Vec<&str> = facts.iter().map(|fact| fact.rule.as_str()).collect();
        let place = self::place(place);
        paper.line(format!("{word}: {place}{}", Escaped(&rules.join(", "))));
    }
    paper.line(format!(
        "the world was asked again about {} of them: {} drifted, {} unanswered{}",
        live.asked,
        live.drift.len(),
        live.unanswered.len(),
        match live.left {
            0 => String::new(),
            left => format!(", {left} left"),
        }
    ));
}

fn finding(paper: &mut Paper, finding: &Finding) {
    let kind = paper.tint(Tone::Bad, finding.kind.name());
    let place = place(&finding.place);
    paper.line(format!("{kind}: {place}{}", Escaped(&finding.what)));
    for fact in &finding.facts {
        let (rule, actual) = (&fact.rule, Escaped(&fact.actual));
        paper.line(format!("  {rule}: {actual}"));
    }
}

/// Where it is, as the beginning of a sentence.
fn place(place: &Place) -> String {
    let line = place.line.map(|line| format!("line {line}"));
    let quest = place.quest.map(|quest| match &place.key {
        Some(key) => format!("quest {quest} ({})", Escaped(key.as_str())),
        None => format!("quest {quest}"),
    });
    let words: Vec<String> = line.into_iter().chain(quest).collect();
    match words.as_slice() {
        [] => String::new(),
        words => format!("{}: ", words.join(", ")),
    }
}

fn other_judge(judge: &OtherJudge) -> String {
    let mut differs = Vec::new();
    if let Some(program) = &judge.program {
        differs.push(format!("comail {}", Escaped(program)));
    }
    if !judge.lists.is_empty() {
        let lists = judge.lists.iter().map(|list| {
            let short = |digest: Option<Digest>| {
                digest.map_or("none".to_owned(), |digest| {
                    digest.to_string().chars().take(12).collect()
                })
            };
            let (session, here) = (short(list.session), short(list.here));
            format!("{} {session} (here {here})", Escaped(&list.name))
        });
        let lists: Vec<String> = lists.collect();
        differs.push(format!("its own lists: {}", lists.join(", ")));
    }
    format!("note: the session was judged by {}", differs.join(" and "))
}

fn summary(report: &Report) -> String {
    let found = plural(report.findings.len() as u64, "finding");
    let Some(checked) = report.checked else {
        return format!("{found}; nothing else could be checked before this is mended");
    };
    let head = report.head.map(|head| format!("; head {head}"));
    format!(
        "{found}: {} of {}, {} ({} judged again from evidence){}",
        plural(checked.lines, "line"),
        plural(checked.quests as u64, "quest"),
        plural(checked.judgements, "judgement"),
        plural(checked.passes, "PASS").replace("PASSs", "PASSes"),
        head.unwrap_or_default()
    )
}
