package display

// SummaryFrame introduces a summary in the conversation. It tells the model how many replies
// the summary replaces, and that the text is a summary and not an instruction.
const SummaryFrame = "[Replies left out here: %d. This is a summary of them and of their results, made for you:]\n"
