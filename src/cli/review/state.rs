//! The state of the review screen: what each key does, and what a screen of some size shows.
//! Nothing here touches a terminal or a session.

#[cfg(test)]
mod tests;

use ratatui::text::Line;

use crate::base::text::is_unsafe;
use crate::cli::output::Tone;
use crate::cli::screen::{Key, View, clip, line, toned, wrap};
use crate::cli::terminal::Size;
use crate::quest::QuestId;
use crate::review::Queue;
use crate::session::Decision;

#[derive(Debug, Clone)]
pub struct ReviewScreen {
    entries: Vec<Entry>,
    at: usize,
    /// The first line of the item that is shown.
    top: usize,
    mode: Mode,
    /// The entries that were left, for undo.
    trail: Vec<usize>,
    message: Option<String>,
    /// Of the text that was shown last.
    extent: Extent,
}

#[derive(Debug, Clone)]
struct Entry {
    quest: QuestId,
    attempt: u32,
    rule: String,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Waits,
    Decided(Decision),
    /// It waits no more, because of what somebody else did.
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    Looking,
    Noting { decision: Decision, note: String },
    Help { top: usize },
}

/// What is to be done outside the screen. The result is passed to [`ReviewScreen::settled`],
/// [`ReviewScreen::reopened`], [`ReviewScreen::overruled`] or [`ReviewScreen::tell`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Settle {
        quest: QuestId,
        attempt: u32,
        decision: Decision,
        note: String,
    },
    Reopen {
        quest: QuestId,
        attempt: u32,
    },
    Quit,
    Break,
}

/// The length of the text, and how much of it a screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Extent {
    lines: usize,
    page: usize,
}

impl Extent {
    /// The first line that shows after `key`, if it scrolls a text that is shown from `top` on.
    fn scroll(self, key: &Key, top: usize) -> Option<usize> {
        let last = self.lines.saturating_sub(self.page);
        // One line of the page before stays in sight.
        let page = self.page.saturating_sub(1).max(1);
        let top = top.min(last);
        let moved = match key {
            Key::Up | Key::Char('k') => top.saturating_sub(1),
            Key::Down | Key::Char('j') => top.saturating_add(1),
            Key::PageUp => top.saturating_sub(page),
            Key::PageDown => top.saturating_add(page),
            Key::Home => 0,
            Key::End => last,
            _ => return None,
        };
        Some(moved.min(last))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub accepted: usize,
    pub rejected: usize,
    pub waiting: usize,
}

const MAX_NOTE: usize = 500;

const WHY: &str = "write a note: what you looked at, and what it shows";

impl ReviewScreen {
    /// At the first of `queue`.
    pub fn new(queue: &Queue) -> Self {
        let entries = queue.groups.iter().flat_map(|group| {
            group.quests.iter().map(|one| Entry {
                quest: one.id,
                attempt: one.attempt,
                rule: group.rule.clone(),
                fate: Fate::Waits,
            })
        });
        Self {
            entries: entries.collect(),
            at: 0,
            top: 0,
            mode: Mode::Looking,
            trail: Vec::new(),
            message: None,
            extent: Extent::default(),
        }
    }

    /// The quest that is looked at; none after the last.
    pub fn quest(&self) -> Option<QuestId> {
        self.entry().map(|entry| entry.quest)
    }

    fn entry(&self) -> Option<&Entry> {
        self.entries.get(self.at)
    }

    pub fn tally(&self) -> Tally {
        let count = |fate| self.entries.iter().filter(|it| it.fate == fate).count();
        Tally {
            accepted: count(Fate::Decided(Decision::Accepted)),
            rejected: count(Fate::Decided(Decision::Rejected)),
            waiting: count(Fate::Waits),
        }
    }

    pub fn press(&mut self, key: &Key) -> Option<Wish> {
        self.message = None;
        if *key == Key::Interrupt {
            return Some(Wish::Break);
        }
        match &mut self.mode {
            Mode::Looking => self.act(key),
            Mode::Noting { .. } => self.note(key),
            Mode::Help { top } => {
                match self.extent.scroll(key, *top) {
                    Some(moved) => *top = moved,
                    None => self.mode = Mode::Looking,
                }
                None
            }
        }
    }

    fn act(&mut self, key: &Key) -> Option<Wish> {
        if let Some(top) = self.extent.scroll(key, self.top) {
            self.top = top;
            return None;
        }
        let has_entry = self.entry().is_some();
        match key {
            Key::Char('a') if has_entry => self.begin_note(Decision::Accepted),
            Key::Char('r') if has_entry => self.begin_note(Decision::Rejected),
            Key::Char('s' | ' ') if has_entry => self.leave(Fate::Waits),
            Key::Char('u') => return self.undo(),
            Key::Char('?') => self.mode = Mode::Help { top: 0 },
            Key::Char('q') => return Some(Wish::Quit),
            _ => {}
        }
        None
    }

    fn begin_note(&mut self, decision: Decision) {
        let note = String::new();
        self.mode = Mode::Noting { decision, note };
    }

    fn note(&mut self, key: &Key) -> Option<Wish> {
        let Mode::Noting { decision, note } = &mut self.mode else {
            return None;
        };
        match key {
            Key::Char(c) => push(note, *c),
            // A line break in pasted text does not end the note.
            Key::Paste(text) => text
                .chars()
                .map(|c| if c.is_whitespace() { ' ' } else { c })
                .for_each(|c| push(note, c)),
            Key::Backspace => {
                note.pop();
            }
            Key::Clear => note.clear(),
            Key::Escape => self.mode = Mode::Looking,
            Key::Enter if note.trim().is_empty() => self.tell(WHY.to_owned()),
            Key::Enter => {
                let (decision, note) = (*decision, note.trim().to_owned());
                self.mode = Mode::Looking;
                return self.entry().map(|entry| Wish::Settle {
                    quest: entry.quest,
                    attempt: entry.attempt,
                    decision,
                    note,
                });
            }
            _ => {}
        }
        None
    }

    /// Goes back to what was skipped; a decision has to be withdrawn first.
    fn undo(&mut self) -> Option<Wish> {
        let Some(last) = self.trail.last().copied() else {
            self.tell("there is nothing to undo".to_owned());
            return None;
        };
        let entry = &self.entries[last];
        if let Fate::Decided(_) = entry.fate {
            return Some(Wish::Reopen {
                quest: entry.quest,
                attempt: entry.attempt,
            });
        }
        self.trail.pop();
        self.back_to(last);
        None
    }

    pub fn settled(&mut self, decision: Decision) {
        self.leave(Fate::Decided(decision));
    }

    pub fn reopened(&mut self) {
        if let Some(last) = self.trail.pop() {
            self.back_to(last);
            self.tell("withdrawn; both decisions stay in the ledger".to_owned());
        }
    }

    /// The last decision was not withdrawn, because somebody else decided after it.
    pub fn overruled(&mut self) {
        if let Some(last) = self.trail.pop() {
            self.entries[last].fate = Fate::Gone;
            let quest = self.entries[last].quest;
            self.tell(format!("quest {quest} was settled again by somebody else"));
        }
    }

    /// The item that is looked at waits no more, because of what somebody else did.
    pub fn gone(&mut self) {
        if let Some(entry) = self.entries.get_mut(self.at) {
            entry.fate = Fate::Gone;
            let quest = entry.quest;
            self.go_to(self.at + 1);
            self.tell(format!("quest {quest} is no longer waiting"));
        }
    }

    pub fn tell(&mut self, text: String) {
        self.message = Some(text);
    }

    fn leave(&mut self, fate: Fate) {
        if let Some(entry) = self.entries.get_mut(self.at) {
            entry.fate = fate;
            self.trail.push(self.at);
            self.go_to(self.at + 1);
        }
    }

    fn back_to(&mut self, at: usize) {
        self.entries[at].fate = Fate::Waits;
        self.go_to(at);
    }

    fn go_to(&mut self, at: usize) {
        self.at = at;
        self.top = 0;
        self.mode = Mode::Looking;
    }
}

fn push(note: &mut String, c: char) {
    if !is_unsafe(c) && note.chars().count() < MAX_NOTE {
        note.push(c);
    }
}

const HELP: &str = include_str!("../text/review-keys.txt");
const KEYS: &str = "? help  a accept  r reject  s skip  u undo  q quit";
const END_KEYS: &str = "? help  u undo  q quit";
const NOTE_KEYS: &str = "Enter settles  Esc goes back";
const HELP_KEYS: &str = "any key goes back";

impl ReviewScreen {
    /// What a screen of this size shows. `text` is the item that is looked at.
    pub fn view(&mut self, text: &[Line], size: Size) -> View {
        let Size { columns, rows } = size;
        let body = self.body(text, columns);
        let (mut middle, typed) = self.middle(columns);
        let most = (rows / 3).max(1).min(rows);
        if typed.is_some() {
            // The note is below the message, and more important.
            middle.drain(..middle.len().saturating_sub(most));
        }
        middle.truncate(most);
        let typed = typed.filter(|_| !middle.is_empty());
        let rest = rows - middle.len();
        let (has_head, has_keys) = (rest >= 3, rest >= 2);
        let page = rest - usize::from(has_head) - usize::from(has_keys);
        self.extent = Extent {
            lines: body.len(),
            page,
        };
        let top = match self.mode {
            Mode::Help { top } => top,
            _ => self.top,
        };
        let top = top.min(body.len().saturating_sub(page));
        let mut shown = Vec::with_capacity(rows);
        if has_head {
            shown.push(self.head(top, columns));
        }
        shown.extend(body.into_iter().skip(top).take(page));
        shown.resize(usize::from(has_head) + page, Line::default());
        shown.extend(middle);
        let cursor = typed.map(|column| (column, shown.len() - 1));
        if has_keys {
            shown.push(clip(&line(self.keys()), columns));
        }
        View {
            rows: shown,
            cursor,
        }
    }

    fn head(&self, top: usize, columns: usize) -> Line<'static> {
        let Extent { lines, page } = self.extent;
        let left = match (&self.mode, self.entry()) {
            (Mode::Help { .. }, _) => "keys".to_owned(),
            (_, Some(entry)) => {
                format!("{} of {}  {}", self.at + 1, self.entries.len(), entry.rule)
            }
            (_, None) => "the end of the queue".to_owned(),
        };
        let mut head = toned(Tone::Strong, &left);
        let right = format!("lines {}-{} of {lines}", top + 1, lines.min(top + page));
        let gap = columns.saturating_sub(head.width() + right.len());
        if lines <= page || gap < 2 {
            return clip(&head, columns);
        }
        head.push_span(format!("{}{right}", " ".repeat(gap)));
        head
    }

    fn body(&self, text: &[Line], columns: usize) -> Vec<Line<'static>> {
        let own = match (&self.mode, self.entry()) {
            (Mode::Help { .. }, _) => HELP.to_owned(),
            (_, Some(_)) => return text.iter().flat_map(|line| wrap(line, columns)).collect(),
            (_, None) => {
                let tally = self.tally();
                format!(
                    "accepted       {}\nrejected       {}\nstill waiting  {}",
                    tally.accepted, tally.rejected, tally.waiting
                )
            }
        };
        let own = own.lines().map(line);
        own.flat_map(|line| wrap(&line, columns)).collect()
    }

    /// The message, and the note with the column of its cursor.
    fn middle(&self, columns: usize) -> (Vec<Line<'static>>, Option<usize>) {
        let message = self.message.iter().map(|text| toned(Tone::Doubt, text));
        let mut rows: Vec<Line> = message.flat_map(|line| wrap(&line, columns)).collect();
        let Mode::Noting { decision, note } = &self.mode else {
            return (rows, None);
        };
        let prompt = match decision {
            Decision::Accepted => "accept, because: ",
            Decision::Rejected | Decision::Reopened => "reject, because: ",
        };
        let mut typed = note.as_str();
        let whole = |typed: &str| line(&format!("{prompt}{typed}"));
        // The end of a long note shows, with a free column after it.
        while whole(typed).width() >= columns && !typed.is_empty() {
            typed = &typed[typed.chars().next().map_or(0, char::len_utf8)..];
        }
        let row = clip(&whole(typed), columns);
        let column = row.width().min(columns.saturating_sub(1));
        rows.push(row);
        (rows, Some(column))
    }

    fn keys(&self) -> &'static str {
        match (&self.mode, self.entry()) {
            (Mode::Noting { .. }, _) => NOTE_KEYS,
            (Mode::Help { .. }, _) => HELP_KEYS,
            (_, Some(_)) => KEYS,
            (_, None) => END_KEYS,
        }
    }
}
