//! The terminal: keys in, frames out.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;
#[cfg(unix)]
use std::{sync::mpsc, thread};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use crossterm::terminal::{
    DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{event, execute, terminal};
#[cfg(unix)]
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};

#[cfg(unix)]
use super::held::Keeper;
use super::held::{Device, Held};
use crate::cli::output::Output;
use crate::report::screen::Size;
use crate::review::screen::Key;

/// What a terminal has that does not say how large it is.
const USUAL: Size = Size {
    columns: 80,
    rows: 24,
};

/// How long a terminal is given to take itself back.
#[cfg(unix)]
const GIVING_BACK: Duration = Duration::from_secs(1);

/// Whether a person sits at a terminal that can show screens.
pub(in crate::cli) fn is_possible(output: &Output) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !output.is_json() && !dumb && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The process's terminal, in raw mode and on its other screen as long as this lives.
pub(in crate::cli) struct Terminal(Held<Tty>);

/// What happened at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Happened {
    /// A key was pressed.
    Key(Key),
    /// Anything else, such as that it has another size.
    Other,
    /// Nothing.
    Nothing,
}

struct Tty;

impl Device for Tty {
    fn take(&mut self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            DisableLineWrap,
            EnableBracketedPaste
        )
    }

    fn give_back(&mut self) {
        // What cannot be given back is nobody's to mend: each is tried.
        let _ = execute!(
            io::stdout(),
            DisableBracketedPaste,
            EnableLineWrap,
            Show,
            LeaveAlternateScreen
        );
        let _ = terminal::disable_raw_mode();
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }
}

impl Terminal {
    /// Takes the terminal. A signal that ends the process gives it back first.
    pub(in crate::cli) fn enter() -> io::Result<Self> {
        #[cfg(unix)]
        let signals = signals()?;
        let held = Held::take(Tty)?;
        #[cfg(unix)]
        heed(signals, held.keeper());
        Ok(Self(held))
    }

    /// How large it is.
    pub(in crate::cli) fn size() -> Size {
        match terminal::size() {
            Ok((columns, rows)) if columns > 0 && rows > 0 => Size {
                columns: columns.into(),
                rows: rows.into(),
            },
            _ => USUAL,
        }
    }

    /// Shows what was painted.
    pub(in crate::cli) fn show(&self, painted: &[u8]) -> io::Result<()> {
        self.0.send(painted)
    }

    /// Waits for something to happen: a key, or nothing but a reason to show everything anew.
    pub(in crate::cli) fn key() -> io::Result<Option<Key>> {
        Ok(match event::read()? {
            Event::Key(event) if event.kind != KeyEventKind::Release => key(event),
            Event::Paste(text) => Some(Key::Paste(text)),
            _ => None,
        })
    }

    /// Waits for something to happen, but no longer than this.
    pub(in crate::cli) fn wait(patience: Duration) -> io::Result<Happened> {
        if !event::poll(patience)? {
            return Ok(Happened::Nothing);
        }
        Ok(Self::key()?.map_or(Happened::Other, Happened::Key))
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let other = KeyModifiers::ALT | KeyModifiers::SUPER | KeyModifiers::META | KeyModifiers::HYPER;
    if event.modifiers.intersects(other) {
        return None;
    }
    Some(match event.code {
        KeyCode::Char('c') if control => Key::Interrupt,
        KeyCode::Char('u') if control => Key::Clear,
        KeyCode::Char('h') if control => Key::Backspace,
        KeyCode::Char(_) if control => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

/// The signals that end the process, which they do no longer by themselves.
#[cfg(unix)]
fn signals() -> io::Result<Signals> {
    Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
}

/// Ends the process as a signal does, once the terminal is given back.
#[cfg(unix)]
fn heed(mut signals: Signals, keeper: Keeper<Tty>) {
    thread::spawn(move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            keeper.give_back();
            let _ = tell.send(());
        });
        // A terminal that takes nothing any more keeps no process alive.
        let _ = told.recv_timeout(GIVING_BACK);
        let _ = emulate_default_handler(signal);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_control_are_no_letters() {
        let press = |c, modifiers| key(KeyEvent::new(KeyCode::Char(c), modifiers));
        assert_eq!(press('a', KeyModifiers::NONE), Some(Key::Char('a')));
        assert_eq!(press('?', KeyModifiers::SHIFT), Some(Key::Char('?')));
        assert_eq!(press('c', KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(press('u', KeyModifiers::CONTROL), Some(Key::Clear));
        assert_eq!(press('a', KeyModifiers::CONTROL), None);
        assert_eq!(press('a', KeyModifiers::ALT), None);
    }
}
