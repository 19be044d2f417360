//! The rules of the session as plainly as they can be said.

use std::collections::BTreeMap;

use super::{KEYS, Order, PAUSE_AFTER, Said, Seen, Sent, Step, Who};
use crate::harness::made::at;

const MAX_TRIES: u32 = 3;
const DEFAULT_LEASE: u32 = 900;

#[derive(Default)]
struct Quest {
    state: &'static str,
    tries: u32,
    sent: Vec<(Sent, Rest)>,
}

/// What a verdict rests on, as far as it matters.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Heard,
    Confirmed,
    Silence,
}

#[derive(Clone, Copy)]
struct Hold {
    who: u8,
    at: i64,
    lease: u32,
}

impl Hold {
    fn age(self, now: i64) -> u64 {
        now.abs_diff(self.at)
    }

    fn is_live(self, now: i64) -> bool {
        self.age(now) < u64::from(self.lease) * 1_000
    }

    fn is_worn(self, now: i64) -> bool {
        self.age(now) > u64::from(self.lease) * 500
    }
}

pub struct Plain {
    order: Order,
    now: i64,
    quests: Vec<Quest>,
    holds: BTreeMap<usize, Hold>,
    streak: u32,
    sharer: Option<usize>,
}

impl Plain {
    pub fn new(order: Order) -> Self {
        let quest = || Quest {
            state: "TODO",
            ..Quest::default()
        };
        Self {
            order,
            now: at().as_millisecond(),
            quests: KEYS.iter().map(|_| quest()).collect(),
            holds: BTreeMap::new(),
            streak: 0,
            sharer: None,
        }
    }

    /// What each command of a step says, those in the middle of another before it.
    pub fn take(&mut self, step: &Step) -> Vec<Said> {
        let mut said = Vec::new();
        let last = match step {
            Step::Next(who, lease) => self.next(*who, *lease),
            Step::Submit(who, quest, sent, during) => {
                self.submit(*who, *quest, *sent, during, &mut said)
            }
            Step::Release(quest) => match self.holds.remove(quest) {
                Some(hold) => Said::Released(hold.who),
                None => Said::Nothing,
            },
            Step::Resume if self.paused() => {
                self.streak = 0;
                Said::Done
            }
            Step::Pass(milliseconds) => {
                self.now += milliseconds;
                Said::Done
            }
            Step::Resume | Step::LoseIndex | Step::Fold => Said::Nothing,
        };
        said.push(last);
        said
    }

    pub fn seen(&self) -> Seen {
        let claims = self.holds.iter();
        Seen {
            quests: self.quests.iter().map(Quest::seen).collect(),
            claims: claims
                .map(|(quest, hold)| (*quest, hold.who, hold.at, hold.lease))
                .collect(),
            tally: ["TODO", "PASS", "REVIEW", "DONE"].map(|state| self.count(state)),
            streak: self.streak,
            paused: self.paused(),
            sharer: self.sharer,
            free: self.free(),
        }
    }

    fn count(&self, state: &str) -> u32 {
        let quests = self.quests.iter();
        let count = quests.filter(|quest| quest.state == state).count();
        u32::try_from(count).expect("a short list")
    }

    fn paused(&self) -> bool {
        self.streak >= PAUSE_AFTER
    }

    fn free(&self) -> Option<usize> {
        (0..self.quests.len()).find(|quest| {
            let hold = self.holds.get(quest);
            let is_held = hold.is_some_and(|hold| hold.is_live(self.now));
            self.quests[*quest].state == "TODO" && !is_held && self.awaited(*quest).is_none()
        })
    }

    /// The first quest before this one that has not passed.
    fn awaited(&self, quest: usize) -> Option<usize> {
        let mut before = self.order[quest].iter().copied();
        before.find(|before| self.quests[*before].state != "PASS")
    }

    fn is_blocked(&self, quest: usize) -> bool {
        let stuck = |before: &usize| match self.quests[*before].state {
            "PASS" => false,
            "TODO" => self.is_blocked(*before),
            _ => true,
        };
        self.quests[quest].state == "TODO" && self.order[quest].iter().any(stuck)
    }

    fn none_free(&self) -> Said {
        let all = 0..self.quests.len();
        let todo = all.filter(|quest| self.quests[*quest].state == "TODO");
        let (waiting, claimed): (Vec<_>, Vec<_>) =
            todo.partition(|quest| self.awaited(*quest).is_some());
        let held = |quest| {
            self.holds
                .get(quest)
                .is_some_and(|hold| hold.is_live(self.now))
        };
        assert!(claimed.iter().all(held));
        if waiting.is_empty() {
            return Said::AllClaimed;
        }
        let count = waiting.len();
        let blocked = waiting.into_iter().filter(|quest| self.is_blocked(*quest));
        Said::Waiting(count, blocked.collect())
    }

    fn next(&mut self, who: Who, lease: Option<u32>) -> Said {
        if self.count("TODO") == 0 {
            return Said::Complete;
        }
        if self.paused() {
            return Said::Paused(self.streak);
        }
        let Some(who) = who else {
            let free = self.free();
            return free.map_or_else(|| self.none_free(), |q| Said::Given(q, None));
        };
        let own = self.holds.iter().find(|(_, hold)| hold.who == who);
        let (quest, hold) = match own.map(|(quest, hold)| (*quest, *hold)) {
            Some((quest, hold)) => {
                let wanted = lease.unwrap_or(hold.lease);
                let as_it_is = wanted == hold.lease && !hold.is_worn(self.now);
                let at = if as_it_is { hold.at } else { self.now };
                let lease = wanted;
                (quest, Hold { who, at, lease })
            }
            None => match self.free() {
                Some(quest) => {
                    let (at, lease) = (self.now, lease.unwrap_or(DEFAULT_LEASE));
                    (quest, Hold { who, at, lease })
                }
                None => return self.none_free(),
            },
        };
        self.holds.insert(quest, hold);
        Said::Given(quest, Some((hold.who, hold.at, hold.lease)))
    }

    fn refusal(&self, who: Who, quest: usize) -> Option<Said> {
        let state = self.quests[quest].state;
        if state != "TODO" {
            return Some(Said::Locked(state));
        }
        if let Some(before) = self.awaited(quest) {
            return Some(Said::Waits(before));
        }
        match self.holds.get(&quest) {
            Some(hold) if who != Some(hold.who) && (who.is_some() || hold.is_live(self.now)) => {
                Some(Said::Claimed(hold.who))
            }
            _ => self.paused().then_some(Said::Paused(self.streak)),
        }
    }

    fn submit(
        &mut self,
        who: Who,
        quest: usize,
        sent: Sent,
        during: &[Step],
        said: &mut Vec<Said>,
    ) -> Said {
        if let Some(refusal) = self.refusal(who, quest) {
            return refusal;
        }
        let now = self.now;
        if let Some(hold) = self.holds.get_mut(&quest)
            && Some(hold.who) == who
            && hold.is_worn(now)
        {
            hold.at = now;
        }
        let before = self.quests[quest].sent.len();
        let heard = |(known, rest): &(Sent, Rest)| *known == sent && *rest != Rest::Silence;
        let repeat = self.quests[quest].sent.iter().any(heard);
        let unseen = repeat || matches!(sent, Sent::Nothing(_));
        if !unseen {
            for step in during {
                said.extend(self.take(step));
            }
        }
        if let Some(refusal) = self.refusal(who, quest) {
            return refusal;
        }
        if self.quests[quest].sent.len() != before {
            return Said::Overtaken;
        }
        let (verdict, rest) = if unseen {
            ("FAIL", Rest::Heard)
        } else {
            self.verdict(quest, sent)
        };
        self.judged(who, quest, sent, verdict, rest)
    }

    fn verdict(&self, quest: usize, sent: Sent) -> (&'static str, Rest) {
        match sent {
            Sent::Right => ("PASS", Rest::Confirmed),
            Sent::Shared if self.sharer.is_none_or(|sharer| sharer == quest) => {
                ("PASS", Rest::Confirmed)
            }
            Sent::Shared => ("REVIEW", Rest::Heard),
            Sent::Freemail => ("REVIEW", Rest::Confirmed),
            Sent::Silent => ("REVIEW", Rest::Silence),
            Sent::SilentAndWrong => ("FAIL", Rest::Silence),
            Sent::MadeUp(_) | Sent::Nothing(_) => ("FAIL", Rest::Heard),
        }
    }

    fn judged(
        &mut self,
        who: Who,
        index: usize,
        sent: Sent,
        verdict: &'static str,
        rest: Rest,
    ) -> Said {
        let quest = &mut self.quests[index];
        quest.sent.push((sent, rest));
        quest.tries += u32::from(verdict == "FAIL");
        quest.state = match verdict {
            "FAIL" if quest.tries < MAX_TRIES => "TODO",
            "FAIL" => "DONE",
            other => other,
        };
        let (state, tries, number) = (quest.state, quest.tries, quest.sent.len());
        if state == "TODO" {
            if let Some(hold) = self.holds.get_mut(&index)
                && Some(hold.who) == who
            {
                hold.at = self.now;
            }
        } else {
            self.holds.remove(&index);
            let proven = state == "PASS" || (state == "REVIEW" && rest == Rest::Confirmed);
            self.streak = if proven { 0 } else { self.streak + 1 };
        }
        if (state, sent) == ("PASS", Sent::Shared) {
            self.sharer = Some(index);
        }
        let number = u32::try_from(number).expect("few attempts");
        Said::Judged(verdict, state, tries, number, self.count("TODO"))
    }
}

impl Quest {
    fn seen(&self) -> (&'static str, u32, u32) {
        let attempts = u32::try_from(self.sent.len()).expect("few attempts");
        (self.state, self.tries, attempts)
    }
}
