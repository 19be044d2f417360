//! Step 1: each field is what it must be, exactly as written; and nothing is looked up when one
//! is not.

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, page};

/// Addresses, with what becomes of them on a contact page that shows them as they are written.
const ADDRESSES: &[Case] = cases![
    "a good one" => "PASS", EmailNet::acme;
    "no @" => EMAIL, |net| net.acme().email("info");
    "nothing" => EMAIL, |net| net.acme().email("");
    "spaces" => EMAIL, |net| net.acme().email(" info@acme.co.kr");
    "two" => EMAIL, |net| net.acme().email("info@acme.co.kr,a@acme.co.kr");
    "a display name" => EMAIL, |net| net.acme().email("Acme <info@acme.co.kr>");
    "a link" => EMAIL, |net| net.acme().email("mailto:info@acme.co.kr");
    "a quoted local part" => EMAIL, |net| net.acme().email("\"info\"@acme.co.kr");
    "an address literal" => EMAIL, |net| net.acme().email("info@[127.0.0.1]");
    "an address as domain" => EMAIL, |net| net.acme().email("info@127.0.0.1");
    "no public suffix" => EMAIL, |net| net.acme().email("info@acme");
    "an unknown suffix" => EMAIL, |net| net.acme().email("info@acme.intranet");
    "a public suffix alone" => EMAIL, |net| net.acme().email("info@co.kr");
    "a trailing dot" => EMAIL, |net| net.acme().email("info@acme.co.kr.");
    "two dots" => EMAIL, |net| net.acme().email("in..fo@acme.co.kr");
    "an invisible character" => EMAIL, |net| net.acme().email("in\u{200b}fo@acme.co.kr");
    "a soft hyphen in the domain" => EMAIL, |net| net.acme().email("info@ac\u{ad}me.co.kr");
    "full-width letters" => EMAIL, |net| net.acme().email("info@ａcme.co.kr");
    "a Cyrillic letter" => EMAIL, |net| net.acme().email("info@аcme.co.kr");
    "65 octets before the @" => EMAIL,
        |net| net.acme().email(&format!("{}@acme.co.kr", "a".repeat(65)));
    "64 octets before the @" => "PASS", |net| {
            let email = format!("{}@acme.co.kr", "ab".repeat(32));
            net.contact(&email).email(&email)
        };
    "capitals" => "PASS", |net| net.acme().email("INFO@Acme.CO.KR");
    "signs that a dot-atom may hold, in a link" => "PASS", |net| {
            net.contact("<a href=\"mailto:o=brien+acme@acme.co.kr\">Write</a>")
                .email("o=brien+acme@acme.co.kr")
        };
    "an apostrophe between letters" => "PASS",
        |net| net.contact("o'brien+acme@acme.co.kr").email("o'brien+acme@acme.co.kr");
    "signs that may also part an address from the text before it" => "REVIEW email-obfuscated",
        |net| net.contact("o=brien+acme@acme.co.kr").email("o=brien+acme@acme.co.kr");
    "an international domain" => "PASS", |net| {
            net.company("xn--xx3br43b.xn--3e0b707e", ACME);
            net.right("xn--xx3br43b.xn--3e0b707e")
                .email("info@한빛.한국")
        };
];

const EMAIL: &str = "FAIL email-format";
const SITE: &str = "FAIL site-format";
const SOURCE: &str = "FAIL source-format";

/// Sites and source pages.
const URLS: &[Case] = cases![
    "a host alone" => SITE, |net| net.acme().site("www.acme.co.kr");
    "nothing" => SITE, |net| net.acme().site("");
    "another scheme" => SITE, |net| net.acme().site("ftp://www.acme.co.kr/");
    "no scheme" => SITE, |net| net.acme().site("//www.acme.co.kr/");
    "one slash" => SITE, |net| net.acme().site("http:/www.acme.co.kr/");
    "a user" => SITE, |net| net.acme().site("http://acme@www.acme.co.kr/");
    "a public suffix" => SITE, |net| net.acme().site("http://co.kr/");
    "no suffix" => SITE, |net| net.acme().site("http://localhost/");
    "an address" => SITE, |net| net.acme().site("http://127.0.0.1/");
    "an address in disguise" => SITE, |net| net.acme().site("http://0x7f.1/");
    "an address of IPv6" => SITE, |net| net.acme().site("http://[::1]/");
    "a trailing dot" => SITE, |net| net.acme().site("http://www.acme.co.kr./");
    "a backslash" => SITE, |net| net.acme().site("http://www.acme.co.kr\\");
    "a tabulator" => SITE, |net| net.acme().site("http://www.acme\t.co.kr/");
    "no port" => SITE, |net| net.acme().site("http://www.acme.co.kr:/");
    "capitals and no path" => "PASS", |net| {
            let site = net.url("").replace("http://www", "HTTP://WWW");
            net.acme().site(&site)
        };
    "a source without a scheme" => SOURCE, |net| net.acme().source("www.acme.co.kr/contact");
    "a file" => SOURCE, |net| net.acme().source("file:///etc/passwd");
    "data" => SOURCE, |net| net.acme().source("data:text/html,info@acme.co.kr");
    "an address" => SOURCE, |net| net.acme().source("http://127.0.0.1/contact");
    "an address with the port of a server that would answer" => SOURCE, |net| {
            net.net
                .web
                .page("127.0.0.1", "/contact", &page(ACME, "info@acme.co.kr"));
            net.acme().source(&net.net.web.url("127.0.0.1", "/contact"))
        };
    "credentials" => SOURCE,
        |net| net.acme().source(&net.url("/contact").replace("http://", "http://a:b@"));
    "a dot segment" => SOURCE, |net| net.acme().source(&net.url("/x/../contact"));
    "a fragment" => "PASS", |net| net.acme().source(&net.url("/contact#map"));
    "letters that go percent-encoded" => "PASS", |net| {
            net.at("/%EB%AC%B8%EC%9D%98");
            net.acme().source(&net.url("/문의"))
        };
    "all three at once" => "FAIL email-format site-format source-format",
        |net| net.acme().site("acme").email("info").source("contact");
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
