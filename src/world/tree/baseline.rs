//! The tree as it is when a session is made.

use std::path::Path;

use super::bounds::{BOUNDS, Bounds};
use super::entry::Oddity;
use super::error::TreeError;
use super::gathered::{Gathered, Store};
use super::listing::Listing;
use super::met::{Met, Unopened};
use super::path::TreePath;
use super::walk::{Found, walk};
use super::zones::Ignored;

/// Lists a tree, and hands each file's contents on to be stored, equal ones once.
pub fn take(root: &Path, ignored: &Ignored, store: &mut Store<'_>) -> Result<Listing, TreeError> {
    take_within(BOUNDS, root, ignored, store)
}

fn take_within(
    bounds: Bounds,
    root: &Path,
    ignored: &Ignored,
    store: &mut Store<'_>,
) -> Result<Listing, TreeError> {
    let mut gathered = Gathered::new(bounds, store);
    let unnamed = walk(root, ignored, bounds, &mut |path, found| match found {
        Found::File(file) => read(&mut gathered, path, file),
        Found::Link(to) => gathered.link(path, to),
        Found::Odd(why) => gathered.odd(path, why),
    })?;
    gathered.unnamed(unnamed);
    Ok(gathered.finish()?)
}

/// Takes a file whose length is one before and after.
fn read(gathered: &mut Gathered<'_>, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
    let opened = match file.open().map_err(TreeError::io(&path, "open the file"))? {
        Met::There(opened) => opened,
        Met::Odd(why) => return gathered.odd(path, why),
        Met::Gone => return gathered.odd(path, Oddity::Changing),
    };
    let (bytes, executable) = (opened.bytes, opened.executable);
    gathered.admit(&path, bytes)?;
    match opened
        .read(bytes)
        .map_err(TreeError::io(&path, "read the file"))?
    {
        Some(contents) if contents.len() as u64 == bytes => {
            gathered.file(path, &contents, executable)
        }
        _ => gathered.odd(path, Oddity::Changing),
    }
}

#[cfg(test)]
mod tests;
