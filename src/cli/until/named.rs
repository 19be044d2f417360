//! The files of a tree that a command names, however it spells them.
//!
//! A shell parser finds the words. Each is looked up from the root and below every folder that the
//! command names, because a command may change there first. Too much is protected rather than too
//! little, and what cannot be read is returned, so that a person decides.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use crate::base::command_line::{CommandLine, Part, SimpleCommand, Word, program};
use crate::world::tree::{TreePath, Zones};

/// How many texts a word may stand for, and below how many folders it is looked up.
const MAX_TEXTS: usize = 200;

/// How deep shells may be nested in a command, and variables in each other.
const MAX_DEPTH: u32 = 8;

const NUMBER: &str = "[0-9]*";

/// The paths of a tree.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub(super) root: PathBuf,
    pub(super) files: BTreeSet<TreePath>,
}

/// What a command names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Globs of what is in the tree.
    pub(super) globs: BTreeSet<String>,
    /// Globs of modules that the command runs, whether they are in the tree or elsewhere: one in the
    /// tree would come first.
    pub(super) modules: BTreeSet<String>,
    /// Paths from the root to nothing.
    pub(super) missing: BTreeSet<TreePath>,
    /// Parts of the command for which it is not known what they run.
    pub(super) unread: Vec<String>,
    /// Paths into the tree from the root of the file system.
    pub(super) absolute: BTreeSet<String>,
}

/// Reads `command`; `variable` is what the command finds in its environment.
pub(super) fn named(
    command: &str,
    paths: &Paths,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Named {
    let mut reader = Reader {
        paths,
        variable,
        values: BTreeMap::new(),
        folders: vec![String::new()],
        named: Named::default(),
    };
    reader.read(command, 0);
    reader.named
}

struct Reader<'a> {
    paths: &'a Paths,
    variable: &'a dyn Fn(&str) -> Option<String>,
    /// What the command sets variables to.
    values: BTreeMap<String, Vec<Vec<Part>>>,
    /// Globs of the folders below which words are looked up; the root first.
    folders: Vec<String>,
    named: Named,
}

/// A text that a word stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Spelling {
    glob: String,
    text: String,
}

impl Spelling {
    fn literal(text: &str) -> Self {
        // A glob over a tree has no backslash.
        let glob = globset::escape(text).replace('\\', "?");
        let text = text.to_owned();
        Self { glob, text }
    }

    fn pattern(glob: &str) -> Self {
        let (glob, text) = (glob.to_owned(), glob.to_owned());
        Self { glob, text }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            glob: format!("{}{}", self.glob, other.glob),
            text: format!("{}{}", self.text, other.text),
        }
    }
}

impl Reader<'_> {
    fn read(&mut self, command: &str, depth: u32) {
        if depth > MAX_DEPTH {
            self.named.unread.push(command.to_owned());
            return;
        }
        let line = CommandLine::parse(command);
        if line.is_misread {
            self.named.unread.push(command.to_owned());
        }
        for variable in &line.variables {
            let values = variable.values.iter().map(|word| word.parts.clone());
            let known = self.values.entry(variable.name.clone()).or_default();
            known.extend(values);
        }
        let set = line.variables.iter().flat_map(|it| &it.values);
        let used = line.commands.iter().flat_map(|it| &it.words);
        let words = set.chain(used).chain(&line.reads).chain(&line.writes);
        let spelled: Vec<Spelling> = words
            .filter_map(|word| self.spellings(word))
            .flatten()
            .collect();
        for word in &spelled {
            self.add_folder(&word.glob);
            for piece in pieces(&word.text) {
                self.add_folder(&Spelling::literal(piece).glob);
            }
        }
        for word in &spelled {
            self.look_up(word);
            for piece in pieces(&word.text) {
                self.look_up(&Spelling::literal(piece));
            }
        }
        // Names in what is no word: code in another language, lines of text, conditions.
        for piece in pieces(command) {
            self.look_up(&Spelling::literal(piece));
        }
        for it in &line.commands {
            self.read_words(it, depth);
        }
    }

    fn read_words(&mut self, command: &SimpleCommand, depth: u32) {
        // These only compare, print or end, whatever their words are.
        let runs_nothing = ["test", "[", "echo", "printf", "exit", "return"];
        let words: Vec<_> = command.words.iter().map(|it| self.spellings(it)).collect();
        if !runs_nothing.contains(&command.program()) {
            let unread = command.words.iter().zip(&words);
            let unread = unread.filter(|(_, spelled)| spelled.is_none());
            let texts = unread.map(|(word, _)| word.text.clone());
            self.named.unread.extend(texts);
        }
        if command.program() == "eval" {
            let texts = words.iter().skip(1).flatten();
            let texts = texts.filter_map(|it| it.first());
            self.read(&texts.map(|it| it.text.as_str()).join(" "), depth + 1);
        }
        let passes_names = ["find", "xargs", "parallel"].contains(&command.program());
        for (at, word) in words.iter().enumerate() {
            let rest = &words[at + 1..];
            for spelled in word.iter().flatten() {
                let runner = Runner::named(program(&spelled.text));
                if passes_names && runner.is_some() {
                    self.add_all_folders(command);
                }
                match runner {
                    Some(Runner::Shell) => self.read_script(rest, depth),
                    Some(runner) => self.read_program(runner, rest),
                    None => {}
                }
            }
        }
    }

    /// For a program that is given the names of files which it finds, as in `find checks -exec sh {} +`.
    fn add_all_folders(&mut self, command: &SimpleCommand) {
        let folders = self.folders.iter().skip(1).map(|it| everything_in(it));
        let globs: Vec<String> = folders.collect();
        if globs.is_empty() {
            let words = command.words.iter().map(|it| it.text.as_str());
            self.named.unread.push(words.format(" ").to_string());
        }
        self.named.globs.extend(globs);
    }

    /// `sh -c SCRIPT`
    fn read_script(&mut self, words: &[Option<Vec<Spelling>>], depth: u32) {
        let is_option = |it: &Spelling| it.text.starts_with(['-', '+']);
        let takes_script =
            |it: &Spelling| is_option(it) && !it.text.starts_with("--") && it.text.contains('c');
        let has = |word: &Option<Vec<Spelling>>, is: &dyn Fn(&Spelling) -> bool| {
            word.iter().flatten().any(is)
        };
        let options = words.iter().take_while(|word| has(word, &is_option));
        let count = options.clone().count();
        if options.into_iter().any(|word| has(word, &takes_script))
            && let Some(Some(scripts)) = words.get(count)
        {
            for script in scripts {
                self.read(&script.text, depth + 1);
            }
        }
    }

    /// What a program that also runs folders or modules is given to run.
    fn read_program(&mut self, runner: Runner, words: &[Option<Vec<Spelling>>]) {
        let mut words = words.iter().flatten();
        if runner == Runner::Go {
            let is_run = |it: &Vec<Spelling>| it.iter().any(|it| it.text == "run");
            if !words.next().is_some_and(is_run) {
                return;
            }
        }
        while let Some(spelled) = words.next() {
            for it in spelled {
                let text = it.text.as_str();
                let is_short = text.starts_with('-') && !text.starts_with("--");
                if runner == Runner::Python && is_short {
                    let module = text.strip_prefix("-m").filter(|it| !it.is_empty());
                    if module.is_some() || text.ends_with('m') {
                        let words = words.flatten().map(|it| it.text.as_str());
                        let modules: Vec<&str> = module.into_iter().chain(words).collect();
                        return self.add_modules(&modules);
                    }
                    if text.ends_with('c') {
                        return;
                    }
                }
                let found = self.found(&it.glob);
                let Some(first) = found.first() else { continue };
                if matches!(first, Found::Folder(_)) {
                    let globs = found.iter().filter_map(|it| match it {
                        Found::Folder(folder) => Some(everything_in(folder)),
                        Found::File(_) => None,
                    });
                    let globs: Vec<String> = globs.collect();
                    self.named.globs.extend(globs);
                }
                return;
            }
        }
    }

    /// The module that a program runs, which may be outside the tree, and those that it is given.
    fn add_modules(&mut self, words: &[&str]) {
        let is_name =
            |it: &str| !it.is_empty() && it.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        for (place, word) in words.iter().enumerate() {
            if !word.split('.').all(is_name) {
                continue;
            }
            let path = word.replace('.', "/");
            let mut globs = vec![format!("{path}.*")];
            // Otherwise it may be a folder that the module only reads, as in `-m mypy src`.
            if place == 0 || word.contains('.') {
                globs.push(format!("{path}/**"));
            }
            let packages = path.match_indices('/');
            globs.extend(packages.map(|(end, _)| format!("{}/__init__.*", &path[..end])));
            for folder in &self.folders {
                let globs = globs.iter().map(|glob| normal(&format!("{folder}/{glob}")));
                let globs: Vec<String> = globs.flatten().collect();
                let (present, absent): (Vec<_>, Vec<_>) =
                    globs.into_iter().partition(|it| self.paths.matches(it));
                if place == 0 || present.iter().any(|it| !it.ends_with("/__init__.*")) {
                    self.named.globs.extend(present);
                    self.named.modules.extend(absent);
                }
            }
        }
    }

    /// The texts that a word stands for; none if nobody knows before the command runs.
    fn spellings(&self, word: &Word) -> Option<Vec<Spelling>> {
        self.spell(&word.parts, &mut Vec::new())
    }

    fn spell(&self, parts: &[Part], within: &mut Vec<String>) -> Option<Vec<Spelling>> {
        let mut all = vec![Spelling::default()];
        for part in parts {
            let texts = match part {
                Part::Text(text) => vec![Spelling::literal(text)],
                Part::Pattern(glob) => vec![Spelling::pattern(glob)],
                Part::Variable(name) => self.values_of(name, parts.len() == 1, within)?,
                Part::Output(command) => match command.split_whitespace().next()? {
                    "pwd" => vec![Spelling::literal(".")],
                    "nproc" | "seq" => vec![Spelling::pattern(NUMBER)],
                    _ => return None,
                },
                Part::Unknown => return None,
            };
            let joined = all.iter().cartesian_product(&texts);
            all = joined.map(|(one, other)| one.and(other)).collect();
            if all.len() > MAX_TEXTS {
                return None;
            }
        }
        Some(all)
    }

    fn values_of(
        &self,
        name: &str,
        is_alone: bool,
        within: &mut Vec<String>,
    ) -> Option<Vec<Spelling>> {
        let is_new = !within.iter().any(|it| it == name) && within.len() < MAX_DEPTH as usize;
        if let Some(values) = self.values.get(name).filter(|it| is_new && !it.is_empty()) {
            within.push(name.to_owned());
            let texts = values.iter().map(|value| self.spell(value, within));
            let texts: Option<Vec<_>> = texts.collect();
            within.pop();
            return Some(texts?.concat());
        }
        match name {
            "PWD" => Some(vec![Spelling::literal(".")]),
            "?" | "#" | "$" | "!" => Some(vec![Spelling::pattern(NUMBER)]),
            // A parameter is a word of the command, which is looked up where it is.
            name if is_alone
                && (matches!(name, "@" | "*") || name.chars().all(|c| c.is_ascii_digit())) =>
            {
                Some(vec![Spelling::default()])
            }
            _ => Some(vec![Spelling::literal(&(self.variable)(name)?)]),
        }
    }

    fn add_folder(&mut self, glob: &str) {
        for folder in self.folders.clone() {
            let Some(path) = normal(&format!("{folder}/{glob}")) else {
                continue;
            };
            for path in self.paths.through_links(path) {
                let is_new = !self.folders.contains(&path) && self.folders.len() < MAX_TEXTS;
                if is_new && self.paths.has_folder(&path) {
                    self.folders.push(path);
                }
            }
        }
    }

    fn look_up(&mut self, word: &Spelling) {
        if self.paths.is_absolute(&word.text) {
            self.named.absolute.insert(word.text.clone());
        }
        let found = self.found(&word.glob);
        if found.is_empty()
            && !word.text.starts_with('/')
            && let Some(path) = normal(&word.text)
        {
            self.named.missing.extend(TreePath::parse(&path).ok());
        }
        let files = found.into_iter().filter_map(|it| match it {
            Found::File(path) => Some(path),
            Found::Folder(_) => None,
        });
        self.named.globs.extend(files);
    }

    /// The files and folders of the tree that a word can mean, as globs.
    fn found(&self, glob: &str) -> Vec<Found> {
        if glob.is_empty() || glob.starts_with('/') {
            return Vec::new();
        }
        let paths = self
            .folders
            .iter()
            .filter_map(|folder| normal(&format!("{folder}/{glob}")));
        let paths = paths.flat_map(|path| self.paths.through_links(path));
        let mut found = Vec::new();
        for path in paths.unique() {
            if self.paths.matches(&path) {
                found.push(Found::File(path));
            } else if self.paths.has_folder(&path) {
                found.push(Found::Folder(path));
            }
        }
        found
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    File(String),
    Folder(String),
}

/// The programs that run a folder, or a script that is a word. Those that only read folders, such as
/// linters, leave them to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Shell,
    Python,
    Go,
    /// Runs a folder that it is given.
    Folder,
}

impl Runner {
    fn named(program: &str) -> Option<Self> {
        let name = program.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
        match name {
            "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" => Some(Self::Shell),
            "python" | "pypy" => Some(Self::Python),
            "go" => Some(Self::Go),
            "node" | "nodejs" | "run-parts" => Some(Self::Folder),
            _ => None,
        }
    }
}

/// The files of the root itself, and all of another folder.
fn everything_in(folder: &str) -> String {
    if folder.is_empty() {
        return "*".to_owned();
    }
    format!("{folder}/**")
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
    fn is_absolute(&self, text: &str) -> bool {
        let path = Path::new(text);
        let into = |path: &Path| path.starts_with(&self.root);
        path.is_absolute()
            && (normal(text).is_some_and(|it| into(&Path::new("/").join(it)))
                || fs::canonicalize(path).is_ok_and(|real| into(&real)))
    }

    /// The path, and where it really leads if there is a link in it.
    fn through_links(&self, path: String) -> Vec<String> {
        let real = fs::canonicalize(self.root.join(&path)).ok();
        let inner = real
            .as_deref()
            .and_then(|it| it.strip_prefix(&self.root).ok());
        let inner = inner.and_then(Path::to_str).map(globset::escape);
        let real = inner.filter(|it| *it != path);
        std::iter::once(path).chain(real).collect()
    }

    fn matches(&self, glob: &str) -> bool {
        if is_glob(glob) {
            let zones = Zones::without_exceptions(&[glob.to_owned()]);
            return zones.is_ok_and(|it| self.files.iter().any(|path| it.contains(path)));
        }
        TreePath::parse(glob).is_ok_and(|path| self.files.contains(&path))
    }

    fn has_folder(&self, glob: &str) -> bool {
        if glob.is_empty() {
            return !self.files.is_empty();
        }
        if is_glob(glob) {
            return self.matches(&format!("{glob}/**"));
        }
        let inside = format!("{glob}/");
        let after = (Bound::Excluded(inside.as_str()), Bound::Unbounded);
        let mut files = self.files.range::<str, _>(after);
        files
            .next()
            .is_some_and(|it| it.as_str().starts_with(&inside))
    }
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
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
        let paths = Paths {
            root: PathBuf::from("/srv/the tree"),
            files: files.collect(),
        };
        let known = [("HOME", "/srv"), ("PATH", "/usr/bin:/bin")];
        let variable = |name: &str| {
            let found = known.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        named(command, &paths, &variable)
    }

    /// The files of the tree that a command protects.
    fn protected(command: &str) -> Vec<&'static str> {
        let named = read(command);
        assert_eq!(named.unread, [""; 0], "{command}");
        assert!(named.absolute.is_empty(), "{command}");
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
            "'python3' \"checks\"/run.py" => run;
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
            "for f in run; do python3 checks/${f}.py; done" => run;
            "D=checks; python3 $D/run.py" => run;
            "D=checks F=$D/run.py; python3 \"$F\"" => run;
            "python3 \"$PWD\"/checks/run.py" => run;
            "python3 \"$(pwd)/checks/run.py\"" => run;
            "python3 checks/{run,other}.py" => run;
            "sh -c 'cd checks && python3 run.py'" => run;
            "bash -euc \"python3 checks/run.py\"" => run;
            "D=checks sh -c 'python3 $D/run.py'" => run;
            "eval 'python3 checks/run.py'" => run;
            "f() { python3 \"$1\"; }; f checks/run.py" => run;
            "if true; then python3 checks/run.py; fi" => run;
            "python3 - < checks/run.py" => run;
            "python3 -c 'exec(open(\"checks/run.py\").read())'" => run;
            "tool --config=checks/run.py" => run;
            "D=checks; tool --config=$D/run.py" => run;
            "[ -f checks/run.py ] && true" => run;
            "find checks -name '*.py' -exec python3 {} +" => all;
            "ls checks | xargs -n1 python3" => all;
            "go run ./cmd/check" => &["cmd/check/main.go"];
            "node checks" => all;
            "python3 ." => &["main.py", "we[i]rd.py", "work.py"];
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
    fn what_cannot_be_read_is_said() {
        for (command, unread) in rows! {
            "python3 $(cat which)" => "$(cat which)";
            "$TOOL --all" => "$TOOL";
            "python3 checks/$1" => "checks/$1";
            "python3 ${X:-checks}/run.py" => "${X:-checks}/run.py";
            "eval \"$X\"" => "\"$X\"";
            "D=$(cat which); python3 $D/run.py" => "$D/run.py";
            "D=$D/a; cd $D" => "$D";
            "ls checks | while read f; do python3 checks/$f; done" => "checks/$f";
            "find . -name 'r*.py' -exec python3 {} +" => "find . -name r*.py -exec python3 {} +";
            "sh -c 'python3 $X'" => "$X";
            "python3 'checks" => "python3 'checks";
        } {
            assert_eq!(read(command).unread, [unread], "{command}");
        }
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
