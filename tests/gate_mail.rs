//! Step 6: what DNS says of the address's domain.

use comail::world::RecordKind::{self, A, Aaaa, Mx};
use hickory_resolver::proto::op::ResponseCode;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::Submission;
use crate::servers::dns::Answer;

const DOMAIN: &str = "acme.co.kr";
const MAIL: &str = "mail.acme.co.kr";

/// Lets one question be answered so; returns the right submission.
fn dns(net: &EmailNet, name: &str, kind: RecordKind, answer: Answer) -> Submission {
    net.net.dns.says(name, kind, answer);
    net.acme()
}

/// Lets the domain have these mail exchangers alone.
fn mx(net: &EmailNet, hosts: &[&str]) -> Submission {
    let hosts = (10..).zip(hosts.iter().map(|host| (*host).to_owned()));
    dns(net, DOMAIN, Mx, Answer::Mx(hosts.collect()))
}

/// Lets the mail host have this address alone.
fn at(net: &EmailNet, address: &str) -> Submission {
    net.net.dns.says(MAIL, A, Answer::NoData);
    net.net.dns.host(MAIL, address);
    net.acme()
}

/// The submission of an address at `mail-of-acme.co.kr`'s subdomain, of which DNS knows nothing
/// yet.
fn below(net: &EmailNet) -> Submission {
    let email = "info@post.acme.co.kr";
    net.contact(email).email(email)
}

const MISSING: &str = "FAIL mx-missing";
const UNANSWERED: &str = "REVIEW mx-unanswered";

/// Definite answers.
const ANSWERS: &[Case] = cases![
    "a host that exists" => "PASS", EmailNet::acme;
    "no such domain" => MISSING, below;
    "no such domain, at an alias's end" => MISSING, |net| {
            let alias = Answer::Alias("gone.bolt.kr".to_owned());
            net.net.dns.says("post.acme.co.kr", Mx, alias);
            below(net)
        };
    "neither MX nor address" => MISSING, |net| {
            net.net.dns.says("post.acme.co.kr", Mx, Answer::NoData);
            below(net)
        };
    "an MX host that does not exist" => MISSING, |net| mx(net, &["gone.bolt.kr"]);
    "an MX host without an address" => MISSING, |net| dns(net, MAIL, A, Answer::NoData);
    "several that do not exist" => MISSING, |net| mx(net, &["a.bolt.kr", "b.bolt.kr"]);
    "one of several that exists" => "PASS", |net| mx(net, &["a.bolt.kr", MAIL]);
    "a null MX" => "FAIL mx-null", |net| {
            net.net.dns.null_mx(DOMAIN);
            net.acme()
        };
    "a null MX beside another" => "PASS", |net| mx(net, &[".", MAIL]);
    "no MX, but an address" => "REVIEW mx-implicit", |net| dns(net, DOMAIN, Mx, Answer::NoData);
    "no MX, but an address of IPv6 that is public" => "REVIEW mx-implicit", |net| {
            net.net.dns.host("post.acme.co.kr", "2606:2800:21f::1");
            below(net)
        };
    "an MX host with IPv6 alone" => "PASS", |net| at(net, "2606:2800:21f::1");
    "an MX behind two aliases" => "PASS", |net| {
            net.net.dns.alias("post.acme.co.kr", "post.cdn.kr");
            net.net.dns.alias("post.cdn.kr", "post.far.kr");
            net.net.dns.mx("post.far.kr", 10, MAIL);
            below(net)
        };
    "an alias whose target is for the client to ask for" => "PASS", |net| {
            let alias = Answer::AliasAlone("post.far.kr".to_owned());
            net.net.dns.says("post.acme.co.kr", Mx, alias);
            net.net.dns.mx("post.far.kr", 10, MAIL);
            below(net)
        };
    "an answer that is truncated over UDP" => "PASS", |net| {
            let whole = Answer::Mx(vec![(10, MAIL.to_owned())]);
            dns(net, DOMAIN, Mx, Answer::Truncated(Box::new(whole)))
        };
    "a denial that is truncated over UDP" => MISSING, |net| {
            let denial = Answer::Truncated(Box::new(Answer::NoSuchName));
            net.net.dns.says("post.acme.co.kr", Mx, denial);
            below(net)
        };
];

/// Answers that settle nothing.
const SILENCES: &[Case] = cases![
    "SERVFAIL" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Code(ResponseCode::ServFail));
    "REFUSED" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Code(ResponseCode::Refused));
    "NOTIMP" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Code(ResponseCode::NotImp));
    "a referral" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Referral);
    "a lame server's denial" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Lame);
    "an alias to itself" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Alias(DOMAIN.into()));
    "silence" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Silence);
    "garbage" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::Garbage);
    "an answer under another id" => UNANSWERED, |net| dns(net, DOMAIN, Mx, Answer::WrongId);
    "an answer to another question" => UNANSWERED,
        |net| dns(net, DOMAIN, Mx, Answer::WrongQuestion);
    "the MX host's address unanswered" => UNANSWERED,
        |net| dns(net, MAIL, A, Answer::Code(ResponseCode::ServFail));
    "one of the MX host's two questions unanswered, the other empty" => UNANSWERED, |net| {
            net.net.dns.says(MAIL, A, Answer::NoData);
            dns(net, MAIL, Aaaa, Answer::Code(ResponseCode::ServFail))
        };
    "one host that does not exist, one that is unanswered" => UNANSWERED, |net| {
            net.net
                .dns
                .says(MAIL, A, Answer::Code(ResponseCode::ServFail));
            mx(net, &["gone.bolt.kr", MAIL])
        };
    "no MX, and the address unanswered" => UNANSWERED, |net| {
            net.net.dns.says("post.acme.co.kr", Mx, Answer::NoData);
            net.net.dns.says("post.acme.co.kr", A, Answer::Referral);
            below(net)
        };
    "a private MX host" => UNANSWERED, |net| at(net, "10.0.0.1");
    "a loopback MX host" => UNANSWERED, |net| at(net, "127.0.0.2");
    "a mapped loopback MX host" => UNANSWERED, |net| at(net, "::ffff:127.0.0.2");
    "a link-local MX host" => UNANSWERED, |net| at(net, "169.254.1.1");
    "no MX, and a private address" => UNANSWERED, |net| {
            net.net.dns.host("post.acme.co.kr", "192.168.0.1");
            below(net)
        };
    "a private address that the operator allows" => "PASS",
        |net| at(net, "10.0.0.1"), with(&["--allow-net", "10.0.0.0/8", "--allow-net", "127.0.0.1/32"]);
];

pub const CASES: [&[Case]; 2] = [ANSWERS, SILENCES];

#[test]
fn definite_answers_decide() {
    run(ANSWERS);
}

#[test]
fn what_is_not_definite_is_no_answer() {
    run(SILENCES);
}

#[test]
fn mail_is_not_asked_for_when_the_page_has_failed() {
    let net = EmailNet::start();
    let submission = net.acme().email("made.up@acme.co.kr");
    assert_eq!(net.says(&submission), "FAIL email-not-on-source");
    assert_eq!(net.net.dns.asked(DOMAIN, Mx), 0);
}
