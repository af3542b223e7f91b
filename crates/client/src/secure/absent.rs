//! What stands for a session of TLS in a build without it: none begins.

use std::io;

use super::Secured;
use crate::LineError;

#[derive(Debug)]
pub(crate) enum Secure {}

impl Secure {
    pub(crate) fn begin(_: &Secured) -> io::Result<Self> {
        let message = "this build has no TLS, which comes with the feature `service` of plyd, or `tls` of \
                       plyd-client (in a clone of plyd: cargo install --locked --path . --features service)";
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        match *self {}
    }

    pub(crate) fn raw(&mut self) -> &mut Vec<u8> {
        match *self {}
    }

    pub(crate) fn open(&mut self, _: usize, _: &mut Vec<u8>) -> Result<(), String> {
        match *self {}
    }

    pub(crate) fn seal(&mut self, _: &[u8]) -> Result<(), LineError> {
        match *self {}
    }

    pub(crate) fn sealed(&mut self) -> &mut Vec<u8> {
        match *self {}
    }

    pub(crate) fn finish(&mut self) {
        match *self {}
    }

    pub(crate) fn has_ended(&self) -> bool {
        match *self {}
    }
}
