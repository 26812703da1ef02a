//! Connections to a server, or to the nodes of a cluster, and their replies.
//!
//! The client library speaks the protocol. The redirections of the nodes tell this module which node of a cluster has a
//! shard. A command is sent twice only if a node refused it. A command without a reply may have run, and a second run
//! would count its keys twice in filters that count.

use crate::failure::{Failure, Outcome};
use ::redis::{
    Client, Connection, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, ServerErrorKind, Value,
};
use std::fmt::Display;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the command waits for a connection, and how long for a reply: a server may verify an image of many GiB.
const CONNECTING: Duration = Duration::from_secs(10);
const REPLYING: Duration = Duration::from_secs(300);

/// How long the command repeats a request that a node refuses for now, and the pause between two requests.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// A command in the protocol's form, for the node that has a shard.
pub struct Request {
    pub shard: usize,
    pub bytes: Vec<u8>,
}

/// A server, or the known nodes of a cluster.
pub struct Servers {
    /// How to connect to the first server, with the password for all servers.
    info: ConnectionInfo,
    nodes: Vec<Node>,
    /// For each shard, the index of the node that had the shard last.
    owners: Vec<usize>,
}

struct Node {
    address: ConnectionAddr,
    /// `None` until the connection is needed.
    connection: Option<Connection>,
}

/// Why a node did not run a command.
enum Refused {
    /// Another node has the shard.
    Moved(String),
    /// The shard is moving to another node, which already has its key.
    Ask(String),
    /// The node cannot run the command now.
    Later(String),
}

impl Servers {
    /// Connects to a server. `shards` is the number of shards.
    pub fn connect(url: &str, shards: usize) -> Outcome<Servers> {
        let with_scheme = if url.contains("://") { url.to_string() } else { format!("redis://{url}") };
        // The address may contain a password, so messages show only the part after it.
        let shown = with_scheme.split_once('@').map_or(&*with_scheme, |(_, host)| host).to_string();
        let refused = |why: &str| Failure::new(format_args!("--url {shown}: {why}"));
        let form = "is not redis://[user:password@]host[:port][/database], rediss:// and so on, or unix:///path";
        let info = with_scheme.into_connection_info().map_err(|_| refused(form))?;
        if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            // An error means that a provider is installed already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let node = Node { address: info.addr().clone(), connection: None };
        let mut servers = Servers { info, nodes: vec![node], owners: vec![0; shards] };
        servers.connection(0)?;
        Ok(servers)
    }

    /// A client of the same servers for another thread, with its own connections.
    pub fn again(&self) -> Servers {
        let nodes = self.nodes.iter().map(|node| Node { address: node.address.clone(), connection: None }).collect();
        Servers { info: self.info.clone(), nodes, owners: self.owners.clone() }
    }

    /// Sends all commands, and then reads the replies. Calls `take` with the index of each command and its reply, in
    /// any order. A reply is an error only within an array.
    pub fn ask(&mut self, requests: &[Request], mut take: impl FnMut(usize, Value) -> Outcome<()>) -> Outcome<()> {
        let mut by_node: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (i, request) in requests.iter().enumerate() {
            by_node[self.owners[request.shard]].push(i);
        }
        for (node, places) in by_node.iter().enumerate() {
            for &i in places {
                self.send(node, &requests[i].bytes)?;
            }
        }
        let mut refused = Vec::new();
        for (node, places) in by_node.iter().enumerate() {
            for &i in places {
                match refusal(self.receive(node)?)? {
                    Ok(value) => take(i, value)?,
                    Err(why) => refused.push((i, why)),
                }
            }
        }
        for (i, why) in refused {
            take(i, self.go_after(&requests[i], why)?)?;
        }
        Ok(())
    }

    /// Sends a command and returns its reply.
    pub fn ask_one(&mut self, request: &Request) -> Outcome<Value> {
        let node = self.owners[request.shard];
        self.send(node, &request.bytes)?;
        match refusal(self.receive(node)?)? {
            Ok(value) => Ok(value),
            Err(why) => self.go_after(request, why),
        }
    }

    /// The reply to a command that a node refused. Follows the nodes' redirections, and repeats a command that is
    /// refused for now.
    fn go_after(&mut self, request: &Request, mut why: Refused) -> Outcome<Value> {
        let start = Instant::now();
        loop {
            let mut asking = false;
            let node = match &why {
                Refused::Moved(address) => {
                    let node = self.node(address, self.owners[request.shard])?;
                    self.owners[request.shard] = node;
                    node
                }
                Refused::Ask(address) => {
                    asking = true;
                    self.node(address, self.owners[request.shard])?
                }
                Refused::Later(message) => {
                    let node = self.owners[request.shard];
                    if start.elapsed() > PATIENCE {
                        return Err(Failure::new(format_args!("{}: {message}", self.nodes[node].address)));
                    }
                    sleep(PAUSE);
                    node
                }
            };
            if start.elapsed() > PATIENCE {
                return Err(Failure::new(format_args!(
                    "{}: the nodes of the cluster point to one another",
                    self.nodes[node].address
                )));
            }
            if asking {
                self.send(node, &packed(&["ASKING"]))?;
                self.receive(node)?;
            }
            self.send(node, &request.bytes)?;
            match refusal(self.receive(node)?)? {
                Ok(value) => return Ok(value),
                Err(next) => why = next,
            }
        }
    }

    /// The index of the node with this address, as node `other` writes addresses.
    fn node(&mut self, address: &str, other: usize) -> Outcome<usize> {
        let Some(address) = address_of(address, &self.nodes[other].address) else {
            return Err(Failure::new(format_args!("{}: points to {address}", self.nodes[other].address)));
        };
        if let Some(known) = self.nodes.iter().position(|node| node.address == address) {
            return Ok(known);
        }
        self.nodes.push(Node { address, connection: None });
        Ok(self.nodes.len() - 1)
    }

    fn connection(&mut self, node: usize) -> Outcome<&mut Connection> {
        let Node { address, connection } = &mut self.nodes[node];
        match connection {
            Some(connection) => Ok(connection),
            None => {
                let failed = |error| lost(address, &error);
                let client = Client::open(self.info.clone().set_addr(address.clone())).map_err(failed)?;
                let new = client.get_connection_with_timeout(CONNECTING).map_err(failed)?;
                new.set_read_timeout(Some(REPLYING)).map_err(failed)?;
                new.set_write_timeout(Some(REPLYING)).map_err(failed)?;
                Ok(connection.insert(new))
            }
        }
    }

    fn send(&mut self, node: usize, bytes: &[u8]) -> Outcome<()> {
        let sent = self.connection(node)?.send_packed_command(bytes);
        sent.map_err(|error| lost(&self.nodes[node].address, &error))
    }

    fn receive(&mut self, node: usize) -> Outcome<Value> {
        let received = self.connection(node)?.recv_response();
        received.map_err(|error| lost(&self.nodes[node].address, &error))
    }
}

/// The words of a command in the protocol's form.
pub fn packed<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    words.iter().for_each(|word| pack(&mut bytes, word.as_ref()));
    bytes
}

/// Appends a word of a command in the protocol's form.
pub fn pack(bytes: &mut Vec<u8>, word: &[u8]) {
    bytes.extend_from_slice(b"$");
    digits(bytes, word.len());
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(word);
    bytes.extend_from_slice(b"\r\n");
}

fn digits(bytes: &mut Vec<u8>, number: usize) {
    if number >= 10 {
        digits(bytes, number / 10);
    }
    bytes.push(b'0' + (number % 10) as u8);
}

/// The text of a server's error, without the generic code `ERR`.
pub fn message(error: &::redis::ServerError) -> String {
    let details = error.details().unwrap_or_default();
    match error.code() {
        "ERR" => details.to_string(),
        code => format!("{code} {details}").trim_end().to_string(),
    }
}

/// A reply, or why the node did not run the command.
fn refusal(value: Value) -> Outcome<Result<Value, Refused>> {
    let Value::ServerError(error) = &value else { return Ok(Ok(value)) };
    let address = || error.details().and_then(|details| details.split(' ').nth(1)).unwrap_or_default().to_string();
    Ok(Err(match error.kind() {
        Some(ServerErrorKind::Moved) => Refused::Moved(address()),
        Some(ServerErrorKind::Ask) => Refused::Ask(address()),
        Some(ServerErrorKind::TryAgain | ServerErrorKind::ClusterDown | ServerErrorKind::BusyLoading) => {
            Refused::Later(message(error))
        }
        _ => return Ok(Ok(value)),
    }))
}

/// The address that a node writes. An address without a host has the node's own host.
fn address_of(text: &str, of: &ConnectionAddr) -> Option<ConnectionAddr> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match (host, of) {
        ("", ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. }) => host.clone(),
        ("", _) => String::from("127.0.0.1"),
        _ => host.to_string(),
    };
    let port = port.parse().ok()?;
    Some(match of {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
        }
        _ => ConnectionAddr::Tcp(host, port),
    })
}

/// The failure of a connection that could not be made, or that ended.
fn lost(address: &impl Display, error: &::redis::RedisError) -> Failure {
    Failure::new(format_args!("{address}: {}", said(error)))
}

/// The client library's message, in this command's words for common errors.
fn said(error: &::redis::RedisError) -> String {
    if error.is_timeout() {
        return String::from("no reply in time");
    }
    if error.is_connection_refusal() {
        return String::from("nobody listens there");
    }
    if error.is_connection_dropped() {
        return String::from("the server closed the connection");
    }
    if error.kind() == ErrorKind::AuthenticationFailed {
        return String::from("the password was refused, or the user name with it");
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_as_the_protocol_has_them() {
        assert_eq!(packed(&["TYPE", "seen:{0}"]), b"*2\r\n$4\r\nTYPE\r\n$8\r\nseen:{0}\r\n");
        assert_eq!(packed(&[&b""[..], &[b'x'; 123]])[..16], *b"*2\r\n$0\r\n\r\n$123\r\n");
    }

    #[test]
    fn addresses_are_as_nodes_write_them() {
        let tcp = |host: &str, port| Some(ConnectionAddr::Tcp(String::from(host), port));
        let (asked, socket) = (ConnectionAddr::Tcp(String::from("here"), 1), ConnectionAddr::Unix("/s".into()));
        assert_eq!(address_of("10.0.0.1:7000", &asked), tcp("10.0.0.1", 7000));
        assert_eq!(address_of("fe80::1:7000", &asked), tcp("fe80::1", 7000));
        assert_eq!((address_of(":7000", &asked), address_of(":7", &socket)), (tcp("here", 7000), tcp("127.0.0.1", 7)));
        assert_eq!((address_of("", &asked), address_of("here:x", &asked)), (None, None));
    }
}
