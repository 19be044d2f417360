//! `comail log`: the events of the ledger.

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::Context;
use super::exit::Exit;
use super::output::{Output, TextOutput, Tone};
use super::progress;
use super::progress::Interrupt;
use crate::base::text::{Escaped, escape_json, plural};
use crate::quest::{Anchor, Key, Quest, QuestId, Verdict};
use crate::session::{
    Attempt, Decided, DecisionPolicy, Entry, Event, EventType, Ledger, Manifest, OperatorKey,
    RunLine, RunStep, SessionError, Settlement, State, Unwatched,
};

/// Print the events of the ledger
///
/// With --json, the lines of the ledger are printed unchanged, so that you can verify the chain. On a
/// terminal, control characters are escaped. Neither the session nor its index is changed.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct LogArgs {
    /// Print new events as they are appended, until Ctrl-C
    #[arg(long)]
    follow: bool,

    /// Start with this event; the first is 0
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    from: u64,

    /// Print only events of these types
    #[arg(
        long = "type",
        value_name = "TYPE,TYPE…",
        value_delimiter = ',',
        value_parser = event_type()
    )]
    types: Vec<EventType>,
}

const EXAMPLES: &str = "\
Examples:
  comail log --follow
  comail log --type attempt,resolution
  comail log --from 100 --json";

/// How long `--follow` waits before it looks for new events.
const PATIENCE: Duration = Duration::from_millis(200);

const BATCH_BYTES: usize = 64 * 1024;

pub(super) fn run(context: &mut Context, args: &LogArgs) -> Result<Exit> {
    let (manifest, mut log) = Ledger::open(context.session_dir())?;
    let mut printer = Printer {
        out: context.output.out(),
        words: Words::new(&manifest),
        output: &mut context.output,
        args,
    };
    // Without --follow the command ends by itself, so Ctrl-C may kill it.
    let interrupt = args.follow.then(Interrupt::heed);
    loop {
        if printer.print(&mut log)?.is_break() {
            return Ok(Exit::Done);
        }
        let Some(interrupt) = interrupt else {
            return Ok(Exit::Done);
        };
        if let Some(exit) = progress::ends_within(PATIENCE, interrupt) {
            return Ok(exit);
        }
    }
}

fn event_type() -> impl TypedValueParser<Value = EventType> {
    let names = EventType::ALL.map(EventType::name);
    PossibleValuesParser::new(names)
        .try_map(|name| EventType::named(&name).ok_or("there is no such type"))
}

struct Printer<'a> {
    output: &'a mut Output,
    args: &'a LogArgs,
    words: Words,
    out: TextOutput,
}

impl Printer<'_> {
    /// Prints new events; breaks if the reader of stdout has gone.
    fn print(&mut self, log: &mut Ledger) -> Result<ControlFlow<()>> {
        match self.read(log) {
            // Another process may have repaired a torn line while it was read. Real damage is
            // still there in the second try.
            Err(error) if is_damage(&error) => {
                thread::sleep(PATIENCE);
                self.read(log)
            }
            ended => ended,
        }
    }

    fn read(&mut self, log: &mut Ledger) -> Result<ControlFlow<()>> {
        let mut flow = Ok(ControlFlow::Continue(()));
        let read = log.read_while(&Unwatched, &mut |entry| {
            self.write(&entry);
            if self.out.len() >= BATCH_BYTES {
                flow = self.output.go_on(&mut self.out);
            }
            match flow {
                Ok(flow) => flow,
                Err(_) => ControlFlow::Break(()),
            }
        });
        if flow?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // Print the events before a damaged line.
        let flow = self.output.go_on(&mut self.out)?;
        read?;
        Ok(flow)
    }

    fn write(&mut self, entry: &Entry<'_>) {
        let args = self.args;
        let kind = entry.event.kind();
        self.words.note(&entry.event);
        if entry.line.seq() < args.from || !(args.types.is_empty() || args.types.contains(&kind)) {
            return;
        }
        if !self.output.is_json() {
            let line = self.words.line(&self.out, entry);
            self.out.line(line);
        } else if self.output.is_terminal() {
            self.out.line(escape_json(entry.line.text()));
        } else {
            self.out.line(entry.line.text());
        }
    }
}

fn is_damage(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SessionError::Damaged { .. }))
}

/// Describes events, with what it remembers of earlier ones.
pub(super) struct Words {
    max_tries: NonZeroU32,
    operator_key: Option<OperatorKey>,
    /// Whose decisions count; known from the first event on.
    court: Option<DecisionPolicy>,
    keys: Vec<Key>,
}

impl Words {
    pub(super) fn new(manifest: &Manifest) -> Self {
        Self {
            max_tries: manifest.frozen.max_tries,
            operator_key: manifest.frozen.operator_key,
            court: None,
            keys: Vec::new(),
        }
    }

    /// Remembers what later events do not repeat.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::Session(started) => {
                self.court = Some(DecisionPolicy {
                    session: started.manifest,
                    key: self.operator_key,
                });
            }
            Event::Quest(quest) => self.keys.push(quest.key.clone()),
            _ => {}
        }
    }

    pub(super) fn line(&self, out: &TextOutput, entry: &Entry<'_>) -> String {
        let (seq, at) = (entry.line.seq(), entry.line.at());
        let kind = entry.event.kind().name();
        let what = self.what(out, &entry.event);
        let unsealed = self.unsealed(out, entry);
        format!("{seq:>6}  {at:.3}  {kind:<10}  {what}{unsealed}")
    }

    fn what(&self, out: &TextOutput, event: &Event) -> String {
        let (quest, text) = match event {
            Event::Session(_) => return String::from("the session begins"),
            Event::Run(line) => return self.run(line),
            Event::Extended(extended) => {
                let path = Escaped(&extended.source.path);
                return format!("{} more, of {path}", plural(extended.added, "quest"));
            }
            Event::Resumed(resumed) => {
                let quests = plural(resumed.streak, "quest");
                return format!("resumed after {quests} in a row without proof");
            }
            Event::Forgotten(forgotten) => {
                let lines = plural(forgotten.lines.len() as u64, "line");
                let (by, note) = (Escaped(&forgotten.by), Escaped(&forgotten.note));
                return format!("an address, in {lines}, by {by}: {note}");
            }
            Event::Settled(settlement) => return self.settled(settlement),
            Event::Quest(quest) => (quest.id, listed(quest)),
            Event::Asked(asked) => {
                let asked_or_not = if asked.withdrawn {
                    "could not be asked"
                } else {
                    "are asked"
                };
                let number = asked.number;
                let text = format!("reviewers {asked_or_not} about attempt {number}");
                (asked.quest, text)
            }
            Event::Attempt(attempt) => (attempt.quest, self.attempt(out, attempt)),
            Event::Claim(claimed) => {
                let (worker, lease) = (&claimed.worker, claimed.lease);
                (claimed.quest, format!("{worker} claims it for {lease}"))
            }
            Event::Released(released) => {
                (released.quest, format!("released from {}", released.worker))
            }
            Event::Resolution(resolution) => {
                let verdict = judged(out, resolution.verdict, &resolution.rules);
                let outcome = resolution.outcome.name();
                let text = format!("{outcome}, judged again: {verdict}");
                (resolution.quest, text)
            }
            Event::Carried(carried) => {
                let (attempt, origin) = (&carried.attempt, &carried.origin);
                let verdict = judged(out, attempt.verdict, &attempt.rules);
                let (at, quest, session) = (origin.at, origin.quest, Escaped(&origin.session));
                let text = format!("{verdict} of {at:.3}, from quest {quest} of {session}");
                (attempt.quest, text)
            }
            Event::Disputed(dispute) => {
                let (by, note) = (Escaped(&dispute.by), Escaped(&dispute.note));
                (dispute.quest, format!("disputed by {by}: {note}"))
            }
        };
        format!("{}: {text}", self.name(quest))
    }

    fn run(&self, line: &RunLine) -> String {
        let run = line.run;
        match &line.step {
            RunStep::Began(began) => {
                let (agent, agents) = (Escaped(&began.agent), plural(began.workers, "agent"));
                format!("{run} begins: {agents} at once, {agent}")
            }
            RunStep::Attempt(driven) => {
                let (name, start, reason) = (self.name(driven.quest), driven.start, driven.reason);
                let tokens = plural(driven.spent.tokens, "token");
                format!("{run}: {name}: start {start} of the agent: {reason}, {tokens}")
            }
            RunStep::Quest(driven) => {
                let starts = plural(driven.starts, "start");
                let said = driven.handover.as_deref().map(Escaped);
                let said = said.map(|said| format!(": {said}")).unwrap_or_default();
                let name = self.name(driven.quest);
                format!("{run}: {name}: {} after {starts}{said}", driven.reason)
            }
            RunStep::Ended { reason } => format!("{run} ends: {reason}"),
        }
    }

    /// Marks a decision that the operator's key did not sign.
    fn unsealed(&self, out: &TextOutput, entry: &Entry<'_>) -> String {
        let counts = match &entry.event {
            Event::Settled(settlement) => self.admits(settlement.as_ref(), entry),
            Event::Disputed(dispute) => self.admits(dispute.as_ref(), entry),
            Event::Forgotten(forgotten) => self.admits(forgotten.as_ref(), entry),
            _ => true,
        };
        if counts {
            return String::new();
        }
        let word = out.tint(Tone::Bad, "not signed with the operator's key");
        format!(" ({word}, and ignored)")
    }

    fn admits<T: Decided>(&self, decided: &T, entry: &Entry<'_>) -> bool {
        let after = entry.line.prev();
        self.court.is_none_or(|court| court.admits(decided, after))
    }

    fn attempt(&self, out: &TextOutput, attempt: &Attempt) -> String {
        let mut text = judged(out, attempt.verdict, &attempt.rules);
        if attempt.verdict == Verdict::Fail {
            let (used, most) = (attempt.tries, self.max_tries);
            text = format!("{text}, {used} of {most} tries used");
            if attempt.state == State::Done {
                text += ", now DONE";
            }
        }
        if let Some(worker) = &attempt.worker {
            text = format!("{text}, by {worker}");
        }
        text
    }

    fn settled(&self, settlement: &Settlement) -> String {
        let (by, note) = (Escaped(&settlement.by), Escaped(&settlement.note));
        let what = match settlement.quests.as_slice() {
            [one] => self.name(one.quest),
            many => plural(u32::try_from(many.len()).unwrap_or(u32::MAX), "quest"),
        };
        format!("{what}: {} by {by}: {note}", settlement.decision.name())
    }

    fn name(&self, id: QuestId) -> String {
        match self.keys.get(id.index()) {
            Some(key) => format!("quest {id}, {}", Escaped(key.as_str())),
            None => format!("quest {id}"),
        }
    }
}

fn listed(quest: &Quest) -> String {
    let rows = match quest.rows.as_slice() {
        [] => "no row".to_owned(),
        [row] => format!("row {row}"),
        [row, ..] => format!("{} rows from row {row} on", quest.rows.len()),
    };
    match &quest.anchor {
        Some(Anchor::Site(site)) => format!("{rows}, site {}", Escaped(site)),
        None => rows,
    }
}

fn judged(out: &TextOutput, verdict: Verdict, rules: &[String]) -> String {
    let tone = match verdict {
        Verdict::Pass => Tone::Good,
        Verdict::Review => Tone::Doubt,
        Verdict::Fail => Tone::Bad,
    };
    let verdict = out.tint(tone, &verdict.to_string());
    if rules.is_empty() {
        return verdict;
    }
    format!("{verdict} {}", Escaped(&rules.join(", ")))
}
