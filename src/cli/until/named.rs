//! The files of a tree that a command names, however it spells them.
//!
//! The words of the command are compared with the paths in the tree, without imitating a shell. What
//! a shell would fill in, such as `$DIR`, may be anything. Each word is looked up in the root and in
//! every folder that the command names, because the command may change there first. So too much is
//! protected rather than too little.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;

use crate::world::tree::{TreePath, Zones};

/// Words, with their quotes.
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?s)(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\;|&()<>`])+"#));

static QUOTES: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?s)['"]|\\(.)"#));

/// What a shell fills in. Where that is a whole name, it may be several.
static FILLED_IN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\$\([^()]*\)|`[^`]*`|\$\{[^}]*\}|\$(?:\w+|[@*#?!$-])"));

/// `-m MODULE`, as in `python3 -m pytest`.
static RUN_MODULE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|\s)-\w*m\s*(\w+(?:\.\w+)*)"));

static DOTTED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\w+(?:\.\w+)+$"));

/// The paths of a tree.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub(super) root: PathBuf,
    pub(super) files: BTreeSet<TreePath>,
    folders: BTreeSet<TreePath>,
}

/// What a command names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Globs that match files of the tree.
    pub(super) globs: BTreeSet<String>,
    /// Globs of the modules that the command runs. If one is elsewhere, a file of its name in the tree
    /// would come first.
    pub(super) modules: BTreeSet<String>,
    /// Paths from the root to nothing.
    pub(super) missing: BTreeSet<TreePath>,
    /// Paths into the tree from the root of the file system.
    pub(super) absolute: BTreeSet<String>,
}

impl Named {
    /// What `command` names in a tree, where `home` is its home directory.
    pub(super) fn of(command: &str, home: Option<&str>, paths: &Paths) -> Self {
        let mut texts = BTreeSet::new();
        let mut words = BTreeSet::new();
        read(&with_folders(command, home), &mut texts, &mut words);
        // Such as `*`, which says nothing.
        words.retain(|word| word.contains(char::is_alphanumeric));
        let folders = folders(&words, paths);
        let mut named = Self::default();
        for word in &words {
            if paths.is_absolute(word) {
                named.absolute.insert(word.clone());
            }
            named.look_up(word, &folders, paths);
        }
        let run = texts.iter().flat_map(|text| RUN_MODULE.captures_iter(text));
        for module in run.map(|found| found[1].to_owned()).unique() {
            named.add_module(&module, &folders, paths);
        }
        named
    }

    fn look_up(&mut self, word: &str, folders: &BTreeSet<String>, paths: &Paths) {
        let found = folders.iter().flat_map(|folder| paths.globs(folder, word));
        let found: Vec<String> = found.collect();
        if found.is_empty()
            && !word.starts_with('/')
            && let Some(path) = normal(word)
            && let Ok(path) = TreePath::parse(&path)
            && !paths.folders.contains(&path)
        {
            self.missing.insert(path);
        }
        self.globs.extend(found);
        if DOTTED.is_match(word) {
            for folder in folders {
                let globs = module_globs(folder, word);
                if paths.has(&globs[0]) {
                    self.globs
                        .extend(globs.into_iter().filter(|it| paths.has(it)));
                }
            }
        }
    }

    fn add_module(&mut self, module: &str, folders: &BTreeSet<String>, paths: &Paths) {
        for folder in folders {
            let path = module.replace('.', "/");
            self.globs.extend(paths.globs(folder, &path));
            let mut globs = module_globs(folder, module);
            if !paths.has_folder(folder, &path) {
                globs.push(in_folder(folder, &format!("{path}/**")));
            }
            let (here, elsewhere) = globs.into_iter().partition::<Vec<_>, _>(|it| paths.has(it));
            self.globs.extend(here);
            self.modules.extend(elsewhere);
        }
    }
}

/// The file of a module, and what is run before it.
fn module_globs(folder: &str, module: &str) -> Vec<String> {
    let path = module.replace('.', "/");
    let packages = path.match_indices('/').map(|(end, _)| &path[..end]);
    let before = packages.map(|package| format!("{package}/__init__.*"));
    let globs = std::iter::once(format!("{path}.*")).chain(before);
    globs.map(|glob| in_folder(folder, &glob)).collect()
}

fn in_folder(folder: &str, glob: &str) -> String {
    if folder.is_empty() {
        glob.to_owned()
    } else {
        format!("{folder}/{glob}")
    }
}

fn with_folders(command: &str, home: Option<&str>) -> String {
    let here = ["${PWD}", "$PWD", "$(pwd)"];
    let command = here
        .iter()
        .fold(command.to_owned(), |command, it| command.replace(it, "."));
    let Some(home) = home else { return command };
    let command = command.replace("~/", "$HOME/");
    command.replace("${HOME}", home).replace("$HOME", home)
}

/// Adds the words of a text, and those of its quoted words, as in `sh -c 'cd checks && ./run'`.
fn read(text: &str, texts: &mut BTreeSet<String>, words: &mut BTreeSet<String>) {
    if !texts.insert(text.to_owned()) {
        return;
    }
    words.extend(pieces(text).map(str::to_owned));
    let filled_in = FILLED_IN.replace_all(text, "*");
    for text in [text, &filled_in] {
        for word in WORDS.find_iter(text) {
            let plain = QUOTES.replace_all(word.as_str(), "$1");
            words.extend(pieces(&plain).map(str::to_owned));
            if plain != word.as_str() {
                read(&plain, texts, words);
            }
            words.insert(plain.into_owned());
        }
    }
}

/// The folders that the words name, each from the root or below another one; the root first.
fn folders(words: &BTreeSet<String>, paths: &Paths) -> BTreeSet<String> {
    let mut all = BTreeSet::from([String::new()]);
    let mut new = vec![String::new()];
    while let Some(above) = new.pop() {
        for word in words {
            let Some(path) = normal(&in_folder(&above, word)) else {
                continue;
            };
            for found in paths.folders_at(&path) {
                if all.insert(found.clone()) {
                    new.push(found);
                }
            }
        }
    }
    all
}

const BETWEEN_PATHS: [char; 4] = ['=', ':', ',', '@'];

/// The parts of a text that can be paths, as in `--config=a/b.toml`, `@a.txt` or `open("a.txt")`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let part_of_path = |c: char| c.is_alphanumeric() || "_-+=./:,@%~".contains(c);
    let words = text.split(move |c| !part_of_path(c));
    let parts = words.flat_map(|word| {
        let attached = word.strip_prefix('-').and_then(|it| it.get(1..));
        let parts = word.split(BETWEEN_PATHS);
        parts.chain([word]).chain(attached)
    });
    // The text is one word, perhaps with blanks.
    let parts = parts.chain(text.split(BETWEEN_PATHS));
    parts.filter(|it| !it.is_empty())
}

/// A path without `.`, `..` and empty names; none if it leads out of the tree.
fn normal(path: &str) -> Option<String> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

impl Paths {
    pub(super) fn new(root: PathBuf, files: BTreeSet<TreePath>) -> Self {
        let above = files.iter().flat_map(|path| {
            let ends = path.as_str().match_indices('/');
            ends.filter_map(|(end, _)| TreePath::parse(&path.as_str()[..end]).ok())
        });
        let folders = above.collect();
        Self {
            root,
            files,
            folders,
        }
    }

    fn is_absolute(&self, text: &str) -> bool {
        let into = |path: &Path| path.starts_with(&self.root);
        text.starts_with('/')
            && (normal(text).is_some_and(|it| into(&Path::new("/").join(it)))
                || fs::canonicalize(text).is_ok_and(|real| into(&real)))
    }

    /// Globs of the files that a word means below a folder. A folder that Python can run is a file too.
    fn globs(&self, folder: &str, word: &str) -> Vec<String> {
        if word.starts_with('/') {
            return Vec::new();
        }
        let Some(path) = normal(&in_folder(folder, word)).filter(|it| !it.is_empty()) else {
            return Vec::new();
        };
        let real = self.behind_links(&path);
        let mut globs: Vec<String> = std::iter::once(&path)
            .chain(&real)
            .filter(|path| self.has_file(path))
            .map(|path| globset::escape(path))
            .collect();
        let mut folders = self.folders_at(&path);
        folders.extend(self.folders_at(real.as_deref().unwrap_or_default()));
        let programs = folders.into_iter().map(|it| globset::escape(&it));
        globs.extend(
            programs
                .filter(|it| self.has(&format!("{it}/__main__.*")))
                .map(|it| format!("{it}/**")),
        );
        if is_pattern(&path) && self.has(&path) {
            globs.push(path);
        }
        globs
    }

    /// Where a path really leads, if there is a link in it.
    fn behind_links(&self, path: &str) -> Option<String> {
        let real = fs::canonicalize(self.root.join(path)).ok()?;
        let real = real.strip_prefix(&self.root).ok()?.to_str()?;
        (real != path).then(|| real.to_owned())
    }

    fn has_file(&self, path: &str) -> bool {
        TreePath::parse(path).is_ok_and(|path| self.files.contains(&path))
    }

    fn has_folder(&self, folder: &str, name: &str) -> bool {
        TreePath::parse(&in_folder(folder, name)).is_ok_and(|path| self.folders.contains(&path))
    }

    fn has(&self, glob: &str) -> bool {
        let zones = Zones::without_exceptions(&[glob.to_owned()]);
        zones.is_ok_and(|zones| self.files.iter().any(|path| zones.contains(path)))
    }

    fn folders_at(&self, path: &str) -> Vec<String> {
        if TreePath::parse(path).is_ok_and(|path| self.folders.contains(&path)) {
            return vec![path.to_owned()];
        }
        if !is_pattern(path) {
            return Vec::new();
        }
        let Ok(zones) = Zones::without_exceptions(&[path.to_owned()]) else {
            return Vec::new();
        };
        let found = self.folders.iter().filter(|path| zones.contains(path));
        found.map(ToString::to_string).collect()
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn regex(text: &'static str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    const FILES: [&str; 20] = [
        "checks/__init__.py",
        "checks/__main__.py",
        "checks/data/expected.csv",
        "checks/my check.py",
        "checks/run.py",
        "cmd/check/main.go",
        "main.py",
        "pkgs/one/check.py",
        "pkgs/one/work.py",
        "scripts/check.py",
        "scripts/rules",
        "scripts/tool",
        "src/app/__init__.py",
        "src/app/core.py",
        "src/app/verify.py",
        "src/index.js",
        "src/lib.rs",
        "src/main.go",
        "we[i]rd.py",
        "work.py",
    ];

    fn read(command: &str) -> Named {
        let files = FILES.iter().map(|path| TreePath::parse(path).unwrap());
        let paths = Paths::new(PathBuf::from("/srv/the tree"), files.collect());
        Named::of(command, Some("/srv"), &paths)
    }

    /// The files of the tree that a command protects.
    fn protected(command: &str) -> Vec<&'static str> {
        let named = read(command);
        assert!(named.absolute.is_empty(), "{command}: {named:?}");
        let globs: Vec<String> = named.globs.into_iter().collect();
        let zones = Zones::without_exceptions(&globs).unwrap();
        let is_in = |path: &&str| zones.contains(&TreePath::parse(path).unwrap());
        FILES.into_iter().filter(is_in).collect()
    }

    #[test]
    fn what_a_command_runs_is_found_in_every_spelling() {
        let run = &["checks/run.py"][..];
        let all = &FILES[..5];
        let module = &["checks/__init__.py", "checks/run.py"][..];
        for (command, expected) in rows! {
            "python3 checks/run.py" => run;
            "python3 ./checks//run.py" => run;
            "python3 src/../checks/./run.py" => run;
            "'python3' \"checks\"/run.py" => all;
            "python3 checks/my\\ check.py" => &["checks/my check.py"];
            "python3 'checks/my check.py'" => &["checks/my check.py"];
            "python3 'we[i]rd.py'" => &["we[i]rd.py"];
            "python3 checks" => all;
            "/usr/bin/python3.12 -u checks/" => all;
            "env X=1 timeout 60 python3 ./checks" => all;
            "python3 -m checks.run" => module;
            "python3 -mchecks.run" => module;
            "python3 -Im checks.run --all" => module;
            "python3 -m checks" => all;
            "python3 -m unittest checks.run" => module;
            "PYTHONPATH=src python3 -m app.verify" => &["src/app/__init__.py", "src/app/verify.py"];
            "cd scripts && python3 check.py" => &["scripts/check.py"];
            "cd src; cd ../scripts; ./tool" => &["scripts/tool"];
            "(cd pkgs && cd one && python3 check.py)" => &["pkgs/one/check.py"];
            "for d in pkgs/*; do (cd $d && python3 check.py); done" => &["pkgs/one/check.py"];
            "make -C scripts -f rules" => &["scripts/rules"];
            "make -fscripts/rules" => &["scripts/rules"];
            "PATH=$PWD/scripts:$PATH tool" => &["scripts/tool"];
            "for f in checks/r*.py; do python3 $f || exit 1; done" => run;
            "for f in run; do python3 checks/${f}.py; done" => all;
            "D=checks; python3 $D/run.py" => all;
            "D=checks F=$D/run.py; python3 \"$F\"" => all;
            "python3 \"$PWD\"/checks/run.py" => run;
            "python3 \"$(pwd)/checks/run.py\"" => run;
            "python3 checks/{run,other}.py" => all;
            "sh -c 'cd checks && python3 run.py'" => all;
            "bash -euc \"python3 checks/run.py\"" => run;
            "D=checks sh -c 'python3 $D/run.py'" => all;
            "eval 'python3 checks/run.py'" => run;
            "f() { python3 \"$1\"; }; f checks/run.py" => run;
            "if true; then python3 checks/run.py; fi" => run;
            "python3 - < checks/run.py" => run;
            "python3 -c 'exec(open(\"checks/run.py\").read())'" => run;
            "tool --config=checks/run.py" => run;
            "D=checks; tool --config=$D/run.py" => all;
            "[ -f checks/run.py ] && true" => run;
            "ls checks | xargs -n1 python3" => all;
            "node checks" => all;
        } {
            assert_eq!(protected(command), expected, "{command}");
        }
    }

    #[test]
    fn ordinary_commands_leave_the_work_to_the_agent() {
        for command in [
            "cargo test",
            "npm test",
            "pytest -q",
            "pytest src",
            "python3 -m pytest src",
            "python3 -m mypy src/app",
            "PYTHONPATH=src pytest",
            "ruff check src",
            "ruff check .",
            "eslint src --ext .js",
            "go test ./...",
            "go vet ./src",
            "make -j$(nproc) check",
            "cd src && go test ./...",
            "test -z \"$(gofmt -l .)\"",
            "[ \"$(./count)\" -gt $LIMIT ]",
            "sh -c 'cargo build && cargo test'",
            "npm --prefix src test",
            "test -d \"$HOME\"",
            "X=$(date) cargo test",
            "diff <(true) <(false)",
            "cat src/*.txt; exit $?",
        ] {
            assert_eq!(protected(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn a_module_that_is_elsewhere_cannot_be_added() {
        let modules = read("cd src && python3 -m pytest").modules;
        for glob in ["pytest.*", "src/pytest.*", "src/pytest/**"] {
            assert!(modules.contains(glob), "{glob}: {modules:?}");
        }
        assert!(read("pytest src").modules.is_empty());
    }

    #[test]
    fn a_path_from_the_root_of_the_file_system_into_the_tree_is_said() {
        for (command, count) in rows! {
            "python3 '/srv/the tree/checks/run.py'" => 1;
            "cd '/srv/the tree'" => 1;
            "tool --config='/srv/x/../the tree/a'" => 1;
            "python3 \"$HOME/the tree/checks/run.py\"" => 1;
            "python3 ~/'the tree'/checks/run.py" => 1;
            "python3 '/srv/the trees/run.py'" => 0;
            "/usr/bin/make" => 0;
        } {
            assert_eq!(read(command).absolute.len(), count, "{command}");
        }
    }
}
