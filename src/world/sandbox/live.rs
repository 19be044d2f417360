//! A workshop for one judgement: the tree is looked at once, and each command gets a copy.

mod altered;
mod look;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use tempfile::TempDir;

pub use self::altered::Alteration;
use self::look::{Look, look, seen};
use super::bench::{Bench, ServicePlan};
use super::call::call;
use super::chat::chat;
use super::confinement::Confinement;
use super::order::{Edit, Network, Order};
use super::ran::{End, Ran};
use super::secrets::{Secrets, run_with, variable};
use super::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Service, ServiceFailed, Started, Workshop,
    free_port, is_taken,
};
use crate::world::tree::{Snapshot, TreePath};

/// How much of what a service prints is kept, in bytes.
const SERVICE_OUTPUT_BYTES: u64 = 64 * 1024;

/// How often a service is started whose port somebody else takes first.
const MOST_STARTS: u32 = 3;

/// How much of what a service printed a fact shows, in bytes.
const SHOWN_OUTPUT_BYTES: usize = 500;

/// A workshop for one judgement.
pub struct LiveWorkshop<'a> {
    bench: &'a Bench,
    altered: Alteration,
    look: OnceCell<Result<Look, String>>,
    services: RefCell<BTreeMap<String, Result<Running, String>>>,
    /// The first of what kept it from looking.
    failure: RefCell<Option<String>>,
}

/// A service that runs, and the copy in which it does.
struct Running {
    port: u16,
    // Ended before its directory is removed.
    service: Service,
    _scratch: TempDir,
}

impl<'a> LiveWorkshop<'a> {
    /// A workshop at this bench; nothing is looked at yet.
    #[must_use]
    pub fn new(bench: &'a Bench) -> Self {
        Self::altered(bench, Alteration::default())
    }

    /// The same, where what is judged is seen with these edits.
    #[must_use]
    pub fn altered(bench: &'a Bench, altered: Alteration) -> Self {
        Self {
            bench,
            altered,
            look: OnceCell::new(),
            services: RefCell::default(),
            failure: RefCell::default(),
        }
    }

    fn look(&self) -> Result<&Look, String> {
        let look = self.look.get_or_init(|| {
            let mut look = look(self.bench)?;
            self.altered.lay_over(&mut look, &self.bench.zones)?;
            Ok(look)
        });
        look.as_ref().map_err(|why| self.failed(why.clone()))
    }

    /// Notes what kept it from looking.
    fn failed(&self, why: String) -> String {
        self.failure.borrow_mut().get_or_insert_with(|| why.clone());
        why
    }

    /// Reads a file of a snapshot.
    fn seen(&self, snapshot: &Snapshot, path: &TreePath) -> FileSeen {
        let seen = seen(snapshot, path, self.bench);
        seen.unwrap_or_else(|error| FileSeen::Other(self.failed(error.to_string())))
    }

    /// A scratch copy of what an order is to find: of what is judged, or, for a reviewer, of what
    /// no agent can write.
    fn copy_for(&self, order: &Order) -> Result<TempDir, String> {
        if order.is_of_reviewer() {
            let pinned = Snapshot::beyond(&self.bench.baseline, &self.bench.zones);
            return self.written(&pinned);
        }
        self.copy(&order.edits)
    }

    /// A scratch copy of what is judged, with these edits.
    fn copy(&self, edits: &[Edit]) -> Result<TempDir, String> {
        let mut snapshot = self.look()?.snapshot.clone();
        for edit in edits {
            let path = TreePath::parse(&edit.path).map_err(|bad| bad.to_string())?;
            let edited = snapshot.edit(&path, edit.text.as_bytes());
            edited.map_err(|bad| bad.to_string())?;
        }
        self.written(&snapshot)
    }

    fn written(&self, snapshot: &Snapshot) -> Result<TempDir, String> {
        let mut builder = tempfile::Builder::new();
        let scratch = builder.prefix("comail-").tempdir_in(&self.bench.scratch);
        let scratch = scratch
            .map_err(|error| self.failed(format!("no scratch copy can be made: {error}")))?;
        snapshot
            .write_to(scratch.path(), &*self.bench.load)
            .map_err(|error| self.failed(error.to_string()))?;
        Ok(scratch)
    }

    fn start(&self, name: &str) -> Result<Running, String> {
        let plan = self.bench.services.get(name);
        let plan = plan.ok_or_else(|| format!("there is no service {name}"))?;
        let mut starts = 0;
        loop {
            starts += 1;
            let port = free_port().map_err(|error| format!("no port is free: {error}"))?;
            let order = order_of(name, plan, port)?;
            self.refuse_changed(&order)?;
            let scratch = self.copy(&[])?;
            let ready = plan.ready.at(port);
            match Service::start(&order, scratch.path(), &ready, &self.bench.launcher) {
                Ok(service) => {
                    self.refuse_less(&service.confinement(), &order.network)?;
                    return Ok(Running {
                        port,
                        service,
                        _scratch: scratch,
                    });
                }
                // Somebody took the port meanwhile, which says nothing of the service.
                Err(ServiceFailed::Died { .. }) if starts < MOST_STARTS && is_taken(port) => {}
                Err(failed) => return Err(self.not_there(&failed)),
            }
        }
    }

    /// Whether what gave this at its port is the service, which is still there.
    fn is_of(&self, name: &str, port: u16, called: &Called) -> bool {
        let services = self.services.borrow();
        let running = services.get(name).and_then(|running| running.as_ref().ok());
        running.is_some_and(|running| match called {
            Called::Refused(_) => running.service.goes_on(port),
            Called::Answered(_) | Called::Unanswered(_) => running.service.answers_at(port),
        })
    }

    fn run_in(&self, order: &Order, scratch: &Path) -> Ran {
        let ran = match Secrets::take(&order.pass, variable) {
            Ok(secrets) => run_with(order, &secrets, scratch, &self.bench.launcher),
            Err(missing) => not_run(order, &missing.to_string()),
        };
        if let End::NotStarted(why) = &ran.end {
            self.failed(why.clone());
            return ran;
        }
        let less = self.refuse_less(&ran.confinement, &order.network);
        less.map_or_else(|why| not_run(order, &why), |()| ran)
    }

    /// Refuses what ran while less was in force than when the session was made.
    fn refuse_less(&self, now: &Confinement, network: &Network) -> Result<(), String> {
        if !now.is_less(&self.bench.confinement, network) {
            return Ok(());
        }
        let why = "the system confines commands less than when the session was made";
        Err(self.failed(why.to_owned()))
    }

    fn not_there(&self, failed: &ServiceFailed) -> String {
        let why = told(failed);
        match failed {
            ServiceFailed::NotStarted { .. } => self.failed(why),
            _ => why,
        }
    }

    fn refuse_changed(&self, order: &Order) -> Result<(), String> {
        let program = order.argv.first().map_or("", String::as_str);
        self.bench.changed_program(program).map_or(Ok(()), Err)
    }

    fn port(&self, name: &str) -> Result<u16, String> {
        let mut services = self.services.borrow_mut();
        let running = services
            .entry(name.to_owned())
            .or_insert_with(|| self.start(name));
        running
            .as_ref()
            .map(|running| running.port)
            .map_err(Clone::clone)
    }
}

fn order_of(name: &str, plan: &ServicePlan, port: u16) -> Result<Order, String> {
    #[derive(Serialize)]
    struct Port {
        port: String,
    }
    let port_text = Port {
        port: port.to_string(),
    };
    let render = |template: &crate::quest::template::Template| {
        let rendered = template.render(&port_text);
        rendered.map_err(|bad| bad.to_string())
    };
    let env = plan.env.iter();
    Ok(Order {
        name: name.to_owned(),
        argv: plan.argv.iter().map(render).collect::<Result<_, _>>()?,
        env: env
            .map(|(name, value)| Ok((name.clone(), render(value)?)))
            .collect::<Result<_, String>>()?,
        pass: Vec::new(),
        dir: String::new(),
        stdin: String::new(),
        timeout_ms: u64::from(plan.within.millis()),
        output_bytes: SERVICE_OUTPUT_BYTES,
        writable: Vec::new(),
        network: Network::Loopback { ports: vec![port] },
        reports: Vec::new(),
        edits: Vec::new(),
        round: 0,
    })
}

/// Why a service is not there, with the end of what it printed.
fn told(failed: &ServiceFailed) -> String {
    let (ServiceFailed::Died { output, .. } | ServiceFailed::NotReady { output, .. }) = failed
    else {
        return failed.to_string();
    };
    let printed = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let start = printed.len().saturating_sub(SHOWN_OUTPUT_BYTES);
    let tail = String::from_utf8_lossy(&printed[start..]);
    format!("{failed}; it printed: {}", tail.trim())
}

impl Workshop for LiveWorkshop<'_> {
    fn file(&self, path: &TreePath) -> FileSeen {
        match self.look() {
            Ok(look) => self.seen(&look.snapshot, path),
            Err(why) => FileSeen::Other(why),
        }
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        self.seen(&Snapshot::of(&self.bench.baseline), path)
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        self.look().map(|look| look.changes.clone())
    }

    fn run(&self, order: &Order) -> Ran {
        std::thread::sleep(order.pause());
        let changed = self.refuse_changed(order);
        // Whoever is asked for an opinion is the operator's, whatever is judged.
        let changed = changed.map_err(|why| {
            if order.is_of_reviewer() {
                self.failed(why)
            } else {
                why
            }
        });
        let copied = changed.and_then(|()| self.copy_for(order));
        let ran = match &copied {
            // The agent may well have taken the directory away.
            Ok(scratch) if !scratch.path().join(&order.dir).is_dir() => {
                not_run(order, "the working directory is not in the scratch copy")
            }
            Ok(scratch) => self.run_in(order, scratch.path()),
            Err(why) => not_run(order, why),
        };
        if let Ok(scratch) = copied {
            remove(scratch);
        }
        ran
    }

    fn call(&self, asked: &Call) -> Called {
        match self.port(&asked.service) {
            Ok(port) => {
                let called = call(asked, port);
                if self.is_of(&asked.service, port, &called) {
                    called
                } else {
                    let why = "it has ended, or somebody else listens at its port";
                    Called::Unanswered(why.to_owned())
                }
            }
            Err(why) => Called::Unanswered(why),
        }
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        chat(order, variable).unwrap_or_else(|why| Chatted::Failed(self.failed(why)))
    }

    fn service(&self, name: &str) -> Started {
        match self.port(name) {
            Ok(port) => Started::Listening { port },
            Err(why) => Started::Failed(why),
        }
    }

    fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }
}

fn not_run(order: &Order, why: &str) -> Ran {
    let reports = order.reports.iter().map(|name| (name.clone(), None));
    Ran {
        end: End::NotStarted(why.to_owned()),
        stdout: Vec::new(),
        stderr: Vec::new(),
        reports: reports.collect(),
        confinement: Confinement::default(),
        millis: 0,
    }
}

/// Removes a scratch copy, also one in which a command took the owner's rights away.
fn remove(scratch: TempDir) {
    let path = scratch.path().to_owned();
    if scratch.close().is_err() {
        open_up(&path);
        // What is left then is left in a directory for what is temporary.
        let _ = fs::remove_dir_all(&path);
    }
}

#[cfg(unix)]
fn open_up(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        let _ = fs::set_permissions(&dir, fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(dirs.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests;
