//! Quest files of a few checks, and cases for them, whose every judgement is replayed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::FileGate;
use super::outside::{GateSettings, Gathered};
use crate::base::Digest;
use crate::gate::tests::{FakeWorld, no_answer_in_time};
use crate::gate::{Case, CheckOutcome, Fact, Gate as _, Judgement};
use crate::quest::file::{Mistake, QuestFile};
use crate::quest::{FieldName, Fields, Key, Quest, QuestId, Shown, Submission, Verdict};
use crate::world::evidence::Recording;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::replay::Replay;
use crate::world::sandbox::{
    Called, Changed, CommandResult, CommandSpec, Confinement, End, FileSeen, MockSandbox, Pinned,
    Sandbox, Started,
};
use crate::world::{Fetched, MockFetcher, MockResolver, MockUniquenessIndex, UniqueValue, World};

/// The mistake in a whole quest file, beside which there is this script.
pub fn mistake_in(text: &str, script: &str) -> Option<Mistake> {
    let mut base = GateCase::new("");
    text.clone_into(&mut base.text);
    let script = ("judge.py".to_owned(), script.to_owned());
    base.outside.assets.extend([script]);
    base.gate().err()
}

/// What comes before the checks: three columns, two fields, a service and a tree.
const ABOUT_LINES: &str = r#"
name = "bench"
unit = "function"
[input]
key = ["function"]
show = ["file"]
anchor = ["first", "last"]
[tree]
write = ["tests/**"]
[prompt]
text = "{{ key }}"
[[field]]
name = "test"
kind = "text"
unchecked = true
[[field]]
name = "more-words"
kind = "text"
unchecked = true
required = false
[[service]]
name = "api"
argv = ["serve"]
"#;

/// What comes before a check of one kind.
const ONE_CHECK: &str = r#"
name = "bench"
unit = "thing"
open = true
[input]
anchor = ["cell"]
[tree]
write = ["out/**"]
[prompt]
text = "{{ key }}"
[[field]]
name = "value"
kind = "text"
unchecked = true
required = false
[[field]]
name = "other"
kind = "text"
unchecked = true
required = false
[[service]]
name = "api"
argv = ["server"]
[[check]]
name = "it"
"#;

const PROGRAMS: [&str; 8] = [
    "pytest",
    "python3",
    "cargo",
    "sh",
    "py.test",
    "python3.12",
    "node",
    "ruby",
];

/// A gate of several checks and a case for it; its world is a sandbox alone.
#[derive(Debug, Clone)]
pub struct GateCase {
    text: String,
    outside: Gathered,
    quest: Quest,
    fields: Fields,
}

impl GateCase {
    /// A quest file with these checks, about the lines 2 to 3 of `src/a.py`.
    pub fn new(checks: &str) -> Self {
        let program = |name: &str| {
            let path = PathBuf::from(format!("/usr/bin/{name}"));
            let sha256 = Digest::of(name.as_bytes());
            (
                name.to_owned(),
                Pinned {
                    target: path.clone(),
                    path,
                    sha256,
                },
            )
        };
        let pair = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        let variables = [("PATH", "/usr/bin:bin:.:/bin"), ("LANG", "C")];
        let cells = [("file", "src/a.py"), ("first", "2"), ("last", "3")];
        let cells = cells.map(pair).map(|(label, text)| Shown { label, text });
        Self {
            text: format!("{ABOUT_LINES}{checks}"),
            outside: Gathered {
                assets: [("checks/judge.py", "print()\n")].map(pair).into(),
                programs: PROGRAMS.map(program).into(),
                variables: variables.map(pair).into(),
            },
            quest: Quest {
                id: QuestId::from_index(6).unwrap(),
                key: Key::new("shop.total").unwrap(),
                anchor: None,
                shown: Vec::new(),
                known: cells.into(),
                after: Vec::new(),
                rows: vec![8],
            },
            fields: Fields::from([(FieldName::known("test"), "tests/test_a.py".to_owned())]),
        }
    }

    pub fn field(mut self, name: &'static str, text: &str) -> Self {
        self.fields.insert(FieldName::known(name), text.to_owned());
        self
    }

    pub fn cell(mut self, label: &str, text: &str) -> Self {
        self.quest.known.retain(|cell| cell.label != label);
        let (label, text) = (label.to_owned(), text.to_owned());
        self.quest.known.push(Shown { label, text });
        self
    }

    pub fn without_tree(mut self) -> Self {
        self.text = self.text.replace("[tree]\nwrite = [\"tests/**\"]\n", "");
        self
    }

    pub fn open(mut self) -> Self {
        self.text.insert_str(0, "open = true\n");
        self
    }

    pub fn mistake(&self) -> Mistake {
        self.gate().map(drop).unwrap_err()
    }

    fn gate(&self) -> Result<FileGate, Mistake> {
        let file = QuestFile::parse(&self.text)?;
        FileGate::new(&file, &self.outside, GateSettings::default())
    }

    /// What the gate says, by what the sandbox answers.
    pub fn judge(&self, sandbox: &dyn Sandbox) -> Judgement {
        self.judge_in(World {
            fetcher: &MockFetcher::new(),
            resolver: &MockResolver::new(),
            accepted: &MockUniquenessIndex::new(),
            sandbox,
        })
    }

    /// What the gate says, and says again of what was recorded.
    fn judge_in(&self, world: World<'_>) -> Judgement {
        let gate = self.gate().unwrap_or_else(|mistake| panic!("{mistake}"));
        let submission = Submission::Fields(self.fields.clone());
        let case = Case::new(&self.quest, &submission);
        let recorder = Recorder::new(world);
        let judgement = gate.judge(case, &recorder.world());
        let Recording { evidence, bodies } = recorder.finish();
        let replay = Replay::new(&evidence, &bodies);
        assert_eq!(gate.judge(case, &replay.world()), judgement);
        assert_eq!(replay.missing(), [""; 0]);
        judgement
    }

    /// The command that is run, which ends well.
    pub fn ordered(&self) -> CommandSpec {
        let mut sandbox = changed(&[]);
        let (sender, receiver) = std::sync::mpsc::channel();
        let up = sandbox.expect_service();
        up.returning(|_, _| Started::Listening { port: 4_000 });
        sandbox.expect_run().times(1).returning(move |order| {
            sender.send(order.clone()).unwrap();
            ran(End::Exited(0), "")
        });
        assert_eq!(self.judge(&sandbox).verdict, Verdict::Pass);
        receiver.recv().unwrap()
    }

    /// The only fact of the judgement, with its verdict; none where it is PASS.
    pub fn fact(&self, sandbox: &dyn Sandbox) -> Option<(Verdict, Fact)> {
        let judgement = self.judge(sandbox);
        assert!(judgement.facts.len() < 2, "{judgement:#?}");
        let fact = judgement.facts.into_iter().next();
        fact.map(|fact| (judgement.verdict, fact))
    }
}

/// What a sandbox gives as random.
pub const LETTERS: &str = "abcdefgh";

/// A sandbox whose tree has changed at these paths, within its zones.
pub fn changed(paths: &[&str]) -> MockSandbox {
    let changes: Vec<_> = paths.iter().map(|path| (*path, "added", true)).collect();
    changed_as(&changes)
}

/// The same with how each path has changed, and whether it is within the zones.
pub fn changed_as(changes: &[(&str, &str, bool)]) -> MockSandbox {
    let changes = changes.iter().map(|(path, how, inside)| Changed {
        path: (*path).to_owned(),
        how: (*how).to_owned(),
        inside: *inside,
    });
    let changes: Vec<_> = changes.collect();
    let mut sandbox = MockSandbox::new();
    let seen = sandbox.expect_changes();
    seen.returning(move || Ok(changes.clone()));
    sandbox.expect_nonce().returning(|| LETTERS.to_owned());
    sandbox
}

pub fn outcome(judgement: &Judgement, name: &str) -> CheckOutcome {
    let mut checks = judgement.checks.iter();
    checks.find(|report| report.check == name).unwrap().outcome
}

pub fn ran(end: End, stdout: &str) -> CommandResult {
    CommandResult {
        end,
        stdout: stdout.as_bytes().to_vec(),
        stderr: Vec::new(),
        reports: BTreeMap::new(),
        confinement: Confinement::default(),
        millis: 5,
        left_out: Vec::new(),
    }
}

pub fn with_report(ran: CommandResult, name: &str, bytes: Option<&str>) -> CommandResult {
    let bytes = bytes.map(|text| text.as_bytes().to_vec());
    CommandResult {
        reports: BTreeMap::from([(name.to_owned(), bytes)]),
        ..ran
    }
}

/// A quest file of one check, a submission and its world.
#[derive(Debug, Clone)]
pub struct CheckCase {
    base: GateCase,
    world: FakeWorld,
}

impl CheckCase {
    /// The check of this table, without its name: `it`. There are the fields `value` and `other`,
    /// the column `cell` and the service `api`.
    pub fn of(check: &str) -> Self {
        let mut base = GateCase::new("").cell("cell", "");
        base.text = format!("{ONE_CHECK}{check}");
        base.quest.key = Key::new("k").unwrap();
        base.fields = Fields::new();
        Self {
            base,
            world: FakeWorld::default(),
        }
    }

    pub fn submit(mut self, field: &str, text: &str) -> Self {
        let field = field.to_owned().into();
        self.base.fields.insert(field, text.to_owned());
        self
    }

    pub fn cell(mut self, text: &str) -> Self {
        self.base = self.base.cell("cell", text);
        self
    }

    pub fn asset(mut self, name: &str, text: &str) -> Self {
        let assets = &mut self.base.outside.assets;
        assets.insert(name.to_owned(), text.to_owned());
        self
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.world.add_file(path, FileSeen::File(text.into()));
        self
    }

    pub fn pinned(self, path: &str, text: &str) -> Self {
        self.pinned_as(path, FileSeen::File(text.into()))
    }

    pub fn pinned_as(mut self, path: &str, seen: FileSeen) -> Self {
        self.world.pin(path, seen);
        self
    }

    pub fn page(mut self, url: &str, html: &str) -> Self {
        self.world.html(url, html);
        self
    }

    pub fn redirect(mut self, url: &str, to: &str) -> Self {
        self.world.redirect(url, to);
        self
    }

    pub fn media(mut self, url: &str, content_type: &str, body: &str) -> Self {
        self.world.page(url, content_type, body);
        self
    }

    pub fn silent(self, url: &str) -> Self {
        self.fetched(url, Fetched::Unanswered(no_answer_in_time()))
    }

    pub fn fetched(mut self, url: &str, fetched: Fetched) -> Self {
        self.world.fetched(url, fetched);
        self
    }

    pub fn taken(mut self, taken: UniqueValue, holder: &str) -> Self {
        self.world.taken(taken, holder);
        self
    }

    pub fn called(mut self, path: &str, called: Called) -> Self {
        self.world.called(path, called);
        self
    }

    pub fn answers(mut self, path: &str, status: u16, body: &str) -> Self {
        self.world.answers(path, status, body);
        self
    }

    pub fn no_service(mut self, why: &str) -> Self {
        self.world.no_service(why);
        self
    }

    /// The same quest file, which is not open and requires its first field.
    pub fn closed(mut self) -> Self {
        let open = self.base.text.replacen("open = true\n", "", 1);
        self.base.text = open.replacen("required = false\n", "", 1);
        self
    }

    pub fn mistake(&self) -> String {
        self.base.mistake().to_string()
    }

    pub fn facts(&self) -> Vec<Fact> {
        let judgement = self.base.judge_in(self.world.world());
        let facts = judgement.facts.into_iter();
        facts
            .filter(|it| it.rule.as_str() != "open-ended")
            .collect()
    }

    /// Expects that nothing fires.
    #[track_caller]
    pub fn passes(&self) {
        assert_eq!(self.fired(), [""; 0], "{self:#?}");
    }

    /// Expects one fact, of a submission that is wrong.
    #[track_caller]
    pub fn fails(&self) {
        assert_eq!(self.fired(), ["it"], "{self:#?}");
    }

    /// Expects one fact, of a world that could not say.
    #[track_caller]
    pub fn is_unconfirmed(&self) {
        assert_eq!(self.fired(), ["it-unconfirmed"], "{self:#?}");
    }

    pub fn fired(&self) -> Vec<String> {
        let facts = self.facts().into_iter();
        facts.map(|fact| fact.rule.as_str().to_owned()).collect()
    }

    pub fn only_fact(&self) -> Fact {
        match <[Fact; 1]>::try_from(self.facts()) {
            Ok([fact]) => fact,
            Err(facts) => panic!("{facts:?}"),
        }
    }
}
