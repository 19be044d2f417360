//! Services of quest files: when they are ready, and that nothing of them is left.

use std::net::{Ipv4Addr, TcpStream};

use comail::world::sandbox::{
    CommandSpec, End, Files, Network, Ready, Service, ServiceFailed, free_port,
};
use regex::bytes::Regex;

use crate::harness::bench::{ALL_MEANS, Bench, benches, mark, order, runs, shell};
use crate::harness::poll::until;

fn server(port: u16) -> CommandSpec {
    let port_text = port.to_string();
    let listen = ["-u", "-m", "http.server", "--bind", "127.0.0.1", &port_text];
    let mut order = order(&[&["/usr/bin/python3"][..], &listen].concat());
    order.network = Network::Loopback { ports: vec![port] };
    order
}

fn start(
    bench: &Bench,
    order: &CommandSpec,
    ready: &Ready,
    port: u16,
) -> Result<Service, ServiceFailed> {
    let files = Files::in_dir(&bench.scratch());
    Service::start(order, &files, ready, port, &bench.launcher)
}

fn line(pattern: &str) -> Ready {
    Ready::Line(Regex::new(pattern).expect("a pattern"))
}

#[test]
fn a_service_is_reached_until_it_is_stopped() {
    for bench in benches() {
        std::fs::write(bench.at("page"), "hello").expect("a file");
        let port = free_port().expect("a port");
        let path = "/page".to_owned();
        for ready in [Ready::Port, Ready::Path(path)] {
            let service = start(&bench, &server(port), &ready, port).expect("a service");
            assert_eq!(service.ended(), None);
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a connection");
            let output = service.stop();
            let log = String::from_utf8_lossy(&output.stderr).into_owned();
            let asked = matches!(ready, Ready::Path(_));
            assert_eq!(log.contains("GET /page"), asked, "{log}");
            assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
        }
    }
}

#[test]
fn all_that_a_service_started_ends_with_it() {
    for means in ALL_MEANS {
        let (bench, mark) = (Bench::with_means(means), mark());
        let script = format!("trap '' TERM; (setsid sleep {mark} &); sleep {mark} & echo up; wait");
        let service = start(&bench, &shell(&script), &line("^up$"), 0).expect("a service");
        until("both run", || runs(&mark));
        drop(service);
        assert!(!runs(&mark), "{means:?}");
    }
}

#[test]
fn a_service_that_is_never_ready_is_ended() {
    let (bench, mark) = (Bench::new(), mark());
    let mut order = shell(&format!("echo starting; sleep {mark}"));
    order.timeout_ms = 500;
    let port = free_port().expect("a port");
    let path = "/missing".to_owned();
    let silent = start(&bench, &order, &line("^ready"), 0);
    let Err(ServiceFailed::NotReady { output, .. }) = silent else {
        panic!("{silent:?}");
    };
    assert_eq!(output.stdout, b"starting\n");
    assert!(!runs(&mark));
    let deaf = start(&bench, &order, &Ready::Port, port);
    assert!(
        matches!(deaf, Err(ServiceFailed::NotReady { .. })),
        "{deaf:?}"
    );
    let mut server = server(port);
    server.timeout_ms = 1000;
    let wrong = start(&bench, &server, &Ready::Path(path), port);
    assert!(
        matches!(wrong, Err(ServiceFailed::NotReady { .. })),
        "{wrong:?}"
    );
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}

#[test]
fn a_service_that_ends_is_told_of() {
    let bench = Bench::new();
    let died = start(&bench, &shell("echo why >&2; exit 3"), &line("ready"), 0);
    let Err(ServiceFailed::Died { end, output, .. }) = died else {
        panic!("{died:?}");
    };
    assert_eq!((end, output.stderr), (End::Exited(3), b"why\n".to_vec()));
    let missing = start(&bench, &order(&["/no/such"]), &line("x"), 0);
    assert!(
        matches!(missing, Err(ServiceFailed::NotStarted { .. })),
        "{missing:?}"
    );
    let ready = "echo ready; while [ ! -e stop ]; do sleep 0.01; done; exit 4";
    let service = start(&bench, &shell(ready), &line("ready"), 0).expect("a service");
    assert_eq!(service.ended(), None);
    std::fs::write(bench.at("stop"), "").expect("a file");
    until("it has ended", || service.ended() == Some(End::Exited(4)));
}

#[test]
fn another_who_answers_is_not_the_service() {
    let bench = Bench::new();
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let died = start(&bench, &shell("exit 1"), &Ready::Port, port);
    // It may be seen as ready for as long as it takes to end, and then is known to have ended.
    if let Ok(service) = died {
        until("it has ended", || service.ended() == Some(End::Exited(1)));
    }
    let mut lasting = shell("sleep 60");
    lasting.timeout_ms = 1000;
    let silent = start(&bench, &lasting, &Ready::Port, port);
    assert!(
        matches!(silent, Err(ServiceFailed::NotReady { .. })),
        "{silent:?}"
    );
}

#[test]
fn a_service_that_writes_on_and_on_does_not_fill_the_memory() {
    let bench = Bench::new();
    let mut order = shell("head -c 50000000 /dev/zero; echo; echo ready; sleep 60");
    order.output_bytes = 1000;
    let service = start(&bench, &order, &line("^ready$"), 0).expect("a service");
    let output = service.stop();
    assert_eq!(output.stdout.len(), 500);
    assert!(output.stdout.ends_with(b"\0\nready\n"));
}
