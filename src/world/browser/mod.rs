//! A browser that decides what a reader of a page sees.
//!
//! Chromium loads a page that was fetched already, and runs its scripts. It has no network: it runs
//! in a namespace without interfaces, and whatever it asks for is answered here by [`Resources`], or
//! refused. It is driven over two pipes and never over a port, and keeps the sandbox of its own.
//!
//! What comes back is a document of what is painted, which `page/rendered.rs` reads: comail's own
//! reader finds addresses and names in it, and no longer guesses what a style sheet does.

mod chromium;
mod connection;
mod paint;
mod requests;
mod tab;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use url::Url;

use self::chromium::Chromium;
use crate::world::sandbox::Launcher;
use crate::world::{Rendered, Response, Unanswered, UnansweredKind};

pub use requests::{Resource, ResourceAnswer, Resources};

/// The names by which a browser that can be driven is installed. The first two have no windows, and
/// take half the time for a page.
const NAMES: [&str; 7] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// The first browser on a `PATH`.
pub fn find(path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let dirs: Vec<_> = std::env::split_paths(path?)
        .filter(|dir| dir.is_absolute())
        .collect();
    let mut found = NAMES
        .iter()
        .flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
    found.find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// How many pages are shown at a time.
const TABS: usize = 4;

/// One browser, which is started when it is first needed, and ended with this value.
#[derive(Debug)]
pub struct Browser {
    program: PathBuf,
    /// What starts and confines it; this program if none is named.
    launcher: Option<Launcher>,
    running: Mutex<Option<Arc<Chromium>>>,
    tabs: Tabs,
}

impl Browser {
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            launcher: None,
            running: Mutex::default(),
            tabs: Tabs::default(),
        }
    }

    /// A browser that another program starts, whose `main` calls
    /// [`confined`](crate::world::sandbox::confined()).
    pub fn started_by(launcher: Launcher, program: PathBuf) -> Self {
        Self {
            launcher: Some(launcher),
            ..Self::new(program)
        }
    }

    fn start(&self) -> Result<Chromium, String> {
        let launcher = match &self.launcher {
            Some(launcher) => launcher.clone(),
            None => Launcher::this().map_err(|error| error.to_string())?,
        };
        Chromium::start(&self.program, launcher)
    }

    /// The browser that runs, or a new one.
    fn started(&self) -> Result<Arc<Chromium>, String> {
        let mut running = locked(&self.running);
        match running.as_ref().filter(|it| it.is_alive()) {
            Some(chromium) => Ok(Arc::clone(chromium)),
            None => Ok(Arc::clone(running.insert(Arc::new(self.start()?)))),
        }
    }

    /// Lets the next page have another browser. Pages that this one shows still go on.
    fn give_up(&self, chromium: &Arc<Chromium>) {
        let mut running = locked(&self.running);
        running.take_if(|it| Arc::ptr_eq(it, chromium));
    }

    /// Starts it, and gives its version; the error says why it cannot be used.
    pub fn check(&self) -> Result<String, String> {
        let version = self.started()?.version();
        version.map_err(|failure| failure.to_string())
    }

    /// What a reader sees of the page that `response` brought.
    pub fn render(&self, url: &Url, response: &Response, resources: &dyn Resources) -> Rendered {
        let _tab = self.tabs.one();
        let chromium = match self.started() {
            Ok(chromium) => chromium,
            Err(why) => {
                let detail = format!("{}: {why}", self.program.display());
                let why = Unanswered::new(UnansweredKind::NoBrowser, detail);
                return Rendered::Unanswered(why);
            }
        };
        let rendered = tab::render(chromium.connection(), url, response, resources);
        rendered.unwrap_or_else(|failure| {
            self.give_up(&chromium);
            let detail = format!("{url}: the browser could not show it: {failure}");
            Rendered::Unanswered(Unanswered::new(UnansweredKind::Protocol, detail))
        })
    }
}

/// How many tabs are open, at most [`TABS`].
#[derive(Debug, Default)]
struct Tabs {
    open: Mutex<usize>,
    closed: Condvar,
}

impl Tabs {
    /// Waits for its turn, which ends with the guard.
    fn one(&self) -> Turn<'_> {
        let open = locked(&self.open);
        let is_full = |open: &mut usize| *open >= TABS;
        let open = self.closed.wait_while(open, is_full);
        *open.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn(self)
    }
}

struct Turn<'a>(&'a Tabs);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *locked(&self.0.open) -= 1;
        self.0.closed.notify_one();
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
