//! Which page a person opens to look for themselves.

use url::Url;

use crate::quest::Submission;
use crate::review::Item;

/// The page that the answer rests on.
///
/// In this order: what was submitted as `source`, the page that a fact's lines are of, the first
/// address among the submitted values, the first page that was asked for. Web pages alone.
#[must_use]
pub fn source_page(item: &Item) -> Option<Url> {
    let own = item.submission.field("source");
    let excerpts = item.facts.iter().filter_map(|fact| fact.excerpt.as_ref());
    let texts = own
        .into_iter()
        .chain(excerpts.map(|excerpt| excerpt.of.as_str()))
        .chain(values(&item.submission));
    let pages = item.pages.iter().map(|page| page.url.as_str());
    texts.chain(pages).find_map(web)
}

fn values(submission: &Submission) -> impl Iterator<Item = &str> {
    let fields = match submission {
        Submission::Fields(fields) => Some(fields),
        Submission::None(_) => None,
    };
    fields
        .into_iter()
        .flat_map(|it| it.values())
        .map(String::as_str)
}

fn web(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

#[cfg(test)]
mod tests {
    use super::super::tests::item;
    use super::*;
    use crate::review::{Excerpt, SeenPage};

    fn page(item: &Item) -> Option<String> {
        source_page(item).map(Url::into)
    }

    #[test]
    fn what_was_submitted_goes_before_what_was_met() {
        let mut seen = item(&[("home", "https://b.example/"), ("name", "B")]);
        seen.pages = vec![SeenPage {
            url: Url::parse("https://d.example/").unwrap(),
            answer: "status 200".to_owned(),
        }];
        assert_eq!(page(&seen).as_deref(), Some("https://b.example/"));
        seen.facts[0].excerpt = Some(Excerpt {
            of: "https://c.example/".to_owned(),
            first: 1,
            lines: Vec::new(),
        });
        assert_eq!(page(&seen).as_deref(), Some("https://c.example/"));
        let mut named = item(&[
            ("home", "https://b.example/"),
            ("source", "http://a.example"),
        ]);
        named.pages = seen.pages;
        assert_eq!(page(&named).as_deref(), Some("http://a.example/"));
    }

    #[test]
    fn nothing_but_web_pages_is_opened() {
        for text in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "--help",
            "src/a.rs",
        ] {
            assert_eq!(page(&item(&[("source", text)])), None, "{text}");
        }
    }
}
