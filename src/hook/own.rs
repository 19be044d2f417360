//! Commands of this program that are a person's.

use super::rules::program;
use super::shell::Word;

/// What this program is called.
pub(super) const NAME: &str = "comail";

/// The subcommands that an agent has no business with.
const PERSONS: &[&str] = &[
    "resume", "forget", "dispute", "release", "scan", "hook", "run",
];

/// The subcommands that an agent works with.
const AGENTS: &[&str] = &["next", "submit", "status", "rules", "claims"];

/// What in `review` decides.
const DECIDES: &[&str] = &["accept", "reject", "reopen", "--import"];

/// Whether a command is this program.
pub(super) fn is_ours(argv: &[Word]) -> bool {
    argv.first().is_some_and(|first| {
        let name = program(&first.text).to_lowercase();
        first.is_plain() && name.strip_suffix(".exe").unwrap_or(&name) == NAME
    })
}

/// The subcommand, and what comes behind it.
pub(super) fn subcommand(argv: &[Word]) -> Option<(&str, &[Word])> {
    let mut at = 1;
    loop {
        let word = argv.get(at)?;
        at += 1;
        match word.text.as_str() {
            "--session" | "--color" => at += 1,
            text if text.starts_with('-') => {}
            text => return Some((text, &argv[at..])),
        }
    }
}

/// What a person would have to do; none where an agent may run it.
pub(super) fn persons(argv: &[Word]) -> Option<String> {
    let (subcommand, rest) = subcommand(argv)?;
    let decides = |word: &Word| {
        DECIDES
            .iter()
            .any(|it| word.text == *it || word.text.starts_with(&format!("{it}=")))
    };
    if PERSONS.contains(&subcommand) {
        Some(format!("`{NAME} {subcommand}` is a person's to run"))
    } else if subcommand == "review" && rest.iter().any(decides) {
        Some(format!("`{NAME} review` decides here, which is a person's"))
    } else {
        None
    }
}

/// Whether a command is one that an agent works with, by the name that `next` prints.
pub(super) fn is_agents(argv: &[Word]) -> bool {
    let by_name = argv.first().is_some_and(|first| first.is(NAME));
    by_name && subcommand(argv).is_some_and(|(name, _)| AGENTS.contains(&name))
}

/// Whether a quest would be claimed under a name that is not the agent's own.
pub(super) fn is_under_another(argv: &[Word], own: Option<&str>) -> bool {
    let Some(("next", rest)) = subcommand(argv) else {
        return false;
    };
    let words = argv.iter().zip(argv.iter().skip(1).map(Some).chain([None]));
    let mut names = words.filter_map(|(word, next)| match word.text.strip_prefix("--worker") {
        Some("") => Some(
            next.filter(|next| next.is_plain())
                .map(|next| next.text.as_str()),
        ),
        Some(joined) => Some(joined.strip_prefix('=').filter(|_| word.is_plain())),
        None => None,
    });
    let leased = rest.iter().any(|word| word.text.starts_with("--lease"));
    (leased && own.is_none()) || names.any(|name| name.is_none() || name != own)
}

/// Whether each word tells which subcommand it is, or comes behind it.
pub(super) fn is_told(argv: &[Word]) -> bool {
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--session" | "--color" => {
                if !words.next().is_none_or(Word::is_plain) {
                    return false;
                }
            }
            text if text.starts_with('-') && word.is_plain() => {}
            "review" => return words.all(Word::is_plain),
            _ => return word.is_plain(),
        }
    }
    true
}

/// The words that may name the session directory because this program asks for it there.
pub(super) fn names_session(argv: &[Word], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| argv.get(before));
    let joined = argv
        .get(place)
        .is_some_and(|word| word.text.starts_with("--session="));
    joined || before.is_some_and(|word| word.is("--session"))
}
