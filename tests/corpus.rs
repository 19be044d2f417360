//! A corpus of dishonest and honest answers in eleven languages, each in a small web of its own,
//! and what the gate makes of it over real sockets.
//!
//! `COMAIL_TEST_BROWSER=1` lets a browser decide what a reader sees, and tries what that may change:
//! all honest answers, with anchors, and the dishonest ones that pass without a browser or are about
//! what is seen.

mod data;
mod site;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use data::{Bounds, Case, Corpus, Kind, Known, LANGUAGES, Needs};
use site::Site;

use crate::harness::email_net::{Submission, rules};
use crate::harness::served::Served;
use crate::harness::tools::chromium;
use crate::harness::{EmailNet, Place, Run};

/// How many answers are judged at a time.
const AT_ONCE: usize = 4;

/// How many workers submit them in turn.
const TOKENS: usize = 20;

/// What the gate made of a case.
struct Judged<'a> {
    case: &'a Case,
    verdict: String,
    rules: String,
}

impl Judged<'_> {
    fn is_pass(&self) -> bool {
        self.verdict == "PASS"
    }

    fn line(&self) -> String {
        let Self {
            case,
            verdict,
            rules,
        } = self;
        format!(
            "{:9} {} ({}): {verdict} {rules}\n",
            case.concern, case.name, case.language
        )
    }
}

/// How many cases were judged, and how many of them passed.
#[derive(Default, Clone, Copy)]
struct Share {
    tried: u32,
    passed: u32,
}

impl Share {
    fn of(judged: &[&Judged<'_>]) -> Self {
        judged.iter().fold(Self::default(), |share, judged| Self {
            tried: share.tried + 1,
            passed: share.passed + u32::from(judged.is_pass()),
        })
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.passed) / f64::from(self.tried.max(1))
    }
}

/// How many of the cases passed by a field of theirs, and in all.
fn table(title: &str, judged: &[&Judged<'_>], field: fn(&Case) -> &String) -> String {
    let mut groups: BTreeMap<&str, Vec<&Judged<'_>>> = BTreeMap::new();
    for judged in judged {
        groups.entry(field(judged.case)).or_default().push(judged);
    }
    let groups = groups.iter().map(|(name, group)| (*name, Share::of(group)));
    let mut text = format!("{title}: tried, PASS\n");
    for (name, share) in groups.chain([("all", Share::of(judged))]) {
        let Share { tried, passed } = share;
        let percent = share.percent();
        writeln!(text, "  {name:14} {tried:4} {passed:4}  {percent:5.1} %").expect(WRITABLE);
    }
    text
}

/// Why writing into a text cannot fail.
const WRITABLE: &str = "memory can be written to";

fn has_browser() -> bool {
    env::var_os("COMAIL_TEST_BROWSER").is_some_and(|value| value == "1")
}

#[test]
fn the_corpus_has_cases_of_every_kind_in_every_language() {
    let corpus = Corpus::read();
    let names: BTreeSet<_> = corpus.cases.iter().map(|case| &case.name).collect();
    let domains: BTreeSet<_> = corpus.cases.iter().map(|case| &case.domain).collect();
    assert_eq!(
        names.len(),
        corpus.cases.len(),
        "{:?}",
        doubles(&corpus, |case| &case.name)
    );
    assert_eq!(
        domains.len(),
        corpus.cases.len(),
        "{:?}",
        doubles(&corpus, |case| &case.domain)
    );
    for (kind, least) in [(Kind::Dishonest, 300), (Kind::Honest, 150)] {
        let of_kind: Vec<_> = corpus
            .cases
            .iter()
            .filter(|case| case.kind == kind)
            .collect();
        assert!(of_kind.len() >= least, "{kind:?}: {}", of_kind.len());
        for language in LANGUAGES {
            assert!(
                of_kind.iter().any(|case| case.language == language),
                "{kind:?} {language}"
            );
        }
    }
    for case in &corpus.cases {
        assert!(LANGUAGES.contains(&case.language.as_str()), "{}", case.name);
        assert!(!case.why.is_empty(), "{}", case.name);
    }
}

fn doubles(corpus: &Corpus, field: fn(&Case) -> &String) -> Vec<&String> {
    let mut seen = BTreeSet::new();
    let fields = corpus.cases.iter().map(field);
    fields.filter(|value| !seen.insert(*value)).collect()
}

#[test]
fn dishonest_answers_do_not_pass_and_honest_ones_do() {
    let corpus = Corpus::read();
    // Its own world is not judged here: it lends its servers and the flags that lead to them.
    let net = EmailNet::unscanned();
    let port = net.net.web.address().port();
    let mut submissions = Submissions::new();
    for case in &corpus.cases {
        let site = Site::of(&corpus, case, port);
        submissions.insert(case.name.clone(), site.submission.clone());
        site.put_up(&net.net);
    }
    let is_tried = |case: &&Case| match case.kind {
        _ if !has_browser() => case.kind == Kind::Dishonest || case.needs != Some(Needs::Browser),
        Kind::Honest => true,
        Kind::Dishonest => {
            ["parts", "visibility"].contains(&case.concern.as_str())
                || corpus.known.passing().any(|name| *name == case.name)
        }
    };
    let tried: Vec<&Case> = corpus.cases.iter().filter(is_tried).collect();
    let is_honest = |case: &&&Case| case.kind == Kind::Honest;
    let plain: Vec<&Case> = tried
        .iter()
        .filter(|case| {
            if is_honest(case) {
                !has_browser()
            } else {
                !case.is_anchored
            }
        })
        .copied()
        .collect();
    let anchored: Vec<&Case> = tried
        .iter()
        .filter(|case| is_honest(case) || case.is_anchored)
        .copied()
        .collect();
    let outcome = Outcome {
        plain: judge(&net, &submissions, &plain, Anchors::None),
        anchored: judge(&net, &submissions, &anchored, Anchors::Sites),
    };
    outcome.report();
    let differs = outcome.differs(&corpus.known);
    assert!(differs.is_empty(), "{differs}");
}

#[test]
fn a_wrong_pass_a_stale_name_and_a_low_share_are_told() {
    let case = |name: &str, kind| {
        let text =
            format!("name = '{name}'\nlanguage = 'de'\ncompany = 'c'\ndomain = 'd.de'\nwhy = 'w'");
        let case: Case = toml::from_str(&text).expect("a case");
        Case { kind, ..case }
    };
    let cases = [
        case("new", Kind::Dishonest),
        case("listed", Kind::Dishonest),
        case("refused", Kind::Honest),
    ];
    let judged = |case, verdict: &str| Judged {
        case,
        verdict: verdict.to_owned(),
        rules: String::new(),
    };
    let outcome = Outcome {
        plain: vec![
            judged(&cases[0], "PASS"),
            judged(&cases[1], "PASS"),
            judged(&cases[2], "REVIEW"),
        ],
        anchored: Vec::new(),
    };
    let known = |baseline: &[&str], honest| Known {
        bounds: Bounds {
            honest,
            honest_anchored: 0.0,
        },
        namesakes: BTreeMap::new(),
        markup: BTreeSet::new(),
        baseline: baseline.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(outcome.differs(&known(&["listed", "new"], 0.0)), "");
    assert_eq!(
        outcome.differs(&known(&["listed", "closed"], 50.0)),
        "new passed: it is dishonest\n\
         closed does not pass: strike it from known.toml\n\
         honest without an anchor: 0.0 % pass, of 50 %\n"
    );
}

/// What each case proposes, by its name.
type Submissions = BTreeMap<String, Submission>;

/// What a session's list says of the companies' sites.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchors {
    None,
    Sites,
}

/// Submits these cases to a session of their own.
fn judge<'a>(
    net: &EmailNet,
    submissions: &Submissions,
    cases: &[&'a Case],
    anchors: Anchors,
) -> Vec<Judged<'a>> {
    // A server keeps one browser for all.
    let served = Served::of(scanned(net, cases, anchors), &[]);
    // In turn, so that none calls too often.
    let tokens = (0..TOKENS).map(|at| served.token(&["--worker", &format!("w{at}")]));
    let tokens: Vec<_> = tokens.collect();
    let answers = at_once(cases.len(), |at| {
        let id = u32::try_from(at + 1).expect("few cases");
        let args = submissions[&cases[at].name].args(id);
        let mut command = served.client.command();
        command.env("COMAIL_SERVER", &served.url);
        command.env("COMAIL_TOKEN", &tokens[at % TOKENS]);
        Run::of(command.args(args).arg("--json")).json().1
    });
    let judged = answers.into_iter().zip(cases).map(|(answer, case)| {
        let verdict = answer["verdict"].as_str();
        let verdict = verdict.unwrap_or_else(|| panic!("{}: {answer}", case.name));
        Judged {
            case,
            verdict: verdict.to_owned(),
            rules: rules(&answer).join(" "),
        }
    });
    judged.collect()
}

/// A session of these cases' companies, with their sites as the operator's anchors or without.
fn scanned(net: &EmailNet, cases: &[&Case], anchors: Anchors) -> Place {
    let place = Place::new();
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["company", "site"]).expect(WRITABLE);
    for case in cases {
        let anchor = match &case.anchor {
            _ if anchors == Anchors::None => "",
            Some(anchor) => anchor,
            None => &case.domain,
        };
        csv.write_record([case.company.as_str(), anchor])
            .expect(WRITABLE);
    }
    place.write("companies.csv", csv.into_inner().expect(WRITABLE));
    let mut scan = vec!["scan", "companies.csv", "--col", "company"];
    if anchors == Anchors::Sites {
        scan.extend(["--site-col", "site"]);
    }
    // A streak without a PASS is what the corpus is made of.
    scan.push("--set=scan.pause-after=100000");
    let scan = scan.into_iter().map(str::to_owned);
    let browser = has_browser().then(|| format!("--set=network.browser={}", chromium().display()));
    let scan = scan.chain(browser);
    // A busy machine must not turn an answer into silence.
    let flags = net.flags_with(&["--set=network.timeout=20"]);
    place.run(scan.chain(flags)).ok();
    place
}

/// The results of `work` for 0 to `count`, a few of which are made at a time.
fn at_once<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let result = work(at);
                    let mut done = done.lock().expect("no worker panics with the lock");
                    done.insert(at, result);
                }
            });
        }
    });
    let done = done.into_inner().expect("no worker panics with the lock");
    done.into_values().collect()
}

struct Outcome<'a> {
    /// Judged without an anchor: honest cases, and the dishonest ones about owners.
    plain: Vec<Judged<'a>>,
    anchored: Vec<Judged<'a>>,
}

impl<'a> Outcome<'a> {
    fn dishonest(&self) -> impl Iterator<Item = &Judged<'a>> {
        let all = self.plain.iter().chain(&self.anchored);
        all.filter(|it| it.case.kind == Kind::Dishonest)
    }

    /// The honest cases without an anchor, and those with one.
    fn honest(&self) -> [Vec<&Judged<'a>>; 2] {
        [&self.plain, &self.anchored].map(|all| {
            let honest = all.iter().filter(|it| it.case.kind == Kind::Honest);
            honest.collect()
        })
    }

    /// Prints the figures, and writes them with every case to a file.
    fn report(&self) {
        let dishonest: Vec<_> = self.dishonest().collect();
        let [plain, anchored] = self.honest();
        let mut text = String::new();
        for (title, judged) in [
            ("dishonest", &dishonest),
            ("honest without an anchor", &plain),
            ("honest with an anchor", &anchored),
        ] {
            text.push_str(&table(&format!("{title}, by concern"), judged, |case| {
                &case.concern
            }));
            text.push_str(&table(&format!("{title}, by language"), judged, |case| {
                &case.language
            }));
        }
        let figures = text.clone();
        let is_pass = |it: &&&Judged<'_>| it.is_pass();
        let is_no_pass = |it: &&&Judged<'_>| !it.is_pass();
        for (title, judged) in [
            (
                "dishonest that passed",
                dishonest.iter().filter(is_pass).collect::<Vec<_>>(),
            ),
            (
                "honest that did not pass without an anchor",
                plain.iter().filter(is_no_pass).collect(),
            ),
            (
                "honest that did not pass with an anchor",
                anchored.iter().filter(is_no_pass).collect(),
            ),
            (
                "dishonest that did not pass",
                dishonest.iter().filter(is_no_pass).collect(),
            ),
        ] {
            writeln!(text, "\n{title}").expect(WRITABLE);
            text.extend(judged.iter().map(|judged| judged.line()));
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus.txt");
        fs::write(&path, text).expect("a file in the target directory");
        let figures = format!("{figures}every case: {}\n", path.display());
        io::stderr().write_all(figures.as_bytes()).ok();
    }

    /// What differs from what is known, a line each.
    fn differs(&self, known: &Known) -> String {
        let is_expected = |name: &&String| !(has_browser() && known.markup.contains(*name));
        let expected: BTreeSet<&String> = known.passing().filter(is_expected).collect();
        let passed: BTreeSet<&String> = self
            .dishonest()
            .filter(|it| it.is_pass())
            .map(|it| &it.case.name)
            .collect();
        let mut wrong = String::new();
        for name in passed.difference(&expected) {
            writeln!(wrong, "{name} passed: it is dishonest").expect(WRITABLE);
        }
        for name in expected.difference(&passed) {
            writeln!(wrong, "{name} does not pass: strike it from known.toml").expect(WRITABLE);
        }
        let [plain, anchored] = self.honest().map(|all| Share::of(&all));
        for (what, share, bound) in [
            ("without an anchor", plain, known.bounds.honest),
            ("with an anchor", anchored, known.bounds.honest_anchored),
        ] {
            let percent = share.percent();
            if percent < bound && share.tried > 0 {
                writeln!(wrong, "honest {what}: {percent:.1} % pass, of {bound} %")
                    .expect(WRITABLE);
            }
        }
        wrong
    }
}
