//! What every command is given: the session's place, the output, the clock and randomness.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;

use super::output::Output;
use crate::session::{Event, Salt, Session};

/// What every command is given.
pub struct Context {
    session_dir: PathBuf,
    named_session: Option<PathBuf>,
    /// Where to write.
    pub output: Output,
}

/// Where a session lies when nothing names another place.
const DEFAULT_SESSION: &str = ".comail";

impl Context {
    /// The context of one call.
    ///
    /// `flag` is the session that `--session` names, `environment` the one that
    /// `COMAIL_SESSION` does.
    #[must_use]
    pub fn new(flag: Option<PathBuf>, environment: Option<PathBuf>, output: Output) -> Self {
        let session_dir = flag
            .clone()
            .or(environment)
            .unwrap_or_else(|| DEFAULT_SESSION.into());
        Self {
            session_dir,
            named_session: flag,
            output,
        }
    }

    /// The session directory.
    #[must_use]
    pub fn session_dir(&self) -> &Path {
        &self.session_dir
    }

    /// The session directory, where `--session` named it: a command line that is to reach the
    /// same session must name it too.
    #[must_use]
    pub fn named_session(&self) -> Option<&Path> {
        self.named_session.as_deref()
    }

    /// Opens the session, and says on stderr what was mended.
    pub fn open_session(&mut self) -> Result<Session> {
        self.open_session_reading(&mut |_| ())
    }

    /// Opens the session like [`Context::open_session`], and hands on its events on the way.
    pub fn open_session_reading(&mut self, take: &mut dyn FnMut(&Event)) -> Result<Session> {
        let session = Session::open_reading(&self.session_dir, take)?;
        self.report_healed(&session);
        Ok(session)
    }

    /// Says on stderr what was mended in `session`.
    pub fn report_healed(&mut self, session: &Session) {
        for healed in session.healed() {
            self.output.note(&format!(
                "{}: the last line was torn ({} bytes, never acknowledged) and has been cut off",
                healed.path.display(),
                healed.bytes
            ));
        }
    }
}

/// The time, to the millisecond.
#[must_use]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// The operating system's randomness.
pub fn salt() -> Salt {
    let mut bytes = [0; 16];
    // Without randomness a salt of zeros: the chain still holds, and only a body that will one
    // day be blotted out could be guessed from its digest.
    let _ = getrandom::fill(&mut bytes);
    Salt(bytes)
}

/// Many salts, of randomness that is fetched in larger pieces.
pub fn salts() -> impl FnMut() -> Salt {
    const AT_ONCE: usize = 256;
    let mut stock: Vec<[u8; 16]> = Vec::new();
    move || {
        if stock.is_empty() {
            let mut bytes = [0; 16 * AT_ONCE];
            // As for a single salt.
            let _ = getrandom::fill(&mut bytes);
            stock.extend(bytes.as_chunks().0);
        }
        Salt(stock.pop().unwrap_or_default())
    }
}
