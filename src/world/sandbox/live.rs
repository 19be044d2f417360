//! The sandbox of one judgement: the tree is read once, and each command gets a copy of it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::api::{
    Call, Called, ChatOrder, Chatted, CommandResult, CommandSpec, Confinement, Edit, End, FileSeen,
    Network, RunPlace, Sandbox, Started,
};
use super::copies::{Copy, CopyError, TreeCopy, pages};
use super::http::{call, chat};
use super::platform;
use super::program::Pinned;
use super::run::{Files, Launcher, Secrets, run_with, variable};
use super::runtime::Runtime;
use super::service::{Ready, Service, ServiceFailed, free_port, is_taken};
use crate::base::Digest;
use crate::quest::Span;
use crate::quest::template::Template;
use crate::world::tree::{
    BadPatch, Changed, Ignored, Listing, Snapshot, TreePatch, TreePath, Zones,
};

const SERVICE_OUTPUT_BYTES: u64 = 64 * 1024;

// How often a service is started if another process keeps taking its port.
const MAX_STARTS: u32 = 3;

/// The part that is the same for every judgement of a session.
pub struct SandboxConfig {
    /// The working tree, if the quests are about files.
    pub root: Option<PathBuf>,
    pub baseline: Listing,
    /// The tree of the control that passes; none if no check uses it.
    pub control: Option<Listing>,
    /// Where the agent may write.
    pub zones: Zones,
    pub ignored: Ignored,
    pub load: Box<Contents>,
    /// Where scratch copies are made; no directory above it may contain a tool's configuration.
    pub scratch: PathBuf,
    /// The only programs that may be run.
    pub programs: Vec<Pinned>,
    /// What they load.
    pub runtime: Runtime,
    pub services: BTreeMap<String, ServicePlan>,
    pub launcher: Launcher,
    /// The confinement of commands when the session was made.
    pub confinement: Confinement,
}

pub type Contents = dyn Fn(Digest) -> io::Result<Option<Vec<u8>>> + Send + Sync;

/// A server that runs for the time of a judgement.
#[derive(Debug, Clone)]
pub struct ServicePlan {
    /// The program's absolute path and its arguments; `{{ port }}` is replaced by the port.
    pub argv: Vec<Template>,
    pub env: BTreeMap<String, Template>,
    pub ready: Ready,
    pub within: Span,
}

impl ServicePlan {
    fn order(&self, name: &str, port: u16) -> Result<CommandSpec, String> {
        let values = BTreeMap::from([("port", port.to_string())]);
        let render = |template: &Template| template.render(&values).map_err(|bad| bad.to_string());
        let env = self.env.iter();
        Ok(CommandSpec {
            name: name.to_owned(),
            argv: self.argv.iter().map(render).collect::<Result<_, _>>()?,
            env: env
                .map(|(name, value)| Ok((name.clone(), render(value)?)))
                .collect::<Result<_, String>>()?,
            timeout_ms: u64::from(self.within.millis()),
            output_bytes: SERVICE_OUTPUT_BYTES,
            network: Network::Loopback { ports: vec![port] },
            ..CommandSpec::default()
        })
    }
}

impl SandboxConfig {
    /// Without a tree, programs and services, so that only models can be asked.
    pub fn without_tree(scratch: PathBuf, launcher: Launcher) -> Self {
        Self {
            root: None,
            baseline: Listing::default(),
            control: None,
            zones: Zones::default(),
            ignored: Ignored::default(),
            load: Box::new(|_| Ok(None)),
            scratch,
            programs: Vec::new(),
            runtime: Runtime::default(),
            services: BTreeMap::new(),
            launcher,
            confinement: Confinement::default(),
        }
    }

    /// How a program has changed since the session was made, for people.
    pub fn changed_program(&self, path: &str) -> Option<String> {
        let known = self.programs.iter().find(|it| it.path.as_os_str() == path);
        let Some(pinned) = known else {
            return Some(format!("{path} is not one of the session's programs"));
        };
        let change = pinned.changed()?;
        Some(format!(
            "{path} changed since the session was made: {change}"
        ))
    }

    fn refuse_changed(&self, order: &CommandSpec) -> Result<(), String> {
        let program = order.argv.first().map_or("", String::as_str);
        if let Some(change) = self.changed_program(program) {
            return Err(change);
        }
        match self.runtime.changed() {
            Some(how) => Err(format!("{how}: restore what was there, or scan again")),
            None => Ok(()),
        }
    }
}

/// Runs a command in the tree itself, where it may write, but confined like the command of a check.
/// The error says why it cannot run there.
pub fn run_in_tree(config: &SandboxConfig, order: &CommandSpec) -> Result<CommandResult, String> {
    let root = config.root.as_deref();
    let root = root.ok_or_else(|| "there is no tree to run in".to_owned())?;
    config.refuse_changed(order)?;
    let secrets = Secrets::take(&order.pass, variable).map_err(|missing| missing.to_string())?;
    let launcher = Launcher {
        // The scratch directory, because a command must not find its temporary files in the tree.
        temporary: Some(config.scratch.clone()),
        ..config.launcher.clone()
    };
    Ok(run_with(order, &secrets, &Files::in_dir(root), &launcher))
}

/// Edits of the judged tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alteration {
    pub files: Vec<Edit>,
    pub removed: Vec<TreePath>,
}

/// The tree as it was at one moment.
#[derive(Debug, Clone)]
pub struct TreeLook {
    snapshot: Snapshot,
    changes: Vec<Changed>,
    /// The copy over which commands run, once one did. All judgements of the tree share it.
    copy: Arc<Mutex<Option<Arc<TreeCopy>>>>,
}

impl TreeLook {
    pub fn of(snapshot: Snapshot, changes: Vec<Changed>) -> Self {
        Self {
            snapshot,
            changes,
            copy: Arc::default(),
        }
    }

    fn copied(&self) -> MutexGuard<'_, Option<Arc<TreeCopy>>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn copy(&self, config: &SandboxConfig) -> Result<Arc<TreeCopy>, CopyError> {
        let mut copied = self.copied();
        if let Some(copy) = &*copied {
            return Ok(Arc::clone(copy));
        }
        let memory = platform::shared_memory(pages(&self.snapshot));
        let copy = TreeCopy::write(&self.snapshot, memory, &config.scratch, &*config.load)?;
        Ok(Arc::clone(copied.insert(Arc::new(copy))))
    }

    pub fn take(config: &SandboxConfig) -> Result<Self, String> {
        let Some(root) = &config.root else {
            return Ok(Self::of(Snapshot::of(&config.baseline), Vec::new()));
        };
        let taken = Snapshot::take(root, &config.baseline, &config.zones, &config.ignored);
        let (snapshot, changes) = taken.map_err(|error| error.to_string())?;
        Ok(Self::of(snapshot, changes))
    }

    /// The baseline with the files that a client sent, instead of the working tree.
    pub fn receive(config: &SandboxConfig, patch: &TreePatch) -> Result<Self, BadPatch> {
        let (zones, ignored) = (&config.zones, &config.ignored);
        let (snapshot, changes) = Snapshot::receive(patch, &config.baseline, zones, ignored)?;
        Ok(Self::of(snapshot, changes))
    }

    /// Applies the edits; they count as changes of the tree.
    fn alter(&mut self, altered: &Alteration, zones: &Zones) -> Result<(), String> {
        if *altered != Alteration::default() {
            self.copy = Arc::default();
        }
        for edit in &altered.files {
            let path = TreePath::parse(&edit.path).map_err(|bad| bad.to_string())?;
            let was_there = self.snapshot.listing.get(&path).is_some();
            self.snapshot.left_out.remove(&path);
            self.snapshot.edit(&path, edit.text.as_bytes())?;
            self.note(&path, if was_there { "changed" } else { "added" }, zones);
        }
        for path in &altered.removed {
            self.snapshot.remove(path);
            self.note(path, "removed", zones);
        }
        self.changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(())
    }

    fn note(&mut self, path: &TreePath, how: &str, zones: &Zones) {
        self.changes.retain(|known| known.path != path.as_str());
        self.changes.push(Changed {
            path: path.to_string(),
            how: how.to_owned(),
            inside: zones.contains(path),
        });
    }
}

/// A service that runs, and its scratch copy.
struct Running {
    // Ended before its directory is removed: fields are dropped in this order.
    service: Service,
    _copy: Copy,
}

pub struct LiveSandbox<'a> {
    config: &'a SandboxConfig,
    /// The tree that is judged; without one, it is read when the judgement first asks about it.
    taken: Option<&'a TreeLook>,
    altered: Alteration,
    look: OnceCell<Result<TreeLook, String>>,
    /// The copy of the tree over which commands run.
    base: OnceCell<Result<Arc<TreeCopy>, String>>,
    services: RefCell<BTreeMap<String, Result<Running, String>>>,
    failure: RefCell<Option<String>>,
    /// The sandbox of commands that run over the tree of the control.
    control: OnceCell<Box<Self>>,
}

impl<'a> LiveSandbox<'a> {
    pub fn new(config: &'a SandboxConfig) -> Self {
        Self::over(config, None, Alteration::default())
    }

    /// The same over a tree that was read before, with these edits.
    pub fn over(
        config: &'a SandboxConfig,
        taken: Option<&'a TreeLook>,
        altered: Alteration,
    ) -> Self {
        Self {
            config,
            taken,
            altered,
            look: OnceCell::new(),
            base: OnceCell::new(),
            services: RefCell::default(),
            failure: RefCell::default(),
            control: OnceCell::new(),
        }
    }

    fn control(&self) -> Result<&Self, String> {
        let listing = self.config.control.as_ref().ok_or_else(|| {
            self.failed("the session has no copy of the control that passes".to_owned())
        })?;
        Ok(self.control.get_or_init(|| {
            let look = TreeLook::of(Snapshot::of(listing), Vec::new());
            Box::new(Self {
                look: OnceCell::from(Ok(look)),
                ..Self::new(self.config)
            })
        }))
    }

    fn look(&self) -> Result<&TreeLook, String> {
        let look = self.look.get_or_init(|| {
            let taken = self.taken.cloned();
            let mut look = taken.map_or_else(|| TreeLook::take(self.config), Ok)?;
            look.alter(&self.altered, &self.config.zones)?;
            Ok(look)
        });
        look.as_ref().map_err(|why| self.failed(why.clone()))
    }

    /// Remembers the first failure on comail's side.
    fn failed(&self, why: String) -> String {
        self.failure.borrow_mut().get_or_insert_with(|| why.clone());
        why
    }

    /// Refuses a program that changed. The quest file names the program, so its change is not the fault
    /// of the answer.
    fn refuse_changed(&self, order: &CommandSpec) -> Result<(), String> {
        let unchanged = self.config.refuse_changed(order);
        unchanged.map_err(|why| self.failed(why))
    }

    fn seen(&self, snapshot: &Snapshot, path: &TreePath) -> FileSeen {
        if let Some(why) = snapshot.left_out.get(path) {
            return FileSeen::Other(why.clone());
        }
        if snapshot.listing.is_folder(path) {
            return FileSeen::Other("a folder".to_owned());
        }
        match snapshot.read(path, &*self.config.load) {
            Ok(Some(bytes)) => FileSeen::File(bytes.to_vec()),
            Ok(None) if snapshot.listing.get(path).is_some() => {
                FileSeen::Other("a link".to_owned())
            }
            Ok(None) => FileSeen::Absent,
            Err(error) => FileSeen::Other(self.failed(error.to_string())),
        }
    }

    /// A scratch copy for an order. A reviewer sees only what no agent can write.
    fn copy_for(&self, order: &CommandSpec) -> Result<Copy, String> {
        let (scratch, load) = (&self.config.scratch, &*self.config.load);
        let failed = |error: CopyError| self.failed(error.to_string());
        if order.is_of_reviewer() {
            let pinned = Snapshot::beyond(&self.config.baseline, &self.config.zones);
            return Copy::whole(&pinned, scratch, load).map_err(failed);
        }
        let look = self.look()?;
        let base = self.base.get_or_init(|| {
            let copy = look.copy(self.config);
            copy.map_err(|error| error.to_string())
        });
        let base = base.as_ref().map_err(|why| self.failed(why.clone()))?;
        let mut edited = BTreeSet::new();
        let mut snapshot = Cow::Borrowed(&look.snapshot);
        for edit in &order.edits {
            let path = TreePath::parse(&edit.path).map_err(|bad| bad.to_string())?;
            snapshot.to_mut().edit(&path, edit.text.as_bytes())?;
            edited.insert(path);
        }
        let edited = snapshot
            .only(&edited)
            .map_err(|error| failed(error.into()))?;
        Copy::over(base, &edited, scratch, load).map_err(failed)
    }

    fn run_in(&self, order: &CommandSpec, copy: &Copy) -> CommandResult {
        let ran = match Secrets::take(&order.pass, variable) {
            Ok(secrets) => run_with(order, &secrets, copy.files(), &self.config.launcher),
            Err(missing) => CommandResult::not_started(order, missing.to_string()),
        };
        if let End::NotStarted(why) = &ran.end {
            self.failed(why.clone());
            return ran;
        }
        match self.refuse_less(&ran.confinement, &order.network) {
            Ok(()) => CommandResult {
                left_out: self.config.baseline.odd_texts(),
                ..ran
            },
            Err(why) => CommandResult::not_started(order, why),
        }
    }

    /// Refuses a run that was confined less than one was when the session was made.
    fn refuse_less(&self, now: &Confinement, network: &Network) -> Result<(), String> {
        if !now.is_less(&self.config.confinement, network) {
            return Ok(());
        }
        let why = "the system confines commands less than when the session was made";
        Err(self.failed(why.to_owned()))
    }

    fn start(&self, name: &str) -> Result<Running, String> {
        let plan = self.config.services.get(name);
        let plan = plan.ok_or_else(|| format!("there is no service {name}"))?;
        let mut starts = 0;
        loop {
            starts += 1;
            let port = free_port().map_err(|error| format!("no port is free: {error}"))?;
            let order = plan.order(name, port)?;
            self.refuse_changed(&order)?;
            let copy = self.copy_for(&order)?;
            let launcher = &self.config.launcher;
            match Service::start(&order, copy.files(), &plan.ready, port, launcher) {
                Ok(service) => {
                    self.refuse_less(&service.confinement(), &order.network)?;
                    return Ok(Running {
                        service,
                        _copy: copy,
                    });
                }
                // Another process took the port in the meantime; that is not the service's fault.
                Err(ServiceFailed::Died { .. }) if starts < MAX_STARTS && is_taken(port) => {}
                Err(failed @ ServiceFailed::NotStarted { .. }) => {
                    return Err(self.failed(failed.to_string()));
                }
                Err(failed) => return Err(failed.to_string()),
            }
        }
    }

    fn port(&self, name: &str) -> Result<u16, String> {
        let mut services = self.services.borrow_mut();
        let running = services
            .entry(name.to_owned())
            .or_insert_with(|| self.start(name));
        let running = running.as_ref().map_err(Clone::clone)?;
        Ok(running.service.port)
    }

    /// Whether an answer came from the service, and the service is still there.
    fn is_of(&self, name: &str, called: &Called) -> bool {
        let services = self.services.borrow();
        let running = services.get(name).and_then(|running| running.as_ref().ok());
        running.is_some_and(|running| match called {
            Called::Refused(_) => running.service.goes_on(),
            Called::Answered(_) | Called::Unanswered(_) => running.service.answers(),
        })
    }
}

impl Sandbox for LiveSandbox<'_> {
    fn file(&self, path: &TreePath) -> FileSeen {
        let seen = match self.look() {
            Ok(look) => self.seen(&look.snapshot, path),
            Err(why) => FileSeen::Other(why),
        };
        match (&seen, self.config.ignored.rule_of_file(path)) {
            (FileSeen::Absent, Some(rule)) => {
                FileSeen::Other(format!("a path that {rule} ignores"))
            }
            _ => seen,
        }
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        self.seen(&Snapshot::of(&self.config.baseline), path)
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        self.look().map(|look| look.changes.clone())
    }

    fn run(&self, order: &CommandSpec) -> CommandResult {
        if order.place == RunPlace::Control {
            let over_submission = CommandSpec {
                place: RunPlace::Submission,
                ..order.clone()
            };
            return match self.control() {
                Ok(control) => control.run(&over_submission),
                Err(why) => CommandResult::not_started(order, why),
            };
        }
        std::thread::sleep(order.pause());
        let unchanged = self.refuse_changed(order);
        let copy = match unchanged.and_then(|()| self.copy_for(order)) {
            Ok(copy) => copy,
            Err(why) => return CommandResult::not_started(order, why),
        };
        // The agent may have removed the directory, which is not a failure on comail's side.
        if copy.files().folder(&order.dir).is_some() {
            self.run_in(order, &copy)
        } else {
            CommandResult::not_started(order, "the working directory is not in the scratch copy")
        }
    }

    fn call(&self, asked: &Call) -> Called {
        let port = match self.port(&asked.service) {
            Ok(port) => port,
            Err(why) => return Called::Unanswered(why),
        };
        let called = call(asked, port);
        if self.is_of(&asked.service, &called) {
            called
        } else {
            let why = "it has ended, or another process listens on its port";
            Called::Unanswered(why.to_owned())
        }
    }

    fn nonce(&self) -> String {
        let mut bytes = [0_u8; 16];
        if let Err(error) = getrandom::fill(&mut bytes) {
            self.failed(format!("the system gives no randomness: {error}"));
        }
        let letters = bytes.map(|byte| char::from(b'a' + byte % 16));
        letters.into_iter().collect()
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        chat(order, variable).unwrap_or_else(|why| Chatted::Failed(self.failed(why)))
    }

    fn service(&self, name: &str, place: RunPlace) -> Started {
        let port = match place {
            RunPlace::Submission => self.port(name),
            RunPlace::Control => self.control().and_then(|control| control.port(name)),
        };
        match port {
            Ok(port) => Started::Listening { port },
            Err(why) => Started::Failed(why),
        }
    }

    fn failure(&self) -> Option<String> {
        if let Some(Ok(base)) = self.base.get()
            && let Err(changed) = base.check()
        {
            self.failed(changed.to_string());
            // Those who judge again need another copy.
            if let Ok(look) = self.look() {
                look.copied().take();
            }
        }
        let own = self.failure.borrow().clone();
        own.or_else(|| self.control.get()?.failure())
    }

    fn report_failure(&self, why: String) {
        self.failed(why);
    }
}
