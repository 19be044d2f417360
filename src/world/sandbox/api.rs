//! The questions of a gate about the tree, and about commands and services that run over copies of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::iter::Sum;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::world::tree::{Changed, TreePath};

const NO_TREE: &str = "this quest kind has no tree";

/// The questions that the checks of one judgement can ask. Without a tree, every answer says so.
#[cfg_attr(test, mockall::automock)]
pub trait Sandbox {
    /// The file at `path` in the judged tree: the tree as `scan` found it, with the agent's files in the
    /// zones.
    fn file(&self, path: &TreePath) -> FileSeen {
        self.pinned(path)
    }

    /// The file at `path` when the session was made.
    fn pinned(&self, _path: &TreePath) -> FileSeen {
        FileSeen::Other(NO_TREE.to_owned())
    }

    /// How the working tree differs from what `scan` found, sorted by path.
    fn changes(&self) -> Result<Vec<Changed>, String> {
        Err(NO_TREE.to_owned())
    }

    /// Runs a command in a separate scratch copy.
    fn run(&self, order: &CommandSpec) -> CommandResult {
        CommandResult::not_started(order, NO_TREE)
    }

    /// The result of the last command of this name; none if it was not kept.
    fn last_run(&self, _name: &str) -> Option<CommandResult> {
        None
    }

    fn call(&self, _call: &Call) -> Called {
        Called::Unanswered(NO_TREE.to_owned())
    }

    /// Random lowercase letters, new for each judgement.
    fn nonce(&self) -> String {
        NO_TREE.to_owned()
    }

    fn chat(&self, _order: &ChatOrder) -> Chatted {
        Chatted::Failed("this gate asks no models".to_owned())
    }

    /// Starts the service of this name, once for each judgement and place.
    fn service(&self, _name: &str, _place: RunPlace) -> Started {
        Started::Failed(NO_TREE.to_owned())
    }

    /// A failure on comail's side, which is not the fault of the submission. With a failure, the answers
    /// are no basis for a verdict.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Adds a failure that a check found, such as a script that crashes on every submission.
    fn report_failure(&self, _why: String) {}
}

/// The sandbox of gates that do not use one.
#[derive(Debug, Clone, Copy)]
pub struct NoSandbox;

impl Sandbox for NoSandbox {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Started {
    /// It is ready, on this port of 127.0.0.1.
    Listening {
        port: u16,
    },
    Failed(String),
}

/// The file at a path. `B` is its content: the bytes or, in evidence, their digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSeen<B = Vec<u8>> {
    File(B),
    Absent,
    /// A directory, a link, a device, or a file that is too large.
    Other(String),
}

impl<B> FileSeen<B> {
    pub fn with_body<C, E>(
        self,
        convert: impl FnOnce(B) -> Result<C, E>,
    ) -> Result<FileSeen<C>, E> {
        Ok(match self {
            Self::File(body) => FileSeen::File(convert(body)?),
            Self::Absent => FileSeen::Absent,
            Self::Other(what) => FileSeen::Other(what),
        })
    }
}

/// One request to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub service: String,
    pub method: String,
    /// The path and query, from `/`.
    pub path: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    pub timeout_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Called<B = Vec<u8>> {
    Answered(CallAnswer<B>),
    /// It accepted the request and is still running, but sent no answer that can be read.
    Refused(String),
    Unanswered(String),
}

impl<B> Called<B> {
    pub fn with_body<C, E>(self, convert: impl FnOnce(B) -> Result<C, E>) -> Result<Called<C>, E> {
        Ok(match self {
            Self::Answered(answer) => Called::Answered(CallAnswer {
                status: answer.status,
                headers: answer.headers,
                body: convert(answer.body)?,
            }),
            Self::Refused(why) => Called::Refused(why),
            Self::Unanswered(why) => Called::Unanswered(why),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallAnswer<B = Vec<u8>> {
    pub status: u16,
    /// In order; the names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: B,
}

const REVIEWER: &str = "reviewer ";

const FIRST_PAUSE: Duration = Duration::from_millis(500);

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// One command. It is part of the evidence, so it has to describe the run completely.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// The check that runs it.
    pub name: String,
    /// The absolute path of the program, and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// The whole environment: nothing is inherited. Only `TMPDIR` is added if it is missing.
    pub env: BTreeMap<String, String>,
    /// Environment variables with secret values, such as keys. They are added when the command
    /// runs, and their values are recorded nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// The working directory, relative to the scratch copy.
    pub dir: String,
    pub stdin: String,
    /// For a service, the time until it must be ready.
    pub timeout_ms: u64,
    /// The most bytes that stdout and stderr may have together.
    pub output_bytes: u64,
    /// Absolute paths that it may write to, in addition to the scratch copy.
    pub writable: Vec<String>,
    pub network: Network,
    /// Files of the scratch copy that are removed before it starts and read after it ends.
    pub reports: Vec<String>,
    /// Changes that are made to the scratch copy before it starts.
    pub edits: Vec<Edit>,
    /// The number of earlier tries. It keeps the evidence of retries apart.
    pub round: u32,
    #[serde(default, skip_serializing_if = "RunPlace::is_submission")]
    pub place: RunPlace,
}

/// The tree whose scratch copy a command or a service gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPlace {
    /// The tree with what the agent wrote.
    #[default]
    Submission,
    /// The tree of the control that passes, as `scan` froze it.
    Control,
}

impl RunPlace {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands over a reference"
    )]
    fn is_submission(&self) -> bool {
        *self == Self::Submission
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// A network namespace without an active interface, and no TCP by Landlock. Even a server and a
    /// client inside the command cannot communicate. With Landlock alone, UDP remains open.
    #[default]
    None,
    /// Only these TCP ports, in the machine's own network, because checks call services over it.
    /// Landlock restricts ports, not addresses, and only TCP: the same ports of other machines, and
    /// UDP, remain open. Port 0, with which a server asks for any free port, is refused.
    Loopback {
        ports: Vec<u16>,
    },
    Any,
}

impl CommandSpec {
    pub fn name_of_reviewer(reviewer: &str) -> String {
        format!("{REVIEWER}{reviewer}")
    }

    pub fn is_of_reviewer(&self) -> bool {
        self.name.starts_with(REVIEWER)
    }

    pub fn pause(&self) -> Duration {
        match self.round.checked_sub(1) {
            Some(again) if self.is_of_reviewer() => {
                LONGEST_PAUSE.min(FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(again)))
            }
            _ => Duration::ZERO,
        }
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// The result of a command. `B` is an output: its bytes or, in evidence, their digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandResult<B = Vec<u8>> {
    pub end: End,
    pub stdout: B,
    pub stderr: B,
    /// None for a report that is missing, not a regular file, or larger than 16 MiB.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Option<B>>,
    pub confinement: Confinement,
    pub millis: u64,
    /// What is in the tree's directory and cannot be part of the tree, so that it was not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    TooMuchOutput,
    NotStarted(String),
    /// It ran, but its output contains a secret and cannot be kept.
    Withheld(String),
}

impl CommandResult {
    /// The result of a command that never ran.
    pub fn not_started(order: &CommandSpec, why: impl Into<String>) -> Self {
        let reports = order.reports.iter().map(|name| (name.clone(), None));
        Self {
            end: End::NotStarted(why.into()),
            stdout: Vec::new(),
            stderr: Vec::new(),
            reports: reports.collect(),
            confinement: Confinement::default(),
            millis: 0,
            left_out: Vec::new(),
        }
    }
}

impl<B> CommandResult<B> {
    pub fn with_body<C, E>(
        self,
        mut convert: impl FnMut(B) -> Result<C, E>,
    ) -> Result<CommandResult<C>, E> {
        let mut reports = BTreeMap::new();
        for (name, body) in self.reports {
            reports.insert(name, body.map(&mut convert).transpose()?);
        }
        Ok(CommandResult {
            end: self.end,
            stdout: convert(self.stdout)?,
            stderr: convert(self.stderr)?,
            reports,
            confinement: self.confinement,
            millis: self.millis,
            left_out: self.left_out,
        })
    }
}

impl End {
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

/// The paths that an agent may use, besides a few devices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Directories of the system that it may read and run programs from.
    pub system: Vec<PathBuf>,
    /// Other paths that it may read and run programs from.
    pub read: Vec<PathBuf>,
    /// Paths that it may also change.
    pub write: Vec<PathBuf>,
    /// Directories that it may neither see nor change, although they are below one that it may
    /// change. `read` may name files in them.
    pub hidden: Vec<PathBuf>,
    /// Whether the agent confines its commands itself, so that nothing but `hidden` applies.
    pub own_sandbox: bool,
    /// Whether it has private shared memory and terminals. Its supervisor sets this.
    #[serde(default)]
    pub alone: bool,
}

/// The confinement of a command while it ran. The default is only a separate process group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Confinement {
    /// The version of Landlock's interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landlock: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub namespaces: BTreeSet<Namespace>,
    /// Whether its files were laid over a tree that it could not change, and not copied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overlay: bool,
    /// Whether everything else was mounted read-only. That also protects owners, modes and times
    /// of files, which Landlock does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Namespace {
    /// Its processes see no others, and the kernel ends them with the first one.
    Pid,
    Net,
    Ipc,
    Mount,
    /// A user without privileges needs it for the others.
    User,
}

/// The features of the kernel that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Means {
    pub namespaces: bool,
    pub landlock: bool,
}

impl Means {
    pub const ALL: Self = Self {
        namespaces: true,
        landlock: true,
    };
}

impl Confinement {
    /// Whether this is less than `before` for a command with this network. The user namespace does not
    /// count: it confines nothing by itself, and root does not need it.
    pub fn is_less(&self, before: &Self, network: &Network) -> bool {
        let asked = |namespace: &&Namespace| match namespace {
            Namespace::User => false,
            Namespace::Net => *network == Network::None,
            Namespace::Pid | Namespace::Ipc | Namespace::Mount => true,
        };
        let mut missing = before.namespaces.difference(&self.namespaces);
        (before.landlock.is_some() && self.landlock.is_none())
            || (before.read_only && !self.read_only)
            || missing.any(|one| asked(&one))
    }
}

/// One question to a model, complete except for the value of the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatOrder {
    /// The start of every path, such as `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    pub model: String,
    /// The environment variable with the key, if one is needed; never the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub system: String,
    pub prompt: String,
    /// The time for all tries together, including the waits between them.
    pub timeout_ms: u64,
    pub retries: u32,
    /// The most bytes that an answer may have, including the JSON around its text.
    pub most_bytes: u64,
}

/// `T` is the reply of the model: its text or, in evidence, its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chatted<T = String> {
    Said(Said<T>),
    Failed(String),
}

impl<T> Chatted<T> {
    pub fn with_body<U, E>(self, convert: impl FnOnce(T) -> Result<U, E>) -> Result<Chatted<U>, E> {
        Ok(match self {
            Self::Said(said) => Chatted::Said(Said {
                text: convert(said.text)?,
                usage: said.usage,
                millis: said.millis,
                tries: said.tries,
            }),
            Self::Failed(why) => Chatted::Failed(why),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said<T = String> {
    pub text: T,
    pub usage: Usage,
    /// The time of all tries together.
    pub millis: u64,
    pub tries: u32,
}

/// The usage that an answer reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens that the model read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// Reads the `usage` of an answer under the names of any provider. Values that are not numbers are
    /// ignored.
    pub fn told(told: &serde_json::Value) -> Self {
        let tokens = |names: [&str; 2]| {
            let mut told = names.into_iter().filter_map(|name| told.get(name));
            told.find_map(serde_json::Value::as_u64)
        };
        let cost = told.get("cost").and_then(serde_json::Value::as_f64);
        Self {
            input_tokens: tokens(["prompt_tokens", "input_tokens"]),
            output_tokens: tokens(["completion_tokens", "output_tokens"]),
            cost: cost.and_then(Cost::of),
        }
    }
}

impl ChatOrder {
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

const PARTS: u64 = 1_000_000_000;

/// A cost, in billionths of the currency in which the provider bills, usually US dollars.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an amount out of bounds is refused before"
    )]
    pub fn of(amount: f64) -> Option<Self> {
        let parts = (amount * PARTS as f64).round();
        (0.0..u64::MAX as f64)
            .contains(&parts)
            .then_some(Self(parts as u64))
    }

    pub const fn from_billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    pub fn billionths(self) -> u64 {
        self.0
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self(costs.fold(0, |sum, cost| sum.saturating_add(cost.0)))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / PARTS, self.0 % PARTS);
        let short = text.trim_end_matches('0').len();
        // Cents are always shown.
        let cents = text.len() - 7;
        f.write_str(&text[..short.max(cents)])
    }
}

/// The address of a server's chat protocol, or what is wrong with its base URL.
pub fn endpoint(base_url: &str) -> Result<Url, &'static str> {
    const NO_URL: &str = "it is not an http or https URL";
    let mut url = Url::parse(base_url).map_err(|_| NO_URL)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(NO_URL);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "it contains a user or a password; name an environment variable with the key instead",
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a query or a fragment, so /chat/completions cannot follow");
    }
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["chat", "completions"]);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    fn order(name: &str, round: u32) -> CommandSpec {
        CommandSpec {
            name: name.to_owned(),
            round,
            ..CommandSpec::default()
        }
    }

    #[test]
    fn retries_of_a_reviewer_wait_longer_each_time() {
        let reviewer = CommandSpec::name_of_reviewer("skeptic");
        let pauses = [0, 1, 2, 3, 9, 99].map(|round| order(&reviewer, round).pause().as_millis());
        assert_eq!(pauses, [0, 500, 1000, 2000, 30_000, 30_000]);
        assert_eq!(order("build", 2).pause(), Duration::ZERO);
    }

    #[test]
    fn is_less_only_without_a_confinement_that_was_wanted() {
        use Namespace::{Ipc, Mount, Net, Pid, User};

        let of = |landlock, namespaces: &[Namespace]| Confinement {
            landlock,
            namespaces: namespaces.iter().copied().collect(),
            read_only: false,
            overlay: false,
        };
        let sealed = Confinement {
            read_only: true,
            ..of(Some(6), &[Pid])
        };
        assert!(of(Some(6), &[Pid]).is_less(&sealed, &Network::None));
        assert!(!sealed.is_less(&of(Some(6), &[Pid]), &Network::None));
        let open = Network::Loopback { ports: vec![80] };
        let before = of(Some(6), &[Pid, Net, Ipc, Mount, User]);
        for (now, alone, with_ports) in [
            (before.clone(), false, false),
            (of(Some(6), &[Pid, Net, Ipc, Mount]), false, false),
            (of(Some(6), &[Pid, Ipc, Mount, User]), true, false),
            (of(Some(6), &[Net, Ipc, Mount, User]), true, true),
            (of(None, &[Pid, Net, Ipc, Mount, User]), true, true),
            (Confinement::default(), true, true),
        ] {
            assert_eq!(now.is_less(&before, &Network::None), alone, "{now:?}");
            assert_eq!(now.is_less(&before, &open), with_ports, "{now:?}");
            assert!(!now.is_less(&Confinement::default(), &open), "{now:?}");
        }
    }

    #[test]
    fn a_cost_shows_what_was_paid_and_never_overflows() {
        for (amount, shown) in [
            (0.000_012_5, Some("0.0000125")),
            (2.0, Some("2.00")),
            (0.1, Some("0.10")),
            (0.0, Some("0.00")),
            (-0.1, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (1e300, None),
        ] {
            let cost = Cost::of(amount).map(|cost| cost.to_string());
            assert_eq!(cost.as_deref(), shown, "{amount}");
        }
        let sum: Cost = [Cost(u64::MAX), Cost(1)].into_iter().sum();
        assert_eq!(sum, Cost(u64::MAX));
    }

    #[test]
    fn the_path_follows_the_base_url_with_or_without_a_slash() {
        for (base, whole) in rows! {
            "http://127.0.0.1:11434/v1" => "http://127.0.0.1:11434/v1/chat/completions";
            "https://api.test/v1/" => "https://api.test/v1/chat/completions";
            "https://api.test" => "https://api.test/chat/completions";
        } {
            assert_eq!(endpoint(base).unwrap().as_str(), whole);
        }
    }

    #[test]
    fn rejects_base_urls_with_secrets_or_queries() {
        for (base, why) in [
            ("api.test/v1", "is not an http"),
            ("file:///v1", "is not an http"),
            ("https://me:secret@api.test/v1", "a user or a password"),
            ("https://secret@api.test/v1", "a user or a password"),
            ("https://api.test/v1?key=secret", "a query or a fragment"),
            ("https://api.test/v1#a", "a query or a fragment"),
        ] {
            assert!(endpoint(base).unwrap_err().contains(why), "{base}");
        }
    }
}
