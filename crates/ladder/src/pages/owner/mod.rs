//! What owners do: log in by a link of invitation, register bots, make their tokens, disable them.
//!
//! A login is a secret in a cookie that no script reads. Each form has a token that is made of it, so that no
//! other site sends forms in an owner's name.

mod forms;

pub(super) use forms::router;
