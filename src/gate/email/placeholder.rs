//! Step 2, `placeholder`: the address is a real one, and its mailbox is read.
//!
//! The step reads the address as it was submitted, so that it can also name an image file
//! or a sample that is no address at all.

use std::cmp::Reverse;
use std::sync::LazyLock;

use url::Url;

use super::lists::{
    FILE_SUFFIX, NO_MAILBOX, PERSON, PLATFORM, RESERVED, ROLE, SAMPLE_ADDRESS, SAMPLE_DOMAIN,
    SAMPLE_LOCAL, disposable,
};
use super::site::{hosted, registrable};
use super::step::{Context, EMAIL, Step, quoted};
use crate::base::words::{Text, rows};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::domain::HostName;

pub static STEP: Step = Step {
    name: "email-placeholder",
    cost: Cost::Local,
    verifies: Verifies::Form,
    keys: &["site", "email", "role_only"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let Some(written) = Written::of(context) else {
        return Vec::new();
    };
    let local = quoted(&written.local);
    let sample = sample(&written, context.site.as_ref())
        .map(|why| Fact::new("placeholder", "an address of the company", why));
    let lasting = disposable(&written.domain).map(|domain| {
        let actual = format!("{domain} is on the list of disposable-mail domains");
        Fact::new("disposable", "a permanent address", actual)
    });
    let no_reply = reads_no_mail(&written.local).map(|word| {
        let actual = format!("{local} looks like {word}");
        Fact::new("no-reply", "a mailbox that somebody reads", actual)
    });
    let person = context.role_only && reads_as_person(&written.local);
    let personal = person.then(|| {
        let actual = format!("{local} looks like a person's name");
        Fact::new("personal-mailbox", "a role mailbox", actual)
    });
    let found = [sample, lasting, no_reply, personal].into_iter();
    found.flatten().map(|finding| finding.on(EMAIL)).collect()
}

/// Why `written` is a placeholder, if it is one.
///
/// A platform's own address is one only where the site is not that platform's.
pub fn sample(written: &Written, site: Option<&Url>) -> Option<String> {
    let Written { local, domain } = written;
    let last = domain.rsplit('.').next()?;
    let exact = format!("{local}@{domain}");
    // A listed `local@label.*` matches the label under any suffix.
    let any_suffix = label(domain).map(|label| format!("{local}@{label}.*"));
    let mut addresses = [Some(exact), any_suffix].into_iter().flatten();
    let why = if let Some(suffix) = FILE_SUFFIX.iter().find(|suffix| *suffix == last) {
        format!("it is the name of a .{suffix} file")
    } else if RESERVED.covering(domain).is_some() || label(domain).as_deref() == Some("example") {
        // RFC 2606, RFC 6761.
        format!("{} is a reserved name", domain.escape_debug())
    } else if is_tracker_key(local, domain) {
        "it is the key of an error tracker".to_owned()
    } else if local.contains(['{', '}', '[', ']', '$'])
        || is_framed(local, '%')
        || is_framed(local, '_')
    {
        "it is a template that nobody filled in".to_owned()
    } else if local.contains('*') || domain.contains('*') {
        "part of it is hidden by asterisks".to_owned()
    } else if let Some(address) = addresses.find(|address| SAMPLE_ADDRESS.has(address)) {
        format!("{address} is an address that templates show")
    } else if SAMPLE_LOCAL.has(local) {
        let local = local.escape_debug();
        format!("{local} is a local part that templates show")
    } else if let Some(entry) = SAMPLE_DOMAIN.covering(domain) {
        format!("{entry} is a domain that templates show")
    } else {
        let platform = PLATFORM.covering(domain)?;
        if is_own_site(domain, site) {
            return None;
        }
        format!("{platform} belongs to a platform, not to the site")
    };
    Some(why)
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

fn is_own_site(domain: &str, site: Option<&Url>) -> bool {
    let host = HostName::parse(domain).ok();
    let own = host.and_then(|host| host.registrable());
    site.is_some_and(|site| hosted(site).is_none() && own.is_some() && registrable(site) == own)
}

/// How many words at most make up one entry of the list (`please-do-not-reply`).
const MAX_WORDS: usize = 4;

/// An entry from this length on is also known with something after it (`noreplykr`).
const LONG_ENTRY: usize = 7;

/// The listed word that the local part has, whatever parts its words: `no-reply`, `no_reply2`
/// and `acme.noreply` all have `noreply`.
pub fn reads_no_mail(local: &str) -> Option<&'static str> {
    let words: Vec<&str> = local
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let ends = |start| (1..=MAX_WORDS).map(move |count| start..start + count);
    let runs = (0..words.len()).flat_map(ends);
    let mut runs = runs.filter_map(|run| words.get(run));
    runs.find_map(|run| entry(&run.concat()))
}

/// The longest first.
static UNREAD: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rows = rows::<Text>(NO_MAILBOX).into_iter();
    let mut entries: Vec<String> = rows.map(|row| row.word.text).collect();
    entries.sort_by_key(|entry| Reverse(entry.len()));
    entries
});

fn entry(word: &str) -> Option<&'static str> {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut entries = UNREAD.iter().map(String::as_str);
    entries.find(|entry| *entry == bare || (entry.len() >= LONG_ENTRY && word.starts_with(*entry)))
}

/// Whether the local part reads as a person's name.
///
/// A word that names a role, digits after it or not, makes it a role. Otherwise it is a
/// person's when it has two or three words of letters of which at most one is an initial
/// (`first.last`, `j.smith`, `kim_minsu`), or one word that is a listed name, two listed names
/// together, or an initial before a listed name (`minsu`, `kimminsu`, `jsmith`).
pub fn reads_as_person(local: &str) -> bool {
    let words: Vec<&str> = local
        .split(['.', '_', '-'])
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    if words.iter().any(|word| ROLE.has(word)) {
        return false;
    }
    let mut letters = words.iter().flat_map(|word| word.chars());
    let all_letters = letters.all(char::is_alphabetic);
    let is_initial = |word: &&&str| word.chars().nth(1).is_none();
    let initials = words.iter().filter(is_initial).count();
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub local: String,
    pub domain: String,
}

impl Written {
    /// The sides of the submitted address; none without an `@`.
    pub fn of(context: &Context<'_>) -> Option<Self> {
        match &context.email {
            Some(mailbox) => Some(Self::new(mailbox.local(), mailbox.domain().as_str())),
            None => Self::read(context.text(&EMAIL)?),
        }
    }

    /// The sides of `text`, whatever surrounds them (`Hong <hong@acme.co.kr>`); none in a
    /// text of more than 1,024 bytes.
    pub fn read(text: &str) -> Option<Self> {
        let outside = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | ':' | ',' | ';');
        if text.len() > MAX_BYTES {
            return None;
        }
        let (before, after) = text.rsplit_once('@')?;
        let local = before.rsplit(outside).next()?;
        let domain = after.split(outside).next()?;
        let domain = domain.trim_end_matches('.').to_lowercase();
        Some(Self::new(&local.to_lowercase(), &domain))
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
    use crate::base::rows;
    use crate::base::words::check;
    use crate::gate::email::tests::EmailCase;
    use crate::gate::email::web_url::web_url;

    #[test]
    fn lets_a_role_mailbox_through() {
        assert_eq!(EmailCase::good().role_only().run(&STEP), []);
    }

    #[test]
    fn speaks_of_what_was_submitted_even_when_that_is_no_address() {
        for (email, expected) in rows! {
            "logo@2x.png" => "placeholder";
            "Your Name <your@email.com>" => "placeholder";
            "홍길동@acme.co.kr" => "placeholder";
            "acme.co.kr" => "";
            "" => "";
            "info@mailinator.com" => "disposable";
            "no-reply@a.mailinator.com" => "disposable no-reply";
            "no-reply@acme.co.kr" => "no-reply";
            "postmaster@acme.co.kr" => "";
            // A person counts only when roles alone are wanted.
            "minsu.kim@acme.co.kr" => "";
        } {
            let fired = EmailCase::good().email(email).fired(&STEP);
            assert_eq!(fired.join(" "), expected, "{email}");
        }
        let person = EmailCase::good().email("minsu.kim@acme.co.kr").role_only();
        assert_eq!(person.fired(&STEP), ["personal-mailbox"]);
    }

    fn why(address: &str) -> Option<String> {
        sample(&Written::read(address).unwrap(), None)
    }

    #[test]
    fn knows_reserved_names_and_not_their_neighbours() {
        for address in "info@example.com info@mail.example.org user@example.co.kr a@acme.test
            a@x.invalid root@localhost a@printer.local"
            .split_whitespace()
        {
            let why = why(address).unwrap();
            assert!(why.ends_with(" is a reserved name"), "{why}");
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
        for address in "your@email.com name@domain.com hong.gildong@acme.co.kr
            John.Doe+news@acme.com yourname@yourcompany.com abc@abc.com xxx@acme.co.kr
            test@test.co.kr filler@godaddy.com sample@sample.com"
            .split_whitespace()
        {
            assert!(why(address).is_some(), "{address}");
        }
        for address in "info@abc.com abc@acme.com kim.gildong@acme.co.kr john.dow@acme.com
            names@acme.com testing-services@testlab.co.kr sample@hanbit-fabric.co.kr"
            .split_whitespace()
        {
            assert_eq!(why(address), None, "{address}");
        }
    }

    #[test]
    fn knows_file_names() {
        let name_of = |kind: &str| Some(format!("it is the name of a .{kind} file"));
        assert_eq!(why("logo@2x.png"), name_of("png"));
        assert_eq!(why("local@2x.jpg.webp"), name_of("webp"));
        assert_eq!(why("info@png.com"), None);
        for suffix in FILE_SUFFIX.iter() {
            let host = HostName::parse(&format!("a.{suffix}")).unwrap();
            assert!(!host.has_public_suffix(), "{suffix}");
        }
    }

    #[test]
    fn knows_masks_and_holes() {
        let masked = "part of it is hidden by asterisks";
        assert_eq!(why("in**@acme.co.kr").as_deref(), Some(masked));
        let unfilled = "it is a template that nobody filled in";
        for address in
            "{{email}}@acme.com %name%@acme.com ${user}@acme.com __me__@acme.com".split_whitespace()
        {
            assert_eq!(why(address).as_deref(), Some(unfilled), "{address}");
        }
        assert_eq!(why("info_kr@acme.co.kr"), None);
        assert_eq!(why("_@acme.co.kr"), None);
    }

    #[test]
    fn a_platform_is_itself_on_its_own_site_alone() {
        let written = Written::read("press@shopify.com").unwrap();
        let on = |site: &str| sample(&written, Some(&web_url(site).unwrap()));
        let other = Some("shopify.com belongs to a platform, not to the site".to_owned());
        assert_eq!(on("https://acme.co.kr/"), other);
        assert_eq!(on("https://acme.wixsite.com/a"), other);
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
            let why = sample(&written, Some(&site)).unwrap();
            assert_eq!(why, "it is the key of an error tracker", "{host}");
        }
        let written = Written::read("hello@sentry.io").unwrap();
        assert_eq!(sample(&written, Some(&site)), None);
    }

    #[test]
    fn knows_every_spelling() {
        for local in "noreply no-reply no_reply2 acme.noreply noreplykr do.not.reply
            please-do-not-reply mailer-daemon bounces 발신전용"
            .split_whitespace()
        {
            assert!(reads_no_mail(local).is_some(), "{local}");
        }
    }

    #[test]
    fn every_word_for_an_unread_mailbox_counts() {
        check(NO_MAILBOX, |word: &Text, local| {
            reads_no_mail(local) == Some(&word.text)
        });
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

    #[test]
    fn knows_names() {
        for local in "jane.roe j.smith smith.j kim_minsu anna-maria.huber minsu kimminsu jsmith
            john2"
            .split_whitespace()
        {
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
