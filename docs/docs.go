// Package docs embeds the pages of this directory, the documentation, so that the command can
// print them. README.md is the table of contents. The decisions are not embedded.
package docs

import "embed"

// Pages are the pages.
//
//go:embed *.md howto/*.md reference/*.md
var Pages embed.FS
