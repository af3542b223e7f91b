//! What a browser does on the wire: one request after the other over a connection that stays open, whose
//! answers come as a whole or piece by piece.

use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection of a browser.
pub(crate) struct Browser {
    address: SocketAddr,
    /// Whom a proxy in front of the ladder would name.
    of: IpAddr,
    stream: TcpStream,
    unread: Vec<u8>,
    body: Body,
}

/// What is to come of an answer.
enum Body {
    Nothing,
    Bytes(usize),
    Chunks,
}

impl Browser {
    /// Connects on behalf of this address.
    pub(crate) async fn open(address: SocketAddr, of: IpAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { address, of, stream, unread: Vec::new(), body: Body::Nothing })
    }

    /// Gets a page: its status and its text.
    pub(crate) async fn get(&mut self, path: &str) -> Result<(u16, String)> {
        let status = self.ask(path).await?;
        let mut text = Vec::new();
        while let Some(piece) = self.piece().await? {
            text.extend(piece);
        }
        Ok((status, String::from_utf8(text).map_err(|error| Error::new(ErrorKind::InvalidData, error))?))
    }

    /// Asks for a page, over another connection if the answer before is not read to its end; gives the
    /// status.
    pub(crate) async fn ask(&mut self, path: &str) -> Result<u16> {
        if !matches!(self.body, Body::Nothing) {
            *self = Self::open(self.address, self.of).await?;
        }
        let (host, of) = (self.address, self.of);
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-For: {of}\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await?;
        let head = loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                let head: Vec<u8> = self.unread.drain(..end + 4).collect();
                break String::from_utf8_lossy(&head).to_ascii_lowercase();
            }
            self.read().await?;
        };
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| Error::new(ErrorKind::InvalidData, head.clone()))?;
        self.body = match (field("transfer-encoding:"), field("content-length:")) {
            (Some("chunked"), _) => Body::Chunks,
            (_, Some(length)) => Body::Bytes(length.parse().unwrap_or(0)),
            _ => Body::Nothing,
        };
        Ok(status)
    }

    /// The next piece of the answer; none: that was all. What was read stays if this is dropped before it is
    /// done.
    pub(crate) async fn piece(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            match self.body {
                Body::Nothing | Body::Bytes(0) => {
                    self.body = Body::Nothing;
                    return Ok(None);
                }
                Body::Bytes(left) if !self.unread.is_empty() => {
                    let count = left.min(self.unread.len());
                    self.body = Body::Bytes(left - count);
                    return Ok(Some(self.unread.drain(..count).collect()));
                }
                Body::Chunks => {
                    if let Some(chunk) = self.chunk()? {
                        if chunk.is_empty() {
                            self.body = Body::Nothing;
                            return Ok(None);
                        }
                        return Ok(Some(chunk));
                    }
                }
                Body::Bytes(_) => {}
            }
            self.read().await?;
        }
    }

    /// A chunk that was read as a whole; the last one is empty.
    fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(line) = find(&self.unread, b"\r\n") else { return Ok(None) };
        let size = str::from_utf8(&self.unread[..line]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.ok_or_else(|| Error::new(ErrorKind::InvalidData, "a chunk without a size"))?;
        let begin = line + 2;
        if self.unread.len() < begin + size + 2 {
            return Ok(None);
        }
        let chunk = self.unread[begin..begin + size].to_vec();
        self.unread.drain(..begin + size + 2);
        Ok(Some(chunk))
    }

    async fn read(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.unread).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
