//! `status --watch` at a terminal: one screen that is kept up to date.

use std::time::Duration;

use anyhow::Result;

use super::eye::Eye;
use super::fit;
use crate::cli::context::{self, Context};
use crate::cli::exit::Exit;
use crate::cli::terminal::{Happened, Terminal, painted};
use crate::report::screen::{Frame, Size, changes};
use crate::review::screen::Key;

/// How long it takes at most until a change is seen.
const REDRAW_INTERVAL: Duration = Duration::from_millis(500);

pub(super) fn watch(context: &mut Context) -> Result<Exit> {
    // What is wrong with the session is told before the terminal is taken.
    let mut eye = Eye::open(context.session_dir())?;
    let terminal = Terminal::enter()?;
    let ended = sit(&mut eye, &terminal, context);
    drop(terminal);
    for mended in eye.mended() {
        context.output.note(&mended);
    }
    ended
}

/// Keeps the screen up to date until it is left.
fn sit(eye: &mut Eye, terminal: &Terminal, context: &Context) -> Result<Exit> {
    let (output, session) = (&context.output, context.named_session());
    let mut shown: Option<(Size, Frame)> = None;
    loop {
        eye.look()?;
        let size = Terminal::size();
        let status = eye.status(context::now());
        let frame = fit::frame(&status, session, size, &|| output.paper());
        let before = shown.as_ref().filter(|(before, _)| *before == size);
        let changes = changes(before.map(|(_, frame)| frame), &frame);
        if !changes.is_empty() {
            terminal.show(&painted(&changes, None, output)?)?;
        }
        shown = Some((size, frame));
        match Terminal::wait(REDRAW_INTERVAL)? {
            Happened::Key(Key::Char('q') | Key::Escape) => return Ok(Exit::Done),
            Happened::Key(Key::Interrupt) => return Ok(Exit::Interrupted),
            Happened::Key(_) | Happened::Nothing => {}
            // Nobody knows what a screen shows that was given another size.
            Happened::Other => shown = None,
        }
    }
}
