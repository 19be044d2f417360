//! A full screen, drawn by ratatui. The terminal is restored, however the process ends.
//!
//! ratatui's own wrapping has no hanging indent, so lines are wrapped here before they are drawn.

use std::io::{self, IsTerminal as _, Stdout};
use std::panic;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{event, execute, terminal};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::output::{Output, TextOutput, Tone};
use super::terminal::is_dumb;
use crate::base::text::Escaped;
use crate::base::wrap::{LongWord, fitting, rows};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Char(char),
    /// Pasted text. It must not trigger keys.
    Paste(String),
    Enter,
    Escape,
    Backspace,
    Clear,
    Up,
    Down,
    PageUp,
    PageDown,
    /// To the first line.
    Home,
    End,
    Interrupt,
}

/// The rows of a screen, and the position of the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub rows: Vec<Line<'static>>,
    pub cursor: Option<(usize, usize)>,
}

pub(super) fn is_possible(output: &Output) -> bool {
    !output.json && !is_dumb() && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether the terminal is in use. Drawing and restoring hold the lock, so that nothing is drawn on a
/// restored terminal.
static TAKEN: Mutex<bool> = Mutex::new(false);

fn taken() -> MutexGuard<'static, bool> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn restore() {
    let mut taken = taken();
    if std::mem::take(&mut *taken) {
        // Errors are ignored, so that every step is tried.
        let _ = execute!(
            io::stdout(),
            DisableBracketedPaste,
            Show,
            LeaveAlternateScreen
        );
        let _ = terminal::disable_raw_mode();
    }
}

/// Restores the terminal before a panic is reported: its message would disappear with the screen.
fn restore_on_panic(restore: fn()) {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |why| {
        restore();
        report(why);
    }));
}

pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    colour: bool,
    shown: Option<View>,
}

impl Screen {
    /// Switches the terminal to the full screen. A signal that ends the process restores it first.
    pub(super) fn enter(output: &Output) -> io::Result<Self> {
        restore_on_signals()?;
        restore_on_panic(restore);
        *taken() = true;
        let screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(io::stdout()))?,
            colour: output.colour,
            shown: None,
        };
        // From here on, dropping the screen restores the terminal, even if a step below fails.
        terminal::enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(screen)
    }

    pub(super) fn show(&mut self, view: View) -> io::Result<()> {
        if self.shown.as_ref() == Some(&view) {
            return Ok(());
        }
        let taken = taken();
        if *taken {
            let colour = self.colour;
            execute!(io::stdout(), BeginSynchronizedUpdate)?;
            self.terminal.draw(|frame| {
                let width = frame.area().width;
                for (y, row) in (0..frame.area().height).zip(&view.rows) {
                    let plain = (!colour).then(|| Line::raw(row.to_string()));
                    let row = plain.as_ref().unwrap_or(row);
                    frame.buffer_mut().set_line(0, y, row, width);
                }
                if let Some((column, row)) = view.cursor {
                    frame.set_cursor_position((place(column), place(row)));
                }
            })?;
            execute!(io::stdout(), EndSynchronizedUpdate)?;
            self.shown = Some(view);
        }
        Ok(())
    }

    /// Waits for a key, or for another event that requires a redraw.
    pub(super) fn key(&mut self) -> io::Result<Option<Key>> {
        Ok(match event::read()? {
            Event::Key(event) if event.kind != KeyEventKind::Release => key(event),
            Event::Paste(text) => Some(Key::Paste(text)),
            _ => {
                // After a resize, the content of the terminal is unknown.
                let size = self.terminal.size()?;
                self.terminal.resize(Rect::from((Position::ORIGIN, size)))?;
                self.shown = None;
                None
            }
        })
    }

    pub(super) fn key_within(&mut self, patience: Duration) -> io::Result<Option<Key>> {
        if event::poll(patience)? {
            self.key()
        } else {
            Ok(None)
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn place(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

fn restore_on_signals() -> io::Result<()> {
    const RESTORE_TIMEOUT: Duration = Duration::from_secs(1);

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    thread::spawn(move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        let (sender, restored) = mpsc::channel();
        thread::spawn(move || {
            restore();
            let _ = sender.send(());
        });
        // A terminal that accepts no output must not keep the process alive.
        let _ = restored.recv_timeout(RESTORE_TIMEOUT);
        let _ = emulate_default_handler(signal);
    });
    Ok(())
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

pub fn line(text: &str) -> Line<'static> {
    Line::raw(Escaped(text).to_string())
}

pub fn toned(tone: Tone, text: &str) -> Line<'static> {
    Line::from(span(Some(tone), text))
}

fn span(tone: Option<Tone>, text: &str) -> Span<'static> {
    let style = tone.map_or(Style::new(), style);
    Span::styled(Escaped(text).to_string(), style)
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Doubt => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
        Tone::Strong => Style::new().bold(),
    }
}

pub(super) fn lines(out: &TextOutput) -> Vec<Line<'static>> {
    let line = |pieces: Vec<(Option<Tone>, &str)>| {
        let spans = pieces.iter().map(|(tone, text)| span(*tone, text));
        spans.collect::<Line<'_>>()
    };
    out.pieces().map(line).collect()
}

type Cell = (char, Style);

fn cells(line: &Line) -> Vec<Cell> {
    let spans = line.spans.iter();
    let cells = spans.flat_map(|span| span.content.chars().map(|c| (c, span.style)));
    cells.collect()
}

fn line_of(cells: &[Cell]) -> Line<'static> {
    let pieces = cells.chunk_by(|one, other| one.1 == other.1);
    let spans = pieces.map(|piece| {
        let text: String = piece.iter().map(|(c, _)| c).collect();
        Span::styled(text, piece[0].1)
    });
    spans.collect()
}

/// The line cut to `columns`, with `…` in the last column if something is missing.
pub fn clip(line: &Line, columns: usize) -> Line<'static> {
    let cells = cells(line);
    let text: Vec<char> = cells.iter().map(|(c, _)| *c).collect();
    if fitting(&text, columns) == cells.len() {
        return line_of(&cells);
    }
    let mut kept = cells[..fitting(&text, columns.saturating_sub(1))].to_vec();
    if columns > 0 {
        kept.push(('…', Style::new()));
    }
    line_of(&kept)
}

/// The line in rows of `columns`, broken at spaces if possible. The rows after the first are
/// indented by two more columns.
pub fn wrap(line: &Line, columns: usize) -> Vec<Line<'static>> {
    if columns == 0 {
        return Vec::new();
    }
    let cells = cells(line);
    let text: Vec<char> = cells.iter().map(|(c, _)| *c).collect();
    let indent = text.iter().take_while(|c| **c == ' ').count();
    // A wide character must still fit after the indent.
    let hang = (indent + 2).min(columns / 2).min(columns.saturating_sub(2));
    let hang = vec![(' ', Style::new()); hang];
    let rows = rows(&text, columns, columns - hang.len(), LongWord::Broken);
    let rows = rows.into_iter().enumerate().map(|(at, row)| {
        let before: &[Cell] = if at == 0 { &[] } else { &hang };
        line_of(&[before, &cells[row]].concat())
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        let rows = super::wrap(&line(text), columns);
        rows.iter().map(Line::to_string).collect()
    }

    #[test]
    fn lines_break_at_spaces_or_else_anywhere() {
        assert_eq!(rows("  one two three", 9), ["  one two", "    three"]);
        assert_eq!(rows("aaaaaaaaaa bb", 6), ["aaaaaa", "  aaaa", "  bb"]);
        assert_eq!(rows("", 6), [""]);
        assert_eq!(rows("a b", 0), Vec::<String>::new());
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(line("한빛 A").width(), 6);
        assert_eq!(
            rows("한빛식품 주식회사", 8),
            ["한빛식품", "  주식회", "  사"]
        );
        assert_eq!(clip(&line("한빛식품"), 6).to_string(), "한빛…");
        assert_eq!(clip(&line("한빛식품"), 8).to_string(), "한빛식품");
        assert_eq!(rows("한빛", 1), ["한", "빛"]);
        assert_eq!(rows("한빛", 2), ["한", "빛"]);
    }

    #[test]
    fn colours_stay_with_their_words() {
        let text = Line::from_iter([span(None, "a "), span(Some(Tone::Bad), "bad thing")]);
        let rows = wrap(&text, 8);
        assert_eq!(rows[0].spans[1], span(Some(Tone::Bad), "bad"));
        assert_eq!(rows[1].spans[1], span(Some(Tone::Bad), "thing"));
    }

    #[test]
    fn control_characters_are_escaped() {
        let text = line("a\u{1b}[2Jb\n\u{202e}").to_string();
        assert_eq!(text, "a\\u{1b}[2Jb\\u{a}\\u{202e}");
    }

    #[test]
    fn control_keys_are_not_letters() {
        let press = |c, modifiers| key(KeyEvent::new(KeyCode::Char(c), modifiers));
        assert_eq!(press('a', KeyModifiers::NONE), Some(Key::Char('a')));
        assert_eq!(press('?', KeyModifiers::SHIFT), Some(Key::Char('?')));
        assert_eq!(press('c', KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(press('u', KeyModifiers::CONTROL), Some(Key::Clear));
        assert_eq!(press('a', KeyModifiers::CONTROL), None);
        assert_eq!(press('a', KeyModifiers::ALT), None);
    }

    #[test]
    fn a_panic_restores_the_terminal() {
        static RESTORED: AtomicUsize = AtomicUsize::new(0);
        restore_on_panic(|| {
            RESTORED.fetch_add(1, Ordering::SeqCst);
        });
        let panicked = panic::catch_unwind(|| panic!("on purpose"));
        assert!(panicked.is_err() && RESTORED.load(Ordering::SeqCst) > 0);
    }
}
