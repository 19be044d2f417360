//! `comail help`, hints, `comail demo` and `comail prompt`: what they show can be typed as it stands.

use std::path::Path;
use std::{fs, thread};

use serde_json::{Value, json};

use crate::harness::letters::{self, Letters};
use crate::harness::{EmailNet, Place, Run};
use crate::readme::{Command, commands, matches, parted};

/// A list for the quest file that stands in a topic.
const CAPITALS: &str = "country,capital\nJapan,Tokyo\nFrance,Paris\n";

fn topics(place: &Place) -> Vec<String> {
    let (_, index) = place.json(["help"]);
    let topics = index["topics"].as_array().expect("topics");
    let names = topics.iter().map(|it| it["name"].as_str().expect("a name"));
    names.map(str::to_owned).collect()
}

fn text_of(place: &Place, topic: &str) -> String {
    let (code, told) = place.json(["help", topic]);
    assert_eq!(
        (code, &told["status"]),
        (0, &Value::from("topic")),
        "{told}"
    );
    told["text"].as_str().expect("a text").to_owned()
}

#[test]
fn every_command_in_a_topic_prints_what_it_shows() {
    let names = topics(&Place::new());
    assert!(names.len() >= 7, "{names:?}");
    thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| play(name));
        }
    });
}

fn play(topic: &str) {
    let place = Place::new();
    place.run(["demo", "--world", "practice"]).ok();
    let commands = commands(&text_of(&place, topic));
    assert!(!commands.is_empty(), "{topic} shows nothing");
    for Command { script, shown } in commands {
        let (shown, code) = parted(&shown);
        let run = Run::of(place.shell(&script).current_dir(place.at("practice")));
        assert_eq!(run.code, code, "{topic}: {script}: {run:?}");
        assert_eq!(
            run.stderr.is_empty(),
            code > 2 || code == 0,
            "{script}: {run:?}"
        );
        // An error is printed before its JSON.
        let told = run.stderr + &run.stdout;
        assert!(
            matches(shown, &told),
            "{topic}: `{script}` printed\n{told}\nand the topic shows\n{shown}"
        );
    }
}

#[test]
fn the_quest_file_in_the_topic_is_proven_and_scans() {
    let place = Place::new();
    let text = text_of(&place, "quest-files");
    let (_, rest) = text.split_once("```toml\n").expect("a quest file");
    let (file, _) = rest.split_once("```").expect("its end");
    place.write("capitals.toml", file);
    place.write("list.csv", CAPITALS);
    let run = |script: &str| Run::of(&mut place.shell(script));
    run("comail quest check capitals.toml").ok();
    run("comail quest attack capitals.toml").ok();
    run("comail scan list.csv --quest capitals.toml").ok();
    run("comail submit --country Japan --capital Tokyo").ok();
    run("comail submit --country France --capital Tokyo").exits(5);
}

/// Every kind's example, in one quest file with all that they name.
#[test]
fn the_example_of_every_check_reads_well() {
    const HEAD: &str = r#"
name = "all-kinds"
unit = "thing"
[input]
key = ["thing"]
anchor = ["text", "site", "file", "first", "last"]
[tree]
root = "tree"
write = ["new/**"]
[prompt]
text = "{{ key }}"
[example]
key = "a"
"#;
    let place = Place::new();
    let mut file = HEAD.to_owned();
    for field in ["text", "url", "site", "email", "source", "data"] {
        let table = format!("[[field]]\nname = \"{field}\"\nkind = \"text\"\nhelp = \"h\"\n");
        file.push_str(&table);
    }
    let schema = place.run(["quest", "schema"]).ok();
    let schema: Value = serde_json::from_str(&schema).expect("a schema is JSON");
    let kinds = schema["$defs"]["Check"]["oneOf"].as_array();
    for kind in kinds.expect("kinds of checks") {
        let name = kind["title"].as_str().expect("a name");
        let (_, told) = place.json(["help", name]);
        let page = told["text"].as_str().expect("a page");
        let (_, rest) = page.split_once("```toml\n").expect("an example");
        file += rest.split_once("```").expect("its end").0;
        for key in kind["properties"].as_object().expect("keys").keys() {
            let of_all = "name kind level needs means remedy on_fail";
            let is_told = page.lines().any(|line| line.trim() == key);
            let is_of_all = of_all.split(' ').any(|it| it == key);
            assert!(is_told || is_of_all, "{name}: {key}\n{page}");
        }
    }
    fs::create_dir(place.at("tree")).expect("a folder");
    place.write("judge.py", "term,other\na,b\n");
    place.write("all.toml", &file);
    let shell = "git init -q tree && cd tree && git -c user.name=a -c user.email=a@b commit \
                 -q --allow-empty -m a && cd .. && comail quest check all.toml";
    let run = Run::of(&mut place.shell(shell));
    assert!(run.stdout.starts_with("all.toml: valid\n"), "{run:?}");
    // The negative control: a key that is none.
    place.write("all.toml", file.replace("timeout = ", "time_out = "));
    let run = Run::of(&mut place.shell("comail quest check all.toml"));
    run.says("time_out");
}

#[test]
fn the_files_of_a_session_are_those_that_the_topic_names() {
    let place = Place::new();
    let text = text_of(&place, "sessions");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let names = rows.filter_map(|row| row.split(" |").next());
    let told: Vec<&str> = names.filter(|name| *name != "file").collect();
    place.write("companies.csv", "Company\nAcme\n");
    place
        .run(["scan", "companies.csv", "--col", "Company"])
        .ok();
    let web = ["--site=http://192.0.2.1/", "--source=http://192.0.2.1/a"];
    let submit = ["submit", "--id", "1", "--email", "info@acme.co.kr"];
    place.run(submit.iter().chain(&web)).exits(5);
    Run::of(&mut place.shell("comail run --set max-attempts=1 -- true")).exits(8);
    let stop = "echo '{}' | comail hook stop > stopped.json";
    Run::of(&mut place.shell(stop)).ok();
    let there = fs::read_dir(place.at(".comail")).expect("a session");
    let there = there.map(|entry| entry.expect("an entry").file_name());
    let there: Vec<String> = there.map(|it| it.to_string_lossy().into_owned()).collect();
    for name in &there {
        assert!(told.contains(&name.as_str()), "{name} is in no row");
    }
    assert!(there.len() >= 6, "{there:?}");
}

#[test]
fn help_goes_to_commands_first_and_then_to_topics() {
    let place = Place::new();
    for words in [&["help", "scan"][..], &["help", "review", "accept"]] {
        let mut asked: Vec<&str> = words[1..].to_vec();
        asked.push("--help");
        assert_eq!(place.run(words.iter()).ok(), place.run(asked).ok());
    }
    assert_eq!(
        place.run(["help", "email", "gate"]).ok(),
        place.run(["help", "email-gate"]).ok()
    );
    let unknown = place.run(["help", "emial-gate"]);
    assert_eq!(unknown.code, 2);
    unknown.says("did you mean `email-gate`");
    let unknown = place.run(["help", "review", "acept"]);
    unknown.says("did you mean `review accept`");
    let (code, unknown) = place.json(["help", "qqq"]);
    assert_eq!((code, &unknown["error"]["kind"]), (2, &json!("usage")));
    let index = place.run(["help"]).ok();
    let order = [
        "scan", "next", "submit", "run", "status", "list", "show", "review", "recheck",
    ];
    let places = order.map(|name| index.find(&format!("\n  {name} ")).expect(name));
    assert!(places.is_sorted(), "{index}");
    for name in ["submit", "help"]
        .into_iter()
        .chain(topics(&place).iter().map(String::as_str))
    {
        let listed = format!("\n  {name} ");
        assert!(index.contains(&listed), "{index}");
    }
    // The groups are those of `comail --help`.
    let is_title = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
    let titles: Vec<&str> = index.lines().filter(is_title).collect();
    let short = place.run(["--help"]).ok();
    let groups = short.lines().filter(is_title);
    let groups: Vec<&str> = groups.take_while(|it| *it != "Options:").collect();
    assert!(groups.len() >= 4, "{short}");
    assert_eq!(titles, [&groups[..], &["Topics:"]].concat());
    let (_, listed) = index.split_once("Topics:\n").expect("topics");
    let (code, told) = place.json(["help", "topics"]);
    assert_eq!((code, &told["commands"]), (0, &json!([])));
    let listed = format!("Topics:\n{listed}");
    assert_eq!(place.run(["help", "topics"]).ok(), listed);
    let scan = place.run(["scan", "--help"]).ok();
    assert!(scan.contains("\nArguments:\n  [LIST]\n"), "{scan}");
    assert!(
        index.lines().all(|line| line.chars().count() <= 80),
        "{index}"
    );
}

#[test]
fn topics_are_printed_as_they_are_and_commands_in_colour() {
    let place = Place::new();
    let topic = place.run(["--color", "always", "help", "exit-codes"]).ok();
    assert!(topic.starts_with("# Exit codes\n"), "{topic}");
    let command = place.run(["--color", "always", "help", "scan"]).ok();
    assert!(command.contains("\u{1b}["), "{command}");
}

/// What a refused command line is told, exit 2.
#[track_caller]
fn refused(place: &Place, args: &[&str]) -> String {
    let run = place.run(args);
    let told = run.stderr.clone();
    run.exits(2);
    told
}

#[test]
fn what_nobody_types_is_hidden_and_works() {
    let place = Place::new();
    for (list, hidden) in [
        (&["--help"][..], &["prove"][..]),
        (&["help"], &["prove"]),
        (&["hook", "--help"], &["stop", "tool"]),
    ] {
        let text = place.run(list).ok();
        let names: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert!(
            !hidden.iter().any(|name| names.contains(name)),
            "{list:?}: {text}"
        );
    }
    assert!(place.run(["hook", "--help"]).ok().contains("\n  install "));
    assert_eq!(
        place.run(["prove"]).ok(),
        place.run(["quest", "prove"]).ok()
    );
    for name in ["stop", "tool"] {
        place.run(["hook", name]).ok();
        place.run(["help", "hook", name]).ok();
    }
}

#[test]
fn all_that_is_missing_is_named_at_once() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let told = refused(&place, &["submit"]);
    assert!(told.contains("--site, --email, --source missing"), "{told}");
    assert!(told.contains("with --company KEY or --id N"), "{told}");
    let told = refused(&place, &["submit", "--id=1"]);
    assert!(!told.contains("name the quest"), "{told}");
    let told = refused(&place, &["release"]);
    assert!(told.contains("<N|KEY|--worker <NAME>>"), "{told}");
    refused(&place, &["release", "1", "--worker=w1"]);
    for number in ["abc", "0"] {
        let told = refused(&place, &["submit", "--id", number]);
        assert!(
            told.contains("expected the number of a quest, such as 17"),
            "{told}"
        );
    }
}

#[test]
fn commands_that_are_advised_reach_the_same_session() {
    let place = Place::new();
    let two = ["--session", "my two"];
    let run = place.run([&two[..], &["status"]].concat());
    let made = "create one with `comail scan LIST --col COLUMN --session 'my two'`";
    run.says(made);
    for command in ["next", "status", "export", "resume"] {
        let run = place.run([command]);
        assert_eq!(run.code, 1);
        run.says("comail scan");
    }
    place.write("list.txt", "Acme\nBolt\n");
    let scan = [&two[..], &["scan", "list.txt", "--set=scan.pause-after=1"]].concat();
    place.run(scan).ok();
    let told = |args: &[&str], exit| place.run([&two[..], args].concat()).exits(exit);
    for exit in [5, 5, 6] {
        told(&["submit", "--id=1", "--none=x"], exit);
    }
    let resume = "run `comail resume --session 'my two'`";
    for (args, exit) in [
        (&["next"][..], 9),
        (&["submit", "--id=2", "--none=x"], 9),
        (&["status"], 0),
    ] {
        let text = told(args, exit);
        assert!(text.contains(resume), "{text}");
    }
    let (_, status) = place.json([&["status"], &two[..]].concat());
    assert_eq!(
        (&status["paused"], &status["pace"]),
        (&true.into(), &().into())
    );
}

#[test]
fn a_rule_is_explained_by_its_name() {
    let place = Place::new();
    let alone = place.run(["rules", "freemail"]).ok();
    assert!(alone.starts_with("freemail  REVIEW  "), "{alone}");
    assert!(
        alone.contains("to pass:  ") && alone.lines().count() == 2,
        "{alone}"
    );
    let (_, one) = place.json(["rules", "freemail"]);
    assert_eq!(one["rules"].as_array().map(Vec::len), Some(1), "{one}");
    let told = refused(&place, &["rules", "fremail"]);
    assert!(told.contains("did you mean `freemail`?"), "{told}");
}

#[test]
fn demo_shows_a_whole_session() {
    let place = Place::new();
    let run = place.run(["demo"]);
    assert_eq!(run.stderr, "");
    let text = run.ok();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter("read from .*comail-demo", "read from [DIR]/comail-demo");
    settings.add_filter("ledger head [0-9a-f]{64}", "ledger head [HASH]");
    settings.bind(|| insta::assert_snapshot!("demo", text));
}

#[test]
fn demo_leaves_a_workbook_and_a_session_for_the_other_commands() {
    let place = Place::new();
    let (code, played) = place.json(["demo", "--out", "here"]);
    assert_eq!(code, 0);
    let results = fs::read(place.at(played["results"].as_str().unwrap())).unwrap();
    assert!(results.starts_with(b"PK"), "a workbook is a zip archive");
    let commands = played["commands"].as_array().expect("commands").iter();
    let commands: Vec<_> = commands.filter_map(Value::as_str).collect();
    let status = Run::of(&mut place.shell(&commands.join("\n"))).ok();
    assert!(status.starts_with("5 quests, 0 left"), "{status}");
    let again = place.run(["demo", "--out", "here"]);
    again.says("--out");
    assert!(!again.stderr.contains("os error"), "{}", again.stderr);
    assert_eq!(again.code, 1);
    assert_eq!(
        fs::read(place.at("here/results.xlsx")).unwrap(),
        results,
        "nothing is replaced"
    );
}

#[test]
fn demo_ignores_the_session_flag_and_variable() {
    let place = Place::new();
    let mut demo = place.command();
    demo.args(["demo", "--session", "elsewhere"]);
    Run::of(demo.env("COMAIL_SESSION", "elsewhere")).ok();
    assert!(!place.at("elsewhere").exists());
    assert!(place.at("comail-demo/.comail/ledger.jsonl").exists());
    let run = place.run(["demo", "--out", "no/such/demo"]);
    run.says("no/such/demo");
    run.exits(1);
}

#[test]
fn demo_asks_no_host() {
    let place = Place::new();
    let _text = place.run(["demo", "--out=-odd name"]).ok();
    assert!(place.at("-odd name/results.xlsx").exists());
    assert!(
        !place.at("-odd name/.comail/hosts").exists(),
        "a host's turn is noted when it is asked"
    );
}

/// The files of `fixtures/agents`, and the format of each.
const FILES: [(&str, &str); 2] = [("AGENTS.txt", "text"), ("SKILL.md", "skill")];

#[test]
fn the_files_for_agents_are_what_prompt_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents");
    for (name, format) in FILES {
        let printed = Place::new().run(["prompt", "--format", format]).ok();
        let kept = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            kept == printed,
            "fixtures/agents/{name} is not what is printed now; write it anew:\n  cargo run -- \
             prompt --format {format} > fixtures/agents/{name}"
        );
    }
}

#[test]
fn a_skill_says_when_it_is_to_be_used() {
    let text = Place::new().run(["prompt", "--format", "skill"]).ok();
    let mut parts = text.split("---\n").skip(1);
    let head = parts.next().expect("a front matter");
    let [name, description] = head.lines().collect::<Vec<_>>()[..] else {
        panic!("{head}");
    };
    assert_eq!(name, "name: comail");
    let words = description
        .strip_prefix("description: ")
        .expect("a description");
    // What would be YAML's to read.
    assert!(!words.is_empty() && words.len() <= 1024 && !words.contains('#'));
    assert_eq!(words.matches(": ").count(), 0, "{words}");
    let body = Place::new().run(["prompt"]).ok();
    assert_eq!(
        text.split_once("---\n\n").map(|(_, rest)| rest),
        Some(body.as_str())
    );
}

#[test]
fn inside_a_session_its_fields_are_told() {
    let letters = Letters::scanned(letters::LETTERS);
    let text = letters.run(["prompt"]).ok();
    assert!(text.contains("\n    comail submit --id N --"), "{text}");
    let (_, block) = letters.json(["prompt"]);
    let session = &block["session"];
    assert_eq!(session["unit"], "letter");
    assert_eq!(block["text"].as_str(), Some(text.as_str()));
    for name in ["total", "quote"] {
        assert!(text.contains(&format!("\n- {name}: ")), "{name}: {text}");
    }
    let elsewhere = letters.run(["--session", "nowhere", "prompt"]);
    assert_eq!(elsewhere.code, 1, "{elsewhere:?}");
    assert!(Place::new().json(["prompt"]).1.get("session").is_none());
}

/// What an agent gets by doing word for word what it is told.
#[test]
fn the_line_that_is_told_is_taken() {
    let mail = EmailNet::start();
    let (_, block) = mail.place.json(["--session", ".comail", "prompt"]);
    let line = block["session"]["submit"].as_str().expect("a line");
    let expected =
        "comail submit --session .comail --id N --site SITE --email EMAIL --source SOURCE";
    assert_eq!(line, expected);
    let right = mail.right("acme.co.kr");
    let line = line
        .replace("--id N", "--id 1")
        .replace("SITE", &right.site)
        .replace("EMAIL", &right.email)
        .replace("SOURCE", &right.source);
    let run = crate::harness::Run::of(&mut mail.place.shell(&line));
    assert!(run.ok().starts_with("PASS quest 1"));
}
