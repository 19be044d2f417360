//! What is "on the page": what a reader can see or click, and the whole of it.

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, run};
use crate::harness::email_net::{Submission, WWW};
use crate::servers::http::Reply;

const HIDDEN: &str = "REVIEW email-hidden";
const OBFUSCATED: &str = "REVIEW email-obfuscated";
const ABSENT: &str = "FAIL email-not-on-source";

/// `info@acme.co.kr` under Cloudflare's protection.
const PROTECTED: &str = "422b2c242d0223212f276c212d6c2930";

/// Ways to show the address.
const SHOWN: &[Case] = &[
    case("text", |net| net.contact("info@acme.co.kr"), "PASS"),
    case("capitals", |net| net.contact("INFO@ACME.CO.KR"), "PASS"),
    case(
        "entities",
        |net| net.contact("info&#64;acme&#x2e;co&period;kr"),
        "PASS",
    ),
    case(
        "inline elements join",
        |net| net.contact("<b>info</b><i>@acme</i>.co.kr"),
        "PASS",
    ),
    case(
        "a comment within",
        |net| net.contact("info@<!-- x -->acme.co.kr"),
        "PASS",
    ),
    case(
        "a break for long lines within",
        |net| net.contact("info@<wbr>acme.co.kr"),
        "PASS",
    ),
    case(
        "invisible characters within",
        |net| net.contact("in\u{200b}fo@ac&shy;me.co.kr"),
        "PASS",
    ),
    case(
        "hidden text within",
        |net| net.contact("info@<i hidden>x</i>acme.co.kr"),
        "PASS",
    ),
    case(
        "a link",
        |net| net.contact("<a href='mailto:info@acme.co.kr'>Mail</a>"),
        "PASS",
    ),
    case(
        "a link with escapes and fields",
        |net| net.contact("<a href='MAILTO:info%40acme.co.kr?subject=Hi'>Mail</a>"),
        "PASS",
    ),
    case(
        "JSON-LD",
        |net| {
            net.contact(
                r#"<script type="application/ld+json">{"email":"info@acme.co.kr"}</script>"#,
            )
        },
        "PASS",
    ),
    case(
        "microdata",
        |net| net.contact("<meta itemprop=email content=info@acme.co.kr>"),
        "PASS",
    ),
    case(
        "the page's own protection",
        |net| {
            net.contact(&format!(
                "<a data-cfemail={PROTECTED}>[email protected]</a>"
            ))
        },
        "PASS",
    ),
    case(
        "the same as a link",
        |net| {
            let href = format!("/cdn-cgi/l/email-protection#{PROTECTED}");
            net.contact(&format!("<a href='{href}'>Mail</a>"))
        },
        "PASS",
    ),
    case(
        "a closed <details>",
        |net| net.contact("<details>info@acme.co.kr</details>"),
        "PASS",
    ),
    case(
        "an attribute for screen readers does not hide",
        |net| net.contact("<p aria-hidden=true>info@acme.co.kr</p>"),
        "PASS",
    ),
];

/// Ways to have the address where no one reads it.
const NOT_SHOWN: &[Case] = &[
    case(
        "a comment",
        |net| net.contact("<!-- info@acme.co.kr -->"),
        HIDDEN,
    ),
    case(
        "a script",
        |net| net.contact("<script>m='info@acme.co.kr'</script>"),
        HIDDEN,
    ),
    case(
        "a style",
        |net| net.contact("<style>/*info@acme.co.kr*/</style>"),
        HIDDEN,
    ),
    case(
        "a template",
        |net| net.contact("<template>info@acme.co.kr</template>"),
        HIDDEN,
    ),
    case(
        "a noscript",
        |net| net.contact("<noscript>info@acme.co.kr</noscript>"),
        HIDDEN,
    ),
    case(
        "an attribute",
        |net| net.contact("<p data-x='info@acme.co.kr'>x</p>"),
        HIDDEN,
    ),
    case(
        "alternative text",
        |net| net.contact("<img alt='info@acme.co.kr'>"),
        HIDDEN,
    ),
    case(
        "a field's value",
        |net| net.contact("<input value='info@acme.co.kr'>"),
        HIDDEN,
    ),
    case(
        "a text area",
        |net| net.contact("<textarea>info@acme.co.kr</textarea>"),
        HIDDEN,
    ),
    case(
        "hidden",
        |net| net.contact("<p hidden>info@acme.co.kr</p>"),
        HIDDEN,
    ),
    case(
        "a style that hides",
        |net| net.contact("<p style='display:none'>info@acme.co.kr"),
        HIDDEN,
    ),
    case(
        "a class that hides",
        |net| net.contact("<style>.x{visibility:hidden}</style><p class=x>info@acme.co.kr"),
        HIDDEN,
    ),
    case(
        "off the screen",
        |net| net.contact("<p style='left:-9999px'>info@acme.co.kr"),
        HIDDEN,
    ),
    case(
        "in the ground's colour",
        |net| net.contact("<p style='color:#fff;background:#fff'>info@acme.co.kr"),
        HIDDEN,
    ),
    case(
        "an empty link",
        |net| net.contact("<a href='mailto:info@acme.co.kr'></a>"),
        HIDDEN,
    ),
    case(
        "protection in a hidden element",
        |net| net.contact(&format!("<p hidden><a data-cfemail={PROTECTED}>x</a></p>")),
        HIDDEN,
    ),
    case(
        "hidden and shown: the best counts",
        |net| net.contact("<!-- info@acme.co.kr --><p>info@acme.co.kr"),
        "PASS",
    ),
    case(
        "spelled",
        |net| net.contact("info [at] acme [dot] co [dot] kr"),
        OBFUSCATED,
    ),
    case(
        "with spaces",
        |net| net.contact("info @ acme.co.kr"),
        OBFUSCATED,
    ),
    case(
        "a word for @",
        |net| net.contact("info골뱅이acme.co.kr"),
        OBFUSCATED,
    ),
    case(
        "full-width",
        |net| net.contact("ｉｎｆｏ＠ａｃｍｅ．ｃｏ．ｋｒ"),
        OBFUSCATED,
    ),
    case(
        "spelled and hidden: the best counts",
        |net| net.contact("info(at)acme.co.kr <!-- info@acme.co.kr -->"),
        OBFUSCATED,
    ),
    case(
        "prose that spells nothing",
        |net| net.contact("for info at acme.co.kr"),
        ABSENT,
    ),
];

/// Wholes and parts.
const WHOLE: &[Case] = &[
    case(
        "a longer domain",
        |net| net.contact("info@acme.co.krx"),
        ABSENT,
    ),
    case(
        "a name below",
        |net| net.contact("info@acme.co.kr.bolt.kr"),
        ABSENT,
    ),
    case(
        "a shorter domain",
        |net| net.contact("info@acme.co"),
        ABSENT,
    ),
    case(
        "a longer local part",
        |net| net.contact("myinfo@acme.co.kr"),
        ABSENT,
    ),
    case(
        "one joined by a dot",
        |net| net.contact("x.info@acme.co.kr"),
        ABSENT,
    ),
    case(
        "one joined by a hyphen",
        |net| net.contact("x-info@acme.co.kr"),
        ABSENT,
    ),
    case(
        "a Cyrillic neighbour",
        |net| net.contact("жinfo@acme.co.kr"),
        ABSENT,
    ),
    case(
        "two blocks",
        |net| net.contact("info<p>@acme.co.kr"),
        ABSENT,
    ),
    case(
        "two cells",
        |net| net.contact("<table><td>info@<td>acme.co.kr</table>"),
        ABSENT,
    ),
    case(
        "two lines",
        |net| net.contact("info<br>@acme.co.kr"),
        ABSENT,
    ),
    case(
        "a label before it",
        |net| net.contact("TEL|info@acme.co.kr|FAX"),
        "PASS",
    ),
    case(
        "a label with a colon",
        |net| net.contact("E-mail:info@acme.co.kr"),
        "PASS",
    ),
    case(
        "Hangul around it",
        |net| net.contact("이메일info@acme.co.kr로"),
        "PASS",
    ),
    case(
        "Kana around it",
        |net| net.contact("メールinfo@acme.co.krまで"),
        "PASS",
    ),
    case(
        "a full stop after it",
        |net| net.contact("Write to info@acme.co.kr."),
        "PASS",
    ),
    case(
        "brackets around it",
        |net| net.contact("(info@acme.co.kr)"),
        "PASS",
    ),
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
const CHARSETS: &[Case] = &[
    case(
        "neither header nor meta",
        |net| korean(net, "text/html", ""),
        "PASS",
    )
    .named(&["한빛식품"]),
    case(
        "a header",
        |net| korean(net, "text/html; charset=euc-kr", ""),
        "PASS",
    )
    .named(&["한빛식품"]),
    case(
        "a meta tag",
        |net| korean(net, "text/html", "<meta charset=ks_c_5601-1987>"),
        "PASS",
    )
    .named(&["한빛식품"]),
    case(
        "a header beats a meta tag",
        |net| korean(net, "text/html; charset=euc-kr", "<meta charset=utf-8>"),
        "PASS",
    )
    .named(&["한빛식품"]),
    case(
        "a wrong header is believed, as browsers do",
        |net| korean(net, "text/html; charset=windows-1252", ""),
        "REVIEW company-not-on-site",
    )
    .named(&["한빛식품"]),
    case(
        "a header under which most of it is no text",
        |net| korean(net, "text/html; charset=utf-8", ""),
        "REVIEW identity-unanswered source-unreadable",
    )
    .named(&["한빛식품"]),
];

/// Every case of this file.
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
