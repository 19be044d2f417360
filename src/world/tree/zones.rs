//! Globs over a tree: where an agent may write.
//!
//! `*` and `?` stay within a name, `**` crosses folders, `[…]` and `{…,…}` are understood, and
//! letters are case-sensitive. A glob must match the whole path, so `*.py` names files in the root only.
//! The last glob that matches a path decides about it, and one after a `!` takes the path away.
//!
//! Git obeys files such as `.gitattributes`, so a glob gives no path in which a name begins with `.git`
//! unless one of its own names does.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::listing::{TreePath, is_name_of_git};

/// The paths that a list of globs names.
#[derive(Debug, Clone, Default)]
pub struct Zones {
    texts: Vec<String>,
    /// In the order of the texts, each without its `!`.
    set: GlobSet,
}

const NOT: char = '!';

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{glob:?} is not a glob over the tree: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

impl Zones {
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        Ok(Self {
            set: compile(globs)?,
            texts: globs.to_vec(),
        })
    }

    /// The same for a list in which no glob takes another's paths away.
    pub fn without_exceptions(globs: &[String]) -> Result<Self, BadGlob> {
        match globs.iter().find(|glob| Self::forbids(glob)) {
            Some(glob) => Err(BadGlob {
                glob: glob.clone(),
                why: NOTHING_TO_TAKE.to_owned(),
            }),
            None => Self::new(globs),
        }
    }

    /// Whether a glob takes paths away from those before it.
    pub fn forbids(glob: &str) -> bool {
        glob.starts_with(NOT)
    }

    pub fn contains(&self, path: &TreePath) -> bool {
        let is_of_git = path.names().any(is_name_of_git);
        let decides = |text: &str| !is_of_git || Self::forbids(text) || names_git(text);
        let matching = self.set.matches(path.as_str()).into_iter();
        let last = matching.filter(|at| decides(&self.texts[*at])).max();
        last.is_some_and(|last| !Self::forbids(&self.texts[last]))
    }

    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

fn names_git(glob: &str) -> bool {
    glob.split('/').any(is_name_of_git)
}

fn compile(globs: &[String]) -> Result<GlobSet, BadGlob> {
    let bad = |glob: &str, why: String| BadGlob {
        glob: glob.to_owned(),
        why,
    };
    let mut builder = GlobSetBuilder::new();
    for (place, text) in globs.iter().enumerate() {
        let glob = text.strip_prefix(NOT).filter(|_| place > 0);
        let glob = glob.unwrap_or(text);
        if let Some(why) = flaw_of(glob) {
            return Err(bad(text, why));
        }
        builder.add(parse_glob(glob).map_err(|error| bad(text, error.kind().to_string()))?);
    }
    builder
        .build()
        .map_err(|error| bad(error.glob().unwrap_or_default(), error.kind().to_string()))
}

const NOTHING_TO_TAKE: &str = "`!` takes nothing away here; name what is meant";

fn flaw_of(glob: &str) -> Option<String> {
    if glob.is_empty() {
        return Some("it is empty".to_owned());
    }
    if glob.starts_with('/') {
        return Some("it begins with `/`; write it from the tree's root".to_owned());
    }
    if glob.starts_with(NOT) {
        return Some(NOTHING_TO_TAKE.to_owned());
    }
    if glob.contains('\\') {
        return Some("write `/` between names, and `[*]` for a `*` in a name".to_owned());
    }
    if let Some(folder) = glob.strip_suffix('/') {
        return Some(format!("write \"{folder}/**\" for all in a folder"));
    }
    if has_class_of_slash(glob) {
        return Some("a `[…]` that `/` is in would cross folders; name its letters".to_owned());
    }
    let says_nothing = glob.split('/').any(|name| matches!(name, "" | "." | ".."));
    says_nothing.then(|| "write it from the tree's root, without `.`, `..` or `//`".to_owned())
}

/// Whether a `[…]` matches `/`, so that it would cross folders. globset is asked about every text
/// that may be a class, because a second reader of classes would read some of them differently.
fn has_class_of_slash(glob: &str) -> bool {
    let ends = |start: usize| {
        glob[start..]
            .match_indices(']')
            .map(move |(end, _)| start + end)
    };
    let starts = glob.match_indices('[').map(|(start, _)| start);
    let mut classes = starts.flat_map(|start| ends(start).map(move |end| &glob[start..=end]));
    classes.any(|class| parse_glob(class).is_ok_and(|class| class.compile_matcher().is_match("/")))
}

fn parse_glob(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(false)
        .build()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::rows;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn zones(globs: &[&str]) -> Result<Zones, BadGlob> {
        let globs: Vec<_> = globs.iter().map(|&glob| glob.to_owned()).collect();
        Zones::new(&globs)
    }

    #[test]
    fn a_star_stays_within_a_name_and_case_counts() {
        let tests = zones(&["tests/test_*.py"]).unwrap();
        assert!(tests.contains(&path("tests/test_a.py")));
        assert!(!tests.contains(&path("tests/test_a/b.py")));
        assert!(!tests.contains(&path("tests/Test_a.py")));
        assert!(!tests.contains(&path("sub/tests/test_a.py")));
        assert!(!zones(&["*.py"]).unwrap().contains(&path("a/b.py")));
        assert!(!zones(&["a?b"]).unwrap().contains(&path("a/b")));
        assert!(zones(&["a[x-z]b"]).unwrap().contains(&path("ayb")));
        assert!(!zones(&[]).unwrap().contains(&path("a")));
    }

    #[test]
    fn two_stars_cross_folders() {
        let all = zones(&["**"]).unwrap();
        assert!(all.contains(&path("a")) && all.contains(&path("a/b/.c")));
        let python = zones(&["src/**/*.py"]).unwrap();
        assert!(python.contains(&path("src/a.py")) && python.contains(&path("src/b/c/a.py")));
        assert!(!python.contains(&path("src.py")));
    }

    #[test]
    fn the_last_glob_that_matches_decides() {
        let work = zones(&["**", "!**/test*/**", "!**/.*", "a/test/mine"]).unwrap();
        for (text, is_in) in rows! {
            "src/a" => true;
            "test/a" => false;
            "a/tests/b" => false;
            "a/.b" => false;
            "a/test/mine" => true;
            "b/test/mine" => false;
        } {
            assert_eq!(work.contains(&path(text)), is_in, "{text}");
        }
        let globs = ["a".to_owned(), "!b".to_owned()];
        assert!(Zones::without_exceptions(&globs).is_err());
        assert!(zones(&["a", "!!b"]).is_err());
    }

    #[test]
    fn what_git_obeys_is_given_by_its_name_alone() {
        for (globs, text, is_in) in rows! {
            &["**"][..], ".gitattributes" => false;
            &["*"], ".gitmodules" => false;
            &["src/**"], "src/.gitignore" => false;
            &["**"], ".github/workflows/ci.yml" => false;
            &["**"], ".GitAttributes" => false;
            &["**/.?it*"], ".gitignore" => false;
            &["**"], ".gi" => true;
            &["**"], "a.git/b" => true;
            &[".gitattributes"], ".gitattributes" => true;
            &["**/.gitignore"], "src/.gitignore" => true;
            &["**/.gitignore"], "src/.gitattributes" => false;
            &[".github/**"], ".github/workflows/ci.yml" => true;
            &[".gitignore", "**"], ".gitignore" => true;
            &[".gitignore", "!**"], ".gitignore" => false;
        } {
            assert_eq!(
                zones(globs).unwrap().contains(&path(text)),
                is_in,
                "{globs:?} {text}"
            );
        }
    }

    #[test]
    fn a_glob_that_cannot_be_meant_so_is_refused() {
        for glob in [
            "", "/a", "!a", "a/", "./a", "a/../b", "a//b", r"a\*", "[", "{a", "a[!b]c", "[^]]",
            "[+-0]", "??[!!]?",
        ] {
            assert!(zones(&[glob]).is_err(), "{glob:?}");
        }
        let said = zones(&["tests/"]).unwrap_err().to_string();
        assert!(said.contains(r#"write "tests/**""#), "{said}");
    }

    proptest! {
        #[test]
        fn whatever_is_asked_is_answered(glob in r"[a*?\[\]{},!/.\\~-]{0,12}", text in "[a/.]{1,6}") {
            if let (Ok(zones), Ok(path)) = (zones(&[&glob]), TreePath::parse(&text)) {
                let _ = zones.contains(&path);
            }
        }

        #[test]
        fn a_plain_text_names_itself_alone(one in "[ab]{1,2}(/[ab]{1,2}){0,2}", other in "[ab]{1,2}(/[ab]{1,2}){0,2}") {
            let zones = zones(&[&one]).unwrap();
            prop_assert!(zones.contains(&path(&one)));
            prop_assert_eq!(zones.contains(&path(&other)), one == other);
        }

        #[test]
        fn one_star_never_crosses_a_folder(text in "[ab]{1,3}(/[ab]{1,3}){0,3}") {
            let depth = path(&text).names().count();
            for stars in 1..5 {
                let glob = vec!["*"; stars].join("/");
                prop_assert_eq!(zones(&[&glob]).unwrap().contains(&path(&text)), stars == depth);
            }
        }

        #[test]
        fn nothing_but_two_stars_crosses_a_folder(glob in r"[a*?\[\]{},!+~-]{1,8}", text in "[a+]{1,2}/[a+]{1,2}") {
            if let Ok(zones) = zones(&[&glob]) && !glob.contains("**") {
                prop_assert!(!zones.contains(&path(&text)), "{}", glob);
            }
        }
    }
}
