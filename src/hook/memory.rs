//! What was refused so far, in `hooks/` of the session directory: one small file a conversation.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::patience::Refused;
use crate::base::Digest;

/// The file of one conversation.
#[derive(Debug)]
pub struct Memory {
    file: PathBuf,
}

impl Memory {
    /// That of a conversation in the session in `dir`.
    #[must_use]
    pub fn of(dir: &Path, conversation: &str) -> Self {
        let name = Digest::of(conversation.as_bytes()).to_string();
        Self {
            file: dir.join("hooks").join(format!("{name}.json")),
        }
    }

    /// What was refused so far; nothing where nothing is kept that reads.
    #[must_use]
    pub fn refused(&self) -> Refused {
        let bytes = fs::read(&self.file).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps what was refused, whole or not at all.
    pub fn keep(&self, refused: Refused) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(&self.file);
        // Only in a session that is there.
        if !folder.is_dir() {
            fs::create_dir(folder)?;
        }
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&refused)?)?;
        file.persist(&self.file)?;
        Ok(())
    }

    /// Forgets it: the next stop is the first.
    pub fn forget(&self) {
        // What stays there lets the agent go earlier, never later.
        let _ = fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conversation_is_kept_apart() {
        let home = tempfile::tempdir().unwrap();
        let of = |name| Memory::of(home.path(), name);
        let refused = Refused {
            times: 3,
            ..Refused::default()
        };
        of("../a").keep(refused).unwrap();
        assert_eq!(of("../a").refused(), refused);
        assert_eq!(of("b").refused(), Refused::default());
        of("../a").forget();
        assert_eq!(of("../a").refused(), Refused::default());
        fs::write(of("b").file, "{").unwrap();
        assert_eq!(of("b").refused(), Refused::default());
        assert!(
            Memory::of(&home.path().join("none/at/all"), "a")
                .keep(refused)
                .is_err()
        );
    }
}
