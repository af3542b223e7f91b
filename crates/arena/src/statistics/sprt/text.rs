//! The text of a sequential test: `elo0=0,elo1=5,alpha=0.05,beta=0.05,model=logistic`.

use std::fmt;
use std::str::FromStr;

use super::{Model, Sprt};

/// The default probability of each error.
const DEFAULT_ERROR: f64 = 0.05;

impl FromStr for Sprt {
    type Err = String;

    /// Reads `elo0=N,elo1=N` and, if they differ from 0.05, 0.05 and logistic, `alpha=`, `beta=` and
    /// `model=`.
    ///
    /// # Errors
    /// A sentence that says how a test is written.
    fn from_str(text: &str) -> Result<Self, String> {
        let [mut elo0, mut elo1, mut alpha, mut beta, mut model] = [const { None }; 5];
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(usage)?;
            let place = match name {
                "elo0" => &mut elo0,
                "elo1" => &mut elo1,
                "alpha" => &mut alpha,
                "beta" => &mut beta,
                "model" => &mut model,
                _ => return Err(format!("`{name}` is unknown; {}", usage())),
            };
            if place.replace(value.to_owned()).is_some() {
                return Err(format!("`{name}` is given twice"));
            }
        }
        let (Some(elo0), Some(elo1)) = (elo0, elo1) else { return Err(usage()) };
        let error = |value: Option<String>| value.map_or(Ok(DEFAULT_ERROR), |value| number(&value));
        let model = match model.as_deref() {
            None | Some("logistic") => Model::Logistic,
            Some("normalized") => Model::Normalized,
            Some(other) => {
                return Err(format!("the model `{other}` is unknown; give logistic or normalized"));
            }
        };
        Self::new(number(&elo0)?, number(&elo1)?, error(alpha)?, error(beta)?, model)
            .map_err(|invalid| format!("this test is impossible: {invalid}"))
    }
}

impl fmt::Display for Sprt {
    /// Writes the test as it is read, with nothing left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = match self.model() {
            Model::Logistic => "logistic",
            Model::Normalized => "normalized",
        };
        let ([elo0, elo1], [alpha, beta]) = (self.hypotheses(), self.errors());
        write!(f, "elo0={elo0},elo1={elo1},alpha={alpha},beta={beta},model={model}")
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn usage() -> String {
    "give elo0 and elo1, and where they differ from these, alpha=0.05, beta=0.05 and model=logistic".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_two_hypotheses_and_the_rest_by_default() {
        for (text, expected) in [
            ("elo0=0,elo1=5", (0.0, 5.0, 0.05, 0.05, Model::Logistic)),
            ("elo1=0.25,elo0=-1.75,beta=0.1", (-1.75, 0.25, 0.05, 0.1, Model::Logistic)),
            (
                "elo0=0,elo1=2,alpha=0.01,beta=0.02,model=normalized",
                (0.0, 2.0, 0.01, 0.02, Model::Normalized),
            ),
        ] {
            let (elo0, elo1, alpha, beta, model) = expected;
            let sprt = Sprt::new(elo0, elo1, alpha, beta, model).unwrap();
            assert_eq!(text.parse(), Ok(sprt), "{text}");
            assert_eq!(sprt.to_string().parse(), Ok(sprt), "{sprt}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, word) in [
            ("", "give elo0"),
            ("elo0=0", "give elo0"),
            ("0,5", "give elo0"),
            ("elo0=0,elo1=5,elo1=6", "`elo1` is given twice"),
            ("elo0=0,elo1=5,gamma=1", "`gamma`"),
            ("elo0=zero,elo1=5", "`zero`"),
            ("elo0=0,elo1=5,model=bayesian", "`bayesian`"),
            ("elo0=5,elo1=0", "below"),
            ("elo0=0,elo1=nan", "between"),
            ("elo0=0,elo1=5,alpha=0.5,beta=0.6", "alpha"),
        ] {
            let error = text.parse::<Sprt>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
