//! Where a person is in the queue, and what was decided on the way.

use super::key::{Act, Key};
use super::note::Note;
use crate::quest::QuestId;
use crate::review::Queue;
use crate::session::Decision;

/// Where a person is in the queue, and what was decided on the way.
#[derive(Debug, Clone)]
pub struct Screen {
    seats: Vec<Seat>,
    at: usize,
    top: usize,
    mode: Mode,
    /// Where decisions were made and items skipped, the last one last.
    trail: Vec<usize>,
    said: Option<String>,
}

/// An item's place in the queue.
#[derive(Debug, Clone)]
pub(super) struct Seat {
    pub(super) quest: QuestId,
    pub(super) attempt: u32,
    pub(super) rule: String,
    pub(super) fate: Fate,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Waits,
    Decided(Decision),
    /// It waits no more, and not by what was done here.
    Gone,
}

/// What keys are for.
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
    /// Settle the REVIEW that this attempt ended in.
    Settle {
        /// The quest.
        quest: QuestId,
        /// The attempt that was looked at.
        attempt: u32,
        /// Accepted or rejected.
        decision: Decision,
        /// Why.
        note: String,
    },
    /// Take the last decision back.
    Reopen {
        /// The quest.
        quest: QuestId,
        /// The attempt that was looked at.
        attempt: u32,
    },
    /// Open the source page of this quest.
    Open(QuestId),
    /// End.
    Quit,
    /// End, as by Ctrl-C.
    Break,
}

/// How many lines there are, and how many of them show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// The lines that there are.
    pub lines: usize,
    /// The lines that show at once.
    pub page: usize,
}

/// What became of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Accepted here.
    pub accepted: usize,
    /// Rejected here.
    pub rejected: usize,
    /// Waiting as before.
    pub waiting: usize,
}

/// What is said of an empty note.
const WHY: &str = "a note says why: what was looked at, and what it shows";

impl Screen {
    /// At the first of `queue`.
    #[must_use]
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
    #[must_use]
    pub fn quest(&self) -> Option<QuestId> {
        self.seat().map(|seat| seat.quest)
    }

    /// What became of the items so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let count = |fate: Fate| self.seats.iter().filter(|seat| seat.fate == fate).count();
        Tally {
            accepted: count(Fate::Decided(Decision::Accepted)),
            rejected: count(Fate::Decided(Decision::Rejected)),
            waiting: count(Fate::Waits),
        }
    }

    /// Takes a key in, on a screen that shows so much, and says what is to be done.
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

    /// Shows a message until the next key.
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

    /// The number of the item, and of how many.
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
