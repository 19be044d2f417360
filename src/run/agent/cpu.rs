//! The processor time of a process and of all that descends from it.

#[cfg(target_os = "linux")]
use std::{fs, time::Duration};

use nix::unistd::Pid;

use super::output::CpuTime;

#[cfg(target_os = "linux")]
const TICK: Duration = Duration::from_millis(10);

// Includes the time of children that were waited for, so a finished build still counts as work.
#[cfg(target_os = "linux")]
pub(super) fn of_tree(first: Pid) -> CpuTime {
    let mut all = crate::world::sandbox::descendants(first);
    all.push(first);
    let ticks = all.into_iter().filter_map(|pid| {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        ticks_in(&stat)
    });
    let ticks = ticks.fold(0u64, u64::saturating_add);
    CpuTime::Used(TICK.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX)))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_tree(_: Pid) -> CpuTime {
    CpuTime::Unknown
}

// The second field of `/proc/PID/stat` is a name that may contain spaces and parentheses, so
// fields are counted from the last `)`.
#[cfg(target_os = "linux")]
fn ticks_in(stat: &[u8]) -> Option<u64> {
    const FIRST: usize = 11;
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(&stat[name_ends + 1..]).ok()?;
    let fields = rest.split_ascii_whitespace().skip(FIRST).take(4);
    let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    (ticks.len() == 4).then(|| ticks.iter().sum())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn counts_its_own_time_and_that_of_children_that_ended() {
        let line = b"7 (a) 1 2 (b) S 1 7 7 0 -1 4194304 99 98 97 96 5 6 70 800 20 0 1 0 33 1 2";
        assert_eq!(ticks_in(line), Some(5 + 6 + 70 + 800));
        assert_eq!(
            ticks_in(b"7 (a) S 1 7 7 0 -1 4194304 99 98 97 96 5 6"),
            None
        );
        assert_eq!(ticks_in(b""), None);
    }

    #[test]
    fn a_process_that_is_there_uses_some() {
        assert!(matches!(of_tree(Pid::this()), CpuTime::Used(_)));
    }
}
