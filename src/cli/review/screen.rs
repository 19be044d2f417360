//! The review queue at a terminal: shows one item at a time and acts on one key each.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::{io, thread};

use anyhow::Result;
use url::Url;

use super::show;
use crate::base::text::plural;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::person::PersonArgs;
use crate::cli::review::screen_state::{Screen, Tally, Wish, extent, source_page, view};
use crate::cli::terminal::{Line, Terminal, changes, lines, painted};
use crate::cli::{context, person};
use crate::quest::QuestId;
use crate::review;
use crate::review::{Item, NotSettled, Person, Queue, Viewer};
use crate::session::{Decision, Effective, QuestRecord, Session, SettledQuest, SigningKey, Span};

pub(super) fn run(context: &mut Context, person: &PersonArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    if session.manifest().frozen.operator_key.is_some() && person.operator_key.is_none() {
        let hint = "to settle them one by one, name the key file that `scan` was given: \
                    comail review --operator-key FILE";
        show::list(context)?;
        context.output.note(hint);
        return Ok(Exit::Done);
    }
    let queue = Queue::read(&session)?;
    if queue.open == 0 {
        return show::list(context);
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

struct Shown {
    item: Option<Item>,
    text: Vec<Line>,
}

impl Shown {
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

fn open(item: Option<&Item>) -> String {
    let Some(page) = item.and_then(source_page) else {
        return "there is no page to open".to_owned();
    };
    match open_browser(&page) {
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

const TAKEN_BACK: &str = "taken back in the queue";

pub(super) struct Desk {
    session: Session,
    by: String,
    key: Option<SigningKey>,
    viewer: Viewer,
    stood: BTreeMap<QuestId, QuestRecord>,
    settled: BTreeMap<QuestId, Span>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done {
    Recorded,
    /// Somebody else settled it first.
    Overruled,
    /// It was refused, for this reason.
    Refused(String),
}

impl Desk {
    pub(super) fn new(session: Session, person: &PersonArgs, queue: &Queue) -> Result<Self> {
        // Without a key, a person at a terminal types a reason for each decision.
        let key = person::authority(&session, person.operator_key.as_deref())?;
        let mut stood = BTreeMap::new();
        for one in queue.all() {
            stood.extend(session.standing(one.id)?.map(|standing| (one.id, standing)));
        }
        let viewer = Viewer::new(&session, &stood.keys().copied().collect())?;
        Ok(Self {
            session,
            by: person.name(),
            key,
            viewer,
            stood,
            settled: BTreeMap::new(),
        })
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// The item of a quest; none if it no longer waits for a person.
    pub(super) fn item(&mut self, quest: QuestId) -> Result<Option<Item>> {
        let Some(standing) = self.waiting(quest)? else {
            return Ok(None);
        };
        if self.stood.get(&quest) == Some(&standing) {
            return Ok(self.viewer.item(&standing)?);
        }
        let mut viewer = Viewer::new(&self.session, &[quest].into())?;
        Ok(viewer.item(&standing)?)
    }

    pub(super) fn settle(
        &mut self,
        quest: QuestId,
        attempt: u32,
        decision: Decision,
        note: &str,
    ) -> Result<Done> {
        if self.waiting(quest)?.is_none() {
            return Ok(Done::Overruled);
        }
        let done = self.record(SettledQuest { quest, attempt }, decision, note)?;
        if done == Done::Recorded {
            self.settled
                .extend(self.line(quest)?.map(|line| (quest, line)));
        }
        Ok(done)
    }

    pub(super) fn reopen(&mut self, quest: QuestId, attempt: u32) -> Result<Done> {
        self.freshen()?;
        if self.line(quest)?.as_ref() != self.settled.get(&quest) {
            return Ok(Done::Overruled);
        }
        let settled = SettledQuest { quest, attempt };
        self.record(settled, Decision::Reopened, TAKEN_BACK)
    }

    fn record(&mut self, settled: SettledQuest, decision: Decision, note: &str) -> Result<Done> {
        let person = Person {
            by: &self.by,
            note,
            key: self.key.as_ref(),
        };
        let recorded = review::settle(
            &mut self.session,
            vec![settled],
            decision,
            person,
            &mut context::clock(),
        );
        match recorded {
            Ok(()) => Ok(Done::Recorded),
            Err(NotSettled::Session(error)) => Err(error.into()),
            Err(why) => Ok(Done::Refused(why.to_string())),
        }
    }

    fn waiting(&mut self, quest: QuestId) -> Result<Option<QuestRecord>> {
        self.freshen()?;
        let standing = self.session.standing(quest)?;
        Ok(standing.filter(|standing| Effective::of(standing).is_open()))
    }

    fn line(&self, quest: QuestId) -> Result<Option<Span>> {
        let standing = self.session.standing(quest)?;
        Ok(standing
            .and_then(|standing| standing.settled)
            .map(|settled| settled.line))
    }

    fn freshen(&mut self) -> Result<()> {
        self.session.fold()?;
        Ok(())
    }
}

/// Names the programs that open pages, as `name arguments`, separated by `:`; `%s` is the page.
const VARIABLE: &str = "BROWSER";

#[cfg(target_os = "macos")]
const PLATFORM: &[&str] = &["open"];
#[cfg(windows)]
const PLATFORM: &[&str] = &["rundll32.exe", "url.dll,FileProtocolHandler"];
#[cfg(not(any(target_os = "macos", windows)))]
const PLATFORM: &[&str] = &["xdg-open"];

/// Starts the first program that can be started, without waiting for it.
pub(super) fn open_browser(page: &Url) -> io::Result<()> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let mut ended = Err(io::ErrorKind::NotFound.into());
    for words in programs(&named, page) {
        ended = start(&words);
        if ended.is_ok() {
            break;
        }
    }
    ended
}

/// The command lines that open `page`, as `named` has them, then the platform's.
///
/// No shell reads them; but one that `named` has may read the page's address.
fn programs(named: &str, page: &Url) -> Vec<Vec<String>> {
    let web = matches!(page.scheme(), "http" | "https");
    let platform = PLATFORM.iter().map(|word| (*word).to_owned()).collect();
    let named = named.split(':').filter_map(shlex::split);
    let all = named
        .chain([platform])
        .filter(|words| web && !words.is_empty());
    all.map(|words| with_page(words, &inert(page))).collect()
}

/// The address of `page` without a character by which a shell does more than pass it on; what
/// is escaped leads to the same page.
fn inert(page: &Url) -> String {
    let mut inert = String::with_capacity(page.as_str().len());
    for c in page.as_str().chars() {
        if c.is_ascii_alphanumeric() || "-._~:/?#[]@!*+,=%".contains(c) {
            inert.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(inert, "%{byte:02X}");
            }
        }
    }
    inert
}

fn with_page(mut words: Vec<String>, page: &str) -> Vec<String> {
    if words.iter().any(|word| word.contains("%s")) {
        let put = words.iter().map(|word| word.replace("%s", page));
        return put.collect();
    }
    words.push(page.to_owned());
    words
}

fn start(words: &[String]) -> io::Result<()> {
    let Some((program, args)) = words.split_first() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C at the terminal must not reach the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(named: &str, page: &str) -> Vec<String> {
        let programs = programs(named, &Url::parse(page).unwrap());
        programs.iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn what_is_named_goes_before_the_platforms_own() {
        let lines = lines(
            "fox --new:'my lynx' -u=%s::'broken",
            "https://a.example/$(x)?%s",
        );
        assert_eq!(lines[0], "fox --new https://a.example/%24%28x%29?%s");
        assert_eq!(lines[1], "my lynx -u=https://a.example/%24%28x%29?%s");
        assert_eq!(lines.len(), 3, "{lines:?}");
    }

    #[test]
    fn nothing_but_a_web_page_is_opened() {
        for page in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
        ] {
            assert_eq!(lines("fox", page), Vec::<String>::new());
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_told_of() {
        let words = ["/nowhere/fox".to_owned()];
        assert_eq!(start(&words).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
