// Package docs embeds the pages of this directory, the documentation, so that the command can
// serve them. README.md is the table of contents. The decisions are not embedded.
package docs

import "embed"

// Pages are the pages with their pictures.
//
//go:embed *.md howto/*.md reference/*.md inspector/*.webp
var Pages embed.FS
