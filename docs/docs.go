// Package docs holds the pages of the documentation, as they are in this
// directory, so that the command can serve them. README.md is the contents.
package docs

import "embed"

// Pages are the pages with their pictures.
//
//go:embed *.md */*.md *.json inspector/*.webp
var Pages embed.FS
