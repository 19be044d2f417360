//! What sort of thing a body is, by its content type and its first bytes.
//!
//! | content type | read as |
//! |---|---|
//! | `text/html`, `application/xhtml+xml` | a page |
//! | scripts, style sheets, JSON, XML | source text: nothing of it is visible, for browsers show it to machines |
//! | other `text/*` | plain text |
//! | none, `unknown/unknown`, `application/unknown`, `*/*`, not a type at all | what the first bytes look like (WHATWG MIME Sniffing §7.1) |
//! | `application/pdf`, or none with a body that starts like one | a PDF |
//! | anything else, or a body that starts like a PDF, an image or an archive | not text |

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use scraper::node::Element;
use url::Url;

use super::element::attr;
use super::{Unreadable, dom};
use crate::base::word_list::word_lists;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Plain,
    /// As lines that only machines read.
    Source,
    Pdf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContentType<'a> {
    essence: Option<String>,
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

    pub(super) fn kind(&self, body: &[u8]) -> Result<Kind, Unreadable> {
        let may_be_pdf = matches!(self.essence.as_deref(), None | Some("application/pdf"));
        if may_be_pdf && body.starts_with(PDF) {
            return Ok(Kind::Pdf);
        }
        if let Some(magic) = magic(body) {
            return Err(Unreadable::NotText(magic.to_owned()));
        }
        let Some(essence) = &self.essence else {
            return sniffed(body);
        };
        let subtype = essence.split_once('/').map_or("", |(_, subtype)| subtype);
        let source = ["json", "xml", "javascript", "ecmascript", "css"];
        // Browsers save these, and show none.
        let saved = ["calendar", "csv", "directory", "vcard", "x-vcard"];
        if matches!(essence.as_str(), "text/html" | "application/xhtml+xml") {
            Ok(Kind::Html)
        } else if essence.starts_with("image/") || saved.contains(&subtype) {
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

const PDF: &[u8] = b"%PDF-";

fn magic(body: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 9] = [
        (PDF, "application/pdf"),
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

word_lists! { SNIFFED_TAGS = "words/sniffed_tags.txt"; }

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
    let starts = |tag: &str| {
        lower.strip_prefix(tag).is_some_and(|rest| {
            tag == "<!--" || rest.starts_with(|c: char| c == '>' || c.is_whitespace())
        })
    };
    if SNIFFED_TAGS.iter().any(|tag| starts(tag)) {
        Ok(Kind::Html)
    } else if lower.starts_with("<?xml") {
        Ok(Kind::Source)
    } else {
        Ok(Kind::Plain)
    }
}

/// How far a meta tag is looked for, in bytes. Browsers look 1024 bytes ahead and start over when
/// one comes later, so they find those too.
const PRESCANS: [usize; 2] = [1024, 16 * 1024];

/// One of this many characters may be undecodable or a control character, no more.
const BAD_ONE_IN: usize = 10;

pub(super) fn decode(
    url: &Url,
    header: Option<&str>,
    kind: Kind,
    body: &[u8],
) -> Result<String, Unreadable> {
    let (encoding, mark) = Encoding::for_bom(body).unwrap_or_else(|| {
        let declared = header
            .and_then(|label| Encoding::for_label(label.as_bytes()))
            .or_else(|| {
                let prescans = (kind == Kind::Html).then_some(PRESCANS)?;
                let mut starts = prescans.iter().map(|bytes| &body[..body.len().min(*bytes)]);
                starts.find_map(declared_in)
            });
        (declared.unwrap_or_else(|| detected(url, body)), 0)
    });
    let (text, _) = encoding.decode_without_bom_handling(&body[mark..]);
    let usual = |c: &char| matches!(c, ' '..='~');
    let bad = |c: &char| {
        !usual(c) && (*c == '\u{fffd}' || (c.is_control() && !c.is_whitespace() && *c != '\x1b'))
    };
    if text.chars().filter(bad).count() * BAD_ONE_IN > text.chars().count() {
        return Err(Unreadable::BadEncoding(encoding.name().to_owned()));
    }
    Ok(text.into_owned())
}

fn detected(url: &Url, body: &[u8]) -> &'static Encoding {
    let tld = url
        .domain()
        .and_then(|host| host.trim_end_matches('.').rsplit('.').next())
        .filter(|tld| {
            tld.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        });
    // An escape of ISO-2022-JP, which a page may repeat from its URL, would turn the rest into
    // another text than its readers see: browsers do not guess it either.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(tld.map(str::as_bytes), Utf8Detection::Allow)
}

/// The charset that a meta tag at the start of a page declares (WHATWG HTML §13.2.3.2).
fn declared_in(start: &[u8]) -> Option<&'static Encoding> {
    // Tags and labels are ASCII, and every byte is a character of windows-1252.
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(start);
    let html = dom::parse(&text).ok()?;
    let mut nodes = html.tree.root().descendants();
    let encoding = nodes.find_map(|node| {
        let element = node.value().as_element()?;
        (element.name() == "meta").then(|| of_meta(element))?
    })?;
    Some(if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

fn of_meta(element: &Element) -> Option<&'static Encoding> {
    if let Some(label) = attr(element, "charset") {
        return Encoding::for_label(label.as_bytes());
    }
    let content = attr(element, "content")?.to_ascii_lowercase();
    let is_type =
        attr(element, "http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
    let label = is_type.then(|| in_content(&content))??;
    Encoding::for_label(label.as_bytes())
}

/// The label after `charset=` (WHATWG HTML, "extracting a character encoding from a meta element").
fn in_content(content: &str) -> Option<&str> {
    let mut values = content.match_indices("charset").filter_map(|(at, word)| {
        let rest = content[at + word.len()..].trim_ascii_start();
        Some(rest.strip_prefix('=')?.trim_ascii_start())
    });
    let value = values.next()?;
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => Some(value[1..].split_once(quote)?.0),
        _ => value
            .split(|c: char| c.is_ascii_whitespace() || c == ';')
            .next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    #[test]
    fn the_header_decides_or_else_the_first_bytes() {
        let not_text = |what: &str| Err(Unreadable::NotText(what.to_owned()));
        for (header, body, expected) in rows! {
            "Text/HTML;charset=x", b"x" as &[u8] => Ok(Kind::Html);
            "application/xhtml+xml", b"x" => Ok(Kind::Html);
            "text/plain", b"<html>" => Ok(Kind::Plain);
            "text/css", b"x" => Ok(Kind::Source);
            "application/ld+json", b"{}" => Ok(Kind::Source);
            "text/javascript", b"x" => Ok(Kind::Source);
            "image/svg+xml", b"x" => not_text("image/svg+xml");
            "application/octet-stream", b"x" => not_text("application/octet-stream");
            "application/pdf", b"x" => not_text("application/pdf");
            "application/pdf", b"%PDF-1.7" => Ok(Kind::Pdf);
            "", b"%PDF-1.7" => Ok(Kind::Pdf);
            "image/png", b"%PDF-1.7" => not_text("application/pdf");
            // What is plainly not text is not read, whatever the header says.
            "text/html", b"%PDF-1.7" => not_text("application/pdf");
            "text/html", b"a %PDF-1.7" => Ok(Kind::Html);
            "*/*", b"<p>" => Ok(Kind::Html);
            "", b" \n<!DOCTYPE HTML>" => Ok(Kind::Html);
            "", b"<b>x" => Ok(Kind::Html);
            "", b"<bogus" => Ok(Kind::Plain);
            "", b"<?xml version='1.0'?>" => Ok(Kind::Source);
            "", b"" => Ok(Kind::Plain);
            "", b"a\0b" => not_text("unknown/unknown");
        } {
            let header = Some(header).filter(|header| !header.is_empty());
            let kind = ContentType::parse(header).kind(body);
            assert_eq!(kind, expected, "{header:?} {body:?}");
        }
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

    const KOREAN: &str = "<p>주식회사 아크메 대표이사 홍길동 이메일 문의 환영합니다</p>";

    fn url() -> Url {
        Url::parse("https://acme.co.kr/").unwrap()
    }

    fn euc_kr(text: &str) -> Vec<u8> {
        encoding_rs::EUC_KR.encode(text).0.into_owned()
    }

    #[test]
    fn undeclared_text_is_detected_whatever_the_host() {
        for (url, kind, body) in [
            ("https://acme.co.kr/", Kind::Html, euc_kr(KOREAN)),
            ("https://acme.com/", Kind::Html, euc_kr(KOREAN)),
            ("http://[::1]/", Kind::Plain, KOREAN.into()),
        ] {
            let read = decode(&Url::parse(url).unwrap(), None, kind, &body);
            assert_eq!(read.as_deref(), Ok(KOREAN), "{url}");
        }
    }

    #[test]
    fn an_escape_does_not_switch_the_charset_of_a_page_that_names_none() {
        let read = decode(&url(), None, Kind::Html, b"<p>in\x1b(Bfo@acme.co.kr");
        assert_eq!(read.as_deref(), Ok("<p>in\x1b(Bfo@acme.co.kr"));
        let read = decode(
            &url(),
            Some("iso-2022-jp"),
            Kind::Html,
            b"<p>\x1b$B$\"\x1b(B",
        );
        assert_eq!(read.as_deref(), Ok("<p>あ"));
    }

    #[test]
    fn mark_beats_header_beats_meta() {
        let mut marked = b"\xef\xbb\xbf".to_vec();
        marked.extend(KOREAN.bytes());
        assert_eq!(
            decode(&url(), Some("euc-kr"), Kind::Html, &marked).as_deref(),
            Ok(KOREAN)
        );
        let page = format!("<meta charset=utf-8>{KOREAN}");
        let read = decode(&url(), Some("euc-kr"), Kind::Html, &euc_kr(&page));
        assert_eq!(read, Ok(page));
    }

    #[test]
    fn meta_tags_are_found_as_browsers_find_them() {
        let name = |page: &str| declared_in(page.as_bytes()).map(Encoding::name);
        assert_eq!(name("<META CHARSET='ks_c_5601-1987'>"), Some("EUC-KR"));
        assert_eq!(
            name(
                "<html><!-- > --><meta content='text/html; charset = shift_jis' http-equiv=Content-Type>"
            ),
            Some("Shift_JIS")
        );
        assert_eq!(name("<meta charset=utf-16>"), Some("UTF-8"));
        assert_eq!(name("<!-- <meta charset=euc-kr> --><p>"), None);
        assert_eq!(name("<a title='<meta charset=euc-kr>'>"), None);
        assert_eq!(name("<meta content='text/html; charset=euc-kr'>"), None);
        assert_eq!(name("<metal charset=euc-kr>"), None);
        for torn in [
            "<",
            "<meta",
            "<meta ",
            "<meta charset",
            "<meta charset=",
            "<meta charset='e",
            "<!--",
        ] {
            assert_eq!(name(torn), None, "{torn}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        let noise: Vec<u8> = (0..=255).cycle().take(4096).collect();
        assert!(decode(&url(), Some("utf-8"), Kind::Html, &noise).is_err());
        let one_bad = [b"plenty of good text ".as_slice(), b"\xff"].concat();
        assert!(decode(&url(), Some("utf-8"), Kind::Html, &one_bad).is_ok());
        assert_eq!(
            decode(&url(), Some("iso-2022-kr"), Kind::Html, b"<p>x"),
            Err(Unreadable::BadEncoding("replacement".into()))
        );
    }
}
