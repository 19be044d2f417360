//! A look at the index as it lies there: nothing is brought up to date, mended or locked for
//! long.
//!
//! For hints alone, such as what a shell offers while somebody types: what is seen may be behind
//! the ledger, and where there is no sound index nothing is seen.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Params};

use super::build::Index;
use super::checkpoint::Checkpoint;
use super::error::IndexError;
use super::row;
use super::schema;
use super::seal::Sealer;
use crate::base::Digest;
use crate::session::claim::Claim;
use crate::session::error::SessionError;
use crate::session::read_manifest::read_manifest;
use crate::session::standing::Standing;
use crate::session::state::State;
use crate::session::totals::Totals;

/// How long another process's write is waited for.
const BUSY_WAIT: Duration = Duration::from_millis(15);

/// A look at the index of a session.
#[derive(Debug)]
pub struct Glance {
    connection: Connection,
    sealer: Sealer,
    totals: Totals,
}

/// Which quests are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// How they are named.
    pub by: Prefix<'a>,
    /// In this state, or in any.
    pub state: Option<State>,
    /// Whether one of them is wanted.
    pub wanted: fn(&Standing) -> bool,
    /// How many at most.
    pub most: usize,
}

/// How the names begin of the quests that are looked for.
#[derive(Debug, Clone, Copy)]
pub enum Prefix<'a> {
    /// Their keys.
    Key(&'a str),
    /// Their numbers.
    Number(&'a str),
}

impl Glance {
    /// Looks at the session in `dir`.
    pub fn at(dir: &Path) -> Result<Self, SessionError> {
        let (_, session) = read_manifest(dir)?;
        let place = Index::place(dir);
        Self::of(&place, session).map_err(|why| SessionError::index(&place, why))
    }

    fn of(place: &Path, session: Digest) -> Result<Self, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = schema::sound(place, flags, BUSY_WAIT)?;
        let totals = Checkpoint::read(&connection, session)?.totals;
        let sealer = Sealer::new(session);
        Ok(Self {
            connection,
            sealer,
            totals,
        })
    }

    /// What the session adds up to.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Every claim, in order of quests.
    pub fn claims(&self) -> Result<Vec<Claim>, SessionError> {
        let mut found = Vec::new();
        self.each("SELECT * FROM claim ORDER BY quest", [], &mut |row| {
            found.push(row::read_claim(row, self.sealer)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// The quests that are sought, or those of them that were found until `stop` says so.
    pub fn quests(
        &self,
        sought: &Sought<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Standing>, SessionError> {
        let mut found = Vec::new();
        let state = sought.state;
        let mut take = |row: &rusqlite::Row<'_>| {
            let standing = row::read_quest(row, self.sealer)?;
            let fits = state.is_none_or(|state| standing.progress.state == state);
            if fits && (sought.wanted)(&standing) {
                found.push(standing);
            }
            Ok(found.len() < sought.most && !stop())
        };
        let narrowed = state.map_or(String::new(), |state| format!(" AND state = '{state}'"));
        match sought.by {
            Prefix::Key("") => {
                let sql = format!("SELECT * FROM quest WHERE TRUE{narrowed} ORDER BY id");
                self.each(&sql, [], &mut take)?;
            }
            Prefix::Key(prefix) => {
                let sql = "SELECT * FROM quest INDEXED BY quest_key \
                     WHERE key >= ?1 AND key < ?1 || char(0x10FFFF) ORDER BY key";
                self.each(sql, [prefix], &mut take)?;
            }
            Prefix::Number(prefix) => {
                let sql =
                    format!("SELECT * FROM quest WHERE id BETWEEN ? AND ?{narrowed} ORDER BY id");
                for (first, last) in numbers(prefix, self.totals.tally.total()) {
                    if !self.each(&sql, [first, last], &mut take)? {
                        break;
                    }
                }
            }
        }
        Ok(found)
    }

    /// Hands on rows while `take` wants more; whether it still does.
    fn each(
        &self,
        sql: &str,
        by: impl Params,
        take: &mut dyn FnMut(&rusqlite::Row<'_>) -> Result<bool, IndexError>,
    ) -> Result<bool, SessionError> {
        let run = || -> Result<bool, IndexError> {
            let mut select = self.connection.prepare(sql)?;
            let mut rows = select.query(by)?;
            while let Some(row) = rows.next()? {
                if !take(row)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        run().map_err(|why| SessionError::index(Path::new("index.sqlite"), why))
    }
}

/// The ranges of the numbers up to `last` that begin with these digits, in order.
fn numbers(digits: &str, last: u32) -> Vec<(u32, u32)> {
    if digits.is_empty() {
        return vec![(1, last)];
    }
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let begin = digits.parse().ok().filter(|begin: &u64| *begin > 0);
    let Some(begin) = begin.filter(|_| all_digits && !digits.starts_with('0')) else {
        return Vec::new();
    };
    let widths = (0..10).map(|width| 10_u64.pow(width));
    let ranges = widths.map(|width| (begin * width, begin * width + width - 1));
    ranges
        .take_while(|(first, _)| *first <= u64::from(last))
        .filter_map(|(first, end)| {
            let end = end.min(u64::from(last));
            Some((u32::try_from(first).ok()?, u32::try_from(end).ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_begin_alike_are_a_few_ranges() {
        assert_eq!(numbers("", 7), [(1, 7)]);
        assert_eq!(numbers("3", 7), [(3, 3)]);
        assert_eq!(numbers("12", 1_250), [(12, 12), (120, 129), (1_200, 1_250)]);
        for none in [
            "0",
            "01",
            "8",
            "x",
            "+1",
            "-1",
            "1 ",
            "99999999999999999999",
        ] {
            assert!(numbers(none, 7).is_empty(), "{none:?}");
        }
        assert_eq!(numbers("4294967295", u32::MAX), [(u32::MAX, u32::MAX)]);
    }
}
