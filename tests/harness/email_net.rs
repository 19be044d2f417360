//! A small web of companies on loopback, which a session sees as the world.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use super::replayed::{assert_audited, assert_replays};
use crate::harness::Place;
use crate::servers::TestNet;
use crate::servers::http::Reply;

/// An honest company, and a session with it as quest 1.
///
/// Acme Foods is at `acme.co.kr` and `www.acme.co.kr`; its home page and its contact page show
/// `info@acme.co.kr`, whose domain takes mail. A test changes one thing.
///
/// At the end of a test every judgement of the session is made again from its evidence alone,
/// and must equal the recorded one byte for byte; an audit of the session must find nothing.
pub struct EmailNet {
    pub net: TestNet,
    pub place: Place,
    spoiled: AtomicBool,
}

#[derive(Debug, Clone)]
pub struct Submission {
    pub site: String,
    pub email: String,
    pub source: String,
}

pub const ACME: &str = "Acme Foods";

pub const WWW: &str = "www.acme.co.kr";

impl EmailNet {
    pub fn start() -> Self {
        Self::with(&[ACME], &[])
    }

    /// The net with a session of these quests, scanned with these further flags.
    pub fn with(names: &[&str], flags: &[&str]) -> Self {
        let this = Self::unscanned();
        this.place.scan(names, &this.flags_with(flags));
        this
    }

    /// Scans this list with these further flags.
    pub fn scan_csv(&self, csv: &str, flags: &[&str]) {
        self.place.write("companies.csv", csv);
        let flags = self.flags_with(flags);
        let scan = ["scan", "companies.csv"].map(str::to_owned);
        self.place.run(scan.iter().chain(&flags)).ok();
    }

    pub fn unscanned() -> Self {
        let this = Self {
            net: TestNet::start(),
            place: Place::new(),
            spoiled: AtomicBool::new(false),
        };
        this.company("acme.co.kr", ACME);
        this
    }

    /// Resets the servers to their first answers, and forgets the requests.
    pub fn forget_servers(&self) {
        self.net.web.forget();
        self.net.tls.forget();
        self.net.dns.forget();
        self.company("acme.co.kr", ACME);
    }

    /// Judges all of the session again from its evidence, and audits it, unless it was damaged.
    #[track_caller]
    pub fn assert_honest(&self) {
        let session = self.place.at(".comail");
        if !self.spoiled.load(Ordering::Relaxed) && session.join("session.json").exists() {
            assert_replays(&session);
            assert_audited(&session);
        }
    }

    /// Marks the session as damaged on purpose: nothing of it is judged again.
    pub fn spoils(&self) {
        self.spoiled.store(true, Ordering::Relaxed);
    }

    /// The net with a session of this CSV, whose columns are `company` and `site`: the
    /// operator's anchor.
    pub fn anchored(rows: &[[&str; 2]]) -> Self {
        let this = Self::unscanned();
        let header = ["company", "site"];
        let rows = std::iter::once(&header).chain(rows);
        let lines: Vec<String> = rows.map(|row| row.join(",")).collect();
        let columns = ["--col", "company", "--site-col", "site"];
        this.scan_csv(&(lines.join("\n") + "\n"), &columns);
        this
    }

    /// The net with a session of these quests that waits long for answers.
    pub fn patient(names: &[&str]) -> Self {
        Self::with(names, &["--set=network.timeout=20"])
    }

    /// The flags with which a session sees this net as the world: asked without a gap between
    /// two requests, and each question once only.
    pub fn flags(&self) -> Vec<String> {
        let ca = self.place.write("ca.pem", self.net.authority.pem());
        vec![
            format!("--set=network.dns-server={}", self.net.dns.address()),
            "--set=network.allow-net=127.0.0.1/32".to_owned(),
            format!("--set=network.ca-cert={}", ca.display()),
            "--set=network.rate=1000".to_owned(),
            "--set=network.timeout=10".to_owned(),
            "--set=network.lookup-tries=1".to_owned(),
        ]
    }

    /// The flags of this net and these; a setting that is named here takes the place of the net's.
    pub fn flags_with(&self, flags: &[&str]) -> Vec<String> {
        let key = |flag: &str| flag.rsplit_once('=').map(|(key, _)| key.to_owned());
        let mut all = self.flags();
        all.retain(|own| !flags.iter().any(|flag| key(flag) == key(own)));
        all.extend(flags.iter().map(|flag| (*flag).to_owned()));
        all
    }

    /// Sets up a company at `domain` and `www.domain`: home page, contact page, mail.
    pub fn company(&self, domain: &str, name: &str) {
        let www = format!("www.{domain}");
        let mx = format!("mail.{domain}");
        for host in [domain, &www, &mx] {
            self.net.host(host);
        }
        self.net.dns.mx(domain, 10, &mx);
        let text = format!("Write to info@{domain}");
        let home = page(name, CONTACT_LINK);
        for host in [domain, &www] {
            self.net.web.page(host, "/", &home);
            self.net.web.page(host, "/contact", &page(name, &text));
        }
    }

    pub fn right(&self, domain: &str) -> Submission {
        let www = format!("www.{domain}");
        Submission {
            site: self.net.web.url(&www, "/"),
            email: format!("info@{domain}"),
            source: self.net.web.url(&www, "/contact"),
        }
    }

    pub fn acme(&self) -> Submission {
        self.right("acme.co.kr")
    }

    pub fn url(&self, path: &str) -> String {
        self.net.web.url(WWW, path)
    }

    /// Puts this text on Acme's contact page; returns the right submission.
    pub fn contact(&self, html: &str) -> Submission {
        self.answers(Reply::html(page(ACME, html)))
    }

    /// Sets the reply of Acme's contact page; returns the right submission.
    pub fn answers(&self, reply: Reply) -> Submission {
        self.net.web.reply(WWW, "/contact", reply);
        self.acme()
    }

    /// Puts up a page of Acme that shows its address; returns the submission that names it.
    pub fn at(&self, path: &str) -> Submission {
        self.net
            .web
            .page(WWW, path, &page(ACME, "Write to info@acme.co.kr"));
        self.acme().source(&self.url(path))
    }

    /// Puts up a page that Acme's home page links as its contact page; returns its URL.
    pub fn presents(&self, path: &str, html: &str) -> String {
        let link = format!("<a href=\"{}\">Contact</a>", path.replace('&', "&amp;"));
        self.put("/", &page(ACME, &link));
        self.put(path, html)
    }

    pub fn submit(&self, id: u32, submission: &Submission) -> (i32, Value) {
        self.place.json(submission.args(id))
    }

    /// Submits for quest 1 and returns the verdict and the rules that fired, sorted.
    #[track_caller]
    pub fn judge(&self, submission: &Submission) -> (String, Vec<String>) {
        let (_, answer) = self.submit(1, submission);
        let verdict = answer["verdict"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        (verdict.to_owned(), rules(&answer))
    }

    /// Submits for quest 1 and returns verdict and rules as one text: `FAIL mx-null no-reply`.
    #[track_caller]
    pub fn says(&self, submission: &Submission) -> String {
        let (verdict, rules) = self.judge(submission);
        let words = std::iter::once(verdict).chain(rules);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Submits for quest `id` and expects this verdict and these rules, in alphabetical order.
    #[track_caller]
    pub fn expect(&self, id: u32, submission: &Submission, verdict: &str, fired: &[&str]) {
        let (_, answer) = self.submit(id, submission);
        assert_eq!(answer["verdict"], verdict, "{submission:?}: {answer:#}");
        assert_eq!(rules(&answer), fired, "{submission:?}: {answer:#}");
    }

    pub fn put(&self, path: &str, html: &str) -> String {
        self.net.web.page("www.acme.co.kr", path, html);
        self.net.web.url("www.acme.co.kr", path)
    }
}

impl Drop for EmailNet {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.assert_honest();
        }
    }
}

impl Submission {
    pub fn site(mut self, site: &str) -> Self {
        site.clone_into(&mut self.site);
        self
    }

    pub fn email(mut self, email: &str) -> Self {
        email.clone_into(&mut self.email);
        self
    }

    pub fn source(mut self, source: &str) -> Self {
        source.clone_into(&mut self.source);
        self
    }

    pub fn args(&self, id: u32) -> Vec<String> {
        let id = id.to_string();
        let flags = [
            ("--id", id.as_str()),
            ("--site", &self.site),
            ("--email", &self.email),
            ("--source", &self.source),
        ];
        let flags = flags.map(|(name, value)| format!("{name}={value}"));
        std::iter::once("submit".to_owned()).chain(flags).collect()
    }
}

pub fn rules(answer: &Value) -> Vec<String> {
    let facts = answer["facts"].as_array().expect("facts");
    let mut rules: Vec<_> = facts
        .iter()
        .map(|fact| fact["rule"].as_str().expect("a rule").to_owned())
        .collect();
    rules.sort();
    rules.dedup();
    rules
}

/// A page of the first of these companies, and the legal notice that it links to, which names the
/// others as its trading names.
pub fn of_all(names: &[&str], text: &str) -> (String, String) {
    let link = "<br><a href=/legal>Legal notice</a></footer>";
    let first = names[0];
    let names = names.iter();
    let names: Vec<String> = names
        .map(|name| format!("<p>{name} is a trading name of {first}</p>"))
        .collect();
    let notice = format!("<h1>Legal notice</h1>{}", names.concat());
    (page(first, text).replace("</footer>", link), notice)
}

/// The link by which a home page presents its contact page.
pub const CONTACT_LINK: &str = "<a href=/contact>Contact</a>";

/// A usual page of a company, with its name in title, heading and footer.
pub fn page(name: &str, text: &str) -> String {
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><title>{name}</title></head>\
         <body><header><h1>{name}</h1></header><main><p>{text}</p></main>\
         <footer>© 2026 {name}</footer></body></html>"
    )
}
