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
    for text in &pages {
        none_passes([(text.as_str(), on(text, "made.up@acme.co.kr"))]);
    }
}

#[test]
fn boxes_that_visitors_fill_are_known_by_many_names() {
    let boxes = [
        "commentBody",
        "cmt",
        "cmt_list",
        "board_view",
        "boardView",
        "board-view-content",
        "bbs_list",
        "bbsContent",
        "replyBox",
        "commentarea",
        "reviewList",
        "guestBook",
        "user-comments",
        "qna_list",
        "forum-post",
        "postReply",
    ];
    none_passes(boxes.map(|name| {
        let text = format!("</p><div class=\"{name}\"><p>made.up@acme.co.kr</p></div><p>");
        (name, on(&text, "made.up@acme.co.kr"))
    }));
}

#[test]
fn boxes_of_the_owner_are_not_visitors() {
    for name in ["commentary", "dashboard", "board-of-directors", "preview"] {
        let text = format!("</p><div class=\"{name}\"><p>ceo@acme.co.kr</p></div><p>");
        let (verdict, rules) = on(&text, "ceo@acme.co.kr");
        assert_eq!(verdict, "PASS", "{name}: {rules:?}");
    }
}

#[test]
fn style_sheets_that_hide_an_address_in_new_ways_are_read() {
    const TRAP: &str = "<span class=\"trap\">bees@acme.co.kr</span>";
    let sheets = [
        ".trap{scale:0}",
        ".trap{scale:0 1}",
        ".trap{scale:none}.trap{scale:0%}",
        ".trap{transform:scale(0)}",
        ".trap{transform:scale(1,0)}",
        ".trap{transform:scale3d(0,0,0)}",
        ".trap{transform:matrix(0,0,0,0,0,0)}",
        ":root{--d:none}.trap{display:var(--d)}",
        ".trap{--d:none;display:var(--d)}",
        ".trap{display:var(--d,none)}",
        ":root{--a:none;--d:var(--a)}.trap{display:var(--d)}",
        ".trap{visibility:var(--v);--v:hidden}",
        ".trap{opacity:var(--o)}:root{--o:0}",
        ".trap{d\\69splay:none}",
        ".trap{d\\000069 splay:none}",
        ".trap{display:n\\6fne}",
        ".trap{displa\\y:none}",
        "@media (min-width:1px){.trap{display:none}}",
        "@media screen and (min-width:320px){.trap{display:none}}",
        "@media (width>=1px){.trap{display:none}}",
        "@media (max-width:99999px){.trap{display:none}}",
        "@media not print{.trap{display:none}}",
        "@media (min-width:1px) and (orientation:landscape){.trap{display:none}}",
        "@media print,(min-height:1px){.trap{display:none}}",
        "@media (min-width:768px){.trap{display:none}}",
    ];
    none_passes(sheets.map(|sheet| {
        let text = format!("<style>{sheet}</style><span class=\"box\">{TRAP}</span>");
        (sheet, on(&text, "bees@acme.co.kr"))
    }));
    let inline = [
        "<style>:root{--d:none}</style><b style=\"display:var(--d)\">bees@acme.co.kr</b>",
        "<b style=\"--d:none;display:var(--d)\">bees@acme.co.kr</b>",
        "<b style=\"--d:none\"><i style=\"display:var(--d)\">bees@acme.co.kr</i></b>",
        "<b style=\"d\\69splay:none\">bees@acme.co.kr</b>",
        "<b style=\"scale:0\">bees@acme.co.kr</b>",
    ];
    none_passes(inline.map(|text| (text, on(text, "bees@acme.co.kr"))));
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
    for sheet in sheets {
        let text = format!("<style>{sheet}</style><b class=trap>info@acme.co.kr</b>");
        let (verdict, rules) = on(&text, "info@acme.co.kr");
        assert_eq!(verdict, "PASS", "{sheet}: {rules:?}");
    }
}
