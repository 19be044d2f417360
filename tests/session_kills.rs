//! Commands that are killed at any moment: what was acknowledged stays, and nothing else breaks.
//!
//! A few dozen are killed in each run of the tests. `COMAIL_TEST_KILLS=200` kills that many, one
//! after the other and by several workers at once, and asks the other tests of faults for their
//! long run too: every bit of a ledger and an index flipped, thousands of sequences of commands.

use std::io::Read as _;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use comail::session::Session;
use serde_json::Value;

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, scale};

/// How many submits are killed; `COMAIL_TEST_KILLS` asks for more.
const KILLS: u64 = 60;

const QUESTS: u64 = 24;

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

fn arguments(world: &EmailNet, turn: u64) -> Vec<String> {
    let id = u32::try_from(turn % QUESTS + 1).expect("a small number");
    let right = world.right("acme.co.kr");
    let mut args = match turn % 4 {
        0 => right.args(id),
        1 | 2 => right
            .clone()
            .email(&format!("made.up{turn}@acme.co.kr"))
            .args(id),
        _ => vec![
            "submit".to_owned(),
            format!("--id={id}"),
            format!("--none=tried {turn} times"),
        ],
    };
    args.push("--json".to_owned());
    args
}

/// Runs a submit, kills it, and returns the attempt that it acknowledged.
fn killed(world: &EmailNet, turn: u64, moments: &mut Moments) -> Option<(u64, u64)> {
    let answer = cut_short(world, &arguments(world, turn), moments)?;
    Some((answer["id"].as_u64()?, answer["attempt"].as_u64()?))
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

#[test]
fn no_acknowledged_attempt_is_lost_and_remaining_never_grows() {
    let kills = scale::kills(KILLS);
    let names: Vec<String> = (1..=QUESTS).map(|n| format!("{ACME} {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = EmailNet::with(&names, &["--pause-after", "0"]);
    let began = Instant::now();
    let whole = world.right("acme.co.kr").clone().email("first@acme.co.kr");
    assert_eq!(world.submit(1, &whole).0, 5);
    let whole = began.elapsed();

    let mut moments = Moments::new(7, whole);
    let (mut acknowledged, mut unheard) = (Vec::new(), 0);
    let mut remaining = QUESTS;
    for turn in 0..kills {
        match killed(&world, turn, &mut moments) {
            Some(attempt) => acknowledged.push(attempt),
            None => unheard += 1,
        }
        // A process that died is no finding.
        world.place.run(["audit"]).ok();
        let (code, status) = world.place.json(["status"]);
        assert_eq!(code, 0, "{status}");
        let left = status["tally"]["todo"].as_u64().expect("a number");
        assert!(left <= remaining, "{left} of {remaining} after kill {turn}");
        assert_eq!(status["total"], QUESTS);
        remaining = left;
        let attempts = world.place.attempts();
        for attempt in &acknowledged {
            assert!(
                attempts.contains(attempt),
                "{attempt:?} is lost after kill {turn}"
            );
        }
        let once = attempts.iter().collect::<std::collections::HashSet<_>>();
        assert_eq!(once.len(), attempts.len(), "{attempts:?}");
    }
    // Moments on both sides of the acknowledgement were met.
    assert!(
        unheard > 0 && !acknowledged.is_empty(),
        "{unheard} unheard of {kills}"
    );
    world.place.run(["export"]).ok();
}

const WORKERS: u64 = 4;

/// What workers heard before they were killed.
#[derive(Default)]
struct Heard {
    attempts: Vec<(u64, u64)>,
    claims: Vec<(u64, String)>,
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

/// A worker that asks for quests and answers them, and is killed each time.
fn toil(world: &EmailNet, worker: u64, kills: u64, whole: Duration, left: &Mutex<u64>) -> Heard {
    let (mut moments, mut heard) = (Moments::new(worker, whole), Heard::default());
    let name = format!("--worker=w{worker}");
    let next = ["next", &name, "--lease=1h", "--json"].map(str::to_owned);
    for turn in 0..kills {
        let mut asked = cut_short(world, &next, &mut moments);
        if asked.is_none() {
            let (code, answer) = world.place.json(&next[..3]);
            assert!(matches!(code, 0 | 3 | 4), "{answer}");
            asked = Some(answer);
        }
        let asked = asked.expect("an answer");
        heard.take(&asked);
        let Some(id) = asked["quest"]["id"].as_u64() else {
            break;
        };
        let id = u32::try_from(id).expect("a short list");
        let mut args = match turn % 3 {
            0 => world.right("acme.co.kr").args(id),
            1 => {
                let email = format!("made.up{worker}.{turn}@acme.co.kr");
                world.right("acme.co.kr").email(&email).args(id)
            }
            _ => vec![
                "submit".into(),
                format!("--id={id}"),
                format!("--none={turn}"),
            ],
        };
        args.extend([name.clone(), "--json".to_owned()]);
        if let Some(answer) = cut_short(world, &args, &mut moments) {
            heard.take(&answer);
        }
        // Nobody counts twice at once, so that a later count is of a later moment.
        let mut left = left.lock().expect("no worker panics");
        let (code, status) = world.place.json(["status"]);
        assert_eq!(code, 0, "{status}");
        let now = status["tally"]["todo"].as_u64().expect("a number");
        assert!(now <= *left, "{now} of {left}");
        *left = now;
    }
    heard
}

#[test]
fn workers_that_are_killed_together_lose_nothing_and_take_nothing_twice() {
    let kills = scale::kills(KILLS / 2) / WORKERS;
    let names: Vec<String> = (1..=QUESTS).map(|n| format!("{ACME} {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = EmailNet::with(&names, &["--pause-after", "0"]);
    let began = Instant::now();
    let whole = world.right("acme.co.kr").email("first@acme.co.kr");
    assert_eq!(world.submit(1, &whole).0, 5);
    let whole = began.elapsed();
    let left = Mutex::new(QUESTS);
    let heard: Vec<Heard> = thread::scope(|scope| {
        let (world, left) = (&world, &left);
        let start = |worker| scope.spawn(move || toil(world, worker, kills, whole, left));
        let workers: Vec<_> = (1..=WORKERS).map(start).collect();
        let ends = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ends.map(|end| end.expect("no worker panics")).collect()
    });

    let attempts = world.place.attempts();
    let once = attempts.iter().collect::<std::collections::HashSet<_>>();
    assert_eq!(once.len(), attempts.len(), "{attempts:?}");
    let text = String::from_utf8(world.place.ledger()).expect("UTF-8");
    for heard in &heard {
        for attempt in &heard.attempts {
            assert!(attempts.contains(attempt), "{attempt:?} is lost");
        }
        for (quest, worker) in &heard.claims {
            let claim = format!("\"body\":{{\"quest\":{quest},\"worker\":\"{worker}\"");
            assert!(text.contains(&claim), "{claim} is lost");
        }
    }
    assert!(heard.iter().any(|heard| !heard.attempts.is_empty()));
    world.place.run(["audit"]).ok();
    // The fold finds any line that cannot have happened, such as an answer of one who lost its
    // quest; what a killed command left behind is mended by then.
    let mut session = Session::open(&world.place.at(".comail")).expect("a session");
    session.fold().expect("a sound ledger");
    let mut again = Session::open(&world.place.at(".comail")).expect("a session");
    again.fold().expect("a sound ledger");
    assert_eq!(again.repairs(), []);
    world.place.run(["export"]).ok();
}
