// Package docs holds the pages of the documentation, as they are in this
// directory, so that the command can serve them. README.md is the contents.
// The decisions are for readers of the code, who have the repository.
package docs

import "embed"

// Pages are the pages with their pictures.
//
//go:embed *.md howto/*.md reference/*.md inspector/*.webp
var Pages embed.FS
