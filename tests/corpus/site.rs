//! The sites of a case as servers answer for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use encoding_rs::Encoding;
use minijinja::Environment;

use super::data::{Answer, Case, Corpus, Page, Skin};
use crate::harness::email_net::Submission;
use crate::servers::TestNet;
use crate::servers::http::Reply;

/// A case that is ready to be put up and submitted.
pub struct Site {
    pub submission: Submission,
    replies: Vec<(String, String, Reply)>,
}

impl Site {
    pub fn of(corpus: &Corpus, case: &Case, port: u16) -> Self {
        let skin = case.skin.as_deref().unwrap_or(&case.language);
        let skin = &corpus.skins[skin];
        let maker = Maker { corpus, case, skin };
        let www = format!("www.{}", case.domain);
        let source = case.source.as_deref().unwrap_or(&skin.contact);
        let url = |text: &str| with_port(&absolute(text, &www), port);
        Self {
            submission: Submission {
                site: url(case.site.as_deref().unwrap_or("/")),
                email: maker.email(),
                source: url(source),
            },
            replies: maker
                .pages()
                .into_iter()
                .map(|(at, page)| {
                    let whole = absolute(&at, &www);
                    let (host, path) = split(&whole);
                    (
                        host.to_owned(),
                        path.to_owned(),
                        maker.reply(&at, page, port),
                    )
                })
                .collect(),
        }
    }

    pub fn put_up(self, net: &TestNet) {
        let mut hosts: BTreeSet<String> = self
            .replies
            .iter()
            .map(|(host, _, _)| host.clone())
            .collect();
        for url in [&self.submission.site, &self.submission.source] {
            let (host, _) = split(url);
            hosts.insert(
                host.rsplit_once(':')
                    .map_or(host, |(host, _)| host)
                    .to_owned(),
            );
        }
        let (_, mail) = self.submission.email.rsplit_once('@').unwrap_or_default();
        if !mail.is_empty() {
            let exchanger = format!("mx.{mail}");
            net.dns.mx(mail, 10, &exchanger);
            hosts.extend([exchanger, mail.to_owned()]);
        }
        for host in hosts {
            net.host(&host);
        }
        for (host, path, reply) in self.replies {
            match path.strip_suffix('*') {
                Some(folder) => any_name(net, &host, folder.to_owned(), reply),
                None => net.web.reply(&host, &path, reply),
            }
        }
    }
}

/// Serves one page for every name below a folder; `ANY` in the page becomes the name.
fn any_name(net: &TestNet, host: &str, folder: String, reply: Reply) {
    net.web
        .fallback(host, move |path| match path.strip_prefix(&folder) {
            Some(name) => reply.clone().replaced("ANY", name),
            None => Reply::status(404),
        });
}

struct Maker<'a> {
    corpus: &'a Corpus,
    case: &'a Case,
    skin: &'a Skin,
}

impl Maker<'_> {
    fn email(&self) -> String {
        let usual = || format!("info@{}", self.case.domain);
        self.case.email.clone().unwrap_or_else(usual)
    }

    /// The pages of the skin and of the case, which take the place of the former.
    fn pages(&self) -> BTreeMap<String, Page> {
        let own = self.skin.page.iter();
        let mut pages: BTreeMap<_, _> = own
            .map(|(path, html)| (path.clone(), Page::Html(html.clone())))
            .collect();
        let css = Answer {
            content_type: Some("text/css".to_owned()),
            body: self.corpus.layouts.css.clone(),
            ..Answer::default()
        };
        pages.insert("/assets/site.css".to_owned(), Page::Answer(Box::new(css)));
        pages.extend(self.case.page.clone());
        pages
    }

    fn reply(&self, at: &str, page: Page, port: u16) -> Reply {
        let answer = match page {
            Page::Html(body) => Answer {
                body,
                ..Answer::default()
            },
            Page::Answer(answer) => *answer,
        };
        let mut reply = Reply::status(answer.status.unwrap_or(200));
        for (name, value) in &answer.headers {
            reply = reply.with(name, &ported(&self.render(at, value), port));
        }
        if !answer.pdf.is_empty() {
            let lines: Vec<_> = answer
                .pdf
                .iter()
                .map(|line| self.render(at, line))
                .collect();
            let reply = reply.with("Content-Type", "application/pdf");
            return reply.body(pdf(&lines, answer.pdf_mode));
        }
        let body = match &answer.content_type {
            None => self.whole_page(at, &answer.body),
            Some(_) => self.render(at, &answer.body),
        };
        let body = ported(&body, port);
        let content_type = answer.content_type.as_deref();
        match &self.case.charset {
            Some(name) if content_type.is_none() => {
                let encoding = Encoding::for_label(name.as_bytes()).expect("a charset's name");
                let (bytes, _, _) = encoding.encode(&body);
                reply
                    .with("Content-Type", "text/html")
                    .body(bytes.into_owned())
            }
            _ => {
                let usual = "text/html; charset=utf-8";
                reply
                    .with("Content-Type", content_type.unwrap_or(usual))
                    .body(body)
            }
        }
    }

    fn whole_page(&self, at: &str, html: &str) -> String {
        let begins = html.trim_start().to_ascii_lowercase();
        if ["<!doctype", "<html"]
            .iter()
            .any(|it| begins.starts_with(it))
        {
            return self.render(at, html);
        }
        let layouts = &self.corpus.layouts.layout;
        let by_name = || {
            let sum: usize = self.case.name.bytes().map(usize::from).sum();
            layouts.values().nth(sum % layouts.len())
        };
        let layout = match &self.case.layout {
            Some(name) => layouts.get(name),
            None => by_name(),
        };
        let layout = layout.expect("a layout of that name");
        self.render(at, &layout.replace("{{ main }}", html))
    }

    /// Fills in what the case says and what the skin says otherwise; a value may name values.
    fn render(&self, at: &str, template: &str) -> String {
        let mut values = self.skin.with.clone();
        values.extend(self.case.with.clone());
        for (name, value) in [
            ("company", self.case.company.clone()),
            ("owner", self.case.company.clone()),
            ("domain", self.case.domain.clone()),
            ("email", self.email()),
            ("lang", self.case.language.clone()),
            (
                "charset",
                self.case
                    .charset
                    .clone()
                    .unwrap_or_else(|| "utf-8".to_owned()),
            ),
            ("at", at.to_owned()),
        ] {
            values.entry(name.to_owned()).or_insert(value);
        }
        let environment = Environment::new();
        let mut text = template.to_owned();
        for _ in 0..5 {
            let is_done = !text.contains("{{") && !text.contains("{%");
            if is_done {
                break;
            }
            text = environment
                .render_str(&text, &values)
                .unwrap_or_else(|error| panic!("{} {at}: {error:#}", self.case.name));
        }
        text
    }
}

/// Pages name the port of other hosts as `:PORT`.
fn ported(text: &str, port: u16) -> String {
    text.replace(":PORT", &format!(":{port}"))
}

fn absolute(text: &str, host: &str) -> String {
    match text.strip_prefix('/') {
        Some(_) => format!("http://{host}{text}"),
        None => text.to_owned(),
    }
}

/// The host and the path of a URL.
fn split(url: &str) -> (&str, &str) {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    (host, if path.is_empty() { "/" } else { path })
}

/// The URL at the port of the tests' server, and else as it is written.
fn with_port(url: &str, port: u16) -> String {
    let (host, _) = split(url);
    url.replacen(host, &format!("{host}:{port}"), 1)
}

/// A PDF of one page whose text layer has these lines, in UTF-16 that its font maps to itself.
fn pdf(lines: &[String], mode: u8) -> Vec<u8> {
    let mut text = format!("BT /F1 11 Tf {mode} Tr 50 780 Td 16 TL\n");
    for line in lines {
        let hex = line.encode_utf16().fold(String::new(), |mut hex, unit| {
            write!(hex, "{unit:04X}").expect("a text can be written to");
            hex
        });
        writeln!(text, "<{hex}> Tj T*").expect("a text can be written to");
    }
    text.push_str("ET\n");
    // A range must not cross a first byte, and a block holds 100 (Adobe Technical Note 5014).
    let ranges: Vec<String> = (0..=0xFF)
        .map(|high| format!("<{high:02X}00> <{high:02X}FF> <{high:02X}00>\n"))
        .collect();
    let blocks = ranges.chunks(100).map(|block| {
        let (count, rows) = (block.len(), block.concat());
        format!("{count} beginbfrange\n{rows}endbfrange\n")
    });
    let map = format!(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
         /CMapName /Same def /CMapType 2 def\n\
         1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
         {}endcmap end end\n",
        blocks.collect::<String>()
    );
    let stream = |data: &str| format!("<< /Length {} >>\nstream\n{data}endstream", data.len());
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        stream(&text),
        "<< /Type /Font /Subtype /Type0 /BaseFont /Plain /Encoding /Identity-H \
         /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>"
            .to_owned(),
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Plain /DW 600 \
         /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
         /FontDescriptor 8 0 R >>"
            .to_owned(),
        stream(&map),
        "<< /Type /FontDescriptor /FontName /Plain /Flags 4 /FontBBox [0 -200 1000 800] \
         /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>"
            .to_owned(),
    ];
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1).expect("a text can be written to");
    }
    let start = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1)
        .expect("a text can be written to");
    for offset in &offsets {
        writeln!(file, "{offset:010} 00000 n ").expect("a text can be written to");
    }
    let count = offsets.len() + 1;
    write!(
        file,
        "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    )
    .expect("a text can be written to");
    file.into_bytes()
}
