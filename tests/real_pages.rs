//! A browser and step 5 of the e-mail gate look at the same saved pages: what a reader sees is
//! accepted, and what only the source holds is not.
//!
//! A few pages are made here. With `COMAIL_TEST_PAGES=1`, the pages that `.ci/pages` has brought
//! into `target/pages` are judged too, and the figures are left there. The gate reads the markup;
//! with `COMAIL_TEST_BROWSER=1`, its own browser shows it the pages, which takes much longer.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use comail::base::Digest;
use comail::gate::checks::FileGate;
use comail::gate::checks::outside::Gathered;
use comail::gate::{Case, Gate as _, GateSettings, Judgement};
use comail::quest::file::QuestFile;
use comail::quest::{Fields, Key, Quest, QuestId, Submission, Verdict, email};
use comail::world::browser::{Browser, Resource, ResourceAnswer, Resources};
use comail::world::evidence::recorded::RecordedWorld;
use comail::world::mailbox::Mailbox;
use comail::world::sandbox::{Launcher, NoSandbox};
use comail::world::{Fetched, Fetcher, Rendered, Request, Response, World};
use serde::Deserialize;
use url::Url;

use crate::harness::email_net::{EmailNet, WWW};
use crate::harness::{Run, tools};
use crate::servers::http::Reply;

/// If `1`, the pages in `target/pages` are judged.
const PAGES: &str = "COMAIL_TEST_PAGES";
/// If `1`, a browser shows them to the gate.
const BROWSER: &str = "COMAIL_TEST_BROWSER";

fn say(text: &str) {
    writeln!(io::stderr(), "{text}").ok();
}

fn is_set(flag: &str) -> bool {
    std::env::var_os(flag).is_some_and(|value| value == "1")
}

/// The built-in quest file, and the world of its controls.
const FILE: &str = include_str!("../src/quest/email.toml");
const WORLD: &str = include_str!("../src/gate/email/controls.json");

/// How the rules of steps 1 and 5 begin in a control; the control of a PASS fires none.
const OF_STEPS: &[&str] = &[
    "]",
    "\"collection-refused",
    "\"email-disowned",
    "\"email-format",
    "\"email-hidden",
    "\"email-not-on-source",
    "\"email-obfuscated",
    "\"site-format",
    "\"source-",
];

struct Bounds {
    /// Of a thousand addresses that a reader sees, so many may be refused.
    refused_per_mille: usize,
    /// So many that no reader sees may pass.
    passed: usize,
}

const RENDERED: Bounds = Bounds {
    refused_per_mille: 10,
    passed: 0,
};

/// What markup alone can tell: style sheets and scripts show some addresses and hide others.
const MARKUP: Bounds = Bounds {
    refused_per_mille: 21,
    passed: 2,
};

/// Of a thousand real pages, the browser that looks may fail to open so many: some keep it busy for
/// ever. Nothing is known of their addresses.
const HUNG_PER_MILLE: usize = 3;

/// Rules that leave an address to a person whether or not it is seen: they are counted apart.
const OF_THE_PAGE: &[&str] = &[
    "collection-refused",
    "email-disowned",
    "source-user-content",
];

/// What is said of a page that leaves for another site, as some do when their scripts were not
/// saved: the gate follows, and the browser that looks holds it back.
const OF_ANOTHER_PAGE: &[&str] = &["email-not-on-source", "source-off-site"];

/// Where machines are meant to read: an address that is there alone may pass or not.
const FOR_MACHINES: &[&str] = &["JSON-LD", "microdata", "protected"];

/// What the browser said of one page.
#[derive(Debug, Deserialize)]
struct Told {
    page: usize,
    url: Url,
    #[serde(default)]
    addresses: Vec<Address>,
    failed: Option<String>,
}

#[expect(
    clippy::struct_field_names,
    clippy::struct_excessive_bools,
    reason = "the fields are those that the script prints"
)]
#[derive(Debug, Deserialize)]
struct Address {
    address: String,
    /// It is painted as text.
    text: bool,
    /// It is in a link that can be clicked.
    link: bool,
    /// It is in a link without words, for which a style sheet that was not saved may have drawn an
    /// icon, or on a page without any text.
    unclear: bool,
    /// The page is blank until a script that was not saved shows it.
    blank: bool,
    /// Its pixels are on the screen. A style sheet that was not saved may have drawn what is behind
    /// it.
    painted: bool,
    /// A reader scrolls, points or clicks on a control of the page to see it.
    #[serde(default)]
    opened: bool,
    /// All other places where it is.
    places: Vec<String>,
    around: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Shown,
    /// It cannot be told from what was saved.
    Unclear,
    /// Only where machines are meant to read.
    Machines,
    Source,
}

impl Address {
    fn place(&self, reads: Reads) -> Place {
        if self.blank && reads == Reads::Rendered {
            Place::Unclear
        } else if self.text || self.link {
            // What the page's own control opens counts as visible, but markup opens nothing.
            if self.painted && !(self.opened && reads == Reads::Markup) {
                Place::Shown
            } else {
                Place::Unclear
            }
        } else if self.unclear {
            Place::Unclear
        } else if self
            .places
            .iter()
            .any(|place| FOR_MACHINES.contains(&place.as_str()))
        {
            Place::Machines
        } else {
            Place::Source
        }
    }
}

/// An address of a page, with what the browser and the gate say of it.
#[derive(Debug)]
struct Judged {
    page: usize,
    place: Place,
    address: Address,
    verdict: Verdict,
    rules: Vec<String>,
}

impl Judged {
    fn is_refused(&self) -> bool {
        self.verdict != Verdict::Pass
    }

    fn verdict_and_rules(&self) -> String {
        let words = std::iter::once(self.verdict.to_string()).chain(self.rules.iter().cloned());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether nothing but the page itself speaks against it, or the page was left.
    fn is_left_for_the_page(&self) -> bool {
        let of_the_page = |rule: &String| OF_THE_PAGE.contains(&rule.as_str());
        let is_left = self.rules == OF_ANOTHER_PAGE;
        self.is_refused() && (is_left || self.rules.iter().all(of_the_page))
    }
}

/// One page, and nothing at every other URL.
struct Snapshot<'a> {
    url: &'a Url,
    html: &'a [u8],
    browser: Option<&'a Browser>,
    rendered: OnceCell<Rendered>,
}

/// Nothing that a saved page asks for can be reached, but a picture stands for each picture.
struct Offline;

const PICTURE: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="120" height="30">
<rect width="120" height="30" fill="#777"/></svg>"##;

impl Resources for Offline {
    fn get(&self, url: &Url, _: Duration) -> Resource {
        let extension = Path::new(url.path()).extension().unwrap_or_default();
        if ["gif", "jpg", "jpeg", "png", "svg", "webp"]
            .iter()
            .all(|it| extension != *it)
        {
            return Resource::Unreachable;
        }
        Resource::Answered(ResourceAnswer {
            status: 200,
            headers: vec![("Content-Type".to_owned(), "image/svg+xml".to_owned())],
            body: PICTURE.into(),
        })
    }

    fn may_read(&self, _: &Url) -> bool {
        false
    }
}

impl Fetcher for Snapshot<'_> {
    fn get(&self, request: &Request) -> Fetched {
        let body = if request.url == *self.url {
            self.html
        } else {
            b""
        };
        Fetched::Response(Response {
            status: 200,
            content_type: Some("text/html".to_owned()),
            location: None,
            refresh: None,
            disposition: None,
            body: body.to_vec(),
        })
    }

    fn render(&self, url: &Url, response: &Response) -> Rendered {
        let Some(browser) = self.browser.filter(|_| url == self.url) else {
            return Rendered::Markup;
        };
        let rendered = self
            .rendered
            .get_or_init(|| browser.render(url, response, &Offline));
        rendered.clone()
    }
}

/// What a browser sees of these files, in any order: a line of JSON for each.
fn seen(files: &[PathBuf]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = tempfile::tempdir().expect("a directory");
    let list = home.path().join("list");
    let paths: Vec<&str> = files
        .iter()
        .map(|file| file.to_str().expect("a path in UTF-8"))
        .collect();
    fs::write(&list, paths.join("\n")).expect("a list of pages");
    let mut look = Command::new("node");
    look.arg(root.join("tests/browser/addresses.mjs"));
    Run::of(look.arg(tools::browser()).arg(&list)).ok()
}

/// The same, from the last run where neither the files nor the scripts have changed since: to look
/// at all takes a quarter of an hour.
fn seen_before_or_now(files: &[PathBuf]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scripts =
        ["addresses", "seen", "start"].map(|name| root.join(format!("tests/browser/{name}.mjs")));
    let mut all = String::new();
    for file in scripts.iter().chain(files) {
        let content = fs::read(file).expect("a file");
        let _ = writeln!(all, "{}", Digest::of(&content));
    }
    let place = root
        .join("target/pages")
        .join(format!("{}.jsonl", Digest::of(all.as_bytes())));
    fs::read_to_string(&place).unwrap_or_else(|_| {
        let told = seen(files);
        fs::write(&place, &told).expect("a file of what was seen");
        told
    })
}

fn parsed(told: &str, files: &[PathBuf]) -> Vec<Told> {
    let told: Vec<Told> = told
        .lines()
        .map(|line| serde_json::from_str(line).expect("what was seen, as JSON"))
        .collect();
    assert_eq!(told.len(), files.len(), "a browser looked at every page");
    told
}

/// The built-in quest file with step 5 alone, and step 1, which it needs.
fn step_five() -> String {
    let is_kept = |part: &&str| {
        let names = |word: &str| part.lines().any(|line| line.starts_with(word));
        if part.starts_with("check]]") {
            names("kind = \"email-format\"") || names("kind = \"email-source\"")
        } else if part.starts_with("control]]") {
            let mut rules = OF_STEPS.iter();
            rules.any(|rule| names(&format!("fires = [{rule}")))
        } else {
            true
        }
    };
    let parts: Vec<&str> = FILE.split("\n[[").filter(is_kept).collect();
    parts.join("\n[[")
}

fn gate() -> FileGate {
    let text = step_five();
    let file = QuestFile::parse(&text).expect("a quest file");
    let gate = FileGate::new(&file, &Gathered::default(), GateSettings::default());
    gate.unwrap_or_else(|mistake| panic!("{}", mistake.what))
}

fn judge(gate: &FileGate, page: &Snapshot<'_>, address: &str) -> Judgement {
    let nothing = RecordedWorld::from_json(r#"{"pages": {}}"#).expect("an empty world");
    let quest = Quest::new(
        QuestId::from_index(0).expect("the first"),
        Key::new("a page").expect("not blank"),
    );
    let mut site = page.url.clone();
    site.set_path("/");
    let fields = [
        (email::SITE, site.as_str()),
        (email::EMAIL, address),
        (email::SOURCE, page.url.as_str()),
    ];
    let fields: Fields = fields.map(|(name, text)| (name, text.to_owned())).into();
    let submission = Submission::Fields(fields);
    let world = World {
        fetcher: page,
        resolver: &nothing,
        accepted: &nothing,
        sandbox: &NoSandbox,
    };
    gate.judge(Case::new(&quest, &submission), &world)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Markup,
    Rendered,
}

/// Judges the addresses that a browser found in these files. Malformed ones are left out.
fn judged(files: &[PathBuf], told: &str, reads: Reads) -> Vec<Judged> {
    let start = Instant::now();
    let (told, hung): (Vec<Told>, Vec<Told>) = parsed(told, files)
        .into_iter()
        .partition(|told| told.failed.is_none());
    for Told { page, failed, .. } in &hung {
        say(&format!("note: {}: {failed:?}", files[*page].display()));
    }
    assert!(
        hung.len() * 1_000 <= files.len() * HUNG_PER_MILLE,
        "{} of {} pages cannot be looked at",
        hung.len(),
        files.len()
    );
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut shares: Vec<Vec<Told>> = Vec::new();
    shares.resize_with(threads, Vec::new);
    for (at, told) in told.into_iter().enumerate() {
        shares[at % threads].push(told);
    }
    let all = thread::scope(|scope| {
        let workers = shares
            .into_iter()
            .map(|share| scope.spawn(move || of_share(files, share, reads)));
        let workers: Vec<_> = workers.collect();
        let of_each = workers.into_iter();
        of_each
            .flat_map(|worker| worker.join().expect("a share is judged"))
            .collect()
    });
    say(&format!("note: the gate took {:.0?}", start.elapsed()));
    all
}

fn of_share(files: &[PathBuf], share: Vec<Told>, reads: Reads) -> Vec<Judged> {
    // A gate stays on the thread that made it.
    let gate = gate();
    let browser = (reads == Reads::Rendered).then(|| {
        let launcher = Launcher::new(env!("CARGO_BIN_EXE_comail").into());
        Browser::started_by(launcher, tools::chromium())
    });
    let mut all = Vec::new();
    for Told {
        page,
        url,
        addresses,
        ..
    } in share
    {
        let html = fs::read(&files[page]).expect("a page");
        let snapshot = Snapshot {
            url: &url,
            html: &html,
            browser: browser.as_ref(),
            rendered: OnceCell::new(),
        };
        let addresses = addresses.into_iter();
        for address in addresses.filter(|it| Mailbox::parse(&it.address).is_ok()) {
            let judgement = judge(&gate, &snapshot, &address.address);
            let rules: BTreeSet<String> = judgement
                .facts
                .iter()
                .map(|fact| fact.rule.to_string())
                .collect();
            all.push(Judged {
                page,
                place: address.place(reads),
                address,
                verdict: judgement.verdict,
                rules: rules.into_iter().collect(),
            });
        }
    }
    all
}

/// The pages made here: what each shows and what it only holds is in the names of its addresses.
///
/// `shown-…` and `linked-…` are seen, `opened-…` once they are opened, `held-…` are not, `icon-…`
/// may be, and `told-…` are for machines.
const MADE: [(&str, &str); 2] = [
    (
        "plain",
        "<!doctype html><title>Acme Foods</title>
        <!-- held-comment@acme.co.kr -->
        <p>Write to shown-text@acme.co.kr, shown-parts@<b style='display:none'>no spam</b>acme.co.kr.
        <p><a href='mailto:linked-words%40acme.co.kr?subject=Hello'>mail</a>
        <a href='mailto:linked-image@acme.co.kr'><img src=/mail.png></a>
        <a href='mailto:icon-font@acme.co.kr'><i class=envelope></i></a>
        <p hidden>held-hidden@acme.co.kr
        <p style='display:none'><a href='mailto:held-link@acme.co.kr'>mail</a>
        <p>so&shy;ft <i>shown-s&shy;oft@acme.co.kr</i>
        <form><input value='held-value@acme.co.kr' placeholder='held-hint@acme.co.kr'></form>
        <div data-to='held-data@acme.co.kr'>Seoul</div>
        <details><summary>More</summary>shown-details@acme.co.kr</details>
        <a href='/cdn-cgi/l/email-protection' data-cfemail='52263d3e367f22203d2637312637361233313f377c313d7c3920'>protected</a>",
    ),
    (
        "scripted",
        r#"<!doctype html><title>Acme Foods</title>
        <style>.away { display: none } /* held-style@acme.co.kr */
          li b { display: none } li:hover b { display: block }</style>
        <script type="application/ld+json">
          {"@type": "Organization", "email": "told-machines@acme.co.kr"}
        </script>
        <noscript>held-noscript@acme.co.kr</noscript>
        <p class=away>held-class@acme.co.kr</p>
        <p>Write to shown-beside@acme.co.kr or <span style="visibility: hidden">held-invisible@acme.co.kr</span>
        <template>held-template@acme.co.kr</template>
        <textarea>held-typed@acme.co.kr</textarea>
        <ul><li>Contact <b>opened-menu@acme.co.kr</b></li></ul>
        <button onclick="document.getElementById('more').hidden = false">More</button>
        <p id=more hidden>opened-click@acme.co.kr</p>
        <script>
          var to = "held-script@acme.co.kr", escaped = "held-escaped\u0040acme.co.kr";
        </script>"#,
    ),
];

/// What the name of an address of `MADE` says of it.
fn named(address: &str) -> Place {
    match address.split('-').next() {
        Some("shown" | "linked") => Place::Shown,
        // Markup opens nothing.
        Some("icon" | "opened") => Place::Unclear,
        Some("told") => Place::Machines,
        Some("held") => Place::Source,
        _ => panic!("{address} does not say where it is"),
    }
}

#[test]
fn what_a_reader_sees_is_accepted_and_what_the_source_holds_is_not() {
    let home = tempfile::tempdir().expect("a directory");
    let files = MADE.map(|(name, html)| {
        let file = home.path().join(format!("{name}.html"));
        fs::write(&file, html).expect("a page");
        file
    });
    let made = judged(&files, &seen(&files), Reads::Markup);
    the_browser_sees_what_is_shown(&made);
    the_gate_agrees(&made);
    the_program_says_the_same(&made);

    if is_set(PAGES) {
        real_pages_are_read_as_a_reader_reads_them();
    } else {
        say(&format!(
            "note: no real page was judged; .ci/pages brings some, and {PAGES}=1 asks for it"
        ));
    }
}

/// Every address of the pages made here is found, where its name says.
fn the_browser_sees_what_is_shown(made: &[Judged]) {
    let mut count = BTreeMap::new();
    for Judged { place, address, .. } in made {
        assert_eq!(*place, named(&address.address), "{address:?}");
        assert_eq!(address.link, address.address.starts_with("linked"));
        assert_eq!(address.opened, address.address.starts_with("opened"));
        *count.entry(*place).or_insert(0) += 1;
    }
    let written = |start: &str| {
        let pages = MADE.iter().map(|(_, html)| *html);
        pages.map(|html| html.matches(start).count()).sum::<usize>()
    };
    let shown = written("shown-") + written("linked-");
    assert_eq!(count[&Place::Shown], shown);
    assert_eq!(count[&Place::Source], written("held-"));
    assert_eq!((count[&Place::Unclear], count[&Place::Machines]), (3, 2));
}

fn the_gate_agrees(made: &[Judged]) {
    for judged in made {
        let expected = judged.place == Place::Source || judged.address.opened;
        assert_eq!(judged.is_refused(), expected, "{judged:?}");
    }
}

/// The program over sockets gives the same verdicts as the gate in this process.
fn the_program_says_the_same(made: &[Judged]) {
    let net = EmailNet::unscanned();
    for folder in ["quest", "gate/email"] {
        fs::create_dir_all(net.place.at(folder)).expect("a folder");
    }
    net.place.write("gate/email/controls.json", WORLD);
    net.place.write("quest/pages.toml", step_five());
    let keys: Vec<String> = made.iter().map(|it| it.address.address.clone()).collect();
    net.place.write("pages.txt", keys.join("\n"));
    let mut scan = vec!["scan".to_owned(), "pages.txt".to_owned()];
    scan.push("--quest=quest/pages.toml".to_owned());
    net.place.run(scan.into_iter().chain(net.flags())).ok();
    for (at, (name, html)) in MADE.iter().enumerate() {
        let reply = Reply::html(*html);
        net.net.web.reply(WWW, &format!("/{name}"), reply);
        let of_page = made.iter().enumerate().filter(|(_, it)| it.page == at);
        for (index, judged) in of_page {
            let submission = net.acme().email(&judged.address.address);
            let submission = submission.source(&net.url(&format!("/{name}")));
            let id = u32::try_from(index + 1).expect("a few");
            let rules: Vec<&str> = judged.rules.iter().map(String::as_str).collect();
            net.expect(id, &submission, &judged.verdict.to_string(), &rules);
        }
    }
}

/// The files below `target/pages`, each content once.
fn brought() -> Vec<PathBuf> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pages");
    let mut waiting = vec![pages];
    let mut known = BTreeSet::new();
    let mut files = Vec::new();
    while let Some(folder) = waiting.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|why| {
            panic!("{}: {why}; .ci/pages brings the pages", folder.display())
        });
        let mut entries: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|it| it == "html")
                && known.insert(Digest::of(&fs::read(&path).expect("a page")))
            {
                files.push(path);
            }
        }
    }
    files
}

fn real_pages_are_read_as_a_reader_reads_them() {
    let files = brought();
    assert!(files.len() > 1_000, "only {} pages", files.len());
    let (reads, bounds) = if is_set(BROWSER) {
        (Reads::Rendered, RENDERED)
    } else {
        (Reads::Markup, MARKUP)
    };
    let all = judged(&files, &seen_before_or_now(&files), reads);
    let figures = Figures::of(files.len(), &all);
    let report = figures.report(&files);
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pages/report.txt");
    fs::write(&place, &report).expect("a report");
    say(&report);
    let (refused, shown) = (figures.refused.len(), figures.shown);
    assert!(shown > 500, "only {shown} addresses are shown");
    assert!(
        refused * 1_000 <= shown * bounds.refused_per_mille
            && figures.passed.len() <= bounds.passed,
        "{refused} of {shown} that are shown are refused, and {} that are not shown pass: see {}",
        figures.passed.len(),
        place.display()
    );
}

struct Figures<'a> {
    pages: usize,
    with_addresses: usize,
    shown: usize,
    source: usize,
    /// Those of which it cannot be told, and of them those that pass.
    unclear: (usize, usize),
    /// For machines alone, and of them those that pass.
    machines: (usize, usize),
    /// Seen by a reader, and refused as if not.
    refused: Vec<&'a Judged>,
    /// Seen by a reader, on a page that is itself left to a person.
    left: Vec<&'a Judged>,
    /// Seen by nobody, and passed.
    passed: Vec<&'a Judged>,
}

impl<'a> Figures<'a> {
    fn of(pages: usize, all: &'a [Judged]) -> Self {
        let at = |place: Place| all.iter().filter(move |it| it.place == place);
        let refused = at(Place::Shown).filter(|it| it.is_refused());
        let (left, refused) = refused.partition(|it| it.is_left_for_the_page());
        let with_addresses: BTreeSet<usize> = all.iter().map(|it| it.page).collect();
        let count = |place: Place| {
            let passed = at(place).filter(|it| !it.is_refused());
            (at(place).count(), passed.count())
        };
        Self {
            pages,
            with_addresses: with_addresses.len(),
            shown: at(Place::Shown).count(),
            source: at(Place::Source).count(),
            unclear: count(Place::Unclear),
            machines: count(Place::Machines),
            refused,
            left,
            passed: at(Place::Source).filter(|it| !it.is_refused()).collect(),
        }
    }

    fn report(&self, files: &[PathBuf]) -> String {
        let mut text = format!(
            "{} pages, {} with addresses\n\
             {} addresses are shown: {} of them refused, {} more left to a person for their page\n\
             {} are only in the source: {} of them pass\n\
             {} cannot be told from what was saved, such as links that a style sheet draws: {} of them pass\n\
             {} are for machines alone: {} of them pass\n",
            self.pages,
            self.with_addresses,
            self.shown,
            self.refused.len(),
            self.left.len(),
            self.source,
            self.passed.len(),
            self.unclear.0,
            self.unclear.1,
            self.machines.0,
            self.machines.1,
        );
        for (title, some) in [
            ("Shown, and refused", &self.refused),
            ("Shown, and left to a person for their page", &self.left),
            ("Not shown, and passed", &self.passed),
        ] {
            let _ = writeln!(text, "\n{title}: {}", some.len());
            for it in some {
                let Address {
                    address,
                    text: painted,
                    link,
                    opened,
                    places,
                    around,
                    ..
                } = &it.address;
                let _ = writeln!(
                    text,
                    "- {address} on {}\n    {}, text {painted}, link {link}, opened {opened}, also in {places:?}\n    \
                     {around}",
                    files[it.page].display(),
                    it.verdict_and_rules(),
                );
            }
        }
        text
    }
}
