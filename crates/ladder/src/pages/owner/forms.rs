//! The owner's page and its forms.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use crate::BotId;
use crate::now_ms;
use crate::pages::extract::{Number, UrlQuery};
use crate::pages::html::{interval, page, whole};
use crate::pages::model::{self, Rating};
use crate::pages::refusal::{Kind, Refusal};

use crate::pages::session::{
    Session, cookie, csrf, expect, expect_same_site, login_name, new_visit, out_of_date, private, set_cookie,
    visit_name,
};
use crate::pages::site::Site;
use crate::store::{BY_OWNER, Bot, By, StoreError};
use crate::terms::whole_ms;

/// How long a link's form may be looked at before it is sent.
const VISIT_S: u64 = 3600;

type Shared = State<Arc<Site>>;
type Answer = Result<Response, Refusal>;
type Sent<T> = Result<Form<T>, FormRejection>;

/// The routes of the owner's page.
pub(in crate::pages) fn router() -> Router<Arc<Site>> {
    Router::new()
        .route("/join", get(link).post(join))
        .route("/owner", get(owner))
        .route("/owner/bots", post(register))
        .route("/owner/bots/{id}/token", post(token))
        .route("/owner/bots/{id}/disable", post(disable))
        .route("/owner/bots/{id}/enable", post(enable))
        .route("/owner/log-out", post(log_out))
}

#[derive(Deserialize)]
struct Link {
    link: String,
}

#[derive(Template)]
#[template(path = "join.html")]
struct JoinPage<'a> {
    ladder: &'a str,
    title: &'a str,
    days: u64,
    csrf: String,
    link: &'a str,
}

/// What a link of invitation shows. It is the form that uses the link up, because mail programs and chats
/// look at links before people do.
async fn link(State(site): Shared, headers: HeaderMap, UrlQuery(Link { link }): UrlQuery<Link>) -> Answer {
    let settings = &site.settings;
    let visit = match cookie(&headers, visit_name(settings)) {
        Some(visit) => visit,
        None => new_visit()?,
    };
    let answer = page(&JoinPage {
        ladder: &settings.name,
        title: "Welcome",
        days: settings.login_for.as_secs() / (24 * 3600),
        csrf: csrf(&visit),
        link: &link,
    })?;
    let mut answer = private(answer);
    let kept = set_cookie(settings, visit_name(settings), &visit, VISIT_S);
    answer.headers_mut().append(SET_COOKIE, kept);
    Ok(answer)
}

#[derive(Deserialize)]
struct Join {
    csrf: String,
    link: String,
}

async fn join(State(site): Shared, headers: HeaderMap, form: Sent<Join>) -> Answer {
    expect_same_site(&headers)?;
    let Form(Join { csrf, link }) = form?;
    let settings = &site.settings;
    // The form of another site comes without the cookie, and everybody can compute the token of no secret.
    let visit = cookie(&headers, visit_name(settings)).ok_or_else(out_of_date)?;
    expect(&visit, &csrf)?;
    let now = now_ms();
    let until = now.saturating_add(i64::try_from(whole_ms(settings.login_for)).unwrap_or(i64::MAX));
    let (_, login) = site.change(move |store| store.join(&link, now, until)).await?;
    let mut answer = private(Redirect::to("/owner").into_response());
    let set = set_cookie(settings, login_name(settings), login.text(), settings.login_for.as_secs());
    answer.headers_mut().append(SET_COOKIE, set);
    answer.headers_mut().append(SET_COOKIE, set_cookie(settings, visit_name(settings), "", 0));
    Ok(answer)
}

/// A bot on its owner's page.
struct OwnBot {
    id: BotId,
    name: String,
    has_token: bool,
    disabled: Option<String>,
    by_owner: bool,
    forfeits: u64,
    ratings: Vec<String>,
}

#[derive(Template)]
#[template(path = "owner.html")]
struct OwnerPage<'a> {
    ladder: &'a str,
    title: &'a str,
    owner: &'a str,
    csrf: String,
    message: Option<String>,
    bots: Vec<OwnBot>,
}

async fn owner(State(site): Shared, session: Session) -> Answer {
    owner_page(&site, &session, None).await
}

async fn owner_page(site: &Site, session: &Session, message: Option<String>) -> Answer {
    let id = session.account.id;
    let read = site.read(move |store| {
        let own = store.bots()?.into_iter().filter(|bot| bot.owner == Some(id));
        own.map(|bot| Ok((model::bot(store, bot.id)?.map_or_else(Vec::new, |bot| bot.ratings), bot)))
            .collect::<Result<Vec<(Vec<Rating>, Bot)>, StoreError>>()
    });
    let rating = |rating: &Rating| {
        let interval = interval(Some(rating.low), Some(rating.high));
        format!("{} Elo ({interval}) in {}", whole(rating.elo), rating.pool_name)
    };
    let shown = |(ratings, bot): (Vec<Rating>, Bot)| OwnBot {
        id: bot.id,
        name: bot.name,
        has_token: bot.has_token,
        by_owner: bot.disabled.as_ref().is_some_and(|disabled| disabled.why == BY_OWNER),
        disabled: bot.disabled.map(|disabled| model::bounded(&disabled.why, 500)),
        forfeits: bot.forfeits,
        ratings: ratings.iter().map(rating).collect(),
    };
    let bots = read.await?.into_iter().map(shown).collect();
    let template = OwnerPage {
        ladder: &site.settings.name,
        title: "Your bots",
        owner: &session.account.name,
        csrf: session.csrf(),
        message,
        bots,
    };
    page(&template).map(private)
}

#[derive(Deserialize)]
struct Register {
    csrf: String,
    name: String,
}

#[derive(Deserialize)]
struct Csrf {
    csrf: String,
}

#[derive(Template)]
#[template(path = "token.html")]
struct TokenPage<'a> {
    ladder: &'a str,
    title: &'a str,
    id: BotId,
    bot: &'a str,
    token: &'a str,
    dial: &'a str,
}

async fn register(State(site): Shared, session: Session, form: Sent<Register>) -> Answer {
    let Form(Register { csrf, name }) = form?;
    session.expect(&csrf)?;
    let (owner, who) = (session.account.id, session.account.name.clone());
    let asked = name.trim().to_owned();
    let made = site.change(move |store| {
        let by = By { who: &who, at_ms: now_ms() };
        store.new_bot(owner, &asked, &by)
    });
    match made.await {
        Ok(bot) => show_token(&site, &session, bot).await,
        // What is wrong with the name stands above the form.
        Err(refusal) if refusal.kind == Kind::BadRequest => {
            let mut answer = owner_page(&site, &session, Some(refusal.message.into_owned())).await?;
            *answer.status_mut() = Kind::BadRequest.status();
            Ok(answer)
        }
        Err(refusal) => Err(refusal),
    }
}

async fn token(State(site): Shared, session: Session, Number(id): Number, form: Sent<Csrf>) -> Answer {
    let Form(Csrf { csrf }) = form?;
    session.expect(&csrf)?;
    show_token(&site, &session, BotId(id)).await
}

/// Makes a token and shows it, this once.
async fn show_token(site: &Site, session: &Session, bot: BotId) -> Answer {
    let bot = own(site, session, bot).await?;
    let (id, who) = (bot.id, session.account.name.clone());
    let made = site.change(move |store| store.new_token(id, &By { who: &who, at_ms: now_ms() }));
    let token = made.await?;
    let title = format!("Token of {}", bot.name);
    let template = TokenPage {
        ladder: &site.settings.name,
        title: &title,
        id,
        bot: &bot.name,
        token: token.text(),
        dial: &site.settings.dial,
    };
    page(&template).map(private)
}

/// The bot, if it is this owner's. Another's is as one that is not there.
async fn own(site: &Site, session: &Session, id: BotId) -> Result<Bot, Refusal> {
    let owner = session.account.id;
    // By the store that changes: a bot may just have been made.
    let found = site.change(move |store| store.bot(id)).await;
    match found {
        Ok(bot) if bot.owner == Some(owner) => Ok(bot),
        Ok(_) => Err(Refusal::not_found("bot of yours")),
        Err(refusal) => Err(refusal.or_not_found("bot of yours")),
    }
}

async fn disable(State(site): Shared, session: Session, Number(id): Number, form: Sent<Csrf>) -> Answer {
    let Form(Csrf { csrf }) = form?;
    session.expect(&csrf)?;
    let bot = own(&site, &session, BotId(id)).await?;
    let who = session.account.name.clone();
    site.change(move |store| store.disable_by_owner(bot.id, &By { who: &who, at_ms: now_ms() })).await?;
    Ok(private(Redirect::to("/owner").into_response()))
}

async fn enable(State(site): Shared, session: Session, Number(id): Number, form: Sent<Csrf>) -> Answer {
    let Form(Csrf { csrf }) = form?;
    session.expect(&csrf)?;
    let bot = own(&site, &session, BotId(id)).await?;
    let who = session.account.name.clone();
    let enabled = site.change(move |store| store.enable_by_owner(bot.id, &By { who: &who, at_ms: now_ms() }));
    if !enabled.await? {
        let message = "you did not disable it yourself: ask whoever runs the ladder to enable it";
        return Err(Refusal::new(Kind::Forbidden, message));
    }
    Ok(private(Redirect::to("/owner").into_response()))
}

async fn log_out(State(site): Shared, session: Session, form: Sent<Csrf>) -> Answer {
    let Form(Csrf { csrf }) = form?;
    session.expect(&csrf)?;
    let login = session.login;
    site.change(move |store| store.log_out(&login)).await?;
    let mut answer = private(Redirect::to("/").into_response());
    let gone = set_cookie(&site.settings, login_name(&site.settings), "", 0);
    answer.headers_mut().append(SET_COOKIE, gone);
    Ok(answer)
}
