//! Pages of the real company on which the submitted address is not one that its owner shows: it
//! belongs to something else, no reader sees it, visitors wrote it, or the page repeats its URL.

use crate::attack_tools::{all_pass, none_passes};
use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, Submission, page};
use crate::servers::http::Reply;

const MADE_UP: &str = "made.up@acme.co.kr";
const BEES: &str = "bees@acme.co.kr";

/// The submission of `email` for a page at `path` that holds `text`.
fn at(net: &EmailNet, path: &str, text: &str, email: &str) -> Submission {
    let source = net.put(path, &page(ACME, text));
    net.acme().email(email).source(&source)
}

/// Expects that no page with one of `texts` shows `email`.
#[track_caller]
fn none_shows(path: &str, texts: &[&str], email: &str) {
    let cases = texts.iter().map(|text| (*text, *text));
    none_passes(ACME, cases, |net, text| at(net, path, text, email));
}

/// Expects that a made-up address counts on none of `pages`, each a path and its text.
#[track_caller]
fn none_echoes(pages: &[(String, String)]) {
    let cases = pages
        .iter()
        .map(|(path, text)| (path.as_str(), (path, text)));
    none_passes(ACME, cases, |net, (path, text)| {
        at(net, path, &format!("No results for {text}"), MADE_UP)
    });
}

#[test]
fn signs_around_an_address_are_no_part_of_it() {
    let shown = [
        ("* *info@acme.co.kr*", "*info@acme.co.kr"),
        ("TEL|info@acme.co.kr", "tel|info@acme.co.kr"),
        ("Mail/info@acme.co.kr", "mail/info@acme.co.kr"),
        ("'info@acme.co.kr'", "'info@acme.co.kr"),
        ("Questions?info@acme.co.kr", "questions?info@acme.co.kr"),
        ("git clone git@acme.co.kr:acme/app.git", "git@acme.co.kr"),
        ("ftp://guest:welcome@acme.co.kr/pub", "welcome@acme.co.kr"),
        ("Call sip:1000@acme.co.kr", "1000@acme.co.kr"),
    ];
    let cases = shown.map(|(text, email)| (text, (text, email)));
    none_passes(ACME, cases, |net, (text, email)| {
        at(net, "/page", text, email)
    });
    // Boxes that stand apart are not joined to an address.
    let boxes = [
        "<b style=\"display:flex;gap:1em\"><span>Mail</span><span>info@acme.co.kr</span></b>",
        "<span style=\"display:block\">Mail</span><span style=\"display:block\">info@acme.co.kr</span>",
        "<span style=\"float:left\">Mail</span><span>info@acme.co.kr</span>",
    ];
    none_shows("/page", &boxes, "mailinfo@acme.co.kr");
}

#[test]
fn an_address_that_is_struck_out_is_not_shown() {
    let struck = [
        "<del>old@acme.co.kr</del>",
        "<s>old@acme.co.kr</s>",
        "<span style=\"text-decoration:line-through\">old@acme.co.kr</span>",
    ];
    none_shows("/page", &struck, "old@acme.co.kr");
}

/// A page whose style sheet is this, around an address in an element.
fn styled(net: &EmailNet, sheet: &str, email: &str) -> Submission {
    let trap = format!("<span class=trap id=t data-t=1>{email}</span>");
    let text = format!("<style>{sheet}</style><span class=box>{trap}</span>");
    at(net, "/page", &text, email)
}

#[test]
fn style_sheets_that_hide_an_address_are_read() {
    let sheets = [
        ".box .trap{display:none}",
        ".box{color:red;.trap{display:none}}",
        "@layer base{.trap{display:none}}",
        ".trap{font-size:.01px}",
        ".trap{color:rgba(0,0,0,0)}",
        ".trap{position:absolute;clip-path:polygon(0 0,0 0,0 0)}",
        ".trap{display:none}.trap{visibility:visible}",
        ".trap{display:none}</style><style media=\"print\">.trap{display:inline}",
        ".trap{scale:0}",
        ".trap{transform:scale(0)}",
        ".trap{transform:matrix(0,0,0,0,0,0)}",
        ":root{--d:none}.trap{display:var(--d)}",
        ".trap{--d:none;display:var(--d)}",
        ".trap{display:var(--d,none)}",
        ":root{--a:none;--d:var(--a)}.trap{display:var(--d)}",
        ".trap{visibility:var(--v);--v:hidden}",
        ".trap{opacity:var(--o)}:root{--o:0}",
        ".trap{d\\69splay:none}",
        ".trap{display:n\\6fne}",
        "@media (min-width:1px){.trap{display:none}}",
        "@media (width>=1px){.trap{display:none}}",
    ];
    none_passes(ACME, sheets.map(|sheet| (sheet, sheet)), |net, sheet| {
        styled(net, sheet, BEES)
    });
    let inline = [
        "<style>.trap{display:none}</style><b class=trap style=\"visibility:visible\">bees@acme.co.kr</b>",
        "<style>.trap{display:none!important}</style><b class=trap style=\"display:inline\">bees@acme.co.kr</b>",
        "<a href=\"mailto:bees@acme.co.kr\"><span></span></a>",
        "<math><semantics><mi>x</mi><annotation>bees@acme.co.kr</annotation></semantics></math>",
        "<style>:root{--d:none}</style><b style=\"display:var(--d)\">bees@acme.co.kr</b>",
        "<b style=\"--d:none;display:var(--d)\">bees@acme.co.kr</b>",
        "<b style=\"--d:none\"><i style=\"display:var(--d)\">bees@acme.co.kr</i></b>",
        "<b style=\"d\\69splay:none\">bees@acme.co.kr</b>",
        "<b style=\"scale:0\">bees@acme.co.kr</b>",
    ];
    none_shows("/page", &inline, BEES);
}

#[test]
fn style_sheets_that_show_an_address_are_read_too() {
    let sheets = [
        ".trap{scale:1}",
        ".trap{transform:scale(1.2)}",
        ":root{--d:block}.trap{display:var(--d)}",
        ".trap{display:var(--framer-display,flex)}",
        ".trap{color:var(--ink)}",
        "@media (max-width:600px){.trap{display:none}}",
        "@media print{.trap{display:none}}",
        "@media (min-width:9000px){.trap{display:none}}",
        "@media (prefers-reduced-motion:reduce){.trap{display:none}}",
    ];
    all_pass(ACME, sheets.map(|sheet| (sheet, sheet)), |net, sheet| {
        styled(net, sheet, "info@acme.co.kr")
    });
}

#[test]
fn what_visitors_write_is_not_the_owners() {
    let comments = [
        "</p><div id=\"comments\"><ol class=\"comment-list\"><li class=\"comment\">\
         <p>Write to made.up@acme.co.kr</p></li></ol></div><p>",
        "</p><section class=\"comments-area\"><div class=\"comment-content\">\
         made.up@acme.co.kr</div></section><p>",
        "</p><div itemscope itemtype=\"https://schema.org/Comment\">made.up@acme.co.kr</div><p>",
    ];
    none_shows("/news/we-have-moved/", &comments, MADE_UP);
    let reviewer = r#"<script type="application/ld+json">{"@type":"Product","review":{"@type":"Review",
        "author":{"@type":"Person","email":"made.up@acme.co.kr"}}}</script>"#;
    none_shows("/page", &[reviewer], MADE_UP);
    let paths = [
        // PHP takes what follows the script's name for PATH_INFO and serves the same post.
        "/board/read.php/bbs/content.php?no=7",
        // Where Gnuboard, XE and common ticket systems put what is attached to a post.
        "/data/file/free/1a2b.txt",
        "/data/editor/2611/note.html",
        "/files/attach/binaries/17/note.txt",
        "/attachments/17/note.txt",
        // Boards by other names.
        "/freeboard/view.php?no=7",
        "/customer/inquiry/view?idx=3",
        "/consult/view.asp?idx=3",
        "/testimonials/17",
    ];
    none_passes(ACME, paths.map(|path| (path, path)), |net, path| {
        at(net, path, MADE_UP, MADE_UP)
    });
}

#[test]
fn structured_data_that_is_no_part_of_the_page_shows_no_address() {
    let data = r#"<script type="application/ld+json">{"@type":"Organization",
        "name":"Acme Foods","email":"made.up@acme.co.kr"}</script>"#;
    let microdata = "<div itemscope itemtype='https://schema.org/Organization'>\
                     <meta itemprop=email content='made.up@acme.co.kr'></div>";
    let pages = [
        format!("<template>{data}</template>"),
        format!("<template>{microdata}</template>"),
        format!("</p><div class=comments><p>hello</p>{data}</div><p>"),
        format!("</p><div class=comments><p>hello</p>{microdata}</div><p>"),
    ];
    none_shows("/page", &pages.each_ref().map(String::as_str), MADE_UP);
}

/// A page with the address in a box of this class.
fn boxed(net: &EmailNet, class: &str, email: &str) -> Submission {
    let text = format!("</p><div class=\"{class}\"><p>{email}</p></div><p>");
    at(net, "/page", &text, email)
}

#[test]
fn boxes_that_visitors_fill_are_known_by_many_names() {
    let visitors = "commentBody board_view qna_list forum-post guestBook";
    let classes = visitors.split_whitespace().map(|class| (class, class));
    none_passes(ACME, classes, |net, class| boxed(net, class, MADE_UP));
    let owners = ["commentary", "board-of-directors"];
    let classes = owners.map(|class| (class, class));
    all_pass(ACME, classes, |net, class| {
        boxed(net, class, "ceo@acme.co.kr")
    });
}

#[test]
fn a_url_that_parts_the_address_by_what_vanishes_is_an_echo() {
    // The search of every WordPress with permalinks: /search/WORDS/.
    let parted = |escape: &str, shown: &str| {
        let [path, text] = [escape, shown].map(|part| format!("ma{part}de.up@ac{part}me.co.kr"));
        (format!("/search/{path}/"), text)
    };
    none_echoes(&[
        parted("%E2%80%8B", "\u{200b}"),
        parted("%C2%AD", "\u{ad}"),
        parted("%E2%81%A0", "\u{2060}"),
        parted("%EF%B8%8F", "\u{fe0f}"),
        // What servers take out: strip_tags, stripslashes, and their kin.
        parted("%3Cb%3E", ""),
        parted("%5C", ""),
        parted("%01", ""),
        parted("%FF", ""),
        parted("%22", ""),
        (
            "/?s=ma%E2%80%8Bde.up%26commat%3Bac%E2%80%8Bme.co.kr".to_owned(),
            "ma\u{200b}de.up&commat;ac\u{200b}me.co.kr".to_owned(),
        ),
        (
            "/write?u=ma%E2%80%8Bde.up&h=ac%E2%80%8Bme.co.kr".to_owned(),
            "ma\u{200b}de.up@ac\u{200b}me.co.kr".to_owned(),
        ),
    ]);
}

#[test]
fn a_path_that_switches_the_charset_inside_the_address_is_an_echo() {
    // A page that names no charset: the escape for ASCII makes it ISO-2022-JP, and vanishes.
    let path = "/search/ma%1B(Bde.up@ac%1B(Bme.co.kr";
    let body = page(ACME, "No results for ma\x1b(Bde.up@ac\x1b(Bme.co.kr")
        .replace("<meta charset=\"utf-8\">", "")
        .replace('©', "&copy;");
    let reply = Reply::status(200)
        .with("Content-Type", "text/html")
        .body(body);
    none_passes(ACME, [(path, reply)], |net, reply| {
        net.net.web.reply("www.acme.co.kr", path, reply);
        net.acme().email(MADE_UP).source(&net.url(path))
    });
}

#[test]
fn a_path_that_holds_the_address_in_a_pages_own_code_is_an_echo() {
    // A page that links to itself in another language repeats its path.
    let coded = std::iter::once(0x5a).chain(MADE_UP.bytes().map(|byte| byte ^ 0x5a));
    let coded = hex::encode(coded.collect::<Vec<u8>>());
    let path = format!("/s/cdn-cgi/l/email-protection%23{coded}");
    let links = ["/en/s", "http://evil.kr"]
        .map(|start| format!("<a href=\"{start}/cdn-cgi/l/email-protection#{coded}\">English</a>"));
    none_shows(&path, &links.each_ref().map(String::as_str), MADE_UP);
}

/// The text in base32 (RFC 4648 §6), as a decoder reads it.
fn base32(text: &str, alphabet: &[u8; 32]) -> String {
    let mut bits: Vec<u8> = text
        .bytes()
        .flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1))
        .collect();
    bits.resize(bits.len().next_multiple_of(5), 0);
    let digits = bits.chunks(5).map(|five| {
        let value = five
            .iter()
            .fold(0, |value, bit| value * 2 + usize::from(*bit));
        char::from(alphabet[value])
    });
    digits.collect()
}

#[test]
fn a_url_that_holds_the_address_in_base32_or_in_pieces_is_an_echo() {
    let upper = base32(MADE_UP, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    let shifted = base32(&format!("x{MADE_UP}"), b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    let coded = [
        format!("/s/{upper}"),
        format!("/s/{}", upper.to_ascii_lowercase()),
        format!("/s?q={upper}"),
        format!("/s/{shifted}"),
    ];
    let pieces = [
        "/echo/made.up/acme/co/kr",
        "/echo/made/up/acme/co/kr",
        "/echo/acme.co.kr/x/made-up",
        "/echo/kr/co/acme/made.up",
        "/echo/made.up-at-acme-dot-co-dot-kr",
        "/echo/madeupatacmecokr",
        "/echo?q=madeupatacmedotcodotkr",
        "/echo?q=made-dot-up-at-acme-dot-co-dot-kr",
        "/echo?q=made.up+acme+co+kr",
        "/echo?a=made&b=up&c=acme&d=co&e=kr",
        "/echo/made.up?c=acme&d=co&e=kr",
        "/echo?q=made_up_acme_co_kr",
        "/echo;l=made.up;d=acme;t=co.kr",
        "/echo?q=znqr.hc.ng.npzr.pb.xe",
    ];
    let paths = coded.into_iter().chain(pieces.map(str::to_owned));
    let pages: Vec<_> = paths.map(|path| (path, MADE_UP.to_owned())).collect();
    none_echoes(&pages);
}
