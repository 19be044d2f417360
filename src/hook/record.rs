//! Where the hooks of a session were installed, and when an agent last called them: small files
//! under `hooks/` of the session.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use jiff::Timestamp;

use super::protocol::HookAgent;
use crate::base::files;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    Stop,
    Tool,
}

impl Hook {
    fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Tool => "tool",
        }
    }
}

/// The hooks that were installed for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHooks {
    pub agent: HookAgent,
    pub settings: PathBuf,
    /// When each was called last, if ever.
    pub stop: Option<Timestamp>,
    pub tool: Option<Timestamp>,
}

#[derive(Debug)]
pub struct HookRecord {
    dir: PathBuf,
}

impl HookRecord {
    pub fn new(session: &Path) -> Self {
        Self {
            dir: session.join("hooks"),
        }
    }

    pub fn note_installed(&self, agent: HookAgent, settings: &Path) -> io::Result<()> {
        let text = settings.to_string_lossy();
        self.write(&self.installed_file(agent), text.as_bytes())
    }

    /// Nothing depends on the note, so it is not an error if it cannot be written.
    pub fn note_call(&self, agent: HookAgent, hook: Hook) {
        let _ = self.write(&self.call_file(agent, hook), b"");
    }

    /// What was installed and is still there.
    pub fn installed(&self) -> Vec<InstalledHooks> {
        const MAX_PATH_BYTES: u64 = 16 * 1024;
        let agents = HookAgent::value_variants().iter().copied();
        let installed = agents.filter_map(|agent| {
            let bytes = files::read(&self.installed_file(agent), MAX_PATH_BYTES).ok()?;
            let settings = PathBuf::from(String::from_utf8(bytes).ok()?);
            let called = |hook| {
                let about = fs::symlink_metadata(self.call_file(agent, hook)).ok()?;
                Timestamp::try_from(about.modified().ok()?).ok()
            };
            settings.is_file().then(|| InstalledHooks {
                agent,
                stop: called(Hook::Stop),
                tool: called(Hook::Tool),
                settings,
            })
        });
        installed.collect()
    }

    fn installed_file(&self, agent: HookAgent) -> PathBuf {
        self.dir.join(format!("{}.installed", agent.hooks().name))
    }

    fn call_file(&self, agent: HookAgent, hook: Hook) -> PathBuf {
        let name = format!("{}.{}", agent.hooks().name, hook.name());
        self.dir.join(name)
    }

    fn write(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        // `create_dir`, not `create_dir_all`: a session that is gone must stay gone.
        if !self.dir.is_dir() {
            fs::create_dir(&self.dir)?;
        }
        // A rename replaces a link that an agent put there and does not follow it.
        let mut new = tempfile::NamedTempFile::new_in(&self.dir)?;
        new.write_all(bytes)?;
        new.persist(file)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_of_its_agent_and_its_hook_alone() {
        let home = tempfile::tempdir().unwrap();
        let record = HookRecord::new(home.path());
        let settings = home.path().join("settings.json");
        record.note_call(HookAgent::Claude, Hook::Stop);
        assert_eq!(record.installed(), [], "it was not installed");
        record.note_installed(HookAgent::Codex, &settings).unwrap();
        assert_eq!(record.installed(), [], "the settings are gone");
        fs::write(&settings, "{}").unwrap();
        let never = InstalledHooks {
            agent: HookAgent::Codex,
            settings: settings.clone(),
            stop: None,
            tool: None,
        };
        assert_eq!(record.installed(), [never]);
        record.note_call(HookAgent::Codex, Hook::Tool);
        let now = &record.installed()[0];
        assert!(now.stop.is_none() && now.tool.is_some(), "{now:?}");
    }

    #[test]
    fn a_link_in_the_place_of_a_note_is_replaced_and_a_session_that_is_gone_stays_gone() {
        let home = tempfile::tempdir().unwrap();
        let precious = home.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        fs::create_dir(home.path().join("hooks")).unwrap();
        let note = home.path().join("hooks/claude.stop");
        std::os::unix::fs::symlink(&precious, &note).unwrap();
        HookRecord::new(home.path()).note_call(HookAgent::Claude, Hook::Stop);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
        assert!(fs::symlink_metadata(&note).unwrap().is_file());
        let gone = home.path().join("gone");
        HookRecord::new(&gone).note_call(HookAgent::Claude, Hook::Stop);
        assert!(!gone.exists());
    }
}
