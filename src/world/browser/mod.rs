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
use std::sync::{Mutex, PoisonError};

use url::Url;

use self::chromium::Chromium;
use self::connection::Failure;
use crate::world::sandbox::Launcher;
use crate::world::{Rendered, Response, Unanswered, UnansweredKind};

pub use requests::{Resource, ResourceAnswer, Resources};

/// The names by which a browser that can be driven is installed.
const NAMES: [&str; 5] = [
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

/// One browser, which is started when it is first needed, and ended with this value.
#[derive(Debug)]
pub struct Browser {
    program: PathBuf,
    /// What starts and confines it; this program if none is named.
    launcher: Option<Launcher>,
    running: Mutex<Option<Chromium>>,
}

impl Browser {
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            launcher: None,
            running: Mutex::default(),
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

    fn started<'r>(&self, running: &'r mut Option<Chromium>) -> Result<&'r mut Chromium, String> {
        if running.as_ref().is_some_and(|it| !it.is_alive()) {
            *running = None;
        }
        match running {
            Some(chromium) => Ok(chromium),
            none => Ok(none.insert(self.start()?)),
        }
    }

    /// Starts it, and gives its version; the error says why it cannot be used.
    pub fn check(&self) -> Result<String, String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let chromium = self.started(&mut running)?;
        let version = chromium.version();
        if version.is_err() {
            *running = None;
        }
        version.map_err(|failure| failure.to_string())
    }

    /// What a reader sees of the page that `response` brought. One page is rendered at a time.
    pub fn render(&self, url: &Url, response: &Response, resources: &dyn Resources) -> Rendered {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut again = true;
        loop {
            let chromium = match self.started(&mut running) {
                Ok(chromium) => chromium,
                Err(why) => return no_browser(&self.program, &why),
            };
            let failure = match tab::render(chromium.connection(), url, response, resources) {
                Ok(rendered) => return rendered,
                Err(failure) => failure,
            };
            // It may have died for a reason of its own, such as lack of memory.
            *running = None;
            if !again || !matches!(failure, Failure::Gone(_)) {
                let detail = format!("{url}: the browser could not show it: {failure}");
                let unanswered = Unanswered::new(UnansweredKind::Protocol, detail);
                return Rendered::Unanswered(unanswered);
            }
            again = false;
        }
    }
}

fn no_browser(program: &Path, why: &str) -> Rendered {
    let detail = format!("{}: {why}", program.display());
    Rendered::Unanswered(Unanswered::new(UnansweredKind::NoBrowser, detail))
}
