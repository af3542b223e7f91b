//! What stands for TLS in a build without it: nothing of it can be made, so nothing of it is ever used.

use crate::{ServeError, TlsFiles};

pub(crate) enum Tls {}

pub(crate) enum Loaded {}

impl Tls {
    /// # Errors
    /// Always: this build has no TLS.
    pub(crate) fn load(_: &TlsFiles) -> Result<Loaded, ServeError> {
        Err(ServeError::NoTls)
    }

    pub(crate) fn new(loaded: Loaded) -> Self {
        match loaded {}
    }

    pub(crate) fn replace(&self, _: Loaded) {
        match *self {}
    }
}
