//! From a command and a prompt to the words that are started, never through a shell.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::transcript::{Stream, StreamForm};

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
    pub needs_file: bool,
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
    #[must_use]
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

    #[must_use]
    pub fn stream(&self) -> Stream {
        match self {
            Self::Preset(preset, _) => preset.stream,
            Self::Custom(_) => Stream::Plain,
        }
    }

    #[must_use]
    pub fn can_resume(&self) -> bool {
        match self {
            Self::Preset(preset, _) => preset.resume.is_some(),
            Self::Custom(words) => words.iter().any(|word| names_conversation(word)),
        }
    }

    #[must_use]
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
    let words = match command {
        AgentCommand::Preset(preset, own) => preset_words(preset, own, given)?,
        AgentCommand::Custom(words) => words
            .iter()
            .filter(|word| given.conversation.is_some() || !names_conversation(word))
            .map(|word| Word::Filled(word.clone()))
            .collect(),
    };
    if words.is_empty() {
        return Err(BadCommandLine::Empty);
    }
    let mut line = CommandLine {
        argv: Vec::with_capacity(words.len()),
        stdin: None,
        needs_file: false,
    };
    let mut told = false;
    for word in words {
        line.argv.push(match word {
            Word::AsIs(word) => word,
            Word::Filled(word) => {
                let filled = fill(&word, given)?;
                told |= filled.told;
                line.needs_file |= filled.file;
                filled.word
            }
        });
    }
    if !told {
        line.stdin = Some(given.prompt.to_owned());
    }
    Ok(line)
}

fn names_conversation(word: &OsStr) -> bool {
    word.to_string_lossy().contains("{conversation}")
}

enum Word {
    AsIs(OsString),
    Filled(OsString),
}

fn preset_words(
    preset: &Preset,
    own: &[OsString],
    given: &Given<'_>,
) -> Result<Vec<Word>, BadCommandLine> {
    let resume = match (given.conversation, preset.resume) {
        (None, _) => "",
        (Some(_), Some(option)) => option,
        (Some(_), None) => return Err(BadCommandLine::NoResume(preset.name)),
    };
    let model = match (given.model, preset.model) {
        (None, _) => Vec::new(),
        (Some(model), Some(option)) => vec![option.into(), model.into()],
        (Some(_), None) => return Err(BadCommandLine::NoModel(preset.name)),
    };
    let mut all = Vec::new();
    for word in preset.command.split(' ') {
        match word {
            "{model}" => all.extend(model.iter().cloned().map(Word::AsIs)),
            "{args}" => all.extend(own.iter().cloned().map(Word::AsIs)),
            "{resume}" => {
                let words = resume.split_whitespace();
                all.extend(words.map(|word| Word::Filled(word.into())));
            }
            word => all.push(Word::Filled(word.into())),
        }
    }
    Ok(all)
}

struct Filled {
    word: OsString,
    told: bool,
    file: bool,
}

// Text that was filled in is never searched for placeholders: a prompt may contain `{model}`.
fn fill(word: &OsStr, given: &Given<'_>) -> Result<Filled, BadCommandLine> {
    let Some(text) = word.to_str().filter(|text| text.contains('{')) else {
        let word = word.to_owned();
        return Ok(Filled {
            word,
            told: false,
            file: false,
        });
    };
    let mut filled = Filled {
        word: OsString::new(),
        told: false,
        file: false,
    };
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        filled.word.push(&rest[..at]);
        rest = &rest[at..];
        let missing = BadCommandLine::Missing;
        if let Some(after) = rest.strip_prefix("{prompt}") {
            filled.word.push(argument(given.prompt)?);
            (filled.told, rest) = (true, after);
        } else if let Some(after) = rest.strip_prefix("{prompt_file}") {
            filled
                .word
                .push(given.prompt_file.ok_or(missing("prompt_file"))?);
            (filled.told, filled.file, rest) = (true, true, after);
        } else if let Some(after) = rest.strip_prefix("{model}") {
            filled.word.push(given.model.ok_or(missing("model"))?);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{conversation}") {
            filled
                .word
                .push(given.conversation.ok_or(missing("conversation"))?);
            rest = after;
        } else {
            filled.word.push("{");
            rest = &rest[1..];
        }
    }
    filled.word.push(rest);
    Ok(filled)
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
    /// The option that chooses a model, if there is one.
    model: Option<&'static str>,
    stream: Stream,
}

const RESUME: Option<&str> = Some("--resume {conversation}");

const MODEL: Option<&str> = Some("--model");

const CLAUDE: Preset = Preset {
    name: "claude",
    command: "claude -p {resume} --output-format stream-json --verbose {model} {args}",
    resume: RESUME,
    model: MODEL,
    stream: Stream::Events(StreamForm::Claude),
};

const CODEX: Preset = Preset {
    name: "codex",
    command: "codex exec --json --skip-git-repo-check {model} {args} {resume} -",
    resume: Some("resume {conversation}"),
    model: MODEL,
    stream: Stream::Events(StreamForm::Codex),
};

const GEMINI: Preset = Preset {
    name: "gemini",
    command: "gemini {resume} --output-format stream-json {model} {args}",
    resume: RESUME,
    model: MODEL,
    stream: Stream::Events(StreamForm::Gemini),
};

const QWEN: Preset = Preset {
    name: "qwen",
    command: "qwen {resume} --output-format stream-json {model} {args}",
    resume: RESUME,
    model: MODEL,
    stream: Stream::Events(StreamForm::Claude),
};

const CURSOR: Preset = Preset {
    name: "cursor",
    command: "cursor-agent -p {resume} --output-format stream-json {model} {args} {prompt}",
    resume: RESUME,
    model: MODEL,
    stream: Stream::Events(StreamForm::Cursor),
};

const OPENCODE: Preset = Preset {
    name: "opencode",
    command: "opencode run {resume} --format json {model} {args}",
    resume: Some("--session {conversation}"),
    model: MODEL,
    stream: Stream::Events(StreamForm::Opencode),
};

const AMP: Preset = Preset {
    name: "amp",
    command: "amp -x --stream-json {args}",
    resume: None,
    model: None,
    stream: Stream::Events(StreamForm::Claude),
};

const AIDER: Preset = Preset {
    name: "aider",
    command: "aider --message-file {prompt_file} --yes-always --no-pretty --no-stream {model} {args}",
    resume: None,
    model: MODEL,
    stream: Stream::Plain,
};

const GOOSE: Preset = Preset {
    name: "goose",
    command: "goose run --no-session {model} {args} -i -",
    resume: None,
    model: MODEL,
    stream: Stream::Plain,
};

const COPILOT: Preset = Preset {
    name: "copilot",
    command: "copilot -p {prompt} --no-color {model} {args}",
    resume: None,
    model: MODEL,
    stream: Stream::Plain,
};

impl Preset {
    pub const ALL: [&Self; 10] = [
        &CLAUDE, &CODEX, &GEMINI, &AIDER, &CURSOR, &OPENCODE, &AMP, &GOOSE, &QWEN, &COPILOT,
    ];

    /// The program that is started.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.command.split(' ').next().unwrap_or(self.name)
    }

    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|preset| preset.name == name || preset.program() == name)
    }
}

#[cfg(test)]
mod tests;
