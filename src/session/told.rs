//! What is told of a session to who asks what goes on.

use super::open::Session;
use super::store::Store as _;

impl Session {
    /// Tells which session was opened, and where it stands.
    pub fn tell(&self) {
        let checkpoint = self.checkpoint();
        let (lines, head) = (checkpoint.lines, checkpoint.head);
        let dir = self.dir().display();
        let quests = self.totals().tally.total();
        tracing::info!(%dir, quests, lines, %head, "opened the session");
    }
}
