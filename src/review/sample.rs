//! Draws PASSes that a person checks by hand.

use crate::base::clock::Clock;
use crate::judge::forgotten::is_forgotten;
use crate::quest::QuestId;
use crate::review::NotSettled;
use crate::review::settle::sealed;
use crate::session::{Event, Projection, Sampled, Seed, Session, SessionError, SigningKey, draw};

/// Draws at most `most` PASSes, and records the draw before anybody sees it.
///
/// The pool is read from the ledger, under the session's lock.
pub fn draw_sample(
    session: &mut Session,
    most: usize,
    seed: Seed,
    (by, key): (&str, Option<&SigningKey>),
    clock: &mut dyn Clock,
) -> Result<Vec<QuestId>, NotSettled> {
    session.append(clock, |session, _| {
        let projection = session.projection()?;
        let quests = draw(pool(session, &projection)?, most, seed);
        if quests.is_empty() {
            return Err(NotSettled::NothingToDraw);
        }
        let sampled = Sampled {
            quests: quests.clone(),
            by: by.to_owned(),
            seal: None,
        };
        let sampled = sealed(&projection, sampled, key)?;
        Ok((vec![Event::Sampled(Box::new(sampled))], quests))
    })
}

/// The PASSes that can be drawn. Forgotten ones are left out, because nobody can check them.
pub fn pool(session: &Session, projection: &Projection) -> Result<Vec<QuestId>, SessionError> {
    let sample = projection.totals().sample;
    let first = sample.map_or(u64::MAX, |sample| sample.first);
    let has_forgotten = !session.forgetting().is_empty();
    let mut reader = session.reader()?;
    let mut pool = Vec::new();
    for record in projection.quests() {
        let record = record?;
        if record.may_be_drawn(first) && !(has_forgotten && is_forgotten(&mut reader, &record)?) {
            pool.push(record.id);
        }
    }
    Ok(pool)
}
