//! The command lines of common agents.
//!
//! None of them grants a permission that the operator has not asked for: that is what arguments of
//! the operator's own are for, which go where the agent takes options.

use super::order::{Stream, StreamForm};

/// How a common agent is started without a person. `{model}` and `{args}` are replaced by the
/// model option and the operator's arguments. The prompt goes to stdin when no word contains
/// `{prompt}` or `{prompt_file}`.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub fresh: &'static [&'static str],
    pub resumed: Option<&'static [&'static str]>,
    pub model: Option<&'static str>,
    pub stream: Stream,
}

const MODEL: Option<&str> = Some("--model");

const CLAUDE: Preset = Preset {
    name: "claude",
    fresh: &[
        "claude",
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "{model}",
        "{args}",
    ],
    resumed: Some(&[
        "claude",
        "-p",
        "--resume",
        "{conversation}",
        "--output-format",
        "stream-json",
        "--verbose",
        "{model}",
        "{args}",
    ]),
    model: MODEL,
    stream: Stream::Events(StreamForm::Claude),
};

const CODEX: Preset = Preset {
    name: "codex",
    fresh: &[
        "codex",
        "exec",
        "--json",
        "--skip-git-repo-check",
        "{model}",
        "{args}",
        "-",
    ],
    resumed: Some(&[
        "codex",
        "exec",
        "--json",
        "--skip-git-repo-check",
        "{model}",
        "{args}",
        "resume",
        "{conversation}",
        "-",
    ]),
    model: MODEL,
    stream: Stream::Events(StreamForm::Codex),
};

const GEMINI: Preset = Preset {
    name: "gemini",
    fresh: &[
        "gemini",
        "--output-format",
        "stream-json",
        "{model}",
        "{args}",
    ],
    resumed: Some(&[
        "gemini",
        "--resume",
        "{conversation}",
        "--output-format",
        "stream-json",
        "{model}",
        "{args}",
    ]),
    model: MODEL,
    stream: Stream::Events(StreamForm::Gemini),
};

const QWEN: Preset = Preset {
    name: "qwen",
    fresh: &[
        "qwen",
        "--output-format",
        "stream-json",
        "{model}",
        "{args}",
    ],
    resumed: Some(&[
        "qwen",
        "--resume",
        "{conversation}",
        "--output-format",
        "stream-json",
        "{model}",
        "{args}",
    ]),
    model: MODEL,
    stream: Stream::Events(StreamForm::Claude),
};

const CURSOR: Preset = Preset {
    name: "cursor",
    fresh: &[
        "cursor-agent",
        "-p",
        "--output-format",
        "stream-json",
        "{model}",
        "{args}",
        "{prompt}",
    ],
    resumed: Some(&[
        "cursor-agent",
        "-p",
        "--resume",
        "{conversation}",
        "--output-format",
        "stream-json",
        "{model}",
        "{args}",
        "{prompt}",
    ]),
    model: MODEL,
    stream: Stream::Events(StreamForm::Cursor),
};

const OPENCODE: Preset = Preset {
    name: "opencode",
    fresh: &["opencode", "run", "--format", "json", "{model}", "{args}"],
    resumed: Some(&[
        "opencode",
        "run",
        "--session",
        "{conversation}",
        "--format",
        "json",
        "{model}",
        "{args}",
    ]),
    model: MODEL,
    stream: Stream::Events(StreamForm::Opencode),
};

const AMP: Preset = Preset {
    name: "amp",
    fresh: &["amp", "-x", "--stream-json", "{args}"],
    resumed: None,
    model: None,
    stream: Stream::Events(StreamForm::Claude),
};

const AIDER: Preset = Preset {
    name: "aider",
    fresh: &[
        "aider",
        "--message-file",
        "{prompt_file}",
        "--yes-always",
        "--no-pretty",
        "--no-stream",
        "{model}",
        "{args}",
    ],
    resumed: None,
    model: MODEL,
    stream: Stream::Plain,
};

const GOOSE: Preset = Preset {
    name: "goose",
    fresh: &[
        "goose",
        "run",
        "--no-session",
        "{model}",
        "{args}",
        "-i",
        "-",
    ],
    resumed: None,
    model: MODEL,
    stream: Stream::Plain,
};

const COPILOT: Preset = Preset {
    name: "copilot",
    fresh: &[
        "copilot",
        "-p",
        "{prompt}",
        "--no-color",
        "{model}",
        "{args}",
    ],
    resumed: None,
    model: MODEL,
    stream: Stream::Plain,
};

impl Preset {
    pub const ALL: [&Self; 10] = [
        &CLAUDE, &CODEX, &GEMINI, &AIDER, &CURSOR, &OPENCODE, &AMP, &GOOSE, &QWEN, &COPILOT,
    ];

    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name == name || preset.fresh[0] == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_found_by_either_name() {
        for preset in Preset::ALL {
            assert_eq!(Preset::named(preset.name), Some(preset));
            assert_eq!(Preset::named(preset.fresh[0]), Some(preset));
        }
        assert_eq!(Preset::named("cursor-agent").unwrap().name, "cursor");
        assert_eq!(Preset::named("sh"), None);
    }

    #[test]
    fn says_where_all_that_it_takes_goes() {
        for preset in Preset::ALL {
            for words in [Some(preset.fresh), preset.resumed].into_iter().flatten() {
                let has = |word| words.contains(&word);
                assert!(has("{args}"), "{}", preset.name);
                assert_eq!(has("{model}"), preset.model.is_some(), "{}", preset.name);
                assert_eq!(
                    has("{conversation}"),
                    words != preset.fresh,
                    "{}",
                    preset.name
                );
            }
        }
    }
}
