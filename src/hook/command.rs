//! Whether a shell line may run: every command in it, wherever it stands.

use std::cell::Cell;
use std::path::PathBuf;

use super::ground::{Ground, Reach};
use super::leading::without_options;
use super::net;
use super::own;
use super::rules::{Rules, program};
use super::ruling::{Ruled, Ruling};
use super::shell::{self, Part, Script, Sight, Word};
use super::wrapper::{self, Inside};

/// How deep lines may stand in lines.
const MOST_LINES: u32 = 8;

/// Programs whose words do nothing, whatever they come to.
const IDLE: &[&str] = &[
    "echo", "printf", "test", "[", ":", "true", "false", "sleep", "exit", "return",
];

/// What is said of a text that calls this program for what is a person's.
const PERSONS: &str = "it has this program do what is a person's";

/// What the commands of a line are held against.
pub(super) struct Judge<'a> {
    pub(super) rules: &'a Rules,
    pub(super) ground: &'a Ground<'a>,
    /// The directories in which a command may run, as far as they are known.
    pub(super) places: Vec<PathBuf>,
    /// Whether the line is one command of plain words.
    simple: bool,
    /// Whether something in it could not be told.
    unsure: Cell<bool>,
    /// Whether a program in it runs a text that it is given.
    interprets: Cell<bool>,
}

/// Whether a shell line may run.
#[must_use]
pub fn judge_line(line: &str, rules: &Rules, ground: &Ground<'_>) -> Ruled {
    let mut judge = Judge {
        rules,
        ground,
        places: vec![ground.here.clone()],
        simple: net::is_simple(line),
        unsure: Cell::new(false),
        interprets: Cell::new(false),
    };
    let found = judge.line(line, 0);
    let found = found.stricter(judge.beneath(line));
    if found.why.is_empty() {
        return Ruled::new(found.ruling, "it does nothing");
    }
    found
}

impl Judge<'_> {
    fn line(&mut self, line: &str, depth: u32) -> Ruled {
        if depth > MOST_LINES {
            return self.unreadable("lines stand in one another too deep");
        }
        let script = match shell::read(line) {
            Ok(script) => script,
            Err(why) => return self.unreadable(&why.to_string()),
        };
        let doubt = script
            .doubt
            .map_or_else(Ruled::nothing, |why| self.unreadable(why));
        let parts = script.parts.iter();
        parts.fold(doubt, |ruled, part| {
            ruled.stricter(self.part(part, &script, depth))
        })
    }

    /// What cannot be told before it runs.
    pub(super) fn unreadable(&self, why: &str) -> Ruled {
        self.unsure.set(true);
        self.rules.unreadable(why)
    }

    /// What the text alone tells, where what it runs is not sure.
    fn beneath(&self, line: &str) -> Ruled {
        let unsure = self.unsure.get();
        if unsure && (self.ground.is_written_in(line) || net::names_kept(line)) {
            Ruled::forbid("it names the session directory, and what it does cannot be told")
        } else if (unsure || self.interprets.get()) && net::calls_as_person(line) {
            Ruled::forbid(PERSONS)
        } else {
            Ruled::nothing()
        }
    }

    /// The words of a command that is not this program, and what it is fed, as texts.
    fn texts(&self, name: &str, argv: &[Word], part: &Part, script: &Script) -> Ruled {
        let short = without_options(argv);
        if net::shows(name, short.get(1).map(|word| word.text.as_str())) {
            return Ruled::nothing();
        }
        let bodies = part.heredocs.iter().map(|&body| &script.bodies[body]);
        let fed: Vec<&str> = bodies
            .chain(&part.fed)
            .map(|word| word.text.as_str())
            .collect();
        let words: Vec<&str> = argv[1..].iter().map(|word| word.text.as_str()).collect();
        let whole = format!("{}\n{}", words.join(" "), fed.join("\n"));
        let interprets = net::interprets(name);
        self.interprets.set(self.interprets.get() || interprets);
        if fed.iter().any(|text| self.ground.is_written_in(text)) || net::names_kept(&whole) {
            return Ruled::forbid("it names what lies in the session directory");
        }
        if net::calls_as_person(&whole) {
            return Ruled::forbid(PERSONS);
        }
        let alone = words.iter().any(|word| program(word) == own::NAME);
        if alone || (interprets && net::names_us(&whole)) {
            return self.unreadable("it may run this program in its own way");
        }
        if interprets && self.ground.names_steering(&whole) {
            return self.unreadable("it may change what decides what the agent may do");
        }
        Ruled::nothing()
    }

    fn part(&mut self, part: &Part, script: &Script, depth: u32) -> Ruled {
        let mut ruled = self.redirects(part);
        if let Some(why) = wrapper::doubtful(&part.words) {
            ruled = ruled.stricter(self.unreadable(why));
        }
        let Some(from) = wrapper::command_at(&part.words) else {
            return ruled
                .stricter(self.words(&part.words))
                .stricter(self.names_variables(&part.words))
                .stricter(self.variables(&part.words));
        };
        let (before, argv) = part.words.split_at(from);
        ruled = ruled.stricter(self.words(before));
        ruled = ruled.stricter(self.variables(before));
        ruled.stricter(self.argv(argv, part, script, depth))
    }

    /// What a command comes to, and all that it runs beside itself.
    fn argv(&mut self, argv: &[Word], part: &Part, script: &Script, depth: u32) -> Ruled {
        let named = self.rules.named(argv).unwrap_or_else(Ruled::nothing);
        match wrapper::inside(argv) {
            Inside::Nothing => named.stricter(self.plain(argv, part, script, depth)),
            Inside::Hidden(why) => named
                .stricter(self.words(argv))
                .stricter(self.unreadable(why)),
            Inside::Command(at) if depth < MOST_LINES => {
                let (own, inner) = argv.split_at(at);
                let mut ruled = named
                    .stricter(self.words(own))
                    .stricter(self.names_variables(own))
                    .stricter(self.variables(own));
                if program(&own[0].text) == "xargs" {
                    ruled = ruled.stricter(self.unreadable("`xargs` adds words"));
                }
                ruled.stricter(self.argv(inner, part, script, depth + 1))
            }
            Inside::Line(at) => {
                let others = argv.iter().enumerate().filter(|(place, _)| *place != at);
                let others: Vec<_> = others.map(|(_, word)| word.clone()).collect();
                let ruled = named.stricter(self.words(&others));
                ruled.stricter(self.line(&argv[at].text, depth + 1))
            }
            Inside::Joined(words) if words.iter().all(Word::is_plain) => {
                let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
                named.stricter(self.line(&texts.join(" "), depth + 1))
            }
            Inside::Fed => named
                .stricter(self.words(argv))
                .stricter(self.fed(part, script, depth)),
            Inside::Command(_) | Inside::Joined(_) => named
                .stricter(self.words(argv))
                .stricter(self.unreadable("its line is not known")),
        }
    }

    /// What a shell is fed.
    fn fed(&mut self, part: &Part, script: &Script, depth: u32) -> Ruled {
        let bodies = part.heredocs.iter().map(|&body| &script.bodies[body]);
        let texts: Vec<&Word> = bodies.chain(&part.fed).collect();
        if texts.is_empty() || !texts.iter().all(|text| text.is_plain()) {
            return self.unreadable("a shell is fed what is not known");
        }
        texts.iter().fold(Ruled::nothing(), |ruled, text| {
            ruled.stricter(self.line(&text.text, depth + 1))
        })
    }

    /// A command that is what it says.
    fn plain(&mut self, argv: &[Word], part: &Part, script: &Script, depth: u32) -> Ruled {
        let mut ruled = self
            .rules
            .named(argv)
            .unwrap_or_else(|| self.rules.unnamed());
        let name = program(&argv[0].text).to_lowercase();
        if own::is_ours(argv) {
            if let Some(why) = own::persons(argv) {
                return Ruled::forbid(why);
            }
            if !own::is_told(argv) {
                return ruled.stricter(self.unreadable("a word of it is not known"));
            }
            if own::is_under_another(argv, self.ground.worker.as_deref()) {
                ruled = ruled.stricter(self.unreadable("it claims under another's name"));
            } else if self.simple
                && depth == 0
                && own::is_agents(argv)
                && self.rules.named(argv).is_none()
            {
                ruled = Ruled::new(Ruling::Allow, "it is how an agent works on its quests");
            }
            return ruled
                .stricter(self.own(argv))
                .stricter(self.own_files(argv));
        }
        ruled = ruled
            .stricter(self.words(argv))
            .stricter(self.texts(&name, argv, part, script));
        ruled = ruled
            .stricter(self.changes(argv))
            .stricter(self.names_variables(argv));
        if !IDLE.contains(&name.as_str()) && argv.iter().any(|word| word.sight == Sight::Hidden) {
            ruled = ruled.stricter(self.unreadable("a word of it is not known"));
        }
        match name.as_str() {
            "cd" | "pushd" | "popd" => ruled.stricter(self.moves(argv)),
            "find" => {
                let files = printed(argv);
                let ruled = files.fold(ruled, |ruled, word| ruled.stricter(self.writes(word)));
                found(argv).fold(ruled, |ruled, inner| {
                    ruled.stricter(self.argv(inner, part, script, depth + 1))
                })
            }
            "git" => ruled.stricter(self.git(argv)),
            "export" | "declare" | "typeset" | "readonly" | "local" => {
                ruled.stricter(self.variables(&argv[1..]))
            }
            _ => ruled,
        }
    }

    /// Whatever a command of this program's is given, but for the session that it is to use.
    fn own(&self, argv: &[Word]) -> Ruled {
        let others = argv.iter().enumerate();
        let others = others.filter(|(place, _)| !own::names_session(argv, *place));
        let mut others = others.map(|(_, word)| word);
        let touches = others.find(|word| self.reaches(word) == Reach::Inside);
        touches.map_or_else(Ruled::nothing, |word| touched(&word.text))
    }

    /// Words that name the session directory.
    fn words(&self, words: &[Word]) -> Ruled {
        let touches = words.iter().find(|word| {
            self.ground.is_written_in(&word.text) || self.reaches(word) == Reach::Inside
        });
        if let Some(word) = touches {
            return touched(&word.text);
        }
        let steers = words.iter().find(|word| {
            let mut places = self.places.iter();
            word.is_plain()
                && places.any(|here| {
                    let places = self.ground.places(&word.text, here);
                    places.iter().any(|real| self.ground.steers(real))
                })
        });
        steers.map_or_else(Ruled::nothing, |word| {
            let why = format!("{} decides what the agent may do", word.text);
            self.unreadable(&why)
        })
    }

    /// How near what a word may name comes to the session directory.
    pub(super) fn reaches(&self, word: &Word) -> Reach {
        let places = self.places.iter().map(|here| match word.sight {
            Sight::Plain => {
                let places = self.ground.places(&word.text, here);
                places.iter().map(|real| self.ground.reach(real)).max()
            }
            Sight::Pattern => Some(self.ground.pattern_reach(&word.text, here)),
            Sight::Hidden => None,
        });
        places.flatten().max().unwrap_or(Reach::Nothing)
    }

    fn redirects(&self, part: &Part) -> Ruled {
        let read = part.reads.iter().chain(&part.fed);
        let read: Vec<_> = read.cloned().collect();
        let ruled = self.words(&read);
        part.writes.iter().fold(ruled, |ruled, word| {
            let here = self.places.iter();
            let target = match word.sight {
                Sight::Plain if is_device(&word.text) => Ruled::nothing(),
                Sight::Plain => here.fold(Ruled::nothing(), |ruled, here| {
                    ruled.stricter(self.ground.edit(&word.text, here))
                }),
                Sight::Pattern | Sight::Hidden => {
                    self.unreadable("the file that it writes is not known")
                }
            };
            ruled
                .stricter(self.words(std::slice::from_ref(word)))
                .stricter(target)
        })
    }
}

pub(super) fn touched(word: &str) -> Ruled {
    Ruled::forbid(format!("{word} reaches the session directory"))
}

pub(super) fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
    )
}

/// Whether `find` ends or changes what it finds.
pub(super) fn finds_to_end(argv: &[Word]) -> bool {
    argv.iter().any(|word| word.text == "-delete") || found(argv).next().is_some()
}

/// The files that `find` prints to.
fn printed(argv: &[Word]) -> impl Iterator<Item = &Word> {
    let pairs = argv.windows(2);
    pairs.filter_map(|pair| {
        let prints = ["-fprint", "-fprint0", "-fprintf", "-fls"];
        prints.contains(&&*pair[0].text).then_some(&pair[1])
    })
}

/// The commands that `find` runs for what it finds.
fn found(argv: &[Word]) -> impl Iterator<Item = &[Word]> {
    let begins = argv
        .iter()
        .enumerate()
        .filter(|(_, word)| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
    begins.map(|(at, _)| {
        let rest = &argv[at + 1..];
        let end = rest
            .iter()
            .position(|word| matches!(word.text.as_str(), ";" | "+"));
        &rest[..end.unwrap_or(rest.len())]
    })
}
