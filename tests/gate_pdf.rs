//! A source that is a PDF: what its reader sees counts, and nothing else.

use comail::world::mailbox::Mailbox;
use comail::world::page::{Page, Presence, presence};
use url::Url;

use crate::harness::EmailNet;
use crate::harness::case::rows;
use crate::harness::email_net::{ACME, Submission};
use crate::harness::pdf::{PdfFile, packed, stream, text};
use crate::servers::http::Reply;

const INFO: &str = "info@acme.co.kr";

fn read(file: &PdfFile) -> Result<Page, String> {
    let url = Url::parse("https://www.acme.co.kr/profile.pdf").expect("a URL");
    let page = Page::parse(&url, Some("application/pdf"), None, &file.bytes());
    page.map_err(|why| why.to_string())
}

#[track_caller]
fn how(file: &PdfFile) -> Presence {
    let page = read(file).expect("a document that can be read");
    presence(&page, &Mailbox::parse(INFO).expect("an address"))
}

fn page(content: &str) -> PdfFile {
    PdfFile::new().page(&format!("{}{content}", text(50, 700, "Acme Foods")))
}

fn shown() -> String {
    text(50, 600, INFO)
}

#[test]
fn text_is_read_as_it_stands_on_the_page() {
    let lines = |file: &PdfFile| read(file).expect("a document").visible;
    let plain = page(&shown());
    assert_eq!(lines(&plain), ["Acme Foods", INFO]);
    assert_eq!(lines(&plain.clone().packed()), ["Acme Foods", INFO]);
    // In any order, in pieces, and in columns.
    let pieces = format!(
        "{}BT /F1 12 Tf 50 600 Td (info@) Tj (acme) Tj [(.c) 0 (o.kr)] TJ ET\n{}",
        text(300, 600, "Seoul"),
        text(50, 650, "Mail"),
    );
    assert_eq!(lines(&page(&pieces)), ["Acme Foods", "Mail", INFO, "Seoul"]);
    let spaced = "BT /F1 12 Tf 50 600 Td [(Mail) -300 (info@acme.co.kr)] TJ ET\n";
    assert_eq!(lines(&page(spaced)), ["Acme Foods", "Mail info@acme.co.kr"]);
    let pages = page("").page(&shown());
    assert_eq!(lines(&pages), ["Acme Foods", INFO]);
}

#[test]
fn what_its_reader_sees_counts() {
    let white = |before: &str, after: &str| page(&format!("{before}1 1 1 rg\n{}{after}", shown()));
    for (what, file, expected) in rows! {
        "plain", page(&shown()) => Presence::Visible;
        "white on blue", white("0 0 1 rg 40 590 300 30 re f\n", "") => Presence::Visible;
        "white on white", white("", "") => Presence::Hidden;
        "white beside blue", white("0 0 1 rg 400 590 100 30 re f\n", "") => Presence::Hidden;
        "nearly white", page(&format!("0.95 g\n{}", shown())) => Presence::Hidden;
        "invisible", page(&format!("3 Tr\n{}", shown())) => Presence::Hidden;
        "off the page", page(&text(700, 600, INFO)) => Presence::Hidden;
        "below the page", page("BT /F1 12 Tf 50 -60 Td (info@acme.co.kr) Tj ET") => Presence::Hidden;
        "a speck", page("BT /F1 0.5 Tf 50 600 Td (info@acme.co.kr) Tj ET") => Presence::Hidden;
        "clipped away", page(&format!("q 0 0 10 10 re W n\n{}Q\n", shown())) => Presence::Hidden;
        "within its clip", page(&format!("q 0 500 600 200 re W n\n{}Q\n", shown()))
            => Presence::Visible;
        "covered", page(&format!("{}1 1 1 rg 40 590 300 30 re f\n", shown())) => Presence::Hidden;
        "a part of a longer one", page(&format!("{}{}", text(45, 600, "x"), shown()))
            => Presence::Absent;
        "spelled", page(&text(50, 600, "info [at] acme.co.kr")) => Presence::Obfuscated;
        "outside the crop box", page(&shown()).entries("/CropBox [0 0 600 500]")
            => Presence::Hidden;
    } {
        let page = read(&file).map(|page| page.visible);
        assert_eq!(how(&file), expected, "{what}: {page:?}");
    }
}

#[test]
fn what_cannot_be_told_is_doubtful() {
    let image = stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceRGB \
         /BitsPerComponent 8",
        &[255, 255, 255],
    );
    let picture = "q 300 0 0 30 40 590 cm /Im Do Q\n";
    let with_image = |content: &str| {
        let file = page(content).resources("/XObject << /Im {0} >>");
        file.object(image.clone())
    };
    let on = with_image(&format!("{picture}{}", shown()));
    assert_eq!(how(&on), Presence::Obfuscated, "on a picture");
    let below = with_image(&format!("{}{picture}", shown()));
    assert_eq!(how(&below), Presence::Obfuscated, "below a picture");
    let beside = with_image(&format!("q 9 0 0 9 5 5 cm /Im Do Q\n{}", shown()));
    assert_eq!(how(&beside), Presence::Visible, "beside a picture");
    let faint = page(&format!("/G gs\n{}", shown())).resources("/ExtGState << /G << /ca 0.3 >> >>");
    assert_eq!(how(&faint), Presence::Obfuscated, "half transparent");
}

#[test]
fn a_layer_that_is_off_is_not_seen() {
    // The catalogue names no layers, so a layer is on.
    let file = page(&format!("/OC /L BDC\n{}EMC\n", shown()));
    assert_eq!(how(&file), Presence::Visible);
}

#[test]
fn a_link_counts_where_its_reader_sees_what_it_is_on() {
    let link = |rect: &str, flags: &str| {
        let link = format!(
            "/Annots [<< /Type /Annot /Subtype /Link /Rect [{rect}] {flags} \
             /A << /S /URI /URI (mailto:info%40acme.co.kr?subject=Hi) >> >>]"
        );
        page(&text(50, 600, "Write to us")).entries(&link)
    };
    assert_eq!(how(&link("45 590 200 620", "")), Presence::Visible);
    assert_eq!(how(&link("300 100 400 120", "")), Presence::Hidden);
    assert_eq!(how(&link("45 590 200 620", "/F 2")), Presence::Hidden);
}

#[test]
fn japanese_text_is_read_by_the_table_of_its_font() {
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Gothic /Encoding /Identity-H \
                /ToUnicode {1} /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 \
                /BaseFont /Gothic /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) \
                /Supplement 0 >> /DW 1000 /FontDescriptor << /Type /FontDescriptor /FontName \
                /Gothic /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 \
                /Descent -200 /CapHeight 700 /StemV 80 >> >>] >>";
    let table = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
        /CMapName /T def /CMapType 2 def\n\
        1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
        2 beginbfchar <0001> <4F1A> <0002> <793E> endbfchar\n\
        endcmap CMapName currentdict /CMap defineresource pop end end";
    let content = format!("BT /F2 12 Tf 50 650 Td <00010002> Tj ET\n{}", shown());
    let file = |table: &[u8]| {
        let file = page(&content).resources("/F2 {0} | ").object(font);
        file.object(stream("", table))
    };
    let lines = read(&file(table)).expect("a document").visible;
    assert_eq!(lines, ["Acme Foods", "会社", INFO]);
}

#[test]
fn what_cannot_be_read_is_told() {
    let bomb = {
        let zeroes = vec![b' '; 200 << 20];
        page("").object(stream("/Filter /FlateDecode", &packed(&zeroes)))
    };
    let deep = "[".repeat(100_000);
    let run = stream(
        "/Filter [/RunLengthDecode /LZWDecode /FlateDecode]",
        &[1; 4096],
    );
    let many = (0..60).fold(PdfFile::new(), |file, _| file.page(&shown()));
    for (what, file, expected) in rows! {
        "no text", PdfFile::new().page("0 0 100 100 re f") => "it shows no text";
        "encrypted", page(&shown()).trailer("/Encrypt << /Filter /Standard >>") => "it is encrypted";
        "a bomb", bomb => "it unpacks to too much";
        "a bomb of many layers", page("").object(run) => "it unpacks to too much";
        "very many pages", many => "it has too many pages";
    } {
        let said = read(&file).expect_err(what);
        assert!(said.contains(expected), "{what}: {said}");
    }
    // What is damaged is read as far as it goes, and nothing panics.
    let whole = page(&shown()).bytes();
    let url = Url::parse("https://www.acme.co.kr/profile.pdf").expect("a URL");
    for cut in (0..whole.len()).step_by(37) {
        drop(Page::parse(
            &url,
            Some("application/pdf"),
            None,
            &whole[..cut],
        ));
    }
    drop(read(&page(&deep)));
    drop(read(&page("").entries(&format!("/X {deep}"))));
}

#[test]
fn forms_that_draw_themselves_end() {
    let form = stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /X {0} >> >>",
        format!("/X Do /X Do\n{}", shown()).as_bytes(),
    );
    let file = page("/X Do")
        .resources("/XObject << /X {0} >>")
        .object(form);
    let said = read(&file).map(|page| page.visible.len());
    assert!(said.is_err() || said.is_ok_and(|lines| lines < 1000));
}

/// The submission of a PDF of Acme.
fn submits(net: &EmailNet, kind: &str, file: &PdfFile) -> Submission {
    let reply = Reply::status(200).with("Content-Type", kind);
    net.net
        .web
        .reply("www.acme.co.kr", "/profile.pdf", reply.body(file.bytes()));
    net.acme().source(&net.url("/profile.pdf"))
}

#[test]
fn a_source_may_be_a_pdf() {
    for (what, kind, file, expected) in rows! {
        "a profile", "application/pdf", page(&shown()) => "PASS";
        "packed", "application/pdf", page(&shown()).packed() => "PASS";
        "another's address", "application/pdf", page(&text(50, 600, "x@acme.co.kr"))
            => "FAIL email-not-on-source";
        "white on white", "application/pdf", page(&format!("1 g\n{}", shown()))
            => "REVIEW email-hidden";
        "a picture", "application/pdf", PdfFile::new().page("") => "REVIEW source-unreadable";
        "said to be HTML", "text/html", page(&shown()) => "REVIEW source-unreadable";
        "disowned", "application/pdf",
            page(&format!("{}{}", shown(), text(50, 580, "This address is no longer read.")))
            => "REVIEW email-disowned";
    } {
        let net = EmailNet::with(&[ACME], &[]);
        assert_eq!(net.says(&submits(&net, kind, &file)), expected, "{what}");
    }
}
