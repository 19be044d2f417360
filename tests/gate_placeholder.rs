//! Step 2: the address is a real one, and its mailbox is read.

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission};

/// The submission of an address that the contact page shows.
fn shown(net: &EmailNet, email: &str) -> Submission {
    net.contact(&format!("Write to {email}")).email(email)
}

const PLACEHOLDER: &str = "FAIL placeholder";
const ELSEWHERE: &str = "FAIL domain-mismatch placeholder";

/// Addresses that are nobody's, each on a page that shows it.
const SAMPLES: &[Case] = cases![
    "a name that templates show" => PLACEHOLDER, |net| shown(net, "hong.gildong@acme.co.kr");
    "a neighbour of it" => "PASS", |net| shown(net, "hong.gilsun@acme.co.kr");
    "a word that forms show" => PLACEHOLDER, |net| shown(net, "your-email@acme.co.kr");
    "a template's hole" => PLACEHOLDER, |net| shown(net, "{name}@acme.co.kr");
    "a mask" => PLACEHOLDER, |net| shown(net, "in**@acme.co.kr");
    "a sample's domain" => "FAIL freemail placeholder", |net| shown(net, "your@email.com");
    "a reserved domain" => ELSEWHERE, |net| shown(net, "info@example.com");
    "a reserved top-level domain, which no public suffix is" => "FAIL email-format placeholder",
        |net| shown(net, "info@acme.test");
    "an image" => "FAIL email-format placeholder", |net| shown(net, "logo@2x.png");
    "a mailbox named for the image" => "PASS", |net| shown(net, "logo@acme.co.kr");
    "a key of an error tracker" => ELSEWHERE,
        |net| shown(net, "0123456789abcdef0123456789abcdef@o1.ingest.sentry.io");
    "a platform's own" => "FAIL domain-mismatch placeholder", |net| shown(net, "support@wix.com");
];

/// Addresses that do not last, or are not read.
const UNREAD: &[Case] = cases![
    "a disposable domain" => "FAIL disposable domain-mismatch",
        |net| shown(net, "acme@mailinator.com");
    "a disposable domain with its own site" => "FAIL disposable", |net| {
            net.company("mailinator.com", ACME);
            net.right("mailinator.com")
        };
    "a domain that ends like a disposable one" => "PASS", |net| {
            net.company("acme-mailinator.com", ACME);
            net.right("acme-mailinator.com")
        };
    "a mailbox that only sends" => "REVIEW no-reply", |net| shown(net, "no-reply@acme.co.kr");
    "the same in one word" => "REVIEW no-reply", |net| shown(net, "noreply2@acme.co.kr");
    "a mailbox that is read" => "PASS", |net| shown(net, "reply@acme.co.kr");
    "the postmaster reads" => "PASS", |net| shown(net, "postmaster@acme.co.kr");
    "a made-up mailbox that only sends: a REVIEW does not spare it the page" => "FAIL email-not-on-source no-reply",
        |net| net.acme().email("no-reply@acme.co.kr");
];

/// Persons' mailboxes.
const PERSONS: &[Case] = cases![
    "a person" => "PASS", |net| shown(net, "minsu.kim@acme.co.kr");
    "a person where roles are wanted" => "REVIEW personal-mailbox",
        |net| shown(net, "minsu.kim@acme.co.kr"), with(&["--role-only"]);
    "a role where roles are wanted" => "PASS",
        |net| shown(net, "sales.korea@acme.co.kr"), with(&["--role-only"]);
    "a made-up person where roles are wanted" => "FAIL email-not-on-source personal-mailbox",
        |net| net.acme().email("minsu.kim@acme.co.kr"), with(&["--role-only"]);
];

/// Every case of this file.
pub const CASES: [&[Case]; 3] = [SAMPLES, UNREAD, PERSONS];

#[test]
fn samples_are_nobodys_address() {
    run(SAMPLES);
}

#[test]
fn mail_that_nobody_reads_is_told() {
    run(UNREAD);
}

#[test]
fn persons_count_only_where_roles_alone_are_wanted() {
    run(PERSONS);
}
