//! What is "on the page": what a reader can see or click, and the whole of it.

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{Submission, WWW};
use crate::servers::http::Reply;

const HIDDEN: &str = "REVIEW email-hidden";
const OBFUSCATED: &str = "REVIEW email-obfuscated";
const ABSENT: &str = "FAIL email-not-on-source";

/// `info@acme.co.kr` under Cloudflare's protection.
const PROTECTED: &str = "422b2c242d0223212f276c212d6c2930";

/// Ways to show the address.
const SHOWN: &[Case] = cases![
    "text" => "PASS", |net| net.contact("info@acme.co.kr");
    "capitals" => "PASS", |net| net.contact("INFO@ACME.CO.KR");
    "entities" => "PASS", |net| net.contact("info&#64;acme&#x2e;co&period;kr");
    "inline elements join" => "PASS", |net| net.contact("<b>info</b><i>@acme</i>.co.kr");
    "a comment within" => "PASS", |net| net.contact("info@<!-- x -->acme.co.kr");
    "a break for long lines within" => "PASS", |net| net.contact("info@<wbr>acme.co.kr");
    "invisible characters within" => "PASS", |net| net.contact("in\u{200b}fo@ac&shy;me.co.kr");
    "hidden text within" => "PASS", |net| net.contact("info@<i hidden>x</i>acme.co.kr");
    "a link" => "PASS", |net| net.contact("<a href='mailto:info@acme.co.kr'>Mail</a>");
    "a link with escapes and fields" => "PASS",
        |net| net.contact("<a href='MAILTO:info%40acme.co.kr?subject=Hi'>Mail</a>");
    "JSON-LD" => "PASS", |net| {
            net.contact(
                r#"<script type="application/ld+json">{"email":"info@acme.co.kr"}</script>"#,
            )
        };
    "microdata" => "PASS", |net| net.contact("<meta itemprop=email content=info@acme.co.kr>");
    "the page's own protection" => "PASS",
        |net| net.contact(&format!("<a data-cfemail={PROTECTED}>[email protected]</a>"));
    "the same as a link" => "PASS", |net| {
            let href = format!("/cdn-cgi/l/email-protection#{PROTECTED}");
            net.contact(&format!("<a href='{href}'>Mail</a>"))
        };
    "a closed <details>" => "PASS", |net| net.contact("<details>info@acme.co.kr</details>");
    "an attribute for screen readers does not hide" => "PASS",
        |net| net.contact("<p aria-hidden=true>info@acme.co.kr</p>");
];

/// Ways to have the address where no one reads it.
const NOT_SHOWN: &[Case] = cases![
    "a comment" => HIDDEN, |net| net.contact("<!-- info@acme.co.kr -->");
    "a script" => HIDDEN, |net| net.contact("<script>m='info@acme.co.kr'</script>");
    "a style" => HIDDEN, |net| net.contact("<style>/*info@acme.co.kr*/</style>");
    "a template" => HIDDEN, |net| net.contact("<template>info@acme.co.kr</template>");
    "a noscript" => HIDDEN, |net| net.contact("<noscript>info@acme.co.kr</noscript>");
    "an attribute" => HIDDEN, |net| net.contact("<p data-x='info@acme.co.kr'>x</p>");
    "alternative text" => HIDDEN, |net| net.contact("<img alt='info@acme.co.kr'>");
    "a field's value" => HIDDEN, |net| net.contact("<input value='info@acme.co.kr'>");
    "a text area" => HIDDEN, |net| net.contact("<textarea>info@acme.co.kr</textarea>");
    "hidden" => HIDDEN, |net| net.contact("<p hidden>info@acme.co.kr</p>");
    "a style that hides" => HIDDEN, |net| net.contact("<p style='display:none'>info@acme.co.kr");
    "a class that hides" => HIDDEN,
        |net| net.contact("<style>.x{visibility:hidden}</style><p class=x>info@acme.co.kr");
    "off the screen" => HIDDEN, |net| net.contact("<p style='left:-9999px'>info@acme.co.kr");
    "in the ground's colour" => HIDDEN,
        |net| net.contact("<p style='color:#fff;background:#fff'>info@acme.co.kr");
    "an empty link" => HIDDEN, |net| net.contact("<a href='mailto:info@acme.co.kr'></a>");
    "protection in a hidden element" => HIDDEN,
        |net| net.contact(&format!("<p hidden><a data-cfemail={PROTECTED}>x</a></p>"));
    "hidden and shown: the best counts" => "PASS",
        |net| net.contact("<!-- info@acme.co.kr --><p>info@acme.co.kr");
    "spelled" => OBFUSCATED, |net| net.contact("info [at] acme [dot] co [dot] kr");
    "with spaces" => OBFUSCATED, |net| net.contact("info @ acme.co.kr");
    "a word for @" => OBFUSCATED, |net| net.contact("info골뱅이acme.co.kr");
    "full-width" => OBFUSCATED, |net| net.contact("ｉｎｆｏ＠ａｃｍｅ．ｃｏ．ｋｒ");
    "spelled and hidden: the best counts" => OBFUSCATED,
        |net| net.contact("info(at)acme.co.kr <!-- info@acme.co.kr -->");
    "prose that spells nothing" => ABSENT, |net| net.contact("for info at acme.co.kr");
    "a font without a size" => HIDDEN, |net| net.contact("<p style='font-size:0'>info@acme.co.kr");
    "a class that is not displayed" => HIDDEN,
        |net| net.contact("<style>.x{display:none}</style><p class=x>info@acme.co.kr");
];

/// Wholes and parts.
const WHOLE: &[Case] = cases![
    "a longer domain" => ABSENT, |net| net.contact("info@acme.co.krx");
    "a name below" => ABSENT, |net| net.contact("info@acme.co.kr.bolt.kr");
    "a shorter domain" => ABSENT, |net| net.contact("info@acme.co");
    "a longer local part" => ABSENT, |net| net.contact("myinfo@acme.co.kr");
    "one joined by a dot" => ABSENT, |net| net.contact("x.info@acme.co.kr");
    "one joined by a hyphen" => ABSENT, |net| net.contact("x-info@acme.co.kr");
    "a Cyrillic neighbour" => ABSENT, |net| net.contact("жinfo@acme.co.kr");
    "two blocks" => ABSENT, |net| net.contact("info<p>@acme.co.kr");
    "two cells" => ABSENT, |net| net.contact("<table><td>info@<td>acme.co.kr</table>");
    "two lines" => ABSENT, |net| net.contact("info<br>@acme.co.kr");
    "a label before it" => "PASS", |net| net.contact("TEL|info@acme.co.kr|FAX");
    "a label with a colon" => "PASS", |net| net.contact("E-mail:info@acme.co.kr");
    "Hangul around it" => "PASS", |net| net.contact("이메일info@acme.co.kr로");
    "Kana around it" => "PASS", |net| net.contact("メールinfo@acme.co.krまで");
    "a full stop after it" => "PASS", |net| net.contact("Write to info@acme.co.kr.");
    "brackets around it" => "PASS", |net| net.contact("(info@acme.co.kr)");
    "one joined by a plus" => ABSENT, |net| net.contact("a+info@acme.co.kr");
    "one that begins with a digit" => ABSENT, |net| net.contact("1info@acme.co.kr");
    "one whose beginning has a style of its own" => ABSENT,
        |net| net.contact("<span>x</span>info@acme.co.kr");
    "a Cyrillic letter that looks like i" => ABSENT, |net| net.contact("іinfo@acme.co.kr");
    "a domain that a hyphen joins" => ABSENT, |net| net.contact("info@acme.co.kr-evil.com");
    "a mail host" => ABSENT, |net| net.contact("info@mail.acme.co.kr");
    "credentials in a URL" => ABSENT, |net| net.contact("https://info@acme.co.kr/");
    "a second @" => ABSENT, |net| net.contact("info@acme.co.kr@evil.com");
    "its end submitted" => ABSENT, |net| net.acme().email("nfo@acme.co.kr");
    "its last letter" => ABSENT, |net| net.acme().email("o@acme.co.kr");
    "a longer domain submitted" => ABSENT, |net| net.acme().email("info@www.acme.co.kr");
    "a tag submitted" => ABSENT, |net| net.acme().email("info+sales@acme.co.kr");
    "a dot submitted" => ABSENT, |net| net.acme().email("in.fo@acme.co.kr");
    "a further sign submitted" => ABSENT, |net| net.acme().email("info_@acme.co.kr");
];

/// A page of a Korean company, in bytes that its header does not name.
fn korean(net: &EmailNet, header: &str, meta: &str) -> Submission {
    let html = format!(
        "<html><head>{meta}<title>한빛식품</title></head><body><h1>한빛식품 홈페이지입니다</h1>\
         <p>전자우편으로 문의하여 주십시오: info@acme.co.kr</p>\
         <footer>주식회사 한빛식품 대표이사 홍길동 서울특별시 강남구</footer></body></html>"
    );
    let (bytes, _, _) = encoding_rs::EUC_KR.encode(&html);
    let reply = Reply::status(200).with("Content-Type", header);
    let reply = reply.body(bytes.into_owned());
    net.net.web.reply(WWW, "/", reply.clone());
    net.answers(reply)
}

/// Charsets; the name is read rightly or it is not there.
const CHARSETS: &[Case] = cases![
    "neither header nor meta" => "PASS", |net| korean(net, "text/html", ""), named(&["한빛식품"]);
    "a header" => "PASS", |net| korean(net, "text/html; charset=euc-kr", ""), named(&["한빛식품"]);
    "a meta tag" => "PASS",
        |net| korean(net, "text/html", "<meta charset=ks_c_5601-1987>"), named(&["한빛식품"]);
    "a header beats a meta tag" => "PASS",
        |net| korean(net, "text/html; charset=euc-kr", "<meta charset=utf-8>"), named(&["한빛식품"]);
    "a wrong header is believed, as browsers do" => "REVIEW company-not-on-site",
        |net| korean(net, "text/html; charset=windows-1252", ""), named(&["한빛식품"]);
    "a header under which most of it is no text" => "REVIEW identity-unanswered source-unreadable",
        |net| korean(net, "text/html; charset=utf-8", ""), named(&["한빛식품"]);
];

pub const CASES: [&[Case]; 4] = [SHOWN, NOT_SHOWN, WHOLE, CHARSETS];

#[test]
fn what_a_reader_sees_or_clicks_is_on_the_page() {
    run(SHOWN);
}

#[test]
fn what_no_reader_sees_is_doubted() {
    run(NOT_SHOWN);
}

#[test]
fn an_address_is_there_whole_or_not_at_all() {
    run(WHOLE);
}

#[test]
fn charsets_are_found_as_browsers_find_them() {
    run(CHARSETS);
}
