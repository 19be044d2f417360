//! The agent's use of comail itself, and the variables that decide what a command runs.

use super::command_line::{SimpleCommand, Word};
use super::protocol::{Permission, ToolReply};

pub(super) const NAME: &str = "comail";

/// Commands that change what counts, or start more agents. Only a person runs them.
const PERSON: [&str; 7] = [
    "resume", "forget", "dispute", "release", "scan", "hook", "run",
];

/// The words of `comail review` that decide.
const REVIEW_DECISIONS: [&str; 4] = ["accept", "reject", "reopen", "--import"];

/// Commands with which an agent works on its quests.
const AGENT: [&str; 5] = ["next", "submit", "status", "rules", "claims"];

/// Programs that run another command, which the rules cannot see.
const RUNNERS: [&str; 27] = [
    ".", "bash", "builtin", "command", "coproc", "dash", "doas", "env", "eval", "exec", "fish",
    "ksh", "nice", "nohup", "parallel", "setsid", "sh", "source", "stdbuf", "su", "sudo", "time",
    "timeout", "trap", "watch", "xargs", "zsh",
];

/// Variables that decide what a later command runs, or which session comail uses.
const GUARDED_VARIABLES: &str = "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND HOME \
                                 SHELL XDG_CONFIG_HOME APPDATA CDPATH";

const GUARDED_PREFIXES: [&str; 5] = ["LD_", "DYLD_", "GIT_", "COMAIL_", "BASH_FUNC"];

pub(super) fn is_guarded_variable(name: &str) -> bool {
    GUARDED_VARIABLES.split(' ').any(|it| it == name)
        || GUARDED_PREFIXES.iter().any(|it| name.starts_with(it))
}

pub(super) fn is_runner(command: &SimpleCommand) -> bool {
    RUNNERS.contains(&command.program())
}

/// The decision about a call of comail; none if the command is another program.
pub(super) fn judge(command: &SimpleCommand, worker: Option<&str>) -> Option<ToolReply> {
    let name = command.program().to_lowercase();
    if name.strip_suffix(".exe").unwrap_or(&name) != NAME {
        return None;
    }
    let arguments = &command.words[1..];
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    if let Some(called) = person_command(&texts) {
        let why = format!("only a person runs `{NAME} {called}`");
        return Some(Permission::Deny.because(why));
    }
    let Some((at, subcommand)) = subcommand(&texts) else {
        return Some(Permission::Defer.because("it only prints help"));
    };
    let until = match subcommand {
        // Each of its words may be the one that decides.
        "review" => arguments.len(),
        _ => at + 1,
    };
    if arguments[..until].iter().any(|word| !word.is_literal) {
        let why = format!("which {NAME} command runs is unknown");
        return Some(Permission::Ask.because(why));
    }
    if claims_for_another(arguments, worker) {
        return Some(Permission::Ask.because("it works under the name of another worker"));
    }
    // Only by the name that `comail next` prints: another path may be another program.
    let by_name = command.words.first().is_some_and(|word| word.text == NAME);
    Some(if by_name && AGENT.contains(&subcommand) {
        Permission::Allow.because(format!("an agent works with `{NAME} {subcommand}`"))
    } else {
        Permission::Defer.because(format!("`{NAME} {subcommand}` decides nothing"))
    })
}

fn person_command(arguments: &[&str]) -> Option<String> {
    let (at, subcommand) = subcommand(arguments)?;
    if PERSON.contains(&subcommand) {
        return Some(subcommand.to_owned());
    }
    let decides = |word: &&&str| REVIEW_DECISIONS.contains(&word.split('=').next().unwrap_or(word));
    let decision = arguments[at + 1..].iter().find(decides);
    let decision = decision.filter(|_| subcommand == "review");
    decision.map(|decision| format!("review {decision}"))
}

fn subcommand<'a>(arguments: &[&'a str]) -> Option<(usize, &'a str)> {
    let mut is_value = false;
    arguments
        .iter()
        .enumerate()
        .find(|(_, word)| {
            let skip = is_value || word.starts_with('-');
            is_value = !is_value && matches!(**word, "--session" | "--color");
            !skip
        })
        .map(|(at, word)| (at, *word))
}

fn claims_for_another(arguments: &[Word], worker: Option<&str>) -> bool {
    arguments.iter().enumerate().any(|(at, word)| {
        let name = match word.text.strip_prefix("--worker") {
            Some("") => arguments.get(at + 1),
            Some(joined) if joined.starts_with('=') => Some(word),
            _ => return false,
        };
        name.is_none_or(|name| {
            let text = name.text.strip_prefix("--worker=").unwrap_or(&name.text);
            !name.is_literal || Some(text) != worker
        })
    })
}

/// Whether the word at this place is the session that comail is to use.
pub(super) fn is_session_option(command: &SimpleCommand, at: usize) -> bool {
    let text = |at: usize| command.words[at].text.as_str();
    command.program() == NAME
        && (text(at).starts_with("--session=") || (at > 0 && text(at - 1) == "--session"))
}

#[cfg(test)]
mod tests {
    use super::super::command_line::CommandLine;
    use super::*;
    use Permission::{Allow, Ask, Defer, Deny};

    fn judged(line: &str) -> Option<Permission> {
        let line = CommandLine::parse(line);
        judge(&line.commands[0], Some("w1")).map(|reply| reply.permission)
    }

    #[test]
    fn an_agent_works_on_its_quests_and_a_person_decides() {
        for (line, expected) in [
            ("comail next", Some(Allow)),
            ("comail --session x submit --id 1 --site y", Some(Allow)),
            ("comail status --watch", Some(Allow)),
            ("comail submit --none \"$X\"", Some(Allow)),
            ("comail next --worker w1", Some(Allow)),
            ("comail next --worker=w1", Some(Allow)),
            ("comail next --worker w2", Some(Ask)),
            ("comail next --worker=w2", Some(Ask)),
            ("comail next --worker $W", Some(Ask)),
            ("comail next --worker", Some(Ask)),
            ("comail $X", Some(Ask)),
            ("comail --session $X next", Some(Ask)),
            ("comail review $X", Some(Ask)),
            ("comail review", Some(Defer)),
            ("comail report --html x", Some(Defer)),
            ("comail --help", Some(Defer)),
            ("./comail next", Some(Defer)),
            ("comail resume", Some(Deny)),
            ("comail --session resume scan x.csv", Some(Deny)),
            ("/usr/bin/COMAIL.exe forget x", Some(Deny)),
            ("comail review accept 1", Some(Deny)),
            ("comail review --key k reject 1", Some(Deny)),
            ("comail review --import=x", Some(Deny)),
            ("comail hook install", Some(Deny)),
            ("comailer resume", None),
            ("git status", None),
        ] {
            assert_eq!(judged(line), expected, "{line}");
        }
    }

    #[test]
    fn variables_that_decide_what_runs_are_guarded() {
        for name in ["PATH", "LD_PRELOAD", "COMAIL_WORKER", "GIT_SSH_COMMAND"] {
            assert!(is_guarded_variable(name), "{name}");
        }
        for name in ["RUST_BACKTRACE", "MYPATH", "CI"] {
            assert!(!is_guarded_variable(name), "{name}");
        }
    }
}
