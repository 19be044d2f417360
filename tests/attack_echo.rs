//! Pages of the real company that repeat what their URL tells them, in disguises that the URL
//! wears and the page takes off.

use crate::attack_tools::{judged, none_passes};
use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, page};
use crate::servers::http::Reply;

const MADE_UP: &str = "made.up@acme.co.kr";

/// What becomes of a made-up address that the page at `path` shows as `shown`.
fn echoed(path: &str, shown: &str) -> (String, Vec<String>) {
    let body = page(ACME, &format!("No results for {shown}"));
    answered(path, Reply::html(body))
}

fn answered(path: &str, reply: Reply) -> (String, Vec<String>) {
    let world = EmailNet::start();
    world.net.web.reply("www.acme.co.kr", path, reply);
    let mut submission = world.right("acme.co.kr");
    MADE_UP.clone_into(&mut submission.email);
    submission.source = world.net.web.url("www.acme.co.kr", path);
    judged(&world, ACME, &submission)
}

#[test]
fn a_path_that_parts_the_address_by_invisible_characters_is_an_echo() {
    // The search of every WordPress with permalinks: /search/WORDS/.
    let echoes = [
        ("zero width space", "%E2%80%8B", "\u{200b}"),
        ("soft hyphen", "%C2%AD", "\u{ad}"),
        ("word joiner", "%E2%81%A0", "\u{2060}"),
        ("variation selector", "%EF%B8%8F", "\u{fe0f}"),
    ];
    none_passes(echoes.map(|(name, escape, mark)| {
        let path = format!("/search/ma{escape}de.up@ac{escape}me.co.kr/");
        let shown = format!("ma{mark}de.up@ac{mark}me.co.kr");
        (name, echoed(&path, &shown))
    }));
}

#[test]
fn a_path_that_parts_the_address_by_what_servers_take_out_is_an_echo() {
    let echoes = [
        ("tags (strip_tags)", "%3Cb%3E"),
        ("backslashes (stripslashes)", "%5C"),
        ("control characters", "%01"),
        ("invalid UTF-8", "%FF"),
        ("quotation marks", "%22"),
    ];
    none_passes(echoes.map(|(name, escape)| {
        let path = format!("/search/ma{escape}de.up@ac{escape}me.co.kr/");
        (name, echoed(&path, MADE_UP))
    }));
}

#[test]
fn a_query_that_spells_the_sign_as_an_entity_is_an_echo() {
    let path = "/?s=ma%E2%80%8Bde.up%26commat%3Bac%E2%80%8Bme.co.kr";
    let shown = "ma\u{200b}de.up&commat;ac\u{200b}me.co.kr";
    none_passes([("&commat;", echoed(path, shown))]);
}

#[test]
fn a_query_that_hands_in_the_address_in_two_parts_is_an_echo() {
    let path = "/write?u=ma%E2%80%8Bde.up&h=ac%E2%80%8Bme.co.kr";
    let shown = "ma\u{200b}de.up@ac\u{200b}me.co.kr";
    none_passes([("user and host", echoed(path, shown))]);
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
    none_passes([("ISO-2022-JP", answered(path, reply))]);
}

#[test]
fn a_path_that_holds_the_address_in_a_pages_own_code_is_an_echo() {
    // A page that links to itself in another language repeats its path.
    let coded = std::iter::once(0x5a).chain(MADE_UP.bytes().map(|byte| byte ^ 0x5a));
    let coded = hex::encode(coded.collect::<Vec<u8>>());
    let path = format!("/s/cdn-cgi/l/email-protection%23{coded}");
    let link = format!("/en/s/cdn-cgi/l/email-protection#{coded}");
    let elsewhere = format!("http://evil.kr/cdn-cgi/l/email-protection#{coded}");
    none_passes([link, elsewhere].map(|link| {
        let body = page(ACME, &format!("<a href=\"{link}\">English</a>"));
        ("a link", answered(&path, Reply::html(body)))
    }));
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
fn a_path_that_holds_the_address_in_base32_is_an_echo() {
    let upper = base32(MADE_UP, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    let lower = upper.to_ascii_lowercase();
    let shifted = base32(&format!("x{MADE_UP}"), b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
    let paths = [
        format!("/s/{upper}"),
        format!("/s/{lower}"),
        format!("/s?q={upper}"),
        format!("/s/{shifted}"),
    ];
    for path in &paths {
        none_passes([(path.as_str(), echoed(path, MADE_UP))]);
    }
}

#[test]
fn a_url_that_spells_the_address_in_pieces_is_an_echo() {
    let paths = [
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
    none_passes(paths.map(|path| (path, echoed(path, MADE_UP))));
}
