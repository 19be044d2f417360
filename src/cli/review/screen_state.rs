//! The state of the review screen: what each key does, and what a screen of some size shows.
//! Nothing here touches a terminal or a session.

#[cfg(test)]
mod tests;

use url::Url;

use crate::base::text::is_unsafe;
use crate::cli::terminal::{Frame, Key, Line, Size, Span};
use crate::cli::tint::Tone;
use crate::quest::{QuestId, Submission};
use crate::review::{Item, Queue};
use crate::session::Decision;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Decide(Decision),
    Open,
    Skip,
    Undo,
    Help,
    Quit,
    Scroll(Scroll),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scroll {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Key {
    pub(super) fn act(&self) -> Option<Act> {
        if let Some(scroll) = self.scroll() {
            return Some(Act::Scroll(scroll));
        }
        Some(match self {
            Self::Char('a') => Act::Decide(Decision::Accepted),
            Self::Char('r') => Act::Decide(Decision::Rejected),
            Self::Char('o') => Act::Open,
            Self::Char('s' | ' ') => Act::Skip,
            Self::Char('u') => Act::Undo,
            Self::Char('?') => Act::Help,
            Self::Char('q') => Act::Quit,
            _ => return None,
        })
    }

    pub(super) fn scroll(&self) -> Option<Scroll> {
        Some(match self {
            Self::Up | Self::Char('k') => Scroll::Up,
            Self::Down | Self::Char('j') => Scroll::Down,
            Self::PageUp => Scroll::PageUp,
            Self::PageDown => Scroll::PageDown,
            Self::Home => Scroll::Top,
            Self::End => Scroll::Bottom,
            _ => return None,
        })
    }
}

impl Scroll {
    /// The first line that shows then, of a text that is shown from `top` at most to `last`.
    pub(super) fn from(self, top: usize, last: usize, page: usize) -> usize {
        // One line of the page before stays in sight.
        let page = page.saturating_sub(1).max(1);
        let top = top.min(last);
        let moved = match self {
            Self::Up => top.saturating_sub(1),
            Self::Down => top.saturating_add(1),
            Self::PageUp => top.saturating_sub(page),
            Self::PageDown => top.saturating_add(page),
            Self::Top => 0,
            Self::Bottom => last,
        };
        moved.min(last)
    }
}

const LONGEST: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Note(String);

impl Note {
    /// Takes a key in; whether it was one for the line.
    pub(super) fn press(&mut self, key: &Key) -> bool {
        match key {
            Key::Char(c) => self.push(*c),
            // What ends a line in a pasted text ends no note.
            Key::Paste(text) => text
                .chars()
                .map(|c| if c.is_whitespace() { ' ' } else { c })
                .for_each(|c| self.push(c)),
            Key::Backspace => {
                self.0.pop();
            }
            Key::Clear => self.0.clear(),
            _ => return false,
        }
        true
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn said(&self) -> Option<&str> {
        let text = self.0.trim();
        (!text.is_empty()).then_some(text)
    }

    fn push(&mut self, c: char) {
        if !is_unsafe(c) && self.0.chars().count() < LONGEST {
            self.0.push(c);
        }
    }
}

/// The page that the answer rests on.
///
/// In this order: what was submitted as `source`, the page that a fact's lines are of, the first
/// address among the submitted values, the first page that was asked for. Web pages alone.
pub fn source_page(item: &Item) -> Option<Url> {
    let own = item.submission.field("source");
    let excerpts = item.facts.iter().filter_map(|fact| fact.excerpt.as_ref());
    let texts = own
        .into_iter()
        .chain(excerpts.map(|excerpt| excerpt.of.as_str()))
        .chain(values(&item.submission));
    let pages = item.pages.iter().map(|page| page.url.as_str());
    texts.chain(pages).find_map(web)
}

fn values(submission: &Submission) -> impl Iterator<Item = &str> {
    let fields = match submission {
        Submission::Fields(fields) => Some(fields),
        Submission::None(_) => None,
    };
    fields
        .into_iter()
        .flat_map(|it| it.values())
        .map(String::as_str)
}

fn web(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

#[derive(Debug, Clone)]
pub struct Screen {
    seats: Vec<Seat>,
    at: usize,
    top: usize,
    mode: Mode,
    trail: Vec<usize>,
    said: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Seat {
    pub(super) quest: QuestId,
    pub(super) attempt: u32,
    pub(super) rule: String,
    pub(super) fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Waits,
    Decided(Decision),
    /// It waits no more, and not by what was done here.
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Looking,
    Noting { decision: Decision, note: Note },
    Help { top: usize },
}

/// What is to be done beyond the screen; how it went is told to [`Screen::settled`],
/// [`Screen::reopened`], [`Screen::overruled`] or [`Screen::tell`].
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
    Open(QuestId),
    Quit,
    Break,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    pub lines: usize,
    pub page: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub accepted: usize,
    pub rejected: usize,
    /// Waiting as before.
    pub waiting: usize,
}

const WHY: &str = "a note says why: what was looked at, and what it shows";

impl Screen {
    /// At the first of `queue`.
    pub fn new(queue: &Queue) -> Self {
        let seats = queue.groups.iter().flat_map(|group| {
            group.quests.iter().map(|one| Seat {
                quest: one.id,
                attempt: one.attempt,
                rule: group.rule.clone(),
                fate: Fate::Waits,
            })
        });
        Self {
            seats: seats.collect(),
            at: 0,
            top: 0,
            mode: Mode::Looking,
            trail: Vec::new(),
            said: None,
        }
    }

    /// The quest that is looked at; none behind the last.
    pub fn quest(&self) -> Option<QuestId> {
        self.seat().map(|seat| seat.quest)
    }

    pub fn tally(&self) -> Tally {
        let count = |fate: Fate| self.seats.iter().filter(|seat| seat.fate == fate).count();
        Tally {
            accepted: count(Fate::Decided(Decision::Accepted)),
            rejected: count(Fate::Decided(Decision::Rejected)),
            waiting: count(Fate::Waits),
        }
    }

    pub fn press(&mut self, key: &Key, extent: Extent) -> Option<Wish> {
        self.said = None;
        if *key == Key::Interrupt {
            return Some(Wish::Break);
        }
        match &self.mode {
            Mode::Looking => key.act().and_then(|act| self.act(act, extent)),
            Mode::Noting { .. } => self.noting(key),
            Mode::Help { top } => {
                let last = extent.last();
                self.mode = match key.scroll() {
                    Some(scroll) => Mode::Help {
                        top: scroll.from(*top, last, extent.page),
                    },
                    None => Mode::Looking,
                };
                None
            }
        }
    }

    /// The item that is looked at was settled so: on to the next.
    pub fn settled(&mut self, decision: Decision) {
        self.leave(Fate::Decided(decision));
    }

    /// The last decision was taken back: back to its item.
    pub fn reopened(&mut self) {
        if let Some(last) = self.trail.pop() {
            self.back_to(last);
            self.tell("taken back; both decisions stay in the ledger".to_owned());
        }
    }

    /// The last decision was not taken back, since somebody else decided after it.
    pub fn overruled(&mut self) {
        if let Some(last) = self.trail.pop() {
            let seat = &mut self.seats[last];
            seat.fate = Fate::Gone;
            let quest = seat.quest;
            self.tell(format!("quest {quest} was settled anew by somebody else"));
        }
    }

    /// The item that is looked at waits no more, by what somebody else did: on to the next.
    pub fn gone(&mut self) {
        if let Some(seat) = self.seats.get_mut(self.at) {
            seat.fate = Fate::Gone;
            let quest = seat.quest;
            self.go_to(self.at + 1);
            self.tell(format!("quest {quest} waits no more"));
        }
    }

    pub fn tell(&mut self, text: String) {
        self.said = Some(text);
    }

    fn act(&mut self, act: Act, extent: Extent) -> Option<Wish> {
        match act {
            Act::Decide(decision) if self.seat().is_some() => {
                let note = Note::default();
                self.mode = Mode::Noting { decision, note };
            }
            Act::Skip if self.seat().is_some() => self.leave(Fate::Waits),
            Act::Open => return self.quest().map(Wish::Open),
            Act::Decide(_) | Act::Skip => {}
            Act::Undo => return self.undo(),
            Act::Help => self.mode = Mode::Help { top: 0 },
            Act::Quit => return Some(Wish::Quit),
            Act::Scroll(scroll) => {
                self.top = scroll.from(self.top, extent.last(), extent.page);
            }
        }
        None
    }

    fn noting(&mut self, key: &Key) -> Option<Wish> {
        let Mode::Noting { decision, note } = &mut self.mode else {
            return None;
        };
        match key {
            Key::Escape => self.mode = Mode::Looking,
            Key::Enter => {
                let Some(said) = note.said() else {
                    self.tell(WHY.to_owned());
                    return None;
                };
                let (decision, note) = (*decision, said.to_owned());
                self.mode = Mode::Looking;
                return self.seat().map(|seat| Wish::Settle {
                    quest: seat.quest,
                    attempt: seat.attempt,
                    decision,
                    note,
                });
            }
            key => {
                note.press(key);
            }
        }
        None
    }

    /// Goes back to what was skipped; what was decided is first to be taken back.
    fn undo(&mut self) -> Option<Wish> {
        let Some(last) = self.trail.last().copied() else {
            self.tell("nothing was decided here that could be taken back".to_owned());
            return None;
        };
        let seat = &self.seats[last];
        if let Fate::Decided(_) = seat.fate {
            return Some(Wish::Reopen {
                quest: seat.quest,
                attempt: seat.attempt,
            });
        }
        self.trail.pop();
        self.back_to(last);
        None
    }

    fn leave(&mut self, fate: Fate) {
        if let Some(seat) = self.seats.get_mut(self.at) {
            seat.fate = fate;
            self.trail.push(self.at);
            self.go_to(self.at + 1);
        }
    }

    fn back_to(&mut self, at: usize) {
        self.seats[at].fate = Fate::Waits;
        self.go_to(at);
    }

    fn go_to(&mut self, at: usize) {
        self.at = at;
        self.top = 0;
        self.mode = Mode::Looking;
    }

    pub(super) fn seat(&self) -> Option<&Seat> {
        self.seats.get(self.at)
    }

    pub(super) fn place(&self) -> (usize, usize) {
        (self.at + 1, self.seats.len())
    }

    pub(super) fn mode(&self) -> &Mode {
        &self.mode
    }

    pub(super) fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// The first line that shows.
    pub(super) fn top(&self) -> usize {
        match self.mode {
            Mode::Help { top } => top,
            _ => self.top,
        }
    }
}

impl Extent {
    /// The first line that shows at the end of the text.
    pub(super) fn last(self) -> usize {
        self.lines.saturating_sub(self.page)
    }
}

const HELP: &[&str] = &[
    "a         accept: the answer counts as right (it is never called a PASS)",
    "r         reject: the answer is wrong, and no export shows it",
    "          both ask for a note that says why; Enter settles, Esc goes back",
    "o         open the source page in a browser",
    "s, space  skip: it waits on",
    "u         undo the last; a decision that is taken back stays in the ledger beside it",
    "q         quit; what was decided is on disk already",
    "j k       a line down, a line up; also the arrows",
    "PgDn PgUp a page down, a page up; Home and End",
];

const KEYS: [&str; 4] = [
    "a accept  r reject  o open  s skip  u undo  q quit  ? help",
    "a accept r reject s skip q quit ? help",
    "a r o s u q ? help",
    "? help",
];
const END_KEYS: [&str; 1] = ["u undo  q quit  ? help"];
const NOTE_KEYS: [&str; 2] = ["Enter settles  Esc goes back", "Enter, Esc"];
const HELP_KEYS: [&str; 1] = ["any key goes back"];

const ROOMY: usize = 30;

pub fn view(screen: &Screen, text: &[Line], size: Size) -> Frame {
    let body = body(screen, text, size.columns);
    let parts = Parts::of(screen, size);
    let top = screen.top().min(body.len().saturating_sub(parts.page));
    let mut rows = Vec::with_capacity(size.rows);
    if parts.head {
        rows.push(head(screen, top, parts.page, body.len(), size.columns));
    }
    rows.extend(body.into_iter().skip(top).take(parts.page));
    rows.resize(usize::from(parts.head) + parts.page, Line::default());
    rows.extend(parts.middle);
    let cursor = parts.typed.map(|column| (column, rows.len() - 1));
    if parts.keys {
        rows.push(Line::plain(keys(screen, size.columns)).clipped(size.columns));
    }
    Frame { rows, cursor }
}

pub fn extent(screen: &Screen, text: &[Line], size: Size) -> Extent {
    Extent {
        lines: body(screen, text, size.columns).len(),
        page: Parts::of(screen, size).page,
    }
}

struct Parts {
    head: bool,
    page: usize,
    middle: Vec<Line>,
    typed: Option<usize>,
    keys: bool,
}

impl Parts {
    fn of(screen: &Screen, size: Size) -> Self {
        let (mut middle, typed) = middle(screen, size.columns);
        let most = (size.rows / 3).max(1).min(size.rows);
        if typed.is_some() {
            // The note stands under what is said of it.
            middle.drain(..middle.len().saturating_sub(most));
        }
        middle.truncate(most);
        let rest = size.rows - middle.len();
        let (head, keys) = (rest >= 3, rest >= 2);
        Self {
            head,
            page: rest - usize::from(head) - usize::from(keys),
            typed: typed.filter(|_| !middle.is_empty()),
            middle,
            keys,
        }
    }
}

fn head(screen: &Screen, top: usize, page: usize, lines: usize, columns: usize) -> Line {
    let (number, of) = screen.place();
    let left = match (screen.mode(), screen.seat()) {
        (Mode::Help { .. }, _) => "keys".to_owned(),
        (_, Some(seat)) => format!("{number} of {of}  {}", seat.rule),
        (_, None) => "the end of the queue".to_owned(),
    };
    let left = Line::toned(Tone::Strong, &left);
    let right = format!("lines {}-{} of {lines}", top + 1, lines.min(top + page));
    let gap = columns.saturating_sub(left.width() + right.len());
    if lines <= page || gap < 2 {
        return left.clipped(columns);
    }
    let mut spans = left.spans().to_vec();
    spans.push(Span::new(None, &" ".repeat(gap)));
    spans.push(Span::new(None, &right));
    Line::new(spans)
}

fn body(screen: &Screen, text: &[Line], columns: usize) -> Vec<Line> {
    let own = match (screen.mode(), screen.seat()) {
        (Mode::Help { .. }, _) => Some(HELP.iter().map(|line| Line::plain(line)).collect()),
        (_, Some(_)) => None,
        (_, None) => Some(ending(screen)),
    };
    let text: &[Line] = own.as_deref().unwrap_or(text);
    text.iter().flat_map(|line| line.wrapped(columns)).collect()
}

fn ending(screen: &Screen) -> Vec<Line> {
    let tally = screen.tally();
    vec![
        Line::plain(&format!("accepted       {}", tally.accepted)),
        Line::plain(&format!("rejected       {}", tally.rejected)),
        Line::plain(&format!("still waiting  {}", tally.waiting)),
    ]
}

fn middle(screen: &Screen, columns: usize) -> (Vec<Line>, Option<usize>) {
    let said = screen.said().map(|text| Line::toned(Tone::Doubt, text));
    let mut rows = said.map_or(Vec::new(), |line| line.wrapped(columns));
    let Mode::Noting { decision, note } = screen.mode() else {
        return (rows, None);
    };
    let asked = match decision {
        Decision::Accepted if columns >= ROOMY => "accept, because: ",
        Decision::Rejected if columns >= ROOMY => "reject, because: ",
        _ => "> ",
    };
    let mut typed = note.text();
    let whole = |typed: &str| Line::plain(&format!("{asked}{typed}"));
    // Its end shows, and a column beyond it.
    while whole(typed).width() >= columns && !typed.is_empty() {
        typed = typed
            .split_at(typed.chars().next().map_or(0, char::len_utf8))
            .1;
    }
    let line = whole(typed).clipped(columns);
    let column = line.width().min(columns.saturating_sub(1));
    rows.push(line);
    (rows, Some(column))
}

fn keys(screen: &Screen, columns: usize) -> &'static str {
    let forms: &[&'static str] = match (screen.mode(), screen.seat()) {
        (Mode::Noting { .. }, _) => &NOTE_KEYS,
        (Mode::Help { .. }, _) => &HELP_KEYS,
        (_, Some(_)) => &KEYS,
        (_, None) => &END_KEYS,
    };
    let fits = |form: &&&str| form.len() <= columns;
    let shortest = forms.last().copied().unwrap_or_default();
    forms.iter().find(fits).copied().unwrap_or(shortest)
}

#[cfg(test)]
mod tests_note {
    use super::*;

    #[test]
    fn is_one_line_of_what_is_seen() {
        let mut note = Note::default();
        assert!(note.press(&Key::Char('사')));
        assert!(note.press(&Key::Paste("a\nb\u{1b}[2J\u{202e}".to_owned())));
        assert_eq!(note.text(), "사a b[2J");
        assert!(note.press(&Key::Backspace));
        assert_eq!(note.said(), Some("사a b[2"));
        assert!(note.press(&Key::Clear));
        note.press(&Key::Char(' '));
        assert_eq!(note.said(), None);
        assert!(!note.press(&Key::Up));
    }

    #[test]
    fn has_an_end() {
        let mut note = Note::default();
        note.press(&Key::Paste("한".repeat(LONGEST + 9)));
        assert_eq!(note.text().chars().count(), LONGEST);
    }
}

#[cfg(test)]
mod tests_source {
    use super::tests::item;
    use super::*;
    use crate::judge::excerpts::{Excerpt, SeenPage};

    fn page(item: &Item) -> Option<String> {
        source_page(item).map(Url::into)
    }

    #[test]
    fn what_was_submitted_goes_before_what_was_met() {
        let mut seen = item(&[("home", "https://b.example/"), ("name", "B")]);
        seen.pages = vec![SeenPage {
            url: Url::parse("https://d.example/").unwrap(),
            answer: "status 200".to_owned(),
        }];
        assert_eq!(page(&seen).as_deref(), Some("https://b.example/"));
        seen.facts[0].excerpt = Some(Excerpt {
            of: "https://c.example/".to_owned(),
            first: 1,
            lines: Vec::new(),
        });
        assert_eq!(page(&seen).as_deref(), Some("https://c.example/"));
        let mut named = item(&[
            ("home", "https://b.example/"),
            ("source", "http://a.example"),
        ]);
        named.pages = seen.pages;
        assert_eq!(page(&named).as_deref(), Some("http://a.example/"));
    }

    #[test]
    fn nothing_but_web_pages_is_opened() {
        for text in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "--help",
            "src/a.rs",
        ] {
            assert_eq!(page(&item(&[("source", text)])), None, "{text}");
        }
    }
}
