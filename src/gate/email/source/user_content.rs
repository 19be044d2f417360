//! Places where others than the owner of a site write: boards, wikis, pastes, shared documents,
//! user directories.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use url::Url;

use super::super::lists::{USER_CONTENT, VISITOR_HEADINGS, VISITOR_PATHS, with_parents};
use super::echo;
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

#[derive(Debug, Clone, Deserialize)]
struct HeadingWord {
    text: String,
    kind: HeadingKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum HeadingKind {
    Title,
    Comments,
}

static TITLES: LazyLock<Regex> = LazyLock::new(|| headings(HeadingKind::Title));
static COMMENTS: LazyLock<Regex> = LazyLock::new(|| headings(HeadingKind::Comments));

/// One pattern for all headings of a kind.
fn headings(kind: HeadingKind) -> Regex {
    let rows = rows::<HeadingWord>(VISITOR_HEADINGS).into_iter();
    let rows = rows.filter(|row| row.word.kind == kind);
    let patterns: Vec<String> = rows.map(|row| row.word.text).collect();
    let pattern = format!("^(?:{})$", patterns.join("|"));
    Regex::new(&pattern).unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
}

/// Why others than the owner write on this page, by its marks or its title.
pub fn mark_of_page(page: &Page) -> Option<String> {
    let by_software = page.others_write.clone();
    by_software.or_else(|| {
        let owner = page.owner.iter();
        let titles = owner.filter(|it| matches!(it.place, OwnerPlace::Title | OwnerPlace::Heading));
        let mut parts = titles.flat_map(|title| parts(&title.text));
        parts
            .find(|part| TITLES.is_match(part))
            .map(|part| format!("its title {part:?}"))
    })
}

/// The parts of a title, folded.
fn parts(title: &str) -> impl Iterator<Item = String> {
    let parts = title.split(['|', '–', '—', ':', '·', '»', '«', '>', '<', '/']);
    parts
        .flat_map(|part| part.split(" - "))
        .map(fold)
        .filter(|part| !part.is_empty())
}

/// The lines of a page above its comments; none when it has no comments.
pub fn above_comments(page: &Page) -> Option<&[String]> {
    const MOST_BYTES: usize = 200;
    let mut lines = page.visible.iter();
    // Folding is dear, and each of these headings counts something.
    let may_count = |line: &String| line.len() <= MOST_BYTES && line.contains(char::is_numeric);
    let is_heading = |line: &String| may_count(line) && COMMENTS.is_match(&fold(line));
    lines.position(is_heading).map(|at| &page.visible[..at])
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
    host.below_domain()?.split('.').find_map(listed_word)
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
    let segments: Vec<&str> = path.split('/').collect();
    segments.iter().enumerate().find_map(|(index, segment)| {
        if segment.starts_with('~') && segment.len() > 1 {
            return Some("a home directory".to_owned());
        }
        listed_word(segment).or_else(|| {
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

/// Whether the path is that of a page which the administrator alone writes, and no script
/// comes before it: a script is handed what follows its name.
fn is_owners(path: &str) -> bool {
    let ends = entries("owner").iter();
    let mut before = ends.filter_map(|end| path.strip_suffix(end));
    before.any(|before| {
        let mut segments = before.split('/');
        segments.all(|segment| !segment.contains('.') && listed_word(segment).is_none())
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
    parted
        .split(['_', '.', ';'])
        .find(|word| WORDS.contains(&(kind, fold(word))))
        .map(a_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;

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
            /testimonials/17"
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
            /data/files/catalogue.html"
            .split_whitespace()
        {
            assert!(!marked(url), "{url}");
        }
    }

    #[test]
    fn every_word_of_a_path_counts() {
        check(VISITOR_PATHS, |_: &PathWord, path| marked(path));
    }

    #[test]
    fn every_heading_counts() {
        check(VISITOR_HEADINGS, |word: &HeadingWord, text| {
            match word.kind {
                HeadingKind::Title => TITLES.is_match(&fold(text)),
                HeadingKind::Comments => COMMENTS.is_match(&fold(text)),
            }
        });
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
