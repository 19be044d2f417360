//! What a command may reach.

use std::net::{Ipv4Addr, TcpListener};

use comail::world::sandbox::{CommandSpec, End, Means, Network, free_port};

use crate::harness::bench::{Bench, order};

const MEANS: [Means; 3] = [
    Means::ALL,
    Means {
        namespaces: true,
        landlock: false,
    },
    Means {
        namespaces: false,
        landlock: true,
    },
];

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

fn connects(port: u16, network: Network) -> CommandSpec {
    let script = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 5)");
    let mut order = order(&["/usr/bin/python3", "-c", &script]);
    order.network = network;
    order
}

#[test]
fn without_a_network_nothing_is_reached() {
    let (_listener, port) = listener();
    for means in MEANS {
        let ran = Bench::with_means(means).run(&connects(port, Network::None));
        assert_eq!(ran.end, End::Exited(1), "{means:?}: {ran:?}");
        assert!(ran.confinement.bounds_tcp());
    }
}

#[test]
fn the_port_that_is_named_is_reached_and_no_other() {
    let (_listener, port) = listener();
    let (_other, other) = listener();
    let only = |port| Network::Loopback { ports: vec![port] };
    for means in [MEANS[0], MEANS[2]] {
        let bench = Bench::with_means(means);
        let reached = bench.run(&connects(port, only(port)));
        assert_eq!(reached.end, End::Exited(0), "{means:?}: {reached:?}");
        let refused = bench.run(&connects(other, only(port)));
        assert_eq!(refused.end, End::Exited(1), "{means:?}: {refused:?}");
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(told.contains("PermissionError"), "{told}");
    }
}

#[test]
fn a_port_that_is_not_named_cannot_be_taken() {
    let (mine, other) = (free_port().expect("a port"), free_port().expect("a port"));
    let bench = Bench::new();
    for (port, end) in [(mine, End::Exited(0)), (other, End::Exited(1))] {
        let script = format!("import socket; socket.create_server(('127.0.0.1', {port}))");
        let mut order = order(&["/usr/bin/python3", "-c", &script]);
        order.network = Network::Loopback { ports: vec![mine] };
        assert_eq!(bench.run(&order).end, end);
    }
}

#[test]
fn with_any_network_everything_is_reached() {
    let (_listener, port) = listener();
    for means in MEANS {
        let ran = Bench::with_means(means).run(&connects(port, Network::Any));
        assert_eq!(ran.end, End::Exited(0), "{means:?}: {ran:?}");
    }
}
