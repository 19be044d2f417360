//! `comail insights`: what costs tries.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::Exit;
use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::report::{
    self, AgentInsights, DrivenWork, HalfLife, Insights, Recurring, RuleInsight, SessionInsight,
    SessionTally, Who, Work,
};
use crate::session::{Log, SessionError};

/// Show what uses up tries, in one or several sessions
///
/// Prints the tries for each quest and rule, the share that passes on the first try, the time and
/// tokens for each PASS, and the facts that recur; by agent and model for sessions of `comail run`.
/// Recent sessions count more. The sessions are not changed.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct InsightsArgs {
    /// The session directories [default: the current session]
    #[arg(value_name = "SESSION")]
    sessions: Vec<PathBuf>,

    /// Age in days at which a session counts half as much as the newest one
    #[arg(long, value_name = "DAYS", default_value = "30")]
    half_life: NonZeroU32,
}

const EXAMPLES: &str = "\
Examples:
  comail insights
  comail insights .comail-may .comail-june --half-life 14";

const MOST_RULES: usize = 8;

const MOST_RULES_OF_AGENT: usize = 3;

pub(super) fn run(context: &mut Context, args: &InsightsArgs) -> Result<Exit> {
    let own = [context.session_dir().to_owned()];
    let dirs = match &args.sessions[..] {
        [] => &own[..],
        named => named,
    };
    let tallies: Result<Vec<_>, _> = dirs.iter().map(|dir| tally(context, dir)).collect();
    let half_life = HalfLife::of_days(args.half_life.get());
    let insights = report::combine(tallies?, half_life);
    context.output.show(&insights, text)?;
    Ok(Exit::Done)
}

fn tally(context: &Context, dir: &Path) -> Result<SessionTally, SessionError> {
    let (manifest, mut log) = Log::open(dir)?;
    let mut tally = SessionTally::new(dir.display().to_string(), manifest.kind.name);
    log.read_on_watched(&*context.watch(), &mut |entry| {
        tally.take(&entry.event, entry.line.at());
    })?;
    Ok(tally)
}

fn text(paper: &mut Paper, insights: &Insights) {
    for session in &insights.sessions {
        paper.line(session_line(session));
    }
    if insights.sessions.len() > 1 {
        let days = plural(insights.half_life_days, "day");
        paper.line(format!(
            "shares and averages count a session half after {days}"
        ));
    }
    paper.gap();
    work(paper, "", &insights.all);
    for agent in &insights.agents {
        let is_all = insights.agents.len() == 1 && agent.who == Who::default();
        if !is_all {
            of_agent(paper, agent);
        }
    }
    rules(paper, &insights.rules);
    facts(paper, &insights.facts);
}

fn session_line(session: &SessionInsight) -> String {
    let last = session.last.map(|last| format!(", last line {last}"));
    format!(
        "session {} ({}): {}{}, counts {:.2}",
        Escaped(&session.session),
        Escaped(&session.kind),
        plural(session.submissions, "submission"),
        last.unwrap_or_default(),
        session.weight
    )
}

fn work(paper: &mut Paper, indent: &str, work: &Work) {
    paper.line(format!(
        "{indent}{}, {}, {} passed",
        plural(work.quests, "quest"),
        plural(work.submissions, "submission"),
        work.passed
    ));
    if work.driven.quests > 0 {
        paper.line(format!("{indent}{}", driven(&work.driven)));
    }
    if let Some(tries) = work.tries_per_quest {
        paper.line(format!("{indent}submissions for a quest  {tries:.2}"));
    }
    if let Some(share) = work.first_try.share {
        let (part, of) = (work.first_try.part, work.first_try.of);
        let percent = share * 100.0;
        paper.line(format!(
            "{indent}passed at the first try  {percent:.1} %  ({part} of {of})"
        ));
    }
    if let (Some(seconds), Some(tokens)) = (work.seconds_per_pass, work.tokens_per_pass) {
        let about = if work.tokens_estimated { "about " } else { "" };
        let note = if work.tokens_estimated {
            ", estimated in part"
        } else {
            ""
        };
        paper.line(format!(
            "{indent}for a PASS               {seconds:.1} s, {about}{tokens:.0} tokens{note}"
        ));
    }
}

fn driven(work: &DrivenWork) -> String {
    let (quests, passed) = (plural(work.quests, "quest"), work.passed);
    let text = format!("{quests} driven, {passed} passed");
    if work.silent_starts == 0 {
        return text;
    }
    let about = if work.silent_estimated { "~" } else { "" };
    let seconds = work.silent_milliseconds.div_ceil(1000);
    format!(
        "{text}, {} never answered ({} without a submission, {seconds} s, {about}{} tokens)",
        work.unanswered,
        plural(work.silent_starts, "start"),
        work.silent_tokens
    )
}

fn of_agent(paper: &mut Paper, agent: &AgentInsights) {
    let name = match (&agent.who.agent, &agent.who.model) {
        (None, _) => "no agent of a run".to_owned(),
        (Some(agent), None) => format!("agent {}", Escaped(agent)),
        (Some(agent), Some(model)) => format!("agent {}, model {}", Escaped(agent), Escaped(model)),
    };
    paper.line(paper.tint(Tone::Strong, &name));
    work(paper, "  ", &agent.work);
    for rule in agent.rules.iter().take(MOST_RULES_OF_AGENT) {
        paper.line(format!("  {:>8}  {}", rule.tries, Escaped(&rule.rule)));
    }
}

fn rules(paper: &mut Paper, rules: &[RuleInsight]) {
    if rules.is_empty() {
        return;
    }
    paper.gap();
    paper.line("rules that cost tries");
    for rule in rules.iter().take(MOST_RULES) {
        let quests = plural(rule.quests.unwrap_or_default(), "quest");
        let name = Escaped(&rule.rule);
        paper.line(format!("  {:>8}  {name}  in {quests}", rule.tries));
    }
}

fn facts(paper: &mut Paper, facts: &[Recurring]) {
    if facts.is_empty() {
        return;
    }
    paper.gap();
    paper.line("facts that recur, in submissions");
    for fact in facts {
        let field = fact
            .field
            .as_ref()
            .map(|field| format!("  field {}", Escaped(field)));
        let (rule, field) = (Escaped(&fact.rule), field.unwrap_or_default());
        let quests = plural(fact.quests, "quest");
        paper.line(format!(
            "  {:>8}  {rule}{field}  in {quests}",
            fact.submissions
        ));
        paper.line(format!("            expected: {}", Escaped(&fact.expected)));
        paper.line(format!("            actual:   {}", Escaped(&fact.actual)));
    }
}
