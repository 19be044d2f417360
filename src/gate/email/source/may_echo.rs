//! Whether a URL's query carries something that a page could make the address, or the name, of.

use url::Url;

use super::super::identity::company_name::{CompanyName, Folded};
use super::super::step::quoted;
use super::echo::{self, folded, untagged};
use crate::base::text::invisible;
use crate::base::word_list::word_lists;
use crate::world::domain::HostName;
use crate::world::mailbox::Mailbox;

const MAX_QUERY: usize = 512;

/// The shortest run of letters and digits mixed that counts as a blob.
const MIN_BLOB: usize = 16;

/// The shortest of runs joined by `-` and `_`; a UUID (RFC 9562), with 36, is none.
const MIN_JOINED_BLOB: usize = 40;

word_lists! {
    /// Parameters that name a page of the site, whose value may well be `contact`.
    NAVIGATION = "../lists/navigation.txt";
    /// Parameters whose value is an address of another page, with or without its scheme.
    TARGETS = "../lists/targets.txt";
    MARKUP = "../lists/markup.txt";
}

const BLOB: &str = "an opaque blob";

fn part(part: &str) -> String {
    format!("a part of the address: {}", quoted(part))
}

/// Words of links that a page's own protection of addresses makes: what follows is one in code.
const PROTECTION: &[&str] = &["email-protection", "cfemail"];

/// The first suspicious thing that the query carries. The path counts only where it holds both
/// parts of the address, whole or in pieces, an `@` inside a segment, markup, or what a page that
/// repeats it would not show.
pub fn suspicion(url: &Url, email: &Mailbox, name: &CompanyName) -> Option<String> {
    let path = echo::unescaped(url.path());
    if PROTECTION
        .iter()
        .any(|word| url.as_str().to_lowercase().contains(word))
    {
        return Some(BLOB.to_owned());
    }
    split_in_path(&path, email)
        .or_else(|| echo::spells(url, email).then(|| part(email.domain().as_str())))
        .or_else(|| sign_in_path(&path).filter(|_| url.has_host()))
        .or_else(|| markup(&path.to_lowercase()))
        .or_else(|| swallowed(&path))
        .or_else(|| {
            let query = url.query()?;
            if query.len() > MAX_QUERY {
                return Some(BLOB.to_owned());
            }
            carried_name(query, name).or_else(|| {
                url.query_pairs().find_map(|(key, value)| {
                    in_text(url, email, &key, "page").or_else(|| in_text(url, email, &value, &key))
                })
            })
        })
}

fn in_text(url: &Url, email: &Mailbox, text: &str, key: &str) -> Option<String> {
    let text = echo::unescaped(text);
    if text.split(ends_blob).any(is_blob) {
        return Some(BLOB.to_owned());
    }
    let (text, key) = (text.to_lowercase(), key.to_lowercase());
    markup(&text)
        .or_else(|| swallowed(&text))
        .or_else(|| foreign_url(url, &text, &key))
        .or_else(|| address_part(email, &text, &key))
}

fn markup(text: &str) -> Option<String> {
    let found = MARKUP.iter().any(|mark| text.contains(mark)) || has_entity(text);
    found.then(|| "markup".to_owned())
}

fn has_entity(text: &str) -> bool {
    text.split('&').skip(1).any(|after| {
        let name = after.split(|c: char| !c.is_ascii_alphanumeric()).next();
        name.is_some_and(|name| !name.is_empty() && after[name.len()..].starts_with(';'))
    })
}

/// What a page may drop when it repeats the text: it parts a word here, and none there.
fn swallowed(text: &str) -> Option<String> {
    let found = text.chars().any(|c| c.is_control() || invisible(c));
    found.then(|| BLOB.to_owned())
}

fn foreign_url(url: &Url, text: &str, key: &str) -> Option<String> {
    let own = HostName::of_url(url)?;
    let domain = own.registrable();
    let is_foreign = |host: &&str| match HostName::parse(host) {
        Ok(host) if host == own => false,
        Ok(host) => host.registrable() != domain || domain.is_none(),
        Err(_) => true,
    };
    let absolute = text.split("//").skip(1).map(host_part);
    let bare = TARGETS
        .contains(&key)
        .then(|| host_part(text))
        .filter(|host| HostName::parse(host).is_ok_and(|host| host.registrable().is_some()));
    let found = absolute.chain(bare).find(is_foreign);
    found.map(|host| format!("a URL of another site: {}", quoted(host)))
}

fn host_part(text: &str) -> &str {
    let host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.split(|c| !host(c)).next().unwrap_or_default()
}

fn address_part(email: &Mailbox, text: &str, key: &str) -> Option<String> {
    plain_readings(text).find_map(|text| {
        if text.contains('@') {
            return Some(part("@"));
        }
        let mut words = text.split(ends_word);
        let found = words.find(|word| is_domain(email, word) || *word == email.local())?;
        // The address of a page of the site holds the domain as a matter of course, and a menu
        // names its pages as mailboxes are named.
        let of_course = if is_domain(email, found) {
            text.contains("//")
        } else {
            NAVIGATION.contains(&key)
        };
        (!of_course).then(|| part(found))
    })
}

fn split_in_path(path: &str, email: &Mailbox) -> Option<String> {
    let both = plain_readings(path).any(|path| {
        let holds = |wanted: &dyn Fn(&str) -> bool| path.split(ends_word).any(wanted);
        holds(&|word| is_domain(email, word)) && holds(&|word| word == email.local())
    });
    both.then(|| part(email.domain().as_str()))
}

/// An `@` in a path, but for the one that a profile's segment begins with (`/@acme`).
fn sign_in_path(path: &str) -> Option<String> {
    let inside = |segment: &str| segment.char_indices().any(|(at, c)| at > 0 && c == '@');
    let found = plain_readings(path).any(|path| path.split('/').any(inside));
    found.then(|| part("@"))
}

/// The text without what a page may take out of it, with tags and without.
fn plain_readings(text: &str) -> impl Iterator<Item = String> {
    [folded(text), folded(&untagged(text))].into_iter()
}

fn is_domain(email: &Mailbox, word: &str) -> bool {
    word == email.domain().as_str()
}

fn ends_word(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'))
}

fn carried_name(query: &str, name: &CompanyName) -> Option<String> {
    let text = echo::unescaped(&query.replace('+', " "));
    name.is_in(&Folded::new(&text))
        .then(|| "the company's name".to_owned())
}

fn ends_blob(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '/' | '='))
}

pub(super) fn is_blob(text: &str) -> bool {
    let mixed = |run: &str, shortest: usize| {
        let count = |is: fn(&char) -> bool| run.chars().filter(is).count();
        let digits = count(char::is_ascii_digit);
        let letters = count(char::is_ascii_alphabetic);
        let capitals = count(char::is_ascii_uppercase);
        run.len() >= shortest
            && ((digits > 0 && letters > 0) || (capitals > run.len() / 4 && capitals < letters))
    };
    mixed(text, MIN_JOINED_BLOB)
        || text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|run| mixed(run, MIN_BLOB))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects a suspicion of each of these URLs of the site, and none of the others.
    fn suspects(suspicious: &str, plain: &str) {
        let email = Mailbox::parse("contact@acme.co.kr").unwrap();
        let name = CompanyName::parse("(주)한빛식품 (Acme Foods)");
        let site = Url::parse("https://acme.co.kr/").unwrap();
        let suspicion = |path: &str| suspicion(&site.join(path).unwrap(), &email, &name);
        for path in suspicious.split_whitespace() {
            assert!(suspicion(path).is_some(), "{path}");
        }
        for path in plain.split_whitespace() {
            assert_eq!(suspicion(path), None, "{path}");
        }
    }

    #[test]
    fn parts_of_the_address() {
        suspects(
            "/mail?user=contact&host=acme.co.kr /mail?user=contact /mail?d=acme.co.kr
            /mail?x=%2540 /echo/contact/at/acme.co.kr ?page=contact&host=acme.co.kr",
            "/contact ?page=contact /view?no=12 ?q=contactus",
        );
        // No page answers a mailbox's URL.
        suspects(
            "/mail?user=con%5Ctact /mail?user=con%FFtact /echo/con%22tact/at/ac%FFme.co.kr
            /search/jo@elsewhere.kr /search/@jo@elsewhere.kr /search/x%EF%BC%A0y",
            "/@acme/contact mailto:sales@acme.co.kr /l'entreprise/contact",
        );
    }

    #[test]
    fn the_name_of_the_company() {
        suspects(
            "/search?q=Acme+Foods /search?q=%ED%95%9C%EB%B9%9B%EC%8B%9D%ED%92%88
            /search?q=ACME%2520foods&x=1",
            "/search?q=acme /acme-foods/contact",
        );
    }

    #[test]
    fn markup_and_foreign_urls() {
        suspects(
            "?m=%3Cb%3E ?m=a%26%2364;b ?next=https://evil.com/x ?next=%2F%2Fevil.com
            ?url=evil.com/x ?next=https://acme.co.kr.evil.com/
            /no/con%3Cb%3Etact@ac%3Cb%3Eme.co.kr /no/con&shytact ?q=con%26zwj;tact",
            "/r&d /r&d/a;b=c?x=r%26d ?next=https://www.acme.co.kr/help ?url=/help/index.do",
        );
    }

    #[test]
    fn opaque_blobs() {
        suspects(
            "?d=q83vEjRWeJCrze8SNFZ4 ?d=0123456789abcdef0123 /con%E2%80%8Btact
            /contact%1B(B ?u=con%E2%80%8Btact",
            "?id=550e8400-e29b-41d4-a716-446655440000 ?date=20240102030405123
            ?title=how-to-reach-the-people-of-our-company",
        );
        suspects(&format!("?d={}", "ab+".repeat(400)), "");
    }
}
