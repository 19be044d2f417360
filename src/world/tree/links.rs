//! Where a tree's links lead.

use super::entry::Entry;
use super::listing::Listing;
use super::path::TreePath;

/// The links on one way that a system follows before it gives up.
const HOPS: usize = 40;

/// Whether a link, with all links on its way, leads to a place in the tree.
///
/// The way is gone name by name, as a system does: `..` after a link leaves the folder that the
/// link leads to, so a text that looks harmless may lead out.
pub(super) fn stays_inside(listing: &Listing, link: &TreePath, to: &str) -> bool {
    let mut at: Vec<&str> = link.names().collect();
    at.pop();
    let mut ahead = Vec::new();
    if to.is_empty() || !go(&mut ahead, to) {
        return false;
    }
    let mut hops = 0;
    while let Some(name) = ahead.pop() {
        match name {
            "" | "." => {}
            ".." => {
                if at.pop().is_none() {
                    return false;
                }
            }
            name => {
                at.push(name);
                if let Some(to) = link_at(listing, &at) {
                    at.pop();
                    hops += 1;
                    if hops > HOPS || !go(&mut ahead, to) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// Puts the names of a link before those ahead; not those of one that begins anew.
fn go<'a>(ahead: &mut Vec<&'a str>, to: &'a str) -> bool {
    ahead.extend(to.split('/').rev());
    !to.starts_with('/')
}

fn link_at<'a>(listing: &'a Listing, names: &[&str]) -> Option<&'a str> {
    match listing.get(&TreePath::parse(&names.join("/")).ok()?)? {
        Entry::Link { to } => Some(to),
        Entry::File { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn stays(link: &str, links: &[(&str, &str)]) -> bool {
        let path = |text: &str| TreePath::parse(text).unwrap();
        let entries = links.iter().map(|(from, to)| {
            let to = (*to).to_owned();
            (path(from), Entry::Link { to })
        });
        let listing = Listing::new(entries.collect(), BTreeSet::new()).unwrap();
        let link = path(link);
        let Some(Entry::Link { to }) = listing.get(&link).cloned() else {
            unreachable!("the link is one of the links");
        };
        stays_inside(&listing, &link, &to)
    }

    #[test]
    fn follows_names_and_links() {
        assert!(stays("a/l", &[("a/l", "../b/c")]));
        assert!(stays("l", &[("l", ".")]));
        assert!(stays("a/b/l", &[("a/b/l", "../..")]));
        assert!(stays("l", &[("l", "m/x"), ("m", "n"), ("n", "gone")]));
        assert!(!stays("l", &[("l", "/etc/passwd")]));
        assert!(!stays("l", &[("l", "..")]));
        assert!(!stays("a/l", &[("a/l", "../b/../../c")]));
        assert!(!stays("l", &[("l", "m/x"), ("m", "/etc")]));
        assert!(!stays("l", &[("l", "")]));
    }

    #[test]
    fn upwards_is_from_where_a_link_leads() {
        // `d/e/m` is the root, so what looks like `d/..` is two folders above it.
        assert!(!stays("l", &[("l", "d/e/m/../.."), ("d/e/m", "../..")]));
        assert!(stays("l", &[("l", "m/../.."), ("m", "d/e")]));
    }

    #[test]
    fn a_circle_leads_nowhere() {
        assert!(!stays("l", &[("l", "l")]));
        assert!(!stays("l", &[("l", "m"), ("m", "l/x")]));
    }
}
