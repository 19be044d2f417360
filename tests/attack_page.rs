//! Pages of the real company on which the submitted address is not one that its owner shows.

use crate::attack_tools::{judged, none_passes};
use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, page};

/// What becomes of `email` when the page at `path` holds `text`.
fn at(path: &str, text: &str, email: &str) -> (String, Vec<String>) {
    let world = EmailNet::start();
    world
        .net
        .web
        .page("www.acme.co.kr", path, &page(ACME, text));
    let mut submission = world.right("acme.co.kr");
    email.clone_into(&mut submission.email);
    submission.source = world.net.web.url("www.acme.co.kr", path);
    judged(&world, ACME, &submission)
}

fn on(text: &str, email: &str) -> (String, Vec<String>) {
    at("/page", text, email)
}

#[test]
fn a_sign_before_an_address_is_no_part_of_it() {
    let shown = [
        ("* *info@acme.co.kr*", "*info@acme.co.kr"),
        ("E-mail=info@acme.co.kr", "e-mail=info@acme.co.kr"),
        ("TEL|info@acme.co.kr", "tel|info@acme.co.kr"),
        ("Mail/info@acme.co.kr", "mail/info@acme.co.kr"),
        ("{info@acme.co.kr}", "{info@acme.co.kr"),
        ("-info@acme.co.kr", "-info@acme.co.kr"),
        ("'info@acme.co.kr'", "'info@acme.co.kr"),
        ("Questions?info@acme.co.kr", "questions?info@acme.co.kr"),
    ];
    none_passes(shown.map(|(text, email)| (text, on(text, email))));
}

#[test]
fn boxes_that_stand_apart_are_not_joined_to_an_address() {
    let boxes = [
        "<b style=\"display:flex;gap:1em\"><span>Mail</span><span>info@acme.co.kr</span></b>",
        "<span style=\"display:block\">Mail</span><span style=\"display:block\">info@acme.co.kr</span>",
        "<span style=\"float:left\">Mail</span><span>info@acme.co.kr</span>",
    ];
    none_passes(boxes.map(|text| (text, on(text, "mailinfo@acme.co.kr"))));
}

#[test]
fn an_at_sign_that_no_mail_goes_through_makes_no_address() {
    let shown = [
        ("git clone git@acme.co.kr:acme/app.git", "git@acme.co.kr"),
        ("ftp://guest:welcome@acme.co.kr/pub", "welcome@acme.co.kr"),
        ("Call sip:1000@acme.co.kr", "1000@acme.co.kr"),
    ];
    none_passes(shown.map(|(text, email)| (text, on(text, email))));
}

#[test]
fn style_sheets_that_hide_an_address_are_read() {
    const TRAP: &str = "<span class=\"trap\" id=\"t\" data-t=\"1\">bees@acme.co.kr</span>";
    let sheets = [
        ".box .trap{display:none}",
        ".box>.trap{display:none}",
        "span.trap{display:none}",
        "[data-t]{display:none}",
        ".box{color:red;.trap{display:none}}",
        "@layer base{.trap{display:none}}",
        "@supports (display:block){.trap{display:none}}",
        ".trap{font-size:.01px}",
        ".trap{opacity:.001}",
        ".trap{color:rgba(0,0,0,0)}",
        ".trap{position:absolute;clip-path:polygon(0 0,0 0,0 0)}",
        ".trap{display:none}.trap{visibility:visible}",
        ".trap{display:none}</style><style media=\"print\">.trap{display:inline}",
    ];
    none_passes(sheets.map(|sheet| {
        let text = format!("<style>{sheet}</style><span class=\"box\">{TRAP}</span>");
        (sheet, on(&text, "bees@acme.co.kr"))
    }));
}

#[test]
fn an_inline_style_shows_only_what_it_says() {
    let traps = [
        "<style>.trap{display:none}</style><b class=trap style=\"visibility:visible\">bees@acme.co.kr</b>",
        "<style>.trap{display:none!important}</style><b class=trap style=\"display:inline\">bees@acme.co.kr</b>",
        "<a href=\"mailto:bees@acme.co.kr\"><span></span></a>",
        "<math><semantics><mi>x</mi><annotation>bees@acme.co.kr</annotation></semantics></math>",
    ];
    none_passes(traps.map(|text| (text, on(text, "bees@acme.co.kr"))));
}

#[test]
fn a_comment_below_an_owners_page_is_written_by_others() {
    let comments = [
        "</p><div id=\"comments\"><ol class=\"comment-list\"><li class=\"comment\">\
         <p>Write to made.up@acme.co.kr</p></li></ol></div><p>",
        "</p><section class=\"comments-area\"><div class=\"comment-content\">\
         made.up@acme.co.kr</div></section><p>",
        "</p><div itemscope itemtype=\"https://schema.org/Comment\">made.up@acme.co.kr</div><p>",
    ];
    let page = "/news/we-have-moved/";
    none_passes(comments.map(|text| (text, at(page, text, "made.up@acme.co.kr"))));
}

#[test]
fn a_reviewers_address_in_structured_data_is_not_the_owners() {
    let said = r#"<script type="application/ld+json">{"@type":"Product","review":{"@type":"Review",
        "author":{"@type":"Person","email":"made.up@acme.co.kr"}}}</script>"#;
    none_passes([("review", on(said, "made.up@acme.co.kr"))]);
}

#[test]
fn an_address_that_is_struck_out_is_not_shown() {
    let struck = [
        "<del>old@acme.co.kr</del>",
        "<s>old@acme.co.kr</s>",
        "<span style=\"text-decoration:line-through\">old@acme.co.kr</span>",
    ];
    none_passes(struck.map(|text| (text, on(text, "old@acme.co.kr"))));
}

#[test]
fn a_board_does_not_become_an_owners_page_by_what_follows_its_script() {
    // PHP takes what follows the script's name for PATH_INFO and serves the same post.
    let path = "/board/read.php/bbs/content.php?no=7";
    let text = "made.up@acme.co.kr";
    none_passes([(path, at(path, text, "made.up@acme.co.kr"))]);
}

#[test]
fn files_that_visitors_hand_in_are_written_by_others() {
    // Where Gnuboard, XE and common ticket systems put what is attached to a post.
    let files = [
        "/data/file/free/1a2b.txt",
        "/data/editor/2611/note.html",
        "/files/attach/binaries/17/note.txt",
        "/attachments/17/note.txt",
    ];
    none_passes(files.map(|path| (path, at(path, "made.up@acme.co.kr", "made.up@acme.co.kr"))));
}

#[test]
fn boards_by_other_names_are_written_by_others() {
    let boards = [
        "/freeboard/view.php?no=7",
        "/customer/inquiry/view?idx=3",
        "/consult/view.asp?idx=3",
        "/testimonials/17",
    ];
    none_passes(boards.map(|path| (path, at(path, "made.up@acme.co.kr", "made.up@acme.co.kr"))));
}
