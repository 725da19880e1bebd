/** What a trace of a size costs; times are medians in ms. */
export type ExplorerRow = {
  /** How its observations stand. */
  shape: string
  observations: number
  /** Building the tree of rows that were read, and the critical path of the tree. */
  tree_ms: number
  path_ms: number
}

/** What a page costs, from the question to its JSON, and reading the same rows by hand. */
export type PageRow = {
  observations: number
  explorer_ms: number
  critical_path_ms: number
  /** The statement of a reader who writes SQL, with its rows parsed: the floor. */
  hand_ms: number
  /** The explorer's page against it. */
  ratio: number
}

export type ExplorerFacts = { rows: ExplorerRow[]; pages: PageRow[] }

/** The goals of the project for a trace of 10,000 observations. */
export const goals_ms = { explorer: 200, critical_path: 100 } as const
