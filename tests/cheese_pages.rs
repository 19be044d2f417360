//! Cheating with pages: echoes, own pages, places where anyone writes, pages that say nothing.

use comail::world::RecordKind;

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, page};
use crate::servers::closed_port;
use crate::servers::dns::Answer;
use crate::servers::http::Reply;

const LIE: &str = "ceo@acme.co.kr";
const HOST: &str = "www.acme.co.kr";

/// A page of the company's that shows whatever its URL tells it to.
fn echo(world: &EmailNet, path: &str, text: &str) -> String {
    world.put(path, &page(ACME, text))
}

#[test]
fn a_page_that_repeats_the_address_of_its_own_url_proves_nothing() {
    let world = EmailNet::with(&[ACME], &["--max-tries", "99"]);
    let right = world.right("acme.co.kr").clone().email(LIE);
    for path in [
        "/search?q=ceo@acme.co.kr",
        "/search?q=ceo%40acme.co.kr",
        "/search?q=CEO%2540ACME.co.kr",
        "/search?q=%63%65%6f%40acme%2Eco%2Ekr",
        "/search?q=ceo+@+acme.co.kr",
        "/search/ceo@acme.co.kr",
        "/search/ceo%20@acme.co.kr",
        "/e?d=Y2VvQGFjbWUuY28ua3I=",
        "/e/Y2VvQGFjbWUuY28ua3I",
        "/e?d=63656f4061636d652e636f2e6b72",
        "/e?d=rk.oc.emca@oec",
    ] {
        let source = echo(&world, path, LIE);
        world.expect(1, &right.clone().source(&source), "FAIL", &["source-echo"]);
    }
    assert_eq!(world.net.web.connections(), 0);
}

#[test]
fn characters_that_a_page_swallows_do_not_hide_an_echo() {
    let world = EmailNet::with(&[ACME], &["--max-tries", "99"]);
    let right = world.right("acme.co.kr").clone().email(LIE);
    for (path, shown) in [
        (
            "/no/ce%E2%80%8Bo@ac%E2%80%8Bme.co.kr",
            "ce\u{200b}o@ac\u{200b}me.co.kr",
        ),
        (
            "/no/ce%C2%ADo@acme.co.k%C2%ADr",
            "ce\u{ad}o@acme.co.k\u{ad}r",
        ),
        (
            "/no/%EF%BB%BFc%EF%BB%BFeo@acme%E2%81%A0.co.kr",
            "c\u{feff}eo@acme\u{2060}.co.kr",
        ),
    ] {
        let source = echo(&world, path, &format!("No such page: {shown}"));
        world.expect(1, &right.clone().source(&source), "FAIL", &["source-echo"]);
    }
}

#[test]
fn markup_in_a_path_is_not_the_owners_word() {
    for (path, shown) in [
        ("/no/ceo%3Cb%3E@acme.co.kr", "ceo<b>@acme.co.kr</b>"),
        ("/no/c%3Cb%3Eeo@ac%3Cb%3Eme.co.kr", "c<b>eo@ac<b>me.co.kr"),
        ("/no/c&shyeo@ac&shyme.co.kr", "c&shyeo@ac&shyme.co.kr"),
        (
            "/no?q=c%26zwj;eo%26commat;ac%26zwj;me.co.kr",
            "c&zwj;eo&commat;ac&zwj;me.co.kr",
        ),
        (
            "/no?u=c%E2%80%8Beo&h=ac%E2%80%8Bme.co.kr",
            "c\u{200b}eo@ac\u{200b}me.co.kr",
        ),
        ("/no/ceo%3C!----%3E@acme.co.kr", "ceo<!---->@acme.co.kr"),
        ("/no/ceo&%2364;acme.co.kr", "ceo&#64;acme.co.kr"),
        ("/no/ceo&commat;acme.co.kr", "ceo&commat;acme.co.kr"),
        ("/no/ceo@acme.c%1B(Bo.kr", "ceo@acme.co.kr"),
    ] {
        let world = EmailNet::start();
        let source = echo(&world, path, &format!("No such page: {shown}"));
        let lie = world.right("acme.co.kr").clone().email(LIE);
        let (verdict, rules) = world.judge(&lie.clone().source(&source));
        assert_ne!(verdict, "PASS", "{path}");
        let echo = rules.iter().any(|rule| rule.starts_with("source-"));
        assert!(echo, "{path}: {rules:?}");
    }
}

#[test]
fn a_page_that_could_put_the_address_together_is_for_a_person() {
    for path in [
        "/mail?user=ceo",
        "/mail?user=ceo&host=acme.co.kr",
        "/mail/ceo/at/acme.co.kr",
        "/show?html=%3Cp%3E",
        "/show?u=https://evil.kr/page",
        "/show?token=q83vEjRWeJCrze8SNFZ4",
        "/search?q=Acme+Foods",
    ] {
        let world = EmailNet::start();
        let source = echo(&world, path, LIE);
        let lie = world.right("acme.co.kr").clone().email(LIE);
        let (verdict, rules) = world.judge(&lie.clone().source(&source));
        assert_eq!(verdict, "REVIEW", "{path}");
        assert!(
            rules.contains(&"source-may-echo".to_owned()),
            "{path}: {rules:?}"
        );
    }
}

#[test]
fn a_fragment_is_not_the_page() {
    let world = EmailNet::start();
    let source = format!("{}#{LIE}", world.net.web.url(HOST, "/contact"));
    let lie = world.right("acme.co.kr").clone().email(LIE);
    let lie = lie.clone().source(&source);
    world.expect(1, &lie, "FAIL", &["email-not-on-source"]);
}

#[test]
fn an_echo_behind_a_redirect_or_a_refresh_is_one_all_the_same() {
    let world = EmailNet::with(&[ACME], &["--max-tries", "99"]);
    let lie = world.right("acme.co.kr").clone().email(LIE);
    echo(&world, "/echo?m=ceo%40acme.co.kr", LIE);
    let to = "/echo?m=ceo%40acme.co.kr";
    world.net.web.reply(HOST, "/go", Reply::redirect(302, to));
    let refresh = Reply::html("<p>x").with("Refresh", &format!("0; url={to}"));
    world.net.web.reply(HOST, "/wait", refresh);
    for path in ["/go", "/wait"] {
        let source = world.net.web.url(HOST, path);
        world.expect(1, &lie.clone().source(&source), "FAIL", &["source-echo"]);
    }
    let framed = format!("<iframe src='{to}'></iframe>");
    let source = world.put("/framed", &page(ACME, &framed));
    // The page that holds the frame shows nothing; its markup names the address.
    world.expect(1, &lie.clone().source(&source), "REVIEW", &["email-hidden"]);
}

#[test]
fn a_page_of_ones_own_is_not_a_page_of_the_site() {
    let world = EmailNet::with(&[ACME], &["--max-tries", "99"]);
    world.net.host("evil.kr");
    world.net.web.page("evil.kr", "/acme", &page(ACME, LIE));
    let lie = world.right("acme.co.kr").clone().email(LIE);
    let own = lie.clone().source(&world.net.web.url("evil.kr", "/acme"));
    world.expect(1, &own, "REVIEW", &["source-off-site"]);
}

#[test]
fn no_way_from_the_site_to_a_page_of_ones_own_makes_it_the_sites() {
    let own = "http://evil.kr";
    let world = |reply: Reply| {
        let world = EmailNet::start();
        world.net.host("evil.kr");
        world.net.web.page("evil.kr", "/acme", &page(ACME, LIE));
        let port = world.net.web.address().port();
        let at = format!("{own}:{port}/acme");
        let reply = match reply {
            Reply::Raw(_) => Reply::redirect(302, &at),
            _ => Reply::html(page(ACME, &format!("<iframe src='{at}'></iframe>"))),
        };
        world.net.web.reply(HOST, "/out", reply);
        let lie = world.right("acme.co.kr").clone().email(LIE);
        let lie = lie.clone().source(&world.net.web.url(HOST, "/out"));
        world.expect(1, &lie, "REVIEW", &["source-off-site"]);
    };
    world(Reply::Raw(Vec::new()));
    world(Reply::Reset);
}

#[test]
fn what_no_reader_sees_is_for_a_person() {
    for html in [
        "<!-- ceo@acme.co.kr -->",
        "<p hidden>ceo@acme.co.kr</p>",
        "<p style='display:none'>ceo@acme.co.kr</p>",
        "<p style='font-size:0'>ceo@acme.co.kr</p>",
        "<script>var a='ceo@acme.co.kr'</script>",
        "<template>ceo@acme.co.kr</template>",
        "<p data-mail='ceo@acme.co.kr'>x</p>",
        "<input value='ceo@acme.co.kr'>",
        "<style>.x{display:none}</style><p class=x>ceo@acme.co.kr</p>",
    ] {
        let world = EmailNet::start();
        let source = world.put("/x", &page(ACME, html));
        let lie = world
            .right("acme.co.kr")
            .clone()
            .email(LIE)
            .clone()
            .source(&source);
        world.expect(1, &lie, "REVIEW", &["email-hidden"]);
    }
}

#[test]
fn places_where_others_write_are_for_a_person() {
    for path in [
        "/bbs/board.php?bo_table=free&wr_id=7",
        "/forum/1",
        "/~agent/",
        "/users/agent",
        "/wiki/Acme_Contact",
        "/index.php?title=User:Agent",
    ] {
        let world = EmailNet::start();
        let source = world.put(path, &page(ACME, LIE));
        let lie = world
            .right("acme.co.kr")
            .clone()
            .email(LIE)
            .clone()
            .source(&source);
        world.expect(1, &lie, "REVIEW", &["source-user-content"]);
    }
}

#[test]
fn a_page_that_does_not_exist_fails() {
    let world = EmailNet::with(&[ACME], &["--max-tries", "99"]);
    let right = world.right("acme.co.kr");
    let shown = page(ACME, "info@acme.co.kr");
    for status in [404, 410] {
        let path = format!("/gone{status}");
        let reply = Reply::status(status).body(shown.clone());
        world.net.web.reply(HOST, &path, reply);
        let lie = right.clone().source(&world.net.web.url(HOST, &path));
        world.expect(1, &lie, "FAIL", &["source-missing"]);
    }
    let lie = right
        .clone()
        .source(&world.net.web.url("none.acme.co.kr", "/"));
    world.expect(1, &lie, "FAIL", &["source-missing"]);
}

#[test]
fn no_answer_is_never_a_yes() {
    let shown = || page(ACME, "info@acme.co.kr").into_bytes();
    let short = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\ninfo@acme.co.kr";
    for reply in [
        Reply::Reset,
        Reply::Raw(short.to_vec()),
        Reply::status(500).body(shown()),
        Reply::status(403).body(shown()),
        Reply::status(401).body(shown()),
        Reply::html(shown()).with("Content-Encoding", "gzip"),
        Reply::redirect(302, "/loop"),
        Reply::redirect(302, "mailto:sales@acme.co.kr"),
        Reply::redirect(302, "file:///etc/passwd"),
    ] {
        let world = EmailNet::start();
        world.net.web.reply(HOST, "/loop", reply);
        let lie = world.right("acme.co.kr");
        let lie = lie.clone().source(&world.net.web.url(HOST, "/loop"));
        world.expect(1, &lie, "REVIEW", &["source-unanswered"]);
    }
}

#[test]
fn what_is_no_text_is_for_a_person() {
    for reply in [
        Reply::Huge(8 << 20),
        Reply::GzipBomb(64 << 20),
        Reply::html("\0\u{1}\u{2}%PDF-1.7 info@acme.co.kr").with("Content-Type", "application/pdf"),
    ] {
        let world = EmailNet::start();
        world.net.web.reply(HOST, "/x", reply);
        let lie = world.right("acme.co.kr");
        let (verdict, rules) = world.judge(&lie.clone().source(&world.net.web.url(HOST, "/x")));
        assert_eq!(verdict, "REVIEW", "{rules:?}");
        assert!(rules[0].starts_with("source-un"), "{rules:?}");
    }
}

#[test]
fn a_dead_port_and_a_private_address_prove_nothing() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    let dead = format!("http://{HOST}:{}/", closed_port().port());
    world.expect(
        1,
        &right.clone().source(&dead),
        "REVIEW",
        &["source-unanswered"],
    );

    let world = EmailNet::start();
    let inside = Answer::Addresses(vec![[127, 0, 0, 2].into(), [10, 0, 0, 1].into()]);
    world.net.dns.says("in.acme.co.kr", RecordKind::A, inside);
    let lie = right
        .clone()
        .source(&world.net.web.url("in.acme.co.kr", "/"));
    world.expect(1, &lie, "REVIEW", &["source-unanswered"]);
    assert_eq!(world.net.web.count("in.acme.co.kr", "/"), 0);
}

#[test]
fn robots_that_forbid_leave_it_to_a_person() {
    let world = EmailNet::start();
    let rules = Reply::status(200)
        .with("Content-Type", "text/plain")
        .body("User-agent: *\nDisallow: /contact\n");
    world.net.web.reply(HOST, "/robots.txt", rules);
    let lie = world.right("acme.co.kr");
    world.expect(1, &lie, "REVIEW", &["source-robots"]);
    assert_eq!(world.net.web.count(HOST, "/contact"), 0);
}
