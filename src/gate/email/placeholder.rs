//! Step 2, `placeholder`: the address is a real one, and its mailbox is read.
//!
//! The step reads the address as it was submitted, so that it can also name an image file
//! or a sample that is no address at all.

use super::context::{Context, EMAIL};
use super::disposable::disposable;
use super::no_reply::reads_no_mail;
use super::person::reads_as_person;
use super::quoted::quoted;
use super::sample::sample;
use super::written::Written;
use crate::gate::{Check, Cost, Finding, Level, Rule};

const PLACEHOLDER: &str = "placeholder";
const DISPOSABLE: &str = "disposable";
const NO_REPLY: &str = "no-reply";
const PERSONAL_MAILBOX: &str = "personal-mailbox";

static RULES: [Rule; 4] = [
    Rule::known(
        PLACEHOLDER,
        Level::Fail,
        "the address is a sample, a reserved name, a file name, or a platform's own",
        "submit an address that the company itself receives mail at",
    ),
    Rule::known(
        DISPOSABLE,
        Level::Fail,
        "the address is of a disposable-mail domain",
        "submit an address at the company's own domain",
    ),
    Rule::known(
        NO_REPLY,
        Level::Review,
        "the mailbox sends mail and does not read any",
        "submit a mailbox that is read, such as info@ or contact@, or leave it to a person",
    ),
    Rule::known(
        PERSONAL_MAILBOX,
        Level::Review,
        "the local part reads as a person's name (with scan --role-only)",
        "submit a mailbox of a role, such as info@ or sales@, or leave it to a person",
    ),
];

/// Step 2.
pub struct Placeholder;

impl Check<Context<'_>> for Placeholder {
    fn name(&self) -> &'static str {
        "placeholder"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(written) = Written::of(context) else {
            return Vec::new();
        };
        let placeholder = sample(&written, context.site.as_ref())
            .map(|why| (PLACEHOLDER, "an address of the company", why.to_string()));
        let disposable = disposable(&written.domain).map(|domain| {
            let actual = format!("{domain} is on the list of disposable-mail domains");
            (DISPOSABLE, "an address that lasts", actual)
        });
        let no_reply = reads_no_mail(&written.local).map(|word| {
            let actual = format!("{} reads as {word}", quoted(&written.local));
            (NO_REPLY, "a mailbox that is read", actual)
        });
        let person = context.settings.role_only && reads_as_person(&written.local);
        let personal = person.then(|| {
            let actual = format!("{} reads as a person's name", quoted(&written.local));
            (PERSONAL_MAILBOX, "a mailbox of a role", actual)
        });
        [placeholder, disposable, no_reply, personal]
            .into_iter()
            .flatten()
            .map(|(rule, expected, actual)| Finding::new(rule, expected, actual).on(EMAIL))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::bench::Bench;

    fn fired(email: &str) -> Vec<String> {
        Bench::good().email(email).fired(&Placeholder)
    }

    #[test]
    fn lets_a_role_mailbox_through() {
        assert_eq!(Bench::good().role_only().run(&Placeholder), []);
    }

    #[test]
    fn speaks_even_when_the_address_is_none() {
        assert_eq!(fired("logo@2x.png"), [PLACEHOLDER]);
        assert_eq!(fired("Your Name <your@email.com>"), [PLACEHOLDER]);
        assert_eq!(fired("홍길동@acme.co.kr"), [PLACEHOLDER]);
        assert_eq!(fired("acme.co.kr"), [""; 0]);
        assert_eq!(fired(""), [""; 0]);
    }

    #[test]
    fn tells_disposable_and_unread_apart() {
        assert_eq!(fired("info@mailinator.com"), [DISPOSABLE]);
        assert_eq!(fired("no-reply@a.mailinator.com"), [DISPOSABLE, NO_REPLY]);
        assert_eq!(fired("no-reply@acme.co.kr"), [NO_REPLY]);
        assert_eq!(fired("postmaster@acme.co.kr"), [""; 0]);
    }

    #[test]
    fn a_person_counts_only_when_roles_alone_are_wanted() {
        let person = Bench::good().email("minsu.kim@acme.co.kr");
        assert_eq!(person.fired(&Placeholder), [""; 0]);
        assert_eq!(person.role_only().fired(&Placeholder), [PERSONAL_MAILBOX]);
    }
}
