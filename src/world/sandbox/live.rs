//! A workshop for one judgement: the tree is looked at once, and each command gets a copy.

#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;
use tempfile::TempDir;

use super::call::call;
use super::chat::chat;
use super::order::{Confinement, Edit, End, Network, Order, Ran};
use super::secrets::{Secrets, run_with, variable};
use super::service::Ready;
use super::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Launcher, Pinned, Service, ServiceFailed,
    Started, Workshop, free_port, is_taken,
};
use crate::base::Digest;
use crate::quest::Span;
use crate::quest::template::Template;
use crate::world::tree::{
    Change, ChangeKind, Ignored, Listing, Snapshot, TreeError, TreePath, Zones,
};

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

/// Edits over what is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alteration {
    /// Files with the text that each has then.
    pub files: Vec<Edit>,
    /// Files that are not there then.
    pub removed: Vec<TreePath>,
}

impl Alteration {
    /// Lays the edits over what was seen; they count as changes of the tree.
    pub(super) fn lay_over(&self, look: &mut Look, zones: &Zones) -> Result<(), String> {
        for edit in &self.files {
            let path = TreePath::parse(&edit.path).map_err(|bad| bad.to_string())?;
            let was_there = look.snapshot.listing.get(&path).is_some();
            look.snapshot.left_out.remove(&path);
            let edited = look.snapshot.edit(&path, edit.text.as_bytes());
            edited.map_err(|bad| bad.to_string())?;
            note(
                look,
                &path,
                if was_there { "changed" } else { "added" },
                zones,
            );
        }
        for path in &self.removed {
            look.snapshot.remove(path);
            note(look, path, "removed", zones);
        }
        look.changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(())
    }
}

fn note(look: &mut Look, path: &TreePath, how: &str, zones: &Zones) {
    look.changes.retain(|known| known.path != path.as_str());
    look.changes.push(Changed {
        path: path.to_string(),
        how: how.to_owned(),
        inside: zones.contains(path),
    });
}

/// What the tree was when the judgement first asked.
pub(super) struct Look {
    pub(super) snapshot: Snapshot,
    pub(super) changes: Vec<Changed>,
}

/// Takes what is judged, and what is not as it was, in one look.
pub(super) fn look(bench: &Bench) -> Result<Look, String> {
    let Some(root) = &bench.root else {
        return Ok(Look {
            snapshot: Snapshot::of(&bench.baseline),
            changes: Vec::new(),
        });
    };
    let taken = Snapshot::take(root, &bench.baseline, &bench.zones, &bench.ignored);
    let (snapshot, changes) = taken.map_err(|error| error.to_string())?;
    let known = |inside| move |change: &Change| changed(change, inside);
    let inside = changes.inside.iter().map(known(true));
    let outside = changes.outside.iter().map(known(false));
    let odd = changes.odd.iter().map(|odd| Changed {
        path: odd.place.clone(),
        how: format!("odd: {}", odd.why),
        inside: false,
    });
    let mut changes: Vec<Changed> = inside.chain(outside).chain(odd).collect();
    changes.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(Look { snapshot, changes })
}

fn changed(change: &Change, inside: bool) -> Changed {
    let how = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
        ChangeKind::Mode => "mode",
        ChangeKind::Odd => "odd",
    };
    Changed {
        path: change.path.to_string(),
        how: how.to_owned(),
        inside,
    }
}

/// Reads a file of a snapshot.
pub(super) fn seen(
    snapshot: &Snapshot,
    path: &TreePath,
    bench: &Bench,
) -> Result<FileSeen, TreeError> {
    if let Some(why) = snapshot.left_out.get(path) {
        return Ok(FileSeen::Other(why.to_string()));
    }
    if snapshot.listing.is_folder(path) {
        return Ok(FileSeen::Other("a folder".to_owned()));
    }
    Ok(match snapshot.read(path, &*bench.load)? {
        Some(bytes) => FileSeen::File(bytes.to_vec()),
        None if snapshot.listing.get(path).is_some() => FileSeen::Other("a link".to_owned()),
        None => FileSeen::Absent,
    })
}

/// What stays the same for every judgement of a session.
pub struct Bench {
    /// The working tree; none for quests that are about no files.
    pub root: Option<PathBuf>,
    /// The tree as the session found it.
    pub baseline: Listing,
    /// Where an agent may write in it.
    pub zones: Zones,
    /// What does not belong to it.
    pub ignored: Ignored,
    /// Finds the contents of the baseline's files.
    pub load: Box<Contents>,
    /// Where scratch copies are made; below nothing that a tool would take for its configuration.
    pub scratch: PathBuf,
    /// The programs that may be run.
    pub programs: Vec<Pinned>,
    /// The services that may be started.
    pub services: BTreeMap<String, ServicePlan>,
    /// What starts commands.
    pub launcher: Launcher,
    /// What confined a command when the session was made.
    pub confinement: Confinement,
}

/// Finds contents by their digest.
pub type Contents = dyn Fn(Digest) -> io::Result<Option<Vec<u8>>> + Send + Sync;

/// A server that runs for the time of a judgement.
#[derive(Debug, Clone)]
pub struct ServicePlan {
    /// The program's absolute path, and its arguments; `{{ port }}` is its port.
    pub argv: Vec<Template>,
    /// Its whole environment.
    pub env: BTreeMap<String, Template>,
    /// How it is known that it is ready.
    pub ready: Readiness,
    /// How long it may take to be ready.
    pub within: Span,
}

/// How it is known that a service is ready, before its port is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// Its port is open.
    Port,
    /// This path answers with a status of 2xx.
    Path(String),
    /// A line of its output matches.
    Line(String),
}

impl Readiness {
    /// The same, at this port.
    #[must_use]
    pub fn at(&self, port: u16) -> Ready {
        match self {
            Self::Port => Ready::Tcp { port },
            Self::Path(path) => Ready::Http {
                port,
                path: path.clone(),
            },
            Self::Line(pattern) => Ready::Line {
                pattern: pattern.clone(),
            },
        }
    }
}

impl Bench {
    /// How a program is no longer what the session found, for people; none when it is.
    #[must_use]
    pub fn changed_program(&self, path: &str) -> Option<String> {
        let known = self.programs.iter().find(|it| it.path.as_os_str() == path);
        let Some(pinned) = known else {
            return Some(format!("{path} is none of the session's programs"));
        };
        let change = pinned.changed()?;
        Some(format!(
            "{path} changed since the session was made: {change}"
        ))
    }
}

/// Runs a command in the tree, where it may write; else why it cannot be run there.
///
/// It is confined as a command of a check is but for that.
pub fn run_in_tree(bench: &Bench, order: &Order) -> Result<Ran, String> {
    let root = bench.root.as_deref();
    let root = root.ok_or_else(|| "there is no tree to run in".to_owned())?;
    let program = order.argv.first().map_or("", String::as_str);
    if let Some(why) = bench.changed_program(program) {
        return Err(why);
    }
    let secrets = Secrets::take(&order.pass, variable).map_err(|missing| missing.to_string())?;
    let launcher = bench.launcher.clone().temporary_in(bench.scratch.clone());
    Ok(run_with(order, &secrets, root, &launcher))
}
