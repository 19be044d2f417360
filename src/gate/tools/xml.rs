//! Walking through XML that nobody vouches for.
//!
//! No document type is read and no entity but XML's own five is replaced, so nothing expands and
//! nothing is fetched; elements nest to a fixed depth.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::unread::Unread;

/// How deep elements may nest.
const MOST_DEPTH: usize = 100;

/// What comes next in a document.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// An element begins.
    Start(BytesStart<'a>),
    /// The element of this name ends.
    End(String),
    /// Text within an element.
    Text(String),
}

/// A document, from begin to end.
pub(super) struct Walk<'a> {
    reader: Reader<&'a [u8]>,
    format: &'static str,
    depth: usize,
    began: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str, format: &'static str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            format,
            depth: 0,
            began: false,
        }
    }

    /// The next piece; `None` at the end of a document that is whole.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, Unread> {
        loop {
            let event = self.reader.read_event();
            match event.map_err(|error| self.damaged(&error))? {
                Event::Start(start) => {
                    self.depth += 1;
                    self.began = true;
                    if self.depth > MOST_DEPTH {
                        return Err(self.damaged("its elements nest too deep"));
                    }
                    return Ok(Some(Piece::Start(start)));
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(Piece::End(end.name().as_ref().to_owned())));
                }
                Event::Text(text) => {
                    return Ok(Some(Piece::Text(text.xml10_content().into_owned())));
                }
                Event::CData(text) => {
                    return Ok(Some(Piece::Text(text.xml10_content().into_owned())));
                }
                Event::GeneralRef(reference) => {
                    return Ok(Some(Piece::Text(replaced(&reference))));
                }
                Event::Eof if self.depth > 0 => return Err(self.damaged("it is cut off")),
                Event::Eof if !self.began => {
                    return Err(Unread::Nothing {
                        format: self.format,
                    });
                }
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    /// An error that says where the walk is.
    pub(super) fn damaged(&self, why: &(impl ToString + ?Sized)) -> Unread {
        let at = self.reader.buffer_position();
        Unread::damaged(self.format, &format!("{} (byte {at})", why.to_string()))
    }
}

fn replaced(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name = reference.xml10_content();
    resolve_xml_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
}

/// The value of an attribute, as it is written where it holds what cannot be replaced.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.try_get_attribute(name).ok()??;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(
        |_| found.value.clone().into_owned(),
        std::borrow::Cow::into_owned,
    ))
}
