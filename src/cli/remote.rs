//! The thin client: with `COMAIL_SERVER`, calls go to a server, and no session is opened.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use reqwest::{RequestBuilder, Response};
use rmcp::ErrorData;
use rmcp::model::Extensions;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::config::{session_of_args, variable};
use super::context::{Context, kind_in};
use super::exit::{Exit, UsageError, refuse};
use super::output::write_message;
use crate::base::files;
use crate::quest::{QuestKind, email};
use crate::run::detect::submission_of_words;
use crate::serve::{
    Backend, CALL, Call, EXIT_HEADER, Form, KindDocument, NextCall, REPLY, Reply, SpooledCall,
    SpooledReply, SubmitCall, TEXT,
};
use crate::world::client::{authorities, block_on, cause, causes, client, read_body, trusting};
use crate::world::tree::{GatherError, PatchBase};

pub(super) const SERVER_VARIABLE: &str = "COMAIL_SERVER";

pub(super) const TOKEN_VARIABLE: &str = "COMAIL_TOKEN";

/// A PEM file with the certificates of the authority that issued the server's certificate.
const CA_VARIABLE: &str = "COMAIL_SERVER_CA";

/// The directory whose write zones are sent with an answer; by default, the working directory.
pub(super) const TREE_VARIABLE: &str = "COMAIL_TREE";

const MAX_CA_BYTES: u64 = 1 << 20;

/// The directory through which a run answers an agent that may not open its socket.
pub(super) const SPOOL_VARIABLE: &str = "COMAIL_SPOOL";

/// Longer than a judgement may take.
const TIMEOUT: Duration = Duration::from_mins(15);

const MAX_REPLY_BYTES: u64 = 16 << 20;

const START_TIMEOUT: Duration = Duration::from_secs(3);

const PAUSE: Duration = Duration::from_millis(20);

const SPOOL_TIMEOUT: Duration = Duration::from_secs(30);

/// A server and the token for it.
#[derive(Clone)]
pub(super) struct Remote {
    client: reqwest::Client,
    base: Url,
    token: String,
    place: String,
    spool: Option<PathBuf>,
}

/// Why a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unreached {
    NotListening,
    /// Its certificate is for another host, or from an unknown authority.
    Untrusted,
    Other,
}

impl Unreached {
    fn of(error: &reqwest::Error) -> Self {
        let found = causes(error).find_map(|cause| {
            if let Some(rustls::Error::InvalidCertificate(_)) = cause.downcast_ref() {
                return Some(Self::Untrusted);
            }
            let kind = cause.downcast_ref::<io::Error>()?.kind();
            let nobody = [io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound];
            nobody.contains(&kind).then_some(Self::NotListening)
        });
        found.unwrap_or(Self::Other)
    }
}

#[derive(Deserialize)]
struct Failure {
    error: FailureDetails,
}

#[derive(Deserialize)]
struct FailureDetails {
    message: String,
    hint: Option<String>,
}

impl Remote {
    /// The server that the environment names, if it names one.
    pub(super) fn of_environment() -> Result<Option<Self>> {
        let Some(place) = variable(SERVER_VARIABLE) else {
            return Ok(None);
        };
        let place = place.to_string_lossy().into_owned();
        let token = variable(TOKEN_VARIABLE);
        let Some(token) = token.and_then(|token| token.into_string().ok()) else {
            return Err(UsageError(format!(
                "{SERVER_VARIABLE} is set, but not {TOKEN_VARIABLE}"
            ))
            .hint("`comail token new` makes a token for a worker")
            .into());
        };
        let authority = variable(CA_VARIABLE).map(|path| authority(Path::new(&path)));
        let roots = authorities(authority.transpose()?.as_slice())?;
        let client = client(trusting(roots)?).timeout(TIMEOUT);
        let (client, base) = match place.strip_prefix("unix:") {
            Some(path) => (
                client.unix_socket(Path::new(path)),
                "http://localhost/".to_owned(),
            ),
            None => (client, place.clone()),
        };
        let base = Url::parse(&base)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(base) = base else {
            return refuse(format!(
                "{SERVER_VARIABLE} must be unix:PATH, http://HOST:PORT or https://HOST:PORT, not \
                 {place:?}"
            ));
        };
        let local = |url: &Url| match url.host() {
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if base.scheme() == "http" && !local(&base) {
            return refuse(format!(
                "{SERVER_VARIABLE}: plain HTTP would send the token to {place} in the clear; use https"
            ));
        }
        let client = client.build().context("cannot set up HTTP")?;
        Ok(Some(Self {
            client,
            base,
            token,
            place,
            spool: variable(SPOOL_VARIABLE).map(PathBuf::from),
        }))
    }

    async fn send(&self, call: &Call, form: Form) -> Result<Reply> {
        let (path, body) = match call {
            Call::Next(call) => ("v1/next", Some(serde_json::to_vec(call)?)),
            Call::Submit(call) => ("v1/submit", Some(serde_json::to_vec(call)?)),
            Call::Status => ("v1/status", None),
            Call::Claims => ("v1/claims", None),
            Call::Kind => ("v1/kind", None),
            Call::Page => ("", None),
            Call::OpenApi => ("v1/openapi.json", None),
            Call::Metrics => ("metrics", None),
        };
        let accept = match form {
            Form::Json => "application/json".to_owned(),
            Form::Text { colour: false } => TEXT.to_owned(),
            Form::Text { colour: true } => format!("{TEXT};colour"),
        };
        self.request(path, body, &accept).await
    }

    async fn request(&self, path: &str, body: Option<Vec<u8>>, accept: &str) -> Result<Reply> {
        let url = self.base.join(path)?;
        let spooled = self.spool.as_ref().map(|_| body.clone());
        let request = match body {
            Some(body) => self.client.post(url).body(body),
            None => self.client.get(url),
        };
        let request = request.bearer_auth(&self.token).header("accept", accept);
        let place = &self.place;
        let sent = self.sent(request).await;
        if let (Err(error), Some(spool), Some(body)) = (&sent, &self.spool, spooled)
            && error.is_connect()
        {
            return self.spooled(spool, path, body, accept).await;
        }
        let response = sent.map_err(|error| {
            let why = cause(&error);
            if error.is_connect() {
                let remedy = match Unreached::of(&error) {
                    Unreached::NotListening => {
                        "start it with `comail serve`, or set COMAIL_SERVER to what it printed"
                    }
                    Unreached::Untrusted => {
                        "COMAIL_SERVER must name the host of its certificate, and COMAIL_SERVER_CA \
                         the file of an authority that is not public"
                    }
                    Unreached::Other => "check COMAIL_SERVER and the network",
                };
                return anyhow::anyhow!(
                    "cannot reach the server at {place}: {why}; nothing was sent: {remedy}"
                );
            }
            anyhow::anyhow!(
                "the server at {place} did not answer: {why}; whether it recorded this call is \
                 unknown"
            )
        })?;
        let exit = response.headers().get(EXIT_HEADER);
        let exit = exit.and_then(|exit| exit.to_str().ok()?.parse().ok());
        let status = response.status().as_u16();
        let bytes = read_body(response, MAX_REPLY_BYTES).await;
        let Some(bytes) = bytes.context("the reply was cut off")? else {
            bail!("the reply of {place} is longer than 16 MiB");
        };
        Ok(Reply {
            exit: exit.with_context(|| format!("{place} is not a server of comail"))?,
            status,
            body: String::from_utf8(bytes).context("the reply is not UTF-8")?,
        })
    }

    /// Sends a request, and repeats it for a while if no server listens, because the server may be
    /// starting. Without a server, nothing was sent.
    async fn sent(&self, request: RequestBuilder) -> reqwest::Result<Response> {
        let began = Instant::now();
        while self.spool.is_none()
            && began.elapsed() < START_TIMEOUT
            && let Some(again) = request.try_clone()
        {
            match again.send().await {
                Err(error) if Unreached::of(&error) == Unreached::NotListening => {
                    tokio::time::sleep(PAUSE).await;
                }
                ended => return ended,
            }
        }
        request.send().await
    }

    /// The same through files.
    async fn spooled(
        &self,
        spool: &Path,
        path: &str,
        body: Option<Vec<u8>>,
        accept: &str,
    ) -> Result<Reply> {
        let call = SpooledCall {
            token: self.token.clone(),
            path: path.to_owned(),
            accept: accept.to_owned(),
            body: body.map(String::from_utf8).transpose()?,
        };
        let mut name = [0; 16];
        getrandom::fill(&mut name)?;
        let file = |extension| spool.join(format!("{}.{extension}", hex::encode(name)));
        let (new, called, replied) = (file("new"), file(CALL), file(REPLY));
        let failed = || format!("cannot hand the call over in {}", spool.display());
        fs::write(&new, serde_json::to_vec(&call)?).with_context(failed)?;
        fs::rename(&new, &called).with_context(failed)?;
        let began = Instant::now();
        let bytes = loop {
            tokio::time::sleep(PAUSE).await;
            match files::read(&replied, MAX_REPLY_BYTES) {
                Ok(bytes) => break bytes,
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(failed);
                }
                Err(_) => {}
            }
            let waited = began.elapsed();
            if waited > TIMEOUT {
                bail!("the run did not answer in time; nothing is known about this call");
            }
            // A call that the run has not taken can be withdrawn.
            if waited > SPOOL_TIMEOUT && fs::remove_file(&called).is_ok() {
                bail!(
                    "the run takes no call from {}; nothing was submitted",
                    spool.display()
                );
            }
        };
        // A reply that cannot be removed is removed with the directory.
        let _ = fs::remove_file(&replied);
        let reply: SpooledReply = serde_json::from_slice(&bytes)?;
        let exit = reply.exit;
        Ok(Reply {
            exit: exit.with_context(|| format!("{} is not a server of comail", self.place))?,
            status: reply.status,
            body: reply.body,
        })
    }

    /// Carries out a call, and prints the reply of the server.
    pub(super) fn run(&self, context: &mut Context, call: &Call) -> Result<Exit> {
        let form = if context.output.json {
            Form::Json
        } else {
            Form::Text {
                colour: context.output.colour,
            }
        };
        let reply = block_on(self.send(call, form))??;
        let failure = (reply.status >= 400)
            .then(|| serde_json::from_str::<Failure>(&reply.body).ok())
            .flatten();
        match &failure {
            Some(Failure { error }) => {
                write_message("error", &error.message);
                if let Some(hint) = &error.hint {
                    write_message("hint", hint);
                }
                if form == Form::Json {
                    context.output.pass_on(&format!("{}\n", reply.body))?;
                }
            }
            None => context.output.pass_on(&reply.body)?,
        }
        Exit::from_repr(reply.exit).with_context(|| format!("unknown exit code {}", reply.exit))
    }

    /// The output and the exit code of `next`.
    pub(super) fn next(&self) -> Result<(Exit, String)> {
        let form = Form::Text { colour: false };
        let reply = block_on(self.send(&Call::Next(NextCall::default()), form))??;
        let exit = Exit::from_repr(reply.exit);
        Ok((exit.context("unknown exit code")?, reply.body))
    }

    pub(super) fn kind(&self) -> Result<KindDocument> {
        block_on(self.kind_document())?
    }

    async fn kind_document(&self) -> Result<KindDocument> {
        let reply = self.send(&Call::Kind, Form::Json).await?;
        if let Ok(Failure { error }) = serde_json::from_str(&reply.body) {
            bail!(error.message);
        }
        let place = &self.place;
        let kind = serde_json::from_str(&reply.body);
        kind.with_context(|| format!("{place} is not a server of this version of comail"))
    }
}

/// Refuses a command that would use a session found by chance although the environment names a server.
/// `unserved` is true if a server cannot carry out the command and no session is named.
pub(super) fn refuse_with_server(unserved: bool) -> Result<()> {
    if !unserved || variable(SERVER_VARIABLE).is_none() {
        return Ok(());
    }
    Err(UsageError(format!(
        "{SERVER_VARIABLE} is set, and this command does not work through a server: only `next`, \
         `submit`, `status`, `claims` and `mcp` do"
    ))
    .hint(format!(
        "work where the session is, and unset {SERVER_VARIABLE} or name the session with --session"
    ))
    .into())
}

/// The call with the files of the write zones, for a server that asks for them.
pub(super) fn with_files(call: SubmitCall, base: Option<&PatchBase>) -> Result<SubmitCall> {
    let Some(base) = base.filter(|_| call.fields.is_some() && call.tree.is_none()) else {
        return Ok(call);
    };
    let root = variable(TREE_VARIABLE).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let tree = base.gather(&root).map_err(|error| {
        let hint = match error {
            GatherError::Elsewhere(_) => {
                "run this command in the root of the tree, or set COMAIL_TREE to its path"
            }
            _ => "nothing was sent, and no try was used",
        };
        UsageError(error.to_string()).hint(hint)
    })?;
    Ok(SubmitCall {
        tree: Some(tree),
        ..call
    })
}

fn authority(path: &Path) -> Result<String> {
    let text = files::read(path, MAX_CA_BYTES).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    text.with_context(|| format!("{CA_VARIABLE}: cannot read {}", path.display()))
}

/// Reports a command line of `submit` that could not be parsed to the server, so that a run notices an
/// agent that repeats it.
pub(super) fn report_refused(args: &[OsString]) {
    let words = args.iter().skip(1).map(|word| word.to_string_lossy());
    let refused = submission_of_words(&words.collect::<Vec<_>>());
    if let Some(refused) = refused
        && let Ok(Some(remote)) = Remote::of_environment()
    {
        let body = json!({ "refused": refused }).to_string().into_bytes();
        // A report that cannot be sent is not counted.
        let _ = block_on(remote.request("v1/submit", Some(body), "application/json"));
    }
}

/// The quest kind of the session that `args` name, or the built-in one if there is no session.
///
/// `submit` has a flag for each field of the kind, so the kind must be known before clap parses `args`.
pub(super) fn kind_of_args(args: &[OsString]) -> Result<QuestKind> {
    if !args.iter().any(|arg| arg == "submit") {
        return Ok(email::kind());
    }
    match Remote::of_environment()? {
        Some(remote) => remote.kind().map(KindDocument::into_kind),
        None => Ok(kind_in(&session_of_args(args)).unwrap_or_else(email::kind)),
    }
}

/// The tools of `comail mcp`.
impl Backend for Remote {
    async fn call(&self, call: Call, form: Form, _: &Extensions) -> Result<Reply, ErrorData> {
        let call = match call {
            Call::Submit(call) => {
                let kind = self.kind_document().await;
                let sent = kind.and_then(|kind| with_files(call, kind.tree.as_ref()));
                Call::Submit(sent.map_err(|error| failed(&error))?)
            }
            call => call,
        };
        self.send(&call, form).await.map_err(|error| failed(&error))
    }
}

fn failed(error: &anyhow::Error) -> ErrorData {
    ErrorData::internal_error(format!("{error:#}"), None::<Value>)
}
