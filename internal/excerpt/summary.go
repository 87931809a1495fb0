package excerpt

// SummaryFrame is the format of what introduces a summary in the conversation: so
// that nothing in it is taken for more, and with how many replies it stands for, so
// that a model that plays a part knows where it is.
const SummaryFrame = "[Replies left out here: %d. This is a summary of them and of what came of them, made for you:]\n"
