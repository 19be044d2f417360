//! What stands in a line of Markdown that is no prose: code, links and placeholders.

use std::sync::LazyLock;

use regex::Regex;

use super::unseen::Unseen;

/// What stands in a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::gate::checks) struct Inline {
    pub(in crate::gate::checks) kind: InlineKind,
    /// What it says: the code, where the link leads, the placeholder.
    pub(in crate::gate::checks) text: String,
}

/// The sorts of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::gate::checks) enum InlineKind {
    Code,
    Link,
    Placeholder,
}

/// A line, taken apart.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// All of it but comments.
    pub(super) visible: String,
    /// The prose, with a mark where anything else stood.
    pub(super) prose: String,
    /// What of `visible` a page is sure to show.
    pub(super) shown: String,
    /// What of `prose` a page is sure to show.
    pub(super) shown_prose: String,
    pub(super) inlines: Vec<Inline>,
    /// Whether a comment has begun in it that it does not end.
    pub(super) is_open: bool,
}

/// What stands in prose for what is none.
const MARK: char = '\u{fffc}';

const SPECIAL: &str = concat!(
    r"(?P<escape>\\[!-/:-@\[-`{-~])",
    r"|(?P<code>`+)",
    r"|(?P<comment><!--)",
    r"|\]\(\s*<?(?P<to>[^)\s>]*)",
    r"|(?P<url>https?://[!-(*-;=?-~]+)",
    r"|(?P<hole>\{\{[^{}]*\}\}|\$\{[^{}\s]+\}|\{[\w.:-]{0,40}\}|\$[A-Za-z_]\w*|%\(\w+\)[sdif]",
    r"|%(?:\d+\$)?[-+0#]*\d*(?:\.\d+)?(?:hh?|ll?|z)?[sdiufgexXc@]\b)",
);

static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SPECIAL).ok());
static DEFINITION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)").ok());

/// Takes a line apart; the last end of a comment stands at `last_end` from its beginning, if any
/// does.
pub(super) fn taken_apart(line: &str, last_end: Option<usize>, unseen: &mut Unseen) -> Line {
    if let Some(to) = definition(line) {
        // Nobody sees where it stands.
        return Line {
            inlines: vec![inline(InlineKind::Link, to)],
            ..Line::default()
        };
    }
    let mut taken = Line::default();
    let mut from = 0;
    while let Some(found) = FORM.as_ref().and_then(|form| form.captures_at(line, from)) {
        let Some(whole) = found.get(0) else { break };
        taken.say(&line[from..whole.start()], unseen);
        from = whole.end();
        let is = |name: &str| found.name(name).is_some();
        if let Some(ticks) = found.name("code") {
            match code(&line[from..], ticks.len()) {
                Some((text, length)) => {
                    from += length;
                    let written = &line[whole.start()..from];
                    taken.hold(InlineKind::Code, text.trim(), written, unseen);
                }
                None => taken.say(whole.as_str(), unseen),
            }
        } else if is("comment") {
            if last_end.is_none_or(|at| at < from) {
                // A comment without an end is none, or hides all: readers of Markdown differ.
                taken.say(whole.as_str(), unseen);
                unseen.hide_all();
            } else if let Some(at) = line[from..].find("-->") {
                from += at + "-->".len();
            } else {
                taken.is_open = true;
                return taken;
            }
        } else if let Some(to) = found.name("to").or(found.name("url")) {
            let ends = |c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '*');
            let text = to.as_str();
            let bare = if is("url") {
                text.trim_end_matches(ends)
            } else {
                text
            };
            from -= text.len() - bare.len();
            taken.hold(InlineKind::Link, bare, &line[whole.start()..from], unseen);
            if !is("url") {
                unseen.begin_title();
            }
        } else if is("hole") && !follows_digit(line, whole.start(), whole.as_str()) {
            let written = whole.as_str();
            taken.hold(InlineKind::Placeholder, written, written, unseen);
        } else {
            taken.say(whole.as_str(), unseen);
        }
    }
    taken.say(&line[from..], unseen);
    taken
}

impl Line {
    fn say(&mut self, text: &str, unseen: &mut Unseen) {
        self.visible.push_str(text);
        self.prose.push_str(text);
        let shown = unseen.read(text);
        self.shown.push_str(&shown);
        self.shown_prose.push_str(&shown);
    }

    fn hold(&mut self, kind: InlineKind, text: &str, written: &str, unseen: &mut Unseen) {
        self.visible.push_str(written);
        self.prose.push(MARK);
        if unseen.hides() {
            unseen.read(written);
        } else {
            unseen.pass();
            self.shown.push_str(written);
            self.shown_prose.push(MARK);
        }
        self.inlines.push(inline(kind, text));
    }
}

fn inline(kind: InlineKind, text: &str) -> Inline {
    Inline {
        kind,
        text: text.to_owned(),
    }
}

/// The code up to the ticks that end it, and how long it is with them.
fn code(rest: &str, ticks: usize) -> Option<(&str, usize)> {
    let mut from = 0;
    loop {
        let start = from + rest[from..].find('`')?;
        let after = rest[start..].trim_start_matches('`');
        let end = rest.len() - after.len();
        if end - start == ticks {
            return Some((&rest[..start], end));
        }
        from = end;
    }
}

fn definition(line: &str) -> Option<&str> {
    let found = DEFINITION.as_ref()?.captures(line)?;
    found.get(1).map(|to| to.as_str())
}

/// Whether it is a percent sign after a number, and no placeholder.
fn follows_digit(line: &str, at: usize, text: &str) -> bool {
    text.starts_with('%') && line[..at].ends_with(|c: char| c.is_numeric())
}
