//! Reads, appends to and rewrites `ledger.jsonl`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::chain::{Line, Tip};
use super::decision::{Dispute, Settlement};
use super::error::{Damage, SessionError};
use super::event::{Attempt, Dated, Event, IdempotencyKey, Mark, Resolution};
use super::manifest::{Manifest, read_manifest};
use super::mirror::Mirror;
use super::quest_record::{QuestRecord, Span};
use super::redaction::Forgetting;
use super::reopening::Regressed;
use super::run_event::RunStep;
use crate::base::clock::Clock;
use crate::base::{Digest, files};
use crate::quest::Quest;

/// Shows the progress of long work on a session, and can stop it.
pub trait Watch: Send + Sync {
    fn reading(&self, done: u64, total: u64);

    fn writing(&self, _done: u64, _total: u64) {}

    fn ended(&self) {}

    fn stops(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn reading(&self, _done: u64, _total: u64) {}
}

/// A reader's place in the ledger.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
    tip: Tip,
    last: Option<Span>,
    /// The time of that line, if it was read through this cursor.
    pub(super) last_at: Option<Timestamp>,
}

/// What follows a reader's place in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterCursor {
    Bytes(u64),
    Cut,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    Clean,
    Torn(u64),
}

/// How many bytes are read between two progress reports.
const WATCH_BYTES: u64 = 1024 * 1024;

const BUFFER_BYTES: usize = 256 * 1024;

impl Ledger {
    /// The ledger of the session in `dir`, at its beginning.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            path: dir.join("ledger.jsonl"),
            tip: Tip::start(),
            last: None,
            last_at: None,
        }
    }

    /// The ledger after the line at `last`, which ends in `tip`.
    pub(super) fn at(dir: &Path, tip: Tip, last: Span) -> Self {
        Self {
            tip,
            last: (tip.length > 0).then_some(last),
            ..Self::new(dir)
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn tip(&self) -> Tip {
        self.tip
    }

    fn end(&self) -> u64 {
        self.last.map_or(0, Span::end)
    }

    /// Checks that the first line binds the `session.json` with this digest.
    pub(super) fn begins(&self, manifest: Digest) -> Result<(), SessionError> {
        let mut bytes = Vec::new();
        files::open(&self.path)
            .and_then(|file| BufReader::new(file).read_until(b'\n', &mut bytes))
            .map_err(SessionError::io(&self.path, "open the ledger"))?;
        if bytes.pop_if(|last| *last == b'\n').is_none() {
            return Err(self.damaged(Damage::IllegalEvent("the ledger is empty")));
        }
        match self.parse(&bytes).map_err(|why| self.damaged(why))? {
            (_, Event::Session(started)) if started.manifest == manifest => Ok(()),
            (_, Event::Session(_)) => Err(SessionError::ManifestChanged(
                self.path.with_file_name("session.json"),
            )),
            _ => Err(self.damaged(Damage::IllegalEvent(
                "the first line does not begin a session",
            ))),
        }
    }

    /// Whether the ledger on disk still has the lines up to this place, and how many bytes follow.
    ///
    /// The last line before this place is read again, and must still end the chain here.
    pub(super) fn beyond(&self) -> Result<AfterCursor, SessionError> {
        let length = files::metadata(&self.path)
            .map_err(SessionError::io(&self.path, "open the ledger"))?
            .len();
        let Some(last) = self.last else {
            return Ok(AfterCursor::Bytes(length));
        };
        if length < self.end() {
            return Ok(AfterCursor::Cut);
        }
        let found = self.reader(Forgetting::default())?.tip_of(last);
        Ok(if found == Some(self.tip) {
            AfterCursor::Bytes(length - self.end())
        } else {
            AfterCursor::Other
        })
    }

    /// Whether the chain on disk passes through `tip` at or after this place.
    pub(super) fn passes(&mut self, tip: Tip) -> Result<bool, SessionError> {
        let mut passed = tip == self.tip;
        self.each_line(&Unwatched, &mut |line, _, _| {
            passed |= line.tip() == tip;
            let goes_on = line.tip().length < tip.length;
            Ok::<_, SessionError>(if goes_on {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(passed)
    }

    /// Reads the remaining lines, checks each against the chain, and passes it to `take`.
    ///
    /// The place advances past each line after which `take` continues.
    pub(super) fn each_line<E: From<SessionError>>(
        &mut self,
        watch: &dyn Watch,
        take: &mut TakeLine<'_, E>,
    ) -> Result<Tail, E> {
        let read = self.read_lines(watch, take);
        watch.ended();
        read
    }

    fn read_lines<E: From<SessionError>>(
        &mut self,
        watch: &dyn Watch,
        take: &mut TakeLine<'_, E>,
    ) -> Result<Tail, E> {
        let mut file =
            files::open(&self.path).map_err(SessionError::io(&self.path, "open the ledger"))?;
        let length = file.metadata().map_err(self.reading())?.len();
        let mut at = self.end();
        if length < at {
            return Err(self.damaged(Damage::Cut).into());
        }
        file.seek(SeekFrom::Start(at)).map_err(self.reading())?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut bytes = Vec::new();
        let mut told = at;
        loop {
            bytes.clear();
            let read = reader.read_until(b'\n', &mut bytes);
            let read = read.map_err(self.reading())?;
            if read == 0 {
                return Ok(Tail::Clean);
            }
            if bytes.pop_if(|last| *last == b'\n').is_none() {
                return Ok(Tail::Torn(read as u64));
            }
            let (line, event) = self.parse(&bytes).map_err(|why| self.damaged(why))?;
            let span = span(at, &line).map_err(|why| self.damaged(why))?;
            if take(&line, event, span)?.is_break() {
                return Ok(Tail::Clean);
            }
            (self.tip, self.last) = (line.tip(), Some(span));
            self.last_at = Some(line.at());
            at = span.end();
            if at - told >= WATCH_BYTES {
                told = at;
                watch.reading(at, length);
                if watch.stops() {
                    return Err(SessionError::Stopped.into());
                }
            }
        }
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> Result<(Line<'a>, Event), Damage> {
        let text = str::from_utf8(bytes).map_err(|_| Damage::Utf8)?;
        let line = Line::parse(self.tip, text)?;
        let event = line.event().map_err(Damage::Body)?;
        Ok((line, event))
    }

    /// Cuts off an incomplete last line that [`Ledger::each_line`] found. Only under the session's lock.
    pub(super) fn cut_tail(&self) -> Result<(), SessionError> {
        let cut = || -> io::Result<()> {
            let file = files::open_with(OpenOptions::new().write(true), &self.path)?;
            file.set_len(self.end())?;
            file.sync_all()
        };
        cut().map_err(SessionError::io(&self.path, "cut off the torn last line"))
    }

    /// The next lines, which record these events, with their future places.
    pub(super) fn next_lines(
        &self,
        at: Timestamp,
        clock: &mut dyn Clock,
        events: Vec<Event>,
    ) -> Result<Vec<NewLine>, SessionError> {
        let (mut tip, mut end) = (self.tip, self.end());
        let lines = events.into_iter().map(|event| {
            let line = Line::next(tip, at, clock.salt(), &event)?;
            let span = span(end, &line).map_err(|why| self.damaged(why))?;
            (tip, end) = (line.tip(), span.end());
            Ok((line, event, span))
        });
        lines.collect()
    }

    /// Appends lines, and returns once they are on disk. Only under the session's lock, with everything
    /// read and no incomplete last line.
    pub(super) fn append(&self, lines: &[NewLine]) -> Result<(), SessionError> {
        self.write(lines, File::sync_all)
    }

    /// Appends lines that the database has already. A mirror that lost them is brought up to date.
    pub(super) fn append_copies(&self, lines: &[NewLine]) -> Result<(), SessionError> {
        self.write(lines, |_| Ok(()))
    }

    fn write(
        &self,
        lines: &[NewLine],
        sync: impl Fn(&File) -> io::Result<()>,
    ) -> Result<(), SessionError> {
        let mut text = String::new();
        for (line, ..) in lines {
            text.extend([line.text(), "\n"]);
        }
        let append = || -> io::Result<bool> {
            let mut file = files::open_with(OpenOptions::new().append(true), &self.path)?;
            if file.metadata()?.len() != self.end() {
                return Ok(false);
            }
            let written = file.write_all(text.as_bytes()).and_then(|()| sync(&file));
            // A partial write to a full disk must not block the next append.
            written.inspect_err(|_| drop(self.cut_tail()))?;
            Ok(true)
        };
        match append() {
            Ok(true) => Ok(()),
            Ok(false) => Err(SessionError::Illegal("somebody else writes to the ledger")),
            Err(error) => Err(SessionError::io(&self.path, "append to the ledger")(error)),
        }
    }

    /// Opens it for reading lines again. Only lines that `forgetting` names may be redacted.
    pub(super) fn reader(&self, forgetting: Forgetting) -> Result<LineReader, SessionError> {
        let file = files::open(&self.path).map_err(self.reading())?;
        Ok(LineReader {
            ledger: self.clone(),
            file: BufReader::new(file),
            at: 0,
            forgetting,
        })
    }

    pub(super) fn reading(&self) -> impl FnOnce(io::Error) -> SessionError {
        SessionError::io(&self.path, "read the ledger")
    }

    pub(super) fn damaged_line(&self, seq: u64, why: Damage) -> SessionError {
        SessionError::Damaged {
            path: self.path.clone(),
            line: seq + 1,
            why,
        }
    }

    pub(super) fn damaged(&self, why: Damage) -> SessionError {
        self.damaged_line(self.tip.length, why)
    }
}

fn span(offset: u64, line: &Line<'_>) -> Result<Span, Damage> {
    let length = u32::try_from(line.text().len());
    let length = length.map_err(|_| Damage::IllegalEvent("the line is longer than 4 GiB"))?;
    Ok(Span { offset, length })
}

/// Receives a line, and decides whether to continue.
pub(super) type TakeLine<'a, E> =
    dyn FnMut(&Line<'_>, Event, Span) -> Result<ControlFlow<()>, E> + 'a;

pub(super) type NewLine = (Line<'static>, Event, Span);

pub(super) type FoldLine<'a> = dyn FnMut(&Line<'_>, &Event, Span) -> Result<(), SessionError> + 'a;

/// A ledger that is written from its first line.
pub(super) struct LedgerDraft<'a, W: Write> {
    ledger: Ledger,
    file: BufWriter<W>,
    fold: &'a mut FoldLine<'a>,
}

impl<'a, W: Write> LedgerDraft<'a, W> {
    /// Begins a ledger in `file` for the session in `dir`. Each line is folded as it is written.
    pub(super) fn begin(dir: &Path, file: W, fold: &'a mut FoldLine<'a>) -> Self {
        Self {
            ledger: Ledger::new(dir),
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            fold,
        }
    }

    pub(super) fn tip(&self) -> Tip {
        self.ledger.tip
    }

    pub(super) fn add(
        &mut self,
        at: Timestamp,
        clock: &mut dyn Clock,
        event: &Event,
    ) -> Result<(), SessionError> {
        let line = Line::next(self.tip(), at, clock.salt(), event)?;
        self.put(&line, event)
    }

    /// Adds a line that follows the last one, with the event that it records.
    pub(super) fn put(&mut self, line: &Line<'_>, event: &Event) -> Result<(), SessionError> {
        let ledger = &mut self.ledger;
        let span = span(ledger.end(), line).map_err(|why| ledger.damaged(why))?;
        let text = [line.text(), "\n"];
        let written = text
            .iter()
            .try_for_each(|part| self.file.write_all(part.as_bytes()));
        written.map_err(SessionError::io(&ledger.path, "write the ledger"))?;
        (ledger.tip, ledger.last) = (line.tip(), Some(span));
        (self.fold)(line, event, span)
    }

    /// Ends the ledger, and returns the file, which the caller must sync.
    pub(super) fn end(self) -> Result<W, SessionError> {
        let file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error);
        file.map_err(SessionError::io(&self.ledger.path, "write the ledger"))
    }
}

/// What a line of the ledger records, with the line's time.
pub type Found<T> = Result<Option<Dated<T>>, SessionError>;

/// Reads single lines of the ledger again; fastest in the ledger's order.
///
/// A line that was redacted without a valid redaction event is damage.
#[derive(Debug)]
pub struct LineReader {
    ledger: Ledger,
    file: BufReader<File>,
    at: u64,
    forgetting: Forgetting,
}

impl LineReader {
    pub fn quest(&mut self, record: &QuestRecord) -> Result<Quest, SessionError> {
        let quest = self.pick(Some(record.quest_line), Event::try_as_quest)?;
        let mut quest = quest.ok_or_else(|| self.moved())?.value;
        quest.anchor = quest.anchor.or_else(|| record.anchor.clone());
        Ok(quest)
    }

    /// The quest's last attempt with its time. For a carried PASS, the time at which it first passed.
    pub fn last_attempt(&mut self, record: &QuestRecord) -> Found<Box<Attempt>> {
        self.attempt(record.last.map(|last| last.line))
    }

    /// The attempt that the last one repeats. Its judgement says what is wrong with the answer.
    pub fn repeated_attempt(&mut self, record: &QuestRecord) -> Found<Box<Attempt>> {
        self.attempt(record.repeated())
    }

    /// The quest's last attempt with this key. After a fixer, several attempts have it.
    pub fn keyed_attempt(
        &mut self,
        record: &QuestRecord,
        key: IdempotencyKey,
    ) -> Result<Option<Box<Attempt>>, SessionError> {
        for submitted in record.submissions.iter().rev() {
            let attempt = self.attempt(Some(submitted.line))?;
            let keyed = attempt.filter(|it| it.value.idempotency_key == Some(key));
            if let Some(attempt) = keyed {
                return Ok(Some(attempt.value));
            }
        }
        Ok(None)
    }

    fn attempt(&mut self, line: Option<Span>) -> Found<Box<Attempt>> {
        let mut first = None;
        let attempt = self.pick(line, |event| match event {
            Event::Attempt(attempt) => Some(attempt),
            Event::Carried(carried) => {
                first = Some(carried.origin.at);
                Some(Box::new(carried.attempt))
            }
            _ => None,
        })?;
        Ok(attempt.map(|attempt| Dated {
            at: first.unwrap_or(attempt.at),
            ..attempt
        }))
    }

    /// Why the quest's PASS no longer holds, until its next attempt.
    pub fn regression(&mut self, record: &QuestRecord) -> Found<Box<Regressed>> {
        self.pick(record.regression, Event::try_as_regressed)
    }

    /// What the PASS or the confirmation in a line takes for its quest alone.
    pub fn held_by(&mut self, line: Span) -> Result<Vec<Mark>, SessionError> {
        let held = self.pick(Some(line), |event| match event {
            Event::Attempt(attempt) => Some(attempt.holds),
            Event::Carried(carried) => Some(carried.attempt.holds),
            Event::Resolution(resolution) => Some(resolution.holds),
            _ => None,
        })?;
        Ok(held.map(|held| held.value).unwrap_or_default())
    }

    pub fn resolution(&mut self, record: &QuestRecord) -> Found<Box<Resolution>> {
        let line = record.resolution.map(|resolved| resolved.line);
        self.pick(line, Event::try_as_resolution)
    }

    pub fn settlement(&mut self, record: &QuestRecord) -> Found<Box<Settlement>> {
        let line = record.settled.map(|settled| settled.line);
        self.pick(line, Event::try_as_settled)
    }

    pub fn dispute(&mut self, record: &QuestRecord) -> Found<Box<Dispute>> {
        self.pick(record.dispute, Event::try_as_disputed)
    }

    /// What the last agent that worked on the quest reported about its progress.
    pub fn handover(&mut self, record: &QuestRecord) -> Found<Box<str>> {
        self.pick(record.handover, |event| match event.try_as_run()?.step {
            RunStep::Quest(driven) => driven.handover,
            _ => None,
        })
    }

    /// Reads the line at `span`, from which `of` must pick a value.
    fn pick<T>(&mut self, span: Option<Span>, of: impl FnOnce(Event) -> Option<T>) -> Found<T> {
        let Some(span) = span else {
            return Ok(None);
        };
        let Dated { at, value } = self.read(span, |line| {
            Ok(Dated {
                at: line.at(),
                value: line.event().map_err(Damage::Body)?,
            })
        })?;
        let value = of(value).ok_or_else(|| self.moved())?;
        Ok(Some(Dated { at, value }))
    }

    pub fn is_redacted(&mut self, span: Span) -> Result<bool, SessionError> {
        self.read(span, |line| Ok(line.redacted().is_some()))
    }

    /// Reads a line again. Fails if it was redacted without a valid redaction event.
    fn read<T>(
        &mut self,
        span: Span,
        take: impl FnOnce(&Line<'_>) -> Result<T, Damage>,
    ) -> Result<T, SessionError> {
        let bytes = self.bytes(span).map_err(self.ledger.reading())?;
        let read = unchained(&bytes).and_then(|line| match line.redacted() {
            Some(digest) if !self.forgetting.backs(line.seq(), digest) => Err(Damage::Unbacked),
            _ => take(&line),
        });
        read.map_err(|why| self.damaged_at(span.offset, why))
    }

    /// The end of the chain after the line at `span`, even if the line was redacted.
    fn tip_of(&mut self, span: Span) -> Option<Tip> {
        let bytes = self.bytes(span).ok()?;
        unchained(&bytes).ok().map(|line| line.tip())
    }

    fn bytes(&mut self, span: Span) -> io::Result<Vec<u8>> {
        let ahead = i128::from(span.offset) - i128::from(self.at);
        let ahead = i64::try_from(ahead).map_err(io::Error::other)?;
        self.file.seek_relative(ahead)?;
        let mut bytes = vec![0; span.length as usize];
        self.file.read_exact(&mut bytes)?;
        self.at = span.offset + u64::from(span.length);
        Ok(bytes)
    }

    fn damaged_at(&self, offset: u64, why: Damage) -> SessionError {
        let before = files::open(self.ledger.path()).map(|file| BufReader::new(file.take(offset)));
        let lines = before.map(|before| before.split(b'\n').count() as u64);
        let seq = lines.unwrap_or(self.ledger.tip.length);
        self.ledger.damaged_line(seq, why)
    }

    fn moved(&self) -> SessionError {
        let why = Damage::IllegalEvent("a line that was read is another now");
        self.ledger.damaged(why)
    }
}

fn unchained(bytes: &[u8]) -> Result<Line<'_>, Damage> {
    let text = str::from_utf8(bytes).map_err(|_| Damage::Utf8)?;
    Ok(Line::parse_unchained(text)?)
}

#[derive(Debug)]
pub struct Entry<'a> {
    pub line: &'a Line<'a>,
    pub event: Event,
}

/// Reading line by line while others append.
impl Ledger {
    /// Opens only the ledger of the session in `dir`, without writing anything.
    ///
    /// Also returns the manifest, which the first line of the ledger binds.
    pub fn open(dir: &Path) -> Result<(Manifest, Self), SessionError> {
        catch_up(dir)?;
        let (manifest, digest) = read_manifest(dir)?;
        let ledger = Self::new(dir);
        ledger.begins(digest)?;
        Ok((manifest, ledger))
    }

    /// Brings the file up to date, if its directory follows a session in a database. Never under the
    /// session's lock, which this takes.
    pub fn catch_up(&self) -> Result<(), SessionError> {
        catch_up(files::directory_of(&self.path))
    }

    /// Passes the remaining lines to `take`, each checked against the chain.
    ///
    /// An incomplete last line is ignored, because another process may be writing it.
    pub fn read_on(&mut self, take: &mut dyn FnMut(Entry<'_>)) -> Result<(), SessionError> {
        self.read_while(&Unwatched, &mut |entry| {
            take(entry);
            ControlFlow::Continue(())
        })
    }

    /// Like [`Self::read_on`], until `take` breaks.
    ///
    /// The lines that were read before must still be there.
    pub fn read_while(
        &mut self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), SessionError> {
        match self.beyond()? {
            AfterCursor::Bytes(0) => return Ok(()),
            AfterCursor::Bytes(_) => {}
            AfterCursor::Cut => return Err(self.damaged(Damage::Cut)),
            AfterCursor::Other => return Err(self.damaged(Damage::Rewritten)),
        }
        self.each_line(watch, &mut |line, event, _| {
            Ok::<_, SessionError>(take(Entry { line, event }))
        })?;
        Ok(())
    }
}

/// Brings a directory that follows a session in a database up to date.
pub fn catch_up(dir: &Path) -> Result<(), SessionError> {
    Mirror::at(dir)?.map_or(Ok(()), |mirror| mirror.catch_up())
}

/// Notices changes of a ledger's length.
#[derive(Debug)]
pub struct LedgerWatch {
    ledger: PathBuf,
    seen: Option<u64>,
}

impl LedgerWatch {
    pub fn of(dir: &Path) -> Self {
        Self {
            ledger: dir.join("ledger.jsonl"),
            seen: None,
        }
    }

    pub fn is_at(&self, end: u64) -> bool {
        self.seen == Some(end)
    }

    pub fn has_changed(&mut self) -> bool {
        // A database that cannot be reached counts as unchanged: whoever appends learns of it.
        let _ = catch_up(files::directory_of(&self.ledger));
        // A file without metadata counts as changed, so that reading it reports the error.
        let length = std::fs::metadata(&self.ledger).map(|it| it.len()).ok();
        let same = length.is_some() && length == self.seen;
        self.seen = length;
        !same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_appended_lines() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = dir.path().join("ledger.jsonl");
        let mut watch = LedgerWatch::of(dir.path());
        assert!(
            watch.has_changed() && watch.has_changed(),
            "it is not there"
        );
        assert!(!watch.is_at(0));
        std::fs::write(&ledger, "one\n").unwrap();
        assert!(watch.has_changed());
        assert!(!watch.has_changed());
        std::fs::write(&ledger, "one\ntwo\n").unwrap();
        assert!(watch.is_at(4) && watch.has_changed());
        assert!(watch.is_at(8) && !watch.is_at(4));
    }
}
