package telemetry

// The names of the semantic conventions: of their own repository, semantic-conventions-genai, at
// version 0.1.0. What differs in version 1.41.0 of the general conventions is in [wording].
//
//nolint:gosec // these are tokens that are counted, not such as are kept secret
const (
	opChat  = "chat"
	opAgent = "invoke_agent"
	opTool  = "execute_tool"

	keyOperation      = "gen_ai.operation.name"
	keyProvider       = "gen_ai.provider.name"
	keyConversation   = "gen_ai.conversation.id"
	keyAgent          = "gen_ai.agent.name"
	keyModel          = "gen_ai.request.model"
	keyMaxTokens      = "gen_ai.request.max_tokens"
	keyTemperature    = "gen_ai.request.temperature"
	keyFinish         = "gen_ai.response.finish_reasons"
	keyFirstChunk     = "gen_ai.response.time_to_first_chunk"
	keyInputTokens    = "gen_ai.usage.input_tokens"
	keyOutputTokens   = "gen_ai.usage.output_tokens"
	keyCacheRead      = "gen_ai.usage.cache_read.input_tokens"
	keyReasoning      = "gen_ai.usage.reasoning.output_tokens"
	keyTool           = "gen_ai.tool.name"
	keyToolType       = "gen_ai.tool.type"
	keyToolCall       = "gen_ai.tool.call.id"
	keyToolArguments  = "gen_ai.tool.call.arguments"
	keyToolResult     = "gen_ai.tool.call.result"
	keyInstructions   = "gen_ai.system_instructions"
	keyInputMessages  = "gen_ai.input.messages"
	keyOutputMessages = "gen_ai.output.messages"
	keyErrorType      = "error.type"
	keyServer         = "server.address"
	keyPort           = "server.port"

	keyEffort = "gen_ai.request.reasoning.level"

	meterTool       = "gen_ai.execute_tool.duration"
	meterAgent      = "gen_ai.invoke_agent.duration"
	meterInferences = "gen_ai.invoke_agent.inference_calls"
	meterCalls      = "gen_ai.invoke_agent.tool_calls"
	meterUsage      = "gen_ai.client.inference.usage."     // a counter for each kind of tokens
	meterEach       = "gen_ai.client.inference.operation." // a histogram of the same
)

// wording is what the versions of the conventions say differently.
type wording struct {
	workflow, workflowName string // the operation of a workflow, and the key of its name
	cacheWrite             string
	operation, firstChunk  string // meters
	tokens, tokenType      string // the one meter of tokens, and the key of their kind; empty: a meter for each kind
}

//nolint:gosec // as above
var (
	current = wording{
		workflow: opAgent, workflowName: keyAgent, cacheWrite: "gen_ai.usage.cache_write.input_tokens",
		operation: "gen_ai.client.inference.duration", firstChunk: "gen_ai.client.inference.time_to_first_chunk",
	}
	earlier = wording{
		workflow: "invoke_workflow", workflowName: "gen_ai.workflow.name", cacheWrite: "gen_ai.usage.cache_creation.input_tokens",
		operation: "gen_ai.client.operation.duration", firstChunk: "gen_ai.client.operation.time_to_first_chunk",
		tokens: "gen_ai.client.token.usage", tokenType: "gen_ai.token.type",
	}
)

// tokenKinds are the kinds of tokens in the names of meters.
var tokenKinds = []string{"input_tokens", "output_tokens", "cache_read.input_tokens", "cache_write.input_tokens", "reasoning.output_tokens"}

// Names that the conventions lack.
const (
	keyRun        = "pawl.run.id"
	keyParent     = "pawl.run.parent"
	keyHandedBy   = "pawl.run.handed_over_by"
	keyStatus     = "pawl.run.status"
	keyCondition  = "pawl.run.condition"
	keyLeaf       = "pawl.run.leaf"
	keyIterations = "pawl.run.iterations"
	keyToolCalls  = "pawl.run.tool_calls"
	keyRunCost    = "pawl.run.cost_usd"
	keyLoop       = "pawl.loop"
	keySeq        = "pawl.seq"
	keyIteration  = "pawl.iteration"
	keyPurpose    = "pawl.purpose"
	keyAttempts   = "pawl.attempts"
	keyAttempt    = "pawl.attempt"
	keyClass      = "pawl.failure.class"
	keyCost       = "pawl.cost_usd"
	keyEstimated  = "pawl.usage.estimated"
	keySearches   = "pawl.usage.web_searches"
	keySessions   = "pawl.usage.code_sessions"
	keyEffect     = "pawl.tool.effect"
	keyToolStatus = "pawl.tool.status"
	keyTruncated  = "pawl.tool.truncated"
	keyChild      = "pawl.child.run"
	keyKind       = "pawl.await.kind"
	keyDecision   = "pawl.await.decision"
	keyCall       = "pawl.call"

	spanAwait = "pawl.await"

	eventAttempt  = "pawl.attempt.failed"
	eventRejected = "pawl.plan.rejected"
	eventReused   = "pawl.tool.reused"
	eventRefused  = "pawl.tool.refused"
	eventExtended = "pawl.run.extended"
	eventCancel   = "pawl.cancel.requested"
	eventAwait    = "pawl.await.requested"

	meterRuns      = "pawl.runs"
	meterActive    = "pawl.runs.active"
	meterQueued    = "pawl.runs.queued"
	meterOldest    = "pawl.runs.queued.oldest"
	meterUnowned   = "pawl.runs.unowned"
	meterInDoubt   = "pawl.runs.in_doubt"
	meterCost      = "pawl.run.cost_usd"
	meterWaiting   = "pawl.approvals.waiting"
	meterWait      = "pawl.approvals.wait.duration"
	meterToolError = "pawl.tool.errors"
	meterRetries   = "pawl.model.retries"
	meterDropped   = "pawl.telemetry.dropped"
)

// The buckets that the conventions advise, of tokens and of seconds.
var (
	tokenBuckets    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	durationBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	callBuckets     = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	waitBuckets     = []float64{1, 5, 15, 60, 300, 900, 3600, 14400, 86400}
)
