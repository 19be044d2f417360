//! How long it takes to judge an answer in a session with worktrees, by the size of the tree and the
//! number of mutants. The answer's command runs once, with mutants once more over a neutral change, and
//! once over each of them.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use comail::judge::{Answer, AnswerFiles, CallKey, JudgeContext, Worktree};
use comail::quest::{FieldName, QuestId, Submission, Verdict};
use comail::session::Session;
use comail::world::sandbox::confined;
use criterion::{BenchmarkId, Criterion};

/// Each answer settles a quest.
const QUESTS: usize = 10_000;

const LINES: usize = 15;

/// The sizes of the trees in files, and the numbers of mutants; small when it is only tried whether
/// this runs.
fn sizes() -> (&'static [usize], &'static [usize]) {
    if std::env::args().any(|arg| arg == "--bench") {
        (&[100, 2_000, 20_000], &[0, 3, 30])
    } else {
        (&[20], &[3])
    }
}

/// A function that returns something else after each change of an operator.
fn function() -> String {
    let lines = (2..LINES + 2).map(|line| format!("    a = a * 3 + b * {line} - c\n"));
    let lines: String = lines.collect();
    format!("def total(a, b, c):\n{lines}    return a\n")
}

fn quest(mutants: usize) -> String {
    let mutation = format!(
        "[[check]]\nname = \"bites\"\nkind = \"mutation\"\nfrom = \"runs\"\nfile = \"src/own.py\"\n\
         first = \"1\"\nlast = \"{}\"\nmax_mutants = {mutants}\nmay_survive = 0\n\
         [[control]]\nname = \"idle\"\nkey = \"a\"\nsubmit = {{ file = \"in/idle.py\" }}\n\
         verdict = \"FAIL\"\nfires = [\"bites\"]\n",
        LINES + 2
    );
    let mutation = if mutants == 0 { "" } else { &mutation };
    format!(
        r#"
name = "tests"
unit = "part"
[input]
format = "lines"
[tree]
write = ["in/**"]
worktrees = true
judge_again = 0
[prompt]
text = "Write a test for {{{{ key }}}}"
[[field]]
name = "file"
kind = "file"
[[check]]
name = "runs"
kind = "command"
argv = ["python3", "-B", "{{{{ field.file }}}}"]
{mutation}
[[control]]
name = "right"
key = "a"
submit = {{ file = "in/right.py" }}
verdict = "PASS"
[[control]]
name = "wrong"
key = "a"
submit = {{ file = "in/wrong.py" }}
verdict = "FAIL"
fires = ["runs"]
"#
    )
}

/// Makes a session in `home`, and a worktree.
fn scan(home: &Path, files: usize, mutants: usize) -> Worktree {
    let write = |path: &str, text: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    for file in 0..files - 4 {
        let text = format!("line of file {file}\n").repeat(30);
        write(&format!("tree/src/part{}/{file}.txt", file / 100), &text);
    }
    let own = function();
    write("tree/src/own.py", &own);
    let expected = own.replace("total", "expected");
    let test = format!(
        "import sys\nsys.path.insert(0, 'src')\nfrom own import total\n{expected}\
         assert all(total(a, a + 1, a + 2) == expected(a, a + 1, a + 2) for a in range(9))\n"
    );
    write("tree/in/right.py", &test);
    write("tree/in/wrong.py", "assert False\n");
    write("tree/in/idle.py", "pass\n");
    write("quest.toml", &quest(mutants));
    let list: Vec<String> = (0..QUESTS).map(|quest| quest.to_string()).collect();
    write("list.txt", &list.join("\n"));
    let scanned = Command::new(env!("CARGO_BIN_EXE_comail"))
        .current_dir(home)
        .args(["scan", "list.txt", "--quest=quest.toml", "--tree=tree"])
        .output()
        .expect("comail starts");
    assert!(scanned.status.success(), "{scanned:?}");
    let root = home.join("work");
    let session = Session::open(&home.join(".comail")).expect("a session");
    Worktree::keep_or_make(&session, QuestId::FIRST, &root).expect("a worktree");
    fs::write(root.join("in/more.py"), "# more\n").expect("a file");
    Worktree { root, base: None }
}

fn submit(session: &mut Session, quest: usize, worktree: &Worktree) {
    let fields = [(FieldName::known("file"), "in/right.py".to_owned())];
    let answer = Answer {
        quest: QuestId::from_index(quest).expect("few enough"),
        worker: None,
        key: CallKey::None,
        submission: &Submission::Fields(fields.into()),
        files: AnswerFiles::Worktree(worktree),
    };
    let judging = JudgeContext::of(session).expect("a quest file");
    let mut clock = comail::base::clock::SystemClock;
    let judged = judging.submit(session, answer, &mut clock);
    let judgement = judged.expect("a judgement").judged.judgement;
    assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:?}");
}

fn bench(criterion: &mut Criterion) {
    let (sizes, mutants) = sizes();
    let mut group = criterion.benchmark_group("submit");
    group.sample_size(10);
    for files in sizes {
        for mutants in mutants {
            let home = tempfile::tempdir().expect("a folder");
            let worktree = scan(home.path(), *files, *mutants);
            let mut session = Session::open(&home.path().join(".comail")).expect("a session");
            let mut quests = 0..QUESTS;
            let name = BenchmarkId::new(format!("{files} files"), format!("{mutants} mutants"));
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    let quest = quests.next().expect("a quest that is left");
                    submit(&mut session, quest, &worktree);
                });
            });
        }
    }
    group.finish();
}

/// Commands are confined by the program that starts them.
fn main() -> ExitCode {
    if let Some(code) = confined(std::env::args_os()) {
        return code;
    }
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
    ExitCode::SUCCESS
}
