package telemetry

import (
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// The earlier names are those of the conventions.
func TestNames(t *testing.T) {
	for own, theirs := range map[string]string{
		keyOperation:         string(semconv.GenAIOperationNameKey),
		keyProvider:          string(semconv.GenAIProviderNameKey),
		keyConversation:      string(semconv.GenAIConversationIDKey),
		keyAgent:             string(semconv.GenAIAgentNameKey),
		earlier.workflowName: string(semconv.GenAIWorkflowNameKey),
		keyModel:             string(semconv.GenAIRequestModelKey),
		keyMaxTokens:         string(semconv.GenAIRequestMaxTokensKey),
		keyTemperature:       string(semconv.GenAIRequestTemperatureKey),
		keyFinish:            string(semconv.GenAIResponseFinishReasonsKey),
		keyFirstChunk:        string(semconv.GenAIResponseTimeToFirstChunkKey),
		keyInputTokens:       string(semconv.GenAIUsageInputTokensKey),
		keyOutputTokens:      string(semconv.GenAIUsageOutputTokensKey),
		keyCacheRead:         string(semconv.GenAIUsageCacheReadInputTokensKey),
		earlier.cacheWrite:   string(semconv.GenAIUsageCacheCreationInputTokensKey),
		keyReasoning:         string(semconv.GenAIUsageReasoningOutputTokensKey),
		earlier.tokenType:    string(semconv.GenAITokenTypeKey),
		keyTool:              string(semconv.GenAIToolNameKey),
		keyToolType:          string(semconv.GenAIToolTypeKey),
		keyToolCall:          string(semconv.GenAIToolCallIDKey),
		keyToolArguments:     string(semconv.GenAIToolCallArgumentsKey),
		keyToolResult:        string(semconv.GenAIToolCallResultKey),
		keyInstructions:      string(semconv.GenAISystemInstructionsKey),
		keyInputMessages:     string(semconv.GenAIInputMessagesKey),
		keyOutputMessages:    string(semconv.GenAIOutputMessagesKey),
		keyErrorType:         string(semconv.ErrorTypeKey),
		keyServer:            string(semconv.ServerAddressKey),
		keyPort:              string(semconv.ServerPortKey),
		opChat:               semconv.GenAIOperationNameChat.Value.AsString(),
		opAgent:              semconv.GenAIOperationNameInvokeAgent.Value.AsString(),
		earlier.workflow:     semconv.GenAIOperationNameInvokeWorkflow.Value.AsString(),
		opTool:               semconv.GenAIOperationNameExecuteTool.Value.AsString(),
		earlier.tokens:       genaiconv.ClientTokenUsage{}.Name(),
		earlier.operation:    genaiconv.ClientOperationDuration{}.Name(),
		earlier.firstChunk:   genaiconv.ClientOperationTimeToFirstChunk{}.Name(),
		providers["google"]:  semconv.GenAIProviderNameGCPGemini.Value.AsString(),
	} {
		if own != theirs {
			t.Errorf("we say %s, the conventions %s", own, theirs)
		}
	}
}
