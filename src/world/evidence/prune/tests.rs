//! What is taken out of a recording, and what stays.

use crate::base::rows;
use proptest::prelude::*;
use url::Url;

use super::*;

fn recording(content_type: &str, body: &[u8]) -> Recording {
    let answer = PageAnswer::Response(Response {
        status: 200,
        content_type: Some(content_type.to_owned()),
        location: None,
        refresh: None,
        disposition: None,
        body: BodyRef::of(body),
    });
    let url = Url::parse("https://acme.com/").unwrap();
    Recording {
        evidence: Evidence {
            exchanges: vec![Exchange::Get { url, answer }],
        },
        bodies: [(BodyRef::of(body).sha256, body.to_vec())].into(),
    }
}

/// What is left of a page for a verdict on `info@acme.com`.
fn left(content_type: &str, body: &[u8]) -> Vec<u8> {
    let keep = [Mailbox::parse("info@acme.com").unwrap()];
    let mut pruned = pruned(&recording(content_type, body), &keep);
    let named: Vec<_> = pruned.evidence.bodies().map(|body| body.sha256).collect();
    assert_eq!(named, pruned.bodies.keys().copied().collect::<Vec<_>>());
    pruned.bodies.pop_first().unwrap().1
}

fn left_of(body: &str) -> String {
    String::from_utf8(left("text/html", body.as_bytes())).unwrap()
}

#[test]
fn masks_other_addresses_and_keeps_its_own() {
    for (page, expected) in rows! {
        "Jo: jo.doe@acme.com." => "Jo: xxxxxx@acme.com.";
        "INFO@Acme.com. jo@acme.com" => "INFO@Acme.com. xx@acme.com";
        "info@acme.com.au" => "xxxx@acme.com.au";
        "tel-info@acme.com" => "tel-info@acme.com";
        "nfo@acme.com" => "nfo@acme.com";
        "jo@acme.com" => "xx@acme.com";
        "info&#64;acme.com, jo&#X40;acme.com" => "info&#64;acme.com, xx&#X40;acme.com";
        "mailto:jo%40acme.com" => "mailto:xx%40acme.com";
        "@media print" => "@media print";
        "jo @ acme.com" => "xx @ acme.com";
        "follow us @acme" => "follow us @acme";
        "조@acme.com jo@" => "조@acme.com jo@";
    } {
        assert_eq!(left_of(page), expected);
    }
}

#[test]
fn masks_addresses_however_they_are_written() {
    let protected = |address: &str| {
        let octets = address.bytes().map(|octet| octet ^ 0x2a);
        hex::encode(std::iter::once(0x2a).chain(octets).collect::<Vec<_>>())
    };
    let (own, other) = (protected("info@acme.com"), protected("jo@acme.com?x"));
    let masked = protected("xx@acme.com?x");
    for (page, expected) in rows! {
        "&#106;o&#x2e;d@acme.com" => "xxxxxxxxxxxxxx@acme.com";
        "%6Ao%40acme.com" => "xxxx%40acme.com";
        "&#105;nfo&#64;acme.com" => "&#105;nfo&#64;acme.com";
        "jo [at] acme.com" => "xx [at] acme.com";
        "jo(a)acme.com, jo &lt;AT&gt; acme.com" => "xx(a)acme.com, xx &lt;AT&gt; acme.com";
        "jo [at] acme [dot] com" => "xx [at] acme [dot] com";
        "jo골뱅이acme.com" => "xx골뱅이acme.com";
        "info [at] acme [dot] com" => "info [at] acme [dot] com";
        "tel-info (at) acme.com" => "tel-info (at) acme.com";
        "option (a) is best" => "option (a) is best";
        "see (at) noon." => "see (at) noon.";
        &format!("<a data-cfemail=\"{other}\"><a href='/cdn-cgi/l/email-protection#{other}'>")
            => &format!(
                "<a data-cfemail=\"{masked}\"><a href='/cdn-cgi/l/email-protection#{masked}'>"
            );
        &format!("<a data-cfemail={own}>") => &format!("<a data-cfemail={own}>");
        "<a data-cfemail=2a>" => "<a data-cfemail=2a>";
    } {
        assert_eq!(left_of(page), expected);
    }
}

#[test]
fn empties_scripts_without_the_address() {
    for (page, expected) in rows! {
        "a<script src=x>f()</script>b" => "a<script src=x></script>b";
        "<SCRIPT>f()</Script><svg><path/></svg>" => "<SCRIPT></Script><svg></svg>";
        "<script>'info@acme.com'</script>" => "<script>'info@acme.com'</script>";
        "<script type=application/ld+json>{}</script>"
            => "<script type=application/ld+json>{}</script>";
        "<script></script><script>a" => "<script></script><script>a";
        "<script" => "<script";
        "<script>a</script" => "<script></script";
    } {
        assert_eq!(left_of(page), expected);
    }
    let text = b"<script>f()</script>";
    assert_eq!(left("text/plain", text), text);
}

#[test]
fn leaves_wide_encodings_alone() {
    let wide: Vec<u8> = "jo@acme.com".bytes().flat_map(|b| [b, 0]).collect();
    assert_eq!(left("text/html", &wide), wide);
    assert_eq!(
        left("text/html; charset=UTF-16", b"jo@acme.com"),
        b"jo@acme.com"
    );
}

proptest! {
    #[test]
    fn never_panics_and_keeps_what_it_must(
        body in "(<script>|</script>|<svg|>|jo@| info@acme\\.com |é|%40|&#64;|\\[at\\]|data-cfemail=|2a41|\\.|a){0,40}"
    ) {
        let kept = left_of(&body);
        prop_assert!(kept.len() <= body.len());
        let own = |text: &str| text.contains("info@acme.com");
        prop_assert_eq!(own(&kept), own(&body));
    }
}
