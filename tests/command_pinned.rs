//! Programs that must stay what they were.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use comail::world::sandbox::{NotFound, Pinned};

use crate::harness::Place;

fn program(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

fn changed(program: &Pinned) -> String {
    program.changed().expect("a change")
}

fn path_var(dirs: &[PathBuf]) -> OsString {
    std::env::join_paths(dirs).expect("a PATH")
}

#[test]
fn a_name_is_looked_up_in_absolute_directories_alone() {
    let place = Place::new();
    program(&place.at("a/tool"), "not for running", 0o644);
    fs::create_dir_all(place.at("b/tool")).expect("a directory");
    program(&place.at("c/tool"), "first", 0o755);
    program(&place.at("d/tool"), "second", 0o755);
    let dirs: Vec<PathBuf> = ["a", "b", "c", "d"]
        .iter()
        .map(|dir| place.at(dir))
        .collect();
    let found = Pinned::find("tool", &path_var(&dirs), place.path()).expect("a program");
    assert_eq!(found.path, place.at("c/tool"));

    let relative = OsStr::new("c:.:");
    let missing = Pinned::find("tool", relative, place.path());
    assert!(
        matches!(missing, Err(NotFound::InPath { .. })),
        "{missing:?}"
    );
    let nothing = Pinned::find("", &path_var(&dirs), place.path());
    assert!(
        matches!(nothing, Err(NotFound::InPath { .. })),
        "{nothing:?}"
    );
}

#[test]
fn a_path_is_from_the_base_directory() {
    let place = Place::new();
    program(&place.at("bin/tool"), "text", 0o755);
    program(&place.at("bin/text"), "text", 0o644);
    for name in ["bin/tool", "./bin/tool"] {
        let found = Pinned::find(name, OsStr::new(""), place.path()).expect("a program");
        assert_eq!(found.path, place.at("bin/tool"));
    }
    for name in ["bin/text", "bin/none", "bin/"] {
        let missing = Pinned::find(name, OsStr::new(""), place.path());
        assert!(
            matches!(missing, Err(NotFound::NotExecutable { .. })),
            "{missing:?}"
        );
    }
}

#[test]
fn a_link_is_kept_and_followed() {
    let place = Place::new();
    program(&place.at("real/python3"), "one", 0o755);
    program(&place.at("other/python3"), "one", 0o755);
    fs::create_dir(place.at("bin")).expect("a directory");
    symlink(place.at("real/python3"), place.at("bin/python")).expect("a link");
    let found = Pinned::find("bin/python", OsStr::new(""), place.path()).expect("a program");
    assert_eq!(found.path, place.at("bin/python"));
    assert_eq!(
        found.target,
        fs::canonicalize(place.at("real/python3")).expect("a file")
    );
    assert_eq!(found.changed(), None);

    fs::remove_file(place.at("bin/python")).expect("a link");
    symlink(place.at("other/python3"), place.at("bin/python")).expect("a link");
    let other = fs::canonicalize(place.at("other/python3")).expect("a file");
    let expected = format!("it now leads to {}", other.display());
    assert_eq!(found.changed(), Some(expected));
}

#[test]
fn a_change_is_seen() {
    let place = Place::new();
    program(&place.at("bin/tool"), "one", 0o755);
    let found = Pinned::find("bin/tool", OsStr::new(""), place.path()).expect("a program");
    program(&place.at("bin/tool"), "two", 0o755);
    assert!(changed(&found).starts_with("its digest is now"));
    program(&place.at("bin/tool"), "one", 0o755);
    assert_eq!(found.changed(), None);
    program(&place.at("bin/tool"), "one", 0o644);
    assert!(changed(&found).ends_with("is not a file that can be run"));
    fs::remove_file(place.at("bin/tool")).expect("a file");
    assert!(changed(&found).ends_with("is not a file that can be run"));
}
