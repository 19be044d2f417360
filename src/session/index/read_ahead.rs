//! Reading the ledger on one thread while another fills the index.

use std::mem;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::session::chain::Tip;
use crate::session::error::SessionError;
use crate::session::event::Event;
use crate::session::fold::Written;
use crate::session::ledger::{Ledger, Stop, Tail};
use crate::session::progress::Watch;

/// A line that was read and checked.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) event: Event,
    pub(super) written: Written,
    /// The end of the chain after it.
    pub(super) tip: Tip,
}

/// How many lines go over at once.
const BATCH_LINES: usize = 64;

/// How many batches may wait. Lines have tens of kilobytes at times.
const BATCHES_AHEAD: usize = 4;

/// Reads the lines that `ledger` has beyond its place and hands them to `take`, in order.
pub(super) fn read_ahead(
    ledger: &mut Ledger,
    watch: &dyn Watch,
    take: &mut dyn FnMut(Read) -> Result<(), Stop>,
) -> Result<Tail, SessionError> {
    let mut place = ledger.clone();
    let (taken, read) = thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_AHEAD);
        let reader = scope.spawn(move || send_lines(ledger, watch, &sender));
        let taken = receiver.into_iter().flatten().try_for_each(|read: Read| {
            let (tip, span) = (read.tip, read.written.span);
            take(read).or_else(|stop| place.stopped(stop).map(|_| ()))?;
            place.move_to(tip, span);
            Ok(())
        });
        match reader.join() {
            Ok(read) => (taken, read),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    taken.and(read)
}

/// Reads on for as long as somebody listens.
fn send_lines(
    ledger: &mut Ledger,
    watch: &dyn Watch,
    sender: &SyncSender<Vec<Read>>,
) -> Result<Tail, SessionError> {
    let mut batch = Vec::with_capacity(BATCH_LINES);
    let read = ledger.read_on(watch, &mut |line, event, span| {
        batch.push(Read {
            event,
            written: Written {
                at: line.at(),
                span,
            },
            tip: line.tip(),
        });
        if batch.len() < BATCH_LINES {
            return Ok(());
        }
        let full = mem::replace(&mut batch, Vec::with_capacity(BATCH_LINES));
        // Whoever listened has met something wrong, and says so.
        sender.send(full).map_err(|_| Stop::Enough)
    });
    // Lines before a damaged one are taken in, so that what is wrong with them is told first.
    let _ = sender.send(batch);
    read
}
