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
        &["export", "--out=out.csv"],
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
        other.says("no session found at none");
        assert!(!other.stderr.contains("note:"), "{other:?}");
        let flag = run(&[], &[&["--session=none"], judges].concat());
        flag.says("no session found at none");
    }
    // A file that does not read tells nobody which session is meant.
    with_user(&place, "session = ");
    run(&[], &["next"]).exits(2);
    run(&[], &["status"]).exits(2);
    with_user(&place, &format!("session = {work:?}\nunheard-of = 1\n"));
    run(&[], &["next"]).ok();
}

/// Files, and what is said about each.
const MISTAKES: &str = r#"\ncolour = "always"\n => config.toml:2: `colour`: unknown key\nhint: did you mean `color`?
[run]\nagent = "cloud"\n => config.toml:2: `run.agent`: invalid value 'cloud'
[run]\nagent = "claude"\nmodel = "--yolo"\n => config.toml:3: `run.model`:
[run]\nparallel = 99\n => config.toml:2: `run.parallel`:
[run]\nparallel = [1, 2]\n => config.toml:2: `run.parallel`: the argument
[scan]\nlease = "soon"\n => config.toml:2: `scan.lease`: expected a lease
[scan]\nrate = 2\n => config.toml:2: `scan.rate`: unknown key\nhint: did you mean `network.rate`?
[network]\nrobots = "ignor"\n => config.toml:2: `network.robots`: unknown variant `ignor`, expected `obey` or `ignore`
[gate]\n\nlevel = ["freemail=off"]\n => config.toml:3: `gate.level`: the level must be review or fail
[run]\ngrace = "soon"\n => config.toml:2: `run.grace`: expected a length of time
\ncolor\n => config.toml:2:
[run]\nagnet = 1\n => config.toml:2: `run.agnet`: unknown key\nhint: did you mean `run.agent`?
max_tries = 99\n => config.toml:1: `max_tries`: unknown key
[submit]\nid = 1\n => config.toml:1: `submit`: unknown key
color = 1979-05-27\n => config.toml:1: `color`: expected a string
run = 3\n => config.toml:1: `run`: unknown key"#;

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
    assert!(known.len() >= 40, "{told:#}");
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
        &format!(
            "[network]\ndns-server = [\"{dns}\"]\nrate = 4\n[gate]\nrole-only = true\n\
             level = [\"freemail=fail\"]\n[scan]\nlease = \"7m\"\npause-after = 9\n\
             generator-model = \"m\"\nrecheck = true\n"
        ),
    );
    place.write("companies.txt", ACME);
    let scan = |words: &[&str]| {
        run(place, &[], &[&["scan", "companies.txt"], words].concat()).ok();
        let session = place.at(words.get(1).unwrap_or(&".comail"));
        let manifest = fs::read(session.join("session.json")).unwrap();
        serde_json::from_slice::<Value>(&manifest).unwrap()["frozen"].clone()
    };
    let frozen = scan(&[]);
    // What an agent could have written into the file does not go unseen.
    let said = run(place, &[], &["scan", "companies.txt", "--session", "seen"]);
    let keys = "gate.level, gate.role-only, network.dns-server, network.rate, scan.generator-model";
    said.says(&format!("and frozen with the session: {keys}"));
    assert_eq!(frozen["network"]["dns_servers"][0], dns.to_string());
    assert_eq!(frozen["network"]["min_gap_ms"], 250);
    assert_eq!(
        (&frozen["lease"], &frozen["pause_after"]),
        (&420.into(), &9.into())
    );
    assert_eq!(frozen["gate"]["role_only"], true);
    assert_eq!(frozen["gate"]["levels"]["freemail"], "FAIL");
    let level = "--set=gate.level=no-reply=fail";
    let other = scan(&["--session", "other", "--set=network.rate=2", level]);
    assert_eq!(other["network"]["min_gap_ms"], 500);
    assert_eq!(other["gate"]["levels"]["no-reply"], "FAIL");
    assert_eq!(other["gate"]["levels"]["freemail"], Value::Null);
    let network = "[network]\nrate = 1000\nallow-net = [\"10.0.0.0/8\"]\n";
    with_user(place, &format!("{network}[scan]\nlease = \"1m\"\n"));
    let before = fs::read(place.at(".comail/session.json")).unwrap();
    run(place, &[], &["scan", "companies.txt", "--update"]).ok();
    assert_eq!(fs::read(place.at(".comail/session.json")).unwrap(), before);
}

#[test]
fn a_path_in_the_file_is_relative_to_it() {
    let place = Place::new();
    let home = with_user(&place, "[network]\nca-cert = \"own.pem\"\n");
    place.write("companies.txt", ACME);
    place.write("own.pem", "not this one");
    let scan = || run(&place, &[], &["scan", "companies.txt"]);
    let absent = home.join("comail/own.pem").display().to_string();
    scan().says(&absent);
    // A setting of `scan` matters to no other command.
    assert!(!run(&place, &[], &["status"]).stderr.contains("own.pem"));
    with_user(&place, "[run]\nlessons = 99\n");
    scan().ok();
    run(&place, &[], &["run", "--dry-run", "--", "agent"]).exits(2);
}

#[test]
fn a_flag_that_is_a_setting_now_says_how_to_write_it() {
    let place = Place::new();
    let says = |words: &[&str], expected: &str| {
        let run = place.run(words);
        assert!(run.stderr.contains(expected), "{words:?}: {run:?}");
        assert!(!run.stderr.contains("tip:"), "{words:?}: {run:?}");
        run.exits(2);
    };
    let network =
        "hint: write it as --set network.allow-net=VALUE, or set `allow-net` under [network]";
    says(&["scan", "x.csv", "--allow-net", "10.0.0.0/8"], network);
    says(&["scan", "--allow-net=10.0.0.0/8", "x.csv"], network);
    says(&["scan", "--level=a=fail"], "--set gate.level=VALUE");
    says(&["run", "--max-attempts=1"], "--set run.max-attempts=VALUE");
    // Another command has no settings, and a mistyped flag is none.
    for words in [&["next", "--rate=1"][..], &["scan", "--quset=x"]] {
        let run = place.run(words);
        assert!(!run.stderr.contains("--set"), "{run:?}");
        run.exits(2);
    }
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
