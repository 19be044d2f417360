//! Whether an address stands in a text whole.
//!
//! The local part may not go on to the left, nor the domain to the right. RFC 5322 §3.2.3 lets
//! an atom hold `|`, `=`, `/`, `*`, `#` and kin too, but texts use them to part an address from
//! its label, so these do not hide it; letters, digits, `_`, `+`, `%` and `&` do, and `.`, `-`
//! and `'` when something that does stands before them. Scripts written without spaces (Han,
//! kana, Hangul, Thai and kin) never run on into an address; other letters, such as Cyrillic
//! ones that look like Latin, do. For the same reason a local part with other signs than `.`,
//! `_`, `+`, `-` and `'`, or with any sign at an end, does not stand in a running text plainly.
//!
//! What is written like an address but names no mailbox is none: the user of a URL, of `scp`'s
//! `git@host:path`, or after the scheme of another service (`sip:1000@host`).

use unicode_normalization::char::is_combining_mark;

use super::text::is_unspaced;
use crate::world::mailbox::Mailbox;

/// Schemes, as written before a colon, of addresses that no mail goes to. Labels that people
/// write before an address of mail, such as `tel:`, are none.
const NOT_MAIL: &[&str] = &[
    "acct", "ftp", "ftps", "git", "h323", "jabber", "ldap", "rsync", "scp", "sftp", "sip", "sips",
    "skype", "ssh", "stun", "svn", "turn", "xmpp",
];

/// What is looked for.
pub(super) struct Needle {
    /// The local part, in lower case.
    pub(super) local: String,
    /// The domain, as A-labels and, if that differs, as U-labels.
    pub(super) domains: Vec<String>,
}

impl Needle {
    /// The forms in which a page may show `mailbox`.
    pub(super) fn of(mailbox: &Mailbox) -> Self {
        let ascii = mailbox.domain().as_str().to_ascii_lowercase();
        let (unicode, _) = idna::domain_to_unicode(&ascii);
        let mut domains = vec![ascii];
        if unicode != domains[0] {
            domains.push(unicode);
        }
        Self {
            local: mailbox.local().to_lowercase(),
            domains,
        }
    }

    /// Whether a running text that contains the whole address shows it plainly, or its first or
    /// last signs may belong to what stands around it.
    pub(super) fn is_plain(&self) -> bool {
        let local = self.local.as_bytes();
        let ends = |end: Option<&u8>| end.is_some_and(u8::is_ascii_alphanumeric);
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._+-'".contains(b);
        ends(local.first()) && ends(local.last()) && local.iter().all(plain)
    }

    /// Whether `text` contains the whole address, compared without case.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.match_indices('@').any(|(at, _)| {
            let Some(start) = at.checked_sub(self.local.len()) else {
                return false;
            };
            text.get(start..at)
                .is_some_and(|local| same(local, &self.local))
                && starts_alone(&text[..start])
                && !is_other_service(&text[..start])
                && self.domains.iter().any(|domain| {
                    after(&text[at + 1..], domain)
                        .is_some_and(|rest| ends_alone(rest, domain) && !is_remote_path(rest))
                })
        })
    }
}

fn same(text: &str, lower: &str) -> bool {
    text.eq_ignore_ascii_case(lower) || (!text.is_ascii() && text.to_lowercase() == lower)
}

/// What follows `lower`, if `text` starts with it but for case.
pub(super) fn after<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    if lower.is_ascii() {
        let start = text.get(..lower.len())?;
        return start
            .eq_ignore_ascii_case(lower)
            .then(|| &text[lower.len()..]);
    }
    let mut rest = text.chars();
    for expected in lower.chars() {
        let mut found = rest.next()?.to_lowercase();
        if found.next() != Some(expected) || found.next().is_some() {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Whether nothing in `before`, which precedes a local part, belongs to it.
pub(super) fn starts_alone(before: &str) -> bool {
    let joined = before.trim_end_matches(['.', '-', '\'', '\u{2019}']);
    let joiners = &before[joined.len()..];
    if joiners.len() > 1 && joiners.bytes().all(|byte| byte == b'.') {
        return true; // An ellipsis: no atom has two dots in a row.
    }
    if before.ends_with("://") {
        return false; // The user of a URL.
    }
    !joined
        .chars()
        .next_back()
        .is_some_and(|c| matches!(c, '@' | '_' | '+' | '%' | '&') || runs_on(c))
}

/// Whether what stands before a local part makes it the user of something other than mail.
pub(super) fn is_other_service(before: &str) -> bool {
    /// How far a URL is looked back for, in bytes.
    const MOST_LOOKED: usize = 512;
    let url = |b: &u8| b.is_ascii_graphic() && !b"<>\"'()[]{}|,;".contains(b);
    let token = before.bytes().rev().take(MOST_LOOKED);
    let token = &before[before.len() - token.take_while(|b| url(b)).count()..];
    if token.contains("://") {
        return true;
    }
    let Some(scheme) = before.strip_suffix(' ').unwrap_or(before).strip_suffix(':') else {
        return false;
    };
    NOT_MAIL.iter().any(|word| ends_with_word(scheme, word))
}

/// Whether a path on the host follows, as `scp` and git write it.
pub(super) fn is_remote_path(rest: &str) -> bool {
    let path = rest.strip_prefix(':');
    path.is_some_and(|path| path.starts_with(|c: char| !c.is_whitespace()))
}

/// Whether `text` ends with the word, and not with a longer one.
fn ends_with_word(text: &str, word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    let parts = start.and_then(|start| text.split_at_checked(start));
    parts.is_some_and(|(before, end)| {
        end.eq_ignore_ascii_case(word) && !before.ends_with(|c: char| c.is_ascii_alphanumeric())
    })
}

/// Whether nothing in `rest`, which follows `domain`, belongs to it.
pub(super) fn ends_alone(rest: &str, domain: &str) -> bool {
    let joined = rest.trim_start_matches(['.', '-', '_']);
    let joiners = &rest[..rest.len() - joined.len()];
    if joiners.len() > 1 && joiners.bytes().all(|byte| byte == b'.') {
        return true;
    }
    let Some(next) = joined.chars().next() else {
        return true;
    };
    let unspaced = joiners.is_empty() && domain.chars().next_back().is_some_and(is_unspaced);
    !(next == '@' || runs_on(next) || (unspaced && is_unspaced(next)))
}

/// Whether a character runs on into an address beside it.
pub(super) fn runs_on(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(address: &str, text: &str) -> bool {
        Needle::of(&Mailbox::parse(address).unwrap()).is_in(text)
    }

    #[test]
    fn neighbours_that_do_not_hide_an_address() {
        for text in [
            "info@acme.co",
            "INFO@Acme.CO",
            "TEL|info@acme.co",
            "E-mail:info@acme.co|FAX",
            "이메일info@acme.co로",
            "メールはセンターinfo@acme.coまで",
            "电邮info@acme.co。",
            "mail info@acme.co.",
            "info@acme.co...",
            "문의...info@acme.co",
            "<info@acme.co>",
            "(info@acme.co)",
            "'info@acme.co'",
            "mail='info@acme.co'",
            "a@b.c/info@acme.co/d@e.f",
            "-info@acme.co",
            "info@acme.co-",
            "✉info@acme.co☎",
            "อีเมลinfo@acme.co",
            "info@acme.co's",
            "x=info@acme.co?",
            "fo@acme.co info@acme.co",
            "info@acme.co,a@b.c",
            "*info@acme.co*",
            "—info@acme.co—",
            "info@acme.co.문의",
        ] {
            assert!(found("info@acme.co", text), "{text}");
        }
    }

    #[test]
    fn neighbours_that_belong_to_another_address() {
        for text in [
            "info@acme.com",
            "info@acme.co.kr",
            "info@acme.co-op.com",
            "x-info@acme.co",
            "x.info@acme.co",
            "xinfo@acme.co",
            "1info@acme.co",
            "_info@acme.co",
            "a+info@acme.co",
            "r&info@acme.co",
            "o'info@acme.co",
            "іinfo@acme.co",
            "éinfo@acme.co",
            "e\u{301}info@acme.co",
            "αinfo@acme.co",
            "info@acme.cо",
            "info@acme.co\u{301}",
            "info@acme.coop",
            "info@acme.co1",
            "info@acme.co@b.c",
            "@info@acme.co",
            "https://info@acme.co/",
            "info@mail.acme.co",
            "info @acme.co",
            "info@ acme.co",
            "info",
            "@acme.co",
            "",
            "nfo@acme.co",
            "info@acme.c",
            "info@\u{212a}acme.co",
            "info@acme.co_x",
        ] {
            assert!(!found("info@acme.co", text), "{text}");
        }
    }

    #[test]
    fn what_names_no_mailbox_is_none() {
        for text in [
            "git clone info@acme.co:acme/app.git",
            "ftp://guest:info@acme.co/pub",
            "https://acme.co/?q=info@acme.co",
            "sip:info@acme.co",
            "SIP: info@acme.co",
            "(xmpp:info@acme.co)",
        ] {
            assert!(!found("info@acme.co", text), "{text}");
        }
        for text in [
            "mailto:info@acme.co",
            "E-mail:info@acme.co",
            "gossip:info@acme.co",
            "https://acme.co info@acme.co",
            "https://acme.co|info@acme.co",
            "https://acme.co/메일info@acme.co",
            "Tel. 02-123-4567 / info@acme.co",
            "info@acme.co: mail",
            "info@acme.co:",
            "//info@acme.co",
        ] {
            assert!(found("info@acme.co", text), "{text}");
        }
    }

    #[test]
    fn an_address_with_odd_signs_is_not_plain() {
        let plain = |address: &str| Needle::of(&Mailbox::parse(address).unwrap()).is_plain();
        for address in [
            "info@a.co",
            "a.b+c@a.co",
            "a_b-c@a.co",
            "o'neil@a.co",
            "1@a.co",
        ] {
            assert!(plain(address), "{address}");
        }
        for address in [
            "tel|info@a.co",
            "*info@a.co",
            "-info@a.co",
            "'info@a.co",
            "info-@a.co",
        ] {
            assert!(!plain(address), "{address}");
        }
    }

    #[test]
    fn the_other_names_in_the_contract() {
        assert!(!found("fo@acme.co", "info@acme.co"));
        assert!(!found("acme@x.co", "x-acme@x.co"));
        assert!(found("x-acme@x.co", "x-acme@x.co"));
        assert!(!found("k@acme.co", "\u{212a}@acme.co"), "Kelvin sign");
    }

    #[test]
    fn international_domains_are_found_in_both_forms() {
        let address = "info@xn--bcher-kva.de";
        assert!(found(address, "info@xn--bcher-kva.de"));
        assert!(found(address, "info@BÜCHER.de"));
        assert!(!found(address, "info@bucher.de"));
        let korean = "info@acme.xn--3e0b707e";
        assert!(found(korean, "info@acme.한국 으로"));
        assert!(!found(korean, "info@acme.한국말"));
    }

    #[test]
    fn a_page_full_of_signs_ends() {
        assert!(!found("info@acme.co", &"@".repeat(2_000_000)));
        assert!(!found("info@acme.co", &"info@".repeat(400_000)));
        assert!(!found("info@acme.co", &"-".repeat(2_000_000)));
        assert!(!found("info@acme.co", &".info@acme.co-a".repeat(100_000)));
        assert!(!found("info@acme.co", &"://info@acme.co/".repeat(20_000)));
    }
}
