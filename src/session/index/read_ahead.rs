//! Reading or writing the ledger on one thread while another fills the index.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::session::chain::Tip;
use crate::session::error::SessionError;
use crate::session::event::Event;
use crate::session::fold::Written;
use crate::session::ledger::{Ledger, Stop, Tail};
use crate::session::progress::Watch;

/// A line that stands in the ledger.
#[derive(Debug)]
pub(in crate::session) struct Read {
    pub(in crate::session) event: Event,
    pub(in crate::session) written: Written,
    /// The end of the chain after it.
    pub(in crate::session) tip: Tip,
}

/// How many lines go over at once.
const BATCH_LINES: usize = 64;

/// How many batches may wait. Lines have tens of kilobytes at times.
const BATCHES_AHEAD: usize = 4;

/// Hands lines over to another thread.
#[derive(Debug)]
pub(in crate::session) struct Batches {
    batch: Vec<Read>,
    sender: SyncSender<Vec<Read>>,
}

/// Whoever was to take the lines in has stopped, and says why elsewhere.
#[derive(Debug)]
pub(in crate::session) struct NobodyListens;

impl Batches {
    /// The two ends.
    pub(in crate::session) fn channel() -> (Self, Receiver<Vec<Read>>) {
        let (sender, receiver) = sync_channel(BATCHES_AHEAD);
        let batch = Vec::with_capacity(BATCH_LINES);
        (Self { batch, sender }, receiver)
    }

    /// Hands one line over.
    pub(in crate::session) fn push(&mut self, read: Read) -> Result<(), NobodyListens> {
        self.batch.push(read);
        if self.batch.len() < BATCH_LINES {
            return Ok(());
        }
        let full = mem::replace(&mut self.batch, Vec::with_capacity(BATCH_LINES));
        self.sender.send(full).map_err(|_| NobodyListens)
    }

    /// Hands over what is left.
    pub(in crate::session) fn end(self) {
        // Whoever has stopped listening says why.
        let _ = self.sender.send(self.batch);
    }
}

/// Reads the lines that `ledger` has beyond its place and hands them to `take`, in order.
pub(super) fn read_ahead(
    ledger: &mut Ledger,
    watch: &dyn Watch,
    take: &mut dyn FnMut(Read) -> Result<(), Stop>,
) -> Result<Tail, SessionError> {
    let place = ledger.clone();
    let (taken, read) = thread::scope(|scope| {
        let (batches, receiver) = Batches::channel();
        let reader = scope.spawn(move || send_lines(ledger, watch, batches));
        let taken = take_lines(receiver, place, take);
        match reader.join() {
            Ok(read) => (taken, read),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    taken.and(read)
}

/// Hands lines that come over to `take`, in order, of a ledger that was read up to `place`.
pub(super) fn take_lines(
    lines: Receiver<Vec<Read>>,
    mut place: Ledger,
    take: &mut dyn FnMut(Read) -> Result<(), Stop>,
) -> Result<(), SessionError> {
    lines.into_iter().flatten().try_for_each(|read| {
        let (tip, span) = (read.tip, read.written.span);
        take(read).or_else(|stop| place.stopped(stop).map(|_| ()))?;
        place.move_to(tip, span);
        Ok(())
    })
}

/// Reads on for as long as somebody listens.
fn send_lines(
    ledger: &mut Ledger,
    watch: &dyn Watch,
    mut batches: Batches,
) -> Result<Tail, SessionError> {
    let read = ledger.read_on(watch, &mut |line, event, span| {
        let read = Read {
            event,
            written: Written::of(line, span),
            tip: line.tip(),
        };
        batches.push(read).map_err(|NobodyListens| Stop::Enough)
    });
    // Lines before a damaged one are taken in, so that what is wrong with them is told first.
    batches.end();
    read
}
