//! The process of an agent: how it ends, what is left of it, and what its output costs us.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use comail::run::agent::{
    Agent, AgentEnd, AgentError, AgentEvent, AgentLauncher, AgentOrder, Stream,
};
use tempfile::TempDir;

use crate::harness::poll;

/// Longer than any test: who is given so much time is never killed for being slow.
const LONG: Duration = Duration::from_mins(1);

/// A place where agents run that are shell scripts.
struct Desk {
    place: TempDir,
}

impl Desk {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a directory");
        Self { place }
    }

    fn order(&self, script: &str) -> AgentOrder {
        let words = ["sh", "-c", script];
        AgentOrder {
            grants: None,
            argv: words.iter().map(Into::into).collect(),
            stdin: None,
            dir: self.place.path().to_owned(),
            env: Vec::new(),
            unset: Vec::new(),
            log: self.log(),
            max_log_bytes: 10_000,
            stream: Stream::Plain,
            resumed: None,
        }
    }

    fn log(&self) -> PathBuf {
        self.place.path().join("1.log")
    }

    fn start(&self, script: &str) -> Agent {
        start(&self.order(script)).expect("an agent")
    }

    /// The number that the agent has written to a file, once it has.
    fn pid(&self, name: &str) -> i32 {
        let path = self.place.path().join(name);
        let mut pid = None;
        poll::until(name, || {
            let text = fs::read_to_string(&path).unwrap_or_default();
            pid = text.strip_suffix('\n').and_then(|line| line.parse().ok());
            pid.is_some()
        });
        pid.expect("a number")
    }
}

fn start(order: &AgentOrder) -> Result<Agent, AgentError> {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_comail"));
    Agent::start(order, &AgentLauncher::new(program))
}

fn ended(agent: &mut Agent) -> AgentEnd {
    let mut end = None;
    poll::until("the end", || {
        end = agent.ended();
        end.is_some()
    });
    end.expect("an end")
}

/// Whether a process is there and not merely unburied.
fn lives(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" Z"))
    })
}

/// Ignores TERM, as does what it started in a session of its own.
const WEDGED: &str = "trap '' TERM HUP INT
    setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >away; while :; do sleep 60; done' &
    echo $$ >here; while :; do sleep 60; done";

#[test]
fn an_agent_ends_by_itself_with_its_code_its_answer_and_its_log() {
    let desk = Desk::new();
    let mut order = desk.order(
        "read line; echo \"$WHAT\"; echo \"{\\\"said\\\": \\\"$line\\\"}\"; echo no >&2; exit 3",
    );
    order.stdin = Some("the prompt\n".to_owned());
    order.env = vec![("WHAT".into(), "set".into())];
    let end = ended(&mut start(&order).unwrap());
    assert_eq!((end.exit, end.signal), (Some(3), None));
    assert_eq!(end.answer, Some(serde_json::json!({"said": "the prompt"})));
    let log = fs::read_to_string(desk.log()).unwrap();
    assert!(log.contains("set\n") && log.contains("no\n"), "{log}");
    // The environment is inherited, but for what is unset.
    for (unset, seen) in [(false, "<comail>"), (true, "<>")] {
        let desk = Desk::new();
        let mut order = desk.order("echo \"<$CARGO_PKG_NAME>\"");
        order.unset.extend(unset.then(|| "CARGO_PKG_NAME".into()));
        assert_eq!(ended(&mut start(&order).unwrap()).tail, seen);
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let desk = Desk::new();
    let mut order = desk.order("");
    order.argv = vec!["/no/such/agent".into()];
    let wrong = start(&order).unwrap_err().to_string();
    assert!(
        wrong.starts_with("cannot start /no/such/agent: No such file"),
        "{wrong}"
    );
    // A log that somebody put there ends nothing: another is written.
    let wrong = start(&order).unwrap_err();
    assert!(matches!(wrong, AgentError::NotStarted { .. }), "{wrong}");
}

#[test]
fn a_signal_is_no_exit_code() {
    for (script, signal) in [("kill -SEGV $$", 11), ("kill -KILL $$", 9)] {
        let end = ended(&mut Desk::new().start(script));
        assert_eq!((end.exit, end.signal), (None, Some(signal)));
    }
}

#[test]
fn who_hears_the_signal_ends_in_its_own_way() {
    let desk = Desk::new();
    let agent =
        desk.start("trap 'echo bye; exit 4' TERM; echo $$ >here; while :; do sleep 0.01; done");
    desk.pid("here");
    let end = agent.stop(LONG);
    assert_eq!((end.exit, end.signal), (Some(4), None));
    assert_eq!(end.tail, "bye");
}

#[test]
fn who_ignores_it_is_killed_with_what_has_left_its_group() {
    for drops in [false, true] {
        let desk = Desk::new();
        let agent = desk.start(WEDGED);
        let (here, away) = (desk.pid("here"), desk.pid("away"));
        assert!(lives(here) && lives(away));
        if drops {
            drop(agent);
        } else {
            let end = agent.stop(Duration::from_millis(50));
            assert_eq!((end.exit, end.signal), (None, Some(9)));
        }
        assert!(!lives(here) && !lives(away));
    }
}

#[test]
fn what_an_agent_leaves_behind_goes_with_it() {
    let desk = Desk::new();
    let mut agent = desk.start("setsid sh -c 'trap \"\" TERM; echo $$ >away; sleep 60' & until [ -s away ]; do sleep 0.01; done; exit 0");
    let away = desk.pid("away");
    assert_eq!(ended(&mut agent).exit, Some(0));
    assert!(!lives(away));
}

#[test]
fn who_closes_its_output_and_goes_on_has_not_ended() {
    let desk = Desk::new();
    let mut agent = desk.start(
        "echo early; exec >&- 2>&-; echo $$ >here; until [ -e go ]; do sleep 0.01; done; exit 5",
    );
    let here = desk.pid("here");
    assert_eq!(agent.ended(), None);
    assert!(lives(here));
    fs::write(desk.place.path().join("go"), "").unwrap();
    let end = ended(&mut agent);
    assert_eq!((end.exit, end.tail.as_str()), (Some(5), "early"));
}

#[test]
fn a_prompt_that_nobody_reads_holds_nothing_up() {
    let desk = Desk::new();
    let mut order = desk.order("echo done");
    order.stdin = Some("x".repeat(4 << 20));
    assert_eq!(ended(&mut start(&order).unwrap()).exit, Some(0));

    let desk = Desk::new();
    let mut order = desk.order("echo $$ >here; sleep 60");
    order.stdin = Some("x".repeat(4 << 20));
    let agent = start(&order).unwrap();
    desk.pid("here");
    assert_eq!(agent.stop(LONG).signal, Some(15));
}

#[test]
fn two_hundred_megabytes_cost_neither_disk_nor_memory() {
    let desk = Desk::new();
    let mut agent = desk.start("head -c 200000000 /dev/zero | tr '\\0' '\\n'; echo '{\"a\": 1}'");
    let end = ended(&mut agent);
    assert_eq!(end.exit, Some(0));
    assert_eq!(end.answer, Some(serde_json::json!({"a": 1})));
    assert!(end.tail.len() <= 8 << 10);
    assert!(agent.vitals().printed > 200_000_000);
    let log = fs::metadata(desk.log()).unwrap().len();
    assert!((10_000..10_100).contains(&log), "{log}");
}

#[test]
fn what_an_agent_does_is_told_while_it_works() {
    let desk = Desk::new();
    let call = r#"echo '{"type":"tool_call","name":"ls","arguments":{"a":1}}'"#;
    let mut agent = desk.start(&format!("{call}; until [ -e go ]; do sleep 0.01; done"));
    let mut events = Vec::new();
    poll::until("a call", || {
        events.extend(agent.events());
        !events.is_empty()
    });
    assert!(matches!(&events[..], [AgentEvent::ToolCall(_)]));
    assert_eq!(agent.ended(), None);
    assert_eq!(agent.events(), []);
}

#[test]
fn who_works_without_a_word_shows_it_by_its_processor_time() {
    let used = |agent: &mut Agent| agent.vitals().cpu;
    let (idle_desk, desk) = (Desk::new(), Desk::new());
    let mut idle = idle_desk.start("echo $$ >here; exec sleep 60");
    idle_desk.pid("here");
    let before_of_idle = used(&mut idle);
    let mut agent = desk.start("setsid sh -c 'while :; do :; done' & wait");
    let before = used(&mut agent);
    poll::until("work", || {
        used(&mut agent) > before + Duration::from_millis(100)
    });
    assert_eq!(agent.vitals().printed, 0);
    assert!(used(&mut idle) < before_of_idle + Duration::from_millis(50));
}

#[test]
fn a_supervisor_that_is_asked_to_end_takes_all_with_it() {
    let desk = Desk::new();
    let mut agent =
        desk.start(&WEDGED.replace("echo $$ >here", "echo $PPID >above; echo $$ >here"));
    let (above, here, away) = (desk.pid("above"), desk.pid("here"), desk.pid("away"));
    let killed = Command::new("kill")
        .arg(above.to_string())
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(ended(&mut agent).signal, Some(9));
    assert!(!lives(here) && !lives(away));
}

#[test]
fn a_supervisor_that_is_killed_leaves_no_agent() {
    let desk = Desk::new();
    let agent =
        desk.start("echo $PPID >above; trap '' TERM; echo $$ >here; while :; do sleep 60; done");
    let (above, here) = (desk.pid("above"), desk.pid("here"));
    let killed = Command::new("kill")
        .args(["-9", &above.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let end = agent.stop(LONG);
    assert_eq!((end.exit, end.signal), (None, None));
    poll::until("its end", || !lives(here));
}

/// Runs this test's own program once more, to be killed in the middle of driving an agent.
#[test]
fn who_drives_an_agent_and_is_killed_leaves_nothing() {
    const PLACE: &str = "COMAIL_TEST_AGENT_PLACE";
    if let Some(place) = std::env::var_os(PLACE) {
        let desk = Desk::new();
        let mut order = desk.order(WEDGED);
        order.dir = place.into();
        let _agent = start(&order).unwrap();
        thread::sleep(LONG);
        return;
    }
    let desk = Desk::new();
    let mut driver = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "agent_process::who_drives_an_agent_and_is_killed_leaves_nothing",
        ])
        .arg("--nocapture")
        .env(PLACE, desk.place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (here, away) = (desk.pid("here"), desk.pid("away"));
    assert!(lives(here) && lives(away));
    driver.kill().unwrap();
    driver.wait().unwrap();
    poll::until("nothing is left", || !lives(here) && !lives(away));
}

#[test]
fn the_hidden_word_starts_nothing_by_itself() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_comail"))
        .arg("__supervised")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().count();
    assert_eq!((said, child.wait().unwrap().success()), (0, false));
}
