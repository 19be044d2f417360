//! Step 7, `identity`: is the site the company's, and the address not another's already?

pub mod common_words;
pub mod company_name;
pub mod folded;
pub mod home;
pub mod legal_forms;
pub mod owner_name;
pub mod standing;

mod claim;
mod contest;
mod credit;
mod kinship;
mod owner_words;
mod reuse;
mod sound;

use url::Url;

use self::company_name::CompanyName;
use self::home::Home;
use self::standing::{Standing, standing};
use super::context::{Context, SITE};
use super::expected::{Agreement, agreement};
use super::hosted::hosted;
use super::on_site::on_site;
use super::quoted::quoted;
use crate::gate::{Cause, Check, Cost, Finding, Level, Rule};
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;

static RULES: [Rule; 7] = [
    Rule::known(
        "company-not-on-site",
        Level::Review,
        "the company's name is neither on the source page nor on the site's home page",
        "submit the site of this very company, and a page of it that names the company",
    ),
    Rule::known(
        "company-mentioned-only",
        Level::Review,
        "the company's name is there, but not where the name of a site's owner stands",
        "submit the company's own site, not one that writes about the company",
    ),
    Rule::known(
        "owner-contested",
        Level::Review,
        "the home page names somebody else where the name of a site's owner stands",
        "submit the company's own site, not one of a firm that names the company",
    ),
    Rule::known(
        "company-name-weak",
        Level::Review,
        "what is left of the name without its legal form is too short or too common to tell",
        "nothing to change: a person compares name and site",
    ),
    reuse::EMAIL_REUSED,
    reuse::DOMAIN_REUSED,
    Rule::known(
        "identity-unanswered",
        Level::Review,
        "the site's home page was needed and did not answer",
        "nothing for the agent to change: a person looks again later",
    )
    .because(Cause::Unanswered),
];

/// Step 7.
pub struct Identity;

impl Check<Context<'_>> for Identity {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn cost(&self) -> Cost {
        Cost::Wide
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let (Some(site), Some(email), Some(source)) =
            (&context.site, &context.email, &context.source)
        else {
            return Vec::new();
        };
        let ownership = ownership(context, site, email, source);
        let reuse = reuse::finding(context.world.accepted, email);
        ownership.into_iter().chain(reuse).collect()
    }
}

/// Whether the site names the company as its owner.
///
/// The home page does: the one that introduces the site, or, below a domain that may give its
/// names to anybody, the domain's own. Another page's signature holds only where the home page
/// knows the company too; a market's entry bears the seller's.
fn ownership(context: &Context<'_>, site: &Url, email: &Mailbox, source: &Url) -> Option<Finding> {
    let key = context.case.quest.key.as_str();
    let name = CompanyName::parse(key);
    if name.is_weak() {
        let expected = "a name of three characters or more that is no common word";
        return Some(Finding::new("company-name-weak", expected, quoted(key)));
    }
    let home = home::of(site, email);
    let source = context.source_visit(source);
    let said = standing(source, site, &home, &name);
    let contested = |visit| contested(context, visit, site, &home, &name);
    if said == Standing::Owner {
        return contested(source);
    }
    match Home::of(context.home_visit(&home), |page| on_site(site, page)) {
        Home::Silent(why) => {
            let finding = Finding::new("identity-unanswered", "the site's home page", quoted(&why));
            Some(finding.on(SITE).at(home.as_str()))
        }
        Home::Elsewhere(page) => {
            let there = format!("; the home page leads elsewhere: {}", quoted(page.as_str()));
            unproven(said, key, &home, &there)
        }
        Home::Missing => unproven(said, key, &home, "; there is no home page"),
        Home::Answered(visit) => {
            let front = standing(visit, site, &home, &name);
            let both = said == Standing::Signed && front >= Standing::Mentioned;
            let said = if both {
                Standing::Owner
            } else {
                said.max(front)
            };
            unproven(said, key, &home, "").or_else(|| contested(visit))
        }
    }
}

/// Who else the home page names as the owner.
///
/// Where the operator's anchor says whose that page is, or the site is one on somebody's host,
/// others' names do not matter.
fn contested(
    context: &Context<'_>,
    visit: &Visit,
    site: &Url,
    home: &Url,
    name: &CompanyName,
) -> Option<Finding> {
    const MOST_NAMED: usize = 3;
    let is_expected = agreement(home, &context.anchors()) == Some(Agreement::Met);
    if hosted(site).is_some() || is_expected {
        return None;
    }
    let End::Pages(pages) = &visit.end else {
        return None;
    };
    let own = pages.iter().filter(|page| on_site(site, &page.url));
    let owner: Vec<_> = own.flat_map(|page| page.owner.iter().cloned()).collect();
    let others = contest::others(&owner, home, name);
    let named = others.iter().take(MOST_NAMED);
    let named: Vec<String> = named
        .map(|(place, other)| format!("{}: {}", contest::called(*place), quoted(other)))
        .collect();
    if named.is_empty() {
        return None;
    }
    let key = context.case.quest.key.as_str();
    let expected = format!(
        "no name but {} where the name of a site's owner stands",
        quoted(key)
    );
    let finding = Finding::new("owner-contested", expected, named.join("; "));
    Some(finding.on(SITE).at(home.as_str()))
}

/// What keeps `said` from naming the company as the owner; nothing when it does.
fn unproven(said: Standing, key: &str, home: &Url, more: &str) -> Option<Finding> {
    let (rule, actual) = match said {
        Standing::Owner => return None,
        Standing::Signed => (
            "company-mentioned-only",
            "a page bears it, and the home page does not name it",
        ),
        Standing::Mentioned => (
            "company-mentioned-only",
            "it is mentioned, not named as owner",
        ),
        Standing::Carried => (
            "company-not-on-site",
            "it is only on pages whose own URL carries it, which may be an echo",
        ),
        Standing::Absent => (
            "company-not-on-site",
            "on neither the source nor the home page",
        ),
    };
    let expected = format!("{} where the name of a site's owner stands", quoted(key));
    let finding = Finding::new(rule, expected, format!("{actual}{more}"));
    Some(finding.on(SITE).at(home.as_str()))
}

#[cfg(test)]
mod tests;
