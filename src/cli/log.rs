//! `comail log`: the events of the ledger.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use minijinja::context;
use serde_json::Value;

use super::context::Context;
use super::exit::Exit;
use super::output::{Output, TextOutput};
use super::progress;
use crate::base::text::escape_json;
use crate::quest::Key;
use crate::session::{
    DecisionPolicy, Entry, Event, EventType, Frozen, Ledger, SessionError, Unwatched,
};

/// Print the events of the ledger
///
/// With --json, the lines of the ledger are printed unchanged, so that you can verify the chain. On a
/// terminal, control characters are escaped. Neither the session nor its index is changed.
#[derive(Debug, Args)]
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

/// How long `--follow` waits before it looks for new events.
const PATIENCE: Duration = Duration::from_millis(200);

const BATCH_BYTES: usize = 64 * 1024;

pub(super) fn run(context: &mut Context, args: &LogArgs) -> Result<Exit> {
    let (manifest, mut log) = Ledger::open(&context.dir)?;
    // Without --follow the command ends by itself, so Ctrl-C may kill it.
    if args.follow {
        progress::handle_ctrl_c();
    } else {
        context.output.page();
    }
    let mut printer = Printer {
        out: context.output.out(),
        output: &mut context.output,
        args,
        frozen: manifest.frozen,
        policy: None,
        keys: Vec::new(),
    };
    loop {
        log.catch_up()?;
        if printer.print(&mut log)?.is_break() || !args.follow {
            return Ok(Exit::Done);
        }
        if let Some(exit) = progress::ends_within(PATIENCE) {
            return Ok(exit);
        }
    }
}

fn event_type() -> impl TypedValueParser<Value = EventType> {
    let names = EventType::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<EventType>())
}

struct Printer<'a> {
    output: &'a mut Output,
    out: TextOutput,
    args: &'a LogArgs,
    frozen: Frozen,
    /// Decides which decisions count; known from the first event on.
    policy: Option<DecisionPolicy>,
    /// The keys of the quests, which later events do not repeat.
    keys: Vec<Key>,
}

impl Printer<'_> {
    /// Prints new events; breaks if stdout is a closed pipe.
    fn print(&mut self, log: &mut Ledger) -> Result<ControlFlow<()>> {
        match self.read(log) {
            // Another process may have repaired a torn line during the read. Real damage is
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
        match &entry.event {
            Event::Session(started) => {
                self.policy = Some(DecisionPolicy {
                    session: started.manifest,
                    key: self.frozen.operator_key,
                });
            }
            Event::Quest(quest) => self.keys.push(quest.key.clone()),
            _ => {}
        }
        let is_signed = self.is_signed(entry);
        if let (Event::Amended(amended), Some(policy)) = (&entry.event, &mut self.policy) {
            policy.amend(amended, entry.line.prev());
        }
        let (args, kind) = (self.args, entry.event.kind());
        if entry.line.seq() < args.from || !(args.types.is_empty() || args.types.contains(&kind)) {
            return;
        }
        if !self.output.json {
            self.write_text(entry, is_signed);
        } else if self.output.terminal {
            self.out.line(escape_json(entry.line.text()));
        } else {
            self.out.line(entry.line.text());
        }
    }

    fn write_text(&mut self, entry: &Entry<'_>, is_signed: bool) {
        // The ledger has parsed it already.
        let body: Value = serde_json::from_str(entry.line.body()).unwrap_or_default();
        let values = context! {
            seq => entry.line.seq(),
            at => format!("{:.3}", entry.line.at()),
            kind => entry.event.kind().name(),
            name => self.name(&body),
            max_tries => self.frozen.max_tries,
            is_signed,
            body,
        };
        // Line breaks in values are escaped, so the remaining ones come from the template.
        let line = self.out.rendered(include_str!("text/log.txt"), values);
        let line = line.replace('\n', "");
        self.out.line(line);
    }

    /// The quest that an event is about.
    fn name(&self, body: &Value) -> Option<String> {
        let places = ["/quest", "/id", "/attempt/quest", "/quests/0/quest"];
        let id = places
            .iter()
            .find_map(|place| body.pointer(place)?.as_u64())?;
        let index = usize::try_from(id).ok()?.checked_sub(1)?;
        Some(match self.keys.get(index) {
            Some(key) => format!("quest {id}, {}", key.as_str()),
            None => format!("quest {id}"),
        })
    }

    /// Whether a decision has the signature that the session requires.
    fn is_signed(&self, entry: &Entry<'_>) -> bool {
        let decision = entry.event.decision().zip(self.policy);
        decision.is_none_or(|(decided, policy)| policy.admits(decided, entry.line.prev()))
    }
}

fn is_damage(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SessionError::Damaged { .. }))
}
