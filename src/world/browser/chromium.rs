//! Starts Chromium where it has no network and may write only to a directory of its own, and ends
//! it with everything that it started.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::connection::{Connection, Failure};
use crate::base::files;
use crate::world::sandbox::{CommandSpec, Files, Launcher, Namespace, Ready, Service};

const START_WITHIN: Duration = Duration::from_secs(20);

/// The pipes take the descriptors 3 and 4, which is what `--remote-debugging-pipe` means by default.
const SCRIPT: &str =
    r#"export HOME="$PWD"; exec "$0" "$@" --user-data-dir="$PWD/profile" 3<to 4>from"#;

const FLAGS: [&str; 20] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    // No page has secrets to keep from another: there are no cookies. In one process, the requests
    // of all frames come to one place.
    "--disable-site-isolation-trials",
    // Each window would start two renderers for the menus of its address bar.
    "--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,\
     WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    "--window-size=1280,900",
    "about:blank",
];

#[derive(Debug)]
pub(super) struct Chromium {
    connection: Connection,
    service: Service,
    // Dropped after the service, in this order.
    _thread: Sender<()>,
    _scratch: TempDir,
}

impl Chromium {
    pub(super) fn start(program: &Path, launcher: Launcher) -> Result<Self, String> {
        if !program.is_file() {
            return Err("there is no such program".to_owned());
        }
        let scratch = files::private_dir("comail-browser-", &std::env::temp_dir());
        let scratch = scratch.map_err(|error| format!("no temporary directory: {error}"))?;
        let dir = scratch.path().to_owned();
        let connection = Connection::new(&dir)
            .map_err(|error| format!("no pipes in {}: {error}", dir.display()))?;
        let order = order(program);
        // It may be installed where commands read nothing, with its files in its folder.
        let mut readable = vec![program.to_owned()];
        let real = fs::canonicalize(program).ok();
        readable.extend(real.as_deref().and_then(Path::parent).map(Path::to_owned));
        readable.retain(|path| launcher.home.as_ref() != Some(path));
        let started = on_lasting_thread(move || {
            let launcher = Launcher {
                never_root: true,
                readable,
                ..launcher
            };
            Service::start(&order, &Files::in_dir(&dir), &Ready::Started, 0, &launcher)
                .map_err(|error| format!("it cannot be started: {error}"))
        });
        let (service, thread) = started?;
        if !service.confinement().namespaces.contains(&Namespace::Net) {
            return Err("this system does not let it be kept off the network".to_owned());
        }
        let chromium = Self {
            connection,
            service,
            _thread: thread,
            _scratch: scratch,
        };
        if let Err(failure) = chromium.version() {
            let printed = chromium.service.stop().stderr;
            let printed = String::from_utf8_lossy(&printed);
            let last = printed.trim().lines().last().unwrap_or_default();
            return Err(format!(
                "it cannot be started: {failure}; it printed: {last}"
            ));
        }
        Ok(chromium)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.connection.check().is_ok() && self.service.ended().is_none()
    }

    pub(super) fn version(&self) -> Result<String, Failure> {
        const GET: &str = "Browser.getVersion";
        let until = Instant::now() + START_WITHIN;
        let mut line = self.connection.line();
        line.ask(GET, json!({}), until)?;
        loop {
            let soon = Instant::now() + Duration::from_millis(50);
            match line.receive(soon)? {
                Some(message) => {
                    let version = message.into_result(GET)?;
                    let product = version["product"].as_str().unwrap_or_default();
                    return Ok(product.to_owned());
                }
                // A program that ends before it opens the pipe closes none.
                None if !self.is_alive() => {
                    return Err(Failure::Gone(format!("{:?}", self.service.ended())));
                }
                None if Instant::now() >= until => return Err(Failure::Late),
                None => {}
            }
        }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }
}

fn order(program: &Path) -> CommandSpec {
    let mut argv = vec!["/bin/sh".to_owned(), "-c".to_owned(), SCRIPT.to_owned()];
    argv.push(program.to_string_lossy().into_owned());
    argv.extend(FLAGS.map(str::to_owned));
    let env = [
        ("PATH", "/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
    ];
    CommandSpec {
        name: "browser".to_owned(),
        argv,
        env: env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        timeout_ms: START_WITHIN.as_millis().try_into().unwrap_or(u64::MAX),
        output_bytes: 64 << 10,
        // Its own sandbox maps users there, and each process may write only what is its own.
        writable: vec!["/proc".to_owned()],
        ..CommandSpec::default()
    }
}

/// Starts something on a thread that lives until the sender is dropped. `run` takes what was started
/// by a thread that has ended for an orphan, and ends it.
fn on_lasting_thread<T: Send + 'static>(
    start: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<(T, Sender<()>), String> {
    let (started, waiting) = channel();
    let (alive, ended) = channel::<()>();
    thread::spawn(move || {
        let _ = started.send(start());
        let _ = ended.recv();
    });
    let started = waiting.recv().map_err(|error| error.to_string())??;
    Ok((started, alive))
}
