//! Whether connections can be made and trusted.

use std::time::Duration;

use url::Url;

use super::{Check, Finding};
use crate::world::fetch::http::{ClientError, Greeted, greet, roots};
use crate::world::fetch::settings::NetworkSettings;
use crate::world::{Silence, Unanswered};

/// How long a greeting may take, from its first question to DNS.
const PATIENCE: Duration = Duration::from_secs(8);

/// What was seen of the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Who was greeted.
    pub url: Url,
    /// How many authorities are trusted.
    pub roots: Result<usize, String>,
    /// What came back; nothing where nobody was to be greeted.
    pub greeted: Option<Result<Greeted, String>>,
}

/// Greets the server of `url`, unless `offline`.
#[must_use]
pub fn look(settings: &NetworkSettings, url: Url, offline: bool) -> Observed {
    let said = |error: ClientError| error.to_string();
    Observed {
        roots: roots(settings),
        greeted: (!offline).then(|| greet(&url, settings, PATIENCE).map_err(said)),
        url,
    }
}

impl Observed {
    /// The date that the server told.
    #[must_use]
    pub fn date(&self) -> Option<&str> {
        match &self.greeted {
            Some(Ok(Greeted::Answered { date, .. })) => date.as_deref(),
            _ => None,
        }
    }
}

/// What is to be said of the web.
#[must_use]
pub fn judge(seen: &Observed) -> Finding {
    let it = Check::Tls;
    let roots = match &seen.roots {
        Ok(0) => return it.trouble("no authority is trusted", "install comail again"),
        Ok(count) => format!("{count} authorities are trusted"),
        Err(why) => {
            let mend = "scan with other --ca-cert, --proxy or --user-agent";
            return it.trouble(format!("no connection can be set up: {why}"), mend);
        }
    };
    let url = &seen.url;
    match &seen.greeted {
        None => it.ok(format!("{roots}; no server was asked")),
        Some(Ok(Greeted::Answered { status, .. })) => {
            it.ok(format!("{roots}; {url} answers ({status})"))
        }
        Some(Ok(Greeted::NoSuchHost)) => it.note(
            format!("{roots}; {url} has no host that could be asked"),
            "name another by --url",
        ),
        Some(Ok(Greeted::Unanswered(why))) => unanswered(&roots, why),
        Some(Err(why)) => it.trouble(why.clone(), "scan with other network flags"),
    }
}

fn unanswered(roots: &str, why: &Unanswered) -> Finding {
    let it = Check::Tls;
    if why.silence == Silence::Tls {
        let mend = "if a proxy of yours opens TLS, `scan --ca-cert FILE` trusts it; else do not \
                    trust this network";
        return it.trouble(format!("no secure connection: {why}"), mend);
    }
    let found = format!("{roots}; no server answers: {why}");
    let mend = "check network and firewall, or name a proxy by `scan --proxy URL`; without any, \
                use --offline here";
    it.note(found, mend)
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn level(roots: Result<usize, String>, greeted: Option<Result<Greeted, String>>) -> Level {
        let url = Url::parse("https://example.com/").unwrap();
        judge(&Observed {
            url,
            roots,
            greeted,
        })
        .level
    }

    #[test]
    fn only_what_cannot_be_trusted_is_trouble() {
        let answered = Greeted::Answered {
            status: 503,
            date: None,
        };
        let silent = |silence| Some(Ok(Greeted::Unanswered(Unanswered::new(silence, "x"))));
        assert_eq!(level(Ok(100), Some(Ok(answered))), Level::Ok);
        assert_eq!(level(Ok(100), None), Level::Ok);
        assert_eq!(level(Ok(0), None), Level::Trouble);
        assert_eq!(level(Err("x".into()), None), Level::Trouble);
        assert_eq!(level(Ok(100), silent(Silence::Tls)), Level::Trouble);
        assert_eq!(level(Ok(100), Some(Err("x".into()))), Level::Trouble);
        for reason in [Silence::Timeout, Silence::Connection, Silence::Dns] {
            assert_eq!(level(Ok(100), silent(reason)), Level::Note);
        }
        assert_eq!(level(Ok(100), Some(Ok(Greeted::NoSuchHost))), Level::Note);
    }
}
