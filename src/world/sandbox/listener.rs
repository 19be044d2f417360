//! Who listens at a port of this machine, by the kernel's own tables.

use std::collections::BTreeSet;
use std::fs;

use nix::unistd::Pid;

use crate::base::process::descendants;

/// The tables of sockets, and the addresses at which one is reached as 127.0.0.1.
const TABLES: [(&str, &[&str]); 2] = [
    ("/proc/net/tcp", &["0100007F", "00000000"]),
    (
        "/proc/net/tcp6",
        &[
            "00000000000000000000000000000000",
            "0000000000000000FFFF00000100007F",
        ],
    ),
];

/// The state of a socket that listens.
const LISTENS: &str = "0A";

/// Whether those alone listen at `port` of 127.0.0.1 who are `first` or descend from it.
///
/// Where the kernel does not tell, nobody is known to; on systems without such tables all are
/// taken at their word.
pub(super) fn is_of(port: u16, first: Pid) -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    let listening: BTreeSet<String> = TABLES
        .iter()
        .filter_map(|(table, reached)| Some((fs::read_to_string(table).ok()?, *reached)))
        .flat_map(|(table, reached)| listening(&table, reached, port))
        .collect();
    if listening.is_empty() {
        return false;
    }
    let mut own = descendants(first);
    own.push(first);
    let held: BTreeSet<String> = own.into_iter().flat_map(sockets).collect();
    listening.is_subset(&held)
}

/// The sockets of a table that listen at `port` of one of these addresses.
fn listening(table: &str, reached: &[&str], port: u16) -> Vec<String> {
    let port = format!("{port:04X}");
    let socket = |line: &str| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let (address, at) = words.get(1)?.split_once(':')?;
        let here = at == port && reached.contains(&address) && *words.get(3)? == LISTENS;
        here.then(|| words.get(9).map(|&socket| socket.to_owned()))?
    };
    table.lines().filter_map(socket).collect()
}

/// The sockets that a process has open, as far as we may look.
fn sockets(pid: Pid) -> Vec<String> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.into_iter().flatten().flatten();
    let socket = |link: std::path::PathBuf| {
        let target = fs::read_link(link).ok()?;
        let socket = target.to_str()?.strip_prefix("socket:[")?;
        Some(socket.strip_suffix(']')?.to_owned())
    };
    open.filter_map(|entry| socket(entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_table_tells_who_listens_where() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1\n\
             1: 0100007F:1F90 0100007F:D000 01 00000000:00000000 00:00000000 00000000  1000        0 12 1\n\
             2: 0200007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 13 1\n\
             3: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1\n\
             4: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 15 1\n";
        assert_eq!(listening(table, TABLES[0].1, 8_080), ["11", "14"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_is_of_whoever_listens_there() {
        let mut other = Command::new("cat");
        let mut other = other.stdin(Stdio::piped()).spawn().unwrap();
        let stranger = Pid::from_raw(other.id().cast_signed());
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            assert!(is_of(port, Pid::this()), "{address}");
            assert!(!is_of(port, stranger), "{address}");
            drop(listener);
            assert!(!is_of(port, Pid::this()), "{address}");
        }
        drop(other.stdin.take());
        other.wait().unwrap();
    }
}
