//! Eight agents at once on one file of a real project, each with a function and its test. They are
//! scripts, and two of them always want the same place.
//!
//! With `COMAIL_TEST_PROJECTS=1`; `.ci/projects` brings the project.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::branch::git;
use crate::harness::{Place, Run, tools};

const PROJECT: &str = "target/projects/boltons-25.0.0";
const FILE: &str = "boltons/strutils.py";
const AGENTS: usize = 8;

const QUEST: &str = r#"
name = "functions"
unit = "function"
[input]
format = "lines"
[tree]
write = ["boltons/strutils.py", "tests/test_new_*.py"]
worktrees = true
[prompt]
text = "Add {{ key }} to boltons/strutils.py, and its test tests/test_{{ key }}.py"
[[field]]
name = "what"
help = "what it does"
kind = "text"
unchecked = true
[[check]]
name = "tests-pass"
kind = "command"
argv = ["python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_{{ key }}.py", "tests/test_strutils.py"]
timeout = "5m"
[[control]]
name = "right"
key = "strutils"
submit = { what = "nothing" }
verdict = "PASS"
[[control]]
name = "wrong"
key = "gone"
submit = { what = "nothing" }
verdict = "FAIL"
fires = ["tests-pass"]
"#;

/// Works on quests, each in a new worktree, until none is left for it. Where accepted work has the same
/// lines, it begins again.
const AGENT: &str = r#"
tries=0
while [ $((tries += 1)) -le 20 ]; do
    dir=$me-$tries
    comail next --worker="$me" --worktree="$dir" --json > "$dir.json" || exit 0
    key=$(sed 's/.*"key":"\([a-z0-9_]*\)".*/\1/' "$dir.json")
    number=${key#new_}
    case $((number % 4)) in
    0) before='def slugify(' ;;
    1) before='def ordinalize(' ;;
    2) before='def find_hashtags(' ;;
    *) before='def unwrap_text(' ;;
    esac
    file=$dir/boltons/strutils.py
    awk -v before="$before" -v key="$key" -v number="$number" '
        index($0, before) == 1 {
            printf "def %s(text):\n    return text * %d\n\n\n", key, number
        }
        { print }' "$file" > "$dir.py"
    cp "$dir.py" "$file"
    {
        echo "from boltons.strutils import $key"
        echo "def test_$key():"
        echo "    assert len($key('ab')) == 2 * $number"
    } > "$dir/tests/test_$key.py"
    comail submit --worker="$me" --worktree="$dir" --function="$key" --what="repeats" >> "$me.log" 2>&1
done
exit 1
"#;

fn tests_pass(tree: &Path, tests: &[String]) {
    let mut python = Command::new("python3");
    python.env("PATH", tools::path()).current_dir(tree);
    python.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    let ran = python.args(tests).output().expect("python3 starts");
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn eight_agents_at_once_lose_nothing_of_a_real_project() {
    if std::env::var_os("COMAIL_TEST_PROJECTS").is_none_or(|value| value != "1") {
        return;
    }
    let place = Place::new();
    let tree = place.at("tree");
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join(PROJECT);
    let mut copy = Command::new("cp");
    let copied = copy.arg("-r").args([&project, &tree]).status();
    assert!(copied.expect("cp starts").success(), "run .ci/projects");
    git(&tree, ["init", "-q", "-b", "main"]);
    git(&tree, ["add", "."]);
    git(&tree, ["commit", "-q", "-m", "as released"]);
    let keys: Vec<String> = (1..=AGENTS).map(|number| format!("new_{number}")).collect();
    place.write("list.txt", keys.join("\n"));
    place.write("quest.toml", QUEST);
    let mut scan = place.command();
    scan.env("PATH", tools::path())
        .args(["scan", "list.txt", "--quest=quest.toml", "--tree=tree"]);
    Run::of(&mut scan).ok();

    let agents = (1..=AGENTS).map(|number| {
        let mut agent = place.shell(AGENT);
        agent.env("me", format!("agent{number}")).spawn()
    });
    let agents: Vec<_> = agents.collect();
    for agent in agents {
        let ended = agent.expect("a shell starts").wait().expect("it ends");
        assert!(ended.success(), "{ended:?}");
    }

    let attempts = place.events("attempt");
    let passes = attempts.iter().filter(|it| it["verdict"] == "PASS");
    assert_eq!((attempts.len(), passes.count()), (AGENTS, AGENTS));
    let report = place.run(["report"]).ok();
    assert!(report.contains("COMPLETE"), "{report}");
    place.run(["audit"]).ok();
    let (_, listed) = place.json(["tree"]);
    let branch = listed["branch"]["name"].as_str().expect("a branch");
    // A commit for each PASS, and none for anything else.
    let commits = git(&tree, ["log", "--format=%s", &format!("main..{branch}")]);
    let mut commits: Vec<_> = commits.lines().collect();
    commits.sort_unstable();
    let expected = (1..=AGENTS).map(|number| format!("Quest {number}, PASS: new_{number}"));
    assert_eq!(commits, expected.collect::<Vec<_>>());
    // Git alone, and without comail.
    let out = place.at("checked-out");
    let place_of_clone = out.display().to_string();
    git(&tree, ["clone", "-q", "-b", branch, ".", &place_of_clone]);
    let text = fs::read_to_string(out.join(FILE)).expect("the file");
    let mut tests = vec![String::from("tests/test_strutils.py")];
    for key in &keys {
        assert_eq!(text.matches(&format!("def {key}(")).count(), 1, "{key}");
        tests.push(format!("tests/test_{key}.py"));
    }
    tests_pass(&out, &tests);
}
