//! `comail log`: the ledger, line by line.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::Context;
use super::exit::Exit;
use super::interrupt::Interrupt;
use super::log_words::Words;
use super::output::{Output, Paper};
use super::reader;
use crate::base::text::escape_json;
use crate::session::{Entry, EventType, Log, SessionError, Unwatched};

/// Print the ledger: what happened, and when
///
/// One line an event. With --json, each line of the ledger as it stands, so that its chain can
/// be checked; only a terminal is spared what could steer it. The session is not changed, and
/// its index is not asked.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct LogArgs {
    /// Go on printing what is added, until Ctrl-C
    #[arg(long)]
    follow: bool,

    /// Begin with the event of this number; the first is 0
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    from: u64,

    /// Only events of these types
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

/// How long nothing is read after the end of the ledger was met.
const PATIENCE: Duration = Duration::from_millis(200);

/// How much is written at once.
const BATCH_BYTES: usize = 64 * 1024;

pub(super) fn run(context: &mut Context, args: &LogArgs) -> Result<Exit> {
    let (manifest, mut log) = Log::open(context.session_dir())?;
    let mut printer = Printer {
        paper: context.output.paper(),
        words: Words::new(&manifest),
        output: &mut context.output,
        args,
    };
    // Without --follow it ends by itself, and Ctrl-C may end it at once.
    let interrupt = args.follow.then(Interrupt::heed);
    loop {
        if printer.print(&mut log)?.is_break() {
            return Ok(Exit::Done);
        }
        let Some(interrupt) = interrupt else {
            return Ok(Exit::Done);
        };
        if let Some(exit) = reader::ends_within(PATIENCE, interrupt) {
            return Ok(exit);
        }
    }
}

fn event_type() -> impl TypedValueParser<Value = EventType> {
    let names = EventType::ALL.map(EventType::name);
    PossibleValuesParser::new(names)
        .try_map(|name| EventType::named(&name).ok_or("there is no such type"))
}

/// Prints what is wanted of the ledger.
struct Printer<'a> {
    output: &'a mut Output,
    args: &'a LogArgs,
    words: Words,
    paper: Paper,
}

impl Printer<'_> {
    /// Prints the lines that were not read yet; breaks when nobody reads them.
    fn print(&mut self, log: &mut Log) -> Result<ControlFlow<()>> {
        match self.read(log) {
            // A torn line may have been cut off and written anew while it was read, which looks
            // the same as damage; that stays.
            Err(error) if is_damage(&error) => {
                thread::sleep(PATIENCE);
                self.read(log)
            }
            ended => ended,
        }
    }

    fn read(&mut self, log: &mut Log) -> Result<ControlFlow<()>> {
        let mut flow = Ok(ControlFlow::Continue(()));
        let read = log.read_while(&Unwatched, &mut |entry| {
            self.write(&entry);
            if self.paper.len() >= BATCH_BYTES {
                flow = self.output.go_on(&mut self.paper);
            }
            match flow {
                Ok(flow) => flow,
                Err(_) => ControlFlow::Break(()),
            }
        });
        if flow?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // What stands before a damaged line is printed.
        let flow = self.output.go_on(&mut self.paper)?;
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
            let line = self.words.line(&self.paper, entry);
            self.paper.line(line);
        } else if self.output.is_terminal() {
            self.paper.line(escape_json(entry.line.text()));
        } else {
            self.paper.line(entry.line.text());
        }
    }
}

fn is_damage(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SessionError::Damaged { .. }))
}
