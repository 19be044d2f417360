//! What every command is given: the session's place, the world, the output, the clock and
//! randomness.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use jiff::Timestamp;

use super::output::Output;
use crate::session::{Salt, Session};
use crate::world::recorded::RecordedWorld;

/// What every command is given.
pub struct Context {
    session_dir: PathBuf,
    named_session: Option<PathBuf>,
    /// How many mended lines were told of.
    told: usize,
    /// The world that stands in for the live one.
    recorded: Option<Rc<RecordedWorld>>,
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
            told: 0,
            recorded: None,
            output,
        }
    }

    /// The same call, before a recorded world in place of the live one. No argument and no
    /// variable of the environment leads here.
    #[must_use]
    pub(super) fn before(self, world: Rc<RecordedWorld>) -> Self {
        Self {
            recorded: Some(world),
            ..self
        }
    }

    /// The world that stands in for the live one, where one does.
    #[must_use]
    pub(super) fn recorded_world(&self) -> Option<&RecordedWorld> {
        self.recorded.as_deref()
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
        let session = Session::open(&self.session_dir)?;
        self.report_healed(&session);
        Ok(session)
    }

    /// Says on stderr what was mended in `session`, each once.
    pub fn report_healed(&mut self, session: &Session) {
        let healed = session.healed();
        let new = healed.get(self.told..).unwrap_or_default();
        self.told = healed.len();
        for healed in new {
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
#[must_use]
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
