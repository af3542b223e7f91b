//! What stands for a session of TLS in a build without it: none begins.

use std::io;

use super::Secured;
use crate::client::LineError;

#[derive(Debug)]
pub(in crate::client) enum Secure {}

impl Secure {
    pub(in crate::client) fn begin(_: &Secured) -> io::Result<Self> {
        let message =
            "this build has no TLS: take one with the feature `service` (cargo build --features service)";
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    pub(in crate::client) fn is_handshaking(&self) -> bool {
        match *self {}
    }

    pub(in crate::client) fn raw(&mut self) -> &mut Vec<u8> {
        match *self {}
    }

    pub(in crate::client) fn open(&mut self, _: usize, _: &mut Vec<u8>) -> Result<(), String> {
        match *self {}
    }

    pub(in crate::client) fn seal(&mut self, _: &[u8]) -> Result<(), LineError> {
        match *self {}
    }

    pub(in crate::client) fn sealed(&mut self) -> &mut Vec<u8> {
        match *self {}
    }

    pub(in crate::client) fn finish(&mut self) {
        match *self {}
    }

    pub(in crate::client) fn has_ended(&self) -> bool {
        match *self {}
    }
}
