//! The judge of a run: it answers the agents of this run in this process.
//!
//! Each start of an agent gets its own token, which is kept only in memory, is valid only for its
//! quest, and expires with the start. Agents need no access to the session, and the gate uses the
//! network and the programs of this process.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use anyhow::{Context as _, Result};
use axum::Router;
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::base::{Digest, files};
use crate::cli::context::{self, Reaching, this_program};
use crate::cli::exit::Exit;
use crate::cli::remote::{SERVER_VARIABLE, SPOOL_VARIABLE, TOKEN_VARIABLE, TREE_VARIABLE};
use crate::cli::serve::{SessionDesk, ZoneFiles, runtime};
use crate::judge::{self, Worktree};
use crate::quest::QuestId;
use crate::run::detect::SelfCall;
use crate::run::{Admission, Judge};
use crate::serve::{
    self, Bounds, Call, Desk, Form, Grant, Hosts, Listener, MAX_BODY_BYTES, Rate, Reply, Server,
    Spool, Token, TokenId, TokenRecord, Tokens,
};
use crate::session::{IdempotencyKey, Session, Worker};
use crate::world::fetch::live::SharedWorld;

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The maximum length of the path of a directory with a socket two levels below.
const MAX_BASE: usize = 80;

/// The limits of one agent at the judge. The detectors notice an agent that only makes calls.
const BOUNDS: Bounds = Bounds {
    rate: Rate {
        per_second: 50.0,
        burst: 200.0,
    },
    calls_of_token: 4,
    calls: 64,
    body_bytes: MAX_BODY_BYTES,
};

pub(super) struct RunJudge {
    desk: Arc<RunDesk>,
    dir: TempDir,
    server: OsString,
    path: OsString,
    router: Router,
    runtime: Runtime,
    /// The working directory of agents in their worktrees, if the session has worktrees.
    in_worktree: Option<PathBuf>,
}

impl RunJudge {
    /// Starts to listen on a socket that only its owner can open.
    pub(super) fn start(
        session: &Path,
        reaching: Reaching,
        in_worktree: Option<PathBuf>,
    ) -> Result<Self> {
        // The path of a socket has at most 107 bytes, so it is not in the session.
        let mut base = std::env::temp_dir();
        if base.as_os_str().len() > MAX_BASE {
            base = PathBuf::from("/tmp");
        }
        let dir = files::private_dir("comail-", &base)
            .context("cannot make a directory for the judge")?;
        let shared = dir.path().join(SHARED);
        fs::create_dir(&shared)
            .with_context(|| format!("cannot write to {}", dir.path().display()))?;
        let path = path_with_this_program(&shared)?;
        let desk = Arc::new(RunDesk {
            desk: SessionDesk {
                dir: session.to_owned(),
                reaching,
                // The agents of a run work in the tree.
                files: ZoneFiles::WorkingTree,
                network: SharedWorld::default(),
            },
            starts: Mutex::default(),
        });
        let runtime = runtime()?;
        let socket = shared.join("socket");
        let listener = {
            let _entered = runtime.enter();
            Listener::unix(&socket)?
        };
        let server = format!("unix:{}", socket.display()).into();
        let judge = Server::new(desk.clone(), desk.clone(), Hosts::Any, BOUNDS);
        let router = serve::router(&judge);
        let answering = router.clone();
        runtime.spawn(async move { serve::serve(&listener, answering).await });
        Ok(Self {
            desk,
            dir,
            server,
            path,
            router,
            runtime,
            in_worktree,
        })
    }

    pub(super) fn has_worktrees(&self) -> bool {
        self.in_worktree.is_some()
    }

    fn worktree(
        &self,
        quest: QuestId,
        earlier: Option<&Worktree>,
    ) -> Result<Option<StartTree>, Box<dyn Error + Send + Sync>> {
        let Some(within) = &self.in_worktree else {
            return Ok(None);
        };
        // The agent may write in this directory alone, so it cannot put a link in its place.
        let root = files::private_dir("tree-", self.dir.path())?;
        let session = Session::open(&self.desk.desk.dir)?;
        let worktree = judge::make_worktree(&session, quest, root.path(), earlier)?;
        let dir = root.path().join(within);
        fs::create_dir_all(&dir)?;
        Ok(Some(StartTree {
            worktree,
            dir,
            root,
        }))
    }

    /// The paths of the judge that a confined agent needs.
    pub(super) fn readable(&self) -> Result<Vec<PathBuf>> {
        Ok(vec![self.dir.path().join(SHARED), this_program()?])
    }
}

/// The directory that all agents of the run may read. Besides it, each has its own directory.
const SHARED: &str = "judge";

/// A `PATH` in which agents find this program as `comail`, whatever version is installed.
fn path_with_this_program(dir: &Path) -> Result<OsString> {
    let bin = dir.join("bin");
    let program = this_program()?;
    let made = fs::create_dir(&bin).and_then(|()| symlink(program, bin.join("comail")));
    made.with_context(|| format!("cannot write to {}", bin.display()))?;
    let inherited = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(inherited);
    Ok(path)
}

impl Judge for RunJudge {
    fn admit(
        &self,
        quest: QuestId,
        worker: &Worker,
        earlier: Option<&Worktree>,
    ) -> Result<Box<dyn Admission>, Box<dyn Error + Send + Sync>> {
        let token = Token::random()?;
        let grant = Grant::Worker {
            worker: worker.clone(),
            quest: Some(quest),
        };
        let tree = self.worktree(quest, earlier)?;
        let start = Arc::new(Start {
            files: match &tree {
                Some(tree) => ZoneFiles::Worktree(tree.worktree.clone()),
                None => ZoneFiles::WorkingTree,
            },
            record: TokenRecord::new(&token, grant, context::now(), Timestamp::MAX),
            calls: Mutex::default(),
            keys: Mutex::default(),
            kinds: AtomicU32::default(),
            answering: RwLock::default(),
        });
        let dir = files::private_dir("start-", self.dir.path())?;
        let spool = dir.path().join("spool");
        fs::create_dir(&spool)?;
        let opened = Spool::open(&spool)?;
        let env = [
            (SERVER_VARIABLE, self.server.clone()),
            (TOKEN_VARIABLE, token.reveal().into()),
            (SPOOL_VARIABLE, spool.clone().into()),
            ("TMPDIR", dir.path().into()),
            ("PATH", self.path.clone()),
        ];
        let worktree = tree.as_ref().map(|tree| tree.worktree.root.clone());
        let in_tree = worktree.map(|root| (TREE_VARIABLE, root.into_os_string()));
        self.desk.starts().insert(token.id(), start.clone());
        let spooling = self.runtime.spawn(opened.serve(self.router.clone()));
        Ok(Box::new(Admitted {
            desk: self.desk.clone(),
            start,
            spooling,
            env: env
                .into_iter()
                .chain(in_tree)
                .map(|(name, value)| (name.into(), value))
                .collect(),
            dir,
            tree,
        }))
    }
}

struct Admitted {
    desk: Arc<RunDesk>,
    start: Arc<Start>,
    spooling: JoinHandle<()>,
    env: Vec<(OsString, OsString)>,
    dir: TempDir,
    tree: Option<StartTree>,
}

/// The worktree of one start.
struct StartTree {
    worktree: Worktree,
    dir: PathBuf,
    root: TempDir,
}

impl Admission for Admitted {
    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.clone()
    }

    fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn worktree(&self) -> Option<(&Worktree, &Path)> {
        let tree = self.tree.as_ref()?;
        Some((&tree.worktree, &tree.dir))
    }

    fn calls(&self) -> Vec<SelfCall> {
        std::mem::take(&mut *locked(&self.start.calls))
    }

    fn close(&self) {
        self.desk.starts().remove(&self.start.record.id);
        // Calls in progress hold the lock for reading: this waits for their answers.
        drop(self.start.answering.write());
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.spooling.abort();
        self.desk.starts().remove(&self.start.record.id);
        let tree = self.tree.as_ref().map(|tree| tree.root.path());
        for dir in tree.into_iter().chain([self.dir.path()]) {
            if let Err(error) = files::empty(dir) {
                tracing::warn!("cannot empty {}: {error}", dir.display());
            }
        }
    }
}

/// How often `comail submit` asks for the fields before it sends them.
const KINDS_PER_SUBMIT: u32 = 2;

struct Start {
    record: TokenRecord,
    files: ZoneFiles,
    calls: Mutex<Vec<SelfCall>>,
    keys: Mutex<Vec<IdempotencyKey>>,
    /// How many calls in a row asked for the fields of an answer.
    kinds: AtomicU32,
    /// Locked for reading while a call is answered.
    answering: RwLock<()>,
}

/// Answers the agents that were started and have not ended.
struct RunDesk {
    desk: SessionDesk,
    starts: Mutex<BTreeMap<TokenId, Arc<Start>>>,
}

impl RunDesk {
    fn starts(&self) -> MutexGuard<'_, BTreeMap<TokenId, Arc<Start>>> {
        locked(&self.starts)
    }

    /// The start with this grant, which is unique because each start is another worker.
    fn start(&self, grant: &Grant) -> Option<Arc<Start>> {
        let starts = self.starts();
        let mut starts = starts.values();
        starts.find(|start| start.record.grant == *grant).cloned()
    }
}

impl Tokens for RunDesk {
    fn grant(&self, token: &Token) -> Result<Option<Grant>, String> {
        let start = self.starts().get(&token.id()).cloned();
        let now = context::now();
        Ok(start.and_then(|start| start.record.grants(token, now).cloned()))
    }
}

impl Desk for RunDesk {
    fn answer(&self, grant: &Grant, call: Call, form: Form) -> Reply {
        let Some(start) = self.start(grant) else {
            return serve::unauthorised();
        };
        let _answering = start.answering.read();
        // The start may have ended before this call got the lock.
        if self.start(grant).is_none() {
            return serve::unauthorised();
        }
        let submitted = match &call {
            Call::Submit(call) => Some((digest(call), call.idempotency_key)),
            _ => None,
        };
        let is_next = matches!(call, Call::Next(_));
        let is_kind = matches!(call, Call::Kind);
        let kinds = if is_kind {
            start.kinds.fetch_add(1, Ordering::Relaxed) + 1
        } else {
            start.kinds.store(0, Ordering::Relaxed);
            0
        };
        let reply = self.desk.answer_with(&start.files, grant, call, form);
        let noted = match submitted {
            Some((answer, key)) => Some(start.outcome(answer, key, &reply)),
            None if is_next => Some(SelfCall::Next),
            // Each `comail submit` asks for the fields.
            None if (1..=KINDS_PER_SUBMIT).contains(&kinds) => None,
            None => Some(SelfCall::Status),
        };
        locked(&start.calls).extend(noted);
        reply
    }

    fn session(&self) -> &Path {
        self.desk.session()
    }

    fn refused(&self, grant: &Grant, answer: Digest) {
        if let Some(start) = self.start(grant) {
            start.kinds.store(0, Ordering::Relaxed);
            locked(&start.calls).push(SelfCall::Refused(answer));
        }
    }
}

impl Start {
    fn outcome(&self, answer: Digest, key: Option<IdempotencyKey>, reply: &Reply) -> SelfCall {
        let judged = [Exit::Done, Exit::Failed, Exit::FailedAndDone];
        if !judged.iter().any(|exit| exit.code() == reply.exit) {
            return unjudged(reply).unwrap_or(SelfCall::Refused(answer));
        }
        let mut keys = locked(&self.keys);
        if key.is_some_and(|key| keys.contains(&key)) {
            // The same key again returns the first judgement.
            return SelfCall::Refused(answer);
        }
        keys.extend(key);
        SelfCall::Judged
    }
}

fn digest(call: &serve::SubmitCall) -> Digest {
    Digest::of(&serde_json::to_vec(call).unwrap_or_default())
}

/// A reply that is not the agent's fault: comail has no network, or the gate could not run.
fn unjudged(reply: &Reply) -> Option<SelfCall> {
    let body: Value = serde_json::from_str(&reply.body).ok()?;
    let error = &body["error"];
    let kinds = ["no-network", "not-asked", "no-browser", "sandbox"];
    kinds.contains(&error["kind"].as_str()?).then(|| {
        let message = error["message"].as_str().unwrap_or_default();
        SelfCall::Unjudged(message.to_owned())
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
