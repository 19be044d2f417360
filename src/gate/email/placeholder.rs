//! Step 2, `placeholder`: the address is a real one, and its mailbox is read.
//!
//! The step reads the address as it was submitted, so that it can also name an image file
//! or a sample that is no address at all.

use std::fmt;
use std::sync::LazyLock;

use url::Url;

use super::context::{Context, EMAIL};
use super::lists::{
    self, FILE_SUFFIX, FREEMAIL, PERSON, PLATFORM, RESERVED, ROLE, SAMPLE_ADDRESS, SAMPLE_DOMAIN,
    SAMPLE_LOCAL, with_parents,
};
use super::quoted::quoted;
use super::site::{hosted, registrable};
use crate::base::Digest;
use crate::gate::{Check, Cost, Finding, Level, Rule};
use crate::world::domain::HostName;

const PLACEHOLDER: &str = "placeholder";
const DISPOSABLE: &str = "disposable";
const NO_REPLY: &str = "no-reply";
const PERSONAL_MAILBOX: &str = "personal-mailbox";

static RULES: [Rule; 4] = [
    Rule::known(
        PLACEHOLDER,
        Level::Fail,
        "the address is a sample, a reserved name, a file name, or a platform's own",
        "submit an address that the company itself receives mail at",
    ),
    Rule::known(
        DISPOSABLE,
        Level::Fail,
        "the address is of a disposable-mail domain",
        "submit an address at the company's own domain",
    ),
    Rule::known(
        NO_REPLY,
        Level::Review,
        "the mailbox sends mail and does not read any",
        "submit a mailbox that is read, such as info@ or contact@, or leave it to a person",
    ),
    Rule::known(
        PERSONAL_MAILBOX,
        Level::Review,
        "the local part reads as a person's name (with scan --role-only)",
        "submit a mailbox of a role, such as info@ or sales@, or leave it to a person",
    ),
];

pub struct Placeholder;

impl Check<Context<'_>> for Placeholder {
    fn name(&self) -> &'static str {
        "placeholder"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(written) = Written::of(context) else {
            return Vec::new();
        };
        let placeholder = sample(&written, context.site.as_ref())
            .map(|why| (PLACEHOLDER, "an address of the company", why.to_string()));
        let disposable = disposable(&written.domain).map(|domain| {
            let actual = format!("{domain} is on the list of disposable-mail domains");
            (DISPOSABLE, "an address that lasts", actual)
        });
        let no_reply = reads_no_mail(&written.local).map(|word| {
            let actual = format!("{} reads as {word}", quoted(&written.local));
            (NO_REPLY, "a mailbox that is read", actual)
        });
        let person = context.settings.role_only && reads_as_person(&written.local);
        let personal = person.then(|| {
            let actual = format!("{} reads as a person's name", quoted(&written.local));
            (PERSONAL_MAILBOX, "a mailbox of a role", actual)
        });
        [placeholder, disposable, no_reply, personal]
            .into_iter()
            .flatten()
            .map(|(rule, expected, actual)| Finding::new(rule, expected, actual).on(EMAIL))
            .collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    File(&'static str),
    /// Its domain is reserved (RFC 2606, RFC 6761).
    Reserved(String),
    Domain(String),
    Local(String),
    Address(String),
    /// It has a hole that a template should have filled.
    Unfilled,
    Masked,
    /// It belongs to a platform that is not the company.
    Platform(&'static str),
    Tracker,
}

/// What makes `written` a placeholder.
///
/// A platform's own address is one only where the site is not that platform's.
#[must_use]
pub fn sample(written: &Written, site: Option<&Url>) -> Option<Sample> {
    let Written { local, domain } = written;
    if let Some(suffix) = file_suffix(domain) {
        return Some(Sample::File(suffix));
    }
    if RESERVED.covering(domain).is_some() || label(domain).as_deref() == Some("example") {
        return Some(Sample::Reserved(domain.clone()));
    }
    if is_tracker_key(local, domain) {
        return Some(Sample::Tracker);
    }
    if local.contains(['{', '}', '[', ']', '$']) || is_framed(local, '%') || is_framed(local, '_') {
        return Some(Sample::Unfilled);
    }
    if local.contains('*') || domain.contains('*') {
        return Some(Sample::Masked);
    }
    if let Some(entry) = sample_address(local, domain) {
        return Some(Sample::Address(entry));
    }
    if SAMPLE_LOCAL.has(local) {
        return Some(Sample::Local(local.clone()));
    }
    if let Some(entry) = SAMPLE_DOMAIN.covering(domain) {
        return Some(Sample::Domain(entry.to_owned()));
    }
    let platform = PLATFORM.covering(domain)?;
    (!is_own_site(domain, site)).then_some(Sample::Platform(platform))
}

fn file_suffix(domain: &str) -> Option<&'static str> {
    let last = domain.rsplit('.').next()?;
    FILE_SUFFIX.iter().find(|suffix| *suffix == last)
}

/// The label of the registrable domain: `acme` of `www.acme.co.kr`.
fn label(domain: &str) -> Option<String> {
    let registrable = HostName::parse(domain).ok()?.registrable()?;
    Some(registrable.name_label().to_owned())
}

/// Sentry's client keys are 32 hexadecimal digits at one of its hosts.
fn is_tracker_key(local: &str, domain: &str) -> bool {
    let is_key = local.len() == 32 && local.bytes().all(|b| b.is_ascii_hexdigit());
    is_key && domain.split('.').any(|label| label.starts_with("sentry"))
}

fn is_framed(local: &str, mark: char) -> bool {
    local.len() > 2 && local.starts_with(mark) && local.ends_with(mark)
}

/// The listed address, as `local@domain`, or `local@label.*` for the label under any suffix.
fn sample_address(local: &str, domain: &str) -> Option<String> {
    let exact = format!("{local}@{domain}");
    let any_suffix = label(domain).map(|label| format!("{local}@{label}.*"));
    [Some(exact), any_suffix]
        .into_iter()
        .flatten()
        .find(|address| SAMPLE_ADDRESS.has(address))
}

fn is_own_site(domain: &str, site: Option<&Url>) -> bool {
    let own = HostName::parse(domain)
        .ok()
        .and_then(|host| host.registrable());
    site.is_some_and(|site| hosted(site).is_none() && own.is_some() && registrable(site) == own)
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(suffix) => write!(f, "it is the name of a .{suffix} file"),
            Self::Reserved(name) => write!(f, "{} is a reserved name", name.escape_debug()),
            Self::Domain(domain) => write!(f, "{domain} is a domain that templates show"),
            Self::Local(local) => {
                write!(
                    f,
                    "{} is a local part that templates show",
                    local.escape_debug()
                )
            }
            Self::Address(address) => write!(f, "{address} is an address that templates show"),
            Self::Unfilled => f.write_str("it is a template that nobody filled in"),
            Self::Masked => f.write_str("part of it is hidden by asterisks"),
            Self::Platform(domain) => write!(f, "{domain} belongs to a platform, not to the site"),
            Self::Tracker => f.write_str("it is the key of an error tracker"),
        }
    }
}

/// The crate's list, sorted: it comes sorted today, and nothing promises that it stays so.
static DOMAINS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut domains = mailchecker::blacklist();
    domains.sort_unstable();
    domains
});

/// The disposable domain that `host` is or lies below.
///
/// A provider of ordinary mail that the list names all the same does not count: that is for
/// rule `freemail`.
#[must_use]
pub fn disposable(host: &str) -> Option<&'static str> {
    if FREEMAIL.covering(host).is_some() {
        return None;
    }
    with_parents(host).find_map(|name| {
        let place = DOMAINS.binary_search(&name).ok()?;
        DOMAINS.get(place).copied()
    })
}

#[must_use]
pub fn digest() -> Digest {
    Digest::of_parts(
        DOMAINS
            .iter()
            .flat_map(|domain| [domain.as_bytes(), b"\n".as_slice()]),
    )
}

/// How many words at most make up one entry of the list (`please-do-not-reply`).
const MOST_WORDS: usize = 4;

/// An entry from this length on is also known with something after it (`noreplykr`).
const LONG_ENTRY: usize = 7;

/// The listed word that the local part has, whatever parts its words: `no-reply`, `no_reply2`
/// and `acme.noreply` all have `noreply`.
#[must_use]
pub fn reads_no_mail(local: &str) -> Option<&'static str> {
    let words: Vec<&str> = local
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    (0..words.len())
        .flat_map(|start| {
            (1..=MOST_WORDS).filter_map(move |count| Some((start, start.checked_add(count)?)))
        })
        .filter_map(|(start, end)| words.get(start..end))
        .find_map(|run| entry(&run.concat()))
}

fn entry(word: &str) -> Option<&'static str> {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    lists::NO_REPLY
        .iter()
        .filter(|entry| *entry == bare || (entry.len() >= LONG_ENTRY && word.starts_with(entry)))
        .max_by_key(|entry| (entry.len(), *entry))
}

/// Whether the local part reads as a person's name.
///
/// A word that names a role, digits after it or not, makes it a role. Otherwise it is a
/// person's when it has two or three words of letters of which at most one is an initial
/// (`first.last`, `j.smith`, `kim_minsu`), or one word that is a listed name, two listed names
/// together, or an initial before a listed name (`minsu`, `kimminsu`, `jsmith`).
#[must_use]
pub fn reads_as_person(local: &str) -> bool {
    let words: Vec<&str> = local
        .split(['.', '_', '-'])
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    if words.iter().any(|word| ROLE.has(word)) {
        return false;
    }
    let all_letters = words
        .iter()
        .all(|word| word.chars().all(char::is_alphabetic));
    let initials = words
        .iter()
        .filter(|word| word.chars().nth(1).is_none())
        .count();
    match words.as_slice() {
        [word] => all_letters && is_name(word),
        [_, _] | [_, _, _] => all_letters && initials <= 1,
        _ => false,
    }
}

fn is_name(word: &str) -> bool {
    PERSON.has(word)
        || word.char_indices().skip(1).any(|(place, _)| {
            let (first, second) = word.split_at(place);
            PERSON.has(second) && (first.chars().count() == 1 || PERSON.has(first))
        })
}

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
mod tests_placeholder {
    use super::*;
    use crate::gate::email::testing::Bench;

    fn fired(email: &str) -> Vec<String> {
        Bench::good().email(email).fired(&Placeholder)
    }

    #[test]
    fn lets_a_role_mailbox_through() {
        assert_eq!(Bench::good().role_only().run(&Placeholder), []);
    }

    #[test]
    fn speaks_even_when_the_address_is_none() {
        assert_eq!(fired("logo@2x.png"), [PLACEHOLDER]);
        assert_eq!(fired("Your Name <your@email.com>"), [PLACEHOLDER]);
        assert_eq!(fired("홍길동@acme.co.kr"), [PLACEHOLDER]);
        assert_eq!(fired("acme.co.kr"), [""; 0]);
        assert_eq!(fired(""), [""; 0]);
    }

    #[test]
    fn tells_disposable_and_unread_apart() {
        assert_eq!(fired("info@mailinator.com"), [DISPOSABLE]);
        assert_eq!(fired("no-reply@a.mailinator.com"), [DISPOSABLE, NO_REPLY]);
        assert_eq!(fired("no-reply@acme.co.kr"), [NO_REPLY]);
        assert_eq!(fired("postmaster@acme.co.kr"), [""; 0]);
    }

    #[test]
    fn a_person_counts_only_when_roles_alone_are_wanted() {
        let person = Bench::good().email("minsu.kim@acme.co.kr");
        assert_eq!(person.fired(&Placeholder), [""; 0]);
        assert_eq!(person.role_only().fired(&Placeholder), [PERSONAL_MAILBOX]);
    }
}

#[cfg(test)]
mod tests_sample {
    use super::*;
    use crate::gate::email::format::web_url;

    fn why(address: &str) -> Option<Sample> {
        sample(&Written::read(address).unwrap(), None)
    }

    #[test]
    fn knows_reserved_names_and_not_their_neighbours() {
        for address in [
            "info@example.com",
            "info@mail.example.org",
            "user@example.co.kr",
            "a@acme.test",
            "a@x.invalid",
            "root@localhost",
            "a@printer.local",
        ] {
            assert!(
                matches!(why(address), Some(Sample::Reserved(_))),
                "{address}"
            );
        }
        for address in [
            "info@examples.com",
            "info@example.acme.com",
            "info@test-lab.com",
        ] {
            assert_eq!(why(address), None, "{address}");
        }
    }

    #[test]
    fn knows_samples_and_not_their_neighbours() {
        for address in [
            "your@email.com",
            "name@domain.com",
            "hong.gildong@acme.co.kr",
            "John.Doe+news@acme.com",
            "yourname@yourcompany.com",
            "abc@abc.com",
            "xxx@acme.co.kr",
            "test@test.co.kr",
            "filler@godaddy.com",
            "sample@sample.com",
        ] {
            assert!(why(address).is_some(), "{address}");
        }
        for address in [
            "info@abc.com",
            "abc@acme.com",
            "kim.gildong@acme.co.kr",
            "john.dow@acme.com",
            "names@acme.com",
            "testing-services@testlab.co.kr",
            "sample@hanbit-fabric.co.kr",
        ] {
            assert_eq!(why(address), None, "{address}");
        }
    }

    #[test]
    fn knows_file_names() {
        assert_eq!(why("logo@2x.png"), Some(Sample::File("png")));
        assert_eq!(why("local@2x.jpg.webp"), Some(Sample::File("webp")));
        assert_eq!(why("info@png.com"), None);
        for suffix in FILE_SUFFIX.iter() {
            let host = HostName::parse(&format!("a.{suffix}")).unwrap();
            assert!(!host.has_public_suffix(), "{suffix}");
        }
    }

    #[test]
    fn knows_masks_and_holes() {
        assert_eq!(why("in**@acme.co.kr"), Some(Sample::Masked));
        for address in [
            "{{email}}@acme.com",
            "%name%@acme.com",
            "${user}@acme.com",
            "__me__@acme.com",
        ] {
            assert_eq!(why(address), Some(Sample::Unfilled), "{address}");
        }
        assert_eq!(why("info_kr@acme.co.kr"), None);
        assert_eq!(why("_@acme.co.kr"), None);
    }

    #[test]
    fn a_platform_is_itself_on_its_own_site_alone() {
        let written = Written::read("press@shopify.com").unwrap();
        let on = |site: &str| sample(&written, Some(&web_url(site).unwrap()));
        assert_eq!(
            on("https://acme.co.kr/"),
            Some(Sample::Platform("shopify.com"))
        );
        assert_eq!(
            on("https://acme.wixsite.com/a"),
            Some(Sample::Platform("shopify.com"))
        );
        assert_eq!(on("https://www.shopify.com/contact"), None);
    }

    #[test]
    fn a_tracker_key_is_one_on_any_site() {
        let key = "605a7baede844d278b89dc95ae0a9123";
        let site = web_url("https://sentry.io/").unwrap();
        for host in [
            "sentry.io",
            "o1.ingest.sentry.io",
            "sentry-next.wixpress.com",
        ] {
            let written = Written::read(&format!("{key}@{host}")).unwrap();
            assert_eq!(
                sample(&written, Some(&site)),
                Some(Sample::Tracker),
                "{host}"
            );
        }
        let written = Written::read("hello@sentry.io").unwrap();
        assert_eq!(sample(&written, Some(&site)), None);
    }
}

#[cfg(test)]
mod tests_disposable {
    use super::*;

    #[test]
    fn finds_a_domain_and_what_lies_below_it() {
        assert_eq!(disposable("mailinator.com"), Some("mailinator.com"));
        assert_eq!(disposable("a.b.mailinator.com"), Some("mailinator.com"));
        assert_eq!(disposable("acme-mailinator.kr"), None);
        assert_eq!(disposable("mailinator.com.acme.kr"), None);
        assert_eq!(disposable("acme.co.kr"), None);
        assert_eq!(disposable(""), None);
    }

    #[test]
    fn ordinary_mail_is_not_disposable() {
        for host in FREEMAIL.iter() {
            assert_eq!(disposable(host), None, "{host}");
        }
    }
}

#[cfg(test)]
mod tests_no_reply {
    use super::*;

    #[test]
    fn knows_every_spelling() {
        for local in [
            "noreply",
            "no-reply",
            "no_reply2",
            "acme.noreply",
            "noreplykr",
            "do.not.reply",
            "please-do-not-reply",
            "mailer-daemon",
            "bounces",
            "발신전용",
        ] {
            assert!(reads_no_mail(local).is_some(), "{local}");
        }
    }

    #[test]
    fn lets_its_neighbours_through() {
        for local in [
            "reply",
            "info",
            "casino-reply",
            "bouncer",
            "postmaster",
            "nora.eply",
            "",
            "-",
        ] {
            assert_eq!(reads_no_mail(local), None, "{local}");
        }
    }
}

#[cfg(test)]
mod tests_person {
    use super::*;

    #[test]
    fn knows_names() {
        for local in [
            "jane.roe",
            "j.smith",
            "smith.j",
            "kim_minsu",
            "anna-maria.huber",
            "minsu",
            "kimminsu",
            "jsmith",
            "john2",
        ] {
            assert!(reads_as_person(local), "{local}");
        }
    }

    #[test]
    fn lets_roles_and_the_unknown_through() {
        for local in [
            "info",
            "sales.korea",
            "customer-service",
            "info2",
            "acme",
            "r.d",
            "a1.b2",
            "x",
            "",
            "...",
            "a.b.c.d",
            "as",
        ] {
            assert!(!reads_as_person(local), "{local}");
        }
    }
}

#[cfg(test)]
mod tests_written {
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
