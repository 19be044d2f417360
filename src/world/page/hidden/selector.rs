//! Selectors, as far as they can be told from an element and those around it.
//!
//! What cannot be told so is taken to match: siblings, a child for any descendant, and
//! pseudo-classes such as `:not` and `:nth-child`. Those that wait for the reader, such as
//! `:hover`, and pseudo-elements match nothing.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::sheet::escaped;
use super::sheet::split;
use crate::base::word_list::word_lists;

const MOST_COMPOUNDS: usize = 16;

const MOST_PARTS: usize = 32;

const MOST_NESTED: usize = 4;

word_lists! {
    /// Pseudo-classes that hold only while a reader does something, or of elements without text.
    PASSING = "../words/passing_pseudo_classes.txt";
}

/// Pseudo-elements that may be written with one colon.
const PSEUDO_ELEMENTS: &[&str] = &["after", "before", "first-letter", "first-line"];

/// What an element must have so that a selector may match it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Id(String),
    Class(String),
    Tag(String),
    Any,
}

impl Key {
    pub(super) fn all_of(element: &Element) -> impl Iterator<Item = Self> {
        let id = element.id().map(|id| Self::Id(id.to_owned()));
        let classes = element.classes().map(|class| Self::Class(class.to_owned()));
        let tag = Self::Tag(element.name().to_ascii_lowercase());
        id.into_iter().chain(classes).chain([tag, Self::Any])
    }
}

/// One selector: its compounds, from the right.
#[derive(Debug)]
pub(super) struct Selector {
    subject: Compound,
    around: Vec<Compound>,
}

/// Simple selectors that one element must all match.
#[derive(Debug, Default)]
struct Compound {
    tag: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    attributes: Vec<Attribute>,
    lists: Vec<Vec<Self>>,
}

#[derive(Debug)]
struct Attribute {
    name: String,
    value: Option<String>,
}

/// Reads one complex selector; none when it matches no element that can be known.
pub(super) fn parse(text: &str) -> Option<Selector> {
    let mut steps = steps(text).into_iter().rev();
    let (mut combinator, subject) = steps.next()?;
    let subject = Compound::parse(subject, 0)?;
    let mut around = Vec::new();
    for (before, text) in steps {
        // A sibling of the element is not around it.
        if matches!(combinator, ' ' | '>') && around.len() < MOST_COMPOUNDS {
            around.extend(Compound::parse(text, 0));
        }
        combinator = before;
    }
    Some(Selector { subject, around })
}

impl Selector {
    pub(super) fn key(&self) -> Key {
        let Compound {
            tag, id, classes, ..
        } = &self.subject;
        if let Some(id) = id {
            Key::Id(id.clone())
        } else if let Some(class) = classes.first() {
            Key::Class(class.clone())
        } else {
            tag.as_ref().map_or(Key::Any, |tag| Key::Tag(tag.clone()))
        }
    }

    /// Whether it matches the element, and how much was compared.
    pub(super) fn matches(&self, node: NodeRef<'_, Node>, element: &Element) -> (bool, usize) {
        let cost = |element: &Element| 1 + element.classes().count();
        let mut compared = cost(element);
        if !self.subject.matches(element) {
            return (false, compared);
        }
        let mut ancestors = node.ancestors();
        let found = self.around.iter().all(|compound| {
            ancestors.any(|node| {
                node.value().as_element().is_some_and(|element| {
                    compared += cost(element);
                    compound.matches(element)
                })
            })
        });
        (found, compared)
    }
}

impl Compound {
    fn parse(text: &str, nested: usize) -> Option<Self> {
        let mut compound = Self::default();
        let mut rest = text.trim();
        for _ in 0..MOST_PARTS {
            let Some(sign) = rest.chars().next() else {
                break;
            };
            let after = &rest[sign.len_utf8()..];
            rest = match sign {
                '*' | '|' => after,
                '.' => {
                    let (class, rest) = name(after)?;
                    compound.classes.push(class);
                    rest
                }
                '#' => {
                    let (id, rest) = name(after)?;
                    compound.id = Some(id);
                    rest
                }
                '[' => {
                    let (inner, rest) = bracketed(after)?;
                    compound.attributes.push(Attribute::parse(inner));
                    rest
                }
                ':' => compound.pseudo(after, nested)?,
                _ => {
                    let (tag, rest) = name(rest)?;
                    compound.tag = Some(tag.to_ascii_lowercase());
                    rest
                }
            };
        }
        Some(compound)
    }

    /// Reads what follows a colon; none when it matches nothing that can be known.
    fn pseudo<'a>(&mut self, text: &'a str, nested: usize) -> Option<&'a str> {
        let (word, rest) = name(text)?;
        let word = word.to_ascii_lowercase();
        if PASSING.contains(&word.as_str()) || PSEUDO_ELEMENTS.contains(&word.as_str()) {
            return None;
        }
        let Some(inner) = rest.strip_prefix('(') else {
            return Some(rest);
        };
        let (inner, rest) = bracketed(inner)?;
        if matches!(word.as_str(), "is" | "where" | "matches") && nested < MOST_NESTED {
            let subjects = split(inner, &[',']).filter_map(|one| {
                let (_, subject) = steps(one).pop()?;
                Self::parse(subject, nested + 1)
            });
            self.lists.push(subjects.collect());
        }
        Some(rest)
    }

    fn matches(&self, element: &Element) -> bool {
        let tag = self.tag.as_ref();
        tag.is_none_or(|tag| element.name().eq_ignore_ascii_case(tag))
            && self.id.as_ref().is_none_or(|id| element.id() == Some(id))
            && self
                .classes
                .iter()
                .all(|class| element.classes().any(|one| one == class))
            && self
                .attributes
                .iter()
                .all(|attribute| attribute.matches(element))
            && self
                .lists
                .iter()
                .all(|list| list.iter().any(|one| one.matches(element)))
    }
}

impl Attribute {
    fn parse(inner: &str) -> Self {
        let (name, value) = match inner.split_once('=') {
            // Of a part of the value, none is known.
            Some((name, _)) if name.ends_with(['~', '^', '$', '*', '|']) => (name, None),
            Some((name, value)) => (name, Some(value)),
            None => (inner, None),
        };
        let name = name.trim_end_matches(['~', '^', '$', '*', '|']).trim();
        let value = value.map(|value| {
            let value = value.trim();
            let bare = value.trim_end_matches([' ', 'i', 's']);
            let value = if bare.ends_with(['"', '\'']) {
                bare
            } else {
                value
            };
            value.trim_matches(['"', '\'']).to_owned()
        });
        Self {
            name: name.to_ascii_lowercase(),
            value,
        }
    }

    fn matches(&self, element: &Element) -> bool {
        element.attr(&self.name).is_some_and(|found| {
            let wanted = self.value.as_ref();
            wanted.is_none_or(|wanted| found.eq_ignore_ascii_case(wanted))
        })
    }
}

/// The compounds of a selector, each with the combinator before it.
fn steps(text: &str) -> Vec<(char, &str)> {
    let mut steps = Vec::new();
    let mut combinator = ' ';
    let mut end = 0_usize;
    for compound in split(text, &[' ', '>', '+', '~']) {
        // What parted it from the one before.
        let sign = end.checked_sub(1).and_then(|at| text[at..].chars().next());
        if let Some(sign) = sign.filter(|sign| *sign != ' ') {
            combinator = sign;
        }
        end += compound.len() + 1;
        if !compound.is_empty() {
            steps.push((combinator, compound));
            combinator = ' ';
        }
    }
    steps
}

/// The name at the start, escapes read (CSS Syntax §4.3.7), and what follows it.
fn name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let (c, after) = escaped(&rest[1..])?;
            name.push(c);
            rest = after;
        } else if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii() {
            name.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            break;
        }
    }
    (!name.is_empty()).then_some((name, rest))
}

/// The text before the closing bracket, and the text after it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_filed_by_what_it_needs() {
        let key = |text: &str| parse(text).map(|selector| selector.key());
        assert_eq!(key("a.b#c"), Some(Key::Id("c".to_owned())));
        assert_eq!(key("x a.b"), Some(Key::Class("b".to_owned())));
        assert_eq!(key("x > A:not(.b)"), Some(Key::Tag("a".to_owned())));
        assert_eq!(key("[b]"), Some(Key::Any));
        assert_eq!(key(".md\\:x"), Some(Key::Class("md:x".to_owned())));
        for text in ["a::before", "a:hover", "", "a..b", "a[b", "%"] {
            assert_eq!(key(text), None, "{text}");
        }
    }
}
