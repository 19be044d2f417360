//! The paths that commands and agents may read: the system, the programs that they find, and what
//! belongs to these programs. They may read nothing else of the user.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

use super::api::CommandSpec;
use crate::base::files;

/// Holds programs that are installed whole; some users keep projects there.
const OPT: &str = "/opt";

/// Directories that programs of the system need, and that usually contain no files of a user.
const SYSTEM: [&str; 22] = [
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    OPT,
    "/proc",
    "/run/current-system",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/cache/fontconfig",
    "/var/lib/ca-certificates",
    "/var/lib/gems",
    "/var/lib/ghc",
    "/var/lib/python",
];

/// The shared temporary directories, where other programs also keep files.
pub const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/run/user"];

/// Tools of one user and their downloads, below the home directory.
const TOOLS: [&str; 45] = [
    ".asdf",
    ".bun",
    ".cabal",
    ".cargo",
    ".conda",
    ".config/git",
    ".deno",
    ".dotnet",
    ".gem",
    ".ghcup",
    ".gitconfig",
    ".goenv",
    ".gradle/caches",
    ".gradle/wrapper",
    ".jenv",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".local/state/nix",
    ".m2/repository",
    ".m2/wrapper",
    ".nix-profile",
    ".nodenv",
    ".nuget/packages",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".stack",
    ".virtualenvs",
    ".volta",
    "anaconda3",
    "go/bin",
    "go/pkg",
    "miniconda3",
    "miniforge3",
];

/// Files with keys and passwords, below the home directory.
const SECRETS: [&str; 22] = [
    ".aws",
    ".azure",
    // The lines and evidence of sessions in a database.
    ".cache/comail/sessions",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/comail",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pki",
    ".pypirc",
    ".ssh",
];

/// Directories below the home directory that are never granted as a whole.
const WHOLE: [&str; 3] = [".config", ".local", ".local/share"];

/// Keys and passwords of the system, which root can read.
pub(super) const SYSTEM_SECRETS: [&str; 8] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
];

/// The paths that a command may read, and the directories that otherwise appear empty to it.
#[derive(Debug)]
pub(super) struct Reading {
    pub read: Vec<PathBuf>,
    pub hidden: Vec<PathBuf>,
}

/// The user's paths that a command may or may not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach<'a> {
    pub home: Option<&'a Path>,
    pub hidden: &'a [PathBuf],
    pub readable: &'a [PathBuf],
}

impl Reading {
    pub(super) fn of(order: &CommandSpec, reach: Reach<'_>) -> Self {
        let home = reach.home.iter().flat_map(fs::canonicalize).next();
        let in_home = |names: &[&'static str]| -> Vec<PathBuf> {
            let homes = home.iter();
            homes
                .flat_map(|home| names.iter().map(|name| home.join(name)))
                .collect()
        };
        let temporary = TEMPORARY.map(PathBuf::from).into_iter();
        let temporary: Vec<_> = real(temporary.chain([env::temp_dir()])).collect();
        let hidden: Vec<_> = real(reach.hidden.iter().cloned()).collect();
        let secrets = [in_home(&SECRETS), hidden.clone()].concat();
        let secrets = secrets.into_iter();
        let secrets: Vec<_> = secrets
            .chain(of_environment(&|name| env::var_os(name)))
            .collect();
        let hidden: Vec<_> = hidden
            .into_iter()
            .chain(temporary.clone())
            .chain(home.clone())
            .collect();
        // A directory above the session is granted without the session; one above these is not granted.
        let whole: Vec<_> = in_home(&WHOLE)
            .into_iter()
            .chain(temporary)
            .chain(home.clone())
            .collect();
        let path = order.env.get("PATH").map_or("", String::as_str);
        let program = order.argv.first().map_or("", String::as_str);
        let granted = of_path(path.as_ref())
            .into_iter()
            .chain(of_program(Path::new(program)))
            .chain(in_home(&TOOLS))
            .chain(reach.readable.iter().cloned());
        let granted: Vec<_> = granted.collect();
        let contains = |granted: &PathBuf| whole.iter().any(|it| it.starts_with(granted));
        let mut read: BTreeSet<_> = real(granted.iter().cloned())
            .filter(|it| !contains(it))
            .flat_map(|it| without(&it, &secrets))
            .chain(system(secrets.iter().chain(&hidden)))
            .collect();
        // A link to a granted directory is granted too, so that programs find the directory by it.
        for path in granted {
            let is_plain = path.components().all(|part| part != Component::ParentDir);
            if is_plain && fs::canonicalize(&path).is_ok_and(|real| read.contains(&real)) {
                read.insert(path);
            }
        }
        // A reviewer is a program of the operator that may need its login there. It never runs over
        // files that an agent wrote.
        let has_home = order.env.contains_key("HOME") || order.pass.iter().any(|it| it == "HOME");
        let opens_home = order.is_of_reviewer() && has_home;
        if let Some(home) = home.as_ref().filter(|_| opens_home) {
            read.extend(without(home, &secrets));
        }
        Self {
            read: read.into_iter().collect(),
            hidden: hidden
                .into_iter()
                .filter(|it| it.parent().is_some() && !(opens_home && Some(it) == home.as_ref()))
                .collect(),
        }
    }
}

/// The private paths that the environment names: the settings, the mirrors of sessions, and the password
/// file of databases.
fn of_environment(variables: &dyn Fn(&str) -> Option<OsString>) -> impl Iterator<Item = PathBuf> {
    let below = |name, path| variables(name).map(|dir| Path::new(&dir).join(path));
    // Paths are granted without links. To hide a directory that somebody named by mistake could hide all.
    let passwords = variables("PGPASSFILE").and_then(|path| fs::canonicalize(path).ok());
    let passwords = passwords.filter(|path| path.is_file());
    let config = below("XDG_CONFIG_HOME", "comail");
    let mirrors = below("XDG_CACHE_HOME", "comail/sessions");
    config.into_iter().chain(mirrors).chain(passwords)
}

/// A path or, in `/opt`, the folder at its top that contains it.
fn with_neighbours(path: &Path) -> PathBuf {
    match path.strip_prefix(OPT) {
        Ok(within) => Path::new(OPT).join(within.iter().next().unwrap_or_default()),
        Err(_) => path.to_owned(),
    }
}

/// The readable directories of the system, without the private paths, and without what lies beside them
/// in a folder of `/opt`.
pub fn system<'a>(private: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let private = private.into_iter().map(|path| with_neighbours(path));
    let private: Vec<_> = private.collect();
    let system: BTreeSet<_> = real(SYSTEM.map(PathBuf::from).into_iter()).collect();
    let read = system.iter().flat_map(|granted| {
        // A home directory may contain the whole system.
        let within = |it: &&PathBuf| !granted.starts_with(it) || granted == *it;
        let private: Vec<_> = private.iter().filter(within).cloned().collect();
        without(granted, &private)
    });
    read.collect()
}

/// A directory or, if it contains private paths, its other entries: a grant cannot be revoked in part.
pub fn without(granted: &Path, private: &[PathBuf]) -> Vec<PathBuf> {
    if private.iter().any(|it| granted.starts_with(it)) {
        return Vec::new();
    }
    if !private.iter().any(|it| it.starts_with(granted)) {
        return vec![granted.to_owned()];
    }
    let entries = fs::read_dir(granted).into_iter().flatten().flatten();
    // The target of a link is granted by itself, or not at all.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries
        .flat_map(|entry| without(&entry.path(), private))
        .collect()
}

/// The existing paths, without links.
pub fn real(paths: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    paths.filter_map(|path| fs::canonicalize(path).ok())
}

/// The directories of `PATH` and their installations: `~/.cargo` for `~/.cargo/bin`.
pub fn of_path(path: &OsStr) -> Vec<PathBuf> {
    let absolute = env::split_paths(path).filter(|dir| dir.is_absolute());
    absolute
        .flat_map(|dir| [prefix(&dir), dir.join("../lib"), dir])
        .collect()
}

/// The directory above one that is called `bin` or the like; otherwise the directory itself.
pub fn prefix(dir: &Path) -> PathBuf {
    let name = dir.file_name().and_then(OsStr::to_str);
    let above = dir
        .parent()
        .filter(|_| matches!(name, Some("bin" | ".bin" | "shims")));
    above.unwrap_or(dir).to_owned()
}

/// A program with its interpreter, and the installations of both.
fn of_program(program: &Path) -> Vec<PathBuf> {
    let interpreter = interpreter(program);
    let beside = interpreter.as_deref().and_then(Path::parent).map(prefix);
    let named = [program.to_owned()].into_iter().chain(interpreter);
    let files = named.flat_map(|file| [file.clone(), fs::canonicalize(&file).unwrap_or(file)]);
    files
        .flat_map(|file| installed(&file))
        .chain(beside)
        .collect()
}

/// The program that a script names in its first line.
pub fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    let file = files::open(script).ok()?;
    file.take(MAX_FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let words = line.trim_ascii().split(u8::is_ascii_whitespace);
    words.map(OsStr::from_bytes).map(PathBuf::from).next()
}

const MAX_FIRST_LINE: u64 = 256;

/// A program and its installation.
pub fn installed(file: &Path) -> Vec<PathBuf> {
    // A package of Node.js may need the packages next to it.
    let modules = file.ancestors().filter(|dir| dir.ends_with("node_modules"));
    let dirs = file.parent().map(prefix).into_iter();
    let modules = modules.last().map(Path::to_owned);
    dirs.chain(modules).chain([file.to_owned()]).collect()
}

/// The paths that the agents of this process may change. A process drives at most one run, and all
/// its judgements must respect this.
static OF_AGENTS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Keeps commands from finding programs in these directories from now on.
pub fn distrust(writable: Vec<PathBuf>) {
    let _ = OF_AGENTS.set(writable);
}

/// The directories of `path` that are not below one that an agent may change.
pub fn trusted_path(path: &OsStr, writable: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let of_agents = OF_AGENTS.get().into_iter().flatten();
    let writable: Vec<_> = of_agents.chain(writable).collect();
    let is_trusted = |dir: &PathBuf| {
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
        let mut writable = writable.iter();
        !writable.any(|it| real.starts_with(it) || dir.starts_with(it))
    };
    env::split_paths(path).partition(is_trusted)
}

pub(super) fn path_of_command(path: &str, untrusted: &[PathBuf]) -> String {
    let (kept, dropped) = trusted_path(path.as_ref(), untrusted);
    if dropped.is_empty() {
        return path.to_owned();
    }
    // The parts of a path can be joined again.
    let joined: OsString = env::join_paths(kept).unwrap_or_default();
    joined.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_paths_are_left_out_at_every_depth() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for dir in ["a/b/secret", "a/b/public", "c"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        std::os::unix::fs::symlink(at("a/b/secret"), at("a/link")).unwrap();
        let granted = |dir: &str| -> BTreeSet<PathBuf> {
            without(&at(dir), &[at("a/b/secret")]).into_iter().collect()
        };
        assert_eq!(granted("c"), [at("c")].into());
        assert_eq!(granted("a"), [at("a/b/public")].into());
        assert_eq!(granted("a/b/secret"), [].into());
        assert_eq!(granted(""), [at("a/b/public"), at("c")].into());
    }

    #[test]
    fn databases_and_their_passwords_are_private() {
        let place = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(place.path()).unwrap();
        for dir in [
            ".cache/comail/sessions/x",
            ".cache/other",
            "secrets",
            "cache",
        ] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        for file in [".pgpass", ".profile", "secrets/pgpass", "secrets/other"] {
            fs::write(home.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(home.join("secrets/pgpass"), home.join("link")).unwrap();
        let variables = |name: &str| match name {
            "PGPASSFILE" => Some(home.join("link").into()),
            "XDG_CACHE_HOME" => Some(home.join("cache").into()),
            _ => None,
        };
        let found: Vec<_> = of_environment(&variables).collect();
        let mirrors = home.join("cache/comail/sessions");
        assert_eq!(found, [mirrors, home.join("secrets/pgpass")]);
        let secrets: Vec<_> = SECRETS.map(|name| home.join(name)).into_iter().collect();
        let read: BTreeSet<_> = without(&home, &[secrets, found].concat())
            .into_iter()
            .collect();
        let expected = [".cache/other", ".profile", "secrets/other"].map(|name| home.join(name));
        assert_eq!(read, expected.into());
        let directory = |name: &str| (name == "PGPASSFILE").then(|| "/".into());
        assert_eq!(of_environment(&directory).count(), 0);
    }

    #[test]
    fn a_home_directory_below_a_system_directory_is_left_out() {
        let shares = PathBuf::from("/usr/share");
        let system = system([&shares]);
        assert!(
            !system.iter().any(|it| shares.starts_with(it)),
            "{system:?}"
        );
        assert!(system.contains(&PathBuf::from("/usr/bin")), "{system:?}");
        let all = super::system([&PathBuf::from("/")]);
        assert!(all.contains(&PathBuf::from("/usr")), "{all:?}");
    }

    #[test]
    fn what_is_beside_a_private_path_in_opt_is_private_too() {
        for (path, private) in [
            ("/opt/project/tree/.comail", "/opt/project"),
            ("/opt/project", "/opt/project"),
            ("/srv/project/tree", "/srv/project/tree"),
            ("/opts/project/tree", "/opts/project/tree"),
        ] {
            assert_eq!(with_neighbours(Path::new(path)), Path::new(private));
        }
    }

    #[test]
    fn finds_no_program_where_an_agent_may_write() {
        let place = tempfile::tempdir().unwrap();
        let tree = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(tree.join("bin")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("link");
        std::os::unix::fs::symlink(tree.join("bin"), &link).unwrap();
        let dirs = [tree.join("bin"), link, PathBuf::from("/usr/bin")];
        let path = env::join_paths(&dirs).unwrap();
        let (kept, dropped) = trusted_path(&path, &[tree]);
        assert_eq!(kept, dirs[2..]);
        assert_eq!(dropped, dirs[..2]);
    }
}
