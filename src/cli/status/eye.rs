//! Looking at a session again and again, cheaply.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;

use crate::judge::forgotten::is_forgotten;
use crate::judge::live_runs::live_runs;
use crate::report::{Standings, Status};
use crate::session::{Forgetting, Session, SessionError, Store as _, Tide};

/// What was seen of a session.
pub(super) struct Eye {
    dir: PathBuf,
    tide: Tide,
    standings: Standings,
    forgetting: Forgetting,
    mended: Vec<String>,
}

/// How long a ledger is left alone of which something looked amiss.
const RETRY_DELAY: Duration = Duration::from_millis(200);

impl Eye {
    /// What `session` tells.
    pub(super) fn of(session: &Session) -> Result<Self> {
        let forgetting = session.forgetting();
        Ok(Self {
            dir: session.dir().to_owned(),
            tide: Tide::of(session.dir()),
            standings: Standings::of(session, forgotten(session)?)?,
            forgetting,
            mended: Vec::new(),
        })
    }

    /// Looks at the session in `dir`, at which it will look again.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let mut tide = Tide::of(dir);
        // What is added from here on is looked at again.
        tide.has_changed();
        let session = opened(dir)?;
        let seen = Self::of(&session)?;
        Ok(Self {
            tide,
            mended: told(&session),
            ..seen
        })
    }

    /// Looks again, if anything was added to the ledger.
    pub(super) fn look(&mut self) -> Result<()> {
        if !self.tide.has_changed() {
            return Ok(());
        }
        let session = opened(&self.dir)?;
        let forgetting = session.forgetting();
        let forgotten = if forgetting == self.forgetting {
            // What a settled quest was settled by stays, so only who forgets changes the count.
            self.standings.overview.forgotten
        } else {
            forgotten(&session)?
        };
        self.standings = Standings::of(&session, forgotten)?;
        self.forgetting = forgetting;
        self.mended.extend(told(&session));
        Ok(())
    }

    /// Where the session stands at `now`.
    pub(super) fn status(&self, now: Timestamp) -> Status {
        let lives = live_runs(&self.dir, &self.standings.runs);
        self.standings.at(now, &lives)
    }

    /// What was found amiss and mended, which nobody was told as yet.
    pub(super) fn mended(&mut self) -> Vec<String> {
        std::mem::take(&mut self.mended)
    }
}

fn opened(dir: &Path) -> Result<Session, SessionError> {
    match Session::open(dir) {
        // A torn line may have been cut off and written anew while it was read, which looks the
        // same as damage; that stays.
        Err(SessionError::Damaged { .. }) => {
            thread::sleep(RETRY_DELAY);
            Session::open(dir)
        }
        opened => opened,
    }
}

fn told(session: &Session) -> Vec<String> {
    let mended = session.mended();
    mended.iter().map(ToString::to_string).collect()
}

/// How many quests are PASS or REVIEW by answers that were blotted out.
fn forgotten(session: &Session) -> Result<u32> {
    let mut count = 0;
    // Only such a session is read for it.
    if !session.forgetting().is_empty() {
        let mut reader = session.reader()?;
        for standing in session.board()?.quests() {
            count += u32::from(is_forgotten(&mut reader, standing)?);
        }
    }
    Ok(count)
}
