//! Submits that are killed at any moment: what was acknowledged stays, and nothing else breaks.

use std::io::Read as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

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

    /// A share of `whole`, up to one and a quarter.
    fn share(&mut self, whole: Duration) -> Duration {
        let share = u32::try_from(self.roll() % 1_250).expect("a small number");
        whole * share / 1_000
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

/// Runs a submit, kills it after `patience`, and returns the attempt that it acknowledged.
fn killed(world: &EmailNet, turn: u64, patience: Duration) -> Option<(u64, u64)> {
    let mut command = world.place.command();
    let command = command.args(arguments(world, turn));
    // A kill in the middle of adding to a shared file of counts would spoil it.
    let command = command.env("LLVM_PROFILE_FILE", "/dev/null");
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().expect("the program starts");
    // The moment is the test's subject; there is nothing to wait for instead.
    thread::sleep(patience);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let mut said = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut said).expect("UTF-8");
    let answer: serde_json::Value = serde_json::from_str(&said).ok()?;
    Some((answer["id"].as_u64()?, answer["attempt"].as_u64()?))
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

    let (mut dice, mut acknowledged, mut unheard) = (Dice(7), Vec::new(), 0);
    let mut remaining = QUESTS;
    for turn in 0..kills {
        match killed(&world, turn, dice.share(whole)) {
            Some(attempt) => acknowledged.push(attempt),
            None => unheard += 1,
        }
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
