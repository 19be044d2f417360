//! Elements whose content visitors of a page write.

use scraper::node::Element;

/// Words of an id or a class that are enough by themselves.
const WORDS: &[&str] = &[
    "cmt",
    "cmts",
    "disqus",
    "guestbook",
    "replies",
    "reply",
    "review",
    "reviews",
    "testimonial",
    "testimonials",
    "ugc",
];

/// Words of which others are made that are enough: `commentlist`, but not `commentary`.
const STEMS: &[&str] = &[
    "comment",
    "replybox",
    "replylist",
    "reviewlist",
    "guestbook",
];

/// Words that begin with a stem, and are no visitors'.
const OWNERS: &[&str] = &["commentaries", "commentary", "commentator"];

/// What a place is called at which visitors write.
const PLACES: &[&str] = &["bbs", "board", "forum", "qna", "thread", "topic"];

/// What a part of such a place is called that shows what they wrote.
const PARTS: &[&str] = &[
    "article", "body", "content", "contents", "detail", "item", "list", "message", "post", "posts",
    "read", "text", "view",
];

const TYPES: &[&str] = &["Answer", "Comment", "Question", "Review", "UserReview"];

/// Whether visitors write what is in an element: comments, replies, reviews and posts, by the
/// words of its id or a class, or by schema.org's type or property.
pub(super) fn write_in(element: &Element) -> bool {
    if matches!(element.name(), "html" | "body" | "main") {
        return false;
    }
    let types = element.attr("itemtype").unwrap_or_default();
    let mut types = types.split_ascii_whitespace();
    let properties = element.attr("itemprop").unwrap_or_default();
    let mut properties = properties.split_ascii_whitespace();
    element
        .id()
        .into_iter()
        .chain(element.classes())
        .any(is_called_so)
        || types.any(|one| TYPES.contains(&one.rsplit('/').next().unwrap_or(one)))
        || properties.any(|one| matches!(one, "comment" | "review" | "reviewBody"))
}

fn is_called_so(name: &str) -> bool {
    let words = words(name);
    let stands = |word: &String| {
        WORDS.contains(&word.as_str())
            || STEMS.iter().any(|stem| word.starts_with(stem)) && !OWNERS.contains(&word.as_str())
            || PLACES.iter().any(|place| {
                word.strip_prefix(place)
                    .is_some_and(|part| PARTS.contains(&part))
            })
    };
    let is_pair = |pair: &[String]| {
        PLACES.contains(&pair[0].as_str()) && PARTS.contains(&pair[1].as_str())
            || WORDS.contains(&pair.concat().as_str())
    };
    words.iter().any(stands) || words.windows(2).any(is_pair)
}

/// The words of a name in lower case, which signs and capitals part.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_ascii_alphanumeric()
        {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_visitors() {
        for name in [
            "comments",
            "guestBook",
            "commentBody",
            "commentarea",
            "comment-list",
            "cmt",
            "cmt_list",
            "board_view",
            "boardView",
            "boardview",
            "bbs-list",
            "bbsContent",
            "qna_list",
            "forum-post",
            "postReply",
            "REVIEWS",
        ] {
            assert!(is_called_so(name), "{name}");
        }
    }

    #[test]
    fn boxes_of_the_owner() {
        for name in [
            "commentary",
            "dashboard",
            "board-of-directors",
            "board",
            "preview",
            "content-view",
            "keyboard-list",
            "news_view",
            "",
        ] {
            assert!(!is_called_so(name), "{name}");
        }
    }
}
