//! Step 1: each field is what it must be, exactly as written; and nothing is looked up when one
//! is not.

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, run};
use crate::harness::email_net::{ACME, page};

/// Addresses, with what becomes of them on a contact page that shows them as they are written.
const ADDRESSES: &[Case] = &[
    case("a good one", EmailNet::acme, "PASS"),
    case("no @", |net| net.acme().email("info"), EMAIL),
    case("nothing", |net| net.acme().email(""), EMAIL),
    case("spaces", |net| net.acme().email(" info@acme.co.kr"), EMAIL),
    case(
        "two",
        |net| net.acme().email("info@acme.co.kr,a@acme.co.kr"),
        EMAIL,
    ),
    case(
        "a display name",
        |net| net.acme().email("Acme <info@acme.co.kr>"),
        EMAIL,
    ),
    case(
        "a link",
        |net| net.acme().email("mailto:info@acme.co.kr"),
        EMAIL,
    ),
    case(
        "a quoted local part",
        |net| net.acme().email("\"info\"@acme.co.kr"),
        EMAIL,
    ),
    case(
        "an address literal",
        |net| net.acme().email("info@[127.0.0.1]"),
        EMAIL,
    ),
    case(
        "an address as domain",
        |net| net.acme().email("info@127.0.0.1"),
        EMAIL,
    ),
    case(
        "no public suffix",
        |net| net.acme().email("info@acme"),
        EMAIL,
    ),
    case(
        "an unknown suffix",
        |net| net.acme().email("info@acme.intranet"),
        EMAIL,
    ),
    case(
        "a public suffix alone",
        |net| net.acme().email("info@co.kr"),
        EMAIL,
    ),
    case(
        "a trailing dot",
        |net| net.acme().email("info@acme.co.kr."),
        EMAIL,
    ),
    case(
        "two dots",
        |net| net.acme().email("in..fo@acme.co.kr"),
        EMAIL,
    ),
    case(
        "an invisible character",
        |net| net.acme().email("in\u{200b}fo@acme.co.kr"),
        EMAIL,
    ),
    case(
        "a soft hyphen in the domain",
        |net| net.acme().email("info@ac\u{ad}me.co.kr"),
        EMAIL,
    ),
    case(
        "full-width letters",
        |net| net.acme().email("info@ａcme.co.kr"),
        EMAIL,
    ),
    case(
        "a Cyrillic letter",
        |net| net.acme().email("info@аcme.co.kr"),
        EMAIL,
    ),
    case(
        "65 octets before the @",
        |net| net.acme().email(&format!("{}@acme.co.kr", "a".repeat(65))),
        EMAIL,
    ),
    case(
        "64 octets before the @",
        |net| {
            let email = format!("{}@acme.co.kr", "ab".repeat(32));
            net.contact(&email).email(&email)
        },
        "PASS",
    ),
    case(
        "capitals",
        |net| net.acme().email("INFO@Acme.CO.KR"),
        "PASS",
    ),
    case(
        "signs that a dot-atom may hold, in a link",
        |net| {
            net.contact("<a href=\"mailto:o=brien+acme@acme.co.kr\">Write</a>")
                .email("o=brien+acme@acme.co.kr")
        },
        "PASS",
    ),
    case(
        "an apostrophe between letters",
        |net| {
            net.contact("o'brien+acme@acme.co.kr")
                .email("o'brien+acme@acme.co.kr")
        },
        "PASS",
    ),
    case(
        "signs that may also part an address from the text before it",
        |net| {
            net.contact("o=brien+acme@acme.co.kr")
                .email("o=brien+acme@acme.co.kr")
        },
        "REVIEW email-obfuscated",
    ),
    case(
        "an international domain",
        |net| {
            net.company("xn--xx3br43b.xn--3e0b707e", ACME);
            net.right("xn--xx3br43b.xn--3e0b707e")
                .email("info@한빛.한국")
        },
        "PASS",
    ),
];

const EMAIL: &str = "FAIL email-format";
const SITE: &str = "FAIL site-format";
const SOURCE: &str = "FAIL source-format";

/// Sites and source pages.
const URLS: &[Case] = &[
    case(
        "a host alone",
        |net| net.acme().site("www.acme.co.kr"),
        SITE,
    ),
    case("nothing", |net| net.acme().site(""), SITE),
    case(
        "another scheme",
        |net| net.acme().site("ftp://www.acme.co.kr/"),
        SITE,
    ),
    case(
        "no scheme",
        |net| net.acme().site("//www.acme.co.kr/"),
        SITE,
    ),
    case(
        "one slash",
        |net| net.acme().site("http:/www.acme.co.kr/"),
        SITE,
    ),
    case(
        "a user",
        |net| net.acme().site("http://acme@www.acme.co.kr/"),
        SITE,
    ),
    case(
        "a public suffix",
        |net| net.acme().site("http://co.kr/"),
        SITE,
    ),
    case(
        "no suffix",
        |net| net.acme().site("http://localhost/"),
        SITE,
    ),
    case(
        "an address",
        |net| net.acme().site("http://127.0.0.1/"),
        SITE,
    ),
    case(
        "an address in disguise",
        |net| net.acme().site("http://0x7f.1/"),
        SITE,
    ),
    case(
        "an address of IPv6",
        |net| net.acme().site("http://[::1]/"),
        SITE,
    ),
    case(
        "a trailing dot",
        |net| net.acme().site("http://www.acme.co.kr./"),
        SITE,
    ),
    case(
        "a backslash",
        |net| net.acme().site("http://www.acme.co.kr\\"),
        SITE,
    ),
    case(
        "a tabulator",
        |net| net.acme().site("http://www.acme\t.co.kr/"),
        SITE,
    ),
    case(
        "no port",
        |net| net.acme().site("http://www.acme.co.kr:/"),
        SITE,
    ),
    case(
        "capitals and no path",
        |net| {
            let site = net.url("").replace("http://www", "HTTP://WWW");
            net.acme().site(&site)
        },
        "PASS",
    ),
    case(
        "a source without a scheme",
        |net| net.acme().source("www.acme.co.kr/contact"),
        SOURCE,
    ),
    case(
        "a file",
        |net| net.acme().source("file:///etc/passwd"),
        SOURCE,
    ),
    case(
        "data",
        |net| net.acme().source("data:text/html,info@acme.co.kr"),
        SOURCE,
    ),
    case(
        "an address",
        |net| net.acme().source("http://127.0.0.1/contact"),
        SOURCE,
    ),
    case(
        "an address with the port of a server that would answer",
        |net| {
            net.net
                .web
                .page("127.0.0.1", "/contact", &page(ACME, "info@acme.co.kr"));
            net.acme().source(&net.net.web.url("127.0.0.1", "/contact"))
        },
        SOURCE,
    ),
    case(
        "credentials",
        |net| {
            net.acme()
                .source(&net.url("/contact").replace("http://", "http://a:b@"))
        },
        SOURCE,
    ),
    case(
        "a dot segment",
        |net| net.acme().source(&net.url("/x/../contact")),
        SOURCE,
    ),
    case(
        "a fragment",
        |net| net.acme().source(&net.url("/contact#map")),
        "PASS",
    ),
    case(
        "letters that go percent-encoded",
        |net| {
            net.at("/%EB%AC%B8%EC%9D%98");
            net.acme().source(&net.url("/문의"))
        },
        "PASS",
    ),
    case(
        "all three at once",
        |net| net.acme().site("acme").email("info").source("contact"),
        "FAIL email-format site-format source-format",
    ),
];

/// Every case of this file.
pub const CASES: [&[Case]; 2] = [ADDRESSES, URLS];

#[test]
fn addresses_are_taken_as_written_or_not_at_all() {
    run(ADDRESSES);
}

#[test]
fn urls_are_taken_as_written_or_not_at_all() {
    run(URLS);
}

#[test]
fn nothing_is_looked_up_for_what_fails_by_itself() {
    let net = EmailNet::start();
    for (submission, code) in [
        (net.acme().email("info"), 5),
        (net.acme().email("info@bolt.kr"), 5),
        (net.acme().email("hong.gildong@acme.co.kr"), 6),
    ] {
        let (exit, answer) = net.submit(1, &submission);
        assert_eq!(exit, code, "{answer}");
        let outcomes: Vec<_> = answer["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .map(|check| check["outcome"].as_str().expect("an outcome"))
            .collect();
        assert_eq!(outcomes[4..], ["not-run"; 3], "{answer}");
    }
    assert_eq!(net.net.web.connections(), 0);
    assert_eq!(net.net.dns.questions(), []);
}

#[test]
fn what_was_submitted_comes_back_escaped() {
    let net = EmailNet::start();
    let run = net
        .place
        .run(net.acme().email("in\u{1b}[2Jfo@acme.co.kr").args(1));
    let text = run.exits(5);
    assert!(text.contains("email-format"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
