"""Pure text work: slugs, splitting, analysis, snippets."""
