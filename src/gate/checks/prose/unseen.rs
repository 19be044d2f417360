//! HTML within a text: tags, and the elements of which a page may show nothing.

use std::collections::BTreeSet;

/// The elements whose contents a page does not show as text.
const UNSHOWN: [&str; 16] = [
    "audio", "canvas", "datalist", "dialog", "head", "iframe", "math", "noembed", "noframes",
    "noscript", "object", "script", "style", "template", "title", "video",
];

/// The elements that hold nothing.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// The attributes that may make what an element holds look like nothing.
const STYLED: [&str; 4] = ["bgcolor", "color", "popover", "style"];

/// Reads a text piece by piece, and keeps of it what a page is sure to show.
///
/// In doubt something is not shown: so it is good for what a text must say, and not for what it
/// must not.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// A tag that has begun.
    tag: Option<Tag>,
    title: Title,
    /// The element in which nothing is shown, and how many of its name are open.
    hidden: Option<(String, usize)>,
    /// Tags with a style that are taken to show what they hold; all of them where none are named.
    known: Option<BTreeSet<String>>,
    /// The tags with a style.
    pub(super) styled: BTreeSet<String>,
}

/// What is read of a tag.
#[derive(Debug, Default)]
struct Tag {
    text: String,
    /// The quote in which its reading stands.
    quote: Option<char>,
    /// Whether the value of an attribute is to come.
    is_value: bool,
}

/// Where a link's title is looked for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Title {
    #[default]
    None,
    MayBegin,
    Until(char),
}

impl Tag {
    fn take(&mut self, c: char) {
        self.text.push(c);
        if self.quote.is_some() {
            self.quote = self.quote.filter(|mark| *mark != c);
        } else {
            self.quote = Some(c).filter(|c| self.is_value && matches!(c, '"' | '\''));
            self.is_value = c == '=' || (self.is_value && c.is_whitespace());
        }
    }
}

impl Unseen {
    /// Takes styles for harmless only in tags that stand in `known` to the letter.
    pub(super) fn knowing(known: &BTreeSet<String>) -> Self {
        Self {
            known: Some(known.clone()),
            ..Self::default()
        }
    }

    /// Whether nothing is shown where the reading stands.
    pub(super) fn hides(&self) -> bool {
        self.tag.is_some() || self.hidden.is_some() || matches!(self.title, Title::Until(_))
    }

    /// Notes that a link's address has ended, after which its title may stand.
    pub(super) fn begin_title(&mut self) {
        self.title = Title::MayBegin;
    }

    /// Passes by what is no prose.
    pub(super) fn pass(&mut self) {
        if self.title == Title::MayBegin {
            self.title = Title::None;
        }
    }

    /// What of a piece of prose is shown.
    pub(super) fn read(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        let mut chars = piece.chars().peekable();
        while let Some(c) = chars.next() {
            if self.is_of_title(c) {
                if c == '\\' {
                    chars.next();
                }
                continue;
            }
            let begins =
                |next: &char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
            match &mut self.tag {
                Some(tag) if c != '>' || tag.quote.is_some() => tag.take(c),
                Some(_) => self.end_tag(),
                None if c == '<' && chars.peek().is_some_and(begins) => {
                    self.tag = Some(Tag::default());
                }
                None if self.hidden.is_none() => shown.push(c),
                None => {}
            }
        }
        shown
    }

    fn is_of_title(&mut self, c: char) -> bool {
        let (title, is_of_it) = match self.title {
            Title::None => (Title::None, false),
            Title::Until(end) if c == end => (Title::None, true),
            Title::Until(end) => (Title::Until(end), true),
            Title::MayBegin => match c {
                '"' | '\'' => (Title::Until(c), true),
                '(' => (Title::Until(')'), true),
                '>' | ' ' | '\t' => (Title::MayBegin, true),
                _ => (Title::None, false),
            },
        };
        self.title = title;
        is_of_it
    }

    /// Ends a line; a blank one ends what has begun like a tag or a title and is none.
    pub(super) fn end_line(&mut self, is_blank: bool) {
        if is_blank {
            self.title = Title::None;
            self.tag = self.tag.take().filter(|tag| tag.quote.is_some());
        }
        if let Some(tag) = &mut self.tag {
            tag.text.push('\n');
        }
    }

    /// Hides all that is still to come.
    pub(super) fn hide_all(&mut self) {
        self.tag = None;
        self.hidden = Some((String::new(), 1));
    }

    fn end_tag(&mut self) {
        let Tag { text, .. } = self.tag.take().unwrap_or_default();
        let tag = text.as_str();
        let (ends, said) = tag
            .strip_prefix('/')
            .map_or((false, tag), |said| (true, said));
        let length = said.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let name = said[..length.unwrap_or(said.len())].to_ascii_lowercase();
        let may_open = self.hidden.is_none() && !ends && !VOID.contains(&name.as_str());
        if may_open && self.is_hiding(tag, &name) {
            self.hidden = Some((name, 1));
        } else if let Some((hidden, open)) = &mut self.hidden
            && *hidden == name
            && !name.is_empty()
        {
            *open = if ends { *open - 1 } else { *open + 1 };
            if *open == 0 {
                self.hidden = None;
            }
        }
    }

    fn is_hiding(&mut self, tag: &str, name: &str) -> bool {
        let tag_folded = tag.to_ascii_lowercase();
        let mut words = tag_folded.split(|c: char| !c.is_ascii_alphanumeric());
        if UNSHOWN.contains(&name) || words.clone().any(|word| word == "hidden") {
            return true;
        }
        if !words.any(|word| STYLED.contains(&word)) {
            return false;
        }
        self.styled.insert(tag.to_owned());
        self.known
            .as_ref()
            .is_some_and(|known| !known.contains(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Unseen::knowing(&BTreeSet::new()).read(text)
    }

    #[test]
    fn tags_and_what_they_hide_are_not_shown() {
        for (text, expected) in [
            ("a<span hidden>1<b>2</b></span>b", "ab"),
            ("a<i title=\"1 > 2\">b</i>c", "abc"),
            ("<STYLE>1</style>a", "a"),
            ("<p style='color:#fff'>1<p>2</p>3</p>a", "a"),
            ("a<br hidden>b <img style=x>c", "ab c"),
            ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("<span hidden>1", ""),
            ("x <b", "x "),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_style_that_the_source_has_hides_nothing() {
        let mut source = Unseen::default();
        assert_eq!(source.read("<p style=\"a\">1</p>"), "1");
        let mut ours = Unseen::knowing(&source.styled);
        assert_eq!(ours.read("<p style=\"a\">2</p><p style=\"b\">3</p>"), "2");
    }
}
