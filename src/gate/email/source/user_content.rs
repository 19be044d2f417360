//! Places where others than the owner of a site write: boards, wikis, pastes, shared documents,
//! user directories.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use url::Url;

use super::super::lists::{USER_CONTENT, VISITOR_HEADINGS, VISITOR_PATHS, with_parents};
use super::echo;
use crate::base::fold::fold_spelling;
use crate::base::text::fold;
use crate::base::words::rows;
use crate::world::domain::HostName;
use crate::world::page::{OwnerPlace, Page};

/// The entries of the list by their sort: `host`, `query`, `path`, and `owner`, an end of a path
/// whose words do not count.
static PLACES: LazyLock<HashMap<&str, BTreeSet<&'static str>>> = LazyLock::new(|| {
    let mut places: HashMap<_, BTreeSet<_>> = HashMap::new();
    for (sort, entry) in USER_CONTENT.lines().filter_map(|line| line.split_once(' ')) {
        places.entry(sort).or_default().insert(entry);
    }
    places
});

fn entries(sort: &str) -> &'static BTreeSet<&'static str> {
    &PLACES[sort]
}

#[derive(Debug, Clone, Deserialize)]
struct PathWord {
    text: String,
    #[serde(default)]
    kind: PathKind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PathKind {
    #[default]
    Word,
    /// Counts where the URL shows one entry of many.
    Entry,
}

static WORDS: LazyLock<BTreeSet<(PathKind, String)>> = LazyLock::new(|| {
    let rows = rows::<PathWord>(VISITOR_PATHS).into_iter();
    rows.map(|row| (row.word.kind, fold(&row.word.text)))
        .collect()
});

/// What headings call the words of visitors, as patterns; see the table.
#[derive(Debug, Clone, Deserialize)]
struct HeadingWords {
    place: String,
    talk: String,
    counted: String,
}

/// The patterns of all languages.
struct Headings {
    /// Anywhere in a heading or a title.
    place: Regex,
    /// A path's segment as a whole.
    path: Regex,
    /// A title as a whole.
    title: Regex,
    /// Anywhere in a heading.
    heading: Regex,
    /// A line with their number.
    counted: Regex,
}

static HEADINGS: LazyLock<Headings> = LazyLock::new(|| {
    let rows: Vec<HeadingWords> = rows(VISITOR_HEADINGS)
        .into_iter()
        .map(|row| row.word)
        .collect();
    // In a script without spaces, one word of a path may be several.
    let joined = rows.iter().map(|row| fold_spelling(&row.place));
    let joined: Vec<String> = joined.filter(|pattern| !pattern.is_ascii()).collect();
    let joined = joined.join("|");
    let all = |field: fn(&HeadingWords) -> &String| {
        let patterns = rows.iter().map(|row| fold_spelling(field(row)));
        // A word of a script without spaces has no edges.
        let edged = patterns.map(|pattern| {
            if pattern.is_ascii() {
                format!(r"\b(?:{pattern})\b")
            } else {
                format!("(?:{pattern})")
            }
        });
        edged.collect::<Vec<_>>().join("|")
    };
    let (place, talk) = (all(|row| &row.place), all(|row| &row.talk));
    let both = format!("{place}|{talk}");
    let counted = format!("{both}|{}", all(|row| &row.counted));
    let built = |pattern: &str| {
        Regex::new(pattern).unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
    };
    Headings {
        path: built(&format!("^(?:{both})$|(?:{joined})$")),
        title: built(&format!("^(?:{talk})$")),
        heading: built(&both),
        counted: built(&format!(
            r"^\d+ ?(?:件ノ|개의|[条则篇])? ?(?:{counted}).{{0,80}}$|(?:{counted}) ?[(:]? ?\d+ ?[件개条]?\)?$"
        )),
        place: built(&place),
    }
});

/// A heading has few words.
const MOST_WORDS: usize = 5;

fn is_short(text: &str) -> bool {
    text.split(' ').count() <= MOST_WORDS
}

/// Why others than the owner write on this page, by its marks or its title.
pub fn mark_of_page(page: &Page) -> Option<String> {
    let by_software = page.others_write.clone();
    by_software.or_else(|| {
        let owner = page.owner.iter();
        let titles = owner.filter(|it| matches!(it.place, OwnerPlace::Title | OwnerPlace::Heading));
        let mut parts = titles.flat_map(|title| parts(&title.text));
        let is_theirs = |part: &String| {
            HEADINGS.title.is_match(part) || is_short(part) && HEADINGS.place.is_match(part)
        };
        parts
            .find(is_theirs)
            .map(|part| format!("its title {part:?}"))
    })
}

/// The parts of a title, folded.
fn parts(title: &str) -> impl Iterator<Item = String> {
    let parts = title.split(['|', '–', '—', ':', '·', '»', '«', '>', '<', '/']);
    parts
        .flat_map(|part| part.split(" - "))
        .map(|part| fold_spelling(part.trim()))
        .filter(|part| !part.is_empty())
}

/// The lines of a page outside its visitors' sections; `None` if it has no such section.
///
/// A section goes from its heading to the next one as high. What the page's footer says is the
/// owner's.
pub fn without_visitors(page: &Page) -> Option<Vec<String>> {
    /// A line that counts comments is as a heading of this level.
    const COUNTED: u8 = 2;
    const MOST_BYTES: usize = 200;
    let (mut section, mut has_any) = (None, false);
    let mut headings = page.headings.iter().peekable();
    let mut owners = Vec::new();
    for (at, line) in page.visible.iter().enumerate() {
        let level = headings
            .next_if(|(index, _)| *index == at)
            .map(|(_, level)| *level);
        if let (Some(level), Some(above)) = (level, section)
            && level <= above
        {
            section = None;
        }
        // Folding is dear.
        if line.len() <= MOST_BYTES && section.is_none() {
            let is_theirs = |line: &str| is_short(line) && HEADINGS.heading.is_match(line);
            if let Some(level) = level.filter(|_| is_theirs(&fold_spelling(line))) {
                section = Some(level);
            } else if line.contains(char::is_numeric)
                && HEADINGS.counted.is_match(&fold_spelling(line))
            {
                section = Some(COUNTED);
            }
        }
        has_any |= section.is_some();
        if section.is_none() {
            owners.push(line.clone());
        }
    }
    let footer = page.owner.iter();
    let footer = footer.filter(|it| it.place == OwnerPlace::Footer);
    owners.extend(footer.map(|it| it.text.clone()));
    has_any.then_some(owners)
}

pub fn mark(url: &Url) -> Option<String> {
    let host = HostName::of_url(url);
    host.as_ref()
        .and_then(listed_host)
        .or_else(|| host.as_ref().and_then(label_word))
        .or_else(|| in_path(url))
        .or_else(|| in_query(url))
}

fn listed_host(host: &HostName) -> Option<String> {
    with_parents(host.as_str())
        .find_map(|name| entries("host").get(name))
        .map(|name| format!("the host {name}"))
}

fn label_word(host: &HostName) -> Option<String> {
    let mut labels = host.below_domain()?.split('.');
    labels.find_map(|label| listed_word(label).or_else(|| place_in(label)))
}

fn in_path(url: &Url) -> Option<String> {
    let path = echo::unescaped(url.path());
    if is_owners(&path) {
        return None;
    }
    let lower = format!("{}/", path.to_lowercase());
    let mut folders = entries("path").iter();
    if let Some(folder) = folders.find(|folder| lower.contains(&format!("/{folder}/"))) {
        return Some(a_word(folder));
    }
    if is_share(&path) {
        return Some("a link to what a user shares".to_owned());
    }
    let segments: Vec<&str> = path.split('/').collect();
    segments.iter().enumerate().find_map(|(index, segment)| {
        if segment.starts_with('~') && segment.len() > 1 {
            return Some("a home directory".to_owned());
        }
        let named = listed_word(segment).or_else(|| place_in(segment));
        named.or_else(|| {
            let below = &segments[index + 1..];
            let shows_one = below.iter().any(|segment| is_one_of_many(segment))
                || url
                    .query()
                    .is_some_and(|query| query.contains(|c: char| c.is_ascii_digit()));
            shows_one
                .then(|| word_of(segment, PathKind::Entry))
                .flatten()
        })
    })
}

/// What a segment calls visitors' words, as a heading would: `livre-d-or`, `gaestebuch.html`.
fn place_in(segment: &str) -> Option<String> {
    let name = segment.split(['.', ';']).next().unwrap_or(segment);
    let words = fold_spelling(name).replace(['-', '_', '+'], " ");
    HEADINGS.path.is_match(&words).then(|| a_word(name))
}

/// Whether a path is a short link to what a user shares, as storage services make them: a letter,
/// and a key (`/s/9fK2x`).
fn is_share(path: &str) -> bool {
    const LONGEST: usize = 16;
    let mut segments = path.trim_matches('/').split('/');
    let (Some(folder), Some(key), None) = (segments.next(), segments.next(), segments.next())
    else {
        return false;
    };
    let has = |is: fn(&u8) -> bool| key.as_bytes().iter().any(is);
    folder.len() == 1
        && key.len() <= LONGEST
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}

/// Whether the path is that of a page which the administrator alone writes, and no script
/// comes before it: a script is handed what follows its name.
fn is_owners(path: &str) -> bool {
    let ends = entries("owner").iter();
    let mut before = ends.filter_map(|end| path.strip_suffix(end));
    before.any(|before| {
        let mut segments = before.split('/');
        segments.all(|segment| {
            !segment.contains('.') && listed_word(segment).is_none() && place_in(segment).is_none()
        })
    })
}

/// Whether a segment names one entry of many: `view`, `read.php`, `17`.
fn is_one_of_many(segment: &str) -> bool {
    let name = segment.split(['.', ';']).next().unwrap_or(segment);
    let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let shows = ["view", "read", "detail", "show", "list"];
    is_number
        || shows
            .iter()
            .any(|word| name.to_lowercase().starts_with(word))
}

fn in_query(url: &Url) -> Option<String> {
    let is_wiki = url.path().ends_with("/index.php");
    let mut keys = url.query_pairs().map(|(key, _)| key);
    if is_wiki && keys.any(|key| key == "title") {
        return Some("the URL of a wiki's page".to_owned());
    }
    url.query_pairs().find_map(|(key, value)| {
        let (key, value) = (key.to_lowercase(), value.to_lowercase());
        let kind = value.find(':').map_or(value.as_str(), |end| &value[..=end]);
        let both = format!("{key}={kind}");
        let listed = [key.as_str(), &both].map(|text| entries("query").contains(text));
        listed
            .contains(&true)
            .then(|| format!("the parameter {key:?} in its URL"))
    })
}

fn a_word(word: &str) -> String {
    format!("the word {word:?} in its URL")
}

/// The first listed word of `text`, whose words are parted by `_`, `.` and capitals: those of
/// `boardView.do` and `bbs_list.php`, but not of `board-of-directors`, which names a page.
fn listed_word(text: &str) -> Option<String> {
    word_of(text, PathKind::Word)
}

fn word_of(text: &str, kind: PathKind) -> Option<String> {
    let mut parted = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            parted.push('_');
        }
        parted.extend(c.to_lowercase());
        before = c;
    }
    // `thread-3021-1` is an entry by its numbers.
    parted
        .split(['_', '.', ';'])
        .map(without_numbers)
        .find(|word| WORDS.contains(&(kind, fold(word))))
        .map(a_word)
}

fn without_numbers(word: &str) -> &str {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    if word[name.len()..].starts_with('-') {
        name
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;
    use crate::world::page::OwnerText;

    fn marked(path: &str) -> bool {
        let site = Url::parse("https://acme.co.kr/").unwrap();
        mark(&site.join(path).unwrap()).is_some()
    }

    #[test]
    fn hosts_boards_and_wikis_on_which_others_write() {
        for url in "https://pastebin.com/x https://en.wikipedia.org/ https://acme.notion.site/
            https://docs.google.com/document/d/1 https://namu.wiki/w/Acme https://forum.acme.co.kr/
            /bbs/board.php?id=1 /boardView.do /main/board_list.asp /Forum/1 /%66orum/1 /~kim/
            /%7Ekim/ /users/kim /wp-content/uploads/x.html ?bo_table=qa&wr_id=3
            /bbs/content.php?bo_table=qa /bbs/content.php/board ?mod=document&uid=2
            /index.php?title=User:Kim /board/read.php/bbs/content.php?no=7
            /forum/bbs/content.php /Data/File/free/1.txt /files/attach/binaries/1/a.txt
            /attachments/1/a.txt /customer/inquiry/view?idx=3 /inquiry/17 /inquiry_view.php?no=3
            /testimonials/17 /mural-de-recados /livre-d-or /livredor /Gaestebuch.html
            /libro_de_visitas/ /s/9fK2x /thread-3021-1-1.html /자유게시판/7 /index.php?title=Installation"
            .split_whitespace()
        {
            assert!(marked(url), "{url}");
        }
    }

    #[test]
    fn pages_of_the_owner() {
        for url in "https://notpastebin.com/ https://pastebin.com.acme.kr/ / /contact
            /about/board-of-directors https://boardgames.co.kr/ https://forum.kr/contact
            /privacy?mod=terms /user-guide /company/profile.html /bbs/content.php?co_id=company
            ?q=forum /g5/bbs/content.php?co_id=company /inquiry /contact/inquiry.html /consult/
            /data/files/catalogue.html /s/team /en/Team2 /자유여행/7 /board-of-directors-2024
            /gaestehaus /index.php?titel=Kontakt /page.php?title=Kontakt"
            .split_whitespace()
        {
            assert!(!marked(url), "{url}");
        }
    }

    #[test]
    fn every_word_of_a_path_counts() {
        check(VISITOR_PATHS, |_: &PathWord, path| marked(path));
    }

    fn titled(title: &str) -> bool {
        let mut page = Page::empty(&Url::parse("https://acme.com/").unwrap());
        page.owner
            .push(OwnerText::new(OwnerPlace::Title, title.to_owned()));
        mark_of_page(&page).is_some()
    }

    #[test]
    fn every_language_has_headings() {
        check(VISITOR_HEADINGS, |_: &HeadingWords, text| titled(text));
    }

    #[test]
    fn a_title_that_has_such_a_word_among_others_is_not_of_visitors() {
        for title in "Forum Hotel Berlin|Kommentar zum Arbeitsrecht|Contact|Opinion Research Ltd
            |在线服务|Rezensionsexemplare bestellen"
            .split('|')
        {
            assert!(!titled(title.trim()), "{title}");
        }
        assert!(titled("Acme | Forum") && titled("Acme – Unser Gästebuch"));
        for title in [
            "What our customers say",
            "Das sagen unsere Gäste",
            "Ce que disent nos clients",
            "Ce qu’en pensent les lecteurs",
            "Lo que opinan los lectores",
            "O que dizem nossos clientes",
            "Cosa dicono i nostri clienti",
            "Wat klanten vinden",
            "Co mówią o nas klienci",
        ] {
            assert!(titled(title), "{title}");
        }
    }

    /// The lines that are the owner's, of a page of headings with their level and lines.
    fn owners(lines: &[(u8, &str)]) -> Option<Vec<String>> {
        let mut page = Page::empty(&Url::parse("https://acme.com/").unwrap());
        for (at, (level, line)) in lines.iter().enumerate() {
            page.visible.push((*line).to_owned());
            if *level > 0 {
                page.headings.push((at, *level));
            }
        }
        without_visitors(&page)
    }

    #[test]
    fn a_section_of_visitors_ends_with_the_next_heading_as_high() {
        let page = [
            (1, "News"),
            (0, "ours"),
            (3, "Comentários"),
            (4, "Joelma"),
            (0, "theirs"),
            (3, "Contato"),
            (0, "ours too"),
        ];
        let kept = ["News", "ours", "Contato", "ours too"];
        assert_eq!(owners(&page).unwrap(), kept);
        let counted = [
            (0, "ours"),
            (0, "3 Kommentare zu Neues"),
            (3, "Kurt"),
            (0, "theirs"),
        ];
        assert_eq!(owners(&counted).unwrap(), ["ours"]);
        let plain = [
            (0, "Comments welcome"),
            (2, "Our comment policy for the press room"),
            (0, "x"),
        ];
        assert_eq!(owners(&plain), None);
    }

    #[test]
    fn the_list_names_its_source_and_holds_what_can_be_met() {
        assert!(USER_CONTENT.starts_with("# ") && USER_CONTENT.contains("Source:"));
        for host in entries("host") {
            assert_eq!(HostName::parse(host).unwrap().as_str(), *host);
        }
        for line in USER_CONTENT.lines().filter(|line| !line.starts_with('#')) {
            assert_eq!(line.split(' ').count(), 2, "{line}");
        }
    }
}
