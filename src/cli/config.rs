//! The user's configuration file, and `comail config`.
//!
//! Each key of the file is the long name of a flag, and its value becomes the default of that
//! flag, so the command-line parser checks it. There is no file for a project: agents can write
//! in a project, and could lower their own bar there. For the same reason commands that agents
//! run, such as `next` and `submit`, take nothing from the user's file but the session directory.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::error::ErrorKind as Parsing;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use schemars::JsonSchema;
use serde::Serialize;
use toml::Value;

use super::command;
use super::context::{Context, SESSION_VARIABLE};
use super::exit::{Exit, Hinted, UsageError};
use super::output::{Paper, Tone};
use crate::base::files;
use crate::base::text::Escaped;
use crate::quest::file::nearest;
use crate::quest::{QuestKind, email};

/// Print the settings in force, and where each comes from
///
/// A command-line flag takes precedence over an environment variable, and a variable over the
/// user's configuration file. The file applies to scan, run, status, export, report, log and
/// insights; every other command reads only `session` from it. It never changes what `scan` froze.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ConfigArgs {
    /// Print a commented configuration file with every key
    #[arg(long)]
    example: bool,
}

const EXAMPLES: &str = "\
Examples:
  comail config
  comail config --example > ~/.config/comail/config.toml";

/// The first lines of the example.
const HEAD: &str = "\
# Configuration of comail: ~/.config/comail/config.toml.
#
# The settings apply to scan, run, status, export, report, log and insights. Every other command
# reads only `session`. A command-line flag takes precedence over an environment variable, and a
# variable over this file. `comail config` prints the settings in force.
";

const MAX_BYTES: u64 = 64 * 1024;

/// The commands that the whole file applies to.
const READERS: [&str; 8] = [
    "scan", "run", "status", "export", "report", "log", "insights", "config",
];

/// The commands that use no session, so the file does not matter to them.
const WITHOUT_SESSION: [&str; 4] = ["completions", "config", "demo", "man"];

/// A key of the file: the table it is in, which is a command, the flag, and an example value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key(Option<&'static str>, &'static str, &'static str);

const SESSION: Key = Key(None, "session", r#"".comail""#);

const KEYS: [Key; 21] = [
    SESSION,
    Key(None, "color", r#""auto""#),
    Key(Some("scan"), "lease", r#""15m""#),
    Key(Some("scan"), "pause-after", "25"),
    Key(Some("scan"), "dns-server", r#"["9.9.9.9:53"]"#),
    Key(Some("scan"), "rate", "0.5"),
    Key(
        Some("scan"),
        "user-agent",
        r#""comail/0.1 (+mailto:you@your-company)""#,
    ),
    Key(Some("scan"), "timeout", "20.0"),
    Key(Some("scan"), "lookup-tries", "3"),
    Key(Some("run"), "agent", r#""claude""#),
    Key(Some("run"), "model", r#""a-model""#),
    Key(Some("run"), "parallel", "1"),
    Key(Some("run"), "max-attempts", "30"),
    Key(Some("run"), "max-quests", "100"),
    Key(Some("run"), "wall-clock", r#""8h""#),
    Key(Some("run"), "quest-timeout", r#""10m""#),
    Key(Some("run"), "max-tokens", r#""100k""#),
    Key(Some("run"), "max-cost", r#""20.00""#),
    Key(Some("run"), "set", r#"["token-price=15.00"]"#),
    Key(Some("export"), "format", r#""csv""#),
    Key(Some("export"), "columns", r#""email=E-Mail,status""#),
];

impl Key {
    fn named(table: Option<&str>, flag: &str) -> Option<Self> {
        KEYS.into_iter().find(|key| key.0 == table && key.1 == flag)
    }

    fn name(self) -> String {
        self.0
            .map_or(self.1.to_owned(), |table| format!("{table}.{}", self.1))
    }

    /// The name of its argument in the parser.
    fn id(self) -> String {
        self.1.replace('-', "_")
    }

    fn argument(self, parser: &Command) -> Option<&Arg> {
        let command = match self.0 {
            Some(name) => parser.find_subcommand(name)?,
            None => parser,
        };
        let id = self.id();
        command
            .get_arguments()
            .find(|arg| arg.get_id() == id.as_str())
    }

    /// Whether arguments that were given take the place of this key.
    fn is_overridden(self, given: &ArgMatches) -> bool {
        let others: &[&str] = match self {
            Key(Some("scan"), ..) => &["update"],
            // An agent's own command line names its model itself.
            Key(Some("run"), "agent", _) => &["words"],
            Key(Some("run"), "model", _) => &["words", "agent"],
            Key(Some("export"), "format", _) => &["path"],
            _ => &[],
        };
        is_given(given, &self.id()) || others.iter().any(|id| is_given(given, id))
    }

    /// What an environment variable says instead.
    fn variable(self) -> Option<String> {
        let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        match self {
            SESSION => value(SESSION_VARIABLE).map(|dir| dir.to_string_lossy().into_owned()),
            Key(None, "color", _) => value("NO_COLOR").map(|_| "never".to_owned()),
            _ => None,
        }
    }
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let is_known = matches.try_contains_id(id).is_ok();
    is_known && matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// A key with the values that the file sets, each as its flag takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    key: Key,
    values: Vec<String>,
}

/// What is at the place of the user's file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Absent,
    /// Someone else could have written it.
    Ignored(&'static str),
    Text(String),
}

/// The path of the user's file, if the environment names a place for it.
pub(super) fn user_file() -> Option<PathBuf> {
    user_file_in(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

fn user_file_in(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG Base Directory Specification has relative paths ignored.
    let config = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.filter(|path| path.is_absolute());
    let home = || variable("HOME").map(|home| Path::new(&home).join(".config"));
    let app_data = || variable("APPDATA").map(PathBuf::from);
    let dir = config.or_else(home).or_else(app_data)?;
    Some(dir.join("comail").join("config.toml"))
}

fn look(path: &Path) -> io::Result<Found> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // A link to nowhere is a mistake that its user should learn of.
            if files::is_other(path) {
                return Err(files::not_regular());
            }
            return Ok(Found::Absent);
        }
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        let metadata = file.metadata()?;
        let user = nix::unistd::geteuid().as_raw();
        if let Some(why) = untrusted(metadata.uid(), user, metadata.mode()) {
            return Ok(Found::Ignored(why));
        }
    }
    let bytes = files::whole(file, MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    Ok(Found::Text(text))
}

/// Why someone other than `user` could have written a file of this owner and mode.
#[cfg(unix)]
fn untrusted(owner: u32, user: u32, mode: u32) -> Option<&'static str> {
    if owner != user && owner != 0 {
        Some("it belongs to another user")
    } else if mode & 0o002 != 0 {
        Some("anyone can write to it")
    } else {
        None
    }
}

/// The user's file and its settings.
#[derive(Debug)]
struct UserFile {
    path: Option<PathBuf>,
    found: Found,
    settings: Vec<Setting>,
}

impl UserFile {
    /// Reads the file; with `session_only`, no other key is looked at.
    fn read(session_only: bool) -> Result<Self> {
        let path = user_file();
        let found = match &path {
            Some(path) => look(path).with_context(|| format!("cannot read {}", path.display()))?,
            None => Found::Absent,
        };
        let settings = match (&path, &found) {
            (Some(path), Found::Text(text)) => settings(path, text, session_only)?,
            _ => Vec::new(),
        };
        Ok(Self {
            path,
            found,
            settings,
        })
    }

    fn get(&self, key: Key) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    fn shown_path(&self) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        path.display().to_string()
    }

    fn note(&self) -> Option<String> {
        match self.found {
            Found::Ignored(why) => Some(format!("{} is ignored: {why}", self.shown_path())),
            _ => None,
        }
    }

    /// Refuses a setting whose flag would not take its values.
    fn check(&self, setting: &Setting) -> Result<()> {
        let key = setting.key;
        let parser = command::parser(&email::kind());
        let refused = |why: &str| {
            let message = format!("{}: `{}`: {why}", self.shown_path(), key.name());
            UsageError(message)
        };
        let argument = key.argument(&parser);
        let is_list = argument.is_some_and(|arg| matches!(arg.get_action(), ArgAction::Append));
        if !is_list && setting.values.len() != 1 {
            return Err(refused("expected one value, found a list").into());
        }
        let words = ["comail", key.0.unwrap_or("status")].map(str::to_owned);
        let flags = setting.values.iter();
        let flags = flags.map(|value| format!("--{}={value}", key.1));
        match parser.try_get_matches_from(words.into_iter().chain(flags)) {
            Err(error)
                if matches!(
                    error.kind(),
                    Parsing::InvalidValue
                        | Parsing::ValueValidation
                        | Parsing::TooManyValues
                        | Parsing::WrongNumberOfValues
                ) =>
            {
                Err(refused(&first_line(&error)).into())
            }
            // Such a line may lack arguments that the command requires.
            _ => Ok(()),
        }
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The settings that `text` makes.
fn settings(path: &Path, text: &str, session_only: bool) -> Result<Vec<Setting>> {
    let document: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        let message = format!("{}:{line}: {}", path.display(), error.message().trim());
        UsageError(message).hint("`comail config --example` prints a valid file")
    })?;
    let mut found = Vec::new();
    for (name, value) in &document {
        let is_table = KEYS.iter().any(|key| key.0 == Some(name));
        match value {
            _ if session_only && name != SESSION.1 => {}
            Value::Table(table) if is_table => {
                for (flag, value) in table {
                    found.push(setting(path, Some(name), flag, value)?);
                }
            }
            value => found.push(setting(path, None, name, value)?),
        }
    }
    Ok(found)
}

fn setting(path: &Path, table: Option<&str>, flag: &str, value: &Value) -> Result<Setting> {
    let whole = table.map_or(flag.to_owned(), |table| format!("{table}.{flag}"));
    let Some(key) = Key::named(table, flag) else {
        return Err(unknown(path, &whole).into());
    };
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    };
    let values = match value {
        Value::Array(array) => array.iter().map(scalar).collect(),
        value => scalar(value).map(|one| vec![one]),
    };
    let Some(mut values): Option<Vec<String>> = values else {
        let message = format!(
            "{}: `{whole}` takes a string, a number, or a list of them",
            path.display()
        );
        return Err(UsageError(message).into());
    };
    if key == SESSION {
        // A relative path would name another session in each working directory.
        let dir = path.parent().unwrap_or(Path::new("."));
        for value in &mut values {
            *value = dir.join(&*value).to_string_lossy().into_owned();
        }
    }
    Ok(Setting { key, values })
}

fn unknown(path: &Path, name: &str) -> Hinted {
    let names: Vec<String> = KEYS.iter().map(|key| key.name()).collect();
    let message = format!("{}: unknown key `{name}`", path.display());
    UsageError(message).hint(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`comail config --example` lists all keys".to_owned(),
    })
}

/// Parses `args` again, with the settings of the user's file as the defaults of flags that
/// `matches` does not have. Also returns notes for the user.
pub(super) fn apply(
    kind: &QuestKind,
    args: &[OsString],
    matches: ArgMatches,
) -> Result<(ArgMatches, Vec<String>)> {
    let unchanged = |matches, notes: Option<String>| Ok((matches, notes.into_iter().collect()));
    let Some((name, given)) = matches.subcommand() else {
        return unchanged(matches, None);
    };
    let is_reader = READERS.contains(&name);
    let is_example = name == "config" && given.get_flag("example");
    if is_example || !is_reader && WITHOUT_SESSION.contains(&name) {
        return unchanged(matches, None);
    }
    let file = UserFile::read(!is_reader)?;
    let mut chosen = Vec::new();
    for setting in &file.settings {
        let key = setting.key;
        if key.0.is_some_and(|table| table != name) {
            continue;
        }
        file.check(setting)?;
        if !key.is_overridden(given) && key.variable().is_none() {
            chosen.push(setting);
        }
    }
    if chosen.is_empty() {
        return unchanged(matches, file.note());
    }
    let session = chosen.iter().find(|setting| setting.key == SESSION);
    let session = session.filter(|_| !WITHOUT_SESSION.contains(&name));
    let session = session.map(|setting| {
        let dir = setting.values.join(", ");
        format!("using session {dir}, set in {}", file.shown_path())
    });
    let parser = command::parser(kind);
    let parser = chosen.iter().fold(parser, |parser, setting| {
        let values = setting.values.clone();
        let set =
            |command: Command| command.mut_arg(setting.key.id(), |arg| arg.default_values(values));
        match setting.key.0 {
            Some(name) => parser.mut_subcommand(name, set),
            None => set(parser),
        }
    });
    let matches = parser
        .try_get_matches_from(args)
        .map_err(|error| UsageError(format!("{}: {}", file.shown_path(), first_line(&error))))?;
    Ok((matches, session.into_iter().chain(file.note()).collect()))
}

/// The session that the user's file names; none if the file cannot be read.
pub(super) fn user_session() -> Option<PathBuf> {
    let file = UserFile::read(true).ok()?;
    let setting = file.get(SESSION)?;
    setting.values.first().map(PathBuf::from)
}

/// The JSON form of `config`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Configuration {
    /// The user's configuration file, if there is a place for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileSeen>,
    settings: Vec<InForce>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileSeen {
    path: String,
    state: FileState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FileState {
    Read,
    Absent,
    /// Someone other than the user could have written it.
    Ignored,
}

#[derive(Debug, Serialize, JsonSchema)]
struct InForce {
    key: String,
    /// As the flag takes them; empty if nothing is set and the command decides by itself.
    values: Vec<String>,
    /// What the command does if nothing is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    from: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Origin {
    Flag,
    Environment,
    File,
    Default,
}

/// The JSON form of `config --example`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Example {
    text: String,
}

pub(super) fn run(context: &mut Context, args: &ConfigArgs, matches: &ArgMatches) -> Result<Exit> {
    let parser = command::parser(&email::kind());
    if args.example {
        let example = Example {
            text: example(&parser),
        };
        context.output.show(&example, |paper, example| {
            paper.line(example.text.trim_end());
        })?;
        return Ok(Exit::Done);
    }
    let file = UserFile::read(false)?;
    let given = matches.subcommand().map_or(matches, |(_, given)| given);
    let keys = KEYS.into_iter();
    let keys = keys.filter_map(|key| Some((key, key.argument(&parser)?)));
    let settings = keys.map(|(key, argument)| in_force(key, argument, given, &file));
    let configuration = Configuration {
        settings: settings.collect::<Result<_>>()?,
        file: file.path.as_ref().map(|path| FileSeen {
            path: path.display().to_string(),
            state: match file.found {
                Found::Text(_) => FileState::Read,
                Found::Absent => FileState::Absent,
                Found::Ignored(_) => FileState::Ignored,
            },
        }),
    };
    context.output.show(&configuration, text)?;
    Ok(Exit::Done)
}

fn in_force(key: Key, argument: &Arg, given: &ArgMatches, file: &UserFile) -> Result<InForce> {
    let (values, from) = if key.0.is_none() && is_given(given, &key.id()) {
        let raw = given.get_raw(&key.id()).into_iter().flatten();
        let values = raw.map(|value| value.to_string_lossy().into_owned());
        (values.collect(), Origin::Flag)
    } else if let Some(value) = key.variable() {
        (vec![value], Origin::Environment)
    } else if let Some(setting) = file.get(key) {
        file.check(setting)?;
        (setting.values.clone(), Origin::File)
    } else {
        let defaults = argument.get_default_values().iter();
        let values = defaults.map(|value| value.to_string_lossy().into_owned());
        (values.collect::<Vec<_>>(), Origin::Default)
    };
    // The help of a flag says what happens without it.
    let help = argument.get_help().map(ToString::to_string);
    let default = help.as_deref().and_then(|help| {
        let (_, rest) = help.split_once("[default: ")?;
        let (default, _) = rest.split_once(']')?;
        Some(default.replace('\n', " "))
    });
    Ok(InForce {
        key: key.name(),
        default: default.filter(|_| values.is_empty()),
        values,
        from,
    })
}

fn text(paper: &mut Paper, configuration: &Configuration) {
    if let Some(file) = &configuration.file {
        let state = match file.state {
            FileState::Read => "",
            FileState::Absent => " (not found)",
            FileState::Ignored => " (ignored: others can write to it)",
        };
        paper.line(format!("file: {}{state}", Escaped(&file.path)));
        paper.gap();
    }
    for setting in &configuration.settings {
        let value = match (&setting.values[..], &setting.default) {
            ([], Some(default)) => format!("({default})"),
            ([], None) => "-".to_owned(),
            (values, _) => values.join(", "),
        };
        let from = match setting.from {
            Origin::Flag => "(command line)",
            Origin::Environment => "(environment)",
            Origin::File => "(file)",
            Origin::Default => "",
        };
        let value = Escaped(&value).to_string();
        let line = format!("{:24} {value:24} {from}", setting.key);
        let line = line.trim_end();
        paper.line(if setting.from == Origin::Default {
            line.to_owned()
        } else {
            paper.tint(Tone::Strong, line)
        });
    }
}

/// A file with every key as a comment, described by the help of its flag.
fn example(parser: &Command) -> String {
    let mut text = HEAD.to_owned();
    let mut table = None;
    for key in KEYS {
        let Some(argument) = key.argument(parser) else {
            continue;
        };
        text.push('\n');
        if key.0 != table {
            table = key.0;
            text.extend(["[", key.0.unwrap_or_default(), "]\n"]);
        }
        let help = argument.get_help().map(ToString::to_string);
        let help = help.unwrap_or_default().replace('\n', " ");
        text.extend(["# ", &help, "\n# ", key.1, " = ", key.2, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let settings = settings(Path::new("/p/config.toml"), text, false);
        let settings = settings.map_err(|error| format!("{error:#}"))?;
        let named = |setting: Setting| (setting.key.name(), setting.values);
        Ok(settings.into_iter().map(named).collect())
    }

    #[test]
    fn values_are_as_flags_take_them() {
        let text = "session = \"work\"\n[scan]\nrate = 0.5\ndns-server = [\"9.9.9.9:53\", \"[::1]:53\"]\n\
                    [run]\nmax-quests = 20\n";
        let one = |name: &str, value: &str| (name.to_owned(), vec![value.to_owned()]);
        let found = read(text).unwrap();
        for wanted in [
            one("session", "/p/work"),
            one("scan.rate", "0.5"),
            one("run.max-quests", "20"),
        ] {
            assert!(found.contains(&wanted), "{found:?}");
        }
        assert!(
            found
                .iter()
                .any(|(_, values)| *values == ["9.9.9.9:53", "[::1]:53"])
        );
        let session = settings(Path::new("/p/config.toml"), "session = \"w\"\nx = 1", true);
        assert_eq!(session.unwrap()[0].values, ["/p/w"]);
    }

    #[test]
    fn mistakes_name_the_key() {
        for (text, expected) in [
            (
                "[run]\nagnet = 1\n",
                "/p/config.toml: unknown key `run.agnet`",
            ),
            (
                "max_tries = 99\n",
                "/p/config.toml: unknown key `max_tries`",
            ),
            ("[submit]\nid = 1\n", "/p/config.toml: unknown key `submit`"),
            ("color = true\n", "/p/config.toml: `color` takes a string"),
            ("\ncolor = \n", "/p/config.toml:2: "),
            ("run = 3\n", "/p/config.toml: unknown key `run`"),
        ] {
            let wrong = read(text).unwrap_err();
            assert!(wrong.starts_with(expected), "{wrong}");
        }
        let near = unknown(Path::new("x"), "run.agnet").hint;
        assert_eq!(near, "did you mean `run.agent`?");
    }

    #[test]
    fn every_key_is_a_flag() {
        let parser = command::parser(&email::kind());
        for key in KEYS {
            let known = key.argument(&parser).is_some();
            assert!(known || cfg!(not(unix)), "{}", key.name());
        }
    }

    #[test]
    fn the_file_is_where_configuration_files_are() {
        let path = |config: Option<&str>, home: Option<&str>| {
            let found = user_file_in(|name| match name {
                "XDG_CONFIG_HOME" => config.map(OsString::from),
                "HOME" => home.map(OsString::from),
                _ => None,
            });
            found.map(|path| path.display().to_string())
        };
        let usual = Some("/home/kim/.config/comail/config.toml".to_owned());
        assert_eq!(path(None, Some("/home/kim")), usual);
        assert_eq!(path(Some("relative"), Some("/home/kim")), usual);
        let named = Some("/x/comail/config.toml".to_owned());
        assert_eq!(path(Some("/x"), Some("/home/kim")), named);
        assert_eq!(path(None, None), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_write_is_ignored() {
        assert_eq!(untrusted(1000, 1000, 0o644), None);
        assert_eq!(untrusted(0, 1000, 0o644), None);
        assert!(untrusted(1001, 1000, 0o644).is_some());
        assert!(untrusted(1000, 0, 0o644).is_some());
        assert!(untrusted(1000, 1000, 0o666).is_some());
    }
}
