//! What a confined agent may use: its working directory, its own folders, and where programs are.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use super::command::{AgentCommand, Preset};
use crate::world::sandbox::{Grants, installed, interpreter, of_path, prefix, real, system};

/// The place where an agent is started, and the paths that it must not reach.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The agent's working directory.
    pub dir: PathBuf,
    /// Not if each start gets a worktree instead.
    pub dir_is_writable: bool,
    pub session: PathBuf,
    /// The `PATH` in which programs are found.
    pub path: OsString,
    pub home: Option<PathBuf>,
    /// The value of a variable of the environment.
    pub variable: fn(&str) -> Option<OsString>,
    /// Paths that no grant may contain: the user's configuration and the shared temporary directories.
    pub private: Vec<PathBuf>,
    /// What the user granted: to read, and to change.
    pub readable: Vec<PathBuf>,
    pub writable: Vec<PathBuf>,
}

/// Why an agent is not confined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unconfined {
    #[error("--confine is off")]
    Off,
    #[error("it may change {}, which contains {}", granted.display(), private.display())]
    Contains { granted: PathBuf, private: PathBuf },
    #[error("the session contains {}", .0.display())]
    InSession(PathBuf),
    #[error("{0}")]
    System(String),
}

/// The grants of an agent; `program` is the first word of its command line.
pub fn grants(
    command: &AgentCommand,
    program: &OsStr,
    around: &Surroundings,
) -> Result<Grants, Unconfined> {
    let (state, words): (_, &[OsString]) = match command {
        AgentCommand::Preset(preset, _) => (state(preset, around), &[]),
        AgentCommand::Custom(words) => (Vec::new(), words),
    };
    let home = around.home.iter().chain([&around.session]);
    let private: Vec<_> = home.chain(&around.private).cloned().collect();
    let session = &around.session;
    let dir = around.dir_is_writable.then(|| around.dir.clone());
    let write = dir.into_iter().chain(state);
    let mut write: Vec<_> = real(write.chain(around.writable.iter().cloned())).collect();
    let all = write.clone();
    write.retain(|path| !all.iter().any(|it| it != path && path.starts_with(it)));
    let own_sandbox = command.has_sandbox();
    // It is not known what the agent's own sandbox allows.
    let mut is_open = own_sandbox;
    for granted in &write {
        if granted.starts_with(session) {
            return Err(Unconfined::InSession(granted.clone()));
        }
        is_open |= session.starts_with(granted);
        let inside = private
            .iter()
            .find(|it| *it != session && it.starts_with(granted));
        if let Some(private) = inside {
            return Err(Unconfined::Contains {
                granted: granted.clone(),
                private: private.clone(),
            });
        }
    }
    // Such a path is granted already, and the agent could have put a link there.
    let is_writable = |path: &Path| write.iter().any(|granted| path.starts_with(granted));
    let named = words
        .iter()
        .skip(1)
        .flat_map(|word| of_argument(&around.dir.join(word)));
    let read = of_path(&around.path)
        .into_iter()
        .chain(of_program(program, around, is_writable))
        .chain(named)
        .chain(
            around
                .home
                .iter()
                .flat_map(|home| COMMON.map(|name| home.join(name))),
        )
        .chain([session.join("session.json")])
        .chain(around.readable.iter().cloned());
    let read = read
        .map(|path| without_dots(&path))
        .filter(|path| !is_writable(path) || path.starts_with(session));
    let is_allowed = |granted: &PathBuf| !private.iter().any(|it| it.starts_with(granted));
    let mut read: Vec<_> = real(read).filter(is_allowed).collect();
    read.sort();
    read.dedup();
    Ok(Grants {
        system: system(&private),
        read,
        write,
        hidden: is_open.then(|| session.clone()).into_iter().collect(),
        own_sandbox,
        alone: false,
    })
}

/// Files of the home directory that common programs need: git does not start without its settings,
/// and Rust not without its toolchains.
const COMMON: [&str; 3] = [".gitconfig", ".config/git", ".rustup"];

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Variables that name a folder, and the folder in the home directory where they are not set.
const FOLDERS: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// Where a known agent keeps its logins, settings and conversations.
fn state(preset: &Preset, around: &Surroundings) -> Vec<PathBuf> {
    let paths = preset.state.iter().filter_map(|name| {
        if let Some(variable) = name.strip_prefix('$') {
            return (around.variable)(variable).map(PathBuf::from);
        }
        let of_folder = FOLDERS.iter().find_map(|(variable, folder)| {
            let rest = name.strip_prefix(folder)?.strip_prefix('/')?;
            Some(Path::new(&(around.variable)(variable)?).join(rest))
        });
        let path = of_folder.or_else(|| Some(around.home.as_ref()?.join(name)))?;
        if name.ends_with('/') {
            // The agent cannot create it, because it may not write to the folder above.
            let _ = fs::create_dir_all(&path);
        }
        Some(path)
    });
    paths.collect()
}

/// Where the program of the agent and its interpreter were installed.
fn of_program(
    program: &OsStr,
    around: &Surroundings,
    is_writable: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let named = Path::new(program);
    let found = if named.components().count() > 1 {
        Some(around.dir.join(named))
    } else {
        let mut places = env::split_paths(&around.path).map(|dir| around.dir.join(dir).join(named));
        places.find(|place| place.is_file())
    };
    let Some(found) = found.map(|found| without_dots(&found)) else {
        return Vec::new();
    };
    let interpreter = interpreter(&found);
    // A virtual environment has its packages next to a link to its interpreter.
    let beside = interpreter.as_deref().and_then(Path::parent).map(prefix);
    let files = real([found.clone()].into_iter().chain(interpreter));
    // The agent could have made the link, so it may lead only to a directory of programs.
    let is_trusted = |file: &PathBuf| {
        !is_writable(&found) || file.parent().is_some_and(|dir| dir.ends_with("bin"))
    };
    files
        .filter(is_trusted)
        .flat_map(|file| installed(&file))
        .chain(beside)
        .collect()
}

/// A script that the command line names, and what is next to it.
fn of_argument(path: &Path) -> Vec<PathBuf> {
    let dir = path.parent().filter(|_| path.is_file());
    dir.into_iter().chain([path]).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Place {
        _dir: tempfile::TempDir,
        around: Surroundings,
    }

    /// A home with a project, in which there is a session.
    fn place() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("home");
        for name in ["project/.comail", ".cargo/bin", ".config/comail", "agents"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        for name in ["agents/agent.sh", "loose.sh", ".gitconfig"] {
            fs::write(home.join(name), "").unwrap();
        }
        let around = Surroundings {
            dir_is_writable: true,
            dir: home.join("project"),
            session: home.join("project/.comail"),
            path: home.join(".cargo/bin").into(),
            private: vec![home.join(".config/comail")],
            home: Some(home),
            variable: |_| None,
            readable: Vec::new(),
            writable: Vec::new(),
        };
        Place { _dir: dir, around }
    }

    fn custom(words: &[&str]) -> AgentCommand {
        AgentCommand::Custom(words.iter().map(OsString::from).collect())
    }

    fn of(around: &Surroundings, words: &[&str]) -> Result<Grants, Unconfined> {
        grants(&custom(words), words[0].as_ref(), around)
    }

    #[test]
    fn the_working_directory_is_granted_without_the_session_in_it() {
        let place = place();
        let around = &place.around;
        let home = around.home.as_deref().unwrap();
        let granted = of(around, &["sh", "../agents/agent.sh"]).unwrap();
        assert_eq!(granted.write, [home.join("project")]);
        assert_eq!(granted.hidden, [home.join("project/.comail")]);
        for name in [".cargo", ".gitconfig", "agents"] {
            assert!(granted.read.contains(&home.join(name)), "{granted:?}");
        }
        // A script directly in the home directory must not grant all of it.
        let granted = of(around, &["sh", "../loose.sh"]).unwrap();
        assert!(granted.read.contains(&home.join("loose.sh")));
        assert!(
            !granted.read.iter().any(|it| home.starts_with(it)),
            "{granted:?}"
        );
        let elsewhere = Surroundings {
            session: home.join("agents"),
            ..around.clone()
        };
        assert_eq!(
            of(&elsewhere, &["sh"]).unwrap().hidden,
            [""; 0].map(PathBuf::from)
        );
    }

    #[test]
    fn refuses_grants_that_contain_private_paths() {
        let place = place();
        let around = &place.around;
        let home = around.home.clone().unwrap();
        let at = |dir: &str| {
            let mut around = around.clone();
            around.dir = home.join(dir);
            of(&around, &["sh"])
        };
        assert!(matches!(at(""), Err(Unconfined::Contains { .. })));
        assert!(matches!(at(".."), Err(Unconfined::Contains { .. })));
        assert!(matches!(at(".config"), Err(Unconfined::Contains { .. })));
        assert!(matches!(
            at("project/.comail"),
            Err(Unconfined::InSession(_))
        ));
        assert!(at("agents").is_ok());
        let mut wide = around.clone();
        wide.path = home.join("bin").into();
        wide.readable = vec![home.join(".config"), home.join("agents")];
        fs::create_dir(home.join("bin")).unwrap();
        let read = of(&wide, &["sh"]).unwrap().read;
        assert!(read.contains(&home.join("bin")), "{read:?}");
        assert!(read.contains(&home.join("agents")), "{read:?}");
        assert!(!read.contains(&home.join(".config")), "{read:?}");
        assert!(!read.contains(&home), "{read:?}");
    }

    #[test]
    fn a_session_below_a_system_directory_is_not_granted() {
        let mut place = place();
        let around = &mut place.around;
        let of_shared = |granted: Grants| {
            let shared = PathBuf::from("/usr/share");
            assert!(granted.system.contains(&"/usr/bin".into()), "{granted:?}");
            granted.system.iter().any(|it| shared.starts_with(it))
        };
        assert!(of_shared(of(around, &["sh"]).unwrap()));
        around.private.push("/usr/share".into());
        assert!(!of_shared(of(around, &["sh"]).unwrap()));
        around.private.pop();
        around.session = "/usr/share".into();
        assert!(!of_shared(of(around, &["sh"]).unwrap()));
    }

    #[test]
    fn a_link_that_the_agent_could_make_grants_nothing_else() {
        let place = place();
        let mut around = place.around.clone();
        let home = around.home.clone().unwrap();
        fs::create_dir(home.join("secret")).unwrap();
        fs::write(home.join("secret/key"), "").unwrap();
        let project = around.dir.clone();
        symlink(home.join("secret"), project.join("bin")).unwrap();
        symlink(home.join("secret/key"), project.join("agent")).unwrap();
        around.path = project.join("bin").into();
        around.readable = vec![project.join("bin")];
        for words in [&["./agent", "bin"][..], &["agent", "bin/key"], &["key"]] {
            let read = of(&around, words).unwrap().read;
            let secret = home.join("secret");
            assert!(!read.iter().any(|it| it.starts_with(&secret)), "{read:?}");
        }
        // Elsewhere, only the user can have made a link.
        symlink(home.join("secret"), home.join("link")).unwrap();
        let read = of(&around, &["sh", "../link/key"]).unwrap().read;
        assert!(read.contains(&home.join("secret")), "{read:?}");
    }

    #[test]
    fn the_interpreter_of_a_script_is_granted_with_its_installation() {
        let place = place();
        let around = &place.around;
        let home = around.home.clone().unwrap();
        for dir in ["python/bin", "python/lib", "venv/bin", "secret"] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        fs::write(home.join("python/bin/python3"), "").unwrap();
        fs::write(home.join("secret/key"), "").unwrap();
        let of_venv = |venv: &Path, to: &str| {
            fs::create_dir_all(venv).unwrap();
            let _ = fs::remove_file(venv.join("python"));
            symlink(home.join(to), venv.join("python")).unwrap();
            let script = format!("#!{}/python -I\n", venv.display());
            fs::write(venv.join("agent"), script).unwrap();
            of(around, &[venv.join("agent").to_str().unwrap()])
                .unwrap()
                .read
        };
        let read = of_venv(&home.join("venv/bin"), "python/bin/python3");
        for name in ["python", "venv"] {
            assert!(read.contains(&home.join(name)), "{read:?}");
        }
        let own = around.dir.join("venv/bin");
        let read = of_venv(&own, "python/bin/python3");
        assert!(read.contains(&home.join("python")), "{read:?}");
        let read = of_venv(&own, "secret/key");
        assert!(!read.iter().any(|it| it.ends_with("secret")), "{read:?}");
        assert!(!read.iter().any(|it| it.ends_with("key")), "{read:?}");
    }

    #[test]
    fn a_known_agent_gets_its_own_folders() {
        let place = place();
        let home = place.around.home.clone().unwrap();
        let known = |name| {
            let preset = Preset::named(name).unwrap();
            let command = AgentCommand::Preset(preset, Vec::new());
            grants(&command, preset.program().as_ref(), &place.around)
        };
        let claude = known("claude").unwrap().write;
        assert!(claude.contains(&home.join(".claude")), "{claude:?}");
        let opencode = known("opencode").unwrap().write;
        let share = home.join(".local/share/opencode");
        assert!(opencode.contains(&share), "{opencode:?}");
        let codex = known("codex").unwrap();
        assert!(codex.own_sandbox && !codex.hidden.is_empty());
    }
}
