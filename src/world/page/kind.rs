//! What sort of thing a body is, by its content type and its first bytes.
//!
//! | content type | read as |
//! |---|---|
//! | `text/html`, `application/xhtml+xml` | a page |
//! | scripts, style sheets, JSON, XML | source text: nothing of it is visible, for browsers show it to machines |
//! | other `text/*` | plain text |
//! | none, `unknown/unknown`, `application/unknown`, `*/*`, not a type at all | what the first bytes look like (WHATWG MIME Sniffing §7.1) |
//! | anything else, or a body that starts like a PDF, an image or an archive | not text |

use super::Unreadable;

/// How a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// As HTML.
    Html,
    /// As lines that a reader sees.
    Plain,
    /// As lines that only machines read.
    Source,
}

/// What the `Content-Type` header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContentType<'a> {
    /// Type and subtype in lower case; none when the header is missing or says nothing.
    essence: Option<String>,
    /// The `charset` parameter.
    pub(super) charset: Option<&'a str>,
}

impl<'a> ContentType<'a> {
    /// Reads a header as browsers do: nothing in it is an error.
    pub(super) fn parse(header: Option<&'a str>) -> Self {
        let mut parts = header.unwrap_or_default().split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = essence.contains('/')
            && !matches!(
                essence.as_str(),
                "unknown/unknown" | "application/unknown" | "*/*"
            );
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']).trim();
            (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
        });
        Self {
            essence: known.then_some(essence),
            charset,
        }
    }

    /// How `body` is read.
    pub(super) fn kind(&self, body: &[u8]) -> Result<Kind, Unreadable> {
        if let Some(magic) = magic(body) {
            return Err(Unreadable::NotText(magic.to_owned()));
        }
        let Some(essence) = &self.essence else {
            return sniffed(body);
        };
        let subtype = essence.split_once('/').map_or("", |(_, subtype)| subtype);
        let source = ["json", "xml", "javascript", "ecmascript", "css"];
        if matches!(essence.as_str(), "text/html" | "application/xhtml+xml") {
            Ok(Kind::Html)
        } else if essence.starts_with("image/") {
            Err(Unreadable::NotText(essence.clone()))
        } else if source
            .iter()
            .any(|name| subtype.rsplit(['+', '-']).next() == Some(name))
        {
            Ok(Kind::Source)
        } else if essence.starts_with("text/") {
            Ok(Kind::Plain)
        } else {
            Err(Unreadable::NotText(essence.clone()))
        }
    }
}

/// The type of a body that no text starts like.
fn magic(body: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 9] = [
        (b"%PDF-", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "application/x-ole-storage",
        ),
        (b"wOF", "font/woff"),
    ];
    MAGIC
        .iter()
        .find(|(start, _)| body.starts_with(start))
        .map(|(_, name)| *name)
}

/// What a body of no known type looks like.
fn sniffed(body: &[u8]) -> Result<Kind, Unreadable> {
    const BINARY_BOUND: usize = 1445;
    let utf16 = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let binary = |b: &u8| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    let start = &body[..body.len().min(BINARY_BOUND)];
    if !utf16 && start.iter().any(binary) {
        return Err(Unreadable::NotText("unknown/unknown".to_owned()));
    }
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let lower = text.to_ascii_lowercase();
    let tags = [
        "<!doctype html",
        "<html",
        "<head",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<font",
        "<table",
        "<a",
        "<style",
        "<title",
        "<b",
        "<body",
        "<br",
        "<p",
        "<meta",
        "<!--",
    ];
    let starts = |tag: &&str| {
        lower.strip_prefix(*tag).is_some_and(|rest| {
            *tag == "<!--" || rest.starts_with(|c: char| c == '>' || c.is_whitespace())
        })
    };
    if tags.iter().any(starts) {
        Ok(Kind::Html)
    } else if lower.starts_with("<?xml") {
        Ok(Kind::Source)
    } else {
        Ok(Kind::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(header: &str, body: &[u8]) -> Result<Kind, Unreadable> {
        ContentType::parse(Some(header)).kind(body)
    }

    #[test]
    fn the_header_decides() {
        assert_eq!(kind("Text/HTML;charset=x", b"x"), Ok(Kind::Html));
        assert_eq!(kind("application/xhtml+xml", b"x"), Ok(Kind::Html));
        assert_eq!(kind("text/plain", b"<html>"), Ok(Kind::Plain));
        assert_eq!(kind("text/css", b"x"), Ok(Kind::Source));
        assert_eq!(kind("application/ld+json", b"{}"), Ok(Kind::Source));
        assert_eq!(kind("text/javascript", b"x"), Ok(Kind::Source));
        for header in [
            "image/svg+xml",
            "application/octet-stream",
            "application/pdf",
        ] {
            assert_eq!(kind(header, b"x"), Err(Unreadable::NotText(header.into())));
        }
    }

    #[test]
    fn what_is_plainly_not_text_is_not_read_whatever_it_says() {
        assert!(kind("text/html", b"%PDF-1.7").is_err());
        assert_eq!(kind("text/html", b"a %PDF-1.7"), Ok(Kind::Html));
    }

    #[test]
    fn without_a_type_the_first_bytes_decide() {
        let sniff = |body: &[u8]| ContentType::parse(None).kind(body);
        assert_eq!(sniff(b" \n<!DOCTYPE HTML>"), Ok(Kind::Html));
        assert_eq!(sniff(b"<b>x"), Ok(Kind::Html));
        assert_eq!(sniff(b"<bogus"), Ok(Kind::Plain));
        assert_eq!(sniff(b"<?xml version='1.0'?>"), Ok(Kind::Source));
        assert_eq!(sniff(b""), Ok(Kind::Plain));
        assert!(sniff(b"a\0b").is_err());
        assert_eq!(kind("*/*", b"<p>"), Ok(Kind::Html));
    }

    #[test]
    fn charset_is_the_first_of_its_name() {
        let charset = |header| ContentType::parse(Some(header)).charset;
        assert_eq!(
            charset("text/html; a=b; CharSet = \"EUC-KR\""),
            Some("EUC-KR")
        );
        assert_eq!(charset("text/html; charset=; charset=utf-8"), Some("utf-8"));
        assert_eq!(charset("text/html"), None);
    }
}
