//! The terminal: reads keys and shows frames.

use std::io::{IsTerminal as _, Write as _};
#[cfg(unix)]
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(unix)]
use std::thread;
use std::time::Duration;
use std::{io, panic};

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
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#[cfg(unix)]
use signal_hook::iterator::Signals;
#[cfg(unix)]
use signal_hook::low_level::emulate_default_handler;

use crate::cli::output::Output;
use crate::cli::terminal::Key;
use crate::cli::terminal::Size;

/// The size if the terminal does not report one.
const USUAL: Size = Size {
    columns: 80,
    rows: 24,
};

#[cfg(unix)]
const GIVING_BACK: Duration = Duration::from_secs(1);

pub(in crate::cli) fn is_possible(output: &Output) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !output.is_json() && !dumb && io::stdin().is_terminal() && io::stdout().is_terminal()
}

pub(in crate::cli) struct Terminal(Held<Tty>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Happened {
    Key(Key),
    /// Anything else, such as a resize.
    Other,
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
        // Errors are ignored: every step is tried, whatever the others did.
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
    /// Takes the terminal. A signal that ends the process restores it first.
    pub(in crate::cli) fn enter() -> io::Result<Self> {
        #[cfg(unix)]
        let signals = signals()?;
        let held = Held::take(Tty)?;
        #[cfg(unix)]
        heed(signals, held.keeper());
        Ok(Self(held))
    }

    pub(in crate::cli) fn size() -> Size {
        match terminal::size() {
            Ok((columns, rows)) if columns > 0 && rows > 0 => Size {
                columns: columns.into(),
                rows: rows.into(),
            },
            _ => USUAL,
        }
    }

    pub(in crate::cli) fn show(&self, painted: &[u8]) -> io::Result<()> {
        self.0.send(painted)
    }

    /// Waits for a key, or for another event that requires a redraw.
    pub(in crate::cli) fn key() -> io::Result<Option<Key>> {
        Ok(match event::read()? {
            Event::Key(event) if event.kind != KeyEventKind::Release => key(event),
            Event::Paste(text) => Some(Key::Paste(text)),
            _ => None,
        })
    }

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

#[cfg(unix)]
fn signals() -> io::Result<Signals> {
    Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
}

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
        // A terminal that accepts no output must not keep the process alive.
        let _ = told.recv_timeout(GIVING_BACK);
        let _ = emulate_default_handler(signal);
    });
}

pub(super) trait Device: Send + 'static {
    fn take(&mut self) -> io::Result<()>;
    fn give_back(&mut self);
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// Holds a device until it is dropped or given back.
pub(super) struct Held<D: Device>(Keeper<D>);

pub(super) struct Keeper<D: Device>(Arc<Mutex<State<D>>>);

struct State<D> {
    device: D,
    held: bool,
}

impl<D: Device> Held<D> {
    pub(super) fn take(device: D) -> io::Result<Self> {
        let state = State { device, held: true };
        // From here on, a device that was only partly taken is given back.
        let held = Self(Keeper(Arc::new(Mutex::new(state))));
        held.0.state().device.take()?;
        let keeper = held.keeper();
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            // The panic message would disappear with the screen.
            keeper.give_back();
            told(why);
        }));
        Ok(held)
    }

    pub(super) fn keeper(&self) -> Keeper<D> {
        Keeper(Arc::clone(&self.0.0))
    }

    /// Sends bytes if the device is still held.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        if state.held {
            state.device.send(bytes)
        } else {
            Ok(())
        }
    }
}

impl<D: Device> Keeper<D> {
    pub(super) fn give_back(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.held) {
            state.device.give_back();
        }
    }

    fn state(&self) -> MutexGuard<'_, State<D>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Device> Drop for Held<D> {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

#[cfg(test)]
mod tests_tty {
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

#[cfg(test)]
mod tests_held {
    use super::*;

    struct Noted {
        done: Arc<Mutex<Vec<&'static str>>>,
        broken: bool,
    }

    impl Device for Noted {
        fn take(&mut self) -> io::Result<()> {
            self.done.lock().unwrap().push("take");
            if self.broken {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(())
        }

        fn give_back(&mut self) {
            self.done.lock().unwrap().push("give back");
        }

        fn send(&mut self, _: &[u8]) -> io::Result<()> {
            self.done.lock().unwrap().push("send");
            Ok(())
        }
    }

    fn done(broken: bool, work: fn(&Held<Noted>)) -> Vec<&'static str> {
        let done = Arc::new(Mutex::new(Vec::new()));
        let device = Noted {
            done: Arc::clone(&done),
            broken,
        };
        let worked = panic::catch_unwind(|| Held::take(device).map(|held| work(&held)).is_ok());
        drop(worked);
        Arc::try_unwrap(done).map_or_else(
            |done| done.lock().unwrap().clone(),
            |done| done.into_inner().unwrap(),
        )
    }

    #[test]
    fn is_given_back_once_whatever_happens() {
        let sends = |held: &Held<Noted>| held.send(b"x").unwrap();
        assert_eq!(done(false, sends), ["take", "send", "give back"]);
        assert_eq!(done(true, sends), ["take", "give back"]);
        let panics: fn(&Held<Noted>) = |_| panic!("on purpose");
        assert_eq!(done(false, panics), ["take", "give back"]);
    }

    #[test]
    fn nothing_is_sent_to_what_was_given_back() {
        let early = |held: &Held<Noted>| {
            held.keeper().give_back();
            held.send(b"x").unwrap();
        };
        assert_eq!(done(false, early), ["take", "give back"]);
    }
}
