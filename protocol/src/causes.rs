//! An error with what caused it, as one line.

use std::error::Error;

/// An error with its causes, each after a colon: the first one often says little. A cause that is in the text
/// already is left out.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl std::fmt::Display for Layer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn each_cause_stands_once_behind_what_it_caused() {
        let layers = |texts: &[&'static str]| {
            let wrap = |cause, text: &&'static str| Some(Box::new(Layer(text, cause)));
            with_causes(&*texts.iter().rev().fold(None, wrap).unwrap())
        };
        assert_eq!(layers(&["no connection"]), "no connection");
        assert_eq!(layers(&["no connection", "TLS", "a bad name"]), "no connection: TLS: a bad name");
        assert_eq!(layers(&["no connection: TLS", "TLS", "a bad name"]), "no connection: TLS: a bad name");
    }
}
