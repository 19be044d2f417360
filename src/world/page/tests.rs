//! What a page says, element by element.

use proptest::prelude::*;
use url::Url;

use super::links::tests::encode;
use super::{MailLink, OwnerPlace, Page, Unreadable};
use crate::base::rows;
use crate::base::text::invisible;

pub(super) fn page(html: &str) -> Page {
    parse("text/html; charset=utf-8", html.as_bytes()).unwrap()
}

fn parse(content_type: &str, body: &[u8]) -> Result<Page, Unreadable> {
    let url = Url::parse("https://acme.co/contact/").unwrap();
    Page::parse(&url, Some(content_type), None, body)
}

fn visible(html: &str) -> Vec<String> {
    page(html).visible
}

fn owner(html: &str, place: OwnerPlace) -> Vec<String> {
    let texts = page(html).owner.into_iter();
    texts
        .filter(|text| text.place == place)
        .map(|text| text.text)
        .collect()
}

#[test]
fn inline_elements_join_and_blocks_part() {
    let blocks = "<table><tr><td>a</td><td>b</td></table>c<br>d<ul><li>e<li>f</ul>\
                  <div>g<div>h</div>i</div>";
    for (html, expected) in rows! {
        "<p>in<wbr>fo<b>&#64;</b><i>ac</i>me.c&#111;</p>" => "info@acme.co";
        "<p>in<i>fo</i> <b>a</b>b" => "info ab";
        "in<span style='display:none'>x</span>fo@acme<!-- y -->.co" => "info@acme.co";
        blocks => "a|b|c|d|e|f|g|h|i";
        "<pre>a\nb</pre>" => "a|b";
        "TEL<img src=x>info@acme.co" => "TEL info@acme.co";
        "<select><option>a<option>b</select>" => "a|b";
        "<p>in\u{200b}f&shy;o@acme.co</p>" => "info@acme.co";
        "<details><summary>s</summary>t</details>" => "s|t";
        "<p aria-hidden=true>seen" => "seen";
    } {
        assert_eq!(visible(html).join("|"), expected, "{html}");
    }
    assert_eq!(page("<p>in<i>fo</i>@acme.co</p>").unclear, ["info@acme.co"]);
}

#[test]
fn what_no_one_sees_is_hidden() {
    for html in "<template><p>info@acme.co</template> <noscript>info@acme.co</noscript>
        <title>info@acme.co</title> <textarea>info@acme.co</textarea>
        <svg><title>info@acme.co</title></svg> <svg><metadata>info@acme.co</metadata></svg>
        <dialog>info@acme.co</dialog> <iframe>info@acme.co</iframe> <s>info@acme.co</s>
        <del>info@acme.co</del>"
        .split_whitespace()
        .chain([
            "<!-- info@acme.co -->",
            "<script>var x = 'info@acme.co'</script>",
            "<style>/* info@acme.co */</style>",
            "<head><meta name=description content='info@acme.co'></head>",
            "<p hidden>info@acme.co</p>",
            "<div style='display: none'><p>info@<b>acme.co</b></div>",
            "<style>.x{display:none}</style><p class='y x'>info@acme.co</p>",
            "<p id=z>info@acme.co</p><style>#z{visibility:hidden}</style>",
            "<img alt='info@acme.co'>",
            "<input value='info@acme.co'><input type=hidden value=x>",
            "<input placeholder='info@acme.co'>",
            "<a data-mail='info@acme.co'>x</a>",
            "<div hidden><a href='mailto:info@acme.co'>x</a></div>",
            "<a href='mailto:info@acme.co'> </a>",
            "<object data=x>info@acme.co</object>",
            "<style>.a .x{display:none}</style><div class=a><p class=x>info@acme.co</div>",
            "<style>.x{display:none}</style><p class=x style='visibility:visible'>info@acme.co",
            "<a href='mailto:info@acme.co'><span></span></a>",
            "<a href='mailto:info@acme.co'><span hidden>x</span></a>",
        ])
    {
        let page = page(html);
        assert!(
            !page
                .visible
                .iter()
                .chain(&page.linked)
                .any(|s| s.contains('@')),
            "{html} {page:?}"
        );
        assert!(
            page.hidden.iter().any(|s| s.contains("info@acme.co")),
            "{html} {page:?}"
        );
    }
    assert!(page("<!-- nothing --><p title=x>y").hidden.is_empty());
}

#[test]
fn what_is_shown_is_not_hidden() {
    for html in [
        "<style>@media print{.x{display:none}} .x p{display:none}</style><p class=x>info@acme.co",
        "<style>.x{display:none}</style><p class=x style='display:block'>info@acme.co",
        "<style>body{opacity:0}</style><p>info@acme.co",
        "<svg><text>info@acme.co</text></svg>",
        "<dialog open>info@acme.co</dialog>",
        "<p style='color:red'>info@acme.co",
        "<style media=print>p{display:none}</style><p>info@acme.co",
        "<ins>info@acme.co</ins>",
        "<button>info@acme.co</button>",
    ] {
        assert_eq!(visible(html), ["info@acme.co"], "{html}");
    }
}

#[test]
fn links_and_structured_data_are_linked() {
    let hex = encode("info@acme.co", 9);
    for html in [
        "<a href='MAILTO:info%40acme.co?subject=x'>mail</a>",
        "<a href='mailto:info@acme.co'><i class=icon></i></a>",
        "<script type=application/ld+json>{\"email\":\"info@acme.co\"}</script>",
        "<meta itemprop=email content='mailto:info@acme.co'>",
        &format!("<a class=__cf_email__ data-cfemail={hex}>[email&#160;protected]</a>"),
        &format!("<a href='/cdn-cgi/l/email-protection#{hex}'>mail</a>"),
        "<map><area href='mailto:info@acme.co'></map>",
    ] {
        assert_eq!(page(html).linked, ["info@acme.co"], "{html}");
    }
    let lure = format!("<p hidden><a data-cfemail={hex}>x</a></p>");
    assert!(page(&lure).linked.is_empty());
    assert!(
        page("<link rel=me href='mailto:info@acme.co'>")
            .linked
            .is_empty()
    );
}

#[test]
fn links_to_addresses_have_a_place_in_the_lines() {
    let labels = |html: &str| {
        let page = page(html);
        let label = |link: &MailLink| page.visible[link.line][link.label.clone()].to_owned();
        let labels: Vec<String> = page.mail_links.iter().map(label).collect();
        labels.join("|")
    };
    let link = |label: &str| format!("<a href='mailto:info@acme.co'>{label}</a>");
    for (html, expected) in rows! {
        format!("<p>Ask <b>the {}</b> now", link("sales <i>office</i>")) => " sales office";
        format!("<p>a{}", link("b<div>c</div><div>d</div>")) => "b|c|d";
        format!("<p>a{}b", link("<img src=x>")) => "";
        format!("<p>a<p>{}", link("<img src=x>")) => "";
        format!("<p hidden>a{}</p>b", link("c")) => "";
        format!("<div class=comments>{}</div>", link("c")) => "";
    } {
        assert_eq!(labels(&html), expected, "{html}");
    }
    let picture = page(&format!("<p>a{}b", link("<img src=x>")));
    assert_eq!(picture.mail_links[0].label, 1..1);
    assert!(
        page(&format!("<p hidden>{}</p>b", link("c")))
            .mail_links
            .is_empty()
    );
}

#[test]
fn owners_stand_at_their_places() {
    use OwnerPlace::{Article, Body, Footer, Header, Heading, Logo, Organization, SiteName, Title};
    let microdata = "<div itemscope itemtype=https://schema.org/Organization>\
                     x <b itemprop=name>Acme</b> y</div>";
    let data = "<script type=application/ld+json>\
                {\"@type\":\"Organization\",\"name\":\"Acme\"}</script>";
    for (html, place, expected) in rows! {
        "<title>Acme &amp; Co</title><svg><title>x</title></svg>", Title => "Acme & Co";
        "<meta property=og:site_name content=Acme>", SiteName => "Acme";
        "<h1>A<b>cme</b></h1><h2>x</h2>", Heading => "Acme";
        "<header><p>Acme</p></header><p>x</p>", Header => "Acme";
        "<div id=footer><p>Acme</p></div>", Footer => "Acme";
        "<p>© Acme</p>", Body => "© Acme";
        "<aside>Acme</aside>", Article => "Acme";
        microdata, Organization => "Acme";
        data, Organization => "Acme";
        "<a class=logo href='/'><img alt=Acme src=x></a>", Logo => "Acme";
        "<header><a href=/index.html><img alt=Acme></a></header>", Logo => "Acme";
    } {
        assert_eq!(owner(html, place), [expected], "{html}");
    }
}

#[test]
fn mentions_do_not_stand_where_owners_do() {
    let article = "<article><header>Acme</header><h1>Acme</h1><footer>© Acme</footer></article>";
    assert_eq!(owner(article, OwnerPlace::Article).len(), 3);
    assert_eq!(page(article).owner.len(), 3);
    for html in [
        "<header><div class=clients><a href=/><img class=logo alt=Acme></a></div></header>",
        "<header><img class=logo alt=Acme></header>",
        "<a href=/><img alt=Acme></a>",
        "<a href=/news><img alt=Acme></a>",
        "<base href=https://bolt.kr/><header><a href=/><img class=logo alt=Acme></a></header>",
        "<h1 hidden>Acme</h1><footer style='display:none'>Acme</footer>",
        "<footer><a href=https://bolt.kr/>Bolt</a></footer>",
        "<base href=https://bolt.kr/><footer><a href=/>Bolt</a></footer>",
        "<footer><select><option>Bolt</select></footer>",
        "<nav><header>Bolt</header></nav>",
    ] {
        let mut places = page(html).owner.into_iter().map(|text| text.place);
        assert!(places.all(|place| place == OwnerPlace::Menu), "{html}");
    }
    let others = "<div itemscope itemtype=https://schema.org/Review><p itemprop=itemReviewed \
                  itemscope itemtype=https://schema.org/Organization><b itemprop=name>Acme</b>\
                  </p></div>";
    assert_eq!(owner(others, OwnerPlace::Organization), [""; 0]);
    let own = "<footer><a href=https://www.acme.co/about>Acme</a></footer>";
    assert_eq!(owner(own, OwnerPlace::Footer), ["Acme"]);
}

#[test]
fn links_lead_to_other_pages() {
    let links = |html: &str| {
        let links = page(html).links.into_iter();
        links
            .map(|(url, text)| format!("{} {text}", url.path()))
            .collect::<Vec<_>>()
    };
    for (html, expected) in rows! {
        "<a href=/impressum>Im<b>pres</b>sum</a>" => "/impressum Impressum";
        "<a href=/law><img alt=Legal></a>" => "/law Legal";
        "<nav hidden><a href=/about>About</a></nav>" => "/about About";
        "<a href=https://shop.acme.co/about>Shop</a>" => "/about Shop";
        "<a href=https://bolt.kr/impressum>Impressum</a>" => "/impressum Impressum";
        "<base href=https://bolt.kr/><a href=/impressum>Impressum</a>" => "/impressum Impressum";
    } {
        assert_eq!(links(html), [expected], "{html}");
    }
    for html in [
        "<a href=mailto:info@acme.co>Mail</a>",
        "<a href='#top'>Top</a>",
        "<template><a href=/impressum>Impressum</a></template>",
        "<ul class=comments><li><a href=/user/1>Impressum</a></ul>",
    ] {
        assert_eq!(links(html), [""; 0], "{html}");
    }
}

#[test]
fn visitors_words_are_told_apart() {
    for html in [
        "<ol class=comment-list><li>a@acme.co</ol>",
        "a<span id=reply-7>a@acme.co</span>",
        "<p itemscope itemtype=https://schema.org/Review>a@acme.co",
        "<div class=reviews><a href='mailto:a@acme.co'><img src=x></a></div>",
    ] {
        let page = page(html);
        assert_eq!(page.visitors, ["a@acme.co"], "{html}");
        assert!(page.linked.is_empty() && !page.visible.contains(&page.visitors[0]));
    }
    for html in [
        "<body class=comments>a@acme.co",
        "<p class=preview>a@acme.co",
    ] {
        assert_eq!(visible(html), ["a@acme.co"], "{html}");
    }
}

#[test]
fn frames_and_refreshes_are_absolute() {
    let page = page(
        "<base href=/b/><meta http-equiv=Refresh content='0; url=c'>
         <iframe src=d#x></iframe><iframe src=d></iframe><iframe src='about:blank'></iframe>
         <iframe src=hidden style=display:none></iframe><iframe width=0 height=0 src=pixel></iframe>
         <div hidden><iframe src=e></iframe></div>",
    );
    assert_eq!(
        page.frames.iter().map(Url::as_str).collect::<Vec<_>>(),
        ["https://acme.co/b/d"]
    );
    assert_eq!(
        page.refresh.as_ref().map(Url::as_str),
        Some("https://acme.co/b/c")
    );
    let set = parse("text/html", b"<frameset><frame src=/f></frameset>").unwrap();
    assert_eq!(set.frames[0].as_str(), "https://acme.co/f");
    let url = Url::parse("https://acme.co/").unwrap();
    let header = Page::parse(&url, Some("text/plain"), Some("0; url=/h"), b"x").unwrap();
    assert_eq!(header.refresh.unwrap().as_str(), "https://acme.co/h");
}

#[test]
fn applications_need_their_scripts() {
    let asks = "<noscript>You need to enable JavaScript.</noscript>";
    let root = "<script src=a></script><div id=root>";
    let text = "word ".repeat(200);
    let some = "word ".repeat(20);
    let pixel = "<noscript><img src='https://t.example/pixel?enable=1'></noscript>";
    for (html, needs) in rows! {
        format!("<script>go()</script><p>{some}") => false;
        format!("<script>go()</script>{asks}<p>{some}") => true;
        format!("<script>go()</script>{pixel}<p>{some}") => false;
        format!("<script>go()</script>{asks}<p>{text}") => false;
        format!("{asks}<div id=root></div>") => false;
        format!("{asks}{root}</div>") => true;
        "<script>go()</script>".to_owned() => true;
        format!("{root}<p>{text}</div>") => false;
        "<p>short".to_owned() => false;
        "<script type=application/ld+json>{}</script>".to_owned() => false;
    } {
        assert_eq!(page(&html).needs_script, needs, "{html}");
    }
}

#[test]
fn other_kinds_of_text() {
    let plain = parse("text/plain", b"<b>a@acme.co</b>\n\n b ").unwrap();
    assert_eq!(plain.visible, ["<b>a@acme.co</b>", "b"]);
    for kind in ["application/json", "text/css", "text/xml"] {
        let source = parse(kind, b"{a@acme.co}\nb").unwrap();
        assert!(source.visible.is_empty());
        assert_eq!(source.hidden, ["{a@acme.co}"]);
    }
    assert!(matches!(
        parse("application/pdf", b"x"),
        Err(Unreadable::NotText(_))
    ));
    let (korean, _, _) = encoding_rs::EUC_KR
        .encode("<p>주식회사 아크메에 오신 것을 환영합니다. 이메일 info@acme.co");
    assert!(parse("text/html", &korean).unwrap().visible[0].starts_with("주식회사 아크메"));
}

#[test]
fn hostile_pages_end() {
    assert_eq!(
        parse("text/html", "<div>".repeat(100_000).as_bytes()),
        Err(Unreadable::TooDeep(1024))
    );
    let deep = "<div>".repeat(1000) + "x";
    assert_eq!(visible(&deep), ["x"]);
    for piece in "<p>@ <header> </p> <br> &#64; <!-- @ <header>x</header>
        <style>.a{display:none}</style> <title> <select> \0"
        .split_whitespace()
        .chain([
            "<a href=mailto:a@b.c>",
            "<x y=@>",
            "<base href=x>",
            "<p itemscope itemprop=name>x</p>",
            "<meta http-equiv=refresh content='0;url=x'>",
        ])
    {
        let _ = parse("text/html", piece.repeat(20_000).as_bytes());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(kind in "text/html|text/plain|application/json|", body: Vec<u8>) {
        let _ = parse(&kind, &body);
    }

    #[test]
    fn any_markup_is_read_or_refused(
        html in r#"(<[a-z!/]{0,9}( [a-z-]{1,9}(=['"]?[^<\pC]{0,9})?){0,3}>?|<(p|div|b|table|td|svg|select|template|form|a|script|style|title|frameset|math|option) ?/?>|</(p|div|b|table|td|svg|select|template|form|a|script)>|[^<\pC]{0,5}){0,40}"#
    ) {
        // A text that is mostly marks of what could not be decoded is refused, and rightly.
        prop_assume!(!html.contains('\u{fffd}'));
        let read = page(&html);
        prop_assert!(read.visible.iter().all(|line| line.trim() == line && !line.is_empty()));
    }

    #[test]
    fn an_address_between_spaces_of_a_line_is_visible(local in "[a-z0-9]{1,9}", label in "[a-z]{1,9}", before in "[^@\\n]{0,20} ", after in " .{0,20}") {
        // ` .kr` goes on with the domain.
        let shown = |c: &char| !c.is_whitespace() && !c.is_control() && !invisible(*c);
        prop_assume!(after.chars().find(shown).is_none_or(|c| !".․。﹒．｡".contains(c)));
        let text = format!("{before}{local}@{label}-q9.com{after}");
        let page = parse("text/plain; charset=utf-8", text.as_bytes());
        prop_assume!(page.is_ok());
        let mailbox = crate::world::mailbox::Mailbox::parse(&format!("{local}@{label}-q9.com")).unwrap();
        prop_assert_eq!(super::presence(&page.unwrap(), &mailbox), super::Presence::Visible);
    }
}
