// read.js FILE: prints the instructions of a Dockerfile and what the linter says of them, as JSON.
import { readFileSync } from "node:fs";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";

const text = readFileSync(process.argv[2], "utf8");
const instructions = DockerfileParser.parse(text).getInstructions().map((i) => ({
  name: i.getKeyword(),
  flags: i.getFlags?.().map((f) => f.toString()) ?? [],
  args: i.getJSONStrings?.().map((s) => s.getJSONValue()) ?? [],
  text: i.getArgumentsContent() ?? "",
}));
for (const i of instructions) {
  if (i.args.length === 0) i.args = i.text.split(/\s+/).filter((a) => !a.startsWith("--"));
}
console.log(JSON.stringify({ instructions, problems: validate(text).map((p) => `line ${p.range.start.line + 1}: ${p.message}`) }));
