//! Visits that end without a page.

use url::Url;

use super::super::quoted::quoted;
use super::finding;
use crate::gate::Finding;
use crate::world::fetch::visit::{End, Unread, UnreadFrame};

const ANSWER: &str = "a page that can be read";

/// What the end says; nothing of a visit that ended at pages.
pub fn finding_of(end: &End) -> Option<Finding> {
    Some(match end {
        End::Pages(_) => return None,
        End::Missing { url, status } => {
            let actual = status.map_or_else(
                || "no such host".to_owned(),
                |status| format!("status {status}"),
            );
            finding("source-missing", url, "a page that exists", actual)
        }
        End::Unanswered { url, why } => unanswered(url, &why.to_string()),
        End::Forbidden { url } => forbidden(url),
        End::Unreadable { url, why } => unreadable(url, why),
    })
}

/// What a frame that could not be read says, when the address was not found elsewhere.
pub fn finding_of_frame(frame: &UnreadFrame) -> Finding {
    let url = &frame.url;
    match &frame.why {
        Unread::Unanswered(why) => unanswered(url, &why.to_string()),
        Unread::Forbidden => forbidden(url),
        Unread::Unreadable(why) => unreadable(url, why),
        Unread::TooManyHops => unanswered(url, "a frame beyond those that are followed"),
    }
}

fn unanswered(url: &Url, why: &str) -> Finding {
    finding("source-unanswered", url, ANSWER, quoted(why))
}

fn forbidden(url: &Url) -> Finding {
    finding(
        "source-robots",
        url,
        "a page that robots.txt lets read",
        "robots.txt forbids it",
    )
}

fn unreadable(url: &Url, why: &str) -> Finding {
    finding("source-unreadable", url, ANSWER, quoted(why))
}
