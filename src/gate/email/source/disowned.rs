//! Whether a page disowns the address that it shows: by what it says near it, or by the address
//! itself.
//!
//! Nobody can list the sentences in which pages disown an address, so none are listed. A sentence
//! that shows one and says no, in the few words that a language has for that, is left to a person.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::super::lists::{DISGUISES, DISOWNED, FORMER, ROLE};
use crate::base::fold::fold_spelling;
use crate::base::text::{fold, lower};
use crate::base::words::{Row, Text, rows, table};
use crate::world::email_text::{Needle, mentions};
use crate::world::mailbox::Mailbox;
use crate::world::page::{OwnerPlace, Page, is_unspaced};

/// The words of a language, each kind as a pattern; see the table.
#[derive(Debug, Clone, Deserialize)]
struct Words {
    /// None in a script of its own, which tells the language.
    small: Option<String>,
    denies: String,
    when: String,
    invites: String,
    more: String,
    this: String,
    fraud: String,
    around: String,
    like: String,
}

/// What makes an address another than the one to write to, without a word that denies; see the table.
#[derive(Debug, Clone, Deserialize)]
struct Former {
    kind: FormerKind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FormerKind {
    Former,
    Until,
    Login,
    Password,
}

struct Language {
    is_unspaced: bool,
    /// Chinese has no letters of its own: a text with kana or Hangul is none.
    is_chinese: bool,
    small: Option<Regex>,
    denies: Regex,
    /// For text whose spelling is folded, in which hiragana is katakana.
    denies_spelling: Regex,
    when: Regex,
    invites: Regex,
    more: Regex,
    this: Regex,
    fraud: Regex,
    around: Regex,
    /// At the end of a text.
    like: Regex,
    former: Regex,
    /// With the address, by which nothing else stands.
    until: Regex,
    /// Alone, or with the address behind it.
    login: Regex,
    password: Regex,
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let mut former: BTreeMap<String, Vec<Row<Former>>> = table(FORMER);
    let languages = table::<Words>(DISOWNED).into_iter();
    languages
        .flat_map(|(code, rows)| {
            let former = former.remove(&code).unwrap_or_default();
            rows.into_iter()
                .map(move |row| Language::new(&code, &row.word, &former))
        })
        .collect()
});

impl Language {
    fn new(code: &str, words: &Words, former: &[Row<Former>]) -> Self {
        let is_unspaced = words.small.is_none();
        let whole = |words: &str| {
            let pattern = plain(words);
            if is_unspaced {
                compiled(&format!("(?:{pattern})"))
            } else {
                compiled(&format!(r"\b(?:{pattern})(?:\b|\s|$)"))
            }
        };
        let start = if is_unspaced { "" } else { r"\b" };
        let all = |kind: FormerKind| {
            let rows = former.iter().filter(|row| row.word.kind == kind);
            let patterns: Vec<&str> = rows.map(|row| row.word.text.as_str()).collect();
            patterns.join("|")
        };
        let [until, login] = [FormerKind::Until, FormerKind::Login].map(|kind| plain(&all(kind)));
        Self {
            is_unspaced,
            is_chinese: code == "zh",
            small: words.small.as_deref().map(whole),
            denies: whole(&words.denies),
            denies_spelling: if is_unspaced {
                whole(&fold_spelling(&words.denies))
            } else {
                whole(&words.denies)
            },
            when: whole(&words.when),
            invites: whole(&words.invites),
            more: whole(&words.more),
            this: whole(&words.this),
            fraud: whole(&words.fraud),
            around: whole(&words.around),
            like: compiled(&format!("{start}(?:{})$", plain(&words.like))),
            former: whole(&all(FormerKind::Former)),
            until: compiled(&format!(
                r"(?:^|:)\s*\{{\}}\W*(?:{until})|\{{\}}\W*[(\[–—]\W*(?:{until})|^\W*(?:{until})\W*\{{\}}"
            )),
            login: compiled(&format!(r"^\W*(?:{login})\W*(?:\{{\}}|$)")),
            password: whole(&all(FormerKind::Password)),
        }
    }

    /// Whether a sentence denies something of the address, if it has one, and of no other.
    fn denies(&self, sentence: &str) -> bool {
        self.says(&self.denies, sentence)
    }

    /// Whether a sentence calls the address past, if it has one, and no other.
    fn is_former(&self, sentence: &str) -> bool {
        self.says(&self.former, sentence)
    }

    fn says(&self, words: &Regex, sentence: &str) -> bool {
        if self.invites.is_match(sentence) {
            return false;
        }
        let address = sentence.find(ADDRESS);
        words.find_iter(sentence).any(|found| {
            let between = address.map_or("", |at| {
                let end = at + ADDRESS.len();
                sentence
                    .get(found.end().min(end)..found.start().max(at))
                    .unwrap_or_default()
            });
            let mut more = self.more.find_iter(sentence);
            let is_more = more.any(|more| more.start() < found.end() && found.start() < more.end());
            !is_more
                && !between.contains('@')
                && !labels_other(&sentence[found.end()..])
                && !self.is_condition(sentence, found.range())
        })
    }

    /// Whether a denial is the condition under which to write: `if you cannot call, …`.
    fn is_condition(&self, sentence: &str, denial: Range<usize>) -> bool {
        if self.is_unspaced {
            let after = sentence[denial.end..].trim_start();
            let begins = self.when.find(after).is_some_and(|when| when.start() == 0);
            if begins {
                return true;
            }
        }
        let before = &sentence[..denial.start];
        let clause = before
            .rfind([',', ';', ':', '、', '–', '—'])
            .map_or(0, |at| at + 1);
        let clause = &before[before.ceil_char_boundary(clause)..];
        let comes_behind = self.is_unspaced && has_particles(clause);
        !comes_behind && !clause.contains(ADDRESS) && self.when.is_match(clause)
    }
}

/// Whether a text begins with a sign and another address: what comes before it is that one's label.
fn labels_other(after: &str) -> bool {
    let after = after.trim_start();
    let value = after.strip_prefix(':').map(str::trim_start);
    let value = value.and_then(|value| value.split(' ').next());
    value.is_some_and(|value| value.contains('@'))
}

/// Whether a text has letters of Japanese or Korean, which set the word of a condition behind it.
fn has_particles(text: &str) -> bool {
    let is_kana = |c: char| ('\u{3040}'..='\u{30ff}').contains(&c);
    let is_hangul = |c: char| ('\u{ac00}'..='\u{d7a3}').contains(&c);
    text.contains(|c| is_kana(c) || is_hangul(c))
}

fn compiled(pattern: &str) -> Regex {
    let built = RegexBuilder::new(pattern).size_limit(1 << 22).build();
    built.unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
}

/// Those whose words a line may be in: no other language has more of its words there.
fn languages(line: &str) -> Vec<&'static Language> {
    let count = |language: &&Language| {
        let small = language.small.as_ref()?;
        Some(small.find_iter(line).count() + language.denies.find_iter(line).count())
    };
    let counted: Vec<_> = LANGUAGES.iter().map(|one| (one, count(&one))).collect();
    let most = counted.iter().filter_map(|(_, count)| *count).max();
    let likely = counted.into_iter().filter(|(language, count)| match count {
        Some(_) => *count == most,
        None => !language.is_chinese || !has_particles(line),
    });
    likely.map(|(language, _)| language).collect()
}

/// Whether the sentence with these bytes of a text says no before their end, or anywhere in a language
/// whose verb comes last. The text's spelling is folded.
pub fn is_denied(text: &str, at: &Range<usize>) -> bool {
    let start = ENDS.find_iter(&text[..at.start]).last();
    let start = start.map_or(0, |end| end.end());
    let end = ENDS.find(&text[at.end..]);
    let end = end.map_or(text.len(), |end| at.end + end.start());
    let (sentence, before) = (plain(&text[start..end]), plain(&text[start..at.end]));
    languages(&sentence).into_iter().any(|language| {
        let part = if language.is_unspaced {
            &sentence
        } else {
            &before
        };
        language.denies_spelling.is_match(part)
    })
}

/// Stands for the address in a text.
const ADDRESS: &str = "{}";

/// The most places of one page at which a note is looked for.
const MAX_PLACES: usize = 100;

/// The most lines above an address that are read for what leads it in.
const MAX_LINES: usize = 100;

/// How far from the address a note may stand in its line, in bytes.
const NEAR: usize = 400;

/// What near the address on `page` disowns it.
pub fn note(page: &Page, email: &Mailbox) -> Option<String> {
    if let Some(line) = written_by_server(page) {
        return Some(line);
    }
    let lines = &page.visible;
    let wanted = email.to_string();
    let word = email
        .local()
        .split(['.', '-', '_'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let may_hold = |line: &String| lower(line).contains(&word);
    let held = lines.iter().enumerate().filter(|(_, line)| may_hold(line));
    let shown = held.flat_map(|(index, line)| {
        let spans = mentions(line, &|address| address == wanted);
        spans.into_iter().map(move |span| {
            let [before, after] = around(line, &span);
            Placed::new(page, index, [before, "", &line[span], after])
        })
    });
    let shown = shown.take(MAX_PLACES);
    let mut places = shown.chain(linked(page, email).take(MAX_PLACES));
    places.find_map(|place| place.note(email).map(str::to_owned))
}

/// What stands near a part of a line.
fn around<'l>(line: &'l str, span: &Range<usize>) -> [&'l str; 2] {
    let start = line.floor_char_boundary(span.start.saturating_sub(NEAR));
    let end = line.floor_char_boundary(span.end + NEAR);
    [&line[start..span.start], &line[span.end..end]]
}

/// The links to the address: behind its label, the address has a place in the line.
fn linked<'p>(page: &'p Page, email: &Mailbox) -> impl Iterator<Item = Placed<'p>> {
    let (lines, needle) = (&page.visible, Needle::of(email));
    page.mail_links.iter().filter_map(move |link| {
        let line = lines
            .get(link.line)
            .filter(|_| needle.is_in(&link.address))?;
        // What the reader does not see for sure was taken out of the line.
        let [start, end] =
            [link.label.start, link.label.end].map(|at| line.floor_char_boundary(at));
        let label = &line[start..line.floor_char_boundary(end.min(start + NEAR))];
        let [before, after] = around(line, &(start..end));
        let is_shown = needle.is_in(label);
        (!is_shown).then(|| Placed::new(page, link.line, [before, label, "", after]))
    })
}

static SIGNATURE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?i)\bserver at \S+ port \d{1,5}$"));

/// Reason phrases of RFC 9110 §15, and the title of a listing (Apache, nginx).
static SERVER_TITLE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?ix)^(?: index\ of\ /.* | (?:http\ )?(?:error\ )?[45]\d\d [\ :-]* (?: error | bad\ request
        | unauthori[sz]ed | forbidden | (?:page\ )?not\ found | method\ not\ allowed | gone
        | (?:internal\ )?server\ error | bad\ gateway | service\ (?:temporarily\ )?unavailable
        | gateway\ time-?out )? )$",
    )
});

/// The line by which a page shows that a web server wrote it: an error, or a listing of files.
fn written_by_server(page: &Page) -> Option<String> {
    let titles = page.owner.iter().filter(|it| {
        matches!(it.place, OwnerPlace::Title | OwnerPlace::Heading)
            && SERVER_TITLE.is_match(it.text.trim())
    });
    let signed = page.visible.iter().filter(|line| SIGNATURE.is_match(line));
    titles.map(|it| &it.text).chain(signed).next().cloned()
}

/// What stands around an address.
struct Placed<'a> {
    written: &'a str,
    after: &'a str,
    sentence: String,
    /// The sentence behind it.
    next: String,
    /// The line, in plain letters.
    line: String,
    /// What comes before it in its line, or where that is nothing, the line above.
    before: String,
    /// Those below which the line is, from the innermost on.
    headings: Vec<&'a str>,
    lines: &'a [String],
    index: usize,
}

/// The headings below which a line is, from the innermost on.
fn headings(page: &Page, index: usize) -> Vec<&str> {
    let mut inner = u8::MAX;
    let above = page.headings.iter().rev().filter(|(at, _)| *at < index);
    let governing = above.filter(|(_, level)| {
        let is_outer = *level < inner;
        inner = inner.min(*level);
        is_outer
    });
    let lines = governing.filter_map(|(at, _)| page.visible.get(*at));
    let told = lines.filter(|line| !line.ends_with(['?', '？']));
    told.map(|line| head(line)).collect()
}

/// What ends a sentence, or an item of a line.
static ENDS: LazyLock<Regex> = LazyLock::new(|| compiled(r"[.!?]\s|\s/\s|[。！？|·•;]"));

impl<'a> Placed<'a> {
    fn new(page: &'a Page, index: usize, [before, label, written, after]: [&'a str; 4]) -> Self {
        let lines = &page.visible;
        let start = ENDS.find_iter(before).last().map_or(0, |end| end.end());
        // A label is judged as a whole, but for the questions that it answers.
        let led = match label.rsplit_once(['?', '？']) {
            Some((_, answer)) => answer.to_owned(),
            None => format!("{}{label}", &before[start..]),
        };
        let end = ENDS.find(after);
        let is_sentence = |sign: &str| sign.starts_with(['.', '!', '?', '。', '！', '？']);
        let next = end.filter(|end| is_sentence(end.as_str()));
        let next = next.map_or("", |end| &after[end.end()..]);
        let next = ENDS.split(next).next().unwrap_or_default();
        let end = end.map_or(after.len(), |end| end.start());
        let above = index.checked_sub(1).map_or("", |above| &*lines[above]);
        let near = if before.trim().is_empty() {
            above
        } else {
            before
        };
        Self {
            written,
            after,
            sentence: plain(&format!("{led}{ADDRESS}{}", &after[..end])),
            next: plain(next),
            line: plain(&format!("{before}{label}{ADDRESS}{after}")),
            before: plain(near),
            headings: headings(page, index),
            lines,
            index,
        }
    }

    fn note(&self, email: &Mailbox) -> Option<&str> {
        if is_disguised(self.written, email) || self.is_to_be_changed(email) {
            return Some(self.written);
        }
        let is_told = || DISGUISING.iter().any(|word| self.line.contains(word));
        if is_pattern(&self.line) || is_value(&self.line) || is_told() {
            return Some(&self.line);
        }
        let mut denied = languages(&self.line).into_iter();
        let mut named = LANGUAGES.iter();
        denied
            .find_map(|language| self.denied(language))
            .or_else(|| named.find_map(|language| self.named(language)))
    }

    /// What denies something of the address, or of "this address" nearby.
    fn denied(&self, language: &Language) -> Option<&str> {
        if language.denies(&self.sentence) {
            return Some(&self.sentence);
        }
        let next = &self.next;
        let is_of_it = language.this.is_match(next) || is_short(next);
        if !next.contains('@') && is_of_it && language.denies(next) {
            return Some(next);
        }
        self.said_of_it(language)
    }

    /// What names a fraud, a machine or an example.
    fn named(&self, language: &Language) -> Option<&str> {
        if language.around.is_match(&self.line) || language.fraud.is_match(&self.sentence) {
            return Some(&self.line);
        }
        let before = self.before.trim_end_matches(is_outside);
        if language.like.is_match(before) {
            return Some(&self.before);
        }
        self.warned_above(language)
            .or_else(|| self.former(language))
    }

    /// What calls the address past, or the account of a demonstration.
    fn former(&self, language: &Language) -> Option<&str> {
        let is_dated = |text: &str| language.until.is_match(text);
        if language.is_former(&self.sentence) || is_dated(&self.sentence) {
            return Some(&self.sentence);
        }
        if language.login.is_match(&self.sentence) || language.password.is_match(&self.line) {
            return Some(&self.line);
        }
        let says = |text: &str| {
            let text = plain(text);
            let is_label = language.is_former(&text) || language.login.is_match(&text);
            is_label || is_dated(&format!("{text}{ADDRESS}"))
        };
        let labels = self.lead().filter(|line| is_label(line)).into_iter();
        let mut labels = labels.chain(self.headings.iter().copied());
        labels.find(|label| says(label)).or_else(|| {
            // A cell behind the address may be what its row says of it.
            let behind = self.lines.get(self.index + 1)?;
            let is_cell = is_label(behind) && !behind.ends_with(':') && says(behind);
            let has_password =
                !behind.contains('@') && language.password.is_match(&plain(head(behind)));
            (is_cell || has_password).then_some(behind.as_str())
        })
    }

    /// The line above the address, with nothing but further addresses between.
    fn lead(&self) -> Option<&str> {
        let mut above = self.lines[..self.index].iter().rev().take(MAX_LINES);
        let lead = above.find(|line| !line.contains('@'));
        lead.map(String::as_str)
    }

    /// The sentence of this line or of a neighbour that says no of "this address".
    fn said_of_it(&self, language: &Language) -> Option<&str> {
        let says = |line: &str| {
            let mut sentences = ENDS.split(line);
            sentences.any(|one| language.this.is_match(one) && language.denies(one))
        };
        if says(&self.line) {
            return Some(&self.line);
        }
        let near = [self.index.wrapping_sub(1), self.index + 1];
        let near = near.iter().filter_map(|near| self.lines.get(*near));
        let near = near.filter(|line| !line.contains('@')).map(String::as_str);
        let mut near = near.chain(self.lead());
        near.find(|line| says(&plain(head(line))))
    }

    /// The warning that comes before the address, with nothing but further addresses between.
    fn warned_above(&self, language: &Language) -> Option<&str> {
        let own = self.line.find(ADDRESS).map(|at| &self.line[..at]);
        if own.is_some_and(|own| language.fraud.is_match(own)) {
            return Some(&self.line);
        }
        let above = self.lines[..self.index].iter().rev().take(MAX_LINES);
        let mut above = above.scan(true, |goes_on, line| {
            let now = std::mem::replace(goes_on, line.contains('@'));
            now.then_some(line)
        });
        above
            .find(|line| language.fraud.is_match(&plain(head(line))))
            .map(String::as_str)
    }

    /// Whether a bracket behind the address quotes the part of it that is to be taken out:
    /// `infoxxx@acme.com (without xxx)`.
    fn is_to_be_changed(&self, email: &Mailbox) -> bool {
        const SHORTEST: usize = 3;
        let after = plain(self.after);
        let Some((inside, _)) = after
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
        else {
            return false;
        };
        let local = email.local().to_lowercase();
        let mut words = inside.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
        words.any(|word| {
            let word = word.trim_matches(['-', '_', '.']);
            let left = local.replacen(word, "", 1);
            word.len() >= SHORTEST
                && word.len() < inside.trim().len()
                && left.len() < local.len()
                && ROLE.has(left.trim_matches(['-', '_', '.']))
        })
    }
}

/// Whether a sentence is too short for a subject of its own: `No longer in use`, and not `The shop is
/// not open on Sundays`.
fn is_short(sentence: &str) -> bool {
    const MAX_WORDS: usize = 6;
    const MAX_CHARS: usize = 12;
    if sentence.contains(is_unspaced) {
        sentence.chars().count() <= MAX_CHARS
    } else {
        sentence.split_whitespace().count() <= MAX_WORDS
    }
}

/// Whether a line tells how addresses are made, by one without a domain: `name@…`.
fn is_pattern(line: &str) -> bool {
    line.match_indices('@').any(|(at, _)| {
        let after = &line[at + 1..];
        line[..at].ends_with(char::is_alphanumeric)
            && (after.starts_with('…') || after.starts_with(".."))
    })
}

/// Whether the address is the value of a setting, or of a field in a log or a URL.
fn is_value(line: &str) -> bool {
    let before = line.split(ADDRESS).next().unwrap_or_default();
    before.trim_end_matches(['<', '"', '\'']).ends_with('=')
}

/// Whether capitals mark a part of the address as it is written, which is to be taken out:
/// `infoREMOVE@acme.com`, `info@REMOVE.acme.com`. Acronyms are shorter, or a part of a name.
fn is_disguised(written: &str, email: &Mailbox) -> bool {
    const FEWEST: usize = 4;
    const FEWEST_IN_HOST: usize = 6;
    let Some((local, host)) = written.split_once('@') else {
        return false;
    };
    let shouts = |text: &str, fewest: usize| {
        let mut runs = text.split(|c: char| !c.is_ascii_uppercase());
        runs.any(|run| run.len() >= fewest)
    };
    let lower: String = local.chars().filter(char::is_ascii_lowercase).collect();
    let mixed = shouts(local, FEWEST) && ROLE.has(&lower);
    let own = email.domain().registrable();
    let below = own.and_then(|own| {
        let at = host.len().checked_sub(own.as_str().len())?;
        host.split_at_checked(at)
    });
    let is_lower = |text: &str| !text.contains(|c: char| c.is_ascii_uppercase());
    mixed || below.is_some_and(|(below, own)| shouts(below, FEWEST_IN_HOST) && is_lower(own))
}

/// Whether the page shows only the end of a longer address, after dots, as in
/// `cust...info@acme.com`.
pub fn is_cut(page: &Page, email: &Mailbox) -> bool {
    let wanted = email.to_string();
    let lines = page.visible.iter().map(|line| line.to_ascii_lowercase());
    let lines: Vec<String> = lines.filter(|line| line.contains(&wanted)).collect();
    let cut = |before: &str| {
        let dots = before.len() - before.trim_end_matches(['.', '…']).len();
        let is_ellipsis = before.ends_with('…') || before.ends_with("...") && dots == 3;
        let rest = &before[..before.len() - dots];
        is_ellipsis && rest.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    !lines.is_empty()
        && !page
            .linked
            .iter()
            .any(|to| to.eq_ignore_ascii_case(&wanted))
        && lines.iter().all(|line| {
            let mut places = line.match_indices(&wanted);
            places.all(|(at, _)| cut(&line[..at]))
        })
}

fn is_outside(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '.' | ')')
}

/// Whether a line is short, and no sentence.
fn is_label(line: &str) -> bool {
    const MAX_CHARS: usize = 80;
    let is_short = line.chars().nth(MAX_CHARS).is_none();
    is_short && !line.contains('@') && !line.ends_with(['.', '!', '?', '。', '！', '？'])
}

fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(2 * NEAR)]
}

/// Folded, with one kind of apostrophe.
fn plain(text: &str) -> String {
    fold(text).replace('\u{2019}', "'")
}

static DISGUISING: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rows = rows::<Text>(DISGUISES).into_iter();
    rows.map(|row| fold(&row.word.text)).collect()
});

/// The word that disguises the address, for a reader to take out.
pub fn disguise(email: &Mailbox) -> Option<&'static str> {
    let local = joined(email.local());
    let mut words = DISGUISING.iter();
    words.find(|word| local.contains(*word)).map(String::as_str)
}

fn joined(local: &str) -> String {
    let folded = fold(local);
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// What programs for mailing lists read as a command behind a list's name (RFC 2142 §6, and the
/// manuals of Mailman, ezmlm and Majordomo).
const COMMANDS: &[&str] = &[
    "bounces",
    "confirm",
    "join",
    "leave",
    "request",
    "subscribe",
    "unsubscribe",
];

/// The word by which a program reads the mail, not a person.
pub fn command(email: &Mailbox) -> Option<&'static str> {
    let local = email.local().to_lowercase();
    let (_, last) = local.rsplit_once(['-', '+'])?;
    COMMANDS.iter().find(|command| **command == last).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::base::words::check;
    use crate::world::page::OwnerText;

    fn page(text: &str) -> Page {
        let url = url::Url::parse("https://acme.com/contact").unwrap();
        Page {
            visible: text.lines().map(str::to_owned).collect(),
            ..Page::empty(&url)
        }
    }

    fn noted(text: &str) -> bool {
        note(&page(text), &Mailbox::parse("old@acme.com").unwrap()).is_some()
    }

    #[test]
    fn every_language_says_no() {
        check(DISOWNED, |_: &Words, text| {
            noted(&text.replace(ADDRESS, "old@acme.com"))
        });
    }

    #[test]
    fn every_language_calls_an_address_past() {
        check(FORMER, |_: &Former, text| {
            noted(&text.replace(ADDRESS, "old@acme.com"))
        });
        for language in &*LANGUAGES {
            for words in [&language.former, &language.until, &language.password] {
                assert!(!words.is_match("info"), "{words}");
            }
        }
    }

    #[test]
    fn the_next_sentence_is_about_the_address_only_if_it_says_so_or_is_short() {
        for (next, expected) in rows! {
            "No longer in use." => true;
            "Please do not use this address for orders of any kind." => true;
            "The shop is not open on Sundays." => false;
            "当日のキャンセルはお受けできません。" => false;
        } {
            assert_eq!(
                noted(&format!("Mail: old@acme.com. {next}")),
                expected,
                "{next}"
            );
        }
    }

    #[test]
    fn a_heading_counts_for_the_list_or_table_below_it() {
        let noted = |html: &str| {
            let url = url::Url::parse("https://acme.com/contact").unwrap();
            let html = html.replace("{}", "old@acme.com");
            let page = Page::parse(&url, Some("text/html"), None, html.as_bytes()).unwrap();
            note(&page, &Mailbox::parse("old@acme.com").unwrap()).is_some()
        };
        for html in [
            "<h2>Not in use any more</h2><ul><li>Sales<li>a@acme.com<li>Press<li>{}</ul>",
            "<h2>Alte Adressen</h2><h3>Vertrieb</h3><table><tr><td>Post<td>{}</table>",
            "<h2>Demo login</h2><p>Name<p>{}",
            "<h2>Until 2019</h2><p>{}",
            "<p>Former addresses:<ul><li>a@acme.com<li>{}</ul>",
            "<table><tr><td>{}<td>no longer in use</table>",
            "<p>{}<p>Password: demo1234",
            "<p>These addresses are not read.<ul><li>a@acme.com<li>{}</ul>",
        ] {
            assert!(noted(html), "{html}");
        }
        for html in [
            "<h2>Not in use any more</h2><p>a@acme.com<h2>In use</h2><p>{}",
            "<h3>Alte Adressen</h3><p>a@acme.com<h2>Kontakt</h2><p>{}",
            "<h2>No longer sure? Not in use any more?</h2><p>{}",
            "<h2>If your account is no longer valid</h2><p>{}",
            "<p>Our old mill is no longer in use.<p>{}",
            "<p>{} (old address: a@acme.com)",
            "<p>Former addresses:<p>a@acme.com<p>Today<p>{}",
            "<p>{}<p>Forgot your password?",
            "<p>Apply until 31.12.2026 to {}",
        ] {
            assert!(!noted(html), "{html}");
        }
    }

    #[test]
    fn a_note_near_the_address_counts_however_it_is_worded() {
        for text in [
            "old@acme.com was shut down and has been replaced.",
            "Please never write to old@acme.com!",
            "Orders come from old@acme.com. Replies to this address are not read.",
            "old@acme.com\nThis mailbox is no longer looked at.",
            "Bitte keine Bewerbungen an old@acme.com",
            "Il messaggio di old@acme.com è una truffa",
            "Een robot leest old@acme.com automatisch",
            "addresses are first.last@..., so old@acme.com",
            "No responda a old@acme.com",
            "z. B. old@acme.com",
            "MAIL_FROM=old@acme.com",
            "to=<old@acme.com>, sent",
            "Bitte entfernen Sie NOSPAM: old@acme.com",
            "Beispiel:\nold@acme.com",
            "If you get mail from old@acme.com, do not open it.",
            "old@acme.comは廃止しました",
            "이 주소 old@acme.com 은 쓰지 않습니다",
            "请勿发送至old@acme.com",
            "通知由 old@acme.com 发出，不查收来信。",
            "Mails come from old@acme.com. That is not us.",
            "小野（old@acme.com）は退職いたしました。",
            "old@acme.com is not only old but no longer read",
            "old@acme.com ist nicht nur alt, sondern auch nicht mehr gültig",
            "old@acme.com no solo es viejo, ya no se lee",
        ] {
            assert!(noted(text), "{text}");
        }
    }

    #[test]
    fn a_note_about_something_else_does_not_count() {
        for text in [
            "old@acme.com\nIf this address no longer works, call us.",
            "Wenn Ihr Konto nicht mehr gültig ist: old@acme.com",
            "old@acme.com | Fax: no longer in use",
            "not write to new@acme.com, but to old@acme.com",
            "If you cannot reach us by phone please mail old@acme.com",
            "Si vous ne trouvez pas, écrivez à old@acme.com",
            "電話がつながらない場合は old@acme.com へ",
            "전화 연결이 되지 않을 경우 old@acme.com 으로 문의",
            "如不能接通，请写信至old@acme.com",
            "We do not sell your data. Questions? Mail old@acme.com",
            "Email old@acme.com for a free no obligation quote",
            "Fale conosco no e-mail old@acme.com",
            "No such page: old@acme.com",
            "No obligation quotes: old@acme.com",
            "VAT no. 12345, old@acme.com",
            "不锈钢制品 old@acme.com",
            "ご不明な点は old@acme.com へ",
            "We do not sell your data | old@acme.com | not on Sundays",
            "Acme, 12 mai 2024, old@acme.com",
            "Automation Systems GmbH, old@acme.com",
            "Please do not hesitate to write to old@acme.com",
            "Please don't be shy and mail old@acme.com",
            "You reach us not only by phone but also at old@acme.com",
            "Zögern Sie nicht, uns unter old@acme.com zu schreiben",
            "Zoegern Sie bitte nicht: old@acme.com",
            "Schreiben Sie an old@acme.com. Zögern Sie nicht!",
            "Wir sind nicht nur am Telefon, sondern auch unter old@acme.com für Sie da",
            "N'hesitez pas a nous ecrire : old@acme.com",
            "Nous répondons pas seulement au téléphone mais aussi à old@acme.com",
            "No dude en escribir a old@acme.com",
            "Atendemos no solo por teléfono, sino también en old@acme.com",
            "Não hesite em escrever para old@acme.com",
            "Atendemos não só por telefone, mas também em old@acme.com",
            "Non esitate a scriverci: old@acme.com",
            "Rispondiamo non solo al telefono ma anche a old@acme.com",
            "Aarzel niet en mail naar old@acme.com",
            "Wij zijn niet alleen telefonisch bereikbaar maar ook via old@acme.com",
            "Nie wahaj się napisać na old@acme.com",
            "Odpowiadamy nie tylko przez telefon, ale też pod adresem old@acme.com",
            "お電話だけではなく old@acme.com でも承ります",
            "躊躇せず old@acme.com へ。ご遠慮はいりません。",
            "주저하지 마시고 old@acme.com 으로 문의해 주세요",
            "전화뿐만 아니라 old@acme.com 으로도 문의하실 수 있습니다",
            "不要犹豫，请发邮件至old@acme.com",
            "不只可以来电，也可写信至old@acme.com",
            "old@acme.com (Old Town)",
            "E-mail = old@acme.com",
            "",
        ] {
            assert!(!noted(text), "{text}");
        }
    }

    #[test]
    fn what_a_link_is_called_counts_as_what_stands_near_its_address() {
        let noted = |html: &str| {
            let url = url::Url::parse("https://acme.com/contact").unwrap();
            let page = Page::parse(&url, Some("text/html"), None, html.as_bytes()).unwrap();
            note(&page, &Mailbox::parse("old@acme.com").unwrap()).is_some()
        };
        for (label, around) in [
            ("spam trap, do not click", "{}"),
            ("No longer in use. Do click", "{}"),
            ("our office", "Please never write to {}!"),
            ("<h3>Sales</h3><p>not in use any more</p>", "{}"),
            ("<img src=/a.png>", "Do not write here: {}"),
            ("our office", "Please call. {} is not open to mail."),
        ] {
            let link = format!("<a href='mailto:Old@acme.com'>{label}</a>");
            assert!(noted(&around.replace("{}", &link)), "{label} in {around}");
            let other = link.replace("Old@", "new@");
            assert!(!noted(&around.replace("{}", &other)), "{label} of another");
        }
        for (label, around) in [
            ("Write to us", "{}"),
            ("Not sure? Ask us", "{}"),
            ("Can't find it?", "{}"),
            ("office", "We do not sell your data. Questions? Ask our {}."),
            ("our office", "Do not hesitate to ask {}."),
            ("<img src=/a.png>", "{}"),
            ("our office", "<p>We never close.</p><p>{}</p>"),
        ] {
            let link = format!("<a href='mailto:old@acme.com'>{label}</a>");
            assert!(!noted(&around.replace("{}", &link)), "{label} in {around}");
        }
    }

    #[test]
    fn a_warning_above_a_list_counts_for_all_of_it() {
        let list = "Beware of mails from\na@acme.com\nb@acme.com\nold@acme.com";
        assert!(noted(list));
        let parted = "Beware of mails from\na@acme.com\nOur shop\nold@acme.com";
        assert!(!noted(parted));
    }

    #[test]
    fn a_part_that_is_to_be_taken_out_is_seen() {
        for (text, email, is_noted) in [
            ("infoNOTTHIS@acme.com", "infonotthis@acme.com", true),
            ("WXYZpublicfile@acme.com", "wxyzpublicfile@acme.com", false),
            ("vote@NYCHA.acme.com", "vote@nycha.acme.com", false),
            ("INFO@ACME.COM", "info@acme.com", false),
            ("Info@Acme.com", "info@acme.com", false),
            ("info@CUTMEOUT.acme.com", "info@cutmeout.acme.com", true),
            ("INFO@MAIL.ACME.COM", "info@mail.acme.com", false),
            ("infoxxx@acme.com (without xxx)", "infoxxx@acme.com", true),
            ("info-zap@acme.com（请去掉-zap）", "info-zap@acme.com", true),
            ("jdoe@acme.com (John Doe)", "jdoe@acme.com", false),
            ("info@acme.com (info)", "info@acme.com", false),
        ] {
            let email = Mailbox::parse(email).unwrap();
            assert_eq!(note(&page(text), &email).is_some(), is_noted, "{text}");
        }
    }

    #[test]
    fn an_address_whose_beginning_is_cut_off_is_seen() {
        let email = Mailbox::parse("info@acme.com").unwrap();
        for (text, cut) in [
            ("cust...info@acme.com", true),
            ("shop.…Info@acme.com", true),
            ("cust...info@acme.com\ninfo@acme.com", false),
            ("Mail.......info@acme.com", false),
            ("and so on... info@acme.com", false),
            ("문의...info@acme.com", false),
            ("", false),
        ] {
            assert_eq!(is_cut(&page(text), &email), cut, "{text}");
        }
        let mut linked = page("cust...info@acme.com");
        linked.linked.push("info@acme.com".to_owned());
        assert!(!is_cut(&linked, &email));
    }

    #[test]
    fn pages_that_a_server_wrote_are_known() {
        let titled = |title: &str| {
            let mut page = page("old@acme.com");
            let title = OwnerText::new(OwnerPlace::Title, title.to_owned());
            page.owner.push(title);
            written_by_server(&page).is_some()
        };
        for title in [
            "404 Not Found",
            "Error 503",
            "Index of /files",
            "403: Forbidden",
            "404",
        ] {
            assert!(titled(title), "{title}");
        }
        for title in [
            "500 Grad Pizza",
            "Index of companies",
            "404 Club",
            "Contact",
        ] {
            assert!(!titled(title), "{title}");
        }
        let signed = page("old@acme.com\nApache Server at acme.com Port 80");
        assert!(written_by_server(&signed).is_some());
        assert!(written_by_server(&page("Web server at a port 80 km away")).is_none());
    }

    #[test]
    fn words_that_disguise_an_address_are_known() {
        check(DISGUISES, |word: &Text, local| {
            joined(local).contains(&fold(&word.text))
        });
        let disguised = |address: &str| disguise(&Mailbox::parse(address).unwrap());
        assert_eq!(disguised("info.NO-SPAM@acme.com"), Some("nospam"));
        assert_eq!(disguised("info@nospam.com"), None);
    }

    #[test]
    fn commands_of_mailing_lists_are_known() {
        let command = |address: &str| command(&Mailbox::parse(address).unwrap());
        assert_eq!(command("users-Subscribe@acme.com"), Some("subscribe"));
        assert_eq!(command("subscribe@acme.com"), None);
        assert_eq!(command("press-office@acme.com"), None);
    }

    #[test]
    fn hostile_pages_end() {
        let many = page(&"old@acme.com mails\n".repeat(20_000));
        let email = Mailbox::parse("old@acme.com").unwrap();
        assert!(note(&many, &email).is_none());
        note(&page(&"old@acme.com. ".repeat(20_000)), &email);
    }
}
