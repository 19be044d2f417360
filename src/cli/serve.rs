//! `comail serve`: a judge that agents can only talk to.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use clap::Args;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use signal_hook::consts::SIGTERM;
use signal_hook::flag;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::context::{self, Context, Reaching};
use super::exit::{ErrorKind, ErrorReply, Exit, UsageError, of_error, refuse};
use super::openapi::openapi;
use super::output::Output;
use super::report::live_page;
use super::settings::Settings;
use super::{claims, next, progress, status, submit};
use crate::base::files;
use crate::judge::{self, AnswerFiles, CallKey, Claimant, JudgeContext, Worktree};
use crate::quest::{QuestId, fields_of};
use crate::serve::{
    self, Bounds, Call, Desk, ErrorDocument, Form, Grant, Hosts, KindDocument, Listener,
    MAX_BODY_BYTES_WITH_FILES, NextCall, Reply, Scheme, Server, SessionFigures, SubmitCall,
    TokenStore, recorder,
};
use crate::session::{self, EvidenceStore, Session, State, Worker};
use crate::world::fetch::live::SharedWorld;

/// Judge the answers of agents that can only talk to this process
///
/// Agents call `comail next`, `submit` and `status` with `COMAIL_SERVER` and `COMAIL_TOKEN`, or use
/// HTTP (`/v1/next`, `/v1/submit`, `/v1/status`) or MCP (`/mcp`, or `comail mcp`). They need no
/// access to the session, and the gate uses the network and the programs of this process. `comail
/// token new` makes tokens. By default, the server listens on the socket `serve.sock` in the
/// session, which only you can open.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Listen on this TCP address instead, such as 127.0.0.1:8017
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    listen: Option<SocketAddr>,

    /// The certificate chain for HTTPS, in PEM
    #[arg(long, value_name = "FILE", requires = "listen", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key for HTTPS, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Use plain HTTP on an address that is not loopback, because a proxy in front of it uses HTTPS
    #[arg(long, requires = "listen", conflicts_with = "tls_cert")]
    behind_proxy: bool,

    /// Also answer requests for this host name (repeatable); without a port, it is the one of --listen
    ///
    /// Without --host, the server answers only requests that name its address. 0.0.0.0 and [::] are the
    /// address of no host, so they need it.
    #[arg(long, value_name = "NAME[:PORT]", requires = "listen")]
    host: Vec<String>,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let address = text.parse();
    address.map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8017 or [::1]:8017")
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Serving {
    /// The value for `COMAIL_SERVER`.
    server: String,
}

const SOCKET: &str = "serve.sock";

const URL: &str = "serve.url";

const MAX_URL_BYTES: u64 = 4096;

/// The size of `sun_path` in `sockaddr_un`, with the zero byte at its end.
const MAX_SOCKET_PATH: usize = 108;

// Pages nest deeply, and parsing them recurses.
const STACK: usize = 8 * 1024 * 1024;

pub(super) fn run(context: &mut Context, args: &ServeArgs) -> Result<Exit> {
    progress::handle_ctrl_c();
    // A session that cannot be opened should fail now, not at the first call.
    let session = context.open_session()?;
    let has_tree = JudgeContext::of(&session)?.has_tree();
    drop(session);
    runtime()?.block_on(async {
        let Listening {
            listener,
            hosts,
            url,
        } = listen(context, args).await?;
        let desk = Arc::new(SessionDesk {
            dir: context.dir.clone(),
            reaching: Reaching::default(),
            files: ZoneFiles::Received,
            network: SharedWorld::default(),
        });
        let tokens = Arc::new(TokenStore::of(&context.dir));
        let mut bounds = Bounds::default();
        if has_tree {
            bounds.body_bytes = MAX_BODY_BYTES_WITH_FILES;
        }
        let server = Server::new(desk, tokens, hosts, bounds);
        let serving = Serving { server: url };
        let announced = Announced::write(context.dir.join(URL), &serving.server)?;
        context.output.show(&serving, |out, it| {
            out.line(format!("serving at {}", it.server));
        })?;
        let ended = tokio::select! {
            () = serve::serve(&listener, serve::router(&server)) => Ok(Exit::Done),
            asked = until_asked() => asked.map(|()| Exit::Interrupted),
        };
        drop(announced);
        ended
    })
}

/// The threads of a server.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .context("cannot start the server")
}

/// Ends at Ctrl-C, and when a service manager ends the server.
async fn until_asked() -> Result<()> {
    let ended = Arc::new(AtomicBool::new(false));
    flag::register(SIGTERM, Arc::clone(&ended)).context("cannot handle signals")?;
    let poll = std::time::Duration::from_millis(100);
    while !progress::is_asked() && !ended.load(Ordering::SeqCst) {
        tokio::time::sleep(poll).await;
    }
    Ok(())
}

/// The file that says where a server listens. It is locked for as long as the server lives.
struct Announced {
    file: File,
    path: PathBuf,
}

impl Announced {
    fn write(path: PathBuf, url: &str) -> Result<Self> {
        let failed = || format!("cannot write {}", path.display());
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = File::create(&new).with_context(failed)?;
        file.lock().with_context(failed)?;
        file.write_all(url.as_bytes()).with_context(failed)?;
        // Others may find it only once it is locked.
        fs::rename(&new, &path).with_context(failed)?;
        Ok(Self { file, path })
    }

    /// What the server of a session has announced, if it lives.
    fn read(path: &Path) -> Option<String> {
        let file = files::open(path).ok()?;
        let Err(TryLockError::WouldBlock) = file.try_lock_shared() else {
            return None;
        };
        let mut url = String::new();
        file.take(MAX_URL_BYTES).read_to_string(&mut url).ok()?;
        Some(url)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        let (own, there) = (self.file.metadata(), fs::metadata(&self.path));
        // A server that was started later has replaced it.
        if let (Ok(own), Ok(there)) = (own, there)
            && (own.dev(), own.ino()) == (there.dev(), there.ino())
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

struct Listening {
    listener: Listener,
    hosts: Hosts,
    /// The value for `COMAIL_SERVER`.
    url: String,
}

async fn listen(context: &Context, args: &ServeArgs) -> Result<Listening> {
    let Some(address) = args.listen else {
        let socket = socket(context);
        if socket.as_os_str().len() >= MAX_SOCKET_PATH {
            let path = socket.display();
            return Err(
                UsageError(format!("{path} is too long for the path of a socket"))
                    .hint("listen on an address, such as --listen 127.0.0.1:8017")
                    .into(),
            );
        }
        let listener = Listener::unix(&socket)?;
        return Ok(Listening {
            listener,
            hosts: Hosts::Any,
            url: format!("unix:{}", socket.display()),
        });
    };
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => Some(acceptor(cert, key)?),
        _ => None,
    };
    if tls.is_none() && !args.behind_proxy && !address.ip().is_loopback() {
        return refuse(format!(
            "{address} is not loopback, and plain HTTP would send tokens in the clear: pass \
             --tls-cert and --tls-key or, if a proxy adds HTTPS, --behind-proxy"
        ));
    }
    if address.ip().is_unspecified() && args.host.is_empty() {
        return Err(UsageError(format!(
            "{address} stands for every address of this machine, and no request names it"
        ))
        .hint("name the host that clients use, with --host NAME")
        .into());
    }
    let is_https = tls.is_some();
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
    let address = SocketAddr::new(address.ip(), listener.local_addr()?.port());
    let mut names = Vec::new();
    for host in &args.host {
        names.push(with_port(host, address.port()));
        // A proxy may listen on the port of its scheme, which clients leave out.
        if args.behind_proxy {
            names.push(host.clone());
        }
    }
    let public = names.first().filter(|_| !args.behind_proxy);
    let scheme = if is_https { "https" } else { "http" };
    let url = match public {
        Some(name) if address.ip().is_unspecified() => format!("{scheme}://{name}"),
        _ => format!("{scheme}://{address}"),
    };
    names.push(address.to_string());
    if address.ip().is_loopback() {
        names.push(format!("localhost:{}", address.port()));
    }
    let scheme = if is_https || args.behind_proxy {
        Scheme::Https
    } else {
        Scheme::Http
    };
    Ok(Listening {
        listener: Listener::Tcp(listener, tls),
        hosts: Hosts::Only { names, scheme },
        url,
    })
}

/// A host with its port, or with this one.
fn with_port(host: &str, port: u16) -> String {
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, end)| end.parse::<u16>().is_ok());
    if has_port {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    }
}

fn acceptor(cert: &PathBuf, key: &PathBuf) -> Result<TlsAcceptor> {
    let place = cert.display();
    let chain = CertificateDer::pem_file_iter(cert).and_then(Iterator::collect);
    let chain: Vec<_> = chain.with_context(|| format!("cannot read the certificate {place}"))?;
    let private = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("cannot read the private key {}", key.display()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("TLS cannot be set up")?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .with_context(|| format!("cannot use the certificate {place} with this key"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answers each call as the command of the same name would, in a session opened for it.
pub(super) struct SessionDesk {
    pub(super) dir: PathBuf,
    pub(super) reaching: Reaching,
    pub(super) files: ZoneFiles,
    pub(super) network: SharedWorld,
}

/// Where the files of the write zones come from when an answer is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ZoneFiles {
    /// They come with the answer: the judge does not look at the agent's directory.
    Received,
    /// The agent works in the working tree of the session.
    WorkingTree,
    /// The agent works in this copy of the accepted tree.
    Worktree(Worktree),
}

impl SessionDesk {
    fn context(&self, output: Output) -> Context {
        Context {
            dir: self.dir.clone(),
            address: None,
            named_session: None,
            named_worker: None,
            parser: clap::Command::new("comail"),
            settings: Settings::default(),
            repairs_reported: 0,
            output,
        }
    }

    fn kind(&self) -> Result<KindDocument> {
        let (manifest, _) = session::read_manifest(&self.dir)?;
        let store = EvidenceStore::new(&self.dir);
        Ok(KindDocument {
            tree: match self.files {
                ZoneFiles::Received => judge::patch_base(&manifest, store, &self.dir)?,
                ZoneFiles::WorkingTree | ZoneFiles::Worktree(_) => None,
            },
            ..KindDocument::from(&judge::kind_of(&manifest)?)
        })
    }

    fn show_kind(&self, context: &mut Context) -> Result<Exit> {
        let kind = self.kind()?;
        context.output.show(&kind, |out, kind| {
            out.line(json!(kind).to_string());
        })?;
        Ok(Exit::Done)
    }

    fn describe(&self, context: &mut Context) -> Result<Exit> {
        let kind = self.kind()?;
        context.output.show(&openapi(&kind), |out, described| {
            out.line(format!("{described:#}"));
        })?;
        Ok(Exit::Done)
    }

    fn next_for(
        &self,
        context: &mut Context,
        worker: &Worker,
        only: Option<QuestId>,
        call: &NextCall,
    ) -> Result<Exit> {
        if let Some(quest) = only {
            let held = context.open_session()?.claim_of(worker)?;
            if held.is_none_or(|claim| claim.quest != quest) {
                return refuse_another(quest);
            }
        }
        let claimant = Claimant {
            worker: worker.clone(),
            // The run that bound the token to a quest renews its claim.
            lease: call.lease.filter(|_| only.is_none()),
        };
        next::give(context, Some(&claimant), &self.reaching)
    }

    fn submit_as(
        &self,
        context: &mut Context,
        (worker, only): (&Worker, Option<QuestId>),
        files: &ZoneFiles,
        call: SubmitCall,
    ) -> Result<Exit> {
        let is_received = *files == ZoneFiles::Received;
        let session: Session = context.open_session()?;
        let mut judging = JudgeContext::sharing(&self.network, &session)?;
        match call.tree {
            Some(patch) if is_received => judging.world.receive(patch)?,
            Some(_) => return refuse("this server reads the files itself; send no `tree`"),
            None if is_received && judging.has_tree() && call.fields.is_some() => {
                return refuse(
                    "the quests are about files: send the write zones with the answer, as `tree`; \
                     nothing changed",
                );
            }
            None => {}
        }
        let kind = &judging.kind.quest;
        let submission = match (call.fields, &call.none) {
            (Some(fields), None) => {
                let fields = fields_of(kind, Value::Object(fields));
                let fields = fields.map_err(|bad| UsageError(bad.to_string()))?;
                submit::whole(fields, kind, true)?
            }
            (None, Some(why)) => submit::nothing_found(why)?,
            _ => return refuse("send either `fields` or `none`; nothing changed"),
        };
        let quest = context::choose(&session, call.id, call.key.as_deref(), &kind.unit)?;
        if let Some(only) = only.filter(|only| *only != quest) {
            return refuse_another(only);
        }
        let answer = judge::Answer {
            quest,
            worker: Some(worker),
            key: call.idempotency_key.map_or(CallKey::None, CallKey::New),
            submission: &submission,
            files: match files {
                ZoneFiles::Worktree(worktree) => AnswerFiles::Worktree(worktree),
                ZoneFiles::Received | ZoneFiles::WorkingTree => AnswerFiles::WorkingTree,
            },
        };
        submit::judge(context, session, &judging, answer)
    }

    /// Answers a call of an agent whose files are there.
    pub(super) fn answer_with(
        &self,
        files: &ZoneFiles,
        grant: &Grant,
        call: Call,
        form: Form,
    ) -> Reply {
        let colour = form == Form::Text { colour: true };
        let (output, kept) = Output::for_client(form == Form::Json, colour);
        let mut context = self.context(output);
        let ended = match (grant, call) {
            (_, Call::Status) => status::once(&mut context),
            (Grant::Worker { worker, .. }, Call::Claims) => {
                claims::show(&mut context, Some(worker))
            }
            (Grant::Reader, Call::Claims) => claims::show(&mut context, None),
            (_, Call::Kind) => self.show_kind(&mut context),
            (_, Call::OpenApi) => self.describe(&mut context),
            (Grant::Reader, Call::Page) => live_page(&mut context),
            (Grant::Reader, Call::Metrics) => show_metrics(&mut context),
            (Grant::Worker { .. }, Call::Page | Call::Metrics) => {
                return forbidden("this token may not read the page");
            }
            (Grant::Worker { worker, quest }, Call::Next(call)) => {
                self.next_for(&mut context, worker, *quest, &call)
            }
            (Grant::Worker { worker, quest }, Call::Submit(call)) => {
                self.submit_as(&mut context, (worker, *quest), files, call)
            }
            (Grant::Reader, Call::Next(_) | Call::Submit(_)) => {
                return forbidden("this token may only read");
            }
        };
        match ended {
            Ok(exit) => Reply {
                exit: exit.code(),
                status: status_of(exit),
                body: kept.text(),
            },
            Err(error) => {
                let exit = of_error(&error);
                let reply = ErrorReply::of(&error);
                Reply {
                    exit: exit.code(),
                    status: match reply.kind() {
                        ErrorKind::Database
                        | ErrorKind::NoNetwork
                        | ErrorKind::NotAsked
                        | ErrorKind::NoBrowser => 503,
                        ErrorKind::OtherTree => 409,
                        _ => status_of(exit),
                    },
                    body: serde_json::to_string(&reply).unwrap_or_default(),
                }
            }
        }
    }
}

fn refuse_another<T>(quest: QuestId) -> Result<T> {
    refuse(format!(
        "this token is good for quest {quest} alone; nothing changed"
    ))
}

impl Desk for SessionDesk {
    fn answer(&self, grant: &Grant, call: Call, form: Form) -> Reply {
        self.answer_with(&self.files, grant, call, form)
    }

    fn session(&self) -> &Path {
        &self.dir
    }

    fn is_ready(&self) -> bool {
        let opened = session::Ledger::open(&self.dir);
        opened
            .inspect_err(|why| tracing::error!("not ready: {why}"))
            .is_ok()
    }
}

/// Prints the figures of the session and of this process for Prometheus.
fn show_metrics(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let totals = session.totals();
    let tally = totals.tally;
    let states = [
        (State::Todo, tally.todo),
        (State::Pass, tally.pass),
        (State::Review, tally.review),
        (State::Done, tally.done),
    ];
    let figures = SessionFigures {
        quests: states.map(|(state, count)| (state.into(), count)).to_vec(),
        attempts: totals.counts.attempts,
        rules: totals.counts.rules,
        claims: session.claims()?.len(),
    };
    let text = recorder()
        .text(&figures)
        .context("cannot write the figures")?;
    context.output.print(&text.into())?;
    Ok(Exit::Done)
}

/// The reply to a call that the token does not allow.
fn forbidden(why: &str) -> Reply {
    Reply {
        exit: Exit::Usage.code(),
        status: 403,
        body: serde_json::to_string(&ErrorDocument::new("token", why)).unwrap_or_default(),
    }
}

/// The status of HTTP for an exit code: 200 where the call was carried out, whatever came of it.
fn status_of(exit: Exit) -> u16 {
    match exit {
        Exit::Usage => 400,
        Exit::Locked | Exit::Paused => 409,
        Exit::Error | Exit::Finding | Exit::Interrupted => 500,
        Exit::Done | Exit::Complete | Exit::NoneFree | Exit::Failed | Exit::FailedAndDone => 200,
    }
}

/// The value for `COMAIL_SERVER`: where a server listens, or else where one does by default.
pub(super) fn url(context: &Context) -> String {
    let url = Announced::read(&context.dir.join(URL));
    url.unwrap_or_else(|| format!("unix:{}", socket(context).display()))
}

/// The socket of the session. Clients have other working directories, so its path is absolute.
fn socket(context: &Context) -> PathBuf {
    let dir = fs::canonicalize(&context.dir).unwrap_or_else(|_| context.dir.clone());
    dir.join(SOCKET)
}
