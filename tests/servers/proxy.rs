//! An HTTP proxy for tests: whatever host it is asked to connect to is at one address.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;

use super::listen;

/// A proxy that knows the CONNECT method (RFC 9110 §9.3.6) alone.
pub struct Proxy(SocketAddr);

impl Proxy {
    pub fn start(target: SocketAddr) -> Self {
        let (listener, address) = listen();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that hangs up in the middle is no failure of the proxy's.
                thread::spawn(move || tunnel(client, target).ok());
            }
        });
        Self(address)
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.0)
    }
}

fn tunnel(mut client: TcpStream, target: SocketAddr) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.extend(byte);
    }
    if !head.starts_with(b"CONNECT ") {
        return client.write_all(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n");
    }
    let server = TcpStream::connect(target)?;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (from_server, to_client) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || pass_on(from_server, to_client).ok());
    pass_on(client, server)
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    io::copy(&mut from, &mut to)?;
    to.shutdown(Shutdown::Write)
}
