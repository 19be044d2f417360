//! Step 2: the address is a real one, and its mailbox is read.

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, run};
use crate::harness::email_net::{ACME, Submission};

/// The submission of an address that the contact page shows.
fn shown(net: &EmailNet, email: &str) -> Submission {
    net.contact(&format!("Write to {email}")).email(email)
}

const PLACEHOLDER: &str = "FAIL placeholder";
const ELSEWHERE: &str = "FAIL domain-mismatch placeholder";

/// Addresses that are nobody's, each on a page that shows it.
const SAMPLES: &[Case] = &[
    case(
        "a name that templates show",
        |net| shown(net, "hong.gildong@acme.co.kr"),
        PLACEHOLDER,
    ),
    case(
        "a neighbour of it",
        |net| shown(net, "hong.gilsun@acme.co.kr"),
        "PASS",
    ),
    case(
        "a word that forms show",
        |net| shown(net, "your-email@acme.co.kr"),
        PLACEHOLDER,
    ),
    case(
        "a template's hole",
        |net| shown(net, "{name}@acme.co.kr"),
        PLACEHOLDER,
    ),
    case("a mask", |net| shown(net, "in**@acme.co.kr"), PLACEHOLDER),
    case(
        "a sample's domain",
        |net| shown(net, "your@email.com"),
        "FAIL freemail placeholder",
    ),
    case(
        "a reserved domain",
        |net| shown(net, "info@example.com"),
        ELSEWHERE,
    ),
    case(
        "a reserved top-level domain, which no public suffix is",
        |net| shown(net, "info@acme.test"),
        "FAIL email-format placeholder",
    ),
    case(
        "an image",
        |net| shown(net, "logo@2x.png"),
        "FAIL email-format placeholder",
    ),
    case(
        "a mailbox named for the image",
        |net| shown(net, "logo@acme.co.kr"),
        "PASS",
    ),
    case(
        "a key of an error tracker",
        |net| shown(net, "0123456789abcdef0123456789abcdef@o1.ingest.sentry.io"),
        ELSEWHERE,
    ),
    case(
        "a platform's own",
        |net| shown(net, "support@wix.com"),
        "FAIL domain-mismatch placeholder",
    ),
];

/// Addresses that do not last, or are not read.
const UNREAD: &[Case] = &[
    case(
        "a disposable domain",
        |net| shown(net, "acme@mailinator.com"),
        "FAIL disposable domain-mismatch",
    ),
    case(
        "a disposable domain with its own site",
        |net| {
            net.company("mailinator.com", ACME);
            net.right("mailinator.com")
        },
        "FAIL disposable",
    ),
    case(
        "a domain that ends like a disposable one",
        |net| {
            net.company("acme-mailinator.com", ACME);
            net.right("acme-mailinator.com")
        },
        "PASS",
    ),
    case(
        "a mailbox that only sends",
        |net| shown(net, "no-reply@acme.co.kr"),
        "REVIEW no-reply",
    ),
    case(
        "the same in one word",
        |net| shown(net, "noreply2@acme.co.kr"),
        "REVIEW no-reply",
    ),
    case(
        "a mailbox that is read",
        |net| shown(net, "reply@acme.co.kr"),
        "PASS",
    ),
    case(
        "the postmaster reads",
        |net| shown(net, "postmaster@acme.co.kr"),
        "PASS",
    ),
    case(
        "a made-up mailbox that only sends: a REVIEW does not spare it the page",
        |net| net.acme().email("no-reply@acme.co.kr"),
        "FAIL email-not-on-source no-reply",
    ),
];

/// Persons' mailboxes.
const PERSONS: &[Case] = &[
    case("a person", |net| shown(net, "minsu.kim@acme.co.kr"), "PASS"),
    case(
        "a person where roles are wanted",
        |net| shown(net, "minsu.kim@acme.co.kr"),
        "REVIEW personal-mailbox",
    )
    .with(&["--role-only"]),
    case(
        "a role where roles are wanted",
        |net| shown(net, "sales.korea@acme.co.kr"),
        "PASS",
    )
    .with(&["--role-only"]),
    case(
        "a made-up person where roles are wanted",
        |net| net.acme().email("minsu.kim@acme.co.kr"),
        "FAIL email-not-on-source personal-mailbox",
    )
    .with(&["--role-only"]),
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
