//! The tools that quest files run.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A search path on which `python3` has pytest, and `cargo` is a toolchain's own.
pub fn path() -> OsString {
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let own = [made().join("python/bin"), rust()]
        .into_iter()
        .chain(system);
    std::env::join_paths(own).expect("directories without a colon")
}

/// The folder of the npm packages that open a page in Chromium, which is installed where missing.
pub fn browser() -> PathBuf {
    let tools = made();
    let place = tools.join("browser");
    let chromium = std::env::var_os("CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    for (path, remedy) in [
        (PathBuf::from(chromium), CHROMIUM),
        (
            place.join("made-with"),
            "install Node.js with npm, and have .ci/tools reach the npm registry",
        ),
    ] {
        assert!(
            path.exists(),
            "{} is missing, with which the HTML page is looked at, and .ci/tools cannot make it: \
             {remedy}",
            path.display()
        );
    }
    place
}

const CHROMIUM: &str = "install your system's package `chromium`, or name the program in CHROMIUM";

/// The browser that shows pages to the gate. The one without windows is faster.
pub fn chromium() -> PathBuf {
    let usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let mut programs = named.into_iter().chain(usual.map(PathBuf::from));
    let found = programs.find(|program| program.exists());
    found.unwrap_or_else(|| panic!("no browser is found: {CHROMIUM}"))
}

/// Installs tmux or a shell, which prints its version with this option, where it is missing.
pub fn installed(name: &str, version: &str) {
    let starts = || {
        let asked = Command::new(name).arg(version).output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    if !starts() {
        made();
    }
    assert!(
        starts(),
        "{name} is missing, which the tests need, and .ci/tools cannot install it: install your \
         system's package `{name}`"
    );
}

/// The directory of the tools, which are made where they are missing.
pub fn made() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = root.join("target/tools");
    fs::create_dir_all(&tools).expect("a directory for tools");
    // Tests run in processes of their own, and one of them makes it.
    let lock = File::create(tools.join("lock")).expect("a lock");
    lock.lock().expect("a turn at the tools");
    let made = Command::new(root.join(".ci/tools")).output();
    let made = made.expect("the script that makes the tools starts");
    assert!(
        made.status.success(),
        ".ci/tools cannot make the tools of the tests, which come from the package \
         registries: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    tools
}

/// The programs of the Rust toolchain with which this was built.
fn rust() -> PathBuf {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let asked = asked.expect("rustc starts");
    let root = String::from_utf8(asked.stdout).expect("a path");
    Path::new(root.trim()).join("bin")
}
