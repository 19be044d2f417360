//! The queue at a terminal: one item a screen, one key each.

mod desk;
mod opener;

use anyhow::Result;

use self::desk::{Desk, Done};
use super::{list, show};
use crate::base::text::plural;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::person::PersonArgs;
use crate::cli::terminal::{Terminal, lines, painted};
use crate::quest::QuestId;
use crate::report::screen::{Line, changes};
use crate::review::screen::{Screen, Tally, Wish, extent, source_page, view};
use crate::review::{Item, Queue};

pub(super) fn run(context: &mut Context, person: &PersonArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    if session.manifest().frozen.operator_key.is_some() && person.operator_key.is_none() {
        let hint = "to settle them one by one, name the key file that `scan` was given: \
                    comail review --operator-key FILE";
        list::list(context)?;
        context.output.note(hint);
        return Ok(Exit::Done);
    }
    let queue = Queue::read(&session)?;
    if queue.open == 0 {
        return list::list(context);
    }
    let mut desk = Desk::new(session, person, &queue)?;
    let mut screen = Screen::new(&queue);
    let terminal = Terminal::enter()?;
    let ended = sit(&mut desk, &mut screen, &terminal, &context.output);
    drop(terminal);
    context.report_mended(desk.session());
    let tally = screen.tally();
    context
        .output
        .show(&(), |paper, ()| paper.line(told(tally)))?;
    ended
}

/// Goes through the queue until it is left.
fn sit(desk: &mut Desk, screen: &mut Screen, terminal: &Terminal, output: &Output) -> Result<Exit> {
    let mut shown = Shown::look(desk, screen, output)?;
    loop {
        let size = Terminal::size();
        let frame = view(screen, &shown.text, size);
        let all = changes(None, &frame);
        terminal.show(&painted(&all, frame.cursor, output)?)?;
        let Some(key) = Terminal::key()? else {
            continue;
        };
        match screen.press(&key, extent(screen, &shown.text, size)) {
            Some(Wish::Quit) => return Ok(Exit::Done),
            Some(Wish::Break) => return Ok(Exit::Interrupted),
            Some(Wish::Open(_)) => screen.tell(open(shown.item.as_ref())),
            Some(wish) => {
                decide(desk, screen, wish)?;
                shown = Shown::look(desk, screen, output)?;
            }
            None if screen.quest() != shown.quest() => {
                shown = Shown::look(desk, screen, output)?;
            }
            None => {}
        }
    }
}

/// The item that is looked at, and how it reads.
struct Shown {
    item: Option<Item>,
    text: Vec<Line>,
}

impl Shown {
    /// The item at which `screen` is, or the next that still waits.
    fn look(desk: &mut Desk, screen: &mut Screen, output: &Output) -> Result<Self> {
        while let Some(quest) = screen.quest() {
            if let Some(item) = desk.item(quest)? {
                let mut paper = output.paper();
                show::text(&mut paper, &item);
                return Ok(Self {
                    text: lines(&paper),
                    item: Some(item),
                });
            }
            screen.gone();
        }
        Ok(Self {
            item: None,
            text: Vec::new(),
        })
    }

    fn quest(&self) -> Option<QuestId> {
        self.item.as_ref().map(|item| item.id)
    }
}

fn decide(desk: &mut Desk, screen: &mut Screen, wish: Wish) -> Result<()> {
    match wish {
        Wish::Settle {
            quest,
            attempt,
            decision,
            note,
        } => match desk.settle(quest, attempt, decision, &note)? {
            Done::Recorded => screen.settled(decision),
            Done::Overruled => screen.gone(),
            Done::Refused(why) => screen.tell(why),
        },
        Wish::Reopen { quest, attempt } => match desk.reopen(quest, attempt)? {
            Done::Recorded => screen.reopened(),
            Done::Overruled => screen.overruled(),
            Done::Refused(why) => {
                screen.overruled();
                screen.tell(why);
            }
        },
        Wish::Open(_) | Wish::Quit | Wish::Break => {}
    }
    Ok(())
}

/// Opens the source page, and says what came of it.
fn open(item: Option<&Item>) -> String {
    let Some(page) = item.and_then(source_page) else {
        return "there is no page to open".to_owned();
    };
    match opener::open_browser(&page) {
        Ok(()) => format!("opening {page}"),
        Err(_) => format!("no browser could be started; the page is {page}"),
    }
}

fn told(tally: Tally) -> String {
    let waiting = plural(tally.waiting as u64, "REVIEW");
    let verb = if tally.waiting == 1 { "waits" } else { "wait" };
    format!(
        "{} accepted, {} rejected; {waiting} still {verb} for a person",
        tally.accepted, tally.rejected
    )
}
