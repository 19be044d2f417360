//! Commands that are killed at any moment: what was acknowledged stays, and nothing else breaks.
//!
//! A few dozen are killed in each run of the tests. `COMAIL_TEST_KILLS=200` kills that many, of one
//! worker and of several at once, and asks the other tests of faults for their
//! long run too: every bit of a ledger and an index flipped, thousands of sequences of commands.

use std::collections::HashSet;
use std::io::Read as _;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use comail::session::Session;
use serde_json::Value;

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, scale};

/// How many commands of one worker are killed; `COMAIL_TEST_KILLS` asks for more.
const KILLS: u64 = 60;

const WORKERS: u64 = 4;

/// `SplitMix64`: the same moments in every run of the test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The moments at which commands are killed: before and after their answer, however fast the
/// machine is just now.
struct Moments {
    dice: Dice,
    /// About how long a command takes.
    whole: Duration,
}

impl Moments {
    fn new(seed: u64, whole: Duration) -> Moments {
        let dice = Dice(seed);
        Moments { dice, whole }
    }

    /// A share of the whole, up to one and a quarter.
    fn next(&mut self) -> Duration {
        let share = u32::try_from(self.dice.roll() % 1_250).expect("a small number");
        self.whole * share / 1_000
    }

    /// Moves the whole to where every second answer is heard.
    fn learn(&mut self, heard: bool) {
        self.whole = if heard {
            self.whole * 4 / 5
        } else {
            self.whole * 5 / 4
        };
    }
}

/// Runs a command, kills it at the next moment, and returns what it said until then.
fn cut_short(world: &EmailNet, args: &[String], moments: &mut Moments) -> Option<Value> {
    let mut command = world.place.command();
    let command = command.args(args);
    // A kill in the middle of adding to a shared file of counts would spoil it.
    let command = command.env("LLVM_PROFILE_FILE", "/dev/null");
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().expect("the program starts");
    // The moment is the test's subject; there is nothing to wait for instead.
    thread::sleep(moments.next());
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let mut said = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut said).expect("UTF-8");
    let said = serde_json::from_str(&said).ok();
    moments.learn(said.is_some());
    said
}

/// What workers heard before they were killed.
#[derive(Default)]
struct Heard {
    attempts: Vec<(u64, u64)>,
    claims: Vec<(u64, String)>,
    unheard: usize,
}

impl Heard {
    fn take(&mut self, answer: &Value) {
        if let (Some(id), Some(number)) = (answer["id"].as_u64(), answer["attempt"].as_u64()) {
            self.attempts.push((id, number));
        }
        let claim = &answer["claim"];
        if let (Some(quest), Some(worker)) = (claim["quest"].as_u64(), claim["worker"].as_str()) {
            self.claims.push((quest, worker.to_owned()));
        }
    }
}

/// A session with a quest for each kill at least, and about how long a command takes in it.
struct Mill {
    world: EmailNet,
    quests: u64,
    whole: Duration,
    /// How many quests were left when they were counted last.
    left: Mutex<u64>,
}

impl Mill {
    fn new(kills: u64) -> Self {
        let quests = kills.max(24) + WORKERS;
        let names: Vec<String> = (1..=quests).map(|n| format!("{ACME} {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let world = EmailNet::with(&names, &["--pause-after", "0"]);
        let began = Instant::now();
        let first = world.right("acme.co.kr").email("first@acme.co.kr");
        assert_eq!(world.submit(1, &first).0, 5);
        Self {
            world,
            quests,
            whole: began.elapsed(),
            left: Mutex::new(quests),
        }
    }

    /// A worker that asks for quests and answers them, and is killed each time.
    fn toil(&self, worker: u64, kills: u64, after_each: impl Fn(&Heard)) -> Heard {
        let world = &self.world;
        let (mut moments, mut heard) = (Moments::new(worker, self.whole), Heard::default());
        let name = format!("--worker=w{worker}");
        let next = ["next", &name, "--lease=1h", "--json"].map(str::to_owned);
        for turn in 0..kills {
            let asked = cut_short(world, &next, &mut moments).unwrap_or_else(|| {
                let (code, answer) = world.place.json(&next[..3]);
                assert!(matches!(code, 0 | 3 | 4), "{answer}");
                answer
            });
            heard.take(&asked);
            let id = asked["quest"]["id"].as_u64().expect("enough quests");
            let id = u32::try_from(id).expect("a short list");
            let right = world.right("acme.co.kr");
            let mut args = match turn % 4 {
                0 => right.args(id),
                1 | 2 => {
                    let email = format!("made.up{worker}.{turn}@acme.co.kr");
                    right.email(&email).args(id)
                }
                _ => vec![
                    "submit".into(),
                    format!("--id={id}"),
                    format!("--none={turn}"),
                ],
            };
            args.extend([name.clone(), "--json".to_owned()]);
            match cut_short(world, &args, &mut moments) {
                Some(answer) => heard.take(&answer),
                None => heard.unheard += 1,
            }
            // Nobody counts twice at once, so that a later count is of a later moment.
            let mut left = self.left.lock().expect("no worker panics");
            let (code, status) = world.place.json(["status"]);
            assert_eq!((code, &status["total"]), (0, &self.quests.into()));
            let now = status["tally"]["todo"].as_u64().expect("a number");
            assert!(now <= *left, "{now} of {left} after kill {turn}");
            *left = now;
            after_each(&heard);
        }
        heard
    }

    /// Everything that was acknowledged is in the ledger, and no attempt is in it twice.
    fn assert_kept(&self, heard: &Heard) {
        let attempts = self.world.place.attempts();
        let once = attempts.iter().collect::<HashSet<_>>();
        assert_eq!(once.len(), attempts.len(), "{attempts:?}");
        for attempt in &heard.attempts {
            assert!(attempts.contains(attempt), "{attempt:?} is lost");
        }
        let text = String::from_utf8(self.world.place.ledger()).expect("UTF-8");
        for (quest, worker) in &heard.claims {
            let claim = format!("\"body\":{{\"quest\":{quest},\"worker\":\"{worker}\"");
            assert!(text.contains(&claim), "{claim} is lost");
        }
    }
}

#[test]
fn no_acknowledged_attempt_is_lost_and_remaining_never_grows() {
    let kills = scale::kills(KILLS);
    let mill = Mill::new(kills);
    let heard = mill.toil(7, kills, |heard| {
        // A process that died is no finding.
        mill.world.place.run(["audit"]).ok();
        mill.assert_kept(heard);
    });
    // Moments on both sides of the acknowledgement were met.
    let (unheard, attempts) = (heard.unheard, heard.attempts.len());
    assert!(unheard > 0 && attempts > 0, "{unheard} unheard of {kills}");
    mill.world.place.run(["export"]).ok();
}

#[test]
fn workers_that_are_killed_together_lose_nothing_and_take_nothing_twice() {
    let kills = scale::kills(KILLS / 2);
    let mill = Mill::new(kills);
    let heard: Vec<Heard> = thread::scope(|scope| {
        let mill = &mill;
        let toil = |worker| scope.spawn(move || mill.toil(worker, kills / WORKERS, |_| {}));
        let workers: Vec<_> = (1..=WORKERS).map(toil).collect();
        let ends = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ends.map(|end| end.expect("no worker panics")).collect()
    });
    heard.iter().for_each(|heard| mill.assert_kept(heard));
    assert!(heard.iter().any(|heard| !heard.attempts.is_empty()));
    mill.world.place.run(["audit"]).ok();
    // The fold finds any line that cannot have happened, such as an answer of one who lost its
    // quest; what a killed command left behind is mended by then.
    let open = || Session::open(&mill.world.place.at(".comail")).expect("a session");
    open().fold().expect("a sound ledger");
    let mut again = open();
    again.fold().expect("a sound ledger");
    assert_eq!(again.repairs(), []);
    mill.world.place.run(["export"]).ok();
}
