//! A small web of companies on loopback, and a session that sees it as the world.

use serde_json::Value;

use crate::harness::Place;
use crate::servers::TestNet;

/// A company that is as it should be, and a session with it as quest 1.
///
/// Acme Foods lives at `acme.co.kr` and `www.acme.co.kr`; its home page and its contact page
/// show `info@acme.co.kr`, whose domain takes mail. Tests change one thing and look.
pub struct EmailNet {
    /// The servers.
    pub net: TestNet,
    /// The directory, with a session in `.comail`.
    pub place: Place,
}

/// The fields of a submission.
#[derive(Debug, Clone)]
pub struct Submission {
    /// `--site`
    pub site: String,
    /// `--email`
    pub email: String,
    /// `--source`
    pub source: String,
}

/// The key of quest 1.
pub const ACME: &str = "Acme Foods";

impl EmailNet {
    /// The net with a session of one quest.
    pub fn start() -> Self {
        Self::with(&[ACME], &[])
    }

    /// The net with a session of these quests, scanned with these further flags.
    pub fn with(names: &[&str], flags: &[&str]) -> Self {
        let this = Self::unscanned();
        let mut args = this.flags();
        args.extend(flags.iter().map(|flag| (*flag).to_owned()));
        this.place.scan(names, &args);
        this
    }

    /// The net and an empty directory, for tests that scan in their own way.
    pub fn unscanned() -> Self {
        let (net, place) = (TestNet::start(), Place::new());
        let this = Self { net, place };
        this.company("acme.co.kr", ACME);
        this
    }

    /// The net with a session of this CSV, whose columns are `company` and `site`: the
    /// operator's anchor.
    pub fn anchored(rows: &[[&str; 2]]) -> Self {
        let this = Self::unscanned();
        let mut list = "company,site\n".to_owned();
        for row in rows {
            list.push_str(&row.join(","));
            list.push('\n');
        }
        this.place.write("list.csv", list);
        let list = ["scan", "list.csv", "--col", "company", "--site-col", "site"];
        let flags = this.flags();
        this.place
            .run(list.map(str::to_owned).iter().chain(&flags))
            .ok();
        this
    }

    /// The net with a session of these quests that waits long for answers.
    pub fn patient(names: &[&str]) -> Self {
        let this = Self::unscanned();
        let mut flags = this.flags();
        let timeout = flags.iter().position(|flag| flag == "--timeout");
        "20".clone_into(&mut flags[timeout.expect("a timeout") + 1]);
        this.place.scan(names, &flags);
        this
    }

    /// The flags with which a session sees this net as the world: asked without waiting, and
    /// once only, so that what does not answer ends soon.
    pub fn flags(&self) -> Vec<String> {
        let dns = self.net.dns.address().to_string();
        let ca = self.place.write("ca.pem", self.net.authority.pem());
        let ca = ca.display().to_string();
        let flags = [
            ("--dns-server", dns.as_str()),
            ("--allow-net", "127.0.0.1/32"),
            ("--ca-cert", ca.as_str()),
            ("--rate", "1000"),
            ("--timeout", "1"),
            ("--lookup-tries", "1"),
        ];
        let pairs = flags.iter().flat_map(|(name, value)| [*name, *value]);
        pairs.map(str::to_owned).collect()
    }

    /// Sets up a company at `domain` and `www.domain`: home page, contact page, mail.
    pub fn company(&self, domain: &str, name: &str) {
        let www = format!("www.{domain}");
        let mx = format!("mail.{domain}");
        for host in [domain, &www, &mx] {
            self.net.host(host);
        }
        self.net.dns.mx(domain, 10, &mx);
        let page = page(name, &format!("Write to info@{domain}"));
        for host in [domain, &www] {
            self.net.web.page(host, "/", &page);
            self.net.web.page(host, "/contact", &page);
        }
    }

    /// The submission that is right for the company at `domain`.
    pub fn right(&self, domain: &str) -> Submission {
        let www = format!("www.{domain}");
        Submission {
            site: self.net.web.url(&www, "/"),
            email: format!("info@{domain}"),
            source: self.net.web.url(&www, "/contact"),
        }
    }

    /// Submits for quest `id` and returns exit code and JSON document.
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

    /// Submits for quest `id` and expects this verdict and these rules, in alphabetical order.
    #[track_caller]
    pub fn expect(&self, id: u32, submission: &Submission, verdict: &str, fired: &[&str]) {
        let (_, answer) = self.submit(id, submission);
        assert_eq!(answer["verdict"], verdict, "{submission:?}: {answer:#}");
        assert_eq!(rules(&answer), fired, "{submission:?}: {answer:#}");
    }

    /// Puts up a page of the company at `www.acme.co.kr` and returns its URL.
    pub fn put(&self, path: &str, html: &str) -> String {
        self.net.web.page("www.acme.co.kr", path, html);
        self.net.web.url("www.acme.co.kr", path)
    }
}

impl Submission {
    /// The same with another site.
    #[must_use]
    pub fn with_site(&self, site: &str) -> Self {
        let site = site.to_owned();
        Self {
            site,
            ..self.clone()
        }
    }

    /// The same with another address.
    #[must_use]
    pub fn with_email(&self, email: &str) -> Self {
        let email = email.to_owned();
        Self {
            email,
            ..self.clone()
        }
    }

    /// The same with another source.
    #[must_use]
    pub fn with_source(&self, source: &str) -> Self {
        let source = source.to_owned();
        Self {
            source,
            ..self.clone()
        }
    }

    /// The command line that submits it for quest `id`.
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

/// The rules that fired, sorted, each once.
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

/// A page as companies have them: the name in its title, heading and footer.
pub fn page(name: &str, text: &str) -> String {
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><title>{name}</title></head>\
         <body><header><h1>{name}</h1></header><main><p>{text}</p></main>\
         <footer>© 2026 {name}</footer></body></html>"
    )
}
