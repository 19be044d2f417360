//! Step 7: a home page names its owner, and nobody else as strongly.

use crate::gate_identity::home;
use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::ACME;

const CONTESTED_BY: &str = "REVIEW owner-contested";

/// Home pages that name the company, and somebody else.
const CONTESTED: &[Case] = cases![
    "another's copyright line" => CONTESTED_BY,
        |net| home(net, "<title>Acme Foods</title><footer>© 2026 Gamma Mart</footer>");
    "the company's own, by a shorter name" => "PASS",
        |net| home(net, "<title>Acme Foods</title><footer>© 2026 Acme</footer>");
    "another site's name" => CONTESTED_BY,
        |net| home(net, "<meta property=og:site_name content='Gamma Mart'><h1>Acme Foods</h1>");
    "the same under an anchor, by which the operator says whose the site is" => "PASS",
        |net| home(net, "<meta property=og:site_name content='Gamma Mart'><h1>Acme Foods</h1>"), listed("company,site\nAcme Foods,acme.co.kr\n"), with(&["--col", "company", "--site-col", "site"]);
    "a title that calls the domain by another name" => CONTESTED_BY, |net| {
            net.company("gamma.kr", ACME);
            let html = "<title>Gamma Mart - Acme Foods</title>info@gamma.kr";
            net.net.web.page("www.gamma.kr", "/", html);
            net.right("gamma.kr")
        };
    "a title with a slogan" => "PASS", |net| home(net, "<title>Fresh noodles - Acme Foods</title>");
];

/// Every case of this file.
pub const CASES: [&[Case]; 1] = [CONTESTED];

#[test]
fn an_owner_is_named_alone() {
    run(CONTESTED);
}

#[test]
fn a_contest_says_who_is_named_where() {
    let net = EmailNet::start();
    let html = "<title>Acme Foods</title><footer>© 2026 Gamma Mart</footer>";
    let (_, answer) = net.submit(1, &home(&net, html));
    let fact = &answer["facts"][0];
    assert_eq!(fact["actual"], "copyright line: \"Gamma Mart\"", "{answer}");
}
