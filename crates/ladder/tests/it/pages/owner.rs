//! Owners: links that work once, cookies, forms, and what one may do.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use plyd_ladder::OwnerId;
use plyd_ladder::game::{Line, Speaker};
use plyd_ladder::pages::Settings;
use plyd_ladder::store::By;

use super::fixtures::ALICE;
use super::site::{Answer, Site, request, settings};

/// A browser: it keeps cookies.
#[derive(Clone, Default)]
struct Browser {
    cookies: Vec<(String, String)>,
}

impl Browser {
    async fn send(&mut self, site: &Site, method: Method, path: &str, form: Option<String>) -> Answer {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut builder = request(method, path).header("cookie", cookies.join("; "));
        if form.is_some() {
            builder = builder.header("content-type", "application/x-www-form-urlencoded");
        }
        let answer = site.ask(builder.body(form.map_or_else(Body::empty, Body::from)).unwrap()).await;
        for set in answer.headers.get_all("set-cookie") {
            let set = set.to_str().unwrap();
            assert!(set.contains("; HttpOnly") && set.contains("; SameSite=Lax"), "{set}");
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            if !set.contains("Max-Age=0") {
                self.cookies.push((name.into(), value.into()));
            }
        }
        answer
    }

    async fn get(&mut self, site: &Site, path: &str) -> Answer {
        self.send(site, Method::GET, path, None).await
    }

    async fn post(&mut self, site: &Site, path: &str, form: String) -> Answer {
        self.send(site, Method::POST, path, Some(form)).await
    }

    /// Follows a link of invitation.
    async fn join(site: &Site, link: &str) -> Self {
        let mut browser = Self::default();
        let page = browser.get(site, &format!("/join?link={link}")).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        let form = format!("csrf={}&link={link}", csrf(&page.text));
        let answer = browser.post(site, "/join", form).await;
        assert_eq!(
            (answer.status, answer.headers["location"].to_str().ok()),
            (StatusCode::SEE_OTHER, Some("/owner"))
        );
        browser
    }

    async fn csrf(&mut self, site: &Site) -> String {
        csrf(&self.get(site, "/owner").await.text).to_owned()
    }
}

/// The token of the first form of a page.
fn csrf(page: &str) -> &str {
    page.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap()
}

async fn link(site: &Site, name: &'static str) -> String {
    site.store(move |store| store.invite(name, &By { at_ms: plyd_ladder::now_ms(), ..ALICE }))
        .await
        .text()
        .to_owned()
}

async fn ann(site: &Site) -> Browser {
    Browser::join(site, &link(site, "ann").await).await
}

#[tokio::test]
async fn a_link_works_once_and_only_when_its_form_is_sent() {
    let site = Site::new();
    let link = link(&site, "ann").await;
    // What looks at links before people do uses nothing up.
    for _ in 0..3 {
        assert_eq!(Browser::default().get(&site, &format!("/join?link={link}")).await.status, StatusCode::OK);
    }
    let mut ann = Browser::join(&site, &link).await;
    let page = ann.get(&site, "/owner").await;
    assert!(page.text.contains("You are <bdi>ann</bdi>"), "{}", page.text);
    assert_eq!(page.headers["cache-control"], "no-store");
    let mut other = Browser::default();
    let form = other.get(&site, &format!("/join?link={link}")).await;
    let answer = other.post(&site, "/join", format!("csrf={}&link={link}", csrf(&form.text))).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text.contains("each works once"), "{}", answer.text);
    assert_eq!(other.get(&site, "/owner").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_link_that_says_anything_is_only_text() {
    let site = Site::new();
    let page = site.page("/join?link=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert!(!page.contains("<script>alert") && !page.contains("value=\"\">"), "{page}");
    assert_eq!(site.get("/join").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_login_ends_and_its_cookie_is_worth_nothing_then() {
    let site = Site::new();
    let mut ann = ann(&site).await;
    let stolen = ann.clone();
    let csrf = ann.csrf(&site).await;
    let answer = ann.post(&site, "/owner/log-out", format!("csrf={csrf}")).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert!(ann.cookies.is_empty());
    for mut browser in [ann, stolen] {
        assert_eq!(browser.get(&site, "/owner").await.status, StatusCode::UNAUTHORIZED);
        let form = format!("csrf={csrf}&name=late");
        assert_eq!(browser.post(&site, "/owner/bots", form).await.status, StatusCode::UNAUTHORIZED);
    }
    // And by itself.
    let site = Site::with(Settings { login_for: std::time::Duration::ZERO, ..settings() });
    let mut short = self::ann(&site).await;
    assert_eq!(short.get(&site, "/owner").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn forms_of_other_sites_and_other_logins_do_nothing() {
    let site = Site::new();
    let mut ann = ann(&site).await;
    let mut bob = Browser::join(&site, &link(&site, "bob").await).await;
    let (own, others) = (ann.csrf(&site).await, bob.csrf(&site).await);
    for form in [
        "name=new".to_owned(),
        "csrf=&name=new".into(),
        "csrf=0&name=new".into(),
        format!("csrf={others}&name=new"),
        format!("csrf={}&name=new", own.to_uppercase()),
    ] {
        let answer = ann.post(&site, "/owner/bots", form.clone()).await;
        assert!(matches!(answer.status.as_u16(), 400 | 403), "{form}: {}", answer.status);
    }
    for path in ["/owner/bots/2/token", "/owner/bots/2/disable", "/owner/bots/2/enable", "/owner/log-out"] {
        let answer = ann.post(&site, path, format!("csrf={others}")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
    }
    // A right token, but the browser says that another site sends it.
    let cookies: Vec<String> = ann.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let cross = request(Method::POST, "/owner/bots")
        .header("cookie", cookies.join("; "))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("origin", "https://evil.example")
        .header("sec-fetch-site", "cross-site")
        .header("sec-fetch-mode", "navigate");
    let answer = site.ask(cross.body(format!("csrf={own}&name=new").into()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    // To log in by a form of another site, as somebody else, works no better.
    let link = link(&site, "bob").await;
    // The last one is the token of an empty secret, which everybody can compute.
    for token in [&*own, "", "0e8a9bce0222e21a7ed28d4aacb32004412b7990e32a4a6a2da9f0c8599abdf1"] {
        let mut victim = Browser::default();
        let answer = victim.post(&site, "/join", format!("csrf={token}&link={link}")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{token}");
        assert!(victim.cookies.is_empty(), "{token}");
    }
    Browser::join(&site, &link).await;
    let bots = site.store(|store| store.bots()).await;
    assert!(bots.len() == 5 && bots.iter().all(|bot| !bot.has_token && bot.disabled.is_none()), "{bots:?}");
}

#[tokio::test]
async fn a_bot_is_registered_and_its_token_is_shown_once() {
    let site = Site::new();
    let mut ann = ann(&site).await;
    let csrf = ann.csrf(&site).await;
    let answer = ann.post(&site, "/owner/bots", format!("csrf={csrf}&name=new-bot")).await;
    assert_eq!(
        (answer.status, answer.headers["cache-control"].to_str().ok()),
        (StatusCode::OK, Some("no-store"))
    );
    let token =
        answer.text.split("data-testid=\"token\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert_eq!(answer.text.matches("plyd connect ws://127.0.0.1:7127 --token-file new-bot.token").count(), 2);
    assert!(answer.text.contains(&format!("echo {token} &gt; new-bot.token")), "{}", answer.text);
    let known = |token: String| site.store(move |store| store.bot_with_token(&token));
    let bot = known(token.clone()).await.unwrap();
    assert_eq!((bot.name.as_str(), bot.owner), ("new-bot", Some(site.owners[0])));
    for path in ["/owner", "/bot/6", "/"] {
        assert!(!ann.get(&site, path).await.text.contains(&token), "{path}");
    }
    // A new one takes its place.
    let answer = ann.post(&site, "/owner/bots/6/token", format!("csrf={csrf}")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(known(token).await.is_none());
    // Names that are none, or taken, are refused beside the form; what was typed is only text.
    let long = "x".repeat(8 << 10);
    for name in ["new-bot", "NEW-BOT", "", "%3Cscript%3E", "%E2%80%AEtxt", "a%00b", &long] {
        let answer = ann.post(&site, "/owner/bots", format!("csrf={csrf}&name={name}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}");
        assert!(answer.text.contains("role=\"alert\"") && answer.text.contains("Register a bot"), "{name}");
        assert!(!answer.text.contains("<script>") && !answer.text.contains('\u{202e}'), "{name}");
    }
    let huge = format!("csrf={csrf}&name={}", "x".repeat(1 << 20));
    assert_eq!(ann.post(&site, "/owner/bots", huge).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(site.store(|store| store.bots()).await.len(), 6);
}

#[tokio::test]
async fn owners_act_on_their_own_bots_alone() {
    let site = Site::new();
    let mut ann = ann(&site).await;
    let form = format!("csrf={}", ann.csrf(&site).await);
    let [own, _, others, _] = site.bots;
    for what in ["token", "disable", "enable"] {
        for bot in [others.0, site.house.0, 99] {
            let answer = ann.post(&site, &format!("/owner/bots/{bot}/{what}"), form.clone()).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{what} {bot}");
        }
    }
    let disabled = || site.store(move |store| store.bot(own)).map_disabled();
    let act = async |ann: &mut Browser, what: &str| {
        ann.post(&site, &format!("/owner/bots/{own}/{what}"), form.clone()).await.status
    };
    assert_eq!(act(&mut ann, "disable").await, StatusCode::SEE_OTHER);
    assert_eq!(disabled().await.as_deref(), Some("its owner disabled it"));
    assert_eq!(act(&mut ann, "enable").await, StatusCode::SEE_OTHER);
    assert_eq!(disabled().await, None);
    // What the ladder disabled its owner does not enable, nor by disabling it once more.
    site.store(|store| store.disable("ann-0", "five forfeits in a row", &ALICE)).await;
    assert_eq!(act(&mut ann, "disable").await, StatusCode::SEE_OTHER);
    assert_eq!(act(&mut ann, "enable").await, StatusCode::FORBIDDEN);
    assert_eq!(disabled().await.as_deref(), Some("five forfeits in a row"));
    let page = ann.get(&site, "/owner").await.text;
    assert!(
        page.contains("five forfeits in a row") && page.contains("Ask whoever runs the ladder"),
        "{page}"
    );
    // All of it is in the audit log, by the owner's name.
    let log = site.store(|store| store.audit(0, 1000)).await;
    let by_ann: Vec<&str> =
        log.iter().filter(|entry| entry.who == "ann").map(|entry| entry.what.as_str()).collect();
    assert_eq!(by_ann[by_ann.len() - 2..], ["bot disable", "bot enable"]);
}

#[tokio::test]
async fn an_owner_who_disables_and_enables_a_bot_ends_no_row_of_forfeits() {
    let site = Site::new();
    let mut ann = ann(&site).await;
    let form = format!("csrf={}", ann.csrf(&site).await);
    let [own, _, bob, _] = site.bots;
    let mut next = None;
    for forfeits in 1..=5 {
        let game = match next.take() {
            Some(game) => game,
            None => site.begin([own, bob]).await,
        };
        let index = game.players.iter().position(|player| player.bot == own).unwrap();
        let ended = site.end(&game, 2 * index, Some(index)).await;
        assert_eq!(ended.disabled.is_some(), forfeits == 5, "{forfeits}");
        next = ended.next;
        for what in ["disable", "enable"] {
            ann.post(&site, &format!("/owner/bots/{own}/{what}"), form.clone()).await;
        }
        let bot = site.store(move |store| store.bot(own)).await;
        assert_eq!((bot.forfeits, bot.disabled.is_some()), (forfeits, forfeits == 5));
    }
}

/// Why a bot is disabled.
trait MapDisabled {
    async fn map_disabled(self) -> Option<String>;
}

impl<F: Future<Output = plyd_ladder::store::Bot>> MapDisabled for F {
    async fn map_disabled(self) -> Option<String> {
        self.await.disabled.map(|disabled| disabled.why)
    }
}

#[tokio::test]
async fn over_tls_cookies_go_over_tls_alone() {
    let site = Site::with(Settings { over_tls: true, ..settings() });
    let link = link(&site, "ann").await;
    let browser = Browser::join(&site, &link).await;
    let names: Vec<&str> = browser.cookies.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["__Host-plyd-login"]);
    let answer = site.get(&format!("/join?link={link}")).await;
    assert!(answer.headers["set-cookie"].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn an_owner_has_so_many_bots_at_most() {
    let site = Site::new();
    let mut ann = ann(&site).await;
    let csrf = ann.csrf(&site).await;
    let owner: OwnerId = site.owners[0];
    let fill = move |store: &mut plyd_ladder::store::Store| {
        let by = By { who: "ann", at_ms: 1 };
        let mut number = 0;
        while store.new_bot(owner, &format!("filler-{number}"), &by).is_ok() {
            number += 1;
        }
        Ok(number)
    };
    assert!(site.store(fill).await > 10);
    let answer = ann.post(&site, "/owner/bots", format!("csrf={csrf}&name=one-more")).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text.contains("50 bots at most"), "{}", answer.text);
}

#[tokio::test]
async fn an_owner_sees_the_own_bots_logs_and_nobody_else_does() {
    let site = Site::new();
    let mut browsers = Vec::new();
    for name in ["ann", "bob"] {
        browsers.push(Browser::join(&site, &link(&site, name).await).await);
    }
    let [ann, _, bob, _] = site.bots;
    let open = site.begin([ann, bob]).await;
    let mut over = super::site::end(&open, 2, None);
    let line = |text: &str| Line { by: Speaker::Bot, at_ms: 7, text: text.into() };
    over.conversations = [vec![line("said by ann's <bot>")], vec![line("said by bob's <bot>")]];
    over.played.answers[0].granted_us = Some(25_000);
    site.store(move |store| store.end_game(&over, 20_000)).await;
    browsers.push(Browser::default());
    let own = ["said by ann&#39;s &#60;bot&#62;", "said by bob&#39;s &#60;bot&#62;"];
    for (at, browser) in browsers.iter_mut().enumerate() {
        let game = browser.get(&site, "/game/1").await;
        let seen = own.map(|text| game.text.contains(text));
        assert_eq!(seen, [at == 0, at == 1], "{}", game.text);
        let is_private = game.headers["cache-control"] == "no-store";
        assert_eq!(is_private, at < 2);
        assert!(game.text.contains("25 ms were granted to player 1, 0 \u{b5}s to player 2"), "{}", game.text);
    }
    assert_eq!(site.json("/api/v1/games/1/conversation").await["lines"], serde_json::json!([]));
    let ply = site.json("/api/v1/games/1").await["moves"][2]["granted_us"].clone();
    assert_eq!(ply, serde_json::json!(25_000));
}
