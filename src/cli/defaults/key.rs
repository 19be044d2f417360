//! The names that a configuration file may use.

use super::places::Author;

/// One of the names, and the flag that it stands in for.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct Key {
    /// The subcommand, which is the table that it stands in; none of what holds everywhere.
    pub(in crate::cli) command: Option<&'static str>,
    /// The flag, which is its name there.
    pub(in crate::cli) flag: &'static str,
    /// Whose file may set it, at the least.
    pub(in crate::cli) author: Author,
    /// The arguments beside which it says nothing.
    pub(super) unless: &'static [&'static str],
    /// What a file may say, as TOML.
    pub(super) example: &'static str,
}

/// The key that names the session directory.
pub(super) const SESSION: &str = "session";

/// The commands for which the files hold.
const HEEDING: [&str; 8] = [
    "scan", "run", "status", "export", "report", "log", "insights", "config",
];

/// The commands that have nothing to do with a session.
const WITHOUT_SESSION: [&str; 4] = ["completions", "config", "demo", "man"];

/// Whether a command has to do with a session, which the user's file may name for all of them.
pub(in crate::cli) fn has_session(command: &str) -> bool {
    !WITHOUT_SESSION.contains(&command)
}

/// Whether the files hold for a command.
pub(in crate::cli) fn heeds(command: &str) -> bool {
    HEEDING.contains(&command)
}

const fn key(
    command: Option<&'static str>,
    flag: &'static str,
    author: Author,
    example: &'static str,
) -> Key {
    Key {
        command,
        flag,
        author,
        unless: &[],
        example,
    }
}

impl Key {
    const fn unless(mut self, given: &'static [&'static str]) -> Self {
        self.unless = given;
        self
    }
}

const fn scan(flag: &'static str, author: Author, example: &'static str) -> Key {
    key(Some("scan"), flag, author, example).unless(&["update"])
}

const fn run(flag: &'static str, example: &'static str) -> Key {
    key(Some("run"), flag, Author::Project, example)
}

const fn budget(flag: &'static str, example: &'static str) -> Key {
    key(Some("run"), flag, Author::User, example)
}

const fn export(flag: &'static str, example: &'static str) -> Key {
    key(Some("export"), flag, Author::Project, example)
}

/// Every name.
pub(in crate::cli) const KEYS: [Key; 21] = [
    key(None, SESSION, Author::User, r#"".comail""#),
    key(None, "color", Author::Project, r#""auto""#),
    scan("lease", Author::Project, r#""15m""#),
    scan("pause-after", Author::User, "25"),
    scan("dns-server", Author::User, r#"["9.9.9.9:53"]"#),
    scan("rate", Author::User, "0.5"),
    scan(
        "user-agent",
        Author::User,
        r#""comail/0.1 (+mailto:you@your-company)""#,
    ),
    scan("timeout", Author::User, "20.0"),
    scan("lookup-tries", Author::User, "3"),
    // A command line of one's own is no preset's, and takes its model where it says.
    run("agent", r#""claude""#).unless(&["words"]),
    run("model", r#""a-model""#).unless(&["words", "agent"]),
    run("parallel", "1"),
    budget("max-attempts", "30"),
    budget("max-quests", "100"),
    budget("wall-clock", r#""8h""#),
    budget("quest-timeout", r#""10m""#),
    budget("max-tokens", r#""100k""#),
    budget("max-cost", r#""20.00""#),
    budget("set", r#"["token-price=15.00"]"#),
    export("format", r#""csv""#).unless(&["path"]),
    key(
        Some("export"),
        "columns",
        Author::User,
        r#""email=E-Mail,status""#,
    ),
];

impl Key {
    /// The key of this flag in the table of this command.
    pub(super) fn named(command: Option<&str>, flag: &str) -> Option<&'static Self> {
        let mut keys = KEYS.iter();
        keys.find(|key| key.command == command && key.flag == flag)
    }

    /// What the parser knows its flag by.
    pub(in crate::cli) fn id(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// Its whole name.
    pub(in crate::cli) fn name(&self) -> String {
        match self.command {
            Some(command) => format!("{command}.{}", self.flag),
            None => self.flag.to_owned(),
        }
    }

    /// Whether it names the session directory.
    pub(super) fn is_session(&self) -> bool {
        self.command.is_none() && self.flag == SESSION
    }

    /// What to do where it may not stand.
    pub(super) fn instead(&self) -> String {
        let variable = if self.is_session() {
            " or COMAIL_SESSION"
        } else {
            ""
        };
        format!(
            "say --{}{variable}, or put it in ~/.config/comail/config.toml",
            self.flag
        )
    }

    /// Its flag among those of `root`.
    pub(in crate::cli) fn argument<'c>(&self, root: &'c clap::Command) -> Option<&'c clap::Arg> {
        let command = match self.command {
            Some(name) => root.find_subcommand(name)?,
            None => root,
        };
        let id = self.id();
        command
            .get_arguments()
            .find(|argument| argument.get_id() == id.as_str())
    }
}
