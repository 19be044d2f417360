//! The address as it was submitted, for rules that must speak even when it is not one.

use super::context::{Context, EMAIL};

/// The longest text that is searched, in bytes: an address has at most 254.
const MAX_BYTES: usize = 1024;

/// The two sides of what was submitted, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What stands before the last `@`, without a `+tag`.
    pub local: String,
    /// What stands after it, without a trailing dot.
    pub domain: String,
}

impl Written {
    /// The sides of the submitted address; none without an `@`.
    #[must_use]
    pub fn of(context: &Context<'_>) -> Option<Self> {
        match &context.email {
            Some(mailbox) => Some(Self::new(mailbox.local(), mailbox.domain().as_str())),
            None => Self::read(context.text(&EMAIL)?),
        }
    }

    /// The sides of `text`, whatever stands around them (`Hong <hong@acme.co.kr>`); none in a
    /// text of more than 1,024 bytes.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let outside = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | ':' | ',' | ';');
        if text.len() > MAX_BYTES {
            return None;
        }
        let (before, after) = text.rsplit_once('@')?;
        let local = before.rsplit(outside).next()?;
        let domain = after.split(outside).next()?;
        Some(Self::new(
            &local.to_lowercase(),
            domain.trim_end_matches('.').to_lowercase().as_str(),
        ))
    }

    fn new(local: &str, domain: &str) -> Self {
        let untagged = local.split_once('+').map_or(local, |(user, _)| user);
        Self {
            local: untagged.to_owned(),
            domain: domain.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        Written::read(text).map(|written| (written.local, written.domain))
    }

    #[test]
    fn finds_the_sides_of_what_is_no_address() {
        let sides = |local: &str, domain: &str| Some((local.to_owned(), domain.to_owned()));
        assert_eq!(read("Logo@2x.PNG"), sides("logo", "2x.png"));
        assert_eq!(read("mailto:A+b@x.kr."), sides("a", "x.kr"));
        assert_eq!(read("Hong <hong@x.kr>"), sides("hong", "x.kr"));
        assert_eq!(read("홍길동@x.kr"), sides("홍길동", "x.kr"));
        assert_eq!(read("@"), sides("", ""));
        assert_eq!(read("info.x.kr"), None);
        assert_eq!(read(&"a@".repeat(MAX_BYTES)), None);
    }
}
