//! What is left out of a tree: what its `.gitignore` files ignore, what `ignore` in the quest file
//! names, the session, and compiled Python.
//!
//! The rules are texts that the session froze. Whatever an agent writes into a `.gitignore` file
//! afterwards hides nothing from a judgement.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::LazyLock;

use cap_std::fs::{Metadata, MetadataExt as _};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use super::listing::TreePath;
use super::zones::{BadGlob, Zones};

/// The texts of a tree's `.gitignore` files, by their paths.
pub type Gitignores = BTreeMap<TreePath, String>;

/// Python loads it in place of the source, which may be protected, and believes what it says about
/// the source.
static COMPILED: LazyLock<Gitignore> = LazyLock::new(|| {
    let place = "compiled Python is never part of a tree";
    let rules = ["__pycache__/", "*.pyc"].into_iter();
    compile(rules.map(|rule| (Some(place.to_owned()), rule)))
});

/// What is left out of a tree, with everything below it.
#[derive(Debug, Clone, Default)]
pub struct Ignored {
    /// The globs of the quest file, which no `.gitignore` file overrides.
    listed: Option<Gitignore>,
    /// The rules of `.gitignore` files, by their folders; the root's name is empty.
    by_folder: BTreeMap<String, Gitignore>,
    /// The devices and inodes of folders that are left out whatever their names are.
    folders: Vec<(u64, u64)>,
}

/// A rule that leaves out a path, and the place where it is written, or why it holds everywhere.
#[derive(Debug)]
pub struct IgnoreRule<'a>(&'a Glob);

impl Ignored {
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        Zones::without_exceptions(globs)?;
        // A glob names paths from the root, as a rule with a leading slash does.
        let rules = globs.iter().map(|glob| (None, format!("/{glob}")));
        Ok(Self {
            listed: (!globs.is_empty()).then(|| compile(rules)),
            ..Self::default()
        })
    }

    pub fn and_gitignores(mut self, files: &Gitignores) -> Self {
        for (file, text) in files {
            self.obey(file, text);
        }
        self
    }

    /// Leaves out a folder, wherever it is and whatever it is called then.
    pub fn and_folder(mut self, folder: &Path) -> Self {
        let found = std::fs::metadata(folder);
        self.folders
            .extend(found.map(|found| (found.dev(), found.ino())));
        self
    }

    pub(super) fn obey(&mut self, file: &TreePath, text: &str) {
        let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
        let rules = lines.map(|(line, number)| (Some(format!("{file}:{number}")), line));
        let folder = file.parent().map_or_else(String::new, String::from);
        self.by_folder.insert(folder, compile(rules));
    }

    /// The rule that leaves out a file.
    pub fn rule_of_file(&self, path: &TreePath) -> Option<IgnoreRule<'_>> {
        let above = path.parent().and_then(|it| self.rule_of_folder(&it));
        above.or_else(|| self.rule_at(path, false))
    }

    /// The rule that leaves out a folder.
    pub fn rule_of_folder(&self, path: &TreePath) -> Option<IgnoreRule<'_>> {
        let folders = std::iter::once(path.clone()).chain(path.folders());
        folders.filter_map(|it| self.rule_at(&it, true)).last()
    }

    /// The rule that leaves out every path that a glob can name.
    pub fn rule_of_glob(&self, glob: &str) -> Option<IgnoreRule<'_>> {
        let names = glob.split('/');
        let fixed = names.take_while(|name| !name.contains(['*', '?', '[', '{']));
        let path = TreePath::parse(&fixed.collect::<Vec<_>>().join("/")).ok()?;
        if path.as_str() == glob {
            self.rule_of_file(&path)
        } else {
            self.rule_of_folder(&path)
        }
    }

    /// The rule that names a path itself; enough for a walk, which has checked its folders.
    pub(super) fn rule_at(&self, path: &TreePath, is_folder: bool) -> Option<IgnoreRule<'_>> {
        if let Match::Ignore(rule) = COMPILED.matched(path.as_str(), is_folder) {
            return Some(IgnoreRule(rule));
        }
        if let Some(rule) = self.listed_at(path, is_folder) {
            return Some(rule);
        }
        let path = path.as_str();
        let mut folder = path;
        // The file that is nearest to the path decides.
        while !folder.is_empty() {
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
            let within = path[folder.len()..].trim_start_matches('/');
            let rules = self.by_folder.get(folder);
            match rules.map_or(Match::None, |rules| rules.matched(within, is_folder)) {
                Match::Ignore(rule) => return Some(IgnoreRule(rule)),
                Match::Whitelist(_) => return None,
                Match::None => {}
            }
        }
        None
    }

    pub(super) fn listed_at(&self, path: &TreePath, is_folder: bool) -> Option<IgnoreRule<'_>> {
        match self.listed.as_ref()?.matched(path.as_str(), is_folder) {
            Match::Ignore(rule) => Some(IgnoreRule(rule)),
            Match::Whitelist(_) | Match::None => None,
        }
    }

    pub(super) fn is_apart(&self, folder: &Metadata) -> bool {
        self.folders.contains(&(folder.dev(), folder.ino()))
    }
}

impl fmt::Display for IgnoreRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.0.original();
        match self.0.from() {
            Some(place) => write!(f, "`{rule}` ({})", place.display()),
            None => write!(f, "`{}` (`ignore` in [tree])", rule.trim_start_matches('/')),
        }
    }
}

/// Rules in the order of their lines, each with its place.
fn compile<T: AsRef<str>>(rules: impl Iterator<Item = (Option<String>, T)>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for (place, rule) in rules {
        if let Err(error) = builder.add_line(place.clone().map(Into::into), rule.as_ref()) {
            // It ignores nothing, as with git.
            tracing::warn!(place, %error, "an ignore rule cannot be read");
        }
    }
    builder.build().unwrap_or_else(|error| {
        tracing::warn!(%error, "ignore rules cannot be compiled");
        Gitignore::empty()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::rows;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn listed(glob: &str) -> Ignored {
        Ignored::new(&[glob.to_owned()]).unwrap()
    }

    /// What these `.gitignore` files ignore; a file per folder.
    fn ignored(files: &[(&str, &str)]) -> Ignored {
        let files = files.iter();
        let files = files.map(|(file, text)| (path(file), (*text).to_owned()));
        Ignored::default().and_gitignores(&files.collect())
    }

    fn said(rule: Option<IgnoreRule<'_>>) -> String {
        rule.map_or_else(String::new, |rule| rule.to_string())
    }

    #[test]
    fn a_folder_is_left_out_with_all_below_it() {
        for glob in [".venv/**", ".venv"] {
            let ignored = listed(glob);
            assert!(
                ignored.rule_of_file(&path(".venv/lib/a.py")).is_some(),
                "{glob}"
            );
            assert!(ignored.rule_of_file(&path(".venvs/a")).is_none(), "{glob}");
            assert!(ignored.rule_of_file(&path("a/.venv/b")).is_none(), "{glob}");
        }
        // A link in the folder's place is no folder, and is still seen.
        assert!(listed(".venv/**").rule_of_file(&path(".venv")).is_none());
        let built = listed("**/built/**");
        for file in ["built/a", "a/built/b/c"] {
            assert!(built.rule_of_file(&path(file)).is_some(), "{file}");
        }
        for (glob, file) in [("*.py", "a.py"), ("{a,b}/*", "b/c"), ("#a", "#a")] {
            assert!(listed(glob).rule_of_file(&path(file)).is_some(), "{glob}");
            let deeper = path(&format!("deep/{file}"));
            assert!(listed(glob).rule_of_file(&deeper).is_none(), "{glob}");
        }
    }

    #[test]
    fn a_rule_is_named_with_its_place() {
        let ignored = ignored(&[
            (
                ".gitignore",
                "# built\r\ntarget/\r\n*.log\n!keep.log\n/top\n",
            ),
            (
                "sub/.gitignore",
                "\u{feff}/only\n!*.log\ndeep/*\n!deep/kept\n",
            ),
        ]);
        for (file, expected) in rows! {
            "target/debug/a" => "`target/` (.gitignore:2)";
            "sub/target/a" => "`target/` (.gitignore:2)";
            "a.log" => "`*.log` (.gitignore:3)";
            "keep.log" => "";
            "top" => "`/top` (.gitignore:5)";
            "sub/top" => "";
            "sub/only/a" => "`/only` (sub/.gitignore:1)";
            "only/a" => "";
            "sub/a.log" => "";
            "subs/a.log" => "`*.log` (.gitignore:3)";
            "sub/deep/a" => "`deep/*` (sub/.gitignore:3)";
            "sub/deep/kept" => "";
            ".gitignore" => "";
            // A rule for folders does not name a file.
            "target" => "";
        } {
            assert_eq!(said(ignored.rule_of_file(&path(file))), expected, "{file}");
        }
        let rule = said(listed("target/**").rule_of_file(&path("target/a")));
        assert_eq!(rule, "`target/**` (`ignore` in [tree])");
    }

    #[test]
    fn compiled_python_is_left_out_whatever_the_rules_say() {
        let ignored = ignored(&[(".gitignore", "!__pycache__/\n!*.pyc\n")]);
        for (file, expected) in rows! {
            "__pycache__/a" => "`__pycache__/` (compiled Python is never part of a tree)";
            "a/__pycache__/b/c.py" => "`__pycache__/` (compiled Python is never part of a tree)";
            "a/b.pyc" => "`*.pyc` (compiled Python is never part of a tree)";
            "a/b.py" => "";
            "pycache/b" => "";
        } {
            assert_eq!(said(ignored.rule_of_file(&path(file))), expected, "{file}");
        }
    }

    #[test]
    fn the_quest_file_decides_before_any_gitignore() {
        let files = [(path(".gitignore"), "!build\n".to_owned())].into();
        let ignored = listed("build/**").and_gitignores(&files);
        assert!(ignored.rule_of_file(&path("build/a")).is_some());
    }

    #[test]
    fn a_glob_is_ignored_only_as_a_whole() {
        let ignored = ignored(&[(".gitignore", "target/\n*.log\n")]);
        for (glob, expected) in rows! {
            "target/**" => "`target/` (.gitignore:1)";
            "target/out/*.txt" => "`target/` (.gitignore:1)";
            "a/b.log" => "`*.log` (.gitignore:2)";
            "a/*.txt" => "";
            "**" => "";
            "{target,a}/*" => "";
        } {
            assert_eq!(said(ignored.rule_of_glob(glob)), expected, "{glob}");
        }
    }

    #[test]
    fn a_rule_that_cannot_be_read_ignores_nothing() {
        let ignored = ignored(&[(".gitignore", "{a\n[z-a]\nb\n")]);
        assert!(ignored.rule_of_file(&path("b")).is_some());
        assert!(ignored.rule_of_file(&path("a")).is_none());
    }

    proptest! {
        #[test]
        fn what_leaves_out_a_folder_leaves_out_all_below_it(glob in "[ab*]{1,3}(/[ab*]{1,3}){0,2}", text in "[ab]{1,2}(/[ab]{1,2}){0,3}") {
            let ignored = listed(&glob);
            if ignored.rule_of_folder(&path(&text)).is_some() {
                let below = path(&format!("{text}/x"));
                prop_assert!(ignored.rule_of_file(&below).is_some());
            }
        }

        #[test]
        fn whatever_is_asked_is_answered(rules in r"[a*?\[\]{},!/.\\~#\n -]{0,12}", text in "[a/.]{1,6}") {
            if let Ok(path) = TreePath::parse(&text) {
                let files = [(TreePath::parse("a/.gitignore").unwrap(), rules)].into();
                let _ = Ignored::default().and_gitignores(&files).rule_of_file(&path);
            }
        }
    }
}
