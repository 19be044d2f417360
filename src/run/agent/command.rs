//! From a command and a prompt to the words that are started, never through a shell.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::formats::Stream;

// Linux allows 128 KiB for one argument, so a longer prompt has to go through stdin or a file.
const MAX_ARGUMENT: usize = 100 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentCommand {
    Preset(&'static Preset, Vec<OsString>),
    /// The operator's own words, with `{prompt}`, `{prompt_file}`, `{model}` and `{conversation}`
    /// anywhere in them. A fresh start leaves out the words with `{conversation}`.
    Custom(Vec<OsString>),
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    pub prompt: &'a str,
    pub prompt_file: Option<&'a Path>,
    pub model: Option<&'a str>,
    pub conversation: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    pub argv: Vec<OsString>,
    pub stdin: Option<String>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadCommandLine {
    #[error("no agent is given")]
    Empty,
    #[error(
        "the prompt is {bytes} bytes long, but an argument may have {MAX_ARGUMENT}; let the agent \
         read it from standard input (without {{prompt}}) or from {{prompt_file}}"
    )]
    LongPrompt { bytes: usize },
    #[error("the prompt contains a NUL character, which an argument cannot")]
    Nul,
    #[error("the agent's command line contains {{{0}}}, but there is no value for it")]
    Missing(&'static str),
    #[error("{0} has no option for the model")]
    NoModel(&'static str),
    #[error("{0} cannot continue a conversation")]
    NoResume(&'static str),
}

impl AgentCommand {
    pub fn name(&self) -> String {
        match self {
            Self::Preset(preset, _) => preset.name.to_owned(),
            Self::Custom(words) => {
                let program = words.first().map_or(Path::new(""), Path::new);
                let name = program.file_name().unwrap_or(OsStr::new("agent"));
                name.to_string_lossy().into_owned()
            }
        }
    }

    fn preset(&self) -> Option<&'static Preset> {
        match self {
            Self::Preset(preset, _) => Some(preset),
            Self::Custom(_) => None,
        }
    }

    /// The operator's words.
    fn words(&self) -> &[OsString] {
        let (Self::Preset(_, words) | Self::Custom(words)) = self;
        words
    }

    pub fn stream(&self) -> Stream {
        self.preset().map_or(Stream::Plain, |it| it.stream)
    }

    pub fn shell(&self) -> AgentShell {
        self.preset().map_or(AgentShell::Inherited, |it| it.shell)
    }

    /// The flags that allow a known agent to call comail, unless the operator passed the first one.
    pub fn missing_flags(&self) -> Option<&'static str> {
        self.missing(|preset| preset.grant)
    }

    /// The flags that allow a known agent to change files, unless the operator passed the first one.
    pub fn missing_edit_flags(&self) -> Option<&'static str> {
        self.missing(|preset| preset.edit_grant)
    }

    fn missing(&self, of: fn(&Preset) -> Option<&'static str>) -> Option<&'static str> {
        let flags = of(self.preset()?)?;
        let first = flags.split(' ').next();
        let given = self.words().iter().any(|word| word.to_str() == first);
        (!given).then_some(flags)
    }

    /// Whether permissions allow its commands to call comail by its name, but not by its path.
    pub fn calls_by_name(&self) -> bool {
        let names = |word: &str| word.contains("(comail");
        let mut words = self.words().iter();
        self.preset().and_then(|it| it.grant).is_some_and(names)
            || words.any(|word| names(&word.to_string_lossy()))
    }

    /// Whether it confines its commands itself.
    pub fn has_sandbox(&self) -> bool {
        self.preset().is_some_and(|it| it.has_sandbox)
    }

    pub fn can_resume(&self) -> bool {
        match self {
            Self::Preset(preset, _) => preset.resume.is_some(),
            Self::Custom(words) => words.iter().any(|word| names_conversation(word)),
        }
    }

    pub fn needs_file(&self) -> bool {
        match self {
            Self::Preset(preset, _) => preset.command.contains("{prompt_file}"),
            Self::Custom(words) => words
                .iter()
                .any(|word| word.to_string_lossy().contains("{prompt_file}")),
        }
    }
}

pub fn command_line(
    command: &AgentCommand,
    given: &Given<'_>,
) -> Result<CommandLine, BadCommandLine> {
    let mut line = CommandLine {
        argv: Vec::new(),
        stdin: Some(given.prompt.to_owned()),
    };
    match command {
        AgentCommand::Preset(preset, own) => preset_words(preset, own, given, &mut line)?,
        AgentCommand::Custom(words) => {
            for word in words {
                if given.conversation.is_some() || !names_conversation(word) {
                    fill(word, given, &mut line)?;
                }
            }
        }
    }
    if line.argv.is_empty() {
        return Err(BadCommandLine::Empty);
    }
    Ok(line)
}

fn names_conversation(word: &OsStr) -> bool {
    word.to_string_lossy().contains("{conversation}")
}

fn preset_words(
    preset: &Preset,
    own: &[OsString],
    given: &Given<'_>,
    line: &mut CommandLine,
) -> Result<(), BadCommandLine> {
    if given.model.is_some() && !preset.command.contains("{model}") {
        return Err(BadCommandLine::NoModel(preset.name));
    }
    let resume = match (given.conversation, preset.resume) {
        (None, _) => "",
        (Some(_), Some(option)) => option,
        (Some(_), None) => return Err(BadCommandLine::NoResume(preset.name)),
    };
    for word in preset.command.split(' ') {
        match word {
            // The values of these are not searched for placeholders.
            "{model}" => {
                if let Some(model) = given.model {
                    line.argv.extend(["--model".into(), model.into()]);
                }
            }
            "{args}" => line.argv.extend(own.iter().cloned()),
            "{resume}" => {
                for word in resume.split_whitespace() {
                    fill(word.as_ref(), given, line)?;
                }
            }
            word => fill(word.as_ref(), given, line)?,
        }
    }
    Ok(())
}

/// Adds a word to the line, with its placeholders replaced.
///
/// A word with the prompt replaces standard input. Inserted text is never searched for placeholders,
/// because a prompt may contain `{model}`.
fn fill(word: &OsStr, given: &Given<'_>, line: &mut CommandLine) -> Result<(), BadCommandLine> {
    const PLACEHOLDERS: [&str; 4] = ["{prompt}", "{prompt_file}", "{model}", "{conversation}"];
    let Some(mut rest) = word.to_str() else {
        line.argv.push(word.to_owned());
        return Ok(());
    };
    let missing = BadCommandLine::Missing;
    let mut filled = OsString::new();
    while let Some(at) = rest.find('{') {
        filled.push(&rest[..at]);
        rest = &rest[at..];
        let mut placeholders = PLACEHOLDERS.into_iter();
        let Some(name) = placeholders.find(|name| rest.starts_with(name)) else {
            filled.push("{");
            rest = &rest[1..];
            continue;
        };
        match name {
            "{prompt}" => {
                filled.push(argument(given.prompt)?);
                line.stdin = None;
            }
            "{prompt_file}" => {
                filled.push(given.prompt_file.ok_or(missing("prompt_file"))?);
                line.stdin = None;
            }
            "{model}" => filled.push(given.model.ok_or(missing("model"))?),
            _ => filled.push(given.conversation.ok_or(missing("conversation"))?),
        }
        rest = &rest[name.len()..];
    }
    filled.push(rest);
    line.argv.push(filled);
    Ok(())
}

fn argument(prompt: &str) -> Result<&str, BadCommandLine> {
    if prompt.len() > MAX_ARGUMENT {
        return Err(BadCommandLine::LongPrompt {
            bytes: prompt.len(),
        });
    }
    if prompt.contains('\0') {
        return Err(BadCommandLine::Nul);
    }
    Ok(prompt)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentShell {
    /// A shell with the environment of the agent.
    Inherited,
    /// A login shell, whose profile may set another `PATH`.
    Login,
    /// The agent runs no commands: its answer is what it prints.
    Absent,
}

/// How a common agent is started without a person.
///
/// `command` is split at spaces. In it, `{resume}`, `{model}` and `{args}` are replaced by options
/// and the operator's arguments. The prompt goes to standard input when no word contains
/// `{prompt}` or `{prompt_file}`. No preset grants a permission: the operator has to.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    command: &'static str,
    /// The option that continues a conversation, if there is one.
    resume: Option<&'static str>,
    stream: Stream,
    pub shell: AgentShell,
    /// The flags with which the operator allows it to call comail, which may need the network.
    grant: Option<&'static str>,
    /// The flags with which the operator allows it to change files.
    edit_grant: Option<&'static str>,
    /// Where it keeps logins, settings and conversations: paths below the home directory, or `$NAME`
    /// for a variable with a path. The name of a folder ends in `/`.
    pub(super) state: &'static [&'static str],
    /// Whether it confines its commands itself, by mounts, which Landlock does not allow.
    pub(super) has_sandbox: bool,
}

const RESUME: Option<&str> = Some("--resume {conversation}");

impl Preset {
    /// An agent with a shell, of which nothing else is known.
    const PLAIN: Self = Self {
        name: "",
        command: "",
        resume: None,
        stream: Stream::Text,
        shell: AgentShell::Inherited,
        grant: None,
        edit_grant: None,
        state: &[],
        has_sandbox: false,
    };

    pub const ALL: [&Self; 10] = [
        &Self {
            name: "claude",
            command: "claude -p {resume} --output-format stream-json --verbose {model} {args}",
            resume: RESUME,
            stream: Stream::Events,
            grant: Some("--allowedTools 'Bash(comail:*),WebSearch,WebFetch'"),
            edit_grant: Some("--permission-mode acceptEdits"),
            state: &[".claude/", ".claude.json", "$CLAUDE_CONFIG_DIR"],
            ..Self::PLAIN
        },
        &Self {
            name: "codex",
            command: "codex exec --json --skip-git-repo-check {model} {args} {resume} -",
            resume: Some("resume {conversation}"),
            stream: Stream::Events,
            shell: AgentShell::Login,
            grant: Some("--sandbox workspace-write"),
            edit_grant: Some("--sandbox workspace-write"),
            state: &[".codex/"],
            has_sandbox: true,
        },
        &Self {
            name: "gemini",
            command: "gemini {resume} --skip-trust --output-format stream-json {model} {args}",
            resume: RESUME,
            stream: Stream::Events,
            grant: Some("--allowed-tools 'run_shell_command(comail)'"),
            edit_grant: Some("--approval-mode auto_edit"),
            state: &[".gemini/"],
            ..Self::PLAIN
        },
        &Self {
            name: "aider",
            command: "aider --message-file {prompt_file} --no-detect-urls --no-git --no-check-update \
             --analytics-disable --no-show-model-warnings --no-show-release-notes --chat-mode ask \
             --no-pretty --no-stream {model} {args}",
            stream: Stream::Text,
            shell: AgentShell::Absent,
            state: &[".aider/", ".aider.conf.yml"],
            ..Self::PLAIN
        },
        &Self {
            name: "cursor",
            command: "cursor-agent -p {resume} --output-format stream-json {model} {args} {prompt}",
            resume: RESUME,
            stream: Stream::Events,
            grant: Some("--force"),
            edit_grant: Some("--force"),
            state: &[".cursor/", ".config/cursor/"],
            ..Self::PLAIN
        },
        &Self {
            name: "opencode",
            command: "opencode run {resume} --format json {model} {args}",
            resume: Some("--session {conversation}"),
            stream: Stream::Events,
            state: &[
                ".config/opencode/",
                ".local/share/opencode/",
                ".local/state/opencode/",
                ".cache/opencode/",
            ],
            ..Self::PLAIN
        },
        &Self {
            name: "amp",
            command: "amp -x --stream-json {args}",
            stream: Stream::Events,
            grant: Some("--dangerously-allow-all"),
            edit_grant: Some("--dangerously-allow-all"),
            state: &[".config/amp/", ".local/share/amp/", ".cache/amp/"],
            ..Self::PLAIN
        },
        &Self {
            name: "goose",
            command: "goose run --no-session {model} {args} -i -",
            stream: Stream::Text,
            state: &[
                ".config/goose/",
                ".local/share/goose/",
                ".local/state/goose/",
            ],
            ..Self::PLAIN
        },
        &Self {
            name: "qwen",
            command: "qwen {resume} --output-format stream-json {model} {args}",
            resume: RESUME,
            stream: Stream::Events,
            grant: Some("--allowed-tools 'run_shell_command(comail)'"),
            edit_grant: Some("--approval-mode auto-edit"),
            state: &[".qwen/"],
            ..Self::PLAIN
        },
        &Self {
            name: "copilot",
            command: "copilot -p {prompt} --no-color {model} {args}",
            stream: Stream::Text,
            grant: Some("--allow-tool 'shell(comail)'"),
            state: &[".copilot/"],
            ..Self::PLAIN
        },
    ];

    pub fn program(&self) -> &'static str {
        self.command.split(' ').next().unwrap_or(self.name)
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|preset| preset.name == name || preset.program() == name)
    }
}

#[cfg(test)]
mod tests;
