//! What reads the value of a setting, from whatever source.

use crate::daemon;

/// True or false.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "give true or false".to_owned())
}

/// What reads a whole number of that range.
pub(super) fn whole(min: u32, max: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ if max == u32::MAX => Err(format!("give a whole number from {min}")),
        _ => Err(format!("give a whole number from {min} to {max}")),
    }
}

/// An address with a port; names are looked up when the daemon binds.
pub(super) fn address(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err("give a host and a port, such as 127.0.0.1:7117".into()),
    }
}

/// An origin, as browsers write it.
pub(super) fn origin(text: &str) -> Result<String, String> {
    daemon::check_origin(text).map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_a_host_and_a_port() {
        for (text, good) in
            [("127.0.0.1:0", true), ("[::1]:7117", true), ("localhost:7117", true), (":1", false)]
                .into_iter()
                .chain([("localhost", false), ("7117", false), ("localhost:70000", false)])
        {
            assert_eq!(address(text).is_ok(), good, "{text}");
        }
    }
}
