//! What a page tells machines about itself: JSON-LD with schema.org's words.

use serde_json::Value;

use super::OwnerPlace;
use crate::base::word_list::word_lists;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Values of `email` of the page's own organization and of its contact points.
    pub(super) emails: Vec<String>,
    /// Values of `email` that stand elsewhere: a reviewer's, an author's.
    pub(super) others_emails: Vec<String>,
    /// Names of the page's own organizations and sites: those of one together.
    pub(super) names: Vec<(OwnerPlace, Vec<String>)>,
}

word_lists! { ORGANIZATIONS = "words/organizations.txt"; }

/// Types whose `publisher`, `copyrightHolder`, `about` or `mainEntity` is the page's owner.
const PAGES: &[&str] = &[
    "AboutPage",
    "CollectionPage",
    "ContactPage",
    "WebPage",
    "WebSite",
];

/// Whether a type's name, bare or as a schema.org URL, is an organization's.
pub(super) fn is_organization(name: &str) -> bool {
    ORGANIZATIONS.contains(&type_name(name))
}

fn type_name(name: &str) -> &str {
    name.rsplit(['/', ':', '#']).next().unwrap_or(name)
}

/// Reads one JSON-LD script; none when it is not JSON.
///
/// Names count of organizations at the top level or in `@graph`, and of those that a page or
/// site at that level names as its own. An organization elsewhere, such as the one a review is
/// about or an author works for, does not own the page.
pub(super) fn json_ld(script: &str) -> Option<Said> {
    let script = script
        .trim()
        .trim_start_matches("<!--")
        .trim_end_matches("-->");
    let script = script
        .trim()
        .trim_start_matches("//<![CDATA[")
        .trim_end_matches("//]]>");
    let root: Value = serde_json::from_str(script.trim()).ok()?;
    let mut said = Said::default();
    let mut owners = Vec::new();
    for top in top_objects(&root) {
        said.name(top);
        let is_page = types(top).any(|name| PAGES.contains(&name));
        if is_page || types(top).any(is_organization) || types(top).next().is_none() {
            owners.push(top);
        }
        if is_page {
            // What a page is about may be somebody else.
            let keys = ["publisher", "copyrightHolder"].iter();
            let named = keys.filter_map(|key| top.get(key));
            named.flat_map(one_or_many).for_each(|it| said.name(it));
            ["publisher", "copyrightHolder", "about", "mainEntity"]
                .iter()
                .filter_map(|key| top.get(key))
                .flat_map(one_or_many)
                .for_each(|owner| {
                    if types(owner).any(is_organization) {
                        owners.push(owner);
                    }
                });
        }
    }
    for owner in owners {
        said.emails.extend(emails(owner));
        let contacts = CONTACTS.iter().filter_map(|key| owner.get(key));
        said.emails
            .extend(contacts.flat_map(one_or_many).flat_map(emails));
    }
    let mut values = vec![&root];
    while let Some(value) = values.pop() {
        match value {
            Value::Array(array) => values.extend(array.iter().rev()),
            Value::Object(object) => {
                let new = emails(value).filter(|email| !said.emails.contains(email));
                let new: Vec<String> = new.collect();
                said.others_emails.extend(new);
                values.extend(object.values());
            }
            _ => {}
        }
    }
    Some(said)
}

/// Properties of an organization whose value may have an address of it.
const CONTACTS: &[&str] = &["contactPoint", "contactPoints", "address", "location"];

/// The values of an object's own `email`.
fn emails(of: &Value) -> impl Iterator<Item = String> {
    let emails = of.get("email").into_iter().flat_map(one_or_many);
    emails.filter_map(Value::as_str).map(without_scheme)
}

/// The address of a value of `email`, which may be written as a `mailto:` link.
pub(super) fn without_scheme(email: &str) -> String {
    let scheme = email.get(..7).filter(|s| s.eq_ignore_ascii_case("mailto:"));
    email[scheme.map_or(0, str::len)..].trim().to_owned()
}

impl Said {
    fn name(&mut self, of: &Value) {
        let place = if types(of).any(is_organization) {
            OwnerPlace::Organization
        } else if types(of).any(|name| name == "WebSite") {
            OwnerPlace::SiteName
        } else {
            return;
        };
        // Beside its brand, an organization is the firm whose legal name it gives.
        for keys in [&["name", "legalName", "alternateName"][..], &["legalName"]] {
            let names = keys.iter().filter_map(|key| of.get(key));
            let names = names.flat_map(one_or_many).filter_map(Value::as_str);
            let names: Vec<String> = names.map(str::to_owned).collect();
            if !names.is_empty() {
                self.names.push((place, names));
            }
        }
    }
}

/// Objects at the top level and in `@graph` there.
fn top_objects(root: &Value) -> impl Iterator<Item = &Value> {
    one_or_many(root).flat_map(|top| {
        let graph = top.get("@graph").into_iter().flat_map(one_or_many);
        std::iter::once(top).chain(graph)
    })
}

fn one_or_many(value: &Value) -> std::slice::Iter<'_, Value> {
    match value {
        Value::Array(array) => array.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

fn types(of: &Value) -> impl Iterator<Item = &str> {
    let types = of.get("@type").into_iter().flat_map(one_or_many);
    types.filter_map(Value::as_str).map(type_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(script: &str) -> Vec<String> {
        let said = json_ld(script).unwrap();
        said.names
            .into_iter()
            .flat_map(|(_, names)| names)
            .collect()
    }

    #[test]
    fn organizations_name_the_owner() {
        assert_eq!(
            names(r#"{"@type":"Corporation","name":"Acme","legalName":"Acme Inc."}"#),
            ["Acme", "Acme Inc.", "Acme Inc."]
        );
        assert_eq!(
            names(r#"[{"@type":["Thing","http://schema.org/Store"],"name":"Acme"}]"#),
            ["Acme"]
        );
        assert_eq!(
            names(
                r#"{"@graph":[{"@type":"WebSite","name":"S","publisher":{"@type":"Organization","name":"Acme"}}]}"#
            ),
            ["S", "Acme"]
        );
    }

    #[test]
    fn others_organizations_do_not() {
        for script in [
            r#"{"@type":"Review","itemReviewed":{"@type":"Organization","name":"Acme"}}"#,
            r#"{"@type":"Organization","member":{"@type":"Organization","name":"Acme"}}"#,
            r#"{"@type":"Person","name":"Acme"}"#,
            r#"{"@type":"NewsArticle","publisher":{"@type":"Organization","name":"Acme"}}"#,
            r#"{"name":"Acme"}"#,
        ] {
            assert_eq!(names(script), Vec::<String>::new(), "{script}");
        }
    }

    #[test]
    fn emails_of_the_owner_and_of_others_are_told_apart() {
        for (script, is_owners) in [
            (r#"<!-- {"email":"mailto:a@acme.co"} -->"#, true),
            (r#"{"@type":"Organization","email":["a@acme.co"]}"#, true),
            (
                r#"{"@type":"Organization","contactPoint":[{"email":"a@acme.co"}]}"#,
                true,
            ),
            (
                r#"{"@graph":[{"@type":"ContactPage","mainEntity":{"@type":"Store","email":"a@acme.co"}}]}"#,
                true,
            ),
            (
                r#"{"@type":"Product","review":{"author":{"@type":"Person","email":"a@acme.co"}}}"#,
                false,
            ),
            (
                r#"{"@type":"Organization","employee":{"email":"a@acme.co"}}"#,
                false,
            ),
            (r#"{"@type":"Person","email":"a@acme.co"}"#, false),
        ] {
            let said = json_ld(script).unwrap();
            let (found, none) = if is_owners {
                (said.emails, said.others_emails)
            } else {
                (said.others_emails, said.emails)
            };
            assert_eq!(
                (found, none),
                (vec!["a@acme.co".to_owned()], Vec::new()),
                "{script}"
            );
        }
        let said = json_ld(r#"{"emails":"a@acme.co","email":1,"note":"b@acme.co"}"#);
        assert_eq!(said.unwrap(), Said::default());
    }

    #[test]
    fn what_is_not_json_says_nothing() {
        assert_eq!(json_ld(&"[".repeat(100_000)), None);
        assert_eq!(json_ld("{"), None);
        assert_eq!(
            json_ld(r#"{"email":"mailt가a@b.c"}"#).unwrap().emails,
            ["mailt가a@b.c"]
        );
    }
}
