//! The user's configuration file: which commands it applies to, and what it never changes.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, Place, Run};

/// A place with a directory for the user's configuration, and what it says.
fn with_user(place: &Place, text: &str) -> PathBuf {
    let home = place.at("home");
    fs::create_dir_all(home.join("comail")).expect("a directory");
    fs::write(home.join("comail/config.toml"), text).expect("a file");
    home
}

/// Runs a command with that configuration and these variables.
fn run(place: &Place, env: &[(&str, &str)], words: &[&str]) -> Run {
    let mut command = place.command();
    command.env("XDG_CONFIG_HOME", place.at("home"));
    Run::of(command.envs(env.iter().copied()).args(words))
}

#[track_caller]
fn settings(place: &Place) -> Value {
    let told = run(place, &[], &["config", "--json"]).ok();
    serde_json::from_str(&told).expect("JSON")
}

#[test]
fn a_flag_takes_precedence_over_the_environment_and_that_over_the_file() {
    let place = Place::new();
    place.scan(&[ACME], &[]);
    let is_tinted = |env: &[(&str, &str)], words: &[&str]| {
        let run = run(&place, env, &[&["status"], words].concat());
        run.ok().contains('\u{1b}')
    };
    assert!(!is_tinted(&[], &[]));
    assert_eq!(settings(&place)["state"], "absent");
    with_user(&place, "color = \"always\"\n");
    // A project has no such file: agents can write there.
    place.write("comail.toml", "color = \"never\"\n");
    let told = settings(&place);
    assert_eq!(
        (&told["state"], &told["settings"]["color"][0]),
        (&"read".into(), &"always".into())
    );
    let no_colour = [("NO_COLOR", "1")];
    assert!(is_tinted(&[], &[]) && !is_tinted(&[], &["--color", "never"]));
    assert!(!is_tinted(&no_colour, &[]));
    assert!(is_tinted(&no_colour, &["--color", "always"]));
}

#[test]
fn the_session_of_the_users_file_holds_for_every_command_which_says_so() {
    let place = Place::new();
    let work = place.at("work").display().to_string();
    // What else it says is for a person's commands alone, and no matter to who judges.
    with_user(&place, &format!("session = {work:?}\n"));
    place.write("companies.txt", ACME);
    let run = |env: &[(&str, &str)], words: &[&str]| run(&place, env, words);
    let told = format!("note: using session {work}, set in ");
    let scanned = run(&[], &["scan", "companies.txt"]);
    assert_eq!(scanned.stderr.matches(&told).count(), 1, "{scanned:?}");
    scanned.ok();
    assert!(place.at("work/session.json").exists());
    for words in [
        &["status"][..],
        &["log"],
        &["insights"],
        &["export", "out.csv"],
        &["report"],
        &["next"],
        &["audit"],
        &["recheck"],
        &["review"],
        &["claims"],
        &["doctor"],
    ] {
        let run = run(&[], words);
        assert_eq!(run.stderr.matches(&told).count(), 1, "{run:?}");
        assert!(
            run.code < 9 && !run.stderr.contains("no session"),
            "{run:?}"
        );
    }
    assert!(
        run(&[], &["next"])
            .ok()
            .contains(&format!("--session {work}"))
    );
    run(&[], &["submit", "--id=1", "--none=x"]).exits(5);
    assert_eq!(run(&[], &["-q", "next"]).stderr, "");
    for words in [&["man"][..], &["completions", "bash"], &["config"]] {
        assert_eq!(run(&[], words).stderr, "", "{words:?}");
    }
    assert!(!place.at(".comail").exists());
    // A variable or a flag counts before it, and nothing is to be said then.
    for judges in [&["next"][..], &["audit"], &["status"]] {
        let other = run(&[("COMAIL_SESSION", "none")], judges);
        other.says("there is no session at none");
        assert!(!other.stderr.contains("note:"), "{other:?}");
        let flag = run(&[], &[&["--session=none"], judges].concat());
        flag.says("there is no session at none");
    }
    // A file that does not read tells nobody which session is meant.
    with_user(&place, "session = ");
    run(&[], &["next"]).exits(2);
    run(&[], &["status"]).exits(2);
    with_user(&place, &format!("session = {work:?}\nunheard-of = 1\n"));
    run(&[], &["next"]).ok();
}

/// Files, and what is said about each.
const MISTAKES: &str = r#"\ncolour = "always"\n => config.toml: unknown key `colour`\nhint: did you mean `color`?
[run]\nagent = "cloud"\n => config.toml: `run.agent`: invalid value 'cloud'
[run]\nagent = "claude"\nmodel = "--yolo"\n => config.toml: `run.model`:
[run]\nparallel = 99\n => config.toml: `run.parallel`:
[run]\nparallel = [1, 2]\n => config.toml: `run.parallel`: the argument
[scan]\nlease = "soon"\n => config.toml: `scan.lease`:
\ncolor\n => config.toml:2:
[run]\nagnet = 1\n => `run.agnet`\nhint: did you mean `run.agent`?
max_tries = 99\n => config.toml: unknown key `max_tries`
[submit]\nid = 1\n => config.toml: unknown key `submit`
color = true\n => config.toml: `color` takes a string
run = 3\n => config.toml: unknown key `run`"#;

#[test]
fn mistakes_name_the_file_the_key_and_the_nearest_key() {
    let place = Place::new();
    place.scan(&[ACME], &[]);
    for mistake in MISTAKES.lines() {
        let mistake = mistake.replace("\\n", "\n");
        let (text, expected) = mistake.split_once(" => ").expect("two parts");
        with_user(&place, text);
        let run = |words: &[&str]| run(&place, &[], words);
        let config = run(&["config"]);
        assert!(config.stderr.contains(expected), "{text}: {config:?}");
        assert_eq!(config.exits(2), "");
        for needs_none in [
            &["config", "--example"][..],
            &["completions", "bash"],
            &["man"],
        ] {
            run(needs_none).ok();
        }
        // Commands of agents read nothing but the session.
        if text.contains('=') {
            run(&["next"]).ok();
        }
    }
}

#[test]
fn the_example_is_a_file_that_holds() {
    let place = Place::new();
    let example = place.run(["config", "--example"]).ok();
    let lines: Vec<&str> = example
        .lines()
        .filter_map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            let is_setting = bare
                .split_once(" = ")
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            (is_setting || line.starts_with('[')).then_some(bare)
        })
        .collect();
    let keys = lines.iter().filter(|line| !line.starts_with('['));
    with_user(&place, &lines.join("\n"));
    let told = settings(&place);
    let known = told["settings"].as_object().expect("settings");
    assert!(known.len() >= 20, "{told:#}");
    assert_eq!(known.len(), keys.count(), "{told:#}");
    // As it is, it says nothing.
    with_user(&place, &example);
    assert_eq!(settings(&place)["settings"], Value::Object(Map::new()));
}

#[test]
fn the_users_file_sets_what_scan_freezes_and_nothing_thereafter() {
    let world = EmailNet::unscanned();
    let place = &world.place;
    let dns = world.net.dns.address();
    with_user(
        place,
        &format!("[scan]\ndns-server = [\"{dns}\"]\nrate = 4\nlease = \"7m\"\npause-after = 9\n"),
    );
    place.write("companies.txt", ACME);
    let scan = |words: &[&str]| {
        run(place, &[], &[&["scan", "companies.txt"], words].concat()).ok();
        let session = place.at(words.get(1).unwrap_or(&".comail"));
        let manifest = fs::read(session.join("session.json")).unwrap();
        serde_json::from_slice::<Value>(&manifest).unwrap()["frozen"].clone()
    };
    let frozen = scan(&[]);
    assert_eq!(frozen["network"]["dns_servers"][0], dns.to_string());
    assert_eq!(frozen["network"]["min_gap_ms"], 250);
    assert_eq!(
        (&frozen["lease"], &frozen["pause_after"]),
        (&420.into(), &9.into())
    );
    let other = scan(&["--session", "other", "--rate", "2"]);
    assert_eq!(other["network"]["min_gap_ms"], 500);
    with_user(place, "[scan]\nrate = 1000\nlease = \"1m\"\n");
    let before = fs::read(place.at(".comail/session.json")).unwrap();
    run(place, &[], &["scan", "companies.txt", "--update"]).ok();
    assert_eq!(fs::read(place.at(".comail/session.json")).unwrap(), before);
}

#[test]
fn a_run_takes_its_agent_and_its_budgets_from_the_file() {
    let place = Place::new();
    let dry = |text: &str, words: &[&str]| {
        with_user(&place, text);
        run(&place, &[], &[&["run", "--dry-run"], words].concat())
    };
    let agent = "[run]\nagent = \"claude\"\nmodel = \"m1\"\n";
    let text = dry(agent, &[]).ok();
    assert!(
        text.starts_with("claude ") && text.contains("--model m1"),
        "{text}"
    );
    let other = dry(agent, &["--agent=codex"]);
    assert!(other.stdout.starts_with("codex "), "{other:?}");
    assert!(!other.stdout.contains("m1"), "{other:?}");
    let own = dry(agent, &["--", "my-agent", "{prompt}"]);
    assert!(own.stdout.starts_with("my-agent "), "{own:?}");
    dry("[run]\nmax-cost = \"much\"\n", &["--agent=codex"]).exits(2);
}

#[test]
fn a_file_that_anyone_can_write_is_ignored() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    place.scan(&[ACME], &[]);
    let home = with_user(&place, "nonsense = 1\n");
    let run = |words: &[&str]| run(&place, &[], words);
    run(&["status"]).exits(2);
    let file = home.join("comail/config.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let status = run(&["status"]);
    status.says("is ignored: anyone can write to it");
    status.ok();
    assert!(run(&["config"]).ok().contains("(ignored)"));
}
