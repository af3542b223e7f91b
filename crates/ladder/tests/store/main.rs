//! The store over both databases: all tests run on SQLite and on a PostgreSQL server of their own. Where none
//! is installed, they say so and run on SQLite alone.
//!
//! `PLYD_KILLS=500 cargo test -p plyd-ladder --features server --test store kills` kills more often than the
//! default.

// A test that cannot go on has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

mod accounts;
mod cluster;
mod databases;
mod encrypted;
mod ends;
mod fixtures;
mod handle;
#[path = "../../../../tests/common/harness.rs"]
mod harness;
mod kills;
mod lists;
mod outages;
mod transfer;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, ender, database, seed] = &arguments[..]
        && ender == "ender"
    {
        kills::end_games(&database.parse().unwrap(), seed.parse().unwrap());
    }
    let ended = harness::run(&[
        ("kills_lose_no_game_and_double_none", kills::lose_no_game_and_double_none),
        ("links_work_once_and_logins_for_their_time", accounts::links_work_once_and_logins_for_their_time),
        (
            "an_owner_who_is_disabled_is_out_with_all_bots",
            accounts::an_owner_who_is_disabled_is_out_with_all_bots,
        ),
        ("bots_have_one_owner_one_name_and_one_token", accounts::bots_have_one_owner_one_name_and_one_token),
        ("what_is_done_stands_in_the_audit_log", accounts::what_is_done_stands_in_the_audit_log),
        ("only_a_ladder_is_opened_and_by_one_server", databases::only_a_ladder_is_opened_and_by_one_server),
        ("postgresql_is_spoken_to_over_tls", encrypted::postgresql_is_spoken_to_over_tls),
        ("a_backup_is_the_ladder_as_it_was", databases::a_backup_is_the_ladder_as_it_was),
        ("a_check_finds_what_was_changed", databases::a_check_finds_what_was_changed),
        ("a_game_goes_on_where_it_was", ends::a_game_goes_on_where_it_was),
        (
            "a_game_ends_once_and_a_pair_moves_both_ratings",
            ends::a_game_ends_once_and_a_pair_moves_both_ratings,
        ),
        ("records_of_other_games_are_refused", ends::records_of_other_games_are_refused),
        ("forfeits_in_a_row_disable_a_bot", ends::forfeits_in_a_row_disable_a_bot),
        (
            "logs_are_kept_of_each_game_until_they_are_dropped",
            ends::logs_are_kept_of_each_game_until_they_are_dropped,
        ),
        ("two_mute_bots_are_both_disabled", ends::two_mute_bots_are_both_disabled),
        ("bots_of_one_owner_never_play_for_ratings", ends::bots_of_one_owner_never_play_for_ratings),
        ("void_games_count_for_nothing", ends::void_games_count_for_nothing),
        ("an_anchor_that_moves_moves_all", ends::an_anchor_that_moves_moves_all),
        ("seasons_have_their_own_results", ends::seasons_have_their_own_results),
        (
            "a_game_that_does_not_count_ends_void_with_its_reason",
            ends::a_game_that_does_not_count_ends_void_with_its_reason,
        ),
        ("what_bots_write_is_kept_bounded", ends::what_bots_write_is_kept_bounded),
        ("games_go_from_one_database_to_another", transfer::games_go_from_one_database_to_another),
        ("a_closed_pool_stays_closed", transfer::a_closed_pool_stays_closed),
        ("half_a_pair_is_taken_over_too", transfer::half_a_pair_is_taken_over_too),
        ("what_is_no_export_changes_nothing", transfer::what_is_no_export_changes_nothing),
        (
            "lists_hold_the_latest_first_and_no_more_than_is_asked_for",
            lists::lists_hold_the_latest_first_and_no_more_than_is_asked_for,
        ),
        ("games_go_on_while_the_database_is_lost", outages::games_go_on_while_the_database_is_lost),
        ("a_connection_that_died_keeps_nobody_out", handle::a_connection_that_died_keeps_nobody_out),
        ("a_handle_does_all_that_it_is_asked", handle::does_all_that_it_is_asked),
        ("a_lost_connection_is_made_anew", handle::a_lost_connection_is_made_anew),
    ]);
    cluster::stop();
    ended
}
