package lessons

import "testing"

// TestLocus takes up sections 1.4 and 3 to 5 of what was found in locus: what
// its documents promise and its code does not do, and the faults of its events
// and hooks, its tools, and its judgement.
func TestLocus(t *testing.T) {
	learn(t, []lesson{
		{"1.4_a_hook_goes_on_cancels_and_retries", directions},
		{"1.4_a_reused_result_and_a_failed_call_are_told_apart", toldApart},
		{"1.4_pieces_of_a_reply_are_streamed", streamed},
		{"1.4_thinking_is_no_text_and_goes_back_as_it_was", thinking},
		{"1.4_a_condition_is_asked_before_every_step", everyStep},
		{"1.4_a_reason_names_the_leaf_and_reads_back", leaf},
		{"1.4_conditions_take_arguments_patterns_and_functions", conditions},
		{"1.4_a_stop_condition_does_not_lift_a_ceiling", bothBounds},
		{"1.4_the_end_of_a_context_parks_the_run", contextEnds},
		{"1.4_E27_a_cancel_reaches_the_tool_that_runs", cancelReaches},
		{"1.4_every_step_is_in_the_journal_before_it_is_taken", intentFirst},
		{"1.4_E12_a_tool_can_have_a_person_asked", asksPerson},
		{"1.4_E13_a_result_cannot_have_a_person_asked", noForgery},
		{"1.4_E15_a_busy_provider_is_asked_again", askedAgain},
		{"1.4_E3_hooks_are_asked_in_order_about_every_entry", hooksInOrder},
		{"1.4_equal_arguments_are_equal_documents", equalArguments},
		{"1.4_E9_an_agent_can_have_its_causes_found", trueCycles},
		{"1.4_reflection_comes_when_it_is_said_to", cadence},
		{"1.4_a_model_that_is_to_reflect_is_asked", modelJudges},
		{"1.4_grounding_by_rules_asks_no_model", byRules},
		{"3.1_an_entry_cannot_be_changed_by_who_sees_it", writeProtected},
		{"3.1_a_call_is_logged_when_it_ends", loggedWhenOver},
		{"3.1_a_slow_watcher_misses_nothing", slowWatcher},
		{"3.2_E2_what_a_retry_brings_is_what_the_model_sees", retryCounts},
		{"3.2_a_hook_that_is_never_content_ends_the_run", neverContent},
		{"3.2_a_hook_that_panics_ends_nothing", hookPanics},
		{"3.3_redacting_a_reply_keeps_its_calls", redactKeepsCalls},
		{"3.3_a_call_that_is_steered_runs_only_when_allowed", steering},
		{"4_E1_the_model_reads_why_a_tool_failed", readsWhy},
		{"4_E4_a_call_that_was_refused_can_run_later", refusedThenRun},
		{"4_E5_a_failure_is_never_reused", failureNotReused},
		{"4_one_and_true_are_two_arguments", oneAndTrue},
		{"4_a_tool_without_a_timeout_has_one", defaultTimeout},
		{"4_E6_the_cap_holds_for_every_result", capHolds},
		{"4_large_results_of_one_tool_are_both_kept", bothKept},
		{"4_E10_done_is_not_done_until_the_goal_says_so", notDone},
		{"4_one_failure_leaves_the_siblings_alone", siblings},
		{"4_arguments_are_checked_before_a_tool_runs", checkedFirst},
		{"4_E29_a_text_that_looks_like_a_call_is_none", noCall},
		{"5.1_E16_confidence_is_gained_once_and_lost_too", confidence},
		{"5.1_E17_paging_is_no_loop_and_taking_turns_is", loops},
		{"5.2_E19_a_judge_is_read_in_any_dress", anyDress},
		{"5.2_E20_a_baseless_answer_is_no_success", ungrounded},
		{"5.2_a_negation_and_a_tenth_are_no_evidence", byRules},
		{"5.2_evidence_is_not_cut", longEvidence},
		{"5.3_E18_cycles_are_true_ones", trueCycles},
		{"5.4_a_contradiction_is_worse_than_no_evidence", ungrounded},
	})
}
