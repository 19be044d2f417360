//! The sites that the operator's anchor names.

use url::Url;

use super::format::web_url;
use crate::quest::{Anchor, Quest};

/// The sites that a cell names, in its order: `acme.co.kr`, `www.acme.co.kr/en`,
/// `https://acme.co.kr`, or several of them apart by white space, commas or brackets.
///
/// What is no site (`-`, `n/a`, `없음`) is left out.
#[must_use]
pub fn anchor_sites(text: &str) -> Vec<Url> {
    text.split(is_between).filter_map(site).collect()
}

/// Whether the quest has an anchor that submissions can be held against.
#[must_use]
pub fn is_anchored(quest: &Quest) -> bool {
    !sites_of(quest).is_empty()
}

/// The sites that the quest's anchor names.
#[must_use]
pub fn sites_of(quest: &Quest) -> Vec<Url> {
    match &quest.anchor {
        Some(Anchor::Site(text)) => anchor_sites(text),
        None => Vec::new(),
    }
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || c.is_control() || ",;|<>()[]{}\"'、，；（）「」·".contains(c)
}

fn site(piece: &str) -> Option<Url> {
    let piece = piece.trim_end_matches(['.', ':']);
    if piece.contains("://") {
        return web_url(piece).ok();
    }
    web_url(&format!("https://{piece}")).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sites(text: &str) -> Vec<String> {
        anchor_sites(text).into_iter().map(Into::into).collect()
    }

    #[test]
    fn reads_what_people_write_in_cells() {
        assert_eq!(sites("acme.co.kr"), ["https://acme.co.kr/"]);
        assert_eq!(sites(" WWW.acme.co.kr/en "), ["https://www.acme.co.kr/en"]);
        assert_eq!(sites("http://acme.co.kr"), ["http://acme.co.kr/"]);
        assert_eq!(sites("한빛.한국"), ["https://xn--xx3br43b.xn--3e0b707e/"]);
        assert_eq!(
            sites("acme.co.kr, acme.com\nhttps://acme.jp/（本社） / acme.de."),
            [
                "https://acme.co.kr/",
                "https://acme.com/",
                "https://acme.jp/",
                "https://acme.de/"
            ]
        );
    }

    #[test]
    fn what_is_no_site_is_no_anchor() {
        for text in [
            "",
            " ",
            "-",
            "n/a",
            "N/A",
            "없음",
            "미상",
            "?",
            "02-123-4567",
            "2024.05",
            "info@acme.co.kr",
        ] {
            assert_eq!(sites(text), [""; 0], "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = anchor_sites(&text);
        }
    }
}
