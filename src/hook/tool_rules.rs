//! The rules for commands, and the decision about a tool call.
//!
//! ```toml
//! default = "ask"      # for commands that no rule names; without it, the agent's permissions
//!
//! [[rule]]
//! prefix = ["git", ["push", "fetch"]]
//! decision = "deny"
//! why = "a person releases"
//! ```
//!
//! A rule names the commands that begin with its words. If several do, the strictest decides. comail
//! has rules for its own commands, which a file can make stricter but not relax. A line that is not
//! a plain list of commands is never allowed: a person is asked, or it is denied if `default` is.

use std::collections::BTreeSet;

use itertools::Itertools as _;
use serde::Deserialize;

use super::command_line::{CommandLine, SimpleCommand, Word, program};
use super::path_policy::PathPolicy;
use super::protocol::{Permission, ToolAction, ToolReply};

/// Files that take output and keep nothing.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRules {
    default: Option<Permission>,
    #[serde(default)]
    rule: Vec<PrefixRule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefixRule {
    prefix: Vec<Pattern>,
    decision: Permission,
    #[serde(default)]
    why: String,
    /// Whether options may stand between the words of what is allowed. That is safe only for a
    /// program whose options are all known.
    #[serde(skip)]
    knows_options: bool,
}

/// The words that may be at one place of a command: one, or any of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "OneOrMany")]
struct Pattern(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Pattern {
    fn from(words: OneOrMany) -> Self {
        match words {
            OneOrMany::One(word) => Self(vec![word]),
            OneOrMany::Many(words) => Self(words),
        }
    }
}

impl Pattern {
    fn is(&self, text: &str) -> bool {
        self.0.iter().any(|word| word == text)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("the rules are not valid: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("rule {0} has an empty prefix or an empty word in it")]
    EmptyPrefix(usize),
}

impl ToolRules {
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let rules: Self = toml::from_str(text)?;
        let is_empty = |pattern: &Pattern| pattern.0.is_empty() || pattern.is("");
        let names_nothing =
            |rule: &PrefixRule| rule.prefix.is_empty() || rule.prefix.iter().any(is_empty);
        match rules.rule.iter().position(names_nothing) {
            Some(place) => Err(RulesError::EmptyPrefix(place + 1)),
            None => Ok(rules),
        }
    }

    fn unclear(&self, why: &str) -> ToolReply {
        let permission = self.default.unwrap_or(Permission::Ask);
        permission
            .max(Permission::Ask)
            .because(format!("what it does is unclear: {why}"))
    }

    fn named(&self, words: &[Word]) -> Option<ToolReply> {
        let own = own_rules();
        let rules = own.iter().chain(&self.rule);
        rules
            .filter_map(|rule| rule.reply(words))
            .reduce(ToolReply::stricter)
    }
}

pub(super) const NAME: &str = "comail";

/// The rules for comail's own commands: an agent works on its quests, and a person decides.
fn own_rules() -> [PrefixRule; 3] {
    let rule = |words: &[&[&str]], decision, why: &str| PrefixRule {
        prefix: words
            .iter()
            .map(|words| Pattern(words.iter().map(|word| (*word).to_owned()).collect()))
            .collect(),
        decision,
        why: why.to_owned(),
        knows_options: true,
    };
    let person = [
        "resume", "forget", "dispute", "release", "scan", "hook", "run",
    ];
    let decisions = ["accept", "reject", "reopen", "--import", "--sample"];
    let agent = ["next", "submit", "status", "rules", "claims"];
    [
        rule(
            &[&[NAME], &person],
            Permission::Deny,
            "only a person runs it",
        ),
        rule(
            &[&[NAME], &["review"], &decisions],
            Permission::Deny,
            "only a person decides",
        ),
        rule(
            &[&[NAME], &agent],
            Permission::Allow,
            "an agent works with it",
        ),
    ]
}

impl PrefixRule {
    fn reply(&self, words: &[Word]) -> Option<ToolReply> {
        let mut prefix = self.prefix.iter().map(|pattern| pattern.0.join("|"));
        let prefix = prefix.join(" ");
        let why = match &*self.why {
            "" => format!("the rule for `{prefix}`"),
            why => format!("the rule for `{prefix}`: {why}"),
        };
        if self.decision == Permission::Allow {
            let is_named = if self.knows_options {
                self.begins(&without_options(words))
            } else {
                self.begins(words)
            };
            return is_named.then(|| Permission::Allow.because(why));
        }
        if self.names(words, true) {
            Some(self.decision.because(why))
        } else if self.names(words, false) {
            Some(Permission::Ask.because(format!("it may fall under {why}")))
        } else {
            None
        }
    }

    /// Whether the command begins with exactly these words. What is allowed must be named letter
    /// by letter: another path may be another program, and an option may change what it does.
    fn begins(&self, words: &[Word]) -> bool {
        let pairs = || self.prefix.iter().zip(words);
        words.len() >= self.prefix.len()
            && pairs().all(|(pattern, word)| word.is_literal && pattern.is(&word.text))
    }

    /// Whether the rule names the command, also if the program is called by its path or options
    /// stand between the words. An option may have the next word as its value or not: both are
    /// tried. With `literal`, an expanded word is no match; without it, it may be any word.
    fn names(&self, words: &[Word], literal: bool) -> bool {
        let mut places = BTreeSet::from([0]);
        for (number, pattern) in self.prefix.iter().enumerate() {
            let mut next = BTreeSet::new();
            while let Some(place) = places.pop_first() {
                let Some(word) = words.get(place) else {
                    continue;
                };
                let text = match word.text.split_once('=') {
                    _ if number == 0 => program(&word.text),
                    Some((option, _)) if option.starts_with("--") => option,
                    _ => &word.text,
                };
                // Some file systems ignore case, and find the program by another spelling.
                let matches = pattern.is(&word.text)
                    || pattern.is(text)
                    || (number == 0 && pattern.is(&text.to_lowercase()));
                let is_hit = if word.is_literal { matches } else { !literal };
                if is_hit {
                    next.insert(place + 1);
                }
                if number > 0 && word.text.starts_with('-') {
                    places.extend([place + 1, place + 2]);
                } else if number > 0 && word.text.starts_with('+') {
                    places.insert(place + 1);
                }
            }
            places = next;
        }
        !places.is_empty()
    }
}

/// A command line of comail without the options between the program and its subcommand. Each of
/// them has a value or has none: if `next` were looked for in both places, a session of that name
/// would hide the subcommand that follows it.
fn without_options(words: &[Word]) -> Vec<Word> {
    let mut rest = words.iter();
    let mut kept: Vec<Word> = rest.next().cloned().into_iter().collect();
    while let Some(word) = rest.next() {
        if !word.is_literal || !word.text.starts_with('-') {
            kept.push(word.clone());
            break;
        }
        let has_value = matches!(&*word.text, "--session" | "--color");
        if has_value && !rest.next().is_some_and(|value| value.is_literal) {
            break;
        }
    }
    kept
}

/// Everything that decides about a tool call.
#[derive(Debug)]
pub struct ToolPolicy {
    pub rules: ToolRules,
    pub paths: PathPolicy,
    /// The worker as which the agent works, if it has a name.
    pub worker: Option<String>,
}

impl ToolPolicy {
    pub fn judge(&self, action: &ToolAction) -> ToolReply {
        match action {
            ToolAction::Run(_) if self.paths.is_in_session(&self.paths.cwd) => {
                Permission::Deny.because("it runs in the session directory")
            }
            ToolAction::Run(line) => self.judge_line(line),
            ToolAction::Edit(paths) => paths
                .iter()
                .map(|path| self.paths.edit(path))
                .reduce(ToolReply::stricter)
                .unwrap_or_else(|| Permission::Deny.because("it names no file")),
            ToolAction::Other => Permission::Defer.because("no rule is about this tool"),
        }
    }

    fn judge_line(&self, line: &str) -> ToolReply {
        let parsed = CommandLine::parse(line);
        let mut replies: Vec<ToolReply> = Vec::new();
        replies.extend(parsed.unclear.map(|why| self.rules.unclear(why)));
        for name in &parsed.variables {
            if is_guarded_variable(name) {
                let why = format!("`{name}` decides what a command runs");
                replies.push(self.rules.unclear(&why));
            }
        }
        replies.extend(parsed.commands.iter().map(|it| self.judge_command(it)));
        let reads = parsed.reads.iter();
        replies.extend(reads.filter_map(|file| self.paths.object_to_word(&file.text)));
        // After `cd`, a relative path does not start at the agent's directory.
        let moves = |command: &SimpleCommand| matches!(command.program(), "cd" | "pushd" | "popd");
        let has_moved = parsed.commands.iter().any(moves);
        let writes = parsed.writes.iter();
        replies.extend(writes.filter_map(|target| self.judge_write(target, has_moved)));
        let strictest = replies.into_iter().reduce(ToolReply::stricter);
        strictest.unwrap_or_else(|| Permission::Defer.because("it runs no command"))
    }

    fn judge_command(&self, command: &SimpleCommand) -> ToolReply {
        let words = &command.words;
        let reply = match self.rules.named(words) {
            Some(reply) => reply,
            None if RUNNERS.contains(&command.program()) => {
                let why = format!("`{}` runs another command", command.program());
                // What is denied stays denied there, wherever the other command begins.
                let within = (1..words.len()).filter_map(|at| self.rules.named(&words[at..]));
                within.fold(self.rules.unclear(&why), ToolReply::stricter)
            }
            None => {
                let default = self.rules.default.unwrap_or(Permission::Defer);
                default.because("no rule names it")
            }
        };
        let is_own = command.program() == NAME;
        let for_another = is_own && claims_for_another(words, self.worker.as_deref());
        let other_worker = for_another
            .then(|| Permission::Ask.because("it works under the name of another worker"));
        // The session that comail is to use is named by its option.
        let names_session = |at: usize| {
            let before = at.checked_sub(1).map(|at| words[at].text.as_str());
            is_own && (words[at].text.starts_with("--session=") || before == Some("--session"))
        };
        let objections = words
            .iter()
            .enumerate()
            .filter(|(at, _)| !names_session(*at))
            .filter_map(|(_, word)| self.paths.object_to_word(&word.text));
        objections
            .chain(other_worker)
            .fold(reply, ToolReply::stricter)
    }

    fn judge_write(&self, target: &Word, has_moved: bool) -> Option<ToolReply> {
        if !target.is_literal || (has_moved && !target.text.starts_with('/')) {
            let unclear = self.rules.unclear("the file that it writes is not known");
            let objection = self.paths.object_to_word(&target.text);
            return Some(objection.map_or(unclear.clone(), |it| unclear.stricter(it)));
        }
        let is_kept = !DEVICES.contains(&&*target.text);
        is_kept.then(|| self.paths.edit(&target.text))
    }
}

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

fn is_guarded_variable(name: &str) -> bool {
    GUARDED_VARIABLES.split(' ').any(|it| it == name)
        || GUARDED_PREFIXES.iter().any(|it| name.starts_with(it))
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

#[cfg(test)]
mod tests {
    use super::*;
    use Permission::{Allow, Ask, Defer, Deny};
    use std::path::Path;

    const RULES: &str = r#"
    [[rule]]
    prefix = ["git"]
    decision = "allow"
    [[rule]]
    prefix = ["git", ["push", "fetch"]]
    decision = "deny"
    why = "a person releases"
    [[rule]]
    prefix = [["cargo", "npm"], "publish"]
    decision = "ask"
    [[rule]]
    prefix = ["kubectl", "config", "unset"]
    decision = "deny"
    [[rule]]
    prefix = ["nice", "make"]
    decision = "allow"
    [[rule]]
    prefix = ["rm"]
    decision = "deny"
"#;

    fn policy(rules: &str) -> ToolPolicy {
        ToolPolicy {
            rules: ToolRules::parse(rules).unwrap(),
            paths: PathPolicy::sample(Path::new("/nowhere")),
            worker: None,
        }
    }

    fn judge(policy: &ToolPolicy, line: &str) -> Permission {
        policy.judge(&ToolAction::Run(line.to_owned())).permission
    }

    #[test]
    fn the_strictest_rule_that_names_a_command_decides() {
        let policy = policy(RULES);
        for (line, permission) in [
            ("git status", Allow),
            ("git status; git log", Allow),
            ("git status; make", Defer),
            ("git status $X", Allow),
            ("git push", Deny),
            ("git fetch origin", Deny),
            ("git status; git push", Deny),
            ("git status | git push", Deny),
            ("/usr/bin/git push", Deny),
            ("/usr/bin/git status", Defer),
            ("git -C there --no-pager push", Deny),
            ("git --unknown x push", Deny),
            ("git commit push", Allow),
            ("git $X", Ask),
            ("git -C $X push", Deny),
            ("cargo publish", Ask),
            ("cargo +nightly publish", Ask),
            ("npm --loglevel silent publish", Ask),
            ("npm run publish", Defer),
            ("cargo test", Defer),
            ("gitk", Defer),
            ("GIT push", Deny),
            ("kubectl config -n x unset y", Deny),
            ("kubectl get config", Defer),
            ("for f in *; do rm $f; done", Deny),
            ("ls $(rm x)", Deny),
            ("timeout 5 rm x", Deny),
            ("timeout 5 ls", Ask),
            ("sh -c 'ls'", Ask),
            ("nice make", Allow),
            ("$X", Ask),
            ("ls $X", Defer),
            ("RUST_BACKTRACE=1 git log", Allow),
            ("PATH=x git log", Ask),
            ("export LD_PRELOAD=x", Ask),
            ("# nothing", Defer),
        ] {
            assert_eq!(judge(&policy, line), permission, "{line}");
        }
        let reply = policy.judge(&ToolAction::Run("git push".into()));
        assert_eq!(
            reply.reason,
            "the rule for `git push|fetch`: a person releases"
        );
    }

    #[test]
    fn an_allow_rule_holds_letter_by_letter() {
        let policy = policy("rule = [{ prefix = ['git', 'log'], decision = 'allow' }]");
        assert_eq!(judge(&policy, "git log"), Allow);
        assert_eq!(judge(&policy, "git -c core.pager=x log"), Defer);
        assert_eq!(judge(&policy, "./git log"), Defer);
    }

    #[test]
    fn the_file_says_what_happens_to_the_rest() {
        let strict = policy("default = 'deny'");
        let lax = policy("default = 'allow'");
        let plain = policy("");
        for (line, by_default) in [
            ("make", [Deny, Allow, Defer]),
            ("make $(x)", [Deny, Ask, Ask]),
        ] {
            let found = [&strict, &lax, &plain].map(|policy| judge(policy, line));
            assert_eq!(found, by_default, "{line}");
        }
        // The agent's way to its quests stays open.
        assert_eq!(judge(&strict, "comail next"), Allow);
        assert_eq!(judge(&strict, "comail --session next export x"), Deny);
    }

    #[test]
    fn a_file_that_is_not_valid_is_refused() {
        for text in [
            "rule = [{ prefix = [], decision = 'allow' }]",
            "rule = [{ prefix = [''], decision = 'allow' }]",
            "rule = [{ prefix = [[]], decision = 'allow' }]",
            "rule = [{ prefix = ['a'], decision = 'perhaps' }]",
            "rule = [{ prefix = ['a'], decision = 'defer' }]",
            "rule = [{ prefix = ['a'] }]",
            "rules = []",
            "default = 'forbid'",
            "unclear = 'allow'",
            "default",
        ] {
            assert!(ToolRules::parse(text).is_err(), "{text}");
        }
        assert_eq!(ToolRules::parse("").unwrap(), ToolRules::default());
    }

    #[test]
    fn the_session_and_the_commands_of_a_person_are_protected() {
        let policy = policy("rule = [{ prefix = ['comail'], decision = 'allow' }]");
        for (line, permission) in [
            ("comail next", Allow),
            ("comail next --session .comail", Allow),
            ("comail next | head", Defer),
            ("comail resume", Deny),
            ("git status; comail review accept 1", Deny),
            ("sh -c 'comail resume'", Ask),
            ("timeout 5 comail forget x", Deny),
            ("x=$(comail scan y)", Deny),
            ("grep 'comail resume' README.md", Defer),
            ("rm -rf .comail", Deny),
            ("cat .comail/ledger.jsonl", Deny),
            ("cat < .comail/ledger.jsonl", Deny),
            ("cd sub && cat ../.comail/ledger.jsonl", Deny),
            ("bash -c 'cat .comail/x'", Ask),
            ("cat $X/.comail/x", Deny),
            ("git commit -m 'Explain .comail'", Defer),
            ("comail export .comail/ledger.jsonl", Deny),
            ("sed -i s/a/b/ rules.toml", Ask),
            ("cat .claude/settings.json", Ask),
        ] {
            assert_eq!(judge(&policy, line), permission, "{line}");
        }
        let inside = ToolPolicy {
            paths: PathPolicy {
                cwd: "/nowhere/work/.comail/evidence".into(),
                ..PathPolicy::sample(Path::new("/nowhere"))
            },
            ..policy
        };
        assert_eq!(judge(&inside, "ls"), Deny);
        assert_eq!(inside.judge(&ToolAction::Other).permission, Defer);
    }

    #[test]
    fn redirections_stay_in_the_write_zone() {
        let policy = policy("rule = [{ prefix = ['a'], decision = 'allow' }]");
        for (line, permission) in [
            ("a > in/x", Allow),
            ("a > in/x 2>&1 < other", Allow),
            ("a 2> /dev/null", Allow),
            ("a > out", Deny),
            ("a &> in/../out", Deny),
            ("a >> .comail/x", Deny),
            ("a > $X", Ask),
            ("a > $X/.comail/x", Deny),
            ("a > in/*", Ask),
            ("cd b && a > in/x", Ask),
            ("cd b && a > /nowhere/work/in/x", Defer),
        ] {
            assert_eq!(judge(&policy, line), permission, "{line}");
        }
    }

    #[test]
    fn an_agent_works_on_its_quests_and_a_person_decides() {
        let policy = ToolPolicy {
            worker: Some("w1".to_owned()),
            ..policy("")
        };
        for (line, expected) in [
            ("comail next", Allow),
            ("comail --session x submit --id 1 --site y", Allow),
            ("comail --json --session=x -q next", Allow),
            ("comail --session next export x.csv", Defer),
            ("comail --session status", Defer),
            ("comail status --watch", Allow),
            ("comail submit --none \"$X\"", Allow),
            ("comail next --worker w1", Allow),
            ("comail next --worker=w1", Allow),
            ("comail next --worker w2", Ask),
            ("comail next --worker=w2", Ask),
            ("comail next --worker $W", Ask),
            ("comail next --worker", Ask),
            ("comail $X", Ask),
            ("comail --session $X next", Ask),
            ("comail review $X", Ask),
            ("comail review", Defer),
            ("comail report --out x.html", Defer),
            ("comail --help", Defer),
            ("./comail next", Defer),
            ("comail resume", Deny),
            ("comail --session resume scan x.csv", Deny),
            ("/usr/bin/COMAIL forget x", Deny),
            ("comail review accept 1", Deny),
            ("comail review --key k reject 1", Deny),
            ("comail review --import=x", Deny),
            ("comail review --sample 60", Deny),
            ("comail hook install", Deny),
            ("comailer resume", Defer),
            ("git status", Defer),
        ] {
            assert_eq!(judge(&policy, line), expected, "{line}");
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
