//! Blotting bodies out of the ledger: it is written anew, whole or not at all, and the chain
//! stays what it was.

use crate::base::clock::Clock;
use std::fs;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};

use tempfile::NamedTempFile;

use super::board::Board;
use super::chain::{Line, Tip};
use super::error::{Damage, SessionError};
use super::event::Event;
use super::evidence_store::sync_dir;
use super::fold::Written;
use super::forgotten::{Forgotten, RedactedLine};
use super::freshen;
use super::index::{Index, IndexError};
use super::ledger::Ledger;
use super::lock::LockGuard;
use super::open::Session;
use super::progress::Unwatched;
use super::standing::Span;
use crate::base::Digest;
use crate::base::files;

/// Says what is blotted out.
pub trait Blotter {
    /// What can go wrong with it.
    type Error: From<SessionError>;

    /// The body that is to stand in place of this line's; none where it stays.
    fn blot(&mut self, line: &Line<'_>) -> Result<Option<String>, Self::Error>;

    /// What is recorded, in the line that follows the one with the hash `after`; none where
    /// nothing is to be done.
    fn decide(
        &mut self,
        lines: Vec<RedactedLine>,
        after: Digest,
    ) -> Result<Option<Forgotten>, Self::Error>;

    /// Does to the other files what was decided, which is on disk now.
    fn carry_out(&mut self) -> Result<(), Self::Error>;
}

impl Session {
    /// Blots out what `blotter` says, under the session's lock.
    ///
    /// The ledger takes its new form by one rename; until then nothing was changed. The index is
    /// made anew, for it says what the ledger said.
    pub fn redact<B: Blotter>(
        &mut self,
        clock: &mut dyn Clock,
        blotter: &mut B,
    ) -> Result<(), B::Error> {
        let lock = LockGuard::acquire(self.dir())?;
        self.refresh(&lock)?;
        let mut draft = Draft::begin(self)?;
        let lines = draft.copy(blotter)?;
        if let Some(forgotten) = blotter.decide(lines, draft.tip.head)? {
            let event = Event::Forgotten(Box::new(forgotten));
            let line = Line::next(draft.tip, clock.now(), clock.salt(), &event)
                .map_err(SessionError::from)?;
            draft.put(&line)?;
            draft.take_place(self)?;
            let missing = Err(IndexError::Missing);
            self.take_in(freshen::locked(self.plan(), &Unwatched, &lock, missing)?);
        }
        blotter.carry_out()
    }
}

/// A ledger that is written beside the one that is there.
struct Draft {
    ledger: Ledger,
    file: BufWriter<NamedTempFile>,
    tip: Tip,
    /// What the lines tell that are copied.
    copied: Copied,
}

/// The lines that were copied, folded as they stood.
struct Copied {
    board: Board,
    /// The digest of the `session.json` that the first line must bind.
    manifest: Digest,
    /// Where the next line begins, in bytes.
    end: u64,
}

impl Copied {
    fn take(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        let event = line.event().map_err(Damage::Body)?;
        let length = line.text().len();
        let span = Span {
            offset: self.end,
            length: u32::try_from(length)
                .map_err(|_| Damage::Story("the line is longer than 4 GiB"))?,
        };
        self.end += length as u64 + 1;
        match event {
            Event::Session(started) if line.seq() == 0 && started.manifest == self.manifest => {
                Ok(())
            }
            _ if line.seq() == 0 => Err(Damage::Story("the first line does not begin a session")),
            event => {
                let taken = self.board.apply(&event, Written::of(line, span));
                taken.map_err(Damage::Story)
            }
        }
    }
}

impl Draft {
    fn begin(session: &Session) -> Result<Self, SessionError> {
        let dir = session.dir();
        let file = NamedTempFile::new_in(dir).map_err(SessionError::io(dir, "write a file"))?;
        Ok(Self {
            ledger: Ledger::new(dir),
            file: BufWriter::with_capacity(256 * 1024, file),
            tip: Tip::start(),
            copied: Copied {
                board: Board::new(session.terms()),
                manifest: session.terms().court.session,
                end: 0,
            },
        })
    }

    /// Copies every line as `blotter` leaves it.
    ///
    /// The very bytes that are copied are folded: whatever was blotted out before without the
    /// right to must not come under anybody's seal.
    fn copy<B: Blotter>(&mut self, blotter: &mut B) -> Result<Vec<RedactedLine>, B::Error> {
        let file = files::open(self.ledger.path()).map_err(self.ledger.reading())?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let (mut text, mut redacted) = (String::new(), Vec::new());
        loop {
            text.clear();
            let read = reader.read_line(&mut text).map_err(self.ledger.reading())?;
            let Some(line) = text.strip_suffix('\n') else {
                if read > 0 {
                    return Err(self.damaged(Damage::Cut).into());
                }
                self.all_backed()?;
                return Ok(redacted);
            };
            let line = Line::parse(self.tip, line).map_err(|why| self.damaged(why.into()))?;
            let taken = self.copied.take(&line);
            taken.map_err(|why| self.damaged(why))?;
            match blotter.blot(&line)? {
                None => self.put(&line)?,
                Some(body) => {
                    let line = line.with_body(&body);
                    line.event()
                        .map_err(|why| self.damaged(Damage::Body(why)))?;
                    redacted.extend(line.redacted().map(|digest| RedactedLine {
                        line: line.seq(),
                        digest,
                    }));
                    self.put(&line)?;
                }
            }
        }
    }

    /// Refuses a ledger with lines that were blotted out without the right to.
    fn all_backed(&self) -> Result<(), SessionError> {
        let unbacked = self.copied.board.totals().forgetting.unbacked();
        unbacked.map_or(Ok(()), |line| {
            Err(self.ledger.damaged_line(line, Damage::Unbacked))
        })
    }

    fn put(&mut self, line: &Line<'_>) -> Result<(), SessionError> {
        self.tip = line.tip();
        let written = self.file.write_all(line.text().as_bytes());
        written
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(self.writing())
    }

    /// Takes the place of the ledger, once what it tells was found to hold together.
    fn take_place(mut self, session: &Session) -> Result<(), SessionError> {
        let (dir, writing) = (session.dir(), self.writing());
        self.file.flush().map_err(self.writing())?;
        let path = self.file.get_ref().path().to_owned();
        let mut draft = Ledger::of_file(path);
        Board::new(session.terms()).read_on(&mut draft, &Unwatched)?;
        if draft.tip() != self.tip {
            return Err(SessionError::Illegal("the ledger was not written whole"));
        }
        Index::discard(dir)?;
        let file = self.file.into_inner();
        let put = || -> std::io::Result<()> {
            let file = file.map_err(std::io::IntoInnerError::into_error)?;
            let like = fs::metadata(self.ledger.path())?.permissions();
            file.as_file().set_permissions(like)?;
            file.as_file().sync_all()?;
            file.persist(self.ledger.path())?;
            sync_dir(dir)
        };
        put().map_err(writing)
    }

    fn damaged(&self, why: Damage) -> SessionError {
        self.ledger.damaged_line(self.tip.length, why)
    }

    fn writing(&self) -> impl FnOnce(std::io::Error) -> SessionError + use<> {
        SessionError::io(self.ledger.path().to_owned(), "write the ledger anew")
    }
}
