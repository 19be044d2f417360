//! Defaults in `comail.toml`: for whom they hold, what they may say, and what they never change.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, Place, Run};

/// A place with a directory for the user's configuration, and what it says.
fn with_user(place: &Place, text: &str) -> PathBuf {
    let home = place.at("home");
    fs::create_dir_all(home.join("comail")).expect("a directory");
    fs::write(home.join("comail/config.toml"), text).expect("a file");
    home
}

/// What `config --json` says of a key, for a call with these words.
#[track_caller]
fn in_force(place: &Place, env: &[(&str, &str)], words: &[&str], key: &str) -> (String, Value) {
    let mut command = place.command();
    command
        .env("XDG_CONFIG_HOME", place.at("home"))
        .envs(env.iter().copied());
    let told = Run::of(command.args(["config", "--json"]).args(words)).ok();
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let settings = told["settings"].as_array().expect("settings").clone();
    let found = settings.into_iter().find(|setting| setting["key"] == key);
    let found = found.unwrap_or_else(|| panic!("no {key}: {told:#}"));
    let value = found["values"][0].as_str().unwrap_or_default().to_owned();
    (value, found["from"].clone())
}

#[test]
fn a_flag_counts_before_the_environment_the_project_the_user_and_what_is_built_in() {
    let place = Place::new();
    let colour = |env: &[(&str, &str)], words: &[&str]| {
        let (value, from) = in_force(&place, env, words, "color");
        (
            value,
            from["source"].as_str().unwrap().to_owned(),
            from["of"].clone(),
        )
    };
    let said = |value: &str, source: &str| (value.to_owned(), source.to_owned(), Value::Null);
    assert_eq!(colour(&[], &[]), said("auto", "default"));
    with_user(&place, "color = \"always\"\n");
    assert_eq!(
        colour(&[], &[]),
        ("always".into(), "file".into(), "user".into())
    );
    place.write("comail.toml", "\ncolor = \"never\"\n");
    assert_eq!(
        colour(&[], &[]),
        ("never".into(), "file".into(), "project".into())
    );
    assert_eq!(in_force(&place, &[], &[], "color").1["line"], 2);
    let no_colour = [("NO_COLOR", "1")];
    assert_eq!(colour(&no_colour, &[]), said("never", "environment"));
    assert_eq!(
        colour(&no_colour, &["--color", "always"]),
        said("always", "flag")
    );
    // What the flags say is what is done.
    place.scan(&[ACME], &[]);
    let tinted = |words: &[&str]| {
        place
            .run([&["status"], words].concat())
            .ok()
            .contains('\u{1b}')
    };
    assert!(!tinted(&[]) && tinted(&["--color", "always"]));
    place.write("comail.toml", "color = \"always\"\n");
    assert!(tinted(&[]) && !tinted(&["--color", "never"]));
    let mut plain = place.command();
    assert!(
        !Run::of(plain.arg("status").env("NO_COLOR", "1"))
            .ok()
            .contains('\u{1b}')
    );
}

#[test]
fn the_session_of_the_users_file_holds_for_every_command_which_says_so() {
    let place = Place::new();
    let work = place.at("work").display().to_string();
    // What else it says is for a person's commands alone, and no matter to who judges.
    with_user(&place, &format!("session = {work:?}\n"));
    place.write("companies.txt", ACME);
    let run = |env: &[(&str, &str)], words: &[&str]| {
        let mut command = place.command();
        command.env("XDG_CONFIG_HOME", place.at("home"));
        Run::of(command.envs(env.iter().copied()).args(words))
    };
    let told = format!("note: the session is {work}, by ");
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
        assert!(
            other.stderr.contains("there is no session at none"),
            "{other:?}"
        );
        assert!(!other.stderr.contains("note:"), "{other:?}");
        let flag = run(&[], &[&["--session=none"], judges].concat());
        assert!(
            flag.stderr.contains("there is no session at none"),
            "{flag:?}"
        );
    }
    // A file that does not read tells nobody which session is meant.
    with_user(&place, "session = ");
    run(&[], &["next"]).exits(2);
    run(&[], &["status"]).exits(2);
    with_user(&place, &format!("session = {work:?}\nunheard-of = 1\n"));
    run(&[], &["next"]).ok();
}

#[test]
fn mistakes_are_told_with_file_line_and_the_nearest_name() {
    let place = Place::new();
    for (text, expected) in [
        (
            "\ncolour = \"always\"\n",
            "comail.toml:2:1: unknown key `colour`; did you mean `color`?",
        ),
        (
            "[run]\nagent = \"cloud\"\n",
            "comail.toml:2:1: `run.agent`: invalid value 'cloud'",
        ),
        (
            "[run]\nagent = \"claude\"\nmodel = \"--yolo\"\n",
            "comail.toml:3:1: `run.model`: ",
        ),
        (
            "[run]\nparallel = 99\n",
            "comail.toml:2:1: `run.parallel`: ",
        ),
        (
            "[run]\nparallel = [1, 2]\n",
            "comail.toml:2:1: `run.parallel`: it is one value",
        ),
        (
            "[scan]\nlease = \"soon\"\n",
            "comail.toml:2:1: `scan.lease`: ",
        ),
        (
            "[scan]\nrate = 9\n",
            "comail.toml:2:1: `scan.rate` may stand in the user's",
        ),
        (
            "session = \"work\"\n",
            "comail.toml:1:1: `session` may stand in the user's",
        ),
        ("color\n", "comail.toml:1:"),
    ] {
        place.write("comail.toml", text);
        let run = place.run(["config"]);
        assert!(run.stderr.contains(expected), "{text}: {run:?}");
        assert_eq!(run.exits(2), "");
        // Whoever judges does not so much as look at it.
        assert!(place.run(["next"]).stderr.contains("there is no session"));
        for needs_none in [
            &["config", "--example"][..],
            &["help"],
            &["help", "sessions"],
            &["completions", "bash"],
            &["man"],
            &["schema"],
            &["prompt"],
            &["rules"],
        ] {
            place.run(needs_none).ok();
        }
    }
}

#[test]
fn the_example_is_a_file_that_holds() {
    let place = Place::new();
    let example = place.run(["config", "--example"]).ok();
    let settings: Vec<&str> = example
        .lines()
        .filter_map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            let is_setting = bare
                .split_once(" = ")
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            (is_setting || line.starts_with('[')).then_some(bare)
        })
        .collect();
    with_user(&place, &settings.join("\n"));
    let mut command = place.command();
    let told = command.env("XDG_CONFIG_HOME", place.at("home"));
    let told = Run::of(told.args(["config", "--json"])).ok();
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let settings = told["settings"].as_array().expect("settings");
    assert!(settings.len() >= 25, "{told:#}");
    for setting in settings {
        assert_eq!(setting["from"]["of"], "user", "{setting}");
    }
    // As it is, it says nothing.
    with_user(&place, &example);
    assert_eq!(in_force(&place, &[], &[], "color").1["source"], "default");
    insta::assert_snapshot!("config_example", example);
}

#[test]
fn the_users_file_sets_what_scan_freezes_and_nothing_thereafter() {
    let world = EmailNet::unscanned();
    let place = &world.place;
    let dns = world.net.dns.address();
    let home = with_user(
        place,
        &format!("[scan]\ndns-server = [\"{dns}\"]\nrate = 4\nlease = \"7m\"\npause-after = 9\n"),
    );
    place.write("companies.txt", ACME);
    let scan = |words: &[&str]| {
        let mut command = place.command();
        command
            .env("XDG_CONFIG_HOME", &home)
            .args(["scan", "companies.txt"]);
        Run::of(command.args(words)).ok();
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
    let mut update = place.command();
    let update = update.env("XDG_CONFIG_HOME", &home);
    Run::of(update.args(["scan", "companies.txt", "--update"])).ok();
    assert_eq!(fs::read(place.at(".comail/session.json")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_run_takes_its_agent_of_the_project_and_its_budgets_of_the_user() {
    let place = Place::new();
    place.write("comail.toml", "[run]\nagent = \"claude\"\nmodel = \"m1\"\n");
    let dry = |words: &[&str]| place.run([&["run", "--dry-run"], words].concat());
    let run = dry(&[]);
    assert!(
        run.stderr.contains("comail.toml sets run.agent, run.model"),
        "{run:?}"
    );
    let text = run.ok();
    assert!(
        text.starts_with("claude ") && text.contains("--model m1"),
        "{text}"
    );
    let other = dry(&["--agent=codex"]);
    assert!(
        other.stderr.is_empty() && other.stdout.starts_with("codex "),
        "{other:?}"
    );
    assert!(!other.stdout.contains("m1"), "{other:?}");
    let own = dry(&["--", "my-agent", "{prompt}"]);
    assert!(
        own.stdout.starts_with("my-agent ") && own.stderr.is_empty(),
        "{own:?}"
    );
    place.write("comail.toml", "[run]\nmax-cost = \"1000\"\n");
    dry(&["--agent=codex"]).exits(2);
    // Who wants no such notes gets none.
    place.write("comail.toml", "[run]\nagent = \"claude\"\n");
    assert_eq!(dry(&["-q"]).stderr, "");
}

#[cfg(unix)]
#[test]
fn a_file_that_anybody_may_write_is_left_aside() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    place.scan(&[ACME], &[]);
    let file = place.write("comail.toml", "nonsense = 1\n");
    place.run(["status"]).exits(2);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let run = place.run(["status"]);
    assert!(
        run.stderr
            .contains("is left aside: anybody may write to it"),
        "{run:?}"
    );
    run.ok();
    assert!(place.run(["config"]).ok().contains("left aside"));
}
