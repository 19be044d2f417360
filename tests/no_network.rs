//! What becomes of an answer where comail itself has no network.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

use comail::world::RecordKind;
use serde_json::{Value, json};

use crate::harness::agents::{PATH, QUICK};
use crate::harness::email_net::{ACME, Submission};
use crate::harness::follower::Follower;
use crate::harness::poll::until;
use crate::harness::served::bearer;
use crate::harness::{EmailNet, Place, Run};
use crate::servers::dns::Answer;
use crate::servers::http::Reply;

/// A way to take the network from comail.
#[derive(Debug, Clone, Copy)]
enum Without {
    /// A network namespace in which no interface is up, as in an agent's sandbox.
    Namespace,
    /// A name server that swallows every question.
    Resolver,
}

const EVERY: [Without; 2] = [Without::Namespace, Without::Resolver];

/// The program without a network, as long as the resolver is silent for the second way.
fn command_without(net: &EmailNet, without: Without) -> Command {
    let mut command = match without {
        Without::Namespace => {
            let probe = Command::new("unshare").args(["-rn", "true"]).status();
            let is_able = probe.is_ok_and(|status| status.success());
            assert!(
                is_able,
                "this test needs network namespaces: `unshare -rn true` fails"
            );
            net.place.shell("exec unshare -rn comail \"$@\"")
        }
        Without::Resolver => net.place.shell("exec comail \"$@\""),
    };
    command.arg("sh");
    command
}

/// Runs the program without a network.
fn run_without(net: &EmailNet, without: Without, args: &[String]) -> Run {
    let mut command = command_without(net, without);
    command.args(args);
    net.net.dns.set_silent(matches!(without, Without::Resolver));
    let run = Run::of(&mut command);
    net.net.dns.set_silent(false);
    run
}

#[track_caller]
fn is_refused(net: &EmailNet, without: Without, args: &[String]) {
    let before = net.place.ledger();
    let run = run_without(net, without, args);
    run.says("error: ");
    run.says("comail has no network here: ");
    run.says("nothing was recorded, and no try was used");
    run.says("hint: allow this command to use the network");
    assert_eq!(run.exits(1), "", "{without:?}");
    assert_eq!(net.place.ledger(), before, "{without:?}");
}

/// The number of tries that quest 1 has used.
fn tries(net: &EmailNet) -> Value {
    let (_, quest) = net.place.json(["next"]);
    quest["try"].clone()
}

#[test]
fn a_submission_without_a_network_is_not_recorded() {
    for without in EVERY {
        let net = EmailNet::start();
        let (right, wrong) = (net.acme(), net.acme().email("sales@acme.co.kr"));
        let before = tries(&net);
        for submission in [&wrong, &right] {
            is_refused(&net, without, &submission.args(1));
        }
        assert_eq!(tries(&net), before);
        // The same answer is judged once there is a network.
        net.expect(1, &right, "PASS", &[]);
        assert_eq!(net.place.attempts(), [(1, 1)]);
    }
}

#[test]
fn a_recheck_without_a_network_is_not_recorded() {
    for without in EVERY {
        let net = EmailNet::start();
        let silent = net.answers(Reply::Reset);
        net.expect(1, &silent, "REVIEW", &["source-unanswered"]);
        net.contact("info@acme.co.kr");
        is_refused(&net, without, &["recheck".to_owned()]);
        let (code, report) = net.place.json(["recheck"]);
        assert_eq!((code, &report["confirmed"]), (0, &1.into()), "{report:#}");
    }
}

#[test]
fn an_unanswered_lookup_that_fails_an_answer_needs_a_network_too() {
    let net = EmailNet::with(&[ACME], &["--set=gate.level=mx-unanswered=fail"]);
    is_refused(&net, Without::Resolver, &net.acme().args(1));
    net.net
        .dns
        .says("acme.co.kr", RecordKind::Mx, Answer::Silence);
    net.expect(1, &net.acme(), "FAIL", &["mx-unanswered"]);
}

#[test]
fn what_needs_no_lookup_is_judged_without_a_network() {
    for without in EVERY {
        let net = EmailNet::start();
        let wrong = net.acme().email("info@elsewhere.co.kr");
        run_without(&net, without, &wrong.args(1)).exits(5);
        let none = ["submit", "--id=1", "--none=looked everywhere"];
        run_without(&net, without, &none.map(str::to_owned)).exits(5);
        assert_eq!(net.place.attempts(), [(1, 1), (1, 2)]);
    }
}

#[test]
fn a_limit_of_open_files_is_no_silence_either() {
    let net = EmailNet::with(&[ACME], &["--max-tries", "99"]);
    let wrong = net.acme().email("nobody@acme.co.kr");
    let mut codes = Vec::new();
    for limit in 6..24 {
        let script = format!("ulimit -n {limit}; exec comail \"$@\"");
        let mut command = net.place.shell(&script);
        let run = Run::of(command.arg("sh").args(wrong.args(1)));
        // With too few, nothing is recorded; with enough, the answer is wrong.
        assert!([1, 5].contains(&run.code), "{limit}: {run:?}");
        codes.push(run.code);
    }
    assert!(codes.contains(&1) && codes.contains(&5), "{codes:?}");
}

/// `comail run` with this script as its agent; the run, and the reason for which it ended.
fn drive(net: &EmailNet, flags: &[&str], script: &str) -> (Run, String) {
    let mut command = net.place.command();
    command.env("PATH", PATH).arg("run").args(QUICK).args(flags);
    let run = Run::of(command.args(["--", "sh", "-c", script]));
    let steps = net.place.events("run");
    let ended = steps.iter().rfind(|step| step["what"] == "ended");
    let reason = ended.unwrap_or_else(|| panic!("{run:?}"))["reason"].clone();
    (run, reason.as_str().expect("a reason").to_owned())
}

#[test]
fn a_run_that_has_no_network_three_times_in_a_row_ends() {
    let net = EmailNet::with(&[ACME], &["--set=network.timeout=2"]);
    let submit = net.acme().args(1).join(" ");
    net.net.dns.set_silent(true);
    let script = format!("cat > prompt; comail {submit} 2> said; echo $? >> codes");
    let (run, reason) = drive(&net, &[], &script);
    assert_eq!((run.code, reason.as_str()), (8, "no-network"), "{run:?}");
    run.says("comail had no network three times in a row: ");
    run.says("hint: check the network, for example with `comail doctor`");
    assert_eq!(net.place.attempts(), []);
    let starts = net.place.events("run").into_iter();
    assert_eq!(starts.filter(|step| step["what"] == "attempt").count(), 3);
    let read = |name| std::fs::read_to_string(net.place.at(name)).expect("a file");
    assert_eq!(read("codes"), "1\n1\n1\n");
    assert!(
        read("said").contains("nothing was recorded"),
        "{}",
        read("said")
    );
    // One start is enough for an agent that goes on.
    let net = EmailNet::with(&[ACME], &["--set=network.timeout=2"]);
    net.net.dns.set_silent(true);
    let script = format!("cat > prompt; while :; do comail {submit}; done");
    let (run, reason) = drive(&net, &[], &script);
    assert_eq!((run.code, reason.as_str()), (8, "no-network"), "{run:?}");
}

#[test]
fn a_run_that_judges_what_agents_print_ends_without_a_network() {
    let net = EmailNet::with(&[ACME], &["--set=network.timeout=2"]);
    let right = net.acme();
    let fields = serde_json::json!({
        "site": right.site, "email": right.email, "source": right.source,
    });
    let script = format!("cat > prompt; echo '{fields}'");
    net.net.dns.set_silent(true);
    let (run, reason) = drive(&net, &["--answer=stdout"], &script);
    net.net.dns.set_silent(false);
    assert_eq!((run.code, reason.as_str()), (8, "no-network"), "{run:?}");
    run.says("comail had no network three times in a row: ");
    assert_eq!(net.place.attempts(), []);
    let (run, reason) = drive(&net, &["--answer=stdout"], &script);
    assert_eq!((run.code, reason.as_str()), (0, "complete"), "{run:?}");
}

/// Negative control: a judged answer between them shows that there is a network.
#[test]
fn a_run_goes_on_where_a_network_comes_back() {
    let net = EmailNet::with(&[ACME], &["--set=network.timeout=2"]);
    let right = net.acme().args(1).join(" ");
    let wrong = net.acme().email("sales@acme.co.kr").args(1).join(" ");
    let script = format!(
        "cat > prompt; echo >> starts; n=$(wc -l < starts)
         while [ ! -e go$n ]; do sleep 0.01; done
         case $n in 3) comail {wrong};; *) comail {right};; esac; :"
    );
    let (run, reason) = thread::scope(|scope| {
        let run = scope.spawn(|| drive(&net, &[], &script));
        for start in 1..=6 {
            let starts = || std::fs::read_to_string(net.place.at("starts"));
            until("a start", || {
                starts().is_ok_and(|lines| lines.len() == start)
            });
            net.net.dns.set_silent(!matches!(start, 3 | 6));
            net.place.write(&format!("go{start}"), "");
        }
        run.join().expect("it ends")
    });
    assert_eq!((run.code, reason.as_str()), (0, "complete"), "{run:?}");
    assert_eq!(net.place.attempts(), [(1, 1), (1, 2)]);
}

/// Negative control: the resolver refuses to tell of the root, which shows that there is a network,
/// and a lookup or a page has no answer.
#[test]
fn a_world_that_does_not_answer_is_a_review_where_there_is_a_network() {
    let judged = |silence: fn(&EmailNet) -> Submission, rule: &str| {
        let net = EmailNet::start();
        let submission = silence(&net);
        net.expect(1, &submission, "REVIEW", &[rule]);
        assert_eq!(net.net.dns.root_asked(), 1, "{rule}");
    };
    judged(
        |net| {
            net.net
                .dns
                .says("acme.co.kr", RecordKind::Mx, Answer::Silence);
            net.acme()
        },
        "mx-unanswered",
    );
    judged(|net| net.answers(Reply::Reset), "source-unanswered");
    // Where everything answers, the root is not asked about.
    let net = EmailNet::start();
    net.expect(1, &net.acme(), "PASS", &[]);
    assert_eq!(net.net.dns.root_asked(), 0);
}

/// What a server on a Unix socket replies to a submission.
fn submitted(socket: &str, token: &str, call: &Value) -> (String, Value) {
    let socket = socket.strip_prefix("unix:").expect("a socket");
    let mut stream = UnixStream::connect(socket).expect("a connection");
    let (authority, call) = (bearer(token), call.to_string());
    let request = format!(
        "POST /v1/submit HTTP/1.1\r\nHost: comail\r\n{authority}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{call}",
        call.len()
    );
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).unwrap_or_default();
    (status.to_owned(), serde_json::from_str(body).expect("JSON"))
}

#[test]
fn a_server_without_a_network_judges_nothing_and_says_so() {
    for without in EVERY {
        let net = EmailNet::start();
        let (_, made) = net.place.json(["token", "new", "--worker=kim"]);
        let token = made["token"].as_str().expect("a token");
        let mut command = command_without(&net, without);
        let server = Follower::of(command.args(["serve", "--json"]));
        let url = server.document()["server"].clone();
        let url = url.as_str().expect("a URL");
        net.net.dns.set_silent(matches!(without, Without::Resolver));
        let before = net.place.ledger();
        let right = net.acme();
        let fields = json!({"site": right.site, "email": right.email, "source": right.source});
        let call = json!({"id": 1, "fields": fields});
        let (status, body) = submitted(url, token, &call);
        assert_eq!(
            (status.as_str(), &body["error"]["kind"]),
            ("503", &json!("no-network"))
        );
        let client = Place::new();
        let submit = |args: &[String]| {
            let mut command = client.command();
            command.env("COMAIL_SERVER", url).env("COMAIL_TOKEN", token);
            Run::of(command.args(args))
        };
        let run = submit(&right.args(1));
        run.says("comail has no network here: ");
        run.says("nothing was recorded, and no try was used");
        assert_eq!(run.exits(1), "", "{without:?}");
        assert_eq!(net.place.ledger(), before, "{without:?}");
        // What needs no lookup is judged, and everything where there is a network again.
        let wrong = net.acme().email("info@elsewhere.co.kr");
        submit(&wrong.args(1)).exits(5);
        net.net.dns.set_silent(false);
        let expected = match without {
            Without::Namespace => "503",
            Without::Resolver => "200",
        };
        assert_eq!(submitted(url, token, &call).0, expected);
    }
}
