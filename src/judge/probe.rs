//! Looking whether a quest's checks hold while an agent works, where nothing is submitted.
//!
//! What is seen is recorded nowhere and no agent is shown it: the moment the checks hold, whoever
//! asked submits, and that judgement counts. Checks that run no command and ask no network are
//! looked at at every interval; the others when those hold, after pauses of ten times what the
//! last look took. Whether reviewers would doubt is not asked.

mod eye;
mod pace;
mod rounds;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

pub use self::pace::Pace;

use self::eye::{Eye, Making};
use self::rounds::Rounds;
use super::error::DriveError;
use super::kind::kind_of;
use crate::quest::{QuestId, QuestKind};
use crate::session::{Session, Store as _};

/// A look at one quest's checks that goes on until it is dropped.
#[derive(Debug)]
pub struct Probe {
    told: Receiver<Result<(), DriveError>>,
    _stop: Sender<()>,
}

/// Whether a quest of this kind can be answered without a word.
#[must_use]
pub fn needs_no_fields(kind: &QuestKind) -> bool {
    kind.fields.iter().all(|field| !field.required)
}

impl Probe {
    /// Looks at a quest's checks from now on, on a thread of its own; none where the kind asks for
    /// fields, or there is no such quest.
    ///
    /// A command that a check runs as the probe is dropped is not waited for.
    pub fn start(
        session: &Session,
        quest: QuestId,
        interval: Duration,
    ) -> Result<Option<Self>, DriveError> {
        let manifest = session.manifest();
        if !needs_no_fields(&kind_of(manifest)?) {
            return Ok(None);
        }
        let Some(standing) = session.standing(quest)? else {
            return Ok(None);
        };
        let making = Making {
            manifest: manifest.clone(),
            evidence: session.evidence(),
            dir: session.dir().to_owned(),
            quest: session.quest(&standing)?,
        };
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let looking = thread::Builder::new().name(String::from("probe"));
        let spawned = looking.spawn(move || look(making, interval, &tell, &stopped));
        spawned.map_err(DriveError::Threads)?;
        Ok(Some(Self { told, _stop: stop }))
    }

    /// Whether the checks hold as they have not before. It does not wait.
    ///
    /// Of one state of the tree it is said once, so that a gate which does not agree is not asked
    /// over and over.
    pub fn holds(&self) -> Result<bool, DriveError> {
        match self.told.try_recv() {
            Ok(said) => said.map(|()| true),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(false),
        }
    }
}

/// Looks until nobody wants to know.
fn look(
    making: Making,
    interval: Duration,
    tell: &Sender<Result<(), DriveError>>,
    stopped: &Receiver<()>,
) {
    let mut eye = match Eye::of(making) {
        Ok(Some(eye)) => eye,
        Ok(None) => return,
        Err(error) => {
            let _ = tell.send(Err(error));
            return;
        }
    };
    let mut rounds = Rounds::new(interval);
    loop {
        if rounds.round(&mut eye) && tell.send(Ok(())).is_err() {
            return;
        }
        match stopped.recv_timeout(rounds.pause()) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
