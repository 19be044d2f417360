//! Runs git, and makes commits in the repository of a tree.
//!
//! An agent may have written into the repository: its configuration, hooks and attributes can start
//! programs. So git never sees them here. It runs in a folder of comail's own, which has nothing but
//! links to the objects and the branches of the repository. The user's index, files and HEAD are not
//! in it either.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use tempfile::TempDir;

use super::sandbox::{is_executable, trusted_path};
use super::tree::{Entry, Listing, Load, Snapshot, TreeError, TreePath};
use crate::base::process::{start_with_input, wait_within};
use crate::base::{files, serde_as_text};

/// The name of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId(String);

#[derive(Debug, thiserror::Error)]
#[error("this is not the name of a git object")]
pub struct BadObjectId;

impl std::str::FromStr for ObjectId {
    type Err = BadObjectId;

    fn from_str(text: &str) -> Result<Self, BadObjectId> {
        let is_name =
            matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit());
        is_name.then(|| Self(text.to_owned())).ok_or(BadObjectId)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

serde_as_text!(ObjectId);

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not in PATH")]
    Missing,
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("`git {command}` failed: {said}")]
    Failed { command: String, said: String },
    #[error("{} is a link, and git would write to where it leads", .0.display())]
    Link(PathBuf),
    #[error("{} is not a file, and git would wait for it", .0.display())]
    NoFile(PathBuf),
    #[error(
        "{} exists: git is updating the branch, or was interrupted; if no git is running, remove this file",
        .0.display()
    )]
    Locked(PathBuf),
    #[error("it is checked out in {0}: check out another branch there")]
    CheckedOut(String),
    #[error(
        "the contents of the object {0} in the repository do not match its name: remove this object, \
         which `git fsck` finds too, and make the branch again"
    )]
    Forged(String),
}

impl GitError {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

/// A named pipe in the repository would block git forever.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// The program, found as the gate's programs are: not where agents may write.
pub fn program(path: &OsStr, untrusted: &[PathBuf]) -> Result<PathBuf, GitError> {
    let (dirs, _) = trusted_path(path, untrusted);
    let mut programs = dirs.iter().filter(|dir| dir.is_absolute());
    let found = programs.find_map(|dir| Some(dir.join("git")).filter(|it| is_executable(it)));
    found.ok_or(GitError::Missing)
}

/// Asks git in a tree with these arguments.
type Lists<'a> = dyn Fn(&[&str]) -> Result<Vec<u8>, GitError> + 'a;

/// The repository in which a tree was when its session was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repository {
    program: PathBuf,
    /// The folder with its objects and branches.
    dir: PathBuf,
    /// The path of the tree in it, with a slash at the end; empty if the tree is all of it.
    prefix: String,
    objects: String,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<ObjectId>,
    /// The files of the tree that differ from this commit, without those that git ignores.
    pub changed: BTreeSet<TreePath>,
    /// The folders of the tree that are repositories of their own, such as submodules: a commit has
    /// none of their files.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub nested: BTreeSet<TreePath>,
}

impl Repository {
    /// Asks git about the tree at `root`; `None` if it is in no repository, or is ignored there.
    pub fn find(
        program: PathBuf,
        root: &Path,
        listing: &Listing,
    ) -> Result<Option<Self>, GitError> {
        // The user's own configuration says what git ignores, and whose repositories it reads. Of
        // these commands, only a file system monitor is started that a configuration names.
        let asks = |args: &[&str]| {
            let mut command = Command::new(&program);
            command.env_clear().current_dir(root).env("LC_ALL", "C");
            let passed = ["HOME", "XDG_CONFIG_HOME"];
            command.envs(passed.iter().filter_map(|it| Some((*it, env::var_os(it)?))));
            command.args(["-c", "core.fsmonitor=false"]);
            call(command.args(args), &[]).map(String::from_utf8)
        };
        let asked = asks(&[
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-common-dir",
            "--git-path",
            "index",
            "--show-object-format",
            "--show-prefix",
        ]);
        let told = match asked {
            Ok(Ok(told)) => told,
            Ok(Err(_)) => return Ok(None),
            Err(why) => {
                tracing::info!(%why, "the tree is in no git repository");
                return Ok(None);
            }
        };
        let lines: Vec<&str> = told.lines().collect();
        let [top, dir, index, objects, prefix] = lines[..] else {
            return Ok(None);
        };
        if !prefix.is_empty() && asks(&["check-ignore", "-q", "."]).is_ok() {
            return Ok(None);
        }
        let head = asks(&["rev-parse", "-q", "--verify", "HEAD"]);
        let head = head.ok().and_then(|it| it.ok()?.trim().parse().ok());
        let excludes = asks(&["config", "--type=path", "core.excludesFile"]);
        let excludes = excludes.ok().and_then(Result::ok).unwrap_or_default();
        let mut repository = Self {
            dir: fs::canonicalize(dir).map_err(GitError::io("find", Path::new(dir)))?,
            prefix: prefix.to_owned(),
            objects: objects.to_owned(),
            program,
            head,
            changed: BTreeSet::new(),
            nested: BTreeSet::new(),
        };
        let git = repository.open()?;
        let lists = |args: &[&str]| {
            let mut command = git.command();
            command.current_dir(root).env("GIT_WORK_TREE", top);
            command.env("GIT_INDEX_FILE", index);
            command.arg("-c");
            command.arg(format!("core.excludesFile={}", excludes.trim_end()));
            call(command.args(args), &[])
        };
        repository.compare(root, listing, &lists)?;
        Ok(Some(repository))
    }

    /// Finds what differs from the commit that was checked out; `lists` asks git in the tree.
    fn compare(
        &mut self,
        root: &Path,
        listing: &Listing,
        lists: &Lists<'_>,
    ) -> Result<(), GitError> {
        let mut names = match &self.head {
            Some(head) => {
                let head = head.to_string();
                let differing = ["diff-index", "--name-only", "-z", "--relative"];
                let differing = differing
                    .into_iter()
                    .chain(["--ignore-submodules=all", &head]);
                let mut differing = lists(&differing.collect::<Vec<_>>())?;
                differing.extend(lists(&["ls-files", "-z", "-o", "--exclude-standard"])?);
                differing
            }
            None => lists(&["ls-files", "-z", "-c", "-o", "--exclude-standard"])?,
        };
        names.push(0);
        let linked = lists(&["ls-files", "-z", "-s"])?;
        let linked = texts(&linked).filter_map(|line| line.strip_prefix("160000 "));
        let linked = linked.filter_map(|line| Some(line.split_once('\t')?.1));
        // Git ends the name of an untracked repository with a slash.
        let untracked = texts(&names).filter_map(|name| name.strip_suffix('/'));
        self.nested = paths(linked.chain(untracked)).collect();
        // What is there and not in the listing is left out of the tree, and stays as it is in git.
        let is_gone = |path: &TreePath| fs::symlink_metadata(path.join_to(root)).is_err();
        let changed = paths(texts(&names));
        let changed = changed.filter(|path| listing.get(path).is_some() || is_gone(path));
        // Git does not compare the files of which it was told to assume that they are unchanged.
        let assumed = lists(&["ls-files", "-z", "-v"])?;
        let assumed = texts(&assumed).filter_map(|line| line.split_once(' '));
        let assumed = paths(assumed.filter_map(|(tag, name)| (tag != "H").then_some(name)));
        let assumed = assumed.filter(|path| listing.get(path).is_some());
        self.changed = changed.chain(assumed).collect();
        Ok(())
    }

    /// Whether a commit can have the file.
    pub fn can_hold(&self, path: &TreePath) -> bool {
        !self.nested.contains(path) && !path.folders().any(|folder| self.nested.contains(&folder))
    }

    /// The repositories of their own that have files of the tree, for people.
    pub fn nested_texts(&self, listing: &Listing) -> Vec<String> {
        let nested = self.nested.iter().filter(|it| listing.is_folder(it));
        nested.map(ToString::to_string).collect()
    }

    /// Git in this repository, but without its configuration.
    pub fn open(&self) -> Result<Git, GitError> {
        let place = self.program.parent().map(Path::as_os_str);
        let program = program(place.unwrap_or_default(), &[])?;
        let real = fs::canonicalize(&self.dir).map_err(GitError::io("find", &self.dir))?;
        let heads = ["refs", "refs/heads", "refs/heads/comail", "objects"];
        let mut places = heads.map(|name| self.dir.join(name)).into_iter();
        if real != self.dir {
            return Err(GitError::Link(self.dir.clone()));
        }
        if let Some(link) = places.find(|place| place.is_symlink()) {
            return Err(GitError::Link(link));
        }
        let mut files = ["packed-refs", "objects/info/alternates"]
            .map(|name| self.dir.join(name))
            .into_iter();
        if let Some(path) = files.find(|path| fs::metadata(path).is_ok_and(|it| !it.is_file())) {
            return Err(GitError::NoFile(path));
        }
        let mut extensions = format!("objectFormat = {}\n", self.objects);
        if self.dir.join("reftable").exists() {
            extensions += "refStorage = reftable\n";
        }
        let git = Git::new(program, &extensions)?;
        for name in ["objects", "refs", "packed-refs", "reftable", "info"] {
            let link = git.dir.path().join(name);
            symlink(self.dir.join(name), &link).map_err(GitError::io("make", &link))?;
        }
        Ok(git)
    }

    /// The path of a file of the tree in the repository.
    pub fn place(&self, path: &TreePath) -> String {
        format!("{}{path}", self.prefix)
    }

    /// Where a branch is checked out, as git knows.
    pub fn refuse_checked_out(&self, branch: &str) -> Result<(), GitError> {
        // Git lists no branch that does not exist yet.
        let head = fs::read_to_string(self.dir.join("HEAD")).unwrap_or_default();
        if head.trim() == format!("ref: refs/heads/{branch}") {
            return Err(GitError::CheckedOut(self.dir.display().to_string()));
        }
        let mut command = Command::new(&self.program);
        command.env_clear().env("LC_ALL", "C").arg("--git-dir");
        command
            .arg(&self.dir)
            .args(["for-each-ref", "--format=%(worktreepath)"]);
        let told = call(command.arg(format!("refs/heads/{branch}")), &[])?;
        match String::from_utf8_lossy(&told).trim() {
            "" => Ok(()),
            place => Err(GitError::CheckedOut(place.to_owned())),
        }
    }
}

/// The texts that git ends with a zero.
fn texts(told: &[u8]) -> impl Iterator<Item = &str> {
    let texts = told.split(|byte| *byte == 0);
    texts.filter_map(|text| str::from_utf8(text).ok())
}

fn paths<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = TreePath> {
    names.filter_map(|name| TreePath::parse(name).ok())
}

/// Git in a folder of its own.
#[derive(Debug)]
pub struct Git {
    program: PathBuf,
    dir: TempDir,
    /// The name of no object.
    nothing: String,
}

/// A file as git stores it: its mode, and its contents or where a link leads.
pub type Stored = (&'static str, Vec<u8>);

/// The file at a path, if there is one.
pub fn stored(
    tree: &Snapshot,
    path: &TreePath,
    load: &Load<'_>,
) -> Result<Option<Stored>, TreeError> {
    let contents = match tree.listing.get(path) {
        None => return Ok(None),
        Some(Entry::Link { to }) => to.clone().into_bytes(),
        Some(Entry::File { .. }) => tree.read(path, load)?.unwrap_or_default().to_vec(),
    };
    Ok(tree.listing.get(path).map(|entry| (mode(entry), contents)))
}

/// Who wrote a commit, when, and why.
#[derive(Debug)]
pub struct Note {
    pub author: String,
    pub at: Timestamp,
    pub message: String,
}

/// Who makes the commits.
pub const COMMITTER: &str = "comail";

impl Git {
    /// Git with an empty repository.
    pub fn alone(program: PathBuf) -> Result<Self, GitError> {
        let git = Self::new(program, "")?;
        for name in ["objects", "refs"] {
            let folder = git.dir.path().join(name);
            fs::create_dir(&folder).map_err(GitError::io("make", &folder))?;
        }
        Ok(git)
    }

    fn new(program: PathBuf, extensions: &str) -> Result<Self, GitError> {
        let temporary = env::temp_dir();
        let dir = files::private_dir("comail-git-", &temporary);
        let dir = dir.map_err(GitError::io("make a folder in", &temporary))?;
        let config = format!("[core]\nrepositoryFormatVersion = 1\n[extensions]\n{extensions}");
        for (name, text) in [("HEAD", "ref: refs/heads/none\n"), ("config", &config)] {
            let path = dir.path().join(name);
            fs::write(&path, text).map_err(GitError::io("write", &path))?;
        }
        let digits = if extensions.contains("sha256") {
            64
        } else {
            40
        };
        Ok(Self {
            program,
            dir,
            nothing: "0".repeat(digits),
        })
    }

    fn command(&self) -> Command {
        let dir = self.dir.path();
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .current_dir(dir)
            .env("LC_ALL", "C")
            .env("GIT_DIR", dir)
            .env("GIT_INDEX_FILE", dir.join("index"))
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }

    fn ask(&self, args: &[&str], input: &[u8]) -> Result<ObjectId, GitError> {
        let mut command = self.command();
        answered(command.args(args), input)
    }

    /// The commit of a branch; `None` if there is none.
    pub fn branch(&self, name: &str) -> Option<ObjectId> {
        let name = format!("refs/heads/{name}");
        self.ask(&["rev-parse", "-q", "--verify", &name], &[]).ok()
    }

    /// Moves a branch, wherever it is now. A reference to another branch is replaced, not followed.
    pub fn set_branch(&self, name: &str, commit: &ObjectId) -> Result<(), GitError> {
        let name = format!("refs/heads/{name}");
        let args = ["update-ref", "--no-deref", &name, &commit.0];
        // Git would name the lock by its path in a folder that is gone by then.
        let lock = fs::canonicalize(self.dir.path().join(format!("{name}.lock")));
        let moved = call(self.command().args(args), &[]).map(drop);
        moved.map_err(|why| lock.map_or(why, GitError::Locked))
    }

    /// Makes the index that of a commit, or empty.
    pub fn read_tree(&self, commit: Option<&ObjectId>) -> Result<(), GitError> {
        let from = commit.map_or("--empty", |it| &it.0);
        call(self.command().args(["read-tree", from]), &[]).map(drop)
    }

    /// Puts files into the index; without one, what is at the path is removed.
    pub fn stage(&self, files: &[(String, Option<Stored>)]) -> Result<(), GitError> {
        let contents = files.iter().filter_map(|(_, file)| file.as_ref());
        let names = self.store(contents.map(|(_, contents)| contents))?;
        let gone = files.iter().filter(|(_, file)| file.is_none());
        // First what is gone: a folder may be where a file was.
        let gone = gone.map(|(path, _)| format!("0 {}\t{path}\0", self.nothing));
        let there = files
            .iter()
            .filter_map(|(path, file)| Some((path, file.as_ref()?.0)));
        let there = there
            .zip(names)
            .map(|((path, mode), name)| format!("{mode} {name}\t{path}\0"));
        let input: String = gone.chain(there).collect();
        let mut command = self.command();
        command.args(["update-index", "-z", "--index-info"]);
        let (_, said) = call_aloud(&mut command, input.as_bytes())?;
        // It leaves out a path such as `git~1`, and says so.
        let said = String::from_utf8_lossy(&said);
        if said.trim().is_empty() {
            Ok(())
        } else {
            Err(failed(&command, &said))
        }
    }

    /// Stores contents, and returns their names in this order.
    fn store<'a>(
        &self,
        contents: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Vec<ObjectId>, GitError> {
        let folder = self.dir.path().join("contents");
        fs::create_dir_all(&folder).map_err(GitError::io("make", &folder))?;
        let mut paths = String::new();
        for (number, bytes) in contents.enumerate() {
            let path = folder.join(number.to_string());
            fs::write(&path, bytes).map_err(GitError::io("write", &path))?;
            let _ = writeln!(paths, "contents/{number}");
        }
        let mut command = self.command();
        command.args(["hash-object", "-w", "--no-filters", "--stdin-paths"]);
        let told = call(&mut command, paths.as_bytes())?;
        fs::remove_dir_all(&folder).map_err(GitError::io("empty", &folder))?;
        let names = String::from_utf8_lossy(&told);
        names.lines().map(|line| name_in(line, &command)).collect()
    }

    /// Stores the index as a tree.
    pub fn write_tree(&self) -> Result<ObjectId, GitError> {
        // The files of a commit may be missing in a partial clone.
        self.ask(&["write-tree", "--missing-ok"], &[])
    }

    pub fn commit(
        &self,
        tree: &ObjectId,
        parent: Option<&ObjectId>,
        note: &Note,
    ) -> Result<ObjectId, GitError> {
        let mut command = self.command();
        command.args(["commit-tree", "-F", "-", &tree.0]);
        command.args(parent.iter().flat_map(|parent| ["-p", &parent.0]));
        for (role, name) in [("AUTHOR", &*note.author), ("COMMITTER", COMMITTER)] {
            let local = name.replace(|c: char| !c.is_alphanumeric() && !"-_.".contains(c), "-");
            command
                .env(format!("GIT_{role}_NAME"), name)
                .env(
                    format!("GIT_{role}_EMAIL"),
                    format!("{local}@comail.invalid"),
                )
                .env(
                    format!("GIT_{role}_DATE"),
                    format!("@{} +0000", note.at.as_second()),
                );
        }
        answered(&mut command, note.message.as_bytes())
    }

    /// Fails if an object that only this commit has is not what its name says. Git keeps an object
    /// that is there already, and does not look at it.
    pub fn verify(&self, commit: &ObjectId, known: Option<&ObjectId>) -> Result<(), GitError> {
        let mut listing = self.command();
        listing.args(["rev-list", "--objects", "--no-object-names", &commit.0]);
        listing.args(known.iter().map(|known| format!("^{known}")));
        let names = call(&mut listing, &[])?;
        let mut reading = self.command();
        let told = call(reading.args(["cat-file", "--batch"]), &names)?;
        let mut rest = &told[..];
        while !rest.is_empty() {
            let object = first_object(rest).ok_or_else(|| failed(&reading, "no object"))?;
            if object.hash(self.nothing.len()) != object.name {
                return Err(GitError::Forged(object.name.to_owned()));
            }
            rest = object.rest;
        }
        Ok(())
    }

    /// What turns one tree into another, as `git apply` reads it.
    pub fn diff(&self, before: &ObjectId, after: &ObjectId) -> Result<Vec<u8>, GitError> {
        let args = [
            "diff-tree",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
        ];
        let mut command = self.command();
        call(command.args(args).args([&before.0, &after.0]), &[])
    }
}

/// How a file is in the index.
pub fn mode(entry: &Entry) -> &'static str {
    match entry {
        Entry::File {
            executable: true, ..
        } => "100755",
        Entry::File { .. } => "100644",
        Entry::Link { .. } => "120000",
    }
}

/// An object as `git cat-file --batch` prints it.
struct Object<'a> {
    name: &'a str,
    kind: &'a str,
    contents: &'a [u8],
    rest: &'a [u8],
}

fn first_object(told: &[u8]) -> Option<Object<'_>> {
    let end = told.iter().position(|byte| *byte == b'\n')?;
    let mut words = str::from_utf8(&told[..end]).ok()?.split(' ');
    let (name, kind, size) = (words.next()?, words.next()?, words.next()?);
    let after = &told[end + 1..];
    let (contents, rest) = after.split_at_checked(size.parse().ok()?)?;
    Some(Object {
        name,
        kind,
        contents,
        rest: rest.strip_prefix(b"\n")?,
    })
}

impl Object<'_> {
    /// The name that git gives it, of so many digits.
    fn hash(&self, digits: usize) -> String {
        let head = format!("{} {}\0", self.kind, self.contents.len());
        let parts = [head.as_bytes(), self.contents];
        if digits == 64 {
            return hex(&sha2::Sha256::digest(parts.concat()));
        }
        hex(&sha1::Sha1::digest(parts.concat()))
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn answered(command: &mut Command, input: &[u8]) -> Result<ObjectId, GitError> {
    let told = call(command, input)?;
    name_in(String::from_utf8_lossy(&told).trim(), command)
}

fn name_in(told: &str, command: &Command) -> Result<ObjectId, GitError> {
    told.parse().map_err(|_| failed(command, told))
}

fn failed(command: &Command, said: &str) -> GitError {
    let args = command.get_args().map(OsStr::to_string_lossy);
    GitError::Failed {
        command: args.collect::<Vec<_>>().join(" "),
        said: said.trim().to_owned(),
    }
}

/// Runs git, and returns what it prints.
fn call(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, GitError> {
    call_aloud(command, input).map(|(out, _)| out)
}

/// Runs git, and returns what it prints, and what it says about that.
fn call_aloud(command: &mut Command, input: &[u8]) -> Result<(Vec<u8>, Vec<u8>), GitError> {
    let mut ran = || -> io::Result<(ExitStatus, [Vec<u8>; 2])> {
        // Files, because a pipe blocks one of the two if the other does not read.
        let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.stdout(out.try_clone()?).stderr(err.try_clone()?);
        let ended = wait_within(&mut start_with_input(command, input)?, TIME_LIMIT)?;
        Ok((ended, [whole(&mut out)?, whole(&mut err)?]))
    };
    match ran() {
        Ok((status, [out, err])) if status.success() => Ok((out, err)),
        Ok((status, [_, err])) => match String::from_utf8_lossy(&err) {
            said if said.trim().is_empty() => Err(failed(command, &status.to_string())),
            said => Err(failed(command, &said)),
        },
        Err(error) => Err(failed(command, &error.to_string())),
    }
}

fn whole(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
