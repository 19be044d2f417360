//! Whether a home page that names the company as its owner names somebody else as strongly.
//!
//! A site's or organization's name, a copyright line and a company's line declare an owner;
//! another one there contests the company wherever it is named. A title, heading or logo may hold
//! a slogan, so its words name another owner only where the domain is called so, or where the
//! company is named by no more than a bare line, which a list of customers has too.

use url::Url;

use super::company_name::{self, CompanyName, Folded};
use super::name_similarity::{Similarity, similarity};
use super::owner_name::{claim, is_between, is_name, named, names, parts};
use crate::world::domain::HostName;
use crate::world::page::{OwnerPlace, OwnerText, is_unspaced};

pub(super) type Other = (OwnerPlace, String);

/// The other names that contest the company as the owner of the site at `home`, by the texts at
/// owners' places of its home page, in the page's order.
pub(super) fn others(owner: &[OwnerText], home: &Url, name: &CompanyName) -> Vec<Other> {
    let case = Case::of(owner, home, &name.without_places());
    let mut others = case.declared();
    others.extend(case.called_like_the_domain());
    if others.is_empty() && !case.is_named_firmly() {
        others.extend(case.beside_a_bare_line());
    }
    let mut known = Vec::new();
    others.retain(|(_, name)| {
        let folded = Folded::new(name);
        let is_new = !known.contains(&folded);
        known.push(folded);
        is_new
    });
    others
}

struct Case<'a> {
    owner: &'a [OwnerText],
    name: CompanyName,
    /// The registrable domain, and the label by which it is called, in its own letters.
    domain: Option<(String, String)>,
    /// Texts that a site says of itself, and that name the company.
    own: Vec<&'a str>,
    /// Texts that declare the owner, and name the company, or may.
    vouching: Vec<&'a OwnerText>,
}

impl<'a> Case<'a> {
    fn of(owner: &'a [OwnerText], home: &Url, name: &CompanyName) -> Self {
        let domain = HostName::of_url(home).and_then(|host| host.registrable());
        let domain = domain.map(|domain| {
            let (label, _) = idna::domain_to_unicode(domain.name_label());
            (domain.as_str().to_owned(), label)
        });
        let says_it = |text: &&OwnerText| {
            says_of_itself(text.place)
                && names(text.place, &text.text, name)
                && !is_in_list(&text.text, name)
        };
        let own = owner.iter().filter(says_it);
        let mut this = Self {
            owner,
            name: name.clone(),
            domain,
            own: own.map(|text| text.text.as_str()).collect(),
            vouching: Vec::new(),
        };
        let vouches = |text: &&OwnerText| {
            let same = |claimed: String| similarity(name, &claimed) == Similarity::Same;
            declares(text.place)
                && !is_in_list(&text.text, name)
                && (names(text.place, &text.text, name) || claim(text).is_some_and(same))
        };
        this.vouching = owner.iter().filter(vouches).collect();
        this
    }

    /// The others whom a declared name, a copyright line or a company's line names.
    fn declared(&self) -> Vec<Other> {
        let others = self.owner.iter().filter_map(|text| {
            if names(text.place, &text.text, &self.name) {
                return None;
            }
            let claimed = claim(text)?;
            let contests = match similarity(&self.name, &claimed) {
                Similarity::Same => false,
                Similarity::Different => true,
                Similarity::OtherScript if is_legal(text.place, &claimed) => true,
                Similarity::Unclear | Similarity::OtherScript => !self.speaks_alone(&claimed),
            };
            (contests && !self.is_domain(&claimed)).then_some((text.place, claimed))
        });
        others.collect()
    }

    /// Whether the site names the company of itself where the other name does not stand too.
    ///
    /// How a name in Chinese characters sounds is not known, so two names of one firm may well
    /// stand side by side.
    fn speaks_alone(&self, claimed: &str) -> bool {
        let claimed = Folded::new(claimed);
        let is_han = self.name.spellings().all(is_han);
        self.own
            .iter()
            .any(|text| is_han || !Folded::new(text).contains(&claimed))
    }

    /// Parts of titles and logos by which the domain is called, and not by the company.
    fn called_like_the_domain(&self) -> Vec<Other> {
        use OwnerPlace::{Header, Heading, Logo, Title};

        let Some((_, label)) = &self.domain else {
            return Vec::new();
        };
        if self.is_vouched_for(label) || self.is_named_like_domain() {
            return Vec::new();
        }
        let texts = self.owner.iter();
        let texts = texts.filter(|it| matches!(it.place, Title | Logo | Heading | Header));
        let parts = texts.flat_map(|text| parts(&text.text).map(move |part| (text.place, part)));
        let others = parts.filter_map(|(place, part)| {
            let part = named(part)?;
            let is_other = match similarity(&self.name, &part) {
                Similarity::Different => true,
                Similarity::OtherScript => !self.name.spellings().all(is_han),
                Similarity::Same | Similarity::Unclear => false,
            };
            let calls_it = similarity(&CompanyName::parse(&part), label) == Similarity::Same;
            (is_other && calls_it).then_some((place, part))
        });
        others.collect()
    }

    /// Whether what vouches for the company may speak for the whole domain: an organization is
    /// one of many on some pages, unless it is called like the domain too.
    fn is_vouched_for(&self, label: &str) -> bool {
        let mut vouching = self.vouching.iter();
        vouching.any(|text| {
            let mut parts = parts(&text.text);
            text.place != OwnerPlace::Organization
                || parts
                    .any(|part| similarity(&CompanyName::parse(part), label) == Similarity::Same)
        })
    }

    /// Whether the company is named by more than a line that has nothing but its name.
    fn is_named_firmly(&self) -> bool {
        let is_full = |text: &OwnerText| {
            text.place == OwnerPlace::Footer
                && names(text.place, &text.text, &self.name)
                && !is_name(&text.text, &self.name)
        };
        !self.vouching.is_empty()
            || !self.own.is_empty()
            || self.is_named_like_domain()
            || self.owner.iter().any(is_full)
    }

    /// The text where the company would be if it were the owner: the title, or what comes
    /// first at the place of the line.
    fn beside_a_bare_line(&self) -> Option<Other> {
        let texts = || self.owner.iter();
        let titles = texts().filter(|text| text.place == OwnerPlace::Title);
        let mut titles = titles.filter_map(|title| Some((title, named(&title.text)?)));
        if let Some((title, called)) = titles.next() {
            let is_same = similarity(&self.name, &called) == Similarity::Same;
            let is_own = is_same && !is_in_list(&called, &self.name);
            return (!is_own).then_some((title.place, called));
        }
        let line = texts().find(|text| names(text.place, &text.text, &self.name))?;
        let mut there = texts().filter(|text| text.place == line.place);
        let first = there.find(|text| named(&text.text).is_some())?;
        let is_own = first == line && !is_in_list(&line.text, &self.name);
        (!is_own).then(|| (first.place, first.text.clone()))
    }

    fn is_named_like_domain(&self) -> bool {
        let label = self.domain.as_ref().map(|(_, label)| label);
        label.is_some_and(|label| similarity(&self.name, label) == Similarity::Same)
    }

    /// Whether a name is the site's own domain, which says nothing of whose that is.
    fn is_domain(&self, claimed: &str) -> bool {
        let claimed = claimed.trim_end_matches('.').to_lowercase();
        let bare = claimed.strip_prefix("www.").unwrap_or(&claimed);
        let domain = self.domain.as_ref().map(|(domain, _)| domain);
        domain.is_some_and(|domain| domain == bare)
    }
}

/// Whether a name is one by law: what a company's line says, or a name with a legal form that
/// is written without spaces.
fn is_legal(place: OwnerPlace, claimed: &str) -> bool {
    let words = Folded::new(claimed);
    let stripped = company_name::stripped(words.words());
    matches!(place, OwnerPlace::Footer | OwnerPlace::Address)
        || stripped.concat().len() < words.compact().len() && claimed.chars().any(is_unspaced)
}

fn is_in_list(text: &str, name: &CompanyName) -> bool {
    const MIN_PARTS: usize = 4;
    let parts: Vec<&str> = parts(text)
        .flat_map(|part| part.split(is_between))
        .filter(|part| !part.trim().is_empty())
        .collect();
    let is_there = |part: Option<&&str>| part.is_some_and(|part| name.is_in(&Folded::new(part)));
    parts.len() >= MIN_PARTS && !is_there(parts.first()) && !is_there(parts.last())
}

fn is_han(name: &Folded) -> bool {
    use unicode_script::{Script, UnicodeScript as _};
    name.compact().chars().all(|c| c.script() == Script::Han)
}

/// Whether that text is the site's own name.
fn says_of_itself(place: OwnerPlace) -> bool {
    matches!(place, OwnerPlace::Title | OwnerPlace::Logo) || declares(place)
}

fn declares(place: OwnerPlace) -> bool {
    matches!(
        place,
        OwnerPlace::SiteName | OwnerPlace::Organization | OwnerPlace::Copyright
    )
}

pub(super) fn called(place: OwnerPlace) -> &'static str {
    match place {
        OwnerPlace::Title => "title",
        OwnerPlace::SiteName => "site name",
        OwnerPlace::Heading => "heading",
        OwnerPlace::Logo => "logo",
        OwnerPlace::Organization => "organization",
        OwnerPlace::Header => "header",
        OwnerPlace::Footer => "footer",
        OwnerPlace::Copyright => "copyright line",
        OwnerPlace::Address => "company line",
    }
}
