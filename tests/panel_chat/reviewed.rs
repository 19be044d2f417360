//! A quest about a page, and reviewers behind a server who look at what passes.

use serde_json::{Value, json};

use crate::harness::email_net::rules;
use crate::harness::{EmailNet, Run};
use crate::servers::chat::{Asked, ChatServer, Say};
use crate::servers::closed_port;

pub(super) const HOST: &str = "www.morning-post.com";
pub(super) const STORY: &str = "<title>Acme Foods</title><p>Acme Foods was founded in Busan in 1950.</p>\
    <p>It employs four hundred people.</p>";

/// What the plant says, by which a reviewer that reads knows it.
pub(super) const PLANTED: &str = "It was founded on Mars in 1650.";

/// What is submitted.
pub(super) const SUMMARY: &str = "Acme Foods of Busan was founded in 1950.";

/// The quest file, but for its reviewers.
pub(super) const QUEST: &str = r#"
name = "summaries"
unit = "story"
[input]
format = "jsonl"
key = ["story"]
anchor = ["topic"]
[prompt]
text = "Summarise a page on {{ input.topic }} ({{ key }})"
[example]
key = "acme"
summary = "Acme Foods was founded in 1950."
source = "https://www.morning-post.com/story/17"
[[field]]
name = "summary"
kind = "text"
max = 400
help = "what the page says, in short"
[[field]]
name = "source"
kind = "url"
max = 500
help = "the page"
[[check]]
name = "about-it"
kind = "contains"
text = "{{ input.topic }}"
url = "{{ field.source }}"
same_site_as = "morning-post.com"
[[control]]
name = "right"
key = "acme"
input = { topic = "Acme Foods" }
submit = { summary = "It was founded in 1950.", source = "https://www.morning-post.com/story/17" }
verdict = "PASS"
fires = []
world = "world.json"
[[control]]
name = "another page"
key = "acme"
input = { topic = "Bolt" }
submit = { summary = "It was founded in 1950.", source = "https://www.morning-post.com/story/17" }
verdict = "FAIL"
fires = ["about-it"]
world = "world.json"
[[question]]
id = "faithful"
ask = "Does the summary say anything that the page does not say?"
checked = "the sentences that were compared"
[[plant]]
name = "on-mars"
sees = { "submission.summary" = "It was founded on Mars in 1650." }
doubts = ["faithful"]
[[plant]]
name = "as-it-is"
[plant.sees]
"submission.summary" = "It employs four hundred people."
"evidence.source" = "Acme Foods was founded in Busan in 1950. It employs four hundred people."
"#;

/// A session whose reviewers are models of one server.
pub(super) struct Reviewed {
    pub(super) world: EmailNet,
    pub(super) server: ChatServer,
}

/// What came of a submission.
pub(super) struct Verdict {
    pub(super) code: i32,
    pub(super) rules: Vec<String>,
    pub(super) answer: Value,
}

impl Reviewed {
    /// A session with these models, which say what `script` says.
    pub(super) fn by(models: &[&str], script: fn(&Asked) -> Say) -> Self {
        Self::with(models, "", "20s", script)
    }

    /// The same, with further keys for each reviewer and this time for its answers.
    pub(super) fn with(
        models: &[&str],
        keys: &str,
        timeout: &str,
        script: fn(&Asked) -> Say,
    ) -> Self {
        let server = ChatServer::start(script);
        let base_url = |_: &str| server.base_url();
        let world = scanned(models, keys, timeout, base_url, STORY);
        Self { world, server }
    }

    /// Submits the summary.
    #[track_caller]
    pub(super) fn submit(&self) -> Verdict {
        submit(&self.world, &[])
    }

    /// Expects this verdict and these rules, and that an audit judges the same without the server.
    #[track_caller]
    pub(super) fn expect(&self, verdict: &str, fires: &[&str]) -> Value {
        let found = self.submit();
        assert_eq!(found.answer["verdict"], verdict, "{:#}", found.answer);
        assert_eq!(found.rules, fires, "{:#}", found.answer);
        assert_eq!(found.code, 0);
        let asked = self.server.asked().len();
        let (code, report) = self.world.place.json(["audit"]);
        assert_eq!(code, 0, "{report:#}");
        assert_eq!(self.server.asked().len(), asked, "an audit asks nobody");
        found.answer
    }
}

/// A session with these models, each at its base URL, over a site with this page.
pub(super) fn scanned(
    models: &[&str],
    keys: &str,
    timeout: &str,
    base_url: impl Fn(&str) -> String,
    story: &str,
) -> EmailNet {
    let world = EmailNet::unscanned();
    world.net.host(HOST);
    world.net.web.page(HOST, "/story/17", story);
    let place = &world.place;
    let page = json!({"pages": {"https://www.morning-post.com/story/17": {"body": STORY}}});
    place.write("world.json", page.to_string());
    place.write("list.jsonl", r#"{"story": "acme", "topic": "Acme Foods"}"#);
    let reviewers = models.iter().map(|model| {
        let base_url = base_url(model);
        format!(
            "[[reviewer]]\nname = \"{model}\"\nkind = \"chat\"\nmodel = \"{model}\"\n\
             base_url = \"{base_url}\"\ntimeout = \"{timeout}\"\nretries = 1\n\
             sees = [\"submission.summary\", \"evidence.source\"]\n{keys}\n"
        )
    });
    place.write(
        "quest.toml",
        QUEST.to_owned() + &reviewers.collect::<String>(),
    );
    let scan = [
        "scan",
        "list.jsonl",
        "--quest=quest.toml",
        "--pause-after=0",
    ];
    let flags = world.flags();
    let _ = Run::of(place.command().args(scan).args(flags)).ok();
    world
}

/// Submits with these variables, and a proxy at which nothing listens.
#[track_caller]
pub(super) fn submit(world: &EmailNet, variables: &[(&str, &str)]) -> Verdict {
    let source = world.net.web.url(HOST, "/story/17");
    let mut command = world.place.command();
    let proxy = format!("http://{}", closed_port());
    command
        .envs(variables.iter().copied())
        .env("http_proxy", &proxy)
        .env("ALL_PROXY", &proxy)
        .args(["submit", "--json", "--key=acme"])
        .arg(format!("--summary={SUMMARY}"))
        .arg(format!("--source={source}"));
    let run = Run::of(&mut command);
    let mut answer: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("no JSON document ({error}): {run:?}"));
    answer["panel"] = panel(&world.place.ledger());
    Verdict {
        code: run.code,
        rules: rules(&answer),
        answer,
    }
}

/// What the last judgement of a ledger keeps of the reviewers.
pub(super) fn panel(ledger: &[u8]) -> Value {
    let lines = ledger
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let mut lines = lines.map(|line| serde_json::from_slice(line).expect("a line of JSON"));
    let last = lines.rfind(|line: &Value| line["type"] == "attempt");
    let last = last.expect("an attempt");
    last["body"]["judgement"]["panel"].clone()
}

pub(super) fn is_plant(asked: &Asked) -> bool {
    asked.prompt().contains(PLANTED)
}

pub(super) fn answers(doubt: Option<&str>) -> String {
    let answer = match doubt {
        Some(quotation) => json!({"question": "faithful", "doubt": true, "quotation": quotation}),
        None => json!({"question": "faithful", "doubt": false, "checked": "both sentences"}),
    };
    json!({ "answers": [answer] }).to_string()
}

/// A reviewer that reads: it doubts the plant, and nothing else.
pub(super) fn reads(asked: &Asked) -> Say {
    Say::words(answers(
        is_plant(asked).then_some("founded on Mars in 1650"),
    ))
}

/// A reviewer that finds the plant, and does this with the submission.
pub(super) fn finds(asked: &Asked, with_submission: Say) -> Say {
    if is_plant(asked) {
        reads(asked)
    } else {
        with_submission
    }
}

/// What the panel's report says of a reviewer.
#[track_caller]
pub(super) fn report<'v>(answer: &'v Value, name: &str) -> &'v Value {
    let reviewers = answer["panel"]["reviewers"].as_array();
    let reviewers = reviewers.unwrap_or_else(|| panic!("no report: {answer:#}"));
    let found = reviewers.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("nothing of {name}: {answer:#}"))
}
