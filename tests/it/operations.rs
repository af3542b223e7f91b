//! The examples for operators: what they say of plyd holds, the Containerfile is one that `build-by-steps`
//! can run, and every alert rule has a case in which it fires.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Folder, process};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/operations").join(name)
}

/// `plyd serve` takes these arguments.
fn assert_serves(arguments: &[&str]) {
    let output = process::output(process::plyd(["serve", "--check"].iter().chain(arguments)));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

#[test]
fn the_containerfile_can_be_run_step_by_step() {
    let output = process::output(process::launch(Command::new(example("build-by-steps")).arg("--check")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[test]
fn the_image_starts_a_daemon_that_its_health_check_finds() {
    let folder = Folder::new("operations-image");
    let token = folder.file("token", "open sesame");
    let file = fs::read_to_string(example("Containerfile")).unwrap();
    let words = |name: &str| -> Vec<String> {
        let line = file.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        serde_json::from_str(&line[line.find('[').unwrap()..]).unwrap()
    };
    let command = words("CMD ");
    let command: Vec<&str> = command
        .iter()
        .map(|word| if word == "/run/secrets/plyd-token" { &token } else { word.as_str() })
        .collect();
    assert_eq!(command[0], "serve");
    assert_serves(&command[1..]);
    let port = command.iter().find_map(|word| word.strip_prefix("0.0.0.0:")).unwrap();
    assert!(words("HEALTHCHECK").last().unwrap().ends_with(&format!(":{port}")));
}

#[test]
fn the_manifests_give_settings_that_the_daemon_takes() {
    let folder = Folder::new("operations-manifests");
    let token = folder.file("token", "open sesame");
    let text = fs::read_to_string(example("kubernetes.yaml")).unwrap();
    let (_, behind) = text.split_once("plyd.toml: |\n").unwrap();
    let settings = behind.lines().take_while(|line| line.starts_with("    "));
    let settings = settings.map(|line| format!("{}\n", line.trim())).collect::<String>();
    assert!(settings.contains("/run/secrets/plyd-token"));
    let config = folder.file("plyd.toml", settings.replace("/run/secrets/plyd-token", &token));
    assert_serves(&["--config", &config]);
    for needed in [
        "enableServiceLinks: false",
        "automountServiceAccountToken: false",
        "runAsNonRoot: true",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "drop: [\"ALL\"]",
        "startupProbe:",
        "livenessProbe:",
        "readinessProbe:",
    ] {
        assert_eq!(text.matches(needed).count(), 1, "{needed}");
    }
    // A pod is given the time of its drain, and more.
    let number = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
        line.trim_matches([' ', '=', ':']).parse().unwrap()
    };
    let (grace, drain) = (number("terminationGracePeriodSeconds"), number("drain-ms"));
    assert!(grace * 1000 >= drain + 5000 + 5000, "{grace} s for {drain} ms");
}

/// `promtool`, which the gate runs, judges the cases; that one is missing it does not notice.
#[test]
fn every_alert_rule_has_a_case_in_which_it_fires() {
    let rules = fs::read_to_string(example("prometheus-rules.yml")).unwrap();
    let cases = fs::read_to_string(example("prometheus-rules.test.yml")).unwrap();
    // Behind the name of the alert are its labels, if it fires.
    let fires: Vec<&str> = cases
        .split("alertname: ")
        .skip(1)
        .filter(|case| case.contains("exp_labels"))
        .filter_map(|case| case.lines().next())
        .collect();
    let names: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        assert!(fires.contains(&name), "{name} fires in no case");
    }
}
