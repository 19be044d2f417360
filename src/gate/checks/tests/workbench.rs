//! A gate of several checks and a case for it, whose every judgement is replayed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::{Case, CheckOutcome, Fact, Gate as _, Judgement};
use crate::quest::file::{Mistake, QuestFile};
use crate::quest::{FieldName, Fields, Key, Quest, QuestId, Shown, Submission, Verdict};
use crate::world::evidence::Recording;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::replay::Replay;
use crate::world::sandbox::{Confinement, End, Pinned, Ran, Workshop};
use crate::world::{MockFetcher, MockResolver, MockUniquenessIndex, World};

/// What stands before the checks: three columns, two fields, a service and a tree.
const HEAD: &str = r#"
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

#[derive(Debug, Clone)]
pub struct Bench {
    text: String,
    outside: Gathered,
    quest: Quest,
    fields: Fields,
}

impl Bench {
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
            text: format!("{HEAD}{checks}"),
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
        FileGate::new(&file, &self.outside, FileSettings::default())
    }

    /// What the gate says, by what the workshop answers, and says again of what was recorded.
    pub fn judge(&self, workshop: &dyn Workshop) -> Judgement {
        let (fetcher, resolver, accepted) = (
            MockFetcher::new(),
            MockResolver::new(),
            MockUniquenessIndex::new(),
        );
        let world = World {
            fetcher: &fetcher,
            resolver: &resolver,
            accepted: &accepted,
            workshop,
        };
        let submission = Submission::Fields(self.fields.clone());
        let case = Case {
            quest: &self.quest,
            submission: &submission,
        };
        let gate = self.gate().unwrap();
        judged(&gate, case, world)
    }

    /// The only fact of the judgement, with its verdict; none where it is PASS.
    pub fn fact(&self, workshop: &dyn Workshop) -> Option<(Verdict, Fact)> {
        let judgement = self.judge(workshop);
        assert!(judgement.facts.len() < 2, "{judgement:#?}");
        let fact = judgement.facts.into_iter().next();
        fact.map(|fact| (judgement.verdict, fact))
    }
}

pub fn judged(gate: &FileGate, case: Case<'_>, world: World<'_>) -> Judgement {
    let recorder = Recorder::new(world);
    let judgement = gate.judge(case, &recorder.world());
    let Recording { evidence, bodies } = recorder.finish();
    let replay = Replay::new(&evidence, &bodies);
    assert_eq!(gate.judge(case, &replay.world()), judgement);
    assert_eq!(replay.missing(), [""; 0]);
    judgement
}

pub fn outcome(judgement: &Judgement, name: &str) -> CheckOutcome {
    let mut checks = judgement.checks.iter();
    checks.find(|report| report.check == name).unwrap().outcome
}

pub fn ran(end: End, stdout: &str) -> Ran {
    Ran {
        end,
        stdout: stdout.as_bytes().to_vec(),
        stderr: Vec::new(),
        reports: BTreeMap::new(),
        confinement: Confinement::default(),
        millis: 5,
    }
}

pub fn with_report(ran: Ran, name: &str, bytes: Option<&str>) -> Ran {
    let bytes = bytes.map(|text| text.as_bytes().to_vec());
    Ran {
        reports: BTreeMap::from([(name.to_owned(), bytes)]),
        ..ran
    }
}
