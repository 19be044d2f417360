//! Runs one command in a confined child to its end: its input, the secrets that must not be recorded,
//! and the reports that are read afterwards.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, UnlinkatFlags, chown, getuid, unlinkat};
use regex::bytes::{NoExpand, Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::api::{CommandResult, CommandSpec, Confinement, End, Means};
use super::reading::{Reach, Reading, path_of_command};
use crate::base::files;
use crate::base::process::{Exit, Pipe, ProcessState, Sink, Supervised};

/// The hidden first argument of a confined child.
pub(super) const CONFINED: &str = "__confined";

// The environment of the confined child itself, not of the command. A build that measures coverage
// would otherwise write its profile wherever it runs.
pub(super) const ENVIRONMENT: [(&str, &str); 1] = [("LLVM_PROFILE_FILE", "/dev/null")];

const GRACE: Duration = Duration::from_millis(500);

// The maximum size of a file that a command writes, unless its output may be larger.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 30;

/// Everything that a confined child needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub order: CommandSpec,
    pub scratch: PathBuf,
    pub base: Option<Base>,
    /// The working directory.
    pub dir: PathBuf,
    pub writable: Vec<PathBuf>,
    /// Paths that it may also read.
    pub readable: Vec<PathBuf>,
    /// Directories that are to appear empty, apart from what is readable or writable in them.
    pub hidden: Vec<PathBuf>,
    pub means: Means,
    /// The user and group that the command becomes, which only root can do.
    #[serde(default)]
    pub user: Option<(u32, u32)>,
}

impl Request {
    fn new(
        launcher: &Launcher,
        order: &CommandSpec,
        files: &Files,
        temporary: &Path,
    ) -> io::Result<Self> {
        let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if !order.argv.first().is_some_and(|path| path.starts_with('/')) {
            return refuse("the program is not given as an absolute path");
        }
        let scratch = fs::canonicalize(&files.dir)?;
        let Some(dir) = files
            .folder(&order.dir)
            .filter(|_| is_beneath(&order.dir))
            .map(|below| scratch.join(below))
        else {
            return refuse("the working directory is not in the scratch copy");
        };
        let mut writable = vec![scratch.clone(), temporary.to_owned()];
        for path in &order.writable {
            if !path.starts_with('/') {
                return refuse("a writable path is not absolute");
            }
            // A path that does not exist is skipped.
            writable.extend(fs::canonicalize(path));
        }
        let mut order = order.clone();
        if !order.env.contains_key("TMPDIR") {
            let temporary = temporary.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
            order.env.insert("TMPDIR".to_owned(), temporary.to_owned());
        }
        if let Some(path) = order.env.get_mut("PATH") {
            *path = path_of_command(path, &launcher.untrusted);
        }
        let reach = Reach {
            home: launcher.home.as_deref(),
            hidden: &launcher.hidden,
            readable: &launcher.readable,
        };
        let reading = Reading::of(&order, reach);
        Ok(Self {
            order,
            scratch,
            base: files.base.clone(),
            dir,
            writable,
            readable: reading.read,
            hidden: reading.hidden,
            means: launcher.means,
            user: launcher.user(),
        })
    }
}

/// The files of a command: a directory in which it may write.
#[derive(Debug, Clone)]
pub struct Files {
    pub dir: PathBuf,
    /// What the command sees in the directory besides, and does not change.
    pub base: Option<Base>,
}

/// The lower layer of an overlay. Where there are no overlays, it is copied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Base {
    pub dir: PathBuf,
    /// An empty directory beside that of the command, for the kernel.
    pub work: PathBuf,
}

impl Files {
    pub fn in_dir(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            base: None,
        }
    }

    /// The path below the directory to which a path leads, if that is a folder.
    pub(super) fn folder(&self, path: &str) -> Option<PathBuf> {
        let base = self.base.as_ref().map(|base| &base.dir);
        let mut layers = std::iter::once(&self.dir).chain(base);
        layers.find_map(|layer| {
            let layer = fs::canonicalize(layer).ok()?;
            let found = fs::canonicalize(layer.join(path)).ok()?;
            let below = found.strip_prefix(&layer).ok()?;
            found.is_dir().then(|| below.to_owned())
        })
    }
}

/// Runs a command. Nothing of it is left running.
pub fn run(order: &CommandSpec, files: &Files, launcher: &Launcher) -> CommandResult {
    let began = Instant::now();
    if launcher.stop.is_asked() {
        return CommandResult::not_started(order, "the judgement was stopped".to_owned());
    }
    let keep = Keep::Head(order.output_bytes);
    let mut ran = match Running::start(launcher, order, files, keep) {
        Ok(running) => wait(running, order, &launcher.stop),
        Err(error) => CommandResult::not_started(order, error.to_string()),
    };
    if !matches!(ran.end, End::NotStarted(_)) {
        for (name, contents) in &mut ran.reports {
            *contents = read_report(&files.dir, name);
        }
    }
    ran.millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Arguments and environment may hold secrets, so they are not logged.
    tracing::info!(
        order = order.name,
        program = order.argv.first().map_or("", String::as_str),
        end = ?ran.end,
        ms = ran.millis,
        "ran a command"
    );
    ran
}

// Waits for the end of the command, and kills it if it takes too long, prints too much or is asked to
// end.
fn wait(mut running: Running, order: &CommandSpec, stop: &Stop) -> CommandResult {
    let mut began = Instant::now();
    let mut within = order.timeout() + COPY_WITHIN;
    let mut is_started = false;
    let seen = loop {
        if !is_started && running.process.state().started.is_some() {
            // Until now, its files may have been copied.
            (is_started, began, within) = (true, Instant::now(), order.timeout());
        }
        let left = within.saturating_sub(began.elapsed());
        let seen = running.process.wait(left.min(STOP_INTERVAL), how_it_ended);
        if seen.is_some() || left <= STOP_INTERVAL || stop.is_asked() {
            break seen;
        }
    };
    if seen.is_none() {
        running.terminate();
    }
    running.process.end();
    let state = running.process.state();
    let end = match seen {
        None => End::TimedOut,
        Some(end @ End::NotStarted(_)) => end,
        // The last output may arrive after the report of the end.
        Some(_) if state.output.too_much => End::TooMuchOutput,
        Some(end) => end,
    };
    let (stdout, stderr) = state.output.kept();
    let reports = order.reports.iter().map(|name| (name.clone(), None));
    CommandResult {
        end,
        stdout,
        stderr,
        reports: reports.collect::<BTreeMap<_, _>>(),
        confinement: state.started.clone().unwrap_or_default(),
        millis: 0,
        left_out: Vec::new(),
    }
}

/// How long the copy of a tree may take where there are no overlays.
const COPY_WITHIN: Duration = Duration::from_mins(10);

/// How often a running command looks whether it is to end.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// A request to end commands, which clones share.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Starts commands: a program whose `main` calls [`confined`](super::confined()).
#[derive(Debug, Clone)]
pub struct Launcher {
    pub program: PathBuf,
    /// Directories that no command may read, apart from places in them where it runs or may write.
    pub hidden: Vec<PathBuf>,
    /// Paths that commands may read in addition to the system and their programs.
    pub readable: Vec<PathBuf>,
    /// Directories where agents may write, in which no program is found.
    pub untrusted: Vec<PathBuf>,
    /// The home directory of the user, in which commands may read only the tools.
    pub home: Option<PathBuf>,
    /// The features of the kernel that are used: all, except in tests.
    pub means: Means,
    /// Where temporary directories are made; if none is set, next to the scratch copy.
    pub temporary: Option<PathBuf>,
    /// Whether root becomes `nobody` before it starts a command.
    pub never_root: bool,
    /// Ends the commands that run, and those that are started later.
    pub stop: Stop,
}

impl Launcher {
    pub fn this() -> io::Result<Self> {
        std::env::current_exe().map(Self::new)
    }

    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            hidden: Vec::new(),
            readable: Vec::new(),
            untrusted: Vec::new(),
            home: std::env::var_os("HOME").map(PathBuf::from),
            means: Means::ALL,
            temporary: None,
            never_root: false,
            stop: Stop::default(),
        }
    }

    fn user(&self) -> Option<(u32, u32)> {
        (self.never_root && getuid().is_root()).then_some((NOBODY, NOBODY))
    }

    /// Gives a path to the user that commands become, if that is another one.
    fn give(&self, path: &Path) -> io::Result<()> {
        let Some((user, group)) = self.user() else {
            return Ok(());
        };
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        Ok(chown(path, Some(user), Some(group))?)
    }
}

// The user of this number owns no file on any system.
const NOBODY: u32 = 65_534;

#[derive(Debug)]
pub(super) struct Running {
    pub process: Supervised<Confinement, Captured>,
    // Removed once the command is gone.
    _temporary: TempDir,
}

impl Running {
    /// Starts the child. It reports later whether it could start the command.
    pub(super) fn start(
        launcher: &Launcher,
        order: &CommandSpec,
        files: &Files,
        keep: Keep,
    ) -> io::Result<Self> {
        let scratch = fs::canonicalize(&files.dir)?;
        // Not in the scratch copy, where a command that lists its tree would find it.
        let parent = launcher.temporary.as_deref().or(scratch.parent());
        let parent = fs::canonicalize(parent.unwrap_or(&scratch))?;
        let temporary = files::private_dir("tmp-", &parent)?;
        launcher.give(&scratch)?;
        launcher.give(temporary.path())?;
        let request = Request::new(launcher, order, files, temporary.path())?;
        let mut child = Command::new(&launcher.program);
        child
            .arg(CONFINED)
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir("/");
        let process = Supervised::spawn(&mut child, Captured::new(keep))?;
        let running = Self {
            process,
            _temporary: temporary,
        };
        // Two processes need it: the one that enters the namespaces, and the first process inside
        // them. Each reads a copy of its own; the environment must not appear in an argument.
        running.process.send(&request)?;
        running.process.send(&request)?;
        Ok(running)
    }

    pub(super) fn terminate(&self) {
        self.process
            .terminate(GRACE, |state| state.gone.is_some() || state.ended.is_some());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.end();
    }
}

/// The part that is kept of an output that is too long.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// The beginning of both streams together; the command is killed for more.
    Head(u64),
    /// The end of each stream, half of this each.
    Tail(u64),
}

/// The kept output of a command.
#[derive(Debug)]
pub(super) struct Captured {
    stdout: VecDeque<u8>,
    stderr: VecDeque<u8>,
    too_much: bool,
    keep: Keep,
}

impl Captured {
    fn new(keep: Keep) -> Self {
        Self {
            stdout: VecDeque::new(),
            stderr: VecDeque::new(),
            too_much: false,
            keep,
        }
    }

    pub(super) fn kept(&self) -> (Vec<u8>, Vec<u8>) {
        let bytes = |kept: &VecDeque<u8>| kept.iter().copied().collect();
        (bytes(&self.stdout), bytes(&self.stderr))
    }
}

impl Sink for Captured {
    fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let before = self.stdout.len() + self.stderr.len();
        let kept = match pipe {
            Pipe::Out => &mut self.stdout,
            Pipe::Err => &mut self.stderr,
        };
        match self.keep {
            Keep::Head(most) => {
                let room = in_memory(most).saturating_sub(before);
                kept.extend(&bytes[..room.min(bytes.len())]);
                self.too_much |= room < bytes.len();
            }
            Keep::Tail(most) => {
                kept.extend(bytes);
                let over = kept.len().saturating_sub(in_memory(most / 2));
                kept.drain(..over);
            }
        }
    }
}

/// How a command ended, or why it must be ended.
pub(super) fn how_it_ended(state: &ProcessState<Confinement, Captured>) -> Option<End> {
    if state.output.too_much {
        return Some(End::TooMuchOutput);
    }
    if let Some(why) = &state.not_started {
        return Some(End::NotStarted(why.clone()));
    }
    match state.ended {
        Some(Exit::Exited(code)) => Some(End::Exited(code)),
        Some(Exit::Signalled(signal)) => Some(End::Signalled(signal)),
        // A supervisor that is gone without a report was killed together with its processes.
        None => state.gone.map(|_| match state.started {
            Some(_) => End::Signalled(nix::sys::signal::Signal::SIGKILL as i32),
            None => End::NotStarted("the process that was to start it ended".to_owned()),
        }),
    }
}

// A shorter value occurs in too many texts that are not secret.
const MIN_SECRET_BYTES: usize = 8;

#[derive(Clone, Default)]
pub(super) struct Secrets(BTreeMap<String, String>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set, or contains no text")]
pub(super) struct NotSet(String);

impl Secrets {
    pub(super) fn take<'n>(
        names: impl IntoIterator<Item = &'n String>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, NotSet> {
        let taken = names.into_iter().map(|name| {
            let value = lookup(name).filter(|value| !value.trim().is_empty());
            Ok((name.clone(), value.ok_or_else(|| NotSet(name.clone()))?))
        });
        taken.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Why an answer that contains a value cannot be kept.
    ///
    /// It cannot be judged either, because replacing the value would make it another answer.
    pub(super) fn spoken_in(&self, answer: &[u8]) -> Option<String> {
        let mut found = self.0.iter();
        let (name, _) = found.find(|(_, value)| pattern(value).is_match(answer))?;
        Some(format!(
            "the answer contains the value of the environment variable {name}, and cannot be kept"
        ))
    }

    /// Replaces each value with the name of its variable.
    pub(super) fn hide(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for (name, value) in &self.0 {
            let name = format!("[{name}]");
            let hidden = pattern(value).replace_all(&bytes, NoExpand(name.as_bytes()));
            bytes = hidden.into_owned();
        }
        bytes
    }

    pub(super) fn hide_in(&self, text: String) -> String {
        let hidden = self.hide(text.into_bytes());
        String::from_utf8_lossy(&hidden).into_owned()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Matches the forms in which a value may be printed: trimmed, and escaped as in JSON. A short value
/// matches nothing, because it occurs in too many other texts.
fn pattern(value: &str) -> Regex {
    let bare = value.trim();
    let quoted = serde_json::Value::from(bare).to_string();
    let forms = [bare, quoted.trim_matches('"')];
    let forms = forms
        .into_iter()
        .filter(|form| form.len() >= MIN_SECRET_BYTES);
    let forms: Vec<String> = forms.map(regex::escape).collect();
    let any_form = match forms.as_slice() {
        // No byte is in an empty class.
        [] => r"[^\s\S]".to_owned(),
        forms => forms.join("|"),
    };
    let pattern = RegexBuilder::new(&any_form).size_limit(usize::MAX).build();
    pattern.expect("an escaped text is a pattern")
}

pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs a command with these variables, and keeps their values out of its result.
///
/// A command that prints a value has no result. This counts as the command's fault: otherwise the
/// person who sets the variables could suppress a result that they can guess.
pub(super) fn run_with(
    order: &CommandSpec,
    secrets: &Secrets,
    files: &Files,
    launcher: &Launcher,
) -> CommandResult {
    let mut filled = order.clone();
    filled.env.extend(secrets.0.clone());
    let ran = run(&filled, files, launcher);
    if let Some(why) = secrets.spoken_in(&ran.stdout) {
        return CommandResult {
            end: End::Withheld(why),
            confinement: ran.confinement,
            millis: ran.millis,
            ..CommandResult::not_started(order, "")
        };
    }
    let reports = ran.reports.into_iter();
    CommandResult {
        stdout: secrets.hide(ran.stdout),
        stderr: secrets.hide(ran.stderr),
        reports: reports
            .map(|(name, bytes)| (name, bytes.map(|bytes| secrets.hide(bytes))))
            .collect(),
        ..ran
    }
}

const MAX_REPORT_BYTES: u64 = 16 << 20;

/// Removes an earlier report. Anything but a file in its place cannot be mistaken for a new report, and
/// neither can a path through anything but directories.
pub(super) fn remove_report(scratch: &Path, report: &str) -> io::Result<()> {
    let (dir, name) = match parent(scratch, report) {
        Ok(found) => found,
        Err(Errno::ENOENT | Errno::ELOOP | Errno::ENOTDIR) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    match unlinkat(&dir, &name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT | Errno::EISDIR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn read_report(scratch: &Path, report: &str) -> Option<Vec<u8>> {
    let (dir, name) = parent(scratch, report).ok()?;
    // Opening a pipe must not block.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = File::from(openat(&dir, &name, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_REPORT_BYTES + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    (bytes.len() as u64 <= MAX_REPORT_BYTES).then_some(bytes)
}

/// The directory of a report, opened name by name without following a link, and the report's name.
fn parent(scratch: &Path, report: &str) -> Result<(OwnedFd, PathBuf), Errno> {
    if !is_beneath(report) {
        return Err(Errno::EINVAL);
    }
    let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut dir = open(scratch, flags, Mode::empty())?;
    let name = Path::new(report).file_name().ok_or(Errno::EINVAL)?;
    let way = Path::new(report).parent().unwrap_or(Path::new(""));
    for step in way.components() {
        dir = openat(
            &dir,
            step.as_os_str(),
            flags | OFlag::O_NOFOLLOW,
            Mode::empty(),
        )?;
    }
    Ok((dir, PathBuf::from(name)))
}

/// Whether a relative path stays below the directory from which it starts.
fn is_beneath(path: &str) -> bool {
    let down = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    Path::new(path).components().all(down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    #[test]
    fn keeps_at_most_the_allowed_output() {
        for (keep, stdout, stderr, too_much) in [
            (Keep::Head(6), "abc", "def", false),
            (Keep::Head(4), "abc", "d", true),
            (Keep::Tail(4), "bc", "ef", false),
        ] {
            let mut captured = Captured::new(keep);
            captured.take(Pipe::Out, b"abc");
            captured.take(Pipe::Err, b"def");
            let expected = (stdout.into(), stderr.into());
            assert_eq!(captured.kept(), expected, "{keep:?}");
            assert_eq!(captured.too_much, too_much, "{keep:?}");
        }
    }

    fn secrets(value: &str) -> Secrets {
        let names = ["A_KEY".to_owned()];
        Secrets::take(&names, |_| Some(value.to_owned())).unwrap()
    }

    #[test]
    fn a_secret_is_hidden_in_every_form() {
        let (plain, quoted) = ("sk-0123456789", " quote\"d-secret\n");
        for (value, text, expected) in rows! {
            plain, "Bearer sk-0123456789: no key sk-0123456789" => "Bearer [A_KEY]: no key [A_KEY]";
            plain, "sk-01234" => "sk-01234";
            quoted, r#"{"key":"quote\"d-secret"}"# => r#"{"key":"[A_KEY]"}"#;
            quoted, "quote\"d-secret" => "[A_KEY]";
            // A short value occurs in too many texts.
            "ollama", "ollama" => "ollama";
        } {
            assert_eq!(secrets(value).hide_in(text.to_owned()), expected);
        }
        let secrets = secrets(plain);
        assert_eq!(secrets.hide(b"\xffsk-0123456789".to_vec()), b"\xff[A_KEY]");
        assert!(!format!("{secrets:?}").contains("0123"));
    }

    #[test]
    fn an_answer_with_a_secret_names_the_variable() {
        let secrets = secrets(" quote\"d-secret\n");
        for answer in [r#"{"quotation":"a quote\"d-secret"}"#, "quote\"d-secret"] {
            let why = secrets.spoken_in(answer.as_bytes()).unwrap();
            assert!(why.contains("A_KEY") && !why.contains("d-secret"), "{why}");
        }
        assert_eq!(secrets.spoken_in(b"all is well"), None);
    }

    #[test]
    fn names_a_variable_that_is_not_set() {
        let names = ["A_KEY".to_owned()];
        for value in [None, Some(""), Some(" ")] {
            let missing = Secrets::take(&names, |_| value.map(str::to_owned)).unwrap_err();
            assert!(missing.to_string().contains("A_KEY"), "{missing}");
        }
    }

    #[test]
    fn a_report_has_a_maximum_size() {
        let place = tempfile::tempdir().unwrap();
        let file = File::create(place.path().join("report")).unwrap();
        file.set_len(MAX_REPORT_BYTES).unwrap();
        assert!(read_report(place.path(), "./report").is_some());
        file.set_len(MAX_REPORT_BYTES + 1).unwrap();
        assert_eq!(read_report(place.path(), "report"), None);
    }
}
