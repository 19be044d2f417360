//! Gathering what a quest file goes by: the files beside it, programs and variables, as they are.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::gate::checks::outside::{Gathered, Missing, Outside};
use crate::world::sandbox::Pinned;
use crate::world::tree::TreePath;

const MOST_ASSET_BYTES: u64 = 1024 * 1024;

/// Reads from the disk and the environment, and keeps what it has given.
pub struct Gathering<'a> {
    here: PathBuf,
    variables: &'a dyn Fn(&str) -> Option<OsString>,
    gathered: RefCell<Gathered>,
}

impl<'a> Gathering<'a> {
    #[must_use]
    pub fn new(here: &Path, variables: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        Self {
            here: here.to_owned(),
            variables,
            gathered: RefCell::default(),
        }
    }

    #[must_use]
    pub fn finish(self) -> Gathered {
        self.gathered.into_inner()
    }
}

impl Outside for Gathering<'_> {
    fn asset(&self, name: &str) -> Result<String, Missing> {
        let place = TreePath::parse(name).map_err(|bad| Missing(bad.to_string()))?;
        let place = place.join_to(&self.here);
        let text = read(&place)
            .map_err(|error| Missing(format!("cannot read {}: {error}", place.display())))?;
        let mut gathered = self.gathered.borrow_mut();
        gathered.assets.insert(name.to_owned(), text.clone());
        Ok(text)
    }

    fn program(&self, name: &str) -> Result<Pinned, Missing> {
        let path = self.variable("PATH").unwrap_or_default();
        let pinned = Pinned::find(name, path.as_ref(), &self.here)
            .map_err(|error| Missing(error.to_string()))?;
        let mut gathered = self.gathered.borrow_mut();
        gathered.programs.insert(name.to_owned(), pinned.clone());
        Ok(pinned)
    }

    fn variable(&self, name: &str) -> Result<String, Missing> {
        let value = (self.variables)(name)
            .ok_or_else(|| Missing(format!("the variable {name} is not set")))?;
        let value = value
            .into_string()
            .map_err(|_| Missing(format!("the variable {name} is not UTF-8")))?;
        let mut gathered = self.gathered.borrow_mut();
        gathered.variables.insert(name.to_owned(), value.clone());
        Ok(value)
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = fs::File::open(path)?;
    file.take(MOST_ASSET_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_ASSET_BYTES {
        let text = format!("it is larger than {MOST_ASSET_BYTES} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    Ok(text)
}
