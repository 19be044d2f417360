//! What a screen of some size shows.

use super::state::{Extent, Mode, Screen};
use crate::report::Tone;
use crate::report::screen::{Frame, Line, Size, Span};
use crate::session::Decision;

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

/// The fewest columns in which a note's question is asked in words.
const ROOMY: usize = 30;

/// What `screen` shows, where `text` is the item that is looked at.
#[must_use]
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

/// How much of `text` there is, and shows at once.
#[must_use]
pub fn extent(screen: &Screen, text: &[Line], size: Size) -> Extent {
    Extent {
        lines: body(screen, text, size.columns).len(),
        page: Parts::of(screen, size).page,
    }
}

/// What a screen is divided into, from its top to its bottom.
struct Parts {
    head: bool,
    /// How many rows the text has.
    page: usize,
    /// The message, or the note in the making.
    middle: Vec<Line>,
    /// The column in which the note is typed.
    typed: Option<usize>,
    keys: bool,
}

impl Parts {
    /// Of a small screen the note is kept longest, then the text.
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

/// The rows between text and keys, and the column of the last in which a note is typed.
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

/// What keys there are, in as many words as there is room for.
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
