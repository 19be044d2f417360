//! Pages that show others or lead on: frames and refreshes are hops like redirects.

use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::WWW;
use crate::servers::http::Reply;

const ABSENT: &str = "FAIL email-not-on-source";

/// Pages that show other pages.
const OTHER_PAGES: &[Case] = cases![
    "a frame of the site" => "PASS", |net| {
            net.net.web.page(WWW, "/frame", "<p>info@acme.co.kr");
            net.contact("<iframe src=/frame></iframe>")
        };
    "a frameset" => "PASS", |net| {
            net.net.web.page(WWW, "/main", "<p>info@acme.co.kr");
            let html = "<title>Acme Foods</title><frameset><frame src=main></frameset>";
            net.answers(Reply::html(html))
        };
    "a frame of another site" => "REVIEW source-off-site", |net| {
            net.net.host("www.bolt.kr");
            net.net.web.page("www.bolt.kr", "/", "<p>info@acme.co.kr");
            let src = net.net.web.url("www.bolt.kr", "/");
            net.contact(&format!("<iframe src='{src}'></iframe>"))
        };
    "a frame that no one sees" => ABSENT, |net| {
            net.net.web.page(WWW, "/frame", "<p>info@acme.co.kr");
            net.contact("<iframe hidden src=/frame></iframe>")
        };
    "a frame that is silent" => "REVIEW source-unanswered", |net| {
            net.net.web.reply(WWW, "/frame", Reply::status(503));
            net.contact("<iframe src=/frame></iframe>")
        };
    "a frame that does not exist" => ABSENT, |net| net.contact("<iframe src=/gone></iframe>");
    "a refresh" => "PASS", |net| {
            net.at("/new");
            net.contact("<meta http-equiv=refresh content='0;url=/new'>")
        };
    "a refresh header" => "PASS", |net| {
            net.at("/new");
            net.answers(Reply::html("moved").with("Refresh", "0; url=/new"))
        };
    "a page that a refresh leaves behind" => ABSENT, |net| {
            net.net.web.page(WWW, "/new", "<p>moved");
            net.contact("<meta http-equiv=refresh content='0;url=/new'>info@acme.co.kr")
        };
    "a page that reloads itself" => "PASS",
        |net| net.contact("<meta http-equiv=refresh content='5'>info@acme.co.kr");
];

/// Every case of this file.
pub const CASES: [&[Case]; 1] = [OTHER_PAGES];

#[test]
fn frames_and_refreshes_are_followed() {
    run(OTHER_PAGES);
}
