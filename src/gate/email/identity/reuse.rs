//! Addresses and domains that an earlier PASS gave to another company.

use super::super::context::EMAIL;
use super::super::freemail::freemail;
use super::super::quoted::quoted;
use crate::gate::{Finding, Level, Rule};
use crate::world::mailbox::Mailbox;
use crate::world::{Accepted, Taken};

/// The address was accepted for another company.
pub const EMAIL_REUSED: Rule = Rule::known(
    "email-reused",
    Level::Review,
    "the address was already accepted for another company of this session",
    "submit this company's own address, or leave it to a person",
);

/// The domain was accepted for another company.
pub const DOMAIN_REUSED: Rule = Rule::known(
    "domain-reused",
    Level::Review,
    "another address of the domain was already accepted for another company of this session",
    "submit this company's own address, or leave it to a person",
);

/// Who else holds the address, or else its domain.
///
/// A mail provider's domain is everybody's, so that sharing it says nothing.
pub fn finding(accepted: &dyn Accepted, email: &Mailbox) -> Option<Finding> {
    if let Some(holder) = accepted.holder(&Taken::Mailbox(email.clone())) {
        let expected = "an address of this company alone";
        let actual = format!("{email} is accepted for {}", quoted(holder.as_str()));
        return Some(Finding::new("email-reused", expected, actual).on(EMAIL));
    }
    if freemail(email).is_some() {
        return None;
    }
    let domain = email.domain().registrable()?;
    let holder = accepted.holder(&Taken::Domain(domain.clone()))?;
    let expected = "a domain of this company alone";
    let actual = format!(
        "an address of {domain} is accepted for {}",
        quoted(holder.as_str())
    );
    Some(Finding::new("domain-reused", expected, actual).on(EMAIL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::canned::Canned;

    fn fired(email: &str, taken: &[&str]) -> Option<String> {
        let email = Mailbox::parse(email).unwrap();
        let world = taken
            .iter()
            .fold(Canned::default(), |world, what| world.taken(what));
        finding(&world, &email).map(|finding| {
            assert!(finding.actual.contains("Other"), "{}", finding.actual);
            finding.rule.to_string()
        })
    }

    #[test]
    fn the_same_address_or_else_the_same_domain() {
        let both = ["info@acme.co.kr", "acme.co.kr"];
        assert_eq!(
            fired("Info@acme.co.kr", &both).as_deref(),
            Some("email-reused")
        );
        assert_eq!(
            fired("x@mail.acme.co.kr", &both).as_deref(),
            Some("domain-reused")
        );
        assert_eq!(fired("info@acme.com", &both), None);
    }

    #[test]
    fn a_providers_domain_is_everybodys() {
        assert_eq!(fired("acme@naver.com", &["naver.com"]), None);
        let taken = ["acme@naver.com"];
        assert_eq!(
            fired("acme@naver.com", &taken).as_deref(),
            Some("email-reused")
        );
    }
}
