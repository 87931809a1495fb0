package lessons

import "testing"

// TestDendrux takes up what was observed of dendrux by running it, by number.
func TestDendrux(t *testing.T) {
	learn(t, []lesson{
		{"E1_a_structured_answer_is_kept", structuredKept},
		{"E2_the_loser_of_a_double_resume_changes_nothing", doubleResume},
		{"E2b_resuming_a_live_run_changes_nothing", resumeLive},
		{"E3_a_client_runs_its_own_calls_approved_or_not", clientsOwn},
		{"E4_no_request_has_a_call_without_its_result", paired},
		{"E4_the_end_of_a_context_parks_the_run", contextEnds},
		{"E5_what_was_said_of_a_budget_is_not_said_again", saidOnce},
		{"E6_a_cancel_while_pausing_needs_no_second", cancelWhilePausing},
		{"E7_reasoning_tokens_survive_a_pause", reasoningKept},
		{"E8_sampling_survives_a_pause", samplingKept},
		{"E10_a_run_that_a_guard_stops_says_that_and_why", blocked},
		{"E11_a_death_after_the_claim_loses_nothing", deathAfterClaim},
		{"E12_a_pause_in_the_last_iteration_gets_its_answer", lastPause},
		{"E14_the_strategy_survives_a_pause", strategyKept},
		{"E15_one_id_is_one_run", oneRun},
		{"E16_going_on_from_a_point_keeps_what_was_said", forkKeeps},
		{"E19_the_wrong_agent_leaves_a_run_as_it_was", wrongAgent},
		{"E20_a_model_that_fails_after_an_effect_loses_nothing", failsAfterEffect},
		{"E22_a_tool_that_is_out_of_time_does_nothing_more", nothingAfterTime},
		{"E23_an_owner_that_was_given_up_changes_nothing", givenUp},
		{"E24_a_cancel_ends_the_answer_in_flight", cancelInFlight},
		{"E25_a_cancel_while_resuming_ends_the_run", cancelWhileResuming},
	})
}
