package lessons

import (
	"testing"
)

// TestTightloop takes up the weaknesses of tightloop by their numbers.
func TestTightloop(t *testing.T) {
	learn(t, []lesson{
		{"W1_success_on_the_last_iteration_counts", lastIteration},
		{"W2_a_metric_belongs_to_the_action_before_it", blame},
		{"W2_the_failed_approach_is_the_one_that_failed", rightBlame},
		{"W3_no_way_of_getting_nowhere_is_overlooked", blindSpots},
		{"W3_failing_differently_each_time_is_no_progress", failingDifferently},
		{"W3_polling_what_changes_is_progress", polling},
		{"W4_the_same_world_voids_no_approval", sameWorld},
		{"W4_another_world_does", otherWorld},
		{"W5_a_long_log_hides_no_failing_test", longLog},
		{"W5_mending_an_import_is_no_regression", mendedImport},
		{"W6_what_the_model_is_not_shown_is_marked", marked},
		{"W6_a_large_file_is_edited_whole", largeFile},
		{"W8_arguments_keep_their_types_and_checks_across_a_resume", typedAcross},
		{"W9_weaker_gates_do_not_resume", weakerGates},
		{"W9_a_dropped_goal_does_not_resume", droppedGoal},
		{"W9_weaker_approvals_do_not_resume", weakerApprovals},
		{"W10_an_approval_is_used_once", usedOnce},
		{"W10_an_approval_that_many_use_at_once_is_used_once", raceToUse},
		{"W11_a_token_is_not_in_the_log", tokenHidden},
		{"W11_what_was_approved_is_what_runs", tampered},
		{"W12_the_model_hears_of_a_denial", denied},
		{"W13_a_dollar_ceiling_needs_a_price", unpriced},
		{"W14_a_step_writes_as_much_late_as_early", bytesWritten},
		{"W14_what_ran_is_in_the_log_before_it_runs", intentFirst},
		{"W15_the_order_of_tools_is_no_change", toolOrder},
		{"W15_old_logs_are_read", oldLogs},
		{"W16_requests_share_their_prefix_and_pair_their_calls", prefix},
		{"W16_a_conversation_too_long_is_shortened", tooLong},
		{"W17_a_tool_that_hangs_is_left_behind", leftBehind},
		{"W17_a_tool_that_hangs_does_not_hold_the_process", processLeaves},
		{"W18_the_whole_group_of_a_command_is_ended", wholeGroup},
		{"W18_output_is_bounded", boundedOutput},
		{"W19_deadlines_are_what_is_left_of_the_run", clamped},
		{"W19_what_no_retry_helps_is_not_retried", notRetried},
		{"W19_calls_run_at_once", atOnce},
		{"W19_replies_are_streamed", streamed},
		{"W20_the_log_says_all_and_replays", tellsAll},
	})
}
