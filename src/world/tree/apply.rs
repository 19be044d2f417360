//! Writes the patch of an accepted answer to the working tree: all of it, or nothing.
//!
//! What other accepted answers wrote is kept, because their judgements rest on it.

use std::io;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tempfile::TempDir;

use super::ignored::Ignored;
use super::listing::{Entry, Listing, TreeError, TreePath};
use super::patch::{BadPatch, TreePatch};
use super::snapshot::write_file;
use super::walk::{Met, Unopened};

/// Why a patch was not written; the tree is as before.
#[derive(Debug, thiserror::Error)]
pub enum NotApplied {
    #[error(transparent)]
    Bad(#[from] BadPatch),
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// A patch in a working tree. It is undone when this is dropped, unless it is kept.
#[derive(Debug)]
pub struct Applied<'a> {
    tree: WorkingTree<'a>,
    /// In the tree, so that a rename moves a file to it or from it.
    staging: TempDir,
    staged: Dir,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct WorkingTree<'a> {
    dir: Dir,
    ignored: &'a Ignored,
}

#[derive(Debug)]
enum Step {
    MadeFolder(TreePath),
    /// What was there is in the staging folder under this name.
    TookAway(TreePath, String),
    PutThere(TreePath),
}

/// Where a path leads to in the working tree.
enum Place<'p> {
    In(Dir, &'p str),
    /// A folder on the way is missing.
    Nowhere,
    /// A folder on the way is a file or a link.
    Beneath(TreePath),
}

enum Now {
    Nothing,
    Entry(Entry),
    Folder(Dir),
    /// A pipe, or a file that is larger than any that the patch or the base has there.
    Other,
}

/// What may be at a path that a patch changes.
pub type Before<'a> = dyn Fn(&TreePath) -> Vec<Option<Entry>> + 'a;

impl Listing {
    /// What it has at a path.
    pub fn before(&self) -> impl Fn(&TreePath) -> Vec<Option<Entry>> {
        |path| vec![self.get(path).cloned()]
    }
}

impl TreePatch {
    /// Writes the files to a working tree. No link is followed, and nothing is written to a folder
    /// that `ignored` names by its inode, such as the session's. What is there now must be what this
    /// patch has there, or was there before.
    pub fn apply<'a>(
        &self,
        root: &Path,
        before: &Before<'_>,
        ignored: &'a Ignored,
    ) -> Result<Applied<'a>, NotApplied> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())
            .map_err(TreeError::io(root.display(), "open the tree"))?;
        let tree = WorkingTree { dir, ignored };
        let mut removed = Vec::new();
        for path in self
            .removed
            .iter()
            .filter(|it| !self.files.contains_key(*it))
        {
            if self.is_due(&tree, path, &before(path), None)? {
                removed.push(path);
            }
        }
        let mut files = Vec::new();
        for (path, file) in &self.files {
            let contents = file.bytes(path)?;
            let entry = file.entry(&contents);
            if self.is_due(&tree, path, &before(path), Some(&entry))? {
                files.push((path, contents, file.executable));
            }
        }
        let mut applied = Applied::start(tree, root)?;
        for (number, (path, contents, executable)) in files.iter().enumerate() {
            write_file(
                &applied.staged,
                &new_name(number),
                contents,
                *executable,
                None,
            )
            .map_err(TreeError::io(path, "write the file"))?;
        }
        for path in removed {
            let gone = applied.take_away(path);
            gone.map_err(TreeError::io(path, "remove the file"))?;
        }
        for (number, (path, ..)) in files.iter().enumerate() {
            let put = applied.put(path, &new_name(number));
            put.map_err(TreeError::io(path, "write the file"))?;
        }
        Ok(applied)
    }

    /// Whether the tree has not yet what the patch has at a path.
    fn is_due(
        &self,
        tree: &WorkingTree<'_>,
        path: &TreePath,
        before: &[Option<Entry>],
        new: Option<&Entry>,
    ) -> Result<bool, NotApplied> {
        let was = |entry: Option<&Entry>| before.iter().any(|it| it.as_ref() == entry);
        let taken = |path: &TreePath| Err(BadPatch::Taken(path.clone()).into());
        let failed = |error| TreeError::io(path, "read what is there")(error);
        let limit = before.iter().flatten().chain(new).map(bytes_of).max();
        match tree.place_of(path, None).map_err(failed)? {
            Place::Beneath(above) if !self.names(&above) => taken(&above),
            Place::Nowhere if !was(None) && new.is_some() => taken(path),
            Place::Beneath(_) | Place::Nowhere => Ok(new.is_some()),
            Place::In(folder, name) => {
                match now(&folder, name, limit.unwrap_or(0)).map_err(failed)? {
                    Now::Nothing if was(None) || new.is_none() => Ok(new.is_some()),
                    Now::Entry(entry) if Some(&entry) == new => Ok(false),
                    Now::Entry(entry) if was(Some(&entry)) => Ok(true),
                    // The file is gone.
                    Now::Folder(_) if new.is_none() => Ok(false),
                    Now::Folder(folder) => match self.first_kept(path, folder).map_err(failed)? {
                        Some(kept) => taken(&kept),
                        None => Ok(true),
                    },
                    _ => taken(path),
                }
            }
        }
    }

    fn names(&self, path: &TreePath) -> bool {
        self.files.contains_key(path) || self.removed.contains(path)
    }

    /// A path below a folder at which there is something that the patch does not remove.
    fn first_kept(&self, path: &TreePath, folder: Dir) -> io::Result<Option<TreePath>> {
        let mut folders = vec![(path.clone(), folder)];
        while let Some((path, folder)) = folders.pop() {
            for entry in folder.entries()? {
                let entry = entry?;
                let name = entry.file_name();
                let below = name.to_str().map(|name| format!("{path}/{name}"));
                let Some(below) = below.and_then(|it| TreePath::parse(&it).ok()) else {
                    return Ok(Some(path));
                };
                if entry.file_type()?.is_dir() {
                    folders.push((below, folder.open_dir_nofollow(&name)?));
                } else if !self.removed.contains(&below) {
                    return Ok(Some(below));
                }
            }
        }
        Ok(None)
    }
}

impl WorkingTree<'_> {
    /// Follows the folders of a path; missing ones are made if `made` takes them.
    fn place_of<'p>(
        &self,
        path: &'p TreePath,
        mut made: Option<&mut Vec<Step>>,
    ) -> io::Result<Place<'p>> {
        let mut above: Vec<_> = path.folders().collect();
        above.reverse();
        let mut folder = self.dir.try_clone()?;
        for path in above {
            let name = last_name(&path);
            let deeper = match folder.open_dir_nofollow(name) {
                Ok(deeper) => deeper,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let Some(made) = made.as_deref_mut() else {
                        return Ok(Place::Nowhere);
                    };
                    folder.create_dir(name)?;
                    let deeper = folder.open_dir_nofollow(name)?;
                    made.push(Step::MadeFolder(path));
                    deeper
                }
                Err(error) => match folder.symlink_metadata(name) {
                    Ok(it) if !it.is_dir() => return Ok(Place::Beneath(path)),
                    _ => return Err(error),
                },
            };
            if self.ignored.is_apart(&deeper.dir_metadata()?) {
                let why = "it is in the folder of a session";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
            folder = deeper;
        }
        Ok(Place::In(folder, last_name(path)))
    }

    fn existing<'p>(&self, path: &'p TreePath) -> io::Result<(Dir, &'p str)> {
        match self.place_of(path, None)? {
            Place::In(folder, name) => Ok((folder, name)),
            Place::Nowhere | Place::Beneath(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl<'a> Applied<'a> {
    fn start(tree: WorkingTree<'a>, root: &Path) -> Result<Self, TreeError> {
        let failed = |error| TreeError::io(root.display(), "make a folder in the tree")(error);
        let staging = tempfile::Builder::new().prefix(".comail-").tempdir_in(root);
        let staging = staging.map_err(failed)?;
        let staged = Dir::open_ambient_dir(staging.path(), ambient_authority());
        Ok(Self {
            staged: staged.map_err(failed)?,
            tree,
            staging,
            steps: Vec::new(),
        })
    }

    /// The patch stays in the tree.
    pub fn keep(mut self) {
        self.steps.clear();
    }

    fn take_away(&mut self, path: &TreePath) -> io::Result<()> {
        let (folder, name) = self.tree.existing(path)?;
        let old = format!("old-{}", self.steps.len());
        folder.rename(name, &self.staged, &old)?;
        self.steps.push(Step::TookAway(path.clone(), old));
        Ok(())
    }

    fn put(&mut self, path: &TreePath, new: &str) -> io::Result<()> {
        let place = self.tree.place_of(path, Some(&mut self.steps))?;
        let Place::In(folder, name) = place else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        if folder.symlink_metadata(name).is_ok() {
            self.take_away(path)?;
        }
        self.staged.rename(new, &folder, name)?;
        self.steps.push(Step::PutThere(path.clone()));
        Ok(())
    }

    fn undo(&self, step: &Step) -> io::Result<()> {
        let (Step::MadeFolder(path) | Step::TookAway(path, _) | Step::PutThere(path)) = step;
        let (folder, name) = self.tree.existing(path)?;
        match step {
            Step::MadeFolder(_) => folder.remove_dir(name),
            Step::TookAway(_, old) => self.staged.rename(old, &folder, name),
            Step::PutThere(_) => folder.remove_file(name),
        }
    }
}

impl Drop for Applied<'_> {
    fn drop(&mut self) {
        while let Some(step) = self.steps.pop() {
            if let Err(error) = self.undo(&step) {
                // The folder has what could not be put back.
                self.staging.disable_cleanup(true);
                tracing::error!(?step, %error, "a patch cannot be undone");
            }
        }
    }
}

fn last_name(path: &TreePath) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default()
}

fn new_name(number: usize) -> String {
    format!("new-{number}")
}

fn bytes_of(entry: &Entry) -> u64 {
    match entry {
        Entry::File { bytes, .. } => *bytes,
        Entry::Link { .. } => 0,
    }
}

fn now(dir: &Dir, name: &str, limit: u64) -> io::Result<Now> {
    let found = match dir.symlink_metadata(name) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Now::Nothing),
        Err(error) => return Err(error),
    };
    let at = Unopened {
        dir,
        name: name.as_ref(),
    };
    if found.is_dir() {
        return dir.open_dir_nofollow(name).map(Now::Folder);
    }
    if found.is_symlink() {
        return Ok(match at.read_link()? {
            Met::There(to) => Now::Entry(Entry::Link { to }),
            Met::Odd(_) | Met::Gone => Now::Other,
        });
    }
    if !found.is_file() {
        return Ok(Now::Other);
    }
    Ok(match at.open()? {
        Met::There(file) => match file.read(limit)? {
            Some(read) => Now::Entry(read.entry),
            None => Now::Other,
        },
        Met::Odd(_) | Met::Gone => Now::Other,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::world::tree::patch::{PatchContents, PatchFile};
    use crate::world::tree::snapshot::take_baseline;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn put(root: &Path, path: &str, contents: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in files {
            put(dir.path(), name, name);
        }
        dir
    }

    fn listed(root: &Path) -> Listing {
        take_baseline(root, &Ignored::default(), &mut |_, _| Ok(())).unwrap()
    }

    /// Each file has its path as its contents, after `new `.
    fn patch(base: &Listing, files: &[&str], removed: &[&str]) -> TreePatch {
        let file = |name: &&str| {
            let contents = PatchContents::Text(format!("new {name}"));
            let executable = false;
            let file = PatchFile {
                contents,
                executable,
            };
            (path(name), file)
        };
        TreePatch {
            base: base.digest(),
            files: files.iter().map(file).collect::<BTreeMap<_, _>>(),
            removed: removed.iter().map(|it| path(it)).collect::<BTreeSet<_>>(),
        }
    }

    fn applied(root: &Path, base: &Listing, patch: &TreePatch) -> Result<(), NotApplied> {
        let ignored = Ignored::default();
        patch
            .apply(root, &base.before(), &ignored)
            .map(Applied::keep)
    }

    #[test]
    fn a_patch_is_applied_whole_and_again() {
        let dir = tree(&["a", "b", "folder/deep/c", "gone"]);
        let root = dir.path();
        symlink("a", root.join("link")).unwrap();
        let base = listed(root);
        let removed = ["b", "folder/deep/c", "gone"];
        let patch = patch(&base, &["a", "b/deep/d", "folder", "link"], &removed);
        for _ in 0..2 {
            applied(root, &base, &patch).unwrap();
            let now = listed(root);
            let names: Vec<_> = now.entries().keys().map(TreePath::as_str).collect();
            assert_eq!(names, ["a", "b/deep/d", "folder", "link"]);
            for name in names {
                let text = fs::read_to_string(root.join(name)).unwrap();
                assert_eq!(text, format!("new {name}"));
            }
        }
    }

    #[test]
    fn a_patch_that_is_dropped_or_fails_leaves_the_tree_as_it_was() {
        let dir = tree(&["a", "b", "folder/deep/c"]);
        let root = dir.path();
        let base = listed(root);
        let ignored = Ignored::default();
        let removed = ["b", "folder/deep/c"];
        let right = patch(&base, &["a", "b/deep/d", "folder", "x/y"], &removed);
        let undone = right.apply(root, &base.before(), &ignored).unwrap();
        assert!(root.join("x/y").exists() && !root.join("folder/deep").exists());
        drop(undone);
        assert_eq!(listed(root), base);
        assert!(!root.join("x").exists());
        // The last file cannot be put where the patch itself puts a folder.
        let wrong = patch(&base, &["a", "x/y", "z", "z/y"], &["b"]);
        assert!(applied(root, &base, &wrong).is_err());
        assert_eq!(listed(root), base);
        assert_eq!(fs::read_dir(root).unwrap().count(), 3);
    }

    #[test]
    fn what_another_answer_wrote_is_kept() {
        let dir = tree(&["a", "b", "c", "folder/d"]);
        let root = dir.path();
        let base = listed(root);
        put(root, "a", "another");
        put(root, "new", "another");
        put(root, "folder/new", "another");
        fs::remove_file(root.join("b")).unwrap();
        symlink("c", root.join("link")).unwrap();
        let now = listed(root);
        for (files, removed, taken) in [
            (&["a"][..], &[][..], "a"),
            (&[], &["a"], "a"),
            (&["b"], &[], "b"),
            (&["new"], &[], "new"),
            (&["new/below"], &[], "new"),
            (&["link"], &[], "link"),
            (&["link/below"], &[], "link"),
            (&["folder"], &["folder/d"], "folder/new"),
        ] {
            let files = [&["0", "c"], files].concat();
            let refused = applied(root, &base, &patch(&base, &files, removed));
            let Err(NotApplied::Bad(BadPatch::Taken(path))) = refused else {
                panic!("{files:?} {removed:?}: {refused:?}");
            };
            assert_eq!(path.as_str(), taken);
            assert_eq!(listed(root), now);
        }
        // What both removed, or wrote alike, is no conflict.
        put(root, "0", "new 0");
        applied(root, &base, &patch(&base, &["0", "c"], &["b"])).unwrap();
    }

    #[test]
    fn a_patch_is_applied_inside_its_tree_and_to_no_folder_of_a_session() {
        let dir = tree(&["session/ledger"]);
        let outside = tree(&["kept"]);
        let root = dir.path();
        symlink(outside.path(), root.join("link")).unwrap();
        symlink(outside.path().join("kept"), root.join("file")).unwrap();
        let base = listed(root);
        let ignored = Ignored::default().and_folder(&root.join("session"));
        for name in ["link/kept", "session/ledger", "session/deep/new"] {
            let written = patch(&base, &[name], &[]).apply(root, &base.before(), &ignored);
            assert!(written.is_err(), "{name}");
            let removed = patch(&base, &[], &[name]).apply(root, &base.before(), &ignored);
            assert!(removed.is_err() || name == "session/deep/new", "{name}");
        }
        // The link is replaced, and what it names is not.
        applied(root, &base, &patch(&base, &["file"], &[])).unwrap();
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(text(&root.join("file")), "new file");
        assert_eq!(text(&outside.path().join("kept")), "kept");
        assert_eq!(text(&root.join("session/ledger")), "session/ledger");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        fs::create_dir(root.join("empty")).unwrap();
        applied(root, &base, &patch(&base, &["empty"], &[])).unwrap();
        assert_eq!(text(&root.join("empty")), "new empty");
    }
}
