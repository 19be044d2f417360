//! A pane of tmux: a terminal that tests read and type into.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Place, Run, poll, profile_file, tools};

/// Runs the program in the pane, and records the settings of the terminal before and after. Ctrl-C is
/// for the program alone.
const SCRIPT: &str = r#"
trap : INT
cd "$DIR"
echo what was there before
stty -a >stty-before
sh -c 'echo $$ >pid; exec "$0" "$@"' "$@"
echo $? >code
stty -a >stty-after.new
mv stty-after.new stty-after
cat
"#;

const SETTINGS: &str = "set -g status off\n";

/// A pane in which the program runs.
pub struct Tmux {
    dir: PathBuf,
    socket: PathBuf,
}

/// Numbers the servers, so that none meets one that is ending.
static STARTED: AtomicUsize = AtomicUsize::new(0);

impl Tmux {
    /// The program with these arguments, at a terminal of this size in `place`.
    pub fn run(place: &Place, size: (u16, u16), env: &[(&str, &str)], args: &[&str]) -> Self {
        let program = [&[env!("CARGO_BIN_EXE_comail")], args].concat();
        Self::program(place, size, env, &program)
    }

    /// Any program with its arguments, such as a shell.
    pub fn program(
        place: &Place,
        size: (u16, u16),
        env: &[(&str, &str)],
        program: &[&str],
    ) -> Self {
        tools::installed("tmux", "-V");
        place.write("tmux.conf", SETTINGS);
        place.write("pane.sh", SCRIPT);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let this = Self {
            dir: place.path().to_owned(),
            socket: place.at(&format!("tmux-{number}")),
        };
        for left in ["pid", "code", "stty-before", "stty-after"] {
            let _ = std::fs::remove_file(this.dir.join(left));
        }
        let profile = profile_file().map(|file| format!("LLVM_PROFILE_FILE={file}"));
        let env = env.iter().map(|(name, value)| format!("{name}={value}"));
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        let mut command = this.command();
        command.args(["new-session", "-d", "-x", &columns, "-y", &rows, "sh"]);
        command.arg(this.dir.join("pane.sh")).arg("env");
        command.args(env.chain(profile));
        command.args(program);
        Run::of(&mut command).ok();
        this
    }

    /// Presses keys, by their names in tmux.
    pub fn press(&self, keys: &[&str]) {
        self.tell(&[&["send-keys"], keys].concat());
    }

    pub fn types(&self, text: &str) {
        self.tell(&["send-keys", "-l", text]);
    }

    /// Pastes a text, as one that a terminal marks as pasted where it is asked to.
    pub fn pastes(&self, text: &str) {
        self.tell(&["set-buffer", text]);
        self.tell(&["paste-buffer", "-p"]);
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tell(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// From now on, what the program writes goes to this file as well.
    pub fn records(&self, file: &std::path::Path) {
        self.tell(&["pipe-pane", "-O", &format!("cat >'{}'", file.display())]);
    }

    /// Sends the program a signal, by its name.
    pub fn signal(&self, name: &str) {
        let pid = self.file("pid");
        let mut kill = Command::new("kill");
        Run::of(kill.args(["-s", name, pid.trim()])).ok();
    }

    /// Waits until the screen shows all of these, and returns it.
    #[track_caller]
    pub fn shows(&self, wanted: &[&str]) -> String {
        // A screen may be looked at while it is drawn: it must have come to rest.
        self.awaits(wanted, true)
    }

    /// Waits until the screen shows all of these at once, even if it still changes, and returns it.
    #[track_caller]
    pub fn glimpses(&self, wanted: &[&str]) -> String {
        self.awaits(wanted, false)
    }

    #[track_caller]
    fn awaits(&self, wanted: &[&str], at_rest: bool) -> String {
        let mut last = String::new();
        let shown = poll::tried(|| {
            let before = std::mem::replace(&mut last, self.pane());
            let rests = !at_rest || before == last;
            rests && wanted.iter().all(|part| last.contains(part))
        });
        assert!(shown, "the screen never shows {wanted:?}:\n{last}");
        last
    }

    /// Waits until the program has ended, and returns its exit code; the terminal must be as it was
    /// before.
    #[track_caller]
    pub fn ends(&self) -> i32 {
        let shown = || self.pane();
        let ended = poll::tried(|| self.dir.join("stty-after").exists());
        assert!(ended, "it never ends:\n{}", shown());
        assert_eq!(self.file("stty-before"), self.file("stty-after"));
        self.shows(&["what was there before"]);
        assert_eq!(
            self.asks("#{alternate_on} #{cursor_flag} #{wrap_flag}"),
            "0 1 1"
        );
        self.file("code").trim().parse().expect("an exit code")
    }

    /// What tmux says of the pane.
    pub fn asks(&self, format: &str) -> String {
        let said = self.tell(&["display-message", "-p", format]);
        said.trim_end().to_owned()
    }

    /// The screen, with its colours as escape sequences.
    pub fn coloured(&self) -> String {
        self.tell(&["capture-pane", "-p", "-e"])
    }

    fn pane(&self) -> String {
        self.tell(&["capture-pane", "-p"])
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.join(name)).expect("a file of the pane")
    }

    #[track_caller]
    fn tell(&self, args: &[&str]) -> String {
        Run::of(self.command().args(args)).ok()
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", &self.dir)
            .env("DIR", &self.dir)
            .arg("-u")
            .arg("-S")
            .arg(&self.socket)
            .arg("-f")
            .arg(self.dir.join("tmux.conf"));
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").output();
    }
}
