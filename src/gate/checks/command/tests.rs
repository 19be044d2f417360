//! Commands are run as they are written, and nothing that is submitted is more than a text.

mod ends;

use crate::gate::checks::tests::{Workbench, ran};
use crate::quest::Verdict;
use crate::world::sandbox::{CommandSpec, End, MockSandbox, Network, Started};

const PLAIN: &str = r#"
[[check]]
name = "tests-pass"
kind = "command"
argv = ["pytest", "-q", "{{ field.test }}"]
"#;

fn with(keys: &str) -> Workbench {
    Workbench::new(&format!("{PLAIN}{keys}\n"))
}

fn ordered(bench: &Workbench) -> CommandSpec {
    let mut sandbox = MockSandbox::new();
    let (told, heard) = std::sync::mpsc::channel();
    sandbox
        .expect_service()
        .returning(|_| Started::Listening { port: 4_000 });
    sandbox.expect_run().times(1).returning(move |order| {
        told.send(order.clone()).unwrap();
        ran(End::Exited(0), "")
    });
    assert_eq!(bench.judge(&sandbox).verdict, Verdict::Pass);
    heard.recv().unwrap()
}

fn refused(bench: &Workbench) -> (String, String) {
    let (verdict, fact) = bench.fact(&MockSandbox::new()).unwrap();
    assert_eq!((verdict, fact.rule.as_str()), (Verdict::Fail, "tests-pass"));
    (fact.expected, fact.actual)
}

#[test]
fn everything_about_a_command_is_decided() {
    let bench = with(
        r#"
env = { MODE = "{{ input.file }}" }
pass_env = ["LANG"]
cwd = "{{ input.file | replace('/a.py', '') }}"
stdin = "{{ key }}"
timeout = "2s"
output_cap = "1KiB"
reports = ["report.xml"]
writable = ["/var/cache"]
"#,
    );
    let order = ordered(&bench.field("more-words", "a\n$(b)"));
    assert_eq!(order.name, "tests-pass");
    assert_eq!(order.argv, ["/usr/bin/pytest", "-q", "tests/test_a.py"]);
    let env = order
        .env
        .iter()
        .map(|(name, text)| format!("{name}={text}"));
    assert_eq!(
        env.collect::<Vec<_>>(),
        [
            "COMAIL_FIELD_MORE_WORDS=a\n$(b)",
            "COMAIL_FIELD_TEST=tests/test_a.py",
            "COMAIL_ID=7",
            "COMAIL_INPUT_FILE=src/a.py",
            "COMAIL_INPUT_FIRST=2",
            "COMAIL_INPUT_LAST=3",
            "COMAIL_KEY=shop.total",
            "HOME=/nonexistent",
            "LANG=C",
            "MODE=src/a.py",
            "PATH=/usr/bin:/bin",
            "PYTHONNOUSERSITE=1",
        ]
    );
    assert_eq!(
        (order.dir.as_str(), order.stdin.as_str()),
        ("src", "shop.total")
    );
    assert_eq!((order.timeout_ms, order.output_bytes), (2_000, 1_024));
    assert_eq!(order.reports, ["report.xml"]);
    assert_eq!(order.writable, ["/var/cache"]);
    assert_eq!((order.network, order.round), (Network::None, 0));
}

#[test]
fn a_quest_file_may_give_a_home() {
    let env = r#"env = { HOME = "/srv/{{ key }}", PYTHONNOUSERSITE = "" }"#;
    let order = ordered(&with(env));
    assert_eq!(order.env["HOME"], "/srv/shop.total");
    assert_eq!(order.env["PYTHONNOUSERSITE"], "");
}

#[test]
fn what_is_submitted_is_one_argument_as_it_is() {
    for text in [
        "$(touch x)",
        "a; rm -rf /",
        "a b\n--c",
        "`id`",
        "../../etc/passwd",
        "*",
        "{{ key }}",
    ] {
        let order = ordered(&with("").field("test", text));
        assert_eq!(order.argv, ["/usr/bin/pytest", "-q", text]);
        assert_eq!(order.env["COMAIL_FIELD_TEST"], text);
    }
}

#[test]
fn what_is_submitted_becomes_no_option() {
    for text in ["-x", "--collect-only", "-", "--"] {
        let (expected, actual) = refused(&with("").field("test", text));
        assert_eq!(
            (expected.as_str(), &*actual),
            ("an argument that is no option", text)
        );
    }
    let argv = |argv: &str| {
        Workbench::new(&PLAIN.replace(r#"["pytest", "-q", "{{ field.test }}"]"#, argv))
    };
    let after = argv(r#"["sh", "--", "{{ field.test }}"]"#).field("test", "-x");
    assert_eq!(ordered(&after).argv, ["/usr/bin/sh", "--", "-x"]);
    let joined = argv(r#"["pytest", "-k={{ field.test }}"]"#).field("test", "-x");
    assert_eq!(ordered(&joined).argv[1], "-k=-x");
    // The first `--` hands on to a program that reads options.
    refused(&argv(r#"["cargo", "test", "--", "{{ field.test }}"]"#).field("test", "--list"));
    let twice = argv(r#"["cargo", "test", "--", "--", "{{ field.test }}"]"#);
    assert_eq!(ordered(&twice.field("test", "--list")).argv[4], "--list");
    // These read options after a `--` as well, or hand them on.
    for program in ["pytest", "py.test", "python3", "python3.12", "node", "ruby"] {
        let text = format!(r#"["{program}", "--", "--", "{{{{ field.test }}}}"]"#);
        refused(&argv(&text).field("test", "-x"));
    }
    // A `--` that is made up of values ends nothing.
    let own = argv(r#"["pytest", "{{ input.file }}--", "{{ field.test }}"]"#).cell("file", "");
    refused(&own.field("test", "-x"));
}

#[test]
fn what_is_submitted_names_no_file_of_arguments() {
    let argv = |argv: &str| {
        Workbench::new(&PLAIN.replace(r#"["pytest", "-q", "{{ field.test }}"]"#, argv))
    };
    for before in ["", r#""--", "#] {
        let text = format!(r#"["sh", {before}"{{{{ field.test }}}}"]"#);
        let (expected, actual) = refused(&argv(&text).field("test", "@tests/a"));
        assert_eq!(
            (expected.as_str(), &*actual),
            ("an argument that names no file of arguments", "@tests/a")
        );
    }
    let own = argv(r#"["sh", "@{{ field.test }}", "-k={{ field.test }}"]"#).field("test", "@a");
    assert_eq!(ordered(&own).argv[1..], ["@@a", "-k=@a"]);
}

#[test]
fn what_no_program_can_be_given_is_wrong() {
    for field in ["test", "more-words"] {
        let (verdict, fact) = with("")
            .field(field, "a\0b")
            .fact(&MockSandbox::new())
            .unwrap();
        assert_eq!(
            (verdict, fact.rule.as_str()),
            (Verdict::Fail, "field-format")
        );
    }
    let (_, actual) = refused(&with("").cell("file", "a\0b"));
    assert_eq!(actual, "a text with NUL");
    let (_, actual) = refused(&with("").field("more-words", &"a".repeat(100_001)));
    assert_eq!(actual, "100001 bytes");
    let many = r#"env = { A = "{{ field.test | int }}" }"#;
    assert_eq!(refused(&with(many)).0, "a variable");
    let many = r#"env = { A = "{{ field.test }}", B = "{{ field.test }}", C = "{{ field.test }}", D = "{{ field.test }}" }"#;
    let (expected, _) = refused(&with(many).field("test", &"a".repeat(90_000)));
    assert!(expected.contains("500000 bytes"), "{expected}");
}

#[test]
fn a_command_starts_inside_the_tree() {
    for dir in ["../..", "/etc", "a/../..", ".git"] {
        let bench = with(r#"cwd = "{{ field.test }}""#).field("test", dir);
        let (expected, actual) = refused(&bench);
        assert_eq!(expected, "a directory of the tree");
        assert!(actual.contains(dir), "{actual}");
    }
    let blank = with(r#"cwd = "{{ input.file }}""#).cell("file", "");
    assert_eq!(ordered(&blank).dir, "");
}

#[test]
fn services_are_started_and_reached() {
    let keys = "services = [\"api\"]\nenv = { URL = \"{{ service.api.url }}\" }";
    let order = ordered(&with(keys));
    assert_eq!(order.env["URL"], "http://127.0.0.1:4000");
    assert_eq!(order.network, Network::Loopback { ports: vec![4_000] });
    let mut down = MockSandbox::new();
    down.expect_service()
        .returning(|_| Started::Failed("no port".into()));
    let (verdict, fact) = with(keys).fact(&down).unwrap();
    assert_eq!(
        (verdict, fact.actual.as_str()),
        (Verdict::Review, "no port")
    );
}

#[test]
fn a_mistake_is_told_with_its_place() {
    for (keys, said) in [
        ("exit = []", "nothing would pass"),
        ("unconfirmed_exit = [0]", "passes already"),
        ("retries = 11", "at most 10"),
        ("reports = [\"../r.xml\"]", "not a path inside the tree"),
        ("cwd = \"/etc\"", "relative to the tree"),
        ("stdin = \"{{ field.tset }}\"", "did you mean `field.test`?"),
        ("env = { \"A=B\" = \"\" }", "cannot name a variable"),
        ("env = { COMAIL_KEY = \"\" }", "set by comail"),
        ("pass_env = [\"HOME\"]", "has not frozen the variable"),
        ("writable = [\"tmp\"]", "absolute path"),
        ("writable = [\"/tmp/../etc\"]", "absolute path"),
        ("services = [\"apis\"]", "did you mean `api`?"),
        ("stdin = \"{{ service.api.port }}\"", "unknown variable"),
        ("network = \"loopback\"", "there is none"),
        ("network = \"none\"\nservices = [\"api\"]", "say `loopback`"),
        ("min_passed = 1", "needs `facts`"),
        ("facts = \"lines\"\nmax_skipped = 1", "does not tell"),
        (
            "facts = { adapter = \"junit\", from = \"r.xml\" }",
            "neither stdout",
        ),
        ("facts = \"juni\"", "did you mean `junit`?"),
        ("facts = 1", "the name of a format"),
        (
            "facts = { adapter = \"junit\", form = \"stderr\" }",
            "did you mean `from`?",
        ),
        ("output_cap = \"1MB\"", "expected a size"),
        ("timeout = \"60\"", "expected a length of time"),
        ("tiemout = \"60s\"", "did you mean `timeout`?"),
    ] {
        let mistake = with(keys).mistake();
        assert!(mistake.what.contains(said), "{keys}: {mistake}");
    }
    let argv = |argv: &str| {
        let text = PLAIN.replace(r#"["pytest", "-q", "{{ field.test }}"]"#, argv);
        Workbench::new(&text).mistake().what
    };
    assert!(argv("[]").contains("name a program"));
    assert!(argv(r#"["{{ field.test }}"]"#).contains("the same for every quest"));
    assert!(argv(r#"["nosuch"]"#).contains("has not frozen the program"));
}
