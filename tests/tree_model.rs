//! Random worktrees, answers, conflicts, regressions and kills, against a plain model of the accepted
//! tree.
//!
//! A process is killed before its answer is recorded, before or within the line of the ledger, or
//! before the branch is made. Answers also come while another one is judged. `COMAIL_TEST_KILLS` asks
//! for many more sequences.

use std::cell::{Cell, RefCell};
use std::fs::{self, OpenOptions};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::Command;

use comail::judge::{
    self, Answer, AnswerFiles, Branch, CallKey, Commits, JudgeContext, JudgeError, Refusal,
    SubmitResult, Worktree,
};
use comail::quest::{FieldName, QuestId, Submission, Verdict};
use comail::session::{Session, State};
use comail::world::tree::TreePath;
use proptest::prelude::*;

use crate::branch::{PATH, git};
use crate::harness::made::{at, id, salt};
use crate::harness::replayed::assert_audited;
use crate::harness::scale::pick;
use crate::harness::{Place, Run};

const QUESTS: usize = 8;
const FILES: [&str; 2] = ["in/a", "in/b"];
const SLOTS: usize = 3;

/// A file with so many words in each slot.
type File = Option<[u8; SLOTS]>;
type Tree = [File; FILES.len()];

const FIRST: Tree = [Some([1, 1, 0]); FILES.len()];

const QUEST: &str = r#"
name = "words"
unit = "part"
[input]
format = "lines"
[tree]
write = ["in/**"]
worktrees = true
judge_again = 2
[prompt]
text = "Write more words for {{ key }}"
[[field]]
name = "file"
kind = "path"
[[check]]
name = "known"
kind = "contains"
field = "file"
path = "names"
[[check]]
name = "long"
kind = "count"
path = "{{ field.file }}"
of = "words"
min = 11
[[control]]
name = "right"
key = "a"
submit = { file = "in/a" }
verdict = "PASS"
[[control]]
name = "wrong"
key = "a"
submit = { file = "in/short" }
verdict = "FAIL"
fires = ["long"]
[[control]]
name = "other"
key = "a"
submit = { file = "in/long" }
verdict = "FAIL"
fires = ["known"]
"#;

/// How many earlier PASSes are judged again with each answer, as the quest file says.
const JUDGE_AGAIN: usize = 2;

/// The slots are so far apart that they never conflict: nine words, and those of the slots.
fn text(slots: [u8; SLOTS]) -> String {
    let slots = slots.iter().enumerate().map(|(at, words)| {
        let words = " word".repeat(usize::from(*words));
        format!("slot{at}{words}\n--{at}\n=={at}\n")
    });
    slots.collect()
}

fn passes(file: File) -> bool {
    file.is_some_and(|slots| slots.iter().sum::<u8>() >= 2)
}

/// What `now` is with the change from `was` to `new`; none if they conflict.
fn merged(was: File, new: File, now: File) -> Option<File> {
    match (was, new, now) {
        _ if new == was || new == now => Some(now),
        _ if was == now => Some(new),
        (Some(was), Some(new), Some(now)) => {
            let mut slots = now;
            for at in (0..SLOTS).filter(|at| was[*at] != new[*at]) {
                if now[at] != was[at] && now[at] != new[at] {
                    return None;
                }
                slots[at] = new[at];
            }
            Some(Some(slots))
        }
        _ => None,
    }
}

/// When the process that judges an answer is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    Never,
    Judged,
    BeforeLine,
    InLine,
    BeforeBranch,
}

/// A quest, and the file that its answer names.
type Sent = (usize, usize);

#[derive(Debug, Clone)]
enum Step {
    Begin(usize),
    Edit(usize, usize, usize, u8),
    Remove(usize, usize),
    /// Another answer may come while this one is judged.
    Submit(Sent, Option<Sent>, Death),
    JudgeAgain,
    LoseBranch,
}

fn sent() -> impl Strategy<Value = Sent> {
    (0..QUESTS, 0..FILES.len())
}

fn edit(quest: usize) -> impl Strategy<Value = Step> {
    let place = (0..FILES.len(), 0..SLOTS, 0..4_u8);
    place.prop_map(move |(file, slot, words)| Step::Edit(quest, file, slot, words))
}

/// What one agent does until it answers, often while another one does the same: an answer without an
/// edit before it adds nothing to the accepted tree.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let death = prop_oneof![
        6 => Just(Death::Never),
        1 => Just(Death::Judged),
        1 => Just(Death::BeforeLine),
        1 => Just(Death::InLine),
        2 => Just(Death::BeforeBranch),
    ];
    let answers = (sent(), prop::option::of(sent()), death);
    let answer = answers.prop_flat_map(|(sent, during, death)| {
        let agents = [Some(sent), during].into_iter().flatten();
        let edits: Vec<_> = agents.map(|(quest, _)| edit(quest)).collect();
        edits.prop_map(move |mut steps| {
            steps.push(Step::Submit(sent, during, death));
            steps
        })
    });
    let one = prop_oneof![
        3 => (0..QUESTS).prop_map(Step::Begin),
        1 => (0..QUESTS, 0..FILES.len()).prop_map(|(quest, file)| Step::Remove(quest, file)),
        2 => Just(Step::JudgeAgain),
        1 => Just(Step::LoseBranch),
    ];
    prop_oneof![2 => answer, 1 => one.prop_map(|step| vec![step])]
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Conflict,
    Locked,
    Fail,
    Breaks,
    Pass,
    Killed,
    Regressed(Vec<usize>),
    Nothing,
}

struct Plain {
    tree: Tree,
    /// The file with which each quest has passed.
    passed: [Option<usize>; QUESTS],
    /// The tree from which each worktree was made, and its files now.
    works: [(Tree, Tree); QUESTS],
    accepted: usize,
    is_behind: bool,
}

impl Plain {
    fn new() -> Self {
        Self {
            tree: FIRST,
            passed: [None; QUESTS],
            works: [(FIRST, FIRST); QUESTS],
            accepted: 0,
            is_behind: false,
        }
    }

    fn take(&mut self, step: &Step) -> Vec<Said> {
        match *step {
            Step::Begin(quest) => self.works[quest] = (self.tree, self.tree),
            Step::Edit(quest, file, slot, words) => {
                self.works[quest].1[file].get_or_insert_default()[slot] = words;
            }
            Step::Remove(quest, file) => self.works[quest].1[file] = None,
            Step::Submit(sent, during, death) => return self.submit(sent, during, death),
            Step::JudgeAgain => {
                let lost = (0..QUESTS).filter(|quest| {
                    self.passed[*quest].is_some_and(|file| !passes(self.tree[file]))
                });
                let lost: Vec<_> = lost.collect();
                for quest in &lost {
                    self.passed[*quest] = None;
                }
                return vec![Said::Regressed(lost)];
            }
            Step::LoseBranch => self.is_behind = false,
        }
        vec![Said::Nothing]
    }

    fn laid(&self, quest: usize) -> Option<Tree> {
        let (was, new) = self.works[quest];
        let mut laid = self.tree;
        for (file, now) in laid.iter_mut().enumerate() {
            *now = merged(was[file], new[file], *now)?;
        }
        Some(laid)
    }

    fn submit(&mut self, (quest, file): Sent, during: Option<Sent>, death: Death) -> Vec<Said> {
        let mut said = Vec::new();
        let mut laid = self.laid(quest);
        let accepted = self.accepted;
        if laid.is_some()
            && let Some(other) = during
        {
            said = self.submit(other, None, Death::Never);
        }
        let is_moved = self.accepted != accepted;
        let is_judged = laid.is_some() && self.passed[quest].is_none();
        if is_judged
            && death != Death::Judged
            && is_moved
            && laid.is_some_and(|it| passes(it[file]))
        {
            laid = self.laid(quest);
        }
        said.push(match laid {
            None => Said::Conflict,
            Some(_) if self.passed[quest].is_some() => Said::Locked,
            Some(_) if matches!(death, Death::Judged | Death::BeforeLine | Death::InLine) => {
                Said::Killed
            }
            Some(laid) if !passes(laid[file]) => Said::Fail,
            Some(laid) if self.breaks(laid) => Said::Breaks,
            Some(laid) => {
                self.passed[quest] = Some(file);
                if laid != self.tree {
                    self.accepted += 1;
                    self.is_behind = death == Death::BeforeBranch;
                    self.tree = laid;
                }
                Said::Pass
            }
        });
        said
    }

    fn breaks(&self, laid: Tree) -> bool {
        let passed = self.passed.iter().flatten().copied();
        let seen = passed.filter(|file| laid[*file] != self.tree[*file]);
        // What was broken before is not blamed on this answer.
        let mut seen = seen.take(JUDGE_AGAIN);
        seen.any(|file| passes(self.tree[file]) && !passes(laid[file]))
    }
}

struct Real {
    place: Place,
}

/// The reference of the branch, and what the session knows of it.
type BranchState = (Option<String>, Option<Vec<u8>>);

impl Real {
    fn new() -> Self {
        let place = Place::new();
        let tree = place.at("tree");
        fs::create_dir_all(tree.join("in")).expect("a folder");
        for (file, slots) in FILES.iter().zip(FIRST) {
            fs::write(tree.join(file), text(slots.expect("a file"))).expect("a file");
        }
        for (file, text) in [
            ("names", "in/a\nin/b\nin/short\n"),
            ("in/short", "short\n"),
            ("in/long", &"word ".repeat(11)),
        ] {
            fs::write(tree.join(file), text).expect("a file");
        }
        git(&tree, ["init", "-q", "-b", "main"]);
        git(&tree, ["add", "."]);
        git(&tree, ["commit", "-q", "-m", "first"]);
        let keys = (0..QUESTS).map(|quest| format!("part{quest}\n"));
        place.write("list.txt", keys.collect::<String>());
        place.write("quest.toml", QUEST);
        let mut command = place.command();
        command
            .env("PATH", PATH)
            .args(["scan", "list.txt", "--quest=quest.toml", "--tree=tree"])
            .args(["--max-tries=99", "--set=scan.pause-after=0"]);
        Run::of(&mut command).ok();
        let real = Self { place };
        for quest in 0..QUESTS {
            real.begin(quest);
        }
        real
    }

    fn dir(&self) -> PathBuf {
        self.place.at(".comail")
    }

    /// Each command is a process of its own.
    fn open(&self) -> Session {
        Session::open(&self.dir()).expect("a session that opens")
    }

    fn work(&self, quest: usize) -> PathBuf {
        self.place.at(&format!("work{quest}"))
    }

    fn begin(&self, quest: usize) {
        let dir = self.work(quest);
        let _ = fs::remove_dir_all(&dir);
        Worktree::keep_or_make(&self.open(), id(quest), &dir).expect("a worktree");
    }

    /// `files` are those of the worktree after the step.
    fn take(&self, step: &Step, files: &[(Tree, Tree); QUESTS]) -> Vec<Said> {
        match *step {
            Step::Begin(quest) => self.begin(quest),
            Step::Edit(quest, file, ..) | Step::Remove(quest, file) => {
                let path = self.work(quest).join(FILES[file]);
                match files[quest].1[file] {
                    Some(slots) => fs::write(path, text(slots)).expect("a file"),
                    None => drop(fs::remove_file(path)),
                }
            }
            Step::Submit(sent, during, death) => return self.submit(sent, during, death),
            Step::JudgeAgain => {
                let mut session = self.open();
                let again = judge::judge_all_again(&session, &|| false).expect("judgements");
                let lost = judge::record_lost(&mut session, again.lost, &mut (at, salt));
                let lost = lost.expect("an event").into_iter();
                return vec![Said::Regressed(lost.map(QuestId::index).collect())];
            }
            Step::LoseBranch => {
                if let Some(branch) = Branch::of(&self.open()).expect("a branch") {
                    self.put_branch((None, self.branch().1));
                    branch
                        .make(&self.open(), Commits::Missing)
                        .expect("a branch");
                }
            }
        }
        vec![Said::Nothing]
    }

    fn submit(&self, (quest, file): Sent, during: Option<Sent>, death: Death) -> Vec<Said> {
        let mut session = self.open();
        let worktree = Worktree::find(session.dir(), &self.work(quest), id(quest));
        let worktree = worktree.expect("a worktree");
        let fields = [(FieldName::known("file"), FILES[file].to_owned())];
        let submission = Submission::Fields(fields.into());
        let answer = Answer {
            quest: id(quest),
            worker: None,
            key: CallKey::None,
            submission: &submission,
            files: AnswerFiles::Worktree(&worktree),
        };
        let (said, times) = (RefCell::new(Vec::new()), Cell::new(0));
        let before = RefCell::new(None);
        let now = || {
            times.set(times.get() + 1);
            match (times.get(), during) {
                // Before the gate runs.
                (1, Some(other)) => {
                    *said.borrow_mut() = self.submit(other, None, Death::Never);
                }
                // When the judgement is to be recorded.
                (2, _) if death == Death::Judged => resume_unwind(Box::new("killed")),
                _ => {}
            }
            if matches!(death, Death::InLine | Death::BeforeBranch) {
                *before.borrow_mut() = Some(self.branch());
            }
            at()
        };
        let salted = || match death {
            Death::BeforeLine => resume_unwind(Box::new("killed")),
            _ => salt(),
        };
        let judging = JudgeContext::of(&session).expect("a quest file");
        let mut judge = || judging.submit(&mut session, answer, &mut (now, salted));
        let judged = catch_unwind(AssertUnwindSafe(&mut judge));
        let mut said = said.take();
        let last = judged.map_or(Said::Killed, |judged| of_result(&judged));
        let is_recorded = matches!(last, Said::Pass | Said::Fail | Said::Breaks);
        if is_recorded && let Some(before) = before.take() {
            self.put_branch(before);
        }
        said.push(if is_recorded && death == Death::InLine {
            self.cut_last_line();
            Said::Killed
        } else {
            last
        });
        said
    }

    fn cut_last_line(&self) {
        let path = self.dir().join("ledger.jsonl");
        let text = fs::read_to_string(&path).expect("a ledger");
        let last = text.lines().last().expect("a line").len();
        let ledger = OpenOptions::new().write(true).open(path).expect("a ledger");
        let whole = text.len() - last - 1;
        ledger
            .set_len((whole + last / 2) as u64)
            .expect("a shorter ledger");
        fs::remove_file(self.dir().join("index.sqlite")).expect("an index");
    }

    fn branch(&self) -> BranchState {
        let tree = self.place.at("tree");
        let name = "--format=%(objectname)";
        let found = git(&tree, ["for-each-ref", name, "refs/heads/comail"]);
        let known = fs::read(self.dir().join("branch.json")).ok();
        (Some(found).filter(|it| !it.is_empty()), known)
    }

    fn put_branch(&self, (commit, known): BranchState) {
        let tree = self.place.at("tree");
        let name = git(
            &tree,
            ["for-each-ref", "--format=%(refname)", "refs/heads/comail"],
        );
        if !name.is_empty() {
            match commit {
                Some(commit) => git(&tree, ["update-ref", &name, &commit]),
                None => git(&tree, ["update-ref", "-d", &name]),
            };
        }
        let path = self.dir().join("branch.json");
        match known {
            Some(known) => fs::write(path, known).expect("a file"),
            None => drop(fs::remove_file(path)),
        }
    }

    fn accepted(&self, event: Option<u64>) -> [Option<String>; FILES.len()] {
        let (tree, config) = judge::accepted_of(&self.open(), event).expect("an accepted tree");
        FILES.map(|file| {
            let path = TreePath::parse(file).expect("a path");
            let read = tree
                .snapshot
                .read(&path, &*config.load)
                .expect("its contents");
            read.map(|bytes| String::from_utf8(bytes.to_vec()).expect("a text"))
        })
    }

    /// What git has on the branch.
    fn committed(&self) -> (usize, [Option<String>; FILES.len()]) {
        let tree = self.place.at("tree");
        let (commit, _) = self.branch();
        let commit = commit.expect("a branch");
        let count = git(&tree, ["rev-list", "--count", &format!("main..{commit}")]);
        let files = FILES.map(|file| {
            let mut show = Command::new("git");
            show.current_dir(&tree)
                .args(["show", &format!("{commit}:{file}")]);
            let shown = show.output().expect("git starts");
            let text = String::from_utf8(shown.stdout).expect("a text");
            shown.status.success().then_some(text)
        });
        (count.parse().expect("a number"), files)
    }

    fn passed(&self) -> [bool; QUESTS] {
        let session = self.open();
        std::array::from_fn(|quest| {
            let record = session.quest_record(id(quest)).expect("an answer");
            record.expect("a quest").progress.state == State::Pass
        })
    }

    fn events(&self) -> u64 {
        let ledger = fs::read_to_string(self.dir().join("ledger.jsonl")).expect("a ledger");
        ledger.lines().count() as u64
    }
}

fn of_result(judged: &Result<SubmitResult, JudgeError>) -> Said {
    let result = match judged {
        Ok(result) => result,
        Err(JudgeError::Conflicts(_)) => return Said::Conflict,
        Err(JudgeError::Refused(Refusal::Locked { .. })) => return Said::Locked,
        Err(error) => panic!("{error:?}"),
    };
    assert!(result.not_on_branch.is_none(), "{result:?}");
    let judgement = &result.judged.judgement;
    match judgement.verdict {
        Verdict::Pass => Said::Pass,
        _ if judgement.facts[0].rule.as_str() == "breaks-passed" => Said::Breaks,
        _ => Said::Fail,
    }
}

fn compare(steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut plain, real) = (Plain::new(), Real::new());
    let texts = |tree: Tree| tree.map(|file| file.map(text));
    let mut trees = Vec::new();
    for step in steps {
        let expected = plain.take(step);
        prop_assert_eq!(real.take(step, &plain.works), expected, "{:?}", step);
        let tree = texts(plain.tree);
        prop_assert_eq!(&real.accepted(None), &tree, "after {:?}", step);
        let passed = plain.passed.map(|file| file.is_some());
        prop_assert_eq!(real.passed(), passed, "after {:?}", step);
        if plain.accepted > 0 && !plain.is_behind {
            prop_assert_eq!(
                real.committed(),
                (plain.accepted, tree.clone()),
                "after {:?}",
                step
            );
        }
        trees.push((real.events() - 1, tree));
    }
    for (event, tree) in trees {
        prop_assert_eq!(real.accepted(Some(event)), tree, "at {}", event);
    }
    if let Some(branch) = Branch::of(&real.open()).expect("a branch") {
        branch
            .make(&real.open(), Commits::Missing)
            .expect("a branch");
        prop_assert_eq!(real.committed(), (plain.accepted, texts(plain.tree)));
        let (commit, _) = real.branch();
        branch.make(&real.open(), Commits::All).expect("a branch");
        prop_assert_eq!(real.branch().0, commit);
    }
    assert_audited(&real.dir());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: pick(6, 300),
        failure_persistence: None,
        max_shrink_iters: pick(20, 200),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_accepted_tree_is_the_models(steps in prop::collection::vec(steps(), 15..25)) {
        compare(&steps.concat())?;
    }
}
