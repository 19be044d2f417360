//! What keys do, whichever come in whatever order, and what screens of all sizes show.

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::cli::terminal::Size;
use crate::quest::QuestId;
use crate::review::{Queue, Waiting};
use crate::session::{Decision, Effective};

const SIZE: Size = Size {
    columns: 60,
    rows: 8,
};

fn screen(items: usize) -> ReviewScreen {
    let waiting = (0..items).map(|at| Waiting {
        id: QuestId::from_index(at).unwrap(),
        key: crate::quest::Key::new(&format!("quest {at}")).unwrap(),
        attempt: 1,
        effective: Effective::Open,
        since: Timestamp::from_second(i64::try_from(at).unwrap()).unwrap(),
        rules: vec!["some-rule".to_owned()],
    });
    ReviewScreen::new(&Queue::of(waiting.collect()))
}

fn text() -> Vec<Line<'static>> {
    (1..=20)
        .map(|number| line(&format!("line {number} 한빛")))
        .collect()
}

/// Presses these characters: `\n` is Enter, `\u{1b}` Escape.
fn press(screen: &mut ReviewScreen, keys: &str) -> Option<Wish> {
    let mut last = None;
    for c in keys.chars() {
        let key = match c {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            c => Key::Char(c),
        };
        screen.view(&text(), SIZE);
        last = screen.press(&key);
    }
    last
}

fn shown(screen: &mut ReviewScreen) -> Vec<String> {
    let frame = screen.view(&text(), SIZE);
    frame.rows.iter().map(Line::to_string).collect()
}

#[test]
fn a_decision_needs_a_note_and_moves_on() {
    let mut screen = screen(2);
    // Escape leaves the note without a decision.
    assert_eq!(press(&mut screen, "rno\u{1b}\n"), None);
    assert_eq!(screen.tally().waiting, 2);
    assert_eq!(press(&mut screen.clone(), "q"), Some(Wish::Quit));
    assert_eq!(press(&mut screen, "a \n"), None);
    assert!(shown(&mut screen)[5].starts_with("write a note"));
    assert_eq!(shown(&mut screen)[6], "accept, because:  ");
    let wish = press(&mut screen, "seen \n");
    let expected = Wish::Settle {
        quest: QuestId::from_index(0).unwrap(),
        attempt: 1,
        decision: Decision::Accepted,
        note: "seen".to_owned(),
    };
    assert_eq!(wish, Some(expected));
    screen.settled(Decision::Accepted);
    assert_eq!(
        shown(&mut screen)[0],
        "2 of 2  some-rule                            lines 1-6 of 20"
    );
}

#[test]
fn undo_goes_back_over_skipped_items_and_withdraws_decisions() {
    let mut screen = screen(3);
    press(&mut screen, "ax\n");
    screen.settled(Decision::Accepted);
    press(&mut screen, "s");
    assert_eq!(screen.quest(), QuestId::from_index(2));
    assert_eq!(press(&mut screen, "u"), None);
    assert_eq!(screen.quest(), QuestId::from_index(1));
    let wish = press(&mut screen, "u");
    let quest = QuestId::from_index(0).unwrap();
    assert_eq!(wish, Some(Wish::Reopen { quest, attempt: 1 }));
    screen.reopened();
    assert_eq!(screen.quest(), Some(quest));
    assert_eq!(screen.tally().waiting, 3);
    assert_eq!(press(&mut screen, "u"), None);
    assert!(shown(&mut screen)[6].starts_with("there is nothing to undo"));
}

#[test]
fn decisions_of_others_are_neither_settled_nor_undone() {
    let mut screen = screen(2);
    press(&mut screen, "ax\n");
    screen.settled(Decision::Accepted);
    screen.gone();
    assert_eq!(screen.quest(), None);
    assert!(matches!(press(&mut screen, "u"), Some(Wish::Reopen { .. })));
    screen.overruled();
    assert_eq!((screen.quest(), screen.tally()), (None, Tally::default()));
    assert_eq!(press(&mut screen, "u"), None);
}

#[test]
fn long_items_scroll_to_their_ends_and_no_further() {
    let mut screen = screen(1);
    press(&mut screen, "jjk");
    assert_eq!(shown(&mut screen)[1], "line 2 한빛");
    screen.press(&Key::PageDown);
    assert_eq!(shown(&mut screen)[1], "line 7 한빛");
    screen.press(&Key::End);
    press(&mut screen, "jj");
    assert_eq!(shown(&mut screen)[6], "line 20 한빛");
    press(&mut screen, "k");
    assert_eq!(shown(&mut screen)[6], "line 19 한빛");
    screen.press(&Key::Home);
    assert_eq!(shown(&mut screen)[1], "line 1 한빛");
}

#[test]
fn a_long_note_shows_its_end() {
    let mut screen = screen(1);
    press(&mut screen, &format!("a{}한", "x".repeat(99)));
    let frame = screen.view(&text(), SIZE);
    let typed = frame.rows[6].to_string();
    assert!(
        typed.starts_with("accept, because: xx") && typed.ends_with("x한"),
        "{typed}"
    );
    let (column, row) = frame.cursor.unwrap();
    assert!(column < SIZE.columns && row == 6, "{column} {row}");
}

#[test]
fn help_shows_over_the_item_and_any_key_leads_back() {
    let mut screen = screen(1);
    press(&mut screen, "?");
    assert_eq!(
        shown(&mut screen)[0],
        "keys                                         lines 1-6 of 12"
    );
    press(&mut screen, "a");
    assert!(shown(&mut screen)[0].starts_with("1 of 1"));
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    let key = prop_oneof![
        8 => "[arsu?jkx ]".prop_map(|text| Key::Char(text.chars().next().unwrap())),
        4 => Just(Key::Enter),
        2 => any::<char>().prop_map(Key::Char),
        1 => any::<String>().prop_map(Key::Paste),
        1 => prop_oneof![
            Just(Key::Escape),
            Just(Key::Backspace),
            Just(Key::Clear),
            Just(Key::PageUp),
            Just(Key::PageDown),
            Just(Key::Home),
            Just(Key::End),
        ],
    ];
    proptest::collection::vec(key, 0..60)
}

/// What a session would hold: of each quest every decision, a reopening as none.
#[derive(Default)]
struct Kept {
    decisions: BTreeMap<QuestId, Vec<Option<Decision>>>,
    order: Vec<QuestId>,
}

impl Kept {
    fn carry_out(&mut self, wish: Wish, screen: &mut ReviewScreen) {
        match wish {
            Wish::Settle {
                quest,
                decision,
                note,
                ..
            } => {
                assert!(!note.trim().is_empty() && screen.quest() == Some(quest));
                self.decisions
                    .entry(quest)
                    .or_default()
                    .push(Some(decision));
                self.order.push(quest);
                screen.settled(decision);
            }
            Wish::Reopen { quest, .. } => {
                assert_eq!(self.order.pop(), Some(quest), "the last goes first");
                self.decisions.entry(quest).or_default().push(None);
                screen.reopened();
                assert_eq!(screen.quest(), Some(quest));
            }
            Wish::Quit | Wish::Break => {}
        }
    }

    fn count(&self, decision: Decision) -> usize {
        let lasts = self.decisions.values().filter_map(|all| *all.last()?);
        lasts.filter(|last| *last == decision).count()
    }
}

proptest! {
    #[test]
    fn whatever_is_pressed_the_screen_knows_what_was_decided(
        items in 0_usize..6,
        keys in keys(),
        columns in 0_usize..70,
        rows in 0_usize..20,
    ) {
        let (mut screen, mut kept) = (screen(items), Kept::default());
        let size = Size { columns, rows };
        for key in keys {
            screen.view(&text(), size);
            if let Some(wish) = screen.press(&key) {
                kept.carry_out(wish, &mut screen);
            }
            let tally = screen.tally();
            prop_assert_eq!(tally.accepted, kept.count(Decision::Accepted));
            prop_assert_eq!(tally.rejected, kept.count(Decision::Rejected));
            prop_assert_eq!(tally.accepted + tally.rejected + tally.waiting, items);
            let frame = screen.view(&text(), size);
            prop_assert_eq!(frame.rows.len(), rows);
            // A wide character on a screen of one column is all that may stand out.
            let widest = frame.rows.iter().map(Line::width).max().unwrap_or(0);
            prop_assert!(widest <= columns.max(2), "{widest} of {columns}");
            if let Some((column, row)) = frame.cursor {
                prop_assert!(column < columns.max(1) && row < rows);
            }
        }
    }

    #[test]
    fn undo_gives_back_what_there_was_before(
        items in 1_usize..6,
        before in keys(),
        decides in prop_oneof![Just("ax\n"), Just("rx\n"), Just("s")],
    ) {
        let (mut screen, mut kept) = (screen(items), Kept::default());
        let mut go = |screen: &mut ReviewScreen, key: &Key| {
            if let Some(wish) = screen.press(key) {
                kept.carry_out(wish, screen);
            }
        };
        for key in before.iter().chain([&Key::Escape]) {
            go(&mut screen, key);
        }
        prop_assume!(screen.quest().is_some());
        let (quest, tally) = (screen.quest(), screen.tally());
        for c in decides.chars().chain(['u']) {
            let key = if c == '\n' { Key::Enter } else { Key::Char(c) };
            go(&mut screen, &key);
        }
        prop_assert_eq!((screen.quest(), screen.tally()), (quest, tally));
    }
}

#[test]
fn a_note_is_one_line_of_visible_text() {
    let mut screen = screen(1);
    // A text that is pasted outside a note presses no keys.
    assert_eq!(screen.press(&Key::Paste("ax\nq".to_owned())), None);
    let mut note = |keys: &[Key]| {
        for key in keys {
            screen.press(key);
        }
        match &screen.mode {
            Mode::Noting { note, .. } => note.clone(),
            mode => panic!("{mode:?}"),
        }
    };
    let pasted = Key::Paste("a\nb\u{1b}[2J\u{202e}".to_owned());
    let keys = [Key::Char('a'), Key::Char('사'), pasted];
    assert_eq!(note(&keys), "사a b[2J");
    assert_eq!(note(&[Key::Backspace, Key::Up]), "사a b[2");
    assert_eq!(note(&[Key::Clear]), "");
    let long = Key::Paste("한".repeat(MAX_NOTE + 9));
    assert_eq!(note(&[long]).chars().count(), MAX_NOTE);
}
