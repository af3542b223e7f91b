//! The pages as a whole: links lead somewhere, the book has every page, and folders that are named are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where the repository is for readers of a page that stands elsewhere, such as on a registry.
const HOME: [&str; 2] =
    ["https://github.com/plyd/plyd/blob/main/", "https://github.com/plyd/plyd/tree/main/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// All pages of the repository by their paths in it; what builds leave is none.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    collect(&root(), "", &mut pages);
    assert!(pages.len() > 60, "{} pages are few", pages.len());
    pages
}

fn collect(folder: &Path, within: &str, pages: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_left = ["target", "node_modules", "dist"].contains(&&*name);
        if entry.file_type().unwrap().is_dir() {
            if !is_left && (!name.starts_with('.') || name == ".github") {
                collect(&entry.path(), &format!("{within}{name}/"), pages);
            }
        } else if name.ends_with(".md") {
            pages.insert(format!("{within}{name}"), fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// The text without blocks of code.
fn prose(text: &str) -> String {
    let mut fence = None;
    let mut kept = String::new();
    for line in text.lines() {
        let begin = line.trim_start();
        let mark = &begin[..begin.len() - begin.trim_start_matches('`').len()];
        match fence {
            None if mark.len() >= 3 => fence = Some(mark),
            None => kept.extend([line, "\n"]),
            Some(open) if mark.len() >= open.len() => fence = None,
            Some(_) => (),
        }
    }
    kept
}

/// Where the links and pictures of a page lead.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in prose(text).split("\n\n") {
        // What stands between backticks is code.
        let text: String = paragraph.split('`').step_by(2).collect();
        for (begin, end) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"'), ("href=\"", '"')] {
            let parts = text.split(begin).skip(1);
            found.extend(parts.map(|part| part.split(end).next().unwrap().to_owned()));
        }
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for line in prose(text).lines().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor = kept.collect::<String>().replace(' ', "-");
        let count = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// The path in the repository that a link of a page leads to; none if it leads elsewhere.
fn resolved(page: &str, path: &str) -> Option<String> {
    let (base, path) = match HOME.iter().find_map(|home| path.strip_prefix(home)) {
        Some(path) => (Path::new(""), path),
        None if path.split(['/', '#']).next().is_some_and(|first| first.contains(':')) => return None,
        None => (Path::new(page).parent().unwrap(), path),
    };
    let mut whole: Vec<String> = Vec::new();
    for component in base.join(path).components() {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::Normal(name) => whole.push(name.to_str().unwrap().to_owned()),
            _ => (),
        }
    }
    Some(whole.join("/"))
}

/// What is wrong with a link of a page.
fn fault(pages: &BTreeMap<String, String>, page: &str, link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let place = if path.is_empty() { page.to_owned() } else { resolved(page, path)? };
    if !pages.contains_key(&place) && !root().join(&place).exists() {
        return Some(format!("{page}: no {link}"));
    }
    let is_there = |text: &String| anchor.is_empty() || anchors(text).contains(anchor);
    (!pages.get(&place).is_none_or(is_there)).then(|| format!("{page}: no heading for {link}"))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let mut seen = 0;
    let mut faults = Vec::new();
    for (page, text) in &pages {
        // Its links are for where it is written to.
        if page.starts_with("src/cli/new_game/template/") {
            continue;
        }
        let links = targets(text);
        seen += links.len();
        faults.extend(links.iter().filter_map(|link| fault(&pages, page, link)));
    }
    assert!(seen > 450, "{seen} links are few");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = "# One\n\n## `two`: 2\n\n## One\n\n```\n# not [one](three.md)\n```\n\n[a](#one-1) [b](../x.md#two-2)\n\
                `[c](none.md)` <img src=\"none.svg\"> [d](https://example.org/none)\n\n\
                [e](https://github.com/plyd/plyd/blob/main/src/none.rs) [f](#three)\n";
    let pages =
        BTreeMap::from([("docs/y.md".to_owned(), page.to_owned()), ("x.md".to_owned(), page.to_owned())]);
    assert_eq!(anchors(page), ["one", "one-1", "two-2"].map(str::to_owned).into());
    let faults: Vec<String> =
        targets(page).iter().filter_map(|link| fault(&pages, "docs/y.md", link)).collect();
    let nowhere = ["src/none.rs", "#three", "none.svg"];
    assert_eq!(faults.len(), nowhere.len(), "{faults:?}");
    for name in nowhere {
        assert!(faults.iter().any(|fault| fault.ends_with(name)), "{name} in {faults:?}");
    }
}

#[test]
fn the_book_has_every_page_once() {
    let pages = pages();
    let summary = &pages["docs/SUMMARY.md"];
    let chapters: Vec<String> = targets(summary)
        .iter()
        .map(|link| resolved("docs/SUMMARY.md", link).expect("a chapter is a page of the repository"))
        .collect();
    let listed: BTreeSet<&str> = chapters.iter().map(String::as_str).collect();
    assert_eq!(listed.len(), chapters.len(), "a page stands twice");
    let left_out: Vec<&String> = pages
        .keys()
        .filter(|page| {
            page.starts_with("docs/") && *page != "docs/SUMMARY.md" && !listed.contains(page.as_str())
        })
        .collect();
    assert!(left_out.is_empty(), "not in docs/SUMMARY.md: {left_out:?}");
}

#[test]
fn the_map_of_the_code_names_folders_that_are_there() {
    let map = fs::read_to_string(root().join("docs/images/code-map.svg")).unwrap();
    let folders: Vec<&str> =
        map.split("class=\"folder\"").skip(1).map(|part| part.split(['>', '<']).nth(1).unwrap()).collect();
    assert!(folders.len() >= 8, "{folders:?}");
    let gone: Vec<&&str> = folders.iter().filter(|folder| !root().join(folder).is_dir()).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn who_contributes_is_led_to_files_that_are_there() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let words: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect();
    let paths: Vec<&&str> = words.iter().filter(|word| word.contains('/') && !word.contains(' ')).collect();
    assert!(paths.len() > 15, "{paths:?}");
    let gone: Vec<&&&str> = paths.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(gone.is_empty(), "{gone:?}");
}
