//! The firms that a page names as the operator of its site.

use std::sync::LazyLock;

use unicode_script::{Script, UnicodeScript as _};

use super::company_name::{self, CompanyName, Folded};
use super::notice::{is_heading, is_line};
use super::words::{Kinded, LABELS, Label, Line, NAME_WORDS, NameWord, PHRASES, Phrase};
use crate::base::words::rows;
use crate::gate::email::lists;
use crate::gate::email::source::disowned::is_denied;
use crate::world::page::{OwnerPlace, OwnerText, is_unspaced};

/// A firm that a page names as the operator of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// Folded; it begins with the name.
    pub(super) value: String,
    /// The line, as the page has it.
    pub(super) line: String,
    pub(super) whose: Whose,
    pub(super) slot: Slot,
}

/// What makes a name the operator's, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// A part of a page that may be about somebody else.
    Part,
    /// A sentence, whose subject is unknown: a site, or a plant.
    Sentence,
    /// A number of a register, which a guarantor has too.
    Number,
    /// It stands first below the heading of a notice, or is the other name of a firm.
    First,
    Label,
}

/// What is known of a name beside its legal form: without one, only a label tells whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Firm,
    /// The operator's, who may be a person.
    Operator,
    Unclear,
}

/// How much a page that is read for its operator says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A notice: the firm that stands first below its heading is the operator.
    Notice,
    /// A page about the company: what it labels, or says in a sentence.
    About,
    /// The home page: what it labels.
    Home,
}

impl Label {
    /// Whose name stands behind the label, if it is the operator's.
    fn whose(self) -> Option<Whose> {
        match self {
            Self::Owner | Self::Site => Some(Whose::Firm),
            Self::Person | Self::Publisher => Some(Whose::Operator),
            Self::Stop | Self::Registration | Self::Credit | Self::Other => None,
        }
    }
}

impl Block {
    /// What is left of it on the next line. A heading ends it, unless that is one of its own: a name,
    /// or what it labels.
    fn after(self, text: &OwnerText) -> Option<Self> {
        let line = text.line();
        let is_heading = text.is_heading;
        let in_footer = (!is_heading).then_some(text.place == OwnerPlace::Footer);
        let is_left =
            self.in_footer.is_some() && in_footer.is_some() && self.in_footer != in_footer;
        let is_part = || firm(&line.text).is_some() || LABELS.at(line, 0).is_some();
        let ends = self.has_labels && (is_left || is_heading && !is_part());
        let left = self.left.checked_sub(1).filter(|left| *left > 0 && !ends)?;
        Some(Self {
            left,
            in_footer: in_footer.or(self.in_footer),
            ..self
        })
    }
}

/// Below a heading, the operator comes within so many lines.
const NEAR: usize = 12;

/// A number of a register belongs to a firm so many lines before it.
const BEFORE_NUMBER: usize = 4;

/// The firms that a page names as its operator, in order. `called` are the names of its site, folded.
pub(super) fn operators(
    texts: &[OwnerText],
    reading: Reading,
    name: &CompanyName,
    called: &[String],
) -> Vec<Named> {
    let lines = texts.iter().filter(|text| is_line(text.place));
    let lines: Vec<&OwnerText> = lines.collect();
    let has_heading = lines.iter().any(|text| is_heading(text.line()));
    let mut state = Reader {
        name,
        called,
        reading,
        named: Vec::new(),
        near: if has_heading { 0 } else { lines.len() },
        below: Below::Nothing,
        expected: None,
        block: None,
    };
    for (at, text) in lines.iter().enumerate() {
        state.read(text, &lines[at.saturating_sub(BEFORE_NUMBER)..at]);
    }
    state.named
}

/// What stands below the heading of a notice so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Below {
    /// No heading of a notice was read yet.
    Nothing,
    /// Nobody is named below it yet.
    Heading,
    /// What the site is called. The firm whose site it is may stand on the next line.
    Site,
    /// Somebody: a firm, a person, or what the site is called.
    Somebody,
    /// Somebody, and then the heading of another part, which is about others.
    OtherPart,
}

struct Reader<'a> {
    name: &'a CompanyName,
    called: &'a [String],
    reading: Reading,
    named: Vec<Named>,
    /// The lines left in which the operator may follow a heading.
    near: usize,
    below: Below,
    /// Where the line before is, if a label or a phrase ended it, and what that makes of a name.
    expected: Option<(OwnerPlace, Slot)>,
    /// The lines about others in which this one is.
    block: Option<Block>,
}

/// Lines about others, whom a line above them announced.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The most lines left.
    left: usize,
    /// Whether it has labels of its own, which do not name the operator.
    has_labels: bool,
    /// Whether its lines are in the page's footer, once there is one.
    in_footer: Option<bool>,
}

impl Reader<'_> {
    fn read(&mut self, text: &OwnerText, before: &[&OwnerText]) {
        let (shown, line) = (text.text.as_str(), text.line());
        let expected = self.expected.take();
        let is_near = self.near > 0 && self.reading == Reading::Notice;
        self.near = self.near.saturating_sub(1);
        if self.reading == Reading::Notice && is_heading(line) {
            self.near = NEAR;
            self.below = Below::Heading;
            self.block = None;
            return;
        }
        let fields = fields(line);
        self.enter_block(text, &fields);
        self.go_below(text, &fields);
        let (is_own, has_own_labels) = match self.block {
            Some(block) => (false, !block.has_labels),
            None => (true, true),
        };
        for (at, field) in fields.iter().enumerate() {
            match (field.label, field.label.and_then(Label::whose), expected) {
                (_, Some(_), _) if !has_own_labels => {}
                (_, Some(_), _) if field.value.is_empty() => {
                    self.expected = Some((text.place, self.slot_of(field.label)));
                }
                (_, Some(whose), _) => {
                    self.near = 0;
                    self.add(shown, field.value, (whose, self.slot_of(field.label)));
                }
                (Some(Label::Registration), ..) if is_own && is_number(field.value) => {
                    // The firm stands before its number, on the line or above.
                    let is_formal = |text: &&&OwnerText| firm(&text.line().text).is_some();
                    let mut before = before.iter().rev();
                    if fields[0].label.is_none() {
                        self.add_firm(shown, fields[0].value, Slot::Number);
                    } else if let Some(text) = before.find(is_formal) {
                        // Of a page about the site, any part may end with somebody's number.
                        let slot = match self.reading {
                            Reading::About => Slot::Part,
                            Reading::Notice | Reading::Home => Slot::Number,
                        };
                        self.add(&text.text, &text.line().text, (Whose::Unclear, slot));
                    }
                }
                (None, _, Some((place, slot))) if at == 0 && !announces(line) => {
                    // A menu may have such a heading too: `Company`, `About us`.
                    let is_label = self.reading == Reading::Notice
                        && place != OwnerPlace::Heading
                        && slot == Slot::Label;
                    if !self.add_firm(shown, field.value, slot) && is_label {
                        self.add(shown, field.value, (Whose::Operator, Slot::Label));
                    }
                    self.near = 0;
                }
                (None, ..) if at == 0 && is_own => {
                    self.sentence(text);
                    if is_near && self.add_firm(shown, field.value, Slot::First)
                        || self.below >= Below::Somebody
                    {
                        self.near = 0;
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds out who stands first below the heading of a notice, and where the part about the operator
    /// ends. A short line that is neither a label nor a firm names somebody too: what follows a
    /// person, such as an insurer or a bank, does not run the person's site.
    fn go_below(&mut self, text: &OwnerText, fields: &[Field<'_>]) {
        let line = text.line();
        let labels = || fields.iter().filter_map(|field| field.label);
        let is_plain = labels().next().is_none() && !announces(line);
        let is_own_label = labels().any(|label| label.whose().is_some());
        let is_site = || self.called.iter().any(|called| *called == line.text.trim());
        self.below = match self.below {
            Below::Heading if is_own_label => Below::Somebody,
            Below::Heading if is_plain && is_site() => Below::Site,
            Below::Heading
                if is_plain && !text.is_heading && (is_called(line) || self.is_firm(line)) =>
            {
                Below::Somebody
            }
            Below::Site => Below::Somebody,
            Below::Somebody if is_plain && text.is_heading && !self.is_firm(line) => {
                Below::OtherPart
            }
            below => below,
        };
    }

    fn is_firm(&self, line: &Line) -> bool {
        begins_with(&line.text, self.name) || firm(&line.text).is_some()
    }

    /// Another part of a notice may name an insurer or a host, so its labels count less.
    fn slot_of(&self, label: Option<Label>) -> Slot {
        match label {
            Some(Label::Owner | Label::Person) if self.below == Below::OtherPart => Slot::Part,
            _ => Slot::Label,
        }
    }

    /// Begins, goes on with or ends a block about others.
    fn enter_block(&mut self, text: &OwnerText, fields: &[Field<'_>]) {
        self.block = self.block.and_then(|block| block.after(text));
        let first = fields.iter().find(|field| field.label.is_some());
        let is_alone = first.is_some_and(|first| first.value.is_empty() && fields.len() == 1);
        let is_labelled = self.block.is_some_and(|block| block.has_labels);
        match first.and_then(|first| first.label) {
            Some(Label::Site | Label::Publisher) => self.block = None,
            Some(Label::Owner | Label::Person) if !is_labelled => self.block = None,
            Some(Label::Credit) if is_alone && !is_labelled => {
                self.block = Some(Block {
                    left: self.most_others(),
                    has_labels: false,
                    in_footer: None,
                });
            }
            _ => {}
        }
        if (is_alone || !is_labelled) && self.heads_other(text) {
            let is_whole = text.is_heading && self.reading != Reading::Home;
            self.block = Some(Block {
                left: if is_whole {
                    usize::MAX
                } else {
                    self.most_others()
                },
                has_labels: true,
                in_footer: None,
            });
        }
    }

    /// Whether a line is the heading of a block about somebody else.
    fn heads_other(&self, text: &OwnerText) -> bool {
        const MAX_WORDS: usize = 8;
        let line = text.line();
        let (shown, count) = (line.text.trim_end(), line.words.len());
        let is_short = count <= MAX_WORDS && !shown.trim_end_matches(':').contains(':');
        if !is_short || begins_with(shown, self.name) {
            return false;
        }
        let is_whole = LABELS.length(line, 0, Label::Other) == Some(count);
        let mut starts = 0..count;
        let mut has_word = || starts.any(|at| LABELS.length(line, at, Label::Other).is_some());
        let has_part = || LABELS.inside(line).any(|kind| kind == Label::Other);
        is_whole || (text.is_heading || shown.ends_with(':')) && (has_word() || has_part())
    }

    /// A notice lists others at length; the foot of a home page has links of the same names.
    fn most_others(&self) -> usize {
        match self.reading {
            Reading::Home => 3,
            Reading::Notice | Reading::About => 9,
        }
    }

    /// Adds who a sentence says runs the site, or trades under another name.
    fn sentence(&mut self, text: &OwnerText) {
        let (shown, line) = (text.text.as_str(), text.line());
        for (phrase, slot) in [
            (Phrase::Site, Slot::Label),
            (Phrase::Operator, Slot::Sentence),
        ] {
            if let Some(found) = PHRASES.find(line, phrase)
                && !is_denied(&line.text, &found)
            {
                // Where the sentence begins before it, its subject is unknown.
                let is_whole = begins_sentence(&line.text, found.start);
                let slot = if is_whole { slot } else { Slot::Sentence };
                let value = self.behind_articles(&line.text[found.end..]);
                if !value.contains(char::is_alphanumeric) {
                    self.expected = Some((text.place, slot));
                }
                self.add(shown, value, (Whose::Unclear, slot));
            }
        }
        if let Some(subject) = PHRASES.find(line, Phrase::Subject)
            && let Some(run) = PHRASES.find(line, Phrase::Run)
            && !is_denied(&line.text, &run)
            && begins_sentence(&line.text, subject.start)
            && let Some(value) = line.text.get(subject.end..run.start)
        {
            self.add(shown, value, (Whose::Unclear, Slot::Label));
        }
        if self.reading != Reading::Home
            && let Some(names) = aliases(line)
        {
            for name in names {
                self.add(
                    shown,
                    self.behind_articles(name),
                    (Whose::Unclear, Slot::First),
                );
            }
        }
    }

    /// A text without the articles before a name, some of which begin the company's own.
    fn behind_articles<'t>(&self, text: &'t str) -> &'t str {
        let line = Line::new(text);
        if line.text != text {
            return text;
        }
        let mut at = 0;
        let from = |at: usize| {
            line.words
                .get(at)
                .map_or(text, |range| &text[range.start..])
        };
        while !begins_with(from(at), self.name)
            && let Some(length) = NAME_WORDS.length(&line, at, NameWord::Article)
        {
            at += length;
        }
        from(at)
    }

    /// Adds a value that begins with a firm's name: the company's, or one with a legal form. A
    /// sentence about a firm does not name the operator.
    fn add_firm(&mut self, shown: &str, value: &str, slot: Slot) -> bool {
        let value = behind_copyright(value);
        let is_firm = begins_with(value, self.name) || firm(value).is_some();
        if is_firm && !is_sentence(value) && before_particle(value, self.name).is_none() {
            self.add(shown, value, (Whose::Unclear, slot));
            return true;
        }
        false
    }

    fn add(&mut self, shown: &str, value: &str, (whose, slot): (Whose, Slot)) {
        let value = value.trim_matches(|c: char| c.is_whitespace() || is_between(c) || c == '"');
        if value.chars().any(char::is_alphabetic) {
            self.named.push(Named {
                value: value.to_owned(),
                line: shown.to_owned(),
                whose,
                slot,
            });
        }
    }
}

/// Whether a line may begin with what somebody is called: a few words, and no sentence, date or street.
fn is_called(line: &Line) -> bool {
    const MAX_WORDS: usize = 6;
    const MAX_CHARS: usize = 60;
    let text = line
        .text
        .split(is_between)
        .next()
        .unwrap_or_default()
        .trim();
    let is_short =
        text.split_whitespace().count() <= MAX_WORDS && text.chars().count() <= MAX_CHARS;
    let is_name =
        text.contains(char::is_alphabetic) && !text.contains(|c: char| c.is_ascii_digit());
    let is_sentence = text.ends_with(['.', ':', '!', '?', '。']);
    let mut labels = (0..line.words.len()).filter_map(|at| LABELS.at(line, at));
    // `Herausgeber und Verlag` is a label that the list does not have.
    let is_label = labels.any(|(_, label)| label.whose().is_some());
    is_short && is_name && !is_sentence && !is_label
}

/// Whether a line has words of a sentence that names the operator.
fn announces(line: &Line) -> bool {
    let phrases = [Phrase::Site, Phrase::Operator];
    phrases
        .iter()
        .any(|phrase| PHRASES.find(line, *phrase).is_some())
}

/// Whether a firm is but the beginning of a sentence: `acme gmbh makes noodles.`
fn is_sentence(value: &str) -> bool {
    let is_whole = ends(value).first() == Some(&value.len());
    let behind = || firm(value).map_or("", |firm| &value[firm.len()..]);
    is_whole && value.ends_with('.') && behind().contains(char::is_alphanumeric)
}

/// What stands before and behind the words that part two names of one firm.
pub(super) fn aliases(line: &Line) -> Option<[&str; 2]> {
    let found = PHRASES.find(line, Phrase::Alias)?;
    let before = before_articles(&line.text[..found.start]);
    let is_disclaimed = PHRASES.find(line, Phrase::Disclaimer).is_some();
    (!is_disclaimed).then(|| [before, &line.text[found.end..]])
}

fn before_articles(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some((rest, word)) = text.rsplit_once(char::is_whitespace)
        && NAME_WORDS.is(word, NameWord::Article)
    {
        text = rest.trim_end();
    }
    text
}

/// `acme s.r.l.` of `© 2024 acme s.r.l.`
fn behind_copyright(value: &str) -> &str {
    let signs = ["©", "(c)", "copyright"];
    let behind_reserved = |text: &str| {
        let found = PHRASES.find(&Line::new(text), Phrase::Reserved)?;
        (found.start == 0).then_some(found.end)
    };
    let mut rest = value;
    while let Some(after) = signs
        .iter()
        .find_map(|sign| rest.strip_prefix(sign))
        .or_else(|| rest.get(behind_reserved(rest)?..))
    {
        rest = after.trim_start_matches(|c: char| {
            c.is_whitespace() || ",-–.:".contains(c) || c.is_ascii_digit()
        });
    }
    rest
}

/// Whether a value may be a number of a register.
fn is_number(value: &str) -> bool {
    const MIN_DIGITS: usize = 5;
    value.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS
}

struct Field<'a> {
    label: Option<Label>,
    value: &'a str,
}

/// A line's values, each behind its label; the first may have none.
fn fields(line: &Line) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let (mut label, mut start, mut at) = (None, 0, 0);
    while at < line.words.len() {
        let begin = line.words[at].start;
        let Some((length, kind, behind)) = label_at(line, at) else {
            at += 1;
            continue;
        };
        let value = trimmed(&line.text[start..begin]);
        if label.is_some() || !value.is_empty() {
            fields.push(Field { label, value });
        }
        (label, start) = (Some(kind), behind);
        at += length;
        while line.words.get(at).is_some_and(|range| range.start < start) {
            at += 1;
        }
    }
    fields.push(Field {
        label,
        value: trimmed(&line.text[start..]),
    });
    fields
}

/// The label at a word: the number of its words, its kind, and where its value begins.
fn label_at(line: &Line, at: usize) -> Option<(usize, Label, usize)> {
    // `沪ICP备12345678号` is one word, and its own value.
    let word = line.word(at);
    let mut numbers = LABELS.joined(Label::Registration);
    if word.contains(|c: char| c.is_ascii_digit()) && numbers.any(|number| word.contains(number)) {
        return Some((1, Label::Registration, line.words[at].start));
    }
    let (length, kind) = LABELS.at(line, at)?;
    let end = line.words[at + length - 1].end;
    let kind = match kind {
        Label::Site | Label::Publisher | Label::Person if is_behind_credit(line, at) => {
            Label::Credit
        }
        kind => kind,
    };
    is_label(line, at, length, kind).then(|| (length, kind, behind_bracket(&line.text, end)))
}

/// Whether a label shares its value with a credit: `制作・運営: Acme`.
fn is_behind_credit(line: &Line, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return false;
    };
    let is_joined = matches!(line.gap(at).trim(), "・" | "/" | "·");
    let word = line.word(before);
    let mut credits = LABELS.joined(Label::Credit);
    let is_credit = LABELS.length(line, before, Label::Credit) == Some(1)
        || credits.any(|credit| word.ends_with(credit));
    is_joined && is_credit
}

fn trimmed(value: &str) -> &str {
    value.trim_matches(|c: char| {
        c.is_whitespace() || is_between(c) || matches!(c, ':' | '[' | ']' | '【' | '】')
    })
}

/// Whether these words act as a label: they begin the line or follow a sign, and a colon or the end
/// of the line follows them. In a script without spaces, a space may follow, or what ends a value.
fn is_label(line: &Line, at: usize, length: usize, kind: Label) -> bool {
    let last = &line.words[at + length - 1];
    let (before, rest) = (line.gap(at), &line.text[last.end..]);
    let after = &line.text[behind_bracket(&line.text, last.end)..];
    let is_unspaced = line.word(at).chars().any(is_unspaced);
    let is_bound = at == 0 || before.contains(is_between) || before.contains([':', '.', '【', '[']);
    let is_ended = after.trim().is_empty()
        || after.trim_start().starts_with([':', '】', ']'])
        || is_unspaced && rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '|' | '/'));
    match kind {
        // `결제 회사: Acme` is a label of another kind.
        Label::Owner | Label::Person | Label::Site | Label::Publisher => is_bound && is_ended,
        Label::Credit | Label::Other => (is_bound || is_unspaced) && is_ended,
        Label::Stop => is_bound && is_ended || at > 0 && ends_name(line, at),
        Label::Registration => true,
    }
}

/// Whether a name ends before the label that is there: `Acme Tel. 1`, and not `Acme Web GmbH`.
pub(super) fn ends_name(line: &Line, at: usize) -> bool {
    let Some((length, Label::Stop | Label::Registration)) = LABELS.at(line, at) else {
        return false;
    };
    let next = line.word(at + length);
    line.word(at).chars().any(is_unspaced)
        || line.gap(at + length).contains(':')
        || next.starts_with(|c: char| c.is_ascii_digit() || c == '+')
}

/// The end of `상호(법인명)`, at whose first bracket `at` is.
fn behind_bracket(text: &str, at: usize) -> usize {
    const MAX_BRACKET: usize = 40;
    let rest = text[at..].trim_start();
    let skipped = text.len() - at - rest.len();
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match inside {
        Some((inside, after))
            if inside.len() <= MAX_BRACKET
                && (after.trim().is_empty() || after.trim_start().starts_with([':', '|'])) =>
        {
            at + skipped + inside.len() + "()".len()
        }
        _ => at,
    }
}

/// Whether a sign parts one piece of a line from the next.
pub(super) fn is_between(c: char) -> bool {
    matches!(
        c,
        '|' | ',' | ';' | '·' | '•' | '/' | '│' | '\u{1175}' | '–' | '—' | '、' | '*' | '。' | '・'
    )
}

/// Where a name at the beginning of a folded text may end: at a sign, a sentence's end, a bracket, or
/// a phrase that goes on.
fn ends(text: &str) -> Vec<usize> {
    const MAX_ENDS: usize = 5;
    let signs = text.char_indices().filter(|(at, c)| {
        let rest = &text[*at..];
        is_between(*c)
            || matches!(c, '(' | '[' | '"' | '」')
            || rest.starts_with(". ")
            || rest.starts_with(" - ")
            || rest.starts_with(": ")
    });
    let mut ends: Vec<usize> = signs
        .map(|(at, _)| at)
        .filter(|at| *at > 0)
        .take(MAX_ENDS)
        .collect();
    ends.push(text.len());
    ends
}

/// Whether a folded text begins with the company's name, and goes on with what is no further firm.
///
/// A sentence may follow a name with its legal form: `Acme GmbH makes noodles`.
pub(super) fn begins_with(text: &str, name: &CompanyName) -> bool {
    let text = text.trim_start();
    let ends = ends(text);
    let mut spelled = ends.iter().filter(|end| name.is_spelled(&text[..**end]));
    if let Some(end) = spelled.next() {
        return !is_another(&text[*end..]) && !is_of_another_branch(text, *end, name);
    }
    let is_formal = ends.first().is_some_and(|end| {
        firm(&text[..*end]).is_some_and(|found| {
            let rest = &text[found.len()..*end];
            name.is_spelled(found) && firm(rest).is_none() && !is_another(&text[found.len()..])
        })
    });
    is_formal || before_particle(text, name).is_some()
}

/// Whether the bracket with which a name goes on names another branch than the company's.
fn is_of_another_branch(text: &str, end: usize, name: &CompanyName) -> bool {
    let rest = text[end..].trim_start();
    let bracket = rest.starts_with('(').then(|| rest.find(')')).flatten();
    bracket.is_some_and(|close| {
        let until = text.len() - rest.len() + close + 1;
        name.is_another_branch(&text[..until])
    })
}

static PARTICLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rows = rows::<Kinded<NameWord>>(lists::NAME_WORDS).into_iter();
    let particles = rows.filter(|row| row.word.kind == NameWord::Particle);
    particles
        .map(|row| Line::new(&row.word.text).text)
        .collect()
});

/// The company's name at the beginning of a folded text, with its legal form, if a particle is written
/// to it that ends a word.
fn before_particle<'t>(text: &'t str, name: &CompanyName) -> Option<&'t str> {
    const MAX_CHARS: usize = 60;
    if text.is_ascii() {
        return None;
    }
    let places = text.char_indices().skip(1).take(MAX_CHARS);
    let mut heads = places.filter_map(|(at, _)| {
        let (head, rest) = text.split_at(at);
        let ends_word = |particle: &String| {
            let next = rest.strip_prefix(particle.as_str())?.chars().next();
            // Folding makes katakana of hiragana, so that more kana may be more of a name.
            let goes_on = |c: char| match c.script() {
                Script::Hangul => true,
                Script::Katakana => c.is_alphanumeric(),
                _ => c.is_ascii_alphanumeric(),
            };
            (!next.is_some_and(goes_on)).then_some(head)
        };
        PARTICLES.iter().find_map(ends_word)
    });
    heads.find(|head| name.is_spelled(head) && firm(head).is_some())
}

/// Whether what follows a name says that it is another's, or that the firm comes to its end:
/// `– authorised dealer`, `fan club`, `i. l.`
fn is_another(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let line = Line::new(rest);
    // `dealer in tractors` deals itself.
    NAME_WORDS
        .length(&line, 0, NameWord::Another)
        .is_some_and(|length| length == line.words.len() || !line.gap(length).trim().is_empty())
}

/// Whether a sentence begins at this byte of a line.
fn begins_sentence(line: &str, at: usize) -> bool {
    let before = line[..at].trim_end_matches(|c: char| c.is_whitespace() || "\"'„“«(".contains(c));
    before.is_empty() || before.ends_with(['.', '!', '?', ':', '。', '！', '？', '：', '|', '·'])
}

const MAX_FIRM_WORDS: usize = 12;

/// The beginning of a folded text that is a name with its legal form.
pub(super) fn firm(text: &str) -> Option<&str> {
    let line = Line::new(text);
    if line.text != text {
        return None;
    }
    let most = line.words.len().min(MAX_FIRM_WORDS);
    let mut found = None;
    for count in 1..=most {
        let head = &text[..line.words[count - 1].end];
        let words = Folded::new(head);
        if words.words().last().is_some_and(|word| word == "and") {
            continue;
        }
        let left = company_name::stripped(words.words());
        let is_formal = !left.is_empty() && left.concat().len() < words.compact().len();
        match (is_formal, found) {
            (true, _) => found = Some(head),
            // A form before the name takes all of it.
            (false, Some(_)) => break,
            (false, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    fn found(reading: Reading, key: &str, lines: &[&str]) -> Vec<String> {
        let texts: Vec<OwnerText> = lines
            .iter()
            .map(|text| OwnerText::new(OwnerPlace::Body, (*text).to_owned()))
            .collect();
        let named = operators(&texts, reading, &CompanyName::parse(key), &[]);
        named.into_iter().map(|named| named.value).collect()
    }

    fn proves(reading: Reading, key: &str, text: &str) -> bool {
        let lines: Vec<&str> = text.split('\n').map(str::trim).collect();
        let name = CompanyName::parse(key);
        let named = found(reading, key, &lines);
        named.iter().any(|value| begins_with(value, &name))
    }

    #[test]
    fn labelled_lines_name_the_operator_on_any_page() {
        for (key, line) in rows! {
            "(주)아크메" => "상호: 아크메(주) 대표: 홍길동 사업자등록번호: 123-45-67890";
            "아크메" => "법인명(상호) : 주식회사 아크메 | 대표자(성명) : 홍길동";
            "아크메" => "상호\n주식회사 아크메";
            "아크메" => "상호명 아크메 | 대표 홍길동";
            "한빛식품" => "한빛식품 주식회사 | 대표 김한빛 | 사업자등록번호 123-45-67890";
            "株式会社アクメ" => "会社名:株式会社アクメ";
            "株式会社アクメ" => "販売業者\n株式会社アクメ";
            "Acme Ltda" => "Razão Social: Acme Ltda";
            "Acme SARL" => "Raison sociale : Acme SARL, 1 rue de Paris";
            "Acme Ltd" => "This website is operated by Acme Ltd.";
            "Acme S.L." => "Se informa que el titular de esta web es Acme S.L., con NIF B12345678.";
            "株式会社アクメ" => "本サイトの運営者は株式会社アクメです。";
            "株式会社アクメ" => "当サイトは株式会社アクメが運営しています。";
            "(주)아크메" => "본 사이트는 (주)아크메가 운영합니다.";
            "(주)아크메" => "본 사이트의 운영주체는 (주)아크메입니다.";
            "Acme Foods GmbH" => "Angaben gemäß § 5 TMG\nAcme Foods GmbH\nHauptstr. 1";
            "Acme Foods GmbH" => "Diensteanbieter:\nAcme Foods Gesellschaft mit beschränkter Haftung";
            "Acme S.r.l." => "Acme S.r.l. - P.IVA 01234567890";
            "Acme S.r.l." => "© 2024 Acme S.r.l. - P.IVA 01234567890";
            "Acme Ltd" => "Acme Ltd\n1 High Street\nRegistered in England, company number 123456";
            "上海阿克米有限公司" => "上海阿克米有限公司 沪ICP备12345678号";
            "上海阿克米有限公司" => "上海阿克米有限公司\n沪ICP备12345678号";
            "Müller GmbH" => "Firma: Mueller GmbH";
            "洛桥县双龙水泥有限公司" => "版权所有:洛桥县双龙水泥有限公司 2010-2024 备案号:浙ICP备12345678号";
        } {
            assert!(proves(Reading::Home, key, line), "{line}");
        }
    }

    #[test]
    fn a_form_that_stands_after_a_name_makes_no_firm_before_it() {
        assert_eq!(firm("公司成立于1998年"), None);
        assert_eq!(firm("上海阿克米公司"), Some("上海阿克米公司"));
    }

    #[test]
    fn whoever_made_a_site_runs_it_only_if_a_label_of_its_own_says_so() {
        for (line, expected) in rows! {
            "運営:株式会社アクメ" => true;
            "サイト制作・運営:株式会社アクメ" => false;
            "홈페이지 제작/운영 : 주식회사 아크메" => false;
            "サイト制作 | 運営:株式会社アクメ" => true;
            "制作:株式会社ガンマ / 運営:株式会社アクメ" => true;
            "운영 : 주식회사 아크메" => true;
        } {
            let is_proven = ["株式会社アクメ", "주식회사 아크메"]
                .iter()
                .any(|key| proves(Reading::Home, key, line));
            assert_eq!(is_proven, expected, "{line}");
        }
    }

    #[test]
    fn a_notice_names_the_firm_below_its_heading() {
        for (key, text) in rows! {
            "Acme Foods" => "Impressum\nAcme Foods GmbH\nHauptstr. 1\n12345 Berlin";
            "Acme Inc." => "Legal notice\nAcme Inc.";
            "Acme S.r.l." => "Note legali\nAcme S.r.l. unipersonale";
            "Acme" => "Mentions légales\nLe site acme.fr est édité par la société Acme SARL au capital de 1000 euros";
            "Acme" => "Aviso legal\nTitular: Acme S.L.";
            "Acme" => "Mentions légales\nCe site est édité par :\nAcme SARL au capital de 1000 euros";
            "Acme" => "Mentions légales\nSite édité par\nAcme SARL";
            "Acme" => "Mentions légales\nÉditeur\nLe site est édité par :\nAcme SARL";
            "Acme" => "Legal notice\nThis website is operated by Acme Ltd, 1 High Street.";
            "Noodle World" => "Legal notice\nNoodle World is a trading name of Acme Foods Ltd";
            "Acme Foods" => "Legal notice\nAcme Foods Inc. d/b/a Noodle World";
            "Acme Rechtsanwälte" => "Impressum\nAcme Rechtsanwälte PartG mbB\nHauptstr. 1";
            "Acme" => "Nota prawna\nACME s.c. Jan Kowalski\nul. Prosta 1";
            "Acme" => "Impressum\nFirma\nM/s. Acme";
            "Łódź Meble" => "Dane firmy\nLodz Meble Sp. z o.o.";
            "O’Connell Ltd" => "Legal notice\nThis site is operated by O’Connell Ltd. Call us.";
            "Acme S.p.A." => "Note legali\nIl sito è di proprietà di Società per azioni Acme";
            "Acme" => "Impressum\nHosting:\nGamma GmbH\nDiensteanbieter: Acme GmbH";
            "Acme" => "Impressum\nPartner\nGamma GmbH\nFirma: Acme GmbH";
            "Acme" => "Impressum\nHosting für Vereine ist unser Geschäft.\nFirma: Acme GmbH";
            "Acme Hosting GmbH" => "Impressum\nAcme Hosting GmbH:\nFirma: Acme Hosting GmbH";
            "Acme Ltd" => "Legal notice\nCompany name: Acme Ltd – dealer in tractors since 1950";
            "Acme GmbH i.L." => "Impressum\nFirma: Acme GmbH i.L.";
            "Acme GmbH" => "Impressum\nHerausgeber und Verlag\nAcme GmbH";
            "Acme GmbH" => "Impressum\n1. Mai 2024\nAcme GmbH";
        } {
            assert!(proves(Reading::Notice, key, text), "{text}");
        }
    }

    #[test]
    fn whoever_stands_first_below_the_heading_is_the_operator() {
        use OwnerPlace::{Body, Heading};
        let slots = |lines: &[(OwnerPlace, &str)]| {
            let lines = lines.iter();
            let lines = lines.map(|(place, text)| OwnerText::new(*place, (*text).to_owned()));
            let lines: Vec<_> = [OwnerText::new(Heading, "Impressum".to_owned())]
                .into_iter()
                .chain(lines)
                .collect();
            let name = CompanyName::parse("Gamma");
            let called = ["acme shop".to_owned()];
            let named = operators(&lines, Reading::Notice, &name, &called);
            let ours = named.iter().filter(|it| begins_with(&it.value, &name));
            ours.map(|it| it.slot).collect::<Vec<_>>()
        };
        let firm = (Body, "Gamma AG, Ring 1");
        for (before, expected) in rows! {
            &[][..] => &[Slot::First][..];
            &[(Body, "Stand: 2024")] => &[Slot::First];
            &[(Body, "Acme Shop")] => &[Slot::First];
            &[(Heading, "Acme Shop")] => &[Slot::First];
            // A person, whose agency, insurer or bank the firm is.
            &[(Body, "Jo Doe")] => &[];
            &[(Body, "Jo Doe, Hauptstr. 1, 12345 Berlin")] => &[];
            &[(Body, "Generalvertretung der")] => &[];
            &[(Body, "Acme Shop"), (Body, "Paketshop von")] => &[];
            &[(Body, "Acme Shop"), (Body, "Hauptstr. 1")] => &[];
            &[(Body, "Acme Shop"), (Heading, "Versicherung")] => &[];
        } {
            assert_eq!(slots(&[before, &[firm]].concat()), expected, "{before:?}");
        }
        let label = (Body, "Anbieter: Gamma AG");
        for (before, expected) in rows! {
            &[(Body, "Jo Doe")][..] => Slot::Label;
            &[(Heading, "Termine")] => Slot::Label;
            &[(Body, "Jo Doe"), (Heading, "Anbieter")] => Slot::Label;
            &[(Body, "Jo Doe"), (Heading, "Termine")] => Slot::Part;
            &[(Body, "Jo Doe"), (Heading, "Termine"), (Heading, "Impressum")] => Slot::Label;
        } {
            let lines = [before, &[label]].concat();
            assert_eq!(slots(&lines), [expected], "{before:?}");
        }
    }

    #[test]
    fn a_heading_about_somebody_else_holds_until_the_next_of_the_operators_own() {
        use OwnerPlace::{Body, Footer, Heading};
        let proves = |reading: Reading, lines: &[(OwnerPlace, &str)]| {
            let lines = lines.iter();
            let lines = lines.map(|(place, text)| OwnerText::new(*place, (*text).to_owned()));
            let name = CompanyName::parse("Gamma");
            let named = operators(&lines.collect::<Vec<_>>(), reading, &name, &[]);
            named.iter().any(|named| begins_with(&named.value, &name))
        };
        let lines = |middle: &[(OwnerPlace, &'static str)]| {
            let begin = [(Heading, "Impressum"), (Heading, "Hersteller")];
            let end = (Body, "Firma: Gamma GmbH");
            [&begin, middle, &[end]].concat()
        };
        for (middle, is_own) in [
            (&[(Body, "Acme Str. 1"); 20][..], false),
            (&[(Heading, "Gamma GmbH")], false),
            (&[(Heading, "Anschrift")], false),
            (&[(Heading, "Wer wir sind")], true),
            (&[(Body, "Acme GmbH, Kassel"), (Heading, "Wir")], true),
            (&[(Heading, "Impressum")], true),
            (&[(Body, "Betreiber: Acme GmbH")], true),
        ] {
            assert_eq!(
                proves(Reading::Notice, &lines(middle)),
                is_own,
                "{middle:?}"
            );
        }
        let mut footer = lines(&[(Body, "Acme Str. 1")]);
        footer.push((Footer, "Firma: Gamma GmbH"));
        assert!(
            proves(Reading::Notice, &footer),
            "the block ends with its region"
        );
    }

    #[test]
    fn others_who_are_named_there_are_not_the_operator() {
        for (key, text) in rows! {
            "Studio Beta GmbH" => "Impressum\nAcme GmbH\nHauptstr. 1\nKonzept & Realisation\nStudio Beta GmbH";
            "Studio Beta GmbH" => "Impressum\nAcme GmbH\nWebdesign: Studio Beta GmbH";
            "OVH SAS" => "Mentions légales\nÉditeur : Acme SARL\nHébergeur : OVH SAS, 2 rue Kellermann";
            "OVH SAS" => "Mentions légales\nAcme SARL\nHébergement\nOVH SAS\nSIRET 123";
            "Gamma Holding AG" => "Impressum\nAcme GmbH, ein Unternehmen der Gamma Holding AG";
            "Gamma GmbH" => "Impressum\nAcme GmbH\nVertrieb\nGamma GmbH";
            "이니시스" => "상호: 아크메 | 결제대행 회사명: 이니시스";
            "카페24" => "상호 아크메\n호스팅 제공자: 카페24(주)";
            "Gamma GmbH" => "Impressum\nCafé Acme, Inh. Jo Doe\nGamma GmbH ist unser Lieferant.";
            "Gamma SARL" => "Mentions légales\nAcme SARL\nCe site n'est pas édité par\nGamma SARL";
            "株式会社アクメ" => "当サイトは株式会社アクメハウスが運営しています。";
            "株式会社アクメ" => "当サイトは株式会社アクメが運営していません。";
            "株式会社アクメ" => "当サイトは株式会社アクメの製品を紹介します。";
            "株式会社アクメ" => "会社概要\n株式会社アクメは当社の取引先です";
            "(주)아크메" => "본 사이트는 (주)아크메가구가 운영합니다.";
            "(주)아크메" => "회사소개\n(주)아크메는 저희 고객사";
            "Gamma GmbH" => "Impressum\nAcme GmbH\nHerstellerangaben nach GPSR:\nFirma: Gamma GmbH";
            "Gamma GmbH" => "Impressum\nAcme GmbH\nVerantwortliche Person in der EU\nFirma\nGamma GmbH";
            "Gamma Ltd" => "Legal notice\nAcme Ltd\nSupplier details\nCompany name: Gamma Ltd";
            "Gamma SARL" => "Mentions légales\nAcme SARL\nFabricant\nRaison sociale : Gamma SARL";
            "Gamma GmbH" => "Impressum\nHoster:\nFirma: Gamma GmbH";
            "Gamma Ltd" => "Legal notice\nCompany name: Gamma Ltd – authorised dealer";
            "Gamma GmbH" => "Impressum\nFirma: Gamma GmbH Fanclub";
            "Gamma GmbH" => "Impressum\nFirma: Gamma GmbH i.L.";
            "Gamma GmbH" => "Impressum\nGamma GmbH (in Liquidation)";
            "Gamma GmbH" => "Impressum\nGamma GmbH i. L., Hauptstr. 1";
            "ガンマ株式会社" => "会社概要\n会社名：ガンマ株式会社（正規代理店）";
            "Acme Ltd" => "Legal notice\nThis website is not operated by Acme Ltd.";
            "Acme GmbH" => "Impressum\nDiese Seite wird nicht betrieben von der Acme GmbH.";
            "Acme SARL" => "Mentions légales\nCe site n'est pas édité par la société Acme SARL.";
            "Acme S.L." => "Aviso legal\nEste sitio no es propiedad de Acme S.L.";
            "Acme S.r.l." => "Note legali\nIl sito non è gestito da Acme S.r.l.";
        } {
            assert!(!proves(Reading::Notice, key, text), "{text}");
        }
        for text in [
            "Company\nAbout us\nCareers",
            "Company | About us",
            "Acme Web GmbH, USt-IdNr. 12345",
            "Publisher and editor",
        ] {
            assert!(!proves(Reading::Notice, "Acme", text), "{text}");
        }
        assert_eq!(
            found(Reading::Home, "Acme", &["Company", "About us"]),
            [""; 0]
        );
        let about = "About us\nAcme GmbH\nOur dealers\nGamma GmbH";
        assert!(!proves(Reading::About, "Acme", about), "no label says so");
    }
}
